"""Plain documents read and sealed: report.json names the SHA-256 of every file that was written with it.

Any part of a document that is read may be missing or of another kind.

A folder is complete, or says that it is not: while its files are replaced, a mark lies in the place of report.json; the
real one comes last. It lists the files under "digests" by their path, all but timing.json, which differs between two
equal runs. `goldassay check` and `goldassay diff` refuse a folder that is marked, lacks a listed file or has another in
its place. A report.json that was copied alone, with none of the listed files next to it, can be used everywhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from goldassay.core.errors import InputError

REPORT = "report.json"
DIGESTS = "digests"
# What the mark of an unfinished folder holds instead of a report.
INCOMPLETE = "incomplete"
_TIMING = "timing.json"
# Trained models and their answers took long to make, and another report may rest on them.
_KEPT = "runs/"


def seal(file: Path, digests: Mapping[str, str]) -> None:
    """Write the digests of the other files into a report.json."""
    document = json.loads(file.read_bytes())
    document[DIGESTS] = {name: digests[name] for name in sorted(digests) if name != _TIMING}
    file.write_text(as_json(document), encoding="utf-8")


def mark_incomplete(folder: Path, digests: Mapping[str, str], aside: Path) -> None:
    """Put a mark in the place of report.json, which knows the files of the report before and of the one to come.

    Args:
        folder: Of the report.
        digests: Of the files to come, by path.
        aside: A path in the same file system where the mark can be written first.
    """
    known = _known_files(folder)
    for name, digest in digests.items():
        known.setdefault(name, []).append(digest)
    mark = {"schema": "goldassay.report", INCOMPLETE: True, DIGESTS: known}
    aside.write_text(as_json(mark), encoding="utf-8")
    aside.replace(folder / REPORT)


def earlier_files(folder: Path) -> set[str]:
    """Files of the report that a folder has, by path, that are as they were written; never trained models."""
    return {
        name
        for name, digests in _known_files(folder).items()
        if not name.startswith(_KEPT) and _digest(folder / name) in digests
    }


def check_seal(file: Path, document: Mapping[str, Any]) -> None:
    """Refuse a report.json that lies among files of another report, or without some of its own.

    Raises:
        InputError: A listed file is another or is missing; a report.json that is alone passes.
    """
    listed = document.get(DIGESTS) or {}
    found = {name: _digest(file.parent / name) for name in listed}
    if not any(found.values()):
        return
    for name, digest in found.items():
        if digest != listed[name]:
            problem = "is missing" if digest is None else "is not the one that was written with it"
            raise InputError(
                f"the report is damaged or mixed with another: {name} {problem}",
                file=file,
                mend=f"run the command that made it again, or copy {REPORT} alone into another folder",
            )


def as_json(value: Mapping[str, Any]) -> str:
    """A document as JSON, the same bytes for the same content."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
    # A lone surrogate cannot be written as UTF-8; JSON may spell it as an escape.
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"


def _known_files(folder: Path) -> dict[str, list[str]]:
    """Digests that each listed file may have: one in a report.json, several where a writer was killed."""
    try:
        document = json.loads((folder / REPORT).read_bytes())
        known = {
            name: [digests] if isinstance(digests, str) else list(digests)
            for name, digests in document[DIGESTS].items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        # There was no report.
        return {}
    return {name: digests for name, digests in known.items() if _is_inside(name)}


def _is_inside(name: str) -> bool:
    """Whether a path stays within the folder that it is seen from, whoever wrote it into the JSON."""
    return not Path(name).is_absolute() and ".." not in Path(name).parts


def _digest(file: Path) -> str | None:
    """SHA-256 of a file; None where there is none."""
    if not file.is_file():
        return None
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


# What differs between two equal runs, the files, which a document that was never saved does not have, and the digest.
_LEFT_OUT = ("timing", "digests", "digest")


def mapping(value: Any, *keys: str) -> Mapping[str, Any]:
    """The object found under `keys`, or an empty one where there is none, or where it does not apply."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or value.get("applies") is False:
        return {}
    return value


def records(value: Any) -> list[Mapping[str, Any]]:
    """The list of objects, or an empty list where there is none."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, (list, tuple)) else []


def texts(value: Any) -> tuple[str, ...]:
    """The items of a list as texts; none where there is no list."""
    return tuple(str(item) for item in value) if isinstance(value, (list, tuple)) else ()


def digest_of(document: Mapping[str, Any]) -> str:
    """SHA-256 of what a document says but its times and files, however its JSON is indented or ordered or 1.0 spelled.

    It guards against slips, not against forgery: who changes a figure on purpose can compute the digest anew. Two equal
    runs have equal digests.
    """
    kept = {key: value for key, value in document.items() if key not in _LEFT_OUT}
    text = json.dumps(_canonical(kept), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def _canonical(value: Any) -> Any:
    """Whole numbers as integers: some programs write 1.0 as 1."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items()}
    return [_canonical(item) for item in value] if isinstance(value, list) else value
