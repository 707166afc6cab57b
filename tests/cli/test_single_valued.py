"""A second value of an option that takes one is refused in every command, never dropped without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from typer.main import get_command

from goldassay.cli.app import app
from goldassay.core.errors import InputError
from tests.cli.run_files import refused
from tests.stated import says, states

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["refused"]


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that computes something, with its words."""
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name, each in command.commands.items():
        yield from commands(each, (*path, name))


TREE = list(commands(get_command(app)))


def test_every_command_is_walked() -> None:
    assert len(TREE) >= 25
    assert ("shift", "generalization") in [path for path, _ in TREE]


@pytest.mark.parametrize(("path", "command"), TREE, ids=[" ".join(path) for path, _ in TREE])
def test_a_second_value_is_refused(path: tuple[str, ...], command: Any) -> None:
    single = [
        max(option.opts, key=len)
        for option in command.params
        if option.param_type_name == "option"
        and not option.is_flag
        and not option.multiple
        and not option.count
        # A role each, as many as there are.
        and "--columns" not in option.opts
    ]
    assert single
    for name in single:
        with pytest.raises(InputError, match=f"^{name} is given 2 times, and takes one value; "):
            command.make_context(path[-1], [name, "a", f"{name}=b"])


@pytest.mark.parametrize(("path", "command"), TREE, ids=[" ".join(path) for path, _ in TREE])
def test_columns_are_given_a_role_at_a_time(path: tuple[str, ...], command: Any) -> None:
    if any("--columns" in option.opts for option in command.params):
        needed = [word for each in command.params if each.required for word in ([max(each.opts, key=len), "x"]
                  if each.param_type_name == "option" else ["x"])]  # fmt: skip
        words = [*needed, "--columns", "text=a,id=b", "--columns=label=c"]
        context = command.make_context(path[-1], words, resilient_parsing=True)
        assert ",".join(context.params["columns"]) == "text=a,id=b,label=c"


def test_a_second_evaluation_set_of_an_audit_is_sent_to_the_option_that_takes_it(refused: Callable[..., str]) -> None:
    line = refused("audit", "train.jsonl", "--test", "a.jsonl", "--test", "other=b.jsonl")
    assert "--test is given 2 times" in line
    assert states(line, "one evaluation set", "--elsewhere NAME=FILE")


def test_a_switch_is_not_set_on_and_off(refused: Callable[..., str]) -> None:
    line = refused("leakage", "measure", "train.jsonl", "--plane", "--no-plane")
    assert line == says("goldassay: --plane", "--no-plane", "one of them")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("instability", "runs", "--labels", "0=a,0=b"), "--labels names '0' twice"),
        (
            ("shift", "generalization", "--runs", "r", "--in-distribution", "a", "--in-distribution", "b"),
            "--in-distribution names two datasets: 'a' and 'b'",
        ),
        (
            ("shift", "generalization", "--runs", "r", "--parameters", "m=1", "--parameters", "m=2"),
            "--parameters names 'm' twice",
        ),
        (
            ("train", "t", "-m", "bow", "--test", "t", "--changes", "width=1", "--changes", "width=2"),
            "'width' is set twice",
        ),
    ],
)
def test_a_name_is_not_given_two_values(refused: Callable[..., str], arguments: tuple[str, ...], said: str) -> None:
    assert said in refused(*arguments)
