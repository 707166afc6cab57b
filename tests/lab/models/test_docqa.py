"""The reader on word vectors: paragraphs, one normalization over them, the search, candidates, training."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

pytest.importorskip("torch")

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from goldassay.core.errors import InputError
from goldassay.data.reading import read_dataset
from goldassay.lab.models import find_network
from goldassay.lab.models.docqa import Network, paragraph_spans
from goldassay.lab.models.layers import BidirectionalGru, SelfAttention, shares
from goldassay.lab.models.spans import covered_tokens
from goldassay.lab.models.vocabulary import Ragged
from goldassay.lab.training.job import Seeds
from goldassay.lab.training.loop import Examples, Loop
from goldassay.lab.training.many_seeds import plan_jobs
from goldassay.lab.training.objectives import load_objective
from goldassay.lab.training.precision import open_accelerator
from goldassay.lab.training.running import run_job
from goldassay.lab.training.snapshots import restore_weights, weights_of
from goldassay.lab.training.targets import SpanTarget
from goldassay.runs.reading import read_runs
from tests.lab.models.made_reading import PEOPLE, write_record
from tests.lab.models.test_question_answering import made_questions
from tests.stated import in_order

ROLES = ("question", "context")
TINY = {"vectors": 12, "character_vectors": 4, "character_filters": 6, "units": 10, "min_count": 1, "dropout": 0.0}


def network_of(data, seed=3, **changes):
    sizes = replace(Network.configurations["desk"].sizes, **{**TINY, "max_paragraph": 12, **changes})
    torch.manual_seed(seed)
    return Network.build(SpanTarget.task(data, ROLES, "treebank"), texts_of(data), sizes, "docqa").eval()


def lined(n, **given):
    """Questions whose contexts have a line a sentence, so that no answer is cut by the end of a paragraph."""
    data = made_questions(n, **given)
    return replace(data, examples=data.examples.with_columns(pl.col("context").str.replace_all("  ", " \n")))


def texts_of(data):
    return tuple(data.texts(role) for role in ROLES)


def encoded_by(network, data):
    return SpanTarget.prepared(network, network.encode(texts_of(data)), data)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_paragraphs_hold_every_word_once_and_lines_are_kept_together():
    context = "one two three\nfour five\nsix\n\nseven eight nine ten eleven twelve"
    parts = [[context[begin:end] for begin, end in part] for part in paragraph_spans(context, 5)]
    assert parts == [
        ["one", "two", "three", "four", "five"],
        ["six"],
        ["seven", "eight", "nine", "ten", "eleven"],
        ["twelve"],
    ]
    assert paragraph_spans("", 5) == [[]]


def test_a_context_that_several_questions_share_is_encoded_once():
    data = made_questions(3)
    contexts = [data.texts("context")[0]] * 3
    network = network_of(data)
    encoded = network.encode((data.texts("question"), contexts))
    assert len({tuple(encoded.paragraphs.row(row)) for row in range(3)}) == 1
    assert len(encoded.words) == len(encoded.paragraphs.row(0))
    for number in encoded.paragraphs.row(0):
        assert 0 < len(encoded.words.row(number)) <= 12


def test_the_gru_is_torchs_on_packed_texts():
    torch.manual_seed(0)
    ours, theirs = BidirectionalGru(5, 4), torch.nn.GRU(5, 4, batch_first=True, bidirectional=True)
    kept = ours.forwards.state_dict() | {f"{name}_reverse": each for name, each in ours.backwards.state_dict().items()}
    theirs.load_state_dict(kept)
    vectors, lengths = torch.randn(3, 6, 5), torch.tensor([6, 2, 4])
    real = torch.arange(6) < lengths.unsqueeze(1)
    packed, _ = theirs(pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False))
    wanted, _ = pad_packed_sequence(packed, batch_first=True)
    torch.testing.assert_close(ours(vectors, real)[real], wanted[real])


def test_a_word_attends_to_the_others_of_its_paragraph_alone():
    scores = torch.randn(1, 3, 3)
    real = torch.tensor([[True, True, False]])
    found = shares(scores, real.unsqueeze(1) & ~torch.eye(3, dtype=torch.bool), 2)
    torch.testing.assert_close(found[0, :2], torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]))
    torch.manual_seed(0)
    layer = SelfAttention(4, torch.nn.Identity())
    x = torch.randn(1, 1, 4)
    # A word that is alone has nobody to attend to.
    h = layer.states(x, torch.ones(1, 1, dtype=torch.bool))
    none = torch.zeros_like(h)
    torch.testing.assert_close(
        layer(x, torch.ones(1, 1, dtype=torch.bool)), x + layer.joined(torch.cat((h, none, none), 2)).relu()
    )


def brute_loss(network, data, weights):
    """Question by question, each paragraph through the network by itself."""
    encoded, total = encoded_by(network, data), 0.0
    labels = SpanTarget.labels(data, None)
    for row in range(len(data)):
        logits, places = [], []
        batch = network.collate(encoded, np.array([row]))
        for paragraph, each in enumerate(network.window_logits(batch)):
            real = batch["real"][paragraph].bool()
            logits.append(each[real])
            places += list(zip(batch["begins"][paragraph][real], batch["ends"][paragraph][real], strict=True))
        joined = torch.cat(logits)
        right = [span for span in labels[row].tolist() if span[0] >= 0]
        for side in (0, 1):
            wanted = [at for at, place in enumerate(places) if any(int(place[side]) == span[side] for span in right)]
            scores = joined[:, side].double()
            if not right:
                own = network.no_answer[side].double()
                total += float(weights[row] / 2 * (torch.cat((scores, own[None])).logsumexp(0) - own))
                continue
            every = scores if network.no_answer is None else torch.cat((scores, network.no_answer[side].double()[None]))
            total += float(weights[row] / 2 * (every.logsumexp(0) - scores[wanted].logsumexp(0)))
    return total / len(data)


@pytest.mark.parametrize("none", [0.0, 0.4])
def test_the_loss_is_normalized_over_all_paragraphs_of_a_question(none):
    data = lined(6, none=none)
    network = network_of(data)
    if network.no_answer is not None:
        network.no_answer.data = torch.tensor([0.3, -0.2])
    encoded = encoded_by(network, data)
    assert max(np.diff(encoded.paragraphs.offsets)) > 2
    labels = torch.from_numpy(SpanTarget.labels(data, None))
    weights = torch.tensor([1.0, 2.0, 0.5, 1.0, 3.0, 0.0])
    with torch.no_grad():
        outcome = load_objective("shared_normalization")()(
            network, network.collate(encoded, np.arange(6)), labels, weights, np.arange(6)
        )
        wanted = brute_loss(network, data, weights)
    assert float(outcome.loss) == pytest.approx(wanted, rel=1e-4)


def test_the_logits_of_one_paragraph_move_the_loss_of_the_answer_in_another():
    """Normalized each by itself, a paragraph without the answer would teach nothing."""
    data = lined(1)
    network = network_of(data)
    batch = network.collate(encoded_by(network, data), np.arange(1))
    labels = torch.from_numpy(SpanTarget.labels(data, None))
    logits = network.window_logits(batch).detach().requires_grad_()
    network.window_logits = lambda _: logits
    load_objective("shared_normalization")()(network, batch, labels, None, np.arange(1)).loss.backward()
    _, whole = network.window_spans(batch, labels)
    without = ~whole.any(1)
    assert without.any()
    real = batch["real"].bool()
    assert (logits.grad[without][real[without]] > 0).all()
    assert float(logits.grad.sum()) == pytest.approx(0, abs=1e-6)


def test_an_answer_that_no_paragraph_shows_whole_teaches_nothing():
    data = lined(2)
    network = network_of(data)
    batch = network.collate(encoded_by(network, data), np.arange(2))
    labels = torch.from_numpy(SpanTarget.labels(data, None))
    # From the first paragraph into the second.
    labels[0, 0] = torch.stack((batch["ends"][0].max() - 1, batch["begins"][1, 0] + 1))
    with torch.no_grad():
        objective = load_objective("shared_normalization")()
        both = objective(network, batch, labels, None, np.arange(2)).loss
        second = objective(network, batch, labels, torch.tensor([0.0, 1.0]), np.arange(2)).loss
    assert both > 0
    torch.testing.assert_close(both, second)


def test_answers_are_the_best_stretch_of_one_paragraph():
    data = made_questions(6)
    network = network_of(data, max_answer=4)
    encoded = encoded_by(network, data)
    batch = network.collate(encoded, np.arange(6))
    with torch.no_grad():
        logits, found = network.window_logits(batch), network(batch)
    for row in range(6):
        best = (-math.inf, None)
        for paragraph in np.flatnonzero(batch["of"].numpy() == row):
            length = int(batch["real"][paragraph].sum())
            for i in range(length):
                for j in range(i, min(i + 4, length)):
                    score = float(logits[paragraph, i, 0] + logits[paragraph, j, 1])
                    if score > best[0] + 1e-6:
                        best = score, (int(batch["begins"][paragraph, i]), int(batch["ends"][paragraph, j]))
        assert tuple(found[row, :2].long().tolist()) == best[1]
        assert float(found[row, 2]) == pytest.approx(best[0], abs=1e-5)


def test_padding_and_neighbors_never_change_an_answer():
    data = made_questions(6)
    network = network_of(data)
    encoded = encoded_by(network, data)
    with torch.no_grad():
        together = network(network.collate(encoded, np.arange(6)))
        alone = torch.cat([network(network.collate(encoded, np.array([row]))) for row in range(6)])
    torch.testing.assert_close(alone, together, rtol=1e-4, atol=1e-5)


def test_words_are_marked_that_stand_in_the_other_text_in_any_case():
    data = made_questions(1)
    network = network_of(data, max_paragraph=50)
    batch = network.collate(network.encode((["Who HOLDS zebras"], ["Ada holds salt . who"])), np.arange(1))
    assert batch["matches_questions"].tolist() == [[1.0, 1.0, 0.0]]
    assert batch["matches"].tolist() == [[0.0, 1.0, 0.0, 0.0, 1.0]]
    assert (
        "matches" not in network_of(data, matches=False).collate(network.encode(texts_of(data)), np.arange(1)).tensors
    )


def test_candidates_are_found_as_words_and_alone_are_answered(tmp_path):
    data = read_dataset(write_record(tmp_path / "dev.json", n=8))
    network = network_of(data, max_paragraph=18)
    free = network.encode(texts_of(data))
    encoded = encoded_by(network, data)
    batch = network.collate(encoded, np.arange(8))
    with torch.no_grad():
        logits, found = network.window_logits(batch), network(batch)
        unbound = network(network.collate(free, np.arange(8)))
    places = (data.examples[name].to_list() for name in ("candidate_starts", "candidate_ends"))
    entities = [set(zip(*pair, strict=True)) for pair in zip(*places, strict=True)]
    # An untrained reader rarely names one by itself.
    assert not all(tuple(span) in of for span, of in zip(unbound[:, :2].long().tolist(), entities, strict=True))
    for row, of in enumerate(entities):
        best = (-math.inf, None)
        for paragraph in np.flatnonzero(batch["of"].numpy() == row):
            begins, ends = batch["begins"][paragraph].tolist(), batch["ends"][paragraph].tolist()
            for begin, end in of:
                if begin in begins and end in ends:
                    score = float(logits[paragraph, begins.index(begin), 0] + logits[paragraph, ends.index(end), 1])
                    best = max(best, (score, (begin, end)), key=lambda each: each[0])
        assert tuple(found[row, :2].long().tolist()) == best[1]


def test_a_question_without_candidates_is_answered_by_nothing():
    data = made_questions(2)
    network = network_of(data)
    # The second's begins and ends within words: it is answered as it is.
    encoded = network.restrict(network.encode(texts_of(data)), Ragged.of([[], [1, 3]]))
    with torch.no_grad():
        found = network(network.collate(encoded, np.arange(2)))
    assert found[:, :2].tolist() == [[0, 0], [1, 3]]
    assert torch.isfinite(found).all()


def test_tokens_that_cover_a_stretch():
    begins, ends = np.array([0, 4, 9]), np.array([3, 8, 12])
    spans = np.array([[4, 8], [5, 10], [0, 12], [3, 4], [0, 13], [4, 4]])
    tokens, whole = covered_tokens(begins, ends, spans)
    assert whole.tolist() == [True, True, True, False, False, False]
    assert tokens[:3].tolist() == [[1, 1], [1, 2], [0, 2]]


RECIPE = {**TINY, "units": 16, "vectors": 16, "epochs": 12, "batch_size": 8, "learning_rate": 0.02, "max_paragraph": 24}


def test_a_made_record_file_is_read_to_its_known_answers(tmp_path):
    """Trained on 48 articles, tested on 16 others: who holds what, under a name that is mentioned twice."""
    train = write_record(tmp_path / "train.json", n=48, seed=0)
    test = write_record(tmp_path / "test.json", n=16, seed=1)
    (job,) = plan_jobs(train, "docqa", {"test": test}, out=tmp_path / "runs", seeds=1, changes=RECIPE)
    assert (job.objective, job.model_name) == ("shared_normalization", "docqa")
    done = run_job(job)
    assert done.scores["test"] == {"f1": 1.0, "exact_match": 1.0}
    answers = read_runs(tmp_path / "runs")
    assert answers.scores.shape[-1] == 16


def test_the_runs_of_a_job_hold_no_answer_but_candidates(tmp_path):
    """Of a reader that has learnt next to nothing, whose best stretch would be any other."""
    train = write_record(tmp_path / "train.json", n=12)
    (job,) = plan_jobs(train, "docqa", {"test": train}, out=tmp_path / "runs", seeds=1, changes={**TINY, "epochs": 1})
    run_job(job)
    answers = pl.concat([pl.read_parquet(file) for file in (tmp_path / "runs").glob("*.parquet")])["prediction"]
    assert len(answers) == 12
    assert set(answers.to_list()) <= set(PEOPLE)


def test_a_training_that_was_stopped_gives_the_same_bits():
    data = made_questions(12)
    labels, outputs = SpanTarget.labels(data, None), []
    for stops in (False, True):
        network = network_of(data, dropout=0.2)
        recipe = replace(Network.configurations["desk"].recipe, epochs=3, batch_size=4)

        def loop_of(network=network, recipe=recipe):
            return Loop(
                network, load_objective("shared_normalization")(), recipe, Seeds.varying(0),
                Examples(encoded_by(network, data), labels), open_accelerator("cpu", "float32"),
            )  # fmt: skip

        loop = loop_of()
        for reached in loop.run():
            if stops and reached.step == 4:
                break
        if stops:
            kept = {name: tensor.clone() for name, tensor in loop.tensors().items()}
            loop.network = network_of(data, seed=9, dropout=0.2)
            again = loop_of(loop.network)
            again.restore(loop.position, kept)
            for _ in again.run():
                pass
            loop = again
        outputs.append(loop.evaluate(encoded_by(loop.network, data)))
    np.testing.assert_array_equal(*outputs)


def test_saved_and_loaded_it_gives_the_same_bits(tmp_path):
    data = made_questions(5, none=0.4)
    network = network_of(data)
    network.save_assets(tmp_path)
    again = Network.load(SpanTarget.task(data, ROLES, "treebank"), network.sizes, tmp_path).eval()
    restore_weights(again, weights_of(network))
    batches = [each.collate(each.encode(texts_of(data)), np.arange(5)) for each in (network, again)]
    with torch.no_grad():
        torch.testing.assert_close(network(batches[0]), again(batches[1]), rtol=0, atol=0)


def test_vectors_of_a_file_are_taken_and_may_stay(tmp_path):
    file = tmp_path / "vectors.txt"
    file.write_text("holds 1 2 3\nsalt 4 5 6\n")
    train = tmp_path / "train.json"
    from tests.lab.training.test_span_target import as_squad

    train.write_text(as_squad(made_questions(8)))
    (job,) = plan_jobs(
        train, "docqa", {"test": train}, out=tmp_path / "runs", seeds=1, vectors=file,
        changes={**{name: size for name, size in TINY.items() if name != "vectors"}, "epochs": 1, "frozen": True},
    )  # fmt: skip
    done = run_job(job)
    assert done.words["found"] == 2
    (table,) = [_tensors(place)["vectors.weight"] for place in job.folder.rglob("*.safetensors")]
    words = json.loads(next(job.folder.rglob("vocabulary.json")).read_text())["words"]
    assert table[words.index("salt") + 2].tolist() == [4, 5, 6]


def _tensors(place):
    from safetensors.torch import load_file

    return load_file(place)


def test_it_reads_questions_alone():
    assert find_network("docqa", "span") == "docqa"
    with pytest.raises(InputError, match=in_order("docqa", "SQuAD's or ReCoRD's")):
        find_network("docqa")
    with pytest.raises(InputError, match=in_order("bilstm", "docqa", "transformers")):
        find_network("bilstm", "span")
