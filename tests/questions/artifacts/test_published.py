"""Published subsets, rows without ids, are found in their test set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.questions.artifacts.gaps import classes_by_text
from tests.stated import in_order

if TYPE_CHECKING:
    from pathlib import Path

TEST = pl.DataFrame(
    {
        "id": ["r0", "r1", "r2", "r3"],
        "premise": ["It's a “dog”.", "It's a “dog”.", "A cat", "A cat"],
        "hypothesis": ["A dog.", "A dog.", "No cat.", "No cat."],
        "label": ["entailment", "neutral", "contradiction", "contradiction"],
    }
)


@pytest.fixture
def test_set(tmp_path: Path) -> Path:
    TEST.write_csv(tmp_path / "test.csv")
    return tmp_path / "test.csv"


def subset(path: Path, *rows: tuple[str, str, str]) -> Path:
    pl.DataFrame(rows, schema=["premise", "hypothesis", "label"], orient="row").write_csv(path)
    return path


def test_by_label_and_texts_however_tokenized(test_set: Path, tmp_path: Path) -> None:
    easy = subset(tmp_path / "easy.csv", ("It 's a `` dog '' .", "A dog .", "neutral"))
    hard = subset(tmp_path / "hard.csv", ("A cat", "No cat .", "contradiction"))
    found = classes_by_text({"easy": easy, "hard": hard}, test_set)
    assert found.columns == ["example_id", "label", "class"]
    assert found.select("example_id", "class").rows() == [("r1", "easy"), ("r2", "hard"), ("r3", "hard")]


def test_refusals(test_set: Path, tmp_path: Path) -> None:
    dog = ("It's a dog.", "A dog.", "neutral")
    with pytest.raises(InputError, match=in_order("easy.csv:", "1 of 1 rows", "test.csv", "label", "'A d")):
        classes_by_text({"easy": subset(tmp_path / "easy.csv", (*dog[:2], "contradiction"))}, test_set)
    cat = ("A cat", "No cat.", "contradiction")
    both = {name: subset(tmp_path / f"{name}.csv", cat) for name in ("easy", "hard")}
    with pytest.raises(InputError, match=in_order("2 rows", "several classes", "'r2' in easy and hard")):
        classes_by_text(both, test_set)
    pl.DataFrame({"text": ["A cat"], "label": ["x"]}).write_csv(tmp_path / "text.csv")
    with pytest.raises(InputError, match=in_order("texts are text", "premise, hypothesis")):
        classes_by_text({"easy": tmp_path / "text.csv"}, test_set)
