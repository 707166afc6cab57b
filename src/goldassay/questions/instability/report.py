"""Instability as a study of its own: from the predictions of several runs to a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings, with_seed
from goldassay.core.verdicts import not_measurable
from goldassay.questions.instability.curves import add_curves, report_curves
from goldassay.questions.instability.deviations import check_reference
from goldassay.questions.instability.inputs import describe_inputs
from goldassay.questions.instability.measuring import Study, measure
from goldassay.questions.instability.texts import group_names, known_groups, read_texts
from goldassay.questions.instability.verdict import judge_results
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_curves import find_curves
from goldassay.questions.run_sets import find_runs, placed, unloaded_sets
from goldassay.runs.reading import NoRunsError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from goldassay.core.verdicts import Verdict
    from goldassay.data import Dataset
    from goldassay.questions.run_sets import RunSet
    from goldassay.report import Report
    from goldassay.runs.curves import Curves

__all__ = ["report_instability"]


def report_instability(
    paths: Sequence[str | os.PathLike[str]],
    *,
    reference: str | None = None,
    groups: Sequence[str] | None = None,
    choice: RunChoice | None = None,
    seed: int | None = None,
    settings: Settings | None = None,
    quiet: bool = True,
    keep_finished: bool = False,
) -> Report:
    """Measure how far scores move from run to run, and what makes them move.

    Args:
        paths: Files or folders of predictions; every model, dataset and condition in them is measured.
        reference: The dataset whose spread the others' are held against.
        groups: Group columns to take the variance apart by; by default all that the runs have.
        choice: Which runs to take, how to read them, and where the right labels are.
        seed: Of the examples drawn for the map of correlations; by default that of the settings.
        settings: Hold the limits from which the verdict follows.
        quiet: Show no progress.
        keep_finished: When interrupted, report on the sets of runs that are finished, and say in
            `document["instability"]["interrupted"]` how many these are.

    Sets of runs are read and measured one after the other: memory holds the largest of them, not all.

    Raises:
        InputError: The runs cannot be read, no model has two runs, or the reference or a group column is not there.
        KeyboardInterrupt: It was interrupted, and nothing is finished or to be kept.
    """
    settings = with_seed(settings or Settings(), seed)
    choice = choice or RunChoice()
    steps = Steps(quiet)
    with steps.step("measuring instability") as progress:
        try:
            found = find_runs(paths, choice)
        except NoRunsError:
            curves = find_curves(paths, choice)
            if not curves:
                raise
            _check_takes_scores(reference, groups, curves)
            return report_curves(curves, paths, settings, steps, choice.said())
        with placed(paths):
            sets = unloaded_sets(found, choice)
        gold = {each.dataset: each.gold for each in sets}
        _check_spread(sets, paths)
        check_reference(sets, reference)
        texts = {name: read_texts(path) for name, path in gold.items()}
        study = Study(
            sets, reference, groups, texts, found, settings.seed, keep_finished, by_position=choice.align == "position"
        )
        with placed(paths):
            _check_groups(sets, groups or (), texts)
            section, tables = measure(study, progress)
        add_curves(section, tables, find_curves(paths, choice, required=False))
    findings = {
        "questions": ["instability"],
        "verdicts": {"instability": _judge(section["results"], settings).to_dict()},
        "inputs": describe_inputs(
            paths, found, choice, {path: texts[name] for name, path in gold.items() if path is not None}
        ),
        "instability": section,
        "settings": {
            "seed": settings.seed,
            "reference": reference,
            "groups": None if groups is None else list(groups),
            "reading": choice.said(),
            "verdicts": settings.verdicts.instability.model_dump(mode="json"),
        },
    }
    return compose_report(frame_findings(_title(sets), findings, steps, settings), tables)


def _judge(results: Sequence[Mapping[str, Any]], settings: Settings) -> Verdict:
    if all(row["n_runs"] < 2 for row in results):
        # Only an interruption leaves none: without any the runs were refused.
        return not_measurable("It was interrupted before any spread was measured.", "Run it again to the end.")
    return judge_results(results, settings.verdicts.instability)


def _check_takes_scores(reference: str | None, groups: Sequence[str] | None, curves: Sequence[Curves]) -> None:
    for name, value in (("--reference", reference), ("--groups", groups)):
        if value:
            raise InputError(
                f"{name} needs predictions, and only scores by step are there",
                file=curves[0].files[0],
                mend=f"leave {name} out, or give the predictions of each run",
            )


def _check_spread(sets: Sequence[RunSet], paths: Sequence[str | os.PathLike[str]]) -> None:
    if all(runs.n_runs < 2 for runs in sets):
        models = list(dict.fromkeys(runs.model for runs in sets))
        mend = "give the predictions of other seeds of the same model"
        if len(models) > 1:
            mend += ", or take several models as runs of one with --model 'NAME*'"
        what = "one run is there" if len(sets) == 1 else f"there is one run of each of {len(models)} models"
        raise InputError(
            f"{what}, and a spread needs at least two, better ten", file=", ".join(map(str, paths[:3])), mend=mend
        )


def _check_groups(sets: Sequence[RunSet], wanted: Sequence[str], texts: Mapping[str, Dataset | None]) -> None:
    ones = [each.load_one() for each in sets] if wanted else []
    for column in wanted:
        if all(group_names(runs, column, texts[runs.dataset]) is None for runs in ones):
            known = list(dict.fromkeys(name for runs in ones for name in known_groups(runs, texts[runs.dataset])))
            there = f"there are {', '.join(known)}" if known else "give the dataset that has it with --gold"
            raise InputError(f"no runs have the group column {column!r}", mend=there)


def _title(sets: Sequence[RunSet]) -> str:
    models = list(dict.fromkeys(runs.model for runs in sets))
    datasets = list(dict.fromkeys(runs.dataset for runs in sets))
    of = f" of {len(models)} models" if len(models) > 1 else "" if models == ["model"] else f" of {models[0]}"
    on = datasets[0] if len(datasets) == 1 else f"{len(datasets)} datasets"
    return f"Instability{of} on {on}"
