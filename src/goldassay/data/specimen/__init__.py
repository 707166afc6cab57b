"""Certified reference material: a made-up benchmark whose flaws are known, each with its figures.

An assay is checked on material of certified content. An audit must find what the certificate lists, and must find
nothing in a clean specimen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

import polars as pl

from goldassay.core.errors import InputError
from goldassay.data.specimen.certificate import (
    LEANING,
    SCORE,
    SCORE_ELSEWHERE_FLAWED,
    Answers,
    certify,
    copies,
    draw_answers,
    draw_copies,
    plant,
)
from goldassay.data.specimen.rows import LABELS, Label, Part, Row, draw_rows, sentence

# What lies elsewhere is free of flaws.
PARTS_WITH_FLAWS: tuple[Part, ...] = ("train", "dev", "test")

LEAST_SIZE = 2000
LEAST_SIZE_CLEAN = 360
# Rows are made in memory: 200,000 take a quarter of a GB.
MOST_SIZE = 1_000_000

SHARE_DUPLICATED = 0.002
SHARE_CONFLICTING = 0.001
SHARE_OVERLAPPING = 0.03


@dataclass(frozen=True)
class Specimen:
    """A made-up benchmark: four tables with the columns id, premise, hypothesis, label, topic and group.

    Attributes:
        train: The training part.
        dev: Like test, and smaller.
        test: The evaluation part.
        elsewhere: Pairs of the same kind with nothing planted in them, so that the flawed parts and it differ.
        answers: What runs of a made-up model predicted for `test` and for `elsewhere`, by these names.
        certificate: What was planted, with its figures; see `goldassay.data.specimen.certificate`.
    """

    train: pl.DataFrame
    dev: pl.DataFrame
    test: pl.DataFrame
    elsewhere: pl.DataFrame
    answers: dict[Part, Answers]
    certificate: dict[str, Any]


@dataclass(frozen=True)
class Copies:
    """Rows that were copied, as pairs of the copy and the original."""

    duplicates: list[tuple[Row, Row]]
    conflicting: list[tuple[Row, Row]]
    overlap: list[tuple[Row, Row]]


def make_specimen(size: int = 20_000, seed: int = 0, clean: bool = False, *, test_size: int | None = None) -> Specimen:
    """Make a specimen of premise/hypothesis pairs that a premise entails, contradicts or leaves open.

    Without flaws, neither sentence of a pair tells anything about the label: it is drawn first, and every label's
    premises and hypotheses are drawn from the same distribution (see `goldassay.data.specimen.rows`).

    Args:
        size: Rows of train; dev and elsewhere have a tenth each.
        seed: Another seed makes another specimen with the same flaws.
        clean: Plant no flaw.
        test_size: Rows of test, by default a quarter of `size`: the 5,000 of the default size are enough to call a
            clean specimen sound.

    Raises:
        InputError: A size is too small for the flaws or too large to make, or the seed is negative.
    """
    n_test = size // 4 if test_size is None else test_size
    _check(size, n_test, seed, clean)
    rng = Random(f"goldassay specimen {seed}")
    sizes: dict[Part, int] = {"train": size, "dev": size // 10, "test": n_test, "elsewhere": size // 10}
    if clean:
        rows, copied = draw_rows(rng, sizes, {}), Copies([], [], [])
    else:
        rows, copied = _flawed_rows(rng, sizes)
    for part, members in rows.items():
        rng.shuffle(members)
        width = len(str(len(members)))
        for number, row in enumerate(members, start=1):
            row.id = f"{part}-{number:0{width}}"
    scores: dict[Part, float] = {"test": SCORE, "elsewhere": SCORE if clean else SCORE_ELSEWHERE_FLAWED}
    answers = {part: draw_answers(rng, rows[part], score, clean=clean) for part, score in scores.items()}
    certificate = certify(rows, copied.duplicates, copied.conflicting, copied.overlap, answers, seed=seed, clean=clean)
    tables = {part: _table(members) for part, members in rows.items()}
    return Specimen(
        tables["train"], tables["dev"], tables["test"], tables["elsewhere"], answers=answers, certificate=certificate
    )


def _check(size: int, n_test: int, seed: int, clean: bool) -> None:
    least = LEAST_SIZE_CLEAN if clean else LEAST_SIZE
    kind = "a clean specimen" if clean else "a specimen with its flaws"
    if size < least:
        raise InputError(f"{size} rows are too few for {kind}", mend=f"ask for a size of at least {least}")
    if n_test < least // 10:
        raise InputError(
            f"{n_test} test rows are too few for {kind}", mend=f"ask for a test size of at least {least // 10}"
        )
    if size + n_test > MOST_SIZE:
        raise InputError(
            f"{size + n_test} rows are more than a specimen holds",
            mend=f"ask for at most {MOST_SIZE} with the test rows",
        )
    if seed < 0:
        raise InputError(f"the seed {seed} is negative", mend="choose one from 0 upwards")


def _flawed_rows(rng: Random, sizes: dict[Part, int]) -> tuple[dict[Part, list[Row]], Copies]:
    n_duplicated = copies(sizes["train"], SHARE_DUPLICATED)
    n_conflicting = copies(sizes["train"], SHARE_CONFLICTING)
    n_overlapping = copies(sizes["test"], SHARE_OVERLAPPING)
    to_draw = dict(sizes)
    to_draw["train"] -= n_duplicated + n_conflicting
    to_draw["test"] -= n_overlapping
    rows = draw_rows(rng, to_draw, LEANING)
    for part in PARTS_WITH_FLAWS:
        plant(rng, rows[part], part, sizes[part])
    # No original is copied twice: one draw serves all three kinds of copies.
    originals = draw_copies(rng, rows["train"], n_duplicated + n_conflicting + n_overlapping)
    rng.shuffle(originals)
    pools = {label: [row for row in originals if row.label == label] for label in LABELS}

    def take(n: int) -> list[Row]:
        return [pools[label].pop() for label in LABELS for _ in range(n // len(LABELS))]

    copied = Copies(
        duplicates=[(replace(row), row) for row in take(n_duplicated)],
        conflicting=[(replace(row, label=_next_label(row)), row) for row in take(n_conflicting)],
        overlap=[(replace(row), row) for row in take(n_overlapping)],
    )
    rows["train"] += [copy for copy, _ in copied.duplicates + copied.conflicting]
    rows["test"] += [copy for copy, _ in copied.overlap]
    return rows, copied


def _next_label(row: Row) -> Label:
    return LABELS[(LABELS.index(row.label) + 1) % len(LABELS)]


def _table(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "id": [row.id for row in rows],
            "premise": [row.premise for row in rows],
            "hypothesis": [sentence(row.frame.format(row.claim)) for row in rows],
            "label": [row.label for row in rows],
            "topic": [row.topic for row in rows],
            "group": [row.group for row in rows],
        }
    )
