"""Run the documentation's notebooks and keep in them what they show, so that they can be read where nothing runs them.

    python scripts/run_notebooks.py          every notebook of docs/notebooks; `make notebooks` does the same

It needs no Jupyter: a notebook's last expression in each cell is shown as a kernel would show it, and nothing else is.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).parents[1] / "docs" / "notebooks"


def run(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with the outputs of its cells, run in order in one namespace."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, position = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            position += 1
            shown = _shown("".join(cell["source"]), names)
            outputs = [] if shown is None else [_result(shown, position)]
            cell = {**cell, "execution_count": position, "outputs": outputs}
        cells.append(cell)
    return {**notebook, "cells": cells}


def _shown(source: str, names: dict[str, Any]) -> Any:
    """Run a cell; the value of the expression that it ends with, or None."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)


def _result(value: Any, position: int) -> dict[str, Any]:
    """The output of a cell, in the forms that a kernel gives."""
    forms = {"text/plain": repr(value)}
    if hasattr(value, "_repr_html_"):
        forms["text/html"] = value._repr_html_()
    data = {kind: text.splitlines(keepends=True) for kind, text in sorted(forms.items())}
    return {"data": data, "execution_count": position, "metadata": {}, "output_type": "execute_result"}


def main() -> None:
    """Run all notebooks."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = run(json.loads(path.read_text("utf-8")))
        path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n", "utf-8")
        print(path)


if __name__ == "__main__":
    main()
