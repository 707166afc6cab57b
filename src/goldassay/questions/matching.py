"""Which runs answer which dataset, told by their examples, and runs written anew for the rows of a mended dataset.

Labels that runs bring must be the dataset's.

Runs of the whole input on the test part, a row a test example, at the end and from checkpoint to checkpoint.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.files import temporary_folder
from goldassay.core.numbers import count
from goldassay.data.labels import NON_ENTAILMENT
from goldassay.data.mending import Mended, TextRows
from goldassay.data.reading import read_table
from goldassay.data.roles import parse_columns
from goldassay.data.row_keys import any_beyond, end_of_numbers
from goldassay.questions.run_choice import RunChoice, by_ids
from goldassay.questions.run_sets import Place, RunSet, find_at, find_runs, placed, unloaded_sets
from goldassay.runs.configurations import name_by_configuration
from goldassay.runs.label_codes import are_codes, learned_labels
from goldassay.runs.labels import canonical, map_names
from goldassay.runs.loading import taken
from goldassay.runs.run_parts import UNNAMED, Columns, Slice
from goldassay.runs.store import write_runs

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.runs.assembly import Align
    from goldassay.runs.runs import Runs


# Runs that lack no more than this share of their examples are taken for those of the dataset before it was mended.
_FEW = 0.1
_AFTER_MENDING = "where the dataset was mended, goldassay mend --runs writes the runs anew"


@dataclass(frozen=True)
class Answered:
    """Sets of runs by the dataset that they answer.

    Attributes:
        sets: {dataset: its sets of runs}; a dataset that nothing answers is missing.
        remarks: What was left out, in sentences.
        left_out: Sets of runs that answer none of the datasets.
    """

    sets: Mapping[str, list[RunSet]]
    remarks: tuple[str, ...] = ()
    left_out: tuple[RunSet, ...] = ()


def sort_by_dataset(found: Sequence[RunSet], label_names: Sequence[str], datasets: Mapping[str, Dataset]) -> Answered:
    """Say which dataset each set of runs answers.

    It is the one that holds all of its examples, but for as many as were dropped from the dataset, such as those
    without a label. Where several do, as row numbers may be in all, that of its name counts, else the one that has the
    labels which the runs bring, else the one of its size.

    Args:
        found: Sets of runs.
        label_names: Of the training part: where a dataset has coarser ones, answers are counted in these.
        datasets: The test part and other distributions by name.

    Raises:
        InputError: The runs answer none of the datasets, nothing tells which one, or they bring labels that differ.
    """
    places = {name: _places(each) for name, each in datasets.items()}
    sets: dict[str, list[RunSet]] = {}
    remarks, left_out = [], []
    partly: dict[tuple[str, int], list[str]] = {}
    # How many examples of a set that was left out are missing, to name the nearest of these.
    lacking: list[tuple[float, str, RunSet]] = []
    for runs in found:
        ids, own = _examples(runs)
        rows = {name: np.array([place.get(each, -1) for each in ids]) for name, place in places.items()}
        beyond = {name: int((at < 0).sum()) for name, at in rows.items()}
        whole = [name for name, n in beyond.items() if n == 0] or [
            name for name, n in beyond.items() if n < len(ids) and n <= _dropped(ids, places[name], datasets[name])
        ]
        if not whole:
            missing = min(beyond.values())
            sought = "the test part" if len(datasets) == 1 else f"any one of {', '.join(datasets)}"
            remarks.append(
                f"The runs of {runs.model} on {runs.dataset} were left out: {missing:,} of their {len(ids):,} examples "
                f"are not in {sought}."
            )
            left_out.append(runs)
            lacking.append((missing / len(ids), remarks[-1], runs))
            continue
        name = _choose(runs, whole, own, rows, datasets)
        if beyond[name]:
            remarks.append(
                f"{beyond[name]:,} of the {len(ids):,} examples of {runs.model} on {runs.dataset} were dropped from "
                f"{name} when it was read, and are left out."
            )
            runs = replace(runs, slices=tuple(_only(part, places[name]) for part in runs.slices))
            ids, own = _examples(runs)
            rows[name] = np.array([places[name][each] for each in ids])
        _check_labels(runs, own, rows[name], datasets[name])
        # By labels that are given outright, answers are told in these.
        differs = set(datasets[name].label_names) - set(label_names) or (
            own is not None and (_respelled(own, datasets[name]) or _learned(own, rows[name], datasets[name]))
        )
        outright = datasets[name] if differs else None
        called = name if own is None and runs.dataset == UNNAMED else runs.dataset
        made = replace(runs, dataset=called, gold=outright, fallback=datasets[name])
        n_answered = made.load().n_examples if runs.rule == "leave-out" else len(set(ids))
        complete = n_answered == len(datasets[name])
        if not complete:
            partly.setdefault((name, n_answered), []).append(f"{runs.model} on {runs.dataset}")
        sets.setdefault(name, []).append(replace(made, is_complete=complete))
    if found and not sets:
        share, said, nearest = min(lacking, key=lambda each: each[0])
        mend = f"give predictions on these sets, with their example ids, to {option('runs')}"
        raise InputError(
            f"no runs answer {' or '.join(datasets)}: {said[0].lower()}{said[1:-1]}",
            file=nearest.file,
            mend=mend + (f"; {_AFTER_MENDING}" if share <= _FEW else ""),
        )
    remarks += [
        f"The runs of {_named(those)} answer {n:,} of the {len(datasets[name]):,} examples of {name}; rows are classed "
        "only by runs that answer all."
        for (name, n), those in partly.items()
    ]
    return Answered(sets, tuple(remarks), tuple(left_out))


def describe_unknown_labels(runs: Runs, label_names: Sequence[str]) -> str:
    """That runs predict labels which the dataset lacks; "" where they do not."""
    if runs.predictions is None:
        return ""
    unknown = [code for code, name in enumerate(runs.label_names) if name not in label_names]
    n = int(np.isin(runs.predictions, unknown).sum())
    if not n:
        return ""
    names = ", ".join(repr(runs.label_names[code]) for code in unknown[:3])
    return f"{runs.model} predicts {names}, no label of the test set, {n:,} times: counted as wrong."


def _named(those: Sequence[str]) -> str:
    return those[0] if len(those) == 1 else f"{those[0]} and {len(those) - 1:,} more sets of runs"


def _dropped(ids: Sequence[str], place: Mapping[str, int], dataset: Dataset) -> int:
    """How many of the runs' examples may be rows that the dataset lost when it was read."""
    if any_beyond((each for each in ids if each not in place), end_of_numbers(dataset)):
        return 0
    return sum(dataset.provenance.dropped.values())


def _places(dataset: Dataset) -> dict[str, int]:
    return {str(example): row for row, example in enumerate(dataset.examples["example_id"].to_list())}


def _only(part: Slice, place: Mapping[str, int]) -> Slice:
    """The run on those of its examples that are among some."""

    def load() -> Columns:
        columns = part.load()
        known = [row for row, each in enumerate(columns.example_ids.to_list()) if str(each) in place]
        return taken(columns, pl.Series(known, dtype=pl.Int64))

    return replace(part, load=load)


def _examples(runs: RunSet) -> tuple[list[str], pl.Series | None]:
    """Ids and right labels as the first run brings them."""
    columns = runs.columns()
    label = None if columns.label is None else columns.label.cast(pl.String)
    return [str(each) for each in columns.example_ids.to_list()], label


def _choose(
    runs: RunSet,
    whole: Sequence[str],
    own: pl.Series | None,
    rows: Mapping[str, NDArray[Any]],
    datasets: Mapping[str, Dataset],
) -> str:
    if runs.dataset in whole or len(whole) == 1:
        return runs.dataset if runs.dataset in whole else whole[0]
    if own is not None:
        whole = [name for name in whole if not _differ(own, rows[name], datasets[name]).any()] or whole
    if len(whole) > 1:
        whole = [name for name in whole if len(datasets[name]) == len(rows[name])] or whole
    if len(whole) == 1:
        return whole[0]
    raise InputError(
        f"the examples of {runs.model} on {runs.dataset} are in {' and in '.join(whole)}, and it is not known which of "
        "these was predicted",
        file=runs.file,
        mend=f"say it with {option('runs', f'{whole[0]}=PATH')}",
    )


def _respelled(own: pl.Series, dataset: Dataset) -> dict[str, str]:
    """Labels that runs bring in another spelling than the dataset's, such as in capitals, and how it writes them."""
    known = {canonical(label): label for label in dataset.label_names}
    if len(known) < len(dataset.label_names):
        # Their spelling alone tells labels of this set apart.
        return {}
    met = own.drop_nulls().unique().to_list()
    return {
        name: known[canonical(name)] for name in met if name not in dataset.label_names and canonical(name) in known
    }


def _learned(own: pl.Series, rows: NDArray[Any], dataset: Dataset) -> dict[str, str]:
    """What the codes of runs stand for, by the dataset's labels of the same rows; {} where they are its own."""
    right = dataset.examples["label"].cast(pl.String).gather(rows)
    found = learned_labels(own, right, dataset.label_names) or {}
    return found if are_codes(found) else {}


def _differ(own: pl.Series, rows: NDArray[Any], dataset: Dataset) -> NDArray[np.bool_]:
    """Which of the labels that runs bring are not the dataset's, those of finer labels counted in its own, (N,)."""
    own = own.replace(_respelled(own, dataset) or _learned(own, rows, dataset))
    met = own.drop_nulls().unique().to_list()
    if NON_ENTAILMENT in dataset.label_names and NON_ENTAILMENT not in met:
        own = own.replace(map_names(met, dataset.label_names))
    right = dataset.examples["label"].cast(pl.String).gather(rows)
    return (own.fill_null("") != right.fill_null("")).to_numpy()


def _check_labels(runs: RunSet, own: pl.Series | None, rows: NDArray[Any], dataset: Dataset) -> None:
    if own is None:
        return
    differ = _differ(own, rows, dataset)
    if differ.any():
        first = dataset.examples["example_id"][int(rows[int(differ.argmax())])]
        raise InputError(
            f"the labels of {runs.model} on {runs.dataset} differ from those of {dataset.name} in "
            f"{int(differ.sum()):,} of {rows.size:,} examples, first {first}",
            file=runs.file,
            mend=f"give runs on that set, or leave their label column out; {_AFTER_MENDING}",
        )


FOLDER = "runs"
# More sets of which the same is to be said are counted.
_MOST_NAMED = 3


@dataclass(frozen=True)
class _Kept:
    """A row that was not dropped: its id and label now, and whether its texts are those that were predicted."""

    id: str
    label: str
    is_same: bool
    is_relabelled: bool


def mend_runs(
    mended: Mended,
    paths: Sequence[str],
    directory: str | os.PathLike[str],
    *,
    columns: str | None = None,
    align: Align = "exact",
) -> tuple[list[Runs], list[str]]:
    """Make runs of a dataset runs of its mended rows.

    Rows that were dropped are left out, and so are rewritten ones, which no model has answered. Relabelled rows count
    by their new label; of runs that hold scores alone they are left out. Row numbers become those of the mended file.
    Runs of other datasets stay as they are.

    Args:
        mended: See `mend_dataset`.
        paths: Files or folders of runs, each of which may be NAME=PATH.
        directory: Where they will be written.
        columns: As for `mend_dataset`.
        align: "exact" refuses runs of a model that answer different rows; "intersect" keeps what all of them answer.

    Returns:
        The runs, a set a model, dataset, condition and checkpoint, and what is to be said of them, a line each.

    Raises:
        InputError: They cannot be read, do not answer the dataset, or lie where they would be written; or the dataset
            has items with choices.
    """
    if mended.rows is None or not mended.rows.dataset.label_names:
        what, mend = "rows with scores in place of labels", "ask the models for the mended rows"
        if mended.rows is None:
            what, mend = "items", "an audit of the mended items scores the same answers by their keys"
        raise InputError(f"{option('runs')}: runs of {what} are not written anew", mend=f"leave it out: {mend}")
    for place in map(Place.parse, paths):
        if Path(place.path).resolve().is_relative_to(Path(directory).resolve()):
            raise InputError(
                "the runs lie where the mended ones are written", file=place.path,
                mend=f"name another folder with {option('out')}",
            )  # fmt: skip
    dataset, kept = mended.rows.dataset, _kept(mended, columns)
    with placed(paths):
        found = sort_by_dataset(_sets(paths, by_ids(align)), dataset.label_names, {dataset.name: dataset})
        sets: list[Runs] = []
        said: dict[str, list[str]] = {}
        for each in found.sets[dataset.name]:
            made, line = _of_rows(each, kept)
            sets += made
            said.setdefault(line, []).append(f"{each.model} on {each.dataset}")
        for each in found.left_out:
            line = "as they were, since they answer other rows"
            try:
                sets += list(_by_checkpoint(each))
            except InputError as error:
                # Such as predictions whose labels only an audit is given, with the set that they are of.
                line = f"not written, and of other rows: {error.problem}"
            said.setdefault(line, []).append(f"{each.model} on {each.dataset}")
    return sets, [f"{_listed(names)}: {line}" for line, names in said.items()]


def write_mended_runs(sets: Sequence[Runs], directory: str | os.PathLike[str]) -> Path:
    """Write what `mend_runs` made into a folder, and return it.

    Raises:
        OutputError: The folder cannot be written to.
    """
    for runs in sets:
        write_runs(runs, directory)
    return Path(directory)


def _sets(paths: Sequence[str], align: Align) -> list[RunSet]:
    choice, places = RunChoice(align=align), list(map(Place.parse, paths))
    # As an audit names them, see `Evidence.answered`.
    if len(places) == 1 and not places[0].name:
        return unloaded_sets(find_runs([places[0].path], choice), choice)
    return unloaded_sets(name_by_configuration([part for place in places for part in find_at(place, choice)]), choice)


def _kept(mended: Mended, columns: str | None) -> dict[str, _Kept]:
    """{id as it was: the row as it is}, of the rows that are left."""
    rows = mended.rows
    assert rows is not None
    with temporary_folder() as folder:
        file = folder / mended.name
        file.write_bytes(mended.content)
        now = TextRows(read_table(file), rows.dataset.name, parse_columns(columns) if columns else None, file)
    names = ["example_id", "label", *rows.dataset.text_columns]
    before = rows.dataset.examples.select(pl.col(names).cast(pl.String)).iter_rows()
    after = dict(zip(now.places, now.dataset.examples.select(pl.col(names).cast(pl.String)).iter_rows(), strict=True))
    dropped, kept = set(mended.dropped), {}
    for place, (name, label, *texts) in zip(rows.places, before, strict=True):
        own = after.get(place - bisect_left(mended.dropped, place))
        if place not in dropped and own is not None:
            kept[name] = _Kept(own[0], own[1], list(own[2:]) == texts, own[1] != label)
    return kept


def _of_rows(runs: RunSet, kept: dict[str, _Kept]) -> tuple[list[Runs], str]:
    """A set of runs on the rows that are left, and what is to be said of it."""
    made, n_before, n_unknown = [], 0, 0
    for each in _by_checkpoint(runs):
        left = [kept.get(str(name)) for name in each.example_ids.tolist()]
        # Of scores alone nobody knows what they would be by another label.
        answered = [
            row if row is not None and row.is_same and (each.predictions is not None or not row.is_relabelled) else None
            for row in left
        ]
        at = [place for place, row in enumerate(answered) if row is not None]
        if not at:
            raise InputError(
                f"no row is left that the runs of {runs.model} on {runs.dataset} answer", file=runs.file,
                mend=f"leave {option('runs')} out, and ask the model for the mended rows",
            )  # fmt: skip
        n_before, n_unknown = each.n_examples, sum(row is not None for row in left) - len(at)
        made.append(_as_now(each.take(np.array(at)), [row for row in answered if row is not None], runs.file))
    said = f"{count(made[-1].n_examples)} of {count(n_before)} answers hold"
    if n_lacking := runs.columns().example_ids.len() - n_before:
        said += f"; {count(n_lacking)} rows that not all of its runs answer are left out"
    if n_unknown:
        said += (
            "; 1 changed row has none: ask the model for it" if n_unknown == 1
            else f"; {count(n_unknown)} changed rows have none: ask the model for these"
        )  # fmt: skip
    return made, said


def _listed(names: Sequence[str]) -> str:
    return (
        ", ".join(names) if len(names) <= _MOST_NAMED else f"{names[0]} and {count(len(names) - 1)} other sets of runs"
    )


def _by_checkpoint(runs: RunSet) -> Iterator[Runs]:
    """The runs of a set at one checkpoint after the other: not every run may have all of them."""
    for step in dict.fromkeys(part.checkpoint for part in runs.slices):
        yield runs.load() if step is None else runs.at(step, runs.n_runs).load()


def _as_now(runs: Runs, rows: Sequence[_Kept], file: str) -> Runs:
    """Runs on some rows with the ids and labels that these have now."""
    named = replace(runs, example_ids=np.array([row.id for row in rows], dtype=np.str_))
    changed = np.array([row.is_relabelled for row in rows])
    if runs.gold is None or runs.predictions is None or not changed.any():
        return named
    labels = np.array([row.label for row in rows], dtype=object)
    new = [name for name in dict.fromkeys(labels[changed].tolist()) if name not in runs.label_names]
    if new and runs.logits is not None:
        raise InputError(
            f"a row is relabelled to {new[0]!r}, for which the runs of {runs.model} have no probability", file=file,
            mend=f"leave {option('runs')} out, and ask the model for the mended rows",
        )  # fmt: skip
    names = (*runs.label_names, *new)
    gold, scores = runs.gold.copy(), runs.scores.copy()
    gold[changed] = [names.index(name) for name in labels[changed].tolist()]
    scores[..., changed] = runs.predictions[..., changed] == gold[changed]
    return replace(named, label_names=names, gold=gold, scores=scores)


# Checkpoints that a curve has, spread evenly from the first to the last, and runs that are read at each of them: what
# bounds the time and the memory of an audit whose runs were saved often.
MOST_CHECKPOINTS, MOST_RUNS = 8, 5
PROBABILITY, SCORE = "probability of the label", "score"


def runs_on_test(test: Dataset, sets: Sequence[RunSet]) -> Iterator[Runs]:
    """Of some sets of runs of the whole input each that answers every test example, in the order of these.

    Where they name the labels of the test part in another order, their codes are made those of the test part; where
    they name others, they keep their scores alone.
    """
    ids = test.examples["example_id"].cast(pl.String).to_list()
    for each in sets:
        if not each.is_comparable:
            continue
        runs = each.load()
        place = {str(example): at for at, example in enumerate(runs.example_ids.tolist())}
        rows = [place[name] for name in ids if name in place]
        if len(rows) == len(ids):
            yield _with_labels(runs.take(rows), test.label_names)


def runs_on_most(test: Dataset, sets: Sequence[RunSet], least: float) -> tuple[NDArray[np.int64], Iterable[Runs]]:
    """The rows of the test part that are answered, ascending, and the sets of runs of the whole input on these.

    All rows where some set answers all. Else sets may lack rows, such as those that were rewritten since: taken are the
    rows that most sets answer, at least a share `least` of all, and the sets that answer just these, so that every
    score is of the same rows.
    """
    every = np.arange(len(test))
    if any(each.is_comparable for each in sets):
        return every, runs_on_test(test, sets)
    alike: dict[bytes, tuple[NDArray[np.int64], list[Runs]]] = {}
    for rows, own in runs_on_part(test, sets):
        if rows.size >= least * every.size:
            alike.setdefault(rows.tobytes(), (rows, []))[1].append(own)
    return max(alike.values(), key=lambda found: (len(found[1]), found[0].size), default=(every, []))


def runs_on_part(test: Dataset, sets: Sequence[RunSet]) -> Iterator[tuple[NDArray[np.int64], Runs]]:
    """Each set of runs of the whole input that lacks some test rows: those that it answers, and the runs on these."""
    ids = test.examples["example_id"].cast(pl.String).to_list()
    for each in sets:
        if not each.is_whole_input or each.is_complete:
            continue
        runs = each.load()
        place = {str(example): at for at, example in enumerate(runs.example_ids.tolist())}
        rows = np.array([row for row, name in enumerate(ids) if name in place], dtype=np.int64)
        if rows.size:
            yield rows, _with_labels(runs.take([place[ids[row]] for row in rows.tolist()]), test.label_names)


def right_probabilities(runs: Runs) -> NDArray[np.float64] | None:
    """(R x T, N) probabilities of the right label; None without logits or labels."""
    if runs.logits is None or runs.gold is None:
        return None
    odds = np.exp(runs.logits.astype(np.float64) - runs.logits.max(axis=-1, keepdims=True))
    own = runs.gold.reshape((1,) * (odds.ndim - 2) + (runs.gold.size, 1))
    right = np.take_along_axis(odds / odds.sum(axis=-1, keepdims=True), own, axis=-1)
    return np.asarray(right.reshape(-1, runs.gold.size))


def _with_labels(runs: Runs, names: tuple[str, ...]) -> Runs:
    if runs.label_names == names:
        return runs
    if set(runs.label_names) != set(names):
        return replace(runs, predictions=None, logits=None)
    order = np.array([runs.label_names.index(name) for name in names])
    codes = np.argsort(order)
    return replace(
        runs,
        predictions=None if runs.predictions is None else codes[runs.predictions],
        gold=None if runs.gold is None else codes[runs.gold],
        logits=None if runs.logits is None else runs.logits[..., order],
        label_names=names,
    )


@dataclass(frozen=True)
class Curves:
    """Means over runs at checkpoints in common.

    Attributes:
        checkpoints: T names, in order.
        values: (T, N) means over runs of the right label's probability, or of the score.
        measure: Which of the two.
        spread: (N,) standard deviation of the probabilities over checkpoints and runs; None of scores.
        n_runs: How many runs.
        model: Whose they are.
    """

    checkpoints: tuple[str, ...]
    values: NDArray[np.float64]
    measure: str
    spread: NDArray[np.float64] | None
    n_runs: int
    model: str

    def to_frame(self) -> pl.DataFrame:
        """A row a checkpoint: what the lists of the table of examples are of."""
        return pl.DataFrame(
            {
                "checkpoint": pl.Series(list(self.checkpoints), dtype=pl.String),
                "model": [self.model] * len(self.checkpoints),
                "n_runs": [self.n_runs] * len(self.checkpoints),
                "measure": [self.measure] * len(self.checkpoints),
                "mean": self.values.mean(axis=1),
            }
        )


def curves_of_runs(test: Dataset, sets: Sequence[RunSet]) -> Curves | None:
    """Those of the first set of runs of the whole input with several checkpoints; None where there is none.

    One checkpoint is read after the other, so that no more is in memory than the audit has anyway.
    """
    for each in sets:
        if not each.is_comparable or len(steps := each.checkpoints_in_common()) < 2:
            continue
        places = np.unique(np.linspace(0, len(steps) - 1, MOST_CHECKPOINTS).round().astype(int))
        chosen = [steps[at] for at in places.tolist()]
        try:
            found = list(_read(test, each, chosen))
        except InputError:
            # What cannot be read at an earlier checkpoint was not asked for: the score is that of the last.
            continue
        if len(found) == len(chosen):
            return _joined(found, [str(step) for step in chosen], each.model)
    return None


def _read(
    test: Dataset, runs: RunSet, steps: list[int | str]
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64] | None]]:
    """(R, N) scores and probabilities of the right label at each of some checkpoints."""
    for step in steps:
        for loaded in runs_on_test(test, [runs.at(step, MOST_RUNS)]):
            yield loaded.final().scores, right_probabilities(loaded.final())


def _joined(
    found: list[tuple[NDArray[np.float64], NDArray[np.float64] | None]], steps: list[str], model: str
) -> Curves:
    likely = [each for _, each in found if each is not None]
    n_runs = found[0][0].shape[0]
    if len(likely) < len(found):
        return Curves(tuple(steps), np.stack([each.mean(axis=0) for each, _ in found]), SCORE, None, n_runs, model)
    values = np.stack([each.mean(axis=0) for each in likely])
    squares = np.stack([(each**2).mean(axis=0) for each in likely])
    spread = np.sqrt(np.maximum(squares.mean(axis=0) - values.mean(axis=0) ** 2, 0.0))
    return Curves(tuple(steps), values, PROBABILITY, spread, n_runs, model)
