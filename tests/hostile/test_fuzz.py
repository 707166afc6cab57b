"""The fuzzer notices what it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goldassay.core import pipes

from . import fuzz

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pipes, "_PATIENCE_MS", 20)


def test_nothing_is_found_in_a_moment() -> None:
    assert fuzz.search(0.05) == {}


def test_a_crash_is_found_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = fuzz.run

    def broken(arguments: Sequence[str]) -> int:
        return 1 // 0 if arguments[0] == "split" else real(arguments)

    monkeypatch.setattr(fuzz, "run", broken)
    found = fuzz.search(0.1)
    assert found
    assert all("traceback: ZeroDivisionError at test_fuzz.py" in kind for kind in found)
    kept = [path for path in (tmp_path / "build" / "fuzz").iterdir() if path.name != "running"]
    assert {path.name for path in kept[0].iterdir()} > {"command"}


@pytest.mark.parametrize(
    ("kind", "left"), [("flip", b"abbd"), ("insert", b"ab!cd"), ("replace", b"ab!d"), ("delete", b"abd"),
                       ("repeat", b"abcccd"), ("cut", b"ab")],
)  # fmt: skip
def test_changes(kind: str, left: bytes) -> None:
    assert fuzz.Change(kind, 0.5, 1, b"\1" if kind == "flip" else b"!").applied(b"abcd") == left
