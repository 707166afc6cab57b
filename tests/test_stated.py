"""The helper that reads facts out of sentences notices each fact that is wrong, lacking or out of order."""

from __future__ import annotations

import re

import pytest

from tests.stated import Fact, in_order, numbers_in, says, states

sentence = "Rows with the same 'text' count as one: 1,960 clusters of 2,000 rows (98.0 %). At most 7 hang together."


@pytest.mark.parametrize(
    "facts",
    [
        ("the same 'text'", 1960, "clusters", 2000),
        ("1,960 clusters", "98.0 %"),
        (("count as one", 1960), "2,000 rows"),
        (1960, ..., 7),
    ],
)
def test_facts_of_a_sentence_are_found(facts: tuple[Fact, ...]) -> None:
    assert states(sentence, *facts)
    assert states(["another", sentence], *facts)
    assert re.search(in_order(*facts), sentence)


@pytest.mark.parametrize(
    "facts",
    [
        (1961,),
        (960,),
        (98,),
        ("8.0 %",),
        (2000, 1960),
        ("'label'", 1960),
        ("count as one", 7),
        ("clusters", "lines"),
    ],
)
def test_a_fact_that_is_wrong_lacking_or_elsewhere_is_noticed(facts: tuple[Fact, ...]) -> None:
    assert not states(sentence, *facts)
    assert not states("count as one 1,960\nof 2,000", 1960, 2000)


def test_a_whole_text_has_no_other_number() -> None:
    assert sentence == says("'text'", 1960, "2,000 rows", "98.0 %", 7)
    assert sentence != says("'text'", 1960, "2,000 rows", "98.0 %")
    assert sentence != says("'text'", 1960, "2,000 rows", "98.5 %", 7)
    assert f"{sentence}\n" == says("'text'", 1960, 2000, "98.0 %", 7)
    assert f"Warning\n{sentence}" != says("'text'", 1960, 2000, "98.0 %", 7)
    assert [sentence, ""] != [says("'text'", 1960, 2000, "98.0 %", 7)]
    assert numbers_in(sentence) == ["1960", "2000", "98.0", "7"]
