"""Detection: how well every model's scores separate texts of other sets from texts of its own distribution."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.progress import Progress, Steps
from goldassay.core.sections import Finding
from goldassay.core.settings import Settings, with_seed
from goldassay.questions.evidence import Evidence
from goldassay.questions.inputs import describe_inputs
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.shift.answers import Answers, read_logits
from goldassay.questions.shift.groups import (
    FoundSets,
    Group,
    describe_probabilities,
    describe_sets,
    find_sets,
    form_groups,
    frames,
    gather_texts,
    keys_by_model,
    notes_of,
    title_of,
)
from goldassay.questions.shift.measures.detection import measure_detection
from goldassay.questions.shift.measures.false_alarms import Rule, check_draws, check_rule
from goldassay.questions.shift.measures.scores import (
    fit_mahalanobis,
    score_energy,
    score_entropy,
    score_knn,
    score_max_logit,
    score_max_softmax,
)
from goldassay.questions.shift.overlaps import check_covered, describe_overlaps, disjoint
from goldassay.questions.shift.page import describe_detection
from goldassay.questions.shift.result import ConfidenceHistogram, DetectionResult, DetectionRow
from goldassay.questions.shift.verdict import judge_detection
from goldassay.runs.adapters.stored import NAME as STORED
from goldassay.runs.assembly import position_of
from goldassay.runs.configurations import name_by_configuration
from goldassay.runs.sidecar import Embeddings, read_embeddings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.questions.run_choice import RunChoice
    from goldassay.report.report import Report
    from goldassay.runs.run_parts import Slice

OF_LOGITS: dict[str, Callable[[Any], NDArray[np.float64]]] = {
    # The same order as the probability's, without its ties near 1.
    "max_softmax": lambda logits: score_max_softmax(logits, scale="log"),
    "max_logit": score_max_logit,
    "energy": score_energy,
    "entropy": score_entropy,
}
# What a softmax takes away.
_OF_SCALE = ("max_logit", "energy")
OF_FEATURES = ("mahalanobis", "knn")
SCORES = (*OF_LOGITS, *OF_FEATURES)
_N_BINS = 30


@dataclass(frozen=True)
class Wanted:
    """What is to be measured.

    Attributes:
        scores: Some of `SCORES`.
        recall: Of the out-of-distribution examples, for the false alarm rate.
        rule: Which threshold.
        k: Which neighbor.
        seed: Of the draws.
        n_draws: Of the intervals.
    """

    scores: tuple[str, ...]
    recall: float
    rule: Rule
    k: int
    seed: int
    n_draws: int


@dataclass(frozen=True)
class FeaturePlaces:
    """Where features lie: those of the training data, with their runs, and the paths of the examples' runs."""

    training: str
    runs: Sequence[Slice]
    examples: tuple[str, ...]

    def of(self, answers: Answers) -> str:
        """The path at which these answers were found: their features lie there too."""
        return next(path for path in self.examples if Path(answers.file).is_relative_to(path))


@dataclass
class Detected:
    """A row per model, other set and score; histograms of confidence; remarks; what was left out and why."""

    rows: list[DetectionRow] = field(default_factory=list)
    histograms: list[ConfidenceHistogram] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    caveats: list[str] = field(default_factory=list)


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
    result = DetectionResult(
        kind="detection",
        sentences=tuple(describe_detection(found.rows)),
        notes=(
            *notes,
            *sides.notes,
            *notes_of(groups, sides),
            *_describe_ignored(groups),
            *describe_probabilities(groups),
            *found.notes,
            *found.skipped,
            *describe_overlaps(overlaps),
            *found.caveats,
        ),
        overlaps=tuple(overlaps),
        sets=describe_sets(groups),
        detection=tuple(found.rows),
        histograms=tuple(found.histograms),
    )
    verdict = judge_detection(found.rows, settings.verdicts.shift)
    findings = {
        "questions": ["shift"],
        "inputs": describe_inputs(_paths(halves), sides.slices, choice),
        "shift": result,
        "settings": {
            "seed": settings.seed,
            "draws": n_draws,
            "recall": recall,
            "rule": rule,
            "k": k,
            "scores": list(wanted.scores),
            "reading": choice.describe(),
            "verdicts": settings.verdicts.shift.model_dump(mode="json"),
        },
    }
    tables = frames({"detection": list(map(vars, found.rows)), "confidence": _histogram_rows(found.histograms)})
    document = frame_findings(
        title_of("Detection", result.sets), findings, steps, settings, verdicts={"shift": verdict}
    )
    return compose_report(document, tables, findings=[Finding("shift", verdict, result=result)])


def detect(groups: Sequence[Group], wanted: Wanted, places: FeaturePlaces | None, progress: Progress) -> Detected:
    """Measure every score of every model on every other set.

    Raises:
        InputError: Features are missing.
    """
    found = Detected()
    total = sum(len(group.others) for group in groups)
    done = 0
    for group in groups:
        for other in group.others:
            scores = _of_logits(group, other, wanted, found)
            if places is not None:
                scores |= _of_features(group, other, wanted, places, found)
            names = (group.model, group.own.dataset, other.dataset)
            for name, (inside, outside) in scores.items():
                found.rows.append(_measured(names, name, inside, outside, wanted, found))
            found.histograms.append(_histogram(names, group.own, other))
            done += 1
            progress(done, total)
    found.notes[:] = dict.fromkeys(found.notes)
    found.skipped[:] = dict.fromkeys(found.skipped)
    found.caveats[:] = dict.fromkeys(found.caveats)
    return found


def check_classes(group: Group) -> None:
    """Refuse to compare logits of different classes.

    Raises:
        InputError: They are.
    """
    own = group.own
    for other in group.others:
        widths = [np.asarray(each.logits).shape[-1] for each in (own, other)]
        if widths[0] != widths[1]:
            raise InputError(
                f"{group.model} has logits of {widths[0]} classes on {own.dataset} and of {widths[1]} on "
                f"{other.dataset}",
                file=other.file,
                mend="give the logits of the same classifier for both",
            )
        if own.label_names and other.label_names and own.label_names != other.label_names:
            raise InputError(
                f"{group.model} has logits of the classes {', '.join(own.label_names)} on {own.dataset} and of "
                f"{', '.join(other.label_names)} on {other.dataset}",
                file=other.file,
                mend="give the logits of the same classifier for both",
            )


def _of_logits(group: Group, other: Answers, wanted: Wanted, found: Detected) -> dict[str, tuple[Any, Any]]:
    sides = [np.asarray(each.logits, dtype=np.float64) for each in (group.own, other)]
    given = [each.dataset for each in (group.own, other) if each.probabilities]
    if given and (left_out := [name for name in wanted.scores if name in _OF_SCALE]):
        found.skipped.append(
            f"{group.model}: {' and '.join(name.replace('_', ' ') for name in left_out)} "
            f"{'needs' if len(left_out) == 1 else 'need'} logits, and there are probabilities on {' and '.join(given)}."
        )
    scores = {}
    for name in wanted.scores:
        if name not in OF_LOGITS or (given and name in _OF_SCALE):
            continue
        pair = (OF_LOGITS[name](sides[0]), OF_LOGITS[name](sides[1]))
        if name == "energy" and max(np.ptp(pair[0]), np.ptp(pair[1]), abs(pair[0].mean() - pair[1].mean())) < 1e-5:
            found.skipped.append(
                f"{group.model}: energy is the same for every example, its logits being logarithms of probabilities."
            )
            continue
        scores[name] = pair
    return scores


def _of_features(
    group: Group, other: Answers, wanted: Wanted, places: FeaturePlaces, found: Detected
) -> dict[str, tuple[Any, Any]]:
    names = [name for name in wanted.scores if name in OF_FEATURES]
    if not names:
        return {}
    model = group.model_name
    if all(part.collection.model != model for part in places.runs):
        found.skipped.append(f"{group.model}: there are no runs on its training data, and so no distances from them.")
        return {}
    by_run: dict[str, list[list[NDArray[np.float64]]]] = {name: [] for name in names}
    for seed in group.own.seeds:
        training = read_training(places.training, places.runs, model, seed, alone=len(group.own.seeds) == 1)
        sides = [read_features(places.of(each), each, model, seed) for each in (group.own, other)]
        for each, side in zip((group.own, other), sides, strict=True):
            if np.array_equal(side, training.vectors):
                raise InputError(
                    f"the runs on training data are those on {each.dataset}, which are to be judged by them",
                    file=each.file,
                    mend=f"give runs on the training data with {option('train', 'NAME=RUNS')}",
                )
        scores, note = feature_scores(training, sides, wanted.k)
        for name in names:
            by_run[name].append(scores[name])
        if note:
            found.notes.append(f"{group.model}: {note}")
    return {
        name: (np.stack([run[0] for run in runs]), np.stack([run[1] for run in runs])) for name, runs in by_run.items()
    }


def _measured(
    names: tuple[str, str, str], score: str, inside: Any, outside: Any, wanted: Wanted, found: Detected
) -> DetectionRow:
    result = measure_detection(inside, outside, wanted.recall, wanted.rule, seed=wanted.seed, n_draws=wanted.n_draws)
    found.caveats += result.caveats
    by_metric: dict[str, float] = {}
    for metric, interval in result.intervals.items():
        by_metric[metric] = getattr(result, metric)
        by_metric[f"{metric}_low"], by_metric[f"{metric}_high"] = interval.low, interval.high
        by_metric[f"{metric}_sd"], by_metric[f"{metric}_chance"] = result.sd[metric], result.chance[metric]
    model, own, other = names
    return DetectionRow(
        model=model,
        in_distribution=own,
        dataset=other,
        score=score,
        **by_metric,
        threshold=result.threshold,
        achieved_recall=result.achieved_recall,
        recall=result.recall,
        rule=result.rule,
        tied_share=result.tied_share,
        n_in=result.n_in,
        n_out=result.n_out,
        n_runs=result.n_runs,
        interval_method=result.interval_method,
    )


def _histogram(names: tuple[str, str, str], own: Answers, other: Answers) -> ConfidenceHistogram:
    """Shares of the examples of each side by their confidence, all runs together."""
    edges = np.linspace(1 / np.asarray(own.logits).shape[-1], 1, _N_BINS + 1)
    shares, means = [], []
    for each in (own, other):
        confidence = -score_max_softmax(np.asarray(each.logits))
        counts = np.histogram(np.clip(confidence, edges[0], 1.0), edges)[0]
        shares.append(tuple((counts / counts.sum()).tolist()))
        means.append(float(confidence.mean()))
    return ConfidenceHistogram(*names, tuple(edges.tolist()), shares[0], means[0], shares[1], means[1])


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
    both = name_by_configuration([*inside.named_runs, *outside.named_runs])
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


def _describe_ignored(groups: Sequence[Group]) -> list[str]:
    """That the labels of other sets count for nothing, where they have any."""
    names = dict.fromkeys(each.dataset for group in groups for each in group.others if each.ignored)
    return [f"The labels of {', '.join(names)} were ignored: only where a text comes from is asked."] if names else []


def _check_neighbors(k: int, features: FeaturePlaces | None) -> None:
    if k < 1:
        raise InputError(f"k is {k}", mend="choose 1 or more")
    smallest = min((part.n_examples for part in features.runs), default=k) if features is not None else k
    if k > smallest:
        raise InputError(f"k is {k}, and there are {smallest} training features", mend="choose k from 1 to that number")


def _histogram_rows(rows: Sequence[ConfidenceHistogram]) -> list[dict[str, Any]]:
    return [
        {
            "model": row.model,
            "in_distribution": row.in_distribution,
            "dataset": row.dataset,
            "confidence_low": low,
            "confidence_high": high,
            "share_in": inside,
            "share_out": outside,
        }
        for row in rows
        for low, high, inside, outside in zip(row.edges[:-1], row.edges[1:], row.share_in, row.share_out, strict=True)
    ]


@dataclass(frozen=True)
class TrainingFeatures:
    """What one run made of the data that it was trained on.

    Attributes:
        vectors: (N, D).
        labels: Names, (N,).
    """

    vectors: NDArray[np.floating[Any]]
    labels: NDArray[Any]


def read_training(path: str, parts: Sequence[Slice], model: str, seed: Any, *, alone: bool = False) -> TrainingFeatures:
    """The training features of one run, with the labels of its examples: in its own file, or of embeddings beside.

    Args:
        path: Where the runs on training data are.
        parts: These.
        model: Of the run.
        seed: Of the run.
        alone: Whether the model has this run only, which may be called after its file.

    Raises:
        InputError: There are no features of this run, or no labels of its examples.
    """
    of_model = [part for part in parts if part.collection.model == model]
    own = [part for part in of_model if part.seed == seed]
    if not own and alone and len({part.seed for part in of_model}) == 1:
        # A single run a file is called after its file.
        own = of_model
    if not own:
        raise InputError(f"there is no run of {model} with seed {seed} on its training data", file=path)
    part = own[-1]
    columns = part.load()
    if columns.label is None:
        raise InputError("the training examples have no labels", file=part.file, mend="give runs with labels")
    labels = columns.label.cast(pl.String).to_numpy().astype(np.str_)
    if columns.features is not None:
        return TrainingFeatures(columns.features, labels)
    if part.format != STORED:
        raise InputError(
            "there are no features",
            file=part.file,
            mend="give them as lists in a column, or as an array, called features",
        )
    found = _one(read_embeddings(path, model=model, dataset=part.collection.dataset, seed=seed), path)
    return TrainingFeatures(_rows(found, columns.example_ids, path), labels)


def read_features(path: str, answers: Answers, model: str, seed: Any) -> NDArray[np.floating[Any]]:
    """What one run made of the examples of a dataset, (N, D), in their order.

    Raises:
        InputError: There are no embeddings of this run and dataset, or they lack an example.
    """
    if answers.features is not None:
        return answers.features[answers.seeds.index(seed)]
    found = _one(read_embeddings(path, model=model, dataset=answers.dataset, seed=seed), path)
    return _rows(found, pl.Series([str(each) for each in answers.example_ids.tolist()], dtype=pl.String), path)


def feature_scores(
    training: TrainingFeatures, sides: Sequence[NDArray[np.floating[Any]]], k: int
) -> tuple[dict[str, list[NDArray[np.float64]]], str]:
    """Both distances of each side, and what was done about a singular covariance, in a sentence, or "".

    Raises:
        InputError: k is larger than the training set.
    """
    fitted = fit_mahalanobis(training.vectors, training.labels)
    return {
        "mahalanobis": [fitted.score(side) for side in sides],
        "knn": [score_knn(side, training.vectors, k) for side in sides],
    }, fitted.note


def _one(found: Sequence[Embeddings], path: str) -> Embeddings:
    if len(found) > 1:
        raise InputError("there are embeddings of several conditions or training sets of the run", file=path)
    return found[0]


def _rows(found: Embeddings, ids: pl.Series, path: str) -> NDArray[np.float32]:
    """The vectors of these examples: of all texts together where these are there, else of the only one."""
    if "paired" in found.vectors:
        vectors = found.vectors["paired"]
    elif len(found.vectors) == 1:
        vectors = next(iter(found.vectors.values()))
    else:
        raise InputError(f"there are embeddings of {', '.join(found.vectors)}, and of no pair", file=path)
    places = position_of(ids.cast(pl.String), pl.Series(found.example_ids.tolist(), dtype=pl.String))
    if places.null_count():
        raise InputError(f"the embeddings lack {places.null_count()} of {len(ids)} examples", file=path)
    return vectors[places.to_numpy()]
