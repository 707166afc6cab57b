"""`artifacts assign`, `classify` and `downsample`: parts of a dataset by pattern and by what sees one text only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.core.files import written_together
from goldassay.core.progress import Progress, silent
from goldassay.data.facts import check_same_labels
from goldassay.questions.artifacts.inputs import DEFAULT, Bounds, cut, mine_dataset, texts_for
from goldassay.questions.artifacts.measures.difficulty import (
    ClassifierDifficulty,
    DifficultyAssignment,
    DifficultyOverlap,
    assign_by_classifier,
    assign_difficulty,
    compare_difficulty,
)
from goldassay.questions.artifacts.measures.presence import (
    THRESHOLDS,
    Mode,
    downsample,
    pattern_features,
    sizes_by_threshold,
)
from goldassay.questions.artifacts.reports import without_whole_texts, write_report
from goldassay.questions.example_clusters import check_cluster_columns, clusters_of
from goldassay.readers.probes import PatternMLP, train_probes
from goldassay.report.report import write_tables
from goldassay.report.without_texts import bare_tables, without_texts
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs
from goldassay.stats.bootstrap import score_interval
from goldassay.stats.clusters import cluster_codes

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.questions.artifacts.measures.pattern_table import PatternTable
    from goldassay.report.report import Report
    from goldassay.report.without_texts import HiddenTexts

N_FOLDS = 5


@dataclass(frozen=True)
class Unseen:
    """Predictions of examples that the classifier had not seen.

    Attributes:
        predictions: Codes (R, N).
        gold: Codes (N,).
        how: In a clause.
    """

    predictions: NDArray[np.int64]
    gold: NDArray[np.int64]
    how: str


def predict_unseen(
    test: Dataset, train: Dataset | None, text: str | None, seeds: Sequence[int], progress: Progress = silent
) -> Unseen:
    """Train on the training set without what is also in the test set; or, without one, cross-fit the test set.

    Args:
        test: What to predict.
        train: What to train on; None: in each of five folds, the rest of the test set. Equal texts are in one fold.
        text: The role that the classifier sees, by default the last; "all": all.
        seeds: R of them.
        progress: Told after each classifier.

    Raises:
        InputError: The two sets do not fit, or too little is left to train on.
    """
    condition = condition_of(test, text)
    if train is None:
        return _cross_fitted(test, condition, text, seeds, progress)
    texts = list(test.text_columns)
    if train.text_columns != test.text_columns:
        raise InputError(
            f"the texts of {train.source} are {', '.join(train.text_columns)}, those of {test.source} "
            f"{', '.join(texts)}",
            mend=f"make the roles equal with {option('columns-of', 'test')}",
        )
    seen = train.examples.select(texts).with_row_index().join(test.examples.select(texts), on=texts, how="semi")
    unseen = np.ones(len(train), np.bool_)
    unseen[seen["index"].to_numpy()] = False
    runs = list(train_probes(train.take(unseen), test, conditions=[condition], seeds=seeds, progress=progress))
    dropped = f", without the {seen.height:,} that are in the test set too" if seen.height else ""
    return _collected(runs, f"trained on the {int(unseen.sum()):,} training rows{dropped}")


def _cross_fitted(
    dataset: Dataset, condition: str, text: str | None, seeds: Sequence[int], progress: Progress
) -> Unseen:
    roles = dataset.text_columns if text == "all" else (text or dataset.text_columns[-1],)
    group = dataset.examples.select(pl.struct(roles).rank("dense")).to_series().to_numpy().astype(np.int64) - 1
    # A fixed draw: the seeds differ in their classifiers, not in what these are trained on.
    fold = np.random.default_rng(0).permutation(np.arange(group.max() + 1) % N_FOLDS)[group]
    total = N_FOLDS * len(seeds)
    predictions = np.empty((len(seeds), len(dataset)), np.int64)
    gold = dataset.labels()
    done = 0
    for k in np.unique(fold):
        rest, held_out = dataset.take(fold != k), dataset.take(fold == k)
        if rest.examples.height == 0 or rest.examples["label"].n_unique() < 2:
            raise InputError(
                "there are too few different texts to cross-fit a classifier",
                file=dataset.source,
                mend="give training data",
            )
        for r, run in enumerate(train_probes(rest, held_out, conditions=[condition], seeds=seeds)):
            assert run.predictions is not None
            predictions[r, fold == k] = run.predictions[0]
            done += 1
            progress(done, total)
    return Unseen(predictions, gold, f"cross-fitted on the test set in {N_FOLDS} folds, equal texts in one fold")


def _collected(runs: Sequence[Runs], how: str) -> Unseen:
    predictions = np.concatenate([run.predictions for run in runs if run.predictions is not None])
    gold = runs[0].gold
    assert gold is not None
    return Unseen(predictions, gold, how)


def condition_of(dataset: Dataset, text: str | None) -> str:
    """The condition that shows one text, as `training.conditions` names it."""
    if len(dataset.text_columns) == 1:
        return "text"
    return "paired" if text == "all" else f"{text or dataset.text_columns[-1]}_only"


@dataclass(frozen=True)
class Subsets:
    """The classes of a test set's examples.

    Attributes:
        patterns: What decided, cut.
        assignment: The classes by patterns.
        by_classifier: The classes by classifier, or None.
        overlap: How far the two agree, or None.
        judged: How the classifier came to judge what it had not seen, in a clause; or "".
        table: A row an example: example_id, class, label, the texts, pattern_labels (the labels that its patterns point
            to), patterns; and class_by_classifier, share_right.
    """

    patterns: PatternTable
    assignment: DifficultyAssignment
    by_classifier: ClassifierDifficulty | None
    overlap: DifficultyOverlap | None
    judged: str
    table: pl.DataFrame

    def sizes(self) -> pl.DataFrame:
        """A row a class: class, n, and how many of each label."""
        counts = self.table.group_by("class", "label").len()
        rows = [
            {
                "class": name,
                "n": n,
                **{
                    label: int(counts.filter((pl.col("class") == name) & (pl.col("label") == label))["len"].sum())
                    for label in self.assignment.label_names
                },
            }
            for name, n in self.assignment.summary.items()
        ]
        return pl.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """The figures, without the examples."""
        return {
            "patterns": {"n_patterns": len(self.patterns), "settings": self.patterns.settings},
            **self.assignment.to_dict(),
            "sizes": self.sizes().to_dicts(),
            "by_classifier": None if self.by_classifier is None else self.by_classifier.to_dict(),
            "judged": self.judged,
            "overlap": None if self.overlap is None else self.overlap.to_dict(),
        }

    def save(
        self, directory: str | os.PathLike[str], report: Report | None = None, hidden: HiddenTexts | None = None
    ) -> list[Path]:
        """Write subsets and the patterns that decided, as Parquet and CSV, and a report if there is one.

        Args:
            directory: Where to.
            report: On them, or None.
            hidden: Texts that are not written: the columns of texts and a pattern that is one of them are left out.

        Raises:
            OutputError: The folder cannot be written to.
        """
        patterns, tables = self.patterns, {"subsets": self.table, "patterns": self.patterns.to_frame()}
        if self.overlap is not None:
            tables["overlap"] = self.overlap.to_frame()
        if hidden is not None:
            patterns = without_whole_texts(patterns, hidden)
            tables = bare_tables(tables, hidden)
            report = None if report is None else without_texts(report, hidden)
        with written_together(directory) as folder:
            write_tables(tables, folder)
            patterns.write(folder / "patterns.parquet")
            if report is not None:
                write_report(report, list(tables), folder)
        paths = [Path(directory) / f"{name}.{kind}" for name in tables for kind in ("parquet", "csv")]
        return paths if report is None else [*paths, Path(directory) / "report.html"]


def assign(
    test: Dataset,
    patterns: PatternTable,
    *,
    train: Dataset | None = None,
    by_classifier: bool = False,
    seeds: Sequence[int] = range(5),
    progress: Progress = silent,
) -> Subsets:
    """Class each test example by the patterns it holds, and by a classifier that sees only the same text.

    Args:
        test: Labelled examples.
        patterns: Mined on training data and cut.
        train: What the classifier is trained on; without it, it is cross-fitted on the test set itself.
        by_classifier: Whether to apply that rule too.
        seeds: Of the classifiers.
        progress: Told how many classifiers are trained.

    Raises:
        InputError: The data do not fit the patterns or each other.
    """
    labels = test.examples["label"].to_list()
    assignment = assign_difficulty(texts_for(test, patterns), labels, patterns)
    shown = patterns.to_frame()["pattern"]
    table = (
        assignment.to_frame()
        .select("class", pattern_labels="labels", ids="pattern_ids")
        .with_columns(test.examples.select("example_id", "label", *test.text_columns))
    )
    held = table.select(ids=pl.col("ids")).with_row_index("at").explode("ids", empty_as_null=False)
    names = held.with_columns(pattern=shown.gather(held["ids"])).group_by("at", maintain_order=True).agg("pattern")
    table = (
        table.drop("ids")
        .with_row_index("at")
        .join(names, on="at", how="left", maintain_order="left")
        .with_columns(patterns=pl.col("pattern").fill_null(pl.lit([], dtype=pl.List(pl.String))))
        .select("example_id", "class", "label", *test.text_columns, "pattern_labels", "patterns")
    )
    judged, classified, overlap = "", None, None
    if by_classifier:
        unseen = predict_unseen(test, train, patterns.settings.get("text"), seeds, progress)
        classified = assign_by_classifier(unseen.predictions, unseen.gold)
        overlap = compare_difficulty(assignment.classes, classified.classes)
        judged = unseen.how
        table = table.with_columns(
            class_by_classifier=pl.Series(classified.classes.tolist(), dtype=pl.String),
            share_right=pl.Series(classified.share_right),
        )
    return Subsets(patterns, assignment, classified, overlap, judged, table)


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


@dataclass(frozen=True)
class Reduction:
    """A smaller training set.

    Attributes:
        subset: Its examples.
        mode: "debias" or "random".
        seed: Of the draw.
        n_examples: How many there were.
        sizes: What would be left at each threshold.
        patterns: What was looked for, cut.
    """

    subset: Dataset
    mode: Mode
    seed: int
    n_examples: int
    sizes: pl.DataFrame
    patterns: PatternTable

    def to_dict(self) -> dict[str, Any]:
        """The figures, without the examples."""
        return {
            "mode": self.mode,
            "seed": self.seed,
            "n_examples": self.n_examples,
            "size": len(self.subset),
            "share": len(self.subset) / self.n_examples,
            "dropped": dict(self.subset.provenance.dropped),
            "n_patterns": len(self.patterns),
            "settings": self.patterns.settings,
            "sizes": self.sizes.to_dicts(),
        }

    def save(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write the examples, called by the mode, and the sizes, as Parquet and CSV.

        Raises:
            OutputError: The folder cannot be written to.
        """
        tables = {self.mode: self.subset.examples, "sizes": self.sizes}
        with written_together(directory) as folder:
            write_tables(tables, folder)
        return [Path(directory) / f"{name}.{kind}" for name in tables for kind in ("parquet", "csv")]


def reduce_training_set(
    train: Dataset,
    patterns: PatternTable,
    threshold: float,
    mode: Mode = "debias",
    seed: int = 0,
    q: float | None = None,
) -> Reduction:
    """Down-sample a training set, and say what every usual threshold would leave.

    Raises:
        InputError: Nothing is left of a label, or the threshold cannot be used.
    """
    texts = texts_for(train, patterns)
    kept = cut(patterns, threshold, q)
    subset = downsample(train, kept, mode, seed, texts=texts)
    candidates = patterns if q is None else patterns.significant(q)
    lowest = candidates.settings.get("threshold", 0.0)
    thresholds = sorted({value for value in (*THRESHOLDS, threshold) if value >= lowest})
    return Reduction(
        subset=subset,
        mode=mode,
        seed=seed,
        n_examples=len(train),
        sizes=sizes_by_threshold(train, candidates, thresholds, texts=texts),
        patterns=kept,
    )
