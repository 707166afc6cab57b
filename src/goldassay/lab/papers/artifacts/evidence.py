"""What tables and conclusions of a corpus are made of: patterns, easy and hard examples, answers of all models.

Patterns mined from the training sets, and the training sets without them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.lab.papers.artifacts.protocol import (
    ALL,
    DEBIAS,
    EASY,
    FULL,
    GAP,
    HARD,
    OTHERS_HARD,
    RANDOM,
    SUBSETS,
    Accuracies,
    Corpus,
    Protocol,
    Trained,
)
from goldassay.questions.artifacts.gaps import classes_by_text
from goldassay.questions.artifacts.inputs import cut, mine_dataset, texts_for
from goldassay.questions.artifacts.measures.difficulty import DifficultyAssignment, assign_difficulty
from goldassay.questions.artifacts.measures.pattern_table import PatternTable
from goldassay.questions.artifacts.measures.presence import THRESHOLDS, downsample, sizes_by_threshold
from goldassay.questions.artifacts.subsets import ClassifierTable, classify
from goldassay.runs.reading import NoRunsError, find_slices, list_slices, runs_of
from goldassay.runs.run_parts import Request

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.lab.papers.recipe import Workplace

_RELEASED = "predictions/snli_test_other_models.tsv.gz"


@dataclass(frozen=True)
class Evidence:
    """What is known of a corpus.

    Attributes:
        corpus: The corpus.
        train: Its training set.
        test: The set that models are evaluated on.
        patterns: Mined from the training set, not cut.
        assigned: The test set's examples, easy and hard by these patterns.
        published: Whether accuracies are on the published easy and hard examples instead.
        accuracies: Of all models, on these.
        classifiers: What sees the hypothesis alone.
        sizes: What down-sampling leaves at each printed threshold.
        released: Models of others among those of `accuracies`.
    """

    corpus: Corpus
    train: Dataset
    test: Dataset
    patterns: PatternTable
    assigned: DifficultyAssignment
    published: bool
    accuracies: Accuracies
    classifiers: ClassifierTable
    sizes: pl.DataFrame
    released: tuple[str, ...]


def gather(corpus: Corpus, protocol: Protocol, work: Workplace) -> Evidence:
    """Find out what there is to know of a corpus.

    Raises:
        InputError: The runs are not of the test set.
    """
    train, test, patterns = work.sets[corpus.train], work.sets[corpus.test], mined_patterns(corpus, work)
    texts, labels = texts_for(test, patterns), test.examples["label"].to_list()
    assigned = assign_difficulty(texts, labels, cut(patterns, corpus.threshold))
    listed = _published(corpus, test, work)
    classes = assigned.classes if listed is None else listed
    masks = {FULL: np.ones(len(test), np.bool_), **{name: classes == name for name in (EASY, HARD)}}
    if corpus.others_hard in work.sets:
        others = classes_by_text({OTHERS_HARD: work.sets[corpus.others_hard]}, test)
        masks[OTHERS_HARD] = np.isin(_ids(test), others["example_id"].cast(pl.String).to_numpy())
    released = _released(corpus, test, work)
    correct = {**_of_runs(corpus, protocol, test, work.runs), **released}
    return Evidence(
        corpus=corpus,
        train=train,
        test=test,
        patterns=patterns,
        assigned=assigned,
        published=listed is not None,
        accuracies=Accuracies(correct, masks, work.seed),
        classifiers=classify(train, test, corpus.bounds, range(protocol.seeds)),
        sizes=sizes_by_threshold(train, patterns, THRESHOLDS, texts=texts_for(train, patterns)),
        released=tuple(each.model for each in released),
    )


def _published(corpus: Corpus, test: Dataset, work: Workplace) -> NDArray[np.str_] | None:
    """The class of each example by the published lists; None where they are not at hand."""
    files = {name: work.file(*places) for name, places in corpus.published.items()}
    there = {name: file for name, file in files.items() if file is not None}
    if not there or len(there) < len(files):
        return None
    listed = dict(classes_by_text(there, test).select(pl.col("example_id").cast(pl.String), "class").iter_rows())
    return np.array([listed.get(name, "") for name in _ids(test)])


def _of_runs(corpus: Corpus, protocol: Protocol, test: Dataset, runs: Path) -> dict[Trained, NDArray[np.float64]]:
    """Correctness by what was trained: a row a run; of random training sets a row a set, the mean of its runs.

    Runs on one random set share it, so that they are not as many as they look.
    """
    try:
        found = find_slices([runs], "auto", Request())
    except NoRunsError:
        return {}
    keys = ["model", "dataset", "train_set"]
    listed = list_slices(found).filter(pl.col("dataset") == corpus.test).select(keys)
    there = {
        (row["model"], row["train_set"]): _correct(runs_of(found, row, checkpoint="last").final(), test)
        for row in listed.to_dicts()
    }
    correct = {}
    for model in listed["model"].unique(maintain_order=True):
        if (model, corpus.train) in there:
            correct[Trained(model, "1.0", ALL)] = there[model, corpus.train]
        for threshold in corpus.thresholds:
            rows = there.get((model, corpus.part(DEBIAS, threshold)))
            if rows is not None:
                correct[Trained(model, str(threshold), DEBIAS)] = rows
            parts = [(model, corpus.part(RANDOM, threshold, sample)) for sample in range(protocol.samples)]
            samples = [there[part].mean(axis=0) for part in parts if part in there]
            if samples:
                correct[Trained(model, str(threshold), RANDOM)] = np.stack(samples)
    return correct


def _correct(runs: Any, test: Dataset) -> NDArray[np.float64]:
    """Correctness of runs in the order of the test set, (R, N)."""
    place = {name: at for at, name in enumerate(runs.example_ids.tolist())}
    missing = [name for name in _ids(test) if name not in place]
    if missing:
        raise InputError(
            f"runs of {runs.model} on {runs.dataset} lack {len(missing)} of its examples, first {missing[0]!r}",
            mend="choose another folder with -o",
        )
    scores: NDArray[np.float64] = runs.scores[:, [place[name] for name in _ids(test)]]
    return scores


def _released(corpus: Corpus, test: Dataset, work: Workplace) -> dict[Trained, NDArray[np.float64]]:
    """Correctness of models of others, a run each, where their answers are at hand and of this test set."""
    file = work.file(_RELEASED)
    if file is None or not corpus.released:
        return {}
    # Sentences are not among its columns, so that quotation marks cannot mislead.
    table = pl.read_csv(file.read_bytes(), separator="\t", infer_schema=False)
    gold = test.examples["label"].cast(pl.String).to_list()
    if table["gold_label"].to_list() != gold:
        raise InputError(
            f"its labels are not those of {test.name}, in order", file=file, mend="give the test set that it is of"
        )
    return {
        Trained(model): np.array([[said == right for said, right in zip(table[column], gold, strict=True)]], np.float64)
        for model, column in corpus.released.items()
    }


def _ids(dataset: Dataset) -> list[str]:
    names: list[str] = dataset.examples["example_id"].cast(pl.String).to_list()
    return names


def gap_rows(evidence: Mapping[str, Evidence]) -> pl.DataFrame:
    """Accuracy of all models on full, easy and hard, and the gap, each with its interval and SD over runs."""
    rows = []
    for name, each in evidence.items():
        for model in each.accuracies.correct:
            row: dict[str, Any] = {"corpus": name, "test": each.test.name, **model._asdict()}
            for subset in (*SUBSETS, GAP):
                figure = each.accuracies.of(model, subset)
                key = "gap" if subset == GAP else subset
                for part in ("value", "low", "high", "sd"):
                    column = key if part == "value" else f"{key}_{part}"
                    row[column] = None if figure is None else getattr(figure, part)
                row["n_runs"] = len(each.accuracies.correct[model])
            rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


# Where bias models look for them; see `lab.training.teachers`.
FILE = "patterns.parquet"


def mine_corpus(corpus: Corpus, work: Workplace) -> PatternTable:
    """Mine a corpus's hypotheses into the study's folder, where objectives find the patterns.

    Raises:
        OutputError: The folder cannot be written to.
    """
    # The paper cuts by shares alone; p and q are those of its method.
    patterns = mine_dataset(work.sets[corpus.train], replace(corpus.bounds, clusters="none"))
    patterns.write(work.folder / corpus.mined / FILE)
    return patterns


def mined_patterns(corpus: Corpus, work: Workplace) -> PatternTable:
    """What `mine_corpus` mined.

    Raises:
        InputError: It is not there.
    """
    return PatternTable.read(work.folder / corpus.mined / FILE)


def reduce_corpus(corpus: Corpus, protocol: Protocol, patterns: PatternTable, work: Workplace) -> dict[str, Dataset]:
    """The training sets of a corpus without patterns, and random ones of the same sizes, by name.

    Raises:
        InputError: Nothing is left of a label.
    """
    whole = work.sets[corpus.train]
    texts = texts_for(whole, patterns)
    found = {}
    for threshold in corpus.thresholds:
        kept = cut(patterns, threshold)
        name = corpus.part(DEBIAS, threshold)
        found[name] = replace(downsample(whole, kept, "debias", work.seed, texts=texts), name=name)
        for sample in range(protocol.samples):
            name = corpus.part(RANDOM, threshold, sample)
            found[name] = replace(downsample(whole, kept, "random", work.seed + sample, texts=texts), name=name)
    return found
