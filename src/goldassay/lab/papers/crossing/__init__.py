"""Do the four questions find the same examples, and does debiasing take the flaws away or only move them?

Our own study, of no paper: on one dataset each test example is classed by every question, and the classes are laid over
each other, at equal difficulty. What two questions measure of the same runs would coincide by itself, so that
instability, confidence and difficulty are measured of different seeds. Released runs of BERT are classed likewise.
What we ask are claims that the figures bear out or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.numbers import bounds, decimal, number, percent, signed_points
from goldassay.lab.papers.crossing.examples import class_examples, class_released
from goldassay.lab.papers.crossing.tables import (
    FULL,
    HARD,
    MISLED,
    UNSTABLE,
    measure_debiasing,
    measure_overlaps,
    measure_variance,
    objectives_table,
    overlaps_tables,
    variance_table,
)
from goldassay.lab.papers.recipe import Conclusion, Findings, Scale, Training

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.data import Dataset
    from goldassay.lab.papers.recipe import ScaleName, Standing, Workplace

TITLE = "Where the four questions cross"
PAPER = "a study of goldassay's own"

TRAIN, DEV, TEST, PLAIN = "SNLI train", "SNLI dev", "SNLI", "plain"
TRAINED = "trained here"
NEEDED = (TRAIN, TEST, PLAIN)

_KEPT = {"record": ["predictions", "logits"]}
_OBJECTIVES = {
    "product of experts": {"objective": "product_of_experts"},
    "learned-mixin": {"objective": "learned_mixin"},
    "confidence regularization": {"objective": "confidence_regularization"},
    "guided cross-entropy": {"objective": "guided_cross_entropy"},
    "adversarial": {"objective": "adversarial"},
}
_BIASED = {"product of experts", "learned-mixin", "confidence regularization", "guided cross-entropy"}
# Of each pair the claim that its two classes fall together.
_CLAIMS = (
    ("easy", "leaky", "Same flaw", "The clusters that lean to a label hold the examples that patterns give away."),
    ("easy", "given away", "Seen through", "What patterns give away, models of the hypothesis alone find, too."),
    ("hard", "unstable", "Unstable where hard", "Scores swing on the examples whose patterns name another label."),
    ("leaky", "unstable", "Unstable where leaky", "Scores swing in the clusters that lean to a label."),
    ("hard", "late", "Learnt late", "Examples whose patterns name another label are learnt late."),
    ("hard", "unfamiliar", "Taken for foreign", "Examples whose patterns name another label look foreign to a model."),
)


def _trainings(
    network: str, tests: tuple[str, ...], seeds: int, few: int, every: int, names: tuple[str, ...], **options: object
) -> tuple[Training, ...]:
    """The plain network, it on the hypothesis alone, and it under each objective."""
    return (
        Training(
            train=TRAIN,
            tests=tests,
            models={PLAIN: network},
            seeds=seeds,
            options={**options, "record": ["predictions", "logits", "embeddings"], "checkpoint_every": every},
        ),
        Training(
            train=TRAIN,
            tests=(TEST,),
            models={PLAIN: network},
            seeds=few,
            conditions=("hypothesis_only",),
            options={**options, **_KEPT},
        ),
        Training(
            train=TRAIN,
            tests=tests,
            models=dict.fromkeys(names, network),
            seeds=few,
            options={**options, **_KEPT},
            of={
                name: {**_OBJECTIVES[name], **({"bias": "quick_probe", "bias_folds": 5} if name in _BIASED else {})}
                for name in names
            },
        ),
    )


_ELSEWHERE = {"MNLI-m": "mnli_matched", "counterfactual": "counterfactual", "ANLI": "anli"}

SCALES: Mapping[ScaleName, Scale] = {
    "smoke": Scale(
        sets={TRAIN: "specimen/train", TEST: "specimen/test", "elsewhere": "specimen/dev"},
        trainings=_trainings("ngram_average", (TEST, "elsewhere"), 5, 2, 4, ("product of experts",)),
        note="A made-up set under the name of a real one: it shows that the study runs, and nothing about SNLI.",
        chosen={"clusters": 10},
    ),
    "desk": Scale(
        sets={TRAIN: "snli_train_part", TEST: "snli_test", **_ELSEWHERE},
        trainings=_trainings(
            "bilstm", (TEST, *_ELSEWHERE), 9, 3, 38, tuple(_OBJECTIVES), precision="auto", rows=18_000,
            vary=["initialization", "order", "dropout"],
        ),
        note="A BiLSTM of desk size on 18,000 pairs of SNLI: 9 seeds, ten checkpoints each; 3 seeds of each objective "
        "and on the hypothesis alone.",
        chosen={"clusters": 50},
    ),
    "paper": Scale(
        sets={TRAIN: "snli_train", DEV: "snli_dev", TEST: "snli_test", **_ELSEWHERE},
        trainings=_trainings(
            "infersent", (TEST, *_ELSEWHERE), 10, 5, 1_000, tuple(_OBJECTIVES), configuration="published", dev=DEV
        ),
        note="InferSent of the published size on all of SNLI, whose dev set decides when to stop: 10 seeds, 5 of each "
        "objective.",
        chosen={"clusters": 50},
        strict=True,
    ),
}  # fmt: skip


def prepare(_work: Workplace) -> dict[str, Dataset]:
    """Nothing is made of other sets."""
    return {}


def has_released(_work: Workplace) -> bool:
    """Released runs are laid over those that are trained here, and do not take their place."""
    return False


def measure(work: Workplace) -> Findings:
    """Class the test examples, lay the classes over each other, and hold each objective against plain training."""
    tests = list(dict.fromkeys(name for training in work.scale.trainings for name in training.tests))
    examples = class_examples(work, TRAIN, TEST, PLAIN)
    released = class_released(work) if work.scale_name != "smoke" else {}
    overlaps = measure_overlaps({TRAINED: examples, **released}, work.seed)
    variance = measure_variance(examples, work.seed)
    objectives = list(dict.fromkeys(name for each in work.scale.trainings for name in each.models if name != PLAIN))
    debiasing = measure_debiasing(work, examples, objectives, tests, PLAIN)
    return Findings(
        conclusions=conclude(overlaps, variance, debiasing),
        comparisons=(*overlaps_tables(overlaps, TRAINED), variance_table(variance), objectives_table(debiasing)),
        notes=examples.notes,
        tables={"examples": examples.to_frame(), "overlaps": overlaps, "variance": variance, "debiasing": debiasing},
    )


def conclude(overlaps: pl.DataFrame, variance: pl.DataFrame, debiasing: pl.DataFrame) -> tuple[Conclusion, ...]:
    """Each claim with its figure."""
    found = []
    for runs in overlaps["runs"].unique(maintain_order=True):
        of_runs = overlaps.filter(pl.col("runs") == runs)
        pairs = {(row["first"], row["second"]): row for row in of_runs.iter_rows(named=True)}
        whose = "" if runs == overlaps["runs"][0] else f", {runs}"
        found += [
            _of_pair(pairs[first, second], f"{name}{whose}", claim)
            for first, second, name, claim in _CLAIMS
            if (first, second) in pairs
        ]
    return (*found, _of_variance(variance), *_of_debiasing(debiasing))


def _of_pair(row: dict[str, Any], name: str, claim: str) -> Conclusion:
    """By the ratio at equal difficulty: that of chance alone says as much of what is hard as of the two classes."""
    place = "overlap"
    if row["reason"]:
        return Conclusion(name, claim, place, "not measured", f"Not defined: {row['reason']}.", unit="ratio")
    observed = row["observed"]
    whole = observed == round(observed) or observed >= 10
    evidence = (
        f"{decimal(observed, 0 if whole else 1)} example{' is' if observed == 1 else 's are'} {row['first']} and "
        f"{row['second']}, {decimal(row['ratio'])} times what chance within labels would give "
        f"{bounds(row['low'], row['high'], 2, 1.0)}"
    )
    if row["equal_reason"]:
        return Conclusion(name, claim, place, "not measured", f"{evidence}; {row['equal_reason']}.", unit="ratio")
    standing: Standing = "not shown"
    if row["equal_low"] > 1:
        standing = "held"
    elif row["equal_high"] < 1:
        standing = "did not hold"
    return Conclusion(
        name,
        claim,
        place,
        standing,
        f"{evidence}. The figure is at equal difficulty, told by {row['n_held_out']} runs that define neither class.",
        row["equal_ratio"],
        row["equal_low"],
        row["equal_high"],
        "ratio",
    )


def _of_variance(variance: pl.DataFrame) -> Conclusion:
    claim = "The variance over seeds sits in the clusters that lean to a label."
    rows = variance.filter(pl.col("class") == "leaky").to_dicts()
    if not rows or number(rows[0]["share_of_variance"]) is None:
        why = "No cluster leans to a label, or all do, or all runs score alike."
        return Conclusion("Variance", claim, "variance", "not measured", why)
    row = rows[0]
    share, size = row["share_of_variance"], row["share_of_examples"]
    standing: Standing = "not shown"
    if row["low"] is not None and row["low"] > size:
        standing = "held"
    elif row["high"] is not None and row["high"] < size:
        standing = "did not hold"
    return Conclusion(
        "Variance",
        claim,
        "variance",
        standing,
        f"Leaky examples are {percent(size)} of all and hold {percent(share)} of the variance"
        f"{'' if row['low'] is not None else '; too few runs differ there to give an interval'}.",
        share,
        row["low"],
        row["high"],
        "share",
    )


def _of_debiasing(debiasing: pl.DataFrame) -> list[Conclusion]:
    """Of each objective whether it takes leakage away, and whether it pays in stability."""
    found = []
    for name in debiasing["objective"].unique(maintain_order=True):
        rows = {row["measure"]: row for row in debiasing.filter(pl.col("objective") == name).iter_rows(named=True)}
        if HARD not in rows or MISLED not in rows:
            continue
        hard, misled = rows[HARD], rows[MISLED]
        gains, clears = hard["low"] > 0, misled["high"] < 0
        standing: Standing = "held" if gains and clears else "not shown"
        if hard["high"] < 0 or misled["low"] > 0:
            standing = "did not hold"
        costs = [f"{measure} {_change(rows[measure])}" for measure in (FULL, UNSTABLE) if measure in rows]
        found.append(
            Conclusion(
                name.capitalize(),
                "Debiasing takes the leakage away: it gains on hard examples and errs less as the hypothesis alone.",
                "debiasing",
                standing,
                f"On hard {_change(hard)}; errors of the hypothesis alone {_change(misled)}; {'; '.join(costs)}.",
                hard["difference"],
                hard["low"],
                hard["high"],
                "difference",
            )
        )
    return found


def _change(row: dict[str, Any]) -> str:
    return f"{signed_points(row['difference'], 1)} [{signed_points(row['low'], 1)}, {signed_points(row['high'], 1)}]"
