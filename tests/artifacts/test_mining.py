import csv
import gzip
import random
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.artifacts import mine_patterns
from goldassay.core.errors import InputError
from goldassay.data.tokenization import tokenize
from tests.artifacts.conftest import LABELS, SENTENCES, as_dict, brute_force
from tests.stated import in_order


@st.composite
def corpora(draw):
    rng = random.Random(draw(st.integers(0, 2**32)))
    words = "abcdefgh#,"[: draw(st.integers(1, 10))]
    n = draw(st.integers(1, 30))
    longest = draw(st.integers(0, 12))
    sentences = [" ".join(rng.choices(words, k=rng.randint(0, longest))) for _ in range(n)]
    return sentences, rng.choices("xyz"[: draw(st.integers(1, 3))], k=n)


def mine_quietly(*arguments, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return mine_patterns(*arguments, tokenizer="whitespace", **named)


class TestAgainstBruteForce:
    @given(corpora(), st.integers(1, 3), st.integers(0, 5), st.integers(1, 8), st.integers(1, 3))
    @settings(max_examples=150)
    def test_usual_lengths(self, corpus, max_tokens, max_gap, min_count, n_threads):
        mined = mine_quietly(*corpus, max_tokens, max_gap, min_count, n_threads=n_threads)
        assert as_dict(mined) == brute_force(*corpus, max_tokens, max_gap, min_count)

    @given(corpora(), st.integers(4, 5), st.integers(0, 3), st.integers(1, 8))
    @settings(max_examples=50)
    def test_longer_patterns(self, corpus, max_tokens, max_gap, min_count):
        mined = mine_quietly(*corpus, max_tokens, max_gap, min_count)
        assert as_dict(mined) == brute_force(*corpus, max_tokens, max_gap, min_count)

    @given(corpora(), st.integers(1, 5), st.integers(0, 3), st.integers(1, 4), st.integers(1, 3))
    @settings(max_examples=40)
    def test_in_halves_as_large_corpora_are(self, corpus, max_tokens, max_gap, min_count, n_threads):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("goldassay.questions.artifacts.measures.mining._MANY_PLACES", 1)
            mined = mine_quietly(*corpus, max_tokens, max_gap, min_count, n_threads=n_threads)
        assert as_dict(mined) == brute_force(*corpus, max_tokens, max_gap, min_count)

    def test_widest_bounds(self):
        rng = random.Random(3)
        sentences = [" ".join(rng.choices("abc", k=12)) for _ in range(12)]
        labels = rng.choices("xy", k=12)
        assert as_dict(mine_quietly(sentences, labels, 5, 5, 3)) == brute_force(sentences, labels, 5, 5, 3)

    def test_many_labels(self):
        rng = random.Random(4)
        sentences = [" ".join(rng.choices("abcdef", k=8)) for _ in range(200)]
        labels = [f"label{rng.randrange(37):02}" for _ in range(200)]
        assert as_dict(mine_quietly(sentences, labels, 3, 2, 5)) == brute_force(sentences, labels, 3, 2, 5)

    @pytest.mark.parametrize(
        ("file", "text", "label"),
        [
            ("snli/train_sample_2k.tsv.gz", "hypothesis", "gold_label"),
            ("snli/train_sample_2k.tsv.gz", "premise", "gold_label"),
            ("multinli/train_sample_10k.tsv.gz", "hypothesis", "gold_label"),
            ("hans/heuristics_train_set.tsv.gz", "sentence2", "gold_label"),
        ],
    )
    def test_real_data(self, data_dir, file, text, label):
        if not (data_dir / file).exists():
            pytest.skip(f"no {file}")
        with gzip.open(data_dir / file, "rt", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))[:2000]
        if text not in rows[0] or label not in rows[0]:
            pytest.skip(f"{file} has other columns")
        sentences, labels = [row[text] for row in rows], [row[label] for row in rows]
        assert as_dict(mine_quietly(sentences, labels, 3, 3, 8)) == brute_force(sentences, labels, 3, 3, 8)


class TestHandExample:
    def test_all_patterns(self, hand):
        assert len(hand(min_count=1)) == 100

    def test_counts_sentences_and_not_occurrences(self, hand):
        counts = as_dict(hand())
        assert counts[("A",), ()] == [1, 3, 1]
        assert counts[("outdoors",), ()] == [1, 3, 0]

    @pytest.mark.parametrize(("min_count", "threshold", "n"), [(3, 0.5, 10), (3, 0.75, 2), (2, 0.5, 15), (2, 0.7, 9)])
    def test_thresholds_are_strict(self, hand, min_count, threshold, n):
        assert len(hand(min_count).select(threshold)) == n

    def test_kept_patterns(self, hand):
        frame = hand().select(0.5).to_frame()
        assert dict(zip(frame["pattern"], frame["probability"], strict=True)) == {
            "A": 0.6,
            "A # # # .": 0.6,
            "A # # outdoors": 1,
            "A # # outdoors .": 1,
            "A # is": 2 / 3,
            "A # is # .": 2 / 3,
            "is outdoors": 2 / 3,
            "is outdoors .": 2 / 3,
            "outdoors": 0.75,
            "outdoors .": 0.75,
        }
        assert set(frame["label"]) == {"e"}

    def test_kept_with_smaller_support(self, hand):
        assert set(hand(2).select(0.7).to_frame()["pattern"]) == {
            "A # # outdoors",
            "A # # outdoors .",
            "outdoors",
            "outdoors .",
            "A # is outdoors",
            "Nobody",
            "Nobody # # .",
            "Nobody is",
            "Nobody is # .",
        }


@pytest.mark.parametrize(
    ("max_tokens", "max_gap", "expected"),
    [
        (3, 3, [1, 3, 7, 14, 25, 78, 99, 330, 2010]),
        (2, 3, [1, 3, 6, 10, 15, 30, 35, 90, 490]),
        (3, 2, [1, 3, 7, 14, 24, 62, 75, 218, 1258]),
    ],
)
def test_occurrences_in_a_sentence_of_distinct_tokens(max_tokens, max_gap, expected):
    for n, count in zip([1, 2, 3, 4, 5, 8, 9, 20, 100], expected, strict=True):
        sentence = " ".join(f"w{i}" for i in range(n))
        assert len(mine_patterns([sentence], ["x"], max_tokens, max_gap, 1, "whitespace")) == count


class TestProperties:
    @given(corpora(), st.integers(1, 4))
    def test_smaller_bounds_give_subsets(self, corpus, min_count):
        all_of_them = as_dict(mine_quietly(*corpus, 3, 3, min_count))
        for bounds in [(3, 3, min_count + 1), (2, 3, min_count), (3, 1, min_count)]:
            assert as_dict(mine_quietly(*corpus, *bounds)).items() <= all_of_them.items()

    @given(corpora())
    def test_counts_add_up(self, corpus):
        sentences, labels = corpus
        mined = mine_quietly(sentences, labels, 3, 2, 1).to_frame()
        assert mined["counts"].list.sum().to_list() == mined["support"].to_list()
        singles = as_dict(mine_quietly(sentences, labels, 1, 3, 1))
        frequencies = Counter(word for sentence in sentences for word in set(sentence.split()))
        assert {tokens[0]: sum(counts) for (tokens, _), counts in singles.items()} == frequencies

    @given(corpora(), st.integers(1, 3), st.randoms())
    def test_order_of_sentences_changes_nothing(self, corpus, min_count, rng):
        rows = list(zip(*corpus, strict=True))
        rng.shuffle(rows)
        mixed = mine_quietly(*map(list, zip(*rows, strict=True)), 3, 3, min_count)
        assert mine_quietly(*corpus, 3, 3, min_count).to_frame().equals(mixed.to_frame())

    @given(corpora(), st.integers(1, 3))
    def test_twice_the_corpus_doubles_counts(self, corpus, min_count):
        once = mine_quietly(*corpus, 3, 3, min_count).to_frame()
        twice = mine_quietly([*corpus[0], *corpus[0]], [*corpus[1], *corpus[1]], 3, 3, 2 * min_count).to_frame()
        assert (once["support"] * 2).equals(twice["support"])
        assert once.select("pattern", "label", "probability").equals(twice.select("pattern", "label", "probability"))

    @given(corpora())
    def test_new_label_names_rename_labels(self, corpus):
        sentences, labels = corpus
        renamed = mine_quietly(sentences, [f"new {label}" for label in labels], 2, 2, 1).to_frame()
        assert ("new " + mine_quietly(*corpus, 2, 2, 1).to_frame()["label"]).to_list() == renamed["label"].to_list()

    def test_rows_do_not_depend_on_threads(self, hand):
        assert all(hand(1, n_threads=n).to_frame().equals(hand(1).to_frame()) for n in (1, 2, 7))

    def test_rows_are_ordered(self, hand):
        frame = hand(1).to_frame()
        keys = [
            (-support, tokens, gaps) for support, tokens, gaps in frame.select("support", "tokens", "gaps").iter_rows()
        ]
        assert keys == sorted(keys)


class TestEdges:
    def test_a_hash_in_the_text_is_no_gap(self):
        found = as_dict(mine_patterns(["a # b", "a x b"], ["x", "y"], min_count=1, tokenizer="whitespace"))
        assert found[("a", "b"), (1,)] == [1, 1]
        assert found[("a", "#", "b"), (0, 0)] == [1, 0]

    def test_patterns_do_not_cross_sentences(self):
        assert len(mine_patterns(["a", "b"], ["x", "y"], min_count=1, tokenizer="whitespace")) == 2

    def test_empty_sentences_hold_nothing(self):
        assert len(mine_patterns(["", "a", " "], ["x", "y", "x"], min_count=1)) == 1

    def test_counts_too_high_for_the_corpus(self):
        with pytest.warns(UserWarning, match=in_order("most frequent", 7, "min_count=7")):
            mined = mine_patterns(SENTENCES, LABELS, min_count=8)
        assert len(mined) == 0
        assert len(mined.select(0.5)) == len(mined.select(0.1)) == 0
        assert mined.matches(SENTENCES)[0].size == 0
        assert mined.to_frame().columns[0] == "pattern"

    def test_sentences_without_tokens(self):
        with pytest.warns(UserWarning, match="the sentences hold no tokens"):
            mine_patterns(["", " "], ["x", "y"])

    def test_missing_labels_are_left_out_and_counted(self):
        mined = mine_patterns([*SENTENCES, "A man", "A man"], [*LABELS, "-", None], min_count=1)
        assert mined.settings["n_dropped"] == 2
        assert mined.settings["n_sentences"] == 7

    def test_labels_keep_the_order_given(self):
        mined = mine_patterns(SENTENCES, LABELS, min_count=1, label_names=["n", "e", "c"])
        assert mined.label_names == ("n", "e", "c")
        assert as_dict(mined)[("A",), ()] == [1, 3, 1]

    def test_whole_numbers_are_positions_of_names(self):
        codes = np.array([{"n": 0, "e": 1, "c": 2}[label] for label in LABELS])
        by_code = mine_patterns(SENTENCES, codes, min_count=1, label_names=["n", "e", "c"])
        by_name = mine_patterns(SENTENCES, LABELS, min_count=1, label_names=["n", "e", "c"])
        assert by_code.to_frame().equals(by_name.to_frame())

    def test_whole_numbers_without_names_are_names(self):
        assert mine_patterns(["a", "b"], [10, 9], min_count=1).label_names == ("9", "10")

    def test_progress_reaches_the_end(self):
        told = []
        mine_patterns(SENTENCES, LABELS, min_count=1, progress=lambda done, total: told.append((done, total)))
        assert told[-1][0] == told[-1][1]

    @pytest.mark.parametrize("tokenizer", ["characters", str.split])
    def test_other_tokenizers(self, tokenizer):
        assert len(mine_patterns(["我 很 好", "我 不 好"], ["x", "y"], min_count=2, tokenizer=tokenizer)) == 3


class TestRefusals:
    @pytest.mark.parametrize(
        ("bounds", "problem"),
        [
            ({"max_tokens": 0}, "max_tokens is 0; choose 1 to 5"),
            ({"max_tokens": 6}, "max_tokens is 6"),
            ({"max_gap": -1}, "max_gap is -1; choose 0 to 5"),
            ({"max_gap": 6}, "max_gap is 6"),
            ({"max_gap": 2.5}, "max_gap is 2.5; choose a whole number, 0 to 5"),
            ({"max_tokens": "3"}, "max_tokens is '3'; choose a whole number, 1 to 5"),
            ({"min_count": 0}, "min_count is 0"),
            ({"n_threads": 0}, "n_threads is 0"),
            ({"tokenizer": "moses"}, "unknown tokenizer"),
            ({"label_names": ["e", "c"]}, "label 'n' is not among the labels e, c"),
        ],
    )
    def test_bounds(self, bounds, problem):
        with pytest.raises(InputError, match=problem):
            mine_patterns(SENTENCES, LABELS, **bounds)

    def test_lengths_that_differ(self):
        with pytest.raises(InputError, match="6 sentences and 7 labels do not match"):
            mine_patterns(SENTENCES[:6], LABELS)

    def test_labels_of_another_kind(self):
        with pytest.raises(InputError, match=r"label 0\.5 is float"):
            mine_patterns(["a"], [0.5])

    def test_no_labels_at_all(self):
        with pytest.raises(InputError, match="no labelled sentence"):
            mine_patterns(["a"], ["-"])

    def test_one_string(self):
        with pytest.raises(InputError, match="put it into a list"):
            mine_patterns("a b", ["x"])


class TestOfACorpus:
    @given(corpora())
    @settings(max_examples=30)
    def test_the_table_is_the_same(self, corpus):
        sentences, labels = corpus
        labels = [label if i % 4 else None for i, label in enumerate(labels)]
        if set(labels) == {None}:
            return
        whole = mine_quietly(sentences, labels, 3, 2, 2)
        assert mine_quietly(tokenize(sentences, "whitespace"), labels, 3, 2, 2).to_frame().equals(whole.to_frame())

    def test_another_tokenizer_is_refused(self):
        with pytest.raises(InputError, match=in_order("tokenizer treebank", "whitespace")):
            mine_patterns(tokenize(SENTENCES), LABELS, tokenizer="whitespace")
