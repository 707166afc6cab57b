"""Overlap, asked in Python and in a shell: `measure_overlap` and `goldassay overlap`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from goldassay.core.commands import command
from goldassay.core.errors import InputError
from goldassay.core.options import (
    Align,
    Board,
    Clusters,
    Columns,
    Corpus,
    Dataset,
    Field,
    Format,
    Missing,
    NearCopies,
    NgramWords,
    Out,
    Quiet,
    RunPaths,
    Scheduler,
    Seed,
    SettingsOrFile,
    SkipBroken,
    ValueMap,
    place,
)

if TYPE_CHECKING:
    from goldassay.report.report import Report


@command()
def measure_overlap(
    test: Annotated[Any, place("The test set: a file, a folder, or a name on the hub.", "TEST")],
    corpus: Corpus,
    *,
    field: Field = "text",
    n: NgramWords = 13,
    near_copies: NearCopies = False,
    runs: RunPaths = None,
    board: Board = None,
    dataset: Dataset = None,
    align: Align = "exact",
    missing: Missing = "auto",
    scheduler: Scheduler = None,
    skip_broken: SkipBroken = False,
    columns: Columns = None,
    map: ValueMap = None,  # noqa: A002
    clusters: Clusters = None,
    format: Format = "auto",  # noqa: A002
    out: Out = None,
    seed: Seed = None,
    settings: SettingsOrFile = None,
    quiet: Quiet = True,
) -> Report:
    """Search training data for the items of a test set: was it seen in training?

    Reads the corpus once, from end to end, on all cores (with --scheduler on many machines), and says of each item how
    much of it is in one document, and whether its answer follows. Memory is that of the test set, however large the
    corpus is. With -o the parts that are done are kept, so that a search that was interrupted goes on. Paraphrases and
    translations are not found.

      goldassay overlap test.jsonl --corpus train.jsonl --field question+answer

    Note:
        The test set is a path, a `Dataset`, or a table in memory. Of runs (paths, `Runs` or tables) each model's score
        on items that are in the corpus is set beside that on other items. Finished parts of the corpus are kept
        in `out/shards`.

    Returns:
        The report; its tables are `overlap_items`, a row an item, and `overlap_places`, the best places of each.

    Raises:
        InputError: The test set or the corpus cannot be read; or, without `skip_broken`, a part of the corpus: then
            the error's `report` is that on the rest.
    """
    from pathlib import Path

    from goldassay.core.settings import chosen
    from goldassay.data.roles import with_values
    from goldassay.questions.overlap.question import SearchChoice, refuse_broken, study_overlap

    settings = chosen(settings, seed, clusters=clusters)
    keep_in = None if out is None else Path(out) / "shards"
    choice = SearchChoice(field, n, skip_broken, keep_in, runs, dataset, scheduler, near_copies, board, align, missing)
    roles = with_values(columns, map)
    report, found = study_overlap(test, corpus, choice, settings, columns=roles, file_format=format, quiet=quiet)
    try:
        refuse_broken(found, skip_broken=skip_broken)
    except InputError as error:
        error.report = report
        raise
    return report
