"""Runs of MLflow and Weights & Biases, logged by the lines of the documentation. python write_trackers.py OUT."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "publish-an-audit.md"
VERDICTS = {"leakage": {"headline": {"value": 0.174}}, "shift": {"headline": None}}


def main() -> None:
    out = Path(sys.argv[1]).resolve()
    (out / "report").mkdir(parents=True)
    (out / "report" / "report.json").write_text(json.dumps({"verdicts": VERDICTS}))
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    os.chdir(out)
    os.environ |= {"WANDB_MODE": "offline", "MLFLOW_TRACKING_URI": "file:mlruns", "MLFLOW_ALLOW_FILE_STORE": "true"}
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), names)
    # What Weights & Biases would send is known of the run, and lies in its file in a form of its own.
    run = names["run"]
    (out / "wandb.json").write_text(json.dumps(dict(run.summary)))  # type: ignore[attr-defined]
    run.finish()  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
