"""A report read back from its folder: its figures and when it was made."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from goldassay.core.errors import InputError
from goldassay.gate.reading import read_report
from tests.gate.test_check import AUDIT
from tests.gate.test_diff import write
from tests.stated import says

if TYPE_CHECKING:
    from pathlib import Path


def test_its_figures(tmp_path: Path) -> None:
    report = read_report(write(AUDIT, tmp_path / "audit"))
    assert [figure.to_dict() for figure in report.figures] == AUDIT.document["figures"]


@pytest.mark.parametrize(
    ("content", "finished"),
    [
        ('{"started": "2026-01-01", "finished": "2026-01-02"}', "2026-01-02"),
        ("{}", ""),
        ("[]", ""),
        ("{", ""),
        (None, ""),
    ],
)
def test_when_it_was_made(tmp_path: Path, content: str | None, finished: str) -> None:
    folder = write(AUDIT, tmp_path / "audit")
    if content is not None:
        (folder / "timing.json").write_text(content)
    report = read_report(folder)
    assert (report.finished, report.describe().finished) == (finished, finished)


def test_version_1_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json.dumps({"schema": "goldassay.report", "schema_version": 1}))
    with pytest.raises(InputError) as refused:
        read_report(tmp_path)
    assert str(refused.value) == says(f"{tmp_path / 'report.json'}:", "schema version 1", "reads 2", "again")


@pytest.mark.parametrize("content", ["", "text,label\n"])
def test_a_file_that_is_no_report_is_not_to_be_made_again(tmp_path: Path, content: str) -> None:
    for name, mend in (("set.csv", "name a report.json or its folder"), ("report.json", "run the command that")):
        (tmp_path / name).write_text(content)
        with pytest.raises(InputError, match=mend):
            read_report(tmp_path / name)
