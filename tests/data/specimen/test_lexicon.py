from __future__ import annotations

import pytest

from goldassay.data.specimen import lexicon
from goldassay.data.specimen.lexicon import Scale

SCALES = {name: value for name, value in vars(lexicon).items() if isinstance(value, Scale)}


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
def test_a_value_belongs_to_one_kind_and_no_kind_is_a_value(scale: Scale) -> None:
    values = [value for members in scale.kinds.values() for value in members]
    assert len(values) == len(set(values))
    assert not set(values) & set(scale.kinds)
    assert len(scale.kinds) >= 2
    assert all(len(members) >= 2 for members in scale.kinds.values())


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
def test_the_kind_of_a_value_and_of_a_kind(scale: Scale) -> None:
    for kind, values in scale.kinds.items():
        assert scale.kind_of(kind) == kind
        assert {scale.kind_of(value) for value in values} == {kind}


def test_the_lexicon_has_several_hundred_words() -> None:
    from goldassay.data.specimen.topics import TOPICS

    phrases = [text for scale in SCALES.values() for kind in scale.kinds for text in (kind, *scale.kinds[kind])]
    for topic in TOPICS:
        phrases += [*topic.nouns, topic.hypernym, *topic.adjectives]
        for entry in topic.properties:
            phrases += [*entry.statements, *(form for forms in entry.claims for form in forms)]
    assert len({word for phrase in phrases for word in phrase.split() if word.isalpha()}) > 500
