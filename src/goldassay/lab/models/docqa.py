"""Questions and the paragraphs of their contexts as words with their places, for readers on word vectors.

DocQA: an extractive reader on word vectors with self-attention, whose paragraphs share one normalization.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from goldassay.lab.models.compared_sentences import load_vocabulary, save_vocabulary
from goldassay.lab.models.configuration import DESK, PUBLISHED, Configuration, Recipe, Task
from goldassay.lab.models.layers import (
    BidirectionalGru,
    CharacterConvolution,
    Dropout,
    QuestionAttention,
    SelfAttention,
)
from goldassay.lab.models.network import Batch
from goldassay.lab.models.spans import SpanReader, asked_of, best_spans, candidates_in_batch
from goldassay.lab.models.vocabulary import PADDING, UNKNOWN, Ragged, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

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


_CHARACTERS = "characters"


@dataclass(frozen=True)
class Sizes:
    """Widths and limits.

    Attributes:
        vectors: Width of a word's vector.
        character_vectors: Width of a character's.
        character_filters: Width of what characters add to a word's vector.
        character_window: Characters that a filter sees.
        units: Of each GRU in each direction, and of the layers between.
        matches: Whether each word is marked that stands in the other text too, in any case.
        max_answer: Most words of an answer.
        max_question: Words of a question beyond this are cut off.
        max_paragraph: Most words of a paragraph; longer contexts are several.
        dropout: On what the GRUs read.
        frozen: Whether vectors from a file stay as they are; without a file they are always learnt.
        min_count: Words seen less often in training are unknown.
        lowercase: Whether vectors of words ignore case; characters never do.
    """

    vectors: int = 100
    character_vectors: int = 16
    character_filters: int = 50
    character_window: int = 5
    units: int = 48
    matches: bool = True
    max_answer: int = 17
    max_question: int = 50
    max_paragraph: int = 400
    dropout: float = 0.2
    frozen: bool = False
    min_count: int = 2
    lowercase: bool = True


class Network(SpanReader):
    """Where an answer starts and where it ends, for every word of every paragraph of a context.

    Words are vectors with a convolution over their characters; one bidirectional GRU reads questions and paragraphs;
    each word attends to the question, then to its own paragraph (a residual layer); a GRU on that says where the answer
    starts, another on both where it ends. Long contexts are read as paragraphs of at most 400 words; their logits are
    normalized together (the objective `shared_normalization`), so that they can be compared across paragraphs. The
    answer is the stretch of at most 17 words in one paragraph with the largest sum of its start and its end, or, where
    the data name candidates, as ReCoRD does, the candidate with the largest sum.

    Published (Clark and Gardner 2018, SQuAD): 300-wide GloVe vectors, frozen; characters of 20, 100 filters of width 5;
    100 units; dropout .2. They train by Adadelta on batches of 45 and test with a moving average of the weights; here
    it is Adam at 1e-3, without an average. Every paragraph of a context is read, none is ranked away. Desk, for few
    rows and no file of vectors, is smaller, learns its vectors, and marks words that stand in question and paragraph
    alike (Chen, Fisch, Weston and Bordes 2017), which the published one does not.

    Where questions in training have no answer, the logits of that are two more weights (Levy, Seo, Choi and Zettlemoyer
    2017).

    Source: Clark and Gardner 2018; Seo, Kembhavi, Farhadi and Hajishirzi 2017.
    """

    name: ClassVar[str] = "docqa"
    takes_vectors: ClassVar[bool] = True
    evaluation_batch: ClassVar[int] = 32
    configurations: ClassVar[Mapping[str, Configuration]] = {
        DESK: Configuration(
            Sizes(), Recipe(epochs=4, batch_size=32, learning_rate=2e-3, schedule="linear", warmup=0.05, clip=5.0)
        ),
        PUBLISHED: Configuration(
            Sizes(
                vectors=300, character_vectors=20, character_filters=100, units=100, matches=False, frozen=True,
                min_count=1,
            ),
            Recipe(epochs=20, batch_size=45, learning_rate=1e-3, clip=5.0),
        ),
    }  # fmt: skip

    def __init__(self, task: Task, sizes: Sizes, vocabulary: Vocabulary, characters: str) -> None:
        super().__init__()
        self.vocabulary, self.sizes, self.roles = vocabulary, sizes, task.roles
        self.max_answer = sizes.max_answer
        self.alphabet = characters
        self.characters = {each: number for number, each in enumerate(characters, 2)}
        self.vectors = nn.Embedding(len(vocabulary), sizes.vectors, sparse=True)
        nn.init.normal_(self.vectors.weight, std=0.3)
        self.of_characters = CharacterConvolution(
            len(characters) + 2, sizes.character_vectors, sizes.character_filters, sizes.character_window
        )
        width, units = sizes.vectors + sizes.character_filters + sizes.matches, sizes.units
        self.dropout = Dropout(sizes.dropout)
        self.states = BidirectionalGru(width, units)
        self.question = QuestionAttention(2 * units, units)
        self.itself = SelfAttention(units, self.dropout)
        self.start_states, self.start = BidirectionalGru(units, units), nn.Linear(2 * units, 1)
        self.end_states, self.end = BidirectionalGru(3 * units, units), nn.Linear(2 * units, 1)
        self.no_answer = nn.Parameter(torch.zeros(2)) if task.unanswerable else None

    @classmethod
    def build(cls, task: Task, texts: Any, sizes: Any, model: str) -> Network:  # noqa: ARG003
        """Learn words and characters from the training texts; see `network.Network.build`."""
        # A context that many questions share counts once.
        columns = [spaced(list(dict.fromkeys(column))) for column in texts if column is not None]
        vocabulary = Vocabulary.learn(columns, "whitespace", lowercase=sizes.lowercase, min_count=sizes.min_count)
        return cls(task, sizes, vocabulary, learn_characters([text for column in columns for text in column]))

    @classmethod
    def load(cls, task: Task, sizes: Any, assets: Path) -> Network:
        """See `network.Network.load`."""
        vocabulary, content = load_vocabulary(assets)
        return cls(task, sizes, vocabulary, content[_CHARACTERS])

    def save_assets(self, folder: Path) -> None:
        """Write vocabulary and characters."""
        save_vocabulary(self.vocabulary, folder, **{_CHARACTERS: self.alphabet})

    def encode(self, texts: Sequence[Sequence[str] | None]) -> EncodedReading:
        """Words of questions, and of their contexts by paragraph.

        Args:
            texts: By role, the roles among question and context; a question that is not shown is empty.
        """
        questions, contexts = asked_of(self.roles, texts)
        return encode_reading(
            questions, contexts, self.vocabulary, self.characters,
            max_question=self.sizes.max_question, max_paragraph=self.sizes.max_paragraph, n_roles=len(self.roles),
        )  # fmt: skip

    def restrict(self, encoded: EncodedReading, candidates: Ragged) -> EncodedReading:
        """See `span_reader.SpanReader.restrict`."""
        return replace(encoded, candidates=candidates)

    def collate(self, encoded: EncodedReading, rows: NDArray[np.int64]) -> Batch:
        """B questions with W paragraphs; words are numbers of the U surfaces of the batch."""
        asked, some = encoded.questions.take(rows), encoded.paragraphs.take(rows)
        words = encoded.words.take(some.flat)
        of = np.repeat(np.arange(rows.size), some.lengths)
        surfaces, places = np.unique(np.concatenate((asked.flat, words.flat)), return_inverse=True)
        n_asked = asked.flat.size
        # Row 0 is padding.
        questions, real_questions = type(asked)(places[:n_asked] + 1, asked.offsets).padded()
        tokens, real = type(words)(places[n_asked:] + 1, words.offsets).padded()
        tables = {
            "numbers": np.concatenate(([PADDING], encoded.numbers[surfaces])),
            "characters": _below(encoded.characters.take(surfaces).padded()[0]),
            "questions": questions,
            "real_questions": real_questions.astype(np.int64),
            "tokens": tokens,
            "real": real.astype(np.int64),
            "begins": encoded.begins.take(some.flat).padded(-1)[0],
            "ends": encoded.ends.take(some.flat).padded(-1)[0],
            "of": of,
        }
        if self.sizes.matches:
            tables |= _matches(encoded.folded, asked, words, of, questions.shape[1], tokens.shape[1])
        if encoded.candidates is not None:
            kept = encoded.candidates.take(rows)
            tables["candidates"] = candidates_in_batch(kept, of, tables["begins"], tables["ends"])
        return Batch({name: torch.from_numpy(table) for name, table in tables.items()}, rows.size)

    def window_logits(self, batch: Batch) -> Tensor:
        """Of start and end at each word of each paragraph, (W, L, 2)."""
        of, real, real_questions = batch["of"], batch["real"] > 0, batch["real_questions"] > 0
        table = torch.cat((self.vectors(batch["numbers"]), self.of_characters(batch["characters"])), dim=1)
        asked, words = (nn.functional.embedding(batch[name], table) for name in ("questions", "tokens"))
        if self.sizes.matches:
            asked = torch.cat((asked, batch["matches_questions"].unsqueeze(2)), dim=2)
            words = torch.cat((words, batch["matches"].unsqueeze(2)), dim=2)
        asked = self.states(self.dropout(asked), real_questions)
        words = self.states(self.dropout(words), real)
        seen = self.itself(self.question(words, real, asked[of], real_questions[of]), real)
        starts = self.start_states(self.dropout(seen), real)
        ends = self.end_states(self.dropout(torch.cat((seen, starts), dim=2)), real)
        return torch.cat((self.start(starts), self.end(ends)), dim=2).float()

    def nothing(self, logits: Tensor, batch: Batch) -> Tensor:  # noqa: ARG002
        """Logits that a paragraph's question has no answer, of its start and its end, (W, 2)."""
        lowest = torch.finfo(logits.dtype).min / 4
        found = logits.new_full((2,), lowest) if self.no_answer is None else self.no_answer
        return found.expand(len(logits), 2)

    def answers(self, logits: Tensor, batch: Batch) -> Tensor:
        """See `spans.best_spans`."""
        return best_spans(logits, batch, self.max_answer, self.nothing(logits, batch).sum(1))

    def token_names(self) -> Sequence[str]:
        """The words, in the order of their numbers."""
        return [self.vocabulary.word(number) for number in range(len(self.vocabulary))]


def _below(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows below a row of zeros."""
    return np.concatenate((np.zeros((1, table.shape[1]), np.int64), table))


def _matches(
    folded: NDArray[np.int64], asked: Ragged, words: Ragged, of: NDArray[np.int64], width: int, length: int
) -> dict[str, NDArray[np.float32]]:
    """Which words of a question stand in a paragraph of its context, (B, M), and which of a paragraph in it, (W, L)."""
    in_questions = np.zeros((len(asked), width), np.float32)
    in_words = np.zeros((len(words), length), np.float32)
    for paragraph, question in enumerate(of.tolist()):
        of_question, of_words = folded[asked.row(question)], folded[words.row(paragraph)]
        in_words[paragraph, : of_words.size] = np.isin(of_words, of_question)
        shared = np.isin(of_question, of_words)
        in_questions[question, : of_question.size] = np.maximum(in_questions[question, : of_question.size], shared)
    return {"matches_questions": in_questions, "matches": in_words}
