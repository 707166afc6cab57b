"""Rows that cannot all be right as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from goldassay.data import Dataset

OTHER_LABEL = "the same texts have another label in another row"
ANNOTATORS = "most annotators gave another label"


def find_defects(dataset: Dataset) -> pl.Series:
    """What is wrong with each row of a labelled set, (N,) text; null where nothing is.

    Texts are the same where they agree without case and with single spaces. Annotators speak against a label where
    one label has more than half of their votes, and it is another one.
    """
    frame = dataset.examples
    if not dataset.label_names:
        return pl.repeat(None, frame.height, dtype=pl.String, eager=True)
    texts = [
        pl.col(name).str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars() for name in dataset.text_columns
    ]
    is_other = pl.col("label").n_unique().over(texts) > 1
    outvoted = pl.lit(value=False)
    if "annotator_labels" in frame.columns:
        votes = pl.col("annotator_labels").list
        most = votes.eval(pl.element().mode().sort().first()).list.first()
        n_most = votes.eval((pl.element() == pl.element().mode().sort().first()).sum()).list.first()
        outvoted = (2 * n_most > votes.len()) & (most != pl.col("label"))
    said = pl.when(is_other).then(pl.lit(OTHER_LABEL)).when(outvoted).then(pl.lit(ANNOTATORS)).otherwise(None)
    return frame.select(said.alias("defect"))["defect"]
