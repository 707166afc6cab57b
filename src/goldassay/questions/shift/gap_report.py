"""Generalization as a report: what every model's metric loses from its own distribution to others."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError
from goldassay.core.nearest import did_you_mean
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings, with_seed
from goldassay.questions.instability.inputs import describe_inputs
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.shift.answer_files import find_unlabelled, read_answers
from goldassay.questions.shift.assembling import (
    describe_sets,
    disjoint,
    form_groups,
    frames,
    gather_texts,
    notes_of,
    title_of,
)
from goldassay.questions.shift.confidence import measure_knowing
from goldassay.questions.shift.finding import Place, find_sets
from goldassay.questions.shift.generalization import find_confident_errors, measure_domains, measure_gaps
from goldassay.questions.shift.groups import TRAINING
from goldassay.questions.shift.known_texts import say_not_looked_up, with_known, without_known
from goldassay.questions.shift.overlaps import say_overlaps
from goldassay.questions.shift.probabilities import say_probabilities
from goldassay.questions.shift.sentences import say_domains, say_gaps, say_knowing, say_known, say_unlearned
from goldassay.questions.shift.verdicts import judge_gaps
from goldassay.shift.inputs import check_draws
from goldassay.shift.set_metrics import METRICS, Metric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.data import Dataset
    from goldassay.questions.shift.finding import FoundSets
    from goldassay.questions.shift.groups import Group
    from goldassay.report import Report

# Calibration and coverage are measured run by run; these draws fix their bounds to about a tenth of their width.
_KNOWING_DRAWS = 200


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
    settings, choice = with_seed(settings or Settings(), seed), choice or RunChoice()
    if metric is not None and metric not in METRICS:
        raise InputError(f"there is no metric {metric!r}", mend=f"choose one of {', '.join(METRICS)}")
    check_draws(n_draws)
    steps = steps or Steps(quiet)
    places = [Place.parse(each) for each in runs]
    with steps.step("reading the runs"):
        found = find_sets(places, choice)
        datasets = gather_texts(found, choice, texts)
        unlabelled = find_unlabelled(found, choice)
        predicted = _training_data(found, in_distribution or {}, leave_out)
        groups = form_groups(
            found,
            in_distribution or {},
            lambda key: read_answers(key, found.slices, choice, metric),
            [*leave_out, *unlabelled, *predicted],
        )
        _check_known(sizes or {}, groups)
        complete, overlaps = disjoint(groups, datasets)
        groups, known = without_known(complete, datasets, trained_on)
    with steps.step("measuring gaps") as progress:
        measure = partial(
            measure_gaps,
            metric=metric,
            floor=floor,
            texts=datasets,
            seed=settings.seed,
            n_draws=n_draws,
            progress=progress,
        )
        gaps, caveats = measure(groups, sizes=sizes or {}, untrained=untrained)
        affected = [group for group in complete if any(known.get((group.model, each.dataset)) for each in group.others)]
        in_all = measure(affected, sizes={})[0] if affected else []
        gaps = with_known(gaps, in_all, known)
        errors = find_confident_errors(groups, datasets)
    with steps.step("measuring confidence") as progress:
        calibration, coverage = measure_knowing(
            groups, seed=settings.seed, n_draws=min(n_draws, _KNOWING_DRAWS), progress=progress
        )
    with steps.step("telling the texts apart") as progress:
        domains, wordless = measure_domains(groups, datasets, seed=settings.seed, progress=progress)
    section = {
        "kind": "generalization",
        "sentences": [
            *say_unlearned(gaps),
            *say_known(gaps),
            *say_gaps(gaps),
            *say_knowing(calibration),
            *say_domains(domains),
        ],
        "notes": [
            *notes,
            *found.notes,
            *_say_unlabelled(unlabelled, leave_out),
            *(f"{name} is the training data, and was not taken for another set." for name in predicted),
            *notes_of(groups, found),
            *say_probabilities(groups),
            *_say_unnamed(groups),
            *caveats,
            *say_overlaps(overlaps),
            *say_not_looked_up(groups, known),
            *wordless,
        ],
        "generalization": gaps,
        "calibration": calibration,
        "risk_coverage": coverage,
        "confident_errors": errors,
        "domains": domains,
        "overlaps": overlaps,
        "sets": describe_sets(groups),
    }
    findings = {
        "questions": ["shift"],
        "verdicts": {"shift": judge_gaps(gaps, settings.verdicts.shift).to_dict()},
        "inputs": describe_inputs([place.path for place in places], found.slices, choice),
        "shift": section,
        "settings": {
            "seed": settings.seed,
            "draws": n_draws,
            "metric": metric,
            "floor": floor,
            "in_distribution": dict(in_distribution or {}),
            "trained_on": None if trained_on is None else trained_on.name,
            "reading": choice.said(),
            "verdicts": settings.verdicts.shift.model_dump(mode="json"),
        },
    }
    tables = {
        "generalization": gaps,
        "calibration": _flat(calibration, "bins"),
        "reliability": _unrolled(calibration, "bins"),
        "risk_coverage": _curves(coverage),
        "confident_errors": errors,
        "domain_words": _unrolled(domains, "words"),
    }
    return compose_report(frame_findings(title_of("Generalization", groups), findings, steps, settings), frames(tables))


def _training_data(found: FoundSets, asked: Mapping[str, str], leave_out: Sequence[str]) -> list[str]:
    """The training data as training with features calls it, where models of it answered on two other sets or more."""
    holders = [(key, sets) for key, sets in found.models.items() if TRAINING in sets]
    if not holders or TRAINING in (*asked.values(), *leave_out):
        return []
    return [TRAINING] if all(key[1] and len(sets) > 2 for key, sets in holders) else []


def _say_unlabelled(names: Sequence[str], leave_out: Sequence[str]) -> list[str]:
    unknown = [name for name in names if name not in leave_out]
    return [f"The runs on {', '.join(unknown)} have no labels to be scored by and were left out."] if unknown else []


def _say_unnamed(groups: Sequence[Group]) -> list[str]:
    """That there are logits, but calibration and coverage need to know which class each is of."""
    models = [group.model for group in groups if group.own.unnamed_logits]
    if not models:
        return []
    return [
        f"Whether confidence follows was not measured of {', '.join(models)}: the logits do not say which class each "
        "is of; name the classes in their order with --labels NAME,NAME,..."
    ]


def _check_known(sizes: Mapping[str, int], groups: Sequence[Group]) -> None:
    names = [group.model for group in groups]
    for name in sizes:
        if name not in names:
            raise InputError(
                f"a size is given for {name!r}, of which there are no runs", mend=did_you_mean(name, names)
            )


def _flat(rows: Sequence[Mapping[str, Any]], without: str) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key != without} for row in rows]


def _unrolled(rows: Sequence[Mapping[str, Any]], inner: str) -> list[dict[str, Any]]:
    """A row for each of the inner ones, with the keys of the outer."""
    keys = ("model", "in_distribution", "dataset")
    return [{**{key: row[key] for key in keys if key in row}, **each} for row in rows for each in row[inner]]


def _curves(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"model": row["model"], "dataset": row["dataset"], "coverage": share, "risk": risk}
        for row in rows
        for share, risk in zip(row["coverages"].tolist(), row["risks"].tolist(), strict=True)
    ]
