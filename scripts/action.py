"""The step of the GitHub Action: audit, hold the report to the policy, and write at most 25 lines about it.

Reads DATA, TEST, RUNS, POLICY, BASELINE and NO_TEXTS from the environment. Exits with 0 if no rule is broken,
inconclusive rules included; with 1 if one is; and with the status of `goldassay audit` if the data cannot be audited.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import goldassay
from goldassay.report.markdown import code, plain

if TYPE_CHECKING:
    from goldassay.gate.check import Check

REPORT, SUMMARY, SETTINGS = "goldassay-report", "goldassay-summary.md", "goldassay.toml"
NO_TEXTS = os.environ.get("NO_TEXTS") == "true"
DEFAULT = {"worst_verdict": "caution"}
# With the twelve lines of a report, a title and three empty lines these are at most 25.
MOST_RULES, MOST_CHANGES = 4, 3


def audit() -> tuple[int, str]:
    """The exit status of the audit, and what it says of its failure."""
    words = [sys.executable, "-m", "goldassay", "audit", os.environ["DATA"], "-o", REPORT]
    for name in ("test", "runs"):
        if place := os.environ.get(name.upper()):
            words += [f"--{name}", place]
    if NO_TEXTS:
        words.append("--no-texts")
    # A file that was named and is missing is refused.
    if os.environ["POLICY"] != SETTINGS or Path(SETTINGS).is_file():
        words += ["--settings", os.environ["POLICY"]]
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True, check=False)
    said = done.stderr
    if done.returncode and NO_TEXTS:
        said = without_quotes(said.strip().rpartition("\n")[2])
    sys.stderr.write(said)
    return done.returncode, (said.strip().splitlines() or ["the audit failed"])[-1]


def without_quotes(line: str) -> str:
    """A message with its place alone, since what is wrong may quote a cell; that of a file that has none is kept."""
    found = re.match(r"goldassay: ([^:]*?)(, line \d+)?(, column '[^']*')?: ", line)
    place = Path(found[1]) if found else Path()
    given = [os.environ[name] for name in ("DATA", "TEST", "RUNS", "POLICY") if os.environ.get(name)]
    if found and found[1] in given and (found[1] == os.environ["POLICY"] or not place.exists()):
        return f"{line}\n"
    where = f"{place}{found[2] or ''}: " if found and place.is_file() else ""
    return (
        f"goldassay: {where}the data cannot be audited, and the reason may quote a text; run goldassay audit yourself\n"
    )


def policy() -> tuple[dict[str, object], list[str]]:
    """The rules, by which inconclusive ones pass, and a line where they are the default."""
    file = Path(os.environ["POLICY"])
    rules = tomllib.loads(file.read_text("utf-8")).get("policy") if file.is_file() else None
    lacks = f"{plain(file)} has no policy" if file.is_file() else f"there is no {plain(file)}"
    said = [] if rules else [f"- {lacks}: an unsound verdict fails"]
    return {**(rules or DEFAULT), "unresolved": "pass"}, said


def changes() -> list[str]:
    """What is different from the baseline, or why nothing can be said of it."""
    baseline = os.environ.get("BASELINE")
    if not baseline:
        return []
    try:
        said = goldassay.diff(baseline, REPORT).summary().splitlines()
    except goldassay.InputError as error:
        said = [f"The baseline is not compared: {error}"]
    # Which reports they are is known here.
    told = [line for line in said if line.strip() and not line.startswith(("before ", "after "))]
    return ["", *(f"- {plain(line)}" for line in told[:MOST_CHANGES])]


def rules(found: Check) -> list[str]:
    """The rules that are not kept."""
    lines = [f"- {each.status}: {plain(each.line)}" for each in found.outcomes if each.status != "kept"]
    left = len(lines) - MOST_RULES
    return lines if left <= 0 else [*lines[:MOST_RULES], f"- and {left} more"]


def main() -> int:
    """Write the summary, and return the exit status."""
    status, why = audit()
    if status:
        word, lines = "FAIL", ["The data could not be audited:", "", code(why)]
    else:
        demands, said = policy()
        found = goldassay.check(REPORT, demands)
        inconclusive = any(each.status == "inconclusive" for each in found.outcomes)
        word = "FAIL" if found.broken else "INCONCLUSIVE" if inconclusive else "PASS"
        status = 1 if found.broken else 0
        lines = [*goldassay.paste(REPORT).splitlines(), "", *said, *rules(found), *changes()]
    text = "\n".join([f"### goldassay: {word}", "", *lines]) + "\n"
    Path(SUMMARY).write_text(text, encoding="utf-8")
    for name, content in (("GITHUB_STEP_SUMMARY", text), ("GITHUB_OUTPUT", f"result={word}\n")):
        with Path(os.environ[name]).open("a", encoding="utf-8") as file:
            file.write(content)
    return status


if __name__ == "__main__":
    sys.exit(main())
