"""Logs of tools that are a list of answers, each made here in the form of its tool, and what is read of them."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from goldassay.core.errors import InputError
from goldassay.runs.reading import list_runs, read_runs
from tests.stated import in_order

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Made(NamedTuple):
    """A log, and what is to be read of it: scores and statuses by trial, and the mean that the log gives."""

    file: Path
    model: str
    dataset: str
    scores: list[list[float]]
    statuses: list[list[str]]
    reported: float | None = None


def put(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def lines(path: Path, values: list[Any]) -> Path:
    return put(path, "\n".join(map(json.dumps, values)) + "\n")


def promptfoo(folder: Path) -> Made:
    """Two tests, each asked twice; of the second repeat one call failed and one reply is cut off."""
    told = [
        (0, True, 0, "yes", "stop"),
        (1, False, 1, "", "stop"),
        (0, False, 2, None, None),
        (1, True, 0, "b", "length"),
    ]
    results = [
        {"promptIdx": 0, "testIdx": place, "testCase": {"vars": {"q": test}, "assert": [{"type": "equals"}]},
         "promptId": "h", "provider": {"id": "openai:m", "label": ""}, "prompt": {"raw": "{{q}}", "label": "{{q}}"},
         "vars": {"q": test}, "success": success, "score": 1.0 if success else 0.5, "namedScores": {"tone": 0.5},
         "failureReason": failure,
         "response": {"error": "503"} if output is None else {"output": output, "finishReason": reason}}
        for place, (test, success, failure, output, reason) in enumerate(told)
    ]  # fmt: skip
    metrics = {"testPassCount": 2, "testFailCount": 1, "testErrorCount": 1}
    summary = {
        "version": 3,
        "timestamp": "t",
        "prompts": [{"provider": "openai:m", "metrics": metrics}],
        "results": results,
    }
    file = put(folder / "out.json", {"evalId": "eval-1", "results": summary, "config": {"description": "tone"}})
    return Made(file, "openai:m", "tone", [[1, 0], [0, 1]], [["scored", "empty"], ["error", "scored, truncated"]])


def test_results_of_promptfoo_may_lack_the_weighted_score(tmp_path: Path) -> None:
    place = promptfoo(tmp_path).file
    log = json.loads(place.read_text())
    for each in log["results"]["results"]:
        del each["score"]
    put(place, log)
    assert read_runs(place).scores.tolist() == [[1, 0], [0, 1]]


def evalplus(folder: Path) -> Made:
    def solved(task: str, base: str, plus: str, solution: str = "def f(): ...") -> dict[str, Any]:
        return {"task_id": task, "solution": solution, "base_status": base, "plus_status": plus, "base_fail_tests": []}

    tasks = {
        "HumanEval/0": [("pass", "pass")],
        "HumanEval/1": [("pass", "fail")],
        "HumanEval/2": [("timeout", "fail", " ")],
    }
    own = {task: [solved(task, *each) for each in told] for task, told in tasks.items()}
    log = {"date": "2026-01-01 00:00", "hash": "x", "eval": own}
    log |= {"pass_at_k": {"base": {"pass@1": 2 / 3}, "plus": {"pass@1": 1 / 3}}}
    file = put(folder / "humaneval" / "org--m_vllm_temp_0.2.eval_results.json", log)
    return Made(file, "org--m", "humaneval", [[1, 0, 0]], [["scored", "scored", "empty"]], 1 / 3)


def deepeval(folder: Path) -> Made:
    def case(name: str, success: bool, output: str | None, error: str | None = None) -> dict[str, Any]:
        metric = {"name": "Relevancy", "threshold": 0.5, "success": success, "score": 0.9 if success else 0.1}
        metric |= {"error": error, "score": None} if error else {}
        return {
            "name": name,
            "input": f"ask {name}",
            "actualOutput": output,
            "success": success,
            "metricsData": [metric],
        }

    log = {
        "testFile": "test_bot.py",
        "testCases": [case("a", True, "x"), case("b", False, ""), case("c", False, "y", "503")],
    }
    log |= {
        "conversationalTestCases": [],
        "hyperparameters": {"model": "m", "temperature": 0.2},
        "testPassed": 1,
        "testFailed": 2,
    }
    file = put(folder / "test_run_20260101_000000.json", log)
    return Made(file, "m", "test_bot.py", [[1, 0, 0]], [["scored", "empty", "error"]], 1 / 3)


def simple_evals(folder: Path) -> Made:
    told = [("A", "A", 1.0, "Answer: A"), ("B", "None", 0.0, "I can &amp; will not"), ("C", "None", 0.0, " ")]
    pages = [f"<p>Correct Answer: {right}</p>\n<p>Extracted Answer: {read}</p>\n<p>Score: {score}</p>\n"
             for right, read, score, _ in told]  # fmt: skip
    talks = [[{"role": "user", "content": right}, {"role": "assistant", "content": text}] for right, _, _, text in told]
    log = {
        "score": 1 / 3,
        "metrics": {"stem": 0.5, "score:std": 0.4},
        "htmls": pages,
        "convos": talks,
        "metadata": None,
    }
    file = put(folder / "mmlu_gpt-4o_chatgpt_20260101_000000_allresults.json", log)
    return Made(file, "gpt-4o_chatgpt", "mmlu", [[1, 0, 0]], [["scored", "unparsed", "empty"]], 1 / 3)


def evalscope(folder: Path) -> Made:
    """Three groups of two samples each."""
    told = [(1.0, "A", "it is A", "stop"), (0.0, "", "hm", "stop"), (0.0, "B", "it is B", "max_tokens"),
            (1.0, "A", "it is A", "stop"), (0.0, "C", "it is C", "stop"), (0.0, "", "", "stop")]  # fmt: skip
    reviews = [
        {"index": i, "target": ["A"], "messages": [{"content": "x" * 70_000}],
         "sample_score": {"score": {"value": {"acc": score}, "extracted_prediction": read, "prediction": text,
                                    "main_score_name": "acc"}, "sample_id": i, "group_id": i // 2}}
        for i, (score, read, text, _) in enumerate(told)
    ]  # fmt: skip
    replies = [
        {"index": i, "model": "m", "model_output": {"choices": [{"message": {"content": text}, "stop_reason": reason}]}}
        for i, (_, _, text, reason) in enumerate(told)
    ]
    run = folder / "20260101_000000"
    lines(run / "predictions" / "m" / "gsm8k_main.jsonl", replies)
    file = lines(run / "reviews" / "m" / "gsm8k_main.jsonl", reviews)
    return Made(
        file, "m", "gsm8k_main", [[1, 0, 0], [0, 1, 0]],
        [["scored", "scored, truncated", "scored"], ["unparsed", "scored", "empty"]],
    )  # fmt: skip


def harbor(folder: Path) -> Made:
    """Two tasks, two attempts each."""
    cut = {"exception_type": "AgentTimeoutError"}
    told = [("a", 1.0, None), ("a", None, {"exception_type": "ApiError"}), ("b", 1.0, cut), ("b", 0.0, None)]
    for i, (task, reward, failure) in enumerate(told):
        trial = {"id": str(i), "task_name": task, "trial_name": f"{task}__{i}", "trial_uri": "x", "source": "tb",
                 "config": {"agent": {"name": "t", "kwargs": {"effort": "high"}}},
                 "agent_info": {"name": "t", "version": "2", "model_info": {"name": "m", "provider": "p"}},
                 "verifier_result": None if reward is None else {"rewards": {"reward": reward, "speed": 0.5}},
                 "exception_info": failure, "reward_valid": reward is not None}  # fmt: skip
        put(folder / "job" / f"{task}__{i}" / "result.json", trial)
    job = {"id": "j", "started_at": "t", "updated_at": "t", "n_total_trials": 4, "stats": {"n_completed_trials": 4}}
    file = put(folder / "job" / "result.json", job)
    return Made(file, "m", "tb", [[1, 1], [0, 0]], [["scored", "scored, truncated"], ["error", "scored"]])


def terminal_bench(folder: Path) -> Made:
    told = [("a", True, "unset"), ("b", False, "agent_timeout"), ("c", None, "unknown_agent_error")]
    results = [{"id": "1", "trial_name": f"{task}.1-of-1.run", "task_id": task, "instruction": "do",
                "is_resolved": solved, "failure_mode": failure} for task, solved, failure in told]  # fmt: skip
    put(folder / "run" / "a" / "a.1-of-1.run" / "results.json", results[0])
    put(folder / "run" / "run_metadata.json",
        {"run_id": "run", "agent_name": "t", "model_name": "m", "dataset_name": "core"})  # fmt: skip
    file = put(folder / "run" / "results.json", {"id": "r", "results": results, "accuracy": 1 / 3})
    return Made(file, "m", "core", [[1, 0, 0]], [["scored", "scored, truncated", "error"]], 1 / 3)


def opencompass(folder: Path) -> Made:
    """Two parts of a dataset."""
    told = [
        ("A", "A", True),
        ("hm", "", False),
        ("", "", False),
        ({"prediction": "B", "rollout": {"finish_reason": "length"}}, "B", True),
    ]
    made = [{"origin_prompt": "q", "prediction": text, "gold": "A"} for text, _, _ in told]
    run = folder / "20260101_000000"
    put(run / "predictions" / "m" / "gsm8k_1.json", {"0": made[2], "1": made[3]})
    details = [
        {"pred": [read], "answer": ["A"], "correct": [right], "example_abbr": f"all_{i}"}
        for i, (_, read, right) in enumerate(told)
    ]
    put(run / "results" / "m" / "gsm8k.json", {"accuracy": 50.0, "details": details})
    file = put(run / "predictions" / "m" / "gsm8k_0.json", {"0": made[0], "1": made[1]})
    return Made(file, "m", "gsm8k", [[1, 0, 0, 1]], [["scored", "unparsed", "empty", "scored, truncated"]], 0.5)


TOOLS = (promptfoo, evalplus, deepeval, simple_evals, evalscope, harbor, terminal_bench, opencompass)
of_each_tool = pytest.mark.parametrize("make", TOOLS, ids=lambda make: make.__name__)


@of_each_tool
def test_scores_statuses_and_names(make: Callable[[Path], Made], tmp_path: Path) -> None:
    made = make(tmp_path)
    for place in (made.file, tmp_path):
        (row,) = list_runs(place).to_dicts()
        assert (row["model"], row["dataset"]) == (made.model, made.dataset)
        assert (row["n_runs"], row["n_examples"]) == (len(made.scores), len(made.scores[0]))
    runs = read_runs(made.file)
    assert runs.scores.tolist() == made.scores
    assert runs.status.tolist() == made.statuses
    assert runs.reported[0] == (None if made.reported is None else pytest.approx(made.reported))


@of_each_tool
def test_a_log_that_goes_on_otherwise_or_is_cut_short_is_refused_in_one_line(
    make: Callable[[Path], Made], tmp_path: Path
) -> None:
    made = make(tmp_path)
    if make is harbor:
        made = made._replace(
            file=next(file for file in tmp_path.rglob("result.json") if file.parent != made.file.parent)
        )
    whole = made.file.read_text()
    otherwise = whole
    for field in ("score", "base_status", "is_resolved", '"prediction"', "agent_info", "metricsData"):
        otherwise = (
            otherwise.replace(field, f"x{field}x")
            if field != "metricsData"
            else otherwise.replace('s": [{"', 's": [[], {"')
        )
    for text in (whole[: len(whole) * 2 // 3], otherwise):
        made.file.write_text(text)
        with pytest.raises(InputError) as refused:
            read_runs(tmp_path / "job" if make is harbor else made.file)
        assert "\n" not in str(refused.value)
        # Said once, by what saw it first.
        assert str(refused.value).partition("; ")[0].count(str(made.file)) == 1


def test_a_score_of_several_is_chosen_by_name(tmp_path: Path) -> None:
    for make, metric, means in (
        (promptfoo, "tone", [0.25, 0.25]),
        (promptfoo, "score", [0.5, 0.5]),
        (evalplus, "base", [2 / 3]),
        (harbor, "speed", [0.5, 0.25]),
    ):
        made = make(tmp_path / metric)
        assert read_runs(made.file, columns={"score": metric}).scores.mean(axis=1).tolist() == pytest.approx(means)
        with pytest.raises(InputError, match="no score 'none'"):
            read_runs(made.file, columns={"score": "none"})
    made = deepeval(tmp_path)
    assert read_runs(made.file, columns={"score": "Relevancy"}).status.tolist() == [["scored", "empty", "error"]]
    assert read_runs(made.file, columns={"score": "Relevancy"}, missing="leave-out").scores.tolist() == [[0.9]]


def test_settings_are_configurations(tmp_path: Path) -> None:
    """Two prompts of one provider in promptfoo, two agents of one model in Harbor."""
    made = promptfoo(tmp_path / "a")
    log = json.loads(made.file.read_text())
    for each in log["results"]["results"][:2]:
        each |= {"promptIdx": 1, "prompt": {"raw": "think: {{q}}", "label": "think"}}
    put(made.file, log)
    assert list_runs(made.file)["model"].to_list() == ["openai:m [prompt=think]", "openai:m [prompt={{q}}]"]
    file = harbor(tmp_path / "b").file
    other = next(file.parent.glob("b__*/result.json"))
    put(other, other.read_text().replace('"high"', '"low"'))
    assert sorted(list_runs(file)["model"]) == ["m [effort=high]", "m [effort=low]"]


def test_a_job_that_is_not_whole_says_so(tmp_path: Path) -> None:
    file = harbor(tmp_path).file
    put(file, file.read_text().replace('"n_total_trials": 4', '"n_total_trials": 9'))
    with pytest.raises(InputError, match=in_order("unfinished", "4 of the 9 trials")):
        read_runs(file)


def test_perplexities_are_choices_and_scored_without_details(tmp_path: Path) -> None:
    told = {str(i): {"label: A": {"PPL": 1.0}, "label: B": {"PPL": 2.0}, "prediction": "A", "gold": gold}
            for i, gold in enumerate("AB")}  # fmt: skip
    file = put(tmp_path / "20260101_000000" / "predictions" / "m" / "race.json", told)
    runs = read_runs(file)
    assert runs.scores.tolist() == [[1, 0]]
    assert runs.predictions is not None
    generated = put(file, {"0": {"origin_prompt": "q", "prediction": "it is A", "gold": "A"}})
    with pytest.raises(InputError, match=in_order("no score of single answers", "--dump-eval-details")):
        read_runs(generated)


@pytest.mark.parametrize("accuracy", [75.0, 50.0])
def test_details_without_a_score_are_compared_where_that_gives_the_accuracy(tmp_path: Path, accuracy: float) -> None:
    run = tmp_path / "20260101_000000"
    made = {str(i): {"origin_prompt": "q", "prediction": f"it is {read}"} for i, read in enumerate("ABAA")}
    file = put(run / "predictions" / "m" / "ceval.json", made)
    details = {
        str(i): {"origin_prediction": "", "predictions": read, "references": "A"} for i, read in enumerate("ABAA")
    }
    put(run / "results" / "m" / "ceval.json", {"accuracy": accuracy, "details": {"type": "GEN", **details}})
    if accuracy == 75.0:
        assert read_runs(file).scores.tolist() == [[1, 0, 1, 1]]
    else:
        with pytest.raises(InputError, match="no score of single answers"):
            read_runs(file)


def test_replicas_are_trials(tmp_path: Path) -> None:
    made = [{"origin_prompt": "q", "prediction": "A"} for _ in range(4)]
    run = tmp_path / "20260101_000000"
    file = put(run / "predictions" / "m" / "aime.json", {str(i): each for i, each in enumerate(made)})
    details = [{"pred": ["A", "A"], "correct": right} for right in ([True, False], [True, True])]
    put(run / "results" / "m" / "aime.json", {"details": details})
    assert read_runs(file).scores.tolist() == [[1, 1], [0, 1]]


@pytest.mark.parametrize("value", ["{}", "[]", "null", "7"])
def test_a_field_of_another_kind_is_no_traceback(tmp_path: Path, value: str) -> None:
    """An object without fields is a column that polars cannot compare, where columns are suggested."""
    whole = evalplus(tmp_path).file.read_text()
    for own in (whole.replace('"2026-01-01 00:00"', value), f'{{"n_total_trials": {value}}}'):
        with pytest.raises(InputError) as refused:
            read_runs(put(tmp_path / "result.json", own))
        assert "\n" not in str(refused.value)


def test_packed_files_are_read_too(tmp_path: Path) -> None:
    made = promptfoo(tmp_path)
    packed = tmp_path / "packed" / "out.json.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(made.file.read_bytes()))
    assert read_runs(packed).scores.tolist() == made.scores
