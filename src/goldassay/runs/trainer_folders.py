"""The folders that Hugging Face's Trainer writes: whose run a file in one is of, and what its labels are called."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from goldassay.core.errors import InputError
from goldassay.runs.tables import unpacked

if TYPE_CHECKING:
    from pathlib import Path

_CHECKPOINT = re.compile(r"checkpoint-(\d+)")
_SEED = re.compile(r"(?:(?P<model>.+?)[_.=-]+)?seed[_.=-]?(?P<seed>\d+)|(?P<number>\d+)", re.IGNORECASE)
# How the Trainer names labels that nobody named.
_UNNAMED_LABEL = re.compile(r"LABEL_\d+")
_MAX_JSON = 1 << 28


class RunFolder(NamedTuple):
    """Of which run a folder is.

    Attributes:
        path: The folder of the run, above those of its checkpoints.
        model: Name of the model.
        seed: Its seed; 0 where no folder names it.
        checkpoint: Step of the checkpoint whose folder it is, or None.
        dataset: Name of a folder below that of the seed, or "".
    """

    path: Path
    model: str
    seed: int
    checkpoint: int | None
    dataset: str


def run_folder(folder: Path) -> RunFolder:
    """Take the path of a folder apart: MODEL/seed_K, MODEL-seed-K or MODEL/K, then DATASET and checkpoint-N if any.

    A folder whose name says nothing of a seed is a model with one run: that several such are runs of one model is not
    to be guessed.
    """
    place = folder.resolve()
    step = _CHECKPOINT.fullmatch(place.name)
    place = place.parent if step else place
    checkpoint = int(step[1]) if step else None
    for seeded, dataset in ((place, ""), (place.parent, place.name)):
        match = _SEED.fullmatch(seeded.name)
        if match:
            model = match["model"] or seeded.parent.name
            return RunFolder(place, model, int(match["seed"] or match["number"]), checkpoint, dataset)
    return RunFolder(place, place.name, 0, checkpoint, "")


def label_names_of(place: RunFolder, folder: Path) -> tuple[str, ...] | None:
    """The labels in order, as the model's config.json names them; None where it does not.

    Raises:
        InputError: The file is damaged.
    """
    for file in (folder / "config.json", place.path / "config.json"):
        if file.is_file():
            config = read_object(file)
            names = config.get("id2label")
            if not isinstance(names, dict) or not names:
                return None
            try:
                order = sorted(names, key=int)
            except ValueError as error:
                raise InputError("id2label does not number its labels", file=file) from error
            found = tuple(str(names[number]) for number in order)
            return None if all(_UNNAMED_LABEL.fullmatch(name) for name in found) else found
    return None


def read_object(file: Path) -> dict[str, Any]:
    """A JSON file that holds one object.

    Raises:
        InputError: It holds anything else.
    """
    try:
        found = json.loads(unpacked(file, _MAX_JSON))
    except (ValueError, RecursionError) as error:
        raise InputError(f"the file is not JSON ({error})", file=file, mend="copy it again") from error
    if not isinstance(found, dict):
        raise InputError("the file does not hold one JSON object", file=file, mend="copy it again")
    return found
