"""Where sets lie: official files first, what is lacking said with where it comes from."""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from goldassay.data.dataset import Dataset
from goldassay.data.source import find_published, is_published_as
from goldassay.lab.models.vocabulary import VectorFile
from goldassay.lab.papers.recipe import SCALES, Scale
from goldassay.lab.papers.running import find_recipe, list_recipes
from goldassay.lab.papers.sources import is_made_up, known_sources, lacking_sets, read_sets
from goldassay.questions.shift.benchmarks import find_files, load_recipe
from tests.stated import Fact, states

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
            assert is_made_up(place) or place in known_sources(), place
    smallest = recipe.SCALES["smoke"].sets
    assert smallest
    assert all(map(is_made_up, smallest.values()))


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


def _pairs(premises: list[str], n: int = 0, **columns: list[str]) -> Dataset:
    texts = premises * (n // len(premises)) if n else premises
    labels = [("entailment", "neutral", "contradiction")[at % 3] for at in range(len(texts))]
    return Dataset.from_frame(pl.DataFrame({"premise": texts, "hypothesis": texts, "label": labels, **columns}))


ENGLISH = ["The man who is wearing a hat is at the door.", "There is a dog by the house, and it is not the one we had."]
GERMAN = ["Der Mann in der roten Jacke steht an der Tür.", "Die Frau war nicht im Haus, als wir in die Stadt fuhren."]
CHINESE = ["一个男人站在门口。", "我们昨天没有看到那只狗。"]


@pytest.mark.parametrize(
    ("name", "texts", "n", "said"),
    [
        ("snli_dev", ENGLISH, 9842, None),
        ("snli_dev", ENGLISH, 2000, ("2,000 rows", "10,000 or 9,842")),
        ("snli_dev", GERMAN, 9842, ("premise", "not English", "'en'")),
        ("ocnli_dev", CHINESE, 2950, None),
        ("ocnli_dev", ENGLISH, 2950, "are in another script, where they should be 'zh'"),
        ("ocnli_dev", CHINESE, 500, "it has 500 rows, the published one about 3,000"),
    ],
)
def test_what_is_not_the_published_set_is_told(name: str, texts: list[str], n: int, said: Fact | None):
    unfit = known_sources()[name].unfit(_pairs(texts, n))
    assert (unfit is None) if said is None else (unfit is not None and states(unfit, said))


def test_english_is_not_read_for_fourteen_other_languages():
    """Beside printed figures of 14 languages, neither rows of one language nor English under their names may stand."""
    source = replace(known_sources()["xnli"], rows=())
    unfit = source.unfit(_pairs(ENGLISH))
    assert unfit is not None
    assert "its column of languages has none" in unfit
    every = [code for code in source.languages for _ in ENGLISH]
    foreign = {"zh": CHINESE, "de": GERMAN}
    named = _pairs([text for code in source.languages for text in ENGLISH], language=every)
    unfit = source.unfit(named)
    assert unfit is not None
    assert "are in another script, where they should be 'ar'" in unfit
    latin = replace(source, languages=("de", "en", "zh"))
    rows = [(text, code) for code in latin.languages for text in foreign.get(code, ENGLISH)]
    columns = {"language": [code for _, code in rows]}
    assert latin.unfit(_pairs([text for text, _ in rows], **columns)) is None
    rows = [(text, code) for code in latin.languages for text in (CHINESE if code == "zh" else ENGLISH)]
    unfit = latin.unfit(_pairs([text for text, _ in rows], **columns))
    assert unfit is not None
    assert "are English, where they should be 'de'" in unfit


@pytest.mark.parametrize("strict", [True, False])
def test_an_unfit_set_is_left_out_at_a_strict_size(tmp_path: Path, strict: bool):
    (tmp_path / "snli_1.0").mkdir()
    (tmp_path / "snli_1.0" / "snli_1.0_dev.jsonl").write_text(ROWS)
    absent: dict[str, str] = {}
    wanted = replace(scale(SNLI="snli_dev"), strict=strict)
    read = read_sets(wanted, tmp_path, tmp_path / "out", 0, absent)
    assert list(read) == ([] if strict else ["SNLI"])
    assert ("it has 2 rows, the published one" in absent.get("SNLI", "")) == strict


def test_a_year_is_not_taken_for_another(tmp_path: Path):
    (tmp_path / "wmt").mkdir()
    (tmp_path / "wmt" / "newstest2013.en.gz").write_bytes(gzip.compress(b"A sentence.\n"))
    assert known_sources()["newstest"].find(tmp_path) is None
    assert known_sources()["newstest_part"].find(tmp_path) is not None
    assert find_recipe("shift").SCALES["paper"].sets["newstest"] == "newstest"


@pytest.mark.parametrize("study", list_recipes())
def test_the_printed_protocol_is_strict(study: str):
    assert find_recipe(study).SCALES["paper"].strict


@pytest.mark.parametrize("packing", ["", ".gz", ".zst", ".GZ"])
@pytest.mark.parametrize("above", ["", "download"])
def test_files_are_found_packed_or_not(tmp_path: Path, packing: str, above: str):
    file = tmp_path / above / "OCNLI" / f"Dev.json{packing}"
    file.parent.mkdir(parents=True)
    file.touch()
    assert known_sources()["ocnli_dev"].find(tmp_path) == file


def test_a_packed_file_is_read(tmp_path: Path):
    (tmp_path / "snli_1.0").mkdir()
    (tmp_path / "snli_1.0" / "snli_1.0_dev.jsonl.gz").write_bytes(gzip.compress(ROWS.encode()))
    assert len(read_sets(scale(SNLI="snli_dev"), tmp_path, tmp_path / "out", 0)["SNLI"]) == 2


def test_binary_vectors_of_word2vec_are_found_and_read(tmp_path: Path):
    file = tmp_path / "GoogleNews-vectors-negative300.bin.gz"
    numbers = np.arange(300, dtype="<f4")
    file.write_bytes(gzip.compress(b"1 300\nword " + numbers.tobytes() + b"\n"))
    found = known_sources()["word2vec"].find(tmp_path)
    assert found == file
    vectors = VectorFile.check(found)
    _, values = vectors.read({"word": 0})
    assert vectors.width == 300
    assert values[0].tolist() == numbers.tolist()


def test_studies_and_builds_find_files_by_one_rule(tmp_path: Path):
    """What `shift build` finds for ReCoRD is what the study finds, however it is packed."""
    for name in ("train.json.gz", "dev.json.zst"):
        (tmp_path / "ReCoRD").mkdir(exist_ok=True)
        (tmp_path / "ReCoRD" / name).touch()
    found = find_files(load_recipe("record"), [tmp_path])
    assert {each.path for each in found} == {
        find_published(tmp_path, [f"record/{part}.json"]) for part in ("train", "dev")
    }
    assert not is_published_as(tmp_path / "ReCoRD" / "train.json.bz2", "record/train.json")
