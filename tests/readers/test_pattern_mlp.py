import numpy as np
import pytest
from scipy.sparse import csr_matrix

from goldassay.core.errors import InputError
from goldassay.readers.probes import PatternMLP


@pytest.fixture(scope="module")
def parity():
    """Labels that no linear model reads: whether the two features differ."""
    rng = np.random.default_rng(0)
    features = rng.integers(0, 2, (800, 2))
    return csr_matrix(features.astype(np.float32)), (features[:, 0] != features[:, 1]).astype(np.int64)


def test_reads_what_features_say_together(parity):
    features, labels = parity
    predicted = PatternMLP(max_epochs=300, patience=50).predict(features[:600], labels[:600], features[600:], seed=0)
    assert (predicted == labels[600:]).mean() > 0.95


def test_same_seed_same_predictions(parity):
    features, labels = parity
    first, again = (PatternMLP(max_epochs=3).predict(features, labels, features, seed=4) for _ in range(2))
    assert first.tolist() == again.tolist()


def test_without_features_the_most_frequent_label():
    nothing = csr_matrix((5, 0), dtype=np.float32)
    assert PatternMLP().predict(nothing, np.array([2, 1, 2, 0, 1]), nothing[:2], 0).tolist() == [1, 1]


def test_codes_stay_what_they_are():
    rng = np.random.default_rng(1)
    labels = rng.choice([1, 3], 200)
    features = csr_matrix((labels == 3).astype(np.float32)[:, None])
    assert PatternMLP(patience=20).predict(features, labels, features, 0).tolist() == labels.tolist()


def test_too_few_rows():
    features = csr_matrix(np.ones((19, 1), np.float32))
    with pytest.raises(InputError, match="too few rows to hold a tenth out"):
        PatternMLP().predict(features, np.arange(19) % 2, features, 0)


def test_an_interruption_is_not_swallowed(parity, monkeypatch):
    from sklearn.neural_network import MLPClassifier

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    # Called once an epoch, inside of what scikit-learn catches.
    monkeypatch.setattr(MLPClassifier, "_update_no_improvement_count", interrupted)
    with pytest.raises(KeyboardInterrupt):
        PatternMLP(max_epochs=3).predict(*parity, parity[0], seed=0)
