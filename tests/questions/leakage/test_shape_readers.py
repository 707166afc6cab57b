"""Readers of one shape of cue in items: each finds its own, and no item teaches its own answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from goldassay.data.kinds.choices import read_choices
from goldassay.data.table import Table
from goldassay.questions.detection_limits import option_planting, planted_texts
from goldassay.questions.effect_sentences import skill_limits
from goldassay.questions.leakage.choices import ItemReaders, limits_of_items
from goldassay.questions.leakage.item_loading import Posed
from goldassay.stats.detection import TEN_WORDS, Cell, plant_rows
from goldassay.stats.effects import measure_effects

if TYPE_CHECKING:
    from goldassay.data.kinds.choices import ChoiceItems
    from goldassay.stats.detection import Shape
    from goldassay.stats.effects import ReaderPredictions

N = 500
GROUPS, FOLDS = np.arange(N), np.random.default_rng(9).permutation(N) % 5


def made(seed: int) -> ChoiceItems:
    """Items of four choices of six of 200 words, which tell nothing."""
    rng = np.random.default_rng(seed)
    choices = [[" ".join(f"w{word}" for word in rng.integers(0, 200, 6)) for _ in range(4)] for _ in range(N)]
    questions = [" ".join(f"v{word}" for word in rng.integers(0, 200, 9)) for _ in range(N)]
    frame = pl.DataFrame({"question": questions, "choices": choices, "answer": rng.integers(0, 4, N)})
    found = read_choices(Table(frame, ""), "made")
    assert found is not None
    return found


def flawed(items: ChoiceItems, shape: Shape) -> ChoiceItems:
    """With a cue of this shape in every second item."""
    rng, item_of = np.random.default_rng(3), items.item_of
    texts = []
    for text, right, item in zip(items.texts.to_list(), items.right.tolist(), item_of.tolist(), strict=True):
        one, changed = int(rng.integers(2)), item % 2 == 0
        if shape == "together":
            text = f"{['red', 'blue'][one]} {text} {['two', 'three'][one if right else 1 - one]}"
        elif shape == "word":
            text += " told" if changed and right else " other"
        elif changed and right:
            text = text.replace(" ", "  ", 2)
        texts.append(text)
    return replace(items, texts=pl.Series("choice", texts))


def readers(test: ChoiceItems, train: ChoiceItems | None = None) -> ItemReaders:
    return ItemReaders(Posed(train, test, ()), GROUPS, FOLDS, 0, 4)


def rate(reading: ReaderPredictions, items: ChoiceItems) -> float:
    return float(reading.right(items.first_right).mean())


@pytest.mark.parametrize(("shape", "least"), [("word", 0.5), ("form", 0.4), ("together", 0.9)])
def test_a_cue_in_right_choices_is_found_by_its_reader(shape: Shape, least: float) -> None:
    items = made(0)
    assert abs(rate(readers(items).read_options(shape), items) - 0.25) < 0.07
    found = flawed(items, shape)
    assert rate(readers(found).read_options(shape), items) > least
    train = flawed(made(1), shape)
    assert rate(readers(found, train).read_options(shape), items) > least


def test_items_of_one_fold_teach_nothing_of_each_other() -> None:
    found = flawed(made(0), "word")
    reading = replace(readers(found), folds=np.zeros(N, np.int64)).read_options("word")
    assert reading.correct is not None
    assert (reading.correct == 0.25).all()


@pytest.mark.parametrize("shape", ["word", "form"])
def test_a_cue_in_questions_names_the_place(shape: Shape) -> None:
    items = made(0)
    written = [
        f"{text} told{place}" if shape == "word" else text + "!" * place
        for text, place in zip(items.questions.to_list(), items.first_right.tolist(), strict=True)
    ]
    found = replace(items, questions=pl.Series("question", written))
    for train in (None, found):
        assert rate(readers(found, train).read_questions(shape), items) > 0.8
    assert abs(rate(readers(items).read_questions(shape), items) - 0.25) < 0.07


@pytest.mark.usefixtures("pairs_planted")
@pytest.mark.parametrize("apart", [False, True])
def test_limits_of_items_are_of_both_parts(apart: bool) -> None:
    read = readers(made(0), made(1) if apart else None)
    shapes: tuple[Shape, ...] = ("word", "form")
    found = [each(shape) for each in (read.read_options, read.read_questions) for shape in shapes]
    effects = measure_effects(found, read.posed.test.first_right, 4, skill_limits(0.03, 0.12), n_draws=200)
    limits = {each.kind: each for each in limits_of_items(read, found, effects, ("choices", "question"))}
    assert limits["one word"].limit < 0.3
    # Too few items for fifty words, and nobody reads two words together here.
    assert [each.kind for each in limits.values() if each.counts] == ["one word", "ten words", "form"]
    for kind in ("form", "ten words", "fifty words", "two words together (3 and 3)"):
        assert not limits[f"{kind} of the question"].counts
    assert limits["fifty words of the question"].limit > limits["one word"].limit
    assert limits["two words together (3 and 3)"].limit == 1


@pytest.mark.parametrize("of_options", [True, False])
def test_planted_words_count_as_those_that_are_written(of_options: bool) -> None:
    """Naive Bayes adds up the words of a copy without reading it."""
    read = readers(made(0))
    codes = np.zeros(N, np.int64) if of_options else read.posed.test.first_right
    planting = plant_rows(codes, 4, np.zeros(N, np.int64), [TEN_WORDS], (0.5,), [Cell(0, 0)], 0)
    counted = read.copy_reader(of_options=of_options)(planting, "word", 0)
    items = read.posed.test
    if of_options:
        own = option_planting(planting, items.item_of, items.right, 0)
        again = readers(replace(items, texts=planted_texts(items.texts, own, 0))).read_options("word")
        assert counted.correct is not None
        assert again.correct is not None
        assert np.mean(counted.correct == again.correct) > 0.97
    else:
        texts = planted_texts(items.questions, planting, 0)
        again = readers(replace(items, questions=texts)).read_questions("word")
        assert counted.predictions is not None
        assert again.predictions is not None
        assert np.mean(counted.predictions == again.predictions) > 0.97
