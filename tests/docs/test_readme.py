"""The README is short, names every command, and its lines of Python run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from typer.main import get_command

from goldassay.cli.app import TASKS, app
from tests.docs.given import provide
from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

README = ROOT / "README.md"
TEXT = README.read_text("utf-8")


def test_it_is_short() -> None:
    assert len(TEXT.splitlines()) <= 120


def test_it_names_every_command_by_its_task() -> None:
    table = TEXT.split("## Commands by task")[1].split("\n## ")[0]
    tasks = re.split(r"^\| \*\*(.+?)\*\* ", table, flags=re.MULTILINE)[1:]
    named = dict(zip(tasks[::2], tasks[1::2], strict=True))
    assert list(named) == list(TASKS)
    for task, commands in TASKS.items():
        words = set(re.findall(r"`([^`]+)`", named[task]))
        for name in commands:
            command = get_command(app).commands[name]  # type: ignore[attr-defined]
            parts = list(getattr(command, "commands", {})) or [name]
            first = f"{name} {parts[0]}" if parts != [name] else name
            assert {first, *parts[1:]} <= words, task


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert target.startswith("http") or (ROOT / target).exists(), target


@pytest.mark.slow
def test_its_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    provide("data", tmp_path, README)
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    # Of so few rows the flaw is seen, and how large it is may stay open.
    assert capsys.readouterr().out in ("caution\n", "unsound\n")
    assert (tmp_path / "report" / "report.html").is_file()
