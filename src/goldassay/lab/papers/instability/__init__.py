"""Scores that would not come out the same: ten seeds, standard and analysis sets, checkpoint by checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.lab.papers.instability.conclusions import conclude
from goldassay.lab.papers.instability.evidence import (
    READING,
    REFERENCE,
    RELEASED,
    Evidence,
    compare_tables,
    planted_sets,
    released_files,
    released_report,
)
from goldassay.lab.papers.recipe import PRETRAINED, Findings, Scale, Shown, Training
from goldassay.lab.papers.sources import PLANTED, join_sets
from goldassay.questions.instability.command import measure_instability

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.data import Dataset
    from goldassay.lab.papers.recipe import ScaleName, Workplace

NEEDED: tuple[str, ...] = ()

TITLE = "The curse of performance instability"
PAPER = "Zhou, Nie, Tan and Bansal 2020"

JOINED = "SNLI+MNLI"

_SETS = {"SNLI": "snli_dev", REFERENCE: "mnli_matched", "BREAK-NLI": "breaking_nli", "HANS": "hans", "SICK": "sick"}
_FURTHER = {"ANLI": "anli", "counterfactual": "counterfactual"}
_TRAINED = {"SNLI train": "snli_train", "MNLI train": "mnli_train"}
_TRAINED_PART = {"SNLI train": "snli_train_part", "MNLI train": "mnli_train_part"}
_TESTS = (*_SETS, *_FURTHER)
_ANALYSIS = {
    "MNLI-mm": "mnli_mismatched", "SNLI-hard": "snli_hard", "STR-L": "stress_length", "STR-S": "stress_spelling",
    "STR-NE": "stress_negation", "STR-O": "stress_overlap", "STR-A": "stress_antonym", "STR-NU": "stress_numbers",
}  # fmt: skip
_PARTS = {
    "NewsNLI": "equate_news", "RedditNLI": "equate_reddit", "RTE-Quant": "equate_rte", "AWPNLI": "equate_word_problems",
}  # fmt: skip
# Test sets that are made of several, the stress test of numbers among them.
_MADE = {"EQU-NAT": ("NewsNLI", "RedditNLI", "RTE-Quant"), "EQU-SYN": ("AWPNLI", "STR-NU")}
_READING_TRAINED = "SQuAD train"
_READING = {READING: "squad_dev", "AddSent": "add_sent", "AddOneSent": "add_one_sent"}
_FINE_TUNED = {
    RELEASED: "google-bert/bert-base-uncased",
    "BERT-L": "google-bert/bert-large-uncased",
    "RoBERTa-B": "FacebookAI/roberta-base",
    "RoBERTa-L": "FacebookAI/roberta-large",
    "XLNet-B": "xlnet/xlnet-base-cased",
    "XLNet-L": "xlnet/xlnet-large-cased",
}
# What is made up at the smallest size. Models differ among each other, so that what they say together counts.
_MADE_STANDARD, _MADE_ANALYSIS = ("SNLI", REFERENCE), ("BREAK-NLI", "HANS", "SICK", "STR-L", "STR-S")
_TINY: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "bag of words": ("bag_of_words", {"projection": 16}),
    "wide bag of words": ("bag_of_words", {"projection": 64}),
    "averaged words": ("word_average", {"vectors": 16, "hidden": 16}),
    "wide averaged words": ("word_average", {"vectors": 64, "hidden": 64}),
    "averaged runs of words": ("ngram_average", {"vectors": 16, "hidden": 32}),
    "wide averaged runs of words": ("ngram_average", {"vectors": 64, "hidden": 64}),
}
# So that scores rise all the while, as those of large networks on large sets do.
_SLOWLY = {"epochs": 5, "batch_size": 32, "learning_rate": 2e-3}
# The training rows are those of every run: only what a seed means in the paper follows it.
_SEEDED = {"vary": ["initialization", "order", "dropout"], "record": ["predictions"]}

SCALES: Mapping[ScaleName, Scale] = {
    "smoke": Scale(
        sets=dict.fromkeys(("SNLI train", *_MADE_STANDARD, *_MADE_ANALYSIS), PLANTED),
        trainings=(
            Training(
                train="SNLI train",
                tests=(*_MADE_STANDARD, *_MADE_ANALYSIS),
                models={name: network for name, (network, _) in _TINY.items()},
                seeds=10,
                options={**_SEEDED, "checkpoint_every": 14},
                of={name: {"changes": {**_SLOWLY, **sizes}} for name, (_, sizes) in _TINY.items()},
            ),
        ),
        note="Made-up sets under the names of real ones, and tiny networks: training does not tell which of two words "
        "decides, which analysis sets ask. It shows that the study runs and finds what is planted, and nothing about "
        "real sets.",
        chosen={"planted": (900, 1_000, 120)},
    ),
    "desk": Scale(
        sets={**_TRAINED_PART, **_SETS, **_FURTHER},
        trainings=(
            Training(
                train=JOINED,
                tests=_TESTS,
                models={"BiLSTM": "bilstm", "DAM": "dam", "ESIM": "esim"},
                seeds=5,
                options={**_SEEDED, "precision": "auto", "rows": 28_000},
                # A twentieth of the steps of each.
                of={
                    "BiLSTM": {"checkpoint_every": 29},
                    "DAM": {"checkpoint_every": 66},
                    "ESIM": {"checkpoint_every": 88},
                },
            ),
            Training(
                train=JOINED,
                tests=_TESTS,
                models={PRETRAINED: PRETRAINED},
                seeds=3,
                options={
                    **_SEEDED, "precision": "auto", "rows": 5_000, "changes": {"epochs": 2},
                    "checkpoint_every": 79,
                },
            ),
        ),
        note="Small networks, 5 seeds and 20 checkpoints, trained on samples of SNLI and MNLI; a pretrained checkpoint "
        "with 3 seeds and 4 checkpoints on 5,000 pairs. The paper trains 10 seeds on 942,069 pairs and evaluates 117 "
        "checkpoints. Rows of BERT-B are the authors' own predictions.",
    ),
    "paper": Scale(
        sets={**_TRAINED, **_SETS, **_ANALYSIS, **_PARTS, _READING_TRAINED: "squad_train", **_READING},
        trainings=(
            Training(
                train=JOINED,
                tests=(*_SETS, *_ANALYSIS, *_MADE),
                models={"ESIM": "esim", **_FINE_TUNED},
                seeds=10,
                options={**_SEEDED, "configuration": "published"},
                # It stops by a dev score, and the paper chooses checkpoints on this one.
                of={"ESIM": {"dev": REFERENCE, "vectors": "GloVe"}},
                # The paper's 500 steps are a 59th of an epoch in batches of 32, and it evaluates 117 checkpoints; of
                # 64 epochs that would be 3,768, and half an epoch gives as many as the paper has.
                checkpoint_epochs={"ESIM": 0.5, **dict.fromkeys(_FINE_TUNED, 1 / 59)},
            ),
            Training(
                train=_READING_TRAINED,
                tests=tuple(_READING),
                models={RELEASED: "google-bert/bert-base-uncased", "XLNet-B": "xlnet/xlnet-base-cased"},
                seeds=10,
                options={**_SEEDED, "configuration": "published"},
            ),
        ),
        note="As printed: 10 seeds on all of SNLI and MNLI, a checkpoint every 59th of an epoch (500 steps in batches "
        "of 32), of ESIM every half; and 10 seeds on SQuAD 1.1. ESIM with ELMo is left out.",
        files={"GloVe": "glove"},
        strict=True,
    ),
}  # fmt: skip


def prepare(work: Workplace) -> dict[str, Dataset]:
    """SNLI and MNLI are trained on together, and some test sets have several parts."""
    made: dict[str, Dataset] = {}
    if "planted" in work.scale.chosen:
        n_train, n_standard, n_analysis = work.scale.chosen["planted"]
        made = planted_sets(
            {"SNLI train": n_train},
            dict.fromkeys(_MADE_STANDARD, n_standard),
            dict.fromkeys(_MADE_ANALYSIS, n_analysis),
            work.seed,
        )
        return {name: dataset for name, dataset in made.items() if name not in work.absent}
    for name, parts in {JOINED: tuple(_TRAINED), **_MADE}.items():
        if all(part in work.sets for part in parts):
            made[name] = join_sets(name, {part: work.sets[part] for part in parts})
        else:
            work.unmade[name] = tuple(part for part in parts if part in work.absent)
    return made


def has_released(work: Workplace) -> bool:
    """Whether the authors' own predictions are at hand, with the sets in their order."""
    return released_files(work) is not None


def measure(work: Workplace) -> Findings:
    """Spread, deviations, decomposition, selection and correlations, of our runs and of the released ones."""
    reports = {}
    for training in work.scale.trainings:
        reading = training.train == _READING_TRAINED
        reference = READING if reading else REFERENCE
        reports["reading" if reading else "ours"] = measure_instability(
            [work.runs], reference=reference if reference in training.tests else None, train_set=training.train,
            seed=work.seed,
        )  # fmt: skip
    released = released_report(work)
    if released is not None:
        reports["released"] = released
    found = {name: Evidence(report, RELEASED if name == "released" else None) for name, report in reports.items()}
    asked = {name for each in SCALES[work.scale_name].trainings for name in each.tests} - _READING.keys()
    notes = [] if work.pretrained or work.scale_name != "desk" else ["No pretrained checkpoint was given."]
    if not work.scale.trainings:
        notes.append("Nothing was trained: all figures are of predictions that the authors released.")
    if released is None and work.scale_name == "desk":
        notes.append("The authors' own predictions are not at hand; BERT-B has no row.")
    return Findings(
        conclusions=conclude(list(found.values())),
        comparisons=compare_tables(
            [each for name, each in found.items() if name != "reading"],
            found.get("reading"),
            {name: dataset for name, dataset in work.sets.items() if name in asked},
        ),
        reports=reports,
        shown=tuple(
            Shown(f"{place}. {title}", name, figure)
            for name in reports
            for place, title, figure in (
                ("Figure 1", "Accuracy over training", "instability_trajectories"),
                ("Figure 2", "Accuracies of all runs", "instability_runs"),
                ("Figure 3", "Which sets move together", "instability_correlations"),
                ("Figure 4", "Which examples move together", "instability_map"),
            )
        ),
        notes=tuple(notes),
    )
