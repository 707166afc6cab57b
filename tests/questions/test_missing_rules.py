"""Each command that shows scores gives one figure for one rule, whatever answers are missing."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import goldassay
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_scores import score_runs

if TYPE_CHECKING:
    from goldassay.runs.statuses import Missing

# An answer: right, wrong, not read, or the item was not asked.
ANSWERS = st.sampled_from(["1", "0", "", "1", "0", "not asked"])
TABLES = st.integers(2, 3).flatmap(
    lambda n_models: st.lists(st.lists(ANSWERS, min_size=8, max_size=8), min_size=n_models, max_size=n_models)
)


def by_hand(models: list[list[str]], missing: Missing) -> list[float]:
    asked = [at for at in range(8) if any(own[at] != "not asked" for own in models)]
    if missing == "leave-out":
        asked = [at for at in asked if all(own[at] in ("0", "1") for own in models)]
    return [sum(own[at] == "1" for at in asked) / len(asked) for own in models] if len(asked) > 1 else []


def shown(path: Path, missing: Missing) -> dict[str, list[float]]:
    """What each command says of the models, in the order of their names."""
    reports: dict[str, Any] = {
        "instability": goldassay.measure_instability(path, missing=missing, quiet=True).document,
        "audit": goldassay.audit(path, missing=missing, quiet=True).document,
        "compare": goldassay.compare_models(path, missing=missing, quiet=True).document,
    }
    found = {
        name: [row["mean"] for row in sorted(report["instability"]["results"], key=lambda row: row["model"])]
        for name, report in reports.items()
    }
    found["runs scores"] = [each.mean for each in score_runs(path, RunChoice(missing=missing)).sets]
    ranked = goldassay.rank_systems(path, missing=missing, quiet=True).document["board"]["systems"]
    found["board"] = [row["score"] for row in sorted(ranked, key=lambda row: row["system"])]
    return found


@pytest.mark.parametrize("missing", ["wrong", "leave-out", "bounds"])
@settings(max_examples=15, deadline=None)
@given(TABLES)
@example([["1", "1", "0", "", "1", "0", "1", "1"], ["0", "1", "1", "1", "not asked", "0", "", "1"]])
def test_commands_show_one_score_for_one_rule(missing: Missing, models: list[list[str]]) -> None:
    rows = [
        {"example_id": f"q{at}", "model": f"m{number}", "dataset": "exam", "score": float(own) if own else None}
        for number, answers in enumerate(models)
        for at, own in enumerate(answers)
        if own != "not asked"
    ]
    expected = by_hand(models, missing)
    assume(expected and all(set(own) & {"0", "1"} for own in models))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "exam.jsonl"
        pl.DataFrame(rows, schema_overrides={"score": pl.Float64}).write_ndjson(path)
        found = shown(path, missing)
    for name, means in found.items():
        assert means == pytest.approx(expected), name


def test_a_score_on_fewer_examples_names_their_number(tmp_path: Path) -> None:
    rows = [
        {"example_id": f"q{at}", "model": name, "dataset": "exam", "score": float(at % 3 > 0)}
        for name, n in (("a", 60), ("b", 25))
        for at in range(n)
    ]
    path = tmp_path / "exam.jsonl"
    pl.DataFrame(rows).write_ndjson(path)
    report = goldassay.measure_instability(path, quiet=True)
    assert [row["n_asked"] for row in report.document["instability"]["results"] if "n_asked" in row] == [60]
    assert "(25 of 60)" in report.to_markdown()


def test_a_board_ranks_by_no_rule_what_another_turns(tmp_path: Path) -> None:
    """a is ahead with what is missing as wrong and on common items, b by what each answered: no word for either."""
    rows = [
        {"example_id": f"q{at}", "model": name, "dataset": "exam", "score": float(score)}
        for at in range(60)
        for name, score in (("a", at < 24 or at % 2), *([("b", at < 20)] if at < 25 else []))
    ]
    path = tmp_path / "exam.jsonl"
    pl.DataFrame(rows).write_ndjson(path)
    for missing in ("wrong", "leave-out"):
        pair = goldassay.compare_models(path, missing=missing).result.pairs[0]
        assert pair.rules is not None
        assert pair.rules.depends == (pair.rules.scored_only < 0)
        found = goldassay.rank_systems(path, missing=missing, quiet=True).document["board"]["systems"]
        if pair.rules.depends:
            assert [(row["rank_low"], row["rank_high"]) for row in found] == [(1, 2), (1, 2)]
    # Without items in common nothing is known of the order.
    apart = [row for row in rows if (row["model"] == "a") == (int(row["example_id"][1:]) >= 25)]
    pl.DataFrame(apart).write_ndjson(path)
    found = goldassay.rank_systems(path, missing="wrong", quiet=True).document["board"]["systems"]
    assert [(row["rank_low"], row["rank_high"]) for row in found] == [(1, 2), (1, 2)]
