"""Overlap within an audit: the training part is searched as one more file of the corpus."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from goldassay.core.finding import Finding
from goldassay.questions.overlap.measuring import TRAINING, measure_items
from goldassay.questions.overlap.report import describe_overlap, tables_of
from goldassay.questions.overlap.study import fields_of, sought_of
from goldassay.scanning import Corpus, CorpusFile, find_corpus, scan_corpus
from goldassay.scanning.fields import TEXT_FIELD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.progress import Steps
    from goldassay.core.settings import Settings
    from goldassay.questions.overlap.items import TestItems


class CorpusChoice(NamedTuple):
    """A corpus beside the training part.

    Attributes:
        places: Files, folders and patterns.
        field: The field of its text.
    """

    places: tuple[str, ...]
    field: str = TEXT_FIELD

    @classmethod
    def of(cls, corpus: Any, field: str) -> CorpusChoice:
        """What a caller gave: a path or several; None for none."""
        given = [] if corpus is None else [corpus] if isinstance(corpus, (str, os.PathLike)) else list(corpus)
        return cls(tuple(os.fspath(each) for each in given), field)

    def check(self) -> None:
        """Look for the corpus before hours are spent on other questions.

        Raises:
            InputError: There is nothing at a place.
        """
        if self.places:
            find_corpus(self.places)
            fields_of(self.field)


def search_for(
    items: TestItems, training: Sequence[pl.Series], corpus: CorpusChoice, settings: Settings, steps: Steps
) -> Finding:
    """Search training rows and a corpus for the items of a test set; what cannot be read leaves a doubt.

    Rows of the training part are searched for n-grams and for near copies, and so is the corpus beside it.

    Args:
        items: Of the evaluation part.
        training: The text of each training row, in one rendering or several; none where there is no training part.
        corpus: The corpus.
        settings: Hold the limits.
        steps: Progress.

    Raises:
        InputError: There is no such corpus, nothing of it can be read, or no item is long enough.
    """
    fields = fields_of(corpus.field)
    sought = sought_of(items, 13, near=bool(training))
    files = find_corpus(corpus.places, items.files) if corpus.places else Corpus(())
    name = "searching the corpus" if corpus.places else "searching the training part"
    with (
        tempfile.TemporaryDirectory(prefix="goldassay-") as folder,
        steps.step(name, of_bytes=True) as progress,
    ):
        parts = []
        for number, rows in enumerate(training):
            path = Path(folder) / f"training-{number}.parquet"
            pl.DataFrame({fields[0]: rows}).write_parquet(path, compression="uncompressed")
            parts.append(CorpusFile(path, TRAINING, "parquet", False, path.stat().st_size))
        searched = replace(files, files=(*parts, *files.files))
        scanned = scan_corpus(sought, searched, fields, progress=progress)
    found = measure_items(items, sought, scanned, searched, settings)
    tables = tables_of(found)
    return Finding(
        "overlap",
        found.verdict,
        describe_overlap(found, items, sought),
        tables=tables,
        examples={f"overlap_{name}": found.rows[name] for name in ("class", "kind", "coverage")},
        rows=pl.DataFrame(found.rows),
    )
