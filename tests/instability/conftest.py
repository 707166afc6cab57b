"""The published predictions that golden values were computed from, as score arrays."""

from __future__ import annotations

import gzip
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

MNLI_CODES = {"contradiction": 0, "entailment": 1, "neutral": 2}
GOLD = {
    "mnli": "multinli/dev_matched.tsv.gz",
    "snli": "snli/dev.tsv.gz",
    "break": "breaking_nli/dataset.jsonl.gz",
    "hans": "hans/hans_gold_by_position.tsv.gz",
}


@pytest.fixture(scope="session")
def table(data_dir: Path) -> Callable[[str], pl.DataFrame]:
    """Read one of the real tables as strings, by its path below the data folder."""

    def read(name: str) -> pl.DataFrame:
        path = data_dir / name
        if name.endswith(".jsonl.gz"):
            return pl.read_ndjson(gzip.decompress(path.read_bytes()))
        return pl.read_csv(path, separator="\t", quote_char=None, infer_schema=False)

    return read


@pytest.fixture(scope="session")
def bert_scores(table: Callable[[str], pl.DataFrame]) -> Callable[[str], NDArray[np.float64]]:
    """Correctness of the 10 BERT-base runs on a set, (10, N)."""

    @cache
    def read(name: str) -> NDArray[np.float64]:
        predictions = table(f"predictions/instability_bert_base/{name}.preds.tsv.gz").drop("row")
        codes = predictions.cast(pl.Int64).to_numpy().T
        gold = table(GOLD[name])["gold_label"]
        if name == "hans":
            return ((codes == 1) == (gold == "entailment").to_numpy()).astype(np.float64)
        return (codes == gold.replace_strict(MNLI_CODES).to_numpy()).astype(np.float64)

    return read
