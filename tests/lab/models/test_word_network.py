"""What networks of words share: starting from the vectors of a file."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from goldassay.core.errors import InputError
from goldassay.lab.models import NETWORKS, load_network
from goldassay.lab.models.configuration import Recipe, Task
from goldassay.lab.models.vocabulary import VectorFile
from goldassay.lab.training.job import Seeds
from goldassay.lab.training.loop import Examples, Loop
from goldassay.lab.training.objectives import load_objective
from goldassay.lab.training.precision import open_accelerator
from goldassay.lab.training.snapshots import read_tensors, restore_weights, weights_of, write_tensors
from tests.lab.models.network_cases import SMALL, small_network, texts_of
from tests.lab.training.made_data import made_pairs
from tests.stated import in_order

OF_WORDS = tuple(name for name in NETWORKS if load_network(name).takes_vectors)


def vector_file(network, folder, width=16):
    """Vectors of every second word of a network, and of one that it does not know."""
    words = network.vocabulary.words[::2]
    values = np.arange(len(words) * width).reshape(len(words), width) / 7 - 1
    lines = [
        f"{word} {' '.join(map(str, row))}" for word, row in zip((*words, "nowhere"), (*values, values[0]), strict=True)
    ]
    (folder / "vectors.txt").write_text("\n".join(lines))
    return VectorFile.check(folder / "vectors.txt"), [network.vocabulary.numbers[word] for word in words], values


def trained(network, epochs=2):
    data = made_pairs()
    recipe = Recipe(epochs=epochs, batch_size=16, learning_rate=5e-3, clip=5.0)
    examples = Examples(network.encode(texts_of(data)), data.labels())
    objective = load_objective("cross_entropy")()
    loop = Loop(network, objective, recipe, Seeds.varying(0), examples, open_accelerator("cpu", "float32"))
    for _ in loop.run():
        pass
    return loop


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("name", OF_WORDS)
def test_words_start_from_the_vectors_of_a_file(name, frozen, tmp_path):
    network = small_network(name, tmp_path)
    assert SMALL[name]["vectors"] == 16
    file, numbers, values = vector_file(network, tmp_path)
    before = network.vectors.weight.detach().clone()
    assert network.start_from(file, frozen=frozen) == len(numbers)
    started = network.vectors.weight.detach().clone()
    np.testing.assert_allclose(started[numbers].numpy(), values, rtol=1e-6)
    others = np.delete(np.arange(len(before)), numbers)
    torch.testing.assert_close(started[others], before[others], rtol=0, atol=0)

    loop = trained(network)
    weights = network.vectors.weight
    assert torch.equal(weights.detach(), started) == frozen
    assert any(parameter is weights for parameter in loop.optimizer.parameters) != frozen
    shapes = [moment.shape for moments in loop.optimizer.moments for moment in moments]
    assert (weights.shape in shapes) != frozen

    network.save_assets(tmp_path)
    write_tensors(tmp_path / "weights.safetensors", weights_of(network), {})
    task = Task(("premise", "hypothesis"), ("entailment", "neutral", "contradiction"))
    again = type(network).load(task, network.sizes, tmp_path).eval()
    restore_weights(again, read_tensors(tmp_path / "weights.safetensors")[0])
    assert torch.equal(again.vectors.weight, weights)
    texts = texts_of(made_pairs(20, seed=5))
    batches = [each.eval().collate(each.encode(texts), np.arange(20)) for each in (network, again)]
    with torch.no_grad():
        assert torch.equal(network(batches[0]), again(batches[1]))


def test_a_file_without_a_word_of_the_texts_is_refused(tmp_path):
    network = small_network("lstm", tmp_path)
    (tmp_path / "other.vec").write_text("ja 1 2\nnein 3 4\n")
    with pytest.raises(InputError, match=in_order("other.vec:", "none of the") + r" 3\d words"):
        network.start_from(VectorFile.check(tmp_path / "other.vec"))
    bags = small_network("bag_of_words", tmp_path)
    with pytest.raises(InputError, match="bag_of_words does not start from word vectors"):
        bags.start_from(VectorFile.check(tmp_path / "other.vec"))
