"""A field of objects, or several columns as one key, give what a plain column of the same values gives."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import goldassay
from goldassay.cli.main import run
from goldassay.questions.board.reading import read_board
from goldassay.questions.leakage.item_loading import ItemReading, item_clusters, load_items
from goldassay.questions.overlap.items import read_items
from goldassay.questions.run_choice import RunChoice

if TYPE_CHECKING:
    from pathlib import Path

WORDS = [
    "river",
    "stone",
    "paper",
    "candle",
    "garden",
    "mirror",
    "cloud",
    "table",
    "winter",
    "music",
    "road",
    "bread",
    "light",
]
# The column `key` has the values of both.
KEYS = ["meta.doc+place", "key"]


def _keyed(rows: list[dict[str, Any]], size: int = 6) -> pl.DataFrame:
    """Rows with an object, a column, and what both say together."""
    added = (
        {"meta": {"doc": n // size, "block": n // 3}, "place": n % 2, "key": f"{n // size} + {n % 2}", "block": n // 3}
        for n in range(len(rows))
    )
    return pl.DataFrame([{**row, **more} for row, more in zip(rows, added, strict=True)])


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = random.Random(0)
    file = tmp_path_factory.mktemp("keys") / "texts.jsonl"
    rows = [{"text": " ".join(rng.choices(WORDS, k=7)), "label": "ab"[n // 2 % 2]} for n in range(240)]
    _keyed(rows, 120).write_ndjson(file)
    return file


def _items() -> pl.DataFrame:
    choices = [[f"{word} {n}" for word in WORDS[:4]] for n in range(60)]
    return _keyed([{"question": f"Which {n}?", "choices": each, "answer": n % 4} for n, each in enumerate(choices)])


def test_items() -> None:
    codes = []
    for key in KEYS:
        posed = load_items(_items(), None, ItemReading(clusters=key))
        assert posed is not None
        codes.append(item_clusters(posed.test, key).codes.tolist())
        codes.append(read_items(_items(), clusters=key).clusters.codes.tolist())
    assert all(each == codes[0] for each in codes)
    assert max(codes[0]) == 19


def test_preferences() -> None:
    frame = _keyed([{"prompt": f"p {n}", "chosen": f"a {n}", "rejected": f"b {n}"} for n in range(60)])
    posed = [load_items(frame, None, ItemReading(clusters=key)) for key in KEYS]
    codes = [item_clusters(each.test, key).codes.tolist() for each, key in zip(posed, KEYS, strict=True) if each]
    assert codes[0] == codes[1]
    assert max(codes[0]) == 19


def test_boards() -> None:
    systems = [
        _keyed([{"system": f"s{at}", "item": n, "score": (n + at) % 3 % 2} for n in range(60)]) for at in range(2)
    ]
    frame = pl.concat(systems)
    codes = [read_board(frame, RunChoice.of(), key).clusters for key in KEYS]
    assert codes[0] is not None
    assert codes[1] is not None
    assert codes[0].tolist() == codes[1].tolist()
    assert len(set(codes[0].tolist())) == 20


@pytest.mark.parametrize("further", [[], ["--memory", "2GB"]])
def test_patterns(texts: Path, tmp_path: Path, further: list[str]) -> None:
    found = []
    for key in KEYS:
        clusters = "meta.block" if key == KEYS[0] else "block"
        words = ["--by", key, "--clusters", clusters, "--min-count", "2", "-o", str(tmp_path / key), "-q"]
        assert run(["artifacts", "mine", str(texts), *words, *further]) == 0
        found.append(pl.read_parquet(tmp_path / key / "patterns_by_value.parquet").rename({key: "value"}))
    assert found[0].equals(found[1])
    assert found[0]["value"].n_unique() == 4


def test_domains(texts: Path) -> None:
    sets = [{*goldassay.build_shift(by=key, source=texts, min_rows=3).splits.parts} for key in KEYS]
    assert sets[0] == sets[1] == {"0 + 0", "0 + 1", "1 + 0", "1 + 1"}
