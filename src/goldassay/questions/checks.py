"""The questions that can be answered: what each needs, and the modules by which each shows its results.

A question is a folder of this room. The `CHECK` of `question` (or `check`) answers it in an audit; `result` declares
what it measures and its figures, `page` has its `Page`. Of a question without these, `figures`, `sections` and `charts`
turn plain results into figures, sections and pictures, and `latex` into tables for papers.
To add a question, add its folder and its name below. Another distribution adds one to every audit by an entry point of
the group "goldassay.questions": its `Finding` brings figures, sections and charts, its module declares its measures.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from goldassay.core.extensions import extensions
from goldassay.core.figures import declare_verdict

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from goldassay.core.sections import Finding, Page


# The questions of an audit, in the order in which reports show them; then those that their own command asks, and an
# audit where its input allows it: it does not say of these that they were not asked.
AUDITED = ("artifacts", "leakage", "instability", "shift", "overlap")
FURTHER = ("answered", "comparison", "sensitivity", "board", "judgments", "suspect", "discount", "cutoff")
# What is no question: it describes the data, and has figures, sections and charts like one.
DESCRIBING = "facts"


E = TypeVar("E", contravariant=True)


class Check(Protocol[E]):
    """One question: what it is called, and how it is answered from evidence of a kind.

    Attributes:
        question: Its key in reports, settings and the public interface.
        title: Its heading.
        asks: The question itself, for people.
        needs: What an audit must be given for it, "runs", "elsewhere", "test" (a set, or a corpus to search) or runs in
            several "configurations"; without that the question is not asked.
    """

    question: str
    title: str
    asks: str
    needs: tuple[str, ...]

    def run(self, evidence: E) -> Finding:
        """Answer the question from the evidence; what the evidence does not allow is `not measurable`."""


def registered_checks() -> tuple[Check[Any], ...]:
    """Every question of an audit: those of this package, then those that others add."""
    asked = (*AUDITED, *FURTHER)
    modules = question_modules("question", asked) | question_modules("check", asked)
    own = (modules[question].CHECK for question in asked if hasattr(modules.get(question), "CHECK"))
    return (*own, *added_checks())


@cache
def added_checks() -> tuple[Check[Any], ...]:
    """The questions that other distributions add; policies may limit their verdicts.

    Raises:
        GoldassayError: One cannot be loaded.
    """
    found: dict[str, Check[Any]] = extensions("goldassay.questions", "question", (DESCRIBING, *AUDITED, *FURTHER))
    for question in found:
        declare_verdict(question)
    return tuple(found.values())


def question_pages() -> dict[str, Page[Any]]:
    """How each question with a typed result shows it, in the order of the questions."""
    return {question: module.PAGE for question, module in question_modules("page").items()}


def question_modules(name: str, questions: tuple[str, ...] = (DESCRIBING, *AUDITED, *FURTHER)) -> dict[str, ModuleType]:
    """The module of a name of each question that has one, in the order of the questions."""
    return {
        question: import_module(f"{__package__}.{question}.{name}")
        for question in questions
        if find_spec(f"{__package__}.{question}.{name}") is not None
    }


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
