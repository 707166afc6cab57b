"""The rules of the house, held over the syntax trees: which room imports which, what renderers and tests may know."""

from __future__ import annotations

import ast
import importlib.util
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
import jinja2.nodes
import pytest

import goldassay

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(goldassay.__file__).parent
MEASURES = ("artifacts", "leakage", "instability", "shift", "board", "judgments", "overlap", "suspect")
# A room imports only rooms of a lower level, so that no question imports the lab; report only core, and gate, which
# measures a change, stats besides.
LEVELS = {
    "core": 0,
    "stats": 1,
    "kernels": 1,
    "data": 2,
    "runs": 3,
    "readers": 4,
    "report": 5,
    "gate": 5,
    "questions": 6,
    "view": 7,
    "lab.models": 7,
    "lab.training": 8,
    "lab.papers": 9,
    "cli": 10,
}
# Files of a chain of imports, those for type checking and within functions counted.
LONGEST_CHAIN = 19
ALONE = {"report": ("core",), "gate": ("core", "stats")}
# Pure functions on arrays: no file, no run, no report. Some read the kinds and the words of `data`.
MEASURE_FILES = sorted((*ROOT.glob("questions/*/measures/*.py"), *ROOT.glob("questions/*/measures.py")))
BELOW_MEASURES = ("core", "stats", "kernels", "data")
# Numbers of so many bits are constants of the hash, or say what all bytes of a word have in common.
_LARGE = 1 << 62
_OF_HASHES = {ROOT / "kernels" / name for name in ("hashing.py", "words.py", "minhash.py")}
RENDERERS = sorted((*ROOT.joinpath("report").rglob("*.py"), *ROOT.joinpath("gate").rglob("*.py")))
# The change between two reports is a figure of its own.
COMPARING = {ROOT / "gate" / "comparing.py"}
# What turns results into sections, charts, sentences and lines: it shows what was measured, and measures nothing.
_SHOWING = ("sections", "section", "charts", "sentences", "latex")
SHOWING = sorted(
    {
        *RENDERERS,
        *ROOT.joinpath("cli").rglob("*.py"),
        *(f for f in ROOT.joinpath("questions").rglob("*.py") if f.stem.rpartition("_")[2] in _SHOWING),
    }
    - COMPARING
)
COMPUTING = {"mean", "fmean", "nanmean", "average", "std", "stdev", "nanstd", "var", "variance", "median", "quantile",
             "nanquantile", "percentile"}  # fmt: skip
KEYS = {
    *MEASURES, "comparison", "facts", "conditions", "peco", "generalization", "detection", "difficulty", "giveaway",
    "strongest", "results", "quick_probe", "deviations", "trajectories", "splits", "relevance", "calibration",
}  # fmt: skip


def imported(tree: ast.AST) -> list[str]:
    """Names of all modules of the package that a module imports."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            alone = node.module == "goldassay"
            found += [f"goldassay.{each.name}" for each in node.names] if alone else [node.module]
        elif isinstance(node, ast.Import):
            found += [each.name for each in node.names]
    return [name for name in found if name.startswith("goldassay.")]


def room_of(module: str) -> str:
    """The room of a module, with `lab` taken apart; "" for a file beside the rooms."""
    parts = module.split(".")[1:3]
    return next((room for room in (".".join(parts), parts[0]) if room in LEVELS), "")


def wrong_imports(room: str, names: list[str]) -> list[str]:
    others = [(name, other) for name in names if (other := room_of(name)) and other != room]
    if room in ALONE:
        return [name for name, other in others if other not in ALONE[room]]
    return [name for name, other in others if LEVELS[other] >= LEVELS[room]]


@pytest.mark.parametrize("room", LEVELS)
def test_a_room_imports_only_lower_rooms(room: str) -> None:
    wrong = {
        str(file.relative_to(ROOT)): found
        for file in sorted(ROOT.joinpath(*room.split(".")).rglob("*.py"))
        if (found := wrong_imports(room, imported(ast.parse(file.read_text("utf-8")))))
    }
    assert wrong == {}


def import_graph() -> dict[str, set[str]]:
    """What each module imports, for type checking too; of a package the module that holds the name, where one does."""
    files = {".".join(("goldassay", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): file
             for file in ROOT.rglob("*.py")}  # fmt: skip
    graph: dict[str, set[str]] = {}
    for name, file in files.items():
        tree = ast.parse(file.read_text("utf-8"))
        found = set(imported(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                parts = {f"{node.module}.{each.name}" for each in node.names}
                found |= parts
                if parts <= files.keys():
                    found.discard(node.module or "")
        graph[name] = found & files.keys() - {name}
    return graph


def longest_chain(graph: dict[str, set[str]]) -> list[str]:
    """The modules of which each imports the next, as many as there are; a circle is an error."""
    chains: dict[str, list[str]] = {}
    for name in TopologicalSorter(graph).static_order():
        chains[name] = [name, *max((chains[each] for each in sorted(graph[name])), key=len, default=[])]
    return max(chains.values(), key=len)


def test_chains_of_imports_end_and_are_short() -> None:
    chain = longest_chain(import_graph())
    assert len(chain) <= LONGEST_CHAIN, " > ".join(chain)


def test_a_longer_chain_and_a_circle_are_noticed() -> None:
    assert longest_chain({"a": {"b", "c"}, "b": {"c"}, "c": set(), "d": {"c"}}) == ["a", "b", "c"]
    with pytest.raises(CycleError):
        longest_chain({"a": {"b"}, "b": {"a"}})


def test_every_folder_is_a_room() -> None:
    rooms = {room.partition(".")[0] for room in LEVELS}
    assert {each.name for each in ROOT.iterdir() if each.is_dir() and each.name != "__pycache__"} == rooms
    networks = {each.name for each in ROOT.joinpath("lab").iterdir() if each.is_dir() and each.name != "__pycache__"}
    assert {f"lab.{name}" for name in networks} == {room for room in LEVELS if room.startswith("lab.")}


@pytest.mark.parametrize("file", MEASURE_FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_measures_know_no_question(file: Path) -> None:
    names = [name for name in imported(ast.parse(file.read_text("utf-8"))) if ".measures" not in name]
    assert [name for name in names if name.split(".")[1] not in BELOW_MEASURES] == []


def large_constants(tree: ast.AST) -> list[int]:
    found = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, int))
    return [value for value in found if value >= _LARGE and value != 2**64 - 1]


def test_constants_of_hashes_stand_in_one_file() -> None:
    texts = {str(file): file.read_text("utf-8") for file in set(ROOT.rglob("*.py")) - _OF_HASHES}
    # Those in which no number is as long need not be parsed.
    texts = {file: text for file, text in texts.items() if re.search(r"0[box]|[0-9][0-9_]{7}", text, re.IGNORECASE)}
    assert {file for file, text in texts.items() if large_constants(ast.parse(text))} == set()
    assert len(large_constants(ast.parse((ROOT / "kernels" / "hashing.py").read_text("utf-8")))) == 5


def test_an_upward_import_is_noticed() -> None:
    tree = ast.parse("if True:\n    from goldassay.report.html import fill_page\n    import goldassay.core.files\n")
    assert wrong_imports("gate", imported(tree)) == ["goldassay.report.html"]
    for room in ("readers", "questions", "view"):
        assert wrong_imports(room, ["goldassay.lab.training.job"]) == ["goldassay.lab.training.job"]


@pytest.mark.parametrize("file", RENDERERS, ids=lambda file: str(file.relative_to(ROOT)))
def test_renderers_hold_no_key_of_a_question(file: Path) -> None:
    tree = ast.parse(file.read_text("utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert {part for text in texts if " " not in text for part in text.split(".")} & KEYS == set()


# What templates read of loops, texts and dictionaries, and of what they make themselves.
_OF_TEMPLATES = {"index", "index0", "last", "get", "items", "replace", "numeric", "raw"}
TEMPLATES = sorted(ROOT.glob("*/templates/*.j2"))


def fields_shown() -> set[str]:
    """The fields and methods of all classes that a template may be given, and the keys of dictionaries of the view."""
    rooms = (file for room in ("core", "report", "view", "data") for file in (ROOT / room).rglob("*.py"))
    known: set[str] = set()
    for node in (node for file in rooms for node in ast.walk(ast.parse(file.read_text("utf-8")))):
        if isinstance(node, ast.ClassDef):
            known |= {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            known |= {ast.unparse(part.target) for part in node.body if isinstance(part, ast.AnnAssign)}
        elif isinstance(node, ast.Dict):
            known |= {text for key in node.keys if key is not None and (text := _text(key))}
    return known


def unknown_fields(template: str, known: set[str]) -> list[str]:
    read = jinja2.Environment(autoescape=True).parse(template).find_all(jinja2.nodes.Getattr)
    return [each.attr for each in read if each.attr not in known]


def test_templates_read_fields_that_some_class_has() -> None:
    """Strict undefined values stop a misspelled field only where a test fills the part of the page that reads it."""
    known = fields_shown() | _OF_TEMPLATES
    assert TEMPLATES
    found = {str(file.relative_to(ROOT)): unknown_fields(file.read_text("utf-8"), known) for file in TEMPLATES}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    assert unknown_fields("{% for word in card.ptaterns %}{{ word }}{% endfor %}", known) == ["ptaterns"]


def computed(tree: ast.AST) -> list[str]:
    """Where a module computes a mean, a spread or an interval, or imports what does."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            modules = {node.module or "", (node.module or "").partition(".")[0]}
            # The type alone computes nothing.
            functions = {each.name for each in node.names} - {"Interval"}
            rooms = {f"goldassay.stats.{name}" for name in ("intervals", "bootstrap", "ratios", "clusters")}
            if modules & {"scipy", "statistics", "sklearn"} or (modules & rooms and functions):
                found.append(ast.unparse(node))
        elif isinstance(node, ast.Import):
            found += [each.name for each in node.names if each.name.partition(".")[0] in ("scipy", "statistics")]
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            found += [ast.unparse(node)] if name in COMPUTING else []
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            called = [side.func.id for side in (node.left, node.right) if isinstance(side, ast.Call)
                      and isinstance(side.func, ast.Name)]  # fmt: skip
            found += [ast.unparse(node)] if called == ["sum", "len"] else []
    return found


# The curve of the picture on patterns: where a pattern of so many examples begins to be significant, no figure.
_DRAWN = {"questions/artifacts/charts.py": ["from scipy.special import ndtri"]}


@pytest.mark.parametrize("file", SHOWING, ids=lambda f: str(f.relative_to(ROOT)))
def test_what_shows_figures_computes_none(file: Path) -> None:
    """An output shows figures; what it computed itself could differ from what another output shows."""
    name = file.relative_to(ROOT).as_posix()
    assert computed(ast.parse(file.read_text("utf-8"))) == _DRAWN.get(name, [])


@pytest.mark.parametrize(
    "line",
    [
        "from goldassay.stats.intervals import wilson_interval",
        "from scipy import stats",
        "import statistics",
        "shown = scores.mean()",
        "shown = np.quantile(scores, 0.5)",
        "shown = sum(scores) / len(scores)",
    ],
)
def test_a_figure_computed_by_an_output_is_noticed(line: str) -> None:
    assert len(computed(ast.parse(line))) == 1


def test_the_type_of_an_interval_computes_nothing() -> None:
    assert computed(ast.parse("from goldassay.stats.intervals import Interval\nhalf = width / 2")) == []


TESTS = Path(__file__).parent
PROSE = 50
# What a text that is asserted is handed to; an argument of another function is its input.
_ASKING = {"startswith", "endswith", "count", "find", "index", "search", "match", "fullmatch", "findall", "any", "all",
           "compile", "escape", "join", "list", "set", "sorted", "says", "states", "in_order"}  # fmt: skip


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _text(node: ast.AST) -> str | None:
    """The text of a string; of one with fields, what stands between them."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else " " for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _compared(node: ast.AST) -> Iterator[ast.AST]:
    """Strings and names that an expression compares."""
    if _text(node) is not None or isinstance(node, ast.Name):
        yield node
    elif isinstance(node, ast.Call):
        of = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        for part in (*node.args, *of) if _called(node) in _ASKING else ():
            yield from _compared(part)
    else:
        for part in [node.value] if isinstance(node, ast.Subscript) else ast.iter_child_nodes(node):
            yield from _compared(part)


def _expected(tree: ast.AST) -> Iterator[ast.expr]:
    """What assertions compare, and what errors and warnings are to match."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield node.test
        elif isinstance(node, ast.Call) and _called(node) in ("raises", "warns"):
            yield from (given.value for given in node.keywords if given.arg == "match")


def _bound(scope: ast.Module | ast.FunctionDef, calls: list[ast.Call]) -> Iterator[tuple[str, ast.AST]]:
    """Each name that a function or a module binds, with what it is bound to, as far as this module tells."""
    for node in ast.walk(scope) if isinstance(scope, ast.FunctionDef) else scope.body:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.For):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            value = node.iter if isinstance(node, ast.For) else node.value
            names = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
            yield from ((name, value) for name in names if value is not None)
    if isinstance(scope, ast.FunctionDef):
        names = [each.arg for each in (*scope.args.posonlyargs, *scope.args.args)]
        for call in (call for call in calls if _called(call) == scope.name):
            yield from zip(names, call.args, strict=False)
            yield from ((each.arg, each.value) for each in call.keywords if each.arg)
        for call in scope.decorator_list:
            if isinstance(call, ast.Call) and _called(call) == "parametrize" and isinstance(call.args[1], ast.List):
                first = ast.literal_eval(call.args[0])
                names = [first] if isinstance(first, str) else list(first)
                for case in call.args[1].elts:
                    several = getattr(case, "elts", [case]) if len(names) > 1 else [case]
                    yield from zip(names, case.args if isinstance(case, ast.Call) else several, strict=False)


def asserted_prose(module: ast.Module) -> list[str]:
    """Sentences that a test file asserts, in its assertions or by names that serve assertions alone.

    A sentence is a string of more than 50 characters, at least five words among them.
    """
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call)]
    found = {id(each): each for test in _expected(module) for each in _compared(test)}
    for scope in (module, *(node for node in ast.walk(module) if isinstance(node, ast.FunctionDef))):
        loads = [node for node in ast.walk(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        names = {load.id for load in loads if id(load) in found} - {load.id for load in loads if id(load) not in found}
        bound = [value for name, value in _bound(scope, calls) if name in names] if names else []
        found |= {id(each): each for value in bound for each in _compared(value)}
    texts = [text for each in found.values() if (text := _text(each)) is not None]
    return [
        text for text in texts if len(text) > PROSE and len(re.findall(r"(?<![\w./-])[A-Za-z']+(?=[ ,.:;])", text)) >= 5
    ]


def test_tests_assert_facts_and_no_prose() -> None:
    """Words may change where figures, names and commands may not: tests.stated reads these out of a sentence."""
    wrong = {
        str(file.relative_to(TESTS)): found
        for file in sorted(TESTS.rglob("*.py"))
        if (found := asserted_prose(ast.parse(file.read_text("utf-8"))))
    }
    assert wrong == {}


_LONG = "The 12 rows of a.csv are left out, since each of them stands twice."


@pytest.mark.parametrize(
    "test",
    [
        "assert 'LONG' in text",
        "assert notes == ['another', 'LONG']",
        "assert f'LONG {name}' in text",
        "assert text.startswith('LONG')",
        "assert says('LONG') == text",
        "with pytest.raises(InputError, match='LONG'):\n    run()",
        "SAID = 'LONG'\ndef test_it():\n    assert SAID in text\nassert SAID in text",
        "def test_it():\n    said = 'LONG'\n    assert said in text",
        "def test_it():\n    for given, said in ((1, 'LONG'),):\n        assert said in run(given)",
        "def check(text, said):\n    assert said in text\ncheck(run(), 'LONG')",
        "@pytest.mark.parametrize(('a', 'said'), [(1, 'LONG')])\ndef test_it(a, said):\n    assert said in run(a)",
    ],
)
def test_a_sentence_that_is_asserted_is_noticed(test: str) -> None:
    (found,) = asserted_prose(ast.parse(test.replace("LONG", _LONG)))
    assert found.strip() == _LONG


@pytest.mark.parametrize(
    "test",
    [
        "assert 'a short stem' in text",
        "assert run('LONG') == 3",
        "def test_it():\n    given = 'LONG'\n    assert given in run(given)",
        "assert text in '/a/long/path/of/folders/to/a/file/that/lies/very/deep.jsonl'",
    ],
)
def test_input_and_stems_are_no_asserted_prose(test: str) -> None:
    assert asserted_prose(ast.parse(test.replace("LONG", _LONG))) == []


def test_files_agree_on_the_version_and_the_changelog_is_short() -> None:
    path = Path(__file__).parents[1] / "scripts" / "release.py"
    spec = importlib.util.spec_from_file_location("release", path)
    assert spec is not None
    assert spec.loader is not None
    release = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(release)
    assert release.check_texts() == goldassay.__version__
