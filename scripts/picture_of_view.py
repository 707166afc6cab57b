"""Draw the pictures of docs/view.md: the workbench on a report of the specimen, one row in full, what a mend was worth.

python scripts/picture_of_view.py
"""

from __future__ import annotations

import subprocess
import tempfile
import threading
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import uvicorn

from goldassay.cli.main import run
from goldassay.data.decisions import Decision, append_decision
from goldassay.view.opening import open_workbench
from goldassay.view.server import bind, make_app, new_token

if TYPE_CHECKING:
    from goldassay.view.opening import Workbench

PICTURES = Path(__file__).parents[1] / "docs" / "images"
STATE = "f.difficulty=easy&f.hypothesis_only=always+right&sort=runs_right"
DECIDED = (("drop", "", "the words give it away"), ("rewrite", "", ""), ("keep", "", ""), ("relabel", "neutral", ""))


def main() -> None:
    """Audit the specimen, decide about the first rows of a selection, mend, audit again, and photograph the pages."""
    # A page of differences names the paths that it was given: relative ones tell nothing of this machine.
    with tempfile.TemporaryDirectory() as place, chdir(place):
        data, report, mended = (Path(name) for name in ("data", "before", "mended"))
        run(["specimen", "-o", str(data), "-q"])
        test = data / "test.jsonl"
        train, runs = str(data / "train.jsonl"), str(data / "runs")
        run(["audit", train, "--test", str(test), "--runs", runs, "-o", str(report), "-q"])
        bench = open_workbench(report)
        kept = _decide(bench)
        taken, token = bind(0), new_token()
        port = taken.getsockname()[1]
        config = uvicorn.Config(make_app(bench, token, port), log_level="error", lifespan="off")
        server = uvicorn.Server(config)
        threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True).start()
        base = f"http://127.0.0.1:{port}/{token}/"
        _photograph(f"{base}?{STATE}", "view.png", 860)
        _photograph(f"{base}row/{kept}?{STATE}", "view-row.png", 1480)
        server.should_exit = True
        run(["mend", str(test), "--runs", runs, "-o", str(mended), "-q"])
        again, kept_runs = Path("after"), str(mended / "runs")
        run(["audit", train, "--test", str(mended / "test.jsonl"), "--runs", kept_runs, "-o", str(again), "-q"])
        run(["diff", str(report), str(again), "-o", "diff", "-q"])
        _photograph(Path("diff", "diff.html").resolve().as_uri(), "view-diff.png", 620)


def _decide(bench: Workbench) -> int:
    """Decide about the first rows of the selection; returns one that is kept."""
    rows = bench.selector.select(bench.state(STATE)).rows[: len(DECIDED)].tolist()
    for at, (word, label, note) in zip(rows, DECIDED, strict=True):
        row = bench.table.rows(np.array([at]))[0]
        assert bench.decisions is not None
        append_decision(bench.decisions, Decision(bench.table.key(row), str(row["example_id"]), word, label, note=note))
    return int(rows[2])


def _photograph(address: str, name: str, height: int) -> None:
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size=1280,{height}"]
    subprocess.run(["chromium", *flags, f"--screenshot={PICTURES / name}", address], check=True)


if __name__ == "__main__":
    main()
