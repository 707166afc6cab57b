from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.covariance import LedoitWolf

from goldassay.core.errors import InputError
from goldassay.shift import fit_mahalanobis, score_mahalanobis


def training(n: int = 300, d: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    mixing = rng.normal(size=(d, d))
    return rng.normal(size=(n, d)) @ mixing + 4 * labels[:, None] * rng.normal(size=d), labels


def residuals(features: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return features - np.stack([features[labels == label].mean(axis=0) for label in labels])


def test_equals_scipy_distances() -> None:
    features, labels = training()
    tested = np.random.default_rng(1).normal(0, 5, (5000, 5))
    centered = residuals(features, labels)
    precision = np.linalg.inv(centered.T @ centered / len(features))
    means = np.stack([features[labels == label].mean(axis=0) for label in range(3)])
    expected = cdist(tested, means, "mahalanobis", VI=precision).min(axis=1) ** 2
    assert score_mahalanobis(tested, features, labels) == pytest.approx(expected)
    fitted = fit_mahalanobis(features, labels)
    assert (fitted.shrinkage, fitted.singular, fitted.note, fitted.classes) == (0, False, "", ("0", "1", "2"))


def test_unchanged_by_invertible_maps_and_names_of_classes() -> None:
    features, labels = training()
    tested = np.random.default_rng(1).normal(0, 5, (50, 5))
    map_ = np.random.default_rng(2).normal(size=(5, 5))
    plain = score_mahalanobis(tested, features, labels)
    assert score_mahalanobis(tested @ map_ + 7, features @ map_ + 7, labels) == pytest.approx(plain)
    assert score_mahalanobis(tested, features, np.array(["b", "c", "a"])[labels]) == pytest.approx(plain)


def test_a_singular_covariance_is_shrunk_and_said() -> None:
    features, labels = training(n=20, d=40)
    fitted = fit_mahalanobis(features, labels)
    centered = residuals(features, labels)
    reference = LedoitWolf(assume_centered=True).fit(centered)
    assert fitted.singular
    assert fitted.shrinkage == pytest.approx(reference.shrinkage_)
    assert "cannot span 40 dimensions" in fitted.note
    means = np.stack([features[labels == label].mean(axis=0) for label in range(3)])
    tested = np.random.default_rng(1).normal(0, 5, (10, 40))
    expected = cdist(tested, means, "mahalanobis", VI=reference.precision_).min(axis=1) ** 2
    assert fitted.score(tested) == pytest.approx(expected)
    with pytest.warns(UserWarning, match="is singular"):
        assert score_mahalanobis(tested, features, labels) == pytest.approx(expected)
    assert "shrinkage" in fitted.to_dict()


def test_dimensions_that_follow_from_others() -> None:
    features, labels = training()
    doubled = np.c_[features, features[:, 0], np.ones(len(features))]
    fitted = fit_mahalanobis(doubled, labels)
    assert fitted.singular
    assert fitted.shrinkage > 0
    assert "constant or follow from others" in fitted.note
    assert np.isfinite(fitted.score(doubled)).all()


def test_missing_labels_are_a_class_of_their_own() -> None:
    """Class a has 0 and 2, no label 10 and 12: means 1 and 11, and 1 is the variance within both."""
    features, labels = np.array([[0.0], [2.0], [10.0], [12.0]]), np.array(["a", "a", None, None], dtype=object)
    fitted = fit_mahalanobis(features, labels)
    assert (fitted.classes, fitted.means.tolist()) == (("None", "a"), [[11.0], [1.0]])
    assert score_mahalanobis([[3.0], [11.0], [6.0]], features, labels) == pytest.approx([4.0, 0.0, 25.0])
    assert fit_mahalanobis(features, ["a", "a", None, None]).classes == ("None", "a")


def test_shrinkage_by_hand() -> None:
    features, labels = training()
    spherical = fit_mahalanobis(features, labels, shrinkage=1.0)
    means = np.stack([features[labels == label].mean(axis=0) for label in range(3)])
    scale = np.square(residuals(features, labels)).mean()
    tested = features[:10] + 1
    assert spherical.score(tested) == pytest.approx(cdist(tested, means, "sqeuclidean").min(axis=1) / scale)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda x, y: fit_mahalanobis(x, y[:-1]), "labels of shape"),
        (lambda x, y: fit_mahalanobis(x * np.nan, y), "not finite"),
        (lambda x, y: fit_mahalanobis(np.ones_like(x), y), "do not vary"),
        (lambda x, y: fit_mahalanobis(x * 1e200, y), "too large"),
        (lambda x, y: fit_mahalanobis(x, y, shrinkage=2.0), "shrinkage is 2.0"),
        (lambda x, y: fit_mahalanobis(x[:4], y[:4], shrinkage=0.0), "singular"),
        (lambda x, y: fit_mahalanobis(x, y).score(x[:, :3]), "3 dimensions, training features 5"),
        (lambda x, y: fit_mahalanobis(np.empty((0, 5)), []), "no training features"),
    ],
)
def test_bad_input(call, problem) -> None:
    with pytest.raises(InputError, match=problem), warnings.catch_warnings():
        warnings.simplefilter("error")
        call(*training())
