"""Each command of one question, given rows of a kind that it does not read: one line, with a command that works."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from tests.cli.run_files import goldassay as here
from tests.cli.run_files import refused
from tests.cli.test_look import ROWS, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.end_to_end.conftest import Outcome

__all__ = ["here", "refused"]

ITEMS = ("choices", "preferences")
TEXTS = ("labelled texts", *ITEMS, "judgments", "extractive answers")
# What each command reads; FILE is what it is given.
READS = {
    "artifacts mine FILE": ("labelled texts",),
    "artifacts classify FILE --test FILE": ("labelled texts",),
    "artifacts assign FILE --test FILE": ("labelled texts",),
    "artifacts downsample FILE -o out": ("labelled texts",),
    "leakage measure FILE": ("labelled texts", *ITEMS),
    "leakage suggest FILE": ("labelled texts", *ITEMS),
    "train FILE --test FILE --model bow": ("labelled texts", "extractive answers"),
    "shift generalization FILE --test ID=FILE --test far=FILE --model quick_probe": (
        "labelled texts",
        "extractive answers",
    ),
    "split FILE": ("labelled texts", *ITEMS, "extractive answers"),
    "overlap FILE --corpus .": ("labelled texts", *ITEMS, "extractive answers"),
    "leakage measure --runs FILE": ("runs",),
    "shift generalization --runs FILE": ("runs",),
    "instability FILE": ("runs",),
    "compare FILE FILE": ("runs",),
    "sensitivity FILE": ("runs",),
    "board FILE": ("runs", "board", "grades"),
    "answered FILE": ("runs", "board", "grades"),
}
# What reads rows of each kind.
WRITES = dict.fromkeys(ROWS, "audit FILE") | {
    "extractive answers": "overlap FILE --corpus .",
    "grades": "audit FILE --grades 1:5",
}


@pytest.mark.parametrize(
    ("command", "kind"), [(each, kind) for each in READS for kind in ROWS if kind not in READS[each]]
)
def test_rows_of_another_kind_are_refused_with_the_command_that_reads_them(
    tmp_path: Path, refused: Callable[..., str], command: str, kind: str
) -> None:
    write(tmp_path / "a file.jsonl", ROWS[kind])
    line = refused(*(word.replace("FILE", "a file.jsonl") for word in command.split()))
    assert line.startswith("goldassay: a file.jsonl: ")
    assert f"goldassay {WRITES[kind].replace('FILE', shlex.quote('a file.jsonl'))}" in line


@pytest.mark.parametrize("kind", ROWS)
def test_the_command_that_is_named_works_as_printed(tmp_path: Path, here: Callable[..., Outcome], kind: str) -> None:
    rows = ROWS[kind] * 3 if kind in TEXTS else ROWS[kind]
    write(tmp_path / "a file.jsonl", rows)
    (tmp_path / "corpus.txt").write_text("What may have been trained on.\n")
    done = here(*(("a file.jsonl" if word == "FILE" else word) for word in WRITES[kind].split()), "--quiet")
    assert done.status == 0, done.err


@pytest.mark.parametrize("command", ["artifacts mine", "artifacts classify --test a.jsonl"])
def test_which_choice_is_right_is_no_label(tmp_path: Path, refused: Callable[..., str], command: str) -> None:
    write(tmp_path / "a.jsonl", ROWS["choices"])
    line = refused(*command.split(), "a.jsonl", "--columns", "label=answer")
    assert "write goldassay audit a.jsonl" in line
