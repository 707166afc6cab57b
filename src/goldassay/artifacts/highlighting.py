"""Where in a sentence a pattern is: the characters of its tokens, not those of what it skips."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# The Treebank scheme writes both for a plain quotation mark.
_QUOTES = ("``", "''")


@dataclass(frozen=True)
class Marked:
    """A text and the parts of it to mark, (begin, end) in characters, ascending and apart from each other."""

    text: str
    spans: tuple[tuple[int, int], ...]


def mark_pattern(text: str, tokens: Sequence[str], pattern: Sequence[str], gaps: Sequence[int]) -> Marked:
    """Mark a pattern where it first is in a sentence.

    A tokenizer may change what it cuts (stems, lower case), so that the tokens are not in the text; then the text is
    that of the tokens, with spaces between.

    Args:
        text: The sentence.
        tokens: Its tokens.
        pattern: The pattern's tokens.
        gaps: How many tokens it skips between each two.

    Returns:
        Without spans if the pattern is not there.
    """
    spans = token_spans(text, tokens)
    if spans is None:
        text = " ".join(tokens)
        ends = list(accumulate((len(token) + 1 for token in tokens), initial=0))
        spans = [(begin, begin + len(token)) for begin, token in zip(ends, tokens, strict=False)]
    joined: list[tuple[int, int]] = []
    for place in _places(tokens, pattern, gaps):
        begin, end = spans[place]
        if joined and joined[-1][1] == begin:
            begin = joined.pop()[0]
        joined.append((begin, end))
    return Marked(text, tuple(joined))


def token_spans(text: str, tokens: Sequence[str]) -> list[tuple[int, int]] | None:
    """Where each token is in its text, in order; None where one is not in it as it stands."""
    spans = []
    at = 0
    for token in tokens:
        spelled = (token, '"') if token in _QUOTES else (token,)
        found = [(begin, begin + len(each)) for each in spelled if (begin := text.find(each, at)) >= 0]
        if not found:
            return None
        spans.append(min(found))
        at = spans[-1][1]
    return spans


def _places(tokens: Sequence[str], pattern: Sequence[str], gaps: Sequence[int]) -> list[int]:
    steps = list(accumulate((gap + 1 for gap in gaps), initial=0))
    for start in range(len(tokens) - steps[-1]):
        if all(tokens[start + step] == token for step, token in zip(steps, pattern, strict=True)):
            return [start + step for step in steps]
    return []
