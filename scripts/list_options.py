"""Write docs/options.md: every option of every command, with its meaning, its key in the settings and who has it.

    python scripts/list_options.py

The site also has a page per command, which docs/conf.py makes of `command_pages` whenever it is built.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.main import get_command

from goldassay.cli.app import COMMANDS, app

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parents[1] / "docs" / "options.md"
HEAD = """# Options

One name has one meaning in every command, and an option that is also a key of [the settings](settings.md) takes its
help, its bounds and its default from there. `python scripts/list_options.py` writes this page.

| option | value | meaning | settings | commands |
|---|---|---|---|---|
"""


def walk(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command that computes something, by its words."""
    if not hasattr(command, "commands"):
        yield " ".join(path), command
        return
    for name, each in command.commands.items():
        yield from walk(each, (*path, name))


def options() -> dict[str, list[tuple[str, Any]]]:
    """The options by their longest spelling: each command that has it, with its declaration."""
    found: dict[str, list[tuple[str, Any]]] = {}
    for path, command in walk(get_command(app)):
        for option in command.params:
            if option.param_type_name == "option":
                found.setdefault(max(option.opts, key=len), []).append((path, option))
    return dict(sorted(found.items()))


def meaning(option: Any) -> str:
    """The help without what may differ between commands: the default, and whether it may be repeated."""
    return re.sub(r"\s*\[default: .*\]$", "", option.help).removesuffix(" Repeatable.")


def kind(option: Any) -> str:
    """What a value looks like; "" for a switch."""
    if option.is_flag:
        return ""
    return option.metavar.replace("[NAME=]", "").strip("<>").replace("|", ", ")


def page() -> str:
    """The page."""
    rows = []
    for given in options().values():
        first = given[0][1]
        spelled = ", ".join(f"`{each}`" for each in sorted({*first.opts, *first.secondary_opts}, key=len))
        keys = {COMMANDS[path].parameters()[str(each.name)].option.setting for path, each in given} - {""}
        setting = ", ".join(f"`{key}`" for key in sorted(keys))
        value = f"`{kind(first)}`" if kind(first) else ""
        has = ", ".join(sorted(path for path, _ in given))
        rows.append(f"| {spelled} | {value} | {meaning(first)} | {setting} | {has} |")
    return HEAD + "\n".join(rows) + "\n"


def command_pages() -> dict[str, str]:
    """{name: page} of each command, in Markdown: its help, what it takes and its options by group."""
    return {path.replace(" ", "-"): _command_page(path, command) for path, command in walk(get_command(app))}


def _command_page(path: str, command: Any) -> str:
    lines = [f"# goldassay {path}", "", *map(_line, command.help.splitlines())]
    lines += ["", "An example:", "", f"    goldassay {path} {COMMANDS[path].example}"]
    groups: dict[str, list[str]] = {}
    for each in command.params:
        if each.param_type_name == "option":
            spelled = ", ".join(f"`{name}`" for name in sorted({*each.opts, *each.secondary_opts}, key=len))
            head, value = each.rich_help_panel, f"`{kind(each)}`" if kind(each) else ""
        else:
            head, spelled, value = "Arguments", f"`{each.metavar}`", ""
        groups.setdefault(head, []).append(f"| {spelled} | {value} | {_plain(each.help or '')} |")
    for head, rows in groups.items():
        lines += ["", f"## {head}", "", "| name | value | meaning |", "|---|---|---|", *rows]
    return "\n".join(lines) + "\n"


def _line(text: str) -> str:
    """A line of a help; an indented one is code."""
    return f"  {text}" if text.startswith("  ") else _plain(text.removeprefix("\b"))


def _plain(text: str) -> str:
    """A text without anything that Markdown would take for markup."""
    return re.sub(r"([\\`*_<>\[\]{}|$~#])", r"\\\1", " ".join(text.split()))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
