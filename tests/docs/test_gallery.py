"""The gallery: a page for each published set, and one table over all."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_audit_has_a_row_and_a_page_with_its_figures() -> None:
    pages = runpy.run_path(str(ROOT / "scripts" / "gallery.py"))["gallery_pages"]()
    audits = [json.loads(line) for line in (ROOT / "docs/gallery/audits.jsonl").read_text("utf-8").splitlines()]
    assert len(pages) == len(audits) + 1 >= 26
    index = pages["index"]
    for audit in audits:
        (name,) = re.findall(
            rf"^\| \[{re.escape(audit['set'])}\]\((sets/.*)\.md\) \|.*\| {audit['n']:,} \|", index, re.MULTILINE
        )
        for question in ("artifacts", "leakage"):
            said = audit[question]
            if said["verdict"] != "not asked":
                assert f"## {question.capitalize()}: {said['verdict']}\n\n{said['evidence']}\n" in pages[name]
                assert pages[name].count("\n| one word |") == sum(
                    any(limit["kind"] == "one word" for limit in audit[each]["limits"])
                    for each in ("artifacts", "leakage")
                )
    counted = re.search(r"\*\*Leakage\*\*, (\d+) sets: (.*)\.", index)
    assert counted is not None
    assert int(counted[1]) == sum(map(int, re.findall(r"(\d+) \*", counted[2])))
