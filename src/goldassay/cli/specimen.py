"""`goldassay specimen`: write reference material with certified flaws."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from goldassay.cli.app import app
from goldassay.cli.options import (
    METHOD,
    Out,
    Quiet,
    Seed,
    of_option,
)
from goldassay.core.errors import InputError

USUAL_SIZE, MOST_ROWS = 20_000, 10_000_000


@app.command(short_help="Write a made-up benchmark whose flaws are known.")
def specimen(
    out: Out,
    kind: Annotated[
        Literal["pairs", "choices", "preferences", "judgments", "corpus"],
        of_option("kind", group=METHOD),
    ] = "pairs",
    size: Annotated[
        str | None,
        of_option("size", metavar="ROWS", group=METHOD),
    ] = None,
    test_size: Annotated[
        int | None,
        of_option("test_size", metavar="ROWS", group=METHOD),
    ] = None,
    seed: Seed = None,
    clean: Annotated[
        bool,
        of_option("clean", group=METHOD),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Write a made-up benchmark whose flaws are known, to try the audit on.

    Four files of sentence pairs (train.jsonl, dev.jsonl, test.jsonl, elsewhere.jsonl: a premise, a hypothesis, and
    whether the premise entails the hypothesis, contradicts it, or leaves it open); runs/, what ten runs of a
    made-up model answered on test and elsewhere; and certificate.json, which lists every flaw that was planted:
    phrases that give the label away and how often they do, topics that lean to one label, groups of examples that
    stand or fall together, how far the score moves from run to run and what it loses elsewhere, where nothing was
    planted, duplicates, and rows shared by train and test.

    Items are one file: multiple choice, preferences, or judgments by three judges. Their certificate lists what each
    rule without training gains, phrases that give the right one away, items that cannot be right, and of judges what
    the seat, the length and their own model add. A corpus is a test set and documents in which copies of its items are
    planted: exact, with other line breaks, other punctuation, one word in 13 changed, and in other words.
    """
    if kind == "pairs":
        from goldassay.runs.specimen import write_specimen

        paths = write_specimen(
            out, size=USUAL_SIZE if size is None else _rows(size), seed=seed or 0, clean=clean, test_size=test_size
        )
    elif kind == "corpus":
        from goldassay.data.specimen.corpus_specimen import USUAL_SIZE as USUAL_DOCUMENTS
        from goldassay.data.specimen.corpus_specimen import documents_of, write_corpus_specimen

        if test_size is not None:
            raise InputError("--test-size: the test set of a corpus has its own size", mend="leave it out")
        asked = str(USUAL_DOCUMENTS) if size is None else size
        n = documents_of(asked) if any(map(str.isalpha, asked)) else _rows(asked)
        paths = write_corpus_specimen(out, n, seed or 0, clean=clean)
    else:
        from goldassay.data.specimen.item_kinds import USUAL_SIZE as USUAL_ITEMS
        from goldassay.data.specimen.item_kinds import write_item_specimen

        if test_size is not None:
            raise InputError(f"--test-size: a specimen of {kind} is one file", mend="leave it out, and give --size")
        paths = write_item_specimen(out, kind, USUAL_ITEMS if size is None else _rows(size), seed or 0, clean=clean)
    if not quiet:
        for path in paths:
            typer.echo(path)


def _rows(size: str) -> int:
    """A number of rows.

    Raises:
        InputError: It is none, or more than are made.
    """
    n = int(size) if size.isdecimal() and len(size) < 10 else 0
    if not 0 < n <= MOST_ROWS:
        raise InputError(f"--size is {size!r}", mend=f"give a number of rows from 1 to {MOST_ROWS:,}")
    return n
