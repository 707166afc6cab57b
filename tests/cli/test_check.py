"""`goldassay check` as a command: its lines, its exit status, its files, and what CI services run of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from goldassay.cli.main import run
from goldassay.core.report_seal import digest_of
from goldassay.gate.check import read_policy
from goldassay.gate.reading import StoredReport
from tests.cli.run_files import goldassay, refused
from tests.end_to_end.conftest import COMMAND
from tests.gate.test_check import AUDIT, RUNS, verdict
from tests.report.example import example_report
from tests.stated import Fact, says, states

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.end_to_end.conftest import Outcome

__all__ = ["goldassay", "refused"]

ROOT = Path(__file__).parents[2]
CI = ROOT / "examples" / "ci"


def write(report: StoredReport, folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "report.json").write_text(json.dumps(report.document, indent=2))
    return folder


@pytest.fixture
def audited(tmp_path: Path) -> Path:
    return write(AUDIT, tmp_path / "audit")


def policy(tmp_path: Path, text: str) -> None:
    (tmp_path / "goldassay.toml").write_text(f"[policy]\n{text}\n")


def test_a_line_for_each_broken_rule(goldassay: Callable[..., Outcome], tmp_path: Path, audited: Path) -> None:
    policy(tmp_path, "max_easy_share = 0.2\nmax_pattern_gain = 0.01\nmin_runs = {limit = 3, optional = true}")
    found = goldassay("check", "audit", "--junit", "out/junit.xml", "--json", "check.json")
    assert (found.status, found.err) == (1, "")
    assert found.out.splitlines() == [
        says("broken", "max_easy_share:", "easy by pattern", "25.0 % [21.0, 29.5]", "at most 20.0 %"),
        says("broken", "max_pattern_gain:", "above the majority", "4.0 points [3.0, 6.0]", "at most 1.0 points"),
        says("skipped", "min_runs:", "not in the report", "Not asked: instability"),
    ]
    assert ET.parse(tmp_path / "out" / "junit.xml").getroot().get("failures") == "2"
    written = json.loads((tmp_path / "check.json").read_text())
    assert (written["schema"], written["passed"]) == ("goldassay.check", False)
    assert [each["status"] for each in written["outcomes"]] == ["broken", "broken", "skipped"]


def test_nothing_broken(goldassay: Callable[..., Outcome], tmp_path: Path, audited: Path) -> None:
    policy(tmp_path, "max_easy_share = 0.3")
    assert goldassay("check", "audit/report.json").out == "1 rule of goldassay.toml kept, none broken\n"
    found = goldassay("check", "audit", "-q")
    assert (found.status, found.out, found.err) == (0, "", "")


def test_limits_and_settings_that_are_not_the_default_are_named(
    goldassay: Callable[..., Outcome], tmp_path: Path
) -> None:
    """A limit of 90 % lets everything pass, and the gate must not be quiet about it."""
    said = "Limits set by goldassay.toml: unsound = 0.9 (default 0.075)."
    loosened = AUDIT.document | {
        "verdicts": AUDIT.document["verdicts"]
        | {"artifacts": AUDIT.document["verdicts"]["artifacts"] | {"limits": said}}
    }
    loosened["digest"] = digest_of(loosened)
    write(StoredReport(Path("report.json"), loosened), tmp_path / "loosened")
    policy(tmp_path, "max_easy_share = 0.3")
    for quiet in ((), ("-q",)):
        found = goldassay("check", "loosened", "--json", "check.json", *quiet)
        assert found.status == 0
        assert found.out.splitlines()[0] == f"note         artifacts: {said}"
        assert json.loads((tmp_path / "check.json").read_text())["notes"] == [f"artifacts: {said}"]


def test_a_policy_that_is_kept_names_what_sound_cannot_see(goldassay: Callable[..., Outcome], tmp_path: Path) -> None:
    unseen = "Not seen: fifty words."
    sound = AUDIT.document | {"verdicts": {"artifacts": verdict("sound") | {"not_seen": unseen}}}
    sound["digest"] = digest_of(sound)
    write(StoredReport(Path("report.json"), sound), tmp_path / "sound")
    policy(tmp_path, "worst_verdict = 'caution'")
    found = goldassay("check", "sound")
    assert found.status == 0
    assert found.out.splitlines()[0] == f"note         artifacts: {unseen}"


@pytest.mark.parametrize("command", [("check", "audit", "-q"), ("diff", "audit", "audit", "-o", "out", "-q")])
def test_figures_are_read_without_any_measure(
    tmp_path: Path, audited: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """A gate runs in every push: it needs what a report says, and nothing of what computed it."""
    policy(tmp_path, "max_easy_share = 0.3")
    monkeypatch.chdir(tmp_path)
    rooms = (
        "artifacts",
        "leakage",
        "instability",
        "shift",
        "data",
        "runs",
        "readers.choice_rules",
        "lab.models",
        "lab.training.many_seeds",
    )
    code = (
        "import sys\nfrom goldassay.cli.main import run\n"
        f"assert run({list(command)!r}) == 0\nprint(' '.join(sys.modules))"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(made.stdout.split())
    assert "goldassay.questions.report_frame" in loaded
    heavy = {"numba", "scipy", "sklearn", "matplotlib", "nltk", "torch", *(f"goldassay.{room}" for room in rooms)}
    assert loaded & heavy == set()
    assert not any(name.startswith("goldassay.questions.artifacts.measures") for name in loaded)


def test_several_reports(goldassay: Callable[..., Outcome], tmp_path: Path, audited: Path) -> None:
    write(RUNS, tmp_path / "runs")
    policy(tmp_path, "max_easy_share = 0.3\nmin_runs = 3")
    assert goldassay("check", "audit", "runs").status == 0
    lacking = goldassay("check", "runs")
    assert (lacking.status, lacking.out.splitlines()[0]) == (
        1, says("broken", "max_easy_share:", "not in the report"),
    )  # fmt: skip
    policy(tmp_path, "min_runs = 4")
    broken = goldassay("check", "audit", "runs", "--junit", "junit.xml", "--json", "check.json")
    assert broken.out == says("broken", "min_runs:", "3 (b, d, paired)", "runs/report.json", "at least 4")
    (case,) = ET.parse(tmp_path / "junit.xml").iter("testcase")
    assert case.get("file") == "runs/report.json"
    (outcome,) = json.loads((tmp_path / "check.json").read_text())["outcomes"]
    assert outcome["report"] == "runs/report.json"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("easy_share = 0.2", ("'policy.easy_share'", "'policy.max_easy_share'")),
        ("max_easy_share = 20", (20, "from 0 to 1", "0.05", "5 points", "5 %")),
        ("min_runs = {limit = 3, opional = true}", "did you mean 'policy.min_runs.optional'?"),
        ("worst_verdict = 'bad'", ("'sound', 'caution' or 'unsound'", "'bad'")),
        ("max_easy_share = -0.1", "-0.1 is no fraction from 0 to 1"),
        ("foo = 1", ("unknown key 'policy.foo'", "max_pattern_gain")),
        ("", ("goldassay: goldassay.toml", "demands nothing")),
    ],
)
def test_a_policy_that_cannot_be_used(
    refused: Callable[..., str], tmp_path: Path, audited: Path, text: str, expected: Fact
) -> None:
    policy(tmp_path, text)
    assert states(refused("check", "audit", "--junit", "junit.xml"), expected)
    assert not (tmp_path / "junit.xml").exists()


def test_reports_that_cannot_be_used(refused: Callable[..., str], tmp_path: Path, audited: Path) -> None:
    assert refused("check", "audit") == says("goldassay:", "no goldassay.toml", "policy", "--policy FILE")
    assert refused("check", "audit", "--policy", "mine.toml").startswith("goldassay: mine.toml: cannot be read")
    policy(tmp_path, "max_easy_share = 0.3")
    assert refused("check", "nowhere") == says("goldassay: nowhere:", "no such report", "report.json")
    (tmp_path / "empty.json").write_text(" \n")
    assert refused("check", "empty.json") == says("goldassay: empty.json: is empty", "report.json")
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut/report.json").write_text("")
    assert refused("check", "cut") == says("goldassay: cut/report.json: is empty", "again")
    file = audited / "report.json"
    file.write_text(file.read_text().replace('"share": 0.25', '"share": 0.15'))
    assert refused("check", "audit") == says("goldassay: audit/report.json:", "edited", "digest", "again")


def test_a_report_that_does_not_fit_says_where_in_our_words(
    refused: Callable[..., str], tmp_path: Path, audited: Path
) -> None:
    policy(tmp_path, "max_easy_share = 0.3")
    file = audited / "report.json"
    file.write_text(file.read_text().replace('"value": 0.25', '"value": "0.25"'))
    assert states(refused("check", "audit"), "schema of a report at figures.3.value", "number", "'0.25'", "again")


def test_a_report_that_is_named_twice_is_judged_once(
    goldassay: Callable[..., Outcome], tmp_path: Path, audited: Path
) -> None:
    policy(tmp_path, "max_easy_share = 0.2")
    once = goldassay("check", "audit")
    assert goldassay("check", "audit", "audit/report.json") == once


def test_standard_output_is_for_json(refused: Callable[..., str], tmp_path: Path, audited: Path) -> None:
    policy(tmp_path, "max_easy_share = 0.2")
    line = says("goldassay:", "--json alone", "--junit")
    assert refused("check", "audit", "--junit", "-") == line
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize("option", ["--junit", "--json"])
def test_files_that_cannot_be_written_name_their_option(
    refused: Callable[..., str], tmp_path: Path, audited: Path, option: str
) -> None:
    policy(tmp_path, "max_easy_share = 0.3")
    (tmp_path / "folder").mkdir()
    line = refused("check", "audit", option, "folder")
    assert line.startswith("goldassay: folder: cannot be written")
    assert line.endswith(f"choose another with {option}")
    content = (audited / "report.json").read_bytes()
    assert refused("check", "audit", option, "audit/report.json") == says(
        "goldassay: audit/report.json:", "was read", option
    )
    assert (audited / "report.json").read_bytes() == content


def test_the_policy_that_is_shown_is_one(audited: Path) -> None:
    shown = tomllib.loads((CI / "goldassay.toml").read_text())
    assert len(read_policy(shown["policy"])) == 7


def steps() -> list[dict[str, Any]]:
    workflow = yaml.safe_load((CI / "goldassay.yml").read_text())
    # YAML 1.1 reads the key `on` as true.
    assert workflow.get("on", workflow.get(True)).keys() == {"push", "pull_request"}
    (job,) = workflow["jobs"].values()
    return list(job["steps"])


def test_the_workflow_reads_as_one() -> None:
    for step in steps():
        assert ("uses" in step) != ("run" in step)
        if "run" in step:
            subprocess.run(["bash", "-n", "-c", step["run"]], check=True)
    names = [step.get("name", step.get("uses")) for step in steps()]
    assert names.index("Audit") < names.index("Summary") < names.index("Gate") < names.index("Keep the reports")
    assert steps()[-1]["if"] == "always()"


def assert_a_summary(file: Path) -> None:
    """Headings and tables, and neither the card's metadata nor a picture that the service cannot show."""
    text = file.read_text("utf-8")
    assert text.lstrip().startswith("# ")
    assert "pretty_name" not in text
    assert "badge.svg" not in text


def test_the_summary_is_the_report_without_the_cards_metadata(tmp_path: Path) -> None:
    report = example_report()
    (tmp_path / "goldassay-report").mkdir()
    (tmp_path / "goldassay-report" / "report.md").write_text(report.to_card(), "utf-8")
    (summary,) = [step["run"] for step in steps() if step.get("name") == "Summary"]
    environment = {**os.environ, "GITHUB_STEP_SUMMARY": str(tmp_path / "job.md")}
    subprocess.run(["bash", "-e", "-c", summary], cwd=tmp_path, env=environment, check=True)
    assert_a_summary(tmp_path / "job.md")
    body = report.to_markdown().partition("\n")[2]
    assert body in (tmp_path / "job.md").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("clean", "status"), [(False, 1), (True, 0)])
def test_the_workflow_gates_the_specimen(tmp_path: Path, clean: bool, status: int) -> None:
    """Its steps in order, each in a shell as the service runs them; what is not run is what the service does itself."""
    assert run(["specimen", "-o", str(tmp_path / "data"), "-q", *(["--clean"] if clean else [])]) == 0
    (tmp_path / "goldassay.toml").write_bytes((CI / "goldassay.toml").read_bytes())
    environment = {
        **os.environ, **yaml.safe_load((CI / "goldassay.yml").read_text())["env"],
        "GITHUB_STEP_SUMMARY": str(tmp_path / "job.md"), "PATH": f"{COMMAND.parent}:{os.environ['PATH']}",
    }  # fmt: skip
    left = {}
    for step in steps():
        # A push to the main branch, which no pull request's step is for.
        if "run" in step and step["name"] != "Install" and "if" not in step:
            done = subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", step["run"]], cwd=tmp_path, env=environment, check=False
            )
            left[step["name"]] = done.returncode
    assert left == {"Audit": 0, "Summary": 0, "Gate": status}
    assert (tmp_path / "job.md").read_text().count("Leakage")
    assert_a_summary(tmp_path / "job.md")
    suite = ET.parse(tmp_path / "junit.xml").getroot()
    assert (int(suite.get("failures", "0")) > 0) == bool(status)


def hooks() -> dict[str, dict[str, Any]]:
    published = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    (repository,) = yaml.safe_load((CI / "pre-commit-config.yaml").read_text())["repos"]
    return {"published": published[0], "local": repository["hooks"][0]}


@pytest.mark.parametrize("which", ["published", "local"])
@pytest.mark.parametrize(("limit", "status"), [(0.3, 0), (0.2, 1)])
def test_the_hook_runs_on_the_files_that_it_matches(
    goldassay: Callable[..., Outcome], tmp_path: Path, audited: Path, which: str, limit: float, status: int
) -> None:
    import re

    policy(tmp_path, f"max_easy_share = {limit}")
    hook = hooks()[which]
    assert {"id", "name", "entry", "language", "files"} <= hook.keys()
    (tmp_path / "other.json").write_text("{}")
    given = [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*")) if path.is_file()]
    matched = [path for path in given if re.search(hook["files"], path)]
    assert matched == ["audit/report.json"]
    program, *words = hook["entry"].split()
    assert program == COMMAND.name
    # All reports are named, whichever was changed: as its arguments, or by the hook itself.
    assert hook["pass_filenames"] is False
    done = goldassay(*words, *(matched if which == "published" else ()))
    assert (done.status, done.err) == (status, "")
    assert done.out.startswith("broken       max_easy_share" if status else "1 rule of goldassay.toml kept")


def test_a_process_that_only_checks_knows_every_measure(tmp_path: Path) -> None:
    """Others import the questions, and with them the rules that a policy may name."""
    (tmp_path / "goldassay.toml").write_text("[policy]\nmax_leakage = 0.1\nmax_easy_share = 0.2\n")
    code = "from goldassay.questions.gating import load_policy\nprint(len(load_policy('goldassay.toml')))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("2\n", "")
