import polars as pl

from goldassay.artifacts import fold_redundant, mine_patterns


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


def test_every_folded_row_stands_under_one_that_is_shown(hand):
    frame = fold_redundant(hand(1))
    standing = set(frame.filter(pl.col("folded_under").is_null())["pattern"])
    assert set(frame["folded_under"].drop_nulls()) <= standing
    assert frame["n_folded"].sum() == frame["folded_under"].count()
    assert fold_redundant(hand(1).select(0.99)).height > 0
