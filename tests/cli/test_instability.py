"""`goldassay instability`: the report, what is printed, what is refused; once as a process."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from goldassay.cli.main import run
from goldassay.instability import score_one_run
from tests.cli.run_files import goldassay, long_table, refused, write_checkpoints
from tests.end_to_end.conftest import Outcome
from tests.end_to_end.conftest import goldassay as process
from tests.stated import Fact, stated_by, states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Outcome]

__all__ = ["goldassay", "process", "refused"]


def test_the_published_hans_runs(goldassay: Command, data_dir: Path, tmp_path: Path) -> None:
    done = goldassay(
        "instability", data_dir / "predictions/instability_bert_base/hans.preds.tsv.gz",
        "--test", data_dir / "hans/hans_gold_by_position.tsv.gz",
        "--labels", "0=contradiction,1=entailment,2=neutral", "--align", "position",
        "--groups", "subcase", "-o", "report", "--json", "copy.json",
    )  # fmt: skip
    assert done.status == 0, done.err
    assert "UNSOUND" in done.out
    assert states(done.out, "30,000 examples", "137 independent")
    assert "58 % of the variance is between subcases" in done.out
    assert done.out.splitlines()[-1] == "report/report.html"
    document = json.loads((tmp_path / "copy.json").read_text())
    assert document == json.loads((tmp_path / "report/report.json").read_text())
    (row,) = document["instability"]["results"]
    assert 100 * row["mean"] == pytest.approx(62.30733, abs=5e-6)
    assert 100 * row["sd"] == pytest.approx(1.514117, abs=5e-7)
    assert row["design_effect"] == pytest.approx(218.3638, abs=5e-5)
    assert round(row["effective_size"]) == 137
    (groups,) = document["instability"]["groups"]
    assert groups["column"] == "subcase"
    assert 1e4 * groups["within"] == pytest.approx(0.955284, abs=5e-7)
    assert 1e4 * groups["between"] == pytest.approx(1.326768, abs=5e-7)
    (examples,) = document["instability"]["examples"]
    assert (examples["n_always_right"], examples["n_always_wrong"]) == (16098, 8773)
    assert examples["n_pairs_at_most"] == 2117


def test_a_folder_of_checkpoints(goldassay: Command, tmp_path: Path) -> None:
    write_checkpoints(tmp_path / "runs")
    done = goldassay("instability", "runs", "--reference", "standard", "-o", "report", "--seed", "3")
    assert done.status == 0, done.err
    report = tmp_path / "report"
    assert {path.name for path in report.iterdir()} == {
        "report.html", "report.json", "timing.json", "report.md", "tables", "figures",
    }  # fmt: skip
    assert {path.stem for path in (report / "figures").iterdir()} >= {
        "instability_scores", "instability_trajectories", "instability_correlations", "instability_examples",
    }  # fmt: skip
    assert {path.stem for path in (report / "tables").glob("*.parquet")} == {
        "instability", "intervals", "seeds_needed", "instability_groups", "normalized_deviations", "model_selection",
        "trajectories", "dataset_correlations", "examples", "covarying_pairs",
    }  # fmt: skip
    assert pl.read_parquet(report / "tables/examples.parquet").height == 4 * 60
    document = json.loads((report / "report.json").read_text())
    assert document["settings"]["seed"] == 3
    assert set(document["verdicts"]) == {"instability"}

    again = goldassay("instability", "runs", "--reference", "standard", "-o", "again", "--seed", "3", "--quiet")
    assert (again.out, again.err) == ("", "")
    assert (tmp_path / "again/report.json").read_bytes() == (report / "report.json").read_bytes()


def test_files_of_one_run_each_make_one_set(process: Command, tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        long_table(seeds=(seed,)).write_csv(tmp_path / f"seed_{seed}.csv")
    done = process("instability", "seed_1.csv", "seed_2.csv", "seed_3.csv", "-o", "report")
    assert done.status == 0, done.err
    document = json.loads((tmp_path / "report/report.json").read_text())
    assert [row["n_runs"] for row in document["instability"]["results"]] == [3]
    (caveat,) = document["instability"]["caveats"]
    assert caveat.startswith("With 3 runs the spread over runs is a rough guess")
    for shown in (done.out, *((tmp_path / "report" / name).read_text() for name in ("report.html", "report.md"))):
        assert shown.count(caveat) == 1


def test_texts_of_pairs_from_the_dataset(goldassay: Command, tmp_path: Path) -> None:
    table = long_table(label=False, n=30)
    table.write_csv(tmp_path / "mine.csv")
    labels = ("entailment", "neutral", "contradiction")
    rows = [
        {"id": f"e{i}", "premise": f"A <b>person</b> {i}.", "hypothesis": f"Number {i}.", "label": labels[i % 3]}
        for i in range(30)
    ]  # fmt: skip
    pl.DataFrame(rows).write_ndjson(tmp_path / "test.jsonl")
    done = goldassay("instability", "mine.csv", "--test", "toy=test.jsonl", "-o", "report", "--quiet")
    assert done.status == 0, done.err
    page = (tmp_path / "report/report.html").read_text()
    assert "A &lt;b&gt;person&lt;/b&gt;" in page
    assert "<b>person</b>" not in page
    pairs = pl.read_parquet(tmp_path / "report/tables/covarying_pairs.parquet")
    assert {"premise_a", "hypothesis_b", "label_a"} <= set(pairs.columns)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--reference", "x"), ("reference 'x'", "toy")),
        (("--groups", "x"), ("group column 'x'", "--test")),
        (("--checkpoint", "7"), "there is no checkpoint '7'"),
        (("--test", "nowhere.jsonl"), "nowhere.jsonl: there is no such file"),
    ],
)
def test_options_that_do_not_fit(
    refused: Callable[..., str], tmp_path: Path, options: tuple[str, ...], said: Fact
) -> None:
    long_table().write_csv(tmp_path / "mine.csv")
    assert states(refused("instability", "mine.csv", *options), said)
    assert not (tmp_path / "goldassay-instability").exists()


def test_one_run_has_a_score_with_an_interval_and_no_spread(goldassay: Command, tmp_path: Path) -> None:
    table = long_table(seeds=(1,))
    table.write_csv(tmp_path / "one.csv")
    done = goldassay("instability", "one.csv", "-o", "report")
    assert done.status == 0, done.err
    assert "NOT MEASURABLE" in done.out
    report = json.loads((tmp_path / "report/report.json").read_text())
    assert report["verdicts"]["instability"]["verdict"] == "not measurable"
    (row,) = report["instability"]["results"]
    right = table.filter(pl.col("prediction") == pl.col("label")).height / table.height
    alone = score_one_run((table["prediction"] == table["label"]).cast(pl.Float64).to_numpy())
    assert row["mean"] == pytest.approx(right)
    assert (row["mean_low"], row["mean_high"]) == pytest.approx((alone.interval.low, alone.interval.high))
    assert "sd" not in row
    # The same at every door: figures, sentences and the page.
    (figure,) = [each for each in report["figures"] if each["id"].startswith("instability.mean")]
    assert (figure["low"], figure["high"]) == pytest.approx((alone.interval.low, alone.interval.high))
    assert f"scores {100 * right:.2f} points" in stated_by(report["verdicts"]["instability"])
    assert states((tmp_path / "report/report.html").read_text(), "One run: its score", "other examples")


def test_examples_of_one_premise_count_together(goldassay: Command, tmp_path: Path) -> None:
    """Four examples a premise, all right or all wrong: the interval is twice as wide as of so many by themselves."""
    rows = [
        {"id": f"e{i}", "premise": f"Premise {i // 4} of its own.", "hypothesis": f"Claim {i} is made.", "label": "yes"}
        for i in range(400)
    ]
    pl.DataFrame(rows).write_ndjson(tmp_path / "test.jsonl")
    scores = [{"id": f"e{i}", "model": "m", "dataset": "d", "score": float(i // 4 % 3 > 0)} for i in range(400)]
    pl.DataFrame(scores).write_csv(tmp_path / "one.csv")
    widths = {}
    for name, more in (("blind", ()), ("told", ("--test", "test.jsonl"))):
        done = goldassay("instability", "one.csv", *more, "-o", name, "--quiet")
        assert done.status == 0, done.err
        (row,) = json.loads((tmp_path / name / "report.json").read_text())["instability"]["results"]
        widths[name] = row["mean_high"] - row["mean_low"]
    assert widths["told"] == pytest.approx(2 * widths["blind"], rel=0.05)


def test_one_run_of_several_models(goldassay: Command, tmp_path: Path) -> None:
    long_table(models=("a1", "a2"), seeds=(1,)).write_csv(tmp_path / "two.csv")
    done = goldassay("instability", "two.csv")
    assert done.status == 0, done.err
    assert "NOT MEASURABLE" in done.out
    assert goldassay("instability", "two.csv", "--model", "a*", "--quiet").status == 0


def test_figures_and_tables_for_papers(goldassay: Command, tmp_path: Path) -> None:
    long_table().write_csv(tmp_path / "mine.csv")
    done = goldassay("instability", "mine.csv", "-o", "report", "--figures", "pdf", "--latex", "--quiet")
    assert done.status == 0, done.err
    names = {path.name for path in (tmp_path / "report/paper").iterdir()}
    assert names == {"scores.pdf", "decomposition.pdf", "scores.tex", "decomposition.tex"}


def test_figures_without_what_draws_them_are_refused_at_once(
    refused: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from goldassay.report import paper

    monkeypatch.setattr(paper, "find_spec", lambda name: None)
    line = refused("instability", "nowhere.csv", "--figures", "pdf")
    assert states(line, "matplotlib", "not installed", "pip install 'goldassay[figures]'")


def test_an_interruption_keeps_what_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import goldassay.questions.instability.measuring as measuring
    from goldassay.report import paper
    from goldassay.report.report import Report

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    long_table().write_csv(tmp_path / "mine.csv")
    long_table(models=("a", "b")).write_csv(tmp_path / "two.csv")
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        measured: list[Any] = []

        def once(*arguments: Any) -> Any:
            if measured:
                raise KeyboardInterrupt
            measured.append(spread(*arguments))
            return measured[0]

        spread = measuring.measure_spread
        patch.setattr(measuring, "measure_spread", once)
        assert run(("instability", "two.csv", "-o", "half")) == 130
    assert states(capsys.readouterr().err, "1 of 2", "half")
    assert (tmp_path / "half/report.html").exists()
    with monkeypatch.context() as patch:
        patch.setattr(paper, "paper_files", interrupted)
        assert run(("instability", "mine.csv", "-o", "drawn", "--figures", "pdf")) == 130
    assert "the report is in drawn, without what is for papers" in capsys.readouterr().err
    save = Report.save

    def saving(self: Report, *arguments: Any) -> Path:
        signal.raise_signal(signal.SIGINT)
        return save(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Report, "save", saving)
        assert run(("instability", "mine.csv", "-o", "saved")) == 130
    assert "interrupted; the report is in saved" in capsys.readouterr().err
    assert (tmp_path / "saved/report.html").exists()
    with monkeypatch.context() as patch:
        patch.setattr(measuring, "measure_spread", interrupted)
        assert run(("instability", "mine.csv", "-o", "nothing")) == 130
    assert not (tmp_path / "nothing").exists()
