"""Datasets on the Hugging Face hub, through huggingface_hub: with its cache, its tokens and its revisions.

`owner/name[@REVISION][:CONFIGURATION[/SPLIT]]` is the dataset as the hub itself converted it to Parquet, or, where a
revision is named or there is no conversion, the data files of the repository. `hf://datasets/owner/name[@REVISION]/path`
is one file of it. What was fetched once is read from the cache where there is no connection.
"""

from __future__ import annotations

import os
import re
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass, replace
from glob import escape
from logging import ERROR
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.errors import InputError
from goldassay.data.readers import reader_for
from goldassay.data.table import Table, stacked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


NAME = re.compile(
    r"(?P<repository>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)"
    r"(?:@(?P<revision>[\w./-]+))?"
    r"(?::(?P<configuration>[\w.-]+)(?:/(?P<split>[\w.-]+))?)?"
)


def is_hub_name(place: str) -> bool:
    """Whether a path names a dataset on the hub: `hf://...`, or `owner/name` where no such file or folder is."""
    if place.startswith("hf://"):
        return True
    found = NAME.fullmatch(place)
    if found is None or Path(place).exists():
        return False
    repository = found["repository"]
    # A misspelt file in an existing folder, or one that has a file's ending, was not meant for the hub.
    return not Path(repository).parent.is_dir() and not re.search(r"\.[a-z]+\d?$", repository.lower())


# Seconds that are waited for the hub to answer at all. huggingface_hub alone tries for half a minute.
_PATIENCE = 10.0
_ENDPOINT = "https://huggingface.co"
# Where the hub keeps its own conversion of each dataset.
_CONVERTED = "refs/convert/parquet"
_ENDINGS = (".parquet", ".arrow", ".jsonl", ".json", ".csv", ".tsv")
_PACKED = ("", ".gz", ".zst")
_FILE = re.compile(
    r"hf://datasets/(?P<repository>[^/@]+/[^/@]+)(?:@(?P<revision>[^/]+|refs/[^/]+/[^/]+))?(?:/(?P<inside>.*))?"
)


@dataclass(frozen=True)
class _Wanted:
    place: str
    repository: str
    revision: str | None
    configuration: str | None = None
    split: str | None = None

    @property
    def revisions(self) -> tuple[str, ...]:
        return (_CONVERTED, "main") if self.revision is None else (self.revision,)


def read_hub(place: str) -> Table:
    """Read a dataset or one file of it, from the cache of huggingface_hub or from the hub.

    Raises:
        InputError: There is neither a connection nor a copy in the cache; no such dataset, revision, configuration or
            split; or several configurations to choose from.
    """
    if place.startswith("hf://"):
        return _one_file(place)
    found = NAME.fullmatch(place)
    if found is None:
        raise InputError("is no name of a dataset", file=place, mend="write owner/name, or owner/name:CONFIGURATION")
    return _dataset(_Wanted(place, **found.groupdict()))


def _one_file(place: str) -> Table:
    found = _FILE.fullmatch(place)
    if found is None:
        raise InputError("the hub name is incomplete", file=place, mend="write hf://datasets/owner/name/path/file")
    wanted = _Wanted(place, found["repository"], found["revision"])
    inside = found["inside"]
    if not inside:
        return _dataset(wanted)
    if any(mark in inside for mark in "*?["):
        raise InputError("patterns are not expanded on the hub", file=place, mend="name one file, or owner/name")
    from huggingface_hub import hf_hub_download

    online = is_hub_reachable()
    with _plain_errors(place, online=online):
        path = hf_hub_download(
            wanted.repository,
            inside,
            repo_type="dataset",
            revision=wanted.revision or "main",
            endpoint=hub_endpoint(),
            etag_timeout=_PATIENCE,
            local_files_only=not online,
        )
    return reader_for(Path(path)).read(Path(path))


def _dataset(wanted: _Wanted) -> Table:
    online = is_hub_reachable()
    with _plain_errors(wanted.place, online=online):
        revision, folder, files = _downloaded(wanted) if online else _cached(wanted)
    configuration = _configuration(wanted, files)
    parts: dict[str, list[str]] = {}
    for file in files:
        of, split = part_of(file)
        if of == configuration:
            parts.setdefault(split, []).append(file)
    if wanted.split is not None and wanted.split not in parts:
        raise InputError(
            f"there is no part {wanted.split!r} of {configuration}",
            file=wanted.place,
            mend=f"choose from {', '.join(parts)}",
        )
    chosen = {split: names for split, names in parts.items() if wanted.split in (None, split)}
    tables = {split: _joined([folder / name for name in names]) for split, names in chosen.items()}
    # The folder of a snapshot has the name of its commit.
    note = f"Read from the hub: {wanted.repository}, configuration {configuration}, commit {folder.name}"
    return stacked(tables, "hub", (f"{note} of {revision}.",))


def _joined(paths: Sequence[Path]) -> Table:
    """The pieces of one part, in the order of their names."""
    tables = [reader_for(path).read(path) for path in paths]
    first = tables[0]
    if len(tables) == 1:
        return first
    if any(table.class_names != first.class_names for table in tables):
        raise InputError(
            "its pieces give the labels different names", file=paths[0], mend="report it to its maintainers"
        )
    return replace(
        first,
        frame=pl.concat([table.frame for table in tables], how="diagonal_relaxed"),
        files=tuple(file for table in tables for file in table.files),
        decisions=tuple(dict.fromkeys(said for table in tables for said in table.decisions)),
        lines=None,
    )


def _downloaded(wanted: _Wanted) -> tuple[str, Path, list[str]]:
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import RevisionNotFoundError

    api = HfApi(endpoint=hub_endpoint())
    listed: list[str] = []
    revision = wanted.revisions[0]
    for revision in wanted.revisions:
        try:
            names = api.list_repo_files(wanted.repository, repo_type="dataset", revision=revision)
        except RevisionNotFoundError:
            if revision == wanted.revisions[-1]:
                raise
            continue
        listed = sorted(name for name in names if is_data(name))
        if listed:
            break
    configuration = _configuration(wanted, listed)
    # All parts of it, so that the cache never holds a piece that is taken for the whole later.
    files = [name for name in listed if part_of(name)[0] == configuration]
    folder = snapshot_download(
        wanted.repository,
        repo_type="dataset",
        revision=revision,
        allow_patterns=[escape(name) for name in files],
        endpoint=hub_endpoint(),
        etag_timeout=_PATIENCE,
    )
    return revision, Path(folder), files


def _cached(wanted: _Wanted) -> tuple[str, Path, list[str]]:
    """What the cache holds, if it is complete: a part that was fetched alone must not pass for the whole."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    whole = [f"*{ending}{packed}" for ending in _ENDINGS for packed in _PACKED]
    named = wanted.configuration not in (None, "default")
    for revision in wanted.revisions:
        try:
            folder = Path(
                snapshot_download(
                    wanted.repository,
                    repo_type="dataset",
                    revision=revision,
                    allow_patterns=[f"{wanted.configuration}/*"] if named else whole,
                    local_files_only=True,
                )
            )
        except LocalEntryNotFoundError:
            if revision == wanted.revisions[-1]:
                raise
            continue
        names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
        files = [name for name in names if is_data(name)]
        if not named or any(part_of(name)[0] == wanted.configuration for name in files):
            return revision, folder, files
    raise LocalEntryNotFoundError(wanted.repository)


def is_data(name: str) -> bool:
    """Whether a file of a repository holds data, by its name."""
    lower = name.lower()
    # JSON beside the data describes it.
    described = lower.rpartition("/")[2] in ("dataset_infos.json", "dataset_info.json", "state.json", "config.json")
    return lower.endswith(tuple(f"{ending}{packed}" for ending in _ENDINGS for packed in _PACKED)) and not described


def part_of(name: str) -> tuple[str, str]:
    """Configuration and split of a file: `CONFIGURATION/SPLIT/0000.parquet`, or `data/SPLIT-00000-of-00002.csv`."""
    *folders, file = name.split("/")
    stem = file.partition(".")[0]
    if stem.isdigit() and len(folders) >= 2:
        return "/".join(folders[:-1]), folders[-1].removeprefix("partial-")
    of = "/".join(folder for folder in folders if folder != "data")
    return of or "default", re.sub(r"-\d+-of-\d+$", "", stem)


def _configuration(wanted: _Wanted, files: Sequence[str]) -> str:
    known = list(dict.fromkeys(part_of(name)[0] for name in files))
    if not known:
        raise InputError(
            "the hub has no data files of it that can be read",
            file=wanted.place,
            mend="name one with hf://datasets/owner/name/path/file",
        )
    if wanted.configuration in known:
        return wanted.configuration
    if wanted.configuration is None and (len(known) == 1 or "default" in known):
        return known[0] if len(known) == 1 else "default"
    at = "" if wanted.revision is None else f"@{wanted.revision}"
    raise InputError(
        f"choose one of its configurations: {', '.join(known[:10])}",
        file=wanted.place,
        mend=f"write {wanted.repository}{at}:CONFIGURATION",
    )


def hub_endpoint() -> str:
    """Address of the hub: that of the variable HF_ENDPOINT, or the usual one."""
    return os.environ.get("HF_ENDPOINT", _ENDPOINT).rstrip("/")


def is_hub_reachable() -> bool:
    """Whether the hub may be asked and answers: without a connection, looking up its address can hang for minutes."""
    from huggingface_hub.constants import HF_HUB_OFFLINE

    if HF_HUB_OFFLINE:
        return False
    answered: list[bool] = []

    def knock() -> None:
        try:
            urllib.request.urlopen(urllib.request.Request(hub_endpoint(), method="HEAD"), timeout=_PATIENCE).close()
            answered.append(True)
        except urllib.error.HTTPError:
            answered.append(True)
        except (OSError, ValueError):
            answered.append(False)

    thread = threading.Thread(target=knock, daemon=True)
    thread.start()
    thread.join(_PATIENCE)
    return any(answered)


@contextmanager
def _plain_errors(place: str, *, online: bool) -> Iterator[None]:
    """Every failure of the library as one line, without its progress bars and its warnings.

    Raises:
        InputError: In words of ours.
    """
    from huggingface_hub import constants, errors
    from huggingface_hub.utils import logging
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    shown, level = not are_progress_bars_disabled(), logging.get_verbosity()
    disable_progress_bars()
    logging.set_verbosity(ERROR)
    try:
        yield
    except InputError:
        raise
    except errors.LocalEntryNotFoundError as error:
        if online:
            raise InputError("the hub cannot be read", file=place, mend="try again later") from error
        if constants.HF_HUB_OFFLINE:
            why, mend = "HF_HUB_OFFLINE is set", "unset HF_HUB_OFFLINE"
        else:
            why, mend = "the hub cannot be reached", "connect to the network"
        raise InputError(
            f"there is no such file or folder, {why}, and the cache holds no whole dataset of that name",
            file=place,
            mend=f"check the path, or {mend}",
        ) from error
    except errors.GatedRepoError as error:
        raise InputError(
            "the dataset is shown only to those who accepted its terms",
            file=place,
            mend="accept them on its page, and log in with: hf auth login",
        ) from error
    except errors.RevisionNotFoundError as error:
        raise InputError("the hub has no such revision of it", file=place, mend="check what follows the @") from error
    except errors.RepositoryNotFoundError as error:
        raise InputError(
            "the hub knows no dataset of that name, or does not show it to you",
            file=place,
            mend="check the name; for a private dataset log in with hf auth login, or set HF_TOKEN",
        ) from error
    except errors.EntryNotFoundError as error:
        raise InputError("the dataset has no such file", file=place, mend="check the path in it") from error
    except errors.HfHubHTTPError as error:
        status = getattr(error.response, "status_code", "an error")
        raise InputError(f"the hub answers {status}", file=place, mend="try again later") from error
    except (OSError, ValueError, RuntimeError) as error:
        said = str(error).strip().partition("\n")[0] or type(error).__name__
        raise InputError(f"the hub cannot be read ({said})", file=place, mend="try again later") from error
    finally:
        logging.set_verbosity(level)
        if shown:
            enable_progress_bars()
