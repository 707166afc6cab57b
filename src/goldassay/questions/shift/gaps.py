"""Gaps between a model's own distribution and others, with calibration, confident errors and the words that mark them.

Calibration and risk against coverage are measured set by set: whether confidence follows a score that drops.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option, right_labels
from goldassay.core.naming import did_you_mean
from goldassay.core.numbers import percent
from goldassay.questions.example_clusters import AUTO, NONE, clusters_of, named_columns
from goldassay.questions.rows import beside_data
from goldassay.questions.shift.answers import Answers, texts_of
from goldassay.questions.shift.groups import (
    GapChoice,
    Group,
    Read,
    counted_alike,
    describe_probabilities,
    describe_sets,
    frames,
)
from goldassay.questions.shift.measures.calibration import measure_calibration, risk_coverage
from goldassay.questions.shift.measures.false_alarms import check_draws
from goldassay.questions.shift.measures.generalization import generalization_gap, measure_domain_shift
from goldassay.questions.shift.measures.scores import score_max_softmax
from goldassay.questions.shift.measures.set_metrics import METRICS, Metric, label_constants
from goldassay.questions.shift.overlaps import (
    describe_not_looked_up,
    describe_overlaps,
    disjoint,
    with_known,
    with_near,
    without_known,
)
from goldassay.questions.shift.page import describe_generalization
from goldassay.questions.shift.result import (
    CalibrationRow,
    ConfidentError,
    CoverageRow,
    DomainRow,
    GapRow,
    GeneralizationResult,
    MarkingWord,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.core.progress import Progress
    from goldassay.data.dataset import Dataset
    from goldassay.questions.evidence import Evidence

# Calibration and coverage are measured run by run; these draws fix their bounds to about a tenth of their width.
_CONFIDENCE_DRAWS = 200
# Confident errors that are shown of each model and set.
_MOST_ERRORS = 10
_N_BINS = 15
_COVERAGES = (0.5, 0.8, 0.9, 1.0)
# Points of a curve that are kept: more than a picture can show.
_POINTS = 60
_WRONG_ROWS = {
    "dataset": pl.String, "example_id": pl.String, "model": pl.String, "n_runs": pl.Int64, "share_wrong": pl.Float64,
    "confidence": pl.Float64,
}  # fmt: skip


def check_choice(asked: GapChoice) -> None:
    """Refuse what cannot be measured before anything is read.

    Raises:
        InputError: There is no such metric, or too few draws.
    """
    if asked.metric is not None and asked.metric not in METRICS:
        raise InputError(f"there is no metric {asked.metric!r}", mend=f"choose one of {', '.join(METRICS)}")
    check_draws(asked.n_draws)


def measure(
    evidence: Evidence, read_all: Callable[[], Read], asked: GapChoice
) -> tuple[GeneralizationResult, dict[str, pl.DataFrame], pl.DataFrame]:
    """What was measured, its tables, and the examples of other sets that some run gets wrong.

    Args:
        evidence: What the models were trained on, settings and progress.
        read_all: Reads the models.
        asked: What is measured of them.

    Raises:
        InputError: A size is given for a model that is not there, or every text of a set is known.
    """
    steps, seed = evidence.steps, evidence.settings.seed
    with steps.step("reading the runs"):
        read = read_all()
        datasets = read.texts
        _check_known(asked.sizes, read.groups)
        alike, counted = counted_alike(read.groups)
        complete, overlaps = disjoint(alike, datasets)
        groups, known = without_known(complete, datasets, evidence.trained_on)
    with steps.step("measuring gaps") as progress:
        measure_all = partial(
            measure_gaps,
            metric=asked.metric,
            floor=asked.floor,
            texts=datasets,
            clusters=evidence.settings.data.clusters,
            seed=seed,
            n_draws=asked.n_draws,
            progress=progress,
        )
        gaps, caveats = measure_all(groups, sizes=asked.sizes, untrained=asked.untrained)
        affected = [
            group
            for group in complete
            if any(known.get((group.model, each.dataset)) for each in (group.own, *group.others))
        ]
        in_all = measure_all(affected, sizes={})[0] if affected else []
        gaps = with_near(with_known(gaps, in_all, known), overlaps)
        errors = find_confident_errors(groups, datasets)
    with steps.step("measuring confidence") as progress:
        calibration, coverage = measure_confidence(
            groups, seed=seed, n_draws=min(asked.n_draws, _CONFIDENCE_DRAWS), progress=progress
        )
    with steps.step("measuring domains") as progress:
        domains, wordless = measure_domains(groups, datasets, seed=seed, progress=progress)
    one_by_one = _describe_one_by_one(groups, datasets, evidence.settings.data.clusters)
    found = GeneralizationResult(
        kind="generalization",
        sentences=tuple(describe_generalization(gaps, calibration, domains, evidence.settings.verdicts.shift)),
        notes=(
            *asked.notes,
            *read.notes,
            *counted,
            *describe_probabilities(groups),
            *_describe_unnamed(groups),
            *caveats,
            *describe_overlaps(overlaps),
            *describe_not_looked_up(groups, known),
            *wordless,
            *one_by_one,
        ),
        overlaps=tuple(overlaps),
        sets=describe_sets(groups),
        caveats=tuple(one_by_one),
        generalization=tuple(gaps),
        calibration=tuple(calibration),
        risk_coverage=tuple(coverage),
        confident_errors=tuple(errors),
        domains=tuple(domains),
    )
    return found, _tables(found), beside_data(wrong_rows(groups), datasets)


def _tables(found: GeneralizationResult) -> dict[str, pl.DataFrame]:
    return frames(
        {
            "generalization": list(map(vars, found.generalization)),
            "calibration": [
                {key: value for key, value in vars(row).items() if key != "bins"} for row in found.calibration
            ],
            "reliability": [
                {"model": row.model, "dataset": row.dataset, **vars(each)}
                for row in found.calibration
                for each in row.bins
            ],
            "risk_coverage": [
                {"model": row.model, "dataset": row.dataset, "coverage": share, "risk": risk}
                for row in found.risk_coverage
                for share, risk in zip(row.coverages, row.risks, strict=True)
            ],
            "confident_errors": list(map(vars, found.confident_errors)),
            "domain_words": [
                {"in_distribution": row.in_distribution, "dataset": row.dataset, **vars(word)}
                for row in found.domains
                for word in row.words
            ],
        }
    )


def _describe_unnamed(groups: Sequence[Group]) -> list[str]:
    """That there are logits, but calibration and coverage need to know which class each is of."""
    models = [group.model for group in groups if group.own.unnamed_logits]
    if not models:
        return []
    return [
        f"Whether confidence follows was not measured of {', '.join(models)}: the logits do not say which class each "
        "is of; name the classes in their order with --label-names NAME,NAME,..."
    ]


def _describe_one_by_one(groups: Sequence[Group], texts: Mapping[str, Dataset], by: str) -> list[str]:
    """That nobody knows which examples share a text where the texts are not at hand: intervals are then other ones."""
    sets = dict.fromkeys(each.dataset for group in groups for each in (group.own, *group.others))
    names = [name for name in sets if name not in texts]
    if not names or by == NONE:
        return []
    return [
        f"Without the texts of {', '.join(names)} each of the examples counts by itself: where several share a text, "
        f"the intervals are too narrow. Give the texts with {right_labels('NAME=FILE')}."
    ]


def _check_known(sizes: Mapping[str, int], groups: Sequence[Group]) -> None:
    names = [group.model for group in groups]
    for name in sizes:
        if name not in names:
            raise InputError(
                f"a size is given for {name!r}, of which there are no runs", mend=did_you_mean(name, names)
            )


def measure_gaps(
    groups: Sequence[Group],
    metric: Metric | None,
    sizes: Mapping[str, int],
    untrained: Collection[str] = (),
    *,
    floor: float | None = None,
    texts: Mapping[str, Dataset] | None = None,
    clusters: str = AUTO,
    seed: int,
    n_draws: int,
    progress: Progress,
) -> tuple[list[GapRow], list[str]]:
    """A row per model, set and metric, and what to bear in mind.

    Args:
        groups: One a model.
        metric: Of graded scores; None says it by what they are.
        sizes: {model: how many parameters it has}, in place of what its runs say.
        untrained: Models that no seed can change.
        floor: What a mean of graded scores is without any knowledge, as declared; None: nobody did, and 0 is taken.
        texts: {dataset: its texts}, where they are at hand: examples that share their first text are drawn together.
        clusters: Which examples are drawn together, see `example_clusters`; a set without such columns takes "auto".
        seed: Of the draws.
        n_draws: Of the intervals.
        progress: Told after each model.
    """
    rows: list[GapRow] = []
    caveats: dict[str, list[str]] = {}
    # The worst loss decides, so that the lower ends of all hold at once.
    together = max(1, sum(len(group.others) for group in groups))
    for done, group in enumerate(groups, 1):
        sets = [group.own, *group.others]
        chosen: tuple[Metric, ...]
        constants: dict[str, NDArray[np.float64]] = {}
        if group.own.regression:
            values = {each.dataset: each.predictions for each in sets if each.predictions is not None}
            gold = {each.dataset: each.gold for each in sets if each.gold is not None}
            chosen = ("pearson", "spearman") if metric is None else (metric,)
        else:
            values = {each.dataset: each.scores for each in sets if each.scores is not None}
            gold, chosen = None, (metric or _metric_of(sets),)
            if chosen[0] == "mean":
                sizes_of = {name: np.shape(scores)[-1] for name, scores in values.items()}
                constants = {} if floor is None else {name: np.full((1, n), floor) for name, n in sizes_of.items()}
            else:
                constants = {each.dataset: found for each in sets if (found := _constants_of(each)) is not None}
        if floor is not None and chosen != ("mean",):
            raise InputError(
                f"a floor was declared, and {chosen[0]} has one of its own",
                mend=f"leave it out, or add {option('metric', 'mean')}",
            )
        shared = {
            each.dataset: together_by
            for each in sets
            if each.dataset in values
            and (together_by := _clusters_of((texts or {}).get(each.dataset), each, clusters)) is not None
        }
        for name in chosen:
            measured = generalization_gap(
                values,
                group.own.dataset,
                gold=gold,
                clusters=shared,
                constants=constants,
                metric=name,
                train=group.train_set,
                together=together,
                seed=seed,
                n_draws=n_draws,
            )
            for said in () if group.model in untrained else measured.caveats:
                caveats.setdefault(said, []).append(group.model)
            rows += [
                GapRow(
                    model=group.model,
                    size=sizes.get(group.model, group.n_parameters),
                    **vars(row),
                    own=row.test == group.own.dataset,
                    floor_declared=name != "mean" or floor is not None,
                    n_runs=measured.n_runs,
                    trained=group.model not in untrained,
                    level=measured.level,
                    interval_method=measured.interval_method,
                )
                for row in measured.sets
            ]
        progress(done, len(groups))
    return rows, [
        said if len(set(models)) == len(groups) else f"{', '.join(dict.fromkeys(models))}: {said[0].lower()}{said[1:]}"
        for said, models in caveats.items()
    ]


def _clusters_of(dataset: Dataset | None, answers: Answers, by: str) -> NDArray[np.int64] | None:
    """Clusters of the examples, or None; see `clusters_of`."""
    if dataset is not None and by not in (AUTO, NONE):
        dataset = dataset.with_keys(named_columns(by))
        there = set(named_columns(by)) <= set(dataset.examples.columns)
        by = by if there else AUTO
    return clusters_of(dataset, answers.example_ids, by)


def _constants_of(answers: Answers) -> NDArray[np.float64] | None:
    """What answers that are the same for every example score; None where no right answers are at hand."""
    if answers.constants is not None or answers.gold is None:
        return answers.constants
    return label_constants(answers.gold)


def _metric_of(sets: Sequence[Answers]) -> Metric:
    graded = any(bool(((each.scores != 0) & (each.scores != 1)).any()) for each in sets if each.scores is not None)
    return "mean" if graded else "accuracy"


def find_confident_errors(groups: Sequence[Group], texts: Mapping[str, Dataset]) -> list[ConfidentError]:
    """The most confident errors out of distribution, a list a model and set: which examples cross over.

    Ranked by the mean over runs of (1 - correctness) x confidence. With two classes or more and logits only.
    """
    rows = []
    for group in groups:
        for each in group.others:
            if each.logits is None or each.scores is None or each.predictions is None or each.gold is None:
                continue
            confidence = -score_max_softmax(each.logits)
            worth = ((1 - each.scores) * confidence).mean(axis=0)
            shown = texts_of(each, texts.get(each.dataset))
            for i in np.argsort(-worth, kind="stable")[:_MOST_ERRORS].tolist():
                if worth[i] <= 0:
                    break
                predicted = np.bincount(each.predictions[:, i], minlength=len(each.label_names))
                wrong = each.scores[:, i] < 1
                rows.append(
                    ConfidentError(
                        model=group.model,
                        dataset=each.dataset,
                        example_id=str(each.example_ids[i]),
                        text=None if shown is None else shown[i],
                        label=each.label_names[int(each.gold[i])],
                        prediction=each.label_names[int(predicted.argmax())],
                        confidence=float(confidence[wrong, i].mean()),
                        share_wrong=float(wrong.mean()),
                    )
                )
    return rows


def measure_domains(
    groups: Sequence[Group], texts: Mapping[str, Dataset], *, seed: int, progress: Progress
) -> tuple[list[DomainRow], list[str]]:
    """How far each other set lies from the model's own, and by which words; each pair once, either way round.

    Returns:
        A row a pair whose texts are at hand, and of which pairs that could not be told, in sentences.
    """
    pairs: dict[tuple[str, str], tuple[Answers, Answers]] = {}
    for group in groups:
        for each in group.others:
            if (each.dataset, group.own.dataset) not in pairs:
                pairs[group.own.dataset, each.dataset] = (group.own, each)
    rows, notes = [], []
    for done, ((own, other), (inside, outside)) in enumerate(pairs.items(), 1):
        sides = [texts_of(each, texts.get(each.dataset)) for each in (inside, outside)]
        if sides[0] is not None and sides[1] is not None:
            try:
                found = measure_domain_shift(sides[0], sides[1], seed=seed)
            except InputError as error:
                # Gaps and confidence need no words.
                notes.append(f"No words mark the shift from {own} to {other}: {error.problem}.")
            else:
                rows.append(
                    DomainRow(
                        in_distribution=own,
                        dataset=other,
                        auroc=found.auroc,
                        words=tuple(MarkingWord(**vars(word)) for word in found.words),
                        n_in=found.n_in,
                        n_out=found.n_out,
                        n_words=found.n_words,
                        skipped=found.skipped,
                        low=found.interval.low,
                        high=found.interval.high,
                    )
                )
        progress(done, len(pairs))
    return rows, notes


def measure_confidence(
    groups: Sequence[Group], *, seed: int, n_draws: int, progress: Progress
) -> tuple[list[CalibrationRow], list[CoverageRow]]:
    """Calibration and risk against coverage, a row per model and set; models without logits have none.

    Every figure is measured run by run and averaged; bounds are the mean of the runs' own, over examples alone.
    """
    calibration, coverage = [], []
    for done, group in enumerate(groups, 1):
        for each in (group.own, *group.others):
            if each.logits is None or each.gold is None or each.scores is None or each.logits.shape[-1] < 2:
                continue
            calibration.append(_calibration(group, each, seed, n_draws))
            coverage.append(_coverage(group, each, seed, n_draws))
        progress(done, len(groups))
    return calibration, coverage


def _calibration(group: Group, answers: Answers, seed: int, n_draws: int) -> CalibrationRow:
    logits = np.asarray(answers.logits, dtype=np.float64)
    gold = np.asarray(answers.gold, dtype=np.int64)
    found = [measure_calibration(_softmax(run), gold, n_bins=_N_BINS, seed=seed, n_draws=n_draws) for run in logits]
    # The table of bins is of all runs' answers together.
    pooled = measure_calibration(
        _softmax(logits.reshape(-1, logits.shape[-1])), np.tile(gold, len(logits)), n_bins=_N_BINS, seed=seed, n_draws=1
    )
    return CalibrationRow(
        model=group.model,
        dataset=answers.dataset,
        own=answers is group.own,
        n=answers.n_examples,
        n_runs=len(found),
        ece=_mean(each.ece for each in found),
        ece_if_calibrated_low=_mean(each.ece_if_calibrated.low for each in found),
        ece_if_calibrated_high=_mean(each.ece_if_calibrated.high for each in found),
        brier=_mean(each.brier for each in found),
        brier_low=_mean(each.brier_interval.low for each in found),
        brier_high=_mean(each.brier_interval.high for each in found),
        accuracy=_mean(each.accuracy for each in found),
        confidence=_mean(each.confidence for each in found),
        overconfidence=_mean(each.overconfidence for each in found),
        overconfidence_low=_mean(each.overconfidence_interval.low for each in found),
        overconfidence_high=_mean(each.overconfidence_interval.high for each in found),
        bins=pooled.bins,
    )


def _coverage(group: Group, answers: Answers, seed: int, n_draws: int) -> CoverageRow:
    scores = score_max_softmax(np.asarray(answers.logits), scale="log")
    right = np.asarray(answers.scores)
    found = [
        risk_coverage(score, correct, coverages=_COVERAGES, n_points=_POINTS, seed=seed, n_draws=n_draws)
        for score, correct in zip(scores, right, strict=True)
    ]
    return CoverageRow(
        model=group.model,
        dataset=answers.dataset,
        own=answers is group.own,
        n=answers.n_examples,
        n_runs=len(found),
        risk=_mean(each.risk for each in found),
        aurc=_mean(each.aurc for each in found),
        aurc_low=_mean(each.aurc_interval.low for each in found),
        aurc_high=_mean(each.aurc_interval.high for each in found),
        aurc_random=_mean(each.aurc_random for each in found),
        aurc_best=_mean(each.aurc_best for each in found),
        excess_aurc=_mean(each.excess_aurc for each in found),
        selective_accuracy={
            str(share): _mean(each.selective_accuracy[share] for each in found) for share in _COVERAGES
        },
        coverages=tuple(found[0].coverages.tolist()),
        risks=tuple(np.mean([each.risks for each in found], axis=0).tolist()),
    )


def _softmax(logits: Any) -> Any:
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def _mean(values: Any) -> float:
    return float(np.mean(list(values)))


def wrong_rows(groups: Sequence[Group]) -> pl.DataFrame:
    """A row a model and example of another set that some run gets wrong, those first that are wrong most surely.

    Returns:
        dataset, example_id, model, n_runs, `share_wrong` (one minus the mean score over runs), `confidence` (mean over
        runs of the probability of the predicted class; null without logits).
    """
    tables = [pl.DataFrame(schema=_WRONG_ROWS)]
    for group in groups:
        for each in group.others:
            if each.scores is None:
                continue
            lost = 1 - each.scores.mean(axis=0)
            sure = None if each.logits is None else -score_max_softmax(each.logits).mean(axis=0)
            columns: dict[str, Any] = {
                "dataset": pl.repeat(each.dataset, lost.size, eager=True),
                "example_id": [str(name) for name in each.example_ids.tolist()],
                "model": pl.repeat(group.model, lost.size, eager=True),
                "n_runs": pl.repeat(len(each.seeds), lost.size, dtype=pl.Int64, eager=True),
                "share_wrong": lost,
                "confidence": pl.repeat(None, lost.size, dtype=pl.Float64, eager=True) if sure is None else sure,
            }
            tables.append(pl.DataFrame(columns, schema=_WRONG_ROWS).filter(pl.col("share_wrong") > 0))
    found = pl.concat(tables)
    worth = pl.col("share_wrong") * pl.col("confidence").fill_null(1.0)
    return found.sort(worth, descending=True, maintain_order=True)


def explain_wrong(row: dict[str, Any]) -> str:
    """Why a row of `wrong_rows` is worth reading."""
    wrong = row["share_wrong"] * row["n_runs"]
    sure = "" if row["confidence"] is None else f", with a mean confidence of {percent(row['confidence'], 0)}"
    return f"On {row['dataset']} {wrong:.0f} of {row['n_runs']} runs of {row['model']} are wrong{sure}."
