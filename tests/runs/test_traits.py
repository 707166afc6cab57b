"""Weights of examples: one weighted score at every door, with the noise of a ratio."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

import goldassay
from goldassay.board import first_in_halves, lead_of, rank
from goldassay.cli.main import run
from goldassay.core.errors import InputError
from goldassay.questions.instability.measures.comparison import compare
from goldassay.questions.instability.measures.scores import score_one_run
from goldassay.questions.instability.measures.suites import compare_all
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_scores import score_runs
from goldassay.runs import Runs, read_runs, write_runs
from goldassay.runs.missing import on_same_items, scored_only
from goldassay.stats.clusters import effective_clusters, variance_of_mean, weigh
from tests.runs.test_statuses import log, samples

if TYPE_CHECKING:
    from pathlib import Path

WEIGHTS = {"columns": "weight=points"}


def table(scores: list[float], weights: list[float], model: str = "a", **more: Any) -> pl.DataFrame:
    ids = [f"q{at}" for at in range(len(scores))]
    return pl.DataFrame({"example_id": ids, "score": scores, "points": weights, "model": model, **more})


def test_the_noise_is_that_of_weighted_least_squares() -> None:
    """Statsmodels' cluster-robust variance of a weighted mean."""
    rng = np.random.default_rng(1)
    scores, weights, codes = rng.random(90), rng.integers(1, 9, 90).astype(float), np.arange(90) % 25
    fit = sm.WLS(scores, np.ones(90), weights).fit()
    found = score_one_run(scores, codes, weights=weights)
    assert found.mean == pytest.approx(fit.params[0]) == pytest.approx(np.average(scores, weights=weights))
    robust = fit.get_robustcov_results("cluster", groups=codes, use_correction=False)
    n = 25
    assert variance_of_mean(weigh(scores, weights), codes) == pytest.approx(robust.bse[0] ** 2 * n / (n - 1))
    alone = fit.get_robustcov_results("HC0").bse[0] ** 2
    assert variance_of_mean(weigh(scores, weights)) == pytest.approx(alone * 90 / 89)
    other = rng.random(90)
    pair = compare([scores], [other], codes, weights=weights)
    paired = sm.WLS(scores - other, np.ones(90), weights).fit()
    error = paired.get_robustcov_results("cluster", groups=codes, use_correction=False).bse[0]
    assert (pair.difference, pair.var_total) == pytest.approx((paired.params[0], error**2 * n / (n - 1)))


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(1, 4)), min_size=5, max_size=30))
def test_a_weight_counts_as_copies_of_the_example(rows: list[tuple[int, int, int]]) -> None:
    a, b, weights = (np.array(each, dtype=float) for each in zip(*rows, strict=True))
    copies = np.repeat(np.arange(len(rows)), weights.astype(int))
    found, copied = compare([a], [b], weights=weights), compare([a[copies]], [b[copies]], copies)
    assert (found.difference, found.var_total) == pytest.approx((copied.difference, copied.var_total))
    assert (found.n_higher_a, found.n_higher_b) == ((a > b).sum(), (b > a).sum())
    one, other = score_one_run(a, weights=weights), score_one_run(a[copies], copies)
    assert one.interval.low == pytest.approx(other.interval.low, abs=1e-9)
    assert effective_clusters(np.arange(len(rows)), weights) == pytest.approx(effective_clusters(copies))
    scaled = compare([a], [b], weights=weights * 7)
    assert (scaled.difference, scaled.interval.low) == pytest.approx((found.difference, found.interval.low))
    equal = compare([a], [b], weights=np.ones(len(rows)))
    assert equal.difference == pytest.approx(compare([a], [b]).difference)


def test_ranks_and_leads_follow_weighted_scores() -> None:
    # The second is ahead by counts, the first by weights.
    first, second, weights = np.zeros(40), np.zeros(40), np.ones(40)
    first[:4], second[10:20], weights[:4] = 1, 1, 20
    assert rank([first, second], weights=weights).places.tolist() == [1, 2]
    assert rank([first, second]).places.tolist() == [2, 1]
    lead = lead_of(first, second, weights=weights)
    assert lead.difference == pytest.approx((80 - 10) / 116)
    assert (lead.n_for, lead.n_against, lead.n_decisive) == (4, 10, 4)
    # All that counts lies in one half.
    heavy = np.where(np.arange(40) == 0, 1e6, 1.0)
    assert first_in_halves([first, second], weights=heavy) == pytest.approx(0.5, abs=0.05)
    names = {"first": first[None], "second": second[None], "none": 0 * first[None]}
    assert compare_all(names, weights=weights).models == ("first", "second", "none")


def test_every_door_gives_the_same_weighted_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(2)
    weights = rng.choice([1.0, 2.0, 5.0], 60).tolist()
    given = {model: rng.integers(0, 2, 60).astype(float).tolist() for model in ("a", "b")}
    for model, scores in given.items():
        table(scores, weights, model).write_csv(tmp_path / f"{model}.csv")
    right = {model: np.average(scores, weights=weights) for model, scores in given.items()}
    paths = [str(tmp_path / f"{model}.csv") for model in given]
    found = score_runs(paths, RunChoice.of(**WEIGHTS))
    assert {each.model: each.mean for each in found.sets} == pytest.approx(right)
    assert {each.model: each.unweighted for each in found.sets} == pytest.approx(
        {model: np.mean(scores) for model, scores in given.items()}
    )
    assert found.comparison is not None
    compared, board = goldassay.compare_models(*paths, **WEIGHTS), goldassay.rank_systems(paths, **WEIGHTS)
    audited = goldassay.audit(paths, **WEIGHTS)
    expected = right["a"] - right["b"]
    for report in (compared, audited):
        (difference,) = report.figures.filter(id="comparison.difference")["value"]
        assert difference == pytest.approx(expected)
    assert found.comparison.to_dict()["pairs"][0]["difference"] == pytest.approx(expected)
    for report in (compared, audited, goldassay.measure_instability(paths, **WEIGHTS)):
        own = report.figures.filter(id="instability.mean")
        assert dict(zip([of["model"] for of in own["of"]], own["value"], strict=True)) == pytest.approx(right)
        assert report.figures.filter(id="instability.unweighted").height == 2
    shown = board.figures.filter(id="board.score")
    assert dict(zip([of["model"] for of in shown["of"]], shown["value"], strict=True)) == pytest.approx(right)
    assert board.figures.filter(id="board.lead")["value"].abs().to_list() == pytest.approx([abs(expected)])
    assert read_runs(paths[0], columns={"weight": "points"}).weighed.mean() == pytest.approx(right["a"])
    for command in ("runs scores", "compare", "board"):
        assert run([*command.split(), *paths, "--columns", "weight=points"]) == 0
        assert "weighted by points" in capsys.readouterr().out


def test_boards_take_weights_of_tables_and_of_the_data(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    weights = rng.choice([1.0, 4.0], 30)
    wide = pl.DataFrame({"item": [f"q{at}" for at in range(30)], "a": rng.integers(0, 2, 30),
                         "b": rng.integers(0, 2, 30), "points": weights})  # fmt: skip
    long = wide.unpivot(["a", "b"], index=["item", "points"], variable_name="system", value_name="score")
    right = {name: np.average(wide[name], weights=weights) for name in "ab"}
    for board in (wide, long):
        systems = goldassay.rank_systems(board, **WEIGHTS).result.systems
        assert {each.system: each.score for each in systems} == pytest.approx(right)
    data = wide.select(pl.col("item").alias("id"), "points", text=pl.col("item") + " is asked", label=pl.lit("x"))
    data.write_csv(tmp_path / "data.csv")
    plain = wide.drop("points")
    found = goldassay.rank_systems(plain, test=str(tmp_path / "data.csv"), **WEIGHTS).result.systems
    assert {each.system: each.score for each in found} == pytest.approx(right)
    with pytest.raises(InputError, match="points"):
        goldassay.rank_systems(plain, **WEIGHTS)


def test_weights_are_kept_where_examples_are_missing(tmp_path: Path) -> None:
    given = [Runs.from_arrays(scores=np.ones((1, n)), model=name) for name, n in (("a", 4), ("b", 3))]
    a, b = (replace(runs, weights=np.arange(1.0, runs.n_examples + 1), weighted_by="points") for runs in given)
    aligned, _ = on_same_items([a, b], ["a", "b"], "wrong")
    assert [runs.weighed.mean() for runs in aligned] == pytest.approx([1, 0.6])
    assert scored_only(aligned[1]) == 1
    (kept, _), _ = on_same_items([a, b], ["a", "b"], "leave-out")
    assert kept.weights is not None
    assert kept.weights.tolist() == [1, 2, 3]
    with pytest.raises(InputError, match="another weight"):
        on_same_items([a, replace(b, weights=np.full(3, 2.0))], ["a", "b"], "wrong")
    write_runs(a, tmp_path)
    assert read_runs(tmp_path, columns={"weight": "points"}).size == 10


def test_logs_take_weights_of_their_documents(tmp_path: Path) -> None:
    lines = samples([1.0, 0.0, 1.0]).splitlines()
    told = [line.replace('"doc": {}', f'"doc": {{"points": {n}}}') for line, n in zip(lines, (1, 2, 5), strict=True)]
    log(tmp_path, "own", "\n".join(told))
    assert read_runs(tmp_path, columns={"weight": "points"}).weighed.mean() == pytest.approx(6 / 8)


@pytest.mark.parametrize(
    ("weights", "said"),
    [([1.0, -1.0, 2.0], "-1"), ([1.0, None, 2.0], "''"), (["a", "1", "1"], "'a'"), ([0.0, 0.0, 0.0], "all weights")],
    ids=["negative", "missing", "text", "zero"],
)
def test_bad_weights_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], weights: list[Any], said: str
) -> None:
    table([1.0, 0.0, 1.0], weights).write_csv(tmp_path / "a.csv")
    assert run(["instability", str(tmp_path / "a.csv"), "--columns", "weight=points", "-o", str(tmp_path / "o")]) == 2
    (line,) = [each for each in capsys.readouterr().err.splitlines() if each.startswith("goldassay")]
    assert said in line
    assert "points" in line


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    table([1.0, 0.0], [1, 1]).write_csv(tmp_path / "a.csv")
    with pytest.raises(InputError, match="have a column 'worth'"):
        read_runs(tmp_path / "a.csv", columns={"weight": "worth"})


def test_weights_need_one_number_for_each_example() -> None:
    for weights in ([1.0], [1.0, float("nan")], [0.0, 0.0], [-1.0, 2.0]):
        with pytest.raises(InputError):
            weigh([1.0, 0.0], weights)
