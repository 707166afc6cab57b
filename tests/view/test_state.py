"""The state of a view survives its address."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.core.errors import InputError
from goldassay.view.selecting import State, parse_state
from tests.stated import in_order

FACETS = {"label": ("a", "b&c", "ü"), "group_x": ("1", "2")}
NUMBERS, SORTABLE = ("confidence", "pvi"), ("label", "confidence")

numbers = st.floats(-1e6, 1e6).map(lambda value: float(f"{value:g}"))
states = st.builds(
    State,
    words=st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=20).map(str.strip),
    is_regex=st.booleans(),
    chosen=st.dictionaries(st.sampled_from(sorted(FACETS)), st.integers(1, 2), max_size=2).map(
        lambda drawn: tuple((name, tuple(sorted(FACETS[name][:n]))) for name, n in sorted(drawn.items()))
    ),
    ranges=st.dictionaries(st.sampled_from(NUMBERS), st.tuples(numbers, numbers).map(sorted).map(tuple)).map(
        lambda drawn: tuple(sorted(drawn.items()))
    ),
    sort=st.sampled_from(["", *SORTABLE]),
    page=st.integers(1, 10_000),
).map(lambda state: state if state.words else State(chosen=state.chosen, ranges=state.ranges, page=state.page))


@settings(max_examples=60)
@given(states)
def test_an_address_gives_its_state_back(state: State) -> None:
    assert parse_state(state.query(), FACETS, NUMBERS, SORTABLE) == state


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("f.labels=a", "no filter 'labels'; did you mean 'label'"),
        ("f.label=z", "label is never 'z'"),
        ("n.pvi=a..b", "not LOW..HIGH"),
        ("n.pvi=2..1", "not LOW..HIGH"),
        ("sort=nope", "no order 'nope'"),
        ("page=-1", "the page '-1' is no number from 1 on"),
        ("page=0", "the page '0' is no number from 1 on"),
        ("page=", "the page '' is no number from 1 on"),
        ("page=1.5", "the page '1.5' is no number from 1 on"),
        ("what=1", "unknown part 'what'"),
        ("q=" + "x" * 501, "at most 500"),
    ],
)
def test_what_is_not_there_is_refused(query: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_state(query, FACETS, NUMBERS, SORTABLE)


@pytest.mark.parametrize("page", ["999", "0999", "9" * 5000])
def test_a_page_behind_the_last_is_the_last(page: str) -> None:
    assert parse_state(f"page={page}", FACETS, NUMBERS, SORTABLE).page == (999 if len(page) < 5 else 10**9)


def test_what_is_missing_says_why() -> None:
    with pytest.raises(InputError, match=in_order("no filter 'suspect'", "five models")):
        parse_state("f.suspect=no", {"suspects": ()}, NUMBERS, SORTABLE, {"suspect": "It takes five models."})
    with pytest.raises(InputError, match="label is never 'z': it takes five models; known"):
        parse_state("f.label=z", FACETS, NUMBERS, SORTABLE, {"label": "It takes five models."})


def test_a_value_is_chosen_and_taken_back() -> None:
    state = State(page=3).toggled("label", "a").toggled("label", "ü")
    assert state.facets == {"label": ("a", "ü")}
    assert state.page == 1
    assert state.toggled("label", "a").toggled("label", "ü") == State()


def test_a_column_is_sorted_down_up_and_not() -> None:
    down = State().sorted_by("pvi")
    assert (down.sort, down.descending) == ("pvi", True)
    up = down.sorted_by("pvi")
    assert (up.sort, up.descending) == ("pvi", False)
    assert up.sorted_by("pvi") == State()
