"""Each test example, classed by every question."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.artifacts import assign_difficulty, mine_patterns
from goldassay.core.errors import InputError
from goldassay.core.settings import ArtifactSettings
from goldassay.leakage import peco
from goldassay.questions.artifacts.choices import least_count
from goldassay.runs import read_runs
from goldassay.runs.beside import read_embeddings
from goldassay.shift import score_max_softmax

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.data import Dataset
    from goldassay.leakage import ClusterScore
    from goldassay.papers.workplace import Workplace
    from goldassay.runs import Runs

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
# Of the same runs, so that they could not be independent: they are not laid over each other.
TOGETHER = frozenset({"late", "wavering", "unfamiliar"})


@dataclass(frozen=True)
class Examples:
    """N test examples.

    Attributes:
        ids: Example ids, (N,).
        gold: Codes of the labels, (N,).
        classes: Class to who is in it, (N,) each.
        difficulty: "easy", "hard", "conflicting" or "uncovered", (N,).
        clusters: Of the hypotheses, (N,).
        scores: Of the plain runs, right or wrong, (R, N).
        hypothesis_only: What models of the hypothesis alone answer, (R, N).
        notes: What was chosen on the way.
    """

    ids: NDArray[np.str_]
    gold: NDArray[np.int64]
    classes: dict[str, NDArray[np.bool_]]
    difficulty: NDArray[np.str_]
    clusters: NDArray[np.int64]
    scores: NDArray[np.float64]
    hypothesis_only: NDArray[np.int64]
    notes: tuple[str, ...]

    def to_frame(self) -> pl.DataFrame:
        """One row an example: example_id, gold, difficulty, cluster, and whether it is in each class."""
        columns = {name.replace(" ", "_"): values for name, values in self.classes.items()}
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

    The first half of the seeds says which examples are unstable, the second how sure they are and how they were
    learnt; the clusters are of the last seed's embeddings.
    """
    runs = read_runs(work.runs, model=model, dataset=test, condition="paired")
    part = read_runs(work.runs, model=model, dataset=test, condition="hypothesis_only", checkpoint="last")
    final = runs.final()
    if final.gold is None or final.predictions is None or part.predictions is None:
        raise InputError(f"the runs of {model} hold no answers or no labels", file=work.runs)
    dataset = work.sets[test]
    rows = _rows_of(dataset, final.example_ids)
    difficulty, n_patterns = _difficulty(work.sets[train], dataset, rows)
    half = final.n_runs // 2
    confidence, sureness = _confidence(runs, half)
    gold = np.asarray(final.gold, np.int64)
    clustering = _clusters(work, model, test, final, gold)
    in_some = final.scores[:half].mean(axis=0)
    classes = {
        "easy": difficulty == "easy",
        "hard": difficulty == "hard",
        "leaky": clustering.biased[clustering.assignments],
        "given away": _aligned(part, final).mean(axis=0) > 0.5,
        "unstable": (in_some > 0) & (in_some < 1),
        "late": _lowest_third(confidence.mean(axis=0)),
        "wavering": _lowest_third(-confidence.std(axis=0)),
        "unfamiliar": _lowest_third(sureness),
    }
    return Examples(
        ids=final.example_ids,
        gold=gold,
        classes=classes,
        difficulty=difficulty,
        clusters=clustering.assignments,
        scores=np.asarray(final.scores),
        hypothesis_only=_predictions(part, final),
        notes=(
            f"{n_patterns:,} patterns of {train} give a label away; {int(clustering.biased.sum())} of "
            f"{clustering.n_clusters} clusters of hypotheses lean to one.",
            f"Which examples are unstable is said by {half} of {final.n_runs} seeds, how sure and how soon learnt by "
            f"the other {final.n_runs - half}, over {confidence.shape[0]} checkpoints.",
        ),
    )


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


def _confidence(runs: Runs, first: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means over runs: the right label's probability at each checkpoint, (T, N); largest softmax at the end, (N,)."""
    if runs.logits is None or runs.gold is None:
        raise InputError(f"the runs of {runs.model} hold no logits or no labels", mend="record logits")
    if runs.logits.ndim != 4:
        raise InputError(
            f"the runs of {runs.model} have one checkpoint, and how an example is learnt takes several",
            mend="train on more rows",
        )
    logits = np.asarray(runs.logits[first:], np.float64)
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares = shifted / shifted.sum(axis=-1, keepdims=True)
    right = np.take_along_axis(shares, np.asarray(runs.gold)[None, None, :, None], axis=-1)[..., 0]
    # A high score is anomalous: its negative is how sure a model is.
    sureness = -np.mean([score_max_softmax(each[-1]) for each in logits], axis=0)
    return right.mean(axis=0), sureness


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


def _lowest_third(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The third of examples with the lowest values; ties by their order."""
    chosen = np.zeros(values.size, np.bool_)
    chosen[np.argsort(values, kind="stable")[: values.size // 3]] = True
    return chosen
