"""Which sets, networks and seeds each size takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.papers.leakage.planted import SETS
from goldassay.papers.leakage.sets import TRAIN
from goldassay.papers.recipe import PRETRAINED, Scale, Training
from goldassay.papers.sources import PLANTED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.papers.recipe import ScaleName

_PAIRED, _HYPOTHESIS, _PREMISE = "paired", "hypothesis_only", "premise_only"
_ALL = (_PAIRED, _HYPOTHESIS, _PREMISE)
# Training dynamics of the tested examples, for Figure 8.
_EACH_EPOCH = 1.0
_RECORD = ["predictions", "logits", "embeddings", "relevance"]
_TINY = {"vectors": 32, "hidden": 32, "batch_size": 32, "epochs": 6, "dropout": 0.2}
# What the runs of the printed protocol are called, whichever checkpoint is the one for a language.
FINE_TUNED = "fine-tuned"

# Not the paper's XNLI, which has all languages but English: no printed figure stands beside it.
ENGLISH_XNLI = "XNLI in English"

# By training set what is tested, all of them sets that the paper has and that can be had whole or in part.
_PRINTED = {
    "SNLI train": ("SNLI",),
    "MNLI train": ("MNLI-b", "XNLI", ENGLISH_XNLI),
    "SICK train": ("SICK",),
    "CAugNLI train": ("CAugNLI",),
    "ANLI train": ("ANLI", "A1", "A2", "A3"),
}
_FURTHER = {
    "HANS train": ("HANS",),
    "QNLI train": ("QNLI",),
    "MPE train": ("MPE",),
    "ADD-ONE train": ("ADD-ONE",),
    "RTE train": ("RTE",),
    "CB train": ("CB",),
}
_FURTHER_FILES = {
    "QNLI": "qnli_dev",
    "HANS train": "hans_train", "HANS": "hans",
    "MPE train": "mpe_train", "MPE": "mpe_dev",
    "ADD-ONE train": "add_one_train", "ADD-ONE": "add_one_dev",
    "RTE train": "rte_train", "RTE": "rte_dev",
    "CB train": "commitment_bank_train", "CB": "commitment_bank_dev",
}  # fmt: skip


def _smoke() -> Scale:
    return Scale(
        sets=dict.fromkeys((f"{name}{part}" for name in SETS for part in (TRAIN, "")), PLANTED),
        trainings=tuple(
            Training(
                train=f"{name}{TRAIN}",
                tests=(name,),
                models={"averaged words": "word_average"},
                seeds=3,
                conditions=_ALL if name in _BOTH else (_PAIRED, _HYPOTHESIS),
                options={"record": _RECORD, "changes": _TINY},
                checkpoint_epochs={"averaged words": _EACH_EPOCH},
            )
            for name in SETS
        ),
        note="Made-up sets under the names of real ones, each with a training set of its own, and tiny networks: a "
        "share of the hypotheses tells the label. It shows that the study runs and finds what is planted, and nothing "
        "about real sets.",
        chosen={"planted": (720, 360), "clusters": 10, "grid": ((10, 25), (0, 30)), "repetitions": 2, "mapped": "SNLI"},
    )


def _desk() -> Scale:
    network = [
        Training(
            train=train,
            tests=tests,
            models={"BiLSTM": "bilstm"},
            seeds=3,
            conditions=_ALL,
            options={"record": _RECORD, "precision": "auto", "rows": 12_000 if train == "HANS train" else 18_000},
            checkpoint_epochs={"BiLSTM": _EACH_EPOCH},
        )
        for train, tests in (_PRINTED | _FURTHER).items()
    ]
    pretrained = [
        Training(
            train=train,
            tests=tests,
            models={PRETRAINED: PRETRAINED},
            seeds=3,
            conditions=_ALL,
            options={
                "record": _RECORD, "precision": "auto", "rows": 5_000,
                "changes": {"epochs": 2, "max_tokens": 96},
            },
            checkpoint_epochs={PRETRAINED: _EACH_EPOCH},
        )
        for train, tests in _PRINTED.items()
    ]  # fmt: skip
    return Scale(
        sets={
            "SNLI train": "snli_train_part", "SNLI": "snli_test",
            "MNLI train": "mnli_train_part", "MNLI-b": "mnli_matched", "XNLI": "xnli", ENGLISH_XNLI: "xnli_english",
            "SICK": "sick",
            "CAugNLI train": "counterfactual_all_train", "CAugNLI": "counterfactual_all_test",
            "ANLI": "anli",
            **_FURTHER_FILES,
        },
        trainings=(*network, *pretrained),
        note="A BiLSTM on what can be had of each set: samples of SNLI and MNLI, two thirds of ANLI's test rows in the "
        "place of its training set; a pretrained checkpoint on 5,000 rows of those that the "
        "paper has. 3 seeds, and at most 5,000 rows of a test set. The paper fine-tunes roberta-large once on each.",
        chosen={
            "split": {"ANLI": 0.35, "QNLI": 0.3}, "most_tested": 5_000, "clusters": 50,
            "grid": ((10, 25, 50, 100), (0, 50, 100)), "repetitions": 10, "mapped": "SNLI",
        },
    )  # fmt: skip


# Learning rate and batch of Table 2.
_RATES = {
    "SICK": (1e-5, 18),
    "SNLI": (5e-6, 128),
    "MNLI": (5e-6, 12),
    "FEVER": (1e-5, 8),
    "ANLI": (1e-6, 18),
    "A1": (1e-6, 18),
    "A2": (1e-6, 18),
    "A3": (1e-6, 18),
    "OCNLI": (1e-5, 128),
    "CAugNLI": (5e-6, 64),
    "SNLI-debiased": (1e-5, 64),
    "MNLI-debiased": (1e-5, 16),
}
_BOTH = ("CAugNLI", "SNLI-debiased", "MNLI-debiased")


def _paper() -> Scale:
    trainings = [
        Training(
            train=f"{name} train",
            tests=("MNLI-b", "MNLI-u") if name == "MNLI" else (name,),
            models={FINE_TUNED: "google-bert/bert-base-chinese" if name == "OCNLI" else "FacebookAI/roberta-large"},
            seeds=1,
            conditions=_ALL if name in _BOTH else (_PAIRED, _PREMISE if name == "FEVER" else _HYPOTHESIS),
            options=_as_printed(*settings),
            checkpoint_epochs={FINE_TUNED: _EACH_EPOCH},
        )
        for name, settings in _RATES.items()
    ]
    # The same rows under a name of their own: runs of one training set are one model's.
    across = Training(
        train="MNLI for XNLI train",
        tests=("XNLI",),
        models={FINE_TUNED: "FacebookAI/xlm-roberta-large"},
        seeds=1,
        conditions=(_PAIRED, _HYPOTHESIS),
        options=_as_printed(1e-5, 16),
        checkpoint_epochs={FINE_TUNED: _EACH_EPOCH},
    )
    return Scale(
        sets={
            "SICK": "sick",
            "SNLI train": "snli_train", "SNLI": "snli_test",
            "MNLI train": "mnli_train", "MNLI-b": "mnli_matched", "MNLI-u": "mnli_mismatched",
            "MNLI for XNLI train": "mnli_train", "XNLI": "xnli",
            "FEVER train": "fever_train", "FEVER": "fever_dev",
            "A1 train": "anli_r1_train", "A1": "anli_r1_test",
            "A2 train": "anli_r2_train", "A2": "anli_r2_test",
            "A3 train": "anli_r3_train", "A3": "anli_r3_test",
            "OCNLI train": "ocnli_train", "OCNLI": "ocnli_dev",
            "CAugNLI train": "counterfactual_all_train", "CAugNLI": "counterfactual_all_test",
            "SNLI-debiased": "snli_debiased", "MNLI-debiased": "mnli_debiased",
        },
        trainings=(*trainings, across),
        note="As printed: roberta-large on each set, xlm-roberta-large on MNLI for XNLI, bert-base-chinese for OCNLI, "
        "once each, with the learning rates and batches of Table 2.",
        chosen={
            "split": {"SNLI-debiased": 0.1, "MNLI-debiased": 0.1}, "clusters": 50,
            "grid": ((10, 25, 50, 100), (0, 50, 100)), "repetitions": 10, "mapped": "SNLI",
        },
        strict=True,
    )  # fmt: skip


def _as_printed(rate: float, batch: int) -> dict[str, object]:
    return {
        "record": _RECORD, "configuration": "published", "changes": {"learning_rate": rate, "batch_size": batch},
    }  # fmt: skip


SCALES: Mapping[ScaleName, Scale] = {"smoke": _smoke(), "desk": _desk(), "paper": _paper()}
