from collections import Counter

import pytest

from goldassay.artifacts import mine_patterns

SENTENCES = [
    "A man is outdoors .",
    "A dog is outdoors .",
    "A girl was outdoors .",
    "Nobody is outdoors .",
    "Nobody is here .",
    "A man is tall .",
    "A A cat sleeps .",
]
LABELS = list("eeeccnc")


@pytest.fixture
def hand():
    """The spec's hand example, mined with any bounds."""

    def mined(min_count=3, **bounds):
        return mine_patterns(SENTENCES, LABELS, min_count=min_count, tokenizer="whitespace", **bounds)

    return mined


def brute_force(sentences, labels, max_tokens, max_gap, min_count):
    """{(tokens, gaps): counts} of whitespace tokens, by trying everything."""
    names = sorted(set(labels))
    total, by_label = Counter(), Counter()
    for sentence, label in zip(sentences, labels, strict=True):
        words = sentence.split()
        seen = set()

        def extend(place, tokens, gaps, words=words, seen=seen):
            seen.add((tokens, gaps))
            if len(tokens) == max_tokens:
                return
            for gap in range(max_gap + 1):
                if place + gap + 1 < len(words):
                    extend(place + gap + 1, (*tokens, words[place + gap + 1]), (*gaps, gap))

        for place, word in enumerate(words):
            extend(place, (word,), ())
        total.update(seen)
        by_label.update((key, label) for key in seen)
    return {key: [by_label[key, name] for name in names] for key, count in total.items() if count >= min_count}


def as_dict(table):
    """{(tokens, gaps): counts} of a mined table."""
    frame = table.to_frame()
    keys = zip(frame["tokens"].to_list(), frame["gaps"].to_list(), strict=True)
    found = {
        (tuple(tokens), tuple(gaps)): counts
        for (tokens, gaps), counts in zip(keys, frame["counts"].to_list(), strict=True)
    }
    assert len(found) == len(table)
    return found
