"""Logs of inspect_ai and its mock model, and the figures that it wrote down itself: python write_inspect_ai.py OUT.

Each output is given its usage, or the mock model would fetch a tokenizer to count tokens.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

os.environ["INSPECT_DISPLAY"] = "none"
from inspect_ai import Epochs, Task, eval, eval_set, score, task  # noqa: A004
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    PARTIAL,
    Score,
    accuracy,
    exact,
    f1,
    includes,
    match,
    mean,
    pattern,
    scorer,
)
from inspect_ai.scorer import choice as choice_scorer
from inspect_ai.solver import generate, multiple_choice, prompt_template, solver

CAPITALS = ["Paris", "Rome", "Oslo", "Lima", "Quito", "Bern", "Cairo", "Accra", "Dakar", "Tunis"]
EPOCHS = 3


def mock(texts: list[str], name: str = "model") -> Model:
    """The mock model, saying these texts in turn: handed a function, it does not log them as its settings."""
    left = iter(texts)

    def say(*_: object, **__: object) -> ModelOutput:
        output = ModelOutput.from_content(f"mockllm/{name}", next(left))
        output.usage = ModelUsage(input_tokens=5, output_tokens=2, total_tokens=7)
        return output

    return get_model(f"mockllm/{name}", custom_outputs=say, memoize=False)


@scorer(metrics=[accuracy()])
def graded() -> Any:
    """All four letters that a scorer may give."""

    async def give(state: Any, target: Any) -> Score:
        said = state.output.completion
        letter = CORRECT if target.text in said else {"": NOANSWER, target.text[0]: PARTIAL}.get(said[:1], INCORRECT)
        return Score(value=letter, answer=said)

    return give


@scorer(metrics={"length": [mean()], "first": [mean()]})
def aspects() -> Any:
    """A value of two parts."""

    async def give(state: Any, target: Any) -> Score:
        said = state.output.completion
        return Score(value={"length": len(said) / 10, "first": said[:1] == target.text[:1]}, answer=said)

    return give


@scorer(metrics=[mean()])
def rated() -> Any:
    """A grade from 1 to 5."""

    async def give(state: Any, target: Any) -> Score:
        return Score(value=1 + len(state.output.completion) % 5)

    return give


@solver
def stop_at(name: str, how: str) -> Any:
    """Ends the evaluation at one sample: by an error, as Ctrl-C does, or at once."""

    async def solve(state: Any, generate: Any) -> Any:
        if state.sample_id == name:
            if how == "error":
                raise RuntimeError("the tool failed")
            os.kill(os.getpid(), signal.SIGINT if how == "cancelled" else signal.SIGKILL)
        return state

    return solve


@solver
def talkative() -> Any:
    """Asks again and again, so that a limit of messages ends the sample."""

    async def solve(state: Any, generate: Any) -> Any:
        for _ in range(4 if state.sample_id in ("q1", "q4") else 1):
            state = await generate(state)
        return state

    return solve


def questions(n: int = len(CAPITALS)) -> list[Sample]:
    return [
        Sample(id=f"q{i}", input=f"Capital number {i}?", target=name, metadata={"genre": ["old", "new"][i % 2]})
        for i, name in enumerate(CAPITALS[:n])
    ]


def said(seed: int, n: int, right: float = 0.5) -> list[str]:
    draw = random.Random(seed)
    names = [CAPITALS[i % len(CAPITALS)] for i in range(n)]
    return [name if draw.random() < right else draw.choice([name[0] + "x", "Nowhere", ""]) for name in names]


def run(made: Task, model: Model, folder: Path, **more: Any) -> Any:
    return eval(made, model=model, log_dir=str(folder), max_samples=1, **more)[0]


@task
def asked(prompt: str = "plain") -> Task:
    return Task(dataset=questions(), solver=[prompt_template(f"{prompt}: {{prompt}}"), generate()], scorer=match())


def generation(out: Path) -> None:
    scorers = [graded(), match(), includes(), exact(), f1(), pattern(r"(\w+)"), aspects(), rated()]
    for reducer in ("mean", "max", "mode", "at_least_2", "pass_at_2", "median"):
        made = Task(
            dataset=questions(), solver=generate(), scorer=scorers, name=f"capitals_{reducer}",
            epochs=Epochs(EPOCHS, reducer),
        )  # fmt: skip
        run(made, mock(said(1, EPOCHS * len(CAPITALS))), out / "reducers")


def choices(out: Path) -> None:
    draw = random.Random(2)
    samples = [
        Sample(input=f"Which is letter {i}?", choices=["alpha", "beta", "gamma"], target="ABC"[i % 3]) for i in range(9)
    ]
    texts = [draw.choice([f"ANSWER: {'ABC'[i % 3]}", "ANSWER: A", "I cannot say"]) for i in range(9)] * 2
    made = Task(dataset=samples, solver=multiple_choice(), scorer=choice_scorer(), name="letters", epochs=2)
    run(made, mock(texts), out / "choices")
    several = [Sample(input=f"Which {i}?", choices=["a", "b", "c"], target=["A", "C"]) for i in range(4)]
    made = Task(
        dataset=several, solver=multiple_choice(multiple_correct=True), scorer=choice_scorer(), name="several_right"
    )
    run(made, mock(["ANSWER: A,C", "ANSWER: A", "ANSWER: A,C", "ANSWER: B"]), out / "choices")


def models(out: Path) -> None:
    """Two models in two ways each, and one asked for the first five alone."""
    for number, (name, right) in enumerate((("small", 0.3), ("large", 0.8))):
        for prompt in ("plain", "cot"):
            run(asked(prompt), mock(said(10 + number, 2 * len(CAPITALS), right), name), out / "models", epochs=2)
    run(asked(), mock(said(3, 5), "small"), out / "limited", limit=5)


def limits(out: Path) -> None:
    made = Task(dataset=questions(), solver=talkative(), scorer=match(), name="limits", message_limit=4)
    run(made, mock(said(4, 40)), out / "limits")


def holes(out: Path) -> None:
    """A log that finished although samples failed."""
    made = Task(dataset=questions(), solver=[stop_at("q3", "error"), generate()], scorer=match(), name="holes")
    run(made, mock(said(5, 40)), out / "holes", epochs=2, fail_on_error=False)


def stopped(out: Path, how: str) -> None:
    made = Task(dataset=questions(), solver=[stop_at("q6", how), generate()], scorer=match(), name=how)
    run(made, mock(said(6, 40)), out / how, log_buffer=2, log_realtime=False)


def later(out: Path) -> None:
    """A log that was scored after it was made, and once more by another scorer."""
    made = Task(dataset=questions(), solver=generate(), name="later")
    log = run(made, mock(said(7, len(CAPITALS))), out / "later", score=False)
    log = read_eval_log(log.location)
    for added in (match(), exact()):
        log = score(log, added, action="append", display="none")
    write_eval_log(log, log.location)


def together(out: Path) -> None:
    """An eval set, whose hooks run once at its end."""
    eval_set(
        [asked("plain")], model=[mock(said(20, 10, 0.4), "small"), mock(said(21, 10, 0.7), "large")],
        log_dir=str(out / "set"), max_samples=1, retry_attempts=0,
    )  # fmt: skip


PARTS = (generation, choices, models, limits, holes, later, together)


def main() -> None:
    out = Path(sys.argv[1])
    if len(sys.argv) > 2:
        stopped(out, sys.argv[2])
        return
    for part in PARTS:
        part(out)
    for how in ("error", "cancelled", "started"):
        subprocess.run([sys.executable, __file__, str(out), how], check=False, capture_output=True)
    printed = []
    for file in sorted(out.rglob("*.eval")):
        log = read_eval_log(str(file), header_only=True)
        about = {"file": str(file.relative_to(out)), "task": log.eval.task, "model": log.eval.model}
        found = [
            {
                "scorer": each.scorer,
                "name": each.name,
                "reducer": each.reducer,
                "scored": each.scored_samples,
                "metrics": {name: metric.value for name, metric in each.metrics.items()},
            }
            for each in (log.results.scores if log.results else [])
        ]
        printed.append({**about, "status": log.status, "scores": found})
    (out / "printed.json").write_text(json.dumps(printed, indent=1) + "\n")


if __name__ == "__main__":
    main()
