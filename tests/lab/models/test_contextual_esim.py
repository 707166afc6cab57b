"""ESIM on an encoder's vectors: which vectors, kept how, mixed how."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("transformers")

import torch

from goldassay.core.errors import InputError
from goldassay.lab.models import load_network
from goldassay.lab.models.configuration import Recipe, Task
from goldassay.lab.models.contextual_esim import ContextualVectors
from goldassay.lab.training.job import Seeds
from goldassay.lab.training.loop import Examples, Loop
from goldassay.lab.training.objectives import load_objective
from goldassay.lab.training.precision import open_accelerator
from goldassay.lab.training.targets import LabelTarget
from tests.lab.models.network_cases import small_network, texts_of, tiny_checkpoint
from tests.lab.training.made_data import made_pairs
from tests.stated import in_order

CPU = torch.device("cpu")
TEXTS = ["there is a aab", "", "aab", "never seen aab there is a", "aab"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("encoder")


@pytest.fixture(scope="module")
def checkpoint(folder):
    return str(tiny_checkpoint(folder, made_pairs()))


def in_pieces(folder, checkpoint):
    """The same encoder with a tokenizer that cuts words into letters."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import AutoModel, PreTrainedTokenizerFast

    place = folder / "pieces"
    letters = [*"abcdefghijklmnopqrstuvwxyz"]
    words = ["[PAD]", "[UNK]", *letters, *(f"##{letter}" for letter in letters)]
    cutter = Tokenizer(WordPiece({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    cutter.pre_tokenizer = Whitespace()
    model = AutoModel.from_pretrained(checkpoint)
    model.resize_token_embeddings(len(words))
    model.save_pretrained(place)
    PreTrainedTokenizerFast(tokenizer_object=cutter, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(place)
    return str(place)


def states_of(place, text, n_layers):
    """Of one text by itself."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(place), AutoModel.from_pretrained(place).eval()
    tokens = tokenizer([text], return_tensors="pt")
    with torch.no_grad():
        found = model(**tokens, output_hidden_states=True).hidden_states[-n_layers:]
    return torch.stack(found, dim=2)[0], tokens.word_ids(0)


def test_vectors_are_the_encoders_own(checkpoint):
    found = ContextualVectors(checkpoint, 2, 64, "treebank").of(TEXTS, CPU, None)
    assert found.names[:4] == ["there", "is", "a", "aab"]
    np.testing.assert_array_equal(np.diff(found.offsets), [4, 0, 1, 6, 1])
    assert found.vectors.dtype == np.float16
    for row, text in enumerate(TEXTS):
        if text:
            states, words = states_of(checkpoint, text, 2)
            wanted = states[[place for place, word in enumerate(words) if word is not None]]
            own = found.vectors[found.offsets[row] : found.offsets[row + 1]].astype(np.float32)
            np.testing.assert_allclose(own, wanted, rtol=2e-3, atol=2e-3)


def test_a_word_is_the_average_of_its_pieces_and_in_scripts_without_spaces_each_piece_is_one(folder, checkpoint):
    place = in_pieces(folder, checkpoint)
    states, words = states_of(place, "cab aa b", 1)
    assert words == [0, 0, 0, 1, 1, 2]
    by_word = ContextualVectors(place, 1, 64, "treebank").of(["cab aa b"], CPU, None)
    assert by_word.names == ["cab", "aa", "b"]
    wanted = torch.stack([states[:3].mean(0), states[3:5].mean(0), states[5]])
    np.testing.assert_allclose(by_word.vectors.astype(np.float32), wanted, rtol=2e-3, atol=2e-3)
    by_piece = ContextualVectors(place, 1, 64, "characters").of(["cab aa b"], CPU, None)
    assert by_piece.names == [*"cabaab"]
    np.testing.assert_allclose(by_piece.vectors.astype(np.float32), states, rtol=2e-3, atol=2e-3)


def test_kept_vectors_are_found_again_and_are_the_same_bits(checkpoint, tmp_path, monkeypatch):
    encoder = ContextualVectors(checkpoint, 1, 64, "treebank")
    first = encoder.of(TEXTS, CPU, tmp_path)
    (file,) = tmp_path.iterdir()
    written = file.stat().st_mtime_ns
    again = ContextualVectors(checkpoint, 1, 64, "treebank")
    monkeypatch.setattr(again, "_fill", lambda *_: pytest.fail("computed again"))
    found = again.of(TEXTS, CPU, tmp_path)
    assert file.stat().st_mtime_ns == written
    np.testing.assert_array_equal(found.vectors, first.vectors)
    np.testing.assert_array_equal(found.vectors, encoder.of(TEXTS, CPU, None).vectors)
    monkeypatch.undo()
    # Other texts, and another number of layers, are other files.
    encoder.of(TEXTS[:2], CPU, tmp_path)
    ContextualVectors(checkpoint, 2, 64, "treebank").of(TEXTS, CPU, tmp_path)
    assert len(list(tmp_path.iterdir())) == 3


def test_a_kill_while_computing_leaves_nothing_behind(checkpoint, tmp_path, monkeypatch):
    encoder = ContextualVectors(checkpoint, 1, 64, "treebank")

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(encoder, "_states", killed)
    with pytest.raises(KeyboardInterrupt):
        encoder.of(TEXTS, CPU, tmp_path)
    assert not list(tmp_path.iterdir())


def test_layers_are_mixed_by_learnt_weights_and_the_encoder_is_not_trained(folder):
    network = small_network("contextual_esim", folder)
    batch = network.collate(network.encode((["there is"], ["a aab"])), np.arange(1))
    with torch.no_grad():
        network.mix.copy_(torch.tensor([0.0, np.log(3.0)]))
        network.gain.fill_(2.0)
    layers = batch["vectors0"].float()
    torch.testing.assert_close(network.embed(batch)[0].vectors, 2 * (0.25 * layers[:, :, 0] + 0.75 * layers[:, :, 1]))
    network(batch).sum().backward()
    assert network.mix.grad is not None
    assert network.gain.grad is not None
    assert not any(name.startswith(("encoder", "_encoder")) for name in network.state_dict())
    assert all(weight.grad is None for weight in network.encoder.model.parameters())


def test_all_layers_are_the_encoders_hidden_states_with_what_enters_the_first(checkpoint):
    found = ContextualVectors(checkpoint, 3, 64, "treebank").of(["there is a aab"], CPU, None)
    from transformers import AutoModel, AutoTokenizer

    tokens = AutoTokenizer.from_pretrained(checkpoint)(["there is a aab"], return_tensors="pt")
    with torch.no_grad():
        states = AutoModel.from_pretrained(checkpoint).eval()(**tokens, output_hidden_states=True).hidden_states
    assert len(states) == 3
    wanted = torch.stack(states, dim=2)[0, 1:-1].half().numpy()
    np.testing.assert_allclose(found.vectors, wanted, atol=2e-3)


def test_training_moves_the_mix_to_the_layer_that_tells_and_leaves_the_encoder(folder):
    """One of two layers is noise, drawn anew for each batch; the weights must find the other."""
    data = made_pairs(96)
    network = small_network("contextual_esim", folder, n=96)
    encoded = network.encode(texts_of(data))
    collate, rng = network.collate, np.random.default_rng(0)

    def with_noise(encoded, rows):
        batch = collate(encoded, rows)
        for role in range(2):
            layer = batch[f"vectors{role}"][:, :, 0]
            layer.copy_(torch.from_numpy(2 * rng.standard_normal(layer.shape)))
        return batch

    network.collate = with_noise
    before = {name: each.clone() for name, each in network.encoder.model.state_dict().items()}
    labels = LabelTarget.labels(data, Task(data.text_columns, data.label_names))
    recipe = Recipe(epochs=8, batch_size=16, learning_rate=2e-2)
    loop = Loop(
        network, load_objective("cross_entropy")(), recipe, Seeds.varying(0), Examples(encoded, labels),
        open_accelerator("cpu", "float32"),
    )  # fmt: skip
    for _ in loop.run():
        pass
    assert torch.softmax(network.mix, 0)[1] > 0.6
    assert network.gain != 1
    assert all(torch.equal(each, before[name]) for name, each in network.encoder.model.state_dict().items())


def test_saved_weights_refuse_another_encoder(folder, tmp_path):
    data = made_pairs()
    network = small_network("contextual_esim", folder)
    network.save_assets(tmp_path)
    task = Task(data.text_columns, data.label_names)
    assert type(network).load(task, network.sizes, tmp_path).encoder.digest == network.encoder.digest
    other = str(tiny_checkpoint(folder / "other", data, intermediate_size=40))
    with pytest.raises(InputError, match="other weights than the one trained on"):
        type(network).load(task, replace(network.sizes, encoder=other), tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"encoder": ""}, ("needs an encoder", "changes={'encoder': FOLDER}")),
        ({"layers": 4}, "4 layers are asked for, and the encoder has 3"),
        ({"encoder": "/nowhere/at/all"}, "no checkpoint can be loaded from there"),
    ],
)
def test_what_is_no_encoder_is_refused(checkpoint, changes, message):
    data = made_pairs(4)
    kind = load_network("contextual_esim")
    sizes = replace(kind.configurations["desk"].sizes, **{"encoder": checkpoint, **changes})
    with pytest.raises(InputError, match=in_order(message)):
        kind.build(Task(data.text_columns, data.label_names), texts_of(data), sizes, "contextual_esim")
