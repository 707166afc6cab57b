from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax

from goldassay.errors import InputError
from goldassay.models import QuickProbe
from goldassay.models.quick_probe import _stratified_bootstrap


def made(n_classes=3, n=600, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n)
    informative = (rng.random((n, n_classes)) < 0.2 + 0.6 * np.eye(n_classes)[labels]).astype(np.float32)
    noise = (rng.random((n, 50)) < 0.1).astype(np.float32)
    return sparse.csr_matrix(np.hstack([informative, noise])), labels


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_learns_what_is_there(n_classes):
    features, labels = made(n_classes)
    test, gold = made(n_classes, seed=1)
    fitted = QuickProbe().fit(features, labels, n_classes, seed=0)
    logits = fitted.logits(test)
    assert logits.shape == (600, n_classes)
    assert logits.dtype == np.float32
    assert np.mean(logits.argmax(axis=1) == gold) > 1.4 / n_classes
    assert np.array_equal(logits.argmax(axis=1), fitted.model.predict(test))
    assert fitted.penalty in QuickProbe().penalties


@pytest.mark.parametrize("n_classes", [2, 3])
def test_softmax_of_the_logits_is_scikit_learns_distribution(n_classes):
    features, labels = made(n_classes)
    fitted = QuickProbe().fit(features, labels, n_classes, seed=0)
    assert softmax(fitted.logits(features), axis=1) == pytest.approx(fitted.model.predict_proba(features), abs=1e-5)


def test_same_seed_same_bits_other_seed_others():
    features, labels = made()
    one, again, other = (QuickProbe().fit(features, labels, 3, seed=seed).logits(features) for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_chooses_a_strong_penalty_where_there_is_nothing_to_learn():
    rng = np.random.default_rng(0)
    features = sparse.csr_matrix((rng.random((400, 800)) < 0.05).astype(np.float32))
    labels = (rng.random(400) < 0.2).astype(np.int64)
    assert QuickProbe(penalties=(1.0, 1e-6)).fit(features, labels, 2, seed=0).penalty == 1.0


def test_a_class_without_rows_is_never_predicted():
    features, labels = made(2)
    logits = QuickProbe().fit(features, labels + (labels > 0), 4, seed=0).logits(features)
    assert np.isfinite(logits).all()
    assert set(logits.argmax(axis=1)) == {0, 2}
    assert softmax(logits, axis=1)[:, [1, 3]].max() < 1e-6


def test_one_row_a_class_leaves_none_out():
    features = sparse.csr_matrix(np.eye(2, dtype=np.float32))
    fitted = QuickProbe().fit(features, np.array([0, 1]), 2, seed=0)
    assert fitted.logits(features).argmax(axis=1).tolist() == [0, 1]


def test_one_class_and_no_penalty_are_refused():
    features, _ = made()
    with pytest.raises(InputError, match="same label"):
        QuickProbe().fit(features, np.zeros(600, dtype=np.int64), 3, seed=0)
    with pytest.raises(InputError, match="no penalty"):
        QuickProbe(penalties=()).fit(*made(), 3, seed=0)


def test_bootstrap_keeps_label_counts_and_leaves_about_a_third_out():
    labels = np.repeat([0, 1, 2], [1000, 10, 1])
    drawn = _stratified_bootstrap(labels, np.random.default_rng(0))
    assert np.bincount(labels[drawn]).tolist() == [1000, 10, 1]
    assert 1 - np.unique(drawn).size / labels.size == pytest.approx(np.exp(-1), abs=0.05)


def test_says_what_it_is():
    probe = QuickProbe()
    assert "lower bound" in probe.description
    assert probe.description.endswith(".")
    assert "crossed" in probe.describe(paired=True)
    assert "crossed" not in probe.describe(paired=False)
