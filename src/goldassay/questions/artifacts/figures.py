"""The figures on surface patterns that give the label away, and the patterns that a comparison of reports needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.figures import Figure, Measure, Pairing, Rule, declare, declare_verdict
from goldassay.core.listings import WORTH, Listed, Listing, declare_listing
from goldassay.questions.effect_tables import declare_effects, effect_figures
from goldassay.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_SCHEMA = {"pattern": pl.String, "label": pl.String, "support": pl.Int64, "probability": pl.Float64}
# `artifacts mine` keeps all that it counted in patterns.parquet, and what the audit keeps in findings.parquet.
_FILES = ("tables/patterns.parquet", "findings.parquet")


def read_kept_patterns(document: Mapping[str, Any], folder: Path) -> Listed | None:
    """All kept patterns, from the table next to the report or from the points of its picture, and the strongest.

    A table or picture counts as complete where it has exactly as many patterns as the report says were kept.
    """
    section = document.get("artifacts") or {}
    if "strongest" not in section:
        return None
    candidates = (_table(folder), _points(section))
    kept = next((each for each in candidates if each is not None and each.height == section.get("n_selected")), None)
    strongest = _plain([{**row, "label": label} for label, rows in section["strongest"].items() for row in rows])
    prior = section.get("prior") or {}
    return Listed(None if kept is None else _with_worth(kept, prior), _with_worth(strongest, prior))


declare_listing(Listing("patterns", "pattern", "label", ("support", "probability"), read_kept_patterns))


def _table(folder: Path) -> pl.DataFrame | None:
    from polars.exceptions import PolarsError

    for place in _FILES:
        try:
            return _plain(pl.read_parquet(folder / place).select(list(_SCHEMA)).to_dicts())
        except (OSError, PolarsError):
            continue
    return None


def _points(section: Mapping[str, Any]) -> pl.DataFrame | None:
    threshold = (section.get("settings") or {}).get("threshold")
    if not isinstance(threshold, float):
        return None
    return _plain([row for row in section.get("scatter") or () if (row.get("probability") or 0.0) > threshold])


def _plain(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    table = pl.DataFrame([{name: row.get(name) for name in _SCHEMA} for row in rows], schema=_SCHEMA)
    return table.unique("pattern", keep="first", maintain_order=True)


def _with_worth(table: pl.DataFrame, prior: Mapping[str, float]) -> pl.DataFrame:
    """How many more examples have the pattern's label than chance gives."""
    expected = [float(prior.get(label) or 0.0) for label in table["label"].to_list()]
    share = pl.col("probability") - pl.Series(expected, dtype=pl.Float64)
    return table.with_columns((pl.col("support") * share).alias(WORTH))


declare_verdict("artifacts")
_EFFECTS = declare_effects("artifacts", information=False)

_SELECTED = declare(Measure("artifacts.selected", "patterns kept", "examples", "lower", bounded=False))
_GAIN = declare(
    Measure(
        "artifacts.gain", "patterns alone, above majority", "points", "lower",
        rule=Rule("max_pattern_gain", "accuracy of patterns alone above the majority", "at most"),
    )
)  # fmt: skip
_PRECISION = declare(Measure("artifacts.precision", "right where patterns name one label", "share"))
_COVERAGE = declare(
    Measure(
        "artifacts.coverage", "test examples with a pattern", "share", "lower",
        pairing=Pairing("difficulty", ("easy", "hard", "conflicting")),
    )
)  # fmt: skip
_EASY = declare(
    Measure(
        "artifacts.easy_share", "easy by pattern", "share", "lower",
        rule=Rule("max_easy_share", "share of test examples that are easy by pattern", "at most"),
        pairing=Pairing("difficulty", ("easy",)),
    )
)  # fmt: skip
_HARD = declare(Measure("artifacts.hard_share", "hard by pattern", "share", pairing=Pairing("difficulty", ("hard",))))


def figures(document: Mapping[str, Any]) -> list[Figure]:
    """What the patterns of an audit, of `artifacts mine` or of `artifacts assign` do on the test set.

    The share of easy examples and its like are shares of all test examples, with Wilson's interval.
    """
    found = document.get("artifacts") or {}
    sizes = {name: each["n"] for name, each in (found.get("difficulty") or {}).items()}
    n = sum(sizes.values())
    made = effect_figures(found, _EFFECTS)
    if found.get("n_selected") is not None:
        made.append(_SELECTED.figure(found["n_selected"]))
    if "giveaway" in found:
        gain = found["giveaway"]
        made.append(_GAIN.figure(gain["value"], gain["low"], gain["high"], n=n or None))
    if "precision" in found and sizes["easy"] + sizes["hard"]:
        right = found["precision"]
        made.append(_PRECISION.figure(right["value"], right["low"], right["high"], n=sizes["easy"] + sizes["hard"]))
    elif n:
        made.append(_precision(sizes["easy"], sizes["hard"]))
    if n:
        made.append(_share(_COVERAGE, found.get("coverage", (n - sizes["uncovered"]) / n), n))
        made.append(_share(_EASY, found["difficulty"]["easy"]["share"], n))
        made.append(_share(_HARD, found["difficulty"]["hard"]["share"], n))
    return made


def _precision(easy: int, hard: int) -> Figure:
    """Of the examples for which the patterns name one label, the share for which they name the right one."""
    if easy + hard == 0:
        return _PRECISION.figure(None, n=0, reason="the patterns name one label for no test example")
    interval = wilson_interval(easy, easy + hard)
    return _PRECISION.figure(easy / (easy + hard), interval.low, interval.high, n=easy + hard)


def _share(measure: Measure, share: float, n: int) -> Figure:
    interval = wilson_interval(round(share * n), n)
    return measure.figure(share, interval.low, interval.high, n=n)
