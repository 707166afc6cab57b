"""What networks of words share, each part against a loop or against torch's own."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from goldassay.models.bidirectional import Bidirectional
from goldassay.models.convnet import Network as ConvNet
from goldassay.models.convnet import Sizes
from goldassay.models.network import Stream
from goldassay.models.registry import NETWORKS
from goldassay.models.vectors import VectorFile
from goldassay.models.vocabulary import PADDING
from goldassay.models.word_network import aligned
from tests.models.network_cases import SMALL, small_network


def masks(lengths, width):
    return (torch.arange(width) < torch.tensor(lengths)[:, None]).unsqueeze(2).double()


def test_alignment_is_the_softmax_over_the_words_of_the_other_text():
    torch.manual_seed(0)
    a, b = torch.randn(3, 4, 5).double(), torch.randn(3, 6, 5).double()
    of_a, of_b = torch.randn(3, 4, 2).double(), torch.randn(3, 6, 2).double()
    lengths_a, lengths_b = [4, 2, 3], [6, 1, 0]
    for_a, for_b = aligned(a, b, masks(lengths_a, 4), masks(lengths_b, 6), of_a, of_b)
    for row, (n, m) in enumerate(zip(lengths_a, lengths_b, strict=True)):
        for i in range(4):
            wanted = torch.zeros(2).double()
            if i < n and m:
                weights = np.exp([float(a[row, i] @ b[row, j]) for j in range(m)])
                wanted = sum(float(w) * of_b[row, j] for j, w in enumerate(weights / weights.sum()))
            torch.testing.assert_close(for_a[row, i], wanted)
        for j in range(6):
            wanted = torch.zeros(2).double()
            if j < m:
                weights = np.exp([float(a[row, i] @ b[row, j]) for i in range(n)])
                wanted = sum(float(w) * of_a[row, i] for i, w in enumerate(weights / weights.sum()))
            torch.testing.assert_close(for_b[row, j], wanted)


def test_both_directions_are_those_of_torch_on_packed_texts():
    torch.manual_seed(0)
    lengths = [5, 1, 3]
    vectors, own = torch.randn(3, 5, 4), Bidirectional(4, 6)
    theirs = torch.nn.LSTM(4, 6, batch_first=True, bidirectional=True)
    weights = dict(own.forwards.state_dict())
    weights |= {f"{name}_reverse": value for name, value in own.backwards.state_dict().items()}
    theirs.load_state_dict(weights)
    packed = torch.nn.utils.rnn.pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
    wanted, _ = torch.nn.utils.rnn.pad_packed_sequence(theirs(packed)[0], batch_first=True)
    torch.testing.assert_close(own(vectors, masks(lengths, 5).float()), wanted)


def test_a_filter_gives_its_largest_response_at_any_word(tmp_path):
    network: ConvNet = small_network("convnet", tmp_path)
    assert isinstance(network.sizes, Sizes)
    tokens = torch.tensor([[2, 3, 4, 5, 6, 7], [4, 2, PADDING, PADDING, PADDING, PADDING], [PADDING] * 6])
    vectors = network.vectors(tokens)
    stream = Stream(vectors, tokens, torch.where(tokens != PADDING, 0, -1))
    with torch.no_grad():
        found = network._encode(stream)
    for row, length in enumerate((6, 2, 0)):
        wanted = []
        for convolution in network.filters:
            weight, bias = convolution.weight.detach(), convolution.bias.detach()
            for number in range(weight.shape[0]):
                best = 0.0
                for start in range(length):
                    reached = range(start, min(start + weight.shape[2], length))
                    response = float(bias[number]) + sum(
                        float(weight[number, :, i - start] @ vectors[row, i].detach()) for i in reached
                    )
                    best = max(best, response)
                wanted.append(best)
        np.testing.assert_allclose(found[row].numpy(), wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in NETWORKS if name != "bag_of_words"])
def test_words_start_from_the_vectors_of_a_file(name, tmp_path):
    network = small_network(name, tmp_path)
    word = network.vocabulary.words[3]
    values = np.arange(SMALL[name]["vectors"]) / 7
    (tmp_path / "vectors.txt").write_text(f"{word} {' '.join(map(str, values))}\nnowhere {' '.join('1' * 16)}\n")
    before = network.vectors.weight.detach().clone()
    network.start_from(VectorFile.check(tmp_path / "vectors.txt"))
    number = network.vocabulary.numbers[word]
    np.testing.assert_allclose(network.vectors.weight[number].detach().numpy(), values, rtol=1e-6)
    others = np.delete(np.arange(len(before)), number)
    torch.testing.assert_close(network.vectors.weight.detach()[others], before[others], rtol=0, atol=0)
