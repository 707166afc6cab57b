from __future__ import annotations

import pytest

from goldassay.data.specimen.topics import TOPICS, Topic
from tests.data.specimen.surface_checker import claims


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_no_clause_has_two_readings(topic: Topic) -> None:
    assert all(len(readings) == 1 for readings in claims(topic.name).values())


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_every_phrase_has_its_places(topic: Topic) -> None:
    assert len(topic.properties) >= 5
    for entry in topic.properties:
        assert len(entry.statements) >= 2
        assert all(phrase.count("{x}") == 1 for phrase in entry.statements)
        for forms in entry.claims:
            assert all(form.count("{x}") == 1 and form.count("{s}") == 1 for form in forms)


def test_names_and_subjects_are_distinct() -> None:
    assert len({topic.name for topic in TOPICS}) == len(TOPICS)
    nouns = [noun for topic in TOPICS for noun in topic.nouns]
    assert len(nouns) == len(set(nouns))
