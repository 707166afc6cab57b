"""Time `goldassay runs list` on folders of many runs, and a plain reader that counts the same runs.

    python benchmarks/listing.py [--files 1000] [--samples 100]

Four folders of as many files: logs of inspect_ai, samples of the lm-evaluation-harness with their results, CSV and
JSONL tables, each file a run of one of four models in one of two configurations. `goldassay runs list` runs as its user
starts it, so that loading the package counts. The plain readers, in a process of their own likewise, count examples and
name models, and check nothing: zipfile and json for logs, json for lines, polars for tables. Times are of the
processor, user and system.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable

MODELS = ("mock/small", "mock/middle", "mock/large", "mock/huge")
PROMPTS = ("plain", "steps")

PLAIN = {
    "inspect_ai": """
import json, sys, zipfile
from pathlib import Path
found = []
for path in sorted(Path(sys.argv[1]).glob("*.eval")):
    with zipfile.ZipFile(path) as archive:
        about = json.loads(archive.read("header.json"))["eval"]
        found.append((about["model"], len(json.loads(archive.read("summaries.json")))))
""",
    "lm-eval": """
import json, sys
from pathlib import Path
found = []
for path in sorted(Path(sys.argv[1]).rglob("samples_*.jsonl")):
    name = path.name.replace("samples_task_", "results_").replace(".jsonl", ".json")
    results = json.loads((path.parent / name).read_text())
    found.append((results["model_name"], len([json.loads(line) for line in path.open()])))
""",
    "CSV": """
import sys
from pathlib import Path
import polars as pl
found = []
for path in sorted(Path(sys.argv[1]).glob("*.csv")):
    frame = pl.read_csv(path)
    found.append((frame["model"][0], frame.height))
""",
    "JSONL": """
import sys
from pathlib import Path
import polars as pl
found = []
for path in sorted(Path(sys.argv[1]).glob("*.jsonl")):
    frame = pl.read_ndjson(path)
    found.append((frame["model"][0], frame.height))
""",
}
TAIL = """
from collections import Counter
import json
print(json.dumps(sorted([model, n] for (model, _), n in Counter(found).items())))
"""
LIST = "import sys; from goldassay.cli import main; sys.argv[0] = 'goldassay'; main()"


def write_log(folder: Path, number: int, n: int, rng: np.random.Generator) -> None:
    """A log of inspect_ai as far as it is read, with the samples that stand beside and are not; one in 20 failed.

    As inspect_ai writes it: samples, summaries, and the header at last, which counts them.
    """
    model, prompt = MODELS[number % 4], PROMPTS[number // 4 % 2]
    names = [f"q{at}" for at in range(n)]
    right = rng.random(n) < 0.7
    about = {
        "eval_id": f"{number:08d}log", "run_id": f"run{number:08d}", "task": "exam", "model": model,
        "task_args": {"prompt": prompt}, "dataset": {"name": "exam", "samples": n, "sample_ids": names},
        "config": {"epochs": 1}, "model_generate_config": {"temperature": 0.0}, "packages": {"inspect_ai": "0.3"},
        "scorers": [{"name": "match", "options": {}}],
    }  # fmt: skip
    summaries = [
        {"id": name, "epoch": 1, "input": f"Question {name}?", "target": "yes", "completed": True,
         "scores": {"match": {"value": "C" if own else "I"}} if at % 20 else {}, "metadata": {},
         "error": None if at % 20 else "timed out"}
        for at, (name, own) in enumerate(zip(names, right.tolist(), strict=True))
    ]  # fmt: skip
    with zipfile.ZipFile(folder / f"{number:04d}_exam.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(f"samples/{name}_epoch_1.json", json.dumps({"id": name, "messages": ["text " * 50]}))
        archive.writestr("summaries.json", json.dumps(summaries))
        counted = {"total_samples": n, "completed_samples": n - n // 20}
        header = {"version": 2, "status": "success", "eval": about, "plan": {}, "results": counted}
        archive.writestr("header.json", json.dumps(header))


def write_samples(folder: Path, number: int, n: int, rng: np.random.Generator) -> None:
    """Samples and results of the lm-evaluation-harness."""
    model, prompt = MODELS[number % 4], PROMPTS[number // 4 % 2]
    own = folder / model.replace("/", "__")
    own.mkdir(exist_ok=True)
    time = f"2026-11-21T15-{number // 60 % 60:02d}-{number % 60:02d}.{number:06d}"
    lines = [
        {"doc_id": at, "doc": {"question": f"Question {at}? " * 10}, "target": "yes", "arguments": {},
         "resps": [["yes"]], "filtered_resps": ["yes" if at % 20 else "[invalid]"], "filter": "none",
         "metrics": ["exact_match"], "exact_match": float(right and at % 20)}
        for at, right in enumerate(rng.random(n) < 0.7)
    ]  # fmt: skip
    (own / f"samples_task_{time}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    results = {
        "results": {"task": {"exact_match,none": 0.7}}, "configs": {"task": {"task": "task", "description": prompt}},
        "versions": {"task": 1.0}, "n-shot": {"task": 0}, "model_name": model,
        "config": {"model": "hf", "model_args": {"pretrained": model}},
    }  # fmt: skip
    (own / f"results_{time}.json").write_text(json.dumps(results))


def write_table(folder: Path, number: int, n: int, rng: np.random.Generator, suffix: str) -> None:
    """A table with a row an example."""
    frame = pl.DataFrame(
        {
            "example_id": [f"q{at}" for at in range(n)],
            "model": MODELS[number % 4],
            "dataset": "exam",
            "config_prompt": PROMPTS[number // 4 % 2],
            "seed": number,
            "text": "words of a question that stands beside its answer " * 3,
            "score": (rng.random(n) < 0.7).astype(np.float64),
        }
    )
    path = folder / f"{number:04d}.{suffix}"
    if suffix == "csv":
        frame.write_csv(path)
    else:
        frame.write_ndjson(path)


def measured(code: str, *arguments: str) -> tuple[float, str]:
    """Seconds of the processor that a process took, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-P", "-c", code, *arguments], check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--samples", type=int, default=100)
    asked = parser.parse_args()
    writers: dict[str, Callable[..., Any]] = {
        "inspect_ai": write_log,
        "lm-eval": write_samples,
        "CSV": lambda *given: write_table(*given, suffix="csv"),
        "JSONL": lambda *given: write_table(*given, suffix="jsonl"),
    }
    print(
        f"{asked.files} files of {asked.samples} samples, load {os.getloadavg()[0]:.1f}; least of three, seconds of CPU"
    )
    for name, write in writers.items():
        rng = np.random.default_rng(0)
        with tempfile.TemporaryDirectory() as place:
            for number in range(asked.files):
                write(Path(place), number, asked.samples, rng)
            own = [measured(LIST, "runs", "list", place, "--json", "-") for _ in range(3)]
            plain = [measured(PLAIN[name] + TAIL, place) for _ in range(3)]
        listed = json.loads(own[0][1])
        counted: dict[str, int] = {}
        for row in listed:
            # A configuration stands with the model's name.
            model = row["model"].split(" [")[0]
            counted[model] = counted.get(model, 0) + row["n_runs"]
            if row["n_examples"] != asked.samples:
                raise SystemExit(f"{row['n_examples']} examples, not {asked.samples}")
        if sorted(map(list, counted.items())) != json.loads(plain[0][1]):
            raise SystemExit(f"not the same runs: {counted}, {plain[0][1]}")
        print(f"{name:<12} runs list {min(own)[0]:5.2f}   plain reader {min(plain)[0]:5.2f}   {len(listed)} sets")


if __name__ == "__main__":
    main()
