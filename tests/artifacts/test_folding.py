import polars as pl

from goldassay.artifacts import fold_redundant, mine_patterns
from goldassay.artifacts.folding import parts_below


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
