"""How to get an audit's figures again: the command, what was set otherwise than by default, the seeds."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from goldassay.core.escaping import one_line
from goldassay.core.facts import DatasetFacts
from goldassay.core.sections import Reproduction
from goldassay.core.settings import Settings
from goldassay.questions.leakage.result import MeasuredLeakage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.core.document import Framed, Input
    from goldassay.core.sections import Around

_IN_COMMAND = ("premise", "hypothesis", "text", "label", "id")


def reproduction_of(framed: Framed, around: Around, judged: Sequence[str]) -> Reproduction | None:
    """How to get an audit again; None for what is no audit of a dataset, with facts and a verdict on its labels.

    Args:
        framed: What was read, and set.
        around: What was found.
        judged: The questions with a verdict.
    """
    if around.answer(DatasetFacts) is None or not {"artifacts", "leakage"} <= set(judged):
        return None
    seed = one_line(framed.settings.get("seed", 0))
    leakage = around.answer(MeasuredLeakage)
    seeds = () if leakage is None else leakage.seeds
    return Reproduction(
        command=command_of(framed.inputs, seed),
        python=f"goldassay.audit(train, test, seed={seed})",
        settings=changed_settings(framed.settings),
        seeds=(
            f"seed {seed} for everything that draws at random",
            *([f"seeds {', '.join(map(one_line, seeds))} for the models that judge leakage"] if seeds else []),
        ),
    )


def command_of(inputs: Sequence[Input], seed: str) -> str | None:
    """The shell command that gives a report from the same files; None for data that were no files.

    Files are named as the report knows them, without their folders; a dataset of several files by its own name.
    """
    train, test = (next((each for each in inputs if each.role == role), None) for role in ("train", "test"))
    if train is None or not train.files:
        return None
    words = ["goldassay", "audit", _path(train)]
    # A part that was set apart of the training file comes with it.
    if test is not None and test.files and test.sha256 != train.sha256:
        words += ["--test", _path(test)]
    for each in inputs:
        if each.role == "elsewhere":
            words += ["--elsewhere", f"{each.name}={_path(each)}"]
        elif each.role == "runs":
            words += ["--runs", each.name]
    if any(each.align == "intersect" for each in inputs):
        words += ["--align", "intersect"]
    if scale := next((each.grades for each in inputs if each.grades), None):
        # An argument of its own may begin with a minus sign.
        words += [f"--grades={scale}"] if scale.startswith("-") else ["--grades", scale]
    renamed = [f"{role}={column}" for role, column in (train.roles or {}).items() if column != role]
    if renamed := [each for role in _IN_COMMAND for each in renamed if each.startswith(f"{role}=")]:
        words += ["--columns", ",".join(renamed)]
    return " ".join(shlex.quote(one_line(word)) for word in (*words, "--seed", seed))


def changed_settings(settings: Mapping[str, Any]) -> str:
    """What was set otherwise than by default, as the TOML of a settings file; "" where nothing was."""
    return "\n".join(_changed(settings, Settings().model_dump(mode="json"), ()))


def _path(source: Input) -> str:
    return source.files[0] if len(source.files) == 1 else source.name


def _changed(values: Mapping[str, Any], defaults: Mapping[str, Any], table: tuple[str, ...]) -> list[str]:
    """Lines of TOML: a table's own keys first, then the tables in it. The seed is in the command."""
    own, inner = [], []
    for key, value in values.items():
        default = defaults.get(key)
        if isinstance(default, dict):
            inner += _changed(value if isinstance(value, dict) else {}, default, (*table, key))
        elif value is not None and value != default and (table or key != "seed"):
            own.append(f"{key} = {_toml(value)}")
    return ([f"[{'.'.join(table)}]", *own] if own and table else own) + inner


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(each) for each in value) + "]"
    # JSON's numbers, truth values and texts are TOML's too; what does not print is escaped as TOML has it.
    text = json.dumps(value, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\U{ord(each):08x}" for each in text)
