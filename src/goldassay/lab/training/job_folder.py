"""The folder of one job: whose it is, what it was made with, what is done."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from goldassay.core.entry_point import option
from goldassay.core.errors import InputError
from goldassay.core.files import output_error, written_whole
from goldassay.runs.store import LOCK, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

DONE, STATE = "done.json", "state.safetensors"
MODEL, WEIGHTS = "model", "weights.safetensors"
# In DONE: {path below the folder of the runs: how many bytes it has}.
FILES = "files"
# Of a digest, where it is shown.
_DIGITS = 12


def read_json(path: Path) -> dict[str, Any] | None:
    """What a JSON file holds; None where there is none.

    Raises:
        InputError: The file is damaged.
    """
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, OSError) as error:
        raise InputError("the file is damaged", file=path, mend="delete its folder, and the run begins anew") from error
    return content


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON whole or not at all."""
    with written_whole(path) as aside:
        aside.write_text(json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def claim(folder: Path, settings: Mapping[str, Any]) -> None:
    """Say what a folder's run is made with; a run begun with anything else is refused.

    A folder whose run was refused, or failed before anything of it was kept, is nobody's yet.

    Raises:
        InputError: The run was begun with other settings; the first differences are shown.
    """
    before = read_json(folder / SETTINGS)
    different = [] if before is None else list(_differences(_decisive(before), _decisive(settings)))
    if before is None or (different and not _begun(folder, before)):
        write_json(folder / SETTINGS, settings)
    elif different:
        shown = ", ".join(different[:3]) + (f" and {len(different) - 3} more" if len(different) > 3 else "")
        raise InputError(
            f"the run was made with other settings: {shown}",
            file=folder,
            mend=f"choose another folder with {option('out')} or another name with {option('name')}, or delete "
            f"this one",
        )


def _begun(folder: Path, settings: Mapping[str, Any]) -> bool:
    """Whether anything of a run may be kept."""
    # Answers at a checkpoint are written before the state is, and outside the folder.
    return settings.get("checkpoint_every") is not None or any(
        each.name not in (SETTINGS, LOCK) for each in folder.iterdir()
    )


def _decisive(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as JSON holds them, without the changes that led to sizes, recipe and settings of the objective."""
    plain = json.loads(json.dumps(settings))
    return {name: value for name, value in plain.items() if name not in ("changes", "objective_changes")}


def _differences(before: Any, now: Any, name: str = "") -> Iterator[str]:
    before, now = _by_name(before), _by_name(now)
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted(before.keys() | now.keys()):
            yield from _differences(before.get(key), now.get(key), f"{name}.{key}" if name else key)
    elif before != now:
        yield f"{name} was {_short(before)}, now {_short(now)}"


def _by_name(value: Any) -> Any:
    """Data sets, each a name and a digest, as digests by name; else the value."""
    if isinstance(value, list) and all(isinstance(each, dict) and each.keys() == {"name", "sha256"} for each in value):
        return {each["name"]: each["sha256"][:_DIGITS] for each in value}
    return value


def _short(value: Any) -> str:
    text = "none" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:39]}…"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep the folder to this process until left; the lock of a process that dies is gone with it.

    Raises:
        InputError: Another process is at work on the same run.
        OutputError: The folder cannot be written to.
    """
    try:
        import fcntl
    except ImportError:  # Windows has no such locks; there two commands on one folder are the user's to avoid.
        yield
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("w")
    except OSError as error:
        raise output_error(error, folder) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InputError(
                "another process is at work on this run", file=folder, mend="wait for it, or end it first"
            ) from error
        yield
