from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.core.errors import InputError
from goldassay.data.specimen import LEAST_SIZE, LEAST_SIZE_CLEAN, make_specimen
from goldassay.stats.intervals import wilson_interval
from tests.stated import Fact, in_order


def test_another_seed_makes_another_specimen() -> None:
    first, second = (make_specimen(2000, seed) for seed in (0, 1))
    assert not first.train.equals(second.train)
    assert [entry["probability"] for entry in first.certificate["patterns"]] == [
        entry["probability"] for entry in second.certificate["patterns"]
    ]


@settings(max_examples=8)
@given(st.integers(LEAST_SIZE, 4000), st.integers(0, 2**40))
def test_any_size_has_the_certified_figures(size: int, seed: int) -> None:
    specimen = make_specimen(size, seed)
    sizes = [len(rows) for rows in (specimen.train, specimen.dev, specimen.test, specimen.elsewhere)]
    assert sizes == [size, size // 10, size // 4, size // 10]
    for entry in specimen.certificate["patterns"]:
        hits = round(entry["probability_realized"] * entry["support"])
        assert entry["probability"] in wilson_interval(hits, entry["support"])
        assert entry["support_test"] > 0


def test_columns_and_ids() -> None:
    specimen = make_specimen(2000, 0)
    for rows in (specimen.train, specimen.dev, specimen.test, specimen.elsewhere):
        assert rows.columns == ["id", "premise", "hypothesis", "label", "topic", "group"]
        assert rows["id"].n_unique() == len(rows)
        assert sum(rows.null_count().row(0)) == 0
    assert specimen.test["id"][0] == "test-001"


def test_the_least_sizes_work() -> None:
    for least, clean in ((LEAST_SIZE, False), (LEAST_SIZE_CLEAN, True)):
        specimen = make_specimen(least, clean=clean, test_size=least // 10)
        assert len(specimen.test) == least // 10
        assert all(len(each) == least // 10 for each in specimen.answers["test"].predictions)


def test_a_test_part_may_be_larger_than_train() -> None:
    specimen = make_specimen(360, clean=True, test_size=2000)
    assert (len(specimen.train), len(specimen.test)) == (360, 2000)


@pytest.mark.parametrize(
    ("size", "seed", "clean", "line"),
    [
        (1999, 0, False, ("1999 rows are too few", "flaws", 2000)),
        (-5, 0, True, ("-5 rows are too few", "clean", 360)),
        (2000, -1, False, ("seed -1", "from 0")),
    ],
)
def test_what_cannot_be_made_is_refused_in_one_line(size: int, seed: int, clean: bool, line: Fact) -> None:
    with pytest.raises(InputError, match=in_order(line)):
        make_specimen(size, seed, clean)


def test_a_test_part_too_small_is_refused() -> None:
    with pytest.raises(InputError, match=in_order("199 test rows are too few", "flaws", "test")):
        make_specimen(2000, test_size=199)


def test_a_size_that_memory_would_not_hold_is_refused():
    with pytest.raises(InputError, match="at most 1000000"):
        make_specimen(10**8)
