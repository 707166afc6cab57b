"""`goldassay runs scores`: every score with its intervals, the models compared, and what could not be read."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import goldassay as package
from goldassay.questions.run_scores import score_runs
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs
from tests.cli.run_files import goldassay, refused
from tests.stated import states

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.end_to_end.conftest import Outcome

    Command = Callable[..., Outcome]

__all__ = ["goldassay", "refused"]

LOGS = Path(__file__).parents[1] / "runs" / "fixtures" / "inspect_ai"
N = 60


def write(folder: Path, runs: int = 3, models: tuple[str, ...] = ("large", "small")) -> None:
    rng = np.random.default_rng(0)
    for place, model in enumerate(models):
        for dataset in ("facts", "sums"):
            scores = (rng.random((runs, N)) < 0.8 - 0.3 * place).astype(np.float64)
            write_runs(Runs.from_arrays(scores=scores, model=model, dataset=dataset), folder)


def test_models_are_named_that_cover_different_examples(goldassay: Command, tmp_path: Path) -> None:
    for model, n in (("large", 50), ("small", 60)):
        scores = np.arange(n)[np.newaxis] % 2
        write_runs(Runs.from_arrays(scores=scores, model=model, dataset="facts"), tmp_path / "runs")
    done = goldassay("runs", "scores", "runs")
    assert states(done.out, "60 examples, 50 in common", "large lacks 10")
    assert "50.00 (50 of 60)" in done.out
    assert "large on facts, paired: 1 run x 50 examples" in goldassay("runs", "show", "runs").out


def test_intervals_of_two_examples_stay_within_what_a_score_can_be(tmp_path: Path) -> None:
    for runs in (1, 3):
        write_runs(Runs.from_arrays(scores=np.tile([1.0, 0.0], (runs, 1)), model="small"), tmp_path / str(runs))
        (found,) = score_runs(tmp_path / str(runs)).sets
        assert found.examples_low is not None
        assert found.examples_high is not None
        assert 0 <= found.examples_low < 0.5 < found.examples_high <= 1


def test_grades_are_named(goldassay: Command, tmp_path: Path) -> None:
    """The mean of 1 to 5, three of each, is 3.00, which is half of the scale."""
    lines = ["model,seed,dataset,example_id,score"]
    for model, step in (("judge", 1), ("other", 2)):
        lines += [f"{model},0,essays,e{i},{1 + i * step % 5}" for i in range(15)]
    (tmp_path / "one.csv").write_text("\n".join(line for line in lines if "other" not in line))
    (tmp_path / "two.csv").write_text("\n".join(lines))
    said = ("note", "grades from 1 to 5", "mean grades: judge on essays 3.00.")
    assert states(goldassay("runs", "scores", "one.csv", "--grades", "1:5").out, said)
    assert "50.00 points, mean grade 3.00" in goldassay("runs", "show", "one.csv", "--grades", "1:5").out
    for command in (("runs", "scores"), ("compare",)):
        done = goldassay(*command, "two.csv", "--grades", "1:5")
        assert states(done.out, "grades from 1 to 5", "judge 3.00, other 3.00.")


@pytest.mark.parametrize("runs", [1, 3])
def test_figures_are_those_of_instability_and_compare(goldassay: Command, tmp_path: Path, runs: int) -> None:
    write(tmp_path / "runs", runs)
    found = goldassay("runs", "scores", "runs", "--json", "scores.json")
    assert found.status == 0, found.err
    written = json.loads((tmp_path / "scores.json").read_text())
    table = package.measure_instability(tmp_path / "runs").tables
    rows = {(row["model"], row["dataset"]): row for row in table["instability"].to_dicts()}
    assert len(written["sets"]) == len(rows) == 4
    for each in written["sets"]:
        row = rows[each["model"], each["dataset"]]
        assert each["mean"] == row["mean"]
        over = "examples" if runs == 1 else "runs"
        assert (each[f"{over}_low"], each[f"{over}_high"]) == (row["mean_low"], row["mean_high"])
        if runs > 1:
            (drawn,) = (
                row
                for row in table["intervals"].to_dicts()
                if (row["model"], row["dataset"], row["figure"]) == (each["model"], each["dataset"], "mean")
            )
            assert (each["examples_low"], each["examples_high"]) == (drawn["examples_low"], drawn["examples_high"])
    compared = goldassay("compare", "runs", "--json", "compared.json")
    assert written["comparison"] == json.loads((tmp_path / "compared.json").read_text())
    assert found.out.endswith(compared.out)
    assert len(found.out.splitlines()) == 1 + 4 + 1 + len(compared.out.splitlines())


def test_what_cannot_be_read_is_named_and_the_others_are_compared(goldassay: Command, tmp_path: Path) -> None:
    write(tmp_path / "runs")
    for name in ("cancel", "error"):
        shutil.copy(LOGS / f"{name}.eval", tmp_path / "runs")
    found = goldassay("runs", "scores", "runs", "--json", "scores.json")
    assert found.status == 0, found.err
    left = [line for line in found.out.splitlines() if line.startswith("left out  ")]
    assert states(left[0], "1 of 5 examples", "seed fMQyPJYL", "no score", "status 'cancelled'")
    assert "mockllm/model on error" in left[1]
    written = json.loads((tmp_path / "scores.json").read_text())
    write(tmp_path / "alone")
    goldassay("compare", "alone", "--json", "compared.json")
    assert written["comparison"] == json.loads((tmp_path / "compared.json").read_text())
    kept = goldassay("runs", "scores", "runs", "--align", "intersect")
    assert "left out" not in kept.out


def test_one_model_and_nothing_to_read(goldassay: Command, refused: Callable[..., str], tmp_path: Path) -> None:
    write(tmp_path / "one", models=("large",))
    assert states(goldassay("runs", "scores", "one").out, "no comparison", "one model, large")
    shutil.copy(LOGS / "cancel.eval", tmp_path)
    assert "1 of 5 examples" in refused("runs", "scores", "cancel.eval", "--quiet")


def log(
    path: Path,
    model: str,
    run: str,
    n_right: int,
    *,
    n: int = 40,
    status: str = "success",
    of: int = 40,
    ids: bool = True,
) -> None:
    """A log of inspect_ai with scores for the first n of its samples."""
    samples: list[dict[str, Any]] = [
        {"id": f"s{i}", "epoch": 1, "scores": {"match": {"value": "C" if i < n_right else "I"}}} for i in range(n)
    ]
    dataset = {"samples": of, "sample_ids": [f"s{i}" for i in range(of)] if ids else None}
    about = {"eval_id": run, "task": "sums", "model": model, "dataset": dataset, "config": {"epochs": 1}}
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({"version": 2, "status": status, "eval": about}))
        archive.writestr("summaries.json", json.dumps(samples))


@pytest.mark.parametrize("align", [(), ("--align", "intersect")])
@pytest.mark.parametrize("ids", [True, False])
def test_a_cancelled_log_does_not_take_its_retry_with_it(
    goldassay: Command, refused: Callable[..., str], tmp_path: Path, align: tuple[str, ...], ids: bool
) -> None:
    """Scores and comparison are those of the folder without it; other commands refuse it by name."""
    log(tmp_path / "whole" / "a2.eval", "a", "second", 30)
    log(tmp_path / "whole" / "b.eval", "b", "third", 20)
    shutil.copytree(tmp_path / "whole", tmp_path / "logs")
    log(tmp_path / "logs" / "a1.eval", "a", "first", 30, n=30, status="cancelled", ids=ids)
    found = goldassay("runs", "scores", "logs", "--json", "scores.json", *align)
    assert found.status == 0, found.err
    (left,) = [line for line in found.out.splitlines() if line.startswith("left out")]
    assert "logs/a1.eval" in left
    assert "'cancelled', and 30 of 40 samples have a score" in left
    goldassay("runs", "scores", "whole", "--json", "whole.json", *align)
    scores, whole = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("scores", "whole"))
    assert scores["sets"] == whole["sets"]
    assert scores["comparison"] == whole["comparison"]
    assert [each["mean"] for each in scores["sets"]] == [0.75, 0.5]
    assert "logs/a1.eval" in refused("compare", "logs", *align)


def test_a_cancelled_log_without_ids_of_its_samples_is_named(goldassay: Command, tmp_path: Path) -> None:
    log(tmp_path / "logs" / "a.eval", "a", "first", 12, n=12, status="cancelled", ids=False)
    log(tmp_path / "logs" / "b.eval", "b", "second", 20)
    said = ("status 'cancelled'", "12 of 40 samples")
    found = goldassay("runs", "scores", "logs")
    assert [line.split()[1] for line in found.out.splitlines() if line.startswith("sums")] == ["b"]
    assert states(found.out, "left out", "a on sums: logs/a.eval", "seed first", "unfinished", said)
    listed = goldassay("runs", "list", "logs")
    assert states(listed.out, "run first of a on sums", "(logs/a.eval)", "unfinished", said)
    assert "unfinished" not in goldassay("runs", "list", "logs/b.eval").out
    assert (
        json.loads(goldassay("runs", "show", "logs", "--align", "intersect", "--json", "-", "--quiet").out)[0][
            "n_examples"
        ]
        == 12
    )


@pytest.mark.parametrize("n_right", [20, 21])
def test_a_copy_of_a_log_counts_once(goldassay: Command, tmp_path: Path, n_right: int) -> None:
    """One with other answers under the same name does not: both are named."""
    log(tmp_path / "logs" / "a.eval", "a", "first", 30)
    log(tmp_path / "logs" / "b.eval", "b", "second", 20)
    log(tmp_path / "logs" / "copy.eval", "b", "second", n_right)
    found = goldassay("runs", "scores", "logs")
    (left,) = [line for line in found.out.splitlines() if line.startswith("left out")]
    assert "logs/copy.eval" in left
    assert "logs/b.eval" in left
    scored = [line.split()[1:3] for line in found.out.splitlines() if line.startswith("sums")]
    assert scored == [["a", "75.00"], ["b", "50.00"]][: 2 if n_right == 20 else 1]


@pytest.mark.parametrize("kind", ["cut", "empty", "twice"])
def test_a_broken_log_does_not_stop_its_folder(
    goldassay: Command, refused: Callable[..., str], tmp_path: Path, kind: str
) -> None:
    log(tmp_path / "logs" / "a.eval", "a", "first", 30)
    log(tmp_path / "logs" / "b.eval", "b", "second", 20)
    broken = tmp_path / "logs" / "broken.eval"
    whole = (tmp_path / "logs" / "a.eval").read_bytes()
    broken.write_bytes(whole[: len(whole) // 2] if kind == "cut" else b"")
    if kind == "twice":
        with zipfile.ZipFile(tmp_path / "logs" / "a.eval") as archive, zipfile.ZipFile(broken, "w") as other:
            other.writestr("header.json", archive.read("header.json"))
            other.writestr("summaries.json", json.dumps(2 * json.loads(archive.read("summaries.json"))))
    found = goldassay("runs", "scores", "logs")
    assert found.status == 0
    assert [line.split()[1] for line in found.out.splitlines() if line.startswith("sums")] == ["a", "b"]
    (left,) = [line for line in found.out.splitlines() if line.startswith("left out")]
    assert left.startswith("left out  logs/broken.eval: ")
    assert "A  a: 75.00 points" in found.out
    listed = goldassay("runs", "list", "logs")
    assert listed.status == 2
    assert [line.split()[0] for line in listed.out.splitlines()[1:]] == ["a", "b"]
    assert left.removeprefix("left out  ") in listed.err
    shutil.copytree(tmp_path / "logs", tmp_path / "alone", ignore=shutil.ignore_patterns("?.eval"))
    assert "alone/broken.eval" in refused("runs", "scores", "alone")
    assert "broken.eval" in refused("runs", "scores", "logs/broken.eval", "logs/a.eval")


def test_examples_without_a_score_are_named(goldassay: Command, tmp_path: Path) -> None:
    rows = [{"id": f"e{at:02}", "label": "a", "prediction": None if at % 10 == 0 else "ab"[at % 2]} for at in range(50)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert "first e00, e10, e20)" in goldassay("runs", "scores", "a.jsonl").out


def test_examples_that_depend_on_each_other_widen_the_interval_of_several_runs(
    goldassay: Command, tmp_path: Path
) -> None:
    """Sixty groups of five that are right or wrong together count as sixty, at every door, of any number of runs."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(60), 5)
    right = (rng.random(60) < 0.7)[group].astype(np.float64)
    rows = [{"example_id": str(at), "text": " ".join(map(str, rng.integers(0, 9999, 8))), "label": "ab"[at % 2],
             "group": f"g{own}"}
            for at, own in enumerate(group.tolist())]  # fmt: skip
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    by_runs = {}
    for n in (1, 3):
        write_runs(Runs.from_arrays(scores=np.tile(right, (n, 1)), model="m", dataset="test"), tmp_path / str(n))
        assert goldassay("runs", "scores", str(n), "--test", "test.jsonl", "--json", f"{n}.json").status == 0
        (found,) = json.loads((tmp_path / f"{n}.json").read_text())["sets"]
        by_runs[n] = (found["examples_low"], found["examples_high"])
    half = 1.96 * np.sqrt(right.mean() * (1 - right.mean()) / 60)
    for low, high in by_runs.values():
        assert (high - low) / 2 == pytest.approx(half, rel=0.05)
    report = package.measure_instability(tmp_path / "3", test=tmp_path / "test.jsonl")
    (own,) = report.document["instability"]["intervals"]
    mean = next(each for each in own["figures"] if each["figure"] == "mean")
    assert (mean["examples_low"], mean["examples_high"]) == pytest.approx(by_runs[3])
