from itertools import combinations, pairwise

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.artifacts import fold_redundant, mine_patterns
from goldassay.questions.artifacts.measures.mining import parts_below
from tests.artifacts.test_mining import corpora, mine_quietly


def parts_of(tokens, gaps):
    places = [0]
    for gap in gaps:
        places.append(places[-1] + gap + 1)
    for length in range(1, len(tokens)):
        for chosen in combinations(range(len(tokens)), length):
            yield tuple(tokens[i] for i in chosen), tuple(places[b] - places[a] - 1 for a, b in pairwise(chosen))


def keys_of(table):
    frame = table.to_frame()
    return list(zip(map(tuple, frame["tokens"].to_list()), map(tuple, frame["gaps"].to_list()), strict=True))


def fold_one_by_one(patterns, below):
    """Row that each row is folded under, by dictionaries of parts."""
    frame, keys, cut = patterns.to_frame(), keys_of(patterns), below.to_frame()
    labels, support = frame["label"].to_list(), frame["support"].to_list()
    probability, low = frame["probability"].to_list(), frame["wilson_low"].to_list()
    short = dict(zip(zip(keys_of(below), cut["label"], strict=True), cut["probability"], strict=True))
    standing, holders, head = {}, {}, [None] * len(keys)
    for row in sorted(range(len(keys)), key=lambda row: (-support[row], len(keys[row][0]))):
        parts = [(part, labels[row]) for part in parts_of(*keys[row])]
        takers = [standing[part] for part in parts if part in standing and low[row] <= probability[standing[part]]]
        takers = takers or [holders[part] for part in parts if part in holders and low[row] <= short[part]]
        if takers:
            head[row] = max(takers, key=lambda part: (support[part], -part))
        else:
            standing[keys[row], labels[row]] = row
            for part in parts:
                if part in short:
                    holders.setdefault(part, row)
    return head


class TestAgainstDictionaries:
    @given(
        corpora(), st.integers(1, 5), st.integers(0, 3), st.integers(1, 4), st.sampled_from([0.2, 0.4, 0.5, 0.7]),
        st.integers(1, 4),
    )  # fmt: skip
    @settings(max_examples=150)
    def test_folds_the_same(self, corpus, max_tokens, max_gap, min_count, threshold, n_parts):
        mined = mine_quietly(*corpus, max_tokens, max_gap, min_count)
        patterns = mined.select(threshold)
        own = set(keys_of(patterns))
        wanted = {part for key in own for part in parts_of(*key)} - own
        among = [mined.take(list(range(at, len(mined), n_parts))) for at in range(n_parts)]
        below = parts_below(patterns, among)
        assert keys_of(below) == [key for part in among for key in keys_of(part) if key in wanted]
        head = fold_one_by_one(patterns, below)
        found = fold_redundant(patterns, below)
        names = found["pattern"].to_list()
        assert found["folded_under"].to_list() == [None if taker is None else names[taker] for taker in head]
        assert found["n_folded"].to_list() == [head.count(row) for row in range(len(head))]
        assert found.drop("folded_under", "n_folded").equals(patterns.to_frame())


def corpus(*kinds):
    sentences, labels = [], []
    for n, sentence, label in kinds:
        sentences += [sentence] * n
        labels += [label] * n
    return sentences, labels


def folded(sentences, labels, threshold=0.5, **bounds):
    table = mine_patterns(sentences, labels, min_count=5, tokenizer="whitespace", **bounds).select(threshold)
    return {
        row["pattern"]: (row["folded_under"], row["n_folded"]) for row in fold_redundant(table).iter_rows(named=True)
    }


def test_what_adds_nothing_is_listed_under_its_part(hand):
    found = fold_redundant(hand().select(0.7))
    assert dict(found.select("pattern", "folded_under").iter_rows()) == {
        "outdoors": None,
        "outdoors .": "outdoors",
        "A # # outdoors": "outdoors",
        "A # # outdoors .": "outdoors",
    }
    assert found.filter(pl.col("pattern") == "outdoors")["n_folded"].item() == 3


def test_what_raises_the_probability_stands_for_itself():
    found = folded(
        *corpus((200, "not here", "x"), (100, "not there", "x"), (90, "not there", "y"), (9, "some where", "y"))
    )
    assert found["not"] == (None, 1)
    assert found["here"] == (None, 1)
    assert found["not here"] == ("here", 0)
    assert found["not there"] == ("not", 0)
    assert found["there"] == (None, 0)


def test_the_most_frequent_of_several_parts_takes_it():
    found = folded(*corpus((50, "a b", "x"), (30, "a", "x"), (10, "b", "x"), (60, "c", "y")))
    assert found["a b"] == ("a", 0)


def test_a_part_with_a_dropped_token_inside_becomes_a_gap():
    found = folded(*corpus((40, "a q b", "x"), (40, "a r b", "x"), (30, "a", "y"), (30, "b", "y"), (20, "c", "y")), 0.8)
    assert found["a # b"][0] is None
    assert found["a q b"] == ("a # b", 0)


def test_parts_of_another_label_take_nothing():
    found = folded(*corpus((30, "a b", "x"), (80, "a", "y"), (20, "b", "y"), (50, "c", "x")))
    assert found["a b"][0] != "a"


def test_variants_of_a_part_below_the_threshold_are_listed_together():
    """Of "out" (68 %) only "out ." tells more; "man out" and "dog out" add nothing that is shown."""
    sentences, labels = corpus(
        (60, "man out", "x"), (20, "man out", "y"), (30, "dog out", "x"), (10, "dog out", "y"), (90, "out .", "x"),
        (15, "out .", "y"), (10, "out cat", "x"), (50, "out cat", "y"), (80, "man", "y"), (80, "dog .", "y"),
    )  # fmt: skip
    mined = mine_patterns(sentences, labels, min_count=5, tokenizer="whitespace")
    significant = mined.significant(0.05)
    assert 0.5 < significant.to_frame().filter(pl.col("pattern") == "out")["probability"].item() < 0.7
    cut = significant.select(0.7).top("x")
    found = dict(fold_redundant(cut).select("pattern", "folded_under").iter_rows())
    assert found == {"out .": None, "man out": None, "dog out": None}
    below = parts_below(cut, [significant.take([row]) for row in range(len(significant))])
    assert dict(below.to_frame().select("pattern", "label").iter_rows()) == {"out": "x", "dog": "y"}
    frame = fold_redundant(cut, below)
    assert dict(frame.select("pattern", "folded_under").iter_rows()) == {
        "out .": None, "man out": "out .", "dog out": "out .",
    }  # fmt: skip
    assert frame.filter(pl.col("pattern") == "out .")["n_folded"].item() == 2
    # Where none tells more, the most frequent stands for all.
    rest = cut.take([row for row, name in enumerate(cut.to_frame()["pattern"]) if name != "out ."])
    names = fold_redundant(rest, below).select("pattern", "folded_under").rows()
    assert names == [("man out", None), ("dog out", "man out")]


def test_every_folded_row_stands_under_one_that_is_shown(hand):
    frame = fold_redundant(hand(1))
    standing = set(frame.filter(pl.col("folded_under").is_null())["pattern"])
    assert set(frame["folded_under"].drop_nulls()) <= standing
    assert frame["n_folded"].sum() == frame["folded_under"].count()
    assert fold_redundant(hand(1).select(0.99)).height > 0
