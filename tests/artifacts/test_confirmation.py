import json
import random

import numpy as np
import pytest
from scipy.stats import binomtest, false_discovery_control

from goldassay.artifacts import confirm_patterns, mine_patterns
from goldassay.core.errors import InputError


def corpus(seed, lean, n=3000):
    """Sentences in which `cue` goes with x at the rate `lean` and ten other words with nothing."""
    rng = random.Random(seed)
    sentences, labels = [], []
    for _ in range(n):
        words = rng.choices("abcdefghij", k=4)
        label = rng.choice("xy")
        if rng.random() < 0.2:
            words.append("cue")
            label = "x" if rng.random() < lean else "y"
        sentences.append(" ".join(words))
        labels.append(label)
    return sentences, labels


def test_confirms_what_holds_and_not_what_does_not():
    mined = mine_patterns(*corpus(0, 0.9), max_tokens=1, min_count=20).top("x", 1)
    assert mined.to_frame()["pattern"].to_list() == ["cue"]
    assert confirm_patterns(mined, *corpus(1, 0.9)).n_confirmed == 1
    assert confirm_patterns(mined, *corpus(2, 0.5)).n_confirmed == 0


def test_columns_equal_their_definition():
    table = mine_patterns(*corpus(0, 0.8), max_tokens=2, min_count=60).select(0.5)
    sentences, labels = corpus(1, 0.8, 400)
    found = confirm_patterns(table, sentences, labels).to_frame()
    share = {label: labels.count(label) / len(labels) for label in "xy"}
    counted = table.count_in(sentences, labels)
    p = [
        binomtest(
            row["counts"]["xy".index(row["label"])], row["support"], share[row["label"]], alternative="greater"
        ).pvalue
        for row in counted.iter_rows(named=True)
        if row["support"]
    ]
    present = found.filter(found["test_support"] > 0)
    assert present["p_value"].to_list() == pytest.approx(p)
    assert present["q_value"].to_list() == pytest.approx(false_discovery_control(p))
    assert (present["confirmed"] == (present["q_value"] <= 0.05)).all()


def test_absent_patterns_are_not_tested():
    table = mine_patterns(*corpus(0, 0.9), max_tokens=1, min_count=20).top("x", 1)
    confirmation = confirm_patterns(table, ["nothing"], ["x"])
    assert (confirmation.n_patterns, confirmation.n_present, confirmation.n_confirmed) == (1, 0, 0)
    assert np.isnan(confirmation.share_confirmed)
    assert confirmation.to_frame()["confirmed"].to_list() == [False]
    assert json.loads(json.dumps(confirmation.to_dict()))["share_confirmed"] is None


def test_no_patterns():
    table = mine_patterns(*corpus(0, 0.5), max_tokens=1, min_count=20).select(0.95)
    assert confirm_patterns(table, *corpus(1, 0.5)).n_patterns == 0


def test_refuses_a_strange_q():
    table = mine_patterns(*corpus(0, 0.9), max_tokens=1, min_count=20)
    with pytest.raises(InputError, match="q is 1"):
        confirm_patterns(table, ["a"], ["x"], q=1)


def test_copies_of_a_sentence_confirm_no_more_than_one():
    mined = mine_patterns(*corpus(0, 0.9), max_tokens=1, min_count=20).top("x", 1)
    sentences = [*["cue a"] * 8, *["b c"] * 40]
    labels = [*"xxxxxyyy", *"xy" * 20]
    n = len(sentences)
    plain, alone = (confirm_patterns(mined, sentences, labels, clusters=each) for each in (None, np.arange(n)))
    assert alone.to_frame()["p_value"].to_list() == pytest.approx(plain.to_frame()["p_value"].to_list())
    copies = [sentences * 20, labels * 20]
    # Twenty copies are taken for as many sentences, unless it is said that they are copies.
    assert confirm_patterns(mined, *copies).n_confirmed == 1
    together = confirm_patterns(mined, *copies, clusters=np.tile(np.arange(n), 20))
    assert together.n_confirmed == alone.n_confirmed == 0
    assert together.to_frame()["p_value"].to_list() == pytest.approx(alone.to_frame()["p_value"].to_list(), abs=0.05)
