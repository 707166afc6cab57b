from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from goldassay.core.errors import InputError
from goldassay.leakage import label_shares, pvi, usable_information
from tests.stated import in_order


def read(path):
    return pl.read_csv(path, separator="\t", quote_char=None)


def test_by_hand():
    result = usable_information([0.5, 0.25, 1.0], [0.25, 0.25, 0.5], correct=[True, False, True])
    assert result.pvi.tolist() == [1, 0, 1]
    assert result.information == pytest.approx(2 / 3)
    assert result.h_yb == pytest.approx(5 / 3)
    assert result.h_yx == pytest.approx(1)
    assert (result.information_right, result.information_wrong) == (1, 0)
    assert result.share_negative == 0
    assert result.n_clipped == 0
    assert result.to_frame().columns == ["example", "pvi"]


def test_mnli_golden_values(data_dir):
    frame = read(data_dir / "predictions" / "mnli_dev_matched_bert_cased_pvi.tsv.gz")
    h_yx = frame["h_yx"].to_numpy()
    h_yb = h_yx + frame["pvi"].to_numpy()
    result = usable_information(2**-h_yx, np.minimum(2**-h_yb, 1), correct=frame["correct"].to_numpy() == 1)
    assert result.n_examples == 9815
    assert frame["correct"].mean() == pytest.approx(0.833418, abs=1e-6)
    assert result.h_yx == pytest.approx(0.652228, abs=2e-6)
    assert result.information == pytest.approx(0.932411, abs=2e-6)
    assert result.h_yb == pytest.approx(1.584639, abs=2e-6)
    assert result.share_negative == pytest.approx(0.136526, abs=1e-6)
    assert result.information_right == pytest.approx(1.437335, abs=2e-6)
    assert result.information_wrong == pytest.approx(-1.593752, abs=2e-6)
    assert result.information_low < result.information < result.information_high
    codes = frame["gold_label"].rank("dense").to_numpy().astype(np.int64) - 1
    shares = label_shares(codes, codes)
    assert -np.log2(shares).mean() == pytest.approx(1.583435, abs=1e-6)
    assert result.h_yb >= -np.log2(shares).mean()


def test_snli_hypothesis_only_golden_values(data_dir):
    folder = data_dir / "predictions" / "snli_test_runs"
    name = "bert-base-cased_snli_hypothesis_test"
    h_yx = read(folder / "h_yx.tsv.gz")[name].to_numpy()
    summary = read(folder / "runs.tsv").filter(pl.col("run") == name)
    correct = read(folder / "correct.tsv.gz")[name].to_numpy()
    null = np.full(h_yx.size, 2 ** -summary["mean_H_yb"].item())
    result = usable_information(2**-h_yx, null, correct=correct == 1)
    assert correct.mean() == pytest.approx(0.703176, abs=1e-6)
    assert result.information == pytest.approx(0.570405, abs=2e-6)


def test_label_shares_stand_in_for_a_missing_null_model():
    gold = np.array([0, 0, 1, 2])
    own = usable_information([1.0] * 4, gold=gold)
    assert own.h_yb == pytest.approx(stats.entropy([0.5, 0.25, 0.25], base=2))
    assert "examples" in own.null
    trained = usable_information([1.0] * 4, gold=gold, train_gold=[0, 1, 2, 2])
    assert trained.h_yb >= own.h_yb
    assert "training set" in trained.null
    assert label_shares([0, 1, 2, 2], gold).tolist() == [0.25, 0.25, 0.25, 0.5]


def test_zero_probabilities_are_clipped_and_counted():
    result = usable_information([0.0, 1.0], [0.5, 0.5])
    assert result.n_clipped == 1
    assert result.pvi[0] == 1 - 1074


@given(st.integers(1, 30).flatmap(lambda n: st.tuples(*[hnp.arrays(np.float64, n, elements=st.floats(1e-6, 1))] * 2)))
def test_identities(case):
    q, q0 = case
    values = pvi(q, q0)
    assert (values <= -np.log2(q0) + 1e-12).all()
    assert pvi(q, q) == pytest.approx(np.zeros(q.size))
    result = usable_information(q, q0, n_draws=20)
    assert result.information == pytest.approx(result.h_yb - result.h_yx)
    assert math.isnan(result.information_right)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (([0.5], [0.5, 0.5]), "shape"),
        (([], []), "shape"),
        (([1.5], [0.5]), "outside"),
        (([float("nan")], [0.5]), "outside"),
        (([0.5],), "neither"),
    ],
)
def test_refuses(arguments, problem):
    with pytest.raises(InputError, match=problem):
        usable_information(*arguments)


def test_refuses_correctness_of_other_examples():
    with pytest.raises(InputError, match="correct has 3"):
        usable_information([0.5], [0.5], correct=[True] * 3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"gold": [0.2, 1]}, "labels must be whole numbers"),
        ({"gold": [-1, 1]}, "labels has negative codes"),
        ({"gold": [0, 1], "train_gold": []}, ("labels", "whole numbers", "at least one")),
        ({"gold": [0, 1], "n_draws": 0}, "n_draws is 0"),
        ({"gold": [0, 1], "seed": -1}, "seed is -1"),
        ({"gold": [0, 1], "level": 2}, "level is 2; choose a number between 0 and 1"),
        ({"gold": [0, 1], "gold_probabilities": ["a", "b"]}, "gold probabilities hold <U1"),
    ],
)
def test_settings_and_labels_out_of_range_are_named(settings, message):
    with pytest.raises(InputError, match=in_order(message)):
        usable_information(**{"gold_probabilities": [0.5, 0.5], **settings})
