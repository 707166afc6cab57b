"""A study is not resumed with other settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goldassay.errors import InputError
from goldassay.studies.experiments.workplace import SETTINGS_FILE, check_settings, keep_settings

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = {"study": "instability", "scale": "desk", "seed": 0, "set SNLI": ["ab"]}


def test_the_same_settings_go_on(tmp_path: Path):
    keep_settings(tmp_path / "new", SETTINGS)
    before = (tmp_path / "new" / SETTINGS_FILE).read_bytes()
    keep_settings(tmp_path / "new", SETTINGS)
    assert (tmp_path / "new" / SETTINGS_FILE).read_bytes() == before


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"scale": "paper"}, 'scale was "desk", is "paper"'),
        ({"seed": 1}, "seed was 0, is 1"),
        ({"set SNLI": ["cd" * 32]}, "set SNLI was sha256 ab, is sha256 cdcdcdcdcdcd; give"),
        ({"set ANLI": ["cd", "ef"]}, "set ANLI was not there, is sha256 cd, ef; give"),
        ({"pretrained": "x"}, 'pretrained was nothing, is "x"'),
    ],
)
def test_others_are_refused_with_the_difference(tmp_path: Path, changed: dict[str, object], said: str):
    keep_settings(tmp_path, SETTINGS)
    with pytest.raises(InputError) as refused:
        keep_settings(tmp_path, SETTINGS | changed)
    assert said in str(refused.value)
    assert str(tmp_path) in str(refused.value)


def test_many_differences_are_counted(tmp_path: Path):
    keep_settings(tmp_path, SETTINGS)
    with pytest.raises(InputError, match="and 2 more"):
        keep_settings(tmp_path, {"study": "a", "scale": "b", "seed": 1, "further": 1})


def test_what_was_chosen_is_told_before_what_follows_from_it(tmp_path: Path):
    keep_settings(tmp_path, SETTINGS)
    others = {"study": "crossing", "scale": "smoke", "seed": 0, "a set": ["cd"]}
    with pytest.raises(InputError, match=r'settings: study was "instability", is "crossing"; scale was "desk", is'):
        keep_settings(tmp_path, others)


def test_what_is_known_early_is_checked_alone(tmp_path: Path):
    check_settings(tmp_path / "new", SETTINGS)
    assert not (tmp_path / "new").exists()
    keep_settings(tmp_path, SETTINGS)
    check_settings(tmp_path, {"study": "instability", "seed": 0})
    with pytest.raises(InputError, match="seed was 0, is 1"):
        check_settings(tmp_path, {"study": "instability", "seed": 1})


@pytest.mark.parametrize("content", ["", "[]", "{"])
def test_a_broken_file_is_refused(tmp_path: Path, content: str):
    (tmp_path / SETTINGS_FILE).write_text(content)
    with pytest.raises(InputError, match="is not what a study wrote"):
        keep_settings(tmp_path, SETTINGS)
