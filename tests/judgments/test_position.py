"""What a seat adds: by hand, against simulated truth, and against every published cell of LLMBar."""

from __future__ import annotations

import json
import os
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from goldassay.data.kinds.judgments import read_judgments
from goldassay.data.reading import read_table
from goldassay.questions.judgments.measures import (
    FEW_VERDICTS,
    FIRST_SEAT,
    SECOND_SEAT,
    agree_with_people,
    measure_position,
    pool_judges,
    without_few,
)
from goldassay.stats.effects import Limits
from tests.judgments.made import judged

DATA = Path(os.environ.get("GOLDASSAY_DATA", "../shared/data")) / "preferences"
LIMITS = Limits(0.02, 0.1)


def test_a_judge_that_always_takes_the_first_seat_gains_everything_by_it() -> None:
    rows = judged(200, 0).with_columns(win=pl.col("a_first").cast(pl.Float64))
    (found,), effects = measure_position(rows, LIMITS)
    assert (found.effect, found.changed, found.first_share) == (1.0, 1.0, 1.0)
    assert 0.95 < found.low < found.high == 1.0
    assert effects.effects[1].value == -1.0


def test_a_judge_that_never_minds_the_order_has_an_interval_all_the_same() -> None:
    rows = judged(200, 1, seat=0.0, consistent=1.0)
    (found,), effects = measure_position(rows, LIMITS)
    assert (found.effect, found.n_changed, found.first_share) == (0.0, 0, 0.5)
    # Of 200 items none changed: by Wilson at most 1.9 % do.
    assert found.high == pytest.approx(0.0188, abs=5e-4)
    assert found.low == pytest.approx(-found.high)
    assert all(each.measurable for each in effects.effects)


def test_both_seats_are_effects_of_opposite_sign() -> None:
    _, effects = measure_position(judged(300, 2, seat=0.2), LIMITS)
    one, other = effects.effects
    assert (one.reader, other.reader) == (FIRST_SEAT, SECOND_SEAT)
    assert one.value == -other.value
    assert one.low <= one.value <= one.high
    assert other.low <= other.value <= other.high


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])), min_size=2, max_size=30))
def test_the_effect_is_the_mean_difference_of_two_verdicts(pairs: list[tuple[float, float]]) -> None:
    rows = judged(len(pairs), 3).with_columns(win=pl.Series([win for pair in pairs for win in pair]))
    (found,), _ = measure_position(rows, LIMITS)
    assert found.effect == pytest.approx(np.mean([one - other for one, other in pairs]))
    assert found.n_changed == sum(one != other for one, other in pairs)
    turned = rows.with_columns(a_first=~pl.col("a_first"))
    (other,), _ = measure_position(turned, LIMITS)
    assert other.effect == pytest.approx(-found.effect)


def test_intervals_cover_the_truth() -> None:
    truth, inside, n_sets = 0.15, 0, 200
    for seed in range(n_sets):
        (found,), _ = measure_position(judged(150, seed, seat=truth), LIMITS, seed)
        inside += found.low <= truth <= found.high
    assert 0.92 * n_sets <= inside <= 0.99 * n_sets


def pairs_of_models(n: int, seed: int, seat: float) -> pl.DataFrame:
    """Each item in one order, of three models of unequal strength; the strongest is mostly shown first."""
    rng = np.random.default_rng(seed)
    strength, rows = {"x": 1.5, "y": 0.0, "z": -1.0}, []
    for item in range(n):
        a, b = sorted(rng.choice(list(strength), 2, replace=False).tolist())
        a_first = bool(rng.random() < 0.8)
        p = 1 / (1 + np.exp(strength[b] - strength[a]))
        win = float(a_first) if rng.random() < seat else float(rng.random() < p)
        rows.append((item, str(item), "judge", a, b, a_first, win, None, None, None))
    return pl.DataFrame(rows, schema=judged(1, 0).schema, orient="row")


def test_of_single_orders_strength_is_no_seat() -> None:
    fair = [measure_position(pairs_of_models(3000, seed, 0.0), LIMITS)[0][0].effect for seed in range(5)]
    assert abs(np.mean(fair)) < 0.03
    (found,), _ = measure_position(pairs_of_models(3000, 0, 0.3), LIMITS)
    assert found.low < 0.3 < found.high
    assert found.n_both == 0
    # Counted plainly, the first seat of a fair judge wins much more than half.
    plain = measure_position(pairs_of_models(3000, 0, 0.0), LIMITS)[0][0].first_share
    assert plain > 0.6


def test_one_order_alone_shows_nothing() -> None:
    rows = judged(100, 4).filter("a_first")
    (found,), effects = measure_position(rows, LIMITS)
    assert np.isnan(found.effect)
    assert not any(each.measurable for each in effects.effects)


@pytest.mark.parametrize("seat", [0.3, -0.3])
def test_the_interval_of_a_judge_is_that_of_the_seat_it_follows(seat: float) -> None:
    many = pl.concat([judged(150, at, seat=seat, judge=f"judge {at}") for at in range(6)])
    judges, effects = measure_position(many, LIMITS)
    for at, found in enumerate(judges):
        followed = max(effects.effects[2 * at : 2 * at + 2], key=lambda each: each.value)
        sign = 1 if followed.reader == FIRST_SEAT else -1
        assert found.effect == sign * followed.value
        assert sorted((sign * found.low, sign * found.high)) == [followed.low, followed.high]


def test_lower_ends_are_simultaneous_over_judges() -> None:
    many = pl.concat([judged(100, seed, judge=f"judge {seed}") for seed in range(12)])
    alone, _ = measure_position(judged(100, 0, judge="judge 0"), LIMITS)
    together, _ = measure_position(many, LIMITS)
    assert together[0].effect == alone[0].effect
    # Of the end nearer to 0, that is.
    one, other = (each.low if each.effect >= 0 else -each.high for each in (together[0], alone[0]))
    assert one < other


def cells() -> list[tuple[str, dict[str, Any]]]:
    path = DATA / "llmbar-statistics.tar.gz"
    if not path.exists():
        return []
    with tarfile.open(path) as bundle:
        return [
            (member.name, json.load(content))
            for member in bundle.getmembers()
            if (content := bundle.extractfile(member)) is not None
        ]


def test_every_published_cell_of_order_changes_and_accuracy() -> None:
    path, published = DATA / "llmbar-judgments.parquet", cells()
    if not published or not path.exists():
        pytest.skip(f"{path} and its statistics are not here")
    table = read_table(path, "auto")
    frame = table.frame
    found = read_judgments(table, "llmbar")
    assert found is not None
    rows = found.rows.with_columns(subset=pl.col("item").str.replace(r"/\d+$", ""))
    assert len(published) == 293
    for name, cell in published:
        parts = name.split("/")
        subset, evaluator, strategy = "/".join(parts[: parts.index("evaluators")]), parts[-3], parts[-2]
        own = rows.filter(subset=subset, judge=f"{evaluator} / {strategy}")
        raw = frame.filter(subset=subset, evaluator=evaluator, strategy=strategy)
        n = raw.height
        silent = [(raw[column] == "None") | raw[column].is_null() for column in ("winner_unswapped", "winner_swapped")]
        (position,), _ = measure_position(own.drop("subset"), LIMITS)
        (agreement,) = agree_with_people(own.drop("subset"))
        n_same = position.n_both - position.n_changed + int((silent[0] & silent[1]).sum())
        assert n_same == int(cell["equal"].split()[0]), name
        for accuracy, key, gone in (
            (agreement.accuracy_first, "correct_False", silent[0]),
            (agreement.accuracy_second, "correct_True", silent[1]),
        ):
            assert round(accuracy * (n - int(gone.sum()))) == int(cell[key].split()[0]), name
        assert round(agreement.right_in_both * position.n_both) == int(cell["correct_both"].split()[0]), name


@pytest.mark.parametrize(
    ("judge", "changed"),
    [("GPT-4", 5.8), ("LLaMA2", 23.3), ("PaLM2", 28.5), ("ChatGPT", 31.3), ("ChatGPT-0301", 40.5), ("Falcon", 58.0)],
)
def test_judgments_of_llmbar_change_with_the_order(judge: str, changed: float) -> None:
    path = DATA / "llmbar-judgments.parquet"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    table = read_table(path, "auto")
    found = read_judgments(table, "llmbar")
    assert found is not None
    rows = found.rows.filter(pl.col("item").str.starts_with("LLMBar"), judge=f"{judge} / Vanilla")
    (position,), _ = measure_position(rows, LIMITS)
    raw = table.frame.filter(pl.col("subset").str.starts_with("LLMBar"), evaluator=judge, strategy="Vanilla")
    silent = raw.select(pl.sum_horizontal(pl.col("winner_unswapped", "winner_swapped") == "None")).to_series()
    assert position.n_both == 326 - int((silent > 0).sum())
    # Of items with a silent verdict the publication counts those as changed that have one.
    assert 100 * (position.n_changed + int((silent == 1).sum())) / 326 == pytest.approx(changed, abs=0.05)


def crowd(seed: int, *, spread: float, n: int = 600, n_judges: int = 56) -> pl.DataFrame:
    """Judges who follow either seat by chance, each with few verdicts on pairs of named models."""
    rng = np.random.default_rng(seed)
    who = rng.choice(n_judges, n)
    seat = np.clip(rng.normal(0, spread, n_judges), -1, 1)[who]
    first = rng.random(n) < 0.5
    win = np.where(rng.random(n) < np.abs(seat), np.where(seat > 0, first, ~first), rng.random(n) < 0.6)
    return pl.DataFrame(
        {"item": np.arange(n).astype(str), "judge": [f"user {each}" for each in who], "a": ["x"] * n, "b": ["y"] * n,
         "a_first": first, "win": win.astype(float)}
    )  # fmt: skip


def test_a_crowd_is_one_judge_whose_members_differ() -> None:
    held, alone, n_sets = 0, 0, 60
    for seed in range(n_sets):
        rows = pool_judges(crowd(seed, spread=0.4))
        (found,), effects = measure_position(rows, LIMITS, seed)
        assert found.judge == "56 judges"
        assert len(effects.effects) == 2
        held += found.low <= 0 <= found.high
        (narrow,), _ = measure_position(rows.drop("member"), LIMITS, seed)
        alone += narrow.low <= 0 <= narrow.high
    assert held >= 0.88 * n_sets
    assert alone <= 0.85 * n_sets


def test_the_error_over_judges_and_items_is_that_of_statsmodels() -> None:
    rows = pool_judges(crowd(0, spread=0.4))
    (found,), effects = measure_position(rows, LIMITS)
    x, y = rows["a_first"].to_numpy().astype(float), rows["win"].to_numpy()
    codes = [np.unique(rows[name], return_inverse=True)[1] for name in ("member", "item")]
    fit = sm.OLS(y, sm.add_constant(x)).fit(cov_type="cluster", cov_kwds={"groups": np.stack(codes, axis=1)})
    assert found.effect == pytest.approx(fit.params[1])
    assert effects.effects[0].standard_error == pytest.approx(fit.bse[1], rel=0.02)


def test_few_verdicts_make_no_judge() -> None:
    few = [judged(12, seed, judge=f"few {seed}") for seed in range(3)]
    many = [judged(100, seed, judge=f"many {seed}") for seed in range(4)]
    pooled = pool_judges(pl.concat([*few, *many]))
    assert pooled["judge"].unique().sort().to_list() == ["3 judges", *(f"many {at}" for at in range(4))]
    assert pool_judges(pl.concat([*few, *many[:2]]))["judge"].unique().to_list() == ["5 judges"]
    alone = pool_judges(pl.concat([few[0], *many]))
    judges, effects = measure_position(alone, LIMITS)
    effects = without_few(effects, judges, alone)
    assert {each.part: each.reason for each in effects.effects}["few 0"] == FEW_VERDICTS
    assert np.isnan(judges[0].effect)
    assert all(each.measurable for each in effects.effects[2:])


def test_a_crowd_has_no_share_of_changing_verdicts() -> None:
    """Two of its judges saw an item in two orders: that they differ is no change of verdict."""
    rows = judged(200, 0).with_columns(judge=pl.int_range(pl.len()).cast(pl.String))
    (found,), effects = measure_position(pool_judges(rows), LIMITS)
    assert (found.n_both, found.n_items) == (0, 200)
    assert np.isnan(found.changed)
    assert all(each.measurable for each in effects.effects)


def test_a_crowd_s_changes_are_those_of_each_of_its_judges() -> None:
    """Forty judges of ten items each: half never change their verdict, and half always."""
    parts = []
    for at in range(40):
        own = judged(10, at, consistent=1.0).with_columns(judge=pl.lit(f"j{at}"))
        turned = pl.when("a_first").then("win").otherwise(1 - pl.col("win"))
        parts.append(own.with_columns(win=turned) if at % 2 else own)
    rows = pool_judges(pl.concat(parts))
    (found,), _ = measure_position(rows, LIMITS)
    assert (found.judge, found.n_both, found.changed) == ("40 judges", 400, 0.5)
    # Each judge counts as one, and not as ten.
    low, high = proportion_confint(19.5, 39, method="wilson")
    assert (found.changed_low, found.changed_high) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))
