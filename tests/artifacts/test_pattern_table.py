import itertools
import json
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from goldassay.artifacts import PatternTable, mine_patterns
from goldassay.core.errors import InputError
from goldassay.data.tokenization import tokenize
from goldassay.questions.artifacts.measures.pattern_table import COLUMNS
from goldassay.questions.artifacts.measures.statistics import binomial_tail, competency_z
from goldassay.stats.intervals import wilson_bounds
from tests.artifacts.conftest import LABELS, SENTENCES
from tests.stated import in_order, says


class TestColumns:
    def test_names(self, hand):
        assert tuple(hand().to_frame().columns) == COLUMNS

    def test_values(self, hand):
        row = hand().to_frame().row(by_predicate=pl.col("pattern") == "A # # outdoors .", named=True)
        assert (row["tokens"], row["gaps"]) == (["A", "outdoors", "."], [2, 0])
        assert (row["support"], row["counts"], row["label"], row["probability"]) == (3, [0, 3, 0], "e", 1)
        assert row["lift"] == pytest.approx(7 / 3)
        assert row["pmi"] == pytest.approx(np.log2(7 / 3))
        assert row["lmi"] == pytest.approx(3 / 7 * np.log2(7 / 3))
        assert (row["wilson_low"], row["wilson_high"]) == tuple(float(bound) for bound in wilson_bounds(3, 3))
        assert row["z"] == pytest.approx(competency_z(3, 3, 3 / 7))
        assert row["p_value"] == pytest.approx(binomial_tail(3, 3, 3 / 7)) == pytest.approx((3 / 7) ** 3)

    def test_q_is_over_all_mined(self, hand):
        frame = hand(1).to_frame()
        assert frame["q_value"].to_list() == pytest.approx(false_discovery_control(frame["p_value"].to_numpy()))

    def test_of_equally_probable_labels_the_first_is_named(self):
        frame = mine_patterns(["a", "a"], ["y", "x"], min_count=1).to_frame()
        assert frame["label"].to_list() == ["x"]

    def test_a_single_label_proves_nothing(self):
        row = mine_patterns(["a", "a"], ["x", "x"], min_count=1).to_frame().row(0, named=True)
        assert (row["probability"], row["lift"], row["z"], row["p_value"]) == (1, 1, 0, 1)


class TestSelect:
    def test_higher_thresholds_keep_fewer(self, hand):
        table = hand(1)
        kept = [set(table.select(t).to_frame()["pattern"]) for t in (0.5, 0.6, 0.7, 0.8, 0.99)]
        assert all(more >= fewer for more, fewer in itertools.pairwise(kept))

    @given(st.floats(0, 0.999))
    def test_keeps_each_label_above_the_threshold_once(self, threshold):
        table = mine_patterns(SENTENCES, LABELS, min_count=2, tokenizer="whitespace")
        frame = table.select(threshold).to_frame()
        expected = {
            (row["pattern"], label, count / row["support"])
            for row in table.to_frame().iter_rows(named=True)
            for label, count in zip(table.label_names, row["counts"], strict=True)
            if count / row["support"] > threshold
        }
        rows = list(frame.select("pattern", "label", "probability").iter_rows())
        assert set(rows) == expected
        assert len(rows) == len(expected)

    def test_a_second_label_has_its_own_statistics(self, hand):
        frame = hand(2).select(0.3).to_frame().filter(pl.col("pattern") == "man")
        assert frame["label"].to_list() == ["e", "n"]
        assert frame["p_value"].to_list() == pytest.approx(
            [float(binomial_tail(1, 2, 3 / 7)), float(binomial_tail(1, 2, 1 / 7))]
        )
        assert (frame["q_value"] >= frame["p_value"]).all()

    def test_can_follow_another_cut(self, hand):
        table = hand(2)
        assert table.select(0.3).select(0.7).to_frame().equals(table.select(0.7).to_frame())
        assert (
            table.select(0.7)
            .select(0.3)
            .to_frame()["pattern"]
            .is_in(table.select(0.7).to_frame()["pattern"].implode())
            .all()
        )

    def test_records_the_cut(self, hand):
        assert (
            hand().select(0.7).significant(0.9).settings | {"threshold": 0.7, "q": 0.9}
            == hand().select(0.7).significant(0.9).settings
        )

    @pytest.mark.parametrize("share", [-0.1, float("nan"), "x", None, True])
    def test_refuses_what_is_no_share(self, hand, share):
        with pytest.raises(InputError, match=in_order("threshold", repr(share), "share", 0, 1)):
            hand().select(share)
        with pytest.raises(InputError, match=f"q is {share!r}; choose a share from 0 to 1"):
            hand().significant(share)

    @pytest.mark.parametrize("threshold", [1, 1.5])
    def test_warns_that_one_or_more_keeps_nothing(self, hand, threshold):
        with pytest.warns(UserWarning, match="keeps no pattern"):
            assert len(hand().select(threshold)) == 0

    @pytest.mark.parametrize("threshold", [0.2, 0.5, 0.8])
    @pytest.mark.parametrize("share", [0.01, 0.9, 1])
    def test_telling_is_significant_and_selected(self, hand, share, threshold):
        significant = hand().significant(share)
        n, found = hand().predictive(share, threshold)
        assert n == len(significant)
        expected = significant.select(threshold).to_count()
        assert found.to_frame().equals(expected.to_frame())
        assert found.settings == expected.settings

    def test_significant_keeps_small_q(self, hand):
        # Of a label that was chosen among three, three times the q of one named beforehand.
        rng = np.random.default_rng(0)
        labels = rng.choice(["e", "n", "c"], 300)
        sentences = [f"{label} {rng.integers(9)}" if rng.random() < 0.6 else "x" for label in labels]
        table = mine_patterns(sentences, labels, min_count=3)
        q = table.to_frame()["q_value"]
        assert 0 < (3 * q <= 0.01).sum() < (q <= 0.3).sum() < len(table)
        for share in (0.01, 0.3):
            assert len(table.significant(share)) == (3 * q <= share).sum()
        assert len(table.significant(1)) == len(table)

    def test_many_labels_find_nothing_in_noise(self):
        rng = np.random.default_rng(3)
        weights = 1 / np.arange(1, 1001)
        words = rng.choice(1000, (4000, 6), p=weights / weights.sum())
        sentences = [" ".join(f"w{word}" for word in row) for row in words]
        table = mine_patterns(sentences, rng.integers(0, 150, 4000), min_count=8)
        # As if each label had been named beforehand, noise would be full of findings.
        assert (table.to_frame()["q_value"] <= 0.05).sum() > 100
        assert len(table.significant(0.05)) == 0


class TestTop:
    def test_orders_by_probability_then_support(self, hand):
        assert hand(2).top("e", 3).to_frame()["pattern"].to_list() == [
            "A # # outdoors",
            "A # # outdoors .",
            "A # is outdoors",
        ]

    def test_words_and_phrases(self, hand):
        assert hand(2).top("c", 1, multiword=False).to_frame()["pattern"].to_list() == ["Nobody"]
        assert hand(2).top("c", 1, multiword=True).to_frame()["pattern"].to_list() == ["Nobody # # ."]
        assert hand(2).top("e", 99, min_support=4).to_frame()["support"].min() == 4

    def test_an_unknown_label(self, hand):
        with pytest.raises(InputError, match="no label 'x'; known are c, e, n"):
            hand().top("x", 1)
        named = mine_patterns(["a", "b"], ["entailment", "neutral"], min_count=1)
        with pytest.raises(InputError, match=r"no label 'netural'; did you mean 'neutral'\?"):
            named.top("netural")

    @pytest.mark.parametrize("count", [-1, 2.5, "3", None, True])
    def test_refuses_what_is_no_count(self, hand, count):
        with pytest.raises(InputError, match=rf"k is {count!r}; choose (a whole number, )?0 or more"):
            hand().top("e", count)
        with pytest.raises(InputError, match=in_order("min_support", repr(count), "0 or more")):
            hand().top("e", min_support=count)


class TestMatches:
    @pytest.mark.parametrize("bounds", [(1, 0), (3, 3), (2, 5), (5, 2)])
    def test_finds_each_pattern_where_it_was_counted(self, hand, bounds):
        table = hand(1, max_tokens=bounds[0], max_gap=bounds[1])
        sentences, rows = table.matches(SENTENCES)
        assert np.bincount(rows, minlength=len(table)).tolist() == table.to_frame()["support"].to_list()
        assert len(set(zip(sentences.tolist(), rows.tolist(), strict=True))) == sentences.size
        assert (np.diff(sentences * len(table) + rows) > 0).all()

    def test_after_a_cut_the_beginnings_are_gone_but_not_the_rest(self, hand):
        table = hand(2).top("c", 99, multiword=True)
        sentences, rows = table.matches([*SENTENCES, "Nobody is mad .", ""])
        found = Counter(table.to_frame()["pattern"][int(row)] for s, row in zip(sentences, rows, strict=True) if s == 7)
        assert found == Counter(["is # .", "Nobody # # .", "Nobody is", "Nobody is # ."])

    def test_both_rows_of_a_pattern_with_two_labels(self, hand):
        table = hand(2).select(0.3)
        two = np.flatnonzero((table.to_frame()["pattern"] == "man").to_numpy())
        assert two.size == 2
        assert table.matches(["x man"])[1].tolist() == two.tolist()

    def test_a_tokenized_corpus(self, hand):
        corpus = tokenize(SENTENCES, "whitespace")
        assert all((a == b).all() for a, b in zip(hand().matches(corpus), hand().matches(SENTENCES), strict=True))

    def test_counts_in_other_data(self, hand):
        table = hand()
        counted = table.count_in([*SENTENCES, *SENTENCES, "A man"], [*LABELS, *LABELS, "-"])
        assert (counted["support"] == 2 * table.to_frame()["support"]).all()
        assert counted["probability"].to_list() == table.to_frame()["probability"].to_list()
        absent = table.count_in(["x"], ["e"])
        assert absent["support"].sum() == 0
        assert absent["probability"].is_nan().all()

    def test_another_tokenizer_is_refused(self, hand):
        with pytest.raises(InputError, match="mined with tokenizer whitespace, not treebank"):
            hand().matches(SENTENCES, "treebank")
        with pytest.raises(InputError, match="mined with tokenizer whitespace, not characters"):
            hand().matches(tokenize(SENTENCES, "characters"))

    def test_another_label_is_refused(self, hand):
        with pytest.raises(InputError, match="label 'maybe' is not among the labels c, e, n"):
            hand().count_in(["A"], ["maybe"])


class TestFiles:
    def test_reads_what_it_wrote(self, hand, tmp_path):
        table = hand().select(0.6)
        table.write(tmp_path / "patterns.parquet")
        again = PatternTable.read(tmp_path / "patterns.parquet")
        assert again.to_frame().equals(table.to_frame())
        assert (again.settings, again.label_names) == (table.settings, table.label_names)
        assert len(again.matches(SENTENCES)[0]) == len(table.matches(SENTENCES)[0])

    def test_a_function_must_be_passed_again(self, tmp_path):
        mine_patterns(SENTENCES, LABELS, min_count=3, tokenizer=str.split).write(tmp_path / "patterns.parquet")
        again = PatternTable.read(tmp_path / "patterns.parquet")
        with pytest.raises(InputError, match=in_order("function", "split", "tokenizer")):
            again.matches(SENTENCES)
        assert again.matches(SENTENCES, str.split)[0].size

    def test_a_newer_version_is_refused(self, hand, tmp_path):
        path = tmp_path / "patterns.parquet"
        about = {"schema_version": 99, "label_names": ["c"], "settings": {}}
        hand().to_frame().write_parquet(path, metadata={"goldassay.patterns": json.dumps(about)})
        with pytest.raises(InputError, match="schema version 99, newer than 1; update goldassay"):
            PatternTable.read(path)

    def test_other_files_are_refused(self, hand, tmp_path):
        path = tmp_path / "other.parquet"
        with pytest.raises(InputError, match=r"other\.parquet"):
            PatternTable.read(path)
        hand().to_frame().write_parquet(path)
        with pytest.raises(InputError, match="not a file of patterns"):
            PatternTable.read(path)
        path.write_text("no parquet")
        with pytest.raises(InputError, match="cannot be read as patterns"):
            PatternTable.read(path)


def test_its_plain_form_is_one_line():
    table = mine_patterns(["a b", "a c", "b c"] * 20, ["x", "y\x1b", "x"] * 20, min_count=8)
    assert repr(table) == "PatternTable(6 patterns of 60 sentences; x, y\\x1b)"
    cut = table.significant(0.01).select(0.7)
    assert repr(cut) == says(
        "PatternTable(", len(cut), "patterns", 60, "sentences", "x, y\\x1b", "q 0.01", "threshold 0.7"
    )


def test_html_is_escaped():
    shown = mine_patterns(["<script>alert(1)</script>"], ["<b>"], min_count=1, tokenizer="whitespace")._repr_html_()
    assert "<script>" not in shown
    assert "<b>" not in shown
    assert "&lt;script&gt;" in shown


def test_plain_data(hand):
    plain = hand().to_dict()
    assert json.loads(json.dumps(plain))["patterns"][0]["pattern"] == "."
