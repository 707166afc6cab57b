"""Attention between two texts, against a loop over words."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from goldassay.lab.models.layers import counterparts
from goldassay.lab.models.sequences import Layout

LENGTHS = torch.tensor([4, 2, 3, 6, 1, 0])


def drawn(lengths, width):
    return torch.randn(int(lengths.sum()), width, dtype=torch.float64)


def test_a_word_corresponds_to_the_softmax_over_the_words_of_the_other_text():
    torch.manual_seed(0)
    compared, averaged = drawn(LENGTHS, 5), drawn(LENGTHS, 2)
    layout = Layout(LENGTHS, (4, 6))
    found = layout.of_words(counterparts(compared, averaged, layout)).split(LENGTHS.tolist())
    texts = list(zip(compared.split(LENGTHS.tolist()), averaged.split(LENGTHS.tolist()), strict=True))
    for number, (own, _) in enumerate(texts):
        others, values = texts[(number + 3) % 6]
        for place, word in enumerate(own):
            wanted = torch.zeros(2, dtype=torch.float64)
            if len(others):
                weights = np.exp([float(word @ other) for other in others])
                wanted = sum(float(w) * value for w, value in zip(weights / weights.sum(), values, strict=True))
            torch.testing.assert_close(found[number][place], wanted)


def test_one_text_has_no_counterpart():
    lengths = torch.tensor([2, 0, 3])
    found = counterparts(drawn(lengths, 5), drawn(lengths, 2), Layout(lengths, (3,)))
    assert found.shape == (5, 2)
    assert not found.any()
