"""Specimens of items, by kind, and their files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.core.files import written_together
from goldassay.data.specimen import choice_specimen, judgment_specimen, preference_specimen

if TYPE_CHECKING:
    import os

    from goldassay.data.specimen.item_specimen import ItemSpecimen

# Of fewer items with choices the readers of the question do not always find what is planted as a control.
USUAL_SIZE = 8000
_MAKERS = {
    choice_specimen.KIND: choice_specimen.make_choice_specimen,
    preference_specimen.KIND: preference_specimen.make_preference_specimen,
    judgment_specimen.KIND: judgment_specimen.make_judgment_specimen,
}
ITEM_KINDS = tuple(_MAKERS)


def make_item_specimen(kind: str, size: int = USUAL_SIZE, seed: int = 0, *, clean: bool = False) -> ItemSpecimen:
    """Make a specimen of items.

    Args:
        kind: One of `ITEM_KINDS`.
        size: Items; the 8,000 of the default are enough to call a clean specimen sound.
        seed: Another seed makes another specimen with the same flaws.
        clean: Plant no flaw.

    Raises:
        InputError: The size is too small for the flaws or too large to make, or the seed is negative.
    """
    return _MAKERS[kind](size, seed, clean=clean)


def write_item_specimen(
    directory: str | os.PathLike[str], kind: str, size: int = USUAL_SIZE, seed: int = 0, *, clean: bool = False
) -> list[Path]:
    """Write a specimen of items, named by its kind, and certificate.json, both or neither.

    The same arguments write the same bytes; see `make_item_specimen` for what they mean.

    Returns:
        The paths of the files.

    Raises:
        InputError: See `make_item_specimen`.
        OutputError: The folder cannot be written to.
    """
    specimen = make_item_specimen(kind, size, seed, clean=clean)
    names = (f"{specimen.name}.jsonl", "certificate.json")
    with written_together(directory) as aside:
        specimen.table.write_ndjson(aside / names[0])
        (aside / names[1]).write_text(json.dumps(specimen.certificate, indent=2) + "\n", encoding="utf-8")
    return [Path(directory) / name for name in names]
