"""Files for papers: which there are, that they are the same each time, and that fonts and texts are safe in them."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.errors import MissingDependencyError
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings
from goldassay.questions.comparison.report import report_comparison
from goldassay.questions.comparison.sides import Sides
from goldassay.questions.evidence import Evidence
from goldassay.questions.instability.command import measure_instability
from goldassay.report import paper
from goldassay.report.paper import escape, paper_files, write_table
from goldassay.runs.runs import Runs
from tests.cli.run_files import write_checkpoints

if TYPE_CHECKING:
    from goldassay.report.report import Report


def compare(models: list[Runs]) -> Report:
    evidence = Evidence(settings=Settings(), steps=Steps())
    return report_comparison(evidence, Sides(models))[0]


@cache
def reports() -> tuple[Report, Report]:
    with TemporaryDirectory() as folder:
        write_checkpoints(Path(folder))
        spread = measure_instability([folder], reference="standard")
    rng = np.random.default_rng(2)
    models = [
        Runs.from_arrays(scores=rng.random((3, 50)) < level, model=name, dataset="d_1 & co")
        for name, level in (("a$b", 0.5), ("c_d", 0.6), ("e", 0.9))
    ]
    return spread, compare(models)


def named(report: Report, kind: str | None = None, latex: bool = False) -> dict[str, bytes]:
    files = paper_files(report.paper_charts, kind, report.paper_tables if latex else ())
    return {name.removeprefix("paper/"): content for name, content in files.items()}


def write_tables(report: Report) -> dict[str, str]:
    return {table.name: write_table(table) for table in report.paper_tables}


def test_every_figure_of_the_paper_is_there() -> None:
    spread, compared = reports()
    assert named(spread, "svg").keys() == {
        "scores.svg", "decomposition.svg",
        "trajectories-bert-paired.svg", "trajectories-roberta-paired.svg",
        "dataset-correlations-bert-over-checkpoints.svg", "dataset-correlations-roberta-over-checkpoints.svg",
        "dataset-correlations-bert-over-runs.svg", "dataset-correlations-roberta-over-runs.svg",
        "example-map-bert-probe.svg", "example-map-roberta-probe.svg",
    }  # fmt: skip
    assert named(compared, "svg").keys() == {"scores.svg", "decomposition.svg", "differences.svg"}
    assert named(spread) == {}


@pytest.mark.parametrize(("kind", "start"), [("pdf", b"%PDF"), ("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_the_same_document_gives_the_same_bytes(kind: str, start: bytes) -> None:
    _, compared = reports()
    first = named(compared, kind)
    assert first == named(compared, kind)
    assert all(content.startswith(start) for content in first.values())
    assert not any(b"CreationDate" in content or b"dc:date" in content for content in first.values())


def test_fonts_are_embedded_as_truetype_and_figures_are_a_column_wide() -> None:
    content = named(reports()[1], "pdf")["differences.pdf"]
    assert b"/FontFile2" in content
    assert b"/Type3" not in content
    box = re.search(rb"/MediaBox \[ ?([\d. ]+) ?\]", content)
    assert box is not None
    assert float(box[1].split()[2]) / 72 == pytest.approx(3.3, abs=0.01)


def test_the_users_own_settings_do_not_show() -> None:
    import matplotlib as mpl

    _, compared = reports()
    plain = named(compared, "svg")
    with mpl.rc_context({"font.size": 20, "axes.facecolor": "red"}):
        assert named(compared, "svg") == plain
        assert mpl.rcParams["font.size"] == 20


def test_no_picture_breaks_on_odd_names() -> None:
    rng = np.random.default_rng(0)
    odd = ["$x^", "名前", "a" * 90, "<b>\\"]
    models = [Runs.from_arrays(scores=rng.random((2, 20)) < 0.5, model=name, dataset="%_{") for name in odd]
    files = named(compare(models), "svg", latex=True)
    for name, content in files.items():
        if name.endswith(".svg"):
            ET.fromstring(content)
    assert r"\textless{}b\textgreater{}\textbackslash{}" in files["scores.tex"].decode()


def test_without_matplotlib_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'goldassay\[figures\]'"):
        paper.check_figures("pdf")
    paper.check_figures(None)
    assert named(reports()[0], latex=True)


def test_nothing_but_figures_for_papers_loads_matplotlib(tmp_path: Path) -> None:
    write_checkpoints(tmp_path)
    code = (
        "import sys; from goldassay import measure_instability\n"
        "from goldassay.report.paper import paper_files\n"
        f"report = measure_instability([{str(tmp_path)!r}]); report.to_html()\n"
        "paper_files(report.paper_charts, None, report.paper_tables)\n"
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_tables_hold_the_documents_numbers() -> None:
    spread, compared = reports()
    tables = write_tables(spread)
    assert tables.keys() == {"scores", "normalized-deviation", "decomposition", "model-selection"}
    result = next(row for row in spread.to_dict()["instability"]["results"] if row["name"] == "bert · probe")
    assert rf"{100 * result['mean']:.2f} $\pm$ {100 * result['sd']:.2f}" in tables["scores"]
    assert f"[{100 * result['sd_low']:.2f}, {100 * result['sd_high']:.2f}]" in tables["scores"]
    assert f"{100 * result['independent'] ** 0.5:.2f}" in tables["decomposition"]
    negative = next(row for row in spread.to_dict()["instability"]["results"] if row["covariance"] < 0)
    assert f"$-${100 * abs(negative['covariance']) ** 0.5:.2f}" in tables["decomposition"]
    # The reference comes first.
    assert re.search(r"Statistic & standard & probe", tables["decomposition"])
    pair = compared.to_dict()["comparison"]["pairs"][0]
    assert f"{100 * pair['difference']:.2f}" in write_tables(compared)["differences"]


def test_graded_scores_have_a_table_of_their_own(tmp_path: Path) -> None:
    from goldassay.runs.store import write_runs

    rng = np.random.default_rng(4)
    for name in ("squad", "addsent"):
        write_runs(Runs.from_arrays(scores=rng.random((4, 30)), dataset=name), tmp_path)
    tables = write_tables(measure_instability([tmp_path], reference="squad"))
    assert "normalized-deviation-graded" in tables
    assert "normalized-deviation" not in tables


@pytest.mark.parametrize("name", ["scores", "normalized-deviation", "decomposition", "model-selection", "differences"])
def test_every_row_has_as_many_cells_as_the_head(name: str) -> None:
    text = {**write_tables(reports()[0]), "differences": write_tables(reports()[1])["differences"]}[name]
    columns = re.search(r"\\begin\{tabular\}\{(\w+)\}", text)
    assert columns is not None
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert rows
    assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {len(columns[1])}
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")


@given(st.text(max_size=30))
def test_escaped_texts_hold_no_command_of_their_own(text: str) -> None:
    known = {
        r"\textbackslash{}", r"\&", r"\%", r"\$", r"\#", r"\_", r"\{", r"\}", r"\textasciitilde{}",
        r"\textasciicircum{}", r"\textless{}", r"\textgreater{}", r"\textbar{}", r"\textquotedbl{}",
        r"\textasciigrave{}", r"\textquotesingle{}", "$-$", "---", r"$\times$", r"\ldots{}", "~",
        r"$\pm$", r"\,",
    }  # fmt: skip
    rest = escape(text)
    for command in sorted(known, key=len, reverse=True):
        rest = rest.replace(command, "")
    assert not set(rest) & set("\\&%$#_{}~^\n")


def test_a_picture_is_legible() -> None:
    from PIL import Image

    picture = Image.open(io.BytesIO(named(reports()[1], "png")["scores.png"]))
    assert picture.width == 990
    assert len(picture.convert("RGB").getcolors(1 << 24) or []) > 50
