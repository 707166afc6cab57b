"""A study is not resumed with other settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goldassay.core.errors import InputError
from goldassay.lab.papers.recipe import SETTINGS_FILE, check_settings, keep_settings
from tests.stated import Fact, in_order, states

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = {"study": "instability", "scale": "desk", "seed": 0, "set SNLI": ["ab"]}


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """A study's folder in which something is trained."""
    (tmp_path / "begun" / "runs" / "_jobs").mkdir(parents=True)
    keep_settings(tmp_path / "begun", SETTINGS)
    return tmp_path / "begun"


def test_the_same_settings_go_on(begun: Path):
    before = (begun / SETTINGS_FILE).read_bytes()
    keep_settings(begun, SETTINGS)
    assert (begun / SETTINGS_FILE).read_bytes() == before


def test_until_something_is_trained_a_folder_is_nobodys(tmp_path: Path):
    """A price was asked for with a name mistyped."""
    keep_settings(tmp_path, SETTINGS | {"pretrained": "typo"})
    check_settings(tmp_path, SETTINGS)
    keep_settings(tmp_path, SETTINGS)
    (tmp_path / "runs" / "_jobs").mkdir(parents=True)
    keep_settings(tmp_path, SETTINGS)
    with pytest.raises(InputError, match="pretrained was nothing"):
        keep_settings(tmp_path, SETTINGS | {"pretrained": "typo"})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"scale": "paper"}, 'scale was "desk", is "paper"'),
        ({"seed": 1}, "seed was 0, is 1"),
        ({"set SNLI": ["cd" * 32]}, ("set SNLI", "sha256 ab, is sha256 cdcdcdcdcdcd")),
        ({"set ANLI": ["cd", "ef"]}, "set ANLI was not there, is sha256 cd, ef; give"),
        ({"pretrained": "x"}, 'pretrained was nothing, is "x"'),
    ],
)
def test_others_are_refused_with_the_difference(begun: Path, changed: dict[str, object], said: Fact):
    with pytest.raises(InputError) as refused:
        keep_settings(begun, SETTINGS | changed)
    assert states(str(refused.value), said)
    assert str(begun) in str(refused.value)


def test_many_differences_are_counted(begun: Path):
    with pytest.raises(InputError, match="and 2 more"):
        keep_settings(begun, {"study": "a", "scale": "b", "seed": 1, "further": 1})


def test_what_was_chosen_is_told_before_what_follows_from_it(begun: Path):
    others = {"study": "crossing", "scale": "smoke", "seed": 0, "a set": ["cd"]}
    with pytest.raises(InputError, match=in_order('study was "instability", is "crossing"', 'scale was "desk"')):
        keep_settings(begun, others)


def test_what_is_known_early_is_checked_alone(tmp_path: Path, begun: Path):
    check_settings(tmp_path / "new", SETTINGS)
    assert not (tmp_path / "new").exists()
    check_settings(begun, {"study": "instability", "seed": 0})
    with pytest.raises(InputError, match="seed was 0, is 1"):
        check_settings(begun, {"study": "instability", "seed": 1})


@pytest.mark.parametrize("content", ["", "[]", "{", None])
def test_a_broken_file_is_refused(begun: Path, content: str | None):
    (begun / SETTINGS_FILE).unlink()
    if content is None:
        (begun / SETTINGS_FILE).mkdir()
    else:
        (begun / SETTINGS_FILE).write_text(content)
    with pytest.raises(InputError, match="is not what a study wrote"):
        keep_settings(begun, SETTINGS)
