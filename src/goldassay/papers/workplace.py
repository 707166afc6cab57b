"""Where a study happens: its folder, its sets, and the promise that it is not resumed with other settings."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError
from goldassay.core.files import written_whole
from goldassay.data.published_files import find_published
from goldassay.training.job import FOLDER

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from goldassay.core.progress import Steps
    from goldassay.data import Dataset
    from goldassay.papers.choosing import NotRun
    from goldassay.papers.recipe import Scale, ScaleName

SETTINGS_FILE, RUNS = "study-settings.json", "runs"
# How the settings name the two precisions of a study; the second is noted where it is not the usual one.
PRECISION, UNASKED_PRECISION, USUAL_PRECISION = "precision", "precision of all else", "float32"
# How the settings name the digests of a set's files.
OF_SET = "set "


@dataclass
class Workplace:
    """What a recipe measures with.

    Attributes:
        folder: Of the study.
        scale: Its size.
        scale_name: What this is called.
        data: Folder with the files of others, or None where a study needs none.
        pretrained: Checkpoint that stands for pretrained models, or None to leave them out.
        seed: Of everything that is drawn, but for the trainings, which have seeds of their own.
        steps: Progress.
        precision: Of trainings that leave it to the machine. The first machine decides it, so that the runs of a study
            are alike wherever it goes on; None where no training leaves it.
        unasked_precision: Of trainings of which the recipe says nothing; also decided by the first machine.
        sets: Datasets by the names that tables give them.
        absent: Sets and files that are not there, are not what they should be or are left out, each with why.
        unmade: Sets that cannot be made of others, each with the names of those that are absent; what trains on them
            is left out.
        not_run: What of the size is neither trained nor tested, and why.
        checkpoints: Folders of checkpoints that `prepare` makes up, by the name that trainings give them.
    """

    folder: Path
    scale: Scale
    scale_name: ScaleName
    data: Path | None
    pretrained: str | None
    seed: int
    steps: Steps
    precision: str | None = None
    unasked_precision: str = USUAL_PRECISION
    sets: dict[str, Dataset] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    unmade: dict[str, tuple[str, ...]] = field(default_factory=dict)
    not_run: list[NotRun] = field(default_factory=list)
    checkpoints: dict[str, Path] = field(default_factory=dict)

    @property
    def runs(self) -> Path:
        """Where runs are trained into."""
        return self.folder / RUNS

    @property
    def lacking(self) -> frozenset[str]:
        """Sets that are neither there nor made; nothing is trained or tested on them."""
        return frozenset(self.absent.keys() | self.unmade.keys())

    def roots(self, name: str) -> tuple[str, ...]:
        """The absent sets for want of which a set is lacking; none where it is there."""
        return (name,) if name in self.absent else self.unmade.get(name, ())

    def file(self, *names: str) -> Path | None:
        """A file or folder of the data folder: the first of these that is there, packed or not."""
        return None if self.data is None else find_published(self.data, names)


def check_settings(folder: Path, settings: Mapping[str, Any]) -> None:
    """Refuse to go on with others than those that are known before sets are read; nothing is written.

    Raises:
        InputError: The folder was made with other settings; says which differ.
    """
    before = _noted(folder)
    if before is not None:
        _refuse_others(folder, before, settings)


def keep_settings(folder: Path, settings: Mapping[str, Any]) -> None:
    """Note with which settings a study is made, or refuse to go on with others.

    Raises:
        InputError: The folder was made with other settings; says which differ.
        OutputError: The folder cannot be written to.
    """
    before = _noted(folder)
    if before is not None:
        _refuse_others(folder, before, {key: settings.get(key) for key in {**settings, **before}})
        return
    with written_whole(folder / SETTINGS_FILE) as aside:
        aside.write_text(json.dumps(settings, ensure_ascii=False, indent=2) + "\n", "utf-8")


def _is_begun(folder: Path) -> bool:
    """Whether anything is trained in a study's folder; until then, as when a price was asked for, it is nobody's."""
    return (folder / RUNS / FOLDER).exists()


def noted_precisions(folder: Path) -> tuple[str | None, str] | None:
    """The two precisions of a `Workplace` that a study was begun with; None if it is begun now."""
    before = _noted(folder)
    return None if before is None else (before.get(PRECISION), before.get(UNASKED_PRECISION, USUAL_PRECISION))


def _noted(folder: Path) -> dict[str, Any] | None:
    place = folder / SETTINGS_FILE
    if not _is_begun(folder) or not place.exists():
        return None
    try:
        before = json.loads(place.read_text("utf-8"))
    except (ValueError, OSError):
        before = None
    if not isinstance(before, dict):
        raise InputError("is not what a study wrote", file=place, mend="choose another folder with -o")
    return before


def _refuse_others(folder: Path, before: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    wanted = json.loads(json.dumps(settings))
    differ = [key for key in wanted if before.get(key) != wanted[key]]
    if differ:
        shown = "; ".join(f"{key} was {_said(key, before)}, is {_said(key, wanted)}" for key in differ[:3])
        more = f" and {len(differ) - 3} more" if len(differ) > 3 else ""
        raise InputError(
            f"the study there was made with other settings: {shown}{more}",
            file=folder,
            mend="give the same again, or choose another folder with -o",
        )


def _said(key: str, settings: Mapping[str, Any]) -> str:
    value = settings.get(key)
    if key.startswith(OF_SET):
        # Two digests that differ do so at their beginning.
        return "not there" if value is None else f"sha256 {', '.join(str(digest)[:12] for digest in value)}"
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}…"
