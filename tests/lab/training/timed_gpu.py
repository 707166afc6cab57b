"""A worker whose jobs take a known time of a GPU that is a file: processes on one GPU take turns, a moment each.

It speaks as `goldassay.lab.training.workers` does and trains nothing. `GPUS` names the folder, in which `lengths` says
how many moments a job of each model takes, how long one is, and how many bytes a job needs; `turns` says in the end
when each job began and ended.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
from pathlib import Path

FOLDER = Path(os.environ["GPUS"])


def take_a_moment(gpu: str, ready: float, moment: float) -> float:
    """When a moment of a GPU ends for a job that was ready for it at a time; a machine that is late keeps no one."""
    with (FOLDER / f"gpu-{gpu}").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        ends = max(float(file.read() or 0.0), ready) + moment
        file.truncate(0)
        file.write(repr(ends))
        return ends


for line in sys.stdin:
    asked = json.loads(line)
    job = asked["job"]
    lengths = json.loads((FOLDER / "lengths").read_text())
    if asked["weigh"]:
        print(json.dumps({"needs": lengths["need"]}), flush=True)
    n_moments, moment = lengths["moments"][job["label"]], lengths["seconds"]
    began = ready = time.monotonic()
    for _ in range(n_moments):
        ready = take_a_moment(os.environ["CUDA_VISIBLE_DEVICES"], ready, moment)
        time.sleep(max(0.0, ready - time.monotonic()))
    with (FOLDER / "turns").open("a") as turns:
        turns.write(json.dumps({"process": os.getpid(), "began": began, "ended": time.monotonic()}) + "\n")
    done = {"name": "", "scores": {}, "n_examples": {}, "n_parameters": 0, "steps": n_moments,
            "selected_step": n_moments, "seconds": 0.0, "cpu_seconds": 0.0}  # fmt: skip
    print(json.dumps({"done": done}), flush=True)
