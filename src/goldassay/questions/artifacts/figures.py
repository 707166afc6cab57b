"""The figures on surface patterns that give the label away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import goldassay.questions.artifacts.kept_patterns  # noqa: F401 - importing it declares the list
from goldassay.core.figures import Figure, Measure, Pairing, Rule, declare, declare_verdict
from goldassay.questions.effect_tables import declare_effects, effect_figures
from goldassay.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Mapping

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
