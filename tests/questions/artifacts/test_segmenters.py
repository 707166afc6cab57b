"""Tokenizers named on the command line."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from goldassay.questions.artifacts.inputs import (
    Bounds,
    EachText,
    mine_dataset,
    read_patterns,
    resolve_tokenizer,
    texts_for,
)
from tests.stated import Fact, in_order

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """
from dataclasses import dataclass
class Cutter:
    @staticmethod
    def pairs(text):
        return [text[i : i + 2] for i in range(0, len(text), 2)]
def words(text):
    return text.split(", ")
def fails(text):
    raise RuntimeError("no model\\nis there")
VALUE = 3
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own_segmenter.py").write_text(textwrap.dedent(SOURCE))
    (tmp_path / "leaves.py").write_text("raise SystemExit(0)")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def dataset() -> Dataset:
    rows = [
        {"premise": f"big city, {i % 5}", "hypothesis": f"New York, {word}", "label": label}
        for i in range(12)
        for word, label in (("yes", "a"), ("no", "b"))
    ]
    return Dataset.from_frame(pl.DataFrame(rows))


class TestResolve:
    @pytest.mark.parametrize("name", ["auto", "treebank", "whitespace", "characters"])
    def test_ours(self, name: str) -> None:
        assert resolve_tokenizer(name) == name

    @pytest.mark.parametrize("name", ["own_segmenter.py:Cutter.pairs", "own_segmenter:Cutter.pairs"])
    def test_a_function_of_the_users(self, name: str) -> None:
        function = resolve_tokenizer(name)
        assert callable(function)
        assert function("abcd") == ["ab", "cd"]

    @pytest.mark.parametrize(
        ("name", "says"),
        [
            ("spacy", ("no tokenizer 'spacy'", "auto, treebank")),
            ("own_segmenter.py:", "there is no tokenizer"),
            ("own_segmenter.py:cut", "own_segmenter.py has no cut"),
            ("own_segmenter.py:VALUE", "VALUE is int, not a function"),
            ("absent.py:cut", "absent.py: there is no such file"),
            ("absent_module:cut", ("ModuleNotFoundError:", "'absent_module'", "install")),
            ("leaves.py:cut", "cannot be imported (SystemExit: 0)"),
        ],
    )
    def test_refusals(self, name: str, says: Fact) -> None:
        with pytest.raises(InputError, match=in_order(says)):
            resolve_tokenizer(name)


class TestPatternsOfAFunction:
    def test_remembered_and_asked_for(self, dataset: Dataset, here: Path) -> None:
        mined = mine_dataset(dataset, Bounds(min_count=3, tokenizer="own_segmenter.py:words"))
        assert mined.settings["tokenizer"] == "own_segmenter.words"
        assert {"New York", "yes", "New York yes"} <= set(mined.to_frame()["pattern"])
        mined.write(here / "p.parquet")
        with pytest.raises(InputError, match=in_order("own_segmenter.words", "tokenizer")):
            read_patterns(here / "p.parquet", dataset)
        with pytest.raises(InputError, match=r"with the tokenizer own_segmenter.words, not treebank"):
            read_patterns(here / "p.parquet", dataset, "treebank")
        again = read_patterns(here / "p.parquet", dataset, "own_segmenter.py:words")
        assert again.to_frame().equals(mined.to_frame())
        assert again.matches(texts_for(dataset, again))[0].size == mined.matches(texts_for(dataset, mined))[0].size > 0

    def test_of_all_texts(self, dataset: Dataset, here: Path) -> None:
        mined = mine_dataset(dataset, Bounds(min_count=3, tokenizer="own_segmenter.py:words", text="all", max_gap=1))
        support = dict(mined.to_frame().select("pattern", "support").iter_rows())
        assert support["big city"] == support["New York"] == support["big city # New York"] == 24
        mined.write(here / "p.parquet")
        again = read_patterns(here / "p.parquet", dataset, "own_segmenter:words")
        assert again.count_in(texts_for(dataset, again), dataset.labels())["support"].to_list() == list(
            support.values()
        )

    def test_a_failure_inside_is_one_line(self, dataset: Dataset) -> None:
        with pytest.raises(InputError, match=in_order("own_segmenter.fails", "sentence 1", "RuntimeError: no model")):
            mine_dataset(dataset, Bounds(tokenizer="own_segmenter.py:fails"))

    def test_what_is_no_list_is_handed_on(self) -> None:
        assert EachText(lambda text: text)("ab") == "ab"
