"""Convolutions against a loop over filters and places."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from goldassay.lab.models.sequences import Layout
from tests.lab.models.network_cases import small_network


def test_a_filter_gives_its_largest_response_at_any_word(tmp_path):
    network = small_network("convnet", tmp_path)
    texts = [network.vectors.weight[tokens].detach() for tokens in ([2, 3, 4, 5, 6, 7], [4, 2], [])]
    lengths = torch.tensor([len(text) for text in texts])
    with torch.no_grad():
        layout = Layout(lengths, (6,))
        found = network.encode_words(layout.filled(torch.cat(texts)), layout)
    for row, text in enumerate(texts):
        wanted = []
        for convolution in network.filters:
            weight, bias = convolution.weight.detach(), convolution.bias.detach()
            for number in range(weight.shape[0]):
                best = 0.0
                for start in range(len(text)):
                    reached = range(start, min(start + weight.shape[2], len(text)))
                    response = float(bias[number]) + sum(float(weight[number, :, i - start] @ text[i]) for i in reached)
                    best = max(best, response)
                wanted.append(best)
        np.testing.assert_allclose(found[row].numpy(), wanted, rtol=1e-4, atol=1e-6)
