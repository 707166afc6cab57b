"""Filters by single runs, against a plain loop; on the page, in an export, and where runs have no names."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.cli.main import run
from goldassay.core.errors import InputError
from goldassay.view.opening import open_workbench
from goldassay.view.rows import KINDS, RunBits, kind_of
from goldassay.view.selecting import State
from tests.stated import states
from tests.view.made import LABELS, PARTIAL, RUNS, ask, rows, run_table, save_report, served, with_partial

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.view.opening import Workbench

TABLE = with_partial(rows())
NAMES = (*RUNS, PARTIAL)


def kind(row: dict[str, list[float | None]], name: str) -> str:
    score = [*row["runs_scores"], *row["partial_scores"]][NAMES.index(name)]
    return {None: "no answer", 1.0: "right", 0.0: "wrong"}.get(score, "partly right")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return open_workbench(save_report(tmp_path_factory.mktemp("runs") / "report", TABLE, runs=run_table()))


chosen = st.dictionaries(st.sampled_from(NAMES), st.sets(st.sampled_from(KINDS), min_size=1), max_size=4)
labels = st.one_of(st.none(), st.sampled_from(LABELS))


@settings(deadline=None, max_examples=80)
@given(chosen=chosen, label=labels)
def test_rows_and_counts_are_those_of_a_loop(bench: Workbench, chosen: dict[str, set[str]], label: str | None) -> None:
    query = urlencode([(f"run.{name}", each) for name, kinds in chosen.items() for each in kinds]
                      + ([("f.label", label)] if label else []))  # fmt: skip
    state = bench.state(query)
    # An address is read as it was written.
    assert bench.state(state.query()) == state
    plain = TABLE.to_dicts()

    def fits(row: dict[str, list[float | None]], without: str = "") -> bool:
        return (label is None or row["label"] == label) and all(
            kind(row, name) in kinds for name, kinds in chosen.items() if name != without
        )

    found = bench.selector.select(state)
    assert found.rows.tolist() == [at for at, row in enumerate(plain) if fits(row)]
    for name in NAMES:
        left = [kind(row, name) for row in plain if fits(row, without=name)]
        own = found.counts[f"run.{name}"]
        assert {each: own.get(each, 0) for each in KINDS} == {each: left.count(each) for each in KINDS}
    # Other filters count what the runs leave.
    assert sum(found.counts["difficulty"].values()) == found.rows.size


@given(st.integers(1, 200), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_bits_count_as_a_loop_does(n: int, n_runs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.choice(np.array([0, 1, 0.5, np.nan], np.float32), (n, n_runs))
    names = [f"run {at}" for at in range(n_runs)]
    bits = RunBits.of(names, [scores[:, :1], scores[:, 1:]] if n_runs > 1 else [scores])
    rows = rng.random(n) < 0.5
    for at, name in enumerate(names):
        kinds = [kind_of(float(each)) for each in scores[:, at]]
        for one in KINDS:
            assert bits.where(name, [one]).tolist() == [each == one for each in kinds]
        counted = {each: int(own[at]) for each, own in bits.counts(rows).items()}
        wanted = {one: sum(each == one and kept for each, kept in zip(kinds, rows, strict=True)) for one in KINDS}
        assert {one: counted.get(one, 0) for one in KINDS} == wanted
        assert {one: int(own[0]) for one, own in bits.counts(rows, name).items()} == counted


def test_bits_of_many_rows_are_those_of_few_together() -> None:
    scores = np.random.default_rng(0).choice(np.array([0, 1], np.float32), (150_001, 3))
    bits = RunBits.of(["a", "b", "c"], [scores])
    for at, name in enumerate("abc"):
        assert (bits.where(name, ["right"]) == (scores[:, at] == 1)).all()
    assert bits.counts(None)["right"].tolist() == (scores == 1).sum(axis=0).tolist()


def test_the_page_filters_by_runs_with_names_for_screen_readers(bench: Workbench) -> None:
    wanted = sum(kind(row, "bert") == "right" and kind(row, RUNS[3]) == "wrong" for row in TABLE.to_dicts())
    with served(bench) as address:
        page = ask(address, f"?{urlencode({'run.bert': 'right', f'run.{RUNS[3]}': 'wrong'})}")[1]
        assert f"<strong>{wanted}</strong> of {TABLE.height} rows" in page
        assert RUNS[3] not in page
        link = re.search(r'<a href="([^"]+)" aria-label="gpt.2 seed 1 wrong: (\d+) rows">', page)
        assert link is not None
        further = ask(address, unescape(link[1]))[1]
        assert f"<strong>{link[2]}</strong> of {TABLE.height} rows" in further
        assert 'aria-label="bert right: ' in further
        # A search keeps the runs that are chosen.
        assert '<input type="hidden" name="run.bert" value="right">' in page
        assert "any answers" in page
        row = ask(address, "row/3?run.bert=right")[1]
        assert "llama &amp; co" in row
        assert "no answer" in row


def test_an_export_has_the_rows_that_a_run_misses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = save_report(tmp_path / "report", TABLE, runs=run_table())
    page = tmp_path / "page.html"
    assert run(["view", str(folder), "--export", str(page), "--state", "run.bert=wrong&run.gpt.2 seed 1=right"]) == 0
    wanted = [row["example_id"] for row in TABLE.to_dicts() if kind(row, "bert") == "wrong"
              and kind(row, "gpt.2 seed 1") == "right"]  # fmt: skip
    assert re.findall(r"<bdi>(row-\d+)</bdi>", page.read_text()) == wanted
    assert "run.bert=wrong" in page.read_text()
    assert run(["view", str(folder), "--export", str(page), "--state", "run.bart=wrong"]) == 2
    assert states(capsys.readouterr().err, "no filter 'run.bart'", "'run.bert'")


@pytest.mark.parametrize("runs", [None, run_table(2), pl.DataFrame({"run": ["a"]}),
                                  pl.DataFrame({"run": ["a"] * 5, "answers_all": [True] * 4 + [False]})])  # fmt: skip
def test_a_report_without_names_of_its_runs_opens_and_says_so(tmp_path: Path, runs: pl.DataFrame | None) -> None:
    bench = open_workbench(save_report(tmp_path / "report", TABLE, runs=runs))
    with served(bench) as address:
        status, page, _ = ask(address)
        assert status == 200
        assert "The report does not name its runs" in page
        assert ask(address, "row/3")[0] == 200
        status, page, _ = ask(address, "?run.bert=wrong")
        assert status == 400
        assert "the report does not name its runs" in page


def test_lists_of_the_first_runs_are_said(tmp_path: Path) -> None:
    more = pl.concat([run_table(), pl.DataFrame({"run": ["one more"], "answers_all": [True]})])
    bench = open_workbench(save_report(tmp_path / "report", TABLE, runs=more))
    assert bench.table.runs_note == "Filters and rows have the first 5 of 6 runs."
    with pytest.raises(InputError, match=r"first 5 of 6 runs"):
        bench.state("run.one more=right")
    assert bench.selector.select(State()).rows.size == TABLE.height


def test_a_report_without_runs_says_nothing_of_them(tmp_path: Path) -> None:
    table = TABLE.drop("runs_scores", "runs_answers", "partial_scores", "partial_answers")
    with served(open_workbench(save_report(tmp_path / "report", table))) as address:
        assert "single runs" not in ask(address)[1]


def test_where_no_run_answers_every_row_the_page_says_so(tmp_path: Path) -> None:
    """As after a row was rewritten, which no model has answered."""
    table = TABLE.drop("runs_scores", "runs_answers")
    bench = open_workbench(save_report(tmp_path / "report", table, runs=run_table(0)))
    wanted = sum(kind({**row, "runs_scores": [None] * 4}, PARTIAL) == "wrong" for row in table.to_dicts())
    with served(bench) as address:
        assert states(ask(address)[1], "No run answers every row")
        page = ask(address, f"?{urlencode({f'run.{PARTIAL}': 'wrong'})}")[1]
        assert f"<strong>{wanted}</strong> of {table.height} rows" in page
        for query in ("f.runs=differ", "sort=-runs_right"):
            status, page, _ = ask(address, f"?{query}")
            assert (status, "no run answers every row" in page) == (400, True)


def test_a_search_keeps_ranges_to_the_last_digit(bench: Workbench) -> None:
    with served(bench) as address:
        page = ask(address, "?n.confidence=0.123456789..0.9")[1]
        assert '<input type="hidden" name="n.confidence" value="0.123456789..0.9">' in page
