"""What goes into papers: figures one column wide, and tables as LaTeX, from the same document as the page."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from goldassay.core.errors import MissingDependencyError
from goldassay.report.paper.latex import write_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.core.charts import Chart
    from goldassay.core.tables import Table

__all__ = ["check_figures", "paper_files"]

FOLDER = "paper"


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
