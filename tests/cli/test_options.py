"""One name, one meaning: an option does the same in every command, in the settings and in Python."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.main import get_command

import goldassay
from goldassay.cli.app import _MOVED, TASKS, app
from goldassay.cli.options import BOUNDS_OF, GROUPS, SETTING_OF
from goldassay.core.settings import Settings, known_keys
from goldassay.data.splitting import split
from goldassay.questions.shift.detection_report import report_detection
from tests.cli.run_files import refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

__all__ = ["refused"]

ROOT = Path(__file__).parents[2]


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("list_options", ROOT / "scripts" / "list_options.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LISTED = _script()
OPTIONS = LISTED.options()
COMMANDS = dict(LISTED.walk(get_command(app)))


def element(option: Any) -> str:
    """The type of one value."""
    shown = str(option.type_descriptor.annotation)
    return shown.removeprefix("list[").removesuffix("]") if shown.startswith("list[") else _named(shown)


def _named(shown: str) -> str:
    found = re.fullmatch(r"<class '(.+)'>", shown)
    return found[1] if found else shown


def differing(options: dict[str, list[tuple[str, Any]]]) -> dict[str, set[tuple[Any, ...]]]:
    """The names that are declared in more than one way."""
    ways = {
        name: {
            (LISTED.meaning(each), element(each), LISTED.kind(each), tuple(each.opts),
             each.rich_help_panel)
            for _, each in given
        }
        for name, given in options.items()
    }  # fmt: skip
    return {name: found for name, found in ways.items() if len(found) > 1}


def test_every_command_has_options() -> None:
    assert len(COMMANDS) >= 25
    assert len(OPTIONS) >= 100


def test_a_name_has_one_meaning() -> None:
    assert differing(OPTIONS) == {}


def test_a_second_meaning_is_noticed() -> None:
    class Other:
        help, metavar, is_flag, opts = "Something else.", "N", False, ["--seed"]
        rich_help_panel, type_descriptor = None, type("T", (), {"annotation": int})

    path, option = OPTIONS["--seed"][0]
    assert set(differing({"--seed": [(path, option), ("other", Other)]})) == {"--seed"}


def test_a_spelling_belongs_to_one_option() -> None:
    of: dict[str, set[str]] = {}
    for name, given in OPTIONS.items():
        for _, option in given:
            for spelled in (*option.opts, *option.secondary_opts):
                of.setdefault(spelled, set()).add(name)
    assert {spelled: names for spelled, names in of.items() if len(names) > 1} == {}


def test_the_page_lists_them_all() -> None:
    assert LISTED.PAGE.read_text(encoding="utf-8") == LISTED.page(), "run python scripts/list_options.py"


def test_every_option_has_a_group() -> None:
    panels = {option.rich_help_panel for given in OPTIONS.values() for _, option in given}
    assert panels == set(GROUPS)


def test_every_command_has_a_task() -> None:
    listed = [name for names in TASKS.values() for name in names]
    assert sorted(listed) == sorted(get_command(app).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_a_help_is_short_or_in_groups(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    from goldassay.cli import main

    with pytest.raises(SystemExit) as left:
        main([*command.split(), "--help"])
    assert left.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    heads = [line.removesuffix(":") for line in lines if re.fullmatch(r"[A-Z][\w ]*:", line)]
    known = {*GROUPS, *TASKS, "Arguments"}
    assert set(heads) <= known
    assert len(lines) < 60 or len(heads) >= 4
    # The lines of one group can be read at a glance.
    starts = [at for at, line in enumerate(lines) if line.removesuffix(":") in known]
    for head, start, end in zip(heads, starts, [*starts[1:], len(lines)], strict=True):
        assert end - start < 60, head


SPELLED = {each for given in OPTIONS.values() for _, option in given for each in (*option.opts, *option.secondary_opts)}
# Options of the root, of options that were renamed, and of other programs.
_OTHERS = {"--help", "--version", "--output-dir", *(old for _, old in _MOVED)}


def _named_in(file: Path) -> Iterator[str]:
    """The options that texts of a module name, in words or by `option("name")`."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"(?<![\w-])--[a-z][a-z-]+", node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "option":
            yield from (f"--{each.value.replace('_', '-')}" for each in node.args[:1] if isinstance(each, ast.Constant))


def test_messages_name_only_options_that_are_there() -> None:
    strange = {
        f"{file.relative_to(ROOT)}: {name}"
        for file in (ROOT / "src").rglob("*.py")
        for name in _named_in(file)
        if name not in SPELLED | _OTHERS
    }
    assert strange == set()


# --- The settings, the command line and Python -----------------------------------------------------------------------


def setting(key: str) -> Any:
    value: Any = Settings()
    for part in key.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("name", sorted(SETTING_OF))
def test_an_option_of_the_settings_takes_its_default_from_them(name: str) -> None:
    key = SETTING_OF[name]
    assert key in known_keys()
    default = setting(key)
    for path, option in OPTIONS[name]:
        assert option.default is None, "not given, it leaves the settings as they are"
        shown = re.search(r"\[default: (.*)\]$", option.help)
        if default is None or (path, name) == ("compare", "--clusters"):
            assert shown is None or path == "compare"
        else:
            assert shown is not None
            assert shown[1] == str(default)


@pytest.mark.parametrize(("name", "command", "key"), [("--seeds", "train", "training.seeds"),
                                                      ("--seeds", "leakage measure", "leakage.seeds")])  # fmt: skip
def test_the_number_of_seeds_has_the_default_of_the_settings(name: str, command: str, key: str) -> None:
    (option,) = [option for path, option in OPTIONS[name] if path == command]
    assert option.default is None
    assert f"[default: {setting(key)}]" in option.help


PYTHON: dict[str, tuple[Any, dict[str, str]]] = {
    "audit": (goldassay.audit, {"file_format": "format"}),
    "artifacts mine": (goldassay.measure_artifacts, {"file_format": "format"}),
    "leakage measure": (goldassay.measure_leakage, {}),
    "instability": (goldassay.measure_instability, {}),
    "leakage suggest": (goldassay.suggest_rewrites, {}),
    "compare": (goldassay.compare_models, {"models": "model"}),
    "shift detection": (report_detection, {"draws": "n_draws"}),
    "shift generalization": (goldassay.measure_shift, {"draws": "n_draws", "sizes": "parameters"}),
    "split": (split, {}),
}
# A command writes a folder and shows its progress; a function returns the report and is quiet.
_OF_COMMANDS = {"out", "quiet"}


@pytest.mark.parametrize("command", PYTHON)
def test_a_keyword_of_python_has_the_default_of_the_option(command: str) -> None:
    function, renamed = PYTHON[command]
    keywords = inspect.signature(function).parameters
    same = []
    for option in COMMANDS[command].params:
        keyword = keywords.get(renamed.get(option.name, option.name))
        if option.param_type_name != "option" or keyword is None or option.name in _OF_COMMANDS:
            continue
        key = SETTING_OF.get(max(option.opts, key=len))
        effective = setting(key) if key is not None and command != "compare" else option.default
        if keyword.default is not None or key is None:
            assert _plain(keyword.default) == _plain(effective), option.name
        same.append(option.name)
    assert len(same) >= 2


def _plain(value: Any) -> Any:
    """None where nothing is given; several numbers as the command line writes them."""
    if value is inspect.Parameter.empty or value in ((), [], {}):
        return None
    return ",".join(map(str, value)) if isinstance(value, tuple) else value


# --- What is refused -------------------------------------------------------------------------------------------------

_VALUES = {"train --seeds": "1,2", "shift detection --out": "far=runs"}


# Spellings that people have in scripts. The commands that read runs had --gold.
OLD = [
    ("artifacts mine", "--condition"),
    ("audit", "--labels"),
    ("leakage measure", "--threshold"),
    ("shift detection", "--folder"),
    ("shift detection", "--in"),
    ("shift detection", "--out"),
    ("shift generalization", "--size"),
    ("train", "--seeds"),
    ("train", "--sizes"),
    *((path, "--gold") for path, option in OPTIONS["--align"] if path != "leakage measure"),
    ("shift detection", "--gold"),
]


def test_every_old_spelling_is_known() -> None:
    assert sorted(_MOVED) == sorted(OLD)


@pytest.mark.parametrize(("command", "old"), sorted(_MOVED))
def test_an_old_spelling_is_refused_with_the_new_one(command: str, old: str, refused: Callable[..., str]) -> None:
    new = _MOVED[command, old][0]
    assert new in [max(option.opts, key=len) for option in COMMANDS[command].params]
    value = _VALUES.get(f"{command} {old}", "x")
    for arguments in ((old, value), (f"{old}={value}",)):
        line = refused(*command.split(), *arguments)
        assert line.endswith(f"is spelled {new} in this command; write {new} in its place")


def test_a_folder_may_have_an_equals_sign_in_its_name(refused: Callable[..., str]) -> None:
    line = refused("shift", "detection", "--inside", "own=nothing", "--outside", "far=nothing", "--out", "rate=0.1")
    assert "--outside in this command" not in line
    assert "nothing" in line


@pytest.mark.parametrize("name", sorted(BOUNDS_OF))
def test_a_number_out_of_bounds_is_one_line(name: str, refused: Callable[..., str]) -> None:
    bounds = BOUNDS_OF[name].bounds
    for command, option in OPTIONS[name]:
        if element(option) == "str":
            far = [""]
        else:
            far = [str(bounds[each] - 1) for each in ("ge", "gt") if each in bounds]
            far += [str(bounds[each] + 1) for each in ("le", "lt") if each in bounds]
        assert far
        for value in far:
            line = refused(*command.split(), f"{name}={value}", *NEEDED.get(command, ("x",)))
            assert line.startswith(f"goldassay: {name}: it must ")


# What else must be given before a value is looked at.
NEEDED = {
    "artifacts assign": ("--test", "x"),
    "artifacts classify": ("x", "--test", "x"),
    "specimen": ("-o", "x"),
    "shift detection": ("--inside", "x", "--outside", "x"),
}


def test_every_number_has_bounds() -> None:
    free = {name for name, given in OPTIONS.items() if element(given[0][1]) in ("int", "float")} - set(BOUNDS_OF)
    # A score may have any floor.
    assert free == {"--floor"}
