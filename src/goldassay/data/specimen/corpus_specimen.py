"""A made-up corpus in which known copies of a made-up test set are planted, to check a search on.

Words are made of syllables and are frequent as in texts; sentences of the corpus are drawn from a pool, so that a
gigabyte takes seconds. Planted copies are of five kinds: exact; re-wrapped (line breaks and indents in other places);
re-punctuated (other punctuation, quotation marks and case); changed (one word of every 13 in a row is another one);
rewritten (most words are others, and sentences in another order).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.files import written_together

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator


_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


def parse_size(text: int | str) -> int:
    """Bytes from "2GB" (10^9 each), "800 MB", "1.5GiB" (2^30) or a plain number.

    Raises:
        InputError: It is no size.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]I?|)B?\s*", str(text).upper())
    if match is None:
        raise InputError(f"{text!r} is no number of bytes", mend="write it like 2GB or 800MB")
    return int(float(match[1]) * _UNITS[match[2]])


KIND = "corpus"
COPY_KINDS = ("exact", "re-wrapped", "re-punctuated", "changed", "rewritten")
# Documents of the default: about 30 MB.
USUAL_SIZE = 20_000
LEAST_SIZE = 1_000
N_ITEMS, N_COPIES = 1_000, 20
_FILE_DOCUMENTS = 100_000
_N_WORDS, _N_SENTENCES = 20_000, 20_000
_CHANGE_EVERY = 13
# As a line of JSON, on average.
_BYTES_OF_DOCUMENT = 2064
_CONSONANTS, _VOWELS = "bdfghklmnprstvz", "aeiou"


@dataclass(frozen=True)
class CorpusSpecimen:
    """A test set, and where copies of its items are planted.

    Attributes:
        items: (question, answer) of each item.
        planted: Of each planted copy its kind, item, and number of the document, from 0.
        size: Documents.
        seed: Of the draws.
    """

    items: tuple[tuple[str, str], ...]
    planted: tuple[tuple[str, int, int], ...]
    size: int
    seed: int

    def documents(self) -> Iterator[str]:
        """Every document, in order; the same each time."""
        rng = np.random.default_rng([self.seed, 1])
        pool = _sentences(rng, _words(self.seed), _N_SENTENCES)
        copies = {document: (kind, item) for kind, item, document in self.planted}
        words = _words(self.seed)
        for first in range(0, self.size, 1000):
            sizes = rng.integers(4, 40, min(1000, self.size - first))
            chosen = rng.integers(0, len(pool), int(sizes.sum())).tolist()
            place = 0
            for at, size in enumerate(sizes.tolist(), start=first):
                own = [pool[each] for each in chosen[place : place + size]]
                place += size
                if at in copies:
                    kind, item = copies[at]
                    drawn = np.random.default_rng([self.seed, 2, item])
                    question, answer = _copied(kind, *self.items[item], drawn, words)
                    own[len(own) // 2 : len(own) // 2] = [f"\n{question}\n{answer}\n"]
                yield " ".join(own)

    def certificate(self) -> dict[str, Any]:
        """What is planted, and where."""
        return {
            "kind": KIND,
            "seed": self.seed,
            "n_documents": self.size,
            "n_items": len(self.items),
            "copies": [
                {"kind": kind, "item": item, "file": _file_of(at), "row": at % _FILE_DOCUMENTS + 1}
                for kind, item, at in self.planted
            ],
        }


def documents_of(size: str) -> int:
    """How many documents take about so many bytes on disk: "1GB" is a corpus of 1 GB to within a hundredth.

    Raises:
        InputError: It is no size.
    """
    return round(parse_size(size) / _BYTES_OF_DOCUMENT)


def make_corpus_specimen(size: int = USUAL_SIZE, seed: int = 0, *, clean: bool = False) -> CorpusSpecimen:
    """Draw a test set, and where its copies stand.

    Args:
        size: Documents, of about 2 kB each.
        seed: Another seed makes another specimen.
        clean: Plant no copy.

    Raises:
        InputError: The size is too small, or the seed is negative.
    """
    if size < LEAST_SIZE:
        raise InputError(f"the size is {size}", mend=f"give at least {LEAST_SIZE} documents")
    if seed < 0:
        raise InputError(f"the seed is {seed}", mend="give a number from 0 on")
    rng = np.random.default_rng([seed, 0])
    words = _words(seed)
    texts = [
        " ".join(_sentences(rng, words, int(rng.integers(low, high))))
        for _ in range(N_ITEMS)
        for low, high in ((3, 7), (1, 4))
    ]
    items = tuple((f"{question[:-1]}?", answer) for question, answer in zip(texts[::2], texts[1::2], strict=True))
    n = 0 if clean else len(COPY_KINDS) * N_COPIES
    places = np.sort(rng.choice(size, n, replace=False)).tolist()
    chosen = rng.permutation(N_ITEMS)[:n].tolist()
    planted = tuple((COPY_KINDS[at % len(COPY_KINDS)], item, place)
                    for at, (item, place) in enumerate(zip(chosen, places, strict=True)))  # fmt: skip
    return CorpusSpecimen(items, planted, size, seed)


def write_corpus_specimen(
    directory: str | os.PathLike[str], size: int = USUAL_SIZE, seed: int = 0, *, clean: bool = False
) -> list[Path]:
    """Write test.jsonl, corpus/part-N.jsonl of up to 100,000 documents each, and certificate.json, all or nothing.

    The same arguments write the same bytes; see `make_corpus_specimen` for what they mean.

    Raises:
        InputError: See `make_corpus_specimen`.
        OutputError: The folder cannot be written to.
    """
    specimen = make_corpus_specimen(size, seed, clean=clean)
    names = ["test.jsonl", *(_file_of(first) for first in range(0, size, _FILE_DOCUMENTS)), "certificate.json"]
    with written_together(directory) as aside:
        rows = ({"id": str(at), "question": item[0], "answer": item[1]} for at, item in enumerate(specimen.items))
        (aside / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        (aside / "corpus").mkdir()
        documents = specimen.documents()
        for number, name in enumerate(names[1:-1]):
            first = number * _FILE_DOCUMENTS
            with (aside / name).open("w", encoding="utf-8") as stream:
                for at in range(first, min(first + _FILE_DOCUMENTS, size)):
                    stream.write(json.dumps({"id": at, "text": next(documents)}) + "\n")
        certificate = json.dumps(specimen.certificate(), indent=2) + "\n"
        (aside / "certificate.json").write_text(certificate, encoding="utf-8")
    return [Path(directory) / name for name in names]


def _file_of(document: int) -> str:
    return f"corpus/part-{document // _FILE_DOCUMENTS}.jsonl"


def _words(seed: int) -> list[str]:
    """Distinct made-up words, the frequent ones first and short."""
    rng = np.random.default_rng([seed, 3])
    found: dict[str, None] = {}
    while len(found) < _N_WORDS:
        syllables = 1 + min(3, len(found) // 60 // (1 + len(found) // 400))
        word = "".join(
            _CONSONANTS[int(rng.integers(len(_CONSONANTS)))] + _VOWELS[int(rng.integers(len(_VOWELS)))]
            for _ in range(max(syllables, 1 + (len(found) > 60) + (len(found) > 3000)))
        )
        found.setdefault(word + _CONSONANTS[int(rng.integers(len(_CONSONANTS)))])
    return list(found)


def _sentences(rng: np.random.Generator, words: list[str], n: int) -> list[str]:
    """Sentences of 5 to 20 words, whose ranks follow Zipf's law."""
    sizes = rng.integers(5, 21, n)
    chance = 1.0 / np.arange(3, len(words) + 3)
    drawn = np.searchsorted(np.cumsum(chance / chance.sum()), rng.random(int(sizes.sum()))).tolist()
    found, place = [], 0
    for size in sizes.tolist():
        own = [words[min(each, len(words) - 1)] for each in drawn[place : place + size]]
        place += size
        found.append(f"{own[0].capitalize()} {' '.join(own[1:])}.")
    return found


def _copied(kind: str, question: str, answer: str, rng: np.random.Generator, words: list[str]) -> tuple[str, str]:
    if kind == "exact":
        return question, answer
    if kind == "re-wrapped":
        return _wrapped(question, rng), _wrapped(answer, rng)
    if kind == "re-punctuated":
        return _punctuated(question, rng), _punctuated(answer, rng)
    if kind == "changed":
        return _changed(question, rng, words), _changed(answer, rng, words)
    return _rewritten(question, rng, words), _rewritten(answer, rng, words)


def _wrapped(text: str, rng: np.random.Generator) -> str:
    breaks = (" ", " ", "\n", "\n    ", "  ", "\t")
    return "".join(word + breaks[int(rng.integers(len(breaks)))] for word in text.split()).rstrip()


def _punctuated(text: str, rng: np.random.Generator) -> str:
    marks = ("", "", "", ",", ";", " -", "\u2014", "!", "\u2019")
    found = []
    for word in text.replace(".", "").replace("?", "").split():
        shown = word.upper() if rng.random() < 0.2 else f"\u201c{word}\u201d" if rng.random() < 0.1 else word
        found.append(shown + marks[int(rng.integers(len(marks)))])
    return " ".join(found)


def _changed(text: str, rng: np.random.Generator, words: list[str]) -> str:
    """One word of every 13 in a row is another one."""
    own = text.split()
    for first in range(0, len(own), _CHANGE_EVERY):
        at = first + int(rng.integers(min(_CHANGE_EVERY, len(own) - first)))
        own[at] = words[int(rng.integers(len(words)))]
    return " ".join(own)


def _rewritten(text: str, rng: np.random.Generator, words: list[str]) -> str:
    """Sentences in reverse order, with four of every five words another one: no five words in a row are left."""
    sentences = [each.split() for each in text.replace("?", ".").split(".") if each.strip()]
    for own in sentences:
        kept = int(rng.integers(5))
        for at in range(len(own)):
            if at % 5 != kept:
                own[at] = words[int(rng.integers(len(words)))]
    return " ".join(f"{' '.join(own)}." for own in reversed(sentences))
