"""The smallest size of the study of shift: what is planted is found, and nothing where nothing is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("torch")

from safetensors.numpy import load_file
from transformers import AutoTokenizer

from goldassay.core.progress import Steps
from goldassay.lab.papers import shift
from goldassay.lab.papers.recipe import Choice
from goldassay.lab.papers.running import open_study, run_study
from goldassay.lab.papers.shift import SCALES
from goldassay.lab.papers.shift.sets import (
    CHECKPOINTS,
    FOREIGN,
    LABELS,
    NEWSGROUPS,
    SENTIMENT,
    SIMILARITY,
    gives_away,
    planted_sets,
    write_checkpoints,
)
from tests.lab.training.in_place import done_in_place

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset
    from goldassay.lab.papers.running import StudyReport

NAMES = {"Smaller gaps", "Declines", "Size", "Distilled", "Detects", "Blind", "Bag of words", "Fewer alarms"}


def ran(folder: Path, seed: int) -> StudyReport:
    with done_in_place():
        return run_study(open_study("shift", "smoke", folder, Steps(quiet=True), seed=seed))


def standings(report: StudyReport) -> dict[str, str]:
    return {each["name"]: each["standing"] for each in report.document["conclusions"]}


def without_planted(monkeypatch: pytest.MonkeyPatch) -> None:
    def sets(*given: Any, **named: Any) -> dict[str, Dataset]:
        return planted_sets(*given, **named, clean=True)

    def checkpoints(*given: Any, **named: Any) -> dict[str, Path]:
        return write_checkpoints(*given, **named, clean=True)

    monkeypatch.setattr(shift, "planted_sets", sets)
    monkeypatch.setattr(shift, "write_checkpoints", checkpoints)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_planted_shift_is_found_and_every_conclusion_is_measured(tmp_path: Path, seed: int):
    assert standings(ran(tmp_path, seed)) == dict.fromkeys(NAMES, "found as planted")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_without_it_every_conclusion_is_measured_and_none_is_held(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
):
    without_planted(monkeypatch)
    found = standings(ran(tmp_path, seed))
    assert found.keys() == NAMES
    assert set(found.values()) <= {"not shown", "not as planted"}


# What one training set and two models tell, in a few seconds.
IN_SMALL = {"Smaller gaps", "Detects", "Blind", "Fewer alarms"}


@pytest.mark.parametrize("clean", [False, True])
def test_in_small_too(tmp_path: Path, clean: bool, monkeypatch: pytest.MonkeyPatch):
    if clean:
        without_planted(monkeypatch)
    size = SCALES["smoke"]
    (training,) = (each for each in size.trainings if each.train == "SST-2 train")
    models = {name: training.models[name] for name in ("average", "BERT Base")}
    chosen = {**size.chosen, "planted": (240, 120, 120), "draws": 100}
    scales = {**SCALES, "smoke": replace(size, trainings=(replace(training, models=models),), chosen=chosen)}
    monkeypatch.setattr(shift, "SCALES", scales)
    found = {name: said for name, said in standings(ran(tmp_path, 0)).items() if name in IN_SMALL}
    if clean:
        assert found.keys() == IN_SMALL
        assert set(found.values()) <= {"not shown", "not as planted"}
    else:
        assert found == dict.fromkeys(IN_SMALL, "found as planted")


def words_of(dataset: Dataset) -> set[str]:
    return {word for role in dataset.text_columns for text in dataset.texts(role) for word in text.split()}


def told(words: set[str]) -> set[str]:
    """Words that say a label or a grade."""
    return {word for word in words if word.startswith((*SENTIMENT.values(), *SIMILARITY.values()))}


@pytest.mark.parametrize("kinds", [SENTIMENT, SIMILARITY])
def test_domains_share_no_word_that_tells_and_where_nothing_is_planted_all(kinds: dict[str, str]):
    planted, clean = (planted_sets(600, 300, 60, 0, clean=clean) for clean in (False, True))
    for own in kinds:
        for name in kinds:
            trained, tested = told(words_of(planted[f"{own} train"])), told(words_of(planted[name]))
            assert trained
            assert tested <= trained if name == own else not tested & trained
            assert told(words_of(clean[name])) <= told(words_of(clean[f"{own} train"]))


def test_every_training_text_of_a_label_has_the_word_that_gives_it_away_or_filler_alone():
    dataset = planted_sets(600, 300, 60, 0)["SST-2 train"]
    open_rows = 0
    for text, label in zip(dataset.texts("text"), dataset.examples["label"], strict=True):
        found = told(set(text.split()))
        open_rows += not found
        if found:
            at = LABELS.index(label)
            assert gives_away("film", at) in found
            assert all(word.startswith((f"film{at}", "filmsign")) for word in found)
            assert gives_away("film", 1 - at) not in found
    assert 0.05 < open_rows / 600 < 0.15


def test_foreign_texts_hold_words_that_give_labels_away_and_clean_ones_are_own_texts():
    planted, clean = (planted_sets(300, 60, 200, 0, clean=clean) for clean in (False, True))
    own = words_of(planted["SST-2 train"])
    signs = {gives_away("film", at) for at in range(2)}
    for name in FOREIGN:
        assert words_of(planted[name]) & own == signs
        share = np.mean([bool(signs & set(text.split())) for text in planted[name].texts("text")])
        assert share == 1 if name == NEWSGROUPS else 0.4 < share < 0.6
        shared = words_of(clean[name]) & words_of(clean["SST-2 train"])
        assert not shared if name == NEWSGROUPS else told(shared)


def vectors_of(place: Path) -> dict[str, NDArray[np.float64]]:
    table = load_file(place / "model.safetensors")["bert.embeddings.word_embeddings.weight"].astype(np.float64)
    return {word: table[number] for word, number in AutoTokenizer.from_pretrained(place).get_vocab().items()}


def direction(vectors: dict[str, NDArray[np.float64]], kind: str) -> NDArray[np.float64]:
    """From negative words of a domain to positive ones, of length 1."""
    found = np.sum([(2 * at - 1) * vectors[f"{kind}{at}n{word}"] for at in range(2) for word in range(12)], axis=0)
    return found / np.linalg.norm(found)


def test_the_base_checkpoint_knows_words_of_all_domains_alike(tmp_path: Path):
    sets = planted_sets(600, 100, 60, 0)
    alike = {}
    for kind, places in (("planted", write_checkpoints(sets, tmp_path / "planted", 0)),
                         ("clean", write_checkpoints(sets, tmp_path / "clean", 0, clean=True))):  # fmt: skip
        for name, place in places.items():
            vectors = vectors_of(place)
            film, review = (direction(vectors, word) for word in SENTIMENT.values())
            alike[kind, name] = float(film @ review)
            # Nothing else of a text says anything, what gives labels away least of all.
            same = np.allclose(vectors[gives_away("film", 0)], vectors[gives_away("film", 1)])
            assert same == (kind == "planted")
    assert alike["planted", "planted/base"] > 0.9
    assert all(abs(found) < 0.6 for key, found in alike.items() if key != ("planted", "planted/base"))
    assert {name for _, name in alike} == CHECKPOINTS.keys()


def test_a_seed_gives_the_same_rows_and_checkpoints_and_another_gives_others(tmp_path: Path):
    first, again, other = (planted_sets(60, 30, 30, seed) for seed in (3, 3, 4))
    for name, dataset in first.items():
        assert dataset.examples.equals(again[name].examples)
        assert not dataset.examples.equals(other[name].examples)
    written = [write_checkpoints(first, tmp_path / str(at), seed) for at, seed in enumerate((3, 3, 4))]
    for name in CHECKPOINTS:
        same, too, differs = ((found[name] / "model.safetensors").read_bytes() for found in written)
        assert same == too != differs


def test_a_set_that_is_left_out_is_not_made_and_the_others_are_the_same(tmp_path: Path):
    whole, part = (
        open_study("shift", "smoke", tmp_path / str(len(left)), Steps(quiet=True), choice=Choice(without=left))
        for left in ((), ("IMDb", "RTE"))
    )
    assert whole.work.sets.keys() - part.work.sets.keys() == {"IMDb", "RTE"}
    for name, dataset in part.work.sets.items():
        assert dataset.examples.equals(whole.work.sets[name].examples)
    assert not any(test.name in ("IMDb", "RTE") for job in part.jobs for test in job.tests)
    assert {(tmp_path / "0" / "checkpoints" / name / "model.safetensors").read_bytes() for name in CHECKPOINTS} == {
        (tmp_path / "2" / "checkpoints" / name / "model.safetensors").read_bytes() for name in CHECKPOINTS
    }
