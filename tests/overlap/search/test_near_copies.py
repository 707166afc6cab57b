"""Near copies against all pairs compared one by one, and what counts as one."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.kernels.words import words_of
from goldassay.questions.overlap.search.sought import SIMILARITY, NearCopy, NearTable, SoughtText, joined
from tests.overlap.search.corpora import sentence

if TYPE_CHECKING:
    from collections.abc import Sequence


def sought(texts: Sequence[tuple[str, str]]) -> NearTable:
    """Of items that are a premise and what is asked of it."""
    found = []
    for number, (first, last) in enumerate(texts):
        words = (*words_of(first), *words_of(last))
        found.append(SoughtText(words, number, (len(words_of(first)), len(words))))
    return NearTable.of(found, [()] * len(texts))


def search(table: NearTable, documents: Sequence[str]) -> dict[int, dict[int, NearCopy]]:
    encoded = [text.encode("utf-8", "surrogatepass") for text in documents]
    ends = np.cumsum([len(each) for each in encoded]).astype(np.int64)
    data = np.frombuffer(b"".join(encoded) + b"\0", np.uint8)
    found = table.search(data, np.append(0, ends[:-1]).astype(np.int64), ends, documents.__getitem__)
    return {document: {copy.item: copy for copy in copies} for document, copies in found.items()}


def shingles(text: str) -> set[str]:
    plain = joined(words_of(text))
    return {plain[at : at + 5] for at in range(max(1, len(plain) - 4))}


def similarity(one: str, other: str) -> float:
    return len(shingles(one) & shingles(other)) / len(shingles(one) | shingles(other))


def changed(rng: random.Random, text: str, n: int) -> str:
    words = text.split()
    for at in rng.sample(range(len(words)), n):
        words[at] = words[at][::-1] + "x"
    return " ".join(words)


def test_they_are_those_of_all_pairs_compared_one_by_one() -> None:
    rng = random.Random(0)
    items = [(sentence(rng, rng.randint(1, 30)), sentence(rng, rng.randint(1, 12))) for _ in range(150)]
    documents = [f"{a}\n{changed(rng, b, rng.randint(0, min(3, len(b.split()))))}" for a, b in items] * 2
    documents += [sentence(rng, rng.randint(1, 40)) for _ in range(100)] + ["été " + a for a, _ in items[:20]]
    found = search(sought(items), documents)
    n = 0
    for at, document in enumerate(documents):
        expected = {
            number: similarity(f"{a} {b}", document)
            for number, (a, b) in enumerate(items)
            if similarity(f"{a} {b}", document) >= SIMILARITY
        }
        assert {item: copy.similarity for item, copy in found.get(at, {}).items()} == pytest.approx(expected)
        n += len(expected)
    assert n > 150


def test_a_long_premise_with_another_question_does_not_count() -> None:
    rng = random.Random(1)
    premise, question, other = sentence(rng, 60), sentence(rng, 5), sentence(rng, 5)
    found = search(sought([(premise, question)]), [f"{premise} {other}", f"{premise} {question}"])
    assert found[0][0].similarity >= SIMILARITY
    assert not found[0][0].counts
    assert found[1][0] == NearCopy(0, 1.0, 1.0, 1.0)
    assert found[1][0].counts


@pytest.mark.parametrize(
    ("item", "document"),
    [
        ("Yes", "yes!"),
        ("A man sleeps.", "a  MAN\nsleeps"),
        ("我们 去 北京", "我们去北京。"),
        ("ﬁne weather to\u00adday", "fine weather today"),
        ("cafe\u0301 au lait", "CAFÉ au lait"),
        ("Ａ　ｍａｎ", "a man"),
    ],
)
def test_short_items_are_found_by_their_words(item: str, document: str) -> None:
    assert search(sought([("", item)]), ["other", document])[1][0].similarity == 1


@pytest.mark.parametrize(
    ("premise", "question"), [("现代人类", "32研究发现昆虫"), ("sent 7", "研究发现昆虫9"), ("两个人", "a研究发现 b")]
)
def test_a_question_beside_words_of_another_script_counts(premise: str, question: str) -> None:
    assert search(sought([(premise, question)]), [f"{premise}\n{question}"])[0][0] == NearCopy(0, 1.0, 1.0, 1.0)


def test_an_answer_among_choices_beside_words_of_another_script_counts() -> None:
    question, choices = words_of("哪一项陈述必然为真"), words_of("种类a甲在星期二b乙在星期五c其他")
    text = SoughtText((*question, *choices), 0, (0, len(question)))
    table = NearTable.of([text], [tuple(words_of("b乙在星期五"))])
    assert search(table, ["".join([*question, *choices])])[0][0] == NearCopy(0, 1.0, 1.0, 1.0)


def test_a_document_that_is_much_longer_is_no_near_copy() -> None:
    rng = random.Random(2)
    text = sentence(rng, 20)
    assert search(sought([("", text)]), [f"{text} {sentence(rng, 9)}", text + sentence(rng, 5000)]) == {}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=12) | st.text(st.sampled_from("<>&;/#ab7\u00e9")), min_size=1, max_size=6))
def test_each_text_is_a_near_copy_of_itself(texts: list[str]) -> None:
    found = search(sought([("", text) for text in texts]), texts)
    for at, text in enumerate(texts):
        if words_of(text):
            assert found[at][at].similarity == 1
        else:
            assert at not in found
