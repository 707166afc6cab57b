import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import jaccard_score

from goldassay.artifacts import assign_by_classifier, compare_difficulty
from goldassay.core.errors import InputError
from tests.stated import in_order


class TestAssign:
    def test_one_classifier(self):
        found = assign_by_classifier([0, 1, 2, 0], [0, 1, 1, 2])
        assert found.classes.tolist() == ["easy", "easy", "hard", "hard"]
        assert found.summary == {"easy": 2, "hard": 2}
        assert found.easy_share == 0.5
        assert found.n_runs == 1

    def test_more_than_half_must_be_right(self):
        found = assign_by_classifier([[0, 0, 0], [0, 1, 1], [0, 1, 0], [0, 0, 1]], [0, 0, 0])
        assert found.share_right.tolist() == [1, 0.5, 0.5]
        assert found.classes.tolist() == ["easy", "hard", "hard"]

    @given(st.integers(1, 5), st.integers(1, 30), st.integers(0, 2**32 - 1))
    def test_summary(self, R, N, seed):
        rng = np.random.default_rng(seed)
        predictions, gold = rng.integers(0, 3, (R, N)), rng.integers(0, 3, N)
        found = assign_by_classifier(predictions, gold)
        right = (predictions == gold).sum(axis=0)
        assert [name == "easy" for name in found.classes] == (2 * right > R).tolist()
        assert sum(found.summary.values()) == N == found.to_dict()["n_examples"]
        assert found.to_frame().height == N
        assert found.easy_share in found.easy_share_interval

    @pytest.mark.parametrize(("predictions", "gold"), [([0, 1], [0]), ([], []), ([[[0]]], [0])])
    def test_shapes(self, predictions, gold):
        with pytest.raises(InputError, match="predictions have shape"):
            assign_by_classifier(predictions, gold)


class TestCompare:
    def test_against_scikit_learn(self):
        rng = np.random.default_rng(0)
        first = rng.choice(["easy", "hard", "conflicting", "uncovered"], 200)
        second = rng.choice(["easy", "hard"], 200)
        found = compare_difficulty(first, second)
        assert found.hard_jaccard == pytest.approx(jaccard_score(first == "hard", second == "hard"))
        assert found.easy_jaccard == pytest.approx(jaccard_score(first == "easy", second == "easy"))
        table = found.to_frame()
        assert table["n"].sum() == 200
        assert table.group_by("by_patterns").agg("share")["share"].list.sum().to_list() == pytest.approx([1.0] * 4)
        decided = np.isin(first, ["easy", "hard"])
        assert found.agreement == (first == second)[decided].mean()

    def test_equal_rules_agree(self):
        classes = ["easy", "hard", "hard"]
        found = compare_difficulty(classes, classes)
        assert (found.agreement, found.hard_jaccard, found.easy_jaccard) == (1, 1, 1)

    def test_nothing_to_agree_on(self):
        found = compare_difficulty(["uncovered"], ["hard"])
        assert np.isnan([found.agreement, found.easy_jaccard]).all()
        assert found.hard_jaccard == 0
        assert found.to_dict()["agreement"] is None

    def test_lengths(self):
        with pytest.raises(InputError, match=in_order(2, "by patterns", 1, "by classifier")):
            compare_difficulty(["easy", "hard"], ["easy"])
