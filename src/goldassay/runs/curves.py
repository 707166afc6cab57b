"""Scores without predictions: from step to step in a Trainer's trainer_state.json, or a row a run in a table.

They tell how a score moves in training and how far it ends apart from seed to seed, and nothing about examples but
how many there are, where a table says so.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.naming import is_wildcard, listing, matches
from goldassay.data.source import name_of
from goldassay.runs.key_columns import SYNONYMS
from goldassay.runs.tables import head_of, read_table, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray


_STATE = "trainer_state.json"
# Where a run kept no state: what it evaluated last.
_RESULTS = ("eval_results.json", "all_results.json")
_WANTED = frozenset({_STATE, *_RESULTS})
_KNOWN = re.compile(
    r"eval_(?:(?P<dataset>.+?)_)??(?P<metric>accuracy|acc|exact_match|(?:(?:macro|micro|weighted)_)?f1(?:_(?:macro|micro|weighted))?)"
)
# What a curve is of where the Trainer evaluates on one dataset, which it does not name.
_UNNAMED = "eval"
# What a metric is called that nothing names.
UNNAMED_METRIC = "score"


@dataclass(frozen=True)
class Curves:
    """Scores of R runs of one model on one dataset at T steps of their training.

    Attributes:
        model: Name of the model.
        dataset: Name of the dataset, as the metric's name in the file tells it; "eval" where it does not.
        metric: Name of the metric.
        seeds: (R,).
        checkpoints: (T,) steps at which all runs were scored; none where only last scores are known.
        scores: In [0, 1], (R, T).
        final: Each run's last score, (R,), whether or not others have one at the same step.
        files: Where each run was found, (R,).
        skipped: Reason -> count of what was left out.
        format: Of the files.
        size: How many examples the dataset has, where the file tells it.
    """

    model: str
    dataset: str
    metric: str
    seeds: tuple[int | str, ...]
    checkpoints: tuple[int, ...]
    scores: NDArray[np.float64]
    final: NDArray[np.float64]
    files: tuple[str, ...]
    skipped: dict[str, int] = field(default_factory=dict)
    format: str = "trainer state"
    size: int | None = None


class _Logged(NamedTuple):
    """The scores of one run on one dataset, by step."""

    model: str
    seed: int | str
    dataset: str
    metric: str
    by_step: dict[int, float]
    file: Path


def read_curves(
    path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    metric: str | None = None,
    *,
    model: str | None = None,
    dataset: str | None = None,
    required: bool = True,
) -> list[Curves]:
    """Read scores that stand without predictions: how they moved in training, or how runs ended.

    They are in each run's trainer_state.json, or in a table: with a row a run and a column a dataset (whose model is
    called by the file, and whose metric is not known: "score"; a row "n" may give the numbers of examples), or with a
    row a run and dataset (columns of the dataset, the run and the score; may have those of the model and of n).

    A run's own state goes before those in its checkpoint-N folders, of which the last is taken; where there is none,
    eval_results.json or all_results.json give the last score. Model and seed are read off the folders MODEL/seed_K.
    An evaluation that was repeated at the same step, after training, does not replace the first.

    Args:
        path: A file, a folder (searched to the bottom), or several of these.
        metric: Name of the metric in the files, such as eval_matthews_correlation; without it accuracy, acc,
            exact_match or f1 (also macro, micro, weighted), on each dataset that is named between it and eval_.
        model: Of this model only; with * or ?, all that match, as runs of one.
        dataset: On this dataset only.
        required: Refuse files that log no score; without it they give no curve.

    Returns:
        One entry a model, dataset and metric; none where there are no such files, or not of this model or dataset.

    Raises:
        InputError: A file is damaged, a run is there twice, or `required` and no score within [0, 1] is logged.
    """
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    files = [file for place in paths for file in _files(Path(place))]
    states = _states(file for file in files if file.name in _WANTED)
    logged = [each for run, file in states for each in _logged(run, file, metric)]
    if states and not logged and required:
        _, first = states[0]
        names = sorted({name for _, file in states for entry in _history(file) for name in entry if _is_score(name)})
        raise InputError(
            f"no score within [0, 1] is logged there: there are {listing(names, 8) or 'no evaluations'}"
            if metric is None
            else f"no score {metric!r} within [0, 1] is logged there: there are {listing(names, 8)}",
            file=first,
            mend=f"choose one with {option('columns', 'score=METRIC')}, or give predictions",
        )
    groups: dict[tuple[str, str, str], list[_Logged]] = {}
    for each in _asked_for(logged, model, dataset):
        groups.setdefault((each.model, each.dataset, each.metric), []).append(each)
    curves = [_curves(*key, sorted(runs, key=_by_seed)) for key, runs in sorted(groups.items())]
    tables = [each for file in files if file.name not in _WANTED for each in _tabled(file)]
    return curves + [
        each
        for each in tables
        if dataset in (None, each.dataset)
        and metric in (None, each.dataset, each.metric)
        and matches(each.model, model or "*")
    ]


def _tabled(file: Path) -> list[Curves]:
    """The scores of a table as curves of no steps, one a model and dataset."""
    return [
        Curves(
            model=table.model or name_of(file),
            dataset=name,
            metric=table.metric,
            seeds=table.seeds,
            checkpoints=(),
            scores=np.empty((len(table.seeds), 0)),
            final=final,
            files=(str(file),) * len(table.seeds),
            skipped=table.skipped,
            format="score table",
            size=table.sizes.get(name),
        )
        for table in read_score_tables(file)
        for name, final in table.scores.items()
    ]


def kind_of_scores(place: Path) -> str:
    """What scores without predictions a file or folder holds, in words; nothing where there are none."""
    file = next(_files(place), None)
    if file is None:
        return ""
    return "a Trainer's logged scores are" if file.name in _WANTED else "a table of each run's scores is"


def _files(place: Path) -> Iterator[Path]:
    """Files that hold scores without predictions; each folder is read once, wherever links lead."""
    if place.is_file():
        if place.name in _WANTED or is_score_table(place):
            yield place
        return
    seen: set[Path] = set()
    for folder, below, names in os.walk(place, followlinks=True):
        real = Path(folder).resolve()
        below[:] = sorted(name for name in below if not name.startswith((".", "_"))) if real not in seen else []
        if real not in seen:
            inside = (Path(folder) / name for name in sorted(names))
            yield from (file for file in inside if file.name in _WANTED or is_score_table(file))
        seen.add(real)


def _states(files: Iterable[Path]) -> list[tuple[RunFolder, Path]]:
    """The file of each run that tells most."""

    def worth(file: Path) -> tuple[bool, float]:
        step = run_folder(file.parent).checkpoint
        return file.name == _STATE, float("inf") if step is None else step

    best: dict[Path, tuple[RunFolder, Path]] = {}
    for file in files:
        run = run_folder(file.parent)
        before = best.get(run.path)
        if before is None or worth(file) > worth(before[1]):
            best[run.path] = (run, file)
    return list(best.values())


def _history(file: Path) -> list[dict[str, Any]]:
    found = read_object(file)
    if file.name != _STATE:
        return [{**found, "step": 0}]
    history = found.get("log_history")
    if not isinstance(history, list) or not all(isinstance(entry, dict) for entry in history):
        raise InputError("log_history is not a list of what was logged", file=file, mend="copy it again")
    return history


def _is_score(name: str) -> bool:
    return name.startswith("eval_") and not name.endswith(("_runtime", "_per_second", "_time"))


def _logged(run: RunFolder, file: Path, metric: str | None) -> list[_Logged]:
    found: dict[str, dict[int, float]] = {}
    for entry in _history(file):
        step = entry.get("step")
        for name, value in entry.items():
            if isinstance(step, int) and isinstance(value, (int, float)) and 0 <= value <= 1:
                found.setdefault(name, {}).setdefault(step, float(value))
    if metric is not None:
        return (
            [_Logged(run.model, run.seed, run.dataset or _UNNAMED, metric, found[metric], file)]
            if metric in found
            else []
        )
    return [
        _Logged(run.model, run.seed, match["dataset"] or run.dataset or _UNNAMED, match["metric"], by_step, file)
        for name, by_step in found.items()
        if (match := _KNOWN.fullmatch(name))
    ]


def _by_seed(each: _Logged) -> tuple[bool, int | str]:
    return isinstance(each.seed, str), each.seed


def _asked_for(logged: Iterable[_Logged], model: str | None, dataset: str | None) -> list[_Logged]:
    """Those of a model and dataset; models that match a pattern become runs of one, named by the model."""
    kept = [each for each in logged if dataset in (None, each.dataset)]
    if model is None or not is_wildcard(model):
        return [each for each in kept if model in (None, each.model)]
    kept = [each for each in kept if matches(each.model, model)]
    one_each = len({(each.model, each.dataset, each.metric) for each in kept}) == len(kept)
    return [each._replace(model=model, seed=each.model if one_each else f"{each.model}/{each.seed}") for each in kept]


def _curves(model: str, dataset: str, metric: str, runs: Sequence[_Logged]) -> Curves:
    for one, other in pairwise(runs):
        if one.seed == other.seed:
            raise InputError(
                f"the run of {model} with seed {one.seed} is there twice",
                file=other.file,
                mend=f"the other is in {one.file}: remove one of them",
            )
    shared = sorted(set.intersection(*(set(each.by_step) for each in runs)))
    if all(each.file.name != _STATE for each in runs):
        shared = []
    lost = len(set().union(*(each.by_step for each in runs))) - len(shared) if shared else 0
    return Curves(
        model=model,
        dataset=dataset,
        metric=metric,
        seeds=tuple(each.seed for each in runs),
        checkpoints=tuple(shared),
        scores=np.array([[each.by_step[step] for step in shared] for each in runs]).reshape(len(runs), len(shared)),
        final=np.array([each.by_step[max(each.by_step)] for each in runs]),
        files=tuple(str(each.file) for each in runs),
        skipped={"steps at which not all runs were scored": lost} if lost else {},
    )


_RUN_COLUMNS = frozenset({"run", "seed", "random_seed", "replica", "replicate"})
# What has one of these is a table of predictions, a row each.
_OTHER_COLUMNS = frozenset(name for role, names in SYNONYMS.items() if role not in ("seed", "score") for name in names)
# A column, or a row of a table with a column a dataset, of numbers of examples.
_SIZES = frozenset({"n", "size", "examples", "n_examples"})
_DATASETS, _MODELS = SYNONYMS["dataset"], SYNONYMS["model"]
# So many lines of scores are within what is looked at.
_LOOKED_AT = 20
_RUN = re.compile(r"(?:run|seed|replica|replicate)?[ _#-]*(\d+)", re.IGNORECASE)
_SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")


@dataclass(frozen=True)
class ScoreTable:
    """Scores of R runs of one model on datasets.

    Attributes:
        seeds: (R,) numbers of the runs.
        scores: {dataset: (R,)}, in [0, 1].
        skipped: Reason -> count of what was left out.
        sizes: {dataset: number of its examples}, where the file tells it.
        model: Name of the model, "" where the file does not tell it.
        metric: Name of the score.
    """

    seeds: tuple[int, ...]
    scores: dict[str, NDArray[np.float64]]
    skipped: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    model: str = ""
    metric: str = UNNAMED_METRIC


@dataclass(frozen=True)
class _LongColumns:
    """The columns of a table with a row a run and dataset."""

    dataset: str
    run: str
    score: str
    model: str | None
    size: str | None

    @classmethod
    def of(cls, columns: Sequence[str]) -> _LongColumns | None:
        """None where a column is lacking or one is left over."""
        left = list(columns)

        def take(names: Iterable[str]) -> str | None:
            found = [column for column in left if column.strip().lower() in names]
            if len(found) == 1:
                left.remove(found[0])
                return found[0]
            return None

        dataset, run, model, size = (take(names) for names in (_DATASETS, _RUN_COLUMNS, _MODELS, _SIZES))
        if dataset is None or run is None or len(left) != 1 or left[0].strip().lower() in _NO_SCORES:
            return None
        return cls(dataset, run, left[0], model, size)


_NO_SCORES = _OTHER_COLUMNS | _RUN_COLUMNS | _SIZES


def is_score_table(path: Path) -> bool:
    """Whether a file begins like a table of scores: each run once, or once a dataset, and beside it nothing but scores.

    Numbers of examples may stand beside them, in a row or a column.
    """
    if not path.name.lower().endswith(_SUFFIXES):
        return False
    try:
        lines = head_of(path).decode("utf-8-sig", errors="ignore").splitlines()[:_LOOKED_AT]
    except InputError:
        # Whoever reads it as predictions says what ails it.
        return False
    separator = "\t" if lines and "\t" in lines[0] else ","
    cells = [[cell.strip().strip('"') for cell in line.split(separator)] for line in lines]
    if len(cells) < 2 or len(cells[0]) != len(cells[1]) or len(cells[0]) < 2:
        return False
    if (long := _LongColumns.of(cells[0])) is not None:
        # A table that is read past what is looked at may be cut within a line.
        rows = [dict(zip(cells[0], row, strict=True)) for row in cells[1:] if len(row) == len(cells[0])]
        keys = [(row.get(long.model or ""), row[long.dataset], row[long.run]) for row in rows]
        return len(set(keys)) == len(keys) and all(
            _RUN.fullmatch(row[long.run]) and _is_share(row[long.score]) for row in rows
        )
    rows_of_scores = [row for row in cells[1:] if row[0].lower() not in _SIZES]
    if not rows_of_scores:
        return False
    run, *columns = cells[0]
    first, *scores = rows_of_scores[0]
    runs = [row[0] for row in rows_of_scores if _RUN.fullmatch(row[0])]
    return (
        run.lower() in _RUN_COLUMNS
        and not _OTHER_COLUMNS & {name.lower() for name in columns}
        and first in runs
        and len(set(runs)) == len(runs)
        and all(map(_is_share, scores))
    )


def read_score_tables(path: Path) -> list[ScoreTable]:
    """Read a table of scores, as one a model and set of runs.

    Raises:
        InputError: The file is damaged, a run is there twice, a score is missing or not within [0, 1], or a number of
            examples is none or differs between rows of a dataset.
    """
    table = read_table(path)
    if table is None:
        raise InputError("this is not a table", file=path)
    long = _LongColumns.of(table.columns)
    return [_read_wide(path, table)] if long is None else _read_long(path, table, long)


def _read_wide(path: Path, table: pl.DataFrame) -> ScoreTable:
    """Rows that are of no run (minimum, mean, blank ones) are left out and counted."""
    by_run, *columns = table.columns
    named = pl.col(by_run).cast(pl.String).str.strip_chars()
    of_sizes = table.filter(named.str.to_lowercase().is_in(list(_SIZES)))
    if of_sizes.height > 1:
        raise InputError("there are two rows of numbers of examples", file=path, mend="remove one of them")
    kept = _numbered(table, by_run).filter(pl.col(by_run).is_not_null())
    scores = {column: _scores(path, kept[by_run], kept[column]) for column in columns}
    left = table.height - kept.height - of_sizes.height
    return ScoreTable(
        seeds=tuple(kept[by_run].to_list()),
        scores=scores,
        skipped={"rows of no run": left} if left else {},
        sizes={column: _size(path, of_sizes[column]) for column in columns if of_sizes.height},
    )


def _read_long(path: Path, table: pl.DataFrame, names: _LongColumns) -> list[ScoreTable]:
    """One a model and dataset: not all datasets need have the same runs."""
    numbered = _numbered(table, names.run)
    kept = numbered.filter(pl.col(names.run).is_not_null())
    left = table.height - kept.height
    keys = [names.dataset] if names.model is None else [names.model, names.dataset]
    found = []
    for key, rows in kept.group_by(keys, maintain_order=True):
        *model, dataset = ("" if part is None else str(part) for part in key)
        found.append(
            ScoreTable(
                seeds=tuple(rows[names.run].to_list()),
                scores={dataset: _scores(path, rows[names.run], rows[names.score], dataset)},
                skipped={"rows of no run": left} if left else {},
                sizes={} if names.size is None else {dataset: _size(path, rows[names.size], dataset)},
                model=model[0] if model else "",
                metric=names.score,
            )
        )
    return found


def _numbered(table: pl.DataFrame, by_run: str) -> pl.DataFrame:
    """With the numbers of runs, null in rows of no run."""
    number = pl.col(by_run).cast(pl.String).str.strip_chars().str.extract(f"(?i)^{_RUN.pattern}$").cast(pl.Int64)
    return table.with_columns(number.alias(by_run))


def _scores(path: Path, seeds: pl.Series, column: pl.Series, dataset: str = "") -> NDArray[np.float64]:
    on = f" on {dataset}" if dataset else ""
    twice = seeds.filter(seeds.is_duplicated())
    if twice.len():
        raise InputError(
            f"run {twice[0]} is there twice{on}", file=path, column=seeds.name, mend="remove one of its rows"
        )
    values = column.cast(pl.Float64, strict=False)
    bad = ~values.is_between(0, 1).fill_null(value=False)
    if bad.any():
        raise InputError(
            f"run {seeds.filter(bad)[0]} has no score within [0, 1]{on}",
            file=path,
            column=column.name,
            mend="give fractions, and leave out runs that were not scored",
        )
    return values.to_numpy()


def _size(path: Path, column: pl.Series, dataset: str = "") -> int:
    values = column.cast(pl.Float64, strict=False).unique(maintain_order=True).to_list()
    first = values[0]
    if len(values) > 1 or first is None or first < 1 or not first.is_integer():
        raise InputError(
            f"the number of examples{f' of {dataset}' if dataset else ''} is "
            + ("not the same in all rows" if len(values) > 1 else "no whole number above 0"),
            file=path,
            column=column.name,
            mend="give how many examples the score is a mean over, or leave the numbers out",
        )
    return int(first)


def _is_share(text: str) -> bool:
    try:
        return 0 <= float(text) <= 1
    except ValueError:
        return False


_CHECKPOINT = re.compile(r"checkpoint-(\d+)")
_SEED = re.compile(r"(?:(?P<model>.+?)[_.=-]+)?seed[_.=-]?(?P<seed>\d+)|(?P<number>\d+)", re.IGNORECASE)
# How the Trainer names labels that nobody named.
_UNNAMED_LABEL = re.compile(r"LABEL_\d+")
_MAX_JSON = 1 << 28


class RunFolder(NamedTuple):
    """Of which run a folder is.

    Attributes:
        path: The folder of the run, above those of its checkpoints.
        model: Name of the model.
        seed: Its seed; 0 where no folder names it.
        checkpoint: Step of the checkpoint whose folder it is, or None.
        dataset: Name of a folder below that of the seed, or "".
    """

    path: Path
    model: str
    seed: int
    checkpoint: int | None
    dataset: str


def run_folder(folder: Path) -> RunFolder:
    """Take the path of a folder apart: MODEL/seed_K, MODEL-seed-K or MODEL/K, then DATASET and checkpoint-N if any.

    A folder whose name says nothing of a seed is a model with one run: that several such are runs of one model is not
    to be guessed.
    """
    place = folder.resolve()
    step = _CHECKPOINT.fullmatch(place.name)
    place = place.parent if step else place
    checkpoint = int(step[1]) if step else None
    for seeded, dataset in ((place, ""), (place.parent, place.name)):
        match = _SEED.fullmatch(seeded.name)
        if match:
            model = match["model"] or seeded.parent.name
            return RunFolder(place, model, int(match["seed"] or match["number"]), checkpoint, dataset)
    return RunFolder(place, place.name, 0, checkpoint, "")


def label_names_of(place: RunFolder, folder: Path) -> tuple[str, ...] | None:
    """The labels in order, as the model's config.json names them; None where it does not.

    Raises:
        InputError: The file is damaged.
    """
    for file in (folder / "config.json", place.path / "config.json"):
        if file.is_file():
            config = read_object(file)
            names = config.get("id2label")
            if not isinstance(names, dict) or not names:
                return None
            try:
                order = sorted(names, key=int)
            except ValueError as error:
                raise InputError("id2label does not number its labels", file=file) from error
            found = tuple(str(names[number]) for number in order)
            return None if all(_UNNAMED_LABEL.fullmatch(name) for name in found) else found
    return None


def read_object(file: Path) -> dict[str, Any]:
    """A JSON file that holds one object.

    Raises:
        InputError: It holds anything else.
    """
    try:
        found = json.loads(unpacked(file, _MAX_JSON))
    except (ValueError, RecursionError) as error:
        raise InputError(f"the file is not JSON ({error})", file=file, mend="copy it again") from error
    if not isinstance(found, dict):
        raise InputError("the file does not hold one JSON object", file=file, mend="copy it again")
    return found
