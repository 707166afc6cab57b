"""Reports judged and compared from Python, and settings whose policy is checked by every command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.questions.gating import load_policy, load_settings
from goldassay.report.report import Report
from tests.gate.test_check import AUDIT, RUNS, stored, verdict
from tests.gate.test_diff import audit, examples_of, write

if TYPE_CHECKING:
    from goldassay.gate.reading import StoredReport

ROOT = Path(__file__).parents[2]


def in_memory(stored: StoredReport) -> Report:
    return Report({**stored.document, "timing": {"finished": stored.finished}})


def test_a_report_in_memory_is_judged_as_the_one_on_disk(tmp_path: Path) -> None:
    folder = write(AUDIT, tmp_path / "audit")
    (folder / "timing.json").write_text(json.dumps({"finished": AUDIT.finished}))
    policy = {"max_easy_share": {"limit": 0.28, "by": "high"}, "leakage.accuracy": {"max": 0.6}}
    found = [goldassay.check(report, policy) for report in (in_memory(AUDIT), folder, str(folder / "report.json"))]
    assert [[(each.status, each.line) for each in check.outcomes] for check in found] == [
        [(each.status, each.line) for each in found[0].outcomes]
    ] * 3
    assert [outcome.status for outcome in found[0].outcomes] == ["broken", "kept"]
    assert not found[0].passed
    assert {check.reports[0]["finished"] for check in found} == {"2026-01-02T03:04:05"}


@pytest.mark.parametrize(
    ("word", "missed", "at_most", "passes"),
    [
        ("sound", 0.05, 0.05, True),
        ("sound", 0.0501, 0.05, False),
        ("sound", None, 0.05, False),
        ("sound", None, None, True),
        ("caution", 0.01, 0.05, False),
        ("unresolved", 0.01, 0.05, False),
        ("not measurable", 0.01, None, False),
    ],
)
def test_a_test_of_a_data_set_asserts_that_it_is_sound(
    word: str, missed: float | None, at_most: float | None, passes: bool
) -> None:
    """A verdict that shows nothing is no pass, however small its bound."""
    report = in_memory(stored("r", verdicts={"leakage": verdict(word, at_most=missed)}))
    if passes:
        goldassay.assert_sound(report, "leakage", at_most)
    else:
        with pytest.raises(AssertionError, match="leakage"):
            goldassay.assert_sound(report, "leakage", at_most)


def test_it_is_a_fixture_of_pytest(tmp_path: Path) -> None:
    """Found by its entry point where the package is installed; here the module is named."""
    (name,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"].values()
    for word in ("sound", "caution"):
        write(stored("r", verdicts={"leakage": verdict(word, at_most=0.01)}), tmp_path / word)
        (tmp_path / f"test_{word}.py").write_text(
            "import json\n"
            "from goldassay.report.report import Report\n"
            f"def test_data(assert_sound):\n"
            f"    report = Report(json.loads(open({str(tmp_path / word / 'report.json')!r}).read()))\n"
            "    assert_sound(report, 'leakage', at_most=.05)\n"
        )
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", name, f"test_{word}.py"], cwd=tmp_path,
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, "1 passed" in done.stdout) == ((0, True) if word == "sound" else (1, False)), done
        assert ("leakage" in done.stdout) == (word == "caution")


def test_a_question_that_the_report_lacks_is_not_sound() -> None:
    report = in_memory(stored("r", verdicts={"leakage": verdict("sound", at_most=0.01)}))
    with pytest.raises(AssertionError, match="overlap"):
        goldassay.assert_sound(report, "overlap")
    with pytest.raises(InputError, match="there is no question 'leaks'"):
        goldassay.assert_sound(report, "leaks")


def test_several_reports_and_the_same_twice(tmp_path: Path) -> None:
    folder = write(RUNS, tmp_path / "runs")
    check = goldassay.check([in_memory(AUDIT), folder, folder / "report.json"], {"min_runs": 3})
    assert (len(check.reports), check.outcomes[0].n_figures) == (2, 2)


def test_a_policy_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('seed = 1\n[policy]\nmax_easy_share = 0.3\nartifacts.gain = { max = 0.05, by = "high" }\n')
    assert [demand.name for demand in load_policy(file)] == ["max_easy_share", "artifacts.gain"]
    assert [outcome.status for outcome in goldassay.check(in_memory(AUDIT), file).outcomes] == ["kept", "broken"]
    assert load_settings(file).seed == 1


def test_an_unknown_rule_is_refused_with_the_settings(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[policy]\nmax_easy_shaer = 0.3\n")
    with pytest.raises(InputError, match=r"unknown key 'policy\.max_easy_shaer'; did you mean") as refused:
        load_settings(file)
    assert str(refused.value).startswith(str(file))


def test_two_reports_are_compared(tmp_path: Path) -> None:
    tables = examples_of(1, 0.6, 0.5), examples_of(2, 0.5, 0.4)
    folders = [write(audit(table), tmp_path / str(i), table) for i, table in enumerate(tables)]
    found = goldassay.diff(*folders)
    assert {row["method"] for row in found.document["measures"]} >= {"paired by test example"}
