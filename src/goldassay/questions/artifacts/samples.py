"""A sample of the examples behind a pattern, the pattern marked in each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.artifacts.example_sample import ExampleSample
from goldassay.artifacts.highlighting import mark_pattern
from goldassay.questions.artifacts.segmenters import SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.artifacts import PatternTable
    from goldassay.questions.artifacts.searched import Training

SAMPLE = 5


def sample_examples(
    patterns: PatternTable, rows: Sequence[int], train: Training, seed: int, size: int = SAMPLE
) -> dict[int, list[dict[str, Any]]]:
    """For each row of a table, a few examples that hold its pattern, drawn at random among different texts.

    Drawn and not the first of the file, so that the labels are those a reader may expect: examples that speak against
    the pattern are among them as often as among all.

    Args:
        patterns: The table.
        rows: Positions in it.
        train: The examples.
        seed: Of the draw.
        size: Most examples a pattern.

    Returns:
        Row to its sample, in the order of the dataset: example_id, label, text, and marks, the characters [begin, end)
        of the pattern's tokens where it first is in the text; those of the tokens skipped are not among them.
    """
    if not rows:
        return {}
    wanted = patterns.take(rows)
    drawn = ExampleSample(wanted, size, seed)
    for corpus, codes in train.corpora():
        drawn.add(corpus, codes)
    positions = drawn.positions()
    every = sorted({position for part in positions for position in part})
    shown = dict(zip(every, train.examples(every), strict=True))
    frame = wanted.to_frame()
    found: dict[int, list[dict[str, Any]]] = {}
    for i, row in enumerate(rows):
        found[row] = []
        for position in positions[i]:
            example = shown[position]
            marked = mark_pattern(
                example.text, example.tokens, frame["tokens"][i].to_list(), frame["gaps"][i].to_list()
            )
            found[row].append(
                {
                    "example_id": example.example_id,
                    "label": example.label,
                    "text": marked.text.replace(SEPARATOR, "\n"),
                    "marks": [list(span) for span in marked.spans],
                }
            )
    return found
