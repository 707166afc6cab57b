"""mlcroissant accepts the metadata that `goldassay paste` makes and fills in, and only the RAI fields differ."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import goldassay
from tests.cli.test_paste import saved
from tests.foreign.conftest import WRITTEN
from tests.gate.test_check import verdict

if TYPE_CHECKING:
    from pathlib import Path

VERDICTS = {"leakage": verdict("unsound"), "overlap": verdict("caution"), "shift": verdict("not asked", None)}
# The triples of two files without those of the three fields that are filled in.
SAME = """
import sys, rdflib, rdflib.compare
RAI = "http://mlcommons.org/croissant/RAI/"
FILLED = {rdflib.URIRef(RAI + each) for each in ("dataBiases", "dataLimitations", "dataCollectionMissingData")}
graphs = []
for name in sys.argv[1:]:
    # Ids are relative to where a file is.
    graph = rdflib.Graph().parse(name, format="json-ld", publicID="http://example.org/")
    for triple in [each for each in graph if each[1] in FILLED]:
        graph.remove(triple)
    graphs.append(rdflib.compare.to_isomorphic(graph))
print(len(graphs[0]), graphs[0] == graphs[1])
"""


def run(*words: str | Path) -> str:
    folder = WRITTEN.parent / "croissant" / "bin"
    done = subprocess.run([folder / words[0], *words[1:]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_it_is_accepted_and_else_the_same(written: Path, tmp_path: Path) -> None:
    part = {
        "role": "test",
        "name": "t",
        "files": ["t.csv"],
        "sha256": ["a" * 64],
        "dropped": {"no label": 3, "empty": 1},
    }
    inputs = [part, {**part, "role": "train", "sha256": ["b" * 64]}]
    report = saved(tmp_path / "report", verdicts=VERDICTS, inputs=inputs)
    filled, made = tmp_path / "filled.json", tmp_path / "made.json"
    shutil.copy(written / "rows.json", filled)
    for file in (filled, made):
        goldassay.paste(report, croissant=file)
        assert "error(s)" not in run("mlcroissant", "validate", "--jsonld", file)
    biases = json.loads(filled.read_text())["rai:dataBiases"]
    assert biases[0] == "Written by one annotator."
    assert "leakage: unsound" in biases[1]
    n, same = run("python", "-c", SAME, written / "rows.json", filled).split()
    assert (int(n) > 10, same) == (True, "True")
