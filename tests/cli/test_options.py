"""One name, one meaning: an option does the same in every command, in the settings and in Python."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from typer.main import get_command

import goldassay
from goldassay.cli.app import COMMANDS as DECLARED
from goldassay.cli.app import TASKS, app
from goldassay.cli.main import run
from goldassay.core import options
from goldassay.core.commands import REQUIRED, Parameter, command, parameters_of
from goldassay.core.options import GROUPS, PLACE, Option
from goldassay.core.settings import Settings, known_keys
from goldassay.questions.run_choice import RunChoice
from tests.cli.run_files import refused
from tests.stated import says

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


def scalars(kind: Any) -> set[str]:
    """The types of single values."""
    if get_origin(kind) in (Union, UnionType, Sequence, Mapping):
        return set().union(*map(scalars, get_args(kind))) - {"NoneType"}
    return {str(kind) if get_origin(kind) is Literal else getattr(kind, "__name__", str(kind))}


def declared(path: str, option: Any) -> Parameter:
    """The declaration of an option of a command."""
    return DECLARED[path].parameters()[str(option.name)]


def differing(options: dict[str, list[tuple[str, Any]]]) -> dict[str, set[tuple[Any, ...]]]:
    """The names that are declared in more than one way."""
    ways = {
        name: {
            (LISTED.meaning(each), frozenset(scalars(declared(path, each).kind)) - {"Mapping"}, LISTED.kind(each),
             tuple(each.opts), each.rich_help_panel)
            for path, each in given
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
        name, help, metavar, is_flag, opts = "seed", "Something else.", "N", False, ["--seed"]
        rich_help_panel = None

    path, option = OPTIONS["--seed"][0]
    assert set(differing({"--seed": [(path, option), (path, Other)]})) == {"--seed"}


def test_a_spelling_belongs_to_one_option() -> None:
    of: dict[str, set[str]] = {}
    for name, given in OPTIONS.items():
        for _, option in given:
            for spelled in (*option.opts, *option.secondary_opts):
                of.setdefault(spelled, set()).add(name)
    assert {spelled: names for spelled, names in of.items() if len(names) > 1} == {}


def test_the_page_lists_them_all() -> None:
    assert LISTED.PAGE.read_text(encoding="utf-8") == LISTED.page(), "run python scripts/list_options.py"


def test_the_site_has_a_page_per_command() -> None:
    pages = LISTED.command_pages()
    assert set(pages) == {path.replace(" ", "-") for path in COMMANDS}
    for path, each in COMMANDS.items():
        spelled = {name for option in each.params if option.param_type_name == "option" for name in option.opts}
        assert spelled <= set(re.findall(r"`(--?[a-z][a-z-]*)`", pages[path.replace(" ", "-")]))


def test_every_option_has_a_group() -> None:
    panels = {option.rich_help_panel for given in OPTIONS.values() for _, option in given}
    assert panels == set(GROUPS)


def test_every_command_has_a_task() -> None:
    listed = [name for names in TASKS.values() for name in names]
    assert sorted(listed) == sorted(get_command(app).commands)  # type: ignore[attr-defined]


def _help(words: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert run(words.split()) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_help_is_one_screen(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert len(_help(f"{command} --help", capsys)) <= 40
    monkeypatch.setenv("COLUMNS", "100")
    lines = _help(f"{command} --help", capsys)
    assert len(lines) <= 40
    # Each main option has one line, in which a required one comes before the others.
    given = DECLARED[command].parameters()
    main = [name for name, each in given.items() if each.option.main or each.default is REQUIRED]
    places = {name for name, each in given.items() if each.option.group == PLACE}
    start, end = lines.index("Main options:"), lines.index("Example:")
    names = [re.search(r"--([a-z-]+)", line) for line in lines[start + 1 : end - 1]]
    assert sorted(each[1] if each else "" for each in names) == sorted(
        name.rstrip("_").replace("_", "-") for name in main if name not in places
    )
    assert f"goldassay {command} --help-all" in lines[-1]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_long_help_names_every_option(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(_help(f"{command} --help-all", capsys))
    named = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text))
    assert {
        spelled for each in COMMANDS[command].params for spelled in each.opts if each.param_type_name == "option"
    } <= named


@pytest.mark.parametrize("command", COMMANDS)
def test_the_example_of_a_help_can_be_typed(command: str) -> None:
    words = shlex.split(DECLARED[command].example)
    assert COMMANDS[command].make_context(command.split()[-1], words).params


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_a_help_is_short_or_in_groups(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = _help(f"{command} --help-all" if command else "--help", capsys)
    heads = [line.removesuffix(":") for line in lines if re.fullmatch(r"[A-Z][\w ]*:", line)]
    known = {*GROUPS, *TASKS, PLACE, "Example"}
    assert set(heads) <= known
    assert len(lines) < 60 or len(heads) >= 4
    # The lines of one group can be read at a glance.
    starts = [at for at, line in enumerate(lines) if line.removesuffix(":") in known]
    for head, start, end in zip(heads, starts, [*starts[1:], len(lines)], strict=True):
        assert end - start < 60, head


SPELLED = {each for given in OPTIONS.values() for _, option in given for each in (*option.opts, *option.secondary_opts)}
# Options of the root, and of other programs.
_OTHERS = {
    "--help",
    "--help-all",
    "--version",
    "--output-dir",
    "--dump-eval-details",
    "--samples",
    "--output",
    "--repeat",
}


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


def setting(key: str) -> Any:
    value: Any = Settings()
    for part in key.split("."):
        value = getattr(value, part)
    return value


def plain(value: Any) -> Any:
    """None where nothing is given; several numbers as the command line writes them."""
    if value is REQUIRED or value in ((), [], {}):
        return None
    return ",".join(map(str, value)) if isinstance(value, tuple) else value if isinstance(value, bool) else str(value)


def function_of(path: str) -> Any:
    module, _, name = DECLARED[path].function.partition(":")
    return getattr(importlib.import_module(module), name)


def test_every_command_is_declared() -> None:
    assert sorted(DECLARED) == sorted(COMMANDS)


@pytest.mark.parametrize("path", sorted(DECLARED))
def test_a_command_has_the_parameters_of_its_function(path: str) -> None:
    names = {str(each.name) for each in COMMANDS[path].params if each.name != "help"}
    assert names - {"more"} == {*parameters_of(function_of(path)), *DECLARED[path].also}
    for each in COMMANDS[path].params:
        if each.param_type_name == "option" and each.name != "help":
            assert max(each.opts, key=len) == f"--{str(each.name).rstrip('_').replace('_', '-')}"


@pytest.mark.parametrize("path", sorted(DECLARED))
def test_an_option_is_as_declared(path: str) -> None:
    for option in (each for each in COMMANDS[path].params if each.param_type_name == "option"):
        parameter = declared(path, option)
        key = parameter.option
        said, _, default = key.help.partition("  [default: ")
        assert LISTED.meaning(option).startswith(said)
        shown = re.search(r"\[default: (.*)\]", option.help)
        if key.setting:
            assert option.default is None, "not given, it leaves the settings as they are"
            assert key.setting in known_keys()
            assert setting(key.setting) == key.default
            assert (shown and shown[1]) == (None if key.default is None else str(key.default))
            assert key.setting.rpartition(".")[2] == parameter.name
        else:
            assert option.default is None or plain(option.default) == plain(parameter.default)
            assert parameter.default in (None, REQUIRED) or option.default is not None
            assert (shown and shown[1]) in (default.removesuffix("]") or None, "none")


def test_every_declaration_is_of_an_option() -> None:
    declared = {get_args(each)[1] for each in vars(options).values() if get_origin(each) is Annotated}
    taken = {each.option for path in DECLARED for each in DECLARED[path].parameters().values()}
    assert {each.help for each in declared - taken} == set()


def test_the_defaults_of_a_bundle_are_those_of_its_class() -> None:
    taken = parameters_of(goldassay.measure_instability)
    fields = {name: each for name, each in RunChoice.__dataclass_fields__.items() if name in taken}
    assert len(fields) >= 10
    for name, field in fields.items():
        assert name == "columns" or taken[name].default == field.default, name


FUNCTIONS = {path: getattr(goldassay, name) for path in DECLARED
             if (name := DECLARED[path].function.partition(":")[2]) in goldassay.__all__}  # fmt: skip


def test_the_public_functions_are_commands() -> None:
    assert len(FUNCTIONS) >= 14
    for path, function in FUNCTIONS.items():
        assert function is function_of(path)


@pytest.mark.parametrize("path", sorted(FUNCTIONS))
def test_a_docstring_has_every_argument(path: str) -> None:
    text = inspect.getdoc(FUNCTIONS[path]) or ""
    for name in parameters_of(FUNCTIONS[path]):
        assert f"    {name}: " in text
    assert not re.search(r"Args:.*--[a-z].*Returns:", text, re.DOTALL)


class Strange:
    """What no keyword takes."""


def refusals() -> list[Any]:
    """(function, keyword, value) that a function has to refuse."""
    found = []
    for function in (*FUNCTIONS.values(), goldassay.measure_artifacts):
        for name, each in parameters_of(function).items():
            key = each.option
            if each.kind is Any:
                continue
            far = [bound - 1 for bound in (key.ge, key.gt) if bound is not None]
            far += [bound + 1 for bound in (key.le, key.lt) if bound is not None]
            refused = [(int(each), str(int(each))) for each in far] + [(Strange(), "strange")]
            found += [pytest.param(function, name, value, id=f"{function.__name__}-{name}-{shown}")
                      for value, shown in refused]  # fmt: skip
    return found


@pytest.mark.parametrize(("function", "keyword", "value"), refusals())
def test_a_function_refuses_what_its_option_refuses(function: Any, keyword: str, value: Any) -> None:
    needed = {
        name: "x"
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    }
    with pytest.raises(goldassay.InputError) as raised:
        function(**needed | {keyword: value})
    shown = value if isinstance(value, int) else "a Strange"
    assert str(raised.value).startswith(f"{keyword} is {shown}; give ")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda: goldassay.check(3),
        lambda: goldassay.check([3]),
        lambda: goldassay.check("x", 3),
        lambda: goldassay.diff(3, 4),  # type: ignore[arg-type]
        lambda: goldassay.measure_artifacts("x", settings=3),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_report_is_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(goldassay.InputError, match=r"; give "):
        call()


@command()
def measured(
    words: Annotated[Sequence[str] | None, Option("Words.", "Data", "NAME,...")] = None,
    shares: Annotated[float | Sequence[float], Option("Shares.", "Data", "SHARE,...")] = (0.1,),
    named: Annotated[Mapping[str, str] | None, Option("Names.", "Data", "KEY=VALUE", repeat=True)] = None,
    share: Annotated[float, Option("A share.", "Data", "S", gt=0, lt=1)] = 0.5,
    kind: Annotated[Literal["a", "b"], Option("A kind.", "Data")] = "a",
) -> None:
    """Take some options."""


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("words", "a, b", ("a", "b")),
        ("shares", "0.5", (0.5,)),
        ("named", ["a=b", "c=d=e"], {"a": "b", "c": "d=e"}),
        ("share", "0.25", 0.25),
        ("share", "x", "x"),
        ("kind", "b", "b"),
    ],
)
def test_a_text_is_read_by_the_type_of_its_option(name: str, text: Any, value: Any) -> None:
    assert parameters_of(measured)[name].parse(text) == value


@pytest.mark.parametrize(
    ("name", "value", "facts"),
    [
        ("share", 1, ("share is 1;", "a number", "more than 0", "less than 1")),
        ("share", True, ("share is True;", "a number", "more than 0", "less than 1")),
        ("share", float("nan"), ("share is nan;", "a number", "more than 0", "less than 1")),
        ("kind", "c", ("kind is 'c';", "one of a, b")),
        ("words", "a", ("words is 'a';", "a list of texts")),
        ("words", [1], ("words is a list;", "a list of texts")),
        ("shares", ["a"], ("shares is a list;", "a number or a list of numbers")),
        ("named", {"a": 1}, ("named is a dict;", "a mapping of texts")),
    ],
)
def test_a_value_is_checked_by_the_type_and_the_bounds_of_its_option(
    name: str, value: Any, facts: tuple[str, ...]
) -> None:
    with pytest.raises(goldassay.InputError) as raised:
        measured(**{name: value})
    assert str(raised.value) == says(*facts)


def test_an_unknown_argument_is_named_with_the_nearest() -> None:
    with pytest.raises(TypeError, match=r"'modle'; did you mean 'model'"):
        goldassay.measure_instability("runs", modle="x")  # type: ignore[call-arg]


# --- What is refused -------------------------------------------------------------------------------------------------


def test_a_folder_may_have_an_equals_sign_in_its_name(refused: Callable[..., str]) -> None:
    line = refused("shift", "detection", "--inside", "own=nothing", "--outside", "far=nothing", "--out", "rate=0.1")
    assert "nothing" in line


BOUNDED = sorted(name for name, given in OPTIONS.items() if any(declared(*each).option.bounds for each in given))


@pytest.mark.parametrize("name", BOUNDED)
def test_a_number_out_of_bounds_is_one_line(name: str, refused: Callable[..., str]) -> None:
    for path, option in OPTIONS[name]:
        bounds = declared(path, option).option.bounds
        if "min_length" in bounds:
            far = [""]
        else:
            far = [str(bounds[each] - 1) for each in ("ge", "gt") if each in bounds]
            far += [str(bounds[each] + 1) for each in ("le", "lt") if each in bounds]
        assert far
        for value in far:
            line = refused(*path.split(), f"{name}={value}", *NEEDED.get(path, ("x",)))
            assert line.startswith(f"goldassay: {name} is ")


# What else must be given before a value is looked at.
NEEDED = {
    "artifacts assign": ("--test", "x"),
    "artifacts gap": ("x", "--runs", "x"),
    "artifacts classify": ("x", "--test", "x"),
    "specimen": ("-o", "x"),
    "shift detection": ("--inside", "x", "--outside", "x"),
    "overlap": ("x", "--corpus", "x"),
}


def test_every_number_has_bounds() -> None:
    numbers = {name for name, given in OPTIONS.items() if scalars(declared(*given[0]).kind) & {"int", "float"}}
    # A score may have any floor; shares and sizes are checked one by one, and a checkpoint may be a name.
    assert numbers - set(BOUNDED) == {"--floor", "--shares", "--parameters", "--checkpoint"}


@pytest.mark.parametrize("given", [("--columns", "premise=a", "--columns", "hypothesis=b,label=c")])
def test_columns_may_be_given_one_by_one(given: tuple[str, ...]) -> None:
    context = COMMANDS["audit"].make_context("audit", ["train.jsonl", *given])
    assert DECLARED["audit"].parameters()["columns"].parse(context.params["columns"]) == (
        "premise=a,hypothesis=b,label=c"
    )


def test_settings_may_be_a_file_in_python(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[artifacts]\nmin_count = -1\n")
    with pytest.raises(goldassay.InputError, match=r"mine.toml: artifacts.min_count: "):
        goldassay.measure_artifacts("train.jsonl", settings=str(tmp_path / "mine.toml"))


@pytest.mark.parametrize("words", ["", "board", "shift generalization", "train"])
def test_a_help_loads_nothing_heavy(words: str) -> None:
    code = (
        "import sys\nfrom goldassay.cli.main import run\n"
        f"run({[*words.split(), '--help']!r})\nprint(' '.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {each.partition(".")[0] for each in done.stderr.split()}
    assert "typer" in loaded
    assert not loaded & {"numpy", "polars", "numba", "torch", "scipy", "sklearn", "matplotlib"}
