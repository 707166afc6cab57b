"""The LSTM that reads from left to right, against torch's own layers on one text at a time."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from goldassay.lab.models.sequences import Layout
from tests.lab.models.network_cases import SMALL, small_network


def plain(network):
    """torch's own layers, with the network's weights."""
    sizes = SMALL["lstm"]
    lstm = torch.nn.LSTM(sizes["vectors"], sizes["units"], sizes["layers"])
    for number, layer in enumerate(network.layers):
        for name, weight in layer.named_parameters():
            lstm.get_parameter(name.replace("_l0", f"_l{number}")).data.copy_(weight.data)
    return lstm


@pytest.mark.parametrize("lengths", [[3, 1, 7, 7, 2], [1], [4, 0, 2, 0], [0, 0], [40, 2]])
def test_last_states_and_gradients_are_those_of_torch(lengths, tmp_path):
    network = small_network("lstm", tmp_path)
    lstm = plain(network)
    torch.manual_seed(1)
    vectors = torch.randn(sum(lengths), SMALL["lstm"]["vectors"], requires_grad=True)
    mine = network.encode_words(vectors, Layout(torch.tensor(lengths), (max(1, *lengths),)))
    nothing = torch.zeros(SMALL["lstm"]["units"])
    other = torch.stack([lstm(text)[0][-1] if len(text) else nothing for text in vectors.split(lengths)])
    torch.testing.assert_close(mine, other, rtol=1e-5, atol=1e-6)
    if not sum(lengths):
        return
    slopes = torch.linspace(-1, 1, mine.shape[1])
    both = (mine, list(network.layers.parameters())), (other, list(lstm.parameters()))
    found = [torch.autograd.grad((out * slopes).sum(), [vectors, *weights]) for out, weights in both]
    for one, two in zip(*found, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-5)


def test_what_was_dropped_of_the_words_is_read_by_neither_way(tmp_path):
    """By rectangles, as on an accelerator, and by compiled passes."""
    network = small_network("lstm", tmp_path)
    lengths = [3, 0, 5, 2]
    vectors = torch.randn(10, SMALL["lstm"]["vectors"])
    layout = Layout(torch.tensor(lengths), (3, 5))
    with torch.no_grad():
        compiled = network.encode_words(vectors, layout)
        rectangles = network.double().encode_words(vectors.double(), Layout(torch.tensor(lengths), (3, 5)))
    torch.testing.assert_close(compiled, rectangles.float(), rtol=1e-5, atol=1e-6)
