"""The packed recurrent layer against torch's own."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from goldassay.lab.models.layers import Dropout
from goldassay.lab.models.recurrence import Packing, maximum_over_time


def layers(width=6, units=5):
    torch.manual_seed(0)
    return tuple(torch.nn.LSTM(width, units, batch_first=True) for _ in range(2))


def ours(vectors, lengths, both):
    packing = Packing.of(np.array(lengths))
    arrays = (packing.forwards, packing.backwards, packing.starts, packing.places)
    return maximum_over_time(vectors, tuple(map(torch.from_numpy, arrays)), both)


def reference(vectors, lengths, both):
    out = []
    for text in vectors.split(lengths):
        if not len(text):
            out.append(torch.zeros(10))
            continue
        turned = (text, text.flip(0))
        out.append(torch.cat([lstm(each[None])[0][0].amax(0) for lstm, each in zip(both, turned, strict=True)]))
    return torch.stack(out)


@pytest.mark.parametrize("lengths", [[3, 1, 7, 7, 2], [1], [4, 0, 2, 0], [0, 0], [300, 2, 41]])
def test_values_and_gradients_are_those_of_torch(lengths):
    both = layers()
    torch.manual_seed(1)
    vectors = torch.randn(sum(lengths), 6, requires_grad=True)
    weights = [parameter for lstm in both for parameter in lstm.parameters()]
    mine, other = (function(vectors, lengths, both) for function in (ours, reference))
    torch.testing.assert_close(mine, other, rtol=1e-5, atol=1e-6)
    if not sum(lengths):
        return
    slopes = torch.linspace(-1, 1, 10)
    found = [torch.autograd.grad((out * slopes).sum(), [vectors, *weights]) for out in (mine, other)]
    for one, two in zip(*found, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-5)


def test_16_bits_are_near():
    both = layers()
    vectors = torch.randn(12, 6)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rough = ours(vectors, [5, 7], both)
    assert rough.dtype == torch.float32
    torch.testing.assert_close(rough, ours(vectors, [5, 7], both), rtol=0, atol=0.02)


def test_dropout_keeps_the_expectation_and_is_off_in_evaluation():
    torch.manual_seed(0)
    ones = torch.ones(400, 501)
    layer = Dropout(0.3)
    out = layer(ones)
    kept = out != 0
    assert float(kept.double().mean()) == pytest.approx(0.7, abs=0.01)
    assert float(out.double().mean()) == pytest.approx(1.0, abs=0.01)
    # Neighbors are drawn independently.
    assert float((kept[:, 1:] & kept[:, :-1]).double().mean()) == pytest.approx(0.49, abs=0.01)
    assert out[kept].unique().numel() == 1
    assert layer.eval()(ones) is ones
    for rate in (0.0, 1.0):
        assert float(Dropout(rate)(ones).mean()) == 1.0 - rate


def test_dropout_in_one_pass_is_a_product_with_what_is_kept():
    layer = Dropout(0.3)
    values = torch.randn(7, 33, requires_grad=True)
    slopes = torch.randn(7, 33)
    torch.manual_seed(2)
    out = layer(values)
    torch.manual_seed(2)
    factors = layer(torch.ones(7, 33, dtype=torch.float64)).float()
    assert 0 < int((factors == 0).sum()) < factors.numel()
    torch.testing.assert_close(out, values * factors)
    (gradient,) = torch.autograd.grad(out, values, slopes)
    torch.testing.assert_close(gradient, slopes * factors)
