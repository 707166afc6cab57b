"""Draw docs/images/view.png: the workbench on a report of the specimen, with four decisions.

python scripts/picture_of_view.py
"""

from __future__ import annotations

import subprocess
import tempfile
import threading
from pathlib import Path

import numpy as np
import uvicorn

from goldassay.cli.main import run
from goldassay.data.decisions import Decision, append_decision
from goldassay.view.opening import open_workbench
from goldassay.view.server import bind, make_app, new_token
from goldassay.view.state import parse_state

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "view.png"
STATE = "f.difficulty=easy&f.hypothesis_only=always+right&sort=runs_right"
DECIDED = (("drop", "", "the words give it away"), ("rewrite", "", ""), ("keep", "", ""), ("relabel", "neutral", ""))


def main() -> None:
    """Audit the specimen, decide about the first rows of a selection, and photograph the page."""
    with tempfile.TemporaryDirectory() as place:
        data, report = Path(place) / "data", Path(place) / "report"
        run(["specimen", "-o", str(data), "-q"])
        test = ["--test", str(data / "test.jsonl"), "--runs", str(data / "runs")]
        run(["audit", str(data / "train.jsonl"), *test, "-o", str(report), "-q"])
        bench = open_workbench(report)
        selector = bench.selector
        state = parse_state(STATE, selector.values, bench.table.numbers, selector.sortable)
        for at, (word, label, note) in zip(selector.select(state).rows[:4].tolist(), DECIDED, strict=True):
            row = bench.table.rows(np.array([at]))[0]
            assert bench.decisions is not None
            append_decision(
                bench.decisions, Decision(bench.table.key(row), str(row["example_id"]), word, label, note=note)
            )
        taken, token = bind(0), new_token()
        port = taken.getsockname()[1]
        config = uvicorn.Config(make_app(bench, token, port), log_level="error", lifespan="off")
        server = uvicorn.Server(config)
        threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True).start()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1280,860"]
        address = f"http://127.0.0.1:{port}/{token}/?{STATE}"
        subprocess.run(["chromium", *flags, f"--screenshot={PICTURE}", address], check=True)
        server.should_exit = True


if __name__ == "__main__":
    main()
