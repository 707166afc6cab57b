"""The question of overlap, as an audit asks it of its training part, and of a corpus where one is given."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.numbers import count
from goldassay.questions.overlap.in_audit import search_for
from goldassay.questions.overlap.items import items_of_dataset
from goldassay.questions.overlap.measures import COUNTED
from goldassay.questions.overlap.measuring import TRAINING
from goldassay.questions.overlap.sections import LEAD, TITLE

if TYPE_CHECKING:
    from goldassay.core.finding import Finding
    from goldassay.data import Dataset
    from goldassay.questions.evidence import Evidence


class _Overlap:
    question = "overlap"
    title = TITLE
    asks = LEAD
    needs = ("test",)

    def run(self, evidence: Evidence) -> Finding:
        """Search the training part and the corpus for the test rows."""
        items = items_of_dataset(evidence.test, evidence.settings.data.clusters, evidence.test_place)
        texts = [pl.col(role).cast(pl.String).fill_null("") for role in evidence.train.text_columns]
        rows = evidence.train.examples.select(pl.concat_str(texts, separator="\n")).to_series()
        finding = search_for(items, (rows,), evidence.corpus, evidence.settings, evidence.steps)
        said = _say_labels(finding, evidence.train, evidence.test)
        results = {**finding.results, "sentences": [*finding.results["sentences"], *said]}
        return replace(finding, results=results)


def _say_labels(finding: Finding, train: Dataset, test: Dataset) -> list[str]:
    """How many of the items that were found have the same label in the training part: minimal edits have another."""
    places = finding.tables["overlap_places"].filter(
        pl.col("kind").is_in(COUNTED) & (pl.col("place") == TRAINING) & (pl.col("row") > 0)
    )
    if not places.height or not train.label_names or not test.label_names:
        return []
    labels = train.examples["label"].cast(pl.String)[(places["row"] - 1).to_list()]
    own = test.examples.select(id=pl.col("example_id").cast(pl.String), own=pl.col("label").cast(pl.String))
    found = places.with_columns(label=labels).join(own, on="id", how="left", maintain_order="left")
    same = found.group_by("id").agg(same=(pl.col("label") == pl.col("own")).any())
    n, n_same = same.height, int(same["same"].sum())
    return [f"Of {count(n)} items found in the training part {count(n_same)} have the same label there."]


CHECK = _Overlap()
