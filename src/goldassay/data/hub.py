"""Datasets on the hub, fetched over plain HTTPS.

`hf://datasets/user/name[@revision]/path/file.csv` is that file, read as a local one would be; `user/name` or
`user/name:configuration` is the hub's own conversion to Parquet, with all its parts. A private dataset is read with
the token in HF_TOKEN.

Why neither of the libraries that know the hub: polars gives such files' rows, while the names of the classes stand in
their metadata, which our own reader of local files takes; huggingface_hub, without a network, retries for half a
minute and writes a page of warnings, where one line within a second is wanted.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import polars as pl

from goldassay.core.errors import InputError
from goldassay.data.readers import parquet, reader_for
from goldassay.data.table import Table, stacked

_PATIENCE = 10.0
_ENDPOINT = "https://huggingface.co"


def read_hub(place: str) -> Table:
    """Fetch a dataset or one file of it, and read it.

    Raises:
        InputError: There is no network, no such dataset, or several configurations to choose from.
    """
    _check_reachable(place)
    with tempfile.TemporaryDirectory(prefix="goldassay-hub-") as folder:
        if place.startswith("hf://"):
            return _one_file(place, Path(folder))
        return _converted(place, Path(folder))


def _endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", _ENDPOINT).rstrip("/")


def _one_file(place: str, folder: Path) -> Table:
    kind, _, rest = place.removeprefix("hf://").partition("/")
    user, _, rest = rest.partition("/")
    name, _, inside = rest.partition("/")
    if kind != "datasets" or not (user and name):
        raise InputError("the hub name is incomplete", file=place, mend="write hf://datasets/user/name/path/file")
    if not inside:
        return _converted(f"{user}/{name}", folder)
    if any(mark in inside for mark in "*?["):
        raise InputError("patterns are not expanded on the hub", file=place, mend="name one file, or user/name")
    name, _, revision = name.partition("@")
    parts = (urllib.parse.quote(part, safe="") for part in (user, name))
    where = "/".join(parts)
    branch = urllib.parse.quote(revision or "main", safe="")
    url = f"{_endpoint()}/datasets/{where}/resolve/{branch}/{urllib.parse.quote(inside)}"
    target = folder / Path(inside).name
    target.write_bytes(_fetched(url, place))
    return reader_for(target).read(target)


def _converted(place: str, folder: Path) -> Table:
    name, _, wanted = place.partition(":")
    listing: dict[str, Any] = json.loads(_fetched(f"{_endpoint()}/api/datasets/{name}/parquet", place))
    configuration = wanted or ("default" if "default" in listing else next(iter(listing), ""))
    if configuration not in listing or (not wanted and len(listing) > 1 and "default" not in listing):
        known = ", ".join(list(listing)[:10]) or "none"
        raise InputError(f"choose one of its configurations: {known}", file=place, mend=f"write {name}:CONFIGURATION")
    parts: dict[str, Table] = {}
    for part, urls in listing[configuration].items():
        tables: list[Table] = []
        for number, url in enumerate(urls):
            target = folder / f"{part}-{number}.parquet"
            target.write_bytes(_fetched(url, place))
            tables.append(parquet.read(target))
            target.unlink()
        files = tuple(file for table in tables for file in table.files)
        frame = pl.concat([table.frame for table in tables])
        parts[part] = Table(frame, "hub", files, class_names=tables[0].class_names)
    return stacked(parts, "hub", (f"Read from the hub: {name}, configuration {configuration}.",))


def _check_reachable(place: str) -> None:
    # Looking up a name can hang for minutes without a network, and takes no timeout of its own.
    outcome: list[Exception | None] = []

    def knock() -> None:
        try:
            urllib.request.urlopen(urllib.request.Request(_endpoint(), method="HEAD"), timeout=_PATIENCE).close()
            outcome.append(None)
        except urllib.error.HTTPError:
            outcome.append(None)
        except (OSError, ValueError) as error:
            outcome.append(error)

    thread = threading.Thread(target=knock, daemon=True)
    thread.start()
    thread.join(_PATIENCE)
    if not outcome or outcome[0] is not None:
        raise InputError(
            "there is no such file or folder, and the hub cannot be reached to look for a dataset of that name",
            file=place,
            mend="check the path, or fetch the dataset where there is a network and give its folder",
        )


def _request(url: str) -> urllib.request.Request:
    # The token goes to the hub alone, not to the stores that it redirects to.
    token = os.environ.get("HF_TOKEN")
    request = urllib.request.Request(url)
    if token and url.startswith(f"{_endpoint()}/"):
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    return request


def _fetched(url: str, place: str) -> bytes:
    try:
        with urllib.request.urlopen(_request(url), timeout=_PATIENCE) as answer:
            data = answer.read()
    except urllib.error.HTTPError as error:
        raise InputError(
            f"the hub answers {error.code} {error.reason}",
            file=place,
            mend="check the name; a private dataset needs HF_TOKEN",
        ) from error
    except (OSError, ValueError) as error:
        raise InputError(f"the hub cannot be read ({error})", file=place, mend="try again later") from error
    return bytes(data)
