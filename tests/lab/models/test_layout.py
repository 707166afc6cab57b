"""Texts one after the other, against loops over texts."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from goldassay.lab.models.network import Stream
from goldassay.lab.models.sequences import Layout, flattened

# Three texts in each of two roles.
LENGTHS = torch.tensor([2, 0, 3, 1, 4, 0])
WIDTHS = (3, 5)


def layout_and_texts():
    torch.manual_seed(0)
    flat = torch.randn(10, 4, dtype=torch.float64)
    return Layout(LENGTHS, WIDTHS), flat, flat.split(LENGTHS.tolist())


def test_rectangles_hold_each_text_in_a_row_and_give_it_back():
    layout, flat, texts = layout_and_texts()
    rectangles = layout.rectangles(flat)
    assert [tuple(each.shape) for each in rectangles] == [(3, 3, 4), (3, 5, 4)]
    for number, text in enumerate(texts):
        row = rectangles[number // 3][number % 3]
        assert torch.equal(row[: len(text)], text)
        assert not row[len(text) :].any()
        assert layout.real[number // 3][number % 3].sum() == len(text)
    assert torch.equal(layout.of_words(layout.flat(rectangles)), flat)
    streams = [Stream(each, each[:, :, 0].long(), torch.where(real, role, -1)) for role, (each, real) in
               enumerate(zip(rectangles, layout.real, strict=True))]  # fmt: skip
    back, again = flattened(streams)
    assert torch.equal(again.of_words(back), flat)
    assert torch.equal(again.lengths, LENGTHS)
    assert again.widths == WIDTHS


def test_sums_averages_and_maxima_are_those_of_each_text():
    layout, flat, texts = layout_and_texts()
    nothing = torch.zeros(4, dtype=torch.float64)
    for found, function in (
        (layout.sums(flat), lambda text: text.sum(0)),
        (layout.averages(flat), lambda text: text.mean(0)),
        (layout.maxima(flat), lambda text: text.amax(0)),
    ):
        wanted = torch.stack([function(text) if len(text) else nothing for text in texts])
        torch.testing.assert_close(found, wanted)


def test_a_text_without_words_has_no_gradient_that_is_no_number():
    layout, flat, _ = layout_and_texts()
    flat.requires_grad_()
    (layout.maxima(flat).sum() + layout.averages(flat).sum()).backward()
    assert torch.isfinite(flat.grad).all()


def test_windows_reach_behind_each_word_to_the_end_of_its_text():
    layout, flat, texts = layout_and_texts()
    filled = layout.filled(flat)
    assert filled.shape == (128, 4)
    windows = layout.windows(filled, 3)
    assert windows.shape == (128, 3, 4)
    found = layout.of_words(windows).split(LENGTHS.tolist())
    for text, windows in zip(texts, found, strict=True):
        beyond = torch.cat((text, torch.zeros(2, 4, dtype=torch.float64)))
        for place in range(len(text)):
            assert torch.equal(windows[place], beyond[place : place + 3])


def test_parts_are_layouts_of_their_own():
    layout, _, _ = layout_and_texts()
    parts = layout.apart(2)
    assert [part.lengths.tolist() for part in parts] == [[2, 0, 3], [1, 4, 0]]
    assert [part.widths for part in parts] == [(3,), (5,)]
    (whole,) = layout.apart(1)
    assert torch.equal(whole.lengths, LENGTHS)
    assert whole.widths == WIDTHS
