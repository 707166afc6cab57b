"""Boards by every door: the same scores in any shape give the same ranks, and what is no board is one line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs
from goldassay.stats.bootstrap import score_interval
from tests.board.test_ranking import answers
from tests.stated import Fact, in_order, states

if TYPE_CHECKING:
    from pathlib import Path

SYSTEMS = ("alpha", "beta", "gamma")


def values(n: int = 60, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.stack([answers(1, n, seed + at, skill)[0] for at, skill in enumerate((0.9, 0.6, 0.55))])


def wide(scores: np.ndarray[Any, Any]) -> pl.DataFrame:
    items = [f"i{at}" for at in range(scores.shape[1])]
    return pl.DataFrame({"item": items, **dict(zip(SYSTEMS, scores.tolist(), strict=True))})


def long(scores: np.ndarray[Any, Any]) -> pl.DataFrame:
    return wide(scores).unpivot(index="item", variable_name="system", value_name="score")


def board_of(report: goldassay.Report) -> dict[str, Any]:
    found: dict[str, Any] = report.to_dict()["board"]
    return found


def test_every_shape_gives_the_same_board(tmp_path: Path) -> None:
    scores = values()
    wanted = board_of(goldassay.rank_systems(wide(scores)))
    assert wanted["first"] == "alpha"
    golds = [f"g{at % 4}" for at in range(60)]
    letters = wide(scores).with_columns(pl.Series("answer", golds)).with_columns(
        pl.when(pl.col(name) == 1).then("answer").when(pl.col("answer") == "g0").then(pl.lit("g1"))
        .otherwise(pl.lit("g0")).alias(name)
        for name in SYSTEMS
    )  # fmt: skip
    runs = long(scores).rename({"item": "example_id", "system": "model"}).with_columns(dataset=pl.lit("exam"))
    lists = tmp_path / "lists"
    for name, own in zip(SYSTEMS, scores, strict=True):
        (lists / name / "results").mkdir(parents=True)
        solved = [f"i{at}" for at in np.flatnonzero(own).tolist()]
        text = json.dumps({"resolved": solved, "generated": [f"i{at}" for at in range(60)]})
        (lists / name / "results" / "results.json").write_text(text)
    wide(scores).write_csv(tmp_path / "wide.csv")
    long(scores).write_parquet(tmp_path / "long.parquet")
    long(scores).with_columns(pl.col("score") == 1).write_ndjson(tmp_path / "long.jsonl")
    letters.write_csv(tmp_path / "letters.csv")
    runs.write_csv(tmp_path / "runs.csv")
    shapes: list[Any] = [
        long(scores).to_dicts(),
        *(str(tmp_path / name) for name in ("wide.csv", "long.parquet", "long.jsonl", "letters.csv", "runs.csv")),
        lists,
    ]
    for shape in shapes:
        found = board_of(goldassay.rank_systems(shape))
        assert found["solved_by"] == wanted["solved_by"], shape
        assert found["reliability"]["value"] == pytest.approx(wanted["reliability"]["value"])
        by_name = {row["system"]: (row["rank_low"], row["rank_high"], row["score"]) for row in found["systems"]}
        assert by_name == {
            row["system"]: (row["rank_low"], row["rank_high"], row["score"]) for row in wanted["systems"]
        }


@pytest.mark.parametrize("columns", [None, "score=alpha.is_correct"])
def test_systems_whose_results_are_objects(tmp_path: Path, columns: str | None) -> None:
    """As GSM8K's solutions are published: what was right stands beside the solution, and a number beside both."""
    scores = values()
    wanted = board_of(goldassay.rank_systems(wide(scores)))
    rows = [
        {"question": f"q {at}", "ground_truth": "1"}
        | {name: {"is_correct": bool(own[at]), "solution": "s"} for name, own in zip(SYSTEMS, scores, strict=True)}
        for at in range(60)
    ]
    (tmp_path / "solutions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = board_of(goldassay.rank_systems(tmp_path / "solutions.jsonl", columns=columns))
    assert [(each["system"], each["score"]) for each in found["systems"]] == [
        (each["system"], each["score"]) for each in wanted["systems"]
    ]
    assert goldassay.look(tmp_path / "solutions.jsonl").kind == "board"


@pytest.mark.parametrize("name", ["key", "ref", "solution", "correct"])
def test_a_column_that_may_hold_right_answers_is_asked_for(name: str) -> None:
    rng = np.random.default_rng(3)
    right = rng.integers(0, 2, 100)
    table = pl.DataFrame({"id": np.arange(100), name: right, "a": right, "b": rng.integers(0, 2, 100)})
    with pytest.raises(InputError, match="may hold right answers") as error:
        goldassay.rank_systems(table)
    assert all(f"{{'{role}': '{name}'}}" in error.value.mend for role in ("answer", "ignore"))
    scores = {each["system"]: each["score"] for each in board_of(
        goldassay.rank_systems(table, columns={"answer": name}))["systems"]}  # fmt: skip
    assert scores == pytest.approx({"a": 1.0, "b": float((table["b"] == table[name]).mean())})
    assert len(board_of(goldassay.rank_systems(table, columns={"ignore": name}))["systems"]) == 2


def test_of_a_folder_of_boards_an_audit_names_one(tmp_path: Path) -> None:
    """A table a task, a row a paraphrase, a column a system: together they look like texts with the file as label."""
    rng = np.random.default_rng(0)
    for task in ("cola", "rte"):
        rows = {"template": [f"Say of row {at} what it is" for at in range(20)]}
        pl.DataFrame(rows | {name: rng.random(20).round(3) for name in SYSTEMS}).write_csv(tmp_path / f"{task}.csv")
    with pytest.raises(InputError, match="a board of its own") as error:
        goldassay.audit(tmp_path)
    assert repr(str(tmp_path / "cola.csv")) in error.value.mend
    assert board_of(goldassay.audit(tmp_path / "cola.csv"))["n_items"] == 20


def test_a_column_that_makes_rows_of_an_item_differ_is_asked_for(tmp_path: Path) -> None:
    """Ids that begin anew in each part; both mends are taken, and attempts without such a column are runs."""
    rows = [
        {"model": model, "benchmark": part, "item_id": at, "score": (at * len(model) + len(part)) % 2}
        for model in ("a", "bb")
        for part in ("arc", "winogrande")
        for at in range(40)
    ]
    path = tmp_path / "t.csv"
    pl.DataFrame(rows).write_csv(path)
    with pytest.raises(InputError, match="each with its own 'benchmark'") as error:
        goldassay.rank_systems(path)
    for role, given, n_items in (("item", "benchmark+item_id", 80), ("run", "benchmark", 40)):
        assert f"{{'{role}': '{given}'}}" in error.value.mend
        assert board_of(goldassay.rank_systems(path, columns={role: given}))["n_items"] == n_items


def test_an_item_that_no_run_answered_is_one_that_no_system_answered() -> None:
    """Of two runs each one lacks items 0 to 4, the other 4 to 8: item 4 alone has no score."""
    lacks = {"1": range(5), "2": range(4, 9)}
    rows = [
        {"system": system, "item": at, "run": run, "score": None if at in lacks[run] else (at + len(system)) % 2}
        for system in ("a", "bb")
        for run in lacks
        for at in range(60)
    ]
    report = goldassay.rank_systems(pl.DataFrame(rows), missing="wrong")
    said = " ".join(note for part in report.sections for note in part.notes)
    assert states(said, "in some run", "a 9, bb 9", "1 item was answered by no system")


@pytest.mark.parametrize(
    "gold",
    ["y_true", "truth", "expected", "reference", "gold_label", "correct_label", "true_label", "human_label", "actual",
     "groundtruth", "gt", "correct_answer", "true"],
)  # fmt: skip
def test_right_answers_under_any_known_name_are_no_system(gold: str) -> None:
    """Answers 0 and 1 look like scores: taken for these, the order of the systems was the other way round."""
    rng = np.random.default_rng(3)
    right = rng.integers(0, 2, 200)
    answers = {name: np.where(rng.random(200) < share, right, 1 - right) for name, share in (("a", 0.8), ("b", 0.6))}
    found = board_of(goldassay.rank_systems(pl.DataFrame({"id": np.arange(200), gold: right, **answers})))
    by_hand = {name: float((own == right).mean()) for name, own in answers.items()}
    assert {each["system"]: each["score"] for each in found["systems"]} == pytest.approx(by_hand)


@pytest.mark.parametrize("name", ["nested.jsonl", "nested.json", "flat.jsonl"])
def test_results_in_lists_and_prompts_are_runs_of_systems(tmp_path: Path, name: str) -> None:
    path, right = tmp_path / name, {("a", "p"): 12, ("a", "q"): 9, ("b", "p"): 6, ("b", "q"): 3}
    lists = [
        {"model": model, "prompt": prompt, "example": [{"id": at, "correct": at < n} for at in range(12)]}
        for (model, prompt), n in right.items()
    ]
    if name.startswith("flat"):
        lists = [{**each, **item} for each in lists for item in each.pop("example")]
    lines = "".join(json.dumps(each) + "\n" for each in lists)
    path.write_text(json.dumps(lists) if name.endswith(".json") else lines)
    scores = {row["system"]: row["score"] for row in board_of(goldassay.rank_systems(str(path)))["systems"]}
    assert scores == {f"{model} [prompt={prompt}]": n / 12 for (model, prompt), n in right.items()}


def test_a_log_of_several_models_is_a_board_of_runs_and_no_table(tmp_path: Path) -> None:
    results = [
        {"provider": {"id": name}, "testIdx": at, "promptIdx": 0, "vars": {"q": at}, "success": bool(right), "score": 1}
        for name, own in zip(SYSTEMS, values(), strict=True)
        for at, right in enumerate(own)
    ]
    (tmp_path / "out.json").write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": results}}))
    found, wanted = (board_of(goldassay.rank_systems(each)) for each in (tmp_path / "out.json", wide(values())))
    assert [(each["system"], each["score"]) for each in found["systems"]] == [
        (each["system"], each["score"]) for each in wanted["systems"]
    ]


def test_a_board_opens_with_who_is_first() -> None:
    report = goldassay.rank_systems(wide(values()))
    assert "is first" in report.overall or "leads" in report.overall
    assert report.to_markdown().splitlines()[2].startswith(report.overall[:20])
    assert '<p class="overall">' in report.to_html()


def test_runs_of_several_models_are_a_board(tmp_path: Path) -> None:
    scores = values()
    for name, own in zip(SYSTEMS, scores, strict=True):
        made = Runs.from_arrays(
            scores=np.stack([own, own]), seeds=[0, 1], example_ids=[f"i{at}" for at in range(60)], model=name,
            dataset="exam",
        )  # fmt: skip
        write_runs(made, tmp_path / "runs")
    found = board_of(goldassay.rank_systems(tmp_path / "runs"))
    wanted = board_of(goldassay.rank_systems(wide(scores)))
    assert [(row["system"], row["score"], row["n_runs"]) for row in found["systems"]] == [
        (row["system"], row["score"], 2) for row in wanted["systems"]
    ]
    # Runs that do not differ add no noise.
    assert [row["rank_high"] for row in found["systems"]] == [row["rank_high"] for row in wanted["systems"]]


@pytest.mark.parametrize("column", ["model_name_or_path", "model_id", "model_path", "model_name", "system_name"])
def test_models_by_the_names_that_tools_give_them_are_systems_at_every_door(tmp_path: Path, column: str) -> None:
    """As SWE-bench writes its records: of one nameless model they would be attempts, and no board."""
    scores = values()
    rows = long(scores).rename({"item": "instance_id", "system": column})
    path = tmp_path / "records.jsonl"
    rows.select("instance_id", column, resolved=pl.col("score") == 1).write_ndjson(path)
    wanted = dict(zip(SYSTEMS, scores.mean(axis=1).tolist(), strict=True))
    for report in (goldassay.rank_systems(path), goldassay.audit(path)):
        found = board_of(report)
        assert {row["system"]: row["score"] for row in found["systems"]} == pytest.approx(wanted)
    assert goldassay.look(path).to_dict()["roles"]["model"] == column
    compared = goldassay.compare_models(path).to_dict()["comparison"]
    assert len(compared["pairs"]) == 3


def test_the_report_says_what_the_table_says(tmp_path: Path) -> None:
    report = goldassay.rank_systems(wide(values()))
    document = report.to_dict()
    row = document["board"]["systems"][0]
    figures = {(each["id"], each["of"].get("model")): each for each in document["figures"]}
    score = figures["board.score", "alpha"]
    assert (score["value"], score["low"], score["high"]) == (row["score"], row["low"], row["high"])
    rank = figures["board.rank", "alpha"]
    assert (rank["value"], rank["low"], rank["high"]) == (row["place"], row["rank_low"], row["rank_high"])
    assert report.tables["board"]["system"].to_list() == [row["system"] for row in document["board"]["systems"]]
    items = report.tables["board_items"]
    assert items.filter("decides").height == document["board"]["lead"]["n_decisive"]
    report.save(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert states(page, "alpha is first of 3 systems", "60 items", "significant")
    assert "Ranks that each system may have" in page
    assert "3 systems" in page
    assert goldassay.rank_systems(wide(values())).to_dict()["digest"] == document["digest"]


def test_empty_cells_are_left_out_and_said_or_wrong() -> None:
    scores = values()
    scores[1, :30] = np.nan
    found = goldassay.rank_systems(wide(scores), missing="leave-out")
    assert board_of(found)["n_items"] == 30
    notes = " ".join(board_of(found)["notes"])
    assert states(notes, "60 items", 30, ..., "beta 30")
    assert "missing='wrong' takes empty cells as wrong" in notes
    wrong = board_of(goldassay.rank_systems(wide(scores)))
    assert wrong["n_items"] == 60
    with pytest.raises(InputError, match=in_order("60 items", "beta 30")):
        goldassay.rank_systems(wide(scores), missing="refuse")
    bounds = " ".join(board_of(goldassay.rank_systems(wide(scores), missing="bounds"))["notes"])
    half = 100 * np.nansum(scores[1]) / 60
    assert states(bounds, "beta", f"{half:.2f} to {half + 50:.2f}")
    assert {row["system"]: row["score"] for row in wrong["systems"]}["beta"] == np.nansum(scores[1]) / 60
    scores[0, 30:] = np.nan
    with pytest.raises(InputError, match=in_order("0 of 60 items", "alpha 30, beta 30")):
        goldassay.rank_systems(wide(scores), missing="leave-out")


@pytest.mark.parametrize("kind", ["scores", "booleans", "answers"])
def test_empty_cells_of_any_writing_leave_a_system_one(tmp_path: Path, kind: str) -> None:
    wrong, right = {"scores": ("0", "1"), "booleans": ("False", "True"), "answers": ("B", "A")}[kind]
    frame = wide(values()).with_columns(
        pl.when(pl.col(name) == 1).then(pl.lit(right)).otherwise(pl.lit(wrong)).alias(name) for name in SYSTEMS
    )
    if kind == "answers":
        # Both answers are right somewhere; a third one is right nowhere, and wrong.
        item = pl.col("item")
        frame = frame.with_columns(
            answer=pl.when(item == "i59").then(pl.lit("B")).otherwise(pl.lit("A")),
            beta=pl.when(item == "i58").then(pl.lit("C")).otherwise("beta"),
        )
    lost = pl.col("item").is_in(["i3", "i7"])
    nulls = frame.with_columns(alpha=pl.when(lost).then(None).otherwise("alpha"))
    if kind != "answers":
        nulls = nulls.with_columns(pl.col(SYSTEMS) == right)
    wanted = board_of(goldassay.rank_systems(nulls))
    assert {row["system"] for row in wanted["systems"]} == set(SYSTEMS)
    assert wanted["n_items"] == 60
    assert any(states(note, "count as wrong", "alpha 2") for note in wanted["notes"])
    nulls.write_parquet(tmp_path / "b.parquet")
    assert board_of(goldassay.rank_systems(tmp_path / "b.parquet")) == wanted
    coded = frame.with_columns(alpha=pl.when(lost).then(pl.lit("NA")).otherwise("alpha").cast(pl.Categorical))
    assert board_of(goldassay.rank_systems(coded)) == wanted
    for written in ("", "NA", "nan", "null", " n/a "):
        frame.with_columns(alpha=pl.when(lost).then(pl.lit(written)).otherwise("alpha")).write_csv(tmp_path / "b.csv")
        assert board_of(goldassay.rank_systems(tmp_path / "b.csv")) == wanted, written


@pytest.mark.parametrize("n_runs", [1, 3])
@pytest.mark.parametrize("clusters", [None, "topic"])
def test_a_lead_is_the_same_by_both_entry_points(tmp_path: Path, n_runs: int, clusters: str | None) -> None:
    """`board` and `compare` give one figure of two systems; 4 : 0 of 200 lies above 0 by Tango's interval."""
    rng = np.random.default_rng(0)
    one, other = np.tile(rng.random(200) < 0.5, (2, n_runs, 1)).astype(float)
    one[:, :4], other[:, :4] = 1, 0
    if n_runs > 1:
        one, other = (np.where(rng.random(each.shape) < 0.05, 1 - each, each) for each in (one, other))
    items, topics = [f"i{at}" for at in range(200)], np.array([f"t{at // 4}" for at in range(200)])
    rows = []
    for name, own in (("alpha", one), ("beta", other)):
        made = Runs.from_arrays(
            scores=own, seeds=range(n_runs), example_ids=items, model=name, dataset="exam", groups={"topic": topics}
        )
        write_runs(made, tmp_path / "runs")
        rows += [
            pl.DataFrame({"system": name, "item": items, "score": scores, "seed": at, "topic": topics})
            for at, scores in enumerate(own)
        ]
    found = board_of(goldassay.rank_systems(pl.concat(rows), clusters=clusters or "none"))
    pair = goldassay.compare_models(tmp_path / "runs", clusters=clusters).to_dict()["comparison"]["pairs"][0]
    sign = 1 if pair["a"] == found["first"] else -1
    ends = sorted(sign * pair[end] for end in ("low", "high"))
    assert [found["lead"]["low"], found["lead"]["high"]] == pytest.approx(ends)
    assert found["lead"]["difference"] == pytest.approx(sign * pair["difference"])
    if n_runs == 1 and clusters is None:
        assert ends == pytest.approx([0.00077777, 0.05028709], abs=1e-8)
        assert pair["p_value"] == pair["p_examples"] == pytest.approx(0.0455003, abs=1e-7)
        assert found["rivals"] == []


def test_a_board_says_who_may_be_first() -> None:
    scores = np.vstack([values(), values(seed=7)])
    scores = np.vstack([scores, scores[:1]])
    frame = pl.DataFrame({"item": range(60), **{f"s{at}": own for at, own in enumerate(scores)}})
    found = board_of(goldassay.rank_systems(frame))
    assert found["first"] not in found["rivals"]
    assert {row["system"] for row in found["systems"] if row["rank_low"] == 1} == {found["first"], *found["rivals"]}
    # The best is there twice, and the two tie.
    assert {"s0", "s6"} & set(found["rivals"])


def test_slips_among_scores_are_refused_by_their_line(tmp_path: Path) -> None:
    texts = wide(values()).with_columns(pl.col(SYSTEMS).cast(pl.Int64).cast(pl.String))
    slipped = texts.with_columns(alpha=pl.when(pl.col("item") == "i4").then(pl.lit("O")).otherwise("alpha"))
    slipped.write_csv(tmp_path / "b.csv")
    slipped.write_parquet(tmp_path / "b.parquet")
    for given, place in (
        (tmp_path / "b.csv", "line 6, column 'alpha'"),
        (tmp_path / "b.parquet", "in row 5"),
        (slipped, "in row 5"),
    ):
        with pytest.raises(InputError) as refused:
            goldassay.rank_systems(given)
        assert "1 of 60 scores are no numbers, the first is 'O'" in str(refused.value)
        assert place in str(refused.value)
    found = board_of(goldassay.rank_systems(tmp_path / "b.csv", columns={"ignore": "alpha"}))
    assert [row["system"] for row in found["systems"]] == ["beta", "gamma"]
    # Columns of texts and without any score are named, and are no systems.
    named = texts.with_columns(topic=pl.lit("law"), delta=pl.lit("NA"))
    notes = board_of(goldassay.rank_systems(named))["notes"]
    assert "Columns that are no systems: 'topic'." in notes
    assert states(notes, "Columns without", "single score", "'delta'")


@pytest.mark.parametrize("written", ["0,5", "50 %", "100%"])
def test_numbers_in_another_spelling_drop_no_system_unseen(written: str) -> None:
    texts = wide(values()).with_columns(pl.col(SYSTEMS).cast(pl.Int64).cast(pl.String))
    with pytest.raises(InputError, match=in_order("60 of 60 scores", f"'{written}' in row 1")):
        goldassay.rank_systems(texts.with_columns(alpha=pl.lit(written)))
    few = pl.when(pl.int_range(pl.len()) < 6).then("alpha").otherwise(pl.lit("right"))
    with pytest.raises(InputError, match="54 of 60 scores are no numbers"):
        goldassay.rank_systems(texts.with_columns(alpha=few))


@pytest.mark.parametrize(
    "words", [("correct", "incorrect"), ("PASS", "FAIL"), ("resolved", "unresolved"), ("Yes", "No")]
)
def test_words_for_right_and_wrong_are_scores_at_every_door(tmp_path: Path, words: tuple[str, str]) -> None:
    named = pl.when(pl.col("score") == 1).then(pl.lit(words[0])).otherwise(pl.lit(words[1]))
    frame = long(values()).with_columns(score=named)
    wanted = board_of(goldassay.rank_systems(long(values())))["systems"]
    assert board_of(goldassay.rank_systems(frame))["systems"] == wanted
    each = [
        pl.when(pl.col(name) == 1).then(pl.lit(words[0])).otherwise(pl.lit(words[1])).alias(name) for name in SYSTEMS
    ]
    assert board_of(goldassay.rank_systems(wide(values()).with_columns(each)))["systems"] == wanted
    path = tmp_path / "words.csv"
    frame.rename({"item": "example_id", "system": "model", "score": "result"}).write_csv(path)
    with pytest.raises(InputError, match="'score': 'result'"):
        goldassay.rank_systems(path)
    runs = goldassay.read_runs(path, model="alpha", columns={"score": "result"})
    assert runs.scores is not None
    assert runs.scores.mean() == pytest.approx(wanted[0]["score"])


def test_what_other_words_score_is_given(tmp_path: Path) -> None:
    coded = long(values()).with_columns(
        score=pl.when(pl.col("score") == 1).then(pl.lit("C")).otherwise(pl.lit("I: no"))
    )
    with pytest.raises(InputError, match=in_order("are no numbers", "C", "I: no")):
        goldassay.rank_systems(coded)
    wanted = board_of(goldassay.rank_systems(long(values())))["systems"]
    assert board_of(goldassay.rank_systems(coded, map="score=C:1,I: no:0"))["systems"] == wanted
    path = tmp_path / "coded.csv"
    coded.write_csv(path)
    assert board_of(goldassay.rank_systems(path, map={"score": {"C": "1", "I: no": "0"}}))["systems"] == wanted
    with pytest.raises(InputError, match="these are runs"):
        goldassay.rank_systems(Runs.from_arrays(scores=values()[:1]), map="score=C:1")


def test_measures_are_no_systems(tmp_path: Path) -> None:
    path = tmp_path / "measures.csv"
    for names, said in (
        (("bleu", "chrf", "comet"), "score'?[:=] ?'?bleu"),
        (("a truth", "a info", "b truth"), "a info"),
    ):
        wide(values()).rename(dict(zip(SYSTEMS, names, strict=True))).write_csv(path)
        with pytest.raises(InputError, match=f"are measures, and no systems.*{said}"):
            goldassay.rank_systems(path)
    board = board_of(goldassay.rank_systems(path, columns="ignore=a info"))
    assert [row["system"] for row in board["systems"]] == ["a truth", "b truth"]
    wide(values()).rename({"alpha": "bleu"}).write_csv(path)
    assert len(board_of(goldassay.rank_systems(path))["systems"]) == 3


def test_one_of_several_scores_is_taken_by_all(tmp_path: Path) -> None:
    frame = long(values()).with_columns(f1=1 - pl.col("score")).rename({"score": "accuracy", "system": "model"})
    path = tmp_path / "scores.csv"
    frame.select("model", "item", "f1", "accuracy").rename({"item": "example_id"}).write_csv(path)
    shown = {row["system"]: row["score"] for row in board_of(goldassay.rank_systems(path))["systems"]}
    runs = goldassay.read_runs(path, model="beta")
    assert runs.scores is not None
    assert runs.scores.mean() == pytest.approx(shown["beta"])


def test_white_space_around_a_name_makes_no_other_system() -> None:
    frame = long(values())
    spaced = frame.with_columns(system=pl.when(pl.col("item") > "i3").then(pl.col("system") + " ").otherwise("system"))
    found = board_of(goldassay.rank_systems(spaced))
    assert found["systems"] == board_of(goldassay.rank_systems(frame))["systems"]
    with pytest.raises(InputError, match="the system 'alpha' occurs twice"):
        goldassay.rank_systems(wide(values()).rename({"beta": "alpha "}))


def answered(seed: int = 3) -> pl.DataFrame:
    """Answers of two systems in a long table."""
    rng = np.random.default_rng(seed)
    right = np.array(list("ABCD"))[rng.integers(0, 4, 200)]
    parts = []
    for name, skill in (("alpha", 0.7), ("beta", 0.6)):
        given = np.where(rng.random(200) < skill, right, "B")
        items = [f"q{at}" for at in range(200)]
        parts.append(pl.DataFrame({"system": name, "item": items, "prediction": given, "answer": right}))
    return pl.concat(parts)


def test_answers_are_compared_as_runs_are(tmp_path: Path) -> None:
    frame = answered()
    lower = frame.with_columns(
        prediction=pl.when(pl.col("system") == "beta")
        .then(pl.col("prediction").str.to_lowercase())
        .otherwise("prediction")
    )
    wanted = board_of(goldassay.rank_systems(frame))["systems"]
    assert board_of(goldassay.rank_systems(lower))["systems"] == wanted
    runs = lower.rename({"system": "model", "item": "example_id", "answer": "label"})
    runs.write_csv(tmp_path / "runs.csv")
    scores = {each: goldassay.read_runs(tmp_path / "runs.csv", model=each).scores.mean() for each in ("alpha", "beta")}
    assert {row["system"]: row["score"] for row in wanted} == pytest.approx(scores)
    sides = [lower.filter(pl.col("system") == name) for name in ("alpha", "beta")]
    side_by_side = sides[0].select("item", "answer", alpha="prediction").with_columns(beta=sides[1]["prediction"])
    assert board_of(goldassay.rank_systems(side_by_side))["systems"] == wanted
    odd = lower.with_columns(
        prediction=pl.when(pl.col("system") == "beta").then(pl.format("({})", "prediction")).otherwise("prediction")
    )
    with pytest.raises(InputError, match=r"the predictions of .beta. are .* none in common"):
        goldassay.rank_systems(odd)


def test_right_answers_are_the_same_for_all_systems_and_blank_ones_leave_items_out() -> None:
    frame = answered()
    beta = pl.col("system") == "beta"
    other = frame.with_columns(answer=pl.when(beta & (pl.col("item") == "q7")).then(pl.lit("X")).otherwise("answer"))
    with pytest.raises(InputError, match=in_order("1 of 200 items", "differ", "'q7'")):
        goldassay.rank_systems(other)
    half = frame.with_columns(answer=pl.when(beta & (pl.col("item") == "q7")).then(None).otherwise("answer"))
    with pytest.raises(InputError, match="1 rows have no right answer, though"):
        goldassay.rank_systems(half)
    few = pl.col("item").is_in(["q1", "q2", "q3"])
    blank = frame.with_columns(answer=pl.when(few).then(pl.lit(" ")).otherwise("answer"))
    for missing in ("leave-out", "wrong"):
        found = board_of(goldassay.rank_systems(blank, missing=missing))
        assert found["systems"] == board_of(goldassay.rank_systems(frame.filter(~few)))["systems"]
        assert "3 items have no right answer, and are left out." in found["notes"]


def test_columns_and_rows_that_are_no_systems_and_items() -> None:
    frame = wide(values()).with_columns(is_hard=pl.lit(1.0), difficulty=pl.lit(0.9))
    found = board_of(goldassay.rank_systems(frame))
    assert found["first"] == "alpha"
    assert states(found["notes"], "no systems:", "'is_hard', 'difficulty'")
    mixed = board_of(goldassay.rank_systems(wide(values()).with_columns(hardness=pl.int_range(pl.len()) / 100)))
    assert states(" ".join(mixed["notes"]), "Fractions", "'hardness'", "0 and 1")
    means = wide(values()).select(pl.lit("Mean").alias("item"), *(pl.col(name).mean().round(2) for name in SYSTEMS))
    with pytest.raises(InputError, match="'Mean' is no item but the mean of the others"):
        goldassay.rank_systems(pl.concat([wide(values()), means]))
    named = pl.concat([wide(values()), means.with_columns(pl.lit(0.0).alias(name) for name in SYSTEMS)])
    assert board_of(goldassay.rank_systems(named))["n_items"] == 61


def test_a_column_of_answers_that_are_right_nowhere_drops_no_system_unseen() -> None:
    frame = answered()
    sides = [frame.filter(pl.col("system") == name) for name in ("alpha", "beta")]
    table = sides[0].select("item", "answer", alpha="prediction").with_columns(beta=sides[1]["prediction"])
    odd = table.with_columns(alpha=pl.when(pl.int_range(pl.len()) % 4 == 0).then(pl.lit("?")).otherwise("alpha"))
    with pytest.raises(InputError, match=in_order("column 'alpha'", "50 of 200 answers", "'?'")):
        goldassay.rank_systems(odd)


def test_a_damaged_table_is_named_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("item,alpha,beta\nq0,1,0\nq1,1\nq2,1,1\n")
    with pytest.raises(InputError, match="line 3: the row has 2 fields where 3 are expected"):
        goldassay.rank_systems(tmp_path / "b.csv")
    (tmp_path / "c.csv").write_text("item,answer,alpha,beta\nq0,A,(A),(B)\nq1,B,(A),(B)\n")
    with pytest.raises(InputError, match="the columns hold no scores of systems, nor answers"):
        goldassay.rank_systems(tmp_path / "c.csv", columns={"item": "item", "answer": "answer"})


def test_lists_that_spell_items_otherwise_are_refused(tmp_path: Path) -> None:
    for name, solved in (("a", ["q1", "q2"]), ("b", ["Q1", "q2"])):
        (tmp_path / f"{name}.json").write_text(json.dumps({"resolved": solved}))
    with pytest.raises(InputError, match=in_order("'q1' and 'Q1'", "differ in case")):
        goldassay.rank_systems(tmp_path)


def test_columns_join_items() -> None:
    frame = wide(np.repeat(values(40), 5, axis=1)).with_columns(topic=pl.Series(np.repeat(np.arange(40), 5)))
    frame = frame.with_columns(pl.Series("item", [f"i{at}" for at in range(200)]))
    joined = board_of(goldassay.rank_systems(frame, clusters="topic"))
    alone = board_of(goldassay.rank_systems(frame.drop("topic")))
    assert joined["n_clusters"] == 40
    assert joined["lead"]["high"] - joined["lead"]["low"] > 1.5 * (alone["lead"]["high"] - alone["lead"]["low"])


def test_grades_are_shares_of_their_scale() -> None:
    scores = values()
    graded = wide(scores).with_columns(pl.col(name) * 4 + 1 for name in SYSTEMS)
    assert (
        board_of(goldassay.rank_systems(graded, grades="1:5"))["systems"]
        == board_of(goldassay.rank_systems(wide(scores)))["systems"]
    )


def test_systems_with_the_same_scores_are_named() -> None:
    scores = values()
    scores[2] = scores[1]
    found = board_of(goldassay.rank_systems(wide(scores)))
    assert [row["same_as"] for row in found["systems"]] == ["", "", "beta"]
    assert [each["system"] for each in found["degenerate"]] == ["beta", "gamma"]
    every = board_of(goldassay.rank_systems(wide(np.stack([scores[0]] * 3))))
    assert every["lead"] is None
    assert "All systems score alike on every item." in every["sentences"]


def test_items_that_no_list_names_are_counted_where_the_total_is_known(tmp_path: Path) -> None:
    for name, solved in (("a", ["x", "y", "z"]), ("b", ["x"])):
        (tmp_path / f"{name}.json").write_text(json.dumps({"resolved_ids": solved, "total_instances": 10}))
    found = board_of(goldassay.rank_systems(tmp_path))
    assert [row["score"] for row in found["systems"]] == [0.3, 0.1]
    assert states(found["notes"], "7 of 10 items", "in no list")
    for name, solved in (("a", ["x", "y", "z"]), ("b", ["x"])):
        (tmp_path / f"{name}.json").write_text(json.dumps({"resolved": solved}))
    assert "not known, and not counted" in " ".join(board_of(goldassay.rank_systems(tmp_path))["notes"])


@pytest.mark.parametrize(
    ("frame", "options", "said"),
    [
        (wide(values()).select("item", "alpha"), {}, "there is one system, 'alpha'"),
        (wide(values()).with_columns(cost=pl.lit(3.5)), {}, "columns are of two scales: 'cost' go beyond 0 to 1"),
        (wide(values()).with_columns(pl.col(SYSTEMS) * 5), {}, "give the lowest and the highest grade with grades"),
        (long(values()).vstack(long(values())[:3]), {}, "3 items are scored twice, first 'i0' by 'alpha'"),
        (long(values()).with_columns(score=pl.lit("maybe")), {}, "180 scores are no numbers, the first is 'maybe'"),
        (wide(values()).with_columns(item=pl.lit("i")), {}, ("59 items", "column 'item'", "no name")),
        (pl.DataFrame({"name": ["a", "b"], "arc": [0.6, 0.7], "mmlu": [0.5, 0.4]}), {}, "no column of items: averages"),
        (wide(values()), {"columns": {"item": "nowhere"}}, "there is no column 'nowhere'"),
        (wide(values()), {"clusters": "topic"}, "there is no column 'topic'"),
        (wide(values()), {"missing": "maybe"}, "missing is 'maybe'"),
        (long(values()).with_columns(dataset=pl.lit("a")), {"dataset": "b"}, "there is no dataset 'b'"),
        (long(values()), {"columns": {"system": "system", "item": "item", "score": "item"}}, "scores are no numbers"),
    ],
)
def test_what_is_no_board_is_one_line(frame: pl.DataFrame, options: dict[str, Any], said: Fact) -> None:
    with pytest.raises(InputError) as refused:
        goldassay.rank_systems(frame, **options)
    assert states(str(refused.value), said)
    assert "\n" not in str(refused.value)


def test_files_that_are_no_board_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "text.csv").write_text("a,b\nx,y\n")
    with pytest.raises(InputError, match="no board and no runs were recognized here"):
        goldassay.rank_systems(tmp_path / "text.csv")
    with pytest.raises(InputError, match="there is no such file"):
        goldassay.rank_systems(tmp_path / "nothing.csv")
    (tmp_path / "lists").mkdir()
    for name, text in (("a", '{"resolved": ["x", 3]}'), ("b", '{"resolved": ["x"]}')):
        (tmp_path / "lists" / f"{name}.json").write_text(text)
    with pytest.raises(InputError, match="the list 'resolved' holds '3', which is no text"):
        goldassay.rank_systems(tmp_path / "lists")
    (tmp_path / "lists" / "a.json").write_text('{"resolved": ["x"')
    with pytest.raises(InputError, match="no JSON"):
        goldassay.rank_systems(tmp_path / "lists")


@pytest.mark.parametrize("name", ["swebench-verified-minisweagent-long.parquet", "mmlu-pro-predictions.parquet"])
def test_real_boards(data_dir: Path, name: str) -> None:
    file = data_dir / "boards" / name
    found = board_of(goldassay.rank_systems(file, missing="wrong"))
    scores = {row["system"]: round(100 * row["score"], 1) for row in found["systems"]}
    if name.startswith("swe"):
        assert scores == {"sonnet-4-5": 70.6, "gpt-5": 65.0, "sonnet-4": 64.8, "gpt-5-mini": 59.8}
        ranks = {row["system"]: (row["rank_low"], row["rank_high"]) for row in found["systems"]}
        assert ranks["gpt-5"] == ranks["sonnet-4"] == (2, 3)
    else:
        assert (scores["gemini-1.5-flash-002"], scores["Meta-Llama-3_1-70B-Instruct"]) == (63.8, 62.8)


def test_a_system_that_answered_easy_items_alone_is_not_surely_first() -> None:
    scores = np.stack([answers(1, 600, at, skill)[0] for at, skill in enumerate((0.97, 0.7, 0.6))])
    chosen = scores.copy()
    chosen[0, 200:] = np.nan
    assert goldassay.rank_systems(wide(scores)).to_dict()["board"]["systems"][0]["rank_high"] == 1
    wrong = board_of(goldassay.rank_systems(wide(chosen)))
    assert wrong["first"] == "beta"
    assert wrong["systems"][0]["rank_high"] > 1
    assert states(" ".join(wrong["notes"]), "200 items in common", "alpha scores most")
    found = board_of(goldassay.rank_systems(wide(chosen), missing="leave-out"))
    assert found["first"] == "alpha"
    assert found["systems"][0]["rank_high"] > 1
    assert "lead is not significant" in found["sentences"][0]
    notes = " ".join(found["notes"])
    assert "With empty cells as wrong beta scores most" in notes
    assert states(notes, "better only", "items in common")


def test_what_single_runs_leave_open_is_said(tmp_path: Path) -> None:
    scores = values()
    (note,) = board_of(goldassay.rank_systems(wide(scores)))["notes"]
    assert note.startswith("Each system has one run")
    rng = np.random.default_rng(1)
    made = [scores[:1], np.stack([scores[1]] * 3), scores[2:]]
    made[1] = np.where(rng.random(made[1].shape) < 0.1, 1 - made[1], made[1])
    for name, own in zip(SYSTEMS, made, strict=True):
        runs = Runs.from_arrays(
            scores=own, seeds=range(len(own)), example_ids=[f"i{at}" for at in range(60)], model=name, dataset="exam"
        )
        write_runs(runs, tmp_path / "runs")
    found = board_of(goldassay.rank_systems(tmp_path / "runs"))
    assert states(found["notes"], "One run: alpha, gamma")
    rows = {row["system"]: row for row in found["systems"]}
    beta = score_interval(made[1], None)
    assert (rows["beta"]["low"], rows["beta"]["high"]) == (beta.low, beta.high)


@pytest.mark.parametrize(("ahead", "ranks"), [(0.10, [(1, 1), (2, 2), (3, 3)]), (0.05, [(1, 2), (1, 2), (3, 3)])])
def test_many_runs_make_places_sure_that_one_run_would_not(ahead: float, ranks: list[tuple[int, int]]) -> None:
    """Ten runs from .08 below to .08 above their mean, the same on every item: runs are all the noise there is.

    The variance of a run is .08² x (2/9) x (1 + (49 + 25 + 9 + 1)/81) = .08² x .4527 = .0029. The standard
    error of a difference of two means over ten runs is sqrt(2 x .0029 / 10) = .0241, and the critical value is
    between 2.5 and 3.2: .10 is surely more than 0, and .05 is not. With the noise of one run, .0761, .10 would not be.
    """
    steps = 0.08 * np.linspace(-1, 1, 10)
    assert steps.var(ddof=1) == pytest.approx(0.08**2 * (2 / 9) * (1 + 84 / 81))
    table = pl.DataFrame(
        [
            {"system": name, "item": f"i{at}", "seed": seed, "score": mean + step}
            for name, mean in zip(SYSTEMS, (0.5 + ahead, 0.5, 0.2), strict=True)
            for seed, step in enumerate(steps)
            for at in range(60)
        ]
    )
    found = board_of(goldassay.rank_systems(table))
    assert [(row["rank_low"], row["rank_high"]) for row in found["systems"]] == ranks
    assert [(row["system"], row["n_runs"]) for row in found["systems"]] == [(name, 10) for name in SYSTEMS]
    assert 2.5 < found["critical"] < 3.2


def solved(resolved: Any, **more: Any) -> str:
    return json.dumps({"resolved": resolved, "generated": [f"i{at}" for at in range(5)], **more})


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a.json": solved(["i1"]), "a/results.json": solved(["i2"]), "b.json": solved([])}, "'a' has a second file"),
        ({"a.json": solved(["i1"]), "b.json": solved([]), "c.json": solved(12)}, "'resolved' is '12', and no list"),
        ({"a.json": solved(["i1"], unresolved=["i1", "i2"]), "b.json": solved([])}, "'i1' is among the solved"),
        ({"a.json": solved(["i1"])}, "there is one system, 'a'"),
        ({"a.json": solved(["\ud800"]), "b.json": solved([])}, "'resolved' holds half of a surrogate pair"),
    ],
)
def test_broken_members_of_lists_are_not_passed_over(tmp_path: Path, files: dict[str, str], said: str) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as refused:
        goldassay.rank_systems(tmp_path)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_folders_without_a_list_are_named(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    for name in ("a", "b"):
        (tmp_path / name / "results.json").write_text(solved(["i1"]))
    found = board_of(goldassay.rank_systems(tmp_path))
    assert states(found["notes"], "list of solved items", "left out: c")
    assert states(found["sentences"], "one of the 2 systems", "first place")


def test_rows_of_several_datasets_are_not_taken_for_runs() -> None:
    frame = pl.concat([long(values()).with_columns(dataset=pl.lit(name)) for name in ("exam", "quiz")])
    with pytest.raises(InputError, match="of several datasets: choose one with dataset="):
        goldassay.rank_systems(frame)


def test_a_run_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    """Neither of the two is dropped, so that no place is sure by what was left out."""
    scores = values()
    runs = long(scores).rename({"item": "example_id", "system": "model"}).with_columns(seed=pl.lit(0))
    runs.write_csv(tmp_path / "1.csv")
    again = runs.filter(pl.col("model") == "alpha").with_columns(score=1 - pl.col("score"))
    again.write_csv(tmp_path / "2.csv")
    with pytest.raises(InputError, match=r"2\.csv: the run with seed 0 is there twice"):
        goldassay.rank_systems(tmp_path)


def test_the_first_place_of_many_systems_is_no_matter_of_all_pairs() -> None:
    """A lead that is sure by itself makes a system first, though ranks of 30 systems at once leave it open."""
    rng = np.random.default_rng(3)
    need = rng.random(400)
    skill = np.concatenate([[0.76, 0.7], np.linspace(0.65, 0.3, 28)])[:, np.newaxis]
    scores = (rng.random((30, 400)) < np.clip(skill + 0.6 * (need - 0.5), 0, 1)).astype(float)
    frame = pl.DataFrame({"item": range(400), **{f"s{at}": own for at, own in enumerate(scores)}})
    report = goldassay.rank_systems(frame)
    found = board_of(report)
    assert found["lead"]["low"] > 0
    assert (found["first"], found["rivals"]) == ("s0", [])
    assert found["systems"][0]["rank_high"] > 1
    page = report.to_html()
    assert states(page, "s0 is first of 30 systems", "significant")
    assert "corrected for all pairs of systems" in page


@pytest.mark.parametrize("n_alike", [2, 3])
def test_of_systems_that_score_alike_none_is_called_first(n_alike: int) -> None:
    scores = values()
    scores[:n_alike] = scores[0]
    first = next(each for each in board_of(goldassay.rank_systems(wide(scores)))["sentences"] if "first place" in each)
    assert states(first, *SYSTEMS[:n_alike], "share the first place of 3 systems")


@pytest.mark.parametrize("seed", range(3))
def test_examples_that_share_a_text_are_clusters_by_both_entry_points(tmp_path: Path, seed: int) -> None:
    """The unadjusted figure of a pair is one by `board` and `compare`, without any option; fewer clusters are wider."""
    rng = np.random.default_rng(seed)
    premise = rng.integers(0, 30, 120)
    words = [f"{a} walks past {b}" for a in ("anna", "ben", "cleo") for b in map(str, range(10))]
    exam = pl.DataFrame(
        {
            "id": [f"i{at}" for at in range(120)],
            "premise": [f"premise {words[each]} by the {'abcdefghij'[each % 10] * 5}" for each in premise.tolist()],
            "hypothesis": [f"claim number {'xyzuvw'[at % 6] * (at + 3)}" for at in range(120)],
            "label": [("yes", "no")[at % 2] for at in range(120)],
        }
    )
    exam.write_ndjson(tmp_path / "exam.jsonl")
    hard = rng.random(30)[premise]
    for name, skill in (("alpha", 0.3), ("beta", 0.1)):
        right = rng.random((1 + seed % 2, 120)) * 0.5 + hard / 2 < 0.5 + skill
        given = np.where(right, np.arange(120) % 2, 1 - np.arange(120) % 2)
        made = Runs.from_arrays(
            predictions=given, gold=np.arange(120) % 2, label_names=("yes", "no"), seeds=range(len(given)),
            example_ids=exam["id"].to_list(), model=name, dataset="exam",
        )  # fmt: skip
        write_runs(made, tmp_path / "runs")
    test = {"exam": str(tmp_path / "exam.jsonl")}
    found = board_of(goldassay.rank_systems(tmp_path / "runs", test=test))
    pairs = {
        by: goldassay.compare_models(tmp_path / "runs", test=test, clusters=by).to_dict()["comparison"]["pairs"][0]
        for by in (None, "none")
    }
    sign = 1 if pairs[None]["a"] == found["first"] else -1
    ends = sorted(sign * pairs[None][end] for end in ("low", "high"))
    assert [found["lead"]["low"], found["lead"]["high"]] == pytest.approx(ends)
    assert pairs[None]["n_clusters"] == found["n_clusters"] < 120
    assert pairs["none"]["n_clusters"] is None


@pytest.mark.parametrize("named", ["average", "Average ⬆️", "Avg.", "Overall", "mean score", "total"])
def test_averages_are_no_systems(named: str) -> None:
    """A system that is called an average is left out of a board in either shape, which is said."""
    scores = values()
    table = wide(scores)
    wanted = board_of(goldassay.rank_systems(table))["systems"]
    column = table.with_columns(pl.mean_horizontal(SYSTEMS).alias(named))
    of_system = column.unpivot(index="item", variable_name="system", value_name="score")
    for given in (column, of_system):
        found = board_of(goldassay.rank_systems(given))
        assert [(each["system"], each["score"]) for each in found["systems"]] == [
            (each["system"], each["score"]) for each in wanted
        ]
        assert sum(named in said for said in found["notes"]) == 1
    # An ensemble is a system.
    ensemble = board_of(goldassay.rank_systems(table.rename({"beta": "mean of five"})))
    assert {each["system"] for each in ensemble["systems"]} == {"alpha", "mean of five", "gamma"}


def test_an_index_without_a_name_is_no_system(tmp_path: Path) -> None:
    table = wide(values()).drop("item")
    wanted = board_of(goldassay.rank_systems(table))["systems"]
    for first in (0, 1):
        path = tmp_path / f"{first}.csv"
        lines = table.write_csv().splitlines()
        path.write_text("\n".join([f",{lines[0]}", *(f"{at + first},{line}" for at, line in enumerate(lines[1:]))]))
        assert board_of(goldassay.rank_systems(path))["systems"] == wanted


def test_the_rate_of_systems_that_solve_an_item_is_no_system() -> None:
    """A column of means is known by its values, whatever it is called; one that is none stays."""
    table = wide(values())
    rate = pl.mean_horizontal(SYSTEMS).round(3)
    found = board_of(goldassay.rank_systems(table.with_columns(solve_rate=rate)))
    assert {each["system"] for each in found["systems"]} == set(SYSTEMS)
    assert any("'solve_rate'" in said for said in found["notes"])
    other = table.with_columns(delta=(rate + pl.int_range(pl.len()) / 100).clip(0, 1))
    assert len(board_of(goldassay.rank_systems(other))["systems"]) == 4


def test_columns_of_errors_are_not_ranked() -> None:
    table = wide(values())
    errors = table.select("item", *((1 - pl.col(name)).alias(f"{name}_error") for name in SYSTEMS))
    with pytest.raises(InputError, match="less is better"):
        goldassay.rank_systems(errors)


def test_scores_that_are_marked_as_missing_are_said() -> None:
    table = wide(values()).with_columns(alpha=pl.when(pl.int_range(pl.len()) % 5 == 0).then(-1).otherwise("alpha"))
    with pytest.raises(InputError, match="write -1 as an empty cell"):
        goldassay.rank_systems(table.with_columns(pl.col("beta", "gamma") - 1))
    twice = pl.concat([long(values()), long(values()).head(3)])
    with pytest.raises(InputError, match="scored twice") as refused:
        goldassay.rank_systems(twice)
    assert "'run': 'score'" not in str(refused.value)
