"""Families of transformers with tokenizers of their own kinds: as pairs and as single texts, padded on either side."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from goldassay.core.errors import InputError
from goldassay.lab.models.configuration import Recipe, Task
from goldassay.lab.models.transformer import Network, Sizes
from goldassay.lab.training.configured import relevances
from goldassay.lab.training.job import Job, Seeds
from goldassay.lab.training.loop import Examples, Loop
from goldassay.lab.training.objectives import load_objective
from goldassay.lab.training.precision import open_accelerator
from goldassay.lab.training.running import run_job
from goldassay.lab.training.snapshots import read_tensors, restore_weights, take_snapshot, weights_of, write_tensors
from tests.lab.models.network_cases import texts_of
from tests.lab.models.tiny_checkpoints import FAMILIES, WITH_DECODERS, family_checkpoint
from tests.lab.training.made_data import made_pairs
from tests.stated import in_order

LABELS = ("entailment", "neutral", "contradiction")
PAIR, SINGLE = Task(("premise", "hypothesis"), LABELS), Task(("text",), LABELS)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Of networks this small two threads wait for each other more than they do."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module", params=FAMILIES)
def made(request, tmp_path_factory):
    """A checkpoint of a family, and texts of unequal length, the last one empty."""
    premises, hypotheses = texts_of(made_pairs(12))
    place = family_checkpoint(tmp_path_factory.mktemp("made"), request.param, [*premises, *hypotheses])
    texts = ([*premises[:5], "there is " * 5 + "a", ""], [*hypotheses[:5], "a", "never a aab"])
    return SimpleNamespace(family=request.param, place=str(place), texts=texts)


def build(made, task=PAIR):
    return Network.build(task, (), Sizes(dropout=0.0), made.place).eval()


def logits_of(network, texts):
    with torch.no_grad():
        return network(network.collate(network.encode(texts), np.arange(len(texts[0]))))


@pytest.mark.parametrize("task", [PAIR, SINGLE], ids=["pair", "single"])
def test_padding_on_either_side_has_no_effect(made, task):
    network = build(made, task)
    texts = made.texts[: len(task.roles)]
    encoded = network.encode(texts)
    batch = network.collate(encoded, np.arange(7))
    assert batch["real"].sum(1).unique().numel() > 1
    with torch.no_grad():
        together = network(batch)
        alone = torch.cat([network(network.collate(encoded, np.array([row]))) for row in range(7)])
        representation = network.represent(batch)
        given = network.represent_streams(network.embed(batch), batch)
        classified = network.classify(representation)
    assert representation.shape == (7, 32)
    # What is compared must be large beside what is tolerated.
    assert float(together.std(0).max()) > 0.01
    torch.testing.assert_close(alone, together, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(given, representation, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(classified, together, rtol=1e-4, atol=1e-5)


def test_something_stands_between_two_texts_and_each_token_has_its_role(made):
    network = build(made)
    batch = network.collate(network.encode((["there is a aab"], ["never a aab"])), np.arange(1))
    roles = batch["roles"][0].tolist()
    assert roles.index(1) > roles.index(0)
    assert -1 in roles[roles.index(0) : roles.index(1)]
    names = network.token_names()
    for role, text in enumerate(("there is a aab", "never a aab")):
        tokens = [names[token] for token, own in zip(batch["tokens"][0].tolist(), roles, strict=True) if own == role]
        assert "".join(tokens).replace("\u2581", "").replace("\u0120", "").replace("##", "") == text.replace(" ", "")
    assert network.has_types == (made.family in ("bert", "minilm", "albert", "xlnet"))
    if made.family in ("bert", "albert", "xlnet"):
        assert len(set(batch["types"][0].tolist())) > 1


def test_trains_is_saved_and_loaded_bit_by_bit(made, tmp_path):
    data = made_pairs(32)
    network = build(made)
    encoded = network.encode(texts_of(data))
    recipe = Recipe(epochs=4, batch_size=8, learning_rate=2e-3, clip=1.0)
    objective = load_objective("cross_entropy")()
    examples = Examples(encoded, data.labels())
    loop = Loop(network, objective, recipe, Seeds.varying(0), examples, open_accelerator("cpu", "float32"))
    before = loop.evaluate(encoded)
    for _ in loop.run():
        pass
    labels = torch.from_numpy(data.labels())
    losses = [
        float(torch.nn.functional.cross_entropy(torch.from_numpy(z), labels)) for z in (before, loop.evaluate(encoded))
    ]
    assert losses[1] < losses[0] - 0.05

    network.save_assets(tmp_path)
    write_tensors(tmp_path / "weights.safetensors", weights_of(network), {})
    again = Network.load(PAIR, network.sizes, tmp_path).eval()
    restore_weights(again, read_tensors(tmp_path / "weights.safetensors")[0])
    network.eval()
    assert torch.equal(logits_of(network, made.texts), logits_of(again, made.texts))


def test_relevance_is_the_gradient_at_each_token(made):
    network = build(made).double()
    texts = (["there is a aab", "is a"], ["aab a some", "some a aab aab"])
    encoded = network.encode(texts)
    found = relevances(network, encoded, ("premise", "hypothesis"), torch.device("cpu"))
    # Padded beside another, so that the place of a token is not that of its text alone.
    batch = network.collate(encoded, np.arange(2))
    stream = network.embed(batch)[0]
    places = (stream.roles[1] == 1).nonzero().flatten()
    at = int(places[1])
    squares = 0.0
    with torch.no_grad():
        for coordinate in range(stream.vectors.shape[2]):
            values = []
            for sign in (1, -1):
                vectors = stream.vectors.clone()
                vectors[1, at, coordinate] += sign * 1e-5
                moved = type(stream)(vectors, stream.tokens, stream.roles)
                logits = network.classify(network.represent_streams([moved], batch))
                values.append(float(torch.log_softmax(logits[1], 0).max()))
            squares += ((values[0] - values[1]) / 2e-5) ** 2
    assert found["hypothesis"].values[1].shape == places.shape
    assert found["hypothesis"].values[1][1] == pytest.approx(np.sqrt(squares), rel=1e-3)


@pytest.mark.parametrize("family", WITH_DECODERS)
def test_with_a_decoder_all_but_relevance_works(family, tmp_path):
    premises, hypotheses = texts_of(made_pairs(12))
    place = str(family_checkpoint(tmp_path, family, [*premises, *hypotheses]))
    made = SimpleNamespace(place=place, texts=(["there is a aab", "there is " * 5 + "a"], ["never a aab", "a"]))
    network = build(made)
    encoded = network.encode(made.texts)
    alone = [network(network.collate(encoded, np.array([row]))) for row in range(2)]
    torch.testing.assert_close(torch.cat(alone), network(network.collate(encoded, np.arange(2))), rtol=1e-4, atol=1e-5)

    held = take_snapshot(made_pairs(16), tmp_path / "runs")
    job = Job(train=held, tests=(held,), model=place, out=str(tmp_path / "runs"), record=("predictions", "embeddings"))
    assert run_job(job).steps == 3
    with pytest.raises(InputError, match=in_order("relevance", "encoder with a decoder")):
        run_job(replace(job, record=("predictions", "relevance"), out=str(tmp_path / "others")))
