"""Which label a code stands for: what the labels beside predictions show, and which order agrees best with the gold.

A code is never replaced by its position. What the data show is used and said; what they merely suggest is proposed in
an error, or doubted in a note.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.naming import listing
from goldassay.core.numbers import count, points
from goldassay.runs.labels import held_label, stands_for
from goldassay.runs.statuses import NO_ANSWER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray


# With fewer rows beyond one for each code, codes may fit labels by chance.
_LEAST_ROWS = 5
_MOST_PAIRS = 12
# Right labels that say that there is none.
_DASH, _HIDDEN = "-", "-1"
_MOST_CLASSES = 30
# How rarely a score without any skill gives a doubt.
_ALPHA = 0.001


def learned_labels(own: pl.Series, right: pl.Series, label_names: Sequence[str]) -> dict[str, str] | None:
    """The label that each of a file's own label codes has in the gold; None where names already say it, or rows differ.

    Args:
        own: Labels beside the predictions, (N,).
        right: The gold of the same examples, (N,).
        label_names: The K labels of the gold.
    """
    pairs = pl.DataFrame({"own": own.cast(pl.String), "right": right.cast(pl.String)}).drop_nulls()
    distinct = pairs.unique().sort("own")
    if distinct["own"].n_unique() < distinct.height or pairs.height - distinct.height < _LEAST_ROWS:
        return None
    found: dict[str, str] = dict(distinct.iter_rows())
    same = all(stands_for(name, label_names) == label for name, label in found.items())
    return None if same or len(set(found.values())) < 2 else found


def are_codes(names: Iterable[str]) -> bool:
    """Whether all are whole numbers, which name nothing by themselves."""
    return all(name.lstrip("-").isdigit() for name in names)


def describe_learned(found: dict[str, str], gold: str) -> str:
    """By what the codes of a file are read."""
    pairs = listing([f"{code} as {label}" for code, label in found.items()], _MOST_PAIRS)
    return f"label codes are read by the labels beside the predictions, which match those of {gold}: {pairs}"


def propose(
    names: Sequence[str], label_names: Sequence[str], predictions: Sequence[pl.Series], right: pl.Series | None
) -> tuple[dict[str, str], str] | None:
    """A label for each predicted name and why: the one whose words it holds, else the best agreement with the gold.

    Args:
        names: As predicted.
        label_names: The labels.
        predictions: Of each run, (N,).
        right: The gold of the same examples, or None.

    Returns:
        None where there are too many names, or no map scores significantly more than the most frequent label.
    """
    names = [name for name in names if name != NO_ANSWER]
    if not 0 < len(names) <= _MOST_PAIRS:
        return None
    held = {name: held_label(name, label_names) for name in names}
    if all(held.values()):
        return {name: str(label) for name, label in held.items()}, "each holds the name of its label"
    if right is None:
        return None
    counts = sum(_counts(each, right, names, label_names) for each in predictions)
    counts = np.asarray(counts, dtype=np.float64)
    targets = best_targets(counts)
    n, best = right.len(), float(counts[np.arange(len(names)), targets].sum() / max(counts.sum(), 1))
    if bound(best, n, len(label_names), lower=True) <= float(counts.sum(axis=0).max() / max(counts.sum(), 1)):
        return None
    found = {name: label_names[at] for name, at in zip(names, targets.tolist(), strict=True)}
    return found, f"agrees best with the right labels, {points(best, 2)} points"


def mend_codes(
    names: Sequence[str],
    label_names: Sequence[str],
    predictions: Sequence[pl.Series],
    right: pl.Series | None,
    file: str,
    given: Mapping[str, str] | None = None,
) -> str:
    """The advice for predictions in other words than the labels, of which a map may name some."""
    found = propose(names, label_names, predictions, right)
    if found is None:
        return f"no order of the labels fits the right ones; goldassay look {file} shows what the file holds"
    pairs, why = {**found[0], **(given or {})}, found[1]
    check = "" if why.startswith("each") else "; check it against id2label in the config.json of the model"
    mapped = ",".join(f"{name}={label}" for name, label in pairs.items())
    return f"{option('labels', mapped)} {why}{check}"


def mend_order(logits: Sequence[NDArray[np.floating]], label_names: Sequence[str], right: pl.Series | None) -> str:
    """The advice for logits (N, K) whose order is unknown."""
    codes = [str(code) for code in range(logits[0].shape[-1])]
    predicted = [pl.Series(each.argmax(axis=-1)).cast(pl.String) for each in logits]
    found = propose(codes, label_names, predicted, right)
    if found is None or len(set(found[0].values())) < len(codes):
        return "write the names of the classes into the files, as label_names, in the order of the logits"
    order = ",".join(found[0][code] for code in codes)
    return f"{option('label_names', order)} {found[1]}; check it against id2label in the config.json of the model"


def refuse_contradicted(found: dict[str, str], given: Sequence[str], gold: str, file: str) -> InputError:
    """The error where names that were given in order are not those that the labels beside the predictions have."""
    order = ",".join(found.get(name, name) for name in given)
    return InputError(
        f"{option('label_names', ','.join(given))} contradicts the labels beside the predictions: what it calls "
        f"{next(iter(found))} is {next(iter(found.values()))} in {gold}",
        file=file,
        mend=f"leave it out, or give {option('label_names', order)}",
    )


def without_gold(label: pl.Series, prediction: pl.Series | None) -> pl.Series:
    """Where a right label says that there is none, (N,): "-" among names, -1 among codes from 0 up; else nowhere.

    A mark that is predicted, too, is a label.
    """
    names = {name.strip() for name in label.cast(pl.String).drop_nulls().unique()}
    given = set() if prediction is None else set(prediction.cast(pl.String).drop_nulls().unique())
    others = names - {_DASH, _HIDDEN}
    codes, words = all(map(str.isdigit, others)), all(any(map(str.isalpha, name)) for name in others)
    fits = {_DASH: words, _HIDDEN: codes} if 1 < len(others) <= _MOST_CLASSES else {}
    marks = [mark for mark in fits if fits[mark] and mark in names - given]
    return label.cast(pl.String).str.strip_chars().is_in(marks).fill_null(value=False)


def describe_unanswered(n: int, n_gold: int, gold: str, left_out: str) -> list[str]:
    """Sentences on rows of the gold that are in no score: without a label, or without a prediction."""
    said = [f"{left_out} ({gold})"] if left_out else []
    if n < n_gold:
        said.append(
            f"{count(n_gold - n)} of the {count(n_gold)} examples of {gold} have no prediction and do not count"
        )
    return said


def _counts(
    predicted: pl.Series, right: pl.Series, names: Sequence[str], label_names: Sequence[str]
) -> NDArray[np.float64]:
    """How often each predicted name has each right label, (P, K)."""
    table = np.zeros((len(names), len(label_names)))
    rows, columns = ({name: at for at, name in enumerate(each)} for each in (names, label_names))
    pairs = pl.DataFrame({"p": predicted.cast(pl.String), "r": right.cast(pl.String)}).drop_nulls()
    for p, r, n in pairs.group_by("p", "r").len().iter_rows():
        if p in rows and r in columns:
            table[rows[p], columns[r]] = n
    return table


def best_targets(counts: NDArray[np.float64]) -> NDArray[np.int64]:
    """The label of each name (P,) such that most rows agree, one to one where there are labels enough."""
    from scipy.optimize import linear_sum_assignment

    if counts.shape[0] > counts.shape[1]:
        return counts.argmax(axis=1).astype(np.int64)
    return np.asarray(linear_sum_assignment(counts, maximize=True)[1], dtype=np.int64)


def bound(share: float, n: int, k: int, *, lower: bool) -> float:
    """Wilson's bound of a share of n, at a level that holds for all k! orders at once."""
    z2 = 2 * (math.lgamma(k + 1) - math.log(_ALPHA))
    reach = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n)))
    return (share + z2 / (2 * n) + (-reach if lower else reach)) / (1 + z2 / n)
