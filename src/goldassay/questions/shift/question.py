"""The question of shift: does the score hold on another distribution, and does the model know when it left its own?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goldassay.core.finding import Finding
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings, with_seed
from goldassay.questions.evidence import Evidence
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.rows import MOST_ROWS, first_to_read
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_sources import describe_inputs
from goldassay.questions.shift.gaps import check_choice, explain_wrong, measure
from goldassay.questions.shift.groups import GapChoice, Read, read_answering, read_models, title_of
from goldassay.questions.shift.result import GeneralizationResult
from goldassay.questions.shift.verdict import judge_gaps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goldassay.data.dataset import Dataset
    from goldassay.questions.shift.measures.set_metrics import Metric
    from goldassay.report.report import Report


class _Shift:
    question = "shift"
    title = "Shift"
    asks = "Does the score hold on another distribution?"
    needs = ("elsewhere",)

    def run(self, evidence: Evidence) -> Finding:
        """Judge what the score on the evaluation part loses on every set of another distribution."""
        finding = self._judge(evidence, lambda: read_answering(evidence), GapChoice())
        assert finding.rows is not None
        return replace(finding, first_rows=first_to_read(finding.rows, evidence.texts, explain_wrong, MOST_ROWS))

    def measure(self, evidence: Evidence, asked: GapChoice) -> Finding:
        """The same of any runs: what `shift generalization` reports.

        Raises:
            InputError: The runs cannot be read, no model answered on two datasets, or a setting is out of range.
        """
        check_choice(asked)
        return self._judge(evidence, lambda: read_models(evidence, asked), asked)

    def _judge(self, evidence: Evidence, read: Callable[[], Read], asked: GapChoice) -> Finding:
        found, tables, rows = measure(evidence, read, asked)
        verdict = judge_gaps(found.generalization, evidence.settings.verdicts.shift)
        return Finding(self.question, verdict, result=found, tables=tables, rows=rows)


CHECK = _Shift()


def report_generalization(
    runs: Sequence[str],
    *,
    in_distribution: Mapping[str, str] | None = None,
    metric: Metric | None = None,
    floor: float | None = None,
    sizes: Mapping[str, int] | None = None,
    choice: RunChoice | None = None,
    texts: Mapping[str, Dataset] | None = None,
    trained_on: Dataset | None = None,
    notes: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    untrained: Sequence[str] = (),
    seed: int | None = None,
    n_draws: int = 1000,
    settings: Settings | None = None,
    quiet: bool = True,
    steps: Steps | None = None,
) -> Report:
    """Measure what every model's metric loses from its own distribution to others.

    Args:
        runs: Paths of predictions, or NAME=PATH.
        in_distribution: {training set: its dataset}; "" stands for all that are not named.
        metric: Of the scores; None says it by what is there: a correlation where labels are numbers.
        floor: What a mean of graded scores is without any knowledge; None: nobody declared it, 0 is taken, and no loss
            is called harmless.
        sizes: {model: parameters}, for the gap against size, where the runs do not say it or another counts.
        choice: Which runs to take, how to read them, and where right labels and texts are.
        texts: {dataset: its texts}, where they are in memory.
        trained_on: What all models were trained on: texts of other sets that stand there are left out of the gaps.
        notes: Further sentences on how the runs came about.
        untrained: Models that no seed can change.
        leave_out: Datasets at the paths that have no labels of the task.
        seed: Of all draws; by default that of the settings.
        n_draws: Of the intervals.
        settings: Hold seed and limits.
        quiet: Show no progress.
        steps: Of the work so far, where there was some.

    Raises:
        InputError: The runs cannot be read, no model answered on two datasets, or a setting is out of range.
    """
    asked = GapChoice(
        in_distribution or {}, metric, floor, sizes or {}, tuple(notes), tuple(leave_out), tuple(untrained), n_draws
    )
    evidence = Evidence(
        runs=runs,
        choice=choice,
        texts=texts,
        trained_on=trained_on,
        settings=with_seed(settings or Settings(), seed),
        steps=steps or Steps(quiet),
    )
    settings = evidence.settings
    finding = CHECK.measure(evidence, asked)
    found = finding.result
    assert finding.verdict is not None
    assert isinstance(found, GeneralizationResult)
    findings = {
        "questions": ["shift"],
        "inputs": describe_inputs(evidence.run_places, evidence.named_runs, evidence.choice),
        "shift": found,
        "settings": {
            "seed": settings.seed,
            "draws": n_draws,
            "metric": metric,
            "floor": floor,
            "in_distribution": dict(asked.in_distribution),
            "trained_on": None if trained_on is None else trained_on.name,
            "reading": evidence.choice.describe(),
            "verdicts": settings.verdicts.shift.model_dump(mode="json"),
        },
    }
    title = title_of("Generalization", found.sets)
    document = frame_findings(title, findings, evidence.steps, settings, verdicts={"shift": finding.verdict})
    return compose_report(document, finding.tables, findings=[finding])
