"""A small report with rows of every kind, made without an audit, and a server for it."""

from __future__ import annotations

import hashlib
import http.client
import json
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
import polars as pl

from goldassay.core.progress import Steps
from goldassay.questions.report_frame import frame_findings
from goldassay.report.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from goldassay.view.opening import Workbench

LABELS = ("entailment", "neutral", "contradiction")
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
WORDS = ("nobody", "outside", "man", "sleeping", "a.b", "über", "zebra's", "don't")


def rows(n: int = 230, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)

    def texts(length: int) -> list[str]:
        return [" ".join(rng.choice(WORDS, length)).capitalize() + "." for _ in range(n)]

    premises = texts(6)
    premises[0] = HOSTILE
    return pl.DataFrame(
        {
            "example_id": [f"row-{i}" for i in range(n)],
            "premise": premises,
            "hypothesis": texts(3),
            "label": [LABELS[i] for i in rng.integers(0, 3, n)],
            "group_genre": [None if i % 50 == 7 else f"genre {i % 4}" for i in range(n)],
            "difficulty": [("easy", "hard", "uncovered")[i] for i in rng.integers(0, 3, n)],
            "right_hypothesis_only": rng.integers(0, 6, n) / 5,
            "confidence": [None if i % 60 == 3 else float(v) for i, v in enumerate(rng.random(n).round(3))],
            "variability": (rng.random(n) / 2).round(3),
            "runs_scores": pl.Series(rng.integers(0, 2, (n, 4)).astype(float).tolist(), dtype=pl.List(pl.Float32)),
            "runs_answers": [[LABELS[i] for i in each] for each in rng.integers(0, 3, (n, 4))],
        }
    )


RUNS = ("bert", "gpt.2 seed 1", "gpt.2 seed 2", "<b>t5</b>")
PARTIAL = "llama & co"


def with_partial(table: pl.DataFrame) -> pl.DataFrame:
    """The same with a run that lacks every third row, and is half right on some."""
    n = table.height
    scores = [None if i % 3 == 0 else float(i % 2) if i % 5 else 0.5 for i in range(n)]
    answers = [None if score is None else LABELS[i % 3] for i, score in enumerate(scores)]
    return table.with_columns(
        partial_scores=pl.Series([[each] for each in scores], dtype=pl.List(pl.Float32)),
        partial_answers=pl.Series([[each] for each in answers], dtype=pl.List(pl.String)),
    )


def run_table(n_whole: int = len(RUNS)) -> pl.DataFrame:
    """The runs of `rows` and `with_partial`, as an audit names them."""
    return pl.DataFrame({"run": [*RUNS[:n_whole], PARTIAL], "answers_all": [True] * n_whole + [False]})


def items() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "example_id": ["a", "b"],
            "passage": ["", "A passage."],
            "question": ["Which?", "What?"],
            "choices": [["one", "two"], ["three", "four", HOSTILE]],
            "answer": [["two"], ["three"]],
            "label": ["B", "A"],
        }
    )


def save_report(
    folder: Path, table: pl.DataFrame, dataset: Path | None = None, runs: pl.DataFrame | None = None
) -> Path:
    """Write a report on the rows of a table, and on runs of these; returns its folder."""
    texts = ["premise", "hypothesis"] if "premise" in table.columns else []
    digest = [] if dataset is None else [hashlib.sha256(dataset.read_bytes()).hexdigest()]
    findings = {
        "dataset": {"name": "made", "label_names": list(LABELS), "text_columns": texts},
        "inputs": [{"role": "test", "name": "made", "files": ["made.jsonl"], "sha256": digest}],
        "settings": {},
    }
    document = frame_findings("Made rows", findings, Steps(quiet=True)).document
    places = {} if dataset is None else {"test": dataset}
    tables = {"examples": table} if runs is None else {"examples": table, "answering_runs": runs}
    Report(document, tables, places=places).save(folder)
    return folder


def save_both(base: Path, n: int = 230) -> tuple[Path, Path]:
    """A dataset file and a report on it."""
    table = rows(n)
    dataset = base / "made.jsonl"
    table.select("example_id", "premise", "hypothesis", "label", genre="group_genre").write_ndjson(dataset)
    return dataset, save_report(base / "report", table, dataset)


@contextmanager
def served(bench: Workbench) -> Iterator[str]:
    """A running server; gives its address."""
    import uvicorn

    from goldassay.view.server import bind, make_app, new_token

    taken, token = bind(0), new_token()
    port = taken.getsockname()[1]
    config = uvicorn.Config(make_app(bench, token, port), log_level="error", access_log=False, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}/{token}/"
    finally:
        server.should_exit = True
        thread.join(10)
        taken.close()


def ask(
    address: str, path: str = "", *, body: Any = None, headers: dict[str, str] | None = None, method: str = ""
) -> tuple[int, str, dict[str, str]]:
    """Send one request; a body is sent as JSON of the page's own origin."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 0, timeout=20)
    sent = {"Origin": f"http://{parts.netloc}"} if body is not None else {}
    sent |= headers or {}
    content = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    target = path if path.startswith("/") else parts.path + path
    connection.request(method or ("GET" if body is None else "POST"), target, content, sent)
    answer = connection.getresponse()
    told = answer.read().decode()
    connection.close()
    return answer.status, told, {name.lower(): value for name, value in answer.getheaders()}
