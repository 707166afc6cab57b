"""Patterns of characters are shown as they are written; those of words, of any tokenizer, keep their spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goldassay.artifacts import mine_patterns

if TYPE_CHECKING:
    from goldassay.data.tokenization import Tokenizer

SENTENCES = ["他不是男人。", "她不是女人#", "这不 是人"] * 10
LABELS = ["a", "b", "a"] * 10


def mined(tokenizer: Tokenizer, sentences: list[str] = SENTENCES) -> dict[str, tuple[tuple[str, ...], tuple[int, ...]]]:
    frame = mine_patterns(sentences, LABELS, min_count=5, tokenizer=tokenizer).to_frame()
    rows = frame.select("pattern", "tokens", "gaps").iter_rows()
    return {pattern: (tuple(tokens), tuple(gaps)) for pattern, tokens, gaps in rows}


def test_adjacent_characters_are_joined_and_skipped_ones_shown() -> None:
    found = mined("characters")
    assert found["不是"] == (("不", "是"), (0,))
    assert found["不是人"] == (("不", "是", "人"), (0, 0))
    assert found["不 # # 人"] == (("不", "人"), (2,))
    assert found["不是 # 人"] == (("不", "是", "人"), (0, 1))
    # A character that looks like a skipped one is joined, and a skipped one stands apart.
    assert found["人#"] == (("人", "#"), (0,))


def test_each_pattern_has_a_name_of_its_own() -> None:
    frame = mine_patterns(SENTENCES, LABELS, min_count=5, tokenizer="characters").to_frame()
    assert frame["pattern"].n_unique() == frame.height


@pytest.mark.parametrize("tokenizer", ["whitespace", str.split])
def test_words_are_not_joined(tokenizer: Tokenizer) -> None:
    spaced = [" ".join(sentence.replace("不是", "不 是")) for sentence in SENTENCES]
    found = mined(tokenizer, spaced)
    assert found["不 是"] == (("不", "是"), (0,))
    assert "不是" not in found
