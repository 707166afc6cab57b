"""What a report is about, under its title: sizes, runs, texts, labels, and notes on the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records, texts
from goldassay.core.numbers import count, number
from goldassay.core.sections import Subject

if TYPE_CHECKING:
    from collections.abc import Mapping

# More labels than these are counted, not listed.
_MOST_LABELS = 8


def subject_of(document: Mapping[str, Any]) -> Subject:
    """The subject of a report's document."""
    facts, dataset = mapping(document, "facts"), mapping(document, "dataset")
    sizes = {
        split: size
        for split in ("train", "test")
        if (size := number(facts.get(f"n_{split}", dataset.get(f"n_{split}")))) is not None
    }
    results = records(mapping(document, "instability").get("results")) if not facts else []
    about = _sizes_of_runs(results) if results else []
    if (n_systems := number(dataset.get("n_systems"))) is not None:
        sizes = {}
        about += [f"{count(n_systems)} systems", f"{count(dataset.get('n_test'))} items"]
    if columns := texts(dataset.get("text_columns")):
        about.append(" + ".join(columns))
    if (most := number(dataset.get("most_choices"))) is not None:
        preferred = dataset.get("kind") == "preference"
        about.append(f"{'preferences among' if preferred else 'items of'} up to {count(most)} "
                     f"{'responses' if preferred else 'choices'}")  # fmt: skip
    elif names := texts(dataset.get("label_names")):
        about.append("labels " + ", ".join(names) if len(names) <= _MOST_LABELS else f"{len(names)} labels")
    file = mapping(document, "settings_file").get("name")
    said = f"settings of {file}" if file else ""
    return Subject(sizes, tuple(about), said, texts(document.get("data_notes")))


def _sizes_of_runs(results: list[Mapping[str, Any]]) -> list[str]:
    """How many models, datasets and runs a report on runs alone is about."""
    parts = []
    for key, word in (("model", "model"), ("dataset", "dataset")):
        names = {str(row.get(key)) for row in results}
        # A model that no file names is called "model".
        if names != {word}:
            parts.append(f"{len(names)} {word}s" if len(names) > 1 else f"{word} {names.pop()}")
    for key, word in (("n_runs", "runs"), ("n_examples", "examples")):
        sizes = sorted(size for row in results if (size := number(row.get(key))) is not None)
        if sizes:
            span = count(sizes[0]) if sizes[0] == sizes[-1] else f"{count(sizes[0])} to {count(sizes[-1])}"
            shown = word.removesuffix("s") if sizes[-1] == 1 else word
            parts.append(f"{span} {shown}" + (" each" if len(results) > 1 else ""))
    return parts
