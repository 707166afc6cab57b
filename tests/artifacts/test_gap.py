import numpy as np
import pytest

from goldassay.artifacts import difficulty_gap
from goldassay.core.errors import InputError
from goldassay.data.reading import read_dataset
from goldassay.questions.artifacts.gaps import classes_by_text
from goldassay.runs.reading import read_runs
from goldassay.runs.runs import Runs
from goldassay.stats.subsets import accuracy_by_subset
from tests.stated import in_order

IDS = [f"x{i}" for i in range(40)]
CLASSES = {name: ("easy" if i < 10 else "hard" if i < 25 else "uncovered") for i, name in enumerate(IDS[:30])}


def runs(R=3, T=None, seed=0):
    shape = (R, len(IDS)) if T is None else (R, T, len(IDS))
    scores = np.random.default_rng(seed).integers(0, 2, shape).astype(float)
    return Runs.from_arrays(scores=scores, example_ids=IDS)


class TestDifficultyGap:
    def test_aligns_by_id(self):
        shuffled = dict(sorted(CLASSES.items(), reverse=True))
        found = difficulty_gap(runs(), shuffled)
        scores = runs().scores
        assert found["full"].accuracy == pytest.approx(scores.mean())
        assert found["easy"].accuracy == pytest.approx(scores[:, :10].mean())
        assert found["hard"].accuracy == pytest.approx(scores[:, 10:25].mean())
        assert found["uncovered"].n == 5
        assert found.delta == pytest.approx(scores[:, :10].mean() - scores[:, 10:25].mean())
        assert found.delta_low < found.delta < found.delta_high

    def test_is_accuracy_by_subset(self):
        masks = {"full": [True] * 40}
        masks |= {name: [CLASSES.get(i) == name for i in IDS] for name in ("easy", "hard", "uncovered")}
        assert difficulty_gap(runs(), CLASSES, seed=4) == accuracy_by_subset(runs().scores, masks, seed=4)

    def test_last_checkpoint(self):
        many = runs(T=3)
        assert difficulty_gap(many, CLASSES) == difficulty_gap(many.final(), CLASSES)

    def test_an_empty_subset_says_why(self):
        found = difficulty_gap(runs(), {"x0": "easy", "x1": "easy"})
        assert np.isnan(found.delta)
        assert found.reason == "no example is hard"

    def test_strange_ids(self):
        with pytest.raises(InputError, match=in_order("1 of 31 examples", "subsets", "'y1'")):
            difficulty_gap(runs(), CLASSES | {"y1": "easy"})

    def test_other_classes(self):
        with pytest.raises(InputError, match="no example is easy or hard; the classes are noun"):
            difficulty_gap(runs(), {"x0": "noun"})


@pytest.fixture(scope="module")
def published(data_dir):
    """Example id to class of the published subsets of SNLI's test set, by threshold; found by their texts."""
    test = data_dir / "snli/test_9824.tsv.gz"
    folder = data_dir / "golden/hyponli"
    if not test.exists() or not folder.is_dir():
        pytest.skip("no published subsets")
    dataset = read_dataset(test)

    def classes(threshold):
        files = {name: folder / f"snli_test_{name}_lambda{threshold}.tsv.gz" for name in ("easy", "hard")}
        return dict(classes_by_text(files, dataset).select("example_id", "class").iter_rows())

    return classes


class TestPublishedSubsets:
    @pytest.mark.parametrize(("threshold", "easy", "hard"), [("0.8", 1760, 327), ("0.7", 3056, 886)])
    def test_their_rows_are_found_in_the_raw_test_set(self, published, threshold, easy, hard):
        found = list(published(threshold).values())
        assert [found.count(name) for name in ("easy", "hard")] == [easy, hard]

    def test_real_runs_lean_on_the_patterns(self, published, data_dir):
        file = data_dir / "predictions/snli_test_runs/correct.tsv.gz"
        if not file.exists():
            pytest.skip("no runs")
        classes = published("0.8")

        def measured(model):
            return difficulty_gap(read_runs(file, model=model), classes, n_draws=200)

        whole, little = measured("bert-base-cased_snli_std_test"), measured("bert-base-cased_snli_std_test*_0.05")
        blind = measured("bert-base-cased_snli_hypothesis_test")
        # The paper prints 90.5/98.2/71.2 for BERT trained on all data.
        assert whole["full"].accuracy == pytest.approx(0.905, abs=0.01)
        assert whole["easy"].accuracy == pytest.approx(0.982, abs=0.01)
        assert whole["hard"].accuracy == pytest.approx(0.712, abs=0.03)
        assert little.n_runs == 3
        assert whole.delta < little.delta < blind.delta
