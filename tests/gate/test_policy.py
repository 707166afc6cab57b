"""What a policy may demand: unknown names and wrong limits are refused with what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest

import goldassay.questions.report_frame  # noqa: F401 - importing it declares the measures
from goldassay.core.errors import InputError
from goldassay.core.figures import declared, judged_questions
from goldassay.gate.check import read_policy, require_demands
from tests.stated import Fact, in_order


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"foo": 1}, ("unknown key 'policy.foo'", "max_pattern_gain")),
        ({"max_easy_shaer": 1}, "did you mean 'policy.max_easy_share'"),
        ({"seed": 1}, "did you mean 'seed'"),
        (3, ("policy:", "table", 3)),
        ({"min_runs": "3"}, "policy.min_runs: a whole number is needed, not '3'"),
        ({"min_runs": {"limit": 3.5}}, ("policy.min_runs.limit:", "whole number", "3.5")),
        ({"min_runs": [3]}, "policy.min_runs: a whole number is needed"),
        ({"min_runs": {"limit": 3, "opional": True}}, "did you mean 'policy.min_runs.optional'"),
        ({"worst_verdict": "bad"}, ("'sound', 'caution' or 'unsound'", "'bad'")),
        ({"worst_comparison_verdict": "sound"}, "unknown key 'policy.worst_comparison_verdict'"),
    ],
)
def test_what_is_wrong_is_named(table: object, expected: Fact) -> None:
    with pytest.raises(InputError, match=in_order(expected)) as refused:
        read_policy(table, "mine.toml")
    assert "mine.toml" in str(refused.value)


def test_demands_in_the_order_of_the_table() -> None:
    found = read_policy(
        {"worst_verdict": "caution", "min_runs": {"limit": 5, "optional": True}, "shift.gap": {"max": 0}}
    )
    assert [(each.name, each.limit, each.optional) for each in found] == [
        ("worst_verdict", "caution", False), ("min_runs", 5, True), ("shift.gap", 0.0, False),
    ]  # fmt: skip
    assert [measure.id for measure in found[1].measures] == ["leakage.runs", "instability.runs", "shift.runs"]
    assert found[0].questions == (
        "artifacts", "leakage", "instability", "shift", "overlap", "answered", "sensitivity", "judgments",
    )  # fmt: skip


def test_nothing_is_demanded() -> None:
    assert read_policy({}) == ()
    with pytest.raises(InputError, match="demands nothing"):
        require_demands((), "mine.toml")


def test_the_guide_names_every_rule() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "settings.md").read_text()
    rules = {measure.rule.name for measure in declared() if measure.rule is not None}
    of_questions = [(f"worst_{question}_verdict", f"max_{question}") for question in judged_questions()]
    for rule in {*rules, "worst_verdict", "unresolved", *(name for names in of_questions for name in names)}:
        assert f"# {rule} = " in guide
