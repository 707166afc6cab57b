"""Labels by their names: the order of a label set, and how one tool's names stand for another's.

A name is never replaced by its position: two tools that number three labels differently would agree silently.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.naming import listing
from goldassay.runs.statuses import NO_ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray


INFERENCE = ("entailment", "neutral", "contradiction")
_MOST_PAIRS = 10
TWO_CLASS = {"entailment", "non-entailment"}
_AROUND = " \t\r\n."
_WHOLE = re.compile(r"-?[0-9]+\.0")
_LETTERS = {"e": "entailment", "n": "neutral", "c": "contradiction"}


def order_labels(names: Iterable[str]) -> tuple[str, ...]:
    """Names of a label set in their order: entailment, neutral, contradiction when it is these, else sorted.

    Names that are all whole numbers are sorted as numbers.
    """
    distinct = set(names)
    if {canonical(name) for name in distinct} == set(INFERENCE) and len(distinct) == 3:
        return tuple(sorted(distinct, key=lambda name: INFERENCE.index(canonical(name))))
    if all(name.lstrip("-").isdigit() for name in distinct):
        return tuple(sorted(distinct, key=int))
    return tuple(sorted(distinct))


def canonical(name: str) -> str:
    """The name without regard to case, a point at its end, `_` or `-`, and the spellings of non-entailment, e, n, c."""
    plain = (name.strip(_AROUND) or name.strip()).lower().replace("_", "-").replace(" ", "-")
    if _WHOLE.fullmatch(plain):
        # A code that pandas wrote as a float, since another cell was empty.
        return plain.partition(".")[0]
    if plain in ("not-entailment", "nonentailment", "not-entailed", "non-entailed"):
        return "non-entailment"
    return _LETTERS.get(plain, plain)


def map_names(
    names: Sequence[str],
    label_names: Sequence[str],
    labels: Mapping[str, str] | None = None,
    *,
    what: str = "predictions",
    file: str | None = None,
    mend: Callable[[], str] | None = None,
) -> dict[str, str]:
    """Say for each name in `names` which of `label_names` it stands for; names that match none stay as they are.

    In this order: the explicit map, the same name, the same name in another spelling, and, where the label set
    is entailment against non-entailment, neutral and contradiction as non-entailment (each prediction is
    collapsed after it was made, as the HANS authors do; summing probabilities first would be another rule).

    Raises:
        InputError: The explicit map lacks a name, or maps to a label that does not exist, or `names` and
            `label_names` have nothing in common; its advice is `mend()`, if that is given.
    """
    if labels is not None:
        lacking = [name for name in names if name not in labels and name not in label_names and name != NO_ANSWER]
        if lacking:
            raise InputError(
                f"the label map does not cover {listing(lacking)}",
                file=file,
                mend=mend() if mend is not None else f"add them to {option('labels')}",
            )
    targets = {name: name if labels is None else labels.get(name, name) for name in names}
    if not label_names:
        return targets
    known = {target: stands_for(target, label_names) for target in targets.values()}
    astray = [target for target, label in known.items() if label is None]
    if labels is not None and {*astray} - {NO_ANSWER}:
        raise InputError(
            f"the label map leads to {listing(astray)}, but the labels are {listing(label_names, 10)}", file=file
        )
    if known and len(astray) == len(known) and [*names] != [NO_ANSWER]:
        raise InputError(
            f"the {what} are {listing(names, 8)}, the labels {listing(label_names, 8)}: none in common",
            file=file,
            mend=mend() if mend is not None else _which_is_which(names, label_names),
        )
    return {name: known[target] or target for name, target in targets.items()}


def _which_is_which(names: Sequence[str], label_names: Sequence[str]) -> str:
    held = {name: held_label(name, label_names) for name in names}
    if all(held.values()) and len(names) <= _MOST_PAIRS:
        return option("labels", ",".join(f"{name}={label}" for name, label in held.items()))
    return "name them alike in both"


def held_label(name: str, label_names: Sequence[str]) -> str | None:
    """The one label whose words a name holds; None where it holds none, several, or a negation."""
    words = f"-{re.sub(r'[^a-z0-9]+', '-', name.lower())}-"
    if any(f"-{negation}-" in words for negation in ("not", "no", "non")):
        return None
    # Letters of choices are none of entailment, neutral, contradiction here.
    held = [each for each in label_names if f"-{canonical(each)}-" in words or f"-{each.lower()}-" in words]
    return held[0] if len(held) == 1 else None


def stands_for(name: str, label_names: Sequence[str]) -> str | None:
    """The label of the same name, in whatever spelling; non-entailment for its parts; None where there is none."""
    if name in label_names:
        return name
    plain = canonical(name)
    by_spelling = {canonical(label): label for label in label_names}
    if plain in by_spelling:
        return by_spelling[plain]
    if set(by_spelling) == TWO_CLASS and plain in INFERENCE:
        return by_spelling["non-entailment"]
    return None


def name_codes(codes: Any, label_names: tuple[str, ...] | None, path: Path) -> pl.Series:
    """Whole numbers as the names they stand for; without names as their digits.

    Raises:
        InputError: The codes are not whole numbers, or there are more of them than names.
    """
    values: NDArray[Any] = np.asarray(codes)
    if values.dtype.kind in "UTSO":
        return pl.Series([str(value) for value in values.tolist()], dtype=pl.String)
    if values.dtype.kind not in "iub":
        raise InputError("labels are neither names nor whole numbers", file=path)
    if label_names is None:
        return pl.Series(values.astype(np.int64)).cast(pl.String)
    if values.size and (values.min() < 0 or values.max() >= len(label_names)):
        raise InputError(
            f"there are label codes up to {values.max()}, but {len(label_names)} labels",
            file=path,
            mend=f"name all of them in order with {option('label_names', 'NAME,NAME,...')}",
        )
    return pl.Series(label_names, dtype=pl.String).gather(values.astype(np.int64))


def names_for(label_names: tuple[str, ...] | None, n_classes: int) -> tuple[str, ...]:
    """The label names, or the digits of the codes where there are none."""
    return label_names if label_names is not None else tuple(str(code) for code in range(n_classes))
