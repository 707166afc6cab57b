"""What every study writes, whichever way it was run."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from pathlib import Path


def check_written(out: Path, study: str) -> dict[str, Any]:
    """The folder of a study that was run at smoke scale; gives its document."""
    document: dict[str, Any] = json.loads((out / "study.json").read_text())
    assert document["schema"] == "goldassay.study"
    assert (document["study"], document["scale"]) == (study, "smoke")
    assert document["conclusions"]
    networks = document["networks"]
    assert sum(each["n_trainings"] for each in networks) == document["n_trainings"] > 0
    seconds = json.loads((out / "timing.json").read_text())["processor_seconds_of_networks"]
    assert set(seconds) == {each["name"] for each in networks}
    assert all(each > 0 for each in seconds.values())
    assert "torch" in document["environment"]["packages"]
    # Of made-up data nothing is said to have held, and every page says so.
    standings = {"found as planted", "not as planted", "not shown", "not measured"}
    assert {each["standing"] for each in document["conclusions"]} <= standings
    assert document["made_up"]
    assert all("Made-up data:" in (out / name).read_text() for name in ("study.html", "study.md"))
    for comparison in document["comparisons"]:
        assert pl.read_parquet(out / "tables" / f"{comparison['name']}.parquet").height
    page = (out / "study.html").read_text()
    assert all(each["network"] in page for each in networks)
    for href in re.findall(r'href="((?:tables|figures)/[^"]+)"', page):
        assert (out / href).exists(), href
    return document
