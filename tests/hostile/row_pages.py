"""The pages of single rows, which no command writes: what a changed report makes of them."""

from __future__ import annotations

import sys

from goldassay.core.errors import GoldassayError
from goldassay.view.opening import open_workbench
from goldassay.view.page import render_list, render_row

COMMAND = "row-pages"


def show_rows(report: str) -> int:
    """Make the page of each row of a report as the server does; 0, or 2 with the problem on the error stream."""
    try:
        bench = open_workbench(report)
        state = bench.state("")
        selection = bench.selector.select(state)
        render_list(bench, state, selection, base="/t/")
        for row in selection.shown.tolist():
            render_row(bench, state, row, (None, None), base="/t/")
    except GoldassayError as error:
        print(f"goldassay: {error}", file=sys.stderr)
        return error.exit_status
    return 0
