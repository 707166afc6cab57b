"""Names of columns and keys, which no type checker reads: what is read is written somewhere, and none stands alone."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import goldassay

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(goldassay.__file__).parent
REPOSITORY = Path(__file__).parents[1]
# Names in the logs and files of other tools stand where these are read, and are written by the tools.
_FOREIGN = ("runs/adapters", "data/readers", "data/kinds", "lab/models")
_OF_OTHERS = {
    "annotator", "ctx", "do_sample", "entities", "get_capabilities", "gold_label", "host", "huggingface", "id2label",
    "info", "inner", "len", "log_history", "msg", "output_type", "review_text", "round", "set_int_max_str_digits", "t0",
}  # fmt: skip
# Words that stand once: those that libraries and foreign files know, endings of words, and names made of parts.
_ALONE = {
    "correlation_high", "correlation_low", "difference_sort", "elsewhere_high", "elsewhere_low", "example_a",
    "example_b", "group_subject", "named_a", "named_b", "patterns_new", "patterns_turned",
    "attern", "avg", "black", "butt", "constrained", "covariance_eigh", "csr", "difficulty_level", "effect_of_labels",
    "euclidean", "fdiv", "fmul", "goldlabel", "ies", "nosniff", "sparse_cg", "ss", "testsuite", "unicode",
}  # fmt: skip
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_FRAMES = {
    "agg", "col", "drop", "drop_nulls", "explode", "field", "filter", "get", "get_column", "group_by", "join", "max",
    "mean", "min", "n_unique", "over", "partition_by", "pivot", "pop", "select", "sort", "sort_by", "sum", "unique",
    "unnest", "unpivot", "with_columns",
}  # fmt: skip
# Modules and variables of the process are no columns.
_OF_THE_PROCESS = {"sys.modules", "os.environ"}
_ON = {"on", "by", "subset", "left_on", "right_on", "keep", "grouped_by"}
_SHOWN = {"key", "low", "high", "aside", "marks", "unfolds", "variants", "sort"}
_MAKING = {"alias", "with_row_index", "struct", "rename", "Series", "len", "implode"}
_TABLES = {"table_of", "Table"}
_NAMED = {"agg", "select", "struct", "with_columns"}


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _parts(nodes: Iterable[ast.expr]) -> Iterator[ast.expr]:
    """The expressions in lists, tuples, choices and unpacked ones."""
    for node in nodes:
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            yield from _parts(node.elts)
        elif isinstance(node, ast.IfExp):
            yield from _parts([node.body, node.orelse])
        elif isinstance(node, ast.Starred):
            yield from _parts([node.value])
        else:
            yield node


def _name(node: ast.AST | None) -> str | None:
    """The name that a string is, where it is one; of a text with fields, a `*` for each."""
    if isinstance(node, ast.JoinedStr):
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in node.values)
        return text if re.fullmatch(r"[a-z0-9_*]*[a-z]{2}[a-z0-9_*]*", text) else None
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) and _NAME.fullmatch(value) else None


def _text(node: ast.AST) -> str:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else ""


def names_read(tree: ast.AST) -> Iterator[str]:
    """Names by which columns, keys and attributes are read."""
    for node in ast.walk(tree):
        found: list[ast.expr] = []
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            found = [node.slice]
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            found = [node.left]
        elif isinstance(node, ast.Call):
            name = _called(node)
            if isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) in _OF_THE_PROCESS:
                continue
            if isinstance(node.func, ast.Attribute) and name in _FRAMES:
                found = node.args[:1] if name in ("get", "pop") else [*node.args]
            elif name in ("Column", "with_bounds"):
                found = node.args[:1]
            elif name in ("getattr", "attrgetter"):
                found = node.args[name == "getattr" :]
            of = _SHOWN if name == "Column" else _ON
            found += [given.value for given in node.keywords if given.arg in of]
        yield from (word for part in _parts(found) if (word := _name(part)))


def names_written(tree: ast.AST) -> Iterator[str]:
    """Names of fields, methods and arguments, keys of dictionaries, names given to columns, and constants."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Call):
            yield from (given.arg for given in node.keywords if given.arg)
            yield from (f"*{end}" for given in node.keywords if given.arg == "suffix" and (end := _text(given.value)))
            made = node.args if _called(node) in _MAKING else []
            yield from (name for part in _parts(made) if (name := _name(part)))
        found: list[ast.expr] = []
        if isinstance(node, ast.Dict | ast.DictComp):
            keys = node.keys if isinstance(node, ast.Dict) else [node.key]
            found = [key for key in keys if key is not None]
        elif isinstance(node, ast.Subscript) and (
            isinstance(node.ctx, ast.Store) or getattr(node.value, "id", "") == "Literal"
        ):
            found = [node.slice]
        elif isinstance(node, ast.Assign):
            found = [node.value]
        yield from (word for part in _parts(found) if (word := _name(part)))


def unwritten(read: Iterable[str], written: set[str]) -> list[str]:
    """Names that are written nowhere: neither as they stand, nor by a text with fields that may give them."""
    made = [re.compile(re.escape(name).replace(r"\*", ".+")) for name in written if "*" in name]
    found = []
    for name in (name for name in read if name not in written):
        fits = re.compile(re.escape(name).replace(r"\*", ".+"))
        if not (any(fits.fullmatch(each) for each in written) or any(each.fullmatch(name) for each in made)):
            found.append(name)
    return found


def names_that_stand(tree: ast.AST) -> Iterator[str]:
    """All strings that are names, but those of tables, and names of the columns that a frame is given."""
    tables = {id(node.args[0]) for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) in _TABLES}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in tables and (name := _name(node)):
            yield name
        elif isinstance(node, ast.Call) and _called(node) in _NAMED:
            yield from (given.arg for given in node.keywords if given.arg)


@cache
def sources() -> dict[str, ast.Module]:
    return {file.relative_to(ROOT).as_posix(): ast.parse(file.read_text("utf-8")) for file in ROOT.rglob("*.py")}


@cache
def written() -> set[str]:
    return {name for tree in sources().values() for name in names_written(tree)}


def test_a_column_that_is_read_is_written_somewhere() -> None:
    own = {name: tree for name, tree in sources().items() if not name.startswith(_FOREIGN)}
    found = {name: unwritten(names_read(tree), written() | _OF_OTHERS) for name, tree in own.items()}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_no_name_stands_alone() -> None:
    """A name misspelled where it is written, or handed on, stands nowhere else."""
    texts = [*ROOT.rglob("*.py"), *ROOT.rglob("*.j2"), *ROOT.rglob("*.js"), *(REPOSITORY / "docs").rglob("*.md")]
    texts += [file for file in (REPOSITORY / "tests").rglob("*.py") if file != Path(__file__)]
    counts = Counter(word for file in texts for word in re.findall(r"\w+", file.read_text("utf-8")))
    rooms = ("questions/", "view/", "gate/", "report/", "readers/")
    counts.update(file.stem for file in ROOT.rglob("*.*"))
    own = {name: tree for name, tree in sources().items() if name.startswith(rooms)}
    found = {name: [word for word in names_that_stand(tree) if counts[word] == 1] for name, tree in own.items()}
    assert {name: wrong for name, words in found.items() if (wrong := sorted({*words} - _ALONE))} == {}


@pytest.mark.parametrize(
    "line",
    [
        "dataset.examples['exmaple_id']",
        "any('test_suport' in row for row in rows)",
        "Column('test_suport', 'support in test', 'count')",
        "Column('support', 'support in test', low='suport')",
        "frame.select('label', pl.col('suport').sum())",
        "frame.join(other, on='exmaple_id')",
        "frame.group_by(['exmaple_id'])",
        "row[f'{key}_hihg']",
        "table_of('rows', 'Rows', columns, rows, grouped_by='lable')",
    ],
)
def test_a_misspelled_column_is_noticed(line: str) -> None:
    assert len(unwritten(names_read(ast.parse(line)), written())) == 1


def test_a_column_of_a_made_name_is_known() -> None:
    given = {"*_high", "support"}
    assert unwritten(["gain_high", "support", "*_high", "*port"], given) == []
    assert unwritten(["gain_hihg", "*_hihg"], given) == ["gain_hihg", "*_hihg"]
