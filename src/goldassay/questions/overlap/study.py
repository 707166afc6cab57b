"""Overlap as a study of its own: from a test set and a corpus to which items stand there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.progress import Steps
from goldassay.questions.overlap.items import TestItems, read_items
from goldassay.questions.overlap.measuring import Overlap, measure_items, say_lacking
from goldassay.questions.overlap.report import report_overlap
from goldassay.questions.overlap.scored_runs import difficulty_by_model, scores_by_model
from goldassay.questions.run_choice import RunChoice, by_ids
from goldassay.scanning import Sought, find_corpus, scan_corpus
from goldassay.scanning.fields import TEXT_FIELD, USUAL_FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goldassay.core.settings import Settings
    from goldassay.report.report import Report
    from goldassay.runs.assembly import Align
    from goldassay.scanning import ScanResult

__all__ = ["SearchChoice", "study_overlap"]


class SearchChoice(NamedTuple):
    """How a corpus is searched.

    Attributes:
        field: The field of its text; several are joined by "+".
        n: Words of an n-gram.
        skip_broken: Whether what cannot be read is left out, without an error at the end.
        keep_in: Where finished shards are kept.
        runs: Predictions on the test set.
        dataset: Which dataset of the runs it is.
        scheduler: Address of a dask scheduler; None searches here.
        near_copies: Whether documents as short as an item are compared as near copies, too.
        board: Scores of other systems on the items, for their difficulty.
        align: How the runs are read.
    """

    field: str = TEXT_FIELD
    n: int = 13
    skip_broken: bool = False
    keep_in: Path | None = None
    runs: Any = None
    dataset: str | None = None
    scheduler: str | None = None
    near_copies: bool = False
    board: Any = None
    align: Align = "exact"


def study_overlap(
    test: Any,
    corpus: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    choice: SearchChoice,
    settings: Settings,
    *,
    columns: str | Mapping[str, str] | None = None,
    file_format: str = "auto",
    quiet: bool = True,
) -> tuple[Report, Overlap]:
    """Search a corpus, as `measure_overlap` does.

    Raises:
        InputError: As `measure_overlap`, but for parts of the corpus that cannot be read.
    """
    steps = Steps(quiet)
    places = [corpus] if isinstance(corpus, (str, os.PathLike)) else list(corpus)
    if not places:
        raise InputError("no corpus is given", mend=f"name its files with {option('corpus', 'PATH')}")
    with steps.step("reading the test set"):
        items = read_items(test, columns, file_format, settings.data.clusters)
        found_files = find_corpus(places, items.files)
        sought = sought_of(items, choice.n, near=choice.near_copies)
        scores, difficulty = {}, {}
        if choice.board is not None and choice.runs is None:
            raise InputError(
                f"{option('board')} says how hard the items are for others: it needs the runs of a model",
                mend=f"give them with {option('runs', 'PATH')}",
            )
        if choice.runs is not None:
            gold = {} if items.dataset is None else {"": items.dataset}
            reading = RunChoice(dataset=choice.dataset, gold=gold, align=by_ids(choice.align))
            scores = scores_by_model(choice.runs, reading, [item.id for item in items.items])
            if choice.board is not None:
                difficulty = difficulty_by_model(choice.board, list(scores), [item.id for item in items.items])
    fields = fields_of(choice.field)
    with steps.step("searching the corpus", of_bytes=True) as progress:
        scanned: ScanResult = scan_corpus(
            sought, found_files, fields, keep_in=choice.keep_in, scheduler=choice.scheduler, progress=progress
        )
    with steps.step("measuring overlap"):
        found = measure_items(items, sought, scanned, found_files, settings, scores, difficulty)
    return report_overlap(found, items, sought, choice, settings, steps), found


def fields_of(field: str) -> tuple[str, ...]:
    """Names of fields that are joined by "+"; where none is named the usual ones, conversations among them.

    Raises:
        InputError: A name is empty.
    """
    names = tuple(name.strip() for name in field.split("+"))
    if not all(names):
        raise InputError(f"{option('field')}: {field!r} names no field", mend="write question+answer")
    return USUAL_FIELDS if names == (TEXT_FIELD,) else names


def sought_of(items: TestItems, n: int, *, near: bool = False) -> Sought:
    """The tables of a test set's n-grams, and of its items where near copies are sought.

    Raises:
        InputError: No item is long enough.
    """
    texts, answers = items.sought()
    sought = Sought(texts, answers, np.asarray(items.clusters.codes, np.int64), n, near=near)
    if not near and not sought.texts:
        raise InputError(
            "no item has 8 words or more, so that nothing can be searched", file=items.name,
            mend=f"name the column of the texts with {option('columns', 'question=NAME')}",
        )  # fmt: skip
    return sought


def refuse_broken(found: Overlap, *, skip_broken: bool) -> None:
    """Refuse a corpus of which a part could not be read, after all the rest was searched.

    Raises:
        InputError: A field that nothing has; or the first such part, and how many there are.
    """
    if skip_broken:
        return
    if said := say_lacking(found.scanned, found.corpus):
        raise InputError(f"{option('field')}: {said}", mend="name fields that are there")
    if not found.scanned.broken:
        return
    name, why = found.scanned.broken[0]
    n = len(found.scanned.broken)
    more = "" if n == 1 else f" (and {n - 1} more)"
    raise InputError(
        f"{why}{more}; the rest of the corpus was searched", file=name,
        mend=f"mend the file, or leave it out with {option('skip-broken')}",
    )  # fmt: skip
