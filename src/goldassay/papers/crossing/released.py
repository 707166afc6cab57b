"""The examples of released runs of BERT, classed by the published easy and hard examples and by the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.data import read_dataset
from goldassay.data.published_files import find_published
from goldassay.instability import RunClass
from goldassay.papers.crossing.examples import ClassedExamples, lowest_third, unstable_class
from goldassay.questions.artifacts.published import classes_by_text
from goldassay.runs import read_runs
from goldassay.shift import score_max_softmax

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.data import Dataset
    from goldassay.papers.workplace import Workplace
    from goldassay.runs import Runs

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
