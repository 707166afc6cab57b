"""Mutation fuzzing through the command's entry point: `make fuzz MINUTES=10`.

Small valid files of every kind are made, and Hypothesis draws which is changed how, and which command reads it.
Whatever is neither accepted nor refused by one line with exit status 2 is a finding: printed by kind, and kept with its
smallest file in build/fuzz. Seeds are made and not stored. A crash of the interpreter leaves its case in
build/fuzz/running.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
import polars as pl
import zstandard
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from goldassay.cli.main import run
from goldassay.core import pipes
from goldassay.runs import Runs
from goldassay.runs.store import write_runs

from .cases import rows

SECONDS_A_CASE = 30
EXAMPLES_A_ROUND = 200
KEPT = Path("build/fuzz")
FIXTURES = Path(__file__).parents[1] / "runs" / "fixtures"
DATA = (("split", "FILE", "-o", "out"), ("artifacts", "mine", "FILE", "--memory", "1GB", "-q", "-o", "out"))
RUNS = (("runs", "list", "FILE"), ("runs", "show", "FILE"), ("instability", "FILE", "-q", "-o", "out"))
REPORTS = (("check", "FILE"), ("diff", "FILE", "FILE", "-o", "out"))
SETTINGS = (("check", "report.json", "--config", "FILE"),)
TOKENS = [
    b"\0", b"\xff", b"\xed\xa0\x80", b"\n", b"\r", b"\t", b'"', b"'", b"{", b"}", b"[", b"]", b",", b"null", b"NaN",
    b"Infinity", b"1e999", b"-1", b"9" * 400, b"\\ud800", b'"label"', b"true", b"[[[]]]", b"\xef\xbb\xbf", b"= ",
]  # fmt: skip
# What takes the place of a whole value of JSON or a field of a table.
VALUES = [
    b"null", b"[]", b"{}", b"[1, [2]]", b'{"a": 1}', b"1e999", b"-1", b"NaN", b"Infinity", b"9" * 400, b"true", b'""',
    b'"\\ud800"', b'"\\u0000"', b"[" * 500 + b"]" * 500, b"0.5", b'"entailment"', b'"a", "b"', b"\xff", b"1" * 20,
]  # fmt: skip
_VALUE = re.compile(rb'"(?:[^"\\]|\\.)*"|[^\s,{}\[\]:"]+')


@dataclass(frozen=True)
class Seed:
    """A valid file, and what commands read such a file."""

    name: str
    content: bytes
    commands: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Change:
    """A change of bytes at a place, given as a share of the file."""

    kind: str
    at: float
    size: int
    value: bytes

    def applied(self, content: bytes) -> bytes:
        if self.kind == "value":
            places = [found.span() for found in _VALUE.finditer(content)]
            begin, end = places[int(self.at * (len(places) - 1))] if places else (0, 0)
            return content[:begin] + VALUES[self.size % len(VALUES)] + content[end:]
        begin = int(self.at * len(content))
        end = min(begin + self.size, len(content))
        return {
            "flip": lambda: content[:begin] + bytes(b ^ (self.value or b"\1")[0] for b in content[begin:end])
            + content[end:],
            "insert": lambda: content[:begin] + self.value + content[begin:],
            "replace": lambda: content[:begin] + self.value + content[end:],
            "delete": lambda: content[:begin] + content[end:],
            "repeat": lambda: content[:begin] + content[begin:end] * 3 + content[end:],
            "cut": lambda: content[:begin],
        }[self.kind]()  # fmt: skip


CHANGES = st.lists(
    st.builds(
        Change,
        st.sampled_from(["value", "value", "value", "flip", "insert", "replace", "delete", "repeat", "cut"]),
        st.floats(0, 1),
        st.integers(1, 64),
        st.one_of(st.sampled_from(TOKENS), st.binary(min_size=1, max_size=8)),
    ),
    min_size=1,
    max_size=4,
)


def made_seeds(folder: Path) -> list[Seed]:
    """Valid files of every kind."""
    table = pl.DataFrame(rows(24))
    lines = table.write_ndjson().encode()
    names, draws = ("entailment", "neutral", "contradiction"), np.random.default_rng(0)
    gold = draws.integers(0, 3, 12)
    logits = draws.normal(size=(3, 12, 3))
    runs = Runs.from_arrays(logits=logits, gold=gold, label_names=names, model="m", dataset="d")
    stored = write_runs(runs, folder / "runs")[0].read_bytes()
    long = pl.DataFrame(
        [{"example_id": i, "seed": s, "label": names[gold[i]], "prediction": names[int(logits[s, i].argmax())]}
         for s in range(3) for i in range(12)]
    )  # fmt: skip
    found = [
        Seed("data.jsonl", lines, DATA),
        Seed("data.json", json.dumps(rows(24)).encode(), DATA[:1]),
        Seed("data.csv", table.write_csv().encode(), DATA),
        Seed("data.tsv", table.write_csv(separator="\t").encode(), DATA),
        Seed("data.jsonl.gz", gzip.compress(lines), DATA),
        Seed("data.jsonl.zst", zstandard.compress(lines), DATA),
        Seed("data.parquet", written(table.write_parquet), DATA),
        Seed("data.arrow", written(table.write_ipc), DATA[:1]),
        Seed("stream.arrow", written(table.write_ipc_stream), DATA[:1]),
        Seed("run.parquet", stored, RUNS),
        Seed("long.csv", long.write_csv().encode(), RUNS),
        Seed("long.jsonl", long.write_ndjson().encode(), RUNS),
        Seed("long.parquet", written(long.write_parquet), RUNS),
        Seed("arrays.npz", written(lambda file: np.savez(file, logits=logits, gold=gold)), RUNS),
        Seed("arrays.npy", written(lambda file: np.save(file, logits.argmax(axis=2))), RUNS),
        Seed("goldassay.toml", b"seed = 1\n[artifacts]\nq = 0.01\n[policy]\nmin_runs = 3\n", SETTINGS),
    ]
    logs = sorted(path for path in FIXTURES.rglob("*") if path.suffix in (".json", ".jsonl", ".eval", ".parquet"))
    found += [Seed(path.name, path.read_bytes(), RUNS) for path in logs if path.stat().st_size < 100_000]
    (folder / "data.jsonl").write_bytes(lines)
    with quiet(), contextlib.chdir(folder):
        assert run(["instability", "runs", "-q", "-o", "report"]) == 0
    report = (folder / "report" / "report.json").read_bytes()
    return [*found, Seed("report.json", report, REPORTS)]


def written(write) -> bytes:
    file = io.BytesIO()
    write(file)
    return file.getvalue()


@contextlib.contextmanager
def quiet():
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as err:
        yield err


def fault(arguments: list[str]) -> str:
    """What is wrong with how a command met its input; "" where nothing is."""

    def too_long(*_: object) -> NoReturn:
        raise TimeoutError

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS_A_CASE)
    try:
        with quiet() as err:
            status = run(arguments)
    except TimeoutError:
        return "hang"
    except SystemExit as left:
        status = left.code
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"traceback: {type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
    finally:
        signal.alarm(0)
    lines = [line for line in err.getvalue().splitlines() if line.startswith("goldassay: ")]
    if status in (0, 1):
        return ""
    if status != 2:
        return f"exit status {status}: {' '.join(lines)[:200]}"
    return "" if len(lines) == 1 else f"{len(lines)} lines"


def search(minutes: float, first_seed: int = 0) -> Counter[str]:
    """Look for findings for some minutes; how often each was met, by its kind."""
    found: Counter[str] = Counter()
    shutil.rmtree(KEPT, ignore_errors=True)
    (KEPT / "running").mkdir(parents=True)
    kept = KEPT.absolute()
    pipes._PATIENCE_MS = 20
    os.environ.pop("GOLDASSAY_DEBUG", None)
    n_cases = 0
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        folder = Path(place)
        seeds = made_seeds(folder)
        end = time.monotonic() + 60 * minutes

        @settings(max_examples=EXAMPLES_A_ROUND, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(st.sampled_from(seeds), st.integers(0, 9), CHANGES)
        def one(chosen: Seed, number: int, changes: list[Change]) -> None:
            nonlocal n_cases
            if time.monotonic() > end:
                return
            n_cases += 1
            content = chosen.content
            for change in changes:
                content = change.applied(content)
            work = folder / "work"
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            (work / chosen.name).write_bytes(content)
            shutil.copy(
                folder / "report" / "report.json", work / ("report.json" if chosen.name != "report.json" else "b")
            )
            command = chosen.commands[number % len(chosen.commands)]
            arguments = [chosen.name if each == "FILE" else each for each in command]
            (kept / "running" / "case").write_bytes(" ".join(arguments).encode() + b"\n" + content)
            with contextlib.chdir(work):
                what = fault(arguments)
            if what:
                kind = f"{arguments[0]} {chosen.name}: {re.sub(r'[0-9]+', 'N', what)}"
                found[kind] += 1
                smallest = kept / re.sub(r"\W+", "-", kind)[:120]
                smallest.mkdir(exist_ok=True)
                (smallest / chosen.name).write_bytes(content)
                (smallest / "command").write_text(" ".join(arguments) + "\n" + what + "\n")
                raise AssertionError(kind)

        number = first_seed
        while time.monotonic() < end:
            with contextlib.suppress(AssertionError, ExceptionGroup), quiet():
                seed(number)(one)()
            number += 1
    print(f"{n_cases} cases, {len(found)} kinds of findings")
    for kind, times in found.most_common():
        print(f"{times:6}  {kind}")
    return found


if __name__ == "__main__":
    sys.exit(1 if search(float(sys.argv[1])) else 0)
