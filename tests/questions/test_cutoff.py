"""Scores before and after a date, within equal difficulty, at every door."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import goldassay
from goldassay.cli.main import run
from goldassay.core.errors import InputError
from goldassay.questions.cutoff.measures import measure_drop
from goldassay.questions.cutoff.question import Dated, measure_cutoff
from goldassay.questions.run_choice import Cutoff, RunChoice, date_of, sides_of
from tests.runs.test_statuses import log, samples

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.questions.cutoff.result import CutoffRow

# Of a published system on LiveCodeBench: difficulty, whether dated up to October 2023, right, wrong.
PUBLISHED = (
    ("easy", True, 85, 2), ("easy", False, 180, 12), ("hard", True, 32, 26), ("hard", False, 62, 150),
    ("medium", True, 83, 23), ("medium", False, 160, 65),
)  # fmt: skip


def published(model: str = "one") -> pl.DataFrame:
    rows = [
        {"difficulty": level, "contest_date": "2023-10-31T00:00:00" if early else "2023-11-01", "score": score}
        for level, early, *counts in PUBLISHED
        for score, n in zip((1, 0), counts, strict=True)
        for _ in range(n)
    ]
    return pl.DataFrame(rows).with_row_index("example_id").with_columns(model=pl.lit(model))


def test_a_published_system_drops_after_the_date_that_its_training_ends(tmp_path: Path) -> None:
    published().write_csv(tmp_path / "one.csv")
    other = published("two").with_columns(score=pl.lit(1))
    other.write_csv(tmp_path / "two.csv")
    paths = [str(tmp_path / "one.csv"), str(tmp_path / "two.csv")]
    how = {"cutoff": "contest_date=2023-10"}
    for report in (
        goldassay.measure_instability(paths, **how),
        goldassay.compare_models(*paths, **how),
        goldassay.rank_systems(paths, **how),
    ):
        rows = {each["model"]: each for each in report.document["cutoff"]["rows"]}
        row = rows["one"]
        assert (100 * row["before"], 100 * row["after"]) == pytest.approx((79.7, 63.9), abs=0.05)
        assert 100 * row["within"] == pytest.approx(11.9, abs=0.05)
        assert 50 * (row["within_high"] - row["within_low"]) == pytest.approx(5.9, abs=0.05)
        assert (row["n_before"], row["n_after"], row["n_strata"]) == (251, 629, 3)
        shown = report.figures.filter(id="cutoff.within")["value"].to_list()
        assert row["within"] in shown
        assert rows["two"]["within"] == pytest.approx(0, abs=1e-12)
    assert "cutoff_periods" in report.charts
    periods = [each for each in report.document["cutoff"]["periods"] if each["model"] == "one"]
    assert [(each["period"], each["late"], each["n"]) for each in periods] == [
        ("2023-10", False, 251), ("2023-11", True, 629)
    ]  # fmt: skip
    assert [each["score"] for each in periods] == pytest.approx([row["before"], row["after"]])
    # The other has all right before and after, so that the lead drops as the first does.
    assert rows["one - two"]["within"] == pytest.approx(row["within"])


def test_the_interval_is_that_of_a_regression_with_interactions() -> None:
    rng = np.random.default_rng(1)
    scores, late = rng.random(200), rng.integers(0, 2, 200).astype(bool)
    strata, codes, weights = rng.integers(0, 3, 200), np.arange(200) % 40, rng.integers(1, 5, 200).astype(float)
    cells = np.array([(strata == at) & (late == side) for at in range(3) for side in (False, True)]).T.astype(float)
    fit = sm.WLS(scores, cells, weights).fit().get_robustcov_results("cluster", groups=codes, use_correction=False)
    shares = np.bincount(strata, weights) / weights.sum()
    contrast = np.ravel([(share, -share) for share in shares])
    found = measure_drop([scores], late, strata, codes, weights=weights)
    assert found.within == pytest.approx(contrast @ fit.params)
    assert found.within_interval is not None
    error = np.sqrt(contrast @ fit.cov_params() @ contrast * 40 / 39)
    width = found.within_interval.high - found.within
    # Student's t with the effective clusters, by the weight of each in the contrast, less six cells.
    of_row = np.abs(contrast)[cells.argmax(axis=1)] * weights / (cells.T @ weights)[cells.argmax(axis=1)]
    of_cluster = np.bincount(codes, of_row)
    degrees = of_cluster.sum() ** 2 / (of_cluster**2).sum() - 6
    assert width / error == pytest.approx(stats.t.ppf(0.975, degrees))
    assert found.drop == pytest.approx(
        np.average(scores[~late], weights=weights[~late]) - np.average(scores[late], weights=weights[late])
    )


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_a_shift_of_the_mix_of_difficulties_is_no_drop_within(seed: int, n_runs: int) -> None:
    rng = np.random.default_rng(seed)
    strata = np.repeat([0, 0, 1, 1], [30, 10, 10, 30])
    late = np.repeat([False, True, False, True], [30, 10, 10, 30])
    # Examples of one difficulty are scored alike, whatever their date.
    scores = np.repeat([[0.9, 0.2]], n_runs, axis=0)[:, strata]
    found = measure_drop(scores, late, strata)
    assert found.within == pytest.approx(0, abs=1e-12)
    assert found.drop == pytest.approx(0.35)
    noisy = scores + rng.normal(0, 0.1, scores.shape)
    order = rng.permutation(80)
    one, other = measure_drop(noisy, late, strata), measure_drop(noisy[:, order], late[order], strata[order])
    assert (one.within, one.drop) == pytest.approx((other.within, other.drop))
    assert measure_drop(noisy, ~late, strata).within == pytest.approx(-one.within)
    assert measure_drop(noisy, late, strata, less=noisy).within == pytest.approx(0)


def test_strata_of_one_side_are_left_out_and_counted() -> None:
    late, strata = np.array([0, 0, 1, 1, 1]) == 1, ["a", "a", "a", "b", "b"]
    found = measure_drop([[1, 1, 0, 1, 1]], late, strata)
    assert (found.within, found.n_strata, found.n_one_sided) == (1, 1, 2)
    assert np.isnan(measure_drop([[1, 1, 0, 1, 1]], late, ["a", "b", "c", "c", "d"]).within)
    with pytest.raises(InputError, match="one side"):
        measure_drop([[1.0, 0.0]], [True, True])


def test_strata_of_one_example_a_side_have_an_error() -> None:
    late, strata = np.tile([False, True], 20), np.repeat(np.arange(20), 2)
    scores = np.tile([1.0, 0.0], 20)[None]
    for less, most in ((None, 1.0), (1 - scores, 2.0)):
        found = measure_drop(scores, late, strata, less=less)
        assert found.within == pytest.approx(most)
        assert found.within_interval is not None
        # 40 coefficients of 1/20, each times half of what is possible.
        least = 1.96 * most / 2 * np.sqrt(40) / 20
        assert found.within_interval.low <= most - least


def test_examples_without_a_difficulty_leave_the_others_in_fifths() -> None:
    rng = np.random.default_rng(0)
    late, numbers = np.arange(200) % 2 == 1, rng.random(200)
    levels = np.array([f"{each:.4f}" for each in numbers])
    dates, scores = np.where(late, "2024-02-01", "2023-01-01"), rng.integers(0, 2, (1, 200)).astype(float)
    choice = RunChoice(cutoff=Cutoff.parse("day=2023-06"))

    def drop(levels: NDArray[np.str_], kept: slice) -> CutoffRow:
        traits = {"day": dates[kept], "difficulty": levels[kept]}
        found = measure_cutoff([Dated("d", {"m": scores[:, kept]}, traits, None, None)], choice)
        assert found is not None
        return found.rows[0]

    most = drop(levels, slice(9, None))
    levels[:9] = ""
    some = drop(levels, slice(None))
    assert (some.n_strata, some.n_one_sided, most.n_one_sided) == (5, 9, 0)
    assert (some.within, some.within_low) == pytest.approx((most.within, most.within_low))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("2024", (2024,)), ("2024-06", (2024, 6)), ("2024/6/3", (2024, 6, 3)), ("2024-06-03T12:30:00Z", (2024, 6, 3)),
        ("1692576000000", (2023, 8, 21)), ("1692576000", (2023, 8, 21)), ("20240603", (2024, 6, 3)),
        ("2024-13", None), ("03/06/2024", None), ("easy", None), ("12", None),
    ],
)  # fmt: skip
def test_dates_are_iso_or_time_stamps(text: str, parts: tuple[int, ...] | None) -> None:
    assert date_of(text) == parts


def test_a_month_counts_to_its_end() -> None:
    cutoff = Cutoff.parse("day=2024-06")
    assert cutoff is not None
    assert sides_of(["2024-05-31", "2024-06-30", "2024-07-01", "", "2025"], cutoff, "day") == [
        False, False, True, None, True,
    ]  # fmt: skip
    with pytest.raises(InputError, match="has no month"):
        sides_of(["2024"], cutoff, "day")


@pytest.mark.parametrize(
    ("cutoff", "facts"),
    [
        ("day=soon", ("names no date",)),
        ("2024-06", ("names no column",)),
        ("born=2024-06", ("'born'",)),
        ("day=2030", ("all 3", "2024-01-01", "2024-03-01")),
        ("model=2024-06", ("'a' is no date",)),
        ("blank=2024-06", ("no example", "has a date")),
    ],
    ids=["no date", "no column", "not there", "one side", "unparsable", "all empty"],
)
def test_bad_dates_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cutoff: str, facts: tuple[str, ...]
) -> None:
    dates = ["2024-01-01", "2024-02-01", "2024-03-01"]
    pl.DataFrame(
        {"example_id": ["1", "2", "3"], "score": [1, 0, 1], "day": dates, "model": "a", "blank": ""}
    ).write_csv(tmp_path / "a.csv")
    out = str(tmp_path / "out")
    assert run(["instability", str(tmp_path / "a.csv"), "--cutoff", cutoff, "-q", "-o", out]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert [fact for fact in facts if fact not in line] == []


def test_dates_come_from_documents_and_from_the_data_and_empty_ones_are_counted(tmp_path: Path) -> None:
    lines = samples([1.0, 1.0, 0.0, 0.0, 1.0]).splitlines()
    days = ["2024-01-01", "2024-02-01", "2024-07-01", "2024-08-01", ""]
    told = [line.replace('"doc": {}', f'"doc": {{"day": "{day}"}}') for line, day in zip(lines, days, strict=True)]
    log(tmp_path / "own", "own", "\n".join(told))
    log(tmp_path / "bare", "bare", "\n".join(lines))
    data = pl.DataFrame({"id": [str(at) for at in range(5)], "text": [f"text {at}" for at in range(5)], "label": "1",
                         "day": days, "difficulty": ["a", "b", "a", "b", "a"]})  # fmt: skip
    data.write_csv(tmp_path / "data.csv")

    def found(folder: str, **more: Any) -> dict[str, Any]:
        (row,) = goldassay.measure_instability(tmp_path / folder, cutoff="day=2024-06", **more).document["cutoff"][
            "rows"
        ]
        assert (row["before"], row["after"], row["n_undated"]) == (1, 0, 1)
        return row

    assert found("own")["within"] is None
    assert found("bare", test=str(tmp_path / "data.csv"))["within"] == 1


def test_several_datasets_have_a_row_each(tmp_path: Path) -> None:
    for name in ("x", "y"):
        rows = pl.concat([published(model).with_columns(dataset=pl.lit(name)) for model in ("one", "two")])
        rows.write_csv(tmp_path / f"{name}.csv")
    rows = goldassay.compare_models(tmp_path, cutoff="contest_date=2023-10").document["cutoff"]["rows"]
    assert [(row["model"], row["dataset"]) for row in rows] == [
        (model, name) for name in ("x", "y") for model in ("one", "two", "one - two")
    ]
