"""The example notebooks are kept without what they print; building the site runs them, and fails where one does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import DOCS

if TYPE_CHECKING:
    from pathlib import Path

NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def test_each_question_has_one() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["artifacts", "instability", "leakage", "shift"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_hold_no_outputs_and_valid_code(path: Path) -> None:
    notebook = json.loads(path.read_text("utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert code
    for cell in code:
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
        compile("".join(cell["source"]), str(path), "exec")


def test_the_guide_names_every_page() -> None:
    guide = (DOCS / "README.md").read_text("utf-8")
    site = (DOCS / "index.md").read_text("utf-8")
    for page in DOCS.rglob("*.md"):
        name = str(page.relative_to(DOCS))
        if name in ("README.md", "index.md") or name.startswith("api/"):
            continue
        assert f"({name}" in guide, f"docs/README.md lacks {name}"
        assert f"<{name.removesuffix('.md')}>" in site, f"docs/index.md lacks {name}"
