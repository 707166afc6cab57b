"""`artifacts downsample`: a training set without its patterns, its random control, and the sizes over thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.artifacts import PatternTable, downsample, sizes_by_threshold
from goldassay.artifacts.downsampling import THRESHOLDS, Mode
from goldassay.core.files import written_together
from goldassay.questions.artifacts.inputs import cut, texts_for
from goldassay.report.saving import write_tables

if TYPE_CHECKING:
    import os

    import polars as pl

    from goldassay.data import Dataset


@dataclass(frozen=True)
class Reduction:
    """A smaller training set.

    Attributes:
        subset: Its examples.
        mode: "debias" or "random".
        seed: Of the draw.
        n_examples: How many there were.
        sizes: What would be left at each threshold.
        patterns: What was looked for, cut.
    """

    subset: Dataset
    mode: Mode
    seed: int
    n_examples: int
    sizes: pl.DataFrame
    patterns: PatternTable

    def to_dict(self) -> dict[str, Any]:
        """The figures, without the examples."""
        return {
            "mode": self.mode,
            "seed": self.seed,
            "n_examples": self.n_examples,
            "size": len(self.subset),
            "share": len(self.subset) / self.n_examples,
            "dropped": dict(self.subset.provenance.dropped),
            "n_patterns": len(self.patterns),
            "settings": self.patterns.settings,
            "sizes": self.sizes.to_dicts(),
        }

    def save(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Write the examples, called by the mode, and the sizes, as Parquet and CSV.

        Raises:
            OutputError: The folder cannot be written to.
        """
        tables = {self.mode: self.subset.examples, "sizes": self.sizes}
        with written_together(directory) as folder:
            write_tables(tables, folder)
        return [Path(directory) / f"{name}.{kind}" for name in tables for kind in ("parquet", "csv")]


def reduce_training_set(
    train: Dataset,
    patterns: PatternTable,
    threshold: float,
    mode: Mode = "debias",
    seed: int = 0,
    q: float | None = None,
) -> Reduction:
    """Down-sample a training set, and say what every usual threshold would leave.

    Raises:
        InputError: Nothing is left of a label, or the threshold cannot be used.
    """
    texts = texts_for(train, patterns)
    kept = cut(patterns, threshold, q)
    subset = downsample(train, kept, mode, seed, texts=texts)
    candidates = patterns if q is None else patterns.significant(q)
    lowest = candidates.settings.get("threshold", 0.0)
    thresholds = sorted({value for value in (*THRESHOLDS, threshold) if value >= lowest})
    return Reduction(
        subset=subset,
        mode=mode,
        seed=seed,
        n_examples=len(train),
        sizes=sizes_by_threshold(train, candidates, thresholds, texts=texts),
        patterns=kept,
    )
