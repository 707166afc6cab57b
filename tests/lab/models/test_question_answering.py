"""Answers as stretches of a context: windows, targets, the search, training; on tiny models made on the spot."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("transformers")

import polars as pl
import torch

from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from goldassay.lab.models import find_network, load_network
from goldassay.lab.models.configuration import Recipe, Task
from goldassay.lab.models.question_answering import Network
from goldassay.lab.training.job import Seeds
from goldassay.lab.training.loop import Examples, Loop
from goldassay.lab.training.objectives import load_objective
from goldassay.lab.training.precision import open_accelerator
from goldassay.lab.training.snapshots import restore_weights, weights_of
from goldassay.lab.training.targets import EvaluationSet, SpanTarget
from tests.lab.models.network_cases import tiny_checkpoint
from tests.stated import in_order

NAMES = ("ada", "bob", "cy", "dee", "eve", "fay")
THINGS = ("a red door", "the old mill", "seven keys", "one boat", "blue glass", "salt")


def made_questions(n=24, seed=0, fillers=40, none=0.0):
    """Who holds what, somewhere in a long list: contexts of 40 to 80 words."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        held = dict(zip(NAMES, rng.permutation(THINGS), strict=True))
        parts = [f"{name} holds {thing}." for name, thing in held.items()]
        for _ in range(int(rng.integers(fillers // 8, fillers // 4))):
            parts.insert(int(rng.integers(len(parts) + 1)), "nobody saw it .")
        context = "  ".join(parts)
        name = str(rng.choice(NAMES))
        rows.append(
            {
                "example_id": f"q{i}",
                "question": f"what does {name} hold",
                "context": context,
                "answers": [held[name], "something else"],
                "answer_starts": [context.index(f"{name} holds {held[name]}") + len(f"{name} holds "), 0],
            }
        )
        if rng.random() < none:
            rows[-1] |= {"question": "what does zoe hold", "answers": [], "answer_starts": []}
    return Dataset(pl.DataFrame(rows), ("question", "context"), (), "held")


def words_of(data):
    """As `tiny_checkpoint` wants them."""
    texts = [*data.texts("question"), *data.texts("context"), "zoe ."]
    spaced = [" ".join(text.replace(".", " . ").split()) for text in texts]
    return SimpleNamespace(texts=lambda role: spaced if role == "all" else [], text_columns=("all", "none"))


def network_of(folder, data, family="bert", **changes):
    own = {"d_model": 32, "d_inner": 48, "n_layer": 2, "n_head": 2} if family == "xlnet" else {}
    place = str(tiny_checkpoint(folder, words_of(made_questions(none=0.5)), family, 64, **own))
    sizes = Network.configurations["desk"].sizes
    sizes = replace(sizes, **{"max_tokens": 40, "stride": 8, "max_question": 12, "dropout": 0.0, **changes})
    torch.manual_seed(3)
    return Network.build(SpanTarget.task(data, ("question", "context"), "treebank"), (), sizes, place).eval()


def texts_of(data):
    return data.texts("question"), data.texts("context")


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Of networks this small two threads wait for each other more than they do."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("questions")


def test_windows_hold_every_token_of_the_context_and_share_what_the_stride_says(folder):
    data = made_questions(4)
    network = network_of(folder, data)
    encoded = network.encode(texts_of(data))
    assert (np.diff(encoded.windows.offsets) > 1).all()
    assert not encoded.cut.any()
    for row, context in enumerate(data.texts("context")):
        seen = []
        for window in encoded.windows.row(row):
            assert len(encoded.tokens.row(window)) <= 40
            ends = encoded.ends.row(window)
            seen.append([(b, e) for b, e in zip(encoded.begins.row(window), ends, strict=True) if e >= 0])
        for before, after in pairwise(seen):
            assert before[-8:] == after[:8]
        pieces = network.tokenizer(context, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        assert sorted({span for window in seen for span in window}) == pieces


def test_long_questions_are_cut_and_counted_and_empty_texts_are_no_error(folder):
    network = network_of(folder, made_questions())
    long = "what does ada hold " * 10
    encoded = network.encode(([long, "what", ""], ["ada holds salt.", "", "ada"]))
    np.testing.assert_array_equal(encoded.cut, [[True, False, False], [False, False, False]])
    out = network(network.collate(encoded, np.arange(3)))
    assert out.shape == (3, 4)
    assert torch.isfinite(out).all()
    assert out[1, :2].tolist() == [0, 0]


@pytest.mark.parametrize("family", ["bert", "xlnet"])
def test_answers_are_the_best_stretch_of_all_windows(folder, family):
    """Against a search of every pair of tokens, question by question, on the logits of windows one by one."""
    data = made_questions(6)
    network = network_of(folder, data, family, max_answer=4)
    encoded = network.encode(texts_of(data))
    with torch.no_grad():
        found = network(network.collate(encoded, np.arange(6))).numpy()
    for row in range(6):
        best, nothing = (-np.inf, None), np.inf
        for window in encoded.windows.row(row):
            tokens = torch.from_numpy(encoded.tokens.row(window))[None]
            types = (
                {} if encoded.types is None else {"token_type_ids": torch.from_numpy(encoded.types.row(window))[None]}
            )
            with torch.no_grad():
                out = network.model(input_ids=tokens, attention_mask=torch.ones_like(tokens), **types)
            starts, ends = (each[0].numpy() for each in (out.start_logits, out.end_logits))
            begin, end = encoded.begins.row(window), encoded.ends.row(window)
            first = tokens[0].tolist().index(network.tokenizer.cls_token_id)
            nothing = min(nothing, starts[first] + ends[first])
            for i in np.flatnonzero(end >= 0):
                for j in range(i, min(i + 4, len(end))):
                    if end[j] >= 0 and starts[i] + ends[j] > best[0] + 1e-6:
                        best = (starts[i] + ends[j], (begin[i], end[j]))
        assert tuple(found[row, :2]) == best[1]
        assert found[row, 2] == pytest.approx(best[0], abs=1e-4)
        assert found[row, 3] == pytest.approx(nothing, abs=1e-4)


def test_targets_are_the_tokens_of_the_answer_where_it_is_seen_whole(folder):
    data = made_questions(8)
    network = network_of(folder, data)
    encoded = network.encode(texts_of(data))
    batch = network.collate(encoded, np.arange(8))
    task = SpanTarget.task(data, ("question", "context"), "treebank")
    labels = SpanTarget.labels(data, task)
    targets = network.window_targets(batch, torch.from_numpy(labels)).tolist()
    whole = dict.fromkeys(range(8), 0)
    for window, (first, last) in enumerate(targets):
        question = int(batch["of"][window])
        context, answer = data.texts("context")[question], data.examples["answers"][question][0]
        begins, ends = batch["begins"][window], batch["ends"][window]
        if (first, last) == (0, 0):
            seen = {(int(b), int(e)) for b, e in zip(begins, ends, strict=True) if e >= 0}
            assert min(b for b, _ in seen) > labels[question, 0, 0] or max(e for _, e in seen) < labels[question, 0, 1]
        else:
            whole[question] += 1
            assert context[begins[first] : ends[last]] == answer
    assert all(whole.values())


def test_the_loss_is_that_of_torch_without_padding(folder):
    data = made_questions(5, none=0.4)
    network = network_of(folder, data)
    encoded = network.encode(texts_of(data))
    batch = network.collate(encoded, np.arange(5))
    labels = torch.from_numpy(SpanTarget.labels(data, SpanTarget.task(data, ("question", "context"), "treebank")))
    objective = load_objective("span_cross_entropy")()
    weights = torch.tensor([1.0, 2.0, 0.5, 1.0, 3.0])
    outcome = objective(network, batch, labels, weights, np.arange(5))
    logits, targets = network.window_logits(batch), network.window_targets(batch, labels)
    total = 0.0
    for window, of in enumerate(batch["of"].tolist()):
        real = batch["real"][window].bool()
        for side in (0, 1):
            row = torch.log_softmax(logits[window, real, side], 0)
            total += float(-row[targets[window, side]].detach() * weights[of] / 2)
    assert float(outcome.loss) == pytest.approx(total / len(logits), rel=1e-5)
    torch.testing.assert_close(outcome.logits, network(batch))


def test_padding_and_neighbors_never_change_an_answer(folder):
    data = made_questions(6)
    network = network_of(folder, data)
    encoded = network.encode(texts_of(data))
    with torch.no_grad():
        together = network(network.collate(encoded, np.arange(6)))
        alone = torch.cat([network(network.collate(encoded, np.array([row]))) for row in range(6)])
    torch.testing.assert_close(alone, together, rtol=1e-4, atol=1e-4)


def scores_of(network, data):
    task = SpanTarget.task(data, ("question", "context"), "treebank")
    encoded = network.encode(texts_of(data))
    with torch.no_grad():
        out = network(network.collate(encoded, np.arange(len(data)))).numpy()
    on = EvaluationSet(data, "test", {}, SpanTarget.labels(data, task), encoded)
    return SpanTarget.answers(out, on, task, keep_logits=False)


@pytest.mark.parametrize("none", [0.0, 0.3])
def test_learns_a_handful_of_questions_by_heart(folder, none):
    data = made_questions(10, none=none, fillers=16)
    network = network_of(folder, data)
    encoded = network.encode(texts_of(data))
    task = SpanTarget.task(data, ("question", "context"), "treebank")
    assert task.unanswerable == (none > 0)
    examples = Examples(encoded, SpanTarget.labels(data, task))
    recipe = Recipe(epochs=150, batch_size=5, learning_rate=3e-3, clip=1.0)
    loop = Loop(
        network, load_objective("span_cross_entropy")(), recipe, Seeds.varying(0), examples,
        open_accelerator("cpu", "float32"),
    )  # fmt: skip
    for reached in loop.run():
        if reached.epoch_ended % 10 == 0 and reached.epoch_ended:
            answered = scores_of(network.eval(), data)
            if answered.scores["exact_match"] == 1:
                break
    assert answered.scores == {"f1": 1.0, "exact_match": 1.0}
    right = [each[0] if each else "" for each in data.examples["answers"].to_list()]
    assert answered.columns["prediction"].to_list() == right
    assert SpanTarget.dev_score(loop.evaluate(encoded), examples.labels) == pytest.approx(1.0)


def test_saved_and_loaded_it_gives_the_same_bits(folder, tmp_path):
    data = made_questions(5)
    network = network_of(folder, data)
    network.save_assets(tmp_path)
    again = Network.load(SpanTarget.task(data, ("question", "context"), "treebank"), network.sizes, tmp_path).eval()
    restore_weights(again, weights_of(network))
    batches = [each.collate(each.encode(texts_of(data)), np.arange(5)) for each in (network, again)]
    with torch.no_grad():
        torch.testing.assert_close(network(batches[0]), again(batches[1]), rtol=0, atol=0)


def test_a_question_that_is_not_shown_is_empty(folder):
    data = made_questions(3)
    network = network_of(folder, data)
    task = Task(("context",), (), kind="span")
    other = Network(network.model, network.tokenizer, network.sizes, task)
    assert other.encode((data.texts("context"),)).cut.shape == (1, 3)
    with pytest.raises(InputError, match="answers stand in the context, which is not shown"):
        Network(network.model, network.tokenizer, network.sizes, Task(("question",), ())).encode((["a"],))


def test_windows_without_room_are_refused(folder):
    with pytest.raises(InputError, match=in_order("windows of 40 tokens", 25, 30)):
        network_of(folder, made_questions(), stride=30)
    with pytest.raises(InputError, match=in_order("windows of", "checkpoint", "leave")):
        network_of(folder, made_questions(), max_tokens=10_000, stride=9_000)


def test_a_checkpoint_answers_questions_where_the_data_ask_for_it(folder):
    place = str(tiny_checkpoint(folder, words_of(made_questions(none=0.5))))
    assert (find_network(place), find_network(place, "span")) == ("transformer", "question_answering")
    assert find_network("any/name", "span") == "question_answering"
    assert load_network(place, "span") is Network
    with pytest.raises(InputError, match=in_order("bilstm", "docqa", "transformers")):
        find_network("bilstm", "span")


def test_evaluation_is_in_32_bits_whatever_the_training(folder):
    data = made_questions()
    network = network_of(folder, data).eval()
    batch = network.collate(network.encode(texts_of(data)), np.arange(len(data)))
    with torch.no_grad():
        exact = network(batch)
        assert torch.equal(network.evaluate(batch, lambda: torch.autocast("cpu", torch.bfloat16)), exact)
        with torch.autocast("cpu", torch.bfloat16):
            assert not torch.equal(network(batch), exact)


def test_there_is_no_vector_of_a_question(folder):
    network = network_of(folder, made_questions())
    with pytest.raises(InputError, match="no one vector"):
        network.represent(None)
