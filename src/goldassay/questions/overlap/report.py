"""The report on overlap: its page, `report.json`, figures and tables."""

from __future__ import annotations

import difflib
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.numbers import count
from goldassay.core.results import to_plain
from goldassay.questions.data_notes import describe_clusters
from goldassay.questions.inputs import describe_runs
from goldassay.questions.overlap.measures import CLASSES, COUNTED, KINDS
from goldassay.questions.overlap.measuring import TRAINING, corpus_counts
from goldassay.questions.overlap.scored_runs import say_scores
from goldassay.questions.report_frame import compose_report, frame_findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.progress import Steps
    from goldassay.core.settings import Settings
    from goldassay.questions.overlap.items import TestItems
    from goldassay.questions.overlap.measuring import Overlap
    from goldassay.questions.overlap.study import SearchChoice
    from goldassay.report.report import Report
    from goldassay.scanning import Sought

# Items that the page shows beside the place where they stand, and files that it names.
MOST_SHOWN, _MOST_FILES = 30, 20
# Fewer words in a row that two texts share may stand in any two.
_LEAST_RUN = 3
# Steps of coverage that are drawn, at whose borders items are clean, partial and dirty.
_STEPS = 5
_TABLE_COLUMNS = (
    "id", "kind", "place", "row", "offset", "coverage", "asked", "answer", "answered", "part", "part_name", "longest",
    "near", "near_asked", "near_answer",
)  # fmt: skip


def report_overlap(
    found: Overlap, items: TestItems, sought: Sought, choice: SearchChoice, settings: Settings, steps: Steps
) -> Report:
    """Write up what was found."""
    section = describe_overlap(found, items, sought)
    corpus = found.corpus
    findings: dict[str, Any] = {
        "questions": ["overlap"],
        "verdicts": {"overlap": found.verdict.to_dict()},
        "dataset": {"name": items.name, "n_test": len(items.items)},
        "inputs": [
            items.described,
            {
                "role": "corpus",
                "name": section["corpus"],
                "files": [file.name for file in corpus.files],
                "sha256": [],
                "n_rows": section["n_documents"],
            },
            *(describe_runs(path) for path in _paths(choice.runs)),
            *({**describe_runs(path), "role": "board"} for path in _paths(choice.board)),
        ],
        "clusters": describe_clusters(items.clusters),
        "overlap": section,
        "settings": {
            "seed": settings.seed,
            "clusters": settings.data.clusters,
            "n": choice.n,
            "field": choice.field,
            "skip_broken": choice.skip_broken,
            "near_copies": choice.near_copies,
        },
    }
    document = frame_findings(f"Overlap of {items.name} with {section['corpus']}", findings, steps, settings)
    return compose_report(document, tables_of(found))


def _paths(runs: Any) -> list[str]:
    given = runs if isinstance(runs, (list, tuple)) else [runs]
    return [os.fspath(each) for each in given if isinstance(each, (str, os.PathLike))]


def tables_of(found: Overlap) -> dict[str, pl.DataFrame]:
    """Full tables by name."""
    tables = {"overlap_items": found.rows, "overlap_places": found.places.select(_TABLE_COLUMNS)}
    if found.scores:
        tables["overlap_scores"] = pl.DataFrame(found.scores, infer_schema_length=None)
    return tables


def describe_overlap(found: Overlap, items: TestItems, sought: Sought) -> dict[str, Any]:
    """The findings as plain data."""
    searched = found.rows.filter(pl.col("class") != "not searched")
    n = searched.height
    shares = {name: float((searched["class"] == name).sum()) / n if n else None for name in CLASSES}
    corpus = found.corpus
    names = corpus.files
    kinds = dict(searched["kind"].value_counts().iter_rows())
    n_question = kinds.get("question only", 0)
    interval = found.interval
    n_documents, _, n_bytes = corpus_counts(corpus, found.scanned)
    return to_plain(
        {
            "corpus": _called([file.name for file in names]),
            "share": found.share,
            "low": None if interval is None else interval.low,
            "high": None if interval is None else interval.high,
            "reason": "" if n else "no item is long enough to be searched",
            "n_items": len(items.items),
            "n_searched": n,
            "n_found": int(searched["kind"].is_in(COUNTED).sum()),
            "n": sought.n,
            **shares,
            "question_only": n_question / n if n else None,
            "coverage": float(searched["coverage"].to_numpy().mean()) if n else None,
            "union": float(searched["union"].to_numpy().mean()) if n else None,
            "kinds": [{"kind": kind, "n": kinds.get(kind, 0), "share": kinds.get(kind, 0) / n if n else None}
                      for kind in KINDS],
            "histogram": _histogram(searched["coverage"].to_numpy()),
            "files": _files(found),
            "worst": _worst(found, sought),
            "scores": list(found.scores),
            "sentences": say_scores(found.scores),
            "n_documents": n_documents,
            "with_training": 0 < sum(file.name == TRAINING for file in names) < len(names),
            "n_bytes": n_bytes,
            "n_broken_lines": found.scanned.n_broken_lines,
            "n_broken": len(found.scanned.broken),
            "n_boilerplate": int(sought.is_common.sum()),
            "near_copies": sought.near is not None,
            "notes": [*items.decisions, *found.notes],
        }
    )  # fmt: skip


def _called(names: list[str]) -> str:
    others = [name for name in names if name != TRAINING]
    said = [TRAINING] if len(others) < len(names) else []
    if others:
        said.append(others[0] if len(others) == 1 else f"{count(len(others))} files")
    return " and ".join(said)


def _histogram(coverage: np.ndarray[Any, Any]) -> list[dict[str, Any]]:
    fifth = np.minimum((coverage * _STEPS + 1e-9).astype(int), _STEPS - 1)
    counts = np.bincount(fifth, minlength=_STEPS)
    rows = [{"of": "nothing", "n": int((coverage == 0).sum())}]
    counts[0] -= rows[0]["n"]
    width = 100 // _STEPS
    return rows + [
        {"of": f"{width * at} to {width * (at + 1)} %" if at else f"up to {width} %", "n": int(n)}
        for at, n in enumerate(counts)
    ]


def _files(found: Overlap) -> list[dict[str, Any]]:
    """Files with most items that count, by the best places of each."""
    counted = (
        found.places.filter(pl.col("kind").is_in(COUNTED))
        .unique(["item", "place"], maintain_order=True)
        .group_by("place", maintain_order=True)
        .agg(n=pl.len())
        .sort(["n", "place"], descending=[True, False])
    )
    return counted.head(_MOST_FILES).to_dicts()


def _worst(found: Overlap, sought: Sought) -> list[dict[str, Any]]:
    """The worst items, each beside its best place, with the matched words marked in both."""
    order = pl.col("kind").replace_strict({kind: at for at, kind in enumerate(KINDS)}, return_dtype=pl.Int64)
    first = found.places.unique("item", keep="first", maintain_order=True)
    worst = first.sort([order, -pl.col("rank"), pl.col("item")]).head(MOST_SHOWN)
    shown = []
    for row in worst.iter_rows(named=True):
        text = max(
            (each for each in sought.texts if each.item == row["item"] and each.is_whole),
            key=lambda each: len(each.words),
            default=None,
        )
        if text is None:
            continue
        least = 1 if row["near"] > row["coverage"] else _LEAST_RUN
        is_marked, in_excerpt = _alike(text.words, row["excerpt"].split(" "), least)
        at = row["row"]
        shown.append(
            {
                "item": row["id"],
                "kind": row["kind"],
                "coverage": row["coverage"],
                "near": row["near"] or None,
                "longest": row["longest"],
                "place": f"{row['place']}, row {at}" if at > 0 else f"{row['place']}, byte {row['offset']}",
                "text": " ".join(text.words),
                "marks": _spans(text.words, is_marked),
                "excerpt": row["excerpt"],
                "excerpt_marks": _spans(tuple(row["excerpt"].split(" ")), in_excerpt),
            }
        )
    return shown


def _alike(
    words: Sequence[str], others: Sequence[str], least: int
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Which words of two texts stand in both in the same order, in runs of so many at least."""
    found = np.zeros(len(words), bool), np.zeros(len(others), bool)
    for begin, other, size in difflib.SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks():
        if size < least:
            continue
        found[0][begin : begin + size] = True
        found[1][other : other + size] = True
    return found


def _spans(words: tuple[str, ...], is_marked: np.ndarray[Any, Any]) -> list[list[int]]:
    """Characters of marked words in their text joined by spaces; neighbours make one span."""
    found: list[list[int]] = []
    place = 0
    before = False
    for at, word in enumerate(words):
        marked = at < len(is_marked) and bool(is_marked[at])
        if marked and before:
            found[-1][1] = place + len(word)
        elif marked:
            found.append([place, place + len(word)])
        before = marked
        place += len(word) + 1
    return found
