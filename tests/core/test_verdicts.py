"""Severity is ordered in one place: what could not be measured is never milder than sound."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import goldassay
from goldassay.core.results import WORDS, severity
from goldassay.questions.leakage.datasets import compare_datasets
from goldassay.questions.leakage.result import MeasuredLeakage
from tests.typed import compose, filled

if TYPE_CHECKING:
    from goldassay.report.report import Report

SOURCE = Path(goldassay.__file__).parent


def test_the_order() -> None:
    assert sorted(WORDS, key=severity) == ["sound", "not measurable", "unresolved", "caution", "unsound"]


def _words_of(node: ast.AST) -> list[str]:
    """The verdict words of a literal list, tuple, set or mapping to numbers."""
    if isinstance(node, ast.Dict):
        if not all(isinstance(each, ast.Constant) and isinstance(each.value, (int, float)) for each in node.values):
            return []
        parts: list[Any] = list(node.keys)
    elif isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        parts = list(node.elts)
    else:
        return []
    return [each.value for each in parts if isinstance(each, ast.Constant) and each.value in WORDS]


def test_no_other_module_orders_the_words() -> None:
    found = set()
    for file in SOURCE.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        types = {id(node.slice) for node in ast.walk(tree) if isinstance(node, ast.Subscript)}
        for node in ast.walk(tree):
            if id(node) not in types and {"sound", "unsound"} <= set(_words_of(node)):
                found.add(str(file.relative_to(SOURCE)))
    assert found == {"core/results.py"}


def _of_one_set(word: str, value: float) -> Report:
    headline = {
        "label": "hypothesis alone",
        "value": value,
        "low": value - 0.01,
        "high": value + 0.01,
        "unit": "points",
    }
    verdict = {"verdict": word, "evidence": word, "headline": headline, "next_step": "", "rule": ""}
    found = filled(MeasuredLeakage, {"n_examples": 9})
    return compose({"verdicts": {"leakage": verdict}, "leakage": found, "inputs": [], "settings": {}})


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("sound", "not measurable"), "not measurable"),
        (("not measurable", "sound"), "not measurable"),
        (("unresolved", "sound"), "unresolved"),
        (("unresolved", "not measurable"), "unresolved"),
        (("not measurable", "caution"), "caution"),
        (("caution", "unsound", "not measurable"), "unsound"),
    ],
)
def test_several_datasets_are_as_their_most_severe(words: tuple[str, ...], expected: str) -> None:
    # The milder word has the larger figure, which must not decide.
    reports = {f"set{i}": _of_one_set(word, 0.5 - 0.1 * severity(word)) for i, word in enumerate(words)}  # type: ignore[arg-type]
    assert compare_datasets(reports).to_dict()["verdicts"]["leakage"]["verdict"] == expected
