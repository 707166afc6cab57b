"""Picks without training against plain loops over the items."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.data.kinds.choices import read_choices
from goldassay.data.table import Table
from goldassay.readers.choice_subjects import untrained_picks

if TYPE_CHECKING:
    from goldassay.data.kinds.choices import ChoiceItems

TEXTS = st.text("ab 1,5é", min_size=1, max_size=9).filter(lambda text: bool(text.strip()))
ROWS = st.lists(
    st.tuples(TEXTS, st.lists(TEXTS, min_size=2, max_size=7, unique_by=lambda text: text.strip())),
    min_size=1, max_size=5,
)  # fmt: skip


def items_of(rows: list[tuple[str, list[str]]]) -> ChoiceItems:
    frame = pl.DataFrame(
        {
            "question": [f"{question} of {at}?" for at, (question, _) in enumerate(rows)],
            "choices": [choices for _, choices in rows],
            "answer": [0 for _ in rows],
        }
    )
    found = read_choices(Table(frame, ""), "made", roles={"choices": "choices", "answer": "answer"})
    assert found is not None
    return found


def each_item(items: ChoiceItems) -> list[tuple[str, list[str], slice]]:
    texts = items.texts.to_list()
    bounds = items.offsets.tolist()
    return [
        (question, texts[begin:end], slice(begin, end))
        for question, begin, end in zip(items.questions.to_list(), bounds[:-1], bounds[1:], strict=True)
    ]


@given(ROWS)
def test_places_are_those_of_sorting(rows: list[tuple[str, list[str]]]) -> None:
    items = items_of(rows)
    found = untrained_picks(items)
    measures: dict[str, Any] = {
        "the second longest choice": (len, True, 2), "the third shortest choice": (len, False, 3),
        "the choice with the second most words": (lambda text: len(text.split()), True, 2),
        "the choice with the second fewest words": (lambda text: len(text.split()), False, 2),
        "the second choice in the alphabet": (str.lower, False, 2),
        "the third last choice in the alphabet": (str.lower, True, 3),
    }  # fmt: skip
    for name, (measure, descending, place) in measures.items():
        if name not in found:
            assert items.sizes.max() < 2 * place - 1
            continue
        for _, texts, own in each_item(items):
            ordered = sorted({measure(text) for text in texts}, reverse=descending)
            wanted = [float(ordered.index(measure(text)) + 1 == place) for text in texts]
            assert found[name][own].tolist() == wanted


@given(ROWS)
def test_out_of_order_is_the_choice_without_which_the_others_are_sorted(rows: list[tuple[str, list[str]]]) -> None:
    items = items_of(rows)
    found = untrained_picks(items)
    if items.sizes.max() < 4:
        assert not any("out of order" in name for name in found)
        return
    for _, texts, own in each_item(items):
        for name, measure in (("by length", len), ("by the alphabet", str.lower)):
            wanted = []
            for at in range(len(texts)):
                others = [measure(text) for text in texts[:at] + texts[at + 1 :]]
                wanted.append(float(others in (sorted(others), sorted(others, reverse=True))))
            assert found[f"the choice that is out of order {name}"][own].tolist() == wanted


@given(ROWS)
def test_choices_are_counted_over_items(rows: list[tuple[str, list[str]]]) -> None:
    items = items_of(rows)
    found = untrained_picks(items)
    texts = [{text.strip().lower() for text in choices} for _, choices, _ in each_item(items)]
    wanted = [sum(text.strip().lower() in each for each in texts) for text in items.texts.to_list()]
    if max(wanted) == 1:
        assert not any("most items" in name or "fewest items" in name for name in found)
        return
    assert found["the choice that occurs in the most items"].tolist() == wanted
    assert (found["the choice that occurs in the fewest items"] == -np.array(wanted)).all()


@given(ROWS)
def test_shared_sequences_are_counted(rows: list[tuple[str, list[str]]]) -> None:
    items = items_of(rows)
    found = untrained_picks(items)

    def sequences(units: Any, size: int) -> list[tuple[Any, ...]]:
        return [tuple(units[at : at + size]) for at in range(len(units) - size + 1)]

    for question, texts, own in each_item(items):
        for what, size, units in (("characters", 4, list), ("words", 3, lambda text: re.findall(r"\w+", text))):
            known = set(sequences(units(question.lower()), size))
            mine = [sequences(units(text.lower()), size) for text in texts]
            wanted = [sum(each in known for each in given) / len(given) if given else 0.0 for given in mine]
            assert found[f"most sequences of {what} shared"][own] == pytest.approx(wanted)
            assert found[f"fewest sequences of {what} shared"][own] == pytest.approx([-each for each in wanted])


def test_the_number_nearest_to_one_of_the_question() -> None:
    items = items_of(
        [
            ("add 12 to 1,000", ["1,010", "40", "500", "13"]),
            ("no number", ["1", "2"]),
            ("of 5", ["4", "about six"]),
            ("of 5", ["4", "6", "9"]),
        ]
    )
    scores = untrained_picks(items)["the number nearest to one of the question"]
    # The question ends with the number of the item.
    assert scores[:4].tolist() == [-10.0, -28.0, -488.0, -1.0]
    assert scores[6:8].tolist() == [0.0, 0.0]
    assert scores[8:].tolist() == [-1.0, -1.0, -4.0]


def test_digits_of_other_scripts_and_endless_numbers_are_no_numbers() -> None:
    name = "the number nearest to one of the question"
    assert name not in untrained_picks(items_of([("of \u09e7\u09e8", ["\u09e7", "\u09e8", "\u09e9"])]))
    # The question ends with the number of the item, and one choice without a number leaves the item out.
    assert name not in untrained_picks(items_of([("of 5", ["\u09e7", "4"])]))
    assert name not in untrained_picks(items_of([("of 5", ["9" * 400, "4"])]))
    scores = untrained_picks(items_of([("of " + "9" * 400, ["9", "4"])]))[name]
    assert scores.tolist() == [-9.0, -4.0]


def test_parts_of_the_items_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    from goldassay.readers import choice_subjects as module

    rows = [
        (f"which of the words {at}", [f"of the words {at}", "another", "which of"][: 2 + at % 2]) for at in range(9)
    ]
    whole = untrained_picks(items_of(rows))
    monkeypatch.setattr(module, "_AT_ONCE", 2)
    for name, scores in untrained_picks(items_of(rows)).items():
        assert scores.tolist() == whole[name].tolist()


def test_without_numbers_none_is_nearest() -> None:
    picks = untrained_picks(items_of([("who", ["a b", "c"])]))
    assert "the number nearest to one of the question" not in picks
    assert not any("second" in name for name in picks)
    assert all(np.isfinite(scores).all() for scores in picks.values())
