"""Columns without a role that tell the right choice, and those that do not."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from goldassay.data.kinds.choices import read_choices
from goldassay.data.kinds.preferences import read_preferences
from goldassay.data.table import Table
from goldassay.questions.leakage.choices import reading_doubts
from goldassay.questions.leakage.item_loading import Posed

if TYPE_CHECKING:
    from goldassay.data.kinds.choices import ChoiceItems

LETTERS = list("abcdefghijklmnopqrstuvwxyz")


def words(rng: np.random.Generator, n: int) -> str:
    return " ".join("".join(rng.choice(LETTERS, 5)) for _ in range(n))


def asked(n: int, seed: int = 0) -> pl.DataFrame:
    """Questions with four choices of three words."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame({
        "question": [words(rng, 8) for _ in range(n)],
        "choices": [[words(rng, 3) for _ in range(4)] for _ in range(n)],
        "answer": rng.integers(0, 4, n),
    })  # fmt: skip


def compared(n: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame({
        "prompt": [words(rng, 8) for _ in range(n)],
        "chosen": [words(rng, 9) for _ in range(n)],
        "rejected": [words(rng, 9) for _ in range(n)],
    })  # fmt: skip


def read(frame: pl.DataFrame, **more: Any) -> ChoiceItems:
    reader = read_choices if "choices" in frame.columns else read_preferences
    found = reader(Table(frame, ""), "set", **more)
    assert found is not None
    return found


def with_hint(how: str, share: float) -> pl.DataFrame:
    """A column that tells the answer of a share of the items."""
    frame, rng = asked(400), np.random.default_rng(1)
    hints = []
    for choices, answer in frame.select("choices", "answer").iter_rows():
        told = answer if rng.random() < share else int(rng.integers(4))
        right = choices[told]
        hints.append({
            "text": f"{words(rng, 6)} {right}", "word": right.split()[0], "place": str(told), "number": told + 1,
            "list": [words(rng, 2), right.upper()],
        }[how])  # fmt: skip
    return frame.with_columns(pl.Series("notes", hints))


@pytest.mark.parametrize("how", ["text", "word", "place", "number", "list"])
def test_a_column_that_tells_is_found_with_what_it_gains(how: str) -> None:
    (found,) = read(with_hint(how, 0.4)).telling
    assert found.columns == ("notes",)
    # A share that is told, and else one choice in four by chance, is right: the share is what is gained of guessing.
    assert found.skill == pytest.approx(0.4, abs=0.1)


@pytest.mark.parametrize("how", ["text", "word", "place", "number", "list"])
def test_a_column_that_names_any_choice_tells_nothing(how: str) -> None:
    assert read(with_hint(how, 0.0)).telling == ()


def test_places_that_are_right_most_often_are_no_merit_of_a_column() -> None:
    rng = np.random.default_rng(2)
    frame = asked(800).with_columns(answer=pl.Series(rng.choice(4, 800, p=[0.7, 0.1, 0.1, 0.1])))
    assert read(frame.with_columns(site=pl.Series(rng.choice(["x", "y", "z"], 800)))).telling == ()


@pytest.mark.parametrize("names", [("chosen_model", "rejected_model"), ("model_chosen", "model_rejected")])
def test_models_of_the_sides_tell(names: tuple[str, str]) -> None:
    rng = np.random.default_rng(3)
    models = np.where(rng.random((600, 1)) < 0.8, ["gpt", "llama"], ["llama", "gpt"])
    frame = compared(600).with_columns(pl.Series(names[0], models[:, 0]), pl.Series(names[1], models[:, 1]))
    items = read(frame)
    (found,) = items.telling
    assert found.columns == names
    # Right in 80 of 100, of which guessing gets 50.
    assert found.skill == pytest.approx(0.6, abs=0.08)
    assert set(names) <= set(items.unread)
    random = frame.with_columns(pl.Series(name, rng.choice(["gpt", "llama"], 600)) for name in names)
    assert read(random).telling == ()


def test_models_of_two_responses_tell() -> None:
    rng = np.random.default_rng(4)
    winner = rng.integers(0, 2, 600)
    models = np.where((winner == 0)[:, np.newaxis] == (rng.random((600, 1)) < 0.8), ["gpt", "llama"], ["llama", "gpt"])
    frame = compared(600).rename({"chosen": "response_a", "rejected": "response_b"}).with_columns(
        preference=pl.Series(np.where(winner == 0, "A", "B")),
        model_a=pl.Series(models[:, 0]), model_b=pl.Series(models[:, 1]),
    )  # fmt: skip
    assert ("model_a", "model_b") in [found.columns for found in read(frame).telling]


def test_a_telling_column_is_doubted_until_it_is_ignored() -> None:
    frame = with_hint("word", 0.4)
    (doubt,) = reading_doubts(Posed(None, read(frame), ()))
    assert "Picking by the column 'notes' of set gains" in doubt.why
    assert "ignore=notes" in doubt.mend or "ignore" in doubt.mend
    ignored = read(frame, roles={"ignore": "notes"})
    assert reading_doubts(Posed(None, ignored, ())) == ()
    assert ignored.unread == ()


@pytest.mark.parametrize("name", ["notes", "rationale", "explanation", "metadata", "tags"])
def test_columns_of_texts_are_named_whatever_they_are_called(name: str) -> None:
    rng = np.random.default_rng(5)
    for frame in (asked(60), compared(60)):
        assert read(frame.with_columns(pl.Series(name, [words(rng, 9) for _ in range(60)]))).unread == (name,)


def test_random_columns_are_seldom_doubted() -> None:
    rng, found = np.random.default_rng(6), 0
    for seed in range(20):
        frame = asked(300, seed).with_columns(
            *[pl.Series(f"x{k}", rng.integers(0, k, 300)) for k in (2, 5, 40)],
            *[pl.Series(f"y{k}", [words(rng, k) for _ in range(300)]) for k in (1, 10)],
        )
        found += len(read(frame).telling)
    assert found == 0


def test_many_items_cost_little() -> None:
    frame = pl.concat([with_hint("text", 0.4)] * 60)
    started = time.perf_counter()
    plain = read(frame.drop("notes"))
    alone, started = time.perf_counter() - started, time.perf_counter()
    assert read(frame).telling
    assert time.perf_counter() - started < 3 * alone + 5
    assert plain.telling == ()
