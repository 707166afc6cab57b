"""Six published sets give the figures of their files as polars, pandas and Arrow tables, `datasets` and lists."""

from __future__ import annotations

import csv
import gzip
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import goldassay

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SETS = {
    "SICK": "sick/SICK.txt.gz",
    "SNLI": "snli/test.tsv.gz",
    "HANS": "hans/heuristics_evaluation_set_shuffled.tsv.gz",
    "SST-2": "sst2/train.tsv.gz",
    "rewritten": "counterfactual_nli/all_combined_train.tsv.gz",
    "reviews": "uci_sentiment/sentences.tsv.gz",
}
# As many as give figures in seconds.
N_TRAIN, N_TEST = 900, 300


def is_quoted(path: Path) -> bool:
    """Whether quotation marks stand around fields; elsewhere they are those of the texts."""
    return path.parent.name.startswith("rewritten")


def table(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, separator="\t", quote_char='"' if is_quoted(path) else None)


def as_pandas(path: Path) -> Any:
    quoting = csv.QUOTE_MINIMAL if is_quoted(path) else csv.QUOTE_NONE
    return pytest.importorskip("pandas").read_csv(path, sep="\t", quoting=quoting, keep_default_na=False)


def as_datasets(path: Path) -> Any:
    from datasets import Dataset

    return Dataset.from_list(table(path).to_dicts())


KINDS: dict[str, Callable[[Path], Any]] = {
    "polars": table,
    "pandas": as_pandas,
    "arrow": lambda path: table(path).to_arrow(),
    "datasets": as_datasets,
    "rows": lambda path: table(path).to_dicts(),
}


@pytest.fixture(scope="module", params=SETS)
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, data_dir: Path) -> list[Path]:
    """The first rows of a published file as a training and a test file, byte for byte."""
    folder = tmp_path_factory.mktemp(request.param)
    with gzip.open(data_dir / SETS[request.param], "rt", encoding="utf-8", newline="") as lines:
        header, *rows = [line for _, line in zip(range(1 + N_TRAIN + N_TEST), lines, strict=False)]
    parts = {"train": rows[:N_TRAIN], "test": rows[N_TRAIN:]}
    for name, part in parts.items():
        (folder / f"{name}.tsv").write_text("".join([header, *part]), encoding="utf-8", newline="")
    return [folder / f"{name}.tsv" for name in parts]


@pytest.fixture(scope="module")
def mined(files: list[Path]) -> goldassay.Report:
    return goldassay.measure_artifacts(*files, min_count=8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_artifacts_are_those_of_the_file(files: list[Path], mined: goldassay.Report, kind: str) -> None:
    found = goldassay.measure_artifacts(*map(KINDS[kind], files), min_count=8)
    assert mined.tables["patterns"].height
    assert found.to_dict()["figures"] == mined.to_dict()["figures"]
    assert found.verdicts == mined.verdicts
    assert found.tables["patterns"].equals(mined.tables["patterns"])


@pytest.fixture(scope="module")
def audited(files: list[Path]) -> goldassay.Report:
    return goldassay.audit(*files)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_an_audit_is_that_of_the_file(files: list[Path], audited: goldassay.Report, kind: str) -> None:
    found = goldassay.audit(*map(KINDS[kind], files))
    assert found.to_dict()["figures"] == audited.to_dict()["figures"]
    assert found.verdicts == audited.verdicts
