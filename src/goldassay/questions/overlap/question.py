"""The question of overlap: from a test set and a corpus, or the training part of an audit, to the items found there."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.document import About, Input
from goldassay.core.errors import InputError, option
from goldassay.core.files import temporary_folder
from goldassay.core.numbers import count
from goldassay.core.progress import Steps
from goldassay.core.sections import Finding
from goldassay.questions.board.reading import read_board
from goldassay.questions.inputs import describe_runs
from goldassay.questions.overlap.doubts import describe_lacking, find_reordered
from goldassay.questions.overlap.items import TestItems, items_of_dataset, read_items
from goldassay.questions.overlap.measures import COUNTED, TRAINING
from goldassay.questions.overlap.measuring import Overlap, describe_overlap, measure_items, tables_of
from goldassay.questions.overlap.page import LEAD, PAGE
from goldassay.questions.overlap.scored_runs import difficulty_by_model, scores_by_model
from goldassay.questions.overlap.search.corpus import Corpus, CorpusFile, find_corpus
from goldassay.questions.overlap.search.reading import TEXT_FIELD, fields_of
from goldassay.questions.overlap.search.scan import CorpusChoice, ScanResult, placed_corpus, scan_corpus
from goldassay.questions.overlap.search.sought import Sought
from goldassay.questions.provenance import describe_clusters
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.run_choice import RunChoice, by_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from goldassay.core.settings import Settings
    from goldassay.data.dataset import Dataset
    from goldassay.questions.evidence import Evidence
    from goldassay.report.report import Report
    from goldassay.runs.assembly import Align
    from goldassay.runs.statuses import Missing


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
        missing: What is done with their answers without a score.
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
    missing: Missing = "auto"


def study_overlap(
    test: Any,
    corpus: Any,
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
    with placed_corpus(corpus) as places:
        if not places:
            raise InputError("no corpus is given", mend=f"name its files with {option('corpus', 'PATH')}")
        return _study(test, places, choice, settings, steps, columns, file_format)


def _study(
    test: Any,
    places: Sequence[str | os.PathLike[str]],
    choice: SearchChoice,
    settings: Settings,
    steps: Steps,
    columns: str | Mapping[str, str] | None,
    file_format: str,
) -> tuple[Report, Overlap]:
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
            reading = RunChoice(dataset=choice.dataset, gold=gold, align=by_ids(choice.align), missing=choice.missing)
            scores = scores_by_model(choice.runs, reading, [item.id for item in items.items])
            if choice.board is not None:
                difficulty = difficulty_by_model(
                    read_board(choice.board, RunChoice()), list(scores), [item.id for item in items.items]
                )
    fields = fields_of(choice.field)
    with steps.step("searching the corpus", of_bytes=True) as progress:
        scanned: ScanResult = scan_corpus(
            sought, found_files, fields, keep_in=choice.keep_in, scheduler=choice.scheduler, progress=progress
        )
    if scanned.n_kept:
        parts = f"{scanned.n_kept} of {scanned.n_shards} parts of the corpus"
        steps.note(f"{parts} are unchanged since an earlier search, and its results in {choice.keep_in} were taken")
    with steps.step("measuring overlap"):
        found = measure_items(items, sought, scanned, found_files, settings, scores, difficulty)
    return report_overlap(found, items, sought, choice, settings, steps), found


def sought_of(items: TestItems, n: int, *, near: bool = False) -> Sought:
    """The tables of a test set's n-grams, and of its items where near copies are sought.

    Raises:
        InputError: No item is long enough.
    """
    texts, answers = items.sought()
    codes = np.asarray(items.clusters.codes, np.int64)
    sought = Sought(texts, answers, codes, n, near=near, controls=items.controls())
    if not sought.texts and not sought.equals:
        raise InputError(
            "no item has words, so that nothing can be searched", file=items.name, mend="give a test set with texts"
        )
    return sought


def refuse_broken(found: Overlap, *, skip_broken: bool) -> None:
    """Refuse a corpus of which a part could not be read, after all the rest was searched.

    Raises:
        InputError: A field that nothing has; or the first such part, and how many there are.
    """
    if skip_broken:
        return
    if said := describe_lacking(found.scanned, found.corpus):
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


def report_overlap(
    found: Overlap, items: TestItems, sought: Sought, choice: SearchChoice, settings: Settings, steps: Steps
) -> Report:
    """Write up what was found."""
    result = describe_overlap(found, items, sought)
    findings: dict[str, Any] = {
        "questions": ["overlap"],
        "dataset": About(name=items.name, n_test=len(items.items)),
        "inputs": [
            items.described,
            Input(
                role="corpus",
                name=result.corpus,
                files=tuple(file.name for file in found.corpus.files),
                sha256=(),
                n_rows=result.n_documents,
            ),
            *(describe_runs(path) for path in _paths(choice.runs)),
            *(replace(describe_runs(path), role="board") for path in _paths(choice.board)),
        ],
        "clusters": describe_clusters(items.clusters),
        "overlap": result,
        "settings": {
            "seed": settings.seed,
            "clusters": settings.data.clusters,
            "n": choice.n,
            "field": choice.field,
            "skip_broken": choice.skip_broken,
            "near_copies": choice.near_copies,
        },
    }
    document = frame_findings(
        f"Overlap of {items.name} with {result.corpus}", findings, steps, settings, verdicts={"overlap": found.verdict}
    )
    return compose_report(document, tables_of(found), findings=[Finding("overlap", None, result=result)])


def _paths(runs: Any) -> list[str]:
    given = runs if isinstance(runs, (list, tuple)) else [runs]
    return [os.fspath(each) for each in given if isinstance(each, (str, os.PathLike))]


def search_for(
    items: TestItems,
    training: Sequence[pl.Series],
    corpus: CorpusChoice,
    settings: Settings,
    steps: Steps,
    say: Callable[[pl.DataFrame], Sequence[str]] = lambda _: (),
) -> Finding:
    """Search training rows and a corpus for the items of a test set; what cannot be read leaves a doubt.

    Rows of the training part are searched for n-grams and for near copies, and so is the corpus beside it. They are
    compared for items with their words in another order, too.

    Args:
        items: Of the evaluation part.
        training: The text of each training row, in one rendering or several; none where there is no training part.
        corpus: The corpus.
        settings: Hold the limits.
        steps: Progress.
        say: More sentences, from the places where items stand.

    Raises:
        InputError: There is no such corpus, nothing of it can be read, or no item is long enough.
    """
    fields = fields_of(corpus.field)
    sought = sought_of(items, 13, near=bool(training))
    files = find_corpus(corpus.places, items.files) if corpus.places else Corpus(())
    name = "searching the corpus" if corpus.places else "searching the training part"
    with (
        temporary_folder() as folder,
        steps.step(name, of_bytes=True) as progress,
    ):
        parts = []
        for number, rows in enumerate(training):
            path = folder / f"training-{number}.parquet"
            pl.DataFrame({fields[0]: rows}).write_parquet(path, compression="uncompressed")
            parts.append(CorpusFile(path, TRAINING, "parquet", False, path.stat().st_size))
        searched = replace(files, files=(*parts, *files.files))
        scanned = scan_corpus(sought, searched, fields, progress=progress)
    reordered = find_reordered(items.items, training[0]) if training else None
    found = measure_items(items, sought, scanned, searched, settings, reordered=reordered)
    result = describe_overlap(found, items, sought)
    return Finding(
        "overlap",
        found.verdict,
        tables=tables_of(found),
        examples={f"overlap_{name}": found.rows[name] for name in ("class", "kind", "coverage")},
        rows=found.rows,
        result=replace(result, sentences=(*result.sentences, *say(found.places))),
    )


class _Overlap:
    question = "overlap"
    title = PAGE.title
    asks = LEAD
    needs = ("test",)

    def run(self, evidence: Evidence) -> Finding:
        """Search the training part and the corpus for the test rows."""
        items = items_of_dataset(evidence.test, evidence.settings.data.clusters, evidence.test_place)
        texts = [pl.col(role).cast(pl.String).fill_null("") for role in evidence.train.text_columns]
        rows = evidence.train.examples.select(pl.concat_str(texts, separator="\n")).to_series()
        say = partial(_describe_labels, train=evidence.train, test=evidence.test)
        # Without a test part the rows that are looked for are those that teach.
        training = () if evidence.test is evidence.train else (rows,)
        return search_for(items, training, evidence.corpus, evidence.settings, evidence.steps, say)


def _describe_labels(places: pl.DataFrame, train: Dataset, test: Dataset) -> list[str]:
    """How many of the items that were found have the same label in the training part: minimal edits have another."""
    places = places.filter(pl.col("kind").is_in(COUNTED) & (pl.col("place") == TRAINING) & (pl.col("row") > 0))
    if not places.height or not train.label_names or not test.label_names:
        return []
    labels = train.examples["label"].cast(pl.String)[(places["row"] - 1).to_list()]
    own = test.examples.select(id=pl.col("example_id").cast(pl.String), own=pl.col("label").cast(pl.String))
    found = places.with_columns(label=labels).join(own, on="id", how="left", maintain_order="left")
    same = found.group_by("id").agg(same=(pl.col("label") == pl.col("own")).any())
    n, n_same = same.height, int(same["same"].sum())
    return [f"Of {count(n)} items found in the training part {count(n_same)} have the same label there."]


CHECK = _Overlap()
