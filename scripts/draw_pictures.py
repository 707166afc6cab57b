"""Draw the documentation's pictures: reports on the specimen, in colors that follow the reader's light or dark page.

Run it with the environment of `make install`. It writes docs/_static/pictures/NAME.svg and NAME-narrow.svg, for a desk
and for a phone; the same code gives the same bytes. Given the folder of `goldassay studies crossing`, which needs SNLI,
it draws that study's pictures instead; given data as NAME=FILE, those of the page on NAME.
"""

from __future__ import annotations

import json
import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import goldassay
from goldassay.lab.papers.page import charts as study_charts
from goldassay.report.charts import NARROW, WIDE, draw_chart
from goldassay.report.charts.svg import DARK, LIGHT, resolved, variables

if TYPE_CHECKING:
    from goldassay.core.charts import Chart

OUT = Path(__file__).parents[1] / "docs" / "_static" / "pictures"
SIZE = 6000
# What each page shows, out of an audit and out of a report on runs.
AUDITED = (
    "artifacts_strongest", "artifacts_difficulty", "leakage_conditions", "leakage_difficulty", "shift_slopes",
    "shift_reliability",
)  # fmt: skip
OF_RUNS = ("instability_runs", "instability_decomposition")
# What the pages on published items, and on the made-up board of tests/docs/given.py, show.
SHOWN_OF_ITEMS = {
    "choices": ("leakage_rules",),
    "preferences": ("leakage_rules",),
    "judges": ("judgments_position",),
    "board": ("board_ranks",),
}
# Pictures of the study on the crossing, by what they are called on its page.
CROSSING = {
    "matrix_overlap": "crossing_matrix",
    "matrix_overlap_at_equal_difficulty": "crossing_equal_difficulty",
    "differences_debiasing_differences": "crossing_differences",
}


def adaptive(picture: str) -> str:
    """A picture that stands alone, with both palettes in place of the light one."""
    css = files("goldassay.report").joinpath("templates/figure.css").read_text("utf-8")
    both = f":root{{{variables(LIGHT)}}}@media(prefers-color-scheme:dark){{:root{{{variables(DARK)}}}}}"
    return picture.replace(resolved(css), both + css).replace('fill="#ffffff"/>', 'style="fill:var(--paper)"/>', 1)


def draw_crossing(folder: Path) -> None:
    """Draw what the page on the crossing shows, out of the study's own document."""
    document = json.loads((folder / "study.json").read_text("utf-8"))
    charts = study_charts(document, {})
    for chart, name in CROSSING.items():
        draw(charts[chart], name)


def draw_items(name: str, data: str) -> None:
    """Draw what the page on one kind of items shows."""
    charts = goldassay.audit(data).charts
    for chart in SHOWN_OF_ITEMS[name]:
        draw(charts[chart], f"{name}_{chart}")


def draw(chart: Chart, name: str) -> None:
    """Draw a chart for a desk and for a phone."""
    for width, suffix in ((WIDE, ""), (NARROW, "-narrow")):
        (OUT / f"{name}{suffix}.svg").write_text(adaptive(draw_chart(chart, width).standalone()), "utf-8")


def main() -> None:
    """Make the reports and draw them."""
    OUT.mkdir(parents=True, exist_ok=True)
    if len(sys.argv) > 1:
        for given in sys.argv[1:]:
            name, sign, folder = given.partition("=")
            if sign:
                draw_items(name, folder)
            else:
                draw_crossing(Path(given))
        return
    with tempfile.TemporaryDirectory() as folder:
        goldassay.write_specimen(folder, size=SIZE)
        made = Path(folder)
        far = {"elsewhere": made / "elsewhere.jsonl"}
        audit = goldassay.audit(made / "train.jsonl", made / "test.jsonl", elsewhere=far)
        runs = goldassay.measure_instability(made / "runs", dataset="test", groups=("group",))
        for report, names in ((audit, AUDITED), (runs, OF_RUNS)):
            for name in names:
                draw(report.charts[name], name)


if __name__ == "__main__":
    main()
