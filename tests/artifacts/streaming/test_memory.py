"""The bound on memory, kept by a process of its own; its peak is what the system says it was."""

import json
import random
import signal
import subprocess
import sys

import pytest

from tests.stated import says

pytest.importorskip("resource", reason="only where the system tells the peak")

# The peak is asked of a grandchild: a process that was just started counts what its parent held as its own.
MINE = """
import os, subprocess, sys
run = "import sys; from goldassay.cli.main import run; sys.exit(run(sys.argv[1:]))"
process = subprocess.Popen([sys.executable, "-c", run, "artifacts", "mine", *sys.argv[1:], "--quiet"])
_, status, usage = os.wait4(process.pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))
"""

# The signal comes from within, once a file of the kind is there: one that waits for it from outside may come too late.
INTERRUPTED = """
import os, sys
from goldassay.questions.artifacts.measures import spool
from goldassay.cli import main
sent, begun = int(sys.argv.pop(1)), sys.argv.pop(1)
def then_signal(write):
    def written(*given, **options):
        write(*given, **options)
        if any(str(path).endswith(begun) and path.exists() for path in given if hasattr(path, "exists")):
            print("a", begun, "file", file=sys.stderr, flush=True)
            os.kill(os.getpid(), sent)
    return written
spool.write_array, spool.write_parquet = then_signal(spool.write_array), then_signal(spool.write_parquet)
main()
"""


def write(path, n, n_words):
    """Sentences of common words and, in each, one of many rare ones."""
    rng = random.Random(0)
    words = [f"w{i}" for i in range(n_words)]
    with path.open("w", encoding="utf-8") as file:
        for number in range(n):
            text = " ".join([*rng.choices(words, k=rng.randint(4, 9)), f"rare{rng.randrange(10**7)}", "."])
            file.write(json.dumps({"text": text, "label": "xyz"[number % 3]}) + "\n")
    return path


def mine(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", MINE, *map(str, arguments)], capture_output=True, text=True, check=True
    )
    status, peak = done.stdout.split()
    return int(status), int(peak), done.stderr


def test_a_small_file_keeps_the_least_bound(tmp_path):
    file = write(tmp_path / "train.jsonl", 10_000, 100)
    status, peak, error = mine(file, "-o", tmp_path / "out", "--memory", "600MB")
    assert (status, error) == (0, "")
    assert peak < 600e6


def test_too_small_a_bound_is_refused_at_once(tmp_path):
    file = write(tmp_path / "train.jsonl", 100, 20)
    status, _, error = mine(file, "-o", tmp_path / "out", "--memory", "200MB")
    assert status == 2
    assert error == says("goldassay:", "200 MB", "too small", "580 MB")
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize(("sent", "begun"), [(signal.SIGINT, ".tokens"), (signal.SIGTERM, ".words")])
def test_interrupted_it_leaves_nothing(tmp_path, sent, begun):
    file = write(tmp_path / "train.jsonl", 2000, 100)
    out = tmp_path / "out"
    command = [sys.executable, "-c", INTERRUPTED, str(int(sent)), begun]
    command += ["artifacts", "mine", file, "-o", out, "--memory", "700MB", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, f"a {begun} file\ngoldassay: interrupted\n")
    assert not out.exists()


@pytest.mark.slow
def test_a_large_file_keeps_a_bound_that_memory_exceeds(tmp_path):
    file = write(tmp_path / "train.jsonl", 1_500_000, 2000)
    status, whole, _ = mine(file, "-o", tmp_path / "whole")
    assert status == 0
    status, peak, error = mine(file, "-o", tmp_path / "parts", "--memory", "850MB")
    # Not even the rows that share a text are left aside.
    assert (status, error) == (0, "")
    assert peak < 850e6 < whole
    assert (tmp_path / "whole/patterns.csv").read_bytes() == (tmp_path / "parts/patterns.csv").read_bytes()
