"""A report folder is complete or says that it is not, at whatever moment its writer is killed."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.core.files import sha256_of
from goldassay.core.report_seal import digest_of
from goldassay.gate.reading import read_report
from tests.gate.test_check import AUDIT
from tests.typed import compose

if TYPE_CHECKING:
    from pathlib import Path

# Saves a report, or is killed before its n-th change of the folder.
WRITER = """
import json, os, pathlib, signal, sys
from goldassay.core.files import written_together
folder, document, tables, left = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3]), int(sys.argv[4])
def counted(real):
    def call(*args, **options):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **options)
    return call
pathlib.Path.replace, pathlib.Path.unlink = counted(pathlib.Path.replace), counted(pathlib.Path.unlink)
with written_together(folder) as aside:
    (aside / "tables").mkdir()
    for name in tables:
        (aside / "tables" / name).write_text(document["title"])
    (aside / "report.html").write_text(document["title"])
    (aside / "timing.json").write_text("{}")
    (aside / "report.json").write_text(json.dumps(document))
print("finished")
"""
BEFORE, AFTER = ("before", ["a.csv", "b.csv"]), ("after", ["b.csv", "c.csv"])


def written(folder: Path, title: str, tables: list[str], killed_at: int = 0) -> bool:
    """Save a report in a process; whether it was not killed."""
    document = {**AUDIT.document, "title": title}
    document["digest"] = digest_of(document)
    given = [json.dumps(document), json.dumps(tables), str(killed_at)]
    done = subprocess.run([sys.executable, "-c", WRITER, folder, *given], capture_output=True, text=True, check=False)
    assert done.stdout == "finished\n" or done.returncode == -signal.SIGKILL, done.stderr
    return done.returncode == 0


def save(folder: Path, *tables: str) -> None:
    """Save a report as its users do."""
    frames = {name: pl.DataFrame({"a": [1, 2]}) for name in tables}
    compose(AUDIT.document, frames).save(folder)


def files(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in folder.rglob("*") if path.is_file()}


def state(folder: Path) -> str:
    """What the folder says of itself: the title of its report, or why it is refused."""
    try:
        return read_report(folder).title
    except InputError as error:
        return next(word for word in ("is incomplete", "is mixed", "has no report.json") if word in str(error))


@pytest.mark.parametrize("fresh", [False, True])
def test_a_kill_at_any_moment_leaves_no_mixed_folder(tmp_path: Path, fresh: bool) -> None:
    """Kill the writer before its first change of the folder, its second, and so on until it ends by itself."""
    written(tmp_path / "before", *BEFORE)
    written(tmp_path / "after", *AFTER)
    said, finished = [], False
    for at in range(1, 99):
        folder = tmp_path / str(at)
        if not fresh:
            shutil.copytree(tmp_path / "before", folder)
        (folder / "tables").mkdir(parents=True, exist_ok=True)
        (folder / "tables" / "mine.csv").write_text("mine")
        finished = written(folder, *AFTER, killed_at=at)
        said.append(state(folder))
        assert (folder / "tables" / "mine.csv").read_text() == "mine"
        if finished:
            break
        # What the kill left is known to the next writer.
        written(folder, *AFTER)
        found = {name: digest for name, digest in files(folder).items() if not name.startswith(".goldassay-")}
        assert found.pop("tables/mine.csv")
        assert found == files(tmp_path / "after")
    assert finished
    turn = said.index("is incomplete")
    assert said[:turn] == ["has no report.json" if fresh else "before"] * turn
    assert turn > 0
    assert said[turn:] == ["is incomplete"] * (len(said) - turn - 1) + ["after"]
    assert len(said) - turn > 5


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(tmp_path / "report", "rows")
    return tmp_path / "report"


def test_a_whole_folder_is_read(folder: Path) -> None:
    assert read_report(folder).title == AUDIT.document["title"]


@pytest.mark.parametrize("name", ["report.html", "report.md", "tables/rows.csv", "tables/rows.parquet"])
def test_another_file_or_none_in_the_place_of_one_is_refused(folder: Path, name: str) -> None:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:-1] + b"?")
    mend = "run the command that made it again, or copy report.json alone into another folder"
    begin = f"{folder / 'report.json'}: the report is damaged or mixed with another: {name}"
    with pytest.raises(InputError) as refused:
        read_report(folder)
    assert str(refused.value) == f"{begin} is not the one that was written with it; {mend}"
    (folder / name).unlink()
    with pytest.raises(InputError) as refused:
        read_report(folder / "report.json")
    assert str(refused.value) == f"{begin} is missing; {mend}"
    (folder / name).write_bytes(content)
    assert read_report(folder)


def test_files_of_others_and_the_clock_do_not_matter(folder: Path) -> None:
    (folder / "tables" / "mine.csv").write_text("")
    (folder / "timing.json").unlink()
    assert read_report(folder)


def test_a_report_that_was_copied_alone_is_read(folder: Path, tmp_path: Path) -> None:
    copied = shutil.copy(folder / "report.json", tmp_path / "baseline.json")
    assert read_report(copied).document["digests"]
    (tmp_path / "other").mkdir()
    shutil.copy(folder / "report.json", tmp_path / "other")
    (tmp_path / "other" / "README.md").write_text("")
    assert read_report(tmp_path / "other").figures == read_report(folder).figures


def test_files_outside_are_never_removed(folder: Path, tmp_path: Path) -> None:
    """A report.json may have been written by anybody."""
    outside = tmp_path / "mine.csv"
    outside.write_text("mine")
    document = json.loads((folder / "report.json").read_bytes())
    document["digests"] |= {"../mine.csv": sha256_of(outside), str(outside): sha256_of(outside)}
    (folder / "report.json").write_text(json.dumps(document))
    save(folder, "b")
    assert outside.read_text() == "mine"
    assert not (folder / "tables" / "rows.csv").exists()


def test_what_somebody_changed_is_not_removed(folder: Path) -> None:
    (folder / "tables" / "rows.csv").write_text("corrected by hand")
    save(folder, "b")
    assert (folder / "tables" / "rows.csv").read_text() == "corrected by hand"
    assert not (folder / "tables" / "rows.parquet").exists()


@pytest.mark.parametrize("content", ["[]", '{"digests": 1}', '{"digests": {"a": 1}}', '{"digests": {"a": [1]}}', "{"])
def test_what_is_no_report_has_no_earlier_files(tmp_path: Path, content: str) -> None:
    (tmp_path / "report.json").write_text(content)
    save(tmp_path, "b")
    assert "digests" in json.loads((tmp_path / "report.json").read_bytes())
