"""How often the interval of a judge corrected by people holds the truth, by how the labelled rows were drawn.

    GOLDASSAY_DATA=... python -m benchmarks.judges

4,000 rows with a truth of .714, which the judge puts at .838, and 600 labels; then LLMBar with 85 % of people's
preferences hidden; then crowds of 56 judges. An interval that is not valid is none, and holds nothing. Last, how often
random labels are refused, and labels of what the judge is unsure of.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.data.kinds.judgments import read_judgments
from goldassay.data.reading import read_table
from goldassay.questions.judgments.measures import measure_position, pool_judges
from goldassay.questions.judgments.people import correct_by_people
from goldassay.questions.judgments.scores import correct_pairs
from goldassay.stats.effects import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goldassay.questions.judgments.people import Corrected

TRUTH, JUDGED, SENSITIVITY = 0.714, 0.838, 0.95
ROWS, LABELS, SIZE, DRAWS = 4000, 600, 20, 1000


def draws(how: str) -> Iterator[Corrected]:
    """What is found in each draw of a world."""
    rng = np.random.default_rng(0)
    clusters = np.arange(ROWS) // SIZE
    false = (JUDGED - TRUTH * SENSITIVITY) / (1 - TRUTH)
    for _ in range(DRAWS):
        by_cluster = "cluster" in how
        share = rng.beta(3 * TRUTH, 3 * (1 - TRUTH), ROWS // SIZE)[clusters] if by_cluster else TRUTH
        people = (rng.random(ROWS) < share).astype(float)
        judge = (rng.random(ROWS) < np.where(people == 1, SENSITIVITY, false)).astype(float)
        odds = np.ones(ROWS)
        if how.startswith("failures"):
            odds = np.where(people == 0, 2.0, 1.0)
        elif how.startswith("what the judge rejects"):
            odds = np.where(judge == 0, 2.0, 1.0)
        if by_cluster:
            known = np.isin(clusters, rng.choice(ROWS // SIZE, LABELS // SIZE, replace=False))
        else:
            probabilities = odds * LABELS / odds.sum()
            known = rng.random(ROWS) < probabilities
        yield correct_by_people(
            judge, np.where(known, people, np.nan), clusters if how == "whole clusters" else None,
            probabilities if how.endswith("given") else None,
        )  # fmt: skip


def refused(scores: str, how: str) -> float:
    """The share of draws without an interval: of judges of yes and no, grades from 1 to 5, or shares."""
    rng, n_refused = np.random.default_rng(0), 0
    clusters = np.arange(ROWS) // SIZE
    for _ in range(DRAWS):
        latent = rng.normal(size=ROWS // SIZE)[clusters] + rng.normal(size=ROWS)
        judge = {"yes and no": latent > -0.7, "grades": 1 + np.digitize(latent, [-2.5, -1, 0, 1.2]),
                 "shares": 1 / (1 + np.exp(-latent))}[scores].astype(float)  # fmt: skip
        odds = np.where(latent < 0, 3.0, 1.0) * np.exp(rng.normal(0, 0.5, ROWS))
        probabilities = np.minimum(1.0, odds * LABELS / odds.sum())
        unsure = np.argsort(np.abs(latent) + rng.random(ROWS))[:LABELS]
        known = {
            "rows": np.isin(np.arange(ROWS), rng.choice(ROWS, LABELS, replace=False)),
            "clusters": np.isin(clusters, rng.choice(ROWS // SIZE, LABELS // SIZE, replace=False)),
            "probabilities": rng.random(ROWS) < probabilities,
            "unsure": np.isin(np.arange(ROWS), unsure),
        }[how]
        found = correct_by_people(
            judge, np.where(known, judge, np.nan), clusters if how == "clusters" else None,
            probabilities if how == "probabilities" else None,
        )  # fmt: skip
        n_refused += bool(found.reason)
    return n_refused / DRAWS


def llmbar() -> Iterator[tuple[str, int, Corrected, float]]:
    """Each judge asked plainly, with the value of all labels."""
    table = read_table(Path(os.environ.get("GOLDASSAY_DATA", "")) / "preferences" / "llmbar-judgments.parquet")
    rng = np.random.default_rng(0)
    judged = table.frame.filter(pl.col("subset").str.starts_with("LLMBar"), strategy="Vanilla")
    for judge in judged["evaluator"].unique().sort():
        found = read_judgments(replace(table, frame=judged.filter(evaluator=judge)), "llmbar")
        assert found is not None
        items = found.rows["item"].unique(maintain_order=True)
        (full,) = correct_pairs(found.rows)
        for at in range(DRAWS):
            known = items.gather(rng.choice(len(items), round(0.15 * len(items)), replace=False)).implode()
            (own,) = correct_pairs(found.rows.with_columns(people=pl.when(pl.col("item").is_in(known)).then("people")))
            yield judge, at, own, full.value


def crowds(spread: float) -> Iterator[tuple[bool, bool]]:
    """Whether the seat of no effect on average is held, over judges and items, and over items alone, in 300 crowds."""
    rng = np.random.default_rng(0)
    n, n_judges, n_models = 600, 56, 6
    for seed in range(300):
        strength, who = rng.normal(0, 0.8, n_models), rng.choice(n_judges, n, p=rng.dirichlet(np.full(n_judges, 2.0)))
        seat = np.clip(rng.normal(0, spread, n_judges), -1, 1)[who]
        pairs = np.sort([rng.choice(n_models, 2, replace=False) for _ in range(n)])
        first = rng.random(n) < 0.5
        merit = rng.random(n) < 1 / (1 + np.exp(strength[pairs[:, 1]] - strength[pairs[:, 0]]))
        win = np.where(rng.random(n) < np.abs(seat), np.where(seat > 0, first, ~first), merit)
        rows = pl.DataFrame(
            {"item": np.arange(n).astype(str), "judge": who.astype(str), "a": pairs[:, 0].astype(str),
             "b": pairs[:, 1].astype(str), "a_first": first, "win": win.astype(float)}
        )  # fmt: skip
        both = (measure_position(each, Limits(0.02, 0.1), seed)[0][0]
                for pooled in [pool_judges(rows)] for each in (pooled, pooled.drop("member")))  # fmt: skip
        one, other = (each.low <= 0 <= each.high for each in both)
        yield one, other


def main() -> None:
    print("labels                                        truth held   not valid   mean width")
    for how in ("single rows", "whole clusters", "whole clusters, taken for rows", "failures twice as often",
                "what the judge rejects twice as often", "what the judge rejects twice as often, given"):  # fmt: skip
        found = list(draws(how))
        held = np.mean([each.low <= TRUTH <= each.high for each in found])
        valid = [each.high - each.low for each in found if not each.reason]
        width = np.mean(valid) if valid else np.nan
        print(f"{how:46}{100 * held:8.1f} %{100 * np.mean([bool(each.reason) for each in found]):10.1f} %{width:12.4f}")
    by_judge: dict[str, list[bool]] = {}
    for judge, _, own, value in llmbar():
        by_judge.setdefault(judge, []).append(own.low <= value <= own.high)
    for judge, held_of in by_judge.items():
        print(f"LLMBar, 85 % hidden, {judge:25}{100 * np.mean(held_of):8.1f} %")
    for spread in (0.0, 0.3):
        held = 100 * np.mean(list(crowds(spread)), axis=0)
        print(f"crowds, SD of judges {spread}: {held[0]:.1f} % over judges and items, {held[1]:.1f} % over items alone")
    for scores in ("yes and no", "grades", "shares"):
        shares = (f"{how} {refused(scores, how):.1%}" for how in ("rows", "clusters", "probabilities", "unsure"))
        print(f"refused, {scores}: {', '.join(shares)}")


if __name__ == "__main__":
    main()
