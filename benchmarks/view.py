"""The workbench over a million rows with twenty runs: first page, random filters, regular expressions, memory.

    python -m benchmarks.view [ROWS]

The rows are made: words drawn by rank from a vocabulary, as in texts, so that some words are in most rows and some in
few. Printed beside it: the same selections by polars alone, streamed from the same file, which is what a page without
anything held in memory would take.
"""

from __future__ import annotations

import sys
import tempfile
import time
import urllib.request
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import numpy as np
import polars as pl

from goldassay.core.progress import Steps
from goldassay.questions.report_frame import frame_findings
from goldassay.report.report import Report

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_VOCABULARY = 20_000
_N_RUNS = 20
_LABELS = ("entailment", "neutral", "contradiction")


def make_report(folder: Path, n_rows: int, seed: int = 0) -> list[str]:
    """Write a report with so many rows; returns its words, the most frequent first."""
    rng = np.random.default_rng(seed)
    words = pl.Series(
        ["".join(rng.choice(list("abcdefghijklmnoprstuvwz"), rng.integers(3, 9))) for _ in range(_VOCABULARY)]
    )

    def texts(length: int) -> pl.Series:
        # Zipf's law, about.
        ranks = np.minimum((rng.pareto(0.9, (n_rows, length)) * 3).astype(np.int64), _VOCABULARY - 1)
        drawn = pl.DataFrame([words.gather(ranks[:, i]).alias(str(i)) for i in range(length)])
        return drawn.select(pl.concat_str(pl.all(), separator=" ")).to_series()

    labels = rng.integers(0, 3, n_rows)
    # Half of the rows are easy for all runs, as in benchmarks that models solve.
    likely = np.where(rng.random(n_rows) < 0.5, 0.98, 0.7)
    answers = np.where(rng.random((_N_RUNS, n_rows)) < likely, labels, rng.integers(0, 3, (_N_RUNS, n_rows)))
    named = pl.Series(_LABELS)
    in_lists = pl.DataFrame([named.gather(each).alias(str(at)) for at, each in enumerate(answers)])
    scores = pl.DataFrame([pl.Series(str(at), (each == labels).astype(np.float32)) for at, each in enumerate(answers)])
    examples = pl.DataFrame(
        {
            "example_id": pl.Series([f"row-{i}" for i in range(n_rows)]),
            "premise": texts(14),
            "hypothesis": texts(8),
            "label": named.gather(labels),
            "group_genre": pl.Series([f"genre {i}" for i in range(20)]).gather(rng.integers(0, 20, n_rows)),
            "difficulty": pl.Series(["easy", "hard", "conflicting", "uncovered"]).gather(rng.integers(0, 4, n_rows)),
            "right_hypothesis_only": rng.integers(0, 6, n_rows) / 5,
            "confidence": rng.random(n_rows),
            "variability": rng.random(n_rows) / 2,
            "runs_scores": scores.select(pl.concat_list(pl.all())).to_series(),
            "runs_answers": in_lists.select(pl.concat_list(pl.all())).to_series(),
        }
    )
    runs = pl.DataFrame({"run": [f"model {at}" for at in range(_N_RUNS)], "answers_all": True})
    findings = {"dataset": {"name": "made", "label_names": list(_LABELS),
                            "text_columns": ["premise", "hypothesis"]}, "inputs": [], "settings": {}}  # fmt: skip
    Report(frame_findings("Made rows", findings, Steps(quiet=True)).document,
           {"examples": examples, "answering_runs": runs}).save(folder)  # fmt: skip
    return words.to_list()


def random_queries(words: list[str], n: int, seed: int = 0) -> list[str]:
    """Filters as people combine them: a word or two, a class, a label, runs, a range, an order."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        query: dict[str, Any] = {}
        if rng.random() < 0.7:
            query["q"] = " ".join(words[int(r)] for r in rng.integers(0, 400, rng.integers(1, 3)))
        if rng.random() < 0.5:
            query["f.difficulty"] = str(rng.choice(["easy", "hard", "conflicting"]))
        if rng.random() < 0.5:
            query["f.label"] = str(rng.choice(["entailment", "neutral"]))
        if rng.random() < 0.3:
            query["f.group_genre"] = f"genre {rng.integers(20)}"
        if rng.random() < 0.5:
            for at in rng.choice(_N_RUNS, rng.integers(1, 4), replace=False):
                query[f"run.model {at}"] = str(rng.choice(["right", "wrong"]))
        if rng.random() < 0.3:
            query["n.confidence"] = f"{rng.random() / 2:.2f}..0.9"
        if rng.random() < 0.4:
            query["sort"] = str(rng.choice(["-confidence", "confidence", "variability"]))
        query["page"] = int(rng.integers(1, 4))
        found.append(urlencode(query))
    return found


def _serve(folder: str, sender: Connection) -> None:
    from goldassay.view.opening import open_workbench
    from goldassay.view.server import serve

    serve(open_workbench(folder, decisions=f"{folder}.decisions.jsonl"), 0, sender.send)


def _ask(address: str) -> float:
    begin = time.perf_counter()
    with urllib.request.urlopen(address) as answer:
        answer.read()
    return time.perf_counter() - begin


def _peak(pid: int) -> float:
    """The most memory that a process had at once, in gigabytes; that of this process's machine alone has it."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1e6


def main(n_rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report"
        words = make_report(report, n_rows)
        ours, theirs = get_context("spawn").Pipe()
        process = get_context("spawn").Process(target=_serve, args=(str(report), theirs), daemon=True)
        begin = time.perf_counter()
        process.start()
        address = ours.recv()
        ready = time.perf_counter() - begin
        print(f"{n_rows:,} rows; the address after {ready:.2f} s, the first page {_ask(address):.2f} s later")
        queries = random_queries(words, 30)
        for warm in (*random_queries(words, 5, seed=1), "sort=-confidence", "sort=confidence", "sort=variability"):
            _ask(f"{address}?{warm}")
        taken = sorted(_ask(f"{address}?{query}") for query in queries)
        print(f"30 filters: median {1000 * taken[15]:.0f} ms, 95th percentile {1000 * taken[28]:.0f} ms, "
              f"longest {1000 * taken[29]:.0f} ms")  # fmt: skip
        patterns = [
            urlencode({"q": p, "re": 1})
            for p in (rf"^{words[3]}", r"\b(\w{8}) \w+$", "[aeiou]{4}", rf"{words[50]} .* {words[1]}", r"zz\w*z")
        ]
        taken = sorted(_ask(f"{address}?{query}") for query in patterns)
        print(
            f"5 regular expressions: longest {1000 * taken[-1]:.0f} ms; memory at most {_peak(process.pid or 0):.2f} GB"
        )
        process.terminate()
        table = pl.scan_parquet(report / "tables" / "examples.parquet")
        begin = time.perf_counter()
        table.filter(pl.col("hypothesis").str.contains(rf"(?i)\b{words[20]}\b")).head(50).collect()
        table.filter(pl.col("hypothesis").str.contains(rf"(?i)\b{words[20]}\b")).select(pl.len()).collect()
        alone = 1000 * (time.perf_counter() - begin)
        print(f"reference, polars alone from the file: one word, a page and its count {alone:.0f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
