"""Whether every answer was scored, and what the rule for the others changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import goldassay
from goldassay.questions.answered.measures import expected_score, harder, pairs_by_rule
from goldassay.questions.answered.page import sentences
from goldassay.runs.runs import Runs
from goldassay.runs.statuses import STATUSES
from tests.runs.test_statuses import log, samples
from tests.stated import stated_by, states

if TYPE_CHECKING:
    from pathlib import Path


def rows_of(report: Any) -> dict[str, Any]:
    return {row.model: row for row in report.result.found.runs}


def test_a_log_in_which_all_is_scored_is_sound(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for name in ("a", "b"):
        log(tmp_path, name, samples(rng.integers(0, 2, 60).astype(float).tolist()))
    report = goldassay.measure_answered(tmp_path)
    assert report.verdicts["answered"]["verdict"] == "sound"
    for row in rows_of(report).values():
        assert (row.n_scored, row.unscored_share, row.effect) == (60, 0, 0)
        assert row.wrong == row.scored_only == row.all_right
    assert (report.result.found.pairs, report.result.found.n_pairs) == ((), 0)
    notes = goldassay.compare_models(tmp_path).to_dict()["comparison"]["notes"]
    assert "score" not in " ".join(note for note in notes if "answers" in note)


def test_three_scores_and_the_log_s_own(tmp_path: Path) -> None:
    scores = [1.0] * 30 + [0.0] * 10 + [float("nan")] * 10
    log(tmp_path, "own", samples(scores, {30, 31}), 30 / 40)
    report = goldassay.measure_answered(tmp_path)
    (row,) = report.result.found.runs
    assert (row.n_items, row.n_scored, row.unparsed, row.unscored) == (50, 38, 2, 10)
    assert (row.wrong, row.scored_only, row.all_right) == pytest.approx((0.6, 30 / 38, 42 / 50))
    assert (row.wrong_low, row.wrong_high) == pytest.approx(
        stats.binomtest(30, 50).proportion_ci(method="wilson"), abs=0.01
    )
    # The log counts neither 10 of 50, nor leaves out all 12.
    assert (row.reported_rule, row.effect, row.word) == ("none of these", pytest.approx(0.15), "unsound")
    log(tmp_path, "own", samples(scores, {30, 31}), 0.6)
    (row,) = goldassay.measure_answered(tmp_path).result.found.runs
    assert (row.reported_rule, row.effect, row.word) == ("wrong", 0, "caution")


def test_items_that_a_run_lacks_are_missing_and_never_refused(tmp_path: Path) -> None:
    table = pl.DataFrame({"id": [f"e{i}" for i in range(40)], "score": [1.0, 0.0] * 20})
    table.write_csv(tmp_path / "a.csv")
    table.head(30).write_csv(tmp_path / "b.csv")
    found = rows_of(goldassay.measure_answered([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]))
    assert (found["b"].missing, found["b"].n_items, found["b"].wrong) == (10, 40, 15 / 40)
    report = goldassay.audit([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")])
    assert report.verdicts["answered"]["verdict"] == "unsound"
    assert "40 examples" in stated_by(report.verdicts["comparison"])
    none = pl.DataFrame({"id": ["x", "y"], "score": pl.Series([None, None], dtype=pl.Float64)})
    none.write_csv(tmp_path / "none.csv")
    report = goldassay.measure_answered(tmp_path / "none.csv")
    assert report.verdicts["answered"]["verdict"] == "unsound"
    assert states(stated_by(report.verdicts["answered"]), "none of 2 answers")


def test_the_effect_is_judged_by_how_hard_the_items_are() -> None:
    """Blanks on what nobody solves cost nothing; blanks on what all solve cost all."""
    difficulty = np.repeat([0.0, 1.0], 500)
    scores = difficulty.copy()
    hard, easy = np.ones(1000, np.bool_), np.ones(1000, np.bool_)
    hard[:100] = False
    easy[-100:] = False
    assert expected_score(scores * hard, hard, difficulty) == 0
    assert expected_score(scores * easy, easy, difficulty) == 1
    gap = harder(difficulty, hard, None)
    assert gap is not None
    welch = stats.ttest_ind(difficulty[hard], difficulty[~hard], equal_var=False).confidence_interval()
    assert (gap.low, gap.high) == pytest.approx((welch.low, welch.high), abs=0.002)


def test_what_has_no_score_takes_the_mean_of_its_tenth_of_the_items() -> None:
    """Of 20 items each tenth has two: the second has no score, and takes that of the first."""
    scores, scored = np.ones(20), np.ones(20, np.bool_)
    scores[[0, 8]] = 0.2, 0.7
    scored[[1, 9]] = False
    assert expected_score(scores, scored, np.arange(20.0)) == pytest.approx((0.2 + 0.7) / 2)


def test_a_planted_pair_is_ordered_both_ways() -> None:
    rng = np.random.default_rng(0)
    scores = np.stack([rng.random(800) < 0.6, rng.random(800) < 0.75, rng.random(800) < 0.6]).astype(float)
    scored = np.ones(scores.shape, np.bool_)
    scored[1, rng.choice(800, 300, replace=False)] = False
    found = pairs_by_rule(scores * scored, scored, None)
    both = [(pair.a, pair.b) for pair in found if pair.p <= 0.05]
    assert both == [(0, 1), (1, 2)]
    assert all(np.sign(pair.wrong) != np.sign(pair.scored_only) for pair in found)


def test_a_gate_limits_what_has_no_score(tmp_path: Path) -> None:
    log(tmp_path, "a", samples([1.0] * 18 + [0.0] * 2, {18, 19}))
    report = goldassay.measure_answered(tmp_path)
    (share,) = [each for each in report.to_dict()["figures"] if each["id"] == "answered.unscored"]
    assert (share["value"], share["better"]) == (0.1, "lower")
    for limit, passed in ((0.2, True), (0.05, False)):
        (tmp_path / "p.toml").write_text(f"[policy]\nmax_unscored = {limit}\n")
        report.save(tmp_path / "report")
        assert goldassay.check(str(tmp_path / "report"), policy=str(tmp_path / "p.toml")).passed is passed


def test_statuses_of_runs_in_memory_reach_the_report() -> None:
    codes = np.array([[0, STATUSES.index("error"), STATUSES.index("scored, truncated")] * 10], np.int8)
    made = Runs.from_arrays(scores=np.array([[1.0, 0.0, 1.0] * 10]), model="m")
    (row,) = goldassay.measure_answered(Runs(**{**vars(made), "status_codes": codes})).result.found.runs
    assert (row.error, row.scored_truncated, row.n_scored) == (10, 10, 20)


def test_published_answers(data_dir: Path) -> None:
    """MMLU-Pro: 29 systems leave out 0 to 23 %; whose place moves, and for whom that is due to the rule."""
    found = goldassay.measure_answered(data_dir / "boards/mmlu-pro-predictions.parquet").result.found
    rows = {row.model: row for row in found.runs}
    assert len(rows) == 29
    assert max(row.unscored_share for row in rows.values()) == pytest.approx(0.233, abs=0.001)
    chat = rows["Qwen1.5-72B-Chat"]
    assert (chat.wrong, chat.scored_only) == pytest.approx((0.4715, 0.5776), abs=5e-4)
    places = [
        {name: place for place, name in enumerate(sorted(rows, key=lambda name: -getattr(rows[name], rule)), 1)}
        for rule in ("wrong", "scored_only")
    ]
    assert [each["Qwen1.5-72B-Chat"] for each in places] == [9, 5]
    assert sum(abs(places[0][name] - places[1][name]) >= 2 for name in rows) == 13
    unsound = {name for name, row in rows.items() if row.word == "unsound"}
    assert unsound == {"DeepSeek-Coder-V2", "Qwen1.5-72B-Chat", "Qwen1.5-7B-Chat"}
    gaps = sorted(row.harder for row in rows.values() if row.harder is not None and row.n_items - row.n_scored > 50)
    assert (gaps[1], gaps[-1]) == pytest.approx((0.125, 0.216), abs=1e-3)
    assert gaps[0] < 0


def test_a_column_of_errors_and_words_of_success_are_records(tmp_path: Path) -> None:
    failed = pl.int_range(40, eager=True) % 5 == 0
    score = pl.Series([1.0, 0.0] * 20).set(failed, 0.0)
    table = pl.DataFrame({"id": range(40), "score": score})
    error = pl.select(pl.when(failed).then(pl.lit("RateLimitError"))).to_series()
    output = pl.Series(["It is 3."] * 40)

    def row_of(**columns: Any) -> Any:
        table.with_columns(**columns).write_ndjson(tmp_path / "a.jsonl")
        (row,) = goldassay.measure_answered(tmp_path / "a.jsonl").result.found.runs
        return row

    row = row_of(error=error, output=output.set(failed, ""))
    assert (row.error, row.empty, row.unrecorded) == (8, 0, ("empty", "truncated"))
    row = row_of(error=error)
    assert (row.error, row.n_scored) == (8, 32)
    # Beside what was written, a text says why an answer is wrong; and all rows may have gone well.
    for own in (error, pl.Series([None] * 40, dtype=pl.String), pl.Series(["wrong unit"] * 40)):
        row = row_of(error=own, output=output)
        assert (row.error, row.n_scored, "error" in row.unrecorded) == (0, 40, False)
    row = row_of(status=pl.Series(["success"] * 40))
    assert (row.n_scored, row.unrecorded) == (40, ("empty", "truncated"))
    report = goldassay.measure_answered(tmp_path / "a.jsonl")
    assert "cut off" not in " ".join(sentences(report.result.found))
    row = row_of(finish_reason=pl.select(pl.when(failed).then(pl.lit("length")).otherwise(pl.lit("stop"))).to_series())
    assert (row.scored_truncated, row.unrecorded) == (8, ("empty", "error"))
    report = goldassay.measure_answered(tmp_path / "a.jsonl")
    assert "8 of 40 answers were cut off" in " ".join(sentences(report.result.found))
