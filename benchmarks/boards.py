"""What boards say where the truth is known, and how long they take.

    python benchmarks/boards.py [--draws 500] [--swaps 200] [--speed]

Equal systems: each solves an item by its own chance, the same for all systems; a first place that is called sure is
wrong. Swapped systems: the answers of a real board (SWE-bench Verified, four systems, where the folder named by
GOLDASSAY_DATA, by default ../shared/data, holds it) are dealt to the systems anew in each item. A planted gap: one of
five systems has an advantage of which a sure first place is expected in 80 of 100 draws, by normal theory. Tied: two
systems are equally good at the top of 3, 10 and 30; a first place that is called sure is wrong.

Speed: 134 systems on 500 items, and 2,000 on 10,000, beside plain numpy that holds the differences of all pairs; two
models on 60 datasets, beside statsmodels' regression of the differences on datasets with robust errors (HC2), of which
the means over datasets and over examples are contrasts.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.stats import norm, t

import goldassay
from benchmarks.verdicts.cells import Cell, at_least, at_most, print_table
from goldassay.board import describe_items, first_in_halves, rank, reliability, rivals_of
from goldassay.stats.bootstrap import resample_examples

if TYPE_CHECKING:
    from numpy.typing import NDArray

DATA = Path(os.environ.get("GOLDASSAY_DATA", Path(__file__).parents[2] / "shared" / "data"))
BOARD = DATA / "boards" / "swebench-verified-minisweagent-long.parquet"
N_SYSTEMS, N_ITEMS, N_DRAWS = 5, 500, 500


def answers(rng: np.random.Generator, lead: float = 0.0) -> NDArray[np.float64]:
    """Systems of one skill that find the same items hard; the first is better by `lead` on every item."""
    chance = np.repeat(0.2 + 0.6 * rng.random((1, N_ITEMS)), N_SYSTEMS, axis=0)
    chance[0] += lead
    return (rng.random(chance.shape) < chance).astype(np.float64)


def parts_equals(values: NDArray[np.float64], seed: int) -> bool:
    """Whether the board calls some system surely better than another."""
    return bool((rank(values, n_draws=N_DRAWS, seed=seed).low > 1).any())


def is_sure(values: NDArray[np.float64], _seed: int = 0) -> bool:
    """Whether the board calls the first place sure."""
    return not rivals_of(int(values.mean(axis=1).argmax()), values).any()


def tied(n_draws: int) -> list[Cell]:
    """Two of equal skill at the top, the others below them by any distance."""
    cells = []
    for n_systems in (3, 10, 30):
        skill = np.concatenate([[0.7, 0.7], np.linspace(0.6, 0.2, n_systems - 2)])[:, np.newaxis]
        for n_items in (50, 200, 1000):
            found = 0
            for draw in range(n_draws):
                rng = np.random.default_rng([6, n_systems, n_items, draw])
                chance = np.clip(skill + 0.6 * (rng.random(n_items) - 0.5), 0, 1)
                found += is_sure((rng.random(chance.shape) < chance).astype(np.float64))
            world = f"two tied at the top of {n_systems}, {n_items} items"
            cells.append(Cell(world, "sure first place", found, n_draws, at_most(0.05)))
    return cells


def equal(n_draws: int) -> list[Cell]:
    world = f"{N_SYSTEMS} equal systems, {N_ITEMS} items"
    boards = [(answers(np.random.default_rng([0, draw])), draw) for draw in range(n_draws)]
    return [
        Cell(world, event, sum(found(*each) for each in boards), n_draws, at_most(0.05))
        for event, found in (("sure first place", is_sure), ("some system surely better", parts_equals))
    ]


def planted(n_draws: int) -> Cell:
    """The lead at which every of the other four is passed with a margin for 80 %."""
    critical = norm.ppf(0.975)
    chance = 0.2 + 0.6 * np.random.default_rng(2).random(100_000)
    error = math.sqrt(2 * float((chance * (1 - chance)).mean()) / N_ITEMS)
    # Four differences share the first system's noise, so that they are passed together more often than .8 ** 4.
    each = norm.ppf(0.8 ** (1 / 4))
    lead = (critical + float(each)) * error
    found = sum(is_sure(answers(np.random.default_rng([3, draw]), lead), draw) for draw in range(n_draws))
    return Cell(
        f"one of {N_SYSTEMS} ahead by {100 * lead:.1f} points", "sure first place", found, n_draws, at_least(0.8)
    )


def swapped(n_swaps: int) -> list[Cell]:
    if not BOARD.exists():
        print(f"no board at {BOARD}: swaps are left out")
        return []
    table = pl.read_parquet(BOARD).pivot("system", index="instance_id", values="resolved").drop_nulls()
    values = table.drop("instance_id").cast(pl.Float64).to_numpy().T
    found = 0
    for draw in range(n_swaps):
        rng = np.random.default_rng([4, draw])
        found += is_sure(rng.permuted(values, axis=0), draw)
    name = f"SWE-bench Verified, {len(values)} systems, answers swapped within items"
    return [Cell(name, "sure first place", found, n_swaps, at_most(0.05))]


def by_numpy(values: NDArray[np.float64], n_draws: int, seed: int) -> float:
    """The critical value with all pairs' differences of each item in memory."""
    j, k = np.triu_indices(len(values), 1)
    differences = values[j] - values[k]
    errors = differences.std(axis=1, ddof=1) / math.sqrt(values.shape[1])
    means = differences.mean(axis=1)
    drawn = resample_examples(values, np.random.default_rng(seed), n_draws)
    moved = drawn[:, j] - drawn[:, k] - means
    with np.errstate(divide="ignore", invalid="ignore"):
        quantile = np.quantile(np.nanmax(np.abs(moved) / errors, axis=1), 0.95)
    n = values.shape[1]
    # The bootstrap's means spread less by sqrt((n - 1) / n); Student's t at the same tail.
    return float(t.isf(norm.sf(quantile * math.sqrt(n / (n - 1))), n - 1))


def timed(n_systems: int, n_items: int) -> None:
    rng = np.random.default_rng(5)
    skills = np.sort(rng.random((n_systems, 1)), axis=0)
    values = (rng.random((n_systems, n_items)) < 0.2 + 0.6 * skills * rng.random(n_items)).astype(np.float64)
    start, cpu = time.perf_counter(), time.process_time()
    found = rank(values)
    first_in_halves(values)
    describe_items(values)
    reliability(values)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{n_systems:>6} systems x {n_items:>6} items: {seconds:6.2f} s, {cpu:.2f} CPU s, peak {peak:6.0f} MiB")
    if n_systems <= 200:
        start = time.process_time()
        critical: Any = by_numpy(values, 2000, 0)
        print(
            f"       critical value {found.critical:.3f}; plain numpy {critical:.3f}, "
            f"{time.process_time() - start:.2f} CPU s"
        )
        if not math.isclose(found.critical, critical, rel_tol=1e-4):
            raise SystemExit("not the same answer")


def suites(n_datasets: int = 60) -> None:
    """Two models, one run each, on datasets of 200 to 1,500 examples; the statsmodels reference has the same answer."""
    import statsmodels.api as sm

    rng = np.random.default_rng(6)
    tables, differences = [], []
    for number in range(n_datasets):
        n = int(rng.integers(200, 1500))
        chance = rng.random(n)
        own = [(rng.random(n) < chance * skill).astype(np.float64) for skill in (0.8, 0.77)]
        differences.append(own[0] - own[1])
        tables += [
            pl.DataFrame({"example_id": np.arange(n), "dataset": f"d{number:02}", "model": model, "score": values})
            for model, values in zip(("a", "b"), own, strict=True)
        ]
    table = pl.concat(tables)
    start, cpu = time.perf_counter(), time.process_time()
    found = goldassay.compare_models(table).tables["totals"].row(0, named=True)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(f"2 models on {n_datasets} datasets, {table.height // 2:,} examples: {seconds:.2f} s, {cpu:.2f} CPU s")
    start = time.process_time()
    sizes = np.array([len(each) for each in differences])
    dummies = np.repeat(np.eye(n_datasets), sizes, axis=0)
    fitted = sm.OLS(np.concatenate(differences), dummies).fit(cov_type="HC2")
    for key, weights in (("macro", np.full(n_datasets, 1 / n_datasets)), ("micro", sizes / sizes.sum())):
        test = fitted.t_test(weights)
        effect, error = float(test.effect[0]), float(np.ravel(test.sd)[0])
        ours = found[f"{key}_difference"], (found[f"{key}_high"] - found[f"{key}_low"]) / 2 / 1.959964
        print(f"       {key}: {ours[0]:.6f} +- {ours[1]:.6f}; statsmodels {effect:.6f} +- {error:.6f}")
        if not math.isclose(ours[0], effect, abs_tol=1e-9) or not math.isclose(ours[1], error, rel_tol=2e-3):
            raise SystemExit("not the same answer")
    print(f"       statsmodels: {time.process_time() - start:.2f} CPU s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--swaps", type=int, default=200)
    parser.add_argument("--speed", action="store_true", help="measure time and memory instead")
    asked = parser.parse_args()
    if asked.speed:
        rank(answers(np.random.default_rng(0)), n_draws=10)
        timed(134, 500)
        timed(2000, 10_000)
        suites()
        return 0
    return print_table([*equal(asked.draws), *tied(asked.draws), planted(asked.draws), *swapped(asked.swaps)])


if __name__ == "__main__":
    raise SystemExit(main())
