"""The smallest size of the study of instability: what is planted is found, and nothing where nothing is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

from goldassay.core.progress import Steps
from goldassay.lab.papers import instability
from goldassay.lab.papers.instability.evidence import LABELS, planted_sets
from goldassay.lab.papers.recipe import Choice
from goldassay.lab.papers.running import open_study, run_study
from tests.lab.training.in_place import done_in_place

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.data.dataset import Dataset

PLANTED = {"Unstable", "Together", "Not together", "Selection"}


def standings(folder: Path, seed: int) -> dict[str, str]:
    with done_in_place():
        report = run_study(open_study("instability", "smoke", folder, Steps(quiet=True), seed=seed))
    return {each["name"]: each["standing"] for each in report.document["conclusions"]}


def without_planted(monkeypatch: pytest.MonkeyPatch) -> None:
    def clean(*given: Any, **named: Any) -> dict[str, Dataset]:
        return planted_sets(*given, **named, clean=True)

    monkeypatch.setattr(instability, "planted_sets", clean)


@pytest.mark.slow
# By the clock, of 90 seconds of processor each: other work beside it may take most of the cores.
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("seed", range(2))
def test_planted_instability_is_found_and_every_conclusion_is_measured(tmp_path: Path, seed: int):
    assert standings(tmp_path, seed) == dict.fromkeys(PLANTED, "found as planted")


@pytest.mark.slow
# By the clock, of 90 seconds of processor each: other work beside it may take most of the cores.
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("seed", range(2))
def test_without_it_every_conclusion_is_measured_and_none_is_held(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
):
    without_planted(monkeypatch)
    found = standings(tmp_path, seed)
    assert found.keys() == PLANTED
    assert set(found.values()) <= {"not shown", "not as planted"}


def marked(dataset: Dataset) -> list[tuple[str, set[str], set[str]]]:
    """Of each row its label, and of the two words that decide, where it has them, which label each is of."""
    texts = zip(dataset.texts("hypothesis"), dataset.examples["label"].to_list(), strict=True)
    return [
        (label, *({LABELS[int(w[-1])] for w in text.split() if w.startswith(k)} for k in ("first", "second")))
        for text, label in texts
    ]


def test_training_shows_both_words_of_a_label_and_analysis_sets_those_of_two():
    sets = planted_sets({"train": 600}, {"standard": 300}, {"one": 300, "two": 300}, seed=0)
    for name in ("train", "standard"):
        for label, first, second in marked(sets[name]):
            assert first <= {label}
            assert second <= {label}
    for family, name in enumerate(("one", "two")):
        decided = [row for row in marked(sets[name]) if row[2]]
        assert 0.5 < len(decided) / 300 < 0.7
        assert all(row == (LABELS[0], {LABELS[0]}, {LABELS[2]}) for row in decided)
        words = " ".join(sets[name].texts("hypothesis")).split()
        assert {word for word in words if word.startswith("second")} == {f"second{family}2"}


def test_a_set_that_is_left_out_is_not_made_and_the_others_are_the_same(tmp_path: Path):
    whole, part = (
        open_study("instability", "smoke", tmp_path / str(len(left)), Steps(quiet=True), choice=Choice(without=left))
        for left in ((), ("HANS",))
    )
    assert whole.work.sets.keys() - part.work.sets.keys() == {"HANS"}
    for name, dataset in part.work.sets.items():
        assert dataset.examples.equals(whole.work.sets[name].examples)
    assert not any(test.name == "HANS" for job in part.jobs for test in job.tests)


def test_where_nothing_is_planted_analysis_sets_are_drawn_as_standard_ones():
    sets = planted_sets({"train": 60}, {"standard": 300}, {"one": 300, "two": 300}, seed=0, clean=True)
    for name in ("standard", "one", "two"):
        decided = [row for row in marked(sets[name]) if row[2]]
        assert all(first <= {label} and second == {label} for label, first, second in decided)
        assert {label for label, *_ in decided} == set(LABELS)


def test_a_seed_gives_the_same_rows_and_another_gives_others():
    first, again, other = (planted_sets({"train": 50}, {}, {"one": 50}, seed=seed) for seed in (3, 3, 4))
    for name in ("train", "one"):
        assert first[name].examples.equals(again[name].examples)
        assert not first[name].examples.equals(other[name].examples)
