"""Specimens of items: the audit calls their flaws, finds what their certificates list, and calls clean ones sound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import goldassay
from goldassay.core.settings import Settings
from goldassay.data.kinds import choices, preferences
from goldassay.data.specimen import choice_specimen, preference_specimen
from goldassay.data.specimen.item_kinds import USUAL_SIZE, make_item_specimen

if TYPE_CHECKING:
    from goldassay.report.report import Report

# The everyday specimens are small.
SMALL = 1500
SEEDS = [pytest.param((seed, 5000), marks=pytest.mark.slow, id=f"seed {seed}") for seed in range(5)]
FLAWED: list[Any] = [pytest.param((0, SMALL), id="small"), *SEEDS]
REASONS = {
    "choices": {
        choice_specimen.DUPLICATE: {choices.DUPLICATE},
        choice_specimen.RIGHT_TWICE: {choices.DUPLICATE, choices.RIGHT_TWICE},
        choice_specimen.EMPTY: {choices.EMPTY_CHOICE},
        choice_specimen.UNKNOWN_ANSWER: {choices.UNKNOWN_ANSWER},
        choice_specimen.OTHER_ANSWER: {choices.OTHER_ANSWER},
    },
    "preferences": {
        preference_specimen.SAME: {preferences.SAME},
        preference_specimen.EMPTY: {preferences.EMPTY_RESPONSE},
        preference_specimen.OTHER_SIDE: {preferences.OTHER_SIDE},
    },
}


def word_of(report: Report, question: str) -> str:
    return str(report.verdicts[question]["verdict"])


@pytest.mark.parametrize("of", FLAWED)
@pytest.mark.parametrize("kind", ["choices", "preferences"])
def test_flawed_items_are_called_and_their_flaws_found(kind: str, of: tuple[int, int]) -> None:
    seed, size = of
    specimen = make_item_specimen(kind, size, seed)
    # Readers of preferences take most of the time, and the everyday test asks two of them.
    settings = Settings.model_validate({"leakage": {"seeds": 5 if size > SMALL else 2}})
    report = goldassay.audit(specimen.table, seed=seed, settings=settings)
    assert word_of(report, "leakage") == "unsound"
    assert word_of(report, "artifacts") == "caution"
    effects = {row["reader"]: row for row in report.document["leakage"]["effects"]["effects"]}
    for rule in specimen.certificate["rules"]:
        row = effects[f"rule: {rule['rule']}"]
        assert row["value"] == pytest.approx(rule["effect"], abs=1e-9)
        assert row["low"] <= rule["planted"] <= row["high"], rule
    found = {row["pattern"]: row for row in report.tables["patterns"].iter_rows(named=True)}
    for pattern in specimen.certificate["patterns"]:
        row = found[pattern["pattern"]]
        assert row["label"] == "right"
        assert row["wilson_low"] <= pattern["probability"] <= row["wilson_high"]
        assert row["support"] == pattern["support"]
    check_problems(report, specimen.certificate["problems"], kind)


def check_problems(report: Report, certified: list[dict[str, Any]], kind: str) -> None:
    """Of each pair with another answer either row may be the one that is listed."""
    wanted = {row["id"]: REASONS[kind][row["problem"]] for row in certified}
    first = {row["of"]: row["id"] for row in certified if "of" in row}
    found: dict[str, set[str]] = {}
    for row in report.tables["choice_problems"].iter_rows(named=True):
        found.setdefault(first.get(row["id"], row["id"]), set()).add(row["reason"])
    assert found == wanted


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["choices", "preferences"])
def test_clean_items_are_called_sound(kind: str, seed: int) -> None:
    specimen = make_item_specimen(kind, USUAL_SIZE, seed, clean=True)
    assert not specimen.certificate["problems"]
    report = goldassay.audit(specimen.table, seed=seed)
    assert word_of(report, "leakage") == "sound"
    assert word_of(report, "artifacts") == "sound"
    effects = {row["reader"]: row for row in report.document["leakage"]["effects"]["effects"]}
    for rule in specimen.certificate["rules"]:
        row = effects[f"rule: {rule['rule']}"]
        assert row["value"] == pytest.approx(rule["effect"], abs=1e-9)
        assert row["low"] <= 0 <= row["high"]
    assert not report.tables["choice_problems"].height


@pytest.mark.parametrize("clean", [False, True], ids=["flawed", "clean"])
@pytest.mark.parametrize("seed", range(5))
def test_judges_are_called_and_what_they_follow_is_found(seed: int, clean: bool) -> None:
    specimen = make_item_specimen("judgments", 2000, seed, clean=clean)
    report = goldassay.audit(specimen.table, seed=seed)
    assert word_of(report, "judgments") == ("sound" if clean else "unsound")
    found = report.document["judgments"]
    rows = {name: {row["judge"]: row for row in found[name]} for name in ("results", "models", "agreement")}
    for judge in specimen.certificate["judges"]:
        seat, model, people = (rows[name][judge["judge"]] for name in ("results", "models", "agreement"))
        assert seat["effect"] == pytest.approx(judge["position_realized"], abs=1e-9)
        assert seat["low"] <= judge["position"] <= seat["high"]
        assert seat["changed"] == pytest.approx(judge["changed"], abs=1e-9)
        assert people["accuracy"] == pytest.approx(judge["accuracy"], abs=1e-9)
        for term in ("position", "length", "own"):
            if model[term] is not None:
                # Of 70 intervals of 95 % some miss; those of 99.9 % are 1.68 times as wide.
                reach = 1.68 * (model[f"{term}_high"] - model[f"{term}_low"]) / 2
                assert abs(model[term] - judge["seat" if term == "position" else term]) < reach
