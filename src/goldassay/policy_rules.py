"""What the table `[policy]` of goldassay.toml may demand of a report: one entry a rule.

An entry says by which name it is demanded, what it measures in words, whether a limit is the most or the least that is
allowed, the unit, and where the figure stands in `report.json`. Settings, checks and the help read nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from goldassay.places import Place

_QUESTIONS = ("artifacts", "leakage", "instability", "shift")
WORDS = ("sound", "caution", "unsound")

Direction = Literal["at most", "at least"]
Unit = Literal["points", "share", "examples", "runs", "verdict"]

_RUNS = ("instability.source", ("runs",))
# Quick probes measure a benchmark. Their spread says nothing of the model that a policy is about, even where somebody
# measures the runs that an audit left like those of a model.
_PROBES = ("model", "quick_probe")
_TEST = ("artifacts.coverage_of", ("test", ""))
_RESULTS = ("model", "dataset", "condition")


@dataclass(frozen=True)
class Rule:
    """One thing that a policy may demand.

    Attributes:
        name: The key in `[policy]`.
        sentence: What is measured.
        direction: Which side of the limit is allowed.
        unit: Of figure and limit; "points" and "share" are fractions.
        places: Where the figure stands, each report having one of them or none.
        bounded: Whether there is an interval, an end of which may be held against the limit.
        spares_unmeasured: What was not measured for want of input is passed over instead of failing.
    """

    name: str
    sentence: str
    direction: Direction
    unit: Unit
    places: tuple[Place, ...]
    bounded: bool = True
    spares_unmeasured: bool = False


RULES = (
    Rule(
        "max_single_sentence_improvement", "accuracy of a single sentence above the majority", "at most", "points",
        (
            Place("leakage.conditions[]", "improvement", ("condition",), only={"condition": "*_only"}),
            Place("leakage.datasets[]", "improvement", ("dataset", "part")),
        ),
    ),
    Rule(
        "max_biased_share", "share of test examples in biased clusters", "at most", "share",
        (Place("leakage.peco[]", "biased_share", ("role",)),), bounded=False,
    ),
    Rule(
        "max_easy_share", "share of test examples that are easy by pattern", "at most", "share",
        (Place("artifacts.difficulty.easy", "share", shares_of="artifacts.difficulty", source=_TEST),),
    ),
    Rule(
        "max_pattern_gain", "accuracy of patterns alone above the majority", "at most", "points",
        (Place("artifacts.giveaway", "value", source=_TEST),),
    ),
    Rule(
        "min_effective_size", "effective size of the test set", "at least", "examples",
        (Place("instability.results[]", "effective_size", _RESULTS, but=_PROBES, source=_RUNS),),
    ),
    Rule(
        "max_score_sd", "SD of the score over runs", "at most", "points",
        (Place("instability.results[]", "sd", _RESULTS, but=_PROBES, source=_RUNS),),
    ),
    Rule(
        "min_runs", "number of runs of a model", "at least", "runs",
        (
            Place("instability.results[]", "n_runs", _RESULTS, but=_PROBES, source=_RUNS),
            Place("leakage.conditions[]", "n_runs", ("condition",), but=("leakage.model", "quick_probe"),
                  source=("leakage.source", ("runs", "training"))),
            Place("shift.generalization[]", "n_runs", ("model", "test"), but=_PROBES),
            Place("shift.detection[]", "n_runs", ("model", "dataset", "score"), but=_PROBES),
        ),
        bounded=False,
    ),
    Rule(
        "max_generalization_gap", "generalization gap", "at most", "points",
        (Place("shift.generalization[]", "gap", ("model", "test", "metric"), only={"own": "False"}),),
    ),
    Rule(
        "max_false_alarm_rate", "false alarm rate of detection", "at most", "share",
        (Place("shift.detection[]", "false_alarm_rate", ("model", "dataset", "score")),),
    ),
    *(
        Rule(f"worst_{question}_verdict", f"verdict on {question}", "at most", "verdict",
             (Place(f"verdicts.{question}", "verdict"),), bounded=False)
        for question in _QUESTIONS
    ),
    Rule(
        "worst_verdict", "verdict", "at most", "verdict",
        tuple(Place(f"verdicts.{question}", "verdict") for question in _QUESTIONS),
        bounded=False,
        spares_unmeasured=True,
    ),
)  # fmt: skip
