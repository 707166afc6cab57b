"""Datasets on the hub. A server of ours answers as the hub does: the library and its cache are real."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import TYPE_CHECKING, Any

import huggingface_hub.constants
import polars as pl
import pytest

from goldassay import InputError, read_dataset
from goldassay.cli.main import run
from tests.cli.test_leakage import leaky_rows
from tests.stated import in_order, says

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROWS = pl.DataFrame(
    {"premise": [f"a dog {i}" for i in range(4)], "hypothesis": [f"an animal {i}" for i in range(4)],
     "label": ["entailment", "neutral"] * 2}
)  # fmt: skip
CONVERTED = "refs/convert/parquet"


def parquet(rows: pl.DataFrame = ROWS) -> bytes:
    held = BytesIO()
    rows.write_parquet(held)
    return held.getvalue()


class Hub:
    """Repositories by name and revision: path to bytes; and what was asked for."""

    def __init__(self) -> None:
        self.repositories: dict[str, dict[str, dict[str, bytes]]] = {}
        self.refused: dict[str, str] = {}
        self.tokens: list[str | None] = []
        self.fetched: list[str] = []

    def put(self, name: str, revision: str = CONVERTED, **files: bytes) -> None:
        """Add files, whose paths are written with `__` for `/` and `_dot_` for a dot."""
        paths = {path.replace("__", "/").replace("_dot_", "."): data for path, data in files.items()}
        self.repositories.setdefault(name, {}).setdefault(revision, {}).update(paths)

    def commit(self, name: str, revision: str) -> str:
        if len(revision) == 40:
            return revision
        return hashlib.sha1(f"{name}@{revision}".encode()).hexdigest()

    def files(self, name: str, revision: str) -> dict[str, bytes] | None:
        revisions = self.repositories[name]
        return next((files for of, files in revisions.items() if revision in (of, self.commit(name, of))), None)

    def answer(self, path: str, head: bool) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body."""
        path = urllib.parse.unquote(path.partition("?")[0])
        if path == "/":
            return 200, {}, b""
        api = path.startswith("/api/datasets/")
        owner, name, what, *rest = path.removeprefix("/api/datasets/").removeprefix("/datasets/").split("/")
        repository = f"{owner}/{name}"
        if repository in self.refused or repository not in self.repositories:
            return 404 if repository not in self.refused else 403, {
                "X-Error-Code": self.refused.get(repository, "RepoNotFound")
            }, b"{}"  # fmt: skip
        length = 3 if rest[0] == "refs" else 1
        revision, inside = "/".join(rest[:length]), "/".join(rest[length:])
        files = self.files(repository, revision)
        if files is None:
            return 404, {"X-Error-Code": "RevisionNotFound"}, b"{}"
        commit = self.commit(repository, revision)
        if api and what == "revision":
            return 200, {}, json.dumps({"id": repository, "sha": commit, "siblings": []}).encode()
        if api and what == "tree":
            tree = [{"type": "file", "path": file, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
                    for file, data in files.items()]  # fmt: skip
            return 200, {}, json.dumps(tree).encode()
        if inside not in files:
            return 404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit}, b"{}"
        if not head:
            self.fetched.append(f"{repository}/{inside}")
        data = files[inside]
        return 200, {"X-Repo-Commit": commit, "ETag": f'"{hashlib.sha1(data).hexdigest()}"'}, data


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    held = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.respond(head=False)

        def do_HEAD(self) -> None:
            self.respond(head=True)

        def respond(self, head: bool) -> None:
            held.tokens.append(self.headers.get("Authorization"))
            status, headers, body = held.answer(self.path, head)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if not head:
                self.wfile.write(body)

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("HF_TOKEN", "secret")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    yield held
    server.shutdown()


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nobody answers at the hub's address."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))


def lengths(name: str) -> dict[str, int]:
    dataset = read_dataset(name)
    return {part: len(rows) for part, rows in dataset.parts.items()}


def test_the_conversion_of_the_hub_with_all_its_parts(hub: Hub) -> None:
    hub.put("someone/pairs", default__train__0000_dot_parquet=parquet(), default__train__0001_dot_parquet=parquet(),
            default__test__0000_dot_parquet=parquet(ROWS[:2]))  # fmt: skip
    assert lengths("someone/pairs") == {"train": 8, "test": 2}
    assert read_dataset("someone/pairs").name == "someone/pairs"
    (note,) = [each for each in read_dataset("someone/pairs").provenance.decisions if each.startswith("Read from")]
    commit = hub.commit("someone/pairs", CONVERTED)
    assert note == says("someone/pairs", "configuration default", f"commit {commit} of {CONVERTED}")


def test_one_part_is_named_after_its_configuration(hub: Hub) -> None:
    hub.put("a/glue", rte__train__0000_dot_parquet=parquet(), rte__validation__0000_dot_parquet=parquet(ROWS[:3]))
    assert len(read_dataset("a/glue:rte/validation")) == 3
    with pytest.raises(InputError, match=in_order("no part 'dev' of rte", "train, validation")):
        read_dataset("a/glue:rte/dev")


def test_configurations_must_be_chosen(hub: Hub) -> None:
    hub.put("a/glue", mnli__train__0000_dot_parquet=parquet(), rte__train__0000_dot_parquet=parquet(ROWS[:3]))
    with pytest.raises(InputError, match=in_order("configurations: mnli, rte", "a/glue:CONFIGURATION")):
        read_dataset("a/glue")
    assert len(read_dataset("a/glue:rte")) == 3
    assert hub.fetched == ["a/glue/rte/train/0000.parquet"]


def test_a_revision_is_read_as_its_files_are(hub: Hub) -> None:
    hub.put("a/b", data__train_dot_csv=ROWS.write_csv().encode(), README_dot_md=b"about")
    hub.put("a/b", "v1", data__train_dot_csv=ROWS[:3].write_csv().encode())
    hub.put("a/b", "refs/pr/7", train_dot_jsonl=ROWS[:2].write_ndjson().encode())
    assert len(read_dataset("a/b@v1")) == 3
    assert len(read_dataset("a/b@refs/pr/7")) == 2
    with pytest.raises(InputError, match=in_order("a/b@v9:", "no such revision", "@")):
        read_dataset("a/b@v9")


def test_without_a_conversion_the_files_themselves_are_read(hub: Hub) -> None:
    hub.put("a/b", "main", train_dot_jsonl=ROWS.write_ndjson().encode(), dataset_infos_dot_json=b"{}")
    assert len(read_dataset("a/b")) == 4


def test_one_file(hub: Hub) -> None:
    hub.put("a/b", "v2", sub__x_dot_csv=ROWS[:3].write_csv().encode())
    assert len(read_dataset("hf://datasets/a/b@v2/sub/x.csv")) == 3
    with pytest.raises(InputError, match="the dataset has no such file; check the path in it"):
        read_dataset("hf://datasets/a/b@v2/sub/y.csv")


def test_the_cache_answers_where_the_hub_does_not(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.put("a/b", default__train__0000_dot_parquet=parquet(), default__test__0000_dot_parquet=parquet(ROWS[:2]))
    online = read_dataset("a/b:default/train")
    assert sorted(hub.fetched) == ["a/b/default/test/0000.parquet", "a/b/default/train/0000.parquet"]
    read_dataset("a/b")
    assert len(hub.fetched) == 2, "what is in the cache is not fetched again"
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    again = read_dataset("a/b:default/train")
    assert again.examples.equals(online.examples)
    assert again.provenance == online.provenance, "a report does not tell where the bytes lay"
    assert lengths("a/b") == {"train": 4, "test": 2}


def test_an_audit_of_the_cache_is_that_of_the_hub(hub: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hub.put("a/b", default__train__0000_dot_parquet=parquet(pl.DataFrame(leaky_rows(400))),
            default__test__0000_dot_parquet=parquet(pl.DataFrame(leaky_rows(240, seed=1))))  # fmt: skip
    for folder, endpoint in (("online", None), ("offline", "http://127.0.0.1:9")):
        if endpoint is not None:
            monkeypatch.setenv("HF_ENDPOINT", endpoint)
        assert run(["audit", "a/b:default/train", "--test", "a/b:default/test", "-o", folder, "-q"]) == 0
    reports = [(tmp_path / folder / "report.json").read_bytes() for folder in ("online", "offline")]
    assert reports[0] == reports[1]
    assert hub.commit("a/b", CONVERTED) in reports[0].decode()


def test_a_piece_in_the_cache_does_not_pass_for_the_whole(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.put("a/glue", mnli__train__0000_dot_parquet=parquet(), rte__train__0000_dot_parquet=parquet(ROWS[:3]))
    read_dataset("a/glue:rte")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert len(read_dataset("a/glue:rte")) == 3
    for name in ("a/glue", "a/glue:mnli"):
        with pytest.raises(InputError, match="the cache holds no whole dataset of that name"):
            read_dataset(name)


def test_the_token_goes_with_every_question(hub: Hub) -> None:
    hub.put("a/b", "main", x_dot_csv=ROWS.write_csv().encode())
    read_dataset("hf://datasets/a/b/x.csv")
    assert "Bearer secret" in hub.tokens


def test_what_the_hub_refuses_is_one_line(hub: Hub) -> None:
    with pytest.raises(InputError, match=in_order("hub knows no dataset", "check")):
        read_dataset("no/such")
    hub.refused["a/gated"] = "GatedRepo"
    with pytest.raises(InputError, match=in_order("accepted", "terms", "log in")):
        read_dataset("a/gated")
    hub.put("a/empty", "main", README_dot_md=b"about")
    with pytest.raises(InputError, match="the hub has no data files of it that can be read"):
        read_dataset("a/empty")


@pytest.mark.parametrize("name", ["user/dataset", "user/dataset@v1:plain/train", "hf://datasets/a/b/x.csv"])
def test_without_a_connection_one_line_says_so(offline: None, name: str) -> None:
    started = time.monotonic()
    with pytest.raises(InputError, match=in_order("hub cannot be reached", "cache")):
        read_dataset(name)
    assert time.monotonic() - started < 15


def test_a_hub_that_never_answers_is_waited_for_in_bounds(offline: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    monkeypatch.setattr("goldassay.data.hub._PATIENCE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        started = time.monotonic()
        with pytest.raises(InputError, match="the hub cannot be reached"):
            read_dataset("user/dataset")
        assert time.monotonic() - started < 10


def test_offline_mode_asks_nobody(tmp_path: Path) -> None:
    environment = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path), "HF_ENDPOINT": "http://127.0.0.1:9"}
    import os

    done = subprocess.run(
        [sys.executable, "-m", "goldassay", "audit", "user/dataset", "-o", "report"],
        env={**os.environ, **environment}, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == says(
        "goldassay: user/dataset:", "HF_HUB_OFFLINE", "cache", "unset HF_HUB_OFFLINE"
    )
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "report").exists()


def test_a_misspelt_file_is_not_sought_on_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    for name in ("data/trainn", "folder/train.jsonl", "data/trainn:a/b"):
        with pytest.raises(InputError, match="there is no such file or folder; check"):
            read_dataset(name)
