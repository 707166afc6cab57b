"""Bad inputs over all commands, made afresh each time: contents, places, options, settings, reports."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import random
import struct
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import typer.main
import zstandard

from goldassay.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LABELS = ("entailment", "neutral", "contradiction")
RUN_COMMANDS = (("runs", "list"), ("runs", "show"), ("instability",), ("compare",))
LONG = "a" * 300


@dataclass(frozen=True)
class Case:
    """One call of the command.

    Attributes:
        name: Unique.
        arguments: Of the command.
        accepted: Whether the input may also be used, since it is odd rather than wrong.
    """

    name: str
    arguments: tuple[str, ...]
    accepted: bool = False


def rows(n: int = 60) -> list[dict[str, Any]]:
    """Rows of a dull but valid dataset."""
    return [
        {
            "premise": f"A man with coat {i} walks in the park.",
            "hypothesis": f"Somebody {i % 7} is outside, number {i}.",
            "label": LABELS[i % 3],
        }
        for i in range(n)
    ]


def jsonl(records: list[Any]) -> bytes:
    return "\n".join(json.dumps(record) for record in records).encode("utf-8", "surrogatepass")


def csv_text(records: list[dict[str, Any]], separator: str = ",") -> bytes:
    names = list(records[0])
    lines = [separator.join(names), *(separator.join(str(record[name]) for name in names) for record in records)]
    return ("\n".join(lines) + "\n").encode()


def predictions(n: int = 30, n_runs: int = 3) -> list[dict[str, Any]]:
    """Rows of a long table of valid predictions."""
    return [
        {"seed": run, "example_id": f"e{i}", "label": LABELS[i % 3], "prediction": LABELS[(i + (i % 5 == run)) % 3]}
        for run in range(n_runs)
        for i in range(n)
    ]


def npy(header: str, data: bytes = b"") -> bytes:
    """A .npy file with any header."""
    text = header.encode()
    text += b" " * ((64 - (len(text) + 11) % 64) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def zipped(members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _table(write: str, frame: pl.DataFrame) -> bytes:
    packed = io.BytesIO()
    getattr(frame, write)(packed)
    return packed.getvalue()


def _flipped(content: bytes, seed: int, n: int = 8) -> bytes:
    """The content with a few bytes changed, none of its first four, by which its format is known."""
    rng, changed = random.Random(seed), bytearray(content)
    for _ in range(n):
        changed[rng.randrange(4, len(changed))] = rng.randrange(256)
    return bytes(changed)


def foreign() -> dict[str, bytes]:
    """Contents that are no dataset and no runs, whatever they are called."""
    noise = random.Random(0).randbytes
    plain = jsonl(rows())
    return {
        "empty.jsonl": b"",
        "blank.jsonl": b" \n\n ",
        "breaks.csv": b"\n\n\n",
        "number.json": b"3",
        "string.json": b'"x"',
        "null.json": b"null",
        "no-items.json": b"[]",
        "no-fields.json": b"{}",
        "arrays.json": b"[[1, 2], [3, 4]]",
        "arrays.jsonl": b"\n".join([b"[1, 2]"] * 9),
        "deep.json": b"[" * 100_000 + b"]" * 100_000,
        "deep-object.jsonl": b'{"a":' * 5000 + b"1" + b"}" * 5000,
        "noise.jsonl": noise(5000),
        "noise.csv": noise(5000),
        "noise.parquet": b"PAR1" + noise(5000),
        "noise.arrow": b"ARROW1\0\0" + noise(5000),
        "noise.jsonl.gz": b"\x1f\x8b" + noise(99),
        "noise.jsonl.zst": b"\x28\xb5\x2f\xfd" + noise(99),
        "noise.npz": b"PK\x03\x04" + noise(300),
        "noise.npy": b"\x93NUMPY" + noise(300),
        "noise.eval": b"PK\x03\x04" + noise(300),
        "magic.parquet": b"PAR1",
        "foot.parquet": b"PAR1" + b"\xff\xff\xff\x7f" + b"PAR1",
        "magic.arrow": b"ARROW1\0\0",
        "vast.arrow": b"ARROW1\0\0" + b"\xff" * 7 + b"\x7f" + noise(40),
        "picture.png": b"\x89PNG\r\n\x1a\n" + noise(400),
        "paper.pdf": b"%PDF-1.4\n%%EOF",
        "page.html": b"<!DOCTYPE html><html><body>404 not found</body></html>\n",
        "page.csv": b"<!DOCTYPE html><html><body>404 not found</body></html>\n",
        "pointer.jsonl": b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12345\n",
        "pointer.parquet": b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12345\n",
        "rows.pkl": pickle.dumps(rows()),
        "pickle.jsonl": pickle.dumps(rows()),
        "base.db": b"SQLite format 3\0" + b"\0" * 500,
        "long-line.txt": b"a" * 2_000_000,
        "cut.jsonl.gz": gzip.compress(plain)[:-30],
        "sum.jsonl.gz": gzip.compress(plain)[:-8] + b"\0" * 8,
        "hollow.jsonl.gz": gzip.compress(b""),
        "cut.jsonl.zst": zstandard.compress(plain)[:-9],
        "rows.jsonl.bz2": bz2.compress(plain),
        "rows.jsonl.xz": lzma.compress(plain),
        "nul.jsonl": plain + b"\0",
        "utf-32.csv": csv_text(rows()).decode().encode("utf-32"),
    }


def bad_datasets() -> dict[str, bytes]:
    """Datasets with something wrong in them."""
    good = rows()
    frame = pl.DataFrame(good)
    parquet, arrow = _table("write_parquet", frame), _table("write_ipc", frame)
    binary = pl.DataFrame({"premise": [b"\xff\xfe"] * 9, "hypothesis": ["x"] * 9, "label": ["a"] * 9})
    nested = pl.DataFrame({"premise": [{"a": 1}] * 9, "hypothesis": ["x"] * 9, "label": ["a"] * 9})
    nothing = pl.DataFrame({"premise": [None] * 5, "hypothesis": [None] * 5, "label": [None] * 5})

    def with_(**changed: Any) -> bytes:
        return jsonl(
            [{**row, **{k: v(i) if callable(v) else v for k, v in changed.items()}} for i, row in enumerate(good)]
        )

    return {
        "header.csv": b"premise,hypothesis,label\n",
        "utf-16.csv": csv_text(good).decode().encode("utf-16"),
        "latin-1.csv": csv_text(good).replace(b"man", b"m\xe9n"),
        "cut.jsonl": jsonl(good)[:-20],
        "mixed.json": json.dumps([*good, 3]).encode(),
        "mixed.jsonl": jsonl([*good, 3]),
        "deep-value.jsonl": jsonl(good)
        + b'\n{"premise":"a","hypothesis":"b","label":"c","x":'
        + b"[" * 3000
        + b"]" * 3000
        + b"}",
        "huge-label.jsonl": with_(label=10**40),
        "huger-label.jsonl": jsonl(good[:-1]) + b'\n{"premise":"a","hypothesis":"b","label":' + b"9" * 5000 + b"}",
        "nan-label.jsonl": with_(label=float("nan")),
        "infinite-label.jsonl": with_(label=lambda i: [float("inf"), 1.0, 0.0][i % 3]),
        "list-label.jsonl": with_(label=["a"]),
        "object-label.jsonl": with_(label={"a": 1}),
        "list-text.jsonl": with_(premise=["a", "b"]),
        "one-label.jsonl": with_(label="x"),
        "surrogate.jsonl": jsonl(good[:-1]) + b'\n{"premise":"a\\ud800","hypothesis":"b c","label":"neutral"}',
        "surrogate-label.jsonl": b"\n".join(
            b'{"premise":"a %d","hypothesis":"b","label":"x\\ud800"}' % i for i in range(40)
        ),
        "list-id.jsonl": with_(id=lambda i: [i]),
        "one-row.jsonl": jsonl(good[:1]),
        "two-rows.jsonl": jsonl(good[:2]),
        "labels.jsonl": with_(label=lambda i: f"l{i}"),
        "empty-texts.jsonl": with_(premise="", hypothesis=" "),
        "column-twice.csv": b"premise,premise,label\n" + b"\n".join(b"a%d,b%d,%d" % (i, i, i % 2) for i in range(30)),
        "label-twice.csv": b"premise,hypothesis,label,label\n" + b"\n".join(b"a%d,b,x,y" % i for i in range(30)),
        "unnamed-column.csv": b"premise,,label\n" + b"\n".join(b"a%d,b%d,%d" % (i, i, i % 2) for i in range(30)),
        "ragged.csv": b"premise,hypothesis,label\n" + b"\n".join([b"a,b", b"a,b,c,d"] * 15),
        "quotes.csv": b"premise,hypothesis,label\n" + b'"' * 100_001 + b",b,c\n",
        "open-quote.csv": b'premise,hypothesis,label\n"abc,b,x\n' + b"\n".join(b"a%d,b,x" % i for i in range(3000)),
        "cut.parquet": parquet[:-50],
        "damaged.parquet": parquet[:40] + random.Random(1).randbytes(200) + parquet[240:],
        "cut.arrow": arrow[:-50],
        "damaged.arrow": arrow[:100] + random.Random(2).randbytes(100) + arrow[200:],
        "no-rows.parquet": _table("write_parquet", frame.head(0)),
        "nulls.parquet": _table("write_parquet", nothing),
        "objects.parquet": _table("write_parquet", nested),
        "binary.parquet": _table("write_parquet", binary),
        "rows.zip": zipped({"train.jsonl": jsonl(good)}),
        **{f"flipped-{seed}.parquet": _flipped(parquet, seed) for seed in range(8)},
        **{f"flipped-{seed}.arrow": _flipped(arrow, seed) for seed in range(8)},
        **{f"flipped-{seed}.jsonl": _flipped(jsonl(good), seed) for seed in range(4)},
        **{f"flipped-{seed}.jsonl.gz": _flipped(gzip.compress(jsonl(good)), seed) for seed in range(4)},
    }


def bad_runs() -> dict[str, bytes]:
    """Predictions with something wrong in them."""
    good = predictions()
    frame = pl.DataFrame(good)
    arrays = io.BytesIO()
    np.savez(arrays, predictions=np.arange(60).reshape(3, 20) % 3, gold=np.arange(20) % 3)
    floats = "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }"

    def with_(**changed: Any) -> bytes:
        return jsonl(
            [{**row, **{k: v(i) if callable(v) else v for k, v in changed.items()}} for i, row in enumerate(good)]
        )

    def members(**given: Any) -> bytes:
        packed = io.BytesIO()
        np.savez(packed, **given)
        return packed.getvalue()

    return {
        "header.csv": b"seed,example_id,label,prediction\n",
        "cut.jsonl": jsonl(good)[:-20],
        "list-id.jsonl": with_(example_id=lambda i: [i]),
        "object-id.jsonl": with_(example_id=lambda i: {"a": i}),
        "list-prediction.jsonl": with_(prediction=["a"]),
        "infinite-score.jsonl": jsonl([{"seed": 0, "example_id": i, "score": float("inf")} for i in range(20)]),
        "large-score.jsonl": jsonl([{"seed": 0, "example_id": i, "score": 7.5} for i in range(20)]),
        "nan-logits.jsonl": jsonl([{"seed": 0, "example_id": i, "logits": [float("nan")] * 3} for i in range(20)]),
        "ragged-logits.jsonl": jsonl([{"seed": 0, "example_id": i, "logits": [0.5] * (i % 3)} for i in range(20)]),
        "text-logits.jsonl": jsonl([{"seed": 0, "example_id": i, "logits": ["x", "y"]} for i in range(20)]),
        "twice.jsonl": jsonl([*good, *good]),
        "huge-seed.jsonl": with_(seed=10**30),
        "no-seed.jsonl": with_(seed=None),
        "null-id.jsonl": with_(example_id=None),
        "cut.parquet": _table("write_parquet", frame)[:-50],
        "objects.npz": members(predictions=np.array([{}, {}], dtype=object)),
        "axes.npz": members(predictions=np.zeros((2, 2, 2, 2), int)),
        "lengths.npz": members(predictions=np.zeros((3, 20), int), gold=np.zeros(19, int)),
        "seeds.npz": members(predictions=np.zeros((3, 20), int), gold=np.zeros(20, int), seeds=np.arange(5)),
        "void.npz": members(predictions=np.zeros((2, 3), "V8")),
        "records.npz": members(predictions=np.zeros((2, 3), [("a", int)])),
        "no-array.npz": zipped({"predictions.npy": b"hello"}),
        "outside.npz": zipped({"../../predictions.npy": b"hello"}),
        "cut.npz": arrays.getvalue()[:-40],
        "vast.npy": npy(floats % "(99999999999, 100)"),
        "vast.npz": zipped({"predictions.npy": npy(floats % "(99999999999, 100)")}),
        "negative.npz": zipped({"predictions.npy": npy(floats % "(-1, 100)")}),
        "code.npz": zipped({"predictions.npy": npy("{'descr': __import__('os'), }")}),
        "deep-header.npz": zipped({"predictions.npy": npy("{'descr': " + "(" * 3000 + ")" * 3000 + "}")}),
        "token.npz": zipped({"predictions.npy": npy("{'descr': '<f8', 'shape': (3L, '''")}),
        "no-data.npz": zipped({"predictions.npy": npy(floats % "(3, 4)", b"abc")}),
        "no-header.eval": zipped({"samples/1_epoch_1.json": b"{}"}),
        "list-header.eval": zipped({"header.json": b"[]", "samples/1_epoch_1.json": b"3"}),
        "deep.eval": zipped({"header.json": b"[" * 200_000}),
        "harness.json": b'{"results": {"x": 3}, "configs": [], "samples": {"x": [1]}}',
        "helm.json": b'[{"instance_id": 3, "stats": "x"}]',
        "squad.json": b'{"data": [{"paragraphs": 3}]}',
        "trainer.json": b'{"log_history": [{"eval_accuracy": "x", "step": []}], "best_metric": {}}',
        **{f"flipped-{seed}.npz": _flipped(arrays.getvalue(), seed) for seed in range(6)},
        **{f"flipped-{seed}.parquet": _flipped(_table("write_parquet", frame), seed) for seed in range(6)},
        **{f"flipped-{seed}.jsonl": _flipped(jsonl(good), seed) for seed in range(4)},
    }


SETTINGS = {
    "empty": "",
    "syntax": "[policy",
    "section": "[foo]\na = 1\n",
    "key": "[policy]\nfoo = 1\n",
    "text": "[policy]\nmax_easy_share = 'x'\n",
    "nan": "[policy]\nmax_easy_share = nan\n",
    "negative": "[policy]\nmax_easy_share = -1\n",
    "large": "[policy]\nmin_runs = 99999999999999999999999\n",
    "verdict": "[policy]\nworst_verdict = 'great'\n",
    "array": "policy = [1]\n",
    "twice": "[policy]\na = 1\n[policy]\nb = 2\n",
    "deep": "a = " + "[" * 5000 + "]" * 5000 + "\n",
    "dots": ".".join(["a"] * 20_000) + " = 1\n",
    "digits": "[policy]\nmin_runs = " + "9" * 5000 + "\n",
    "date": "[policy]\nmax_easy_share = 2026-01-01\n",
    "nul": "[policy]\0\n",
    "limit-nan": "[verdicts.leakage]\nunsound_skill = nan\n",
    "seed": "seed = -1\n",
}
_BOTH = "train = {a = 'data.jsonl'}\ntest = {a = 'data.jsonl'}\n"
PLANS = {
    "no-models": "train = {a = 'data.jsonl'}\ntest = {a = 'data.jsonl'}\n",
    "zero-models": "models = []\ntrain = {a = 'data.jsonl'}\ntest = {a = 'data.jsonl'}\n",
    "number": "models = [1]\ntrain = {a = 'data.jsonl'}\ntest = {a = 'data.jsonl'}\n",
    "unknown": "models = ['nope']\ntrain = {a = 'data.jsonl'}\ntest = {a = 'data.jsonl'}\n",
    "outside": "models = ['../../etc']\ntrain = {a = 'data.jsonl'}\ntest = {a = 'data.jsonl'}\n",
    "missing": "models = ['bow']\ntrain = {a = 'nope.jsonl'}\n",
    "text": "models = ['bow']\ntrain = 'x'\n",
    "seeds": "models = ['bow']\ntrain = {a = 'data.jsonl'}\ntest = {a = 'data.jsonl'}\n[every]\nseeds = -1\n",
    "epochs": f"models = ['bow']\n{_BOTH}[every]\nchanges = {{epochs = 'x'}}\n",
    "change": f"models = ['bow']\n{_BOTH}[every]\nchanges = {{nope = 1}}\n",
}
REPORTS = {
    "empty": b"",
    "array": b"[]",
    "number": b"3",
    "null": b"null",
    "no-fields": b"{}",
    "deep": b"[" * 100_000,
    "verdict-number": b'{"schema_version": 2, "verdicts": 3}',
    "verdict-text": b'{"schema_version": 2, "verdicts": {"artifacts": "sound"}, "figures": []}',
    "figures-text": b'{"schema_version": 2, "verdicts": {}, "figures": "x"}',
    "vast-number": b'{"schema_version": 2, "verdicts": {}, "figures": [{"value": 1e999}]}',
    "digits": b'{"schema_version": ' + b"9" * 5000 + b"}",
    "cut": b'{"schema_version": 2, "verdicts": {"art',
    "latin-1": b'{"a": "\xe9"}',
}
# What no number, path or name of a command can be. Whatever takes text may take some of them.
VALUES = (
    "",
    "x",
    "-1",
    "0",
    "nan",
    "inf",
    "1e400",
    "9" * 30,
    "no/such/file.jsonl",
    LONG,
    "a=b=c",
    "=,=",
    "\u202e",
    "[[[*",
    "(((",
)


def prepare(folder: Path) -> None:
    """Write the valid files that options and plans name."""
    (folder / "data.jsonl").write_bytes(jsonl(rows()))
    (folder / "runs.jsonl").write_bytes(jsonl(predictions()))
    (folder / "nothing").mkdir()
    (folder / "plan.toml").write_text("models = ['bow']\ntrain = {a = 'data.jsonl'}\ntest = {a = 'data.jsonl'}\n")


def cases(folder: Path) -> list[Case]:
    """All cases; their files are written into the folder, in which the commands run."""
    prepare(folder)
    return [*_contents(folder), *_places(folder), *_options(), *_settings(folder), *_reports(folder)]


def _put(folder: Path, kind: str, name: str, content: bytes) -> str:
    place = folder / kind / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    return f"{kind}/{name}"


def _contents(folder: Path) -> Iterator[Case]:
    for name, content in foreign().items():
        file = _put(folder, "foreign", name, content)
        yield Case(f"split foreign {name}", ("split", file, "-o", "out"), accepted=name.endswith((".txt", ".html")))
        yield Case(f"runs foreign {name}", ("runs", "show", file))
        yield Case(f"gold foreign {name}", ("runs", "show", "runs.jsonl", "--test", file))
        yield Case(f"report foreign {name}", ("check", file))
    odd = (
        "flipped",
        "damaged.arrow",
        "infinite",
        "surrogate",
        "rows.zip",
        "labels",
        "two-rows",
        "list-text",
        "list-id",
        "label-twice",
    )
    for name, content in bad_datasets().items():
        file = _put(folder, "data", name, content)
        accepted = name.startswith((*odd, "unnamed", "huge", "deep", "one-label", "object", "column-twice", "one-row"))
        yield Case(f"split {name}", ("split", file, "-o", "out"), accepted)
        yield Case(f"mine {name}", ("artifacts", "mine", file, "-o", "out"), accepted)
        yield Case(f"stream {name}", ("artifacts", "mine", file, "--memory", "1GB", "-o", "out"), accepted)
    for name, content in bad_runs().items():
        file = _put(folder, "predictions", name, content)
        for command in RUN_COMMANDS:
            yield Case(
                f"{' '.join(command)} {name}", (*command, file, *([] if command[0] == "runs" else ["-o", "out"])), True
            )


def _places(folder: Path) -> Iterator[Case]:
    os.mkfifo(folder / "silent")
    (folder / "self").symlink_to("self")
    (folder / "dangling").symlink_to("nowhere")
    loop = folder / "loop"
    loop.mkdir()
    (loop / "again").symlink_to("..")
    (loop / "runs.jsonl").write_bytes(jsonl(predictions()))
    for place in ("missing", LONG, "/dev/null", "/dev/zero", "silent", "self", "dangling", "nothing", ""):
        shown = place[:12] or "empty"
        yield Case(f"split at {shown}", ("split", place, "-o", "out"))
        yield Case(f"mine at {shown}", ("artifacts", "mine", place, "--memory", "1GB", "-o", "out"))
        yield Case(f"audit test at {shown}", ("audit", "data.jsonl", "--test", place, "-o", "out"))
        yield Case(f"audit runs at {shown}", ("audit", "data.jsonl", "--runs", place, "-o", "out"))
        yield Case(f"runs at {shown}", ("runs", "list", place))
        yield Case(f"check at {shown}", ("check", place))
        yield Case(f"config at {shown}", ("audit", "data.jsonl", "--settings", place, "-o", "out"))
        yield Case(f"plan at {shown}", ("sweep", place, "--dry-run", "-o", "out"))
    yield Case("runs in a loop", ("runs", "list", "loop"), accepted=True)
    for place in ("data.jsonl", "data.jsonl/x", "/proc/x", "self", LONG):
        yield Case(f"out at {place[:12]}", ("split", "data.jsonl", "-o", place))
        yield Case(
            f"json at {place[:12]}", ("split", "data.jsonl", "-o", "out", "--json", place), place == "data.jsonl"
        )


def commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands of the command line: words and parsed form."""

    def walk(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
        below = getattr(command, "commands", None)
        if below is None:
            yield words, command
        else:
            for name, inner in below.items():
                yield from walk(inner, (*words, name))

    yield from walk(typer.main.get_command(app), ())


# What a command needs before one of its options can be wrong.
_NEEDED = {
    "audit": ("data.jsonl",),
    "look": ("data.jsonl",),
    "split": ("data.jsonl",),
    "train": ("data.jsonl", "--model", "nope"),
    "sweep": ("plan.toml", "--dry-run"),
    "instability": ("runs.jsonl",),
    "compare": ("runs.jsonl",),
    "check": ("nothing",),
    "view": ("nothing",),
    "mend": ("data.jsonl",),
    "diff": ("nothing", "nothing"),
    "paste": ("nothing",),
    "studies": ("nope",),
    "specimen": (),
    "artifacts": ("data.jsonl",),
    "leakage": ("nothing",),
    "runs": ("runs.jsonl",),
    "sensitivity": ("runs.jsonl",),
    "answered": ("runs.jsonl",),
    "board": ("runs.jsonl",),
    "shift": ("nothing",),
    "overlap": ("data.jsonl", "--corpus", "data.jsonl"),
}
# Options that take any text: what follows from it is tried by other cases.
_FREE = {"--name", "--names", "--title", "--out", "--json"}


def _options() -> Iterator[Case]:
    for words, command in commands():
        for option in (each for each in command.params if each.param_type_name == "option"):
            name = max(option.opts, key=len)
            if option.is_flag or name in _FREE or name in {"--help", "--model"}:
                continue
            rng = random.Random(f"{words}{name}")
            for value in rng.sample(VALUES, 2):
                case = (
                    *words,
                    *_NEEDED[words[0]],
                    name,
                    value,
                    *(["-o", "out"] if words[0] not in ("check", "look") else []),
                )
                yield Case(f"{' '.join(words)} {name}={value[:20]}", case, accepted=True)


def _settings(folder: Path) -> Iterator[Case]:
    for name, text in SETTINGS.items():
        file = _put(folder, "settings", f"{name}.toml", text.encode())
        yield Case(f"audit settings {name}", ("artifacts", "mine", "data.jsonl", "--settings", file, "-o", "out"), True)
        yield Case(f"check settings {name}", ("check", "nothing", "--policy", file))
    for name, text in PLANS.items():
        file = _put(folder, "plans", f"{name}.toml", text.encode())
        yield Case(f"plan {name}", ("sweep", file, "--dry-run", "-o", "out"))


def _reports(folder: Path) -> Iterator[Case]:
    for name, content in REPORTS.items():
        file = _put(folder, f"reports/{name}", "report.json", content)
        yield Case(f"check report {name}", ("check", file))
        yield Case(f"diff report {name}", ("diff", file, file, "-o", "out"))
