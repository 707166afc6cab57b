"""Logs of inspect_ai (.eval): each epoch of a log is a run. Its header and summaries are read, never whole samples.

The score is that of the first scorer, `columns={"score": SCORER}` chooses another; C, P, I and N count as 1, 0.5, 0, 0.
Members of the archive may be packed with zstandard, which Python's zipfile reads only from 3.14 on.
"""

from __future__ import annotations

import json
import zipfile
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.errors import InputError
from goldassay.runs.slices import Collection, Columns, Request, Slice
from goldassay.runs.tables import start_of, take
from goldassay.runs.validation import listing

if TYPE_CHECKING:
    from pathlib import Path

NAME = "inspect"
PRIORITY = 31

_ZSTANDARD = 93
_MAX_MEMBER = 1 << 30
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}


def find(path: Path, request: Request) -> list[Slice] | None:
    """Recognize an archive that holds summaries of samples."""
    if not path.is_file() or start_of(path, 2) != b"PK":
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            members = {member.filename: member for member in archive.infolist()}
    except zipfile.BadZipFile as error:
        raise InputError("the archive is damaged or cut short", file=path, mend="copy it again") from error
    if "header.json" not in members and "_journal/start.json" not in members:
        return None
    if "summaries.json" not in members:
        raise InputError("the log has no summaries: the evaluation did not finish", file=path, mend="run it to its end")
    header = _read(path, members["header.json"])
    summaries = _read(path, members["summaries.json"])
    if not isinstance(summaries, list) or not summaries:
        raise InputError("there are no samples in the log", file=path)
    about = header["eval"]
    by_epoch: dict[int, list[dict[str, Any]]] = {}
    for summary in summaries:
        by_epoch.setdefault(int(summary.get("epoch", 1)), []).append(summary)
    run = str(about.get("eval_id") or about.get("run_id") or path.stem)
    return [
        Slice(
            collection=Collection(str(about["model"]), str(about["task"]), "", "paired", ""),
            seed=f"{run}-{epoch}" if len(by_epoch) > 1 else run,
            checkpoint=None,
            n_examples=len(samples),
            file=str(path),
            format=NAME,
            load=partial(_load, samples, request, path),
        )
        for epoch, samples in sorted(by_epoch.items())
    ]


def _load(samples: list[dict[str, Any]], request: Request, path: Path) -> Columns:
    scorer = request.columns.get("score") or next((name for s in samples for name in s.get("scores") or {}), None)
    scores: list[float] = []
    unscored: list[str] = []
    for sample in samples:
        found = (sample.get("scores") or {}).get(scorer)
        value = None if found is None else _number(found["value"])
        if value is None:
            unscored.append(str(sample["id"]))
        else:
            scores.append(value)
    if unscored:
        raise InputError(
            f"{len(unscored)} of {len(samples)} samples have no score, first {listing(unscored)}",
            file=path,
            mend="run them again, or choose a scorer with columns={'score': SCORER}",
        )
    return Columns(
        example_ids=pl.Series([str(sample["id"]) for sample in samples], dtype=pl.String),
        score=pl.Series(scores, dtype=pl.Float64),
    )


def _number(value: Any) -> float | None:
    if isinstance(value, (bool, int, float)):
        return float(value)
    return _LETTERS.get(value) if isinstance(value, str) else None


def _read(path: Path, member: zipfile.ZipInfo) -> Any:
    """A JSON member, unpacked in memory and no further than a limit; nothing is written to disk."""
    too_large = InputError(f"{member.filename} unpacks to more than {_MAX_MEMBER >> 20} MB", file=path)
    if member.file_size > _MAX_MEMBER:
        raise too_large
    try:
        if member.compress_type == _ZSTANDARD:
            data = _unpack_zstandard(path, member)
        else:
            with zipfile.ZipFile(path) as archive, archive.open(member) as file:
                data = take(file, _MAX_MEMBER + 1)
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError) as error:
        raise InputError(f"{member.filename} in the archive is damaged", file=path, mend="copy it again") from error
    if len(data) > _MAX_MEMBER:
        raise too_large
    try:
        return json.loads(data)
    except ValueError as error:
        raise InputError(f"{member.filename} in the archive is not JSON", file=path) from error


def _unpack_zstandard(path: Path, member: zipfile.ZipInfo) -> bytes:
    import zstandard

    with path.open("rb") as file:
        # The header before the data has 30 bytes, then a name and extra fields whose lengths it holds.
        file.seek(member.header_offset)
        header = file.read(30)
        if header[:4] != b"PK\x03\x04":
            raise zipfile.BadZipFile("no header before the member")
        skip = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        file.seek(skip, 1)
        packed = file.read(member.compress_size)
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
            return take(reader, _MAX_MEMBER + 1)
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(str(error)) from error
