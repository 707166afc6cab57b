"""Two reports side by side: against plain arithmetic, and against what must not be compared."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.document import DatasetFacts, Verdict
from goldassay.core.errors import InputError
from goldassay.core.figures import Figure, Measure, measure_of
from goldassay.core.report_seal import digest_of
from goldassay.core.results import to_plain
from goldassay.gate.comparing import PAIRED, SAME, UNPAIRED, match_figures, what_changed
from goldassay.gate.diff_page import changes_shown, left_open
from goldassay.questions.artifacts.result import ClassedExamples
from goldassay.questions.gating import ReportDiff, diff_reports
from goldassay.questions.leakage.result import SuggestedRewrites, SuggestedRows
from goldassay.questions.report_frame import figures_of
from tests.gate.test_check import classes, condition, gap, leakage_of, patterns_of, result, shift_of, stored, verdict
from tests.stated import Fact, in_order, says, states
from tests.typed import filled, findings_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from goldassay.gate.reading import StoredReport

HOSTILE = "<script>alert(1)</script> | `x` \x1b[31m"
N = 400
UNKNOWN = "whether they are the same is not known."


def write(report: StoredReport, folder: Path, examples: pl.DataFrame | None = None) -> Path:
    (folder / "tables").mkdir(parents=True)
    (folder / "report.json").write_text(json.dumps(report.document))
    if examples is not None:
        examples.write_parquet(folder / "tables" / "examples.parquet")
    return folder


def sealed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with the figures that follow from its parts, and its digest."""
    answers = {each.question: each.result for each in findings_of(document)}
    document["figures"] = to_plain([figure.to_dict() for figure in figures_of(document, answers)])
    return document | {"digest": digest_of(document)}


def examples_of(seed: int, right: float, easy: float) -> pl.DataFrame:
    """Two thirds of what decides an example is its own, so that two audits agree on much of it."""
    shared, own = np.random.default_rng(0).random((2, N)), np.random.default_rng(seed).random((2, N))
    mixed = (2 * shared + own) / 3
    return pl.DataFrame(
        {
            "example_id": [f"e{i}" for i in range(N)],
            "difficulty": np.where(mixed[0] < easy, "easy", "uncovered"),
            "right_hypothesis_only": np.round(4 * (mixed[1] < right) * own[0]) / 4,
        }
    ).sample(N, shuffle=True, seed=seed)


def source(role: str, name: str, digit: str, n_rows: int = 100) -> dict[str, Any]:
    return {"role": role, "name": name, "sha256": [digit * 64], "files": [name], "n_rows": n_rows}


def pattern(name: str, support: int = 20, probability: float = 0.9) -> dict[str, Any]:
    return {"pattern": name, "support": support, "probability": probability}


def audit(
    table: pl.DataFrame, word: str = "unsound", train: str = "1", **strongest: list[dict[str, Any]]
) -> StoredReport:
    right = float(table["right_hypothesis_only"].to_numpy().mean())
    easy = float((table["difficulty"] == "easy").to_numpy().mean())
    row = replace(condition("hypothesis_only", right - 0.3), accuracy=right, majority=0.3, sd=0.01, n_runs=4)
    return stored(
        f"audit {train} {HOSTILE}",
        verdicts={"artifacts": verdict(word), "leakage": verdict("caution")},
        dataset={"name": "d", "label_names": ["a", "b"], "text_columns": ["p", "h"]},
        inputs=[source("train", f"train{train}", train), source("test", "test", "f")],
        facts=DatasetFacts(100 * int(train), N, {}, (), "words", {}, {}, {}, {}).to_dict(),
        artifacts=patterns_of(
            strongest=strongest or {"a": [pattern(HOSTILE)]}, coverage=easy, coverage_of="test",
            giveaway={"value": 0.04, "low": 0.03, "high": 0.06}, n_selected=1, prior={"a": 0.5, "b": 0.5},
            difficulty=classes(easy, N), settings={"min_count": 10 * int(train), "threshold": 0.7},
        ),
        leakage=leakage_of(row, n_examples=N),
    )  # fmt: skip


CLASSED = filled(ClassedExamples, {})
SUGGESTED = SuggestedRewrites(filled(SuggestedRows, {}))


@pytest.fixture
def tables() -> tuple[pl.DataFrame, pl.DataFrame]:
    return examples_of(1, 0.6, 0.5), examples_of(2, 0.5, 0.4)


@pytest.fixture
def audits(tmp_path: Path, tables: tuple[pl.DataFrame, pl.DataFrame]) -> tuple[Path, Path]:
    before = audit(tables[0], a=[pattern("gone"), pattern("stays")], b=[pattern("turns")])
    after = audit(tables[1], "sound", "2", a=[pattern("stays", 30, 0.8), pattern("turns")], b=[pattern("new")])
    return write(before, tmp_path / "a", tables[0]), write(after, tmp_path / "b", tables[1])


def rows_of(found: ReportDiff) -> dict[tuple[str, str], Mapping[str, Any]]:
    return {(row["measure"], row["of"]): row for row in found.document["measures"]}


class TestIntervals:
    def test_shares_of_the_same_examples_are_paired(
        self, audits: tuple[Path, Path], tables: tuple[pl.DataFrame, pl.DataFrame]
    ) -> None:
        row = rows_of(diff_reports(*audits))["easy by pattern", ""]
        joined = tables[0].join(tables[1], on="example_id")
        change = (joined["difficulty_right"] == "easy").cast(int) - (joined["difficulty"] == "easy").cast(int)
        half = 1.966 * change.to_numpy().std(ddof=1) / math.sqrt(N)
        assert row["method"] == PAIRED
        assert row["difference"] == pytest.approx(change.mean())
        assert row["low"] == pytest.approx(change.mean() - half, abs=1e-4)
        assert row["high"] == pytest.approx(change.mean() + half, abs=1e-4)
        assert row["change"] == "better"

    def test_seeds_noise_is_added(self, audits: tuple[Path, Path], tables: tuple[pl.DataFrame, pl.DataFrame]) -> None:
        row = rows_of(diff_reports(*audits))["accuracy above majority", "hypothesis_only"]
        joined = tables[0].join(tables[1], on="example_id")
        change = joined["right_hypothesis_only_right"] - joined["right_hypothesis_only"]
        variance = change.to_numpy().var(ddof=1) / N + 2 * 0.01**2 / 4
        assert row["method"] == PAIRED
        assert row["high"] - row["difference"] == pytest.approx(1.97 * math.sqrt(variance), rel=0.01)

    def test_paired_is_narrower_where_examples_agree(self, audits: tuple[Path, Path]) -> None:
        paired = rows_of(diff_reports(*audits))["easy by pattern", ""]
        for folder in audits:
            (folder / "tables" / "examples.parquet").unlink()
        unpaired = rows_of(diff_reports(*audits))["easy by pattern", ""]
        assert unpaired["method"] == UNPAIRED
        assert unpaired["difference"] == paired["difference"]
        assert paired["high"] - paired["low"] < unpaired["high"] - unpaired["low"]

    @pytest.mark.parametrize("harm", ["other test file", "other rows", "a broken table", "a table of another audit"])
    def test_tables_that_do_not_fit_are_not_used(
        self, audits: tuple[Path, Path], tables: tuple[pl.DataFrame, pl.DataFrame], harm: str
    ) -> None:
        place = audits[1] / "tables" / "examples.parquet"
        if harm == "other test file":
            document = json.loads((audits[1] / "report.json").read_text())
            document["inputs"][1]["sha256"] = ["e" * 64]
            (audits[1] / "report.json").write_text(json.dumps(sealed(document)))
        elif harm == "other rows":
            tables[1].head(N - 1).write_parquet(place)
        elif harm == "a broken table":
            place.write_bytes(b"PAR1")
        else:
            examples_of(3, 0.2, 0.1).write_parquet(place)
        found = diff_reports(*audits)
        assert {row["method"] for row in found.document["measures"]} <= {UNPAIRED, SAME, "a count"}
        assert any("rather too wide" in note for note in found.document["notes"]) == (harm != "other test file")

    def test_no_interval_is_said_and_decides_nothing(self, tmp_path: Path) -> None:
        folders = [
            write(stored(str(i), leakage=leakage_of(peco=[{"role": "premise", "score": 0.1 + i}])), tmp_path / str(i))
            for i in (0, 1)
        ]
        row = rows_of(diff_reports(*folders))["outlier score of clusters", "premise"]
        assert (row["low"], row["method"], row["change"]) == (None, "the reports hold none", "more")

    def test_runs(self, tmp_path: Path) -> None:
        """Another model's runs: paired by all but the model's name, the mean by Student's interval."""
        half = 4.302653 * 0.02 / math.sqrt(3)
        means = {"old": 0.52, "new": 0.72}
        folders = [
            write(
                stored(
                    name,
                    instability={
                        "source": "runs",
                        "results": [
                            {**result(name, 3, 900.0, 0.02), "mean": x, "mean_low": x - half, "mean_high": x + half}
                        ],
                    },
                ),
                tmp_path / name,
            )
            for name, x in means.items()
        ]
        row = rows_of(diff_reports(*folders))["mean score", "old → new, d, paired"]
        assert row["before_low"] == pytest.approx(0.52 - half)
        assert row["low"] == pytest.approx(0.2 - math.hypot(half, half))
        assert row["change"] == "better"


@given(st.floats(0.1, 0.9), st.floats(0.1, 0.9), st.floats(0.01, 0.1), st.floats(0.01, 0.1))
def test_swapping_the_reports_turns_every_change_around(a: float, b: float, p: float, q: float) -> None:
    from goldassay.gate.comparing import _change

    measure = measure_of("leakage.improvement")
    assert measure is not None
    one, other = (measure.figure(v, v - r, v + r / 2) for v, r in ((a, p), (b, q)))
    forth, back = _change(one, other, None), _change(other, one, None)
    assert forth.low == pytest.approx(-back.high, nan_ok=True)
    assert forth.difference == pytest.approx(-back.difference)
    turned = {"better": "worse", "worse": "better"}
    assert forth.change == turned.get(back.change, back.change)
    assert forth.change == "same" or forth.low <= forth.difference <= forth.high


class TestWhatIsTold:
    """What changed for certain and what it cost, in the same words on the page, in Markdown and in the terminal."""

    def test_every_change_that_is_shown_and_what_it_cost(self, audits: tuple[Path, Path]) -> None:
        made = diff_reports(*audits)
        measures = tuple(
            replace(row, change="changed") if row.measure == "easy by pattern" else row for row in made.result.measures
        )
        found = replace(made, result=replace(made.result, measures=measures))
        told = changes_shown(found.result)
        assert told[0] == ("more", "training examples 100 → 200, +100")
        shown = [row for row in found.document["measures"] if row["change"] in ("better", "worse", "changed")]
        assert {row["change"] for row in shown} == {"better", "changed"}
        for (word, sentence), row in zip(told[1:], shown, strict=True):
            assert (word, sentence.startswith(row["measure"])) == (row["change"], True)
        for word, sentence in told:
            assert f"{word.capitalize()}: {sentence}." in found.to_html()
            assert f"  {word:<8} {sentence}" in found.summary()

    def test_what_is_left_open_is_counted(self, audits: tuple[Path, Path]) -> None:
        found = diff_reports(*audits).result
        row = next(row for row in found.measures if not row.describes_data)

        def left(*words: str) -> list[str]:
            rows = tuple(replace(row, measure="m", change=word) for word in words)
            return left_open(replace(found, measures=rows))

        assert left("not shown", "not shown") == ["2 measures cannot be said to have changed."]
        assert left("more", "fewer") == ["Moved, with no interval to judge by: m."]
        assert left("same") == []

    def test_more_than_fit_are_counted(self, audits: tuple[Path, Path]) -> None:
        found = diff_reports(*audits).result
        row = next(row for row in found.measures if row.measure == "easy by pattern")
        many = ReportDiff(replace(found, measures=(replace(row, change="worse"),) * 15))
        assert "3 more have changed; the table has them all." in many.to_html()
        assert "  and 3 more" in many.summary()

    def test_the_card_says_both_figures_their_unit_and_the_later_interval(self, audits: tuple[Path, Path]) -> None:
        page = diff_reports(*audits).to_html()
        assert "<strong>10.0 → 10.0</strong>" in page
        assert '<span class="interval">after: [10.0, 10.0] points</span> l' in page
        # What supports a verdict is said of the second report, also where the verdict stays.
        assert states(page, "verdict is as before", "second report")
        assert "| l: 10.0 → 10.0 points |" in diff_reports(*audits).to_markdown()

    def test_of_many_patterns_each_label_has_its_first(self, tmp_path: Path) -> None:
        strongest = {label: [pattern(f"{label}{i}", 99 - i - 40 * (label == "b")) for i in range(30)] for label in "ab"}
        tables = examples_of(1, 0.6, 0.5)
        before = write(audit(tables, a=strongest["a"], b=strongest["b"]), tmp_path / "a")
        found = diff_reports(before, write(audit(tables), tmp_path / "b"))
        page, markdown = found.to_html(), found.to_markdown()
        assert "Gone: 20 of 60, the first of each label" in page
        for label in "ab":
            assert f"<code>{label}9</code>" in page
            assert f"<code>{label}10</code>" not in page
            assert f"| `{label}6` |" in markdown
        assert '<details class="folded"><summary>Table: Gone' in page


class TestFolders:
    def test_an_earlier_comparison_leaves_nothing(self, audits: tuple[Path, Path], tmp_path: Path) -> None:
        out = tmp_path / "out"
        diff_reports(*audits).save(out)
        (out / "tables" / "mine.csv").write_text("kept")
        assert (out / "tables" / "patterns_gone.csv").exists()
        diff_reports(audits[0], audits[0]).save(out)
        left = {path.name for path in (out / "tables").iterdir()}
        names = ("measures", "patterns_stayed")
        assert left == {"mine.csv", *(f"{name}.{kind}" for name in names for kind in ("csv", "parquet"))}
        assert not (out / "figures" / "diff_changes.svg").exists()

    @pytest.mark.parametrize("which", [0, 1])
    def test_the_folder_of_a_report_is_refused(self, audits: tuple[Path, Path], which: int) -> None:
        content = {path: path.read_bytes() for path in audits[which].rglob("*") if path.is_file()}
        with pytest.raises(InputError, match=in_order("folder of", "report.json", "-o")):
            diff_reports(*audits).save(audits[which] / "tables" / "..")
        assert {path: path.read_bytes() for path in audits[which].rglob("*") if path.is_file()} == content


def test_patterns(audits: tuple[Path, Path]) -> None:
    found = diff_reports(*audits)
    patterns = found.document["patterns"]
    names = {key: [row["pattern"] for row in patterns[key]] for key in ("gone", "new", "turned", "stayed")}
    assert names == {"gone": ["gone"], "new": ["new"], "turned": ["turns"], "stayed": ["stays"]}
    assert patterns["stayed"][0]["probability_before"] == 0.9
    assert (patterns["turned"][0]["label_before"], patterns["turned"][0]["label"]) == ("b", "a")
    assert "Only the strongest" in patterns["source"]
    for folder, names_of in zip(audits, (["x"], ["x"]), strict=True):
        rows = [{**pattern(name), "label": "a"} for name in names_of]
        pl.DataFrame(rows).write_parquet(folder / "tables" / "patterns.parquet")
    patterns = diff_reports(*audits).document["patterns"]
    assert patterns["source"].startswith("All patterns")
    assert (patterns["gone"], len(patterns["stayed"])) == ([], 1)


def test_verdicts_that_moved(audits: tuple[Path, Path]) -> None:
    found = diff_reports(*audits)
    assert [(row["question"], row["moved"]) for row in found.document["verdicts"]] == [
        ("artifacts", "better"), ("leakage", "same"),
    ]  # fmt: skip
    assert diff_reports(*audits[::-1]).document["verdicts"][0]["moved"] == "worse"


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        ("not measurable", "sound", "now measured"),
        ("unsound", "not measurable", "no longer measurable"),
        ("unresolved", "sound", "better"),
        ("unresolved", "caution", "worse"),
        ("caution", "unsound", "worse"),
    ],
)
def test_every_move(tmp_path: Path, before: str, after: str, moved: str) -> None:
    folders = [
        write(stored(f"{i}", verdicts={"leakage": verdict(word)}, leakage=leakage_of(condition("a_only", 0.1))),
              tmp_path / f"{i}")
        for i, word in enumerate((before, after))
    ]  # fmt: skip
    assert diff_reports(*folders).document["verdicts"][0]["moved"] == moved


class TestStanding:
    def test_other_data_settings_and_versions_are_named(self, audits: tuple[Path, Path]) -> None:
        document = json.loads((audits[1] / "report.json").read_text())
        document["goldassay_version"] = "9.9"
        (audits[1] / "report.json").write_text(json.dumps(sealed(document)))
        warnings = diff_reports(*audits).document["warnings"]
        assert warnings == [
            says("two versions of goldassay", "0.1.0 and 9.9"),
            says("training data differ", "train1 (100 rows, sha256 11111111…)", "train2 (100 rows, sha256 22222222…)"),
            says("settings differ:", "artifacts.min_count", "10 and 20"),
        ]

    def test_versions_of_one_name_are_told_apart(self, audits: tuple[Path, Path]) -> None:
        """Same titles, same names, no file in common: by place, by hash, and with the question that this raises."""
        for folder, digit in zip(audits, "78", strict=True):
            document = json.loads((folder / "report.json").read_text())
            inputs = [source("train", "train", digit), source("test", "test", str(int(digit) - 5))]
            document |= {"title": "Audit of train", "inputs": inputs}
            (folder / "report.json").write_text(json.dumps(sealed(document)))
        found = diff_reports(*audits)
        assert found.document["warnings"][:3] == [
            says("training data differ", "train (100 rows, sha256 77777777…)", "train (100 rows, sha256 88888888…)"),
            says("test data differ", "test (100 rows, sha256 22222222…)", "test (100 rows, sha256 33333333…)"),
            says("No file is the same"),
        ]
        names = [f"Audit of train ({folder / 'report.json'})" for folder in audits]
        assert found.summary().splitlines()[:2] == [f"before  {names[0]}", f"after   {names[1]}"]
        markdown = found.to_markdown().replace("\\_", "_")
        for name in names:
            assert name in found.to_html()
            assert name in markdown

    @pytest.mark.parametrize(
        ("before", "after", "said"),
        [
            ([], ["a"], [says("Only the second report", "test (100 rows, sha256 aaaaaaaa…)")]),
            (["a"], [], [says("Only the first report", "test (100 rows, sha256 aaaaaaaa…)")]),
            (
                [None],
                [None],
                [says("test (100 rows, in memory)", "both reports", UNKNOWN)],
            ),
            (
                ["a"],
                [None],
                [
                    says("test (100 rows, sha256 aaaaaaaa…)", "test (100 rows, in memory)", UNKNOWN),
                ],
            ),
            ([], [], []),
        ],
    )
    def test_data_without_a_file_are_no_files(
        self, tmp_path: Path, before: list[str | None], after: list[str | None], said: list[says]
    ) -> None:
        part = {"leakage": leakage_of(condition("hypothesis_only", 0.1))}
        folders = []
        for name, digits in (("before", before), ("after", after)):
            inputs = [source("test", "test", digit or "") | ({} if digit else {"sha256": []}) for digit in digits]
            folders.append(write(stored(name[0], **part, inputs=inputs), tmp_path / name))
        warnings = diff_reports(*folders).document["warnings"]
        assert [each for each in warnings if "test data" in each] == said
        assert "files" not in " ".join(warnings)

    def test_gold_labels_of_runs_are_data_too(self, tmp_path: Path) -> None:
        part = {"source": "runs", "results": [result("m", 3, 900.0, 0.02)]}
        folders = [
            write(
                stored(digit, instability=part, inputs=[source("runs", "r", "1"), source("gold", "g", digit)]),
                tmp_path / digit,
            )
            for digit in "23"
        ]
        assert diff_reports(*folders).document["warnings"] == [
            says("gold labels differ", "g (100 rows, sha256 22222222…)", "g (100 rows, sha256 33333333…)")
        ]

    def test_reports_of_two_commands_are_named(self, tmp_path: Path) -> None:
        part = {"leakage": leakage_of(condition("hypothesis_only", 0.1))}
        folders = [
            write(stored("a", **part), tmp_path / "a"),
            write(stored("b", **part, command="leakage measure"), tmp_path / "b"),
        ]
        assert states(
            diff_reports(*folders).document["warnings"][0],
            "two commands",
            "goldassay audit",
            "goldassay leakage measure",
        )

    def test_the_same_twice(self, audits: tuple[Path, Path]) -> None:
        found = diff_reports(audits[0], audits[0])
        assert found.document["warnings"] == [says("say the same", "digests are equal")]
        assert {row["change"] for row in found.document["measures"]} == {"same"}
        assert "no change of a measure is significant" in found.summary()

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            ({"dataset": {"label_names": ["x", "y"]}}, "another dataset: its labels are x, y"),
            ({"dataset": {"text_columns": ["text"]}}, "another dataset: its texts are text"),
            (
                {"artifacts": None, "leakage": None, "shift": shift_of(gap("t", 0.1, False)).to_dict()},
                "it asks shift",
            ),
            (
                {"artifacts": CLASSED.to_dict(), "leakage": SUGGESTED.to_dict()},
                "no measure in common",
            ),
            ({"schema_version": 7}, "schema version 7"),
            ({"schema_version": 1}, ("schema version 1", "reads 2", "again")),
        ],
    )
    def test_what_is_not_comparable_is_refused(
        self, audits: tuple[Path, Path], change: dict[str, Any], expected: Fact
    ) -> None:
        document = json.loads((audits[1] / "report.json").read_text()) | change
        (audits[1] / "report.json").write_text(json.dumps(sealed(document)))
        with pytest.raises(InputError, match=in_order(expected)) as refused:
            diff_reports(*audits)
        assert str(audits[1]) in str(refused.value)


class TestMatching:
    @staticmethod
    def figures(*names: tuple[str, str]) -> list[Figure]:
        measure = Measure("shift.x", "m", "points", "lower")
        return [measure.figure(0.1, 0.0, 0.2, model=m, dataset=d) for m, d in names]

    def test_names_first_then_without_the_model(self) -> None:
        before = self.figures(("m", "d"), ("m", "e"), ("old", "f"))
        after = self.figures(("new", "f"), ("m", "d"))
        pairs, gone, new = match_figures(before, after)
        assert [(a.of["model"], b.of["model"]) for a, b in pairs] == [("m", "m"), ("old", "new")]
        assert [figure.of["dataset"] for figure in gone] == ["e"]
        assert new == []

    def test_no_choice_is_guessed(self) -> None:
        pairs, gone, new = match_figures(self.figures(("a", "d"), ("b", "d")), self.figures(("c", "d")))
        assert (pairs, len(gone), len(new)) == ([], 2, 1)


def test_every_form_shows_hostile_texts_as_texts(audits: tuple[Path, Path], tmp_path: Path) -> None:
    found = diff_reports(*audits)
    page, markdown, summary = found.to_html(), found.to_markdown(), found.summary()
    assert "<script>alert(1)" not in page + markdown
    assert "\x1b" not in page + markdown + summary
    assert found.save(tmp_path / "out").name == "diff.html"
    assert json.loads((tmp_path / "out" / "diff.json").read_text())["schema"] == "goldassay.diff"
    assert pl.read_csv(tmp_path / "out" / "tables" / "measures.csv").height == len(found.document["measures"])
    assert "figures/diff_changes.svg" in page
    assert "| question | before | after |" in markdown


@pytest.mark.parametrize(
    ("word", "value", "high", "said"),
    [
        ("caution", 0.30, 0.4, "the figure changed"),
        ("unsound", 0.21, 0.25, "the figure changed, within its interval"),
        ("caution", 0.2, 0.3, "only the interval changed"),
        ("caution", 0.2, 0.25, "only the word changed"),
        ("unsound", 0.2, 0.25, "nothing changed"),
    ],
)
def test_what_changed_of_a_verdict_is_said(word: str, value: float, high: float, said: str) -> None:
    def verdict(name: str, figure: float, end: float) -> Verdict:
        headline = {"label": "accuracy", "value": figure, "low": 0.15, "high": end, "unit": "points"}
        plain = {"verdict": name, "evidence": "", "headline": headline, "next_step": "", "rule": ""}
        return Verdict.model_validate(plain)

    assert what_changed(verdict("unsound", 0.2, 0.25), verdict(word, value, high)) == said
