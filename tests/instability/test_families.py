"""How many trainings runs come from: by seeds that they state, else by how far apart they lie."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from goldassay.core.settings import InstabilityLimits
from goldassay.instability import compare, run_families
from goldassay.questions.comparison.comparing import compare_runs
from goldassay.questions.instability.spread import measure_spread
from goldassay.questions.instability.verdict import judge_instability, spread_of
from goldassay.runs.reading import read_runs
from goldassay.runs.runs import Runs, stated_seed
from goldassay.runs.store import write_runs
from goldassay.stats.intervals import sd_interval


def trainings(n_families: int, n_steps: int, seed: int, noise: float = 0.1, n: int = 1500) -> np.ndarray:
    """Right or wrong of several late checkpoints of each training, one SD of whose score is about 1.2 points."""
    rng = np.random.default_rng(seed)
    item = rng.standard_normal(n) + 1.35
    rows = []
    for _ in range(n_families):
        own = item + 0.5 * rng.standard_normal(n) + 0.07 * rng.standard_normal()
        rows += [own + noise * rng.standard_normal(n) > 0 for _ in range(n_steps)]
    return np.array(rows).astype(float)


def runs_of(scores: np.ndarray, seeds: list[object] | None = None) -> Runs:
    gold = np.arange(scores.shape[1]) % 3
    predictions = np.where(scores == 1, gold, (gold + 1) % 3)
    return Runs.from_arrays(predictions, gold, seeds=seeds, label_names=("a", "b", "c"))


def judged(runs: Runs) -> str:
    return judge_instability([spread_of(measure_spread(runs))], InstabilityLimits()).verdict


@pytest.mark.parametrize("name", ["hans", "snli", "mnli", "break"])
def test_ten_bert_runs_are_ten_families(table, bert_scores, name: str) -> None:
    scores = bert_scores(name)
    given = table(f"predictions/instability_bert_base/{name}.preds.tsv.gz").drop("row").cast(pl.Int64).to_numpy().T
    answers = given == 1 if name == "hans" else given
    assert run_families(scores, answers, seeds=range(1, 11)) == (10, "")
    # On HANS all runs fail in the same ways, so that no distance tells them from checkpoints of one.
    assert run_families(scores, answers) == (10, "near" if name == "hans" else "unstated")


@pytest.mark.parametrize(("n_families", "n_steps"), [(2, 5), (3, 4), (5, 1), (10, 1)])
def test_checkpoints_of_a_training_count_as_one(n_families: int, n_steps: int) -> None:
    for seed in range(5):
        found = run_families(trainings(n_families, n_steps, seed))
        assert found == (n_families, "" if n_steps > 1 else "unstated")


def test_runs_without_seeds_are_never_sound_where_checkpoints_may_lie_as_far_apart_as_seeds() -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        item = rng.standard_normal(1500) + 1.35
        own = [item + 0.1 * rng.standard_normal(1500) + 0.07 * rng.standard_normal() for _ in range(2)]
        far = np.array([each + 0.5 * rng.standard_normal(1500) > 0 for each in own for _ in range(5)]).astype(float)
        assert run_families(far) == (10, "unstated")
        assert judged(runs_of(far)) != "sound"


def test_two_seeds_at_five_late_checkpoints_are_never_sound() -> None:
    for seed in range(10):
        scores = trainings(2, 5, seed)
        assert judged(runs_of(scores)) != "sound"
        row = measure_spread(runs_of(scores, [f"seed{at // 5}-step{at}" for at in range(10)]))
        assert row.n_distinct == 2
        assert row.sd_high == pytest.approx(min(sd_interval(row.sd, 2).high, 0.5**0.5))
    # Farther apart than seeds may be: then the number is open.
    far = run_families(trainings(2, 5, 0, noise=0.2))
    assert far.open == "near"
    row = measure_spread(runs_of(trainings(2, 5, 0, noise=0.2)))
    assert row.sd_high == pytest.approx(min(sd_interval(row.sd, 2).high, 0.5**0.5))


@pytest.mark.parametrize("stated", [True, False])
def test_checkpoints_count_as_one_run_in_a_comparison(stated: bool) -> None:
    seeds = [f"seed{at // 5}-step{at}" for at in range(10)] if stated else None
    for seed in range(3):
        sides = [runs_of(trainings(2, 5, 2 * seed + at), seeds) for at in range(2)]
        found = compare_runs(*sides, names=("a", "b")).comparison
        expected = compare(*(each.scores.reshape(2, 5, -1).mean(axis=1) for each in sides))
        assert (found.n_runs_a, found.n_runs_b) == (2, 2)
        assert found.interval.low == pytest.approx(expected.interval.low)
        alone = compare(*(each.scores for each in sides)).interval
        assert found.interval.high - found.interval.low > 1.2 * (alone.high - alone.low)


def test_copies_and_runs_without_errors() -> None:
    scores = trainings(5, 1, 0)
    assert run_families(np.repeat(scores, 2, axis=0)) == (5, "")
    assert run_families(np.repeat(scores[:1], 6, axis=0)) == (1, "")
    assert run_families(scores[:, scores.mean(axis=0) > 0.7][:, :700]).open == "few wrong"
    # Seeds that are stated are no proof against copies.
    assert run_families(np.repeat(scores, 2, axis=0), seeds=range(10)) == (5, "")
    assert run_families(scores, seeds=[1, 1, 2, 2, 2]).n == 2
    assert run_families(scores[:1]).n == 1


def test_what_states_a_seed(tmp_path) -> None:
    assert [stated_seed(each) for each in (3, "seed_3", "bert-Seed3-step900", "run3", "2024-01-02T03")] == [
        3, 3, 3, None, None,
    ]  # fmt: skip
    scores = trainings(3, 1, 0)
    assert runs_of(scores).stated_seeds == ()
    assert runs_of(scores, [4, 5, 6]).stated_seeds == (4, 5, 6)
    assert runs_of(scores, ["seed4", "seed5", "x"]).stated_seeds == ()
    for name, seeds in (("no", None), ("yes", [4, 5, 6])):
        runs = runs_of(scores, seeds)
        write_runs(runs, tmp_path / name)
        assert read_runs(tmp_path / name).stated_seeds == runs.stated_seeds


@pytest.mark.parametrize(("column", "stated"), [("seed", (0, 1)), ("run", ())])
def test_a_column_of_runs_states_no_seed(tmp_path, column: str, stated: tuple[int, ...]) -> None:
    lines = [f"{column},example_id,label,prediction"]
    lines += [f"{run},e{row},a,{'ab'[(row + run) % 2]}" for run in range(2) for row in range(6)]
    (tmp_path / "long.csv").write_text("\n".join(lines))
    assert read_runs(tmp_path / "long.csv").stated_seeds == stated
    wide = ["id,label," + ",".join(f"{column}_{run}" for run in range(2))]
    wide += [f"e{row},a,{'ab'[row % 2]},{'ba'[row % 2]}" for row in range(6)]
    (tmp_path / "wide.csv").write_text("\n".join(wide))
    assert read_runs(tmp_path / "wide.csv").stated_seeds == stated
