from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goldassay.data.specimen.certificate import GROUPS, LEANING, PATTERNS, PlantedPattern, copies
from goldassay.data.specimen.topics import TOPICS
from tests.data.specimen.surface_checker import decide

if TYPE_CHECKING:
    from goldassay.data.specimen import Specimen


@pytest.mark.slow
def test_planting_changes_no_truth(planted: Specimen) -> None:
    false = {entry["id"] for entry in planted.certificate["conflicting_duplicates"]}
    for rows in (planted.train, planted.dev, planted.test):
        for name, premise, hypothesis, label, topic, _ in rows.iter_rows():
            assert (decide(premise, hypothesis, topic) == label) == (name not in false), (premise, hypothesis)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.display)
def test_every_frame_holds_its_pattern_at_its_gaps(pattern: PlantedPattern) -> None:
    from tests.data.specimen.test_certificate import CUT, holds

    for frame in pattern.frames:
        assert frame.count("{}") == 1
        assert holds(CUT(frame.replace("{}", "X") + "."), list(pattern.tokens), list(pattern.gaps))


def test_patterns_display_their_gaps() -> None:
    shown = [pattern.display for pattern in PATTERNS]
    assert len(shown) == len(set(shown))
    assert {"indeed", "as # # knows", "as # can # see", "to put # plainly", "Truth be told"} <= set(shown)


def test_families_of_the_same_words_give_all_labels_away() -> None:
    for words in (("as", "knows"), ("in", "words"), ("as", "can", "see")):
        assert len({pattern.label for pattern in PATTERNS if pattern.tokens == words}) == 3


def test_flaws_favor_no_label_overall() -> None:
    for flaws in (PATTERNS, GROUPS):
        labels = [flaw.label for flaw in flaws]
        assert len({labels.count(label) for label in set(labels)}) == 1
    assert len({label for label, _ in LEANING.values()}) == len(LEANING) == 3
    assert set(LEANING) <= {topic.name for topic in TOPICS}


@pytest.mark.parametrize(("n", "share", "expected"), [(20_000, 0.002, 39), (200, 0.03, 6), (200, 0.0001, 3)])
def test_as_many_copies_of_each_label(n: int, share: float, expected: int) -> None:
    assert copies(n, share) == expected
