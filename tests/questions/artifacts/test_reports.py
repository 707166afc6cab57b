"""The reports of mining and of classing: what stands in them, and how it looks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from goldassay.artifacts import PatternTable
from goldassay.cli.artifacts import _describe_mined
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings
from goldassay.data.dataset import Dataset
from goldassay.questions.artifacts.inputs import Bounds, cut, mine_dataset
from goldassay.questions.artifacts.question import mine, report_of_mining
from goldassay.questions.artifacts.reports import report_of_subsets
from goldassay.questions.artifacts.search import try_patterns
from goldassay.questions.artifacts.subsets import assign
from goldassay.questions.evidence import Evidence
from tests.stated import states

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.report.report import Report

BOUNDS = Bounds(min_count=5, max_tokens=2, max_gap=1)


def made(name: str, shift: int) -> Dataset:
    """Outdoors goes with e and Nobody with c, most of the time; the letters come from two places."""
    rows = []
    for i in range(240):
        label = "enc"[i % 3]
        told = (i * 7 + shift) % 10 < 8
        word = {"e": "outdoors", "n": "there", "c": "asleep"}[label] if told else "there"
        who = "Nobody" if label == "c" and (i + shift) % 4 == 0 else "<b>Somebody</b>"
        rows.append(
            {"premise": f"p {i}{name}", "hypothesis": f"{who} is {word} {i}.", "label": label, "place": "ab"[i % 2]}
        )
    return Dataset.from_frame(pl.DataFrame(rows), name=name)


@pytest.fixture(scope="module")
def sets() -> tuple[Dataset, Dataset]:
    return made("first", 0), made("second", 3)


def known(train: Dataset, test: Dataset | None = None) -> Evidence:
    return Evidence(train, test, settings=Settings(), steps=Steps(), same_texts=False)


def report_of(mined: PatternTable, train: Dataset, test: Dataset | None = None) -> Report:
    search = try_patterns(mined, train, test, Settings().artifacts, 0)
    evidence = known(train, test)
    return report_of_mining(evidence, evidence.measured([search.described]))


def saved(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text())


class TestMining:
    def test_says_how_many_were_not_folded(
        self, sets: tuple[Dataset, Dataset], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        train, test = sets
        of_all = mine(known(train), BOUNDS).to_dict()
        assert (of_all["n_not_folded"], of_all["n_findings"] > 5) == (0, True)
        monkeypatch.setattr("goldassay.questions.artifacts.reports.FOLDED_AT_MOST", 5)
        result = mine(known(train), BOUNDS)
        figures = result.to_dict()
        n_left, n_unfolded = figures["n_findings"] - 5, figures["n_unfolded"]
        assert figures["n_not_folded"] == n_left
        assert 0 < n_unfolded == result.findings["folded_under"].null_count() - n_left <= 5
        assert result.strongest(1000).height == n_unfolded
        report = report_of(result.patterns, train, test)
        section = report.document["artifacts"]
        assert (section["n_unfolded"], section["n_not_folded"]) == (n_unfolded, n_left)
        note = next(note for part in report.sections for note in part.notes if "are distinct" in note)
        assert f"{n_unfolded} of the strongest 5 are distinct" in note
        assert states(note, n_left, "weaker ones", "not folded")
        _describe_mined(result, figures, None)
        first = capsys.readouterr().out.splitlines()[0]
        assert states(first, n_unfolded, "distinct", n_left, "weaker ones")

    def test_everything_is_there(self, sets: tuple[Dataset, Dataset], tmp_path: Path) -> None:
        train, test = sets
        evidence = known(train, test)
        result = mine(evidence, BOUNDS, "place")
        report = report_of_mining(evidence, result.searched, "place", result.by_value)
        paths = result.save(tmp_path, report)
        assert all(path.exists() for path in paths)
        assert PatternTable.read(tmp_path / "patterns.parquet").to_frame().equals(result.patterns.to_frame())
        section = saved(tmp_path, "report.json")["artifacts"]
        assert section["n_selected"] == result.findings.height
        assert result.confirmation is not None
        assert section["n_confirmed"] == result.confirmation.n_confirmed
        assert section["scatter"]
        assert [row["threshold"] for row in section["coverage_curve"]][:2] == [0.5, 0.55]
        assert {row["value"] for row in section["by_value"]} == {"a", "b"}
        texts = dict(train.examples.select("example_id", "hypothesis").iter_rows())
        labels = dict(train.examples.select("example_id", "label").iter_rows())
        for rows in section["strongest"].values():
            for row in rows:
                assert 1 <= len(row["examples"]) <= 5
                for each in row["examples"]:
                    assert each["text"] == texts[each["example_id"]]
                    assert each["label"] == labels[each["example_id"]]
                    marked = "".join(each["text"][begin:end] for begin, end in each["marks"])
                    assert marked == row["pattern"].replace("#", "").replace(" ", "")
        page = (tmp_path / "report.html").read_text()
        assert "<mark>outdoors</mark>" in page
        assert "<b>Somebody" not in page
        assert 'href="findings.csv"' in page
        assert "tables/" not in page + (tmp_path / "report.md").read_text()

    def test_without_a_test_set_nothing_is_judged(self, sets: tuple[Dataset, Dataset]) -> None:
        train = sets[0]
        document = report_of(mine_dataset(train, BOUNDS), train).document
        verdict = document["verdicts"]["artifacts"]
        assert (verdict["verdict"], verdict["headline"]) == ("not measurable", None)
        assert document["artifacts"]["coverage_of"] == "training"
        assert "difficulty" not in document["artifacts"]

    def test_variants_stand_under_their_part(self, sets: tuple[Dataset, Dataset]) -> None:
        train = sets[0]
        mined = mine_dataset(train, BOUNDS)
        strongest = report_of(mined, train).document["artifacts"]["strongest"]
        row = next(row for row in strongest["entailment"] if row["pattern"] == "outdoors")
        shown = [each["pattern"] for each in row["variants"]]
        assert len(shown) == min(row["n_folded"], 8)
        assert all("outdoors" in pattern and pattern != "outdoors" for pattern in shown)


class TestSubsets:
    def test_a_sample_of_each_class(self, sets: tuple[Dataset, Dataset], tmp_path: Path) -> None:
        train, test = sets
        patterns = cut(mine_dataset(train, BOUNDS), 0.7)
        result = assign(test, patterns)
        report = report_of_subsets(result.to_dict(), result.assignment, patterns, test, train, Steps(), Settings())
        result.save(tmp_path, report)
        section = saved(tmp_path, "report.json")["artifacts"]
        classes = dict(result.table.select("example_id", "class").iter_rows())
        held = dict(result.table.select("example_id", "patterns").iter_rows())
        probability = dict(patterns.to_frame().select("pattern", "probability").iter_rows())
        assert {row["class"] for row in section["sample"]} >= {"easy"}
        for row in section["sample"]:
            assert classes[row["example_id"]] == row["class"]
            assert row["n_patterns"] == len(held[row["example_id"]])
            assert row["probability"] == max(probability[name] for name in held[row["example_id"]])
            assert row["marks"]
        assert sum(row["n"] for row in section["sizes"]) == len(test)
        assert "<mark>" in (tmp_path / "report.html").read_text()

    def test_nothing_kept(self, sets: tuple[Dataset, Dataset]) -> None:
        train, test = sets
        mined = mine_dataset(train, BOUNDS)
        patterns = mined.take([])
        result = assign(test, patterns)
        report = report_of_subsets(result.to_dict(), result.assignment, patterns, test, None, Steps(), Settings())
        document = report.document
        assert document["artifacts"]["sample"] == []
        assert document["verdicts"]["artifacts"]["headline"] is None
