"""What goes into papers: figures one column wide, and tables as LaTeX, from the same document as the page."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from goldassay.errors import MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def paper_files(document: Mapping[str, Any], figures: str | None, latex: bool) -> dict[str, bytes]:
    """The files for papers that a document has values for, by their path beside the report.

    The same document always gives the same bytes.

    Args:
        document: The report's document, as plain data.
        figures: "pdf", "svg", "png", or None for no figures.
        latex: Whether to write the tables.

    Raises:
        MissingDependencyError: matplotlib is missing.
    """
    files: dict[str, bytes] = {}
    if figures is not None:
        check_figures(figures)
        from goldassay.report.paper.figures import draw_figures

        files |= {f"{FOLDER}/{name}.{figures}": content for name, content in draw_figures(document, figures).items()}
    if latex:
        from goldassay.report.paper.tables import write_tables

        files |= {f"{FOLDER}/{name}.tex": text.encode("utf-8") for name, text in write_tables(document).items()}
    return files
