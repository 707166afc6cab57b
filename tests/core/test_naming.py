from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.naming import is_wildcard, matches, split_named_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("snli=dev.tsv", ("snli", "dev.tsv")),
        ("dev.tsv", ("", "dev.tsv")),
        ("=dev.tsv", ("", "=dev.tsv")),
        ("a=b=c", ("a", "b=c")),
    ],
)
def test_a_name_stands_before_the_first_equals_sign(text: str, expected: tuple[str, str]):
    assert split_named_path(text) == expected


def test_a_file_with_an_equals_sign_in_its_name_is_a_path(tmp_path: Path):
    file = tmp_path / "lr=0.1.csv"
    file.touch()
    assert split_named_path(str(file)) == ("", str(file))


def test_only_stars_and_question_marks_are_wildcards():
    assert matches("bert-3", "bert-?")
    assert matches("bert[1]-3", "bert[1]-*")
    assert not matches("bert1-3", "bert[1]-*")
    assert not is_wildcard("bert[1]")


@given(st.text())
def test_each_name_matches_itself_and_a_star(name: str):
    assert is_wildcard(name) or matches(name, name)
    assert matches(name, "*")
