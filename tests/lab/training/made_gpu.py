"""A worker with a GPU that is a folder: it takes memory by writing how much, and finds it full when there is no more.

It speaks as `goldassay.lab.training.workers` does and trains nothing. `GPUS` names the folder, which holds a file
`sizes` (bytes of each GPU) and `needs` (bytes of each model; what it says when asked, what it really takes).
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import time
from pathlib import Path

FOLDER = Path(os.environ["GPUS"])


def take(gpu: int, size: int) -> bool:
    """Take memory; whether there was enough."""
    with (FOLDER / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        taken = [json.loads(file.read_text()) for file in FOLDER.glob("taken-*")]
        there = sum(each["size"] for each in taken if each["gpu"] == gpu)
        enough = there + size <= json.loads((FOLDER / "sizes").read_text())[gpu]
        beside = sum(each["gpu"] == gpu for each in taken)
        with (FOLDER / "history").open("a") as history:
            history.write(json.dumps({"gpu": gpu, "size": size, "beside": beside, "enough": enough}) + "\n")
        if enough:
            (FOLDER / f"taken-{os.getpid()}").write_text(json.dumps({"gpu": gpu, "size": size}))
        return enough


def give_back() -> None:
    """Let go of what was taken, while nobody counts it."""
    with (FOLDER / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (FOLDER / f"taken-{os.getpid()}").unlink()


def say(**message: object) -> None:
    print(json.dumps(message), flush=True)


for line in sys.stdin:
    asked = json.loads(line)
    model = asked["job"]["label"]
    says, takes = json.loads((FOLDER / "needs").read_text())[model]
    on = int(os.environ["CUDA_VISIBLE_DEVICES"])
    if asked["weigh"]:
        say(needs=says)
    if not take(on, takes):
        say(failed={"kind": "memory", "line": "CUDA out of memory"})
        continue
    say(step=1, total=2)
    time.sleep(0.3)
    give_back()
    # What a job comes to is not what is tested; one that fails by its own loss is not tried again.
    say(failed={"kind": "training", "line": f"on GPU {on}"})
