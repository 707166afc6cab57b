"""Whether texts are of the language that they should be: by their script, and English by its smallest words."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Chinese, Japanese, Thai, Lao, Khmer and Burmese are written without spaces between words.
UNSPACED = r"[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3040-\u30FF\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF]"
# Of the languages of XNLI those that are told by their letters: ranges of code points that most letters are in.
_SCRIPTS = {
    "ar": ((0x0600, 0x06FF),),
    "bg": ((0x0400, 0x04FF),),
    "el": ((0x0370, 0x03FF), (0x1F00, 0x1FFF)),
    "hi": ((0x0900, 0x097F),),
    "ru": ((0x0400, 0x04FF),),
    "th": ((0x0E00, 0x0E7F),),
    "ur": ((0x0600, 0x06FF),),
    "zh": ((0x3400, 0x4DBF), (0x4E00, 0x9FFF)),
}
_LATIN = ((0x0041, 0x024F),)
# Frequent in English, and words of none of the other languages of XNLI.
_ENGLISH = frozenset(
    {
        "the", "of", "and", "to", "is", "that", "it", "with", "are", "from", "his", "they", "this", "have", "by", "at",
        "who", "their", "wearing", "for", "be", "as", "were", "you", "there", "had", "not", "which", "what", "would",
        "we",
    }
)  # fmt: skip
# Of English sentences about a third of the words are such; of German, French or Spanish ones next to none.
_LEAST, _MOST = 0.1, 0.05
_IN_SCRIPT = 0.5
_MOST_TEXTS = 2_000
_WORD = re.compile(r"[^\W\d_]+")
ENGLISH = "en"


def english_share(texts: Iterable[str]) -> float:
    """Which share of the words are small English ones; 0 where there are no words."""
    counts = Counter(chain.from_iterable(map(_WORD.findall, texts)))
    total = counts.total()
    return sum(n for word, n in counts.items() if word.lower() in _ENGLISH) / total if total else 0.0


def script_share(texts: Iterable[str], language: str) -> float:
    """Which share of the letters are of a language's script; 0 where there are no letters."""
    ranges = _SCRIPTS.get(language, _LATIN)
    letters = {letter: n for letter, n in Counter(chain.from_iterable(texts)).items() if letter.isalpha()}
    total = sum(letters.values())
    inside = sum(n for letter, n in letters.items() if any(low <= ord(letter) <= high for low, high in ranges))
    return inside / total if total else 0.0


def strange_language(texts: Sequence[str], language: str) -> str | None:
    """What texts are instead, in a few words, where they cannot be of a language; None where they may be.

    Languages that share a script are not told apart, but for English.

    Args:
        texts: At most 2,000 of them are looked at, evenly spread.
        language: Its code: "en", "zh", "de".
    """
    looked = texts[:: max(1, len(texts) // _MOST_TEXTS)]
    if script_share(looked, language) < _IN_SCRIPT:
        return "in another script"
    if language == ENGLISH:
        return None if english_share(looked) >= _LEAST else "not English"
    return "English" if language not in _SCRIPTS and english_share(looked) > _MOST else None
