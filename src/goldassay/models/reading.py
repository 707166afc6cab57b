"""Questions and the paragraphs of their contexts as words with their places, for readers on word vectors."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from goldassay.models.ragged import Ragged
from goldassay.models.vocabulary import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.models.vocabulary import Vocabulary

# A run of letters and digits, or one sign: every answer then begins and ends with a word.
_WORD = re.compile(r"[^\W_]+|[^\w\s]|_")
_LINE = re.compile(r"[^\n]+")
# Characters of a word beyond this are not read.
MAX_CHARACTERS = 16


@dataclass(frozen=True)
class EncodedReading:
    """N questions with the paragraphs of their contexts; see `network.Encoded`.

    A context that several questions share is encoded once.

    Attributes:
        questions: Surfaces of each question's words; a surface is a word as it is written.
        paragraphs: Numbers of the paragraphs of each question's context.
        words: Surfaces of each paragraph's words.
        begins: Where in the context each of them begins.
        ends: Where it ends.
        numbers: Of each surface its number in the vocabulary, (S,).
        folded: Of each surface a number that it shares with those that differ in case alone, (S,).
        characters: Of each surface.
        costs: Words of a question's paragraphs, (N,).
        cut: Questions that lost their end, (roles, N); contexts are read whole.
        candidates: Where in its context each question's candidates begin and end, in turn; None where any stretch may
            be the answer.
    """

    questions: Ragged
    paragraphs: Ragged
    words: Ragged
    begins: Ragged
    ends: Ragged
    numbers: NDArray[np.int64]
    folded: NDArray[np.int64]
    characters: Ragged
    costs: NDArray[np.int64]
    cut: NDArray[np.bool_]
    candidates: Ragged | None = None

    def __len__(self) -> int:
        return len(self.questions)


def spaced(texts: Sequence[str]) -> list[str]:
    """Texts with one space between their words, which whitespace then separates as this reader does."""
    return [" ".join(_WORD.findall(text)) for text in texts]


def learn_characters(texts: Sequence[str], min_count: int = 2) -> str:
    """The characters that occur so often in words, the frequent ones first; of equals by their code."""
    counts: dict[str, int] = {}
    for text in texts:
        for character in text:
            counts[character] = counts.get(character, 0) + 1
    kept = (each for each, count in counts.items() if count >= min_count and not each.isspace())
    return "".join(sorted(kept, key=lambda each: (-counts[each], each)))


def paragraph_spans(context: str, most: int) -> list[list[tuple[int, int]]]:
    """Words of a context by paragraph, where each begins and ends.

    Lines are joined while a paragraph has at most so many words; a longer line is cut into paragraphs of that length.
    A context without words is one paragraph without words.
    """
    paragraphs: list[list[tuple[int, int]]] = [[]]
    for line in _LINE.finditer(context):
        words = [(match.start(), match.end()) for match in _WORD.finditer(context, line.start(), line.end())]
        if paragraphs[-1] and len(paragraphs[-1]) + len(words) > most:
            paragraphs.append([])
        paragraphs[-1] += words
        while len(paragraphs[-1]) > most:
            paragraphs[-1], rest = paragraphs[-1][:most], paragraphs[-1][most:]
            paragraphs.append(rest)
    return paragraphs


@dataclass
class _Surfaces:
    """Words as they are written, numbered from 0 in the order of first appearance."""

    known: dict[str, int] = field(default_factory=dict)

    def of(self, words: Iterator[str]) -> list[int]:
        return [self.known.setdefault(word, len(self.known)) for word in words]


def encode_reading(
    questions: Sequence[str],
    contexts: Sequence[str],
    vocabulary: Vocabulary,
    characters: Mapping[str, int],
    *,
    max_question: int,
    max_paragraph: int,
    n_roles: int,
) -> EncodedReading:
    """Encode N questions, each with its context.

    Args:
        questions: Empty where they are not shown.
        contexts: A paragraph or a document each.
        vocabulary: Of words between white space.
        characters: The number of each known character, from 2 on.
        max_question: Words of a question beyond this are cut off.
        max_paragraph: Most words of a paragraph.
        n_roles: Texts that are shown; where it is 2 the question comes first.
    """
    surfaces = _Surfaces()
    rows = [surfaces.of(match.group() for match in _WORD.finditer(text)) for text in questions]
    cut = np.zeros((n_roles, len(rows)), np.bool_)
    if n_roles > 1:
        cut[0] = [len(row) > max_question for row in rows]
    words: list[list[int]] = []
    spans: list[list[tuple[int, int]]] = []
    of_context: dict[str, list[int]] = {}
    for context in contexts:
        if context not in of_context:
            parts = paragraph_spans(context, max_paragraph)
            of_context[context] = list(range(len(words), len(words) + len(parts)))
            words += [surfaces.of(context[begin:end] for begin, end in part) for part in parts]
            spans += parts
    lengths = np.array([len(each) for each in words], np.int64)
    paragraphs = [of_context[context] for context in contexts]
    written = list(surfaces.known)
    known, folds = vocabulary.numbers, _Surfaces()
    return EncodedReading(
        questions=Ragged.of([row[:max_question] for row in rows]),
        paragraphs=Ragged.of(paragraphs),
        words=Ragged.of(words),
        begins=Ragged.of([[begin for begin, _ in each] for each in spans]),
        ends=Ragged.of([[end for _, end in each] for each in spans]),
        numbers=np.array(
            [known.get(word.lower() if vocabulary.lowercase else word, UNKNOWN) for word in written], np.int64
        ),
        folded=np.array(folds.of(word.lower() for word in written), np.int64),
        characters=Ragged.of([[characters.get(each, UNKNOWN) for each in word[:MAX_CHARACTERS]] for word in written]),
        costs=np.array([lengths[each].sum() for each in paragraphs], np.int64),
        cut=cut,
    )
