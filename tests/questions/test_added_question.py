"""A question from outside the package appears in every output; a question that is deleted leaves the others intact."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import goldassay
from goldassay.core import figures
from goldassay.questions.public import check, diff
from tests.extensions.distributions import installed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goldassay.report.report import Report


def rows(n: int, start: int) -> list[dict[str, str]]:
    """Pairs of which every third hypothesis is short."""
    return [
        {
            "premise": f"A person number {i} walks along the street.",
            "hypothesis": f"Somebody {i} walks." if i % 3 == 0 else f"There is somebody who has {i} coins in a bag.",
            "label": ("entailment", "neutral")[i % 2],
        }
        for i in range(start, start + n)
    ]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Report]:
    # Other tests go through all that is declared.
    measures, judged = dict(figures._DECLARED), dict(figures._JUDGED)
    site = tmp_path_factory.mktemp("added") / "site"
    with installed(site, "goldassay.questions", brevity="brevity_question:BREVITY"):
        yield goldassay.audit(rows(120, 0), rows(60, 200))
    figures._DECLARED.clear()
    figures._DECLARED.update(measures)
    figures._JUDGED.clear()
    figures._JUDGED.update(judged)


def test_it_appears_in_every_output(report: Report, tmp_path: Path) -> None:
    share = 20 / 60
    document = json.loads(report.to_json())
    assert document["verdicts"]["brevity"]["verdict"] == "caution"
    (figure,) = [row for row in document["figures"] if row["question"] == "brevity"]
    assert (figure["id"], figure["value"], figure["n"], figure["of"]) == (
        "brevity.share",
        share,
        60,
        {"part": "last text"},
    )
    shown = "33.3\N{NO-BREAK SPACE}%"
    assert "Brevity" in report.summary()
    assert "CAUTION" in report.summary()
    for text in (report.to_html(), report.to_markdown(), report._repr_html_()):
        assert "Some texts are short." in text
    for text in (report.to_html(), report.to_markdown().replace(" %", "\N{NO-BREAK SPACE}%")):
        assert shown in text
        assert "Short texts" in text
    (outcome,) = check(report, {"max_short": 0.2}).outcomes
    assert (outcome.status, outcome.value) == ("broken", share)
    assert not check(report, {"worst_brevity_verdict": "sound"}).passed
    report.save(tmp_path / "one")
    report.save(tmp_path / "other")
    changed = {row["id"] for row in diff(tmp_path / "one", tmp_path / "other").document["measures"]}
    assert "brevity.share" in changed


def test_without_a_question_the_others_run(tmp_path: Path) -> None:
    """Delete a question's folder, and its name where it is registered, in a copy of the package."""
    package = tmp_path / "src" / "goldassay"
    # With what was compiled, which would take the copy half a minute.
    shutil.copytree(Path(goldassay.__file__).parent, package)
    shutil.rmtree(package / "questions" / "shift")
    registration = package / "questions" / "checks.py"
    text = registration.read_text()
    assert text.count(', "shift"') == 1
    registration.write_text(text.replace(', "shift"', ""))
    commands = package / "cli" / "app.py"
    entry = re.compile(r'    "shift(?: \w+)?": (?:Command)?\((?:.|\n)*?\n    \),\n')
    text, n_removed = entry.subn("", commands.read_text())
    assert n_removed == 4
    commands.write_text(text.replace('"shift", ', ""))
    for name, n, start in (("train", 120, 0), ("test", 60, 200)):
        lines = "".join(json.dumps(row) + "\n" for row in rows(n, start))
        (tmp_path / f"{name}.jsonl").write_text(lines)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    command = [sys.executable, "-m", "goldassay", "audit", "train.jsonl", "--test", "test.jsonl", "-o", "out"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "out" / "report.json").read_text())
    assert document["verdicts"].keys() == {"artifacts", "leakage", "instability", "overlap"}
    assert {row["question"] for row in document["figures"]} == {"facts", "artifacts", "leakage", "overlap"}
    assert "Shift" not in done.stdout
