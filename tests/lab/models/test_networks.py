"""What every network promises."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from goldassay.lab.models import load_network
from goldassay.lab.models.configuration import Recipe, Task
from goldassay.lab.training.configured import relevances
from goldassay.lab.training.job import Seeds
from goldassay.lab.training.loop import Examples, Loop
from goldassay.lab.training.objectives import load_objective
from goldassay.lab.training.precision import open_accelerator
from goldassay.lab.training.snapshots import restore_weights, weights_of
from tests.lab.models.network_cases import SMALL, small_network, texts_of
from tests.lab.training.made_data import made_pairs

NAMES = tuple(SMALL)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Of networks this small two threads wait for each other more than they do."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def networks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("networks")
    return SimpleNamespace(folder=folder, **{name: small_network(name, folder) for name in NAMES})


def logits_of(network, texts, rows):
    with torch.no_grad():
        return network(network.collate(network.encode(texts), np.array(rows)))


@pytest.mark.parametrize("name", NAMES)
def test_shapes(networks, name):
    network = getattr(networks, name)
    texts = texts_of(made_pairs())
    encoded = network.encode(texts)
    batch = network.collate(encoded, np.arange(5))
    representation = network.represent(batch)
    assert len(encoded) == 64
    assert batch.size == 5
    assert representation.shape[0] == 5
    assert network(batch).shape == (5, 3)
    torch.testing.assert_close(network.classify(representation), network(batch))
    torch.testing.assert_close(network.represent_streams(network.embed(batch), batch), representation)


@pytest.mark.parametrize("name", NAMES)
def test_padding_never_changes_a_prediction(networks, name):
    network = getattr(networks, name)
    long = " ".join(["there"] * 40)
    texts = (["there is a aab", long, "", "a"], ["some a aab", "never a abb", "maybe", long])
    together = logits_of(network, texts, range(4))
    for row in range(4):
        torch.testing.assert_close(logits_of(network, texts, [row])[0], together[row], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_evaluation_follows_the_precision_of_the_training_but_for_the_classifier(networks, name):
    network = getattr(networks, name).eval()
    texts = texts_of(made_pairs())
    batch = network.collate(network.encode(texts), np.arange(len(texts[0])))
    with torch.no_grad():
        exact = network(batch)
        assert torch.equal(network.evaluate(batch, nullcontext), exact)
        reduced = network.evaluate(batch, lambda: torch.autocast("cpu", torch.bfloat16))
    assert reduced.dtype == torch.float32
    assert (reduced - exact).abs().max() < 0.05 * exact.abs().max()
    assert (reduced != reduced.bfloat16().float()).float().mean() > 0.9


@pytest.mark.parametrize("name", NAMES)
def test_a_text_left_out_is_not_an_error(networks, name):
    network = getattr(networks, name)
    premises, hypotheses = texts_of(made_pairs(6))
    alone = [logits_of(network, texts, range(6)) for texts in ((premises, None), (None, hypotheses))]
    assert all(torch.isfinite(each).all() for each in alone)
    assert not torch.allclose(alone[0], alone[1])
    again = logits_of(network, (None, hypotheses), range(6))
    torch.testing.assert_close(alone[1], again, rtol=0, atol=0)


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_without_words_has_logits_and_gradients(networks, name):
    network = getattr(networks, name)
    network.zero_grad()
    logits = network(network.collate(network.encode((["", ""], ["", ""])), np.arange(2)))
    logits.sum().backward()
    assert torch.isfinite(logits).all()
    gradients = [weight.grad.to_dense() for weight in network.parameters() if weight.grad is not None]
    assert all(torch.isfinite(each).all() for each in gradients)
    network.zero_grad()


@pytest.mark.parametrize("name", NAMES)
def test_texts_cut_are_counted_role_by_role(networks, name, tmp_path):
    network = getattr(networks, name)
    limit = network.max_tokens if name == "transformer" else network.sizes.max_tokens
    long = " ".join(["there"] * (limit + 1))
    encoded = network.encode((["a b", long, "a b"], ["a", "a", long]))
    np.testing.assert_array_equal(encoded.cut, [[False, True, False], [False, False, True]])
    assert int(network.collate(encoded, np.arange(3)).size) == 3


@pytest.mark.parametrize("name", NAMES)
def test_learns_64_examples_by_heart(networks, name):
    data = made_pairs()
    network = small_network(name, networks.folder)
    recipe = Recipe(epochs=60, batch_size=16, learning_rate=5e-3 if name != "transformer" else 3e-3, clip=5.0)
    loop = Loop(
        network,
        load_objective("cross_entropy")(),
        recipe,
        Seeds.varying(0),
        Examples(network.encode(texts_of(data)), data.labels()),
        open_accelerator("cpu", "float32"),
    )
    for reached in loop.run():
        if reached.epoch_ended and (loop.evaluate(loop.examples.encoded).argmax(1) == data.labels()).all():
            return
    pytest.fail("some examples are not learnt")


@pytest.mark.parametrize("name", NAMES)
def test_saved_and_loaded_it_gives_the_same_bits(networks, name, tmp_path):
    network = getattr(networks, name)
    data = made_pairs()
    network.save_assets(tmp_path)
    kind = load_network(str(networks.folder / "tiny-bert") if name == "transformer" else name)
    again = kind.load(Task(data.text_columns, data.label_names), network.sizes, tmp_path).eval()
    restore_weights(again, weights_of(network))
    texts = texts_of(made_pairs(20, seed=5))
    torch.testing.assert_close(logits_of(again, texts, range(20)), logits_of(network, texts, range(20)), rtol=0, atol=0)


@pytest.mark.parametrize("name", NAMES)
def test_relevance_is_the_gradient_at_each_token(networks, name):
    """Against finite differences along each coordinate of one token's embedding."""
    network = getattr(networks, name).double()
    try:
        # Texts that end alike have equal vectors in places, where |u - v| has no slope.
        encoded = network.encode((["there is a aab"], ["aab a some"]))
        found = relevances(network, encoded, ("premise", "hypothesis"), torch.device("cpu"))
        assert found["premise"].tokens == [["there", "is", "a", "aab"]]
        assert found["hypothesis"].tokens == [["aab", "a", "some"]]
        batch = network.collate(encoded, np.arange(1))
        streams = network.embed(batch)
        place = next(i for i, stream in enumerate(streams) if (stream.roles == 1).any())
        stream = streams[place]
        at = int((stream.roles[0] == 1).nonzero()[1])
        norm = np.sqrt(sum(_slope(network, streams, batch, place, at, d) ** 2 for d in range(stream.vectors.shape[2])))
        assert found["hypothesis"].values[0][1] == pytest.approx(norm, rel=1e-4)
    finally:
        network.float()


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("transformer", "contextual_esim")])
def test_gradients_of_weights_are_finite_differences(networks, name):
    """Along a random direction in each weight; those of the compiled BiLSTM are held against torch's elsewhere."""
    network = getattr(networks, name).double()
    try:
        data = made_pairs(6)
        batch = network.collate(network.encode(texts_of(data)), np.arange(6))
        labels = torch.from_numpy(data.labels())

        def loss():
            return torch.nn.functional.cross_entropy(network(batch), labels)

        network.zero_grad()
        loss().backward()
        draws = torch.Generator().manual_seed(0)
        for label, weight in network.named_parameters():
            slope = weight.grad.to_dense()
            direction = torch.randn(weight.shape, generator=draws, dtype=torch.float64)
            values = []
            with torch.no_grad():
                for step in (1e-6, -1e-6):
                    weight += step * direction
                    values.append(float(loss()))
                    weight -= step * direction
            found = (values[0] - values[1]) / 2e-6
            assert found == pytest.approx(float((slope * direction).sum()), rel=1e-4, abs=1e-7), label
    finally:
        network.zero_grad()
        network.float()


def _slope(network, streams, batch, place, at, coordinate, width=1e-5):
    values = []
    for sign in (1, -1):
        vectors = streams[place].vectors.detach().clone()
        vectors[0, at, coordinate] += sign * width
        moved = [replace(each, vectors=vectors) if i == place else each for i, each in enumerate(streams)]
        with torch.no_grad():
            logits = network.classify(network.represent_streams(moved, batch))
        values.append(float(torch.log_softmax(logits, 1).max()))
    return (values[0] - values[1]) / (2 * width)


@pytest.mark.parametrize("name", ["ngram_average", "bilstm", "convnet", "infersent"])
def test_sentence_vectors_look_at_one_text_alone(networks, name):
    network = getattr(networks, name)
    premises, hypotheses = texts_of(made_pairs(4))
    both = network.sentences(network.collate(network.encode((premises, hypotheses)), np.arange(4)))
    other = network.sentences(network.collate(network.encode((premises[::-1], hypotheses)), np.arange(4)))
    torch.testing.assert_close(both[1], other[1])
    assert not torch.allclose(both[0], other[0])


def test_a_network_that_reads_texts_together_has_no_sentence_vectors(networks):
    with pytest.raises(ValueError, match="no vector for each sentence"):
        networks.transformer.sentences(None)
