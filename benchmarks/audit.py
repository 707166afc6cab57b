"""How long an audit takes and how much memory, as whole processes; and how quickly the command starts.

    python benchmarks/audit.py [--runs 3]

Audits the default specimen, and SNLI (18,000 training rows against the test set) where the folder named by
GOLDASSAY_DATA (by default ../shared/data) holds it. Prints the median of the runs, the peak resident memory of the
process and all it started, and where the time went. The limits it is held to stand beside each figure.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BIN = Path(sys.executable).parent
DATA = Path(os.environ.get("GOLDASSAY_DATA", Path(__file__).parents[2] / "shared" / "data"))


def timed(*command: str | Path) -> tuple[float, float]:
    """Wall seconds and peak resident MiB of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))} failed: {process.stderr.read().decode() if process.stderr else ''}")
    return seconds, usage.ru_maxrss / 1024


def median_of(runs: int, *command: str | Path) -> tuple[float, float]:
    """Median seconds and largest peak of several runs, after one that is not counted."""
    timed(*command)
    measured = [timed(*command) for _ in range(runs)]
    return statistics.median(seconds for seconds, _ in measured), max(peak for _, peak in measured)


def report_audit(name: str, runs: int, folder: Path, *arguments: str | Path) -> None:
    seconds, peak = median_of(runs, BIN / "goldassay", "audit", *arguments, "-o", folder, "--quiet")
    print(f"{name:28} {seconds:6.1f} s (at most 60)   {peak:6.0f} MiB (at most 2048)")
    document = json.loads((folder / "report.json").read_text())
    for step, each in json.loads((folder / "timing.json").read_text())["seconds"].items():
        print(f"    {step:24} {each:6.2f} s")
    print("    " + ", ".join(f"{key} {value['verdict']}" for key, value in document["verdicts"].items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="counted runs of each command")
    runs = parser.parse_args().runs
    print(f"{os.cpu_count()} cores, median of {runs} runs after a warm-up")
    for name, limit, command in (
        ("import goldassay", 0.4, (sys.executable, "-c", "import goldassay")),
        ("goldassay --help", 0.6, (BIN / "goldassay", "--help")),
    ):
        seconds, peak = median_of(runs, *command)
        print(f"{name:28} {seconds:6.3f} s (at most {limit})   {peak:6.0f} MiB")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        subprocess.run([BIN / "goldassay", "specimen", "-o", folder, "--quiet"], check=True)
        report_audit(
            "specimen, 20,000 + 2,000", runs, folder / "a", folder / "train.jsonl", "--test", folder / "test.jsonl"
        )
        snli = DATA / "snli"
        if snli.is_dir():
            report_audit(
                "SNLI, 18,000 + 9,824",
                runs,
                folder / "b",
                snli / "train_sample_18k.tsv.gz",
                "--test",
                snli / "test.tsv.gz",
            )
        else:
            print(f"no SNLI at {snli}: set GOLDASSAY_DATA to the folder that holds it")


if __name__ == "__main__":
    main()
