"""A message names a parameter as its reader writes it: an option in a shell, an argument in Python."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import goldassay
from goldassay.core.errors import PYTHON, SHELL, entered, entry_point, option, place, right_labels

ROOT = Path(goldassay.__file__).parent
# Another program's command is named as one types it.
FOREIGN = ("inspect log convert", "opencompass CONFIG", "evalplus.evaluate")
ERRORS = {"InputError", "GoldassayError", "OutputError", "TrainingError", "error"}


@pytest.mark.parametrize(
    ("name", "value", "shell", "python"),
    [
        ("columns", "label=NAME", "--columns label=NAME", "columns={'label': NAME}"),
        ("columns", "premise=a,hypothesis=b c", "--columns 'premise=a,hypothesis=b c'",
         "columns={'premise': 'a', 'hypothesis': 'b c'}"),
        ("labels", "0=entailment,...", "--labels 0=entailment,...", "labels={'0': 'entailment', ...}"),
        ("label_names", "NAME,NAME,...", "--label-names NAME,NAME,...", "label_names=[NAME, NAME, ...]"),
        ("floor", "0.5", "--floor 0.5", "floor=0.5"),
        ("align", "intersect", "--align intersect", "align='intersect'"),
        ("train_set", "NAME", "--train-set NAME", "train_set=NAME"),
        ("draws", "", "--draws", "draws"),
        ("matched", "", "--matched", "matched"),
    ],
)  # fmt: skip
def test_a_parameter_is_worded_for_its_door(name: str, value: str, shell: str, python: str) -> None:
    assert entry_point() == PYTHON
    assert option(name, value) == python
    with entered(SHELL):
        assert option(name, value) == shell
    assert option(name, value) == python


def test_data_that_have_a_place_or_a_name_of_their_own() -> None:
    assert (right_labels(), place("train")) == ("test=FILE", "train")
    with entered(SHELL):
        assert (right_labels(), place("train")) == ("--test FILE", "TRAIN")


def test_the_door_is_left_when_a_command_fails() -> None:
    with pytest.raises(KeyError), entered(SHELL):
        raise KeyError
    assert entry_point() == PYTHON


def options_written(tree: ast.AST) -> list[str]:
    """Options that stand as plain text in the arguments of an error or in a `mend`."""
    parts: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name in ERRORS:
                parts += [*node.args, *(keyword.value for keyword in node.keywords)]
            parts += [keyword.value for keyword in node.keywords if keyword.arg == "mend"]
        elif isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts += [node.value for target in targets if getattr(target, "id", "") == "mend"]
    texts = [each.value for part in parts for each in ast.walk(part) if isinstance(each, ast.Constant)]
    return [text for text in texts if isinstance(text, str) and re.search(r"--[a-z]|^-o | -o ", text)]


@pytest.mark.parametrize(
    "room",
    [
        *sorted(path.name for path in ROOT.iterdir() if path.is_dir() and path.name not in ("cli", "lab")),
        "lab/models",
        "lab/training",
    ],
)
def test_no_error_outside_the_commands_spells_an_option(room: str) -> None:
    found = {
        f"{file.relative_to(ROOT)}: {text}"
        for file in ROOT.joinpath(room).rglob("*.py")
        for text in options_written(ast.parse(file.read_text(encoding="utf-8")))
        if not any(each in text for each in FOREIGN)
    }
    assert not found


def test_an_option_spelled_in_an_error_is_noticed() -> None:
    for line in ("raise InputError('no', mend=f'give {x} with --test FILE')", "mend += ', or --gold'",
                 "raise draft.error('no', 'choose with --columns')"):  # fmt: skip
        assert options_written(ast.parse(line))
