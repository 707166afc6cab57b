"""Two outputs that show one figure show the same number, with the same interval and the same verdict.

A further question is one more command in `outputs.COMMANDS` and its entries in the two tables below.
"""

from __future__ import annotations

import html
import json
import math
import re
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import goldassay
import goldassay.questions.report_frame  # declares the measures
from goldassay.cli.main import run
from goldassay.core.errors import one_line
from goldassay.core.figures import declared
from goldassay.core.numbers import bounds, bounds_in, decimal, with_unit
from goldassay.core.settings import load_settings
from goldassay.gate.check import Outcome, check_reports, read_policy
from goldassay.gate.reading import read_report
from goldassay.questions.gating import diff_reports
from tests.agreement.outputs import COMMANDS, Output, inside, make_outputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

# Which commands answer a question, the audit first where it does.
DOORS: Mapping[str, tuple[str, ...]] = {
    "artifacts": ("audit", "mine"),
    "leakage": ("audit", "measure"),
    "instability": ("audit", "instability"),
    "shift": ("audit", "shift"),
    "comparison": ("compare",),
}
# What Markdown has a backslash before.
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]|#~@])")
# Figures that at least these two commands must share: where none is shared, nothing is compared.
SHARED = {
    ("audit", "mine"): {"artifacts.selected", "artifacts.gain", "artifacts.precision", "artifacts.coverage",
                        "artifacts.easy_share", "artifacts.hard_share"},
    ("audit", "measure"): {"leakage.improvement", "leakage.accuracy", "leakage.recovered", "leakage.information",
                           "leakage.agreement"},
    ("audit", "instability"): {"instability.mean", "instability.sd", "instability.design_effect",
                               "instability.effective_size"},
    ("audit", "compare"): {"instability.mean", "instability.sd"},
    ("audit", "shift"): {"shift.score", "shift.gap", "shift.relative_gap", "shift.best_constant", "shift.excess",
                         "shift.loss", "shift.excess_loss", "shift.known_share", "shift.score_with_known",
                         "shift.gap_with_known", "shift.clusters", "shift.runs"},
    ("instability", "compare"): {"instability.mean", "instability.sd"},
}  # fmt: skip

# Figures that the tables of a command's page and Markdown show with their intervals.
SHOWN = {
    "audit": {"artifacts.gain", "leakage.improvement", "leakage.accuracy", "leakage.recovered",
              "leakage.balanced_accuracy", "leakage.information", "leakage.agreement", "instability.sd",
              "shift.score", "shift.gap", "shift.loss", "shift.excess"},
    "mine": {"artifacts.gain"},
    "measure": {"leakage.improvement", "leakage.accuracy", "leakage.recovered", "leakage.balanced_accuracy",
                "leakage.information", "leakage.agreement"},
    "instability": {"instability.mean", "instability.sd", "instability.design_effect", "instability.effective_size"},
    "compare": {"comparison.difference", "comparison.probability_better"},
    "shift": {"shift.score", "shift.gap", "shift.relative_gap", "shift.loss", "shift.excess", "shift.excess_loss"},
}  # fmt: skip


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Output]:
    return make_outputs(tmp_path_factory.mktemp("agreement"))


def figures_of(output: Output) -> dict[tuple[str, frozenset[tuple[str, str]]], tuple[float, float, float, float]]:
    """Value, ends and number of examples of each figure, by what it is and what it belongs to."""

    def number(row: dict[str, Any], key: str) -> float:
        return math.nan if row[key] is None else float(row[key])

    return {
        (row["id"], frozenset(row["of"].items())): (
            number(row, "value"),
            number(row, "low"),
            number(row, "high"),
            number(row, "n"),
        )
        for row in output.document["figures"]
    }


@pytest.mark.parametrize(("one", "other"), list(combinations(COMMANDS, 2)))
def test_a_figure_is_the_same_in_every_command(outputs: dict[str, Output], one: str, other: str) -> None:
    first, second = figures_of(outputs[one]), figures_of(outputs[other])
    both = first.keys() & second.keys()
    assert {name for name, _ in both} >= SHARED.get((one, other), set())
    for figure in both:
        assert first[figure] == pytest.approx(second[figure], rel=1e-9, abs=1e-12, nan_ok=True), figure


def test_a_reader_of_two_questions_has_one_upper_end(outputs: dict[str, Output]) -> None:
    """Both draw the same clusters; lower ends are simultaneous, each with those of its own question."""
    ends: dict[tuple[str, str, str], dict[str, tuple[float, float]]] = {}
    for row in outputs["audit"].document["figures"]:
        question, measure = row["id"].split(".")
        if question in ("artifacts", "leakage") and measure.endswith("_skill") and row["high"] is not None:
            key = (measure, row["of"]["part"], row["of"]["reader"])
            ends.setdefault(key, {})[question] = (row["value"], row["high"])
    both = {key: found for key, found in ends.items() if len(found) == 2}
    assert {reader for _, _, reader in both} >= {"patterns by share", "patterns by lift"}
    for key, found in both.items():
        assert found["artifacts"] == pytest.approx(found["leakage"], rel=1e-9), key


@pytest.mark.parametrize("command", COMMANDS)
def test_a_headline_is_one_of_the_figures(outputs: dict[str, Output], command: str) -> None:
    document = outputs[command].document
    for question, verdict in document["verdicts"].items():
        if (headline := verdict["headline"]) is None:
            continue
        ends = tuple(headline[key] for key in ("value", "low", "high"))
        figures = [row for row in document["figures"] if row["question"] == question]
        assert any(
            tuple(row[key] for key in ("value", "low", "high")) == pytest.approx(ends, rel=1e-9) for row in figures
        ), (command, question)


@pytest.mark.parametrize("question", DOORS)
def test_a_verdict_is_the_same_in_every_command(outputs: dict[str, Output], question: str) -> None:
    one, *others = (outputs[command].document["verdicts"][question] for command in DOORS[question])
    for other in others:
        for key in ("verdict", "limits", "rule"):
            assert other[key] == one[key], key
        ends = [[each["headline"][key] for key in ("value", "low", "high")] for each in (one, other)]
        assert ends[0] == pytest.approx(ends[1], rel=1e-9)


@pytest.mark.parametrize(
    ("question", "command"), [(question, command) for question, commands in DOORS.items() for command in commands]
)
def test_a_verdict_is_the_same_in_every_form(outputs: dict[str, Output], question: str, command: str) -> None:
    output = outputs[command]
    verdict = output.document["verdicts"][question]
    headline = verdict["headline"]
    value = with_unit(headline["value"], headline["unit"])
    bounds = bounds_in(headline["low"], headline["high"], headline["unit"])
    page, markdown = html.unescape(output.page), html.unescape(_ESCAPED.sub(r"\1", output.markdown))
    assert value in page
    assert bounds in page
    for text in (verdict["evidence"], verdict["limits"]):
        assert text in page
        # On one line, a space that keeps a number and its unit together becomes a plain one.
        assert one_line(text) in markdown
    assert verdict["verdict"] in page
    assert f"**{verdict['verdict']}**" in markdown
    for text in (output.terminal, output.markdown, output.page):
        assert "settings of goldassay.toml" in text
    # What mines and what compares print tables of their own.
    if command not in ("mine", "compare"):
        assert one_line(verdict["evidence"]) in output.terminal
        assert verdict["verdict"].upper() in output.terminal
        assert verdict["limits"] in output.terminal


def shown_as(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How a value and its interval may be printed: in points or as they are, with so many decimals."""
    value, low, high = (row[key] for key in ("value", "low", "high"))
    digits = {"examples": (0, 1), "share": (0, 1, 2)}.get(row["unit"], (1, 2, 3))
    return [
        (decimal(scale * value, one), bounds(low, high, other, scale))
        for scale in (1.0, 100.0)
        for one in digits
        for other in digits
    ]


@pytest.mark.parametrize(("command", "name"), [(command, name) for command in SHOWN for name in sorted(SHOWN[command])])
def test_tables_show_the_figures(outputs: dict[str, Output], command: str, name: str) -> None:
    """Page and Markdown show each figure with its interval as report.json has them."""
    output = outputs[command]
    page, markdown = html.unescape(output.page), html.unescape(_ESCAPED.sub(r"\1", output.markdown))
    figures = [row for row in output.document["figures"] if row["id"] == name and row["low"] is not None]
    assert figures
    lines = markdown.splitlines()
    for row in figures:
        forms = shown_as(row)
        assert any(value in line and ends in line for line in lines for value, ends in forms), row
        assert any(value in page and ends in page for value, ends in forms), row


@pytest.mark.parametrize("question", [each for each, commands in DOORS.items() if each != "comparison"])
def test_limits_of_the_settings_decide_in_every_command(outputs: dict[str, Output], question: str) -> None:
    """Lower limits for caution, and limits for unsound that nothing reaches."""
    for command in DOORS[question]:
        verdict = outputs[command].document["verdicts"][question]
        assert verdict["verdict"] in ("caution", "not measurable", "sound")
        assert verdict["limits"].startswith("Limits set by goldassay.toml: ")
        assert outputs[command].document["settings_file"]["name"] == "goldassay.toml"


def test_python_gives_what_the_command_gives(outputs: dict[str, Output]) -> None:
    output = outputs["audit"]
    with inside(output.path.parent):
        report = goldassay.audit(
            "train.jsonl", "test.jsonl", ["runs", "far"], {"far": "far.jsonl"}, settings=load_settings()
        )
    found = report.to_dict()
    assert found["digest"] == output.document["digest"]
    assert report.summary() in output.terminal
    assert report.to_html().count("settings of goldassay.toml") == output.page.count("settings of goldassay.toml")


@pytest.mark.parametrize("form", ["file", "frame", "rows", "dataset"])
@pytest.mark.parametrize(
    ("command", "measure"), [("mine", goldassay.measure_artifacts), ("measure", goldassay.measure_leakage)]
)
def test_python_measures_what_the_command_measures(
    outputs: dict[str, Output], command: str, measure: Callable[..., goldassay.Report], form: str
) -> None:
    output = outputs[command]
    forms: dict[str, Callable[[str], Any]] = {
        "file": Path,
        "frame": pl.read_ndjson,
        "rows": lambda file: pl.read_ndjson(file).to_dicts(),
        "dataset": goldassay.read_dataset,
    }
    with inside(output.path.parent):
        report = measure(*map(forms[form], ("train.jsonl", "test.jsonl")), settings=load_settings())
    assert_measured_alike(report, output)
    if form == "file":
        assert report.to_dict()["digest"] == output.document["digest"]


def test_python_measures_the_runs_that_the_command_measures(outputs: dict[str, Output]) -> None:
    output = outputs["instability"]
    with inside(output.path.parent):
        report = goldassay.measure_instability("runs", settings=load_settings())
    assert_measured_alike(report, output)
    assert report.to_dict()["digest"] == output.document["digest"]


@pytest.mark.parametrize("form", ["file", "rows"])
def test_python_measures_leakage_in_given_runs_as_the_command(outputs: dict[str, Output], form: str) -> None:
    folder = outputs["measure"].path.parent
    with inside(folder):
        arguments = ["--runs", "runs", "--model", "a", "--test", "test.jsonl", "-o", "of-runs", "--no-plane"]
        assert run(["leakage", "measure", *arguments, "--quiet"]) == 0
        test = "test.jsonl" if form == "file" else pl.read_ndjson("test.jsonl").to_dicts()
        report = goldassay.measure_leakage(None, test, "runs", model="a", plane=False, settings=load_settings())
    written = json.loads((folder / "of-runs" / "report.json").read_text(encoding="utf-8"))
    assert written["figures"]
    assert report.to_dict()["figures"] == written["figures"]
    assert report.verdicts == written["verdicts"]


def pairs_with_a_cue_in_the_premise(n: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n)
    premises, hypotheses = (
        [" ".join([*(f"w{i}" for i in rng.integers(0, 60, 6)), *cues[code : code + (rng.random() < share)]])
         for code in label]
        for cues, share in ((("blue", "red"), 0.6), (("eight", "seven"), 0.2))
    )  # fmt: skip
    return pl.DataFrame({"premise": premises, "hypothesis": hypotheses, "label": np.array(["no", "yes"])[label]})


# What a command says of itself, and what it says of more conditions than an audit has.
OWN_TO_A_COMMAND = (
    ".command",
    ".digest",
    ".timing",
    ".title",
    ".inputs",
    ".dataset.name",
    ".leakage.sentences",
    ".leakage.caveats",
)
# What names a row of a list: places in lists differ where one command measures more conditions.
NAMES = ("id", "of", "part", "reader", "measure", "condition", "subset", "name", "kind", "pattern", "label")


def paths_of(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths_of(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            names = [str(inner[name]) for name in NAMES if name in inner] if isinstance(inner, dict) else []
            yield from paths_of(inner, f"{path}.{' '.join(names) or place}")
    else:
        yield path, value


@pytest.mark.parametrize("has_test", [True, False])
def test_all_is_the_same_where_the_premise_gives_the_label_away(has_test: bool) -> None:
    train, test = (pairs_with_a_cue_in_the_premise(500 - 250 * part, part) for part in range(2))
    given = (train, test) if has_test else (train,)
    audit = dict(paths_of(goldassay.audit(*given).to_dict()))
    assert audit[".artifacts.applies_to"] == "premise"
    for measured in (goldassay.measure_artifacts(*given), goldassay.measure_leakage(*given, plane=False)):
        found = dict(paths_of(measured.to_dict()))
        shared = [path for path in audit.keys() & found.keys() if not path.startswith(OWN_TO_A_COMMAND)]
        assert len(shared) > 400
        assert {path: (audit[path], found[path]) for path in shared if audit[path] != found[path]} == {}


def assert_measured_alike(report: goldassay.Report, output: Output) -> None:
    """Whatever the data came in: every figure, verdict and table is that of the command."""
    found = report.to_dict()
    assert found["figures"]
    assert found["figures"] == output.document["figures"]
    assert found["verdicts"] == output.document["verdicts"]
    places = {file.stem: file for file in output.path.rglob("*.parquet") if "runs" not in file.parts}
    assert set(report.tables) == set(places)
    for name, table in report.tables.items():
        # patterns.parquet has further columns, from which the patterns can be read back.
        assert_frame_equal(table, pl.read_parquet(places[name]).select(table.columns))


def rules() -> list[str]:
    """Names under [policy] that limit a figure."""
    return sorted({measure.rule.name for measure in declared() if measure.rule is not None})


def outcome_of(output: Output, rule: str) -> Outcome:
    limit = {"limit": 1, "optional": True}
    return check_reports([read_report(output.path)], read_policy({rule: limit})).outcomes[0]


@pytest.mark.parametrize("rule", rules())
def test_a_policy_judges_the_figure_of_the_report(outputs: dict[str, Output], rule: str) -> None:
    outcomes = {command: outcome_of(output, rule) for command, output in outputs.items()}
    judged = {command: outcome for command, outcome in outcomes.items() if outcome.status != "skipped"}
    for command, outcome in judged.items():
        found = [values[:3] for values in figures_of(outputs[command]).values()]
        assert any((outcome.value, outcome.low, outcome.high) == pytest.approx(each, nan_ok=True) for each in found)


@pytest.mark.parametrize("rule", [rule for rule in rules() if rule != "min_runs"])
def test_a_policy_finds_the_same_in_the_audit_and_in_the_single_command(outputs: dict[str, Output], rule: str) -> None:
    """Of `min_runs` the audit counts the runs of several questions."""
    found = {
        command: outcome_of(outputs[command], rule) for command in ("audit", "mine", "measure", "instability", "shift")
    }
    audit = found.pop("audit")
    for outcome in found.values():
        if "skipped" in (audit.status, outcome.status):
            continue
        one, two = ([getattr(each, key) for key in ("value", "low", "high")] for each in (audit, outcome))
        assert one == pytest.approx(two, rel=1e-9, nan_ok=True)
        assert (audit.status, audit.of) == (outcome.status, outcome.of)


@pytest.mark.parametrize("question", ["artifacts", "leakage", "instability", "shift"])
def test_a_diff_sees_no_change_between_two_commands(outputs: dict[str, Output], question: str) -> None:
    audit, single = (outputs[command].path for command in DOORS[question])
    rows = [row for row in diff_reports(audit, single).document["measures"] if row["question"] == question]
    assert rows
    for row in rows:
        before, after = ([row[f"{side}{end}"] for end in ("", "_low", "_high")] for side in ("before", "after"))
        assert [math.nan if x is None else x for x in before] == pytest.approx(
            [math.nan if x is None else x for x in after], rel=1e-9, nan_ok=True
        ), row["measure"]


@pytest.mark.parametrize("model", ["a", "b"])
def test_the_score_of_given_runs_is_the_same_in_leakage_and_in_shift(outputs: dict[str, Output], model: str) -> None:
    """Both show what the same runs score on the same test set, whose examples share premises.

    Shift leaves examples of the training data out of its own score, and shows that with all of them beside it.
    """
    folder = outputs["shift"].path.parent
    arguments = [
        "leakage",
        "measure",
        "--runs",
        "runs",
        "--model",
        model,
        "--test",
        "test.jsonl",
        "-o",
        f"given-{model}",
    ]
    with inside(folder):
        assert run([*arguments, "--quiet"]) == 0
    rows = [
        (row["value"], row["low"], row["high"], row["n"])
        for path, name, of in (
            (outputs["shift"].path, "shift.score_with_known", {"model": model, "test": "test"}),
            (folder / f"given-{model}", "leakage.accuracy", {"condition": "paired"}),
        )
        for row in json.loads((path / "report.json").read_text(encoding="utf-8"))["figures"]
        if row["id"] == name and of.items() <= row["of"].items()
    ]
    one, other = rows
    assert one == pytest.approx(other, rel=1e-9)
    assert one[1] < one[0] < one[2]


def test_every_command_is_compared(outputs: dict[str, Output]) -> None:
    assert {command for commands in DOORS.values() for command in commands} == set(COMMANDS) == set(outputs)
