"""Instability as a study of its own: from the predictions of several runs to a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.doors import option, right_labels
from goldassay.core.errors import InputError
from goldassay.core.finding import Finding
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings, with_seed
from goldassay.questions.discount.question import discount_runs, discount_tables
from goldassay.questions.discount.reading import told_by
from goldassay.questions.evidence import Evidence
from goldassay.questions.instability.check import CHECK
from goldassay.questions.instability.curves import add_curves, report_curves
from goldassay.questions.instability.deviations import check_reference
from goldassay.questions.instability.inputs import describe_inputs
from goldassay.questions.instability.texts import group_names, known_groups
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_curves import find_curves
from goldassay.questions.run_sets import placed
from goldassay.questions.run_sources import run_paths
from goldassay.runs.reading import NoRunsError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from goldassay.questions.discount.reading import ShortcutBits
    from goldassay.questions.instability.options import InstabilityChoice
    from goldassay.questions.run_choice import RunReading
    from goldassay.questions.run_sets import RunSet
    from goldassay.report.report import Report
    from goldassay.runs.curves import Curves

__all__ = ["study_instability"]


def study_instability(
    runs: Any,
    asked: InstabilityChoice,
    *,
    seed: int | None = None,
    settings: Settings | None = None,
    quiet: bool = True,
    discount: str | None = None,
    discount_part: str | None = None,
    **reading: Unpack[RunReading],
) -> Report:
    """Measure instability, as `measure_instability` does.

    Args:
        runs: As for `measure_instability`.
        asked: What is measured; also whether an interruption keeps what is finished, which the report then says in
            `document["instability"]["interrupted"]`.
        seed: As for `measure_instability`.
        settings: Likewise.
        quiet: Likewise.
        discount: Likewise.
        discount_part: Likewise.
        reading: Likewise.

    Raises:
        InputError: As `measure_instability`.
        KeyboardInterrupt: It was interrupted, and nothing is finished or to be kept.
    """
    settings = with_seed(settings or Settings(), seed)
    told = told_by(discount, discount_part)
    with run_paths(runs, named=False) as paths:
        return _measure(paths, RunChoice.of(**reading), asked, settings, quiet, told)


def _measure(
    paths: list[str],
    choice: RunChoice,
    asked: InstabilityChoice,
    settings: Settings,
    quiet: bool,
    told: ShortcutBits | None,
) -> Report:
    evidence = Evidence(runs=paths, choice=choice, settings=settings, steps=Steps(quiet))
    reference, groups = asked.reference, asked.groups
    try:
        sets = evidence.run_sets
    except NoRunsError:
        curves = find_curves(paths, choice)
        if not curves:
            raise
        if told is not None:
            raise InputError(
                f"{option('discount')}: curves have no answers to single rows", mend="give predictions a row an example"
            ) from None
        _check_takes_scores(reference, groups, curves)
        return report_curves(curves, paths, settings, evidence.steps, choice.said())
    check_reference(sets, reference)
    with placed(paths):
        _check_groups(evidence, groups or ())
        finding = CHECK.measure(evidence, asked)
    assert finding.verdict is not None
    section, tables = dict(finding.results), dict(finding.tables)
    add_curves(section, tables, find_curves(paths, choice, required=False))
    texts = {each.gold: evidence.texts_of(each) for each in sets if isinstance(each.gold, str)}
    discounted = None
    if told is not None:
        with placed(paths), evidence.steps.step("discounting"):
            whole = [(each.model, each.load()) for each in sets if each.is_comparable]
            discounted = discount_runs(told, whole, settings.seed)
            tables |= discount_tables(discounted)
    findings = {
        "questions": ["instability", *(() if discounted is None else ("discount",))],
        "verdicts": {"instability": finding.verdict.to_dict()},
        "inputs": describe_inputs(paths, evidence.found_runs, choice, texts),
        "instability": section,
        **({} if discounted is None else {"discount": discounted}),
        "settings": {
            "seed": settings.seed,
            "reference": reference,
            "groups": None if groups is None else list(groups),
            "reading": choice.said(),
            "verdicts": settings.verdicts.instability.model_dump(mode="json"),
        },
    }
    document = frame_findings(_title(sets), findings, evidence.steps, settings)
    return compose_report(document, tables, findings=[finding, Finding("discount", None, result=discounted)])


def _check_takes_scores(reference: str | None, groups: Sequence[str] | None, curves: Sequence[Curves]) -> None:
    for name, value in ((option("reference"), reference), (option("groups"), groups)):
        if value:
            raise InputError(
                f"{name} needs predictions, and only scores by step are there",
                file=curves[0].files[0],
                mend=f"leave {name} out, or give the predictions of each run",
            )


def _check_groups(evidence: Evidence, wanted: Sequence[str]) -> None:
    ones = [(each.load_one(), evidence.texts_of(each)) for each in evidence.run_sets] if wanted else []
    for column in wanted:
        if all(group_names(runs, column, texts) is None for runs, texts in ones):
            known = list(dict.fromkeys(name for runs, texts in ones for name in known_groups(runs, texts)))
            there = f"there are {', '.join(known)}" if known else f"give the dataset that has it with {right_labels()}"
            raise InputError(f"no runs have the group column {column!r}", mend=there)


def _title(sets: Sequence[RunSet]) -> str:
    models = list(dict.fromkeys(runs.model for runs in sets))
    datasets = list(dict.fromkeys(runs.dataset for runs in sets))
    of = f" of {len(models)} models" if len(models) > 1 else "" if models == ["model"] else f" of {models[0]}"
    on = datasets[0] if len(datasets) == 1 else f"{len(datasets)} datasets"
    return f"Instability{of} on {on}"
