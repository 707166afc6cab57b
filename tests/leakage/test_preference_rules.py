"""Rules over responses: against a count by hand, both directions, and what is left among pairs of like length."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from goldassay.data.kinds.preferences import read_preferences
from goldassay.data.reading import read_table
from goldassay.data.table import Table
from goldassay.readers.preference_rules import (
    AGREES,
    APOLOGIZES,
    REFUSES,
    measure_by_subset,
    measure_like_length,
    measure_preference_rules,
    of_like_length,
)

if TYPE_CHECKING:
    from goldassay.data.kinds.choices import ChoiceItems

DATA = Path(os.environ.get("GOLDASSAY_DATA", "../shared/data")) / "preferences"


def made(pairs: list[tuple[str, str]], **more: list[str]) -> ChoiceItems:
    frame = pl.DataFrame(
        {
            "prompt": [f"prompt {at}" for at in range(len(pairs))],
            "chosen": [good for good, _ in pairs],
            "rejected": [bad for _, bad in pairs],
            **more,
        }
    )
    items = read_preferences(Table(frame, ""), "made")
    assert items is not None
    return items


@pytest.mark.parametrize(
    ("rule", "more", "less"),
    [
        ("longer", "abcdef", "abc"),
        ("more words", "a b c", "abcdefgh"),
        ("more markdown", "- one\n- two", "one and two"),
        ("more markdown", "# Title\ntext", "Title text"),
        ("more markdown", "some **bold** text", "some bold text"),
        ("more markdown", "call `f`", "call f"),
        ("more question marks", "why? how?", "why? so."),
        ("refuses", "I'm sorry, but I can't help with that.", "Here is how."),
        ("apologizes", "My apologies.", "Here."),
        ("agrees with the user", "You're right, it is.", "It is."),
        ("more of its words in the prompt", "prompt", "else"),
    ],
)
def test_each_rule_picks_what_has_more(rule: str, more: str, less: str) -> None:
    items = made([(more, less)] * 30)
    effects, picks = measure_preference_rules(items)
    found = {each.rule: each for each in effects}[rule]
    assert (found.n_items, found.hits, found.effect) == (30, 1.0, 1.0)
    turned, _ = measure_preference_rules(made([(less, more)] * 30))
    assert {each.rule: each for each in turned}[rule].effect == -1.0
    both = {each.rule: each.hits for each in picks}
    assert len(both) == 2 * len(effects)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (REFUSES, "I cannot help you with that.", True),
        (REFUSES, "As an AI language model, I do not", True),
        (REFUSES, "I can help you with that.", False),
        (REFUSES, "You can't open it by hand.", False),
        (APOLOGIZES, "I apologise for that", True),
        (APOLOGIZES, "a sorrysight", False),
        (AGREES, "You are absolutely right.", True),
        (AGREES, "Turn right.", False),
    ],
)
def test_phrases(pattern: str, text: str, found: bool) -> None:
    assert pl.Series([text]).str.contains(pattern).item() is found


def test_p_is_two_sided_and_close_to_the_binomial_test() -> None:
    pairs = [("long text", "x")] * 13 + [("x", "long text")] * 27
    effects, _ = measure_preference_rules(made(pairs))
    found = {each.rule: each for each in effects}["longer"]
    exact = binomtest(13, 40).pvalue
    assert found.p == pytest.approx(exact, rel=0.05)
    many, _ = measure_preference_rules(made(pairs * 10))
    found = {each.rule: each for each in many}["longer"]
    assert found.z == pytest.approx((130 - 200) / np.sqrt(100))
    assert found.p == pytest.approx(binomtest(130, 400).pvalue, rel=0.5)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.text("ab ?*", min_size=1, max_size=8), st.text("ab ?*", min_size=1, max_size=8)),
                min_size=1, max_size=20))  # fmt: skip
def test_swapping_the_sides_turns_every_effect(pairs: list[tuple[str, str]]) -> None:
    pairs = [(one.strip(), two.strip()) for one, two in pairs if one.split() != two.split()]
    pairs = [(one, two) for one, two in pairs if one.casefold() != two.casefold()]
    if not pairs:
        return
    effects, picks = measure_preference_rules(made(pairs))
    turned, _ = measure_preference_rules(made([(two, one) for one, two in pairs]))
    for one, other in zip(effects, turned, strict=True):
        assert one.effect == pytest.approx(-other.effect)
    half = len(picks) // 2
    for more, less in zip(picks[:half], picks[half:], strict=True):
        assert np.allclose(more.hits + less.hits, 1.0)
        assert (more.applies == less.applies).all()


def test_what_length_explains_is_gone_among_pairs_of_like_length() -> None:
    pairs = [("a" * 100, "b" * 50)] * 40 + [("a" * 100, "b" * 99)] * 5 + [("b" * 98, "c" * 100)] * 5
    items = made(pairs)
    assert int(of_like_length(items).sum()) == 10
    _, picks = measure_preference_rules(items)
    longer = next(each for each in picks if each.rule == "longer")
    (found,) = measure_like_length(items, [("longer", longer.hits, longer.applies)])
    assert (found.n_items, found.accuracy) == (10, 0.5)
    assert (found.all_items, found.all_accuracy) == (50, 0.9)


def test_subsets_are_apart_and_corrected() -> None:
    pairs = [("long text", "x")] * 30 + [("x", "long text")] * 15 + [("long text", "y")] * 15
    items = made(pairs, subset=["a"] * 30 + ["b"] * 30)
    _, picks = measure_preference_rules(items)
    longer = next(each for each in picks if each.rule == "longer")
    found = measure_by_subset(items, [("longer", longer.hits, longer.applies)])
    assert [(each.subset, each.n_items, each.accuracy, each.effect) for each in found] == [
        ("a", 30, 1.0, 1.0),
        ("b", 30, 0.5, 0.0),
    ]
    assert found[0].p_adjusted == pytest.approx(2 * found[0].p)
    assert found[1].z == 0
    # Items of one cluster count as one.
    clustered = measure_by_subset(items, [("longer", longer.hits, longer.applies)], np.repeat(np.arange(6), 10))
    assert clustered[0].z == pytest.approx(np.sqrt(3))


def test_the_shorter_response_is_gold_in_most_of_a_part_of_llmbar(tmp_path: Path) -> None:
    path = DATA / "llmbar.tar.gz"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    own = tmp_path / "neighbor.json"
    with tarfile.open(path) as bundle:
        for member in bundle.getmembers():
            if member.name.endswith("Neighbor/dataset.json"):
                content = bundle.extractfile(member)
                assert content is not None
                own.write_bytes(content.read())
    items = read_preferences(read_table(own, "auto"), "llmbar")
    assert items is not None
    effects, _ = measure_preference_rules(items)
    found = {each.rule: each for each in effects}["longer"]
    assert round(found.hits * found.n_items) == 16
    assert found.n_items == 134
    assert found.z == pytest.approx((16 - 67) / np.sqrt(134 / 4))
