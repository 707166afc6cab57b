"""Every command of the documentation is run as it stands, and prints the lines shown beneath it."""

from __future__ import annotations

import re
import shlex
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from goldassay.cli.app import app
from goldassay.cli.main import run
from tests.docs.given import provide
from tests.docs.pages import Block, blocks_of, name_of, pages

BLOCKS = [block for page in pages() for block in blocks_of(page)]
# Others' programs, in blocks that are the reader's own.
FOREIGN = {"pip", "make", "inspect", "for", "sbatch", "python", "cat", "head"}


def part_of(page: Path, slow: bool) -> list[Block]:
    """What of a page a test runs: the everyday one stops at the first slow block, whose results later ones may need."""
    run = [block for block in blocks_of(page) if not block.yours]
    return run if slow else run[: next((i for i, block in enumerate(run) if block.slow), len(run))]


def run_blocks(blocks: list[Block], page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for block in blocks:
        for what in block.given:
            provide(what, Path.cwd(), page)
        for command in block.commands:
            status, out, err = run_line(command.line, capsys)
            where = f"{block.place}: {command.line}"
            expected = {2} if block.refused else {0, 1} if "goldassay check" in command.line else {0}
            assert status in expected, f"{where}\n{err[-800:]}"
            printed = {without_numbers(line) for line in (err if block.refused else out).splitlines()}
            missing = [line for line in command.shown if without_numbers(line) not in printed]
            assert not missing, f"{where} does not print {missing}, but\n{out}"


def run_line(line: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """What a line does: our command in this process, which saves its start, all else in a shell."""
    words = shlex.split(line, comments=True)
    if words[0] == "goldassay":
        # What a shell would find for a bare star.
        found = [sorted(map(str, Path().glob(word))) or [word] if "*" in word else [word] for word in words[1:]]
        status = run([word for names in found for word in names])
        told = capsys.readouterr()
        return status, told.out, told.err
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def without_numbers(line: str) -> str:
    """The words of a line: figures may differ in the last digit from one processor to another."""
    return " ".join(re.sub(r"[+−-]?\d[\d,.]*(e[+−-]?\d+)?", "0", line).split())


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty working directory, and lines that are not broken."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")


def everyday() -> list[Any]:
    return [pytest.param(page, id=name_of(page)) for page in pages() if part_of(page, slow=False)]


@pytest.mark.parametrize("page", everyday())
def test_commands_do_what_the_page_says(page: Path, in_folder: None, capsys: pytest.CaptureFixture[str]) -> None:
    run_blocks(part_of(page, slow=False), page, capsys)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [pytest.param(page, id=name_of(page)) for page in pages() if any(b.slow for b in blocks_of(page))]
)
@pytest.mark.timeout(1800)
def test_slow_commands_do_what_the_page_says(page: Path, in_folder: None, capsys: pytest.CaptureFixture[str]) -> None:
    run_blocks(part_of(page, slow=True), page, capsys)


# A refused command may be one whose option is misspelled; its page's test runs it.
@pytest.mark.parametrize("block", [each for each in BLOCKS if not each.refused], ids=lambda block: block.place)
def test_commands_and_their_options_are_there(block: Block) -> None:
    for command in block.commands:
        for part in re.split(r"[;|]|&&", command.line):
            words = shlex.split(part, comments=True)
            if words and words[0] == "goldassay":
                check_words(words[1:], block.place)
            else:
                assert not words or words[0] in FOREIGN or block.yours, f"{block.place}: what is {words[0]!r}?"


@cache
def root() -> Any:
    """The command with all its groups, which take a while to be put together."""
    return typer.main.get_command(app)


def check_words(words: list[str], place: str) -> None:
    """Follow the words into the command's groups, then hold its options to those it has."""
    command = root()
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        assert words[0] in command.commands, f"{place}: there is no {words[0]!r}"
        command, words = command.commands[words[0]], words[1:]
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    used = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert used <= known | {"--help", "--help-all", "-h"}, f"{place}: no {sorted(used - known)}"


def test_the_reader_owns_few_blocks() -> None:
    """A mark that grows unnoticed would leave commands untested; whoever adds one says why in it and counts it here."""
    yours = [block.place for block in BLOCKS if block.yours]
    assert len(yours) <= 29, yours
