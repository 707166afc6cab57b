"""Comparisons as a study: two models and more, what they say, and the page."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from statsmodels.stats.power import TTestPower

from goldassay.cli.lines import _lines, _overview
from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings
from goldassay.data.reading import read_dataset
from goldassay.instability import compare_all, comparison_power, seeds_needed, smallest_difference
from goldassay.questions.comparison.comparing import compare_runs, compare_sides
from goldassay.questions.comparison.report import report_comparison
from goldassay.questions.comparison.sentences import describe_comparison, differ, judge_comparison, settle
from goldassay.questions.comparison.sides import Sides
from goldassay.questions.evidence import Evidence
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_sets import find_runs, read_rivals
from goldassay.report.charts import draw_pictures
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs
from tests.stated import in_order, says, states

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goldassay.questions.comparison.comparing import ModelComparisons
    from goldassay.report.report import Report


def models(*levels: float, n_runs: int = 4, n: int = 120) -> list[Runs]:
    rng = np.random.default_rng(8)
    ease = rng.random(n)
    return [
        Runs.from_arrays(
            scores=(rng.random((n_runs, n)) + ease) / 2 < level, model=f"m{i}", dataset="d", seeds=range(n_runs)
        )
        for i, level in enumerate(levels)
    ]


def written_up(given: Sequence[Runs], choice: RunChoice | None = None) -> tuple[Report, ModelComparisons]:
    """The report on models in memory."""
    return report_comparison(Evidence(choice=choice, settings=Settings(), steps=Steps()), Sides(given))


def test_many_models_are_compared_as_the_measure_does() -> None:
    given = models(0.5, 0.52, 0.8)
    found = compare_sides(given)
    expected = compare_all({runs.model: runs.scores for runs in given})
    assert found.groups == expected.groups
    assert found.adjusted_p == expected.adjusted_p
    assert [(pair.a, pair.b) for pair in found.pairs] == list(expected.pairs)
    assert [pair.comparison for pair in found.pairs] == list(expected.comparisons)
    assert found.groups[0] == ("m2",)
    verdict = judge_comparison(found)
    assert verdict.verdict == "distinguishable"
    assert verdict.evidence.startswith("m2 is better than all others")
    said = describe_comparison(found)
    assert states(said[0], "3 pairs of models", "2 differ significantly", "120 examples of d")
    assert any("m0" in sentence and "cannot be ranked" in sentence for sentence in said)


def test_two_models_stay_in_their_order_and_the_better_is_named() -> None:
    worse, better = models(0.5, 0.8)
    found = compare_sides((worse, better))
    (pair,) = found.pairs
    assert (pair.a, pair.b) == ("m0", "m1")
    assert pair.comparison.difference < 0
    assert found.groups == (("m1",), ("m0",))
    verdict = judge_comparison(found)
    assert verdict.headline is not None
    assert verdict.headline.label == "m1 minus m0"
    assert verdict.headline.value == -pair.comparison.difference
    assert verdict.headline.low == -pair.comparison.interval.high
    assert pair.plan.seeds_needed == 2


def test_examples_that_may_be_related_are_named(tmp_path: Path) -> None:
    pair = models(0.5, 0.8)
    assert compare_sides(pair).notes == ()
    named = {"template": np.arange(120) // 10, "pairID": np.arange(120), "genre": np.zeros(120, dtype=int)}
    named["group"] = np.arange(120) % 2
    grouped = [dataclasses.replace(runs, groups={k: v.astype(str) for k, v in named.items()}) for runs in pair]
    (note,) = compare_sides(grouped).notes
    assert "those of one template may not be" in note
    assert compare_sides(grouped, clusters="template").notes == ()
    rows = [
        {"id": str(i), "premise": f"A {i // 3}", "hypothesis": f"B {i}", "label": "entailment"} for i in range(120)
    ]  # fmt: skip
    pl.DataFrame(rows).write_ndjson(tmp_path / "test.jsonl")
    shared = compare_sides(pair, texts=read_dataset(tmp_path / "test.jsonl"))
    assert shared.notes == ()
    assert shared.pairs[0].comparison.n_clusters == 40


def test_labels_of_other_rows_give_a_warning() -> None:
    # Of labels that take turns, those of the row before would be the same in another order.
    gold = np.random.default_rng(1).permutation(np.arange(120) % 3)
    names = [f"e{row}" for row in range(120)]
    one, other = (
        Runs.from_arrays(given[np.newaxis], np.roll(gold, 1), label_names="abc", example_ids=names, model=name)
        for name, given in (("m", gold), ("o", np.where(np.arange(120) < 20, (gold + 1) % 3, gold)))
    )
    assert compare_sides((one, other)).notes == ()
    first, second = compare_sides((one, other), by_position=True).notes
    assert states(first, "m on dataset:", "by their position")
    assert second.startswith("o on dataset")
    report, _ = written_up((one, other), RunChoice(align="position"))
    assert "The labels may belong to other rows" in report.to_html()


def test_examples_that_only_some_cover() -> None:
    one, other, third = models(0.5, 0.6, 0.7)
    part = other.take(np.arange(10, 120)[::-1])
    with pytest.raises(InputError, match=in_order("120 examples", "110 in common", "m1 lacks 10")):
        compare_sides((one, part, third))
    found = compare_sides((one, part, third), missing="leave-out")
    assert {runs.n_examples for runs in found.models} == {110}
    assert found.notes == (says("110 of 120 examples", "left out", 10, ...),)
    straight = compare_runs(one.take(np.arange(10, 120)), third.take(np.arange(10, 120)))
    (pair,) = [pair for pair in found.pairs if {pair.a, pair.b} == {"m0", "m2"}]
    assert abs(pair.comparison.difference) == pytest.approx(abs(straight.comparison.difference))


def test_one_run_each_is_over_examples_alone() -> None:
    report, found = written_up(models(0.5, 0.51, n_runs=1))
    assert found.pairs[0].plan.seeds_needed is None
    verdict = report.judged["comparison"]
    assert verdict.verdict == "not distinguishable"
    assert "examples are the noise" in verdict.rule
    page = report.to_html()
    assert "one run: unknown" in page
    assert "score test" in page
    assert "1 run each" in page


def test_rivals_out_of_one_folder(tmp_path: Path) -> None:
    for runs in models(0.5, 0.6, 0.7):
        write_runs(runs, tmp_path)
    found = find_runs([tmp_path], RunChoice())
    assert [runs.model for runs in read_rivals(found, RunChoice())] == ["m0", "m1", "m2"]
    pooled = read_rivals(found, RunChoice(), ["m0", "m?"])
    assert [runs.n_runs for runs in pooled] == [4, 12]
    with pytest.raises(InputError, match="one model is named"):
        read_rivals(found, RunChoice(), ["m0"])
    with pytest.raises(InputError, match="all of one model, m0"):
        read_rivals(find_runs([tmp_path], RunChoice(model="m0")), RunChoice(model="m0"))
    write_runs(Runs.from_arrays(scores=np.ones((2, 5)), model="m9", dataset="other"), tmp_path)
    with pytest.raises(InputError, match=r"runs of 2 datasets: .*dataset="):
        read_rivals(find_runs([tmp_path], RunChoice()), RunChoice())


def test_the_page_shows_models_groups_differences_and_noise() -> None:
    report, _ = written_up(models(0.5, 0.52, 0.8))
    assert [section.key for section in report.sections] == ["comparison", "inputs"]
    page = report.to_html()
    assert page.count('<article class="card') == 1
    for words in ("models that cannot be ranked", "p, Holm", "share of runs", "could be shown"):
        assert words in page
    assert {"instability_scores", "instability_differences"} <= draw_pictures(report.charts).keys()
    assert report.tables["comparisons"].height == 3
    assert "## Comparison" in report.to_markdown()
    assert "distinguishable" in report.to_markdown()


def ahead_in_every_pair(n_runs: int) -> list[Runs]:
    """A is right on 26 of 40 examples in all runs, B on 24 others: every run of A is ahead, on these examples."""
    right = np.arange(40)[np.newaxis] + np.zeros((n_runs, 1))
    return [
        Runs.from_arrays(scores=scores.astype(float), model=name, dataset="d", seeds=range(n_runs))
        for name, scores in (("a", right < 26), ("b", right >= 16))
    ]


@pytest.mark.parametrize(("n_runs", "said"), [(2, "is open even on these examples"), (40, "it may be otherwise")])
def test_no_sentence_goes_beyond_its_interval(n_runs: int, said: str) -> None:
    compared = compare_sides(ahead_in_every_pair(n_runs))
    (pair,) = compared.pairs
    assert pair.comparison.probability_better == 1
    sentences = describe_comparison(compared)
    assert "a and b do not differ significantly" in sentences[0]
    assert said in sentences[1]
    low, high = pair.comparison.probability_interval.low, pair.comparison.probability_interval.high
    assert f"[{100 * low:.0f}, {100 * high:.0f}]" in sentences[1]
    (line,) = (each for each in _lines(pair) if each.startswith("P(A > B)"))
    assert line.endswith("on these examples: open" if n_runs == 2 else "on these examples alone")


def test_what_the_correction_takes_back_is_not_called_better() -> None:
    compared = compare_sides(models(0.7, 0.62, 0.61, n_runs=6))
    for p in (0.2, 0.001):
        verdict = judge_comparison(
            dataclasses.replace(compared, adjusted_p=(p,) * len(compared.pairs), groups=(("m0", "m1", "m2"),))
        )
        first = compared.pairs[0]
        assert first.comparison.interval.low > 0
        assert ("Before the correction m0 is ahead of" in verdict.evidence) == (p == 0.2)
        assert ("is better than m" in verdict.evidence) == (p == 0.001)


def noise_of(pair: Any) -> dict[str, Any]:
    found = pair.comparison
    return {
        "sd": ((pair.sd_a**2 + pair.sd_b**2) / 2) ** 0.5,
        "example_variance": found.example_variance,
        "clusters": found.n_examples,
    }


def test_the_plan_is_that_of_the_measures_with_the_noise_of_examples() -> None:
    rng = np.random.default_rng(4)
    better = rng.normal(0, 0.2, 300)
    better -= better.mean()
    level = np.array([-2, -1, -1, 1, 1, 2])[:, np.newaxis] * 0.006
    flips = rng.normal(0, 0.05, (2, 6, 300))
    given = [
        Runs.from_arrays(scores=np.clip(0.5 + sign * (better + 0.02) + level + flip, 0, 1), model=name, dataset="d")
        for name, sign, flip in (("a", 0.5, flips[0]), ("b", -0.5, flips[1]))
    ]
    (pair,) = compare_sides(given).pairs
    found, plan, noise = pair.comparison, pair.plan, noise_of(pair)
    assert found.example_variance > 0
    # What 6 runs of each find with 80 %, by the degrees of freedom that the test itself has.
    assert plan.detectable_difference == pytest.approx(smallest_difference(noise.pop("sd"), 6, **noise), rel=0.02)
    assert plan.smallest_difference < plan.detectable_difference
    with pytest.warns(UndefinedMeasureWarning, match="it takes more examples"):
        assert seeds_needed(noise_of(pair)["sd"], found.difference, **noise) is None
    assert plan.seeds_needed is None
    assert plan.examples_needed is not None
    # With as many examples, the same runs find the difference four times out of five.
    factor = plan.examples_needed / 300
    runs = found.var_runs - found.overlap + found.overlap / factor
    v = found.example_variance / factor
    assert comparison_power(
        found.difference, (3 * runs) ** 0.5, 6, example_variance=v, clusters=plan.examples_needed
    ) == pytest.approx(0.8, abs=0.005)
    (_, *_, last) = describe_comparison(compare_sides(given))
    assert f"with these runs on {plan.examples_needed:,} examples" in last
    assert last.endswith("on these examples no number of runs will do.")
    (line,) = (each for each in _lines(pair) if each.startswith("settle it"))
    assert last in line


def test_where_neither_more_runs_nor_more_examples_will_do_both_are_named() -> None:
    rng = np.random.default_rng(5)
    better, level = rng.normal(0, 0.4, 300), rng.normal(0, 0.05, (2, 3, 1))
    scores = [
        np.clip(0.5 + sign * better + level[i] - level[i].mean() + shift, 0, 1)
        for i, (sign, shift) in enumerate(((0.5, 0.004), (-0.5, 0.0)))
    ]
    given = [Runs.from_arrays(scores=each, model=name, dataset="d") for each, name in zip(scores, "ab", strict=True)]
    compared = compare_sides(given)
    plan = compared.pairs[0].plan
    assert (plan.seeds_needed, plan.examples_needed) == (None, None)
    assert plan.joint_runs is not None
    assert plan.joint_runs > 3
    assert plan.joint_examples is not None
    assert plan.joint_examples > 300
    said = describe_comparison(compared)[-1]
    assert f"{plan.joint_runs:,} runs of each on {plan.joint_examples:,} examples" in said
    assert "neither more runs nor more examples alone will do" in said
    report, _ = written_up(given)
    assert f"{plan.joint_runs:,} runs on {plan.joint_examples:,} examples" in report.to_html()


def test_equal_scores_are_said_to_be_equal() -> None:
    one = models(0.5)[0]
    other = dataclasses.replace(one, model="m1")
    compared = compare_sides((one, other))
    assert "The scores are equal" in describe_comparison(compared)[-1]
    assert compared.pairs[0].plan.examples_needed is None


@pytest.mark.parametrize("n_runs", [(1, 1), (1, 5)])
def test_one_run_never_says_that_a_model_is_better(n_runs: tuple[int, int]) -> None:
    given = [models(level, n_runs=n)[0] for level, n in zip((0.4, 0.9), n_runs, strict=True)]
    given = [dataclasses.replace(each, model=name) for each, name in zip(given, ("low", "high"), strict=True)]
    report, compared = written_up(given)
    (pair,) = compared.pairs
    found = pair.comparison
    assert found.interval.high < 0
    verdict = report.judged["comparison"]
    assert verdict.verdict == "not distinguishable"
    assert verdict.evidence.startswith("The runs of low and high differ by ")
    assert states(
        verdict.evidence, "high scores higher", found.n_higher_b, "low on", found.n_higher_a, "of 120 examples"
    )
    assert "at least 5 runs of each model" in verdict.next_step
    shown = "\n".join([report.to_html(), report.to_markdown(), *_lines(pair), *describe_comparison(compared)])
    for claim in ("high is better", "B is better", "low is better"):
        assert claim not in shown
    assert "these runs differ" in shown
    row = report.tables["comparisons"].row(0, named=True)
    assert (row["differ"], row["distinguishable"]) == (True, False)
    assert compared.to_dict()["pairs"][0]["distinguishable"] is False


def test_of_several_models_with_one_run_the_groups_are_of_runs() -> None:
    report, compared = written_up(models(0.5, 0.52, 0.8, n_runs=1))
    assert compared.groups[0] == ("m2",)
    assert judge_comparison(compared).verdict == "not distinguishable"
    assert judge_comparison(compared).evidence.startswith("The run of m2 is ahead of all others. ")
    said = describe_comparison(compared)
    assert said[0].startswith("Of 3 pairs of runs 2 differ on 120 examples of d")
    needed = compared.pairs[0].plan.examples_needed
    assert said[1] == says(
        "one run of each", ..., "m2", "m1", "35.83", f"{needed} examples", ..., "5 runs of each model"
    )
    page = report.to_html()
    assert "runs that cannot be ranked" in page
    assert "run ahead of" in page
    assert "is better than" not in "\n".join([page, report.to_markdown(), *_overview(compared), *said])
    assert any(line.startswith("settle it") and f"{needed} examples" in line for line in _overview(compared))


def test_what_would_settle_the_top_of_several_models_is_said() -> None:
    compared = compare_sides(models(0.5, 0.52, 0.53))
    assert len(compared.groups[0]) == 3
    (line,) = (each for each in _overview(compared) if each.startswith("settle it"))
    assert "is found four times out of five with" in line
    assert judge_comparison(compared).next_step in line


def test_more_examples_are_needed_than_those_that_decide_nothing() -> None:
    """Of four examples one run solves all and the other none: by Student's t that is no difference yet."""
    given = [
        Runs.from_arrays(scores=np.full((1, 4), each), model=m, dataset="d") for each, m in ((1.0, "a"), (0.0, "b"))
    ]
    (pair,) = written_up(given)[1].pairs
    assert pair.comparison.interval.low < 0
    assert pair.plan.examples_needed is not None
    assert 4 < pair.plan.examples_needed < 20
    assert pair.plan.detectable_difference == 1


@pytest.mark.parametrize("second", [0.52, 0.9])
def test_one_run_each_says_how_many_examples_its_difference_takes(second: float) -> None:
    _, compared = written_up(models(0.5, second, n_runs=1))
    pair = compared.pairs[0]
    assert differ(pair) == (second == 0.9)
    found, needed = pair.comparison, pair.plan.examples_needed
    assert needed is not None
    effect = abs(found.difference) / (found.var_examples * found.n_examples) ** 0.5
    assert TTestPower().power(effect, needed - 1, 0.05) < 0.8 <= TTestPower().power(effect, needed, 0.05)
    assert f"{needed:,} examples" in settle(pair)
    assert "5 runs of each model" in settle(pair)
    same = Runs.from_arrays(scores=np.ones((1, 100)), model="a", dataset="d")
    other = Runs.from_arrays(scores=np.ones((1, 100)), model="b", dataset="d")
    plan = compare_sides([same, other]).pairs[0].plan
    # Runs that never differ are no proof that such a difference would be seen: one of d needs d of the examples.
    assert plan.examples_needed is None
    assert plan.detectable_difference == pytest.approx(2.8016**2 / (100 + 2.8016**2), rel=1e-3)
