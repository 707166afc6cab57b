"""Verdicts follow from intervals and stated limits, and from nothing else."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from goldassay.core.settings import InstabilityLimits, LeakageLimits
from goldassay.data.kinds.kind import CHOICES
from goldassay.leakage import ConditionAccuracy
from goldassay.questions.effect_sentences import describe_judged, describe_unseen
from goldassay.questions.instability.result import RunScores
from goldassay.questions.instability.verdict import (
    Spread,
    highest_failure_rate,
    judge,
    judge_instability,
    runs_to_settle,
)
from goldassay.questions.leakage.verdict import judge_leakage, single_run_doubts
from goldassay.stats.detection import KindLimit
from goldassay.stats.effects import ACCURACY, BALANCED, BIAS, Effect, Effects, ReaderPredictions, measure_effects
from goldassay.stats.effects import Limits as EffectLimits
from goldassay.stats.intervals import sd_interval
from goldassay.stats.verdicts import (
    Doubt,
    judge_effects,
    judge_interval,
    rows_to_settle,
)
from tests.stated import says, stated_by, states
from tests.typed import result_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.results import Verdict

SKILL: dict[str, Any] = {
    "score": 0.847, "constant": "entailment", "constant_score": 0.354, "above_constant_low": 0.48,
    "examples_to_exceed": 9815,
}  # fmt: skip
STEADY = Spread("bert on mnli", 10, 9815, 0.0024, 0.0016, 0.0044, 1.86, 5276.0, 0.88, 4.2, **SKILL)
HANS = Spread("bert on hans", 10, 30000, 0.0151, 0.0104, 0.0276, 218.4, 137.4, 103.0, 728.0, **SKILL)


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (0.05, 0.07, "unsound"),
        (0.049, 0.2, "caution"),
        (0.01, 0.02, "caution"),
        (-0.02, 0.049, "sound"),
        (-0.3, 0.05, "unresolved"),
        (math.nan, math.nan, "not measurable"),
    ],
)
def test_the_interval_decides(low: float, high: float, word: str) -> None:
    assert judge_interval(low, high, caution=0.01, unsound=0.05) == word


@given(st.floats(-0.5, 0.5), st.floats(0, 0.5), st.floats(0, 0.2), st.floats(0, 0.2))
def test_more_harm_is_never_judged_milder(low: float, width: float, caution: float, more: float) -> None:
    order = {"sound": 0, "unresolved": 1, "caution": 2, "unsound": 3}
    first = judge_interval(low, low + width, caution, caution + more)
    second = judge_interval(low + 0.1, low + width + 0.1, caution, caution + more)
    assert order[second] >= order[first]


def effect(low: float, high: float, measure: Any = "accuracy skill", reason: str = "", **names: str) -> Effect:
    limits = (0.01, 0.05) if measure == "information share" else (0.03, 0.12)
    named = {"part": "hypothesis", "reader": "quick probe", **names}
    return Effect(
        measure=measure, value=(low + high) / 2, low=low, high=high, ordinary_low=low, standard_error=0.01,
        caution=limits[0], unsound=limits[1], reason=reason, score=0.58, baseline=0.343, **named,
    )  # fmt: skip


def effects(*found: Effect, effective_clusters: float = 2000.0) -> Effects:
    return Effects(found, 2000, 2000, effective_clusters, 2.3, (0,))


FAILED_CONTROL = Doubt("A planted word was not found.", "Give more rows.")


@pytest.mark.parametrize(
    ("found", "word"),
    [
        ([effect(0.12, 0.2)], "unsound"),
        ([effect(0.03, 0.2)], "caution"),
        ([effect(-0.02, 0.119)], "sound"),
        ([effect(-0.02, 0.12)], "unresolved"),
        # Information is a figure, and decides nothing.
        ([effect(-0.02, 0.05), effect(0.05, 0.06, "information share")], "sound"),
        ([effect(-0.02, 0.05), effect(-0.01, 0.2, "information share")], "sound"),
        ([effect(-0.02, 0.05), effect(0.031, 0.11, "balanced skill", part="premise")], "caution"),
        # What has no interval decides nothing as long as something has one.
        ([effect(-0.02, 0.05), effect(math.nan, math.nan, "information share", reason="it does not vary")], "sound"),
        ([effect(math.nan, math.nan, reason="all test rows have the same label")], "not measurable"),
    ],
)
def test_the_worst_end_of_all_effects_decides(found: list[Effect], word: str) -> None:
    assert judge_effects(effects(*found)).word == word


def test_a_part_of_which_nothing_is_known_is_never_sound() -> None:
    unknown = effect(math.nan, math.nan, part="premise", reason="some probabilities are not numbers")
    judged = judge_effects(effects(effect(-0.02, 0.05), unknown))
    assert judged.word == "unresolved"
    assert "Of the premise nothing could be measured" in judged.doubts[0].why


def test_a_doubt_takes_back_soundness_and_nothing_else() -> None:
    assert judge_effects(effects(effect(-0.02, 0.05)), [FAILED_CONTROL]).word == "unresolved"
    assert judge_effects(effects(effect(0.04, 0.05)), [FAILED_CONTROL]).word == "caution"
    assert judge_effects(effects(effect(0.14, 0.15)), [FAILED_CONTROL]).word == "unsound"


def test_fewer_than_twenty_effective_clusters_are_never_sound() -> None:
    few = judge_effects(effects(effect(-0.02, 0.05), effective_clusters=19.9))
    assert few.word == "unresolved"
    assert "19.9 effective clusters" in few.doubts[0].why
    assert judge_effects(effects(effect(-0.02, 0.05), effective_clusters=20)).word == "sound"


def test_the_rows_that_would_settle_it_are_named() -> None:
    open_ = effect(-0.05, 0.15)
    # Half the width and .84 standard errors must shrink from .1084 to .07: (10.84/7)² as many rows.
    assert rows_to_settle(open_, 2000) == 4800
    assert "4,800 test rows" in judge_effects(effects(open_)).doubts[0].mend
    # How many rows show a kind of cue that would not be found is not known.
    unseen = KindLimit("one word", 0.2, True, (0.3,), (0.04,))
    assert "4,800" not in judge_effects(replace(effects(open_), limits=(unseen,))).doubts[0].mend
    assert rows_to_settle(effect(0.02, 0.04), 2000) is not None
    at_the_limit = replace(open_, value=0.12)
    # Only a caution can be reached from there.
    assert rows_to_settle(at_the_limit, 2000) == math.ceil(2000 * (0.1784 / 0.09) ** 2 / 100) * 100
    assert rows_to_settle(replace(effect(0.0, 0.2), value=0.12, caution=0.12), 2000) is None


def test_rows_that_depend_on_each_other_are_not_asked_for_again() -> None:
    """2,000 rows of 200 texts: more copies of them would not narrow the interval, more texts would."""
    (doubt, *_) = judge_effects(effects(effect(-0.05, 0.15), effective_clusters=200.0)).doubts
    assert states(doubt.mend, "480 independent test rows")
    assert states(doubt.mend, "2,000 here", "information as 200")
    (doubt, *_) = judge_effects(effects(effect(-0.05, 0.15), effective_clusters=1900.0)).doubts
    assert "About 4,800 test rows settle" in doubt.mend


def test_more_rows_are_advised_only_within_reach() -> None:
    """An interval of eight times the width needs 64 times the rows."""
    (doubt, *_) = judge_effects(effects(effect(-0.5, 0.6))).doubts
    assert "test rows" not in doubt.mend


def kind(name: str, limit: float, *, counts: bool = True) -> KindLimit:
    return KindLimit(name, limit, counts, (0.5, 0.8, 0.9), (0.04, 0.07, 0.11))


@pytest.mark.parametrize(
    ("limits", "word", "at_most"),
    [
        ([], "sound", 0.06),
        ([kind("one word", 0.04), kind("ten words", 0.09)], "sound", 0.09),
        # The upper end of the readers says nothing of what they cannot find.
        ([kind("one word", 0.04), kind("fifty words", 0.12)], "unresolved", 0.12),
        ([kind("one word", 0.07), kind("form", 1.0)], "unresolved", 1.0),
        # A kind that does not count is named, and takes nothing back.
        ([kind("one word", 0.07), kind("interactions", 1.0, counts=False)], "sound", 0.07),
        ([kind("interactions", 1.0, counts=False)], "sound", 0.06),
        # No kind's limit can lie below what the readers themselves leave open.
        ([kind("one word", 0.01)], "sound", 0.06),
    ],
)
def test_the_limit_of_detection_decides_what_is_sound(limits: list[KindLimit], word: str, at_most: float) -> None:
    judged = judge_effects(replace(effects(effect(-0.02, 0.06)), limits=tuple(limits)))
    assert (judged.word, judged.bound, judged.low) == (word, at_most, -0.02)
    # Whatever was found, the bound is not less than what may be there.
    assert (judge_effects(replace(effects(effect(0.13, 0.2)), limits=tuple(limits))).bound or 0) >= 0.2


def test_of_two_measures_the_one_that_excludes_more_bounds_the_set() -> None:
    """One word in nine rows of ten: accuracy leaves much open, recall of each label does not."""
    rare = effects(effect(-0.3, 0.3), effect(-0.02, 0.05, "balanced skill"))
    assert judge_effects(replace(rare, limits=(kind("one word", 0.08),))).word == "sound"
    assert judge_effects(rare).word == "unresolved"


def test_the_bound_is_never_below_the_noise_of_the_readers() -> None:
    """A reader that does worse than guessing excludes no flaw of less than 1.96 standard errors."""
    worse = replace(effect(-0.3, -0.1), standard_error=0.05)
    assert judge_effects(effects(worse)).at_most == pytest.approx(1.959964 * 0.05)
    assert judge_effects(effects(replace(worse, standard_error=0.07))).word == "unresolved"


def test_a_doubt_raises_the_bound_to_what_it_may_hide() -> None:
    found = effects(effect(-0.02, 0.06))
    assert judge_effects(found, [FAILED_CONTROL]).at_most == 1.0
    assert judge_effects(found, [replace(FAILED_CONTROL, at_most=0.3)]).at_most == 0.3
    assert judge_effects(found, [replace(FAILED_CONTROL, at_most=0.0)]).at_most == 0.06


def test_where_nothing_was_measured_there_is_no_bound() -> None:
    judged = judge_effects(effects(effect(math.nan, math.nan, reason="all test rows have the same label")))
    assert (judged.word, judged.bound) == ("not measurable", None)


def part(condition: str, n_runs: int = 5, improvement: float = 0.0) -> ConditionAccuracy:
    return ConditionAccuracy(
        condition=condition, n_runs=n_runs, accuracy=0.34 + improvement, accuracy_low=0.33, accuracy_high=0.35,
        sd=0.001, departure=0.5, n_constant=0, majority=0.34, improvement=improvement,
        improvement_low=improvement - 0.01, improvement_high=improvement + 0.01, recovered=0.5, recovered_low=0.4,
        recovered_high=0.6, reason="",
    )  # fmt: skip


def leakage(*found: Effect, best: ConditionAccuracy | None = None, doubts: Sequence[Doubt] = ()) -> Verdict:
    row = best or part("hypothesis_only")
    return judge_leakage(effects(*found), row, doubts, n_test=9824, n_shared=0, limits=LeakageLimits())


def test_leakage_says_the_accuracy_of_the_part_against_the_most_frequent_label() -> None:
    wide = replace(effect(0.343, 0.378), ordinary_low=0.344)
    verdict = leakage(effect(0.1, 0.11, reader="patterns by lift"), wide)
    assert verdict.verdict == "unsound"
    assert verdict.evidence == says("hypothesis alone", "58.0", "most frequent label", "34.3", "+23.7", "22.6", "24.8")
    assert verdict.headline is not None
    assert verdict.headline.label.endswith("quick probe (hypothesis)")
    number = verdict.headline
    assert (number.score, number.baseline, number.value) == (0.58, 0.343, pytest.approx(0.237))
    assert (number.low, number.high) == (pytest.approx(0.226, abs=1e-3), pytest.approx(0.248, abs=1e-3))


@pytest.mark.parametrize(
    ("accuracy", "recall", "decides"),
    [(0.13, 0.3, ACCURACY), (0.11, 0.13, BALANCED), (0.04, 0.11, ACCURACY), (0.02, 0.04, BALANCED)],
)
def test_accuracy_is_said_wherever_it_gives_the_same_word(accuracy: float, recall: float, decides: str) -> None:
    found = judge_effects(effects(effect(accuracy, 0.4), effect(recall, 0.4, "balanced skill")))
    assert found.decisive is not None
    assert found.decisive.measure == decides
    assert found.low == max(accuracy, recall)


def test_a_preferred_reader_is_said_wherever_it_gives_the_same_word() -> None:
    named = effect(0.13, 0.2, "balanced skill", reader="patterns by share")
    for other, reader in ((effect(0.3, 0.4), "patterns by share"), (effect(0.3, 0.4, reader="form"), "form")):
        weak = named if reader == "patterns by share" else replace(named, low=0.1)
        decisive = judge_effects(effects(weak, other), prefer="patterns by share").decisive
        assert decisive is not None
        assert decisive.reader == reader


def test_a_gain_names_its_reader() -> None:
    verdict = leakage(effect(0.2, 0.3, reader="naive Bayes on words"))
    assert verdict.evidence.startswith("The hypothesis alone gives ")
    assert "% (naive Bayes on words) where" in verdict.evidence.replace("\N{NO-BREAK SPACE}", " ")


def test_a_kind_that_is_not_excluded_is_a_whole_sentence() -> None:
    for limit, shown in ((0.19, ("excluded only from 19.0 %", "12.0 % would")), (1.0, ("at no planted share", "12.0"))):
        judged = judge_effects(replace(effects(effect(-0.02, 0.05)), limits=(kind("ten words", limit),)))
        why = judged.doubts[0].why.replace("\N{NO-BREAK SPACE}", " ")
        assert "“ten words” is excluded" in why
        for part in shown:
            assert part in why


def test_sound_is_worded_as_what_was_shown() -> None:
    verdict = leakage(effect(-0.02, 0.05), effect(-0.02, 0.06, reader="patterns by share"))
    assert verdict.verdict == "sound"
    assert verdict.evidence == says("readers tried", "6.0")


def test_sound_says_the_limit_of_each_kind() -> None:
    found = effects(effect(-0.02, 0.02))
    limits = [kind("one word", 0.04), kind("form", 0.056), kind("two words", 0.081, counts=False)]
    limits.append(kind("many words", 0.3, counts=False))
    judged = judge_effects(replace(found, limits=tuple(limits)))
    said, _ = describe_judged(judged, found, "")
    said = said.replace("\N{NO-BREAK SPACE}", " ")
    for part in ("one word or form", "at most 5.6 %", "two words of at most 8.1 %"):
        assert part in said
    unseen = describe_unseen(judged, found) or ""
    assert unseen.startswith("Not seen: many words. Not looked for: ")
    for part in ("three cues together", "counts and parities", "letters of words", "places of words"):
        assert part in unseen
    assert describe_unseen(judge_effects(effects(effect(0.04, 0.09))), found) is None
    assert "negligible" not in said
    small = describe_judged(judge_effects(replace(found, limits=(kind("one word", 0.029),))), found, "")
    assert "negligible" in small[0]


def test_sound_says_what_holds_of_the_choices_alone() -> None:
    """Two words together are read in the choices, and no reader sees them in the question."""
    found = effects(effect(-0.02, 0.02))
    few, many = (f"two words together ({each} and {each})" for each in (3, 10))
    limits = [kind("one word", 0.04), kind("form", 0.05), kind(few, 0.04, counts=False), kind(many, 0.07, counts=False)]
    in_choices = judge_effects(replace(found, limits=tuple(limits)))
    limits += [kind(f"{each} of the question", 1.0, counts=False) for each in (few, many)]
    limits.append(kind("form of the question", 0.06, counts=False))
    both = judge_effects(replace(found, limits=tuple(limits)))

    said = describe_judged(both, found, "", CHOICES)[0]
    for part in (
        "one word in a choice or the question, or of form",
        "two words together in a choice of at most 7.0",
    ):
        assert part in said.replace("\N{NO-BREAK SPACE}", " ")
    assert "and 3)" not in said
    assert "form in the question of at most" in said
    assert (describe_unseen(both, found, CHOICES) or "").startswith("Not seen: two words together in the question. ")
    assert "Cues of one word or form in a choice give" in describe_judged(in_choices, found, "", CHOICES)[0]
    assert (describe_unseen(in_choices, found, CHOICES) or "").startswith("Not looked for: ")
    for baseline, named in ((0.25, True), (0.5, False)):
        of_choices = replace(found, effects=tuple(replace(each, baseline=baseline) for each in found.effects))
        assert ("middle ranks" in (describe_unseen(in_choices, of_choices, CHOICES) or "")) == named


def test_unresolved_says_between_which_bounds() -> None:
    for low, shown in ((-0.02, "0.0"), (0.02, "2.0")):
        found = effects(effect(low, 0.15))
        assert describe_judged(judge_effects(found), found, "")[0] == says("Cues", shown, "15.0")


def test_unresolved_names_the_kinds_that_are_bounded_where_others_are_not() -> None:
    def said(*limits: KindLimit, doubts: tuple[Doubt, ...] = ()) -> str:
        found = replace(effects(effect(-0.02, 0.05)), limits=limits)
        judged = judge_effects(found, doubts)
        assert (judged.word, judged.at_most) == ("unresolved", 1.0)
        return describe_judged(judged, found, "")[0].replace("\N{NO-BREAK SPACE}", " ")

    word, form = kind("one word", 0.19), kind("form", 1.0)
    assert said(word, form, kind("many words", 1.0, counts=False)) == says("one word", "0.0", "19.0", "form are not")
    assert "too few" in said(form)
    # What bounds nothing is said in place of a range up to all rows, and not again.
    why = "Texts are not at hand."
    assert said(word, form, doubts=(Doubt(why, ""),)) == why
    found = replace(effects(effect(-0.02, 0.05)), limits=(word, form))
    assert why not in describe_judged(judge_effects(found, (Doubt(why, ""),)), found, "")[1]


def test_one_run_is_never_worth_more_than_two() -> None:
    alone = part("hypothesis_only", n_runs=1)
    assert single_run_doubts([part("hypothesis_only", n_runs=2)]) == []
    verdict = leakage(effect(-0.02, 0.05), best=alone, doubts=single_run_doubts([alone]))
    assert verdict.verdict == "unresolved"
    assert "there is one run" in stated_by(verdict)
    assert "several seeds" in verdict.next_step
    found = leakage(effect(0.2, 0.25), best=alone, doubts=single_run_doubts([alone]))
    assert found.verdict == "unsound"
    assert "There is one run: another seed" in stated_by(found)


def test_rows_that_are_in_training_too_are_counted() -> None:
    row = part("hypothesis_only")
    said = judge_leakage(effects(effect(0.2, 0.3)), row, [], n_test=1000, n_shared=10, limits=LeakageLimits())
    assert states(stated_by(said), "10 of the test rows also occur", "training part")
    few = judge_leakage(effects(effect(0.2, 0.3)), row, [], n_test=1001, n_shared=10, limits=LeakageLimits())
    assert "also occur" not in stated_by(few)


def test_two_runs_that_happen_to_agree_are_not_taken_for_a_steady_score() -> None:
    spread = replace(STEADY, n_runs=2, sd=0.001, sd_low=0.0004, sd_high=0.032)
    assert judge_instability([spread], InstabilityLimits()).verdict == "unresolved"


def test_instability_is_judged_by_the_least_stable() -> None:
    verdict = judge_instability([STEADY, HANS], InstabilityLimits())
    assert verdict.verdict == "unsound"
    assert verdict.evidence == says("bert on hans", "1.51 points", "1.04", "2.76")
    assert "137 independent" in stated_by(verdict)
    assert judge_instability([STEADY], InstabilityLimits()).verdict == "sound"


def test_runs_that_happen_to_agree_are_not_steady() -> None:
    equal = replace(STEADY, n_runs=3, n_examples=60, sd=0.0, sd_low=0.0, sd_high=0.0, design_effect=math.nan)
    verdict = judge_instability([equal], InstabilityLimits())
    assert verdict.verdict == "unresolved"
    assert f"Equal scores may hide a true SD of up to {100 * sd_interval(1 / 60, 3).high:.2f} points" in stated_by(
        verdict
    )
    assert judge_instability([replace(equal, n_runs=10, n_examples=9815)], InstabilityLimits()).verdict == "sound"


def test_runs_that_score_every_example_alike_may_be_one_run() -> None:
    """Six copies of one file were called sound; a run that merely has the same score as others may be."""
    copies = replace(
        STEADY, n_runs=6, sd=0.0, sd_low=0.0, sd_high=0.0, design_effect=math.nan, effective_size=math.nan,
        design_effect_low=math.nan, design_effect_high=math.nan, n_distinct=1,
    )  # fmt: skip
    verdict = judge_instability([copies], InstabilityLimits())
    assert verdict.verdict == "unresolved"
    assert "they may be copies of one run" in stated_by(verdict)
    assert verdict.next_step.startswith("Check that these are runs of different seeds")
    other = replace(copies, effective_size=math.inf, n_distinct=6)
    assert judge_instability([other], InstabilityLimits()).verdict == "sound"


@pytest.mark.parametrize(("n_distinct", "word"), [(10, "sound"), (5, "sound"), (4, "unresolved")])
def test_copies_of_a_run_do_not_count_as_runs(n_distinct: int, word: str) -> None:
    """Five copies of one run and another one were called sound."""
    verdict = judge_instability([replace(STEADY, n_distinct=n_distinct)], InstabilityLimits())
    assert verdict.verdict == word
    assert (f"Only {n_distinct} of the 10 runs differ" in stated_by(verdict)) == (n_distinct < 10)


def test_the_upper_end_is_that_of_as_many_runs_as_differ() -> None:
    moving = replace(STEADY, sd=0.0045, sd_low=0.0031, sd_high=sd_interval(0.0045, 10).high)
    assert judge_instability([moving], InstabilityLimits()).verdict != "unresolved"
    assert sd_interval(0.0045, 5).high > InstabilityLimits().unsound_sd
    five = sd_interval(0.0045, 5)
    copied = judge_instability([replace(moving, sd_low=five.low, sd_high=five.high, n_distinct=5)], InstabilityLimits())
    assert copied.verdict == "unresolved"


def test_sentences_follow_the_interval_of_the_design_effect() -> None:
    unsteady = judge_instability([HANS], InstabilityLimits())
    assert "137 independent" in stated_by(unsteady)
    assert "find the groups of examples that flip together" in unsteady.next_step
    apart = replace(HANS, design_effect=0.9, effective_size=33333.0, design_effect_low=0.6, design_effect_high=1.8)
    steady = judge_instability([apart], InstabilityLimits())
    assert "no tendency to flip together" in stated_by(steady)
    open_ = replace(HANS, design_effect=0.9, effective_size=33333.0, design_effect_low=0.3, design_effect_high=7.4)
    unknown = judge_instability([open_], InstabilityLimits())
    assert "flip together" not in stated_by(unknown)
    for verdict in (steady, unknown):
        assert verdict.verdict == "unsound"
        assert "groups" not in verdict.next_step


def result(condition: str, spread: Spread, n_runs: int | None = None) -> RunScores:
    own = spread.to_dict()
    row = {
        "model": "m", "dataset": "d", "condition": condition, "name": condition, "accuracies": (), "min": spread.score,
        "max": spread.score, "mean": own.pop("score"), "by_position": False, "reason": None, **own,
    }  # fmt: skip
    return result_of(RunScores, {**row, "name": condition, "n_runs": spread.n_runs if n_runs is None else n_runs})


@pytest.mark.parametrize("whole", ["paired", "text"])
def test_a_part_of_the_input_never_decides_on_instability(whole: str) -> None:
    limits = InstabilityLimits()
    rows = [result("premise_only", HANS), result(whole, STEADY), result("shuffled", HANS)]
    assert judge(rows, limits).verdict == "sound"
    assert judge(rows, limits).evidence == says("0.24 points", "0.16", "0.44", "ordinary spread")
    assert judge([result("premise_only", STEADY), result(whole, HANS)], limits).verdict == "unsound"
    parts = judge([result("premise_only", HANS), result("shuffled", HANS)], limits)
    assert parts.verdict == "not measurable"
    assert "only of premise_only, shuffled" in stated_by(parts)


def test_a_model_of_one_run_is_not_sound_beside_a_steady_one() -> None:
    limits = InstabilityLimits()
    beside = judge([result("paired", STEADY), result("paired", STEADY, n_runs=1)], limits)
    assert beside.verdict == "unresolved"
    assert "Only one run was given of paired" in stated_by(beside)
    assert beside.next_step == says("5 seeds of paired")
    assert judge([result("paired", HANS), result("paired", STEADY, n_runs=1)], limits).verdict == "unsound"


def test_a_large_design_effect_alone_is_a_reason_for_caution_by_its_interval() -> None:
    limits = InstabilityLimits()
    # BREAK: the design effect is 10.4, and may be below 5.
    assert judge_instability([replace(STEADY, design_effect=10.4, design_effect_low=4.9)], limits).verdict == "sound"
    large = replace(STEADY, design_effect=10.4, design_effect_low=5.0)
    assert judge_instability([large], limits).verdict == "caution"
    assert "lower end of the design effect is at least 5" in judge_instability([large], limits).rule
    # Two runs with a lower end at 5 are no less of a reason, and no more than caution.
    two = replace(large, n_runs=2, sd=0.001, sd_low=0.0004, sd_high=0.032)
    assert judge_instability([two], limits).verdict == "caution"


def test_no_more_runs_are_asked_for_than_copies_that_were_given() -> None:
    copies = replace(STEADY, n_distinct=2, sd=0.001, sd_low=0.0004, sd_high=0.032)
    verdict = judge_instability([copies], InstabilityLimits())
    assert verdict.verdict == "unresolved"
    assert "runs in all" not in verdict.next_step
    assert "Give 5 runs that differ from each other: " in verdict.next_step


@pytest.mark.parametrize(
    ("low", "high", "word"), [(0.0005, 0.005, "unresolved"), (0.003, 0.05, "caution"), (0.01, 0.4, "unsound")]
)
def test_fewer_than_five_runs_are_never_sound(low: float, high: float, word: str) -> None:
    four = replace(STEADY, n_runs=4, sd_low=low, sd_high=high)
    verdict = judge_instability([four], InstabilityLimits())
    assert verdict.verdict == word
    assert "from 4 runs" in stated_by(verdict)
    assert ("Give 5 runs in all" in verdict.next_step) == (word == "unresolved")
    assert judge_instability([replace(four, n_runs=5)], InstabilityLimits()).verdict == word.replace(
        "unresolved", "sound"
    )


@pytest.mark.parametrize(("n_runs", "rate"), [(5, 45), (10, 26), (29, 10)])
def test_sound_is_ordinary_spread_only_and_names_the_rate_of_failures_that_may_be_missed(
    n_runs: int, rate: int
) -> None:
    verdict = judge_instability([replace(STEADY, n_runs=n_runs)], InstabilityLimits())
    assert verdict.verdict == "sound"
    assert "ordinary spread only" in verdict.evidence
    assert states(stated_by(verdict), f"None of {n_runs} runs failed", f"{rate}\N{NO-BREAK SPACE}%")
    assert highest_failure_rate(n_runs) == pytest.approx(proportion_confint(0, n_runs, 0.1, "beta")[1])
    assert "ordinary spread" not in stated_by(judge_instability([HANS], InstabilityLimits()))


def test_a_model_that_may_know_nothing_is_never_sound() -> None:
    limits = InstabilityLimits()
    few = replace(STEADY, score=0.36, above_constant_low=-0.002, examples_to_exceed=12_000)
    verdict = judge_instability([few], limits)
    assert verdict.verdict == "unresolved"
    assert states(stated_by(verdict), "36.0 points", "not significantly above", "35.4", "entailment")
    assert "the model may know nothing" in stated_by(verdict)
    assert verdict.next_step.startswith("Give 12,000 examples: ")
    below = judge_instability([replace(few, score=0.33, examples_to_exceed=None)], limits)
    assert below.verdict == "unresolved"
    assert "Check that the right labels belong to these rows" in below.next_step
    unlabelled = replace(STEADY, score=0.0, constant=None, constant_score=0.0, above_constant_low=0.0)
    assert "not significantly above 0" in stated_by(judge_instability([unlabelled], limits))
    unknown = replace(STEADY, above_constant_low=math.nan, examples_to_exceed=None)
    assert judge_instability([unknown], limits).verdict == "unresolved"
    # Knowing nothing excuses no spread.
    assert judge_instability([replace(HANS, above_constant_low=-0.1)], limits).verdict == "unsound"


@given(st.floats(0.0001, 0.2), st.integers(2, 40))
def test_as_many_runs_as_are_asked_for_settle_it(sd: float, n_runs: int) -> None:
    limits = InstabilityLimits()

    def at(n: int) -> Spread:
        interval = sd_interval(sd, n)
        return replace(STEADY, n_runs=n, sd=sd, sd_low=interval.low, sd_high=interval.high)

    needed = runs_to_settle(at(n_runs), limits)
    verdict = judge_instability([at(n_runs)], limits)
    assert needed is not None
    assert needed >= 5
    assert judge_instability([at(needed)], limits).verdict != "unresolved"
    if needed > 5:
        assert judge_instability([at(needed - 1)], limits).verdict == "unresolved"
    if verdict.verdict == "unresolved":
        assert verdict.next_step.startswith(f"Give {needed:,} runs in all")


def test_an_sd_that_no_number_of_runs_places_says_so() -> None:
    limits = InstabilityLimits(caution_sd=0.01, unsound_sd=0.01)
    edge = replace(STEADY, sd=0.01, sd_low=0.007, sd_high=0.018)
    assert runs_to_settle(edge, limits) is None
    assert "too near a limit" in judge_instability([edge], limits).next_step


def test_few_runs_and_infinite_sizes_are_said_or_left_out() -> None:
    few = judge_instability([replace(HANS, n_runs=3, effective_size=math.inf)], InstabilityLimits())
    assert "from 3 runs" in stated_by(few)
    assert "inf" not in stated_by(few)


@pytest.mark.parametrize("families_open", ["few wrong", "near"])
def test_runs_whose_families_cannot_be_told_are_not_sound_but_may_be_unsound(families_open: str) -> None:
    limits = InstabilityLimits()
    verdict = judge_instability([replace(STEADY, families_open=families_open)], limits)
    assert verdict.verdict == "unresolved"
    assert verdict.next_step.startswith("State the seeds: ")
    assert "Give" not in verdict.next_step
    assert judge_instability([replace(HANS, families_open=families_open)], limits).verdict == "unsound"


def test_a_spread_that_shows_nothing_bounds_nothing() -> None:
    limits = InstabilityLimits()
    assert judge_instability([STEADY], limits).at_most == STEADY.sd_high
    assert judge_instability([STEADY, HANS], limits).at_most == HANS.sd_high
    for guesser in (replace(STEADY, above_constant_low=-0.01), replace(STEADY, contradicted=9000)):
        assert judge_instability([guesser], limits).at_most is None
        assert judge_instability([HANS, guesser], limits).at_most is None
    alone = replace(result("paired", STEADY), n_runs=1)
    assert judge([result("paired", HANS), alone], limits).at_most is None


def test_readers_of_one_answer_make_nothing_sound_by_themselves() -> None:
    """Of 508 rows in which none of them found anything it was said that at most 3.5 % could be gained."""
    limits = dict.fromkeys((ACCURACY, BALANCED), EffectLimits(0.03, 0.12))
    reading = ReaderPredictions("text", "r", np.zeros((1, 508), np.int64))
    judged = judge_effects(measure_effects([reading], np.tile([0, 1], 254), 2, limits))
    assert (judged.word, judged.at_most) == ("unresolved", 1.0)


def test_an_end_just_above_the_limit_is_told_apart_from_it() -> None:
    (doubt, *_) = judge_effects(effects(effect(-0.05, 0.12004))).doubts
    assert "12.004" in doubt.why
    (doubt, *_) = judge_effects(effects(replace(effect(-0.05, 0.15), measure=BIAS))).doubts
    assert "4,800 labelled rows" in doubt.mend
