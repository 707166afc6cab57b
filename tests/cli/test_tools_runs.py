"""`goldassay runs` and `goldassay instability` on what other tools wrote."""

from __future__ import annotations

import json
import pickle
import shutil
import statistics
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.run_files import goldassay, refused
from tests.stated import Fact, states

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.end_to_end.conftest import Outcome

    Command = Callable[..., Outcome]

__all__ = ["goldassay", "refused"]

WRITTEN = Path(__file__).parents[1] / "runs" / "fixtures"
GOLD = ("--test", f"hard={WRITTEN / 'trainer' / 'hard_gold.tsv'}")


@pytest.mark.parametrize(
    ("name", "options", "files", "sd"),
    [
        ("inspect_ai/capitals.eval", (), 3, 25.17),
        ("lm_eval/made-up__tiny", ("--dataset", "made_up_choice"), 2, 23.57),
        ("trainer/tiny-bert", GOLD, 18, 30.05),
    ],
)
def test_show_import_and_report(
    goldassay: Command, tmp_path: Path, name: str, options: tuple[str, ...], files: int, sd: float
) -> None:
    shown = goldassay("runs", "show", WRITTEN / name, *options)
    assert f"SD {sd:.2f}" in shown.out, shown.err
    imported = goldassay("runs", "import", WRITTEN / name, *options, "-o", "store")
    assert imported.status == 0, imported.err
    assert len(list((tmp_path / "store").iterdir())) == files
    reported = goldassay("instability", "store", "-o", "out", "--quiet")
    assert reported.status == 0, reported.err
    results = json.loads((tmp_path / "out/report.json").read_text())["instability"]["results"]
    assert max(row["sd"] for row in results) == pytest.approx(sd / 100, abs=5e-5)


def test_curves_beside_predictions_and_alone(goldassay: Command, refused: Callable[..., str], tmp_path: Path) -> None:
    both = goldassay("instability", WRITTEN / "trainer/tiny-bert", *GOLD, "-o", "both", "--quiet")
    assert both.status == 0, both.err
    moves = json.loads((tmp_path / "both/report.json").read_text())["instability"]["trajectories"]
    assert [(move["name"], len(move["points"])) for move in moves] == [("plain", 4), ("hard, accuracy as logged", 6)]
    for file in (WRITTEN / "trainer/tiny-bert").glob("*/trainer_state.json"):
        folder = tmp_path / "logs/tiny-bert" / file.parent.name
        folder.mkdir(parents=True)
        shutil.copy(file, folder)
    shown = goldassay("runs", "show", "logs", "--dataset", "plain", "--json", "shown.json")
    assert states(shown.out, "tiny-bert on plain", "accuracy", "without predictions", "3 runs x 6 checkpoints")
    assert json.loads((tmp_path / "shown.json").read_text())[0]["checkpoints"] == [8, 16, 24, 32, 40, 48]
    alone = goldassay("instability", "logs", "-o", "alone")
    assert alone.status == 0, alone.err
    document = json.loads((tmp_path / "alone/report.json").read_text())
    assert document["verdicts"]["instability"]["verdict"] == "unsound"
    assert [row["n_runs"] for row in document["instability"]["results"]] == [3, 3]
    assert len(document["instability"]["trajectories"]) == 2
    assert "no predictions" in (tmp_path / "alone/report.html").read_text()
    assert "--groups needs predictions" in refused("instability", "logs", "--groups", "genre")
    assert "no predictions" in refused("runs", "import", "logs", "-o", "store")
    assert "needs at least two" in refused("instability", "logs/tiny-bert/seed_1")


def hostile(tmp_path: Path, name: str) -> Path:
    path = tmp_path / name
    whole = (WRITTEN / "inspect_ai/capitals.eval").read_bytes()
    if name == "cut.eval":
        path.write_bytes(whole[:-200])
    elif name == "bomb.eval":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            archive.writestr("header.json", '{"eval": {"model": "m", "task": "t"}}')
            with archive.open("summaries.json", "w", force_zip64=True) as member:
                for _ in range(300):
                    member.write(b" " * (1 << 20))
    elif name == "bare.eval":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("header.json", '{"eval": {"model": "m", "task": "t"}}')
    elif name == "pickle.eval":
        path.write_bytes(pickle.dumps([1]))
    return path


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cut.eval", "damaged or cut short"),
        ("bomb.eval", "summaries.json unpacks to more than 256 MB"),
        ("bare.eval", "the log has no summaries of samples"),
        ("pickle.eval", ("pickle", "refused")),
    ],
)
def test_hostile_files_are_refused_in_one_line(
    refused: Callable[..., str], tmp_path: Path, name: str, said: Fact
) -> None:
    assert states(refused("runs", "show", hostile(tmp_path, name).name), said)


def test_scores_alone_are_reported_and_shown(goldassay: Command, tmp_path: Path) -> None:
    rows = "".join(f"Run {i},0.{80 + i % 3},0.{50 + i}\n" for i in range(6))
    (tmp_path / "scores.csv").write_text(f"Run,MNLI,HANS\n{rows}Mean,0.81,0.525\n")
    done = goldassay("instability", "scores.csv", "-o", "report", "--quiet")
    assert done.status == 0, done.err
    section = json.loads((tmp_path / "report/report.json").read_text())["instability"]
    assert [(row["name"], row["n_runs"]) for row in section["results"]] == [("MNLI", 6), ("HANS", 6)]
    assert section["note"].endswith("scores: 1 rows of no run are left out.")
    assert section["correlations"][0]["over"] == "runs"
    for given, mend in ((("--reference", "MNLI"), "row or column n"), (("--reference", "x"), "there are MNLI, HANS")):
        done = goldassay("instability", "scores.csv", *given)
        assert (done.status, mend in done.line) == (2, True)
    with (tmp_path / "scores.csv").open("a") as file:
        file.write("n,9815,30000\n")
    done = goldassay("instability", "scores.csv", "--reference", "MNLI", "-o", "normalized", "--quiet")
    assert done.status == 0, done.err
    own, other = json.loads((tmp_path / "normalized/report.json").read_text())["instability"]["deviations"]["rows"]
    assert (own["dataset"], own["recommended"], own["low"]) == ("MNLI", 1.0, None)
    sds = [statistics.stdev(float(row.split(",")[at]) for row in rows.splitlines()) for at in (1, 2)]
    ratio = sds[1] / sds[0] * (30000 / 9815) ** 0.5
    assert other["recommended"] == pytest.approx(ratio)
    assert other["low"] < ratio < other["high"]
    refused = goldassay("compare", "scores.csv", "scores.csv")
    assert (refused.status, states(refused.line, "table of each run's scores", "no predictions")) == (2, True)
