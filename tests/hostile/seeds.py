"""Valid files and folders of every kind that commands read, for the fuzzer to change."""

from __future__ import annotations

import contextlib
import functools
import gzip
import io
import json
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import zstandard

from goldassay.cli.main import run
from goldassay.core.files import sha256_of
from goldassay.core.report_seal import REPORT, seal
from goldassay.data.decisions import Decision
from goldassay.data.reading import read_dataset
from goldassay.data.row_keys import content_columns, keys_of
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs

from . import row_pages
from .cases import LABELS, jsonl, predictions, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FIXTURES = Path(__file__).parents[1] / "runs" / "fixtures"
SPLIT = ("split", "SEED", "-o", "out")
MINE = ("artifacts", "mine", "SEED", "--memory", "1GB", "-q", "-o", "out")
LIST, SHOW = ("runs", "list", "SEED"), ("runs", "show", "SEED")
INSTABILITY = ("instability", "SEED", "-q", "-o", "out")
# What is quick is tried more often.
DATA = (SPLIT, SPLIT, MINE)
RUNS = (LIST, SHOW, SHOW, SHOW, SHOW, SHOW, SHOW, INSTABILITY)
REPORTS = (("check", "SEED"), ("diff", "SEED", "SEED", "-o", "out"))
SETTINGS = (("check", "report.json", "--policy", "SEED"),)
PLANS = (("sweep", "SEED", "--dry-run", "-o", "out"),)
ITEMS = (("audit", "SEED", "-q", "-o", "out"), SPLIT, ("leakage", "suggest", "SEED", "-q", "-o", "out"))
BOARDS = (("board", "SEED", "-q", "-o", "out"), LIST)
CORPORA = (("overlap", "data.jsonl", "--corpus", "SEED", "--field", "hypothesis", "-q", "-o", "out"),)
MENDED = (("mend", "data.jsonl", "--decisions", "SEED", "-o", "out"),)
MENDED_RUNS = (("mend", "tested.jsonl", "--runs", "SEED", "-o", "out"),)
CONFIGURATIONS = (("sensitivity", "SEED", "-q", "-o", "out"), SHOW)
VIEWED = (
    ("view", "SEED", "--export", "out.html", "-q"),
    ("view", "SEED", "--export", "out.html", "--state", "q=coat&sort=-confidence", "-q"),
    (row_pages.COMMAND, "SEED"),
    (row_pages.COMMAND, "SEED"),
    ("instability", "answers.jsonl", "--discount", "SEED", "-q", "-o", "out"),
    ("check", "SEED"),
    ("diff", "SEED", "SEED", "-o", "out"),
)
# The text of the changed file is itself an argument.
STATES = (("view", "audited", "--export", "out.html", "-q", "--state", "CONTENT"),)
DISCOUNTED = tuple(
    (command, "SEED", "--discount", "audited", "-q", "-o", "out") for command in ("instability", "compare", "board")
)
MAX_BYTES = 100_000
_READ_ALONE = (".jsonl", ".eval", ".parquet", ".json")


@dataclass(frozen=True)
class Seed:
    """A valid file, or a folder of them, and what commands read it.

    Attributes:
        name: What the command is given: a file, or the folder.
        files: Path within the working folder -> content.
        commands: Their words, SEED for the name.
        weight: How often it is drawn.
        is_sealed: Whether the name is the folder of a report, of which every change is one that its writer could have
            made: report.json names the digests of the changed files.
        beside: Further files that the commands need, which stay as they are.
    """

    name: str
    files: dict[str, bytes]
    commands: tuple[tuple[str, ...], ...]
    weight: int = 1
    is_sealed: bool = False
    beside: Mapping[str, bytes] = field(default_factory=dict)

    def arguments(self, command: int, content: bytes) -> list[str]:
        """The words of one of its commands, for a changed content."""
        # An argument of a process ends at its first NUL.
        text = content.split(b"\0")[0].decode("utf-8", "surrogateescape")
        words = self.commands[command % len(self.commands)]
        return [{"SEED": self.name, "CONTENT": text}.get(word, word) for word in words]

    def reseal(self, folder: Path) -> None:
        """Name the digests of the files that lie in a folder in their report, where it still is one."""
        report = folder / self.name / REPORT
        files = [path for path in report.parent.rglob("*") if path.is_file() and path != report]
        digests = {path.relative_to(report.parent).as_posix(): sha256_of(path) for path in files}
        with contextlib.suppress(ValueError, TypeError):
            seal(report, digests)


def made_seeds(folder: Path) -> list[Seed]:
    """All of them. Left in the folder is report/report.json, for commands that need a whole one."""
    table = pl.DataFrame(rows(24))
    lines = table.write_ndjson().encode()
    (folder / "data.jsonl").write_bytes(lines)
    data = {
        "data.jsonl": lines,
        "data.json": json.dumps(rows(24)).encode(),
        "data.csv": table.write_csv().encode(),
        "data.tsv": table.write_csv(separator="\t").encode(),
        "data.jsonl.gz": gzip.compress(lines),
        "data.jsonl.zst": zstandard.compress(lines),
        "data.parquet": written(table.write_parquet),
        "plain.parquet": written(lambda file: table.write_parquet(file, compression="uncompressed")),
        "data.arrow": written(table.write_ipc),
        "packed.arrow": written(lambda file: table.write_ipc(file, compression="zstd")),
        "stream.arrow": written(table.write_ipc_stream),
    }
    seeds = [Seed(name, {name: content}, DATA, 3) for name, content in data.items()]
    seeds += [Seed(name, {name: content}, RUNS, 3) for name, content in _predictions(folder).items()]
    stored = {f"runs/{path.name}": path.read_bytes() for path in sorted((folder / "runs").iterdir())}
    seeds += [Seed("runs", stored, RUNS, 9), Seed("stored.parquet", {"stored.parquet": stored[min(stored)]}, RUNS, 9)]
    seeds += [seed for tool in sorted(FIXTURES.iterdir()) if tool.is_dir() for seed in _of_tool(tool)]
    seeds += [Seed(name, {name: content}, ITEMS, 6) for name, content in _items().items()]
    seeds += _boards()
    own = {"data.jsonl": lines}
    seeds += [
        Seed(f"corpus{ending}", {f"corpus{ending}": data[f"data{ending}"], **own}, CORPORA, 3)
        for ending in (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet", ".csv")
    ]
    own = {"data.jsonl": lines}
    seeds.append(Seed("corpus.txt", {"corpus.txt": "\n".join(table["hypothesis"]).encode(), **own}, CORPORA))
    decisions = {"made.decisions.jsonl": _decisions(folder / "data.jsonl"), **own}
    seeds.append(Seed("made.decisions.jsonl", decisions, MENDED, 3))
    with contextlib.redirect_stdout(io.StringIO()), contextlib.chdir(folder):
        assert run(["instability", "runs", "-q", "-o", "report"]) == 0
    seeds.append(Seed("other.json", {"other.json": (folder / "report" / "report.json").read_bytes()}, REPORTS))
    seeds += _of_a_report()
    settings = b"seed = 1\n[artifacts]\nq = 0.01\n[policy]\nmin_runs = 3\nmax_easy_share = 0.2\n"
    seeds.append(Seed("goldassay.toml", {"goldassay.toml": settings}, SETTINGS))
    plan = b"models = ['bow']\ntrain = {a = 'data.jsonl'}\ntest = {a = 'data.jsonl'}\n[every]\nseeds = 2\n"
    seeds.append(Seed("plan.toml", {"plan.toml": plan, "data.jsonl": lines}, PLANS))
    return seeds


def _of_a_report() -> list[Seed]:
    """A report on rows with runs: looked through, and scores discounted by it."""
    made = _audited()
    audited = {name: content for name, content in made.items() if name.startswith("audited/")}
    models = b"".join(
        json.dumps({**row, "model": model}).encode() + b"\n"
        for model, n_runs in (("one", 3), ("two", 2)) for row in predictions(n_runs=n_runs)
    )  # fmt: skip
    state = b"q=coat+8&f.label=neutral&f.suspect=no&n.confidence=0..1&sort=-confidence&page=1"
    read = {name: made[name] for name in ("tested.jsonl", "answers.jsonl")}
    with tempfile.TemporaryDirectory() as place:
        data = Path(place, "tested.jsonl")
        data.write_bytes(made["tested.jsonl"])
        decided = {**read, "tested.decisions.jsonl": _decisions(data)}
    return [
        Seed("answers.jsonl", decided, MENDED_RUNS, 4),
        Seed("audited", made, VIEWED, 9, is_sealed=True),
        Seed("state", {"state": state}, STATES, 4, beside=made),
        Seed("models.jsonl", {"models.jsonl": models}, DISCOUNTED, 6, beside=audited),
    ]


@functools.cache
def _audited() -> dict[str, bytes]:
    """The tables and report.json of an audit, and the files that it read."""
    # Words that lean to a label, patterns, copies of training rows, and five families of models over two checkpoints.
    told = {"entailment": "Somebody", "neutral": "Perhaps a tall man", "contradiction": "Nobody at all"}
    known = [{**row, "hypothesis": f"{told[row['label']]} is outside, number {i}."} for i, row in enumerate(rows(60))]
    tested = [{**row, "id": f"e{i}", "premise": row["premise"].lower()} for i, row in enumerate(known[:30])]
    answers = [
        {**row, "model": model, "checkpoint": step, "logits": [2.0 * (row["prediction"] == name) for name in LABELS]}
        for model in ("albert", "bert", "gpt", "llama", "mistral") for step in (10, 20) for row in predictions(n_runs=2)
    ]  # fmt: skip
    read = {"data.jsonl": known, "tested.jsonl": tested, "answers.jsonl": answers}
    made = {name: jsonl(records) for name, records in read.items()}
    words = "audit data.jsonl --test tested.jsonl --runs answers.jsonl -q -o audited"
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        for name, content in made.items():
            Path(name).write_bytes(content)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            assert run(words.split()) == 0
        files = [Path("audited", REPORT), *sorted(Path("audited", "tables").glob("*.parquet"))]
        return made | {path.as_posix(): path.read_bytes() for path in files}


def _predictions(folder: Path) -> dict[str, bytes]:
    names, draws = ("entailment", "neutral", "contradiction"), np.random.default_rng(0)
    gold = draws.integers(0, 3, 12)
    logits = draws.normal(size=(3, 12, 3))
    write_runs(Runs.from_arrays(logits=logits, gold=gold, label_names=names, model="m", dataset="d"), folder / "runs")
    codes = logits.argmax(axis=2)
    long = pl.DataFrame(
        [{"example_id": f"e{i}", "seed": s, "label": names[gold[i]], "prediction": names[codes[s, i]],
          "group_half": "ab"[i % 2]} for s in range(3) for i in range(12)]
    )  # fmt: skip
    wide = pl.DataFrame(
        {"example_id": [f"e{i}" for i in range(12)], "label": [names[code] for code in gold],
         **{f"seed_{s}": [names[code] for code in codes[s]] for s in range(3)}}
    )  # fmt: skip
    scores = long.select("example_id", "seed", score=(pl.col("label") == pl.col("prediction")).cast(pl.Int8),
                         logits=pl.Series(logits.reshape(-1, 3).tolist()))  # fmt: skip
    return {
        "long.csv": long.write_csv().encode(),
        "long.tsv": long.write_csv(separator="\t").encode(),
        "long.jsonl": long.write_ndjson().encode(),
        "long.parquet": written(long.write_parquet),
        "plain-long.parquet": written(lambda file: long.write_parquet(file, compression="uncompressed")),
        "scores.jsonl": scores.write_ndjson().encode(),
        "scores.parquet": written(scores.write_parquet),
        "wide.csv": wide.write_csv().encode(),
        "wide.parquet": written(wide.write_parquet),
        "arrays.npz": written(lambda file: np.savez(file, logits=logits, predictions=codes, gold=gold)),
        "packed.npz": written(lambda file: np.savez_compressed(file, predictions=codes, gold=gold, seeds=np.arange(3))),
        "predictions.npz": written(lambda file: np.savez(file, predictions=logits[0], label_ids=gold)),
        # How the Trainer's users save an array; any other .npy is no run.
        "predictions.npy": written(lambda file: np.save(file, codes[0])),
        "logits.npy": written(lambda file: np.save(file, logits[0])),
    }


def _decisions(path: Path) -> bytes:
    """A decision about each row of a dataset."""
    dataset = read_dataset(path)
    keys, ids = keys_of(dataset.examples, content_columns(dataset)), dataset.examples["example_id"].cast(pl.String)
    words = ("drop", "relabel", "note")
    return b"".join(
        Decision(key, name, words[row % 3], "neutral" if row % 3 == 1 else "").to_line()
        for row, (key, name) in enumerate(zip(keys, ids.to_list(), strict=True))
    )


def _items(n: int = 30) -> dict[str, bytes]:
    """Choices, preferences and judgments, each in several shapes and kinds of file."""
    draws = np.random.default_rng(1)
    gold = draws.integers(0, 4, n).tolist()
    choices = [[f"choice {at} of {i}{' or longer' * (at == gold[i])}" for at in range(4)] for i in range(n)]
    asked = [f"Which is item {i}?" for i in range(n)]
    lists = pl.DataFrame({"question": asked, "choices": choices, "answer": gold, "subject": ["a", "b"] * (n // 2)})
    named = [
        {"id": f"q{i}", "question": {"stem": asked[i], "choices": [
            {"text": text, "label": "ABCD"[at]} for at, text in enumerate(choices[i])]}, "answerKey": "ABCD"[gold[i]]}
        for i in range(n)
    ]  # fmt: skip
    columns = pl.DataFrame({"question": asked, **{"ABCD"[at]: [own[at] for own in choices] for at in range(4)},
                            "answer": ["ABCD"[at] for at in gold]})  # fmt: skip
    pairs = pl.DataFrame(
        {"prompt": asked, "chosen": [own[0] for own in choices], "rejected": [own[1] for own in choices]}
    )
    chats = [
        {"chosen": [{"role": "user", "content": asked[i]}, {"role": "assistant", "content": choices[i][0]}],
         "rejected": [{"role": "user", "content": asked[i]}, {"role": "assistant", "content": choices[i][1]}]}
        for i in range(n)
    ]  # fmt: skip
    sides = pairs.select(input="prompt", output_1="chosen", output_2="rejected", label=pl.Series(gold) % 2 + 1)
    judged = pl.DataFrame(
        [{"item": i, "judge": judge, "order": order, "verdict": "AB"[(i + len(order)) % 2], "human": "AB"[i % 2],
          "response_a": choices[i][0], "response_b": choices[i][1]}
         for i in range(n) for judge in "xy" for order in ("original", "swapped")]
    )  # fmt: skip
    swapped = pl.DataFrame(
        {"item": range(n), "winner_unswapped": [1] * n, "winner_swapped": [2 - at % 2 for at in gold]}
    )
    return {
        "choices.jsonl": lists.write_ndjson().encode(),
        "choices.parquet": written(lists.write_parquet),
        "named.jsonl": "".join(json.dumps(row) + "\n" for row in named).encode(),
        "columns.csv": columns.write_csv().encode(),
        "pairs.csv": pairs.write_csv().encode(),
        "pairs.parquet": written(pairs.write_parquet),
        "chats.jsonl": "".join(json.dumps(row) + "\n" for row in chats).encode(),
        "sides.jsonl": sides.write_ndjson().encode(),
        "judged.jsonl": judged.write_ndjson().encode(),
        "judged.csv": judged.write_csv().encode(),
        "swapped.csv": swapped.write_csv().encode(),
    }


def _boards(n: int = 30) -> list[Seed]:
    """Systems by columns, by rows and by lists of what they solved; runs of several configurations."""
    right = np.random.default_rng(2).random((4, n)) < np.array([[0.9], [0.6], [0.6], [0.3]])
    systems, items = [f"system {at}" for at in range(4)], [f"i{at}" for at in range(n)]
    wide = pl.DataFrame({"item": items, **dict(zip(systems, right.astype(float).tolist(), strict=True))})
    long = wide.unpivot(index="item", variable_name="system", value_name="score")
    lists = {
        f"lists/{name}/results/results.json": json.dumps(
            {"resolved": [item for item, solved in zip(items, own, strict=True) if solved], "generated": items}
        ).encode()
        for name, own in zip(systems, right, strict=True)
    }
    configured = pl.DataFrame(
        [{"example_id": item, "seed": seed, "config_prompt": prompt, "label": "a",
          "prediction": "ab"[(at + seed + len(prompt)) % 3 == 0]}
         for at, item in enumerate(items) for seed in range(2) for prompt in ("plain", "cot", "few")]
    )  # fmt: skip
    return [
        Seed("wide.csv", {"wide.csv": wide.write_csv().encode()}, BOARDS, 6),
        Seed("long.parquet", {"long.parquet": written(long.write_parquet)}, BOARDS, 6),
        Seed("long.jsonl", {"long.jsonl": long.write_ndjson().encode()}, BOARDS, 6),
        Seed("lists", lists, BOARDS, 6),
        Seed("configured.jsonl", {"configured.jsonl": configured.write_ndjson().encode()}, CONFIGURATIONS, 6),
        Seed("configured.csv", {"configured.csv": configured.write_csv().encode()}, CONFIGURATIONS, 6),
    ]


def _of_tool(folder: Path) -> list[Seed]:
    """The logs of a tool one by one, and together."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".md", ".py"))
    files = [path for path in files if path.stat().st_size < MAX_BYTES and "checkpoint-" not in str(path)]
    together = {f"{folder.name}/{path.relative_to(folder)}": path.read_bytes() for path in files}
    # Of files that are alike one is enough: a task's samples of another time, a run's of another seed.
    alike = {re.sub(r"[\W\d]+.*[\W\d]+", "", path.name): path for path in files if path.suffix in _READ_ALONE}
    alone = [Seed(path.name, {path.name: path.read_bytes()}, RUNS, 2) for path in alike.values()]
    return [Seed(folder.name, together, RUNS, 3), *alone]


def written(write: Callable[[io.BytesIO], object]) -> bytes:
    """What a writer of files writes."""
    file = io.BytesIO()
    write(file)
    return file.getvalue()
