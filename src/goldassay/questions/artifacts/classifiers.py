"""`artifacts classify`: how far classifiers get that see only one text of a pair, and of it only patterns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.artifacts import pattern_features
from goldassay.core.files import written_together
from goldassay.core.progress import Progress, silent
from goldassay.data import check_same_labels
from goldassay.questions.artifacts.inputs import DEFAULT, Bounds, cut, mine_dataset, texts_for
from goldassay.questions.artifacts.unseen import condition_of
from goldassay.questions.example_clusters import check_cluster_columns, clusters_of
from goldassay.readers.pattern_mlp import PatternMLP
from goldassay.readers.probes import train_probes
from goldassay.report.saving import write_tables
from goldassay.runs import Runs, write_runs
from goldassay.stats.bootstrap import score_interval
from goldassay.stats.clusters import cluster_codes

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.data import Dataset

# H(M, t, .5) of the published table, by the name of its classifier.
PATTERN_SETS = {"unigrams": (1, 1), "patterns": (3, 3)}
THRESHOLD = 0.5


@dataclass(frozen=True)
class ClassifierTable:
    """Accuracy of each classifier.

    Attributes:
        table: A row a classifier: classifier, accuracy, low, high (95 %, over examples and runs), sd (over runs; NaN
            for one), n_runs, n_features (null where hashed), about.
        runs: What each predicted.
    """

    table: pl.DataFrame
    runs: tuple[Runs, ...]

    def to_dict(self) -> dict[str, Any]:
        """The rows."""
        return {"classifiers": self.table.to_dicts(), "n_examples": self.runs[0].n_examples}

    def save(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write the table as Parquet and CSV, and the runs, which `read_runs` reads.

        Raises:
            OutputError: The folder cannot be written to.
        """
        with written_together(directory) as folder:
            write_tables({"classifiers": self.table}, folder)
            for runs in self.runs:
                write_runs(runs, folder / "runs")
        return [Path(directory) / name for name in ("classifiers.parquet", "classifiers.csv", "runs")]


def classify(
    train: Dataset,
    test: Dataset,
    bounds: Bounds = DEFAULT,
    seeds: Sequence[int] = range(5),
    progress: Progress = silent,
    seed: int = 0,
) -> ClassifierTable:
    """Train and judge: the majority label, n-grams, a network on single words, a network on patterns.

    Args:
        train: What to mine and train on.
        test: What to predict.
        bounds: Of the mining: min_count, tokenizer and text, and which test rows count together in intervals; the
            lengths are those of `PATTERN_SETS`.
        seeds: One run each; the majority has none.
        progress: Told after each run.
        seed: Of the draws of the intervals.

    Raises:
        InputError: The two sets do not fit, or cannot be trained on.

    Source: Liu et al. 2020, Table 2.
    """
    check_same_labels(train, test)
    check_cluster_columns(bounds.clusters, test)
    names = train.label_names
    gold = np.array([names.index(label) for label in test.examples["label"].to_list()], np.int64)
    total = len(seeds) * (1 + len(PATTERN_SETS))
    labels = train.labels()
    majority = int(np.bincount(labels).argmax())
    made = [_runs(train, test, "majority", np.full((1, len(test)), majority), gold, [0], bounds.text)]
    about = [f"always {names[majority]}, the most frequent label of the training data"]
    sizes: list[int | None] = [0]

    probes = train_probes(train, test, conditions=[condition_of(train, bounds.text)], seeds=seeds)
    found: list[NDArray[np.int64]] = []
    for run in probes:
        assert run.predictions is not None
        found.append(run.predictions[0])
        progress(len(found), total)
    made.append(_runs(train, test, "n-grams", np.stack(found), gold, seeds, bounds.text))
    about.append("a linear model on hashed words and word pairs, the quick probe")
    sizes.append(None)

    for at, (name, (max_tokens, max_gap)) in enumerate(PATTERN_SETS.items(), start=1):
        mined = mine_dataset(train, replace(bounds, max_tokens=max_tokens, max_gap=max_gap, clusters="none"))
        kept = cut(mined, THRESHOLD)
        seen, unseen = (pattern_features(texts_for(part, kept), kept) for part in (train, test))
        found = []
        for each in seeds:
            found.append(PatternMLP().predict(seen, labels, unseen, each))
            progress(at * len(seeds) + len(found), total)
        made.append(_runs(train, test, name, np.stack(found), gold, seeds, bounds.text))
        about.append(f"a network of {PatternMLP().n_hidden} units on H({max_tokens},{max_gap},{THRESHOLD})")
        sizes.append(len(kept))
    # In the order in which the leakage of a part is drawn: the same accuracy has the same interval.
    clusters = cluster_codes(clusters_of(test, by=bounds.clusters), len(test))
    rows = [_row(runs, n, text, clusters, seed) for runs, n, text in zip(made, sizes, about, strict=True)]
    return ClassifierTable(pl.DataFrame(rows, schema_overrides={"n_features": pl.Int64}), tuple(made))


def _runs(
    train: Dataset,
    test: Dataset,
    name: str,
    predictions: NDArray[np.int64],
    gold: NDArray[np.int64],
    seeds: Sequence[int],
    text: str | None,
) -> Runs:
    return Runs.from_arrays(
        predictions=predictions,
        gold=gold,
        seeds=list(seeds),
        label_names=train.label_names,
        example_ids=test.examples["example_id"].to_list(),
        model=name,
        dataset=test.name,
        condition=condition_of(train, text),
        split="test",
        train_set=train.name,
    )


def _row(
    runs: Runs, n_features: int | None, about: str, clusters: NDArray[np.int64] | None, seed: int
) -> dict[str, Any]:
    scores = runs.scores
    bounds = score_interval(scores, clusters, seed=seed)
    return {
        "classifier": runs.model,
        "accuracy": float(scores.mean()),
        "low": bounds.low,
        "high": bounds.high,
        "sd": float(scores.mean(axis=1).std(ddof=1)) if runs.n_runs > 1 else float("nan"),
        "n_runs": runs.n_runs,
        "n_features": n_features,
        "about": about,
    }
