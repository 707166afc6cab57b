"""The chart of rules: what gains most first, of preferences in the direction in which a rule gains."""

from __future__ import annotations

import goldassay
from goldassay.core.charts import Dots
from goldassay.core.numbers import bounds, percent, points
from goldassay.core.sections import Around
from goldassay.questions.leakage.charts import charts
from goldassay.questions.leakage.result import MeasuredLeakage
from tests.judgments.made import judged
from tests.questions.test_preferences import made
from tests.typed import filled


def test_rules_and_probes_are_shown_with_their_own_figures() -> None:
    report = goldassay.measure_leakage(made(300, 0, ruler=0.6), seeds=2)
    chart = report.charts["leakage_rules"]
    assert isinstance(chart, Dots)
    names = [group.name for group in chart.groups]
    assert names[0] in ("longer", "more words")
    assert {"shorter", "fewer words"} & set(names) == set()
    assert "probe, response alone" in names
    found = {row["reader"]: row for row in report.to_dict()["leakage"]["effects"]["effects"]}
    for group in chart.groups:
        if group.name.startswith("probe"):
            continue
        (dot,) = group.rows[0].dots
        row = found[f"rule: {group.name}"]
        assert (dot.value, dot.low, dot.high) == (row["value"], row["low"], row["high"])
        assert group.value == percent(row["value"])
    assert [rule.at for rule in chart.rules] == [0.03, 0.12]


def test_other_data_have_no_chart_of_rules() -> None:
    effects = {"effects": [{"reader": "rule: x", "value": 0.5}]}
    assert "leakage_rules" not in charts(filled(MeasuredLeakage, {"effects": effects}), Around({}))


def test_a_judge_has_the_interval_of_what_is_drawn() -> None:
    rows = judged(60, 0, seat=0.4)
    frame = rows.select(
        "item", "judge", verdict=rows["win"].replace_strict({1.0: "A", 0.0: "B"}), order=rows["a_first"]
    )
    found = goldassay.audit(frame.rename({"verdict": "winner"}), columns={"winner": "winner"})
    (row,) = found.to_dict()["judgments"]["results"]
    chart = found.charts["judgments_position"]
    assert isinstance(chart, Dots)
    (group,) = chart.groups
    assert group.rows[0].span == (row["low"], row["high"])
    assert (group.value, group.interval) == (points(row["effect"]), bounds(row["low"], row["high"]))
