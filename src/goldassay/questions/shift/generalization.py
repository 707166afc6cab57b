"""Gaps between a model's own distribution and others, of every model, and what marks the difference."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.questions.example_clusters import AUTO, NONE, clusters_of
from goldassay.questions.shift.answers import texts_of
from goldassay.questions.shift.measures.domains import measure_domain_shift
from goldassay.questions.shift.measures.generalization import generalization_gap
from goldassay.questions.shift.measures.set_metrics import label_constants

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.core.progress import Progress
    from goldassay.data import Dataset
    from goldassay.questions.shift.answers import Answers
    from goldassay.questions.shift.groups import Group
    from goldassay.questions.shift.measures.set_metrics import Metric

# Confident errors that are shown of each model and set.
_MOST_ERRORS = 10


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
) -> tuple[list[dict[str, Any]], list[str]]:
    """A row a model, set and metric, as plain data, and what to bear in mind.

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
    rows: list[dict[str, Any]] = []
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
                {
                    "model": group.model,
                    "size": sizes.get(group.model, group.n_parameters),
                    **row,
                    "own": row["test"] == group.own.dataset,
                    "floor_declared": name != "mean" or floor is not None,
                    "n_runs": measured.n_runs,
                    "trained": group.model not in untrained,
                    "level": measured.level,
                    "interval_method": measured.interval_method,
                }
                for row in map(asdict, measured.sets)
            ]
        progress(done, len(groups))
    return rows, [
        said if len(set(models)) == len(groups) else f"{', '.join(dict.fromkeys(models))}: {said[0].lower()}{said[1:]}"
        for said, models in caveats.items()
    ]


def _clusters_of(dataset: Dataset | None, answers: Answers, by: str) -> NDArray[np.int64] | None:
    """Clusters of the examples, or None; see `clusters_of`."""
    if dataset is not None and by not in (AUTO, NONE):
        there = all(name.strip() in dataset.examples.columns for name in by.split(","))
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


def find_confident_errors(groups: Sequence[Group], texts: Mapping[str, Dataset]) -> list[dict[str, Any]]:
    """The most confident errors out of distribution, a list a model and set: which examples cross over.

    Ranked by the mean over runs of (1 - correctness) x confidence. With two classes or more and logits only.
    """
    rows = []
    for group in groups:
        for each in group.others:
            if each.logits is None or each.scores is None or each.predictions is None or each.gold is None:
                continue
            confidence = _confidence(each.logits)
            worth = ((1 - each.scores) * confidence).mean(axis=0)
            shown = texts_of(each, texts.get(each.dataset))
            for i in np.argsort(-worth, kind="stable")[:_MOST_ERRORS].tolist():
                if worth[i] <= 0:
                    break
                predicted = np.bincount(each.predictions[:, i], minlength=len(each.label_names))
                wrong = each.scores[:, i] < 1
                rows.append(
                    {
                        "model": group.model,
                        "dataset": each.dataset,
                        "example_id": str(each.example_ids[i]),
                        "text": None if shown is None else shown[i],
                        "label": each.label_names[int(each.gold[i])],
                        "prediction": each.label_names[int(predicted.argmax())],
                        "confidence": float(confidence[wrong, i].mean()),
                        "share_wrong": float(wrong.mean()),
                    }
                )
    return rows


def _confidence(logits: Any) -> Any:
    from goldassay.questions.shift.measures.scores import score_max_softmax

    return -score_max_softmax(logits)


def measure_domains(
    groups: Sequence[Group], texts: Mapping[str, Dataset], *, seed: int, progress: Progress
) -> tuple[list[dict[str, Any]], list[str]]:
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
                    {
                        "in_distribution": own,
                        "dataset": other,
                        **{key: value for key, value in found.to_dict().items() if key not in ("interval", "seed")},
                        "low": found.interval.low,
                        "high": found.interval.high,
                    }
                )
        progress(done, len(pairs))
    return rows, notes
