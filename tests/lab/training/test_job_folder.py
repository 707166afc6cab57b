"""A folder belongs to the first run that keeps something in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from goldassay.core.errors import InputError
from goldassay.lab.training.job import claim, read_json
from tests.stated import in_order, states

if TYPE_CHECKING:
    from pathlib import Path


def settings(**changed: Any) -> dict[str, Any]:
    tests = [{"name": "test", "sha256": "0123456789abcdef" * 4}]
    return {"sizes": {"units": 8}, "changes": {}, "tests": tests, "vectors": None, "checkpoint_every": None, **changed}


OTHER = settings(sizes={"units": 16})


def test_a_folder_without_work_in_it_is_claimed_anew(tmp_path: Path):
    claim(tmp_path, settings())
    (tmp_path / "lock").touch()
    claim(tmp_path, OTHER)
    assert read_json(tmp_path / "settings.json") == OTHER


@pytest.mark.parametrize("kept", ["state.safetensors", "done.json", "dynamics", "teacher"])
def test_a_folder_with_work_in_it_is_not(tmp_path: Path, kept: str):
    claim(tmp_path, settings())
    (tmp_path / kept).touch()
    with pytest.raises(InputError, match=in_order("sizes.units was 8, now 16;")):
        claim(tmp_path, OTHER)
    assert read_json(tmp_path / "settings.json") == settings()


def test_a_run_that_answers_at_checkpoints_may_have_answered_before_it_kept_its_state(tmp_path: Path):
    claim(tmp_path, settings(checkpoint_every=100))
    with pytest.raises(InputError, match=r"sizes\.units was 8, now 16"):
        claim(tmp_path, settings(checkpoint_every=100, sizes={"units": 16}))


def test_what_a_change_leads_to_decides_and_not_the_change(tmp_path: Path):
    claim(tmp_path, settings())
    (tmp_path / "state.safetensors").touch()
    claim(tmp_path, settings(changes={"units": 8}))


def test_other_data_are_told_by_name(tmp_path: Path):
    claim(tmp_path, settings())
    (tmp_path / "state.safetensors").touch()
    with pytest.raises(InputError) as refusal:
        claim(tmp_path, settings(tests=[{"name": "other", "sha256": "fedcba9876543210" * 4}]))
    said = ('tests.other was none, now "fedcba987654"', 'tests.test was "0123456789ab", now none')
    assert states(str(refusal.value), said)
