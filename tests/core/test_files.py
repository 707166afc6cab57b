"""Files are written whole or not at all."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from goldassay.core.errors import OutputError
from goldassay.core.files import check_place, output_error, sha256_of, written_together, written_whole
from tests.stated import says


def test_a_file_appears_whole(tmp_path: Path) -> None:
    target = tmp_path / "new" / "file.txt"
    with written_whole(target) as path:
        path.write_text("all of it")
        assert not target.exists()
    assert target.read_text() == "all of it"
    assert [path.name for path in target.parent.iterdir()] == ["file.txt"]


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "file.txt"
    target.write_text("old")
    with pytest.raises(RuntimeError), written_whole(target) as path:
        path.write_text("half")
        raise RuntimeError
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]


def test_what_is_no_file_is_written_to_and_stays(tmp_path: Path) -> None:
    """A pipe, or a device such as /dev/stdout, must not be replaced by a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with written_whole(pipe) as path:
            path.write_text("all of it")
        assert os.read(reader, 99) == b"all of it"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_files_appear_together(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("mine")
    with written_together(tmp_path) as folder:
        (folder / "sub").mkdir()
        (folder / "sub" / "a.txt").write_text("a")
        (folder / "b.txt").write_text("b")
        assert not (tmp_path / "b.txt").exists()
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()) == [
        "b.txt",
        "kept.txt",
        "sub/a.txt",
    ]


def test_what_is_not_written_anew_is_gone_if_it_is_ours(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt", "mine.txt"):
        (tmp_path / name).write_text("old")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/c.txt").write_text("old")
    with written_together(tmp_path, instead_of=("a.txt", "b.txt", "sub/c.txt")) as folder:
        (folder / "b.txt").write_text("new")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"b.txt": "new", "mine.txt": "old"}
    with pytest.raises(RuntimeError), written_together(tmp_path, instead_of=("b.txt",)) as folder:
        raise RuntimeError
    assert (tmp_path / "b.txt").exists()


def test_a_failure_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), written_together(tmp_path) as folder:
        (folder / "a.txt").write_text("a")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_an_os_error_names_the_place_and_the_mend(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file") as caught, written_whole(tmp_path / "file" / "inner.txt"):
        pass
    assert "-o" in str(caught.value)
    assert caught.value.exit_status == 2


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="there is no /proc")
def test_a_place_that_takes_no_files_is_refused_before() -> None:
    """Permissions allow it to root, and yet no folder can be made there."""
    with pytest.raises(OutputError, match="/proc/nope/x: cannot be written"):
        check_place(Path("/proc/nope/x"), "--json")


def test_trying_a_place_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text("old")
    for name in ("new.json", "old.json", "a/b/c.json"):
        check_place(tmp_path / name, "--json")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"old.json": "old"}


def test_sha256(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    assert sha256_of(tmp_path / "x") == hashlib.sha256(b"abc").hexdigest()


@pytest.mark.parametrize("error", [OSError(28, "No space left"), OSError("No space left (os error 28)")])
def test_a_full_disk_is_one_however_it_is_told(error: OSError) -> None:
    assert str(output_error(error, Path("out"))) == says("out:", "(No space left)", "free some space", "-o")
