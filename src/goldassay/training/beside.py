"""How right the models beside the network are: the bias model, and the discriminators of adversarial training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable

_SCHEMA = {
    "condition": pl.String, "seed": pl.Int64, "role": pl.String, "model": pl.String, "about": pl.String,
    "dataset": pl.String, "part": pl.String, "accuracy": pl.Float64,
}  # fmt: skip


def beside_table(found: Iterable[tuple[str, int, dict[str, Any]]]) -> pl.DataFrame:
    """A row a run, model beside its network, and dataset.

    Args:
        found: Of each run the condition, the seed, and what `describe_objective` gave.
    """
    rows = [
        {"condition": condition, "seed": seed, **row}
        for condition, seed, described in found
        for row in described.get("beside", [])
    ]
    return pl.DataFrame(rows, schema=_SCHEMA)


def beside_sentences(table: pl.DataFrame) -> list[str]:
    """Mean accuracies over runs, a sentence a model."""
    names = ["condition", "role", "model", "about"]
    means = table.group_by(*names, "dataset", maintain_order=True).agg(pl.col("accuracy").mean())
    sentences = []
    for key, rows in means.group_by(names, maintain_order=True):
        _, role, model, about = map(str, key)
        named = f"The bias model {model}, {about}," if role == "bias" else f"After training, {model}"
        scores = ", ".join(
            f"{100 * accuracy:.2f} on {name}" for name, accuracy in rows.select("dataset", "accuracy").rows()
        )
        sentences.append(f"{named} has accuracy {scores}.")
    return list(dict.fromkeys(sentences))
