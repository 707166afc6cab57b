from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from goldassay.data.reading import read_dataset
from goldassay.readers.probes import describe_probe, train_probes

LABELS = ("entailment", "neutral", "contradiction")


def pairs(n=300, seed=0, name="made") -> Dataset:
    """Pairs whose label is a word of the hypothesis two times in three, and else is decided by overlap."""
    rng = np.random.default_rng(seed)
    nouns = [f"{chr(97 + i)}{chr(97 + j)}{chr(98 + i)}{chr(99 + j)}" for i in range(8) for j in range(6)]
    cues = {"entailment": "some", "neutral": "maybe", "contradiction": "never"}
    rows = []
    for i in range(n):
        label = LABELS[int(rng.integers(3))]
        thing, other = rng.choice(nouns, 2, replace=False)
        cue = cues[label] if rng.random() < 2 / 3 else rng.choice(list(cues.values()))
        said = thing if label == "entailment" else other
        rows.append(
            {
                "example_id": f"{name}-{i}",
                "premise": f"there is a {thing}",
                "hypothesis": f"{cue} a {said}",
                "label": label,
                "topic": f"topic {i % 3}",
            }
        )
    return Dataset(pl.DataFrame(rows), ("premise", "hypothesis"), LABELS, name, ("topic",))


def singles(n=200, seed=0) -> Dataset:
    rng = np.random.default_rng(seed)
    labels = [("bad", "good")[int(rng.integers(2))] for _ in range(n)]
    texts = [f"a {label if rng.random() < 0.8 else 'plain'} film" for label in labels]
    frame = pl.DataFrame({"example_id": [str(i) for i in range(n)], "text": texts, "label": labels})
    return Dataset(frame, ("text",), ("bad", "good"), "films")


def digest(runs) -> str:
    return hashlib.sha256(b"".join(run.logits.tobytes() for run in runs)).hexdigest()


def test_one_run_a_condition_and_seed_in_order():
    train, test = pairs(), pairs(90, 1, "test")
    said = []
    runs = list(train_probes(train, test, seeds=(3, 1), progress=lambda done, total: said.append((done, total))))
    conditions = ("paired", "premise_only", "hypothesis_only")
    assert [(run.condition, int(run.seeds[0])) for run in runs] == [(c, s) for c in conditions for s in (3, 1)]
    assert said == [(i, 6) for i in range(1, 7)]
    for run in runs:
        assert run.n_runs == 1
        assert run.logits.shape == (1, 90, 3)
        assert np.array_equal(run.predictions, run.logits.argmax(axis=-1))
        assert np.array_equal(run.gold, test.labels())
        assert run.example_ids.tolist() == test.examples["example_id"].to_list()
        assert run.groups["topic"].tolist() == test.examples["topic"].to_list()
        assert (run.model, run.dataset, run.train_set, run.split) == ("quick_probe", "test", "made", "test")
        assert run.label_names == LABELS


def test_finds_the_leak_where_it_is():
    accuracy = {}
    for run in train_probes(pairs(1500), pairs(600, 1), seeds=range(2)):
        accuracy.setdefault(run.condition, []).append(run.scores.mean())
    means = {condition: np.mean(values) for condition, values in accuracy.items()}
    assert means["premise_only"] < 0.42
    assert 0.7 < means["hypothesis_only"] < 0.84
    assert means["paired"] > means["hypothesis_only"] + 0.05


def test_seeds_differ():
    one, two = train_probes(pairs(), pairs(90, 1), conditions=["paired"], seeds=(0, 1))
    assert not np.array_equal(one.logits, two.logits)


def test_same_bits_whatever_the_threads_and_the_other_seeds():
    train, test = pairs(), pairs(90, 1)
    alone = digest(train_probes(train, test, n_jobs=1, seeds=(0, 1, 2)))
    assert digest(train_probes(train, test, n_jobs=4, seeds=(0, 1, 2))) == alone
    last = [digest(train_probes(train, test, seeds=seeds, conditions=["paired"])) for seeds in ((2,), (2,))]
    all_seeds = list(train_probes(train, test, seeds=(0, 1, 2), conditions=["paired"]))
    assert last[0] == last[1] == digest(all_seeds[-1:])


def test_single_texts_have_one_condition():
    runs = list(train_probes(singles(), singles(80, 1), seeds=range(2)))
    assert [run.condition for run in runs] == ["text", "text"]
    assert np.mean([run.scores.mean() for run in runs]) > 0.8
    with pytest.raises(InputError, match="does not apply"):
        train_probes(singles(), singles(), conditions=["hypothesis_only"])


def test_more_test_sets_cost_no_more_fits():
    train, test, extra = pairs(), pairs(60, 1, "near"), pairs(45, 2, "far")
    runs = list(train_probes(train, test, extra_tests=[extra], seeds=(0,), conditions=["paired"]))
    assert [(run.dataset, run.n_examples) for run in runs] == [("near", 60), ("far", 45)]
    alone = next(train_probes(train, test, seeds=(0,), conditions=["paired"]))
    assert np.array_equal(runs[0].logits, alone.logits)


def test_test_codes_follow_the_training_labels():
    train = pairs()
    two = pairs(60, 1, "two").take(pairs(60, 1).labels() != 1)
    renamed = Dataset(two.examples, two.text_columns, ("contradiction", "entailment"), "two")
    run = next(train_probes(train, renamed, seeds=(0,)))
    assert run.gold.tolist() == two.labels().tolist()


def test_large_training_sets_are_cut_to_a_fixed_subset():
    train, test = pairs(), pairs(60, 1)
    some = [list(train_probes(train, test, seeds=(1,), conditions=["paired"], max_rows=m)) for m in (100, 100, 300)]
    assert digest(some[0]) == digest(some[1])
    assert digest(some[0]) != digest(some[2])
    assert "100 of the 300" in describe_probe(train, max_rows=100)
    assert "the 300 training rows" in describe_probe(train)
    assert "crossed" not in describe_probe(singles())


def test_an_interrupt_keeps_what_is_done_and_leaves_no_thread():
    stream = train_probes(pairs(), pairs(60, 1))
    first = next(stream)
    with pytest.raises(KeyboardInterrupt):
        stream.throw(KeyboardInterrupt)
    assert first.condition == "paired"
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("probe")]


def test_leaving_early_leaves_no_thread():
    stream = train_probes(pairs(), pairs(60, 1))
    next(stream)
    stream.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("probe")]


def test_refuses_before_any_work():
    train = pairs()
    with pytest.raises(InputError, match="one class"):
        train_probes(train.take(train.labels() == 0), pairs(60, 1))
    with pytest.raises(InputError, match="lacks: bad, good"):
        train_probes(train, Dataset(singles().examples, ("text",), ("bad", "good"), "films"))
    with pytest.raises(InputError, match="same seed"):
        train_probes(train, pairs(60, 1), seeds=(1, 1))
    other = pairs(60, 1).examples.rename({"premise": "context"})
    with pytest.raises(InputError, match="context, hypothesis"):
        train_probes(train, Dataset(other, ("context", "hypothesis"), LABELS, "other"))
    unlabelled = Dataset(train.examples.drop("label"), train.text_columns, (), "blank")
    with pytest.raises(InputError, match="no labels"):
        train_probes(unlabelled, train)


def test_snli_sample_leaks_through_the_hypothesis(data_dir):
    train = read_dataset(data_dir / "snli" / "train_sample_18k.tsv.gz")
    test = read_dataset(data_dir / "snli" / "test_9824.tsv.gz")
    accuracy = {run.condition: run.scores.mean() for run in train_probes(train, test, seeds=(0,))}
    assert accuracy["premise_only"] < 0.36
    assert accuracy["hypothesis_only"] > 0.56
    assert accuracy["paired"] > 0.66


def test_an_interrupted_process_ends_soon_with_its_status():
    code = (
        "import sys\n"
        "from tests.readers.test_probes import pairs\n"
        "from goldassay.readers.probes import train_probes\n"
        "try:\n"
        "    for done, run in enumerate(train_probes(pairs(3000), pairs(50, 1), seeds=range(500))):\n"
        "        print(done, flush=True)\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(130)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"0\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert len(process.stdout.read().splitlines()) < 1000


def test_every_row_is_told_by_probes_of_the_other_folds_alone():
    train = pairs(400)
    folds = np.arange(400) % 4
    extra = pairs(70, 2, "extra")
    runs = list(train_probes(train, train, seeds=(0,), conditions=["paired"], folds=folds, extra_tests=[extra]))
    assert [run.dataset for run in runs] == ["made", "extra"]
    assert [run.n_examples for run in runs] == [400, 70]
    assert all(run.scores.mean() > 0.6 for run in runs)
    # Other labels within one fold change what all other folds are told, and nothing of its own.
    labels = train.examples["label"].to_numpy().copy()
    labels[folds == 1] = np.random.default_rng(0).permutation(labels[folds == 1])
    other = Dataset(train.examples.with_columns(label=pl.Series(labels)), train.text_columns, LABELS, "made")
    changed = next(train_probes(other, other, seeds=(0,), conditions=["paired"], folds=folds)).logits[0]
    same = (changed == runs[0].logits[0]).all(axis=1)
    assert same[folds == 1].all()
    assert not same[folds != 1].any()
