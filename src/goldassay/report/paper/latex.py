"""Tables as LaTeX: cells escaped, rules by booktabs, nothing but the tabular, so that any paper can frame it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "'": r"\textquotesingle{}",
    "−": "$-$", "—": "---", "×": r"$\times$", "…": r"\ldots{}", "\N{NO-BREAK SPACE}": "~",
}  # fmt: skip


def escape(text: object) -> str:
    """A text as LaTeX that shows just it, on one line."""
    line = "".join(
        character if character.isprintable() or character == "\N{NO-BREAK SPACE}" else " " for character in str(text)
    )
    return "".join(_SPECIAL.get(character, character) for character in re.sub(" +", " ", line).strip(" "))


def small(text: str) -> str:
    """LaTeX set smaller, such as an interval below its value; nothing stays nothing."""
    return rf"{{\scriptsize {text}}}" if text else ""


def tabular(
    comment: str, columns: str, head: Sequence[Sequence[str]], blocks: Sequence[Sequence[Sequence[str]]]
) -> str:
    """A tabular with a rule below its head and between its blocks.

    Args:
        comment: What it shows and by which convention, for whoever opens the file.
        columns: The columns' alignments.
        head: Rows of cells, as LaTeX.
        blocks: Rows of cells of each block, as LaTeX.
    """
    lines = [f"% {comment}", r"% Needs \usepackage{booktabs} and \usepackage[T1]{fontenc}."]
    lines += [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *map(_row, head)]
    for block in blocks:
        lines += [r"\midrule", *map(_row, block)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
