"""Results of shards on disk, one Parquet file each, so that a scan that was killed goes on where it was."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.files import write_parquet, written_whole
from goldassay.core.leftovers import sweep
from goldassay.kernels.words import RULES
from goldassay.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goldassay.scanning.scan import ShardResult
    from goldassay.scanning.shards import CorpusFile, Shard

# Of what a shard's result has, and of what is read: a kept "nothing" would come back where texts were passed over.
_FORM = 3
_COUNTS = (
    "n_documents",
    "n_without_text",
    "n_unread",
    "n_unread_bytes",
    "n_lines",
    "n_bytes",
    "n_broken",
    "broken",
    "fields",
    "n_with",
    "error",
)


def is_kept(path: Path) -> bool:
    """Whether a file is the result of a shard, and no text."""
    try:
        return "shard" in pl.read_parquet_metadata(path)
    except (pl.exceptions.PolarsError, OSError):
        return False


class KeptShards:
    """The folder of finished shards.

    A shard is known by what was sought, the rules for words, its file's place, size and time of change, and its range
    of bytes.

    Args:
        folder: Where they lie; None keeps nothing.
        digest: Of what is sought.
        fields: Those that hold the text.
    """

    def __init__(self, folder: Path | None, digest: str, fields: Sequence[str]) -> None:
        self._folder = folder
        if folder is not None:
            # Of a search that was killed while it wrote a shard, and that may go on at once.
            sweep(folder, age=0)
        self._common = [__version__, _FORM, RULES, digest, list(fields)]

    def _path(self, file: CorpusFile, shard: Shard) -> Path:
        assert self._folder is not None
        changed = file.path.stat().st_mtime_ns
        key = [*self._common, str(file.path.resolve()), file.size, changed, shard.begin, shard.end]
        return self._folder / f"{hashlib.sha256(json.dumps(key).encode()).hexdigest()[:32]}.parquet"

    def load(self, file: CorpusFile, shard: Shard) -> ShardResult | None:
        """The result of a shard that was finished before; None where there is none that can be read."""
        from goldassay.scanning.scan import MATCHES, ShardResult

        if self._folder is None:
            return None
        path = self._path(file, shard)
        if not path.is_file():
            return None
        try:
            said = json.loads(pl.read_parquet_metadata(path)["shard"])
            matches = pl.read_parquet(path)
            if matches.columns != list(MATCHES):
                return None
        except (pl.exceptions.PolarsError, OSError, KeyError, ValueError):
            return None
        return ShardResult(
            shard.file,
            **{name: said[name] for name in _COUNTS},
            n_found={int(item): n for item, n in said["n_found"]},
            n_holding={int(item): n for item, n in said["n_holding"]},
            windows=np.array(said["windows"], np.int64),
            matches=matches.with_columns(file=pl.lit(shard.file, pl.Int64)),
        )

    def save(self, file: CorpusFile, shard: Shard, found: ShardResult) -> None:
        """Keep a shard's result, unless its file could not be read to the end."""
        if self._folder is None or found.error:
            return
        said = {name: getattr(found, name) for name in _COUNTS} | {
            "n_found": sorted(found.n_found.items()),
            "n_holding": sorted(found.n_holding.items()),
            "windows": found.windows.tolist(),
        }
        with written_whole(self._path(file, shard)) as aside:
            write_parquet(found.matches, aside, metadata={"shard": json.dumps(said)})
