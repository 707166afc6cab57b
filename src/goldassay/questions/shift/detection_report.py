"""Detection as a report: how well every model's scores tell texts from elsewhere apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings, with_seed
from goldassay.questions.evidence import Evidence
from goldassay.questions.instability.inputs import describe_inputs
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.shift.answer_files import read_logits
from goldassay.questions.shift.assembling import (
    describe_sets,
    disjoint,
    form_groups,
    frames,
    gather_texts,
    notes_of,
    title_of,
)
from goldassay.questions.shift.detecting import (
    OF_FEATURES,
    OF_LOGITS,
    SCORES,
    FeaturePlaces,
    Wanted,
    check_classes,
    detect,
)
from goldassay.questions.shift.finding import FoundSets, find_sets, keys_by_model
from goldassay.questions.shift.measures.false_alarms import check_draws, check_rule
from goldassay.questions.shift.overlaps import check_covered, say_overlaps
from goldassay.questions.shift.probabilities import say_probabilities
from goldassay.questions.shift.sentences import say_detection
from goldassay.questions.shift.verdicts import judge_detection
from goldassay.runs.configurations import tell_apart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.data import Dataset
    from goldassay.questions.run_choice import RunChoice
    from goldassay.questions.shift.groups import Group
    from goldassay.questions.shift.measures.false_alarms import Rule
    from goldassay.report.report import Report
    from goldassay.runs.slices import Slice


def report_detection(
    inside: Sequence[str],
    outside: Sequence[str],
    *,
    training: str | None = None,
    scores: Sequence[str] | None = None,
    recall: float = 0.95,
    rule: Rule = "at_least",
    k: int = 10,
    choice: RunChoice | None = None,
    texts: Mapping[str, Dataset] | None = None,
    notes: Sequence[str] = (),
    seed: int | None = None,
    n_draws: int = 1000,
    settings: Settings | None = None,
    quiet: bool = True,
    steps: Steps | None = None,
) -> Report:
    """Measure how well a model's scores tell texts from elsewhere from those of its own distribution.

    Args:
        inside: Paths of predictions on the model's own distribution, or NAME=PATH.
        outside: Paths of predictions on others, or NAME=PATH.
        training: Path of predictions on the training data with embeddings beside them, for Mahalanobis and neighbors.
        scores: Some of `SCORES`; by default all that can be taken.
        recall: Of the out-of-distribution examples, for the false alarm rate.
        rule: Which threshold.
        k: Which neighbor.
        choice: Which runs to take and how to read them.
        texts: {dataset: its texts}, where they are in memory.
        notes: Further sentences on how the runs came about.
        seed: Of all draws; by default that of the settings.
        n_draws: Of the intervals.
        settings: Hold seed and limits.
        quiet: Show no progress.
        steps: Of the work so far, where there was some.

    Raises:
        InputError: The runs cannot be read, no model answered on both sides, or a setting is out of range.
    """
    settings = with_seed(settings or Settings(), seed)
    wanted = Wanted(_chosen(scores, training), recall, rule, k, settings.seed, n_draws)
    check_rule(recall, rule)
    check_draws(n_draws)
    steps = steps or Steps(quiet)

    def at(paths: Sequence[str]) -> Evidence:
        return Evidence(runs=paths, choice=choice, texts=texts, settings=settings, steps=steps)

    halves = (at(inside), at(outside))
    trained = None if training is None else at([training])
    choice = halves[0].choice
    with steps.step("reading the runs"):
        sides, own = _sides(*halves)
        if trained is not None:
            sides = _without_training(sides, own, halves[1], trained)
        datasets = gather_texts(sides, choice, texts)
        groups = form_groups(sides, {"": own}, lambda key: read_logits(key, sides.slices, choice))
        for group in groups:
            check_classes(group)
            for each in (group.own, *group.others):
                check_covered(each, datasets.get(each.dataset))
        groups, overlaps = disjoint(groups, datasets)
        features = None if trained is None else _features(trained, halves, groups)
        _check_neighbors(k, features)
    with steps.step("measuring detection") as progress:
        found = detect(groups, wanted, features, progress)
    section = {
        "kind": "detection",
        "sentences": say_detection(found.rows),
        "notes": [
            *notes,
            *sides.notes,
            *notes_of(groups, sides),
            *_say_ignored(groups),
            *say_probabilities(groups),
            *found.notes,
            *found.skipped,
            *say_overlaps(overlaps),
            *dict.fromkeys(said for row in found.rows for said in row["caveats"]),
        ],
        "detection": [{key: value for key, value in row.items() if key != "caveats"} for row in found.rows],
        "histograms": found.histograms,
        "overlaps": overlaps,
        "sets": describe_sets(groups),
    }
    findings = {
        "questions": ["shift"],
        "verdicts": {"shift": judge_detection(found.rows, settings.verdicts.shift).to_dict()},
        "inputs": describe_inputs(_paths(halves), sides.slices, choice),
        "shift": section,
        "settings": {
            "seed": settings.seed,
            "draws": n_draws,
            "recall": recall,
            "rule": rule,
            "k": k,
            "scores": list(wanted.scores),
            "reading": choice.said(),
            "verdicts": settings.verdicts.shift.model_dump(mode="json"),
        },
    }
    tables = {"detection": section["detection"], "confidence": _histogram_rows(found.histograms)}
    title = title_of("Detection", section["sets"])
    return compose_report(frame_findings(title, findings, steps, settings), frames(tables))


def _chosen(scores: Sequence[str] | None, training: str | None) -> tuple[str, ...]:
    if scores is None:
        return SCORES if training is not None else tuple(OF_LOGITS)
    strange = [name for name in scores if name not in SCORES]
    if strange:
        raise InputError(f"there is no score {strange[0]!r}", mend=f"choose of {', '.join(SCORES)}")
    if training is None and set(scores) & set(OF_FEATURES):
        raise InputError(
            f"{next(name for name in scores if name in OF_FEATURES)} needs features of the training data",
            mend=f"give the runs on it, with embeddings, with {option('train')}",
        )
    return tuple(dict.fromkeys(scores))


def _paths(halves: Sequence[Evidence]) -> list[str]:
    """Where the runs of both sides lie, each place once."""
    return list(dict.fromkeys(path for half in halves for path in half.run_places))


def _sides(inside: Evidence, outside: Evidence) -> tuple[FoundSets, str]:
    """Both sides together, and the name of the model's own set, which the other side's paths may hold too."""
    # One side may hold more configurations of a model than the other: it has one name on both.
    both = tell_apart([*inside.named_runs, *outside.named_runs])
    n_own = len(inside.named_runs)
    own, other = (find_sets(half) for half in (both[:n_own], both[n_own:]))
    names = {name for sets in own.models.values() for name in sets}
    if len(names) > 1:
        raise InputError(
            f"the in-distribution runs are on {len(names)} datasets: {', '.join(sorted(names)[:8])}",
            file=inside.run_places[0],
            mend=f"say which with {option('inside', 'DATASET=RUNS')}",
        )
    slices = [part for part in other.slices if part.collection.dataset not in names]
    if not slices:
        raise InputError(
            f"the out-of-distribution runs are on {', '.join(names)}, as the others are",
            file=outside.run_places[0],
            mend=f"give runs on another dataset, or name it with {option('outside', 'NAME=RUNS')}",
        )
    slices = [*own.slices, *slices]
    notes = [*own.notes, *other.notes]
    sides = [{part.collection[:1] + part.collection[3:] for part in half} for half in (own.slices, other.slices)]
    if not sides[0] & sides[1] and len(sides[0]) == 1 and len(sides[1]) in (1, len({p.file for p in other.slices})):
        slices, note = _one_model(own.slices, slices)
        notes.append(note)
    return FoundSets(slices, keys_by_model(slices), tuple(notes)), names.pop()


def _one_model(own: Sequence[Slice], slices: Sequence[Slice]) -> tuple[list[Slice], str]:
    """All slices under the model of the first side: files that name none are called after themselves."""
    first = own[0].collection
    same = {"model": first.model, "condition": first.condition, "train_set": first.train_set}
    others = dict.fromkeys(part.collection.model for part in slices if part.collection.model != first.model)
    note = f"The answers of {', '.join(others) or 'both sides'} were taken for those of {first.model}."
    return [replace(part, collection=part.collection._replace(**same)) for part in slices], note


def _without_training(sides: FoundSets, own: str, outside: Evidence, trained: Evidence) -> FoundSets:
    """The sets without the training data itself, which a folder of the others' runs may hold, unless it was named."""
    named = {own, *(place.name for place in outside.places)}
    found = ((part.file, part.collection.dataset) for part in trained.named_runs)
    known = {(file, dataset) for file, dataset in found if dataset not in named}
    kept = [part for part in sides.slices if (part.file, part.collection.dataset) not in known]
    if len(kept) == len(sides.slices):
        return sides
    names = ", ".join(dict.fromkeys(dataset for _, dataset in sorted(known)))
    note = f"{names} is the training data, and was not taken for another set."
    return FoundSets(kept, keys_by_model(kept), (*sides.notes, note))


def _features(trained: Evidence, halves: Sequence[Evidence], groups: Sequence[Group]) -> FeaturePlaces:
    (place,) = trained.run_places
    there = {part.collection.model for part in trained.named_runs}
    models = [group.model_name for group in groups]
    if there.isdisjoint(models):
        raise InputError(
            f"the runs on training data are of {', '.join(sorted(there))}, and none of {', '.join(models)}",
            file=place,
            mend=f"give those of the same models with {option('train')}",
        )
    return FeaturePlaces(place, trained.named_runs, tuple(_paths(halves)))


def _say_ignored(groups: Sequence[Group]) -> list[str]:
    """That the labels of other sets count for nothing, where they have any."""
    names = dict.fromkeys(each.dataset for group in groups for each in group.others if each.ignored)
    return [f"The labels of {', '.join(names)} were ignored: only where a text comes from is asked."] if names else []


def _check_neighbors(k: int, features: FeaturePlaces | None) -> None:
    if k < 1:
        raise InputError(f"k is {k}", mend="choose 1 or more")
    smallest = min((part.n_examples for part in features.runs), default=k) if features is not None else k
    if k > smallest:
        raise InputError(f"k is {k}, and there are {smallest} training features", mend="choose k from 1 to that number")


def _histogram_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            **{key: row[key] for key in ("model", "in_distribution", "dataset")},
            "confidence_low": low,
            "confidence_high": high,
            "share_in": inside,
            "share_out": outside,
        }
        for row in rows
        for low, high, inside, outside in zip(
            row["edges"][:-1].tolist(),
            row["edges"][1:].tolist(),
            row["share_in"].tolist(),
            row["share_out"].tolist(),
            strict=True,
        )
    ]
