from __future__ import annotations

import pytest

from goldassay.core.errors import InputError
from goldassay.runs.labels import map_names, order_labels

NLI = ("entailment", "neutral", "contradiction")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["contradiction", "entailment", "neutral"], NLI),
        (["NEUTRAL", "ENTAILMENT", "CONTRADICTION"], ("ENTAILMENT", "NEUTRAL", "CONTRADICTION")),
        (["c", "e", "n"], ("e", "n", "c")),
        (["b", "a", "b"], ("a", "b")),
        (["10", "9", "-1"], ("-1", "9", "10")),
        (["non-entailment", "entailment"], ("entailment", "non-entailment")),
    ],
)
def test_order(names: list[str], expected: tuple[str, ...]) -> None:
    assert order_labels(names) == expected


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("ENTAILMENT", NLI, "entailment"),
        ("n", NLI, "neutral"),
        ("not_entailment", ("entailment", "non-entailment"), "non-entailment"),
        ("neutral", ("entailment", "not_entailment"), "not_entailment"),
        ("contradiction", ("entailment", "non-entailment"), "non-entailment"),
        ("neutral", NLI, "neutral"),
    ],
)
def test_names_stand_for_labels(name: str, labels: tuple[str, ...], expected: str) -> None:
    assert map_names([name], labels) == {name: expected}


def test_a_name_beyond_the_labels_stays_if_others_match() -> None:
    assert map_names(["yes", "refused"], ["yes", "no"]) == {"yes": "yes", "refused": "refused"}
    with pytest.raises(InputError, match="none in common"):
        map_names(["0", "1"], ["yes", "no"])


def test_an_explicit_map_goes_first_and_may_lead_to_what_is_collapsed() -> None:
    codes = {"0": "contradiction", "1": "entailment", "2": "neutral"}
    two = ("entailment", "non-entailment")
    assert map_names(["0", "1", "2"], two, codes) == {"0": two[1], "1": two[0], "2": two[1]}
    with pytest.raises(InputError, match="does not cover 3"):
        map_names(["0", "3"], two, codes)
    with pytest.raises(InputError, match="leads to maybe"):
        map_names(["0"], two, {"0": "maybe"})
