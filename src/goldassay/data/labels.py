"""Labels: cleaned, given their usual names, and the names of integers from the metadata of the `datasets` library."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.errors import option
from goldassay.data.fields import cell_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


NLI = ("entailment", "neutral", "contradiction")
NON_ENTAILMENT = "non-entailment"

_WORDS: dict[str, str] = {
    "entailment": "entailment",
    "entails": "entailment",
    "entailed": "entailment",
    "neutral": "neutral",
    "contradiction": "contradiction",
    "contradicts": "contradiction",
    "contradictory": "contradiction",
    "not_entailment": NON_ENTAILMENT,
    "not-entailment": NON_ENTAILMENT,
    "not entailment": NON_ENTAILMENT,
    "non_entailment": NON_ENTAILMENT,
    "non-entailment": NON_ENTAILMENT,
    "non entailment": NON_ENTAILMENT,
    "notentailment": NON_ENTAILMENT,
    "nonentailment": NON_ENTAILMENT,
}
_SCHEMES: tuple[dict[str, str], ...] = (
    _WORDS,
    {"e": "entailment", "n": "neutral", "c": "contradiction"},
    {"supports": "entailment", "not enough info": "neutral", "refutes": "contradiction"},
    {"supported": "entailment", "not enough info": "neutral", "refuted": "contradiction"},
    {"yes": "entailment", "maybe": "neutral", "no": "contradiction"},
    {"yes": "entailment", "unknown": "neutral", "no": "contradiction"},
)

DASH = "gold label is '-'"
EMPTY = "label is empty"
NULL = "label is null"
INFINITE = "label is infinite"
HIDDEN = "label is -1 (hidden)"
_EXACT = 2.0**53
# What stands in tables for a cell that holds nothing, in small letters. "none" is a class of many sets.
_ABSENT = ("na", "n/a", "<na>", "#n/a", "nan", "null")
_SEPARATORS = (";", ",", "|")
# These stand in names of one class, too: "n/a", "and/or", "C++", "New York".
_WITHIN_NAMES = ("/", "+", "&", " and ", " ")


@dataclass(frozen=True)
class CleanLabels:
    """Labels after cleaning.

    Attributes:
        values: String column; null where the row has no usable label.
        reasons: String column; why the row has none, null elsewhere.
        renamed: Old to new names, empty when nothing was renamed.
        decisions: What was decided, in plain sentences.
    """

    values: pl.Series
    reasons: pl.Series
    renamed: Mapping[str, str]
    decisions: tuple[str, ...]


def clean_labels(column: pl.Series, is_pair: bool, class_names: Sequence[str] | None = None) -> CleanLabels:
    """Turn a column of labels into text, tell which rows have none, and give NLI labels their usual names.

    Integer codes stay what they are unless the source itself names them: papers order the three NLI classes in
    several ways. -1 means "hidden" only beside the codes 0 to K-1, as on the hub; beside 1 it is a class.

    Args:
        column: The labels as read.
        is_pair: Whether the dataset has premise and hypothesis; only then are NLI names looked for.
        class_names: Names of integer codes, in order of code.
    """
    decisions: list[str] = []
    text = as_text(column).str.strip_chars()
    reasons = _reasons(text)
    if column.dtype.is_float():
        endless = column.is_infinite().fill_null(value=False)
        reasons = pl.select(pl.when(endless).then(pl.lit(INFINITE)).otherwise(reasons)).to_series()
    if class_names:
        text, reasons = _named(column, class_names, reasons)
        decisions.append(f"Integer labels carry the names that the file gives: {', '.join(class_names)}.")
    elif _hides_with_minus_one(text.filter(reasons.is_null())):
        hidden = (text == "-1").fill_null(value=False)
        reasons = pl.select(pl.when(hidden).then(pl.lit(HIDDEN)).otherwise(reasons)).to_series()
    values = pl.select(pl.when(reasons.is_null()).then(text).otherwise(None)).to_series()
    present = values.drop_nulls().unique().to_list()
    if whole := _same_numbers(present):
        values = values.replace(whole)
        shown = ", ".join(f"{old!r} as {new!r}" for old, new in sorted(whole.items()))
        decisions.append(f"Labels that are one number are one label: {shown}.")
        present = [each for each in present if each not in whole]
    if absent := sorted(each for each in present if each.lower() in _ABSENT):
        shown, left = ", ".join(map(repr, absent)), ",".join(f"{each}:" for each in absent)
        leave = option("map", f"{column.name or 'label'}={left}")
        decisions.append(f"The labels {shown} are classes; {leave} leaves out their rows.")
    renamed = nli_names(present) if is_pair else {}
    if renamed:
        values = values.replace(renamed)
        shown = ", ".join(f"{old!r} as {new}" for old, new in sorted(renamed.items()))
        decisions.append(f"Labels are read by their usual names: {shown}.")
    return CleanLabels(values, reasons, renamed, tuple(decisions))


def _same_numbers(labels: Sequence[str]) -> dict[str, str]:
    """Spellings of a number beside it, to it: 1.0 beside 1; of flags also true and false beside 0 and 1."""
    found = {label: re.sub(r"(?<=\d)\.0+$", "", label) for label in labels}
    flags = {"true": "1", "false": "0"}
    if set(found.values()) <= {*flags, "0", "1"}:
        found |= {label: flags[label] for label in labels if label in flags}
    return {label: plain for label, plain in found.items() if plain != label and plain in labels}


def as_text(column: pl.Series) -> pl.Series:
    """Turn values into text; whole numbers lose the decimal point that missing values force on them.

    What is no number or infinite is missing.
    """
    if column.dtype.is_float():
        finite = pl.select(pl.when(column.is_finite()).then(column)).to_series()
        # Floats beyond this do not hold every integer.
        if bool(((finite == finite.round()) & (finite.abs() < _EXACT)).all()):
            return finite.cast(pl.Int64).cast(pl.String)
        return finite.cast(pl.String)
    return cell_texts(column)


def nli_names(labels: Sequence[str]) -> dict[str, str]:
    """Old to new names if all labels fit one scheme of naming the NLI classes; else nothing.

    Yes and no by themselves name no NLI class: they need the third answer beside them. Nor does one letter alone.
    """
    keys = {label: label.lower() for label in labels}
    for scheme in _SCHEMES:
        if not labels or not all(key in scheme for key in keys.values()):
            continue
        if len(labels) < 2 and scheme is not _WORDS:
            continue
        if "no" in scheme and "neutral" not in {scheme[key] for key in keys.values()}:
            continue
        return {label: scheme[key] for label, key in keys.items() if scheme[key] != label}
    return {}


def several_in_one(labels: Sequence[str]) -> tuple[str, list[str]] | None:
    """A label that holds several, and which these are: "0;2" beside "0" and "2;4"; None where each label is one.

    Labels hold several where a separator joins two or more in some of them, and each part of each joined label is part
    of another label, too. So "Paris, France" beside "Lyon, France" are two labels: Paris stands in one alone. Of "/",
    "+", "&", "and" and a space the order of the parts must change, as in "joy/fear" and "fear/joy"; or, of all but a
    space, each part of two joined labels is a label by itself.
    """
    for separator in (*_SEPARATORS, *_WITHIN_NAMES):
        parts = {label: list(dict.fromkeys(map(str.strip, label.split(separator)))) for label in labels}
        joined = {label: own for label, own in parts.items() if len(own) > 1}
        if not joined or any(not part for own in joined.values() for part in own):
            continue
        if separator in _WITHIN_NAMES:
            orders = Counter(frozenset(own) for own in {tuple(own) for own in joined.values()})
            turned = {label: own for label, own in joined.items() if orders[frozenset(own)] > 1}
            alone = {own[0] for own in parts.values() if len(own) == 1}
            is_joined = separator != " " and len(joined) > 1 and all(alone.issuperset(own) for own in joined.values())
            joined = joined if is_joined else turned
        times = Counter(part for own in parts.values() for part in own)
        if joined and all(times[part] > 1 for own in joined.values() for part in own):
            return next(iter(sorted(joined.items())))
    return None


def is_nli_label(label: str) -> bool:
    """Whether a text is one of the words for an NLI class, or the dash of a pair without a gold label."""
    return label.strip().lower() in _WORDS or label.strip() == "-"


def ordered(labels: Sequence[str]) -> tuple[str, ...]:
    """Labels in the order used everywhere: entailment, neutral, contradiction; any others sorted."""
    if labels and set(labels) <= set(NLI):
        return tuple(name for name in NLI if name in labels)
    return tuple(sorted(labels))


def _reasons(text: pl.Series) -> pl.Series:
    return pl.select(
        pl.when(text.is_null())
        .then(pl.lit(NULL))
        .when(text == "")
        .then(pl.lit(EMPTY))
        .when(text == "-")
        .then(pl.lit(DASH))
        .otherwise(pl.lit(None, pl.String))
    ).to_series()


def _named(column: pl.Series, class_names: Sequence[str], reasons: pl.Series) -> tuple[pl.Series, pl.Series]:
    codes = column.cast(pl.Int64, strict=False)
    names = pl.Series(class_names, dtype=pl.String)
    inside = (codes >= 0) & (codes < len(class_names))
    text = names.gather(codes.clip(0, len(class_names) - 1).fill_null(0))
    text = pl.select(pl.when(inside).then(text).otherwise(codes.cast(pl.String))).to_series()
    hidden = (codes == -1).fill_null(value=False)
    return text, pl.select(pl.when(hidden).then(pl.lit(HIDDEN)).otherwise(reasons)).to_series()


def _hides_with_minus_one(text: pl.Series) -> bool:
    present = set(text.drop_nulls().unique().to_list())
    if "-1" not in present:
        return False
    others = present - {"-1"}
    return others == {str(code) for code in range(len(others))}


def class_names_in(metadata: str) -> dict[str, tuple[str, ...]]:
    """Names by column from the JSON `{"info": {"features": ...}}`, which other text may follow."""
    if not metadata:
        return {}
    try:
        value, _ = json.JSONDecoder().raw_decode(metadata)
    except ValueError:
        return {}
    return class_names_of(value.get("info", {})) if isinstance(value, dict) else {}


def class_names_of(info: Any) -> dict[str, tuple[str, ...]]:
    """Names by column from a dataset's info, `{"features": {"label": {"names": [...], "_type": "ClassLabel"}}}`."""
    features = info.get("features") if isinstance(info, dict) else None
    if not isinstance(features, dict):
        return {}
    return {
        column: tuple(str(name) for name in feature["names"])
        for column, feature in features.items()
        if isinstance(feature, dict) and feature.get("_type") == "ClassLabel" and feature.get("names")
    }
