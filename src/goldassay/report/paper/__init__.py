"""What goes into papers: figures one column wide, and tables as LaTeX, from the same document as the page."""

from __future__ import annotations

import re
from importlib.util import find_spec
from itertools import groupby
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.errors import MissingDependencyError
from goldassay.report.content import cell_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.core.charts import Chart
    from goldassay.core.sections import Column, PrintedTable, Row, Table

__all__ = ["check_figures", "paper_files", "printed_files"]

FOLDER = "paper"
_LEFT = frozenset({"text", "data", "prose", "interval"})
_ROOT = re.compile(r"(±?)√\(([A-Za-z |]+)\)")
_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "'": r"\textquotesingle{}",
    "−": "$-$", "—": "---", "×": r"$\times$", "…": r"\ldots{}", "\N{NO-BREAK SPACE}": "~", "±": r"$\pm$",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
}  # fmt: skip


def check_figures(kind: str | None) -> None:
    """Refuse figures for papers where what draws them is not installed; to be asked before hours of work.

    Args:
        kind: "pdf", "svg", "png", or None for no figures.

    Raises:
        MissingDependencyError: matplotlib is missing.
    """
    if kind is not None and find_spec("matplotlib") is None:
        raise MissingDependencyError(
            "figures for papers are drawn by matplotlib, which is not installed; pip install 'goldassay[figures]'"
        )


def paper_files(charts: Mapping[str, Chart], figures: str | None, tables: Sequence[Table] = ()) -> dict[str, bytes]:
    """The files for papers, by their path in the report's folder.

    The same charts and tables always give the same bytes.

    Args:
        charts: The report's charts for papers, by the name of their file.
        figures: "pdf", "svg", "png", or None for no figures.
        tables: Those to write as LaTeX, such as `Report.paper_tables`.

    Raises:
        MissingDependencyError: matplotlib is missing.
    """
    files: dict[str, bytes] = {}
    if figures is not None:
        check_figures(figures)
        from goldassay.report.paper.drawing import draw_figures

        files |= {f"{FOLDER}/{name}.{figures}": content for name, content in draw_figures(charts, figures).items()}
    return files | {f"{FOLDER}/{table.name}.tex": write_table(table).encode("utf-8") for table in tables}


def printed_files(tables: Sequence[PrintedTable]) -> dict[str, bytes]:
    """Tables of papers laid out of our figures, by their path in the report's folder: as Markdown, their cells as CSV.

    The Markdown of a table that something must be given for says what; it has no CSV.

    Args:
        tables: Those to write, such as `Report.printed_tables`.
    """
    from goldassay.report.markdown import render_table
    from goldassay.report.report import flattened

    files: dict[str, bytes] = {}
    for table in tables:
        files[f"{FOLDER}/{table.name}.md"] = render_table(table.to_table()).encode()
        if table.cells:
            keys = (*table.rows, *table.columns, "ours", "low", "high", "sd", "n_runs")
            cells = pl.DataFrame({key: [cell.get(key) for cell in table.cells] for key in keys}, strict=False)
            files[f"{FOLDER}/{table.name}.csv"] = flattened(cells.rename({"ours": "value"})).write_csv().encode()
    return files


def escape(text: object) -> str:
    """A text as LaTeX that shows just it, on one line."""
    line = "".join(character if character.isprintable() or character in _SPECIAL else " " for character in str(text))
    return "".join(_SPECIAL.get(character, character) for character in re.sub(" +", " ", line).strip(" "))


def write_table(table: Table) -> str:
    """A tabular with a rule below its head and between its blocks of rows, as `grouped_by` divides them.

    Intervals are set smaller, after their value or in a column of their own. A row's field `style` sets all of it:
    "small" as intervals are, "heading" its first cell in italics. A column of words is aligned to the left unless it
    sorts by a number. The caption becomes a comment, for whoever opens the file.
    """
    columns = "".join("l" if column.kind in _LEFT and not column.sort else "r" for column in table.columns)
    lines = [f"% {_comment(table.caption)}", r"% Needs \usepackage{booktabs} and \usepackage[T1]{fontenc}."]
    lines += [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _line([_title(column) for column in table.columns])]
    for _, block in groupby(table.rows, key=lambda row: row.get(table.grouped_by or "")):
        lines += [r"\midrule", *(_line([_cell(column, row) for column in table.columns]) for row in block)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _comment(text: str) -> str:
    """A text on the one line of a comment."""
    return " ".join(text.split())


def _title(column: Column) -> str:
    """A heading; that of a probability is a variable."""
    return f"${column.title}$" if column.kind == "probability" else escape(column.title)


def _cell(column: Column, row: Row) -> str:
    cell, style = cell_of(column, row), row.get("style")
    if style == "heading":
        return rf"\textit{{{escape(cell.text)}}}" if cell.text else ""
    if style == "small" or column.kind == "interval":
        return _small(escape(cell.text))
    shown = _words(cell.text) if column.kind == "text" else escape(cell.text)
    return f"{shown} {_small(escape(cell.aside))}".rstrip()


def _words(text: str) -> str:
    """Our own words, in which √(...) is a root."""
    parts = _ROOT.split(text)
    roots = [
        ("$\\pm" if sign else "$") + rf"\sqrt{{{_upright(inside)}}}$"
        for sign, inside in zip(parts[1::3], parts[2::3], strict=True)
    ]
    plain = [escape(part) for part in parts[::3]]
    return "".join(part for pair in zip(plain, [*roots, ""], strict=True) for part in pair)


def _upright(words: str) -> str:
    """Words within a formula."""
    return re.sub("[A-Za-z][A-Za-z ]*", lambda found: rf"\mathrm{{{found[0].replace(' ', chr(92) + ' ')}}}", words)


def _small(text: str) -> str:
    """LaTeX set smaller; nothing stays nothing."""
    return rf"{{\scriptsize {text}}}" if text else ""


def _line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"
