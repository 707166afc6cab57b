"""Each test example, classed by every question.

The examples of released runs of BERT, classed by the published easy and hard examples and by the runs.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.settings import ArtifactSettings
from goldassay.data.reading import read_dataset
from goldassay.data.source import find_published
from goldassay.questions.artifacts.gaps import classes_by_text
from goldassay.questions.artifacts.inputs import least_count
from goldassay.questions.artifacts.measures.difficulty import assign_difficulty
from goldassay.questions.artifacts.measures.mining import mine_patterns
from goldassay.questions.instability.measures.class_overlap import RunClass
from goldassay.questions.leakage.measures.peco import peco
from goldassay.questions.shift.measures.scores import score_max_softmax
from goldassay.runs.reading import read_runs
from goldassay.runs.sidecar import read_embeddings

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.lab.papers.recipe import Workplace
    from goldassay.questions.leakage.measures.clusters import ClusterScore
    from goldassay.runs.runs import Runs

# What a class of examples is called, and in a few words what it is.
CLASSES = {
    "easy": "its patterns name its label",
    "hard": "its patterns name another label",
    "leaky": "its hypothesis lies in a cluster that leans to a label",
    "given away": "the hypothesis alone is enough for most models",
    "unstable": "right with some seeds, wrong with others",
    "late": "the lowest third of confidence in its label over training",
    "wavering": "the highest third of spread of that confidence over training",
    "unfamiliar": "the third that the largest softmax takes for foreign",
}


@dataclass(frozen=True)
class ClassedExamples:
    """N test examples with the classes that they are in.

    Attributes:
        gold: Codes of the labels, (N,).
        classes: Class to who is in it, (N,) each: those that texts and other networks make.
        run_classes: Classes that the runs make.
        premises: (N,); examples of one premise do not vary independently.
        scores: Of the runs, right or wrong, (R, N).
    """

    gold: NDArray[np.int64]
    classes: dict[str, NDArray[np.bool_]]
    run_classes: dict[str, RunClass]
    premises: NDArray[np.str_]
    scores: NDArray[np.float64]


@dataclass(frozen=True)
class Examples(ClassedExamples):
    """The test examples of the study.

    Attributes:
        ids: Example ids, (N,).
        difficulty: "easy", "hard", "conflicting" or "uncovered", (N,).
        clusters: Of the hypotheses, (N,).
        hypothesis_only: What models of the hypothesis alone answer, (R, N).
        notes: What was chosen on the way.
    """

    ids: NDArray[np.str_]
    difficulty: NDArray[np.str_]
    clusters: NDArray[np.int64]
    hypothesis_only: NDArray[np.int64]
    notes: tuple[str, ...]

    def to_frame(self) -> pl.DataFrame:
        """One row an example: example_id, gold, difficulty, cluster, and whether it is in each class.

        Classes that runs make are of all runs here.
        """
        runs = np.arange(len(self.scores))
        members = self.classes | {name: each.members(runs) for name, each in self.run_classes.items()}
        columns = {name.replace(" ", "_"): members[name] for name in CLASSES}
        return pl.DataFrame(
            {
                "example_id": self.ids,
                "gold": self.gold,
                "difficulty": self.difficulty,
                "cluster": self.clusters,
                "accuracy_over_runs": self.scores.mean(axis=0),
                **columns,
            }
        )


def class_examples(work: Workplace, train: str, test: str, model: str) -> Examples:
    """Class the examples of the test set by patterns, clusters, runs and confidence.

    Some seeds say which examples are unstable, others how sure runs are and how examples were learnt; the clusters are
    of the last seed's embeddings.
    """
    runs = read_runs(work.runs, model=model, dataset=test, condition="paired")
    part = read_runs(work.runs, model=model, dataset=test, condition="hypothesis_only", checkpoint="last")
    final = runs.final()
    if final.gold is None or final.predictions is None or part.predictions is None:
        raise InputError(f"the runs of {model} hold no answers or no labels", file=work.runs)
    dataset = work.sets[test]
    rows = _rows_of(dataset, final.example_ids)
    difficulty, n_patterns = _difficulty(work.sets[train], dataset, rows)
    right, sureness = _confidence(runs)
    gold = np.asarray(final.gold, np.int64)
    clustering = _clusters(work, model, test, final, gold)
    scores = np.asarray(final.scores, np.float64)
    return Examples(
        ids=final.example_ids,
        gold=gold,
        classes={
            "easy": difficulty == "easy",
            "hard": difficulty == "hard",
            "leaky": clustering.biased[clustering.assignments],
            "given away": _aligned(part, final).mean(axis=0) > 0.5,
        },
        run_classes={
            "unstable": unstable_class(scores),
            "late": RunClass(lambda chosen: lowest_third(right[chosen].mean(axis=(0, 1))), 1),
            "wavering": RunClass(lambda chosen: lowest_third(-right[chosen].mean(axis=0).std(axis=0)), 1),
            "unfamiliar": RunClass(lambda chosen: lowest_third(sureness[chosen].mean(axis=0)), 1),
        },
        premises=np.array(dataset.take(rows).texts(dataset.text_columns[0])),
        difficulty=difficulty,
        clusters=clustering.assignments,
        scores=scores,
        hypothesis_only=_predictions(part, final),
        notes=(
            f"{n_patterns:,} patterns of {train} give a label away; {int(clustering.biased.sum())} of "
            f"{clustering.n_clusters} clusters of hypotheses lean to one.",
            f"Of {final.n_runs} seeds some say which examples are unstable, as many how sure runs are and how soon "
            f"examples were learnt, over {right.shape[1]} checkpoints, and the rest how difficult they are; seeds take "
            "turns.",
        ),
    )


def unstable_class(scores: NDArray[np.float64]) -> RunClass:
    """Examples that some of the runs of part 0 have right and others wrong; scores (R, N)."""
    return RunClass(lambda chosen: scores[chosen].min(axis=0) < scores[chosen].max(axis=0))


def _rows_of(dataset: Dataset, ids: NDArray[np.str_]) -> NDArray[np.int64]:
    """Where in the dataset the examples of the runs stand."""
    at = {name: row for row, name in enumerate(dataset.examples["example_id"].to_list())}
    return np.array([at[name] for name in ids.tolist()], np.int64)


def _difficulty(train: Dataset, test: Dataset, rows: NDArray[np.int64]) -> tuple[NDArray[np.str_], int]:
    chosen = ArtifactSettings()
    role = train.text_columns[-1]
    with warnings.catch_warnings():
        # That nothing is frequent enough is a finding: all examples are uncovered then.
        warnings.simplefilter("ignore", UserWarning)
        mined = mine_patterns(
            train.texts(role), train.labels(), label_names=train.label_names, max_tokens=chosen.max_tokens,
            max_gap=chosen.max_gap, min_count=chosen.min_count or least_count(len(train)),
        )  # fmt: skip
        found = mined.significant(chosen.q).select(chosen.threshold)
        part = test.take(rows)
        names = part.examples["label"].to_list()
        return assign_difficulty(part.texts(role), names, found).classes, len(found)


def _confidence(runs: Runs) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The right label's probability at each checkpoint, (R, T, N), and the largest softmax at the end, (R, N)."""
    if runs.logits is None or runs.gold is None:
        raise InputError(f"the runs of {runs.model} hold no logits or no labels", mend="record logits")
    if runs.logits.ndim != 4:
        raise InputError(
            f"the runs of {runs.model} have one checkpoint, and how an example is learnt takes several",
            mend="train on more rows",
        )
    logits = np.asarray(runs.logits, np.float64)
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares = shifted / shifted.sum(axis=-1, keepdims=True)
    right = np.take_along_axis(shares, np.asarray(runs.gold)[None, None, :, None], axis=-1)[..., 0]
    # A high score is anomalous: its negative is how sure a model is.
    return right, -np.stack([score_max_softmax(each[-1]) for each in logits])


def _clusters(work: Workplace, model: str, test: str, final: Runs, gold: NDArray[np.int64]) -> ClusterScore:
    last = max(int(seed) for seed in final.seeds)
    found = read_embeddings(work.runs, model=model, dataset=test, condition="paired", seed=last)[-1]
    at = {name: row for row, name in enumerate(found.example_ids.tolist())}
    order = np.array([at[name] for name in final.example_ids.tolist()])
    role = work.sets[test].text_columns[-1]
    n_clusters = int(work.scale.chosen["clusters"])
    return peco(found.vectors[role][order], gold, n_clusters=n_clusters, seed=work.seed, n_repetitions=1).clustering


def _order(part: Runs, final: Runs) -> NDArray[np.int64]:
    at = {name: row for row, name in enumerate(part.example_ids.tolist())}
    return np.array([at[name] for name in final.example_ids.tolist()], np.int64)


def _aligned(part: Runs, final: Runs) -> NDArray[np.float64]:
    return np.asarray(part.scores[:, _order(part, final)])


def _predictions(part: Runs, final: Runs) -> NDArray[np.int64]:
    """Answers in the codes of the other runs, (R, N)."""
    assert part.predictions is not None
    codes = np.array([list(final.label_names).index(name) for name in part.label_names])
    return codes[np.asarray(part.predictions)[:, _order(part, final)]]


def lowest_third(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The third of examples with the lowest values; ties by their order."""
    chosen = np.zeros(values.size, np.bool_)
    chosen[np.argsort(values, kind="stable")[: values.size // 3]] = True
    return chosen


SNLI, MNLI = "BERT on SNLI", "BERT on MNLI-m"

_PREDICTED = "predictions/snli_test_runs/correct.tsv"
# Fine-tuned for one epoch on three fifths of SNLI or more: as accurate as each other, within .6 points.
_REPLICAS = tuple(
    f"bert-base-cased_snli_std_test{part}"
    for part in ("", "_0.6", "_0.8", "_b_0.6", "_b_0.8", "_b_0.99", "_c_0.6", "_c_0.8", "_c_0.99")
)
_ALONE = ("bert-base-cased", "distilbert-base-uncased", "gpt2")
_CODES = {"0": "contradiction", "1": "entailment", "2": "neutral"}


def class_released(work: Workplace) -> dict[str, ClassedExamples]:
    """Examples of SNLI's test set and of MultiNLI's matched dev set, as far as files are at hand.

    Raises:
        InputError: A file cannot be read, or is not of the set.
    """
    found = {}
    snli, predicted = work.file("snli/test_9824.tsv"), work.file(_PREDICTED)
    lists = _lists(work, "snli_test", "SNLI/test")
    if snli is not None and predicted is not None and lists:
        found[SNLI] = _snli(snli, predicted, lists)
    mnli, folder = work.file("multinli/dev_matched.tsv"), work.file("predictions/instability_bert_base")
    lists = _lists(work, "mnli_matched_dev", "MultiNLI/match_dev")
    answers = None if folder is None else find_published(folder, ["mnli.preds.tsv"])
    if mnli is not None and folder is not None and answers is not None and lists:
        found[MNLI] = _mnli(mnli, folder, answers, lists)
    return found


def _lists(work: Workplace, stored: str, published: str) -> dict[str, Path]:
    """Files of the published easy and hard examples at threshold .7; nothing where one is missing."""
    files = {
        name: work.file(f"golden/hyponli/{stored}_{name}_lambda0.7.tsv", f"{published}_{name}_lambda=0.7.tsv")
        for name in ("easy", "hard")
    }
    there = {name: file for name, file in files.items() if file is not None}
    return there if len(there) == len(files) else {}


def _snli(test: Path, predicted: Path, lists: dict[str, Path]) -> ClassedExamples:
    dataset = read_dataset(test)
    scores = np.concatenate([_scores(read_runs(predicted, model=name), dataset) for name in _REPLICAS])
    alone = np.stack(
        [_scores(read_runs(predicted, model=f"{name}_snli_hypothesis_test"), dataset)[0] for name in _ALONE]
    )
    classes = {**_published(dataset, lists), "given away": alone.mean(axis=0) > 0.5}
    return _classed(dataset, scores, classes, {})


def _mnli(dev: Path, folder: Path, predicted: Path, lists: dict[str, Path]) -> ClassedExamples:
    dataset = read_dataset(dev)
    runs = read_runs(predicted, gold=dataset, labels=_CODES, align="position")
    logits = np.load(folder / "mnli.logits.npz", allow_pickle=False)["logits"]
    sureness = -np.stack([score_max_softmax(each) for each in logits.astype(np.float64)])
    unfamiliar = RunClass(lambda chosen: lowest_third(sureness[chosen].mean(axis=0)), part=1)
    return _classed(dataset, _scores(runs, dataset), _published(dataset, lists), {"unfamiliar": unfamiliar})


def _classed(
    dataset: Dataset,
    scores: NDArray[np.float64],
    classes: dict[str, NDArray[np.bool_]],
    of_runs: dict[str, RunClass],
) -> ClassedExamples:
    return ClassedExamples(
        gold=dataset.labels(),
        classes=classes,
        run_classes={"unstable": unstable_class(scores), **of_runs},
        premises=np.array(dataset.texts(dataset.text_columns[0])),
        scores=scores,
    )


def _scores(runs: Runs, dataset: Dataset) -> NDArray[np.float64]:
    """Right or wrong in the order of the dataset, (R, N)."""
    at = {name: row for row, name in enumerate(runs.example_ids.tolist())}
    order = [at[name] for name in dataset.examples["example_id"].cast(pl.String).to_list()]
    return np.asarray(runs.final().scores, np.float64)[:, order]


def _published(dataset: Dataset, lists: dict[str, Path]) -> dict[str, NDArray[np.bool_]]:
    listed = dict(classes_by_text(lists, dataset).select(pl.col("example_id").cast(pl.String), "class").iter_rows())
    names = np.array([listed.get(name, "") for name in dataset.examples["example_id"].cast(pl.String).to_list()])
    return {name: names == name for name in lists}
