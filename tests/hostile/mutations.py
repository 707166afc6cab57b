"""How the fuzzer changes a valid file: its bytes, a value of its JSON, a column of its table, the header of its array.

A file that is flipped byte by byte hardly ever gets past the first check of its format. So most changes keep the form
of the file and put something odd into it, also within what is packed.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl
import zstandard
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TOKENS = [
    b"\0", b"\xff", b"\xed\xa0\x80", b"\n", b"\r", b"\t", b'"', b"'", b"{", b"}", b"[", b"]", b",", b"null", b"NaN",
    b"Infinity", b"1e999", b"-1", b"9" * 400, b"\\ud800", b'"label"', b"true", b"[[[]]]", b"\xef\xbb\xbf", b"= ",
]  # fmt: skip
# What takes the place of a whole value of JSON or a field of a table.
VALUES = [
    b"null", b"[]", b"{}", b"[1, [2]]", b'{"a": 1}', b"1e999", b"-1", b"NaN", b"Infinity", b"9" * 400, b"true", b'""',
    b'"\\ud800"', b'"\\u0000"', b"[" * 500 + b"]" * 500, b"0.5", b'"entailment"', b'"a", "b"', b"\xff", b"1" * 20,
]  # fmt: skip
# Likewise of a node of parsed JSON.
NODES: list[Any] = [
    None, True, False, 0, -1, 3.5, 1e308, float("nan"), float("inf"), 10**18, 10**30, "", " ", "x", "\ud800", "0",
    "nan", "a" * 1000, "\0", "\u202e", [], {}, [[]], [None], [1, 2], ["a"], {"a": 1}, {"": ""}, [1, "a", None], [{}],
]  # fmt: skip
# What a column may be called to mean something.
NAMES = [
    "id", "example_id", "label", "prediction", "score", "logits", "features", "seed", "checkpoint", "model", "dataset",
    "group_g", "group_", "premise", "hypothesis", "text", "correct_a", "seed_0", "", 'A,\n"B',
]  # fmt: skip
# A column of n values of some other type.
COLUMNS: list[Callable[[int], pl.Series]] = [
    lambda n: pl.Series(range(n)),
    lambda n: pl.Series([float("inf"), *[0.5] * n])[:n],
    lambda n: pl.Series([float("nan")] * n),
    lambda n: pl.Series([2**64 - 1] * n, dtype=pl.UInt64),
    lambda n: pl.Series([True] * n),
    lambda n: pl.Series([None] * n),
    lambda n: pl.Series(["a", None] * n)[:n],
    lambda n: pl.Series([b"\xff\xfe"] * n),
    lambda n: pl.Series([b"a"] * n),
    lambda n: pl.Series([["a", "b"]] * n),
    lambda n: pl.Series([[i, 0.5, float("nan")][: i % 4] for i in range(n)], dtype=pl.List(pl.Float64)),
    lambda n: pl.Series([[[1]]] * n),
    lambda n: pl.Series([{"a": 1, "b": "x"}] * n),
    lambda n: pl.Series([[1.0, 2.0, 3.0]] * n, dtype=pl.Array(pl.Float64, 3)),
    lambda n: pl.Series(["a", "b"] * n, dtype=pl.Categorical)[:n],
    lambda n: pl.Series(["a"] * n, dtype=pl.Enum(["a", "b"])),
    lambda n: pl.Series(range(n)).cast(pl.Date),
    lambda n: pl.Series(range(n)).cast(pl.Duration),
    lambda n: pl.Series(range(n)).cast(pl.Time),
    lambda n: pl.Series(range(n)).cast(pl.Decimal(20, 2)),
    lambda n: pl.Series(["9" * 400] * n),
]
# Parts of the header of a NumPy array.
DESCRIPTIONS = [
    "'O'", "'<U99999999'", "'<i9'", "'<M8[s]'", "'<M8[x]'", "'|S0'", "'<c16'", "'|b1'", "'|V8'", "3", "None", "[]",
    "[('a', '<i4')]", "'<f8,<i4'", "('<f8', (2, 2))", "[('a',)]", "'\\ud800'", "{'a': 1}",
]  # fmt: skip
SHAPES = [
    "()", "(-1,)", "(3, -1)", "(10**9,)", "(99999999999999999999,)", "(4000000000, 4000000000)", "3", "None", "('a',)",
    "(1.5,)", "(0,)", "(True,)", "(3L,)", "(" * 200 + ")" * 200, "((3,),)", "'''", "(1, 2, 3, 4, 5)",
]  # fmt: skip
_VALUE = re.compile(rb'"(?:[^"\\]|\\.)*"|[^\s,{}\[\]:"]+')
_GZIP, _ZSTD, _ZIP, _NUMPY = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"\x93NUMPY"
_MAX_INSIDE = 1 << 26


@dataclass(frozen=True)
class Change:
    """A change of a file.

    Attributes:
        kind: What is changed, and how.
        at: Where, as a share of the file; which node or column where the change has a form.
        size: Bytes that it covers; which value takes the place.
        value: What is put there.
        inside: Whether it is made within what is packed, where the file is a packed one.
    """

    kind: str
    at: float
    size: int
    value: bytes
    inside: bool = False

    def applied(self, content: bytes) -> bytes:
        """The content with this change; as it is where it has no such form."""
        if self.inside and content.startswith((_GZIP, _ZSTD, _ZIP)):
            try:
                return self._within(content)
            except Exception:
                # An earlier change damaged what is packed.
                return content
        if self.kind in _FORMS:
            try:
                return _FORMS[self.kind](content, random.Random(f"{self.at} {self.size} {self.value!r}"))
            except KeyboardInterrupt:
                raise
            # The table engine panics at files that an earlier change damaged.
            except BaseException:
                return content
        if self.kind == "value":
            places = [found.span() for found in _VALUE.finditer(content)]
            begin, end = places[int(self.at * (len(places) - 1))] if places else (0, 0)
            return content[:begin] + VALUES[self.size % len(VALUES)] + content[end:]
        begin = int(self.at * len(content))
        end = min(begin + self.size, len(content))
        return {
            "flip": lambda: content[:begin] + bytes(b ^ (self.value or b"\1")[0] for b in content[begin:end])
            + content[end:],
            "bit": lambda: content[:begin] + bytes(b ^ (1 << self.size % 8) for b in content[begin : begin + 1])
            + content[begin + 1 :],
            "insert": lambda: content[:begin] + self.value + content[begin:],
            "replace": lambda: content[:begin] + self.value + content[end:],
            "over": lambda: content[:begin] + self.value + content[begin + len(self.value) :],
            "delete": lambda: content[:begin] + content[end:],
            "repeat": lambda: content[:begin] + content[begin:end] * 3 + content[end:],
            "cut": lambda: content[:begin],
        }[self.kind]()  # fmt: skip

    def _within(self, content: bytes) -> bytes:
        plain = Change(self.kind, self.at, self.size, self.value)
        if content.startswith(_GZIP):
            return gzip.compress(plain.applied(gzip.decompress(content)))
        if content.startswith(_ZSTD):
            unpacked = zstandard.ZstdDecompressor().decompress(content, max_output_size=_MAX_INSIDE)
            return zstandard.compress(plain.applied(unpacked))
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {info.filename: archive.read(info) for info in archive.infolist()}
            packing = archive.infolist()[0].compress_type
        rng = random.Random(f"{self.at} {self.size}")
        chosen = rng.choice(list(members))
        changed = plain.applied(members[chosen])
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", packing) as archive:
            for name, member in members.items():
                archive.writestr(name, changed if name == chosen else member)
        return packed.getvalue()


# Hypothesis prefers 0, 1 and 0.5 among floats, where a file is damaged in ways that are soon found.
_PLACES = st.integers(0, 2**48).map(lambda number: random.Random(number).random())
CHANGES = st.lists(
    st.builds(
        Change,
        st.sampled_from(
            ["node", "node", "column", "column", "header", "value", "flip", "bit", "bit", "over", "insert", "replace",
             "delete", "repeat", "cut"]
        ),
        _PLACES,
        st.integers(1, 64),
        st.one_of(st.sampled_from(TOKENS), st.binary(min_size=1, max_size=8)),
        st.sampled_from([True, True, False]),
    ),
    min_size=1,
    max_size=3,
)  # fmt: skip


def _node(content: bytes, rng: random.Random) -> bytes:
    """Change a node of a JSON file, of one line of JSONL, or the same field of all lines."""
    if content.startswith(b"PAR1"):
        return _metadata(content, rng)
    try:
        return json.dumps(_changed(json.loads(content), rng)).encode()
    except ValueError:
        lines = content.split(b"\n")
    which = range(len(lines)) if rng.random() < 0.4 else [rng.randrange(len(lines))]
    state = rng.getstate()
    for i in which:
        if lines[i].strip():
            # The same draws for each line: the same field takes the same value.
            rng.setstate(state)
            lines[i] = json.dumps(_changed(json.loads(lines[i]), rng)).encode()
    return b"\n".join(lines)


def _changed(node: Any, rng: random.Random) -> Any:
    if isinstance(node, dict) and node and rng.random() < 0.85:
        node, key, what = dict(node), rng.choice(list(node)), rng.random()
        if what < 0.15:
            del node[key]
        elif what < 0.25:
            node[rng.choice(NAMES)] = node.pop(key)
        else:
            node[key] = _changed(node[key], rng)
        return node
    if isinstance(node, list) and node and rng.random() < 0.85:
        node, i, what = list(node), rng.randrange(len(node)), rng.random()
        if what < 0.1:
            del node[i]
        elif what < 0.2:
            node.append(node[i])
        else:
            node[i] = _changed(node[i], rng)
        return node
    return rng.choice([*NODES, [node], {"x": node}, str(node)[:200]])


def _metadata(content: bytes, rng: random.Random) -> bytes:
    """Change a node of the JSON that a Parquet file holds in its metadata."""
    metadata = _own_metadata(content)
    key = rng.choice(list(metadata))
    metadata[key] = json.dumps(_changed(json.loads(metadata[key]), rng))
    return _written(pl.read_parquet(io.BytesIO(content)), "write_parquet", metadata=metadata)


def _own_metadata(content: bytes) -> dict[str, str]:
    """What a Parquet file says besides its schema."""
    return {key: text for key, text in pl.read_parquet_metadata(io.BytesIO(content)).items() if key != "ARROW:schema"}


def _column(content: bytes, rng: random.Random) -> bytes:
    """Give a column of a table another type, another name, or take it away; or take away rows."""
    source = io.BytesIO(content)
    options: dict[str, Any] = {}
    if content.startswith(b"PAR1"):
        frame, write = pl.read_parquet(source), "write_parquet"
        options = {"metadata": _own_metadata(content)}
    elif content.startswith(b"ARROW1"):
        frame, write = pl.read_ipc(source), "write_ipc"
    elif content.startswith(b"\xff\xff\xff\xff"):
        frame, write = pl.read_ipc_stream(source), "write_ipc_stream"
    elif content.startswith(b"{"):
        frame, write = pl.read_ndjson(source), "write_ndjson"
    else:
        options = {"separator": "\t" if b"\t" in content.split(b"\n", 1)[0] else ","}
        frame, write = pl.read_csv(source, infer_schema=False, **options), "write_csv"
    name, what = rng.choice(frame.columns), rng.random()
    if what < 0.65:
        frame = frame.with_columns(rng.choice(COLUMNS)(frame.height).alias(name))
    elif what < 0.8:
        frame = frame.rename({name: rng.choice(NAMES)})
    elif what < 0.9:
        frame = frame.drop(name)
    else:
        frame = rng.choice([frame.head(0), frame.head(1), pl.concat([frame, frame]), frame.reverse()])
    if write == "write_ndjson":
        # polars panics at types that JSON lacks.
        return "\n".join(json.dumps(row, default=str) for row in frame.to_dicts()).encode()
    return _written(frame, write, **options)


def _header(content: bytes, rng: random.Random) -> bytes:
    """Change the header of a NumPy array."""
    if not content.startswith(_NUMPY):
        return content
    length = int.from_bytes(content[8:10], "little")
    header, data = content[10 : 10 + length].decode("latin-1"), content[10 + length :]
    what = rng.random()
    if what < 0.4:
        header = re.sub(r"'descr': '[^']*'", f"'descr': {_quoted(rng.choice(DESCRIPTIONS))}", header)
    elif what < 0.8:
        header = re.sub(r"'shape': \([^)]*\)", f"'shape': {_quoted(rng.choice(SHAPES))}", header)
    else:
        begin = rng.randrange(len(header))
        header = header[:begin] + rng.choice(["(", ")", "{", "'", "\0", "0x", ",", "#", "\n"]) + header[begin + 1 :]
    packed = header.encode("latin-1", "replace")
    return content[:8] + len(packed).to_bytes(2, "little") + packed + data


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\")


def _written(frame: pl.DataFrame, write: str, **options: Any) -> bytes:
    file = io.BytesIO()
    getattr(frame, write)(file, **options)
    return file.getvalue()


_FORMS: dict[str, Callable[[bytes, random.Random], bytes]] = {"node": _node, "column": _column, "header": _header}


def applied(changes: Sequence[Change], content: bytes) -> bytes:
    """The content with all changes, those of bytes last: reading what they damage might end the table engine."""
    for change in sorted(changes, key=lambda change: change.kind not in _FORMS):
        content = change.applied(content)
    return content
