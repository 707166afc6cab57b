"""Every published shape of choices and preferences, in every format: the same items, and the same verdicts."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import pytest

import goldassay
from benchmarks.verdicts.shapes import (
    FILES,
    RIGHT_FIRST,
    ROWS,
    Made,
    formats_of,
    gold_right,
    made_items,
    read_unaided,
    write_shape,
)

if TYPE_CHECKING:
    from pathlib import Path

SHAPES = (*ROWS, *FILES)
# Of a planted file of each kind: choices in a column each, and preferences.
QUICK = ("SocialIQa", "preferences, chat")


@pytest.mark.parametrize("shape", SHAPES)
def test_every_format_of_a_shape_holds_the_same_items(tmp_path: Path, shape: str) -> None:
    items = made_items(40, planted=True)
    found = []
    for ending in formats_of(shape):
        read = read_unaided(write_shape(shape, ending, items, tmp_path))
        assert gold_right(shape, read, items) == (40, 40), ending
        assert read is not None
        assert all(x.question in asked for x, asked in zip(items, read.questions.to_list(), strict=True))
        assert read.problems.is_empty()
        assert not read.doubtful
        found.append((read.questions.to_list(), read.passages.to_list(), read.texts.to_list(), read.right.tolist()))
    assert all(each == found[0] for each in found)
    # Else a rule by position would hit, or a flaw of positions would be hidden.
    assert read.ordered is (shape not in RIGHT_FIRST and not shape.startswith("preferences"))


def verdicts(shape: str, ending: str, items: list[Made], folder: Path) -> tuple[str, str]:
    """Of leakage and artifacts."""
    found = goldassay.audit(write_shape(shape, ending, items, folder), quiet=True).verdicts
    return found["leakage"]["verdict"], found["artifacts"]["verdict"]


@pytest.mark.parametrize("shape", QUICK)
def test_a_planted_file_is_unsound(tmp_path: Path, shape: str) -> None:
    leakage, artifacts = verdicts(shape, "csv", made_items(300, planted=True), tmp_path)
    assert leakage == "unsound"
    assert artifacts in ("caution", "unsound")


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_every_planted_shape_is_unsound_and_its_clean_twin_is_not(tmp_path: Path, shape: str) -> None:
    # All formats hold the same items: each shape takes another one.
    endings = formats_of(shape)
    ending = endings[zlib.crc32(shape.encode()) % len(endings)]
    leakage, artifacts = verdicts(shape, ending, made_items(1000, planted=True), tmp_path)
    assert leakage == "unsound"
    assert artifacts in ("caution", "unsound")
    clean = verdicts(shape, ending, made_items(1000, planted=False), tmp_path)
    assert set(clean) <= {"sound", "not measurable"}
