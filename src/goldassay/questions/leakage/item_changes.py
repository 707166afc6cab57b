"""What to change in items so that rules miss the right option, and a copy in which length and order tell less."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.data.kinds import CHOICES, PREFERENCES
from goldassay.questions.leakage.measures.choice_rules import chance_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.data.kinds import ChoiceItems, ItemKind
    from goldassay.questions.leakage.measures.choice_rules import Picks, RuleEffect

# Rules that a longer text changes: of the wrong option where the right one is the longest, else of the right one.
_LONGEST, _SHORTEST = ("longest", "most words", "longer", "more words"), ("shorter", "fewer words")
_POSITIONS = ("first", "second")
# With the space after it, so that line breaks are kept.
_WORD = re.compile(r"\s*\S+\s*")
_MENDS = {
    CHOICES.name: {
        "longest": "lengthen {wrong} ({n_wrong} characters) beyond {n_right}",
        "most words": "give {wrong} more words than the right choice",
        "shortest": "shorten {wrong} ({n_wrong} characters) below {n_right}",
        "fewest words": "give {wrong} fewer words than the right choice",
        "absolute word": "use an absolute word in a wrong choice, or none in the right one",
        "hedge": "hedge a wrong choice, too, or not the right one",
        "of the above": "let “of the above” be wrong here, or leave it out",
        "odd one out": "word a wrong choice as unlike the others as the right one",
        "most like the others": "word a wrong choice as much like the others",
        "most words shared": "use words of the question in a wrong choice",
        "fewest words shared": "use words of the question in the right choice",
        "copied from the passage": "copy a wrong choice from the passage, too",
        "fits the grammar": "let a wrong choice fit the end of the question",
    },
    PREFERENCES.name: {
        "longer": "lengthen the rejected response ({n_wrong} characters) beyond {n_right}, or shorten the other",
        "shorter": "lengthen the preferred response ({n_right} characters) beyond {n_wrong}, or shorten the other",
        "more words": "give the rejected response more words than the preferred one",
        "fewer words": "give the preferred response more words than the rejected one",
        "more markdown": "mark up the rejected response as much, or the preferred one less",
        "less markdown": "mark up the preferred response as much, or the rejected one less",
        "more question marks": "let the rejected response ask as much, or the preferred one less",
        "fewer question marks": "let the preferred response ask as much, or the rejected one less",
        "refuses": "compare with another response that refuses, or with two that answer",
        "does not refuse": "compare with another response that answers, or with two that refuse",
        "apologizes": "let the rejected response apologize, too, or neither",
        "does not apologize": "let the preferred response apologize, too, or neither",
        "agrees with the user": "let the rejected response agree with the user, too, or neither",
        "does not agree with the user": "let the preferred response agree with the user, too, or neither",
        "more of its words in the prompt": "use words of the prompt in the rejected response",
        "fewer of its words in the prompt": "use words of the prompt in the preferred response",
        "more specific": "use rarer words in the rejected response, or more usual ones in the preferred one",
        "less specific": "use rarer words in the preferred response, or more usual ones in the rejected one",
        "absolute word": "use an absolute word in the rejected response, too, or none",
        "no absolute word": "use an absolute word in the preferred response, too, or none",
        "hedge": "hedge the rejected response, too, or neither",
        "no hedge": "hedge the preferred response, too, or neither",
    },
}


def what_to_change(rule: str, options: Sequence[str], right: Sequence[bool], kind: ItemKind) -> str:
    """What is to be changed in an item of which a rule picks the right option.

    Args:
        rule: Its name.
        options: Texts of the item.
        right: Which of them are right.
        kind: Of the item.
    """
    if _is_position(rule):
        return f"draw the {kind.right} {kind.option}'s position anew"
    if rule not in _MENDS[kind.name]:
        return f"reword the {kind.options}: the {rule} is {kind.right}"
    wrong = [text for text, is_right in zip(options, right, strict=True) if not is_right]
    own = max((text for text, is_right in zip(options, right, strict=True) if is_right), key=len)
    nearest = max(wrong, key=len) if rule in _LONGEST else min(wrong, key=len)
    return _MENDS[kind.name][rule].format(wrong=f"“{_cut(nearest)}”", n_wrong=len(nearest), n_right=len(own))


def _is_position(rule: str) -> bool:
    return rule.startswith("position ") or rule in _POSITIONS


def changed_copy(
    items: ChoiceItems,
    found: Sequence[tuple[RuleEffect, Picks]],
    order: NDArray[np.int64],
    rng: np.random.Generator,
) -> tuple[ChoiceItems, dict[str, Any]]:
    """A copy in which length and position tell no more than chance, and how many items were changed.

    A wrong choice becomes the longest of its item; two responses swap their lengths.

    Args:
        items: N of them.
        found: Rules that hit beyond chance, and what they pick.
        order: Items by number, those to change first, (N,).
        rng: Draws the words that make a text longer, and positions.
    """
    by_length = [(effect, picks) for effect, picks in found if effect.rule in (*_LONGEST, *_SHORTEST)]
    texts, lengthened = items.texts.to_list(), set[int]()
    pool = [word for text in texts for word in text.split()]
    if by_length and pool:
        # Of several rules the one that needs most items; the same items mend the others.
        worst, picks = max(by_length, key=lambda each: each[0].effect)
        right_alone = picks.applies & (picks.hits == 1)
        at_chance = math.ceil(worst.effect * float((1 - chance_of(items)).sum()) - 1e-9)
        lengthened = set([at for at in order.tolist() if right_alone[at]][:at_chance])
        grown_is_right = worst.rule in _SHORTEST
        for at in lengthened:
            begin, end = items.offsets[at : at + 2].tolist()
            grown, other = (
                max((at for at in range(begin, end) if items.right[at] == wanted), key=lambda at: len(texts[at]))
                for wanted in (grown_is_right, not grown_is_right)
            )
            if items.kind is PREFERENCES:
                # Else lengths that no response had before would tell.
                texts[grown], texts[other] = _swapped(texts[grown], texts[other], pool, rng)
            else:
                own = texts[begin:end]
                beyond = max(map(len, own)) + 1, max(len(text.split()) for text in own) + 1
                texts[grown] = _lengthened(texts[grown], *beyond, pool, rng)
    drawn = any(_is_position(effect.rule) for effect, _ in found)
    # What is written has no white space around its texts.
    copy = replace(items, texts=pl.Series("choice", texts), padded=None)
    if drawn:
        moved = np.lexsort((rng.random(items.right.size), items.item_of))
        copy = replace(copy, texts=copy.texts[moved], right=items.right[moved])
    return copy, {"n_lengthened": len(lengthened), "positions_drawn": drawn}


def _swapped(short: str, long: str, pool: Sequence[str], rng: np.random.Generator) -> tuple[str, str]:
    """A text with words added until it is as long as another, and that one cut to the length of the first."""
    n_words = len(short.split())
    kept = _WORD.findall(long)[: max(n_words, 1)]
    while len(kept) > 1 and len("".join(kept).rstrip()) > len(short) < len(long):
        kept.pop()
    return _lengthened(short, len(long), len(long.split()), pool, rng), "".join(kept).rstrip()


def _lengthened(text: str, n_characters: int, n_words: int, pool: Sequence[str], rng: np.random.Generator) -> str:
    """A text with words added until it has so many characters and so many words."""
    characters, words, added = len(text), len(text.split()), [text]
    while characters < n_characters or words < n_words:
        added.append(pool[int(rng.integers(len(pool)))])
        characters += 1 + len(added[-1])
        words += 1
    return " ".join(added)


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
