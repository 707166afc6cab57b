"""The rules of the house, held over the syntax trees: which room imports which, and what renderers may know."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import goldassay

ROOT = Path(goldassay.__file__).parent
MEASURES = ("artifacts", "leakage", "instability", "shift")
# A room imports only rooms of a lower level; report and gate only core.
LEVELS = {
    "core": 0,
    "data": 1,
    "runs": 2,
    "models": 3,
    **dict.fromkeys(MEASURES, 3),
    "report": 4,
    "gate": 4,
    "training": 4,
    "questions": 5,
    "papers": 6,
    "cli": 7,
}
RENDERERS = sorted((*ROOT.joinpath("report").rglob("*.py"), *ROOT.joinpath("gate").rglob("*.py")))
# The change between two reports is a figure of its own.
COMPARING = {ROOT / "gate" / "diff" / name for name in ("comparing.py", "pairing.py")}
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


def wrong_imports(room: str, names: list[str]) -> list[str]:
    others = [name for name in names if (other := name.split(".")[1]) in LEVELS and other != room]
    if room in ("report", "gate"):
        return [name for name in others if name.split(".")[1] != "core"]
    return [name for name in others if LEVELS[name.split(".")[1]] >= LEVELS[room]]


@pytest.mark.parametrize("room", LEVELS)
def test_a_room_imports_only_lower_rooms(room: str) -> None:
    wrong = {
        str(file.relative_to(ROOT)): found
        for file in sorted(ROOT.joinpath(room).rglob("*.py"))
        if (found := wrong_imports(room, imported(ast.parse(file.read_text("utf-8")))))
    }
    assert wrong == {}


def test_every_folder_is_a_room() -> None:
    assert {each.name for each in ROOT.iterdir() if each.is_dir() and each.name != "__pycache__"} == set(LEVELS)


def test_an_upward_import_is_noticed() -> None:
    tree = ast.parse("if True:\n    from goldassay.report.html import fill_page\n    import goldassay.core.files\n")
    assert wrong_imports("gate", imported(tree)) == ["goldassay.report.html"]
    assert wrong_imports("leakage", ["goldassay.shift.ranking"]) == ["goldassay.shift.ranking"]


@pytest.mark.parametrize("file", RENDERERS, ids=lambda file: str(file.relative_to(ROOT)))
def test_renderers_hold_no_key_of_a_question(file: Path) -> None:
    tree = ast.parse(file.read_text("utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert {part for text in texts if " " not in text for part in text.split(".")} & KEYS == set()


@pytest.mark.parametrize("file", [f for f in RENDERERS if f not in COMPARING], ids=lambda f: str(f.relative_to(ROOT)))
def test_only_a_comparison_computes_an_interval(file: Path) -> None:
    """An output shows figures; what it computed itself could differ from what another output shows."""
    names = imported(ast.parse(file.read_text("utf-8")))
    assert not {"goldassay.core.intervals", "goldassay.core.resampling", "goldassay.core.correlation"} & set(names)
    modules = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        for name in (
            [node.module or ""] if isinstance(node, ast.ImportFrom)
            else [each.name for each in node.names] if isinstance(node, ast.Import) else []
        )
    }  # fmt: skip
    assert not {"scipy", "statistics", "sklearn"} & modules
