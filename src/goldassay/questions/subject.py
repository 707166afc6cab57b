"""What a report is about, under its title: sizes, runs, texts, labels, and notes on the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.document import About
from goldassay.core.facts import DatasetFacts
from goldassay.core.numbers import count
from goldassay.core.sections import Subject
from goldassay.questions.instability.result import InstabilityResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.document import Framed
    from goldassay.core.sections import Around
    from goldassay.questions.instability.result import RunScores

# More labels than these are counted, not listed.
_MOST_LABELS = 8


def subject_of(framed: Framed, around: Around) -> Subject:
    """The subject of a report."""
    own, facts, runs = framed.about or About(), around.answer(DatasetFacts), around.answer(InstabilityResult)
    train, test = (own.n_train, own.n_test) if facts is None else (facts.n_train, facts.n_test)
    sizes = {split: size for split, size in (("train", train), ("test", test)) if size is not None}
    about = _sizes_of_runs(runs.results) if runs is not None and runs.results and facts is None else []
    if own.n_systems is not None:
        sizes = {}
        about += [f"{count(own.n_systems)} systems", f"{count(own.n_test)} items"]
    if own.text_columns:
        about.append(" + ".join(own.text_columns))
    names = own.label_names or ()
    if own.most_choices is not None:
        of, what = ("preferences among", "responses") if own.kind == "preference" else ("items of", "choices")
        about.append(f"{of} up to {count(own.most_choices)} {what}")
    elif names:
        about.append("labels " + ", ".join(names) if len(names) <= _MOST_LABELS else f"{len(names)} labels")
    file = framed.settings_file
    return Subject(sizes, tuple(about), "" if file is None else f"settings of {file.name}", framed.notes)


def _sizes_of_runs(results: Sequence[RunScores]) -> list[str]:
    """How many models, datasets and runs a report on runs alone is about."""
    parts = []
    for names, word in (({row.model for row in results}, "model"), ({row.dataset for row in results}, "dataset")):
        # A model that no file names is called "model".
        if names != {word}:
            parts.append(f"{len(names)} {word}s" if len(names) > 1 else f"{word} {names.pop()}")
    for known, word in (([row.n_runs for row in results], "runs"), ([row.n_examples for row in results], "examples")):
        sizes = sorted(size for size in known if size is not None)
        if sizes:
            span = count(sizes[0]) if sizes[0] == sizes[-1] else f"{count(sizes[0])} to {count(sizes[-1])}"
            shown = word.removesuffix("s") if sizes[-1] == 1 else word
            parts.append(f"{span} {shown}" + (" each" if len(results) > 1 else ""))
    return parts
