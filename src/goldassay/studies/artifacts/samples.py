"""A sample of the examples behind a pattern, the pattern marked in each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.artifacts.highlighting import mark_pattern
from goldassay.studies.artifacts.segmenters import SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.artifacts import PatternTable
    from goldassay.data import Dataset

SAMPLE = 5


def sample_examples(
    patterns: PatternTable, rows: Sequence[int], dataset: Dataset, texts: Sequence[str], seed: int, size: int = SAMPLE
) -> dict[int, list[dict[str, Any]]]:
    """For each row of a table, a few examples that hold its pattern, drawn at random among different texts.

    Drawn and not the first of the file, so that the labels are those a reader may expect: examples that speak against
    the pattern are among them as often as among all.

    Args:
        patterns: The table.
        rows: Positions in it.
        dataset: The examples.
        texts: What is searched, (N,).
        seed: Of the draw.
        size: Most examples a pattern.

    Returns:
        Row to its sample, in the order of the dataset: example_id, label, text, and marks, the characters [begin, end)
        of the pattern's tokens where it first is in the text; those of the tokens skipped are not among them.
    """
    found: dict[int, list[dict[str, Any]]] = {row: [] for row in rows}
    if not rows:
        return found
    wanted = patterns.take(rows)
    at, which = wanted.matches(texts)
    order = np.argsort(which, kind="stable")
    bounds = np.searchsorted(which[order], np.arange(len(rows) + 1))
    frame = wanted.to_frame()
    tokens, gaps = frame["tokens"].to_list(), frame["gaps"].to_list()
    ids, labels = (dataset.examples[name].to_list() for name in ("example_id", "label"))
    rng = np.random.default_rng(seed)
    for i, row in enumerate(rows):
        matching = at[order[bounds[i] : bounds[i + 1]]].tolist()
        distinct = list({texts[place]: place for place in reversed(matching)}.values())[::-1]
        drawn = np.sort(rng.choice(len(distinct), min(size, len(distinct)), replace=False)).tolist()
        places = [distinct[each] for each in drawn]
        cut = wanted.tokenized([texts[place] for place in places])
        for k, place in enumerate(places):
            marked = mark_pattern(texts[place], cut.sentence(k), tokens[i], gaps[i])
            found[row].append(
                {
                    "example_id": ids[place],
                    "label": labels[place],
                    "text": marked.text.replace(SEPARATOR, "\n"),
                    "marks": [list(span) for span in marked.spans],
                }
            )
    return found
