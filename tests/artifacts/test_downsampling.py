import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.artifacts import downsample, mine_patterns, sizes_by_threshold
from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from tests.artifacts.conftest import LABELS, SENTENCES
from tests.artifacts.test_mining import mine_quietly
from tests.stated import in_order


@pytest.fixture(scope="module")
def dataset():
    """Two telling words among dull ones: "nobody" and "outdoors"; labels are not balanced."""
    rng = np.random.default_rng(5)
    rows = []
    for i in range(600):
        label = ["entailment", "entailment", "neutral", "contradiction", "contradiction"][i % 5]
        words = rng.choice(["one", "two", "three", "four", "five", "six"], 4).tolist()
        tell = {"entailment": "outdoors", "contradiction": "nobody"}.get(label)
        if tell and rng.random() < 0.4:
            words.insert(int(rng.integers(5)), tell)
        if rng.random() < 0.03:
            words.append("nobody")
        rows.append({"premise": f"p{i}", "hypothesis": " ".join(words), "label": label})
    return Dataset.from_frame(pl.DataFrame(rows), name="made")


@pytest.fixture(scope="module")
def mined(dataset):
    return mine_patterns(
        dataset.texts("hypothesis"), dataset.labels(), 2, 1, 10, "whitespace", label_names=dataset.label_names
    )


def label_counts(dataset):
    return np.bincount(dataset.labels(), minlength=3)


class TestDebias:
    @pytest.mark.parametrize("threshold", [0.6, 0.7, 0.8, 0.9])
    def test_holds_no_pattern_and_is_balanced(self, dataset, mined, threshold):
        kept = mined.select(threshold)
        subset = downsample(dataset, kept, "debias", seed=1)
        assert kept.matches(subset.texts("hypothesis"))[0].size == 0
        assert len(set(label_counts(subset))) == 1
        # The rarest label of what is left is drawn whole: removal comes first, balance after.
        free = np.setdiff1d(np.arange(len(dataset)), kept.matches(dataset.texts("hypothesis"))[0])
        assert len(subset) == 3 * label_counts(dataset.take(free)).min()

    def test_removes_whatever_the_label(self, dataset, mined):
        kept = mined.select(0.7)
        assert "nobody" in kept.to_frame()["pattern"]
        held = [text for text in dataset.texts("hypothesis") if "nobody" in text.split()]
        assert not set(downsample(dataset, kept, seed=0).texts("hypothesis")) & set(held)

    def test_order_and_ids_stay(self, dataset, mined):
        rows = [int(i) for i in downsample(dataset, mined.select(0.7), seed=3).examples["example_id"]]
        assert rows == sorted(set(rows))

    def test_says_what_was_dropped(self, dataset, mined):
        kept = mined.select(0.7)
        subset = downsample(dataset, kept, seed=3)
        dropped = subset.provenance.dropped
        assert len(subset) + sum(dropped.values()) == len(dataset)
        assert dropped["holds a pattern"] == np.unique(kept.matches(dataset.texts("hypothesis"))[0]).size
        assert subset.name == "made-debias"


class TestRandom:
    def test_has_the_same_size(self, dataset, mined):
        kept = mined.select(0.7)
        control = downsample(dataset, kept, "random", seed=1)
        assert label_counts(control).tolist() == label_counts(downsample(dataset, kept, "debias")).tolist()

    def test_is_drawn_from_the_full_set(self, dataset, mined):
        kept = mined.select(0.7)
        control = downsample(dataset, kept, "random", seed=1)
        share = np.unique(kept.matches(control.texts("hypothesis"))[0]).size / len(control)
        assert share > 0.15

    def test_of_a_balanced_set_without_patterns_is_the_set(self):
        rows = [{"text": f"word{i}", "label": "ab"[i % 2]} for i in range(40)]
        dataset = Dataset.from_frame(pl.DataFrame(rows))
        nothing = mine_quietly([f"x{i}" for i in range(4)], list("abab"), 3, 3, 5)
        assert downsample(dataset, nothing, "random", texts=dataset.texts("text")).examples.equals(dataset.examples)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["debias", "random"]))
def test_same_seed_same_subset(dataset, mined, seed, mode):
    kept = mined.select(0.8)
    first = downsample(dataset, kept, mode, seed)
    assert first.examples.equals(downsample(dataset, kept, mode, seed).examples)


def test_seeds_differ(dataset, mined):
    kept = mined.select(0.8)
    ids = [downsample(dataset, kept, "random", seed).examples["example_id"].to_list() for seed in (1, 2)]
    assert ids[0] != ids[1]


class TestSizes:
    def test_agree_with_the_subsets(self, dataset, mined):
        table = sizes_by_threshold(dataset, mined, (0.6, 0.7, 0.8))
        for row in table.iter_rows(named=True):
            kept = mined.select(row["threshold"])
            subset = downsample(dataset, kept)
            assert row["size"] == len(subset) == 3 * row["per_label"]
            assert row["n_removed"] == np.unique(kept.matches(dataset.texts("hypothesis"))[0]).size
            assert row["n_removed"] + row["n_left"] == len(dataset)
            assert row["n_patterns"] == len(kept)
            assert row["share"] == len(subset) / len(dataset)

    def test_fewer_are_removed_at_higher_thresholds(self, dataset, mined):
        table = sizes_by_threshold(dataset, mined, (0.0, 0.2, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0))
        assert table["n_removed"].is_sorted(descending=True)
        assert table["n_removed"][-1] == 0
        assert table["n_removed"][0] == len(dataset)
        assert table["size"][0] == 0

    def test_hand_example(self):
        rows = [{"text": text, "label": label} for text, label in zip(SENTENCES, LABELS, strict=True)]
        dataset = Dataset.from_frame(pl.DataFrame(rows))
        patterns = mine_patterns(SENTENCES, LABELS, min_count=3, tokenizer="whitespace")
        table = sizes_by_threshold(dataset, patterns, (0.7,))
        # The four sentences with "outdoors" go; of c, n and e 2, 1 and 0 are left.
        assert table.row(0, named=True) == {
            "threshold": 0.7,
            "n_patterns": 4,
            "n_removed": 4,
            "n_left": 3,
            "smallest": "e",
            "per_label": 0,
            "size": 0,
            "share": 0.0,
        }
        with pytest.raises(InputError, match=in_order("no example of e", "threshold")):
            downsample(dataset, patterns.select(0.7))

    def test_lower_than_the_cut_is_refused(self, dataset, mined):
        with pytest.raises(InputError, match=r"the threshold is 0\.6, below 0\.7"):
            sizes_by_threshold(dataset, mined.select(0.7), (0.6, 0.8))

    def test_negative_is_refused(self, dataset, mined):
        with pytest.raises(InputError, match=r"the threshold is -0\.1"):
            sizes_by_threshold(dataset, mined, (-0.1,))


class TestRefusals:
    def test_mode(self, dataset, mined):
        with pytest.raises(InputError, match="there is no mode 'both'; choose debias or random"):
            downsample(dataset, mined.select(0.7), "both")

    def test_texts_of_another_length(self, dataset, mined):
        with pytest.raises(InputError, match="there are 1 texts for 600 examples"):
            downsample(dataset, mined.select(0.7), texts=["a"])
