"""`goldassay sensitivity`: how far a score moves with the way of asking, at both doors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import chi2

import goldassay as package
from goldassay.core.errors import InputError
from goldassay.instability import configuration_spread
from tests.cli.run_files import goldassay, refused
from tests.stated import stated_by, states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.end_to_end.conftest import Outcome

    Command = Callable[..., Outcome]

__all__ = ["goldassay", "refused"]


def scores_of(shares: dict[str, float], repeats: int, n: int = 300, seed: int = 0) -> dict[str, np.ndarray[Any, Any]]:
    """Answers of each prompt, right by a skill that each example needs, so that repeats differ little."""
    rng = np.random.default_rng(seed)
    need = rng.random(n)
    return {
        prompt: (np.clip(need + 0.02 * rng.standard_normal((repeats, n)), 0, 1) < share).astype(float)
        for prompt, share in shares.items()
    }


def write(path: Path, made: dict[str, np.ndarray[Any, Any]], model: str = "mock") -> pl.DataFrame:
    rows = [
        {"id": f"e{i}", "model": model, "dataset": "mcq", "seed": seed, "config_prompt": prompt, "score": score}
        for prompt, scores in made.items()
        for seed, run in enumerate(scores.tolist())
        for i, score in enumerate(run)
    ]
    table = pl.DataFrame(rows)
    table.write_csv(path)
    return table


STEEP = {"a": 0.4, "b": 0.5, "c": 0.6, "d": 0.7, "e": 0.8, "f": 0.45}
FLAT = dict.fromkeys("abcdefghijkl", 0.7)


def word(done: Outcome) -> str:
    assert done.status == 0, done.err
    return done.out.splitlines()[0].removeprefix("Sensitivity").strip()


def test_prompts_that_move_the_score(goldassay: Command, tmp_path: Path) -> None:
    made = scores_of(STEEP, 3)
    write(tmp_path / "runs.csv", made)
    done = goldassay("sensitivity", "runs.csv", "--claim", "1.2", "--json", "found.json")
    assert word(done) == "UNSOUND"
    assert states(done.out, "claim", "1.2 points", "no more than", "another configuration")
    found = json.loads((tmp_path / "found.json").read_text())
    wanted = configuration_spread(list(made.values()))
    (one,) = found["models"]
    assert one["spread"]["sd"] == pytest.approx(wanted.sd)
    assert one["spread"]["sd_interval"]["low"] == pytest.approx(wanted.sd_interval.low if wanted.sd_interval else None)
    assert one["configurations"][one["spread"]["best"]] == "prompt=e"
    assert one["settings"] == ["prompt"]
    # The same through Python.
    report = package.measure_sensitivity(str(tmp_path / "runs.csv"), claim=1.2)
    assert report.verdicts["sensitivity"]["verdict"] == "unsound"
    assert report.tables["configurations"]["mean"].to_list() == pytest.approx(list(wanted.means))


def test_prompts_that_do_not(goldassay: Command, tmp_path: Path) -> None:
    write(tmp_path / "runs.csv", scores_of(FLAT, 3, n=2000))
    done = goldassay("sensitivity", "runs.csv", "--claim", "15")
    assert word(done) == "SOUND"
    assert "This holds for these 12 configurations." in done.out
    assert "15 points: more than another configuration does" in done.out


def test_means_of_prompts_are_no_configurations(refused: Callable[..., str], tmp_path: Path) -> None:
    """A row a paraphrase, a column a model, as the paper publishes them: a board, whose means chance may have moved."""
    means = {"paraphrase idx": range(1, 31), "a_acc": [0.4, 0.5, 0.6] * 10, "b_acc": [0.5, 0.3] * 15}
    pl.DataFrame(means).write_csv(tmp_path / "task.csv")
    assert "goldassay board task.csv shows" in refused("sensitivity", "task.csv")
    for name in ("b", "a"):
        (tmp_path / "tasks").mkdir(exist_ok=True)
        pl.DataFrame(means).write_csv(tmp_path / "tasks" / f"{name}.csv")
    assert "goldassay board tasks/a.csv shows" in refused("sensitivity", "tasks")
    assert refused("board", "tasks").endswith("goldassay board tasks/a.csv")
    found = package.look(tmp_path / "task.csv")
    assert (found.kind, found.roles) == ("board", {"item": "paraphrase idx"})


def test_copies_are_not_sound(goldassay: Command, tmp_path: Path) -> None:
    """One run under twelve names of prompts has no spread, and shows nothing."""
    run = scores_of({"a": 0.7}, 1)["a"]
    write(tmp_path / "runs.csv", {name: np.repeat(run, 2, axis=0) for name in FLAT})
    done = goldassay("sensitivity", "runs.csv")
    assert word(done) == "UNRESOLVED"
    assert states(done.out, "12 configurations", "differ so little", "one counts")
    assert "more than 5 % of the examples that both get wrong" in done.out


@pytest.mark.parametrize("claim", ["0.01", "99"])
def test_no_claim_exceeds_a_spread_of_copies(goldassay: Command, tmp_path: Path, claim: str) -> None:
    """Five names of one run, and five runs that differ by an example each: nothing is known of other ways of asking."""
    run = np.repeat(scores_of({"a": 0.7}, 1)["a"], 3, axis=0)
    near = {name: run.copy() for name in "abcde"}
    for at, scores in enumerate(near.values()):
        scores[:, at] = 1 - scores[:, at]
    for made in (dict.fromkeys("abcde", run), near):
        write(tmp_path / "runs.csv", made)
        done = goldassay("sensitivity", "runs.csv", "--claim", claim, "--json", "found.json", "-o", "out")
        assert word(done) == "UNRESOLVED"
        assert "points: more than another" not in done.out
        (one,) = json.loads((tmp_path / "found.json").read_text())["models"]
        assert one["claim"] != "exceeds"
        if claim == "99":
            assert one["claim"] == "undecided"
            assert "that they count as one: " in one["claim_open"]
            assert f"which these runs leave open. {one['claim_open']}" in done.out
            assert one["claim_open"] in (tmp_path / "out" / "report.html").read_text()


def test_a_claim_exceeds_nothing_of_a_model_that_may_know_nothing(goldassay: Command, tmp_path: Path) -> None:
    write(tmp_path / "runs.csv", scores_of(FLAT, 3, n=12))
    done = goldassay("sensitivity", "runs.csv", "--claim", "90", "--json", "found.json")
    assert done.status == 0, done.err
    (one,) = json.loads((tmp_path / "found.json").read_text())["models"]
    assert one["claim"] == "undecided"
    assert states(one["claim_open"], "12.0 effective clusters", 20)


def test_a_model_that_knows_nothing_is_not_sound(goldassay: Command, tmp_path: Path) -> None:
    """It says yes nearly always, whatever it is asked: steady, and worth nothing."""
    rng = np.random.default_rng(0)
    gold = rng.random(900) < 0.6
    rows = [
        {
            "id": f"e{i}", "model": "mock", "dataset": "mcq", "seed": seed, "config_prompt": prompt,
            "label": "yes" if gold[i] else "no", "prediction": "no" if no else "yes",
        }
        for prompt in FLAT
        for seed in (1, 2, 3)
        for i, no in enumerate((rng.random(900) < 0.1).tolist())
    ]  # fmt: skip
    pl.DataFrame(rows).write_csv(tmp_path / "runs.csv")
    done = goldassay("sensitivity", "runs.csv")
    assert word(done) == "UNRESOLVED"
    assert "Nothing shows that the model knows anything." in done.out


def test_without_repeats_chance_and_configuration_are_one_number(goldassay: Command, tmp_path: Path) -> None:
    write(tmp_path / "runs.csv", scores_of(STEEP, 1))
    done = goldassay("sensitivity", "runs.csv")
    assert word(done) == "UNSOUND"
    assert "No configuration was repeated" in done.out
    assert "repeats included" in done.out


@pytest.mark.parametrize("repeats", [1, 3])
def test_few_configurations_show_that_a_score_moves_and_never_that_it_does_not(
    goldassay: Command, tmp_path: Path, repeats: int
) -> None:
    write(tmp_path / "far.csv", scores_of({"a": 0.1, "b": 0.9}, repeats))
    assert word(goldassay("sensitivity", "far.csv")) == "UNSOUND"
    for name, prompts in (("near", {"a": 0.7, "b": 0.701}), ("equal", dict.fromkeys("abcd", 0.7))):
        write(tmp_path / f"{name}.csv", scores_of(prompts, repeats, n=3000))
        done = goldassay("sensitivity", f"{name}.csv")
        assert word(done) == "UNRESOLVED"
        assert f"Ask in {5 - len(prompts)} more way" in done.out
        assert "at least 5" in done.out


def test_orders_of_models_that_change(goldassay: Command, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    write(tmp_path / "runs/one.csv", scores_of({"a": 0.4, "b": 0.8}, 2), "one")
    write(tmp_path / "runs/two.csv", scores_of({"a": 0.6, "b": 0.6}, 2), "two")
    write(tmp_path / "runs/three.csv", scores_of({"a": 0.1}, 2), "three")
    done = goldassay("sensitivity", "runs")
    assert "order: 1 of 1 pairs of models change it" in done.out
    assert "left out, with one configuration: three on mcq" in done.out
    only = goldassay("sensitivity", "runs", "--model", "two")
    assert "one on mcq" not in only.out
    assert "two on mcq" in only.out


def test_items_may_come_in_any_order(goldassay: Command, tmp_path: Path) -> None:
    table = write(tmp_path / "runs.csv", scores_of(STEEP, 2))
    straight = goldassay("sensitivity", "runs.csv").out.splitlines()
    parts = table.partition_by("config_prompt", maintain_order=True)
    turned = [part.sort("id", descending=place % 2 == 0) for place, part in enumerate(parts)]
    pl.concat(turned).write_csv(tmp_path / "runs.csv")
    again = goldassay("sensitivity", "runs.csv").out.splitlines()
    # Folds follow the order of the first configuration, and with them what is picked on other examples.
    same = [(one, other) for one, other in zip(straight, again, strict=True) if "picked" not in one]
    assert all(one == other for one, other in same)


def test_what_is_refused(refused: Callable[..., str], tmp_path: Path) -> None:
    table = write(tmp_path / "runs.csv", scores_of({"a": 0.4, "b": 0.8}, 1, n=20))
    assert "there are no runs with model 'x'; there are mock" in refused("sensitivity", "runs.csv", "--model", "x")
    for claim in ("0", "-1", "nan", "inf"):
        assert "--claim is " in refused("sensitivity", "runs.csv", f"--claim={claim}")
    with pytest.raises(InputError, match="claim is inf; give a finite number, more than 0"):
        package.measure_sensitivity(str(tmp_path / "runs.csv"), claim=float("inf"))
    table.filter(pl.col("config_prompt") == "a").write_csv(tmp_path / "one.csv")
    assert states(refused("sensitivity", "one.csv"), "one configuration", "at least two")
    table.filter((pl.col("config_prompt") == "a") | (pl.col("id") != "e3")).write_csv(tmp_path / "uneven.csv")
    assert "20 examples, 19 in common" in refused("sensitivity", "uneven.csv")


def test_every_door_gives_the_same_figures(goldassay: Command, tmp_path: Path) -> None:
    """The file of results, the report, its figures and tables, the page and Python say one thing."""
    write(tmp_path / "runs.csv", scores_of(STEEP, 3))
    done = goldassay("sensitivity", "runs.csv", "--claim", "1.2", "--json", "found.json", "-o", "out")
    assert word(done) == "UNSOUND"
    study = json.loads((tmp_path / "found.json").read_text())
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    spread = study["models"][0]["spread"]
    assert report["verdicts"]["sensitivity"]["verdict"] == study["verdict"]["verdict"] == "unsound"
    (row,) = report["sensitivity"]["results"]
    assert (row["sd"], row["sd_low"]) == (spread["sd"], spread["sd_interval"]["low"])
    figures = {each["id"]: each for each in report["figures"]}
    assert figures["sensitivity.sd"]["value"] == spread["sd"]
    assert figures["sensitivity.range"]["high"] == spread["range_interval"]["high"]
    assert figures["sensitivity.best"]["value"] == spread["best_score"]["mean"]
    assert pl.read_parquet(tmp_path / "out/tables/sensitivity.parquet")["sd"].to_list() == [spread["sd"]]
    assert f"{100 * spread['sd']:.2f}" in (tmp_path / "out" / "report.html").read_text()
    python = package.measure_sensitivity(str(tmp_path / "runs.csv"), claim=1.2).to_dict()
    assert python["figures"] == report["figures"]
    assert python["digest"] == report["digest"]


@pytest.fixture
def specimen(goldassay: Command, tmp_path: Path) -> pl.DataFrame:
    assert goldassay("specimen", "-o", "data", "--size", "2000", "--test-size", "300", "-q").status == 0
    # What is asked here are the runs: a part of the training rows says as much.
    pl.read_ndjson(tmp_path / "data" / "train.jsonl").head(300).write_ndjson(tmp_path / "data" / "train.jsonl")
    return pl.read_ndjson(tmp_path / "data" / "test.jsonl")


def answered(test: pl.DataFrame, made: dict[str, np.ndarray[Any, Any]], model: str = "mock") -> pl.DataFrame:
    """Answers to a specimen's test part: its labels where a score is 1, else another label."""
    labels = test["label"].to_list()
    other = {name: labels[0] if name != labels[0] else next(each for each in labels if each != name) for name in labels}
    return pl.DataFrame(
        {
            "id": test["id"], "label": test["label"], "model": model, "dataset": "test", "seed": seed,
            "config_prompt": prompt,
            "prediction": [name if right else other[name] for name, right in zip(labels, run.tolist(), strict=True)],
        }
        for prompt, scores in made.items() for seed, run in enumerate(scores)
    ).explode("id", "label", "prediction")  # fmt: skip


def audited(goldassay: Command, tmp_path: Path, *runs: str, more: tuple[str, ...] = ()) -> dict[str, Any]:
    (tmp_path / "short.toml").write_text("leakage.seeds = 2")
    asked = [part for file in runs for part in ("--runs", file)]
    given = ("audit", "data/train.jsonl", "--test", "data/test.jsonl", "--settings", "short.toml")
    done = goldassay(*given, *asked, *more, "-o", "audited", "-q")
    assert done.status == 0, done.err
    document: dict[str, Any] = json.loads((tmp_path / "audited" / "report.json").read_text())
    return document


def test_an_audit_asks_it_of_runs_in_several_configurations(
    goldassay: Command, tmp_path: Path, specimen: pl.DataFrame
) -> None:
    answered(specimen, scores_of(STEEP, 3)).write_csv(tmp_path / "runs.csv")
    document = audited(goldassay, tmp_path, "runs.csv")
    assert document["verdicts"]["sensitivity"]["verdict"] == "unsound"
    assert goldassay("sensitivity", "runs.csv", "--test", "data/test.jsonl", "-o", "alone", "-q").status == 0
    alone = json.loads((tmp_path / "alone" / "report.json").read_text())
    here, there = (
        {each["id"]: each["value"] for each in made["figures"] if each["id"].startswith("sensitivity.")}
        for made in (document, alone)
    )
    assert here == there
    assert document["sensitivity"]["results"] == alone["sensitivity"]["results"]
    page = (tmp_path / "audited" / "report.html").read_text()
    assert "How far scores move with the way of asking" in page
    (tmp_path / "policy.toml").write_text("[policy]\nmax_configuration_sd = 0.2\n")
    assert goldassay("check", "audited", "--policy", "policy.toml").status == 0
    (tmp_path / "policy.toml").write_text("[policy]\nmax_configuration_sd = 0.1\n")
    assert goldassay("check", "audited", "--policy", "policy.toml").status == 1


def test_an_audit_takes_configurations_for_repeats_only_where_it_is_told_to(
    goldassay: Command, tmp_path: Path, specimen: pl.DataFrame
) -> None:
    answered(specimen, scores_of(STEEP, 3)).write_csv(tmp_path / "runs.csv")
    document = audited(goldassay, tmp_path, "runs.csv", more=("--pool-configurations",))
    assert "sensitivity" not in document["verdicts"]
    assert [each["n_runs"] for each in document["instability"]["results"]] == [3 * len(STEEP)]
    assert document["verdicts"]["instability"]["verdict"] != "sound"


def test_an_audit_is_silent_of_it_where_all_runs_are_of_one_configuration(
    goldassay: Command, tmp_path: Path, specimen: pl.DataFrame
) -> None:
    answered(specimen, scores_of({"a": 0.7}, 3)).write_csv(tmp_path / "runs.csv")
    assert "sensitivity" not in audited(goldassay, tmp_path, "runs.csv")["verdicts"]


def test_an_audit_names_configurations_that_do_not_fit(
    goldassay: Command, tmp_path: Path, specimen: pl.DataFrame
) -> None:
    made = answered(specimen, scores_of(FLAT, 3))
    odd = (pl.col("config_prompt") == "c") & pl.col("id").is_in(specimen["id"][:100].to_list())
    made.filter(~odd).write_csv(tmp_path / "runs.csv")
    verdict = audited(goldassay, tmp_path, "runs.csv")["verdicts"]["sensitivity"]
    assert verdict["verdict"] == "not measurable"
    assert states(stated_by(verdict), "ifferent examples of test", "300 examples", "200 in common")


def test_a_model_asked_in_one_way_keeps_others_from_being_sound(goldassay: Command, tmp_path: Path) -> None:
    flat = write(tmp_path / "flat.csv", scores_of(FLAT, 3))
    assert word(goldassay("sensitivity", "flat.csv")) == "SOUND"
    one = write(tmp_path / "one.csv", scores_of({"a": 0.7}, 3), model="other")
    pl.concat([flat, one]).write_csv(tmp_path / "both.csv")
    done = goldassay("sensitivity", "both.csv")
    assert word(done) == "UNRESOLVED"
    assert "Only one configuration was given of other on mcq." in done.out


def test_few_examples_are_not_sound(goldassay: Command, tmp_path: Path) -> None:
    """Each way of asking fails another one of a dozen examples: the scores are equal, and tell little."""
    failed = {prompt: np.tile(np.arange(12) != at, (3, 1)).astype(float) for at, prompt in enumerate(FLAT)}
    write(tmp_path / "few.csv", failed)
    done = goldassay("sensitivity", "few.csv")
    assert word(done) == "UNRESOLVED"
    assert states(done.out, "12.0 effective clusters", 20)
    more = {prompt: np.tile(np.arange(200) != at, (3, 1)).astype(float) for at, prompt in enumerate(FLAT)}
    write(tmp_path / "more.csv", more)
    assert word(goldassay("sensitivity", "more.csv")) == "SOUND"


def test_equal_scores_are_not_known_to_be_equal(goldassay: Command, tmp_path: Path) -> None:
    """Twelve ways of asking fail another one of 24 examples each: by chance they might as well have failed the same."""
    failed = {prompt: np.tile(np.arange(24) != at, (3, 1)).astype(float) for at, prompt in enumerate(FLAT)}
    write(tmp_path / "few.csv", failed)
    done = goldassay("sensitivity", "few.csv", "--json", "found.json")
    assert word(done) == "UNRESOLVED"
    (one,) = json.loads((tmp_path / "found.json").read_text())["models"]
    # Flips that know nothing of each other: 12 examples, each failed by one of 12.
    assert one["spread"]["sd_interval"]["high"] == pytest.approx(
        np.sqrt(12 * (1 / 12) / 24**2 * 11 / chi2.ppf(0.025, 11))
    )


def test_the_gate_holds_its_limits(goldassay: Command, tmp_path: Path) -> None:
    write(tmp_path / "runs.csv", scores_of(STEEP, 3))
    assert goldassay("sensitivity", "runs.csv", "-o", "out", "-q").status == 0
    (tmp_path / "strict.toml").write_text('[policy]\nmax_configuration_sd = 0.1\nworst_verdict = "caution"\n')
    strict = goldassay("check", "out", "--policy", "strict.toml")
    assert strict.status == 1
    assert "SD of the score over configurations is 15.0 points" in strict.out
    assert "verdict is unsound (sensitivity)" in strict.out
    (tmp_path / "loose.toml").write_text("[policy]\nmax_configuration_sd = 0.2\n")
    assert goldassay("check", "out", "--policy", "loose.toml").status == 0
    assert "no change of a measure is significant" in goldassay("diff", "out", "out", "-o", "diff").out


def test_limits_of_the_settings_decide_and_are_named(goldassay: Command, tmp_path: Path) -> None:
    write(tmp_path / "runs.csv", scores_of(STEEP, 3))
    (tmp_path / "loose.toml").write_text("[verdicts.sensitivity]\ncaution_sd = 0.5\nunsound_sd = 0.6\n")
    done = goldassay("sensitivity", "runs.csv", "--settings", "loose.toml", "-o", "out")
    assert "Sensitivity  SOUND" in done.out.splitlines()
    assert states(done.out, "loose.toml", "caution_sd = 0.5", "0.01", "unsound_sd = 0.6", "0.03")
    verdict = json.loads((tmp_path / "out" / "report.json").read_text())["verdicts"]["sensitivity"]
    assert "unsound_sd = 0.6 (default 0.03)" in verdict["limits"]
    (tmp_path / "mixed.toml").write_text("[verdicts.sensitivity]\ncaution_sd = 0.5\n")
    refused = goldassay("sensitivity", "runs.csv", "--settings", "mixed.toml")
    assert refused.status == 2
    assert "sensitivity (0.5) is above that for unsound (0.03)" in refused.err


def test_a_run_that_is_there_twice_is_refused(refused: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    made = scores_of(FLAT, 3)
    write(tmp_path / "runs" / "1.csv", made)
    write(tmp_path / "runs" / "2.csv", {"a": 1 - made["a"]})
    line = refused("sensitivity", "runs")
    assert "2.csv: the run with seed 0 is there twice" in line
    assert "1.csv: remove one of them" in line


@pytest.mark.parametrize("second", ["a ", " a"])
def test_prompts_that_differ_in_spaces_alone_are_refused(
    refused: Callable[..., str], tmp_path: Path, second: str
) -> None:
    """They are one configuration, so that the second one's runs are those of the first once more."""
    write(tmp_path / "runs.csv", scores_of({**FLAT, second: 0.2}, 3))
    line = refused("sensitivity", "runs.csv")
    assert states(line, "runs.csv", "seed 0", "twice", "this file")


def test_numbers_that_are_written_in_two_ways_are_refused(refused: Callable[..., str], tmp_path: Path) -> None:
    table = write(tmp_path / "runs.csv", scores_of({"0.5": 0.7, "1": 0.7, "1.0": 0.2, "2": 0.7}, 2))
    table.rename({"config_prompt": "config_temperature"}).write_csv(tmp_path / "runs.csv")
    assert "seed 0 is there twice; both are in this file" in refused("sensitivity", "runs.csv")


def test_answers_without_a_score_are_said_of_each_configuration(goldassay: Command, tmp_path: Path) -> None:
    """By the numbers of the examples in their order: as texts 10 stands before 5."""
    prompts = {"plain": 5, "cot": 10, "few": 1000}
    pl.DataFrame(
        [
            {"id": at, "model": "m", "config_prompt": name, "label": "ab"[at % 2],
             "prediction": None if at and at % every == 0 else "ab"[at % 2 if at % 3 else 0]}
            for name, every in prompts.items() for at in range(60)
        ]
    ).write_ndjson(tmp_path / "runs.jsonl")  # fmt: skip
    said = goldassay("sensitivity", "runs.jsonl").out
    assert said.count("  note  ") == 2
    assert states(said, "prompt=plain", "11 of 60", "first 5, 10, 15)")
    assert states(said, "prompt=cot", "5 of 60", "first 10, 20, 30)")


def test_a_refusal_names_the_column_that_tells_configurations_apart(tmp_path: Path) -> None:
    rows = [
        {"id": item, "wording": wording, "style": "x", "correct": int((item * 7 + len(wording)) % 3 > 0)}
        for item in range(40)
        for wording in ("a", "bb")
    ]
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError) as caught:
        package.measure_sensitivity(str(path))
    assert "columns={'configuration': 'wording'}" in str(caught.value)
    package.measure_sensitivity(str(path), columns={"configuration": "wording"})
