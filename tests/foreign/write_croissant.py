"""Croissant metadata as mlcroissant itself writes them. python write_croissant.py OUT."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import mlcroissant as mlc


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True)
    rows = mlc.FileObject(
        id="rows.csv", name="rows.csv", content_url="rows.csv", encoding_formats=["text/csv"], sha256="0" * 64
    )
    label = mlc.Field(
        id="rows/label", name="label", data_types=mlc.DataType.TEXT,
        source=mlc.Source(file_object="rows.csv", extract=mlc.Extract(column="label")),
    )  # fmt: skip
    metadata = mlc.Metadata(
        name="rows", description="Rows.", license=["CC0-1.0"], url="https://example.org/rows", distribution=[rows],
        record_sets=[mlc.RecordSet(id="rows", name="rows", fields=[label])], data_biases=["Written by one annotator."],
        data_use_cases=["Tests."],
    )  # fmt: skip
    (out / "rows.json").write_text(json.dumps(metadata.to_json(), default=str))


if __name__ == "__main__":
    main()
