"""The audit: from a dataset to a report with a verdict for each question."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from goldassay.data.facts import describe
from goldassay.progress import Steps
from goldassay.report import Report
from goldassay.settings import Settings, with_seed
from goldassay.studies.audit.artifacts import audit_artifacts
from goldassay.studies.audit.examples import example_table
from goldassay.studies.audit.given_runs import read_given_runs
from goldassay.studies.audit.inputs import describe_input, describe_runs, load_inputs
from goldassay.studies.audit.instability import audit_instability
from goldassay.studies.audit.judges import describe_judge, name_of, plan_judges, train_judges
from goldassay.studies.audit.leakage import audit_leakage
from goldassay.studies.audit.verdicts import not_measurable
from goldassay.studies.evidence_directory import evidence_directory
from goldassay.studies.report_frame import frame_findings

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

__all__ = ["audit"]

SHIFT_REASON = "One dataset alone cannot tell whether a score holds on another distribution."


def audit(
    train: Any,
    test: Any = None,
    runs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    seed: int | None = None,
    *,
    model: str | None = None,
    out: str | os.PathLike[str] | None = None,
    columns: str | Mapping[str, str] | None = None,
    label_names: Sequence[str] | None = None,
    format: str = "auto",  # noqa: A002
    settings: Settings | None = None,
    quiet: bool = True,
) -> Report:
    """Audit a benchmark: facts, artifacts, leakage, instability, and a verdict for each question.

    Args:
        train: The training part: a path, a `Dataset`, or a polars or pandas frame, Arrow table, `datasets.Dataset` or
            list of dicts.
        test: The evaluation part, likewise. Without it the data's own test part is used, or a share of the rows is set
            apart such that no sentence stands in both parts.
        runs: Predictions of trained models on the evaluation part: a path or several.
        seed: Of everything that draws at random; by default that of the settings, 0.
        model: A network that judges leakage in place of the quick probes: its name, or a checkpoint's folder or name
            on the hub; by default that of the settings, none. It needs the extra `train`.
        out: Where the evidence (the quick probes' runs) is kept as it is made, in `out/runs`. Without it the
            evidence is kept only until the report is made.
        columns: Which column plays which role, as a mapping or as "premise=a,hypothesis=b".
        label_names: The labels that may occur, in order; any other is refused. By default those of the data.
        format: The format of the files, where their content does not say it.
        settings: Everything else that can be set; by default `Settings()`.
        quiet: Show no progress.

    Returns:
        The report; it shows itself in a notebook, and `.save(directory)` writes its files.

    Raises:
        InputError: The data cannot be read or audited; the message says where and how to mend it.
    """
    settings = with_seed(settings or Settings(), seed)
    if model is not None:
        leakage_settings = settings.leakage.model_copy(update={"model": model})
        settings = settings.model_copy(update={"leakage": leakage_settings})
    steps = Steps(quiet)
    with ExitStack() as stack:
        with steps.step("reading the data"):
            training, evaluation, decisions = load_inputs(
                train, test, columns=columns, label_names=label_names, file_format=format, settings=settings
            )
            run_paths = _as_list(runs)
            given, remarks = read_given_runs(run_paths, evaluation)
        evidence = stack.enter_context(evidence_directory(out))
        jobs = plan_judges(training, evaluation, settings, evidence)
        with steps.step("counting the facts"):
            facts = describe(training, evaluation)
        with steps.step("mining patterns") as progress:
            artifacts = audit_artifacts(training, evaluation, facts.length_unit, settings, progress)
        with steps.step("training networks" if jobs else "training quick probes") as progress:
            probes = train_judges(training, evaluation, settings, evidence, progress, jobs)
        described = describe_judge(training, settings, jobs)
        with steps.step("measuring leakage"):
            leakage = audit_leakage(probes, training, evaluation, artifacts.classes, facts, settings, described)
        with steps.step("measuring instability"):
            source = "runs" if given else "probe"
            instability = audit_instability(given or probes, source, settings, remarks, name_of(settings))
    shift = not_measurable(
        SHIFT_REASON, "Evaluate the same runs on data from elsewhere before claiming that the score generalizes."
    )
    findings = {
        "verdicts": {
            "artifacts": artifacts.verdict.to_dict(),
            "leakage": leakage.verdict.to_dict(),
            "instability": instability.verdict.to_dict(),
            "shift": shift.to_dict(),
        },
        "dataset": {
            "name": training.name,
            "label_names": list(training.label_names),
            "text_columns": list(training.text_columns),
            "conditions": [each.condition for each in probes],
        },
        "inputs": [
            describe_input("train", training),
            describe_input("test", evaluation, decisions),
            *map(describe_runs, run_paths),
        ],
        "facts": facts.to_dict(),
        "artifacts": artifacts.section,
        "leakage": leakage.section,
        "instability": instability.section,
        "shift": {"reason": SHIFT_REASON},
        "settings": settings.model_dump(mode="json"),
    }
    tables = {
        **artifacts.tables,
        **leakage.tables,
        **instability.tables,
        "examples": example_table(evaluation, artifacts.classes, probes),
    }
    title = f"Audit of {training.name}, evaluated on {evaluation.name}"
    return Report(document=frame_findings(title, findings, steps), tables=tables)


def _as_list(runs: Any) -> list[Any]:
    if runs is None:
        return []
    return list(runs) if isinstance(runs, (list, tuple)) else [runs]
