"""Where sets lie: official files first, what is lacking said with where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goldassay.papers import find_recipe, list_recipes
from goldassay.papers.recipe import SCALES, Scale
from goldassay.papers.sources import SPECIMEN, known_sources, lacking_sets, read_sets

if TYPE_CHECKING:
    from pathlib import Path

ROWS = '{"sentence1": "A man sleeps.", "sentence2": "A person rests.", "gold_label": "entailment"}\n' + (
    '{"sentence1": "A dog runs.", "sentence2": "A dog sits.", "gold_label": "contradiction"}\n'
)


def scale(**sets: str) -> Scale:
    return Scale(sets=sets, trainings=(), note="")


@pytest.mark.parametrize("study", list_recipes())
def test_every_set_of_every_study_is_known(study: str):
    recipe = find_recipe(study)
    assert set(recipe.SCALES) == set(SCALES)
    for size in SCALES:
        for place in recipe.SCALES[size].sets.values():
            assert place.startswith(SPECIMEN) or place in known_sources(), place
    assert all(place.startswith(SPECIMEN) for place in recipe.SCALES["smoke"].sets.values())


def test_the_official_file_goes_first(tmp_path: Path):
    source = known_sources()["snli_dev"]
    assert source.find(tmp_path) is None
    assert source.find(None) is None
    for name in (source.files[-1], source.files[0]):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(ROWS)
        assert source.find(tmp_path) == tmp_path / name


def test_what_is_lacking_is_said_with_where_it_comes_from(tmp_path: Path):
    wanted = scale(SNLI="snli_dev", HANS="hans", made="specimen/test")
    (tmp_path / "snli_1.0").mkdir()
    (tmp_path / "snli_1.0" / "snli_1.0_dev.jsonl").write_text(ROWS)
    found = lacking_sets(wanted, tmp_path)
    assert list(found) == ["HANS"]
    assert "hans/heuristics_evaluation_set.txt" in found["HANS"]
    assert "tommccoy1/hans" in found["HANS"]
    assert list(lacking_sets(wanted, None)) == ["SNLI", "HANS"]


def test_sets_are_read_under_the_names_of_the_tables(tmp_path: Path):
    (tmp_path / "snli_1.0").mkdir()
    (tmp_path / "snli_1.0" / "snli_1.0_dev.jsonl").write_text(ROWS)
    read = read_sets(scale(SNLI="snli_dev", HANS="hans", made="specimen/test"), tmp_path, tmp_path / "out", seed=3)
    assert list(read) == ["SNLI", "made"]
    assert [each.name for each in read.values()] == ["SNLI", "made"]
    assert len(read["SNLI"]) == 2
    assert (tmp_path / "out" / "specimen" / "certificate.json").exists()


def test_a_part_is_never_taken_for_the_whole(tmp_path: Path):
    for name in ("snli", "mnli"):
        whole, part = (known_sources()[f"{name}_train{end}"] for end in ("", "_part"))
        sample = tmp_path / part.files[-1]
        sample.parent.mkdir(parents=True)
        sample.write_text(ROWS)
        assert part.find(tmp_path) == sample
        assert whole.find(tmp_path) is None
    for study in list_recipes():
        assert not any(place.endswith("_part") for place in find_recipe(study).SCALES["paper"].sets.values())
