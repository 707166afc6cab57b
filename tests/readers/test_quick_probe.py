"""The quick probe: what it learns, how penalty and calibration are chosen, folds, and input that cannot be used."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression

from goldassay.core.errors import InputError
from goldassay.readers import quick_probe
from goldassay.readers.probe_features import build_features, tokenize_roles
from goldassay.readers.quick_probe import Others, QuickProbe, _cluster_bootstrap, _stratified_bootstrap, deal_folds
from tests.lab.models.made_features import features_of, made
from tests.stated import in_order

EVERY = np.arange(600)


def accuracy(logits, gold) -> float:
    return float(np.mean(logits.argmax(axis=1) == gold))


def log_loss(logits, gold) -> float:
    return float(-log_softmax(logits.astype(float), axis=1)[np.arange(gold.size), gold].mean())


def noise(n: int, n_classes: int = 2, seed: int = 0):
    """Rows with many features, of which none tells the label."""
    rng = np.random.default_rng(seed)
    return features_of([rng.random((n, 300)) < 0.05]), rng.integers(0, n_classes, n)


@pytest.mark.parametrize("n_classes", [2, 3, 5, 20])
def test_learns_what_is_there(n_classes):
    features, labels = made(n_classes)
    test, gold = made(n_classes, seed=1)
    fitted = QuickProbe().fit(features, labels, n_classes, seed=0)
    logits = fitted.logits(test, EVERY)
    assert logits.shape == (600, n_classes)
    assert logits.dtype == np.float32
    assert accuracy(logits, gold) > 1.4 / n_classes
    assert fitted.penalty in QuickProbe().penalties
    peer = LogisticRegression(max_iter=1000).fit(features.matrix(), labels)
    assert log_loss(logits, gold) < 1.1 * log_loss(peer.predict_log_proba(test.matrix()), gold)


def test_logits_are_logarithms_of_probabilities():
    features, labels = made(3)
    logits = QuickProbe().fit(features, labels, 3, seed=0).logits(features, EVERY)
    assert np.exp(logits).sum(axis=1) == pytest.approx(np.ones(600), abs=1e-5)
    assert softmax(logits, axis=1) == pytest.approx(np.exp(logits), abs=1e-5)


def test_same_seed_same_bits_other_seed_others():
    features, labels = made()
    one, again, other = (QuickProbe().fit(features, labels, 3, seed=seed).logits(features, EVERY) for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_chooses_a_strong_penalty_where_there_is_nothing_to_learn():
    features, labels = noise(400)
    assert QuickProbe(penalties=(1000.0, 1e-3)).fit(features, labels, 2, seed=0).penalty == 1000.0


def test_chooses_a_weak_penalty_where_there_is_much_to_learn():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 3000)
    # Each of many rare features gives its label away.
    rare = np.zeros((3000, 200), bool)
    rare[np.arange(3000), 2 * rng.integers(0, 100, 3000) + labels] = True
    features = features_of([rare, rng.random((3000, 40)) < 0.5])
    fitted = QuickProbe(penalties=(3000.0, 1.0)).fit(features, labels, 2, seed=0)
    assert fitted.penalty == 1.0
    assert accuracy(fitted.logits(features, np.arange(3000)), labels) > 0.99


def test_of_equals_the_strongest_penalty_is_taken():
    features = features_of([np.zeros((60, 3), bool)])
    labels = np.arange(60) % 2
    assert QuickProbe(penalties=(8.0, 4.0, 2.0)).fit(features, labels, 2, seed=0).penalty == 8.0


@pytest.mark.parametrize("penalty", [0.01, 300.0])
def test_probabilities_are_calibrated_out_of_bag(penalty):
    """One penalty too weak, so that the fit is too sure, and one too strong: new rows are as often right as it says."""
    features, labels = made(2, 3000, tell=0.25)
    test, gold = made(2, 3000, seed=1, tell=0.25)
    # Two equal penalties: with a single one nothing is judged.
    logits = QuickProbe(penalties=(penalty, penalty)).fit(features, labels, 2, 0).logits(test, np.arange(3000))
    sure = np.exp(logits.max(axis=1).astype(float))
    assert sure.mean() == pytest.approx(accuracy(logits, gold), abs=0.03)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_rows(n_classes, monkeypatch):
    """Without a bootstrap a probe of weighted rows is a probe of repeated rows, and weight 0 leaves a row out."""
    monkeypatch.setattr(quick_probe, "_stratified_bootstrap", lambda labels, _: np.ones(labels.size, int))
    features, labels = made(n_classes, 120)
    weights = np.random.default_rng(0).integers(0, 4, 120)
    again = np.repeat(np.arange(120), weights)
    probe = QuickProbe(penalties=(3.0,), n_passes=200)
    weighted = probe.fit(features, labels, n_classes, 0, weights=weights).logits(features, np.arange(120))
    repeated = probe.fit(features, labels[again], n_classes, 0, rows=again).logits(features, np.arange(120))
    plain = probe.fit(features, labels, n_classes, 0).logits(features, np.arange(120))
    assert weighted == pytest.approx(repeated, abs=5e-3)
    assert np.abs(weighted - plain).max() > 0.1


def test_more_rows_than_penalties_are_tried_on_are_all_learnt(monkeypatch):
    features, labels = made(3, 3000)
    test, gold = made(3, 600, seed=1)
    whole = QuickProbe().fit(features, labels, 3, 0)
    monkeypatch.setattr(quick_probe, "SEARCH_ROWS", 500)
    some = QuickProbe().fit(features, labels, 3, 0)
    few = QuickProbe().fit(features, labels[:500], 3, 0)
    losses = [log_loss(each.logits(test, EVERY), gold) for each in (whole, some, few)]
    assert losses[1] == pytest.approx(losses[0], abs=0.02)
    assert losses[1] < losses[2]


def test_a_class_without_rows_is_never_predicted():
    features, labels = made(2)
    logits = QuickProbe().fit(features, labels + (labels > 0), 4, seed=0).logits(features, EVERY)
    assert np.isfinite(logits).all()
    assert set(logits.argmax(axis=1)) == {0, 2}
    assert 0 < softmax(logits, axis=1)[:, [1, 3]].max() < 1e-6


def test_one_row_a_class_leaves_none_out():
    features = features_of([np.eye(2, dtype=bool)])
    fitted = QuickProbe().fit(features, np.array([0, 1]), 2, seed=0)
    logits = fitted.logits(features, np.arange(2))
    assert logits.argmax(axis=1).tolist() == [0, 1]
    assert np.exp(logits.astype(float)).max() < 1


def test_a_thousand_labels_of_one_row_each():
    features = features_of([np.eye(1000, dtype=bool)])
    logits = QuickProbe().fit(features, np.arange(1000), 1000, seed=0).logits(features, np.arange(1000))
    assert np.isfinite(logits).all()
    assert np.exp(logits.astype(float)).max() < 1
    assert np.exp(logits.astype(float)).min() > 0


@pytest.mark.slow
def test_a_thousand_labels_are_learnt():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(1000), 4)
    present = np.zeros((4000, 1000), bool)
    present[np.arange(4000), labels] = True
    features = features_of([present, rng.random((4000, 20)) < 0.2])
    logits = (
        QuickProbe(penalties=(10.0, 0.1), n_passes=3).fit(features, labels, 1000, 0).logits(features, np.arange(4000))
    )
    assert accuracy(logits, labels) > 0.9
    assert np.exp(logits.astype(float)).max() < 1


def test_empty_texts_have_the_label_shares():
    features = build_features(tokenize_roles({"premise": [""] * 400, "hypothesis": [""] * 400}), 400)
    labels = np.repeat([0, 1], [300, 100])
    logits = QuickProbe().fit(features, labels, 2, 0).logits(features, np.arange(400))
    assert np.exp(logits[:, 0]) == pytest.approx(np.full(400, 0.75), abs=0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": np.zeros(600, int)}, "same label"),
        ({"weights": np.zeros(600)}, "all weights are 0"),
        ({"weights": np.ones(599)}, r"shape \(599,\) for 600 rows"),
        ({"weights": np.full(600, -1.0)}, "negative or no number"),
        ({"weights": np.full(600, np.nan)}, "negative or no number"),
        ({"clusters": np.zeros(5)}, r"clusters have shape \(5,\), and there are 600 rows"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments, message):
    features, labels = made()
    for call in (QuickProbe().fit, QuickProbe().cross_fit):
        with pytest.raises(InputError, match=message):
            call(features, **{"labels": labels, **arguments}, n_classes=3, seed=0)


@pytest.mark.parametrize("penalties", [(), (1.0,) * 9, (0.0, 1.0), (-1.0,), (float("inf"),)])
def test_penalties_that_cannot_be_tried_are_refused(penalties):
    with pytest.raises(InputError, match="no penalty"):
        QuickProbe(penalties=penalties).fit(*made(), 3, seed=0)


def test_weights_that_leave_one_label_are_refused():
    features, labels = made()
    with pytest.raises(InputError, match="same label"):
        QuickProbe().fit(features, labels, 3, 0, weights=labels == 1)


def test_bootstrap_keeps_label_counts_and_leaves_about_a_third_out():
    labels = np.repeat([0, 1, 2], [1000, 10, 1])
    counts = _stratified_bootstrap(labels, np.random.default_rng(0))
    assert [counts[labels == label].sum() for label in range(3)] == [1000, 10, 1]
    assert (counts == 0).mean() == pytest.approx(np.exp(-1), abs=0.05)


def test_bootstrap_of_clusters_draws_whole_clusters():
    clusters = np.repeat(np.arange(300), 3)
    counts = _cluster_bootstrap(clusters, np.random.default_rng(0)).reshape(300, 3)
    assert (counts == counts[:, :1]).all()
    assert counts[:, 0].sum() == 300
    assert (counts[:, 0] == 0).mean() == pytest.approx(np.exp(-1), abs=0.08)


def test_clusters_are_left_out_of_bag_together():
    """Copies of a row in one cluster: out of bag no copy was learnt, so that learning rows by heart is not rewarded."""
    rng = np.random.default_rng(0)
    one, labels = (rng.random((300, 400)) < 0.03), rng.integers(0, 2, 300)
    features = features_of([np.repeat(one, 6, axis=0)])
    gold, clusters = np.repeat(labels, 6), np.repeat(np.arange(300), 6)
    apart, together = (
        QuickProbe().fit(features, gold, 2, 0, clusters=given).logits(features, np.arange(0, 1800, 6))
        for given in (None, clusters)
    )
    assert np.exp(apart.max(axis=1)).mean() > 0.9
    assert np.exp(together.max(axis=1)).mean() < 0.7


class TestCrossFit:
    def test_predicts_what_is_there_and_nothing_else(self):
        features, labels = made()
        found = QuickProbe().cross_fit(features, labels, 3, 0)
        assert found.logits.shape == (600, 3)
        assert accuracy(found.logits, labels) > 0.5
        assert len(found.penalties) == 5
        assert not found.remarks
        told = QuickProbe().cross_fit(*noise(600), 2, 0)
        assert log_loss(told.logits, noise(600)[1]) > np.log(2) - 0.02

    def test_no_label_of_a_fold_has_a_part_in_its_predictions(self):
        features, labels = made()
        found = QuickProbe().cross_fit(features, labels, 3, 0)
        own = found.folds == 2
        changed = np.where(own, (labels + 1) % 3, labels)
        again = QuickProbe().cross_fit(features, changed, 3, 0)
        assert np.array_equal(found.folds, again.folds)
        assert np.array_equal(found.logits[own], again.logits[own])
        assert not np.array_equal(found.logits[~own], again.logits[~own])

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_entries_shared_by_folds_change_no_bit(self, monkeypatch, n_classes):
        features, labels = made(n_classes)
        shared = QuickProbe().cross_fit(features, labels, n_classes, 0)
        monkeypatch.setattr(quick_probe, "SHARED_ENTRIES", 0)
        assert np.array_equal(QuickProbe().cross_fit(features, labels, n_classes, 0).logits, shared.logits)

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_fits_of_many_rows_begin_where_the_search_ended(self, monkeypatch, n_classes):
        """Penalties are tried on some rows; two passes over all from there are as good as many from nothing."""
        features, labels = made(n_classes)
        monkeypatch.setattr(quick_probe, "_share", lambda rows, *_: 200 if rows == quick_probe.SEARCH_ROWS else rows)
        begun = QuickProbe().cross_fit(features, labels, n_classes, 0).logits
        monkeypatch.setattr(quick_probe.PenaltyPath, "start", lambda *_: None)
        # Without a start there are eight passes, since these rows are few.
        whole = QuickProbe().cross_fit(features, labels, n_classes, 0).logits
        assert not np.array_equal(begun, whole)
        assert log_loss(begun, labels) == pytest.approx(log_loss(whole, labels), abs=0.01)

    def test_copies_in_one_cluster_are_not_known_by_heart(self):
        rng = np.random.default_rng(0)
        present, labels = rng.random((200, 300)) < 0.05, rng.integers(0, 2, 200)
        features, gold = features_of([np.repeat(present, 3, axis=0)]), np.repeat(labels, 3)
        together = QuickProbe().cross_fit(features, gold, 2, 0, clusters=np.repeat(np.arange(200), 3))
        apart = QuickProbe().cross_fit(features, gold, 2, 0)
        assert accuracy(apart.logits, gold) > 0.9
        assert accuracy(together.logits, gold) < 0.6

    @settings(max_examples=40, deadline=None)
    @given(st.lists(st.integers(0, 30), min_size=2, max_size=200), st.integers(2, 6), st.integers(0, 100))
    def test_no_cluster_is_in_two_folds(self, clusters, n_folds, seed):
        codes = np.unique(clusters, return_inverse=True)[1]
        folds = deal_folds(codes, n_folds, np.random.default_rng(seed))
        assert set(folds) <= set(range(n_folds))
        assert all(len(set(folds[codes == code])) == 1 for code in set(codes))
        # A fold is off by a cluster at each of its ends at most.
        largest = np.bincount(codes).max()
        assert np.bincount(folds, minlength=n_folds).max() <= len(clusters) / n_folds + largest + 1

    def test_names_of_clusters_do_not_matter(self):
        features, labels = made()
        clusters = np.random.default_rng(0).integers(0, 90, 600)
        one = QuickProbe().cross_fit(features, labels, 3, 0, clusters=clusters)
        names = np.array([f"cluster {number:03}" for number in clusters])
        other = QuickProbe().cross_fit(features, labels, 3, 0, clusters=names)
        assert np.array_equal(one.logits, other.logits)

    def test_folds_that_were_dealt_are_taken_and_one_label_outside_is_named(self):
        features, labels = made(2)
        one = np.flatnonzero(labels == 1)[:1]
        gold, folds = np.zeros(600, int), np.arange(600) % 3
        gold[one] = 1
        found = QuickProbe().cross_fit(features, gold, 2, 0, folds=folds, others=Others(np.arange(6), np.arange(6) % 3))
        np.testing.assert_array_equal(found.folds, folds)
        assert len(found.penalties) == 2
        assert (found.logits[folds == folds[one], 0] == 0).all()
        np.testing.assert_array_equal(found.others, found.logits[:6])

    def test_a_label_that_one_fold_has_alone_is_told(self):
        features, labels = made(2)
        labels = labels.copy()
        labels[:4] = 2
        clusters = np.concatenate([np.zeros(4, int), np.arange(1, 597)])
        found = QuickProbe().cross_fit(features, labels, 3, 0, clusters=clusters)
        (remark,) = found.remarks
        assert remark.startswith(f"Label 2 has no row outside fold {found.folds[0] + 1}: ")
        assert np.exp(found.logits[:4, 2].astype(float)) == pytest.approx(2e-7, rel=0.01)
        assert np.isfinite(found.logits).all()

    def test_rows_of_weight_zero_are_predicted_and_teach_nothing(self):
        features, labels = made()
        weights = np.ones(600)
        weights[:100] = 0
        found = QuickProbe().cross_fit(features, labels, 3, 0, weights=weights)
        changed = labels.copy()
        changed[:100] = 0
        again = QuickProbe().cross_fit(features, changed, 3, 0, weights=weights)
        assert np.array_equal(found.logits, again.logits)
        assert accuracy(found.logits[:100], labels[:100]) > 0.45

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"clusters": np.arange(600) % 3}, ("3 clusters", "5 folds")),
            ({"n_folds": 1}, "n_folds is 1"),
            ({"clusters": "labels", "n_folds": 2}, ("fold 1 of 2", "same label")),
        ],
    )
    def test_what_cannot_be_dealt_is_refused(self, arguments, message):
        features, labels = made(2)
        if isinstance(arguments.get("clusters"), str):
            arguments = {**arguments, "clusters": labels}
        with pytest.raises(InputError, match=in_order(message)):
            QuickProbe().cross_fit(features, labels, 2, 0, **arguments)


def test_same_bits_on_one_core_and_on_two():
    code = (
        "import hashlib, sys\n"
        "from goldassay.readers.quick_probe import QuickProbe\n"
        "from tests.lab.models.made_features import made\n"
        "features, labels = made(3, 500)\n"
        "found = QuickProbe().cross_fit(features, labels, 3, 0)\n"
        "print(hashlib.sha256(found.logits.tobytes()).hexdigest())\n"
    )
    features, labels = made(3, 500)
    here = hashlib.sha256(QuickProbe().cross_fit(features, labels, 3, 0).logits.tobytes()).hexdigest()
    # As many threads as the libraries take by themselves, whatever the tests are run with.
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    one_core = f"import os; os.sched_setaffinity(0, {{min(os.sched_getaffinity(0))}})\n{code}"
    for text in (code, *([one_core] if hasattr(os, "sched_setaffinity") else [])):
        there = subprocess.run(
            [sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=True
        )
        assert there.stdout.strip() == here


def test_shuffled_labels_are_not_read():
    """The mean over 20 draws is within two standard errors of the majority share, or below."""
    rng = np.random.default_rng(0)
    features, labels = made(3, 900)
    found = []
    for draw in range(20):
        shuffled = rng.permutation(labels)
        logits = QuickProbe().fit(features, shuffled[:600], 3, draw).logits(features, np.arange(600, 900))
        gold = shuffled[600:]
        found.append(accuracy(logits, gold) - np.bincount(gold).max() / gold.size)
    assert np.mean(found) <= 2 * np.std(found, ddof=1) / np.sqrt(20)


def test_says_what_it_is():
    probe = QuickProbe()
    assert "lower bound" in probe.description
    assert probe.description.endswith(".")
    assert "crossed" in probe.describe(paired=True)
    assert "crossed" not in probe.describe(paired=False)
