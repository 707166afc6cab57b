"""Folders of reports where runs are expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.runs.reading import list_runs
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs
from tests.stated import in_order

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for model in ("a", "b"):
        write_runs(Runs.from_arrays(scores=rng.integers(0, 2, (3, 40)), model=model, dataset="d"), tmp_path / "given")
    goldassay.measure_instability(tmp_path / "given").save(tmp_path / "report")
    return tmp_path


@pytest.mark.parametrize("name", ["report", "report/tables"])
def test_a_report_is_said_to_hold_no_runs(folder: Path, name: str) -> None:
    with pytest.raises(InputError, match=in_order("folder of a report", "no runs")):
        goldassay.measure_instability(folder / name)


def test_runs_that_were_made_for_a_report_are_named_and_read(folder: Path) -> None:
    (folder / "given").rename(folder / "report" / "runs")
    with pytest.raises(InputError, match=in_order("made for the report", "report/runs")):
        list_runs(folder / "report")
    assert set(list_runs(folder / "report" / "runs")["model"]) == {"a", "b"}


def test_a_report_beside_runs_is_passed_over(folder: Path) -> None:
    alone = list_runs(folder / "given")
    assert list_runs(folder)["model"].to_list() == alone["model"].to_list()
