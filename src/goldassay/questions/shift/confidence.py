"""Does the model know? Its calibration, and what it gains by leaving out what it is unsure of, set by set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.questions.shift.measures.calibration import measure_calibration, risk_coverage
from goldassay.questions.shift.measures.scores import score_max_softmax

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.progress import Progress
    from goldassay.questions.shift.answers import Answers
    from goldassay.questions.shift.groups import Group

N_BINS = 15
COVERAGES = (0.5, 0.8, 0.9, 1.0)
# Points of a curve that are kept: more than a picture can show.
_POINTS = 60


def measure_knowing(
    groups: Sequence[Group], *, seed: int, n_draws: int, progress: Progress
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Calibration and risk against coverage, a row a model and set; models without logits have none.

    Every figure is measured run by run and averaged; bounds are the mean of the runs' own, over examples alone.
    """
    calibration, coverage = [], []
    for done, group in enumerate(groups, 1):
        for each in (group.own, *group.others):
            if each.logits is None or each.gold is None or each.scores is None or each.logits.shape[-1] < 2:
                continue
            keys = {"model": group.model, "dataset": each.dataset, "own": each is group.own}
            calibration.append({**keys, **_calibration(each, seed, n_draws)})
            coverage.append({**keys, **_coverage(each, seed, n_draws)})
        progress(done, len(groups))
    return calibration, coverage


def _calibration(answers: Answers, seed: int, n_draws: int) -> dict[str, Any]:
    logits = np.asarray(answers.logits, dtype=np.float64)
    gold = np.asarray(answers.gold, dtype=np.int64)
    found = [measure_calibration(_softmax(run), gold, n_bins=N_BINS, seed=seed, n_draws=n_draws) for run in logits]
    # The table of bins is of all runs' answers together.
    pooled = measure_calibration(
        _softmax(logits.reshape(-1, logits.shape[-1])), np.tile(gold, len(logits)), n_bins=N_BINS, seed=seed, n_draws=1
    )
    return {
        "n": answers.n_examples,
        "n_runs": len(found),
        "ece": _mean(each.ece for each in found),
        "ece_if_calibrated_low": _mean(each.ece_if_calibrated.low for each in found),
        "ece_if_calibrated_high": _mean(each.ece_if_calibrated.high for each in found),
        "brier": _mean(each.brier for each in found),
        "brier_low": _mean(each.brier_interval.low for each in found),
        "brier_high": _mean(each.brier_interval.high for each in found),
        "accuracy": _mean(each.accuracy for each in found),
        "confidence": _mean(each.confidence for each in found),
        "overconfidence": _mean(each.overconfidence for each in found),
        "overconfidence_low": _mean(each.overconfidence_interval.low for each in found),
        "overconfidence_high": _mean(each.overconfidence_interval.high for each in found),
        "bins": pooled.to_dict()["bins"],
    }


def _coverage(answers: Answers, seed: int, n_draws: int) -> dict[str, Any]:
    scores = score_max_softmax(np.asarray(answers.logits), scale="log")
    right = np.asarray(answers.scores)
    found = [
        risk_coverage(score, correct, coverages=COVERAGES, n_points=_POINTS, seed=seed, n_draws=n_draws)
        for score, correct in zip(scores, right, strict=True)
    ]
    return {
        "n": answers.n_examples,
        "n_runs": len(found),
        "risk": _mean(each.risk for each in found),
        "aurc": _mean(each.aurc for each in found),
        "aurc_low": _mean(each.aurc_interval.low for each in found),
        "aurc_high": _mean(each.aurc_interval.high for each in found),
        "aurc_random": _mean(each.aurc_random for each in found),
        "aurc_best": _mean(each.aurc_best for each in found),
        "excess_aurc": _mean(each.excess_aurc for each in found),
        "selective_accuracy": {
            str(share): _mean(each.selective_accuracy[share] for each in found) for share in COVERAGES
        },
        "coverages": found[0].coverages,
        "risks": np.mean([each.risks for each in found], axis=0),
    }


def _softmax(logits: Any) -> Any:
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def _mean(values: Any) -> float:
    return float(np.mean(list(values)))
