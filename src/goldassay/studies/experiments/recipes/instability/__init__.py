"""Scores that would not come out the same: ten seeds, standard and analysis sets, checkpoint by checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.studies.experiments.joining import join_sets
from goldassay.studies.experiments.recipe import PRETRAINED, Findings, Scale, Shown, Training
from goldassay.studies.experiments.recipes.instability.conclusions import conclude
from goldassay.studies.experiments.recipes.instability.evidence import REFERENCE, RELEASED, Evidence, released_report
from goldassay.studies.experiments.recipes.instability.tables import compare_tables
from goldassay.studies.instability import report_instability

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.data import Dataset
    from goldassay.studies.experiments.recipe import ScaleName
    from goldassay.studies.experiments.workplace import Workplace

TITLE = "The curse of performance instability"
PAPER = "Zhou, Nie, Tan and Bansal 2020"

JOINED = "SNLI+MNLI"

_SETS = {"SNLI": "snli_dev", REFERENCE: "mnli_matched", "BREAK-NLI": "breaking_nli", "HANS": "hans", "SICK": "sick"}
_FURTHER = {"ANLI": "anli", "counterfactual": "counterfactual"}
_TRAINED = {"SNLI train": "snli_train", "MNLI train": "mnli_train"}
_TRAINED_PART = {"SNLI train": "snli_train_part", "MNLI train": "mnli_train_part"}
_TESTS = (*_SETS, *_FURTHER)
# The training rows are those of every run: only what a seed means in the paper follows it.
_SEEDED = {"vary": ["initialization", "order", "dropout"], "record": ["predictions"]}

SCALES: Mapping[ScaleName, Scale] = {
    "smoke": Scale(
        sets={"SNLI train": "specimen/train", REFERENCE: "specimen/dev", "HANS": "specimen/test"},
        trainings=(
            Training(
                train="SNLI train",
                tests=(REFERENCE, "HANS"),
                models={"bag of words": "bag_of_words", "averaged words": "word_average"},
                seeds=3,
                options={**_SEEDED, "checkpoint_every": 20},
            ),
        ),
        note="Made-up sets under the names of real ones: it shows that the study runs, and nothing about them.",
    ),
    "desk": Scale(
        sets={**_TRAINED_PART, **_SETS, **_FURTHER},
        trainings=(
            Training(
                train=JOINED,
                tests=_TESTS,
                models={"BiLSTM": "bilstm", "DAM": "dam", "ESIM": "esim"},
                seeds=5,
                options={**_SEEDED, "precision": "bfloat16", "rows": 28_000},
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
                    **_SEEDED, "precision": "bfloat16", "rows": 5_000, "changes": {"epochs": 2},
                    "checkpoint_every": 79,
                },
            ),
        ),
        note="Small networks, 5 seeds and 20 checkpoints, trained on samples of SNLI and MNLI; a pretrained checkpoint "
        "with 3 seeds and 4 checkpoints on 5,000 pairs. The paper trains 10 seeds on 942,069 pairs and evaluates 117 "
        "checkpoints. Rows of BERT-B are the authors' own predictions.",
        optional=frozenset(_FURTHER),
    ),
    "paper": Scale(
        sets={**_TRAINED, **_SETS, "MNLI-mm": "mnli_mismatched"},
        trainings=(
            Training(
                train=JOINED,
                tests=(*_SETS, "MNLI-mm"),
                models={
                    "ESIM": "esim",
                    RELEASED: "google-bert/bert-base-uncased",
                    "BERT-L": "google-bert/bert-large-uncased",
                    "RoBERTa-B": "FacebookAI/roberta-base",
                    "RoBERTa-L": "FacebookAI/roberta-large",
                    "XLNet-B": "xlnet/xlnet-base-cased",
                    "XLNet-L": "xlnet/xlnet-large-cased",
                },
                seeds=10,
                options={**_SEEDED, "configuration": "published", "checkpoint_every": 500},
            ),
        ),
        note="As printed: 10 seeds on all of SNLI and MNLI, a checkpoint every 500 steps. ESIM with ELMo is left out.",
        optional=frozenset({"MNLI-mm"}),
    ),
}  # fmt: skip


def prepare(work: Workplace) -> dict[str, Dataset]:
    """SNLI and MNLI are trained on together."""
    parts = {name: work.sets[name] for name in _TRAINED if name in work.sets}
    return {JOINED: join_sets(JOINED, parts)} if len(parts) > 1 else {}


def measure(work: Workplace) -> Findings:
    """Spread, deviations, decomposition, selection and correlations, of our runs and of the released ones."""
    reports = {"ours": report_instability([work.runs], reference=REFERENCE, seed=work.seed)}
    released = released_report(work)
    if released is not None:
        reports["released"] = released
    found = [Evidence(report, RELEASED if name == "released" else None) for name, report in reports.items()]
    notes = [] if work.pretrained or work.scale_name != "desk" else ["No pretrained checkpoint was given."]
    if released is None and work.scale_name == "desk":
        notes.append("The authors' own predictions are not at hand; BERT-B has no row.")
    return Findings(
        conclusions=conclude(found),
        comparisons=compare_tables(found, {name: work.sets[name] for name in _TESTS if name in work.sets}),
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
