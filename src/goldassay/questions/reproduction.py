"""How to get an audit's figures again: the command, what was set otherwise than by default, the seeds."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records
from goldassay.core.escaping import one_line
from goldassay.core.sections import Reproduction
from goldassay.core.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

_IN_COMMAND = ("premise", "hypothesis", "text", "label", "id")


def reproduction_of(document: Mapping[str, Any]) -> Reproduction | None:
    """How to get an audit again; None for what is no audit of a dataset, with facts and a verdict on its labels."""
    if not mapping(document, "facts") or not {"artifacts", "leakage"} <= set(mapping(document, "verdicts")):
        return None
    seed = one_line(mapping(document, "settings").get("seed", 0))
    return Reproduction(
        command=command_of(document),
        python=f"goldassay.audit(train, test, seed={seed})",
        settings=changed_settings(document),
        seeds=tuple(_seeds_of(document)),
    )


def command_of(document: Mapping[str, Any]) -> str | None:
    """The shell command that gives this report from the same files; None for data that were no files.

    Files are named as the report knows them, without their folders; a dataset of several files by its own name.
    """
    inputs = records(document.get("inputs"))
    train = next((each for each in inputs if each.get("role") == "train"), {})
    test = next((each for each in inputs if each.get("role") == "test"), {})
    if not train.get("files"):
        return None
    words = ["goldassay", "audit", _path(train)]
    # A part that was set apart of the training file comes with it.
    if test.get("files") and test.get("sha256") != train.get("sha256"):
        words += ["--test", _path(test)]
    for each in (each for each in inputs if each.get("role") == "elsewhere"):
        words += ["--elsewhere", f"{each.get('name')}={_path(each)}"]
    for runs in (each for each in inputs if each.get("role") == "runs"):
        words += ["--runs", str(runs.get("name"))]
    if any(each.get("align") == "intersect" for each in inputs):
        words += ["--align", "intersect"]
    if scale := next((each["grades"] for each in inputs if each.get("grades")), None):
        # An argument of its own may begin with a minus sign.
        words += [f"--grades={scale}"] if str(scale).startswith("-") else ["--grades", str(scale)]
    roles = mapping(train, "roles")
    renamed = [f"{role}={roles[role]}" for role in _IN_COMMAND if role in roles and roles[role] != role]
    if renamed:
        words += ["--columns", ",".join(renamed)]
    settings = mapping(document, "settings")
    words += ["--seed", str(settings.get("seed", 0))]
    return " ".join(shlex.quote(one_line(word)) for word in words)


def changed_settings(document: Mapping[str, Any]) -> str:
    """What was set otherwise than by default, as the TOML of a settings file; "" where nothing was."""
    return "\n".join(_changed(mapping(document, "settings"), Settings().model_dump(mode="json"), ()))


def _seeds_of(document: Mapping[str, Any]) -> list[str]:
    """The seeds in words: the one of everything drawn, those of the judges of leakage."""
    lines = [f"seed {one_line(mapping(document, 'settings').get('seed', 0))} for everything that draws at random"]
    seeds = mapping(document, "leakage").get("seeds")
    if isinstance(seeds, list) and seeds:
        lines.append(f"seeds {', '.join(one_line(seed) for seed in seeds)} for the models that judge leakage")
    return lines


def _path(source: Mapping[str, Any]) -> str:
    files = source.get("files")
    return str(files[0]) if isinstance(files, list) and len(files) == 1 else str(source.get("name"))


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
