"""The questions of an audit as they are asked of runs alone, and of boards."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING

from goldassay.core.finding import Finding
from goldassay.core.verdicts import unresolved
from goldassay.questions.answered.question import CHECK as ANSWERED
from goldassay.questions.board.question import find_board, measure_board
from goldassay.questions.comparison.report import find_comparison
from goldassay.questions.comparison.sides import read_suite
from goldassay.questions.comparison.suite_report import find_suite
from goldassay.questions.instability.measuring import InstabilityChoice, add_curves
from goldassay.questions.instability.question import measure_sets
from goldassay.questions.judgments.study import measure_judgments
from goldassay.questions.needs import RUNS
from goldassay.questions.run_curves import find_curves
from goldassay.questions.run_sets import placed
from goldassay.questions.sensitivity.question import CHECK as SENSITIVITY
from goldassay.runs.loading import LackingError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from goldassay.questions.kind_evidence import JudgmentEvidence, RunEvidence


def _unless_lacking(run: Callable[[Any, RunEvidence], Finding]) -> Callable[[Any, RunEvidence], Finding]:
    """Leave a question open where runs lack examples, which its own command refuses: an audit asks the others."""

    @wraps(run)
    def asked(self: Any, evidence: RunEvidence) -> Finding:
        try:
            return run(self, evidence)
        except LackingError as error:
            problem = f"{error.problem[:1].upper()}{error.problem[1:]}."
            return Finding(self.question, unresolved(problem, error.mend or ""))

    return asked


class _Instability:
    question = "instability"
    needs = ()

    @_unless_lacking
    def run(self, evidence: RunEvidence) -> Finding:
        """Measure the spread of every model on every dataset, to the depth of `instability`."""
        with placed(evidence.run_paths):
            found, verdict, tables, rows = measure_sets(evidence, InstabilityChoice())
        found, tables = add_curves(found, tables, find_curves(evidence.run_paths, evidence.choice, required=False))
        return Finding(self.question, verdict, tables=tables, rows=rows, result=found)


class _Comparison:
    question = "comparison"
    needs = ("models",)

    @_unless_lacking
    def run(self, evidence: RunEvidence) -> Finding:
        """Compare all models on the datasets that every one of them answers."""
        with placed(evidence.run_paths):
            suite = read_suite(evidence, evidence.compared)
            found = (
                find_comparison(evidence, suite.sides[0], suite.notes)[0]
                if len(suite.sides) == 1
                else find_suite(evidence, suite)[0]
            )
        return Finding(self.question, found.verdict, tables=found.tables, rows=found.rows, result=found.result)


class _Sensitivity:
    question = "sensitivity"
    needs = ("configurations",)

    @_unless_lacking
    def run(self, evidence: RunEvidence) -> Finding:
        """Measure the spread over configurations."""
        with placed(evidence.run_paths):
            return SENSITIVITY.run(evidence)


class _Board:
    question = "board"
    needs = ("board",)

    @_unless_lacking
    def run(self, evidence: RunEvidence) -> Finding:
        """Rank all systems on the items that they have in common."""
        with evidence.steps.step("reading the board"):
            scores = evidence.board
        with evidence.steps.step("ranking systems"):
            return find_board(measure_board(scores, evidence.settings.seed), scores)


class _Judgments:
    question = "judgments"
    needs = ()

    def run(self, evidence: JudgmentEvidence) -> Finding:
        """Say how far each judge follows the seat."""
        return measure_judgments(evidence.judgments, evidence.settings, evidence.steps)


class _Answered:
    question = "answered"
    needs = ()

    def run(self, evidence: RunEvidence) -> Finding:
        """Say whether every answer was scored."""
        if evidence.kind != RUNS:
            return ANSWERED.run_board(evidence)
        with placed(evidence.run_paths):
            return ANSWERED.run(evidence)


RUN_CHECKS = (_Answered(), _Instability(), _Comparison(), _Sensitivity(), _Board())
BOARD_CHECKS = (_Answered(), _Board())
JUDGMENT_CHECKS = (_Judgments(),)
