from __future__ import annotations

import dataclasses
import itertools
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import goldassay
from goldassay.cli.main import run
from goldassay.core.errors import InputError
from goldassay.questions.comparison.comparing import align_sides, compare_sides
from goldassay.questions.comparison.sentences import conclude, conclude_suite, differ, judge_comparison, judge_suite
from goldassay.questions.comparison.suites import compare_suite
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_scores import score_runs
from goldassay.runs.loading import resolved
from goldassay.runs.missing import describe_unscored, scored_only
from goldassay.runs.reading import read_runs
from goldassay.runs.run_parts import Columns
from goldassay.runs.runs import Runs
from goldassay.runs.statuses import STATUSES, codes_of, spelled, unlike_labels
from goldassay.runs.store import write_runs
from tests.conftest import DATA
from tests.stated import in_order, states


def samples(scores: list[float], unread: set[int] = frozenset(), empty: set[int] = frozenset()) -> str:  # type: ignore[assignment]
    """Lines of the lm-evaluation-harness, as it writes generated answers that a filter reads."""
    return "\n".join(
        json.dumps(
            {"doc_id": i, "doc": {}, "target": "1", "resps": [["" if i in empty else "it is 1"]],
             "filtered_resps": ["[invalid]" if i in unread else "1"], "filter": "strict", "metrics": ["exact_match"],
             "exact_match": score}
        )
        for i, score in enumerate(scores)
    )  # fmt: skip


def log(folder: Path, name: str, lines: str, own: float | None = None) -> Path:
    path = folder / name / "samples_task_2026-01-01T00-00-00.000000.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(lines)
    results: dict[str, Any] = {"config": {"model": "hf", "model_args": f"pretrained={name}"}, "model_name": name}
    if own is not None:
        results["results"] = {"task": {"exact_match,strict": own}}
    (path.parent / "results_2026-01-01T00-00-00.000000.json").write_text(json.dumps(results))
    return path


def test_what_the_harness_could_not_read_is_no_answer(tmp_path: Path) -> None:
    scores = [1.0, 0.0, 0.0, 1.0, float("nan"), 0.0]
    runs = read_runs(log(tmp_path, "a", samples(scores, {1, 2}, {5}), 2 / 6))
    assert runs.status[0].tolist() == ["scored", "unparsed", "unparsed", "scored", "unscored", "empty"]
    assert runs.scores[0].tolist() == [1, 0, 0, 1, 0, 0]
    assert runs.reported == (2 / 6,)
    assert scored_only(runs) == 1
    assert states(describe_unscored(runs), "4 of 6", "2 unparsed", "1 empty", "1 unscored", "33.33", "2 scored")
    assert read_runs(tmp_path, missing="leave-out").example_ids.tolist() == ["0", "3"]
    with pytest.raises(InputError, match=in_order("4 of 6 examples", "first 1, 2, 4, 5", "leave-out", "2 of 6")):
        read_runs(tmp_path, missing="refuse")


def test_a_log_in_which_all_is_scored_says_nothing(tmp_path: Path) -> None:
    runs = read_runs(log(tmp_path, "a", samples([1.0, 0.0, 1.0])))
    assert runs.status_codes is None
    assert describe_unscored(runs) == []
    assert (runs.status == "scored").all()


def test_statuses_survive_the_store(tmp_path: Path) -> None:
    runs = read_runs(log(tmp_path, "a", samples([1.0, 0.0, float("nan")], {1}), 0.5))
    (path,) = write_runs(runs, tmp_path / "store")
    again = read_runs(path)
    assert again.status.tolist() == runs.status.tolist() == [["scored", "unparsed", "unscored"]]
    assert (again.scores.tolist(), again.reported, again.unrecorded) == (runs.scores.tolist(), (0.5,), runs.unrecorded)
    assert pl.read_parquet(path)["score"].to_list() == [1, None, None]


@pytest.mark.parametrize("status", ["Truncated", "max_tokens"])
def test_a_table_says_by_a_column_what_became_of_an_answer(tmp_path: Path, status: str) -> None:
    table = pl.DataFrame({"id": ["a", "b", "c"], "score": [1, None, 1], "status": ["ok", "error", status]})
    table.write_csv(tmp_path / "t.csv")
    found = read_runs(tmp_path / "t.csv")
    assert (found.status[0].tolist(), found.unrecorded) == (["scored", "error", "scored, truncated"], ("empty",))
    # Words of another meaning are no statuses.
    table.with_columns(status=pl.lit("passed")).write_csv(tmp_path / "t.csv")
    assert read_runs(tmp_path / "t.csv").status[0].tolist() == ["scored", "unscored", "scored"]


def test_a_blank_answer_that_was_given_credit_was_read() -> None:
    columns = Columns(pl.Series(["a", "b", "c"]), prediction=pl.Series(["", "", "x"]), score=pl.Series([1.0, 0.0, 0.0]))
    assert resolved(columns, by_gold=False).to_list() == ["scored", "unparsed", "scored"]
    assert resolved(columns, by_gold=True).to_list() == ["scored", "unparsed", "scored"]
    told = Columns(columns.example_ids, score=pl.Series([1.0, 0.0, 1.0]), status=pl.Series(["empty", "empty", "error"]))
    assert resolved(told, by_gold=False).to_list() == ["scored", "empty", "error"]
    graded = Columns(columns.example_ids, score=pl.Series([1.0, 5.0, 2.0]), status=pl.Series(["empty", "empty", "ok"]))
    assert resolved(graded, by_gold=False).to_list()[:2] == ["empty", "scored"]


def test_every_command_counts_an_answer_in_error_as_wrong_whatever_score_it_has(tmp_path: Path) -> None:
    table = pl.DataFrame({"id": [f"e{at}" for at in range(9)], "score": [1.0] * 9, "status": ["error", *["ok"] * 8]})
    for name in "ab":
        table.with_columns(model=pl.lit(name)).write_csv(tmp_path / f"{name}.csv")
    assert read_runs(tmp_path / "a.csv").scores.mean() == pytest.approx(8 / 9)
    assert [each.score for each in goldassay.rank_systems(tmp_path).result.systems] == pytest.approx([8 / 9] * 2)


def test_codes_and_spellings() -> None:
    assert codes_of(pl.Series(STATUSES)).tolist() == list(range(len(STATUSES)))
    assert spelled(pl.Series(["failed", "ok"])) is None
    assert spelled(pl.Series([None, "ok"])) is not None
    # A word that is unknown hides no error beside it; a column of other words is none of statuses.
    assert spelled(pl.Series(["ok", "error", "banana", ""])).to_list() == ["scored", "error", None, None]  # type: ignore[union-attr]
    assert spelled(pl.Series(["limit", "open", "closed"])) is None


def runs_of(name: str, scores: np.ndarray[Any, Any], lacks: np.ndarray[Any, Any]) -> Runs:
    codes = np.where(lacks, STATUSES.index("unparsed"), 0).astype(np.int8)
    made = Runs.from_arrays(scores=np.where(lacks, 0.0, scores), model=name)
    return goldassay.Runs(**{**vars(made), "status_codes": codes})


PATTERN = st.integers(12, 60).flatmap(
    lambda n: (
        st.tuples(*[arrays(np.bool_, (runs, n)) for runs in (1, 1, 1, 1)])
        | st.tuples(*[arrays(np.bool_, (3, n)) for _ in range(4)])
    )
)


@given(PATTERN, st.sampled_from(["auto", "wrong", "leave-out", "bounds"]))
def test_nobody_is_better_by_one_rule_alone(pattern: tuple[Any, ...], missing: Any) -> None:
    """Whatever is missing: who is called better is ahead by each rule, or the same line says that it depends."""
    a, b, lacks_a, lacks_b = pattern
    one, other = runs_of("aa", a.astype(float), lacks_a), runs_of("bb", b.astype(float), lacks_b)
    both = ~(lacks_a.any(axis=0) | lacks_b.any(axis=0))
    if both.sum() < 3:
        return
    found = compare_sides((one, other), missing=missing)
    (pair,) = found.pairs
    line = conclude(pair)
    wrong = one.scores.mean() - other.scores.mean()
    common = one.scores[:, both].mean() - other.scores[:, both].mean()
    scored = scored_only(one) - scored_only(other)
    if differ(pair):
        if missing == "bounds":
            assert (one.scores.mean() - np.where(lacks_b, 1, other.scores).mean() > 0) == (
                np.where(lacks_a, 1, one.scores).mean() - other.scores.mean() > 0
            )
        else:
            assert len({np.sign(wrong), np.sign(common), np.sign(scored)}) == 1
        assert ("is better" in line) or ("differ by" in line)
    elif not both.all() and "cannot be ranked" in line:
        assert "depends on the rule" in line or "over all ways" in line
    assert line in judge_comparison(found).evidence
    assert found.adjusted_p[0] <= found.alpha or found.groups == (("aa", "bb"),) or len(found.groups[0]) == 2


TWO_SETS = st.sampled_from([1, 3]).flatmap(
    lambda runs: st.lists(
        st.integers(12, 30).flatmap(lambda n: st.tuples(*[arrays(np.bool_, (runs, n)) for _ in range(4)])),
        min_size=2, max_size=2,
    )
)  # fmt: skip


@given(TWO_SETS, st.sampled_from(["auto", "leave-out", "bounds"]))
def test_nobody_is_better_over_datasets_by_one_rule_alone(sets: list[tuple[Any, ...]], missing: Any) -> None:
    """The same over several datasets: means over these by each rule are on one side, or the line says otherwise."""
    models = [
        [dataclasses.replace(runs_of(name, right.astype(float), lacks), dataset=str(at)) for name, right, lacks in own]
        for at, (a, b, x, y) in enumerate(sets)
        for own in [(("aa", a, x), ("bb", b, y))]
    ]
    both = [~(x.any(axis=0) | y.any(axis=0)) for _, _, x, y in sets]
    if any(each.sum() < 3 for each in both):
        return
    found = compare_suite([align_sides(own, missing=missing) for own in models])
    if len(found.datasets) < 2:
        return
    (pair,) = found.pairs
    line = conclude_suite(pair, found.alpha)
    wrong, common, scored, least, most = (
        float(np.mean(each))
        for each in zip(
            *(
                (
                    a.scores.mean() - b.scores.mean(),
                    a.scores[:, kept].mean() - b.scores[:, kept].mean(),
                    scored_only(a) - scored_only(b),
                    a.scores.mean() - np.where(b.scored, b.scores, 1).mean(),
                    np.where(a.scored, a.scores, 1).mean() - b.scores.mean(),
                )
                for (a, b), kept in zip(models, both, strict=True)
            ),
            strict=True,
        )
    )
    if pair.adjusted_p <= found.alpha:
        rules = (least, most) if missing == "bounds" else (wrong, common, scored)
        assert len({np.sign(each) for each in rules}) == 1
        assert "is better" in line or "differ: " in line
    elif pair.depends:
        assert "depends on the rule" in line or "over all ways" in line
    sizes = [own[0].n_examples for own in models]
    by_size = [
        float(np.average([rule(a, b) for a, b in models], weights=sizes))
        for rule in (lambda a, b: a.scores.mean() - b.scores.mean(), lambda a, b: scored_only(a) - scored_only(b))
    ]
    if pair.micro_adjusted_p <= found.alpha and missing != "bounds":
        assert len({np.sign(each) for each in by_size}) == 1
    assert line in judge_suite(found).evidence


def test_bounds_are_those_of_brute_force() -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.random((1, 12)) < 0.6 for _ in range(2))
    lacks_a, lacks_b = (rng.random((1, 12)) < 0.25 for _ in range(2))
    one, other = runs_of("a", a.astype(float), lacks_a), runs_of("b", b.astype(float), lacks_b)
    (pair,) = compare_sides((one, other), missing="bounds").pairs
    n = int(lacks_a.sum() + lacks_b.sum())
    differences = []
    for values in itertools.product((0.0, 1.0), repeat=n):
        filled = list(values)
        scores = []
        for runs, lacks in ((one, lacks_a), (other, lacks_b)):
            own = runs.scores.copy()
            own[lacks] = [filled.pop() for _ in range(int(lacks.sum()))]
            scores.append(own.mean())
        differences.append(scores[0] - scores[1])
    assert pair.rules is not None
    assert (pair.rules.least.value, pair.rules.most.value) == pytest.approx((min(differences), max(differences)))


def test_a_case_where_the_order_depends_on_the_rule(tmp_path: Path) -> None:
    """A is right in 14 of 20, b in all of the 13 that could be read."""
    log(tmp_path, "a", samples([1.0] * 14 + [0.0] * 6))
    log(tmp_path, "b", samples([1.0] * 6 + [0.0] * 7 + [1.0] * 7, set(range(6, 13))))
    report = goldassay.compare_models(tmp_path)
    evidence = report.verdicts["comparison"]["evidence"]
    assert states(evidence, "7 examples without a score", "13 examples", "b is ahead")
    for missing in ("wrong", "leave-out"):
        again = goldassay.compare_models(tmp_path, missing=missing).verdicts["comparison"]
        assert "depends on the rule" in again["evidence"]
    with pytest.raises(InputError, match="7 of 20 examples"):
        goldassay.compare_models(tmp_path, missing="refuse")


def test_examples_that_a_run_lacks_are_refused_with_what_each_way_gives(tmp_path: Path) -> None:
    table = pl.DataFrame({"id": [f"e{i}" for i in range(10)], "score": [1.0] * 5 + [0.0] * 5})
    table.write_csv(tmp_path / "a.csv")
    table.head(8).write_csv(tmp_path / "b.csv")
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    with pytest.raises(InputError, match=in_order("10 examples", "8 in common", "b lacks 2", "e8, e9")) as caught:
        goldassay.compare_models(*paths)
    assert states(caught.value.mend, "b:", "wrong", "50.0 points")
    assert states(caught.value.mend, "leave-out", "8 of 10", "62.5")
    listed = score_runs(paths)
    assert [(each.n_examples, each.n_asked) for each in listed.sets] == [(10, 10), (8, 10)]
    assert states(listed.uncompared, "leave-out", "8 of 10", "62.5")
    found = goldassay.compare_models(*paths, missing="wrong").result
    assert [runs.n_examples for runs in found.models] == [10, 10]
    assert (found.models[1].status == "missing").sum() == 2


@pytest.mark.parametrize("name", ["answer", "correct_answer", "ground_truth", "Reference"])
def test_right_answers_are_known_by_other_names(tmp_path: Path, name: str) -> None:
    rows = [{"question_id": str(at), name: "ABCD"[at % 4], "pred": None if at < 3 else "A"} for at in range(12)]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    runs = read_runs(tmp_path / "a.json")
    assert (runs.scores.mean(), scored_only(runs)) == pytest.approx((2 / 12, 2 / 9))
    # What a model answered in its own words is no right answer, nor is one needed beside scores.
    for row in rows:
        row[name] = f"I say {row['pred']}"
    (tmp_path / "a.json").write_text(json.dumps(rows))
    with pytest.raises(InputError, match="no gold labels"):
        read_runs(tmp_path / "a.json")
    rows = [{**row, "score": 1} for row in rows]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    assert read_runs(tmp_path / "a.json").gold is None


def test_a_score_that_is_low_for_want_of_answers_says_nothing_of_the_labels(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    gold = rng.integers(0, 4, 150)
    for name, lacks in (("a", 50), ("b", 45)):
        right = np.where(rng.random(150) < 0.5, gold, rng.integers(0, 4, 150))
        read = [None if at < lacks else "ABCD"[each] for at, each in enumerate(right.tolist())]
        rows = {"question_id": range(150), "answer": ["ABCD"[each] for each in gold.tolist()], "pred": read}
        pl.DataFrame(rows).write_ndjson(tmp_path / f"{name}.jsonl")
    found = goldassay.compare_models(tmp_path / "a.jsonl", tmp_path / "b.jsonl").document
    assert [row["by_position"] for row in found["instability"]["results"]] == [False, False]
    for name in ("a", "b"):
        table = pl.read_ndjson(tmp_path / f"{name}.jsonl")
        table.with_columns(pred=pl.lit("A")).write_ndjson(tmp_path / f"{name}.jsonl")
    found = goldassay.compare_models(tmp_path / "a.jsonl", tmp_path / "b.jsonl").document
    assert [row["by_position"] for row in found["instability"]["results"]] == [True, True]


def test_published_outputs_are_scored_unaided(tmp_path: Path) -> None:
    """MMLU-Pro's: 18.34 % with null as wrong, and 22.13 % of what could be read."""
    archive = DATA / "answers" / "mmlu-pro-outputs-Llama-2-7b-hf.zip"
    if not archive.is_file():
        pytest.skip("the published outputs are not here")
    with zipfile.ZipFile(archive) as packed:
        (name,) = packed.namelist()
        file = Path(packed.extract(name, tmp_path))
    runs = read_runs(file)
    assert (100 * runs.scores.mean(), 100 * scored_only(runs)) == pytest.approx((18.34, 22.13), abs=0.005)
    assert (runs.status == "unparsed").sum() == 2061


def test_what_all_runs_leave_out_was_asked_too(tmp_path: Path) -> None:
    logs = [log(tmp_path, name, samples([0.0] * 10, unread)) for name, unread in (("a", {9}), ("b", {8, 9}))]
    listed = score_runs(logs, RunChoice(missing="leave-out"))
    assert [(each.n_examples, each.n_asked) for each in listed.sets] == [(8, 10), (8, 10)]


MARKS = [None, "", "NaN", "N/A", "[invalid]", "None", "null", "[no answer]", "-1", "ERROR"]


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("labels", [("yes", "no"), ("0", "1")])
def test_a_text_that_says_there_is_no_answer_is_none(tmp_path: Path, mark: str | None, labels: tuple[str, str]) -> None:
    """By runs as by boards: what is wrong for both is left out by both."""
    rows = [
        {"id": f"q{at}", "model": name, "label": labels[0], "prediction": mark if at % 4 == own else labels[at % 3 > 0]}
        for own, name in enumerate("ab")
        for at in range(24)
    ]
    path = tmp_path / "t.jsonl"
    pl.DataFrame(rows).write_ndjson(path)
    answered = goldassay.measure_answered(path, quiet=True)
    assert [row.unparsed for row in answered.result.found.runs] == [6, 6]
    assert answered.verdicts["answered"]["verdict"] != "sound"
    compared = goldassay.compare_models(path, missing="leave-out").result
    ranked = goldassay.rank_systems(path, missing="leave-out", quiet=True).document["board"]["systems"]
    assert [runs.n_examples for runs in compared.models] == [12, 12]
    assert sorted(row["score"] for row in ranked) == pytest.approx(sorted(r.scores.mean() for r in compared.models))


def test_a_label_may_be_called_as_no_answer_is(tmp_path: Path) -> None:
    rows = [{"id": at, "label": ["none", "some"][at % 2], "prediction": "none"} for at in range(10)]
    pl.DataFrame(rows).write_ndjson(tmp_path / "t.jsonl")
    assert read_runs(tmp_path / "t.jsonl").scored.all()
    rows = [{"id": at, "label": str(at - 1), "prediction": "-1"} for at in range(10)]
    pl.DataFrame(rows).write_ndjson(tmp_path / "t.jsonl")
    assert read_runs(tmp_path / "t.jsonl").scored.all()


def test_runs_without_any_answer_are_unsound(tmp_path: Path) -> None:
    rows = [{"id": at, "label": "yes", "prediction": None} for at in range(10)]
    pl.DataFrame(rows, schema_overrides={"prediction": pl.String}).write_ndjson(tmp_path / "t.jsonl")
    assert goldassay.measure_answered(tmp_path / "t.jsonl", quiet=True).verdicts["answered"]["verdict"] == "unsound"


@pytest.mark.parametrize("word", ["FAILED", "timed_out", "api_error", "error: 500", "Refused", "killed", "blocked"])
def test_words_that_only_answers_without_credit_have_are_errors(tmp_path: Path, word: str) -> None:
    """Beside a status that wrong answers have, too; a status that parts right from wrong says nothing of errors."""
    rows = [{"id": at, "score": at % 4 % 2, "status": word if at % 4 == 0 else "success"} for at in range(24)]
    pl.DataFrame(rows).write_ndjson(tmp_path / "t.jsonl")
    assert (read_runs(tmp_path / "t.jsonl").status == "error").sum() == 6
    rows = [{"id": at, "score": at % 2, "status": ["failed", "success"][at % 2]} for at in range(24)]
    pl.DataFrame(rows).write_ndjson(tmp_path / "t.jsonl")
    assert read_runs(tmp_path / "t.jsonl").scored.all()


def test_an_item_without_samples_has_no_score(tmp_path: Path) -> None:
    rows = [{"id": f"q{at}", "score": [1, at % 2] if at % 5 else []} for at in range(20)]
    pl.DataFrame(rows).write_ndjson(tmp_path / "t.jsonl")
    runs = read_runs(tmp_path / "t.jsonl")
    assert (runs.n_examples, (~runs.scored.all(axis=0)).sum()) == (20, 4)
    assert runs.scores.mean() == pytest.approx(sum(sum(row["score"]) / 2 for row in rows) / 20)


GIVEN = {
    "letters": (list("ABCD"), ["timeout", "I cannot answer that.", "unparseable"], ["E", "(B)", "b", "A, C", "AC"]),
    "numbers": ([str(n) for n in range(5)], ["timeout", "no idea", "about five"], ["7", "2.0", "(3)", "1, 2"]),
    "words": (["positive", "negative"], ["timeout", "API error", "I cannot answer that.", "it is hard to say"],
              ["neutral", "Not-Positive", "very positive"]),
    "many numbers": ([str(n) for n in range(100)],
                     ["Error: 429", "RateLimitError", "Request timed out.", "-", "[]", "I cannot answer that."],
                     ["twelve", "1/2", "$5.00", "429", "no solution", "x = 3"]),
    "free texts": ([f"{n} rivers of {n} lands" for n in range(100)],
                   ["API error 503", "openai.APIConnectionError", "timeout", "Sorry, I can't help with that", "..."],
                   ["Sorry", "a server", "I don't know that river", "error of Einstein", "unknown"]),
    "lists": ([f"joy, {n}" for n in range(100)], ["Error: 429", "-"], ["[]", "joy", "()"]),
    "answers of such forms": (["-", "Bad Gateway", "timeout", *map(str, range(97))], ["none"],
                              ["...", "Service Unavailable", "Request timed out"]),
}  # fmt: skip


@pytest.mark.parametrize("form", GIVEN)
def test_what_no_label_looks_like_is_no_answer(form: str, tmp_path: Path) -> None:
    """Failures among answers have no score, under every door; a class that gold lacks is a wrong answer."""
    labels, none, wrong = GIVEN[form]
    gold = [labels[i % len(labels)] for i in range(200)]
    files = {}
    for name, odd in (("none", none), ("wrong", wrong)):
        given = [odd[i // 5 % len(odd)] if i % 5 == 0 else gold[i] for i in range(200)]
        files[name] = tmp_path / f"{name}.csv"
        pl.DataFrame({"question_id": range(200), "answer": gold, "pred": given}).write_csv(files[name])
        runs = read_runs(files[name])
        assert runs.scores.mean() == pytest.approx(0.8, abs=0.05)
        assert int((runs.status == "unparsed").sum()) == (40 if name == "none" else 0)
    words = {name: goldassay.measure_answered(path).verdicts["answered"]["verdict"] for name, path in files.items()}
    assert words == {"none": "unsound", "wrong": "sound"}
    compared = json.dumps(goldassay.compare_models(files["none"], files["wrong"]).to_dict()["comparison"])
    assert "depends on the rule for 40 examples" in compared


def test_what_has_no_score_is_told_where_runs_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log(tmp_path, "a", samples([1.0, 0.0, 0.0, 1.0], {1}))
    assert run(["runs", "show", str(tmp_path)]) == 0
    assert states(capsys.readouterr().out, "1 of 4 answers", "1 unparsed")
    # -1 beside 0 and 1 may be a code for no score, and no scale makes it one.
    pl.DataFrame({"id": range(20), "score": [-1, 0, 1, 1] * 5}).write_csv(tmp_path / "t.csv")
    with pytest.raises(InputError, match=in_order("leave it empty", "no score")):
        read_runs(tmp_path / "t.csv")


OWN = {
    "a failed call": ("Error: 429", "Error: 503", "error"),
    "a placeholder": ("-", "...", "unparsed"),
    "a refusal": ("I'm sorry, but I can't help.", "I cannot answer that.", "unparsed"),
}


@pytest.mark.parametrize("form", OWN)
@pytest.mark.parametrize("door", ["table", "lm_eval"])
def test_texts_that_are_no_answer_by_their_form(form: str, door: str, tmp_path: Path) -> None:
    """Beside scores of the file's own, too; one that was given credit, or is of a right answer's form, is an answer."""
    *texts, status = OWN[form]

    def read(right: str, credit: float) -> list[str]:
        rows = [
            {
                "id": str(i),
                "output": texts[i % 2] if i % 5 == 0 else f"it is {i}",
                "target": right if i == 1 else str(i),
            }
            | {"score": credit if i == 5 else float(i % 5 > 1)}
            for i in range(40)
        ]
        path = tmp_path / "t.csv"
        if door == "table":
            pl.DataFrame(rows).write_csv(path)
        else:
            path = log(tmp_path, "m", "\n".join(
                json.dumps({"doc_id": row["id"], "doc": {}, "target": row["target"], "resps": [[row["output"]]],
                            "filtered_resps": [row["output"]], "filter": "none", "metrics": ["exact_match"],
                            "exact_match": row["score"]})
                for row in rows
            ))  # fmt: skip
        return [str(each) for each in read_runs(path).status[0]]

    assert [*map(read("1", 0.0).count, (status, "scored"))] == [8, 32]
    assert set(read("1", 1.0)) == set(read(texts[0], 0.0)) == {"scored"}


def test_a_board_takes_texts_that_are_no_answer_for_none(tmp_path: Path) -> None:
    rows = [
        {
            "system": name,
            "item": i,
            "output": text if i % 5 == 0 else f"{name} says {i}",
            "score": (i % 5 + at) % 3 == 1,
        }
        for at, (name, text) in enumerate((("a", "Error: 429"), ("b", "no idea")))
        for i in range(40)
    ]
    path = tmp_path / "board.csv"
    pl.DataFrame(rows).with_columns(pl.col("score").cast(pl.Int8)).write_csv(path)
    found = {row.model: row.n_scored for row in goldassay.measure_answered(path).result.found.runs}
    assert found == {"a": 32, "b": 40}


def test_only_a_closed_set_tells_by_form_and_only_beside_labels(tmp_path: Path) -> None:
    texts = pl.Series(["a long answer in words of its own"] * 20)
    assert unlike_labels(texts, list("AB")).all()
    # Too few texts for each label, too many labels, and none.
    for labels in (list("ABCDE"), [str(n) for n in range(31)], []):
        assert not unlike_labels(texts, labels).any()
    # Beside scores of its own the column may be what the model wrote.
    gold = ["A", "B"] * 50
    table = pl.DataFrame({"id": range(100), "label": gold, "prediction": ["It must be A."] * 90 + ["A"] * 10})
    path = tmp_path / "own.csv"
    table.with_columns(score=pl.Series([1.0, 0.0] * 50)).write_csv(path)
    assert read_runs(path).scored.all()
