"""Pipes are read once, into a file of their own; what is no file is refused."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from goldassay import InputError, read_dataset
from goldassay.core import files as core_files
from goldassay.core.files import is_pipe, seekable


def written(path: Path, data: bytes) -> threading.Thread:
    thread = threading.Thread(target=path.write_bytes, args=(data,))
    thread.start()
    return thread


def test_a_pipe_gives_the_same_bytes_again(tmp_path: Path) -> None:
    place = tmp_path / "pipe"
    os.mkfifo(place)
    data = os.urandom(300_000)
    thread = written(place, data)
    assert seekable(place).read_bytes() == data
    thread.join()
    assert seekable(place).read_bytes() == data
    assert is_pipe(place)


def test_a_dataset_comes_through_a_pipe(tmp_path: Path) -> None:
    place = tmp_path / "train.jsonl"
    os.mkfifo(place)
    rows = [f'{{"text": "words {row}", "label": "{"ab"[row % 2]}"}}' for row in range(40)]
    thread = written(place, "\n".join(rows).encode())
    dataset = read_dataset(place)
    thread.join()
    assert (len(dataset), dataset.name) == (40, "pipe")


def test_a_pipe_to_which_nobody_writes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core_files, "_PATIENCE_MS", 50)
    place = tmp_path / "pipe"
    os.mkfifo(place)
    with pytest.raises(InputError, match="no process writes to this pipe"):
        seekable(place)


def test_devices_and_sockets_are_no_files(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        place = tmp_path / "socket"
        # The path of a socket may have 108 bytes.
        before = Path.cwd()
        os.chdir(tmp_path)
        listening.bind("socket")
        os.chdir(before)
        for path in (place, Path("/dev/null")):
            with pytest.raises(InputError, match="a device or a socket"):
                seekable(path)


def test_files_and_folders_are_themselves(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"1")
    assert seekable(tmp_path / "x") == tmp_path / "x"
    assert seekable(tmp_path) == tmp_path
    assert not is_pipe(tmp_path / "x")
    assert not is_pipe(tmp_path / "missing")
