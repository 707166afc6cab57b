"""A check as JUnit XML, which every CI service shows: one test case a rule."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from goldassay.core.visible import visible

if TYPE_CHECKING:
    from goldassay.gate.check import Check

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(check: Check) -> str:
    """The check as the usual JUnit XML: a broken rule is a failure, an optional one without a measure is skipped.

    The time stamp is that of the last report, left out where no report has one; no durations are given: the same
    reports always make the same file.
    """
    status = [outcome.status for outcome in check.outcomes]
    counts = {
        "tests": str(len(status)),
        "failures": str(status.count("broken")),
        "errors": "0",
        "skipped": str(status.count("skipped")),
        "time": "0",
    }
    root = ET.Element("testsuites", {"name": "goldassay check", **counts})
    finished = max(str(report["finished"]) for report in check.reports)
    suite = ET.SubElement(
        root,
        "testsuite",
        {
            "name": "goldassay policy",
            **counts,
            **({"timestamp": finished[:19]} if finished else {}),
            "hostname": "localhost",
        },
    )
    properties = ET.SubElement(suite, "properties")
    for i, report in enumerate(check.reports):
        for key, value in report.items():
            ET.SubElement(properties, "property", {"name": f"report.{i}.{key}", "value": _clean(value)})
    for outcome in check.outcomes:
        case = ET.SubElement(suite, "testcase", {"classname": "goldassay.policy", "name": outcome.rule, "time": "0"})
        if outcome.report:
            case.set("file", _clean(outcome.report))
        line = _clean(outcome.line)
        if outcome.status == "broken":
            ET.SubElement(case, "failure", {"message": line, "type": "PolicyViolation"}).text = line
        elif outcome.status == "skipped":
            ET.SubElement(case, "skipped", {"message": line})
        else:
            ET.SubElement(case, "system-out").text = line
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _clean(value: object) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", visible(value))
