"""Every block of Python in the documentation is run as it stands, those of a page in order and in one folder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.docs.given import provide
from tests.docs.pages import name_of, pages

if TYPE_CHECKING:
    from pathlib import Path

_BLOCK = re.compile(
    r"(?:^<!-- test: given (?P<given>[^\n]*) -->\n)?^```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)
# A page is run if a block says what it is given; others show lines of larger programs.
PAGES = [page for page in pages() if any(found["given"] for found in _BLOCK.finditer(page.read_text("utf-8")))]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_python_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    blocks = list(_BLOCK.finditer(page.read_text("utf-8")))
    for block in blocks:
        if block["given"]:
            provide(block["given"], tmp_path, page)
        exec(compile(block["code"], f"{name_of(page)}:{block.start()}", "exec"), names)
    assert len(blocks) > 1


def test_the_page_on_python_is_run() -> None:
    assert "docs/howto/python.md" in map(name_of, PAGES)
