"""What each question needs: the kinds of data that it is asked of, and what must be given beside them.

Light, so that what may be asked of a file is said without loading what answers it.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

TEXTS, CHOICES, PREFERENCES, JUDGMENTS = "labelled texts", "choices", "preferences", "judgments"
ANSWERS, RUNS, BOARD, GRADES = "extractive answers", "runs", "board", "grades"
_LABELLED = (TEXTS, CHOICES, PREFERENCES)


@dataclass(frozen=True)
class Asked:
    """What a question needs.

    Attributes:
        title: What it is called.
        needs: Kind of data to what else must be given: "test" (a set, or a corpus to search), "runs", runs in several
            "configurations" or of several "models", "elsewhere", "corpus", "scale"; by each kind that it is asked of.
        command: The command that asks it alone, of these kinds.
    """

    title: str
    needs: Mapping[str, tuple[str, ...]]
    command: str


QUESTIONS: Mapping[str, Asked] = MappingProxyType(
    {
        "artifacts": Asked("Artifacts", dict.fromkeys(_LABELLED, ()), "artifacts mine"),
        "leakage": Asked("Leakage", dict.fromkeys(_LABELLED, ()), "leakage measure"),
        "instability": Asked("Instability", {TEXTS: ("runs",), RUNS: ()}, "instability"),
        "shift": Asked("Shift", {TEXTS: ("elsewhere",)}, "shift generalization"),
        "overlap": Asked("Overlap", {**dict.fromkeys(_LABELLED, ("test",)), ANSWERS: ("corpus",)}, "overlap"),
        "answered": Asked("Answers", {TEXTS: ("runs",), RUNS: (), BOARD: (), GRADES: ("scale",)}, "answered"),
        "comparison": Asked("Comparison", {RUNS: ("models",)}, "compare"),
        "sensitivity": Asked("Sensitivity", {TEXTS: ("configurations",), RUNS: ("configurations",)}, "sensitivity"),
        "board": Asked("Board", {RUNS: ("models",), BOARD: (), GRADES: ("scale",)}, "board"),
        "judgments": Asked("Judgments", {JUDGMENTS: ()}, "audit"),
        "suspect": Asked("Labels that may be wrong", dict.fromkeys(_LABELLED, ()), "audit"),
    }
)
# Each need as a clause, and the option that gives it.
NEEDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "test": ("an evaluation set of its own, or a corpus to search", "test"),
        "corpus": ("a corpus to search", "corpus"),
        "runs": ("runs on the evaluation set", "runs"),
        "configurations": ("runs in two configurations or more", "runs"),
        "models": ("runs of two models or more on one dataset", ""),
        "elsewhere": ("a set of another distribution", "elsewhere"),
        "scale": ("the lowest and the highest grade", "grades"),
    }
)
