"""One name, one meaning: an option does the same in every command, in the settings and in Python."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import pytest
from typer.main import get_command

import goldassay
from goldassay.cli.app import _MOVED, TASKS, app
from goldassay.cli.options import GROUPS
from goldassay.core.keywords import model_of
from goldassay.core.options import COMMANDS as DECLARED
from goldassay.core.options import SETTING_OF, key_of_setting
from goldassay.core.settings import Settings, known_keys
from goldassay.questions.board.question import BoardReading
from goldassay.questions.run_choice import RunFormat, RunReading
from goldassay.questions.sensitivity.question import SensitivityReading
from goldassay.questions.shift.detected import DetectionReading
from tests.cli.run_files import refused
from tests.stated import states

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


# --- One declaration: the settings, the command line and Python -------------------------------------------------------


def snake(option: Any) -> str:
    return max(option.opts, key=len).removeprefix("--").replace("-", "_")


def own_options(command: str) -> dict[str, Any]:
    """The options of a command, by their name in the declarations."""
    return {snake(each): each for each in COMMANDS[command].params if each.param_type_name == "option"}


def setting(key: str) -> Any:
    value: Any = Settings()
    for part in key.split("."):
        value = getattr(value, part)
    return value


def plain(value: Any) -> Any:
    """None where nothing is given; several numbers as the command line writes them."""
    if value is inspect.Parameter.empty or value in ((), [], {}):
        return None
    return ",".join(map(str, value)) if isinstance(value, tuple) else value


def test_every_command_is_declared() -> None:
    assert sorted(DECLARED) == sorted(COMMANDS)


@pytest.mark.parametrize("command", sorted(DECLARED))
def test_a_command_has_the_options_that_are_declared(command: str) -> None:
    declared = DECLARED[command]
    assert sorted(own_options(command)) == sorted({*declared.options.values(), *declared.shell})


# A folder's name is the command's own.
_NAMED_BY_COMMANDS = {"out"}


@pytest.mark.parametrize("command", sorted(DECLARED))
def test_an_option_is_as_declared(command: str) -> None:
    declared = DECLARED[command]
    for name, option in own_options(command).items():
        key = declared.key(name)
        said, _, default = key.help.partition("  [default: ")
        assert LISTED.meaning(option).startswith(said), name
        if key.kind in (int, float, bool, str):
            assert element(option) == key.kind.__name__, name
        if get_origin(key.kind) is Literal:
            assert re.findall(r"'([^']+)'", str(option.type_descriptor.annotation)) == list(get_args(key.kind)), name
        shown = re.search(r"\[default: (.*)\]", option.help)
        if declared.is_setting(name):
            assert option.default is None, "not given, it leaves the settings as they are"
            assert (shown and shown[1]) == (None if key.default is None else str(key.default))
        else:
            assert name in _NAMED_BY_COMMANDS or plain(option.default) == plain(key.default), name
            assert (shown and shown[1]) == (default.removesuffix("]") or None), name


def test_a_key_of_the_settings_has_the_default_that_is_declared() -> None:
    taken = {key for each in DECLARED.values() for key in each.settings.values()}
    assert taken == {"leakage.seeds", "training.seeds"}
    for name in (*SETTING_OF.values(), *taken):
        assert name in known_keys()
        assert setting(name) == key_of_setting(name).default


FUNCTIONS = {command: each for command, each in DECLARED.items() if each.function}
_UNTYPED = {"check", "diff"}


# What `**reading` and `**options` may hold.
FURTHER: dict[str, Any] = {
    "measure_instability": RunReading.__annotations__,
    "measure_sensitivity": SensitivityReading.__annotations__,
    "rank_systems": BoardReading.__annotations__,
    "compare_models": RunFormat.__annotations__,
    "measure_shift": RunFormat.__annotations__,
    "detect_shift": DetectionReading.__annotations__,
    "train": DECLARED["train"].options,
}


@pytest.mark.parametrize("command", sorted(FUNCTIONS))
def test_a_function_takes_what_its_command_takes(command: str) -> None:
    declared = FUNCTIONS[command]
    parameters = inspect.signature(getattr(goldassay, declared.function)).parameters.values()
    defaults = {each.name: each.default for each in parameters if each.kind is not each.VAR_KEYWORD}
    assert (len(defaults) < len(parameters)) == (declared.function in FURTHER)
    assert sorted({*defaults, *FURTHER.get(declared.function, ())}) == sorted(declared.keywords())
    for name, option in declared.options.items():
        # A function shows no progress, and keeps no files.
        if name not in defaults or name in ("quiet", "out"):
            continue
        effective = None if declared.is_setting(option) else declared.key(option).default
        assert plain(defaults[name]) == plain(effective), name


@pytest.mark.parametrize("command", sorted(set(FUNCTIONS) - _UNTYPED))
def test_the_model_of_a_command_has_what_is_declared(command: str) -> None:
    fields = model_of(command).model_fields
    keys = FUNCTIONS[command].keywords()
    assert list(fields) == list(keys)
    for name, key in keys.items():
        assert fields[name].default == key.default
        assert fields[name].description == key.help


class Strange:
    """What no keyword takes."""


def refusals() -> list[Any]:
    """(function, keyword, value) that a function has to refuse."""
    found = []
    for command in sorted(set(FUNCTIONS) - _UNTYPED):
        declared = FUNCTIONS[command]
        for name, key in declared.keywords().items():
            if key.kind is Any and name != "settings":
                continue
            far = [bound - 1 for bound in (key.ge, key.gt) if bound is not None]
            far += [bound + 1 for bound in (key.le, key.lt) if bound is not None]
            refused = [(int(each), str(int(each))) for each in far] + [(Strange(), "strange")]
            found += [pytest.param(declared.function, name, value, id=f"{declared.function}-{name}-{shown}")
                      for value, shown in refused]  # fmt: skip
    return found


@pytest.mark.parametrize(("function", "keyword", "value"), refusals())
def test_a_function_refuses_what_its_option_refuses(function: str, keyword: str, value: Any) -> None:
    called = getattr(goldassay, function)
    needed = [
        "x"
        for name, parameter in inspect.signature(called).parameters.items()
        if parameter.default is parameter.empty
        and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        and name != keyword
    ]
    with pytest.raises(goldassay.InputError) as raised:
        called(*needed, **{keyword: value})
    shown = value if isinstance(value, int) else "a Strange"
    assert str(raised.value).startswith(f"{keyword} is {shown}; give ")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda: goldassay.check(3),  # type: ignore[arg-type]
        lambda: goldassay.check([3]),  # type: ignore[list-item]
        lambda: goldassay.check("x", 3),  # type: ignore[arg-type]
        lambda: goldassay.diff(3, 4),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_report_is_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(goldassay.InputError, match=r"; give "):
        call()


# --- What is refused -------------------------------------------------------------------------------------------------

_VALUES = {"train --seeds": "1,2", "shift detection --out": "far=runs"}


# Spellings that people have in scripts. The commands that read runs had --gold, but for two that have the scale alone.
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
    *((path, "--gold") for path, option in OPTIONS["--grades"] if path not in ("audit", "artifacts gap")),
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
        assert states(line, f"is spelled {new}", f"write {new}")


def test_a_folder_may_have_an_equals_sign_in_its_name(refused: Callable[..., str]) -> None:
    line = refused("shift", "detection", "--inside", "own=nothing", "--outside", "far=nothing", "--out", "rate=0.1")
    assert "--outside in this command" not in line
    assert "nothing" in line


BOUNDED = sorted(
    name for name, given in OPTIONS.items() if any(DECLARED[path].key(snake(each)).bounds for path, each in given)
)


@pytest.mark.parametrize("name", BOUNDED)
def test_a_number_out_of_bounds_is_one_line(name: str, refused: Callable[..., str]) -> None:
    for command, option in OPTIONS[name]:
        bounds = DECLARED[command].key(snake(option)).bounds
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
    free = {name for name, given in OPTIONS.items() if element(given[0][1]) in ("int", "float")} - set(BOUNDED)
    # A score may have any floor.
    assert free == {"--floor"}
