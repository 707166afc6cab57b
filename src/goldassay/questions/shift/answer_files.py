"""Reading what models answered: scored as `Runs` are, as numbers for a correlation, or as logits without labels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.doors import option, right_labels
from goldassay.core.errors import InputError
from goldassay.data import read_dataset
from goldassay.questions.shift.answers import Answers
from goldassay.questions.shift.constant_answers import constants_of_gold
from goldassay.questions.shift.measures.false_alarms import as_finite
from goldassay.questions.shift.measures.set_metrics import CORRELATIONS
from goldassay.questions.shift.probabilities import as_logits
from goldassay.runs.assembly import ordered, position_of, taken
from goldassay.runs.reading import runs_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data import Dataset
    from goldassay.questions.run_choice import RunChoice
    from goldassay.questions.shift.finding import FoundSets
    from goldassay.runs import Runs
    from goldassay.runs.slices import Collection, Columns, Slice


def read_answers(key: Collection, found: Sequence[Slice], choice: RunChoice, metric: str | None) -> Answers:
    """Read the runs of one model on one dataset, with what they are to be scored by.

    Args:
        key: Which.
        found: What was found at the paths.
        choice: How to read it, and where the right labels are.
        metric: Asked for, or None: a correlation makes numbers of labels; "exact_match" and "f1" are of answers.

    Raises:
        InputError: The runs cannot be read, do not fit together or have nothing to be scored by.
    """
    parts = [part for part in found if part.collection == key]
    gold = choice.gold_of(key.dataset)
    if metric in CORRELATIONS or (metric is None and _is_regression(parts[0], gold)):
        return _read_numbers(key, parts, gold, choice)
    try:
        runs = runs_of(
            list(found),
            key._asdict(),
            gold,
            checkpoint=choice.checkpoint,
            labels=choice.labels,
            label_names=choice.label_names,
            align=choice.align,
            answer_metric="exact_match" if metric == "exact_match" else "f1",
        ).final()
    except InputError as error:
        if error.file is not None:
            raise
        # What is wrong with the numbers of several runs is found when they are put together, without their file.
        raise InputError(error.problem, file=parts[0].file, mend=error.mend) from error
    constants = None
    if runs.gold is None:
        constants = constants_of_gold(gold, runs.example_ids, "exact_match" if metric == "exact_match" else "f1")
    first = parts[0].load()
    made = answers_of(runs, parts[0].file, constants)
    unnamed = made.logits is None and first.logits is not None and not (first.label_names or choice.label_names)
    return replace(made, unnamed_logits=unnamed)


def answers_of(runs: Runs, file: str = "", constants: NDArray[np.float64] | None = None) -> Answers:
    """What runs at their last checkpoint answered.

    Args:
        runs: (R, N).
        file: Where they were read, for messages.
        constants: What constant answers score on each example, (C, N), where no labels are at hand.
    """
    logits, probabilities = (None, False) if runs.logits is None else as_logits(runs.logits)
    return Answers(
        model=runs.model,
        train_set=runs.train_set,
        dataset=runs.dataset,
        seeds=tuple(runs.seeds.tolist()),
        example_ids=runs.example_ids,
        scores=runs.scores,
        predictions=runs.predictions,
        gold=runs.gold,
        logits=logits,
        label_names=runs.label_names,
        regression=False,
        file=file,
        probabilities=probabilities,
        constants=constants,
    )


def read_logits(key: Collection, found: Sequence[Slice], choice: RunChoice) -> Answers:
    """Read the logits of the runs of one model on one dataset; labels, if there are any, are ignored.

    Raises:
        InputError: There are none, they hold NaN, or the runs do not cover the same examples.
    """
    seeds, columns, first = _aligned(key, [part for part in found if part.collection == key], choice)
    for each in columns:
        if each.logits is None:
            raise InputError(
                f"the runs of {key.model} on {key.dataset} have no logits or probabilities",
                file=first.file,
                mend="detection needs them: keep them when the predictions are made",
            )
    if len({each.logits.shape[1] for each in columns if each.logits is not None}) > 1:
        raise InputError("the runs have logits of different numbers of classes", file=first.file)
    logits = np.stack([each.logits for each in columns if each.logits is not None])
    try:
        as_finite(logits, f"logits of {key.model} on {key.dataset}", ("(R, N, K)",))
    except InputError as error:
        raise InputError(error.problem, file=first.file, mend=error.mend) from error
    logits, probabilities = as_logits(logits)
    held = [each.features for each in columns if each.features is not None]
    named = choice.label_names or next((each.label_names for each in columns if each.label_names), None)
    return Answers(
        model=key.model,
        train_set=key.train_set,
        dataset=key.dataset,
        seeds=seeds,
        example_ids=columns[0].example_ids.to_numpy(),
        scores=None,
        predictions=None,
        gold=None,
        logits=logits,
        label_names=tuple(named or ()),
        regression=False,
        file=first.file,
        features=np.stack(held) if len(held) == len(columns) and len({each.shape for each in held}) == 1 else None,
        ignored=any(each.label is not None for each in columns),
        probabilities=probabilities,
    )


def find_unlabelled(found: FoundSets, choice: RunChoice) -> list[str]:
    """Datasets whose runs have neither labels nor scores, and no right labels from elsewhere."""
    names = {}
    for sets in found.models.values():
        for name, key in sets.items():
            if name in names or choice.gold_of(key.dataset) is not None:
                continue
            columns = next(part for part in found.slices if part.collection == key).load()
            names[name] = columns.label is None and columns.score is None
    return [name for name, bare in names.items() if bare]


def read_gold_texts(right: Mapping[str, str | Dataset | None]) -> dict[str, Dataset]:
    """{dataset: its texts} of those right labels that come with any."""
    found = {}
    for name, gold in right.items():
        if gold is None:
            continue
        try:
            found[name] = read_dataset(gold) if isinstance(gold, str) else gold
        except InputError:
            # A file of labels alone has served to score the runs by.
            continue
    return found


def _is_regression(part: Slice, gold: str | Dataset | None) -> bool:
    """Whether labels and predictions are numbers that cannot stand for classes.

    Not all are whole, and there are more than two labels: beside two, broken numbers are a class's probabilities.
    """
    columns = part.load()
    predicted = _numbers(columns)
    if predicted is None:
        return False
    right: pl.Series | None
    if gold is None:
        right = None if columns.label is None else columns.label.cast(pl.Float64, strict=False)
    else:
        dataset = read_gold_texts({"": gold}).get("")
        label = None if dataset is None or "label" not in dataset.examples.columns else dataset.examples["label"]
        right = label if label is not None and label.dtype.is_float() else None
    if right is None or right.null_count() or right.n_unique() <= 2:
        return False
    return bool((right % 1 != 0).any() or (predicted % 1 != 0).any())


def _numbers(columns: Columns) -> pl.Series | None:
    """Predictions as numbers: those of a column, or logits of one class; None where they are none."""
    if columns.logits is not None and columns.logits.shape[1] == 1:
        return pl.Series(columns.logits[:, 0].astype(np.float64))
    if columns.prediction is None:
        return None
    values = columns.prediction.cast(pl.Float64, strict=False)
    return None if values.null_count() > columns.prediction.null_count() else values


def _read_numbers(key: Collection, parts: Sequence[Slice], gold: str | Dataset | None, choice: RunChoice) -> Answers:
    seeds, columns, first = _aligned(key, parts, choice)
    what = f"{key.model} on {key.dataset}"
    predicted = [_numbers(each) for each in columns]
    if any(each is None for each in predicted):
        raise InputError(
            f"the predictions of {what} are not numbers, as a correlation needs", file=first.file,
            mend=f"leave out {option('metric')}, or give numbers",
        )  # fmt: skip
    ids, place = columns[0].example_ids, first.file
    if gold is not None:
        dataset, place = (read_dataset(gold), gold) if isinstance(gold, str) else (gold, gold.source)
        if "label" not in dataset.examples.columns:
            raise InputError("there are no labels", file=place, mend="name their column")
        table = dataset.examples["example_id"].cast(pl.String)
        places = position_of(ids, table)
        if places.null_count():
            raise InputError(
                f"{places.null_count()} of {len(ids)} examples of {what} are not in the gold", file=place,
                mend="give the file that was predicted, with the same example ids",
            )  # fmt: skip
        right = dataset.examples["label"].gather(places).cast(pl.Float64, strict=False)
    elif columns[0].label is None:
        raise InputError(
            f"the runs of {what} have no gold labels to be scored by",
            file=first.file,
            mend=f"give {right_labels()}",
        )
    else:
        right = columns[0].label.cast(pl.Float64, strict=False)
    if right.null_count():
        raise InputError(f"{right.null_count()} labels of {what} are no numbers", file=place)
    values = np.stack([each.to_numpy() for each in predicted if each is not None])
    try:
        as_finite(values, f"predictions of {what}", ("(R, N)",))
        targets = as_finite(right.to_numpy(), f"labels of {what}", ("(N,)",))
    except InputError as error:
        raise InputError(error.problem, file=first.file, mend=error.mend) from error
    return Answers(
        model=key.model,
        train_set=key.train_set,
        dataset=key.dataset,
        seeds=seeds,
        example_ids=ids.to_numpy(),
        scores=None,
        predictions=values,
        gold=targets,
        logits=None,
        label_names=(),
        regression=True,
        file=first.file,
    )


def _aligned(
    key: Collection, parts: Sequence[Slice], choice: RunChoice
) -> tuple[tuple[Any, ...], list[Columns], Slice]:
    """The last checkpoint of each run, all with the examples of the first in its order."""
    by_seed: dict[Any, list[Slice]] = {}
    for part in parts:
        by_seed.setdefault(part.seed, []).append(part)
    seeds = tuple(ordered(set(by_seed)))
    chosen = []
    for seed in seeds:
        own = by_seed[seed]
        if choice.checkpoint not in (None, "last"):
            own = [part for part in own if str(part.checkpoint) == str(choice.checkpoint)]
        if not own:
            raise InputError(f"the run with seed {seed} of {key.model} has no checkpoint {choice.checkpoint!r}")
        last = ordered({part.checkpoint for part in own})[-1] if len(own) > 1 else own[0].checkpoint
        same = [part for part in own if part.checkpoint == last]
        if len(same) > 1:
            raise InputError(
                f"the run with seed {seed} is there twice", file=same[1].file,
                mend=f"the other stands in {same[0].file}: remove one of them",
            )  # fmt: skip
        chosen += same
    loaded = [part.load() for part in chosen]
    first = loaded[0].example_ids
    if first.n_unique() < first.len():
        raise InputError("an example is there twice", file=chosen[0].file, mend="give each its own id")
    aligned = [loaded[0]]
    for part, columns in zip(chosen[1:], loaded[1:], strict=True):
        places = position_of(first, columns.example_ids)
        if places.null_count() or columns.example_ids.len() != first.len():
            raise InputError(
                f"the run with seed {part.seed} covers other examples than that with seed {chosen[0].seed}",
                file=part.file, mend="give all runs on the same examples",
            )  # fmt: skip
        aligned.append(taken(columns, places))
    if not first.len():
        raise InputError(f"the runs of {key.model} on {key.dataset} have no examples", file=chosen[0].file)
    return seeds, aligned, chosen[0]
