"""What two reports are compared by: one entry a measure, with where it stands and which way is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from goldassay.places import Place

Better = Literal["lower", "higher", "neither"]
Unit = Literal["points", "share", "examples", "number", "bits"]

_RUNS = ("instability.source", ("runs",))
_RESULTS = ("model", "dataset", "condition")
_GAPS = ("model", "test", "metric")
_DETECTED = ("model", "dataset", "score")
_PARTS = {"condition": "*_only"}
_CLASSES = "artifacts.difficulty"


@dataclass(frozen=True)
class Measure:
    """One thing that is compared.

    Attributes:
        question: Which of the questions it belongs to, or "facts".
        name: In words.
        unit: "points" and "share" are fractions.
        better: Which way a benchmark or a model gets better.
        place: Where its figures stand.
        paired_by: How the table of examples holds it, where it does; see `pairing`.
    """

    question: str
    name: str
    unit: Unit
    better: Better
    place: Place
    paired_by: str = ""


MEASURES = (
    Measure("facts", "training examples", "examples", "neither", Place("facts", "n_train")),
    Measure("facts", "test examples", "examples", "neither", Place("facts", "n_test")),
    Measure("artifacts", "patterns kept", "examples", "lower", Place("artifacts", "n_selected")),
    Measure("artifacts", "patterns alone, above majority", "points", "lower", Place("artifacts.giveaway", "value")),
    Measure("artifacts", "right where patterns name one label", "share", "neither",
            Place("artifacts.precision", "value")),
    Measure("artifacts", "test examples with a pattern", "share", "lower",
            Place("artifacts", "coverage", shares_of=_CLASSES), "covered"),
    Measure("artifacts", "easy by pattern", "share", "lower",
            Place("artifacts.difficulty.easy", "share", shares_of=_CLASSES), "easy"),
    Measure("artifacts", "hard by pattern", "share", "neither",
            Place("artifacts.difficulty.hard", "share", shares_of=_CLASSES), "hard"),
    Measure("leakage", "accuracy above majority", "points", "lower",
            Place("leakage.conditions[]", "improvement", ("condition",), _PARTS), paired_by="right"),
    Measure("leakage", "accuracy of the whole input", "points", "neither",
            Place("leakage.conditions[]", "accuracy", ("condition",), {"condition": "paired"}), paired_by="right"),
    Measure("leakage", "usable information", "bits", "lower",
            Place("leakage.information[]", "information", ("condition",), _PARTS)),
    Measure("leakage", "decided like the whole", "share", "lower",
            Place("leakage.agreement[]", "agreement", ("condition",), _PARTS)),
    Measure("leakage", "outlier score of clusters", "number", "lower", Place("leakage.peco[]", "score", ("role",))),
    # Whole clusters change sides: the interval of as many independent examples would be far too narrow.
    Measure("leakage", "examples in biased clusters", "share", "lower",
            Place("leakage.peco[]", "biased_share", ("role",))),
    Measure("leakage", "accuracy above majority", "points", "lower",
            Place("leakage.datasets[]", "improvement", ("dataset", "part"))),
    Measure("leakage", "accuracy above majority, all rows", "points", "lower",
            Place("leakage.suggestion.before", "improvement")),
    Measure("instability", "mean score", "points", "higher",
            Place("instability.results[]", "mean", _RESULTS, source=_RUNS)),
    Measure("instability", "SD over runs", "points", "lower",
            Place("instability.results[]", "sd", _RESULTS, source=_RUNS)),
    Measure("instability", "design effect", "number", "lower",
            Place("instability.results[]", "design_effect", _RESULTS, source=_RUNS)),
    Measure("instability", "effective size", "examples", "higher",
            Place("instability.results[]", "effective_size", _RESULTS, source=_RUNS)),
    Measure("shift", "score", "points", "higher", Place("shift.generalization[]", "value", _GAPS)),
    Measure("shift", "generalization gap", "points", "lower",
            Place("shift.generalization[]", "gap", _GAPS, {"own": "False"})),
    Measure("shift", "surer than right", "points", "lower",
            Place("shift.calibration[]", "overconfidence", ("model", "dataset"))),
    Measure("shift", "false alarm rate", "share", "lower", Place("shift.detection[]", "false_alarm_rate", _DETECTED)),
    Measure("shift", "AUROC of detection", "share", "higher", Place("shift.detection[]", "auroc", _DETECTED)),
    Measure("comparison", "difference of models", "points", "neither",
            Place("comparison.pairs[]", "difference", ("a", "b", "dataset"), ends=("low", "high"))),
)  # fmt: skip
