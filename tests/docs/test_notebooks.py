"""The example notebooks show what their code gives: GitHub shows them as they are kept, the site as it runs them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from scripts.run_notebooks import run
from tests.docs.pages import DOCS, ROOT
from tests.docs.test_commands import without_numbers

if TYPE_CHECKING:
    from pathlib import Path

NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def test_the_audit_and_each_question_have_one() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["artifacts", "audit", "instability", "leakage", "shift"]


def words(output: dict[str, Any]) -> str:
    return "".join("".join(text) for _, text in sorted(output["data"].items()))


def numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


# The audit is of as many rows as that of `make audit`.
ALL_NOTEBOOKS = [
    pytest.param(path, marks=[pytest.mark.slow] if path.stem == "audit" else [], id=path.stem) for path in NOTEBOOKS
]


@pytest.mark.parametrize("path", ALL_NOTEBOOKS)
def test_they_show_what_their_code_gives(path: Path) -> None:
    """To the word, and to what figures may differ by from one processor to another; `make notebooks` refreshes them."""
    kept = json.loads(path.read_text("utf-8"))
    again = run(kept)
    for old, new in zip(kept["cells"], again["cells"], strict=True):
        assert {**old, "outputs": []} == {**new, "outputs": []}
        for one, other in zip(old.get("outputs", []), new.get("outputs", []), strict=True):
            assert without_numbers(words(one)) == without_numbers(words(other))
            assert numbers(words(one)) == pytest.approx(numbers(words(other)), rel=0.05, abs=0.02)
    shown = [words(output) for cell in kept["cells"] for output in cell.get("outputs", [])]
    assert sum(map(len, shown)) < 10_000
    assert not [text for text in shown if "/tmp" in text or str(ROOT) in text]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_shows_something(path: Path) -> None:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    assert all(cell["outputs"] for cell in cells if cell["cell_type"] == "code")


def test_the_guide_names_every_page() -> None:
    guide = (DOCS / "README.md").read_text("utf-8")
    site = (DOCS / "index.md").read_text("utf-8")
    for page in DOCS.rglob("*.md"):
        name = str(page.relative_to(DOCS))
        if name in ("README.md", "index.md") or name.startswith(("api/", "commands/", "gallery/")):
            continue
        assert f"({name}" in guide, f"docs/README.md lacks {name}"
        assert f"<{name.removesuffix('.md')}>" in site, f"docs/index.md lacks {name}"
