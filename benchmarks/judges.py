"""How often the interval of a judge corrected by people holds the truth, by how the labelled rows were drawn.

    GOLDASSAY_DATA=... python -m benchmarks.judges

4,000 rows with a truth of .714, which the judge puts at .838, and 600 labels; then LLMBar with 85 % of people's
preferences hidden. An interval that is not valid is none, and holds nothing.
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
from goldassay.questions.judgments.people import correct_by_people
from goldassay.questions.judgments.scores import correct_pairs

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


def main() -> None:
    print("labels                                        truth held   not valid   mean width")
    for how in ("single rows", "whole clusters", "whole clusters, taken for rows", "failures twice as often",
                "what the judge rejects twice as often", "what the judge rejects twice as often, given"):  # fmt: skip
        found = list(draws(how))
        held = np.mean([each.low <= TRUTH <= each.high for each in found])
        width = np.nanmean([each.high - each.low for each in found])
        print(f"{how:46}{100 * held:8.1f} %{100 * np.mean([bool(each.reason) for each in found]):10.1f} %{width:12.4f}")
    by_judge: dict[str, list[bool]] = {}
    for judge, _, own, value in llmbar():
        by_judge.setdefault(judge, []).append(own.low <= value <= own.high)
    for judge, held_of in by_judge.items():
        print(f"LLMBar, 85 % hidden, {judge:25}{100 * np.mean(held_of):8.1f} %")


if __name__ == "__main__":
    main()
