"""The examples of other distributions that a score is lost on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.numbers import percent
from goldassay.questions.shift.measures.scores import score_max_softmax

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.questions.shift.groups import Group

_SCHEMA = {
    "dataset": pl.String, "example_id": pl.String, "model": pl.String, "n_runs": pl.Int64, "share_wrong": pl.Float64,
    "confidence": pl.Float64,
}  # fmt: skip


def wrong_rows(groups: Sequence[Group]) -> pl.DataFrame:
    """A row a model and example of another set that some run gets wrong, those first that are wrong most surely.

    Returns:
        dataset, example_id, model, n_runs, `share_wrong` (one minus the mean score over runs), `confidence` (mean over
        runs of the probability of the predicted class; null without logits).
    """
    tables = [pl.DataFrame(schema=_SCHEMA)]
    for group in groups:
        for each in group.others:
            if each.scores is None:
                continue
            lost = 1 - each.scores.mean(axis=0)
            sure = None if each.logits is None else -score_max_softmax(each.logits).mean(axis=0)
            columns: dict[str, Any] = {
                "dataset": pl.repeat(each.dataset, lost.size, eager=True),
                "example_id": [str(name) for name in each.example_ids.tolist()],
                "model": pl.repeat(group.model, lost.size, eager=True),
                "n_runs": pl.repeat(len(each.seeds), lost.size, dtype=pl.Int64, eager=True),
                "share_wrong": lost,
                "confidence": pl.repeat(None, lost.size, dtype=pl.Float64, eager=True) if sure is None else sure,
            }
            tables.append(pl.DataFrame(columns, schema=_SCHEMA).filter(pl.col("share_wrong") > 0))
    found = pl.concat(tables)
    worth = pl.col("share_wrong") * pl.col("confidence").fill_null(1.0)
    return found.sort(worth, descending=True, maintain_order=True)


def say_wrong(row: dict[str, Any]) -> str:
    """Why a row of `wrong_rows` is worth reading."""
    wrong = row["share_wrong"] * row["n_runs"]
    sure = "" if row["confidence"] is None else f", with a mean confidence of {percent(row['confidence'], 0)}"
    return f"On {row['dataset']} {wrong:.0f} of {row['n_runs']} runs of {row['model']} are wrong{sure}."
