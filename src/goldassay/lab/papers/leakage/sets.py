"""Sets that are made of others: parts of one file, rounds, and test parts of sets that have none.

Made-up sets of which it is known how often the hypothesis gives the label away, and how hard they are.

Premise and hypothesis hold a word each that decide the label together, as two numbers that are added modulo 3: neither
says anything alone. In a share of the rows that differs from set to set, the hypothesis also holds a word of the label:
most often in SNLI, less often in the sets that were made later. A share of the labels is drawn anew whatever the texts
say, so that the accuracy that can be had is the one that is printed for the best models.

Which sets, networks and seeds each size takes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.data.dataset import Dataset
from goldassay.data.splits import split_disjoint
from goldassay.lab.papers.recipe import PRECISION_CHOSEN, PRETRAINED, Scale, ScaleName, Training, Workplace
from goldassay.lab.papers.sources import PLANTED, join_sets

if TYPE_CHECKING:
    from collections.abc import Mapping


TRAIN = " train"
_ROUNDS = {"A1": "r1", "A2": "r2", "A3": "r3"}


def made_sets(work: Workplace) -> dict[str, Dataset]:
    """Training and test parts of what is one file, and of what has rounds or languages those that are asked for.

    Of `chosen` count `split`, shares of the test part by set, and `most_tested`, rows of a test set.
    """
    asked = {name for training in work.scale.trainings for name in (training.train, *training.tests)}
    made: dict[str, Dataset] = {}
    for name, share in work.scale.chosen.get("split", {}).items():
        if name in work.sets:
            made |= _parted(work.sets[name], name, share, work.seed)
        else:
            work.unmade[f"{name}{TRAIN}"] = work.roots(name)
    for name, dataset in work.sets.items():
        parts = dataset.parts
        if {"train", "test"} <= parts.keys():
            made |= {f"{name}{TRAIN}": parts["train"], name: parts["test"]}
        if "language" in dataset.groups:
            # English is what the models are trained on.
            made[name] = dataset.take((dataset.examples["language"] != "en").to_numpy())
    made |= _rounds(work.sets | made, asked)
    work.unmade |= {
        name: _lacking_parts(name, work) for name in asked if name not in made and name not in work.sets
        and name not in work.absent and name not in work.unmade
    }  # fmt: skip
    most = work.scale.chosen.get("most_tested")
    tested = {name for training in work.scale.trainings for name in training.tests}
    for name, dataset in (work.sets | made).items():
        if name in tested and most is not None and len(dataset) > most:
            drawn = np.random.default_rng(work.seed).choice(len(dataset), most, replace=False)
            made[name] = (made.get(name) or dataset).take(np.sort(drawn))
    return {name: replace(dataset, name=name) for name, dataset in made.items()}


def _parted(dataset: Dataset, name: str, share: float, seed: int) -> dict[str, Dataset]:
    train, test = split_disjoint(dataset, share, seed, by=(), near_copies=False)
    return {f"{name}{TRAIN}": train, name: test}


def _rounds(sets: dict[str, Dataset], asked: set[str]) -> dict[str, Dataset]:
    """ANLI's rounds where they are a column of one set, and the set of all rounds where they are files."""
    whole = sets.get("ANLI")
    if whole is not None and "round" in whole.groups:
        of_round = whole.examples["round"].cast(pl.String)
        return {
            name: whole.take(of_round.str.starts_with(prefix).to_numpy())
            for name, prefix in _ROUNDS.items()
            if name in asked
        }
    if whole is None and "ANLI" in asked:
        return {
            f"ANLI{part}": join_sets(f"ANLI{part}", {name: sets[f"{name}{part}"] for name in _ROUNDS})
            for part in (TRAIN, "")
            if all(f"{name}{part}" in sets for name in _ROUNDS)
        }
    return {}


def _lacking_parts(name: str, work: Workplace) -> tuple[str, ...]:
    """Of what a set is made of those that are absent: its rounds, or the file that it is a part of."""
    whole, part = name.removesuffix(TRAIN), TRAIN if name.endswith(TRAIN) else ""
    others = [f"{each}{part}" for each in _ROUNDS] if whole == "ANLI" else ["ANLI"] if whole in _ROUNDS else []
    return tuple(each for each in (whole, *others) if each in work.absent)


LABELS = ("entailment", "neutral", "contradiction")
# So many different ones that none is seen often enough to be learnt by heart.
_FILLER = 5_000
_WORDS_OF_LABEL = 3


@dataclass(frozen=True)
class Planted:
    """A made-up set.

    Attributes:
        leak: Share of the hypotheses with a word of the label.
        accuracy: The most that can be had.
        clean_accuracy: The same where nothing is planted. Sets must differ there too: of equally hard ones, agreement
            with a model that is mostly right and the share that is recovered are one figure, with the same noise. None
            is below .7: where two words decide little, both models learn the same noise of their training set and
            decide alike, the more the harder the set is, as the share recovered is larger, too.
        premises: Share of the premises with a word of the label.
    """

    leak: float
    accuracy: float
    clean_accuracy: float
    premises: float = 0.0


SETS = {
    "SNLI": Planted(0.95, 0.93, 0.81),
    "MNLI-b": Planted(0.85, 0.92, 0.88),
    "SICK": Planted(0.75, 0.90, 0.74),
    "XNLI": Planted(0.65, 0.84, 0.91),
    # Hard sets need more leaks for the same points above the majority.
    "SNLI-debiased": Planted(0.4, 0.96, 0.95, premises=0.4),
    "MNLI-debiased": Planted(0.4, 0.97, 0.70, premises=0.4),
    "CAugNLI": Planted(0.45, 0.85, 0.84, premises=0.45),
    "OCNLI": Planted(0.55, 0.78, 0.77),
}


def planted_sets(n_train: int, n_test: int, seed: int, *, clean: bool = False) -> dict[str, Dataset]:
    """Training and test sets, by name.

    Args:
        n_train: Rows of a training set.
        n_test: Rows of a test set.
        seed: Decides every draw.
        clean: Whether nothing is planted: no word of a single text tells the label, and how hard sets are has nothing
            to do with what is printed.
    """
    rng = np.random.default_rng(seed)
    return {
        f"{name}{part}": _drawn(f"{name}{part}", n, each, rng, clean=clean)
        for name, each in SETS.items()
        for part, n in ((TRAIN, n_train), ("", n_test))
    }


def _drawn(name: str, n: int, planted: Planted, rng: np.random.Generator, *, clean: bool) -> Dataset:
    leaks = (0.0, 0.0) if clean else (planted.premises, planted.leak)
    accuracy = planted.clean_accuracy if clean else planted.accuracy
    # Of the labels that are drawn anew a third are right.
    noise = (1 - accuracy) * len(LABELS) / (len(LABELS) - 1)
    rows = []
    for at in range(n):
        # Each of the nine pairs of words equally often.
        first, second = at % len(LABELS), at // len(LABELS) % len(LABELS)
        label = (first + second) % len(LABELS)
        drawn = int(rng.integers(len(LABELS))) if rng.random() < noise else label
        rows.append(
            {
                "example_id": f"{name} {at}",
                "premise": _sentence(f"first{first}", label, leaks[0], rng),
                "hypothesis": _sentence(f"second{second}", label, leaks[1], rng),
                "label": LABELS[drawn],
            }
        )
    return Dataset.from_frame(pl.DataFrame(rows), name=name)


def _sentence(word: str, label: int, leak: float, rng: np.random.Generator) -> str:
    leaks = rng.random() < leak
    words = [word, f"tell{label}n{rng.integers(_WORDS_OF_LABEL)}" if leaks else f"w{rng.integers(_FILLER)}"]
    rng.shuffle(words)
    return " ".join(words)


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
    trainings = tuple(
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
    )
    return Scale(
        sets=dict.fromkeys((f"{name}{part}" for name in SETS for part in (TRAIN, "")), PLANTED),
        trainings=trainings,
        grid=tuple(_at_rate(each, 5e-4) for each in trainings),
        note="Made-up sets under the names of real ones, each with a training set of its own, and tiny networks: a "
        "share of the hypotheses gives the label away. It shows that the study runs and finds what is planted, and "
        "nothing about real sets.",
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


# The learning rates that the paper tries.
_GRID = (5e-7, 1e-6, 5e-6, 1e-5, 5e-5)
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
    trainings.append(across)
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
        trainings=tuple(trainings),
        grid=tuple(_at_rate(each, rate) for each in trainings for rate in _GRID if rate != _rate_of(each)),
        note="As printed: roberta-large on each set, xlm-roberta-large on MNLI for XNLI, bert-base-chinese for OCNLI, "
        "once each, with the learning rates and batches of Table 2.",
        unprinted=(
            "2 epochs, weight decay .01, a warm-up of a tenth and 128 tokens are those of Zhou et al.; the paper "
            "prints none of them.",
            "Of five learning rates the one in Table 2 is taken; --grid trains with the other four, too, and chooses "
            "none.",
            PRECISION_CHOSEN,
        ),
        chosen={
            "split": {"SNLI-debiased": 0.1, "MNLI-debiased": 0.1}, "clusters": 50,
            "grid": ((10, 25, 50, 100), (0, 50, 100)), "repetitions": 10, "mapped": "SNLI",
        },
        strict=True,
    )  # fmt: skip


def _rate_of(training: Training) -> float:
    return float(training.options["changes"]["learning_rate"])


def _at_rate(training: Training, rate: float) -> Training:
    """The same training with another learning rate, under a name that says so."""
    ((label, network),) = training.models.items()
    named = f"{label} at {rate:g}"
    options = {**training.options, "changes": {**training.options["changes"], "learning_rate": rate}}
    return replace(training, models={named: network}, options=options, checkpoint_epochs={named: _EACH_EPOCH})


def _as_printed(rate: float, batch: int) -> dict[str, object]:
    return {
        "record": _RECORD, "configuration": "published", "changes": {"learning_rate": rate, "batch_size": batch},
    }  # fmt: skip


SCALES: Mapping[ScaleName, Scale] = {"smoke": _smoke(), "desk": _desk(), "paper": _paper()}
