"""Do the four questions find the same examples, and does debiasing take the flaws away or only move them?

Our own study, of no paper: on one dataset each test example is classed by every question, and the classes are laid over
each other, at equal difficulty. What two questions measure of the same runs would coincide by itself, so that
instability, confidence and difficulty are measured of different seeds. Released runs of BERT are classed likewise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.lab.papers.crossing.conclusions import conclude
from goldassay.lab.papers.crossing.examples import class_examples, class_released
from goldassay.lab.papers.crossing.tables import (
    measure_debiasing,
    measure_overlaps,
    measure_variance,
    objectives_table,
    overlaps_tables,
    variance_table,
)
from goldassay.lab.papers.recipe import Findings, Scale, Training

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.data import Dataset
    from goldassay.lab.papers.recipe import ScaleName, Workplace

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
