"""The entry point: each failure is one line and an exit status, whoever is at fault."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from goldassay.cli.main import run
from goldassay.core.errors import GoldassayError
from tests.end_to_end.conftest import COMMAND


class PanicError(BaseException):
    """As the table engine's: no `Exception`."""


@pytest.mark.parametrize(
    ("raised", "status", "said"),
    [
        (
            ZeroDivisionError("division by zero"),
            70,
            "internal error in audit: ZeroDivisionError: division by zero; set",
        ),
        (PanicError("panicked"), 70, "internal error in audit: PanicError: panicked; set GOLDASSAY_DEBUG=1"),
        (OSError(28, "No space left on device"), 2, "standard output: cannot be written (No space left on device)"),
        (OSError(36, "File name too long", "x" * 300), 2, f"{'x' * 300}: it cannot be read or written (File name"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError(), 2, "out of memory"),
    ],
)
def test_each_failure_is_one_line(
    raised: BaseException,
    status: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def app(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setitem(sys.modules, "goldassay.cli.app", types.SimpleNamespace(root=app))
    assert run(["audit"]) == status
    err = capsys.readouterr().err
    assert err.startswith(f"goldassay: {said}")
    assert err.count("\n") == 1


def test_ctrl_c_is_said_wherever_it_strikes(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    def within_a_reader(*_args: object, **_options: object) -> None:
        # Before the reader comes to give standard error back.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        raise KeyboardInterrupt

    def as_typer_leaves(*_args: object, **_options: object) -> int:
        return 130

    for root in (within_a_reader, as_typer_leaves):
        monkeypatch.setattr("goldassay.cli.app.root", root)
        assert run(["audit"]) == 130
        assert capfd.readouterr().err == "goldassay: interrupted\n"


def test_debugging_shows_the_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def app(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setenv("GOLDASSAY_DEBUG", "1")
    monkeypatch.setitem(sys.modules, "goldassay.cli.app", types.SimpleNamespace(root=app))
    assert run(["audit"]) == 70
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-", "<&- >&- 2>&-", "2>/dev/full"])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_bad_input_exits_with_2_where_nobody_can_read_the_line(closed: str, tmp_path: Path) -> None:
    done = subprocess.run(f"{COMMAND} split nope.jsonl {closed}", shell=True, cwd=tmp_path, check=False, timeout=60)
    assert done.returncode == 2


def test_only_a_violated_policy_exits_with_1() -> None:
    kinds = [GoldassayError]
    for kind in kinds:
        kinds += kind.__subclasses__()
        assert kind.exit_status != 1
    assert len(kinds) > 5
