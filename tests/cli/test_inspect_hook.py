"""The extension of inspect_ai, with a small one in its place; `make foreign` runs it in the real one."""

from __future__ import annotations

import asyncio
import atexit
import importlib
import json
import shutil
import sys
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from goldassay.cli import inspect_hook
from tests.stated import states

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGS = Path(__file__).parents[1] / "runs" / "fixtures" / "inspect_ai"


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """What a small inspect_ai was told: its hooks by name; its display is the value of "display"."""
    told: dict[str, Any] = {"display": "plain"}
    package, made, util = (ModuleType(name) for name in ("inspect_ai", "inspect_ai.hooks", "inspect_ai.util"))
    made.Hooks = object  # type: ignore[attr-defined]
    made.hooks = lambda name, description: lambda kind: told.setdefault(name, kind())  # type: ignore[attr-defined]
    util.display_type = lambda: told["display"]  # type: ignore[attr-defined]
    for module in (package, made, util):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    yield told
    monkeypatch.setenv(inspect_hook.VARIABLE, "0")
    importlib.reload(inspect_hook)


def ended(folder: Path | str, **more: Any) -> Any:
    log = SimpleNamespace(location=f"{folder}/one.eval")
    return SimpleNamespace(**{"eval_set_id": None, "exception": None, "logs": [log, log], **more})


def test_the_entry_point_is_this_module() -> None:
    about = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert about["project"]["entry-points"]["inspect_ai"] == {"goldassay": inspect_hook.__name__}


@pytest.mark.parametrize("value", ["", "0", "off", "False "])
def test_nothing_is_registered_where_it_is_switched_off(
    registered: dict[str, Any], monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv(inspect_hook.VARIABLE, value)
    importlib.reload(inspect_hook)
    assert list(registered) == ["display"]


def test_without_inspect_ai_the_module_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What walks through all modules, as documentation does, imports it too."""
    monkeypatch.delenv(inspect_hook.VARIABLE, raising=False)
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    importlib.reload(inspect_hook)


def test_the_folder_is_shown_once_after_a_run_and_after_a_set(
    registered: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(inspect_hook.VARIABLE, raising=False)
    importlib.reload(inspect_hook)
    hook = registered["goldassay_scores"]
    shutil.copy(LOGS / "letters.eval", tmp_path)
    asyncio.run(hook.on_run_end(ended(tmp_path)))
    shown = capsys.readouterr().out
    assert shown.count("goldassay runs scores ") == 1
    # The denominators come first.
    first, second, *_ = shown.splitlines()
    assert states(first, "mockllm/model on letters", "11 of 18 have a score", "7 unparsed")
    assert second.startswith("goldassay runs scores ")
    assert "letters  mockllm/model  44.44 (11 of 18 scored: 72.73)  [" in shown
    # What is part of a set, or was stopped, is not shown.
    asyncio.run(hook.on_run_end(ended(tmp_path, eval_set_id="set")))
    asyncio.run(hook.on_run_end(ended(tmp_path, exception=KeyboardInterrupt())))
    assert capsys.readouterr().out == ""
    asyncio.run(hook.on_eval_set_end(SimpleNamespace(log_dir=tmp_path.as_uri())))
    assert capsys.readouterr().out == shown
    late: list[Any] = []
    monkeypatch.setattr(atexit, "register", lambda *called: late.append(called))
    registered["display"] = "full"
    asyncio.run(hook.on_run_end(ended(tmp_path)))
    assert capsys.readouterr().out == ""
    ((show, place),) = late
    show(place)
    assert capsys.readouterr().out == shown


def test_of_a_folder_with_a_broken_log_the_others_are_scored_and_where_all_is_scored_nothing_is_said(
    tmp_path: Path,
) -> None:
    with zipfile.ZipFile(tmp_path / "a.eval", "w") as archive:
        about = {"eval_id": "E", "task": "t", "model": "m"}
        archive.writestr("header.json", json.dumps({"version": 2, "status": "success", "eval": about}))
        samples = [{"id": i, "epoch": 1, "scores": {"match": {"value": "CI"[i % 2]}}} for i in range(4)]
        archive.writestr("summaries.json", json.dumps(samples))
    assert inspect_hook.report_folder(str(tmp_path))[0].startswith("goldassay runs scores ")
    shutil.copy(LOGS / "letters.eval", tmp_path / "broken.eval")
    with (tmp_path / "broken.eval").open("r+b") as file:
        file.truncate(1000)
    lines = inspect_hook.report_folder(str(tmp_path))
    assert any("broken.eval" in line for line in lines)
    assert any(line.startswith("t ") for line in lines)


def test_what_cannot_be_shown_is_one_line(tmp_path: Path) -> None:
    for place, said in (("s3://bucket/logs", "is not on this machine"), (str(tmp_path), "no runs were recognized")):
        (line,) = inspect_hook.report_folder(place)
        assert line.startswith("goldassay: ")
        assert said in line
    assert inspect_hook.folder_of("C:\\logs") == "C:\\logs"
    assert inspect_hook.folder_of("file:///my%20logs") == "/my logs"
