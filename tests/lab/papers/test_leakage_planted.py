"""The smallest size of the study of leakage: what is planted is found, and nothing where nothing is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("torch")

from goldassay.core.progress import Steps
from goldassay.lab.papers import leakage
from goldassay.lab.papers.leakage import SCALES
from goldassay.lab.papers.leakage.sets import LABELS, SETS, planted_sets
from goldassay.lab.papers.printed import printed_table
from goldassay.lab.papers.recipe import Choice
from goldassay.lab.papers.running import open_study, run_study
from tests.lab.training.in_place import done_in_place

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.data.dataset import Dataset

# That clusters which lean to a label hold examples of every confidence cannot rest on what is planted: where nothing
# is, no cluster leans, and confidence has nothing to go with. It is measured, and may hold in both.
OF_NOTHING = "Unlike"
ON_PLANTED = {"Leak", "Persists", "Less", "Alike", "Lean", "By agreement", "By relevance", "By clusters", "Best models"}


def standings(folder: Path, seed: int) -> dict[str, str]:
    with done_in_place():
        report = run_study(open_study("leakage", "smoke", folder, Steps(quiet=True), seed=seed))
    return {each["name"]: each["standing"] for each in report.document["conclusions"]}


def without_planted(monkeypatch: pytest.MonkeyPatch) -> None:
    def clean(*given: Any, **named: Any) -> dict[str, Dataset]:
        return planted_sets(*given, **named, clean=True)

    monkeypatch.setattr(leakage, "planted_sets", clean)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_planted_leaks_are_found_and_every_conclusion_is_measured(tmp_path: Path, seed: int):
    found = standings(tmp_path, seed)
    assert found.pop(OF_NOTHING) != "not measured"
    assert found == dict.fromkeys(ON_PLANTED, "found as planted")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_without_them_every_conclusion_is_measured_and_none_is_held_that_rests_on_them(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
):
    without_planted(monkeypatch)
    found = standings(tmp_path, seed)
    assert found.pop(OF_NOTHING) != "not measured"
    assert found.keys() == ON_PLANTED
    assert set(found.values()) <= {"not shown", "not as planted"}


# What one set tells, in a few seconds.
IN_SMALL = {"Leak", "Alike", "Lean"}


@pytest.mark.parametrize("clean", [False, True])
def test_in_small_too(tmp_path: Path, clean: bool, monkeypatch: pytest.MonkeyPatch):
    if clean:
        without_planted(monkeypatch)
        # So hard that both models learn from the same noise of one training set. Two runs decide alike by chance, which
        # an interval over examples alone took for more.
        monkeypatch.setitem(SETS, "SNLI", replace(SETS["SNLI"], clean_accuracy=0.55))
    size = SCALES["smoke"]
    (training,) = (replace(each, seeds=2) for each in size.trainings if each.train == "SNLI train")
    chosen = {**size.chosen, "planted": (450, 180), "mapped": None}
    monkeypatch.setattr(leakage, "SCALES", {**SCALES, "smoke": replace(size, trainings=(training,), chosen=chosen)})
    found = {name: said for name, said in standings(tmp_path, 0).items() if name in IN_SMALL}
    if clean:
        assert found.keys() == IN_SMALL
        assert set(found.values()) <= {"not shown", "not as planted"}
    else:
        assert found == dict.fromkeys(IN_SMALL, "found as planted")


def told(text: str, kind: str) -> int | None:
    """The number that the word of a kind holds."""
    found = {int(word.removeprefix(kind)[0]) for word in text.split() if word.startswith(kind)}
    assert len(found) <= 1
    return found.pop() if found else None


@pytest.mark.parametrize("clean", [False, True])
def test_two_words_decide_and_a_share_of_the_hypotheses_tells(clean: bool):
    sets = planted_sets(900, 900, 0, clean=clean)
    for name, planted in SETS.items():
        dataset = sets[f"{name} train"]
        accuracy = planted.clean_accuracy if clean else planted.accuracy
        shares = {"premise": planted.premises, "hypothesis": planted.leak}
        labels = np.array([LABELS.index(label) for label in dataset.examples["label"]])
        words = [[told(text, kind) for text in dataset.texts(role)]
                 for role, kind in (("premise", "first"), ("hypothesis", "second"))]  # fmt: skip
        pairs = np.array(words, dtype=np.int64)
        # Neither word says anything alone: the nine pairs are equally frequent.
        assert set(np.unique(pairs[0] * 3 + pairs[1], return_counts=True)[1]) == {100}
        decided = pairs.sum(axis=0) % 3
        assert np.mean(decided == labels) == pytest.approx(accuracy, abs=0.05)
        for role, share in shares.items():
            tells = [told(text, "tell") for text in dataset.texts(role)]
            assert np.mean([each is not None for each in tells]) == pytest.approx(0 if clean else share, abs=0.06)
            assert all(each in (None, label) for each, label in zip(tells, decided, strict=True))


def test_how_hard_sets_are_follows_what_is_printed_and_where_nothing_is_planted_does_not():
    best = dict(printed_table("saxon2023_table2").filter(metric="sota").select("dataset", "value").iter_rows())
    printed = np.array([best[name] / 100 for name in SETS])
    assert [each.accuracy for each in SETS.values()] == pytest.approx(printed.tolist(), abs=0.0051)
    clean = np.array([each.clean_accuracy for each in SETS.values()])
    assert abs(np.corrcoef(printed, clean)[0, 1]) < 0.05


def test_a_set_that_is_left_out_is_not_made_and_the_others_are_the_same(tmp_path: Path):
    whole, part = (
        open_study("leakage", "smoke", tmp_path / str(len(left)), Steps(quiet=True), choice=Choice(without=left))
        for left in ((), ("SICK",))
    )
    assert whole.work.sets.keys() - part.work.sets.keys() == {"SICK"}
    for name, dataset in part.work.sets.items():
        assert dataset.examples.equals(whole.work.sets[name].examples)
    assert not any(test.name == "SICK" for job in part.jobs for test in job.tests)


def test_a_seed_gives_the_same_rows_and_another_gives_others():
    first, again, other = (planted_sets(60, 30, seed) for seed in (3, 3, 4))
    for name, dataset in first.items():
        assert dataset.examples.equals(again[name].examples)
        assert not dataset.examples.equals(other[name].examples)
