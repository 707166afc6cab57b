from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.preprocessing import normalize

from goldassay.core.errors import InputError
from goldassay.shift import measure_domain_shift, shared_texts

POOL = np.array([f"w{i}" for i in range(60)])


def texts(n: int, special: str, share: float, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join([*rng.choice(POOL, 8), *([special] if rng.random() < share else [])]) for _ in range(n)]


def test_no_shift_is_a_coin_and_a_clear_one_is_certain() -> None:
    same = measure_domain_shift(texts(200, "x", 0, 1), texts(200, "x", 0, 2))
    assert 0.35 < same.auroc < 0.65
    assert same.interval.low <= same.auroc <= same.interval.high
    apart = measure_domain_shift(texts(200, "king", 1, 1), texts(150, "fridge", 1, 2))
    assert apart.auroc > 0.99
    first = {word.side: word for word in reversed(apart.words)}
    assert (first["out"].word, first["in"].word) == ("fridge", "king")
    assert (first["out"].share_in, first["out"].share_out) == (0, 1)
    assert first["out"].z > 0 > first["in"].z
    assert apart.to_frame().columns == ["word", "side", "share_in", "share_out", "z"]
    assert (apart.n_in, apart.n_out) == (200, 150)


def test_copies_tell_nothing() -> None:
    # A copy among the training texts of the other side would make every text look like that side.
    own = texts(60, "x", 0, 1)
    same = measure_domain_shift(own, own, n_draws=50)
    assert 0.4 < same.auroc < 0.6
    # Each text five times over, all of one side: the copies must not be known already.
    repeated = measure_domain_shift(5 * texts(40, "x", 0, 1), 5 * texts(40, "x", 0, 2), n_draws=50)
    assert 0.3 < repeated.auroc < 0.7


def test_equals_folds_made_by_hand() -> None:
    own, other = texts(30, "king", 0.4, 1), texts(24, "ship", 0.4, 2)
    found = measure_domain_shift(own, other, n_folds=54, n_draws=5)
    both = [*own, *other]
    features = normalize(CountVectorizer(binary=True, min_df=2, token_pattern=r"\b\w+\b").fit_transform(both))
    side = np.repeat([0, 1], [30, 24])
    # 24 folds of 54 texts, whatever they are, score about as leaving out one does.
    model = LogisticRegression(C=10.0, solver="liblinear", class_weight="balanced")
    plain = roc_auc_score(side, cross_val_predict(model, features, side, cv=LeaveOneOut(), method="decision_function"))
    assert found.auroc == pytest.approx(plain, abs=0.05)


def test_z_is_the_log_odds_ratio_over_its_error() -> None:
    found = measure_domain_shift(["a b", "a c", "b c", "c c"], ["a b", "a b", "a d", "a d"], n_folds=2, n_draws=10)
    (word,) = (word for word in found.words if word.word == "d") if any(w.word == "d" for w in found.words) else (None,)
    # One-letter words count too: a is in 2 of 4 texts on one side and in all on the other.
    (a,) = (word for word in found.words if word.word == "a")
    odds = np.log(4.5 * 2.5 / (0.5 * 2.5))
    assert a.z == pytest.approx(odds / np.sqrt(1 / 4.5 + 1 / 0.5 + 1 / 2.5 + 1 / 2.5))
    assert word is not None
    assert (word.share_in, word.share_out) == (0, 0.5)


def test_large_sets_are_sampled_and_counted() -> None:
    found = measure_domain_shift(texts(90, "a", 0, 1), texts(50, "b", 0, 2), max_per_side=40, n_draws=10)
    assert (found.n_in, found.n_out) == (40, 40)
    assert sum(found.skipped.values()) == 60
    again = measure_domain_shift(texts(90, "a", 0, 1), texts(50, "b", 0, 2), max_per_side=40, n_draws=10)
    assert found.to_dict() == again.to_dict()


def test_what_cannot_be_told_apart_is_refused() -> None:
    for own in (["one"], ["one"] * 9, ["one x", "ONE  x"]):
        with pytest.raises(InputError, match="two different texts a side"):
            measure_domain_shift(own, ["two", "three"])
    with pytest.raises(InputError, match="1 of the texts are no strings, the first is None"):
        measure_domain_shift(["one", None], ["two", "three"])  # type: ignore[list-item]
    with pytest.raises(InputError, match="no word is in two texts"):
        measure_domain_shift(["a", "b"], ["c", "d"])


def test_shared_texts_are_found_whatever_their_case_and_spacing() -> None:
    assert shared_texts(["A  film.", "x"], ["a film.", "b", " X "]).tolist() == [True, False, True]
