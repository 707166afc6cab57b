"""Does a model's score tell texts from elsewhere apart? Every model, other set and score, with chance beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.questions.shift.features import feature_scores, read_features, read_training
from goldassay.questions.shift.measures.detection import measure_detection
from goldassay.questions.shift.measures.scores import score_energy, score_entropy, score_max_logit, score_max_softmax

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from goldassay.core.progress import Progress
    from goldassay.questions.shift.answers import Answers
    from goldassay.questions.shift.groups import Group
    from goldassay.questions.shift.measures.false_alarms import Rule
    from goldassay.runs.slices import Slice

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
    """Rows a model, other set and score; histograms of confidence; remarks; what was left out and why."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    histograms: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


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
            keys = {"model": group.model, "in_distribution": group.own.dataset, "dataset": other.dataset}
            for name, (inside, outside) in scores.items():
                found.rows.append({**keys, "score": name, **_measured(inside, outside, wanted)})
            found.histograms.append({**keys, **_histogram(group.own, other)})
            done += 1
            progress(done, total)
    found.notes[:] = dict.fromkeys(found.notes)
    found.skipped[:] = dict.fromkeys(found.skipped)
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


def _measured(inside: Any, outside: Any, wanted: Wanted) -> dict[str, Any]:
    result = measure_detection(inside, outside, wanted.recall, wanted.rule, seed=wanted.seed, n_draws=wanted.n_draws)
    row: dict[str, Any] = {}
    for metric, interval in result.intervals.items():
        row[metric] = getattr(result, metric)
        row[f"{metric}_low"], row[f"{metric}_high"] = interval.low, interval.high
        row[f"{metric}_sd"], row[f"{metric}_chance"] = result.sd[metric], result.chance[metric]
    return row | {
        "threshold": result.threshold,
        "achieved_recall": result.achieved_recall,
        "recall": result.recall,
        "rule": result.rule,
        "tied_share": result.tied_share,
        "n_in": result.n_in,
        "n_out": result.n_out,
        "n_runs": result.n_runs,
        "interval_method": result.interval_method,
        "caveats": list(result.caveats),
    }


def _histogram(own: Answers, other: Answers) -> dict[str, Any]:
    """Shares of the examples of each side by their confidence, all runs together."""
    n_classes = np.asarray(own.logits).shape[-1]
    edges = np.linspace(1 / n_classes, 1, _N_BINS + 1)
    shares = {}
    for side, each in (("in", own), ("out", other)):
        confidence = -score_max_softmax(np.asarray(each.logits))
        counts = np.histogram(np.clip(confidence, edges[0], 1.0), edges)[0]
        shares[f"share_{side}"] = counts / counts.sum()
        shares[f"mean_{side}"] = float(confidence.mean())
    return {"edges": edges, **shares}
