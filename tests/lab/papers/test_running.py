"""From a recipe to jobs, and what is refused before anything is trained."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

from goldassay.core.errors import InputError
from goldassay.core.progress import Steps
from goldassay.lab.papers import running
from goldassay.lab.papers.recipe import PRETRAINED, Conclusion, Findings, Scale, Training
from goldassay.lab.papers.running import find_recipe, list_recipes, open_study, price_study, run_study
from tests.lab.models.network_cases import tiny_checkpoint
from tests.lab.training.made_data import made_pairs
from tests.stated import in_order

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.data.dataset import Dataset
    from goldassay.lab.papers.recipe import Recipe, Workplace

FEW = Training(
    train="train",
    tests=("test", "dev"),
    models={"small": "ngram_average", "large": PRETRAINED},
    seeds=2,
    conditions=("paired", "hypothesis_only"),
    options={"changes": {"epochs": 1}},
    of={"small": {"changes": {"epochs": 2}}},
)


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> Recipe:
    """The study of instability, with few trainings."""
    found = find_recipe("instability")
    few = Scale(
        sets={"train": "specimen/train", "test": "specimen/test", "dev": "anli"},
        trainings=(FEW,),
        note="",
    )
    monkeypatch.setattr(found, "SCALES", {"smoke": few})
    return found


def begin(folder: Path) -> None:
    """As the first training does."""
    (folder / "runs" / "_jobs").mkdir(parents=True)


def test_jobs_are_of_the_recipe(recipe: Recipe, tmp_path: Path):
    study = open_study("instability", "smoke", tmp_path, Steps())
    names = [(job.model_name, job.condition, job.seed) for job in study.jobs]
    assert sorted(names) == [("small", c, s) for c in ("hypothesis_only", "paired") for s in (0, 1)]
    # Seed by seed, so that what is stopped has something of everything.
    assert [seed for *_, seed in names] == [0, 0, 1, 1]
    assert all(job.changes == {"epochs": 2} for job in study.jobs)
    assert {test.name for test in study.jobs[0].tests} == {"test"}
    assert "anli/test.jsonl" in study.work.absent["dev"]


def test_a_pretrained_model_is_what_the_user_names(recipe: Recipe, tmp_path: Path):
    study = open_study("instability", "smoke", tmp_path, Steps(), pretrained="bilstm")
    assert {job.model for job in study.jobs if job.model_name == "large"} == {"bilstm"}
    assert len(study.jobs) == 8
    begin(tmp_path)
    with pytest.raises(InputError, match=r'pretrained was "bilstm", is nothing'):
        open_study("instability", "smoke", tmp_path, Steps())


def test_a_checkpoint_is_refused_where_nothing_is_fine_tuned(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    small = replace(FEW, models={"small": "ngram_average"})
    monkeypatch.setattr(recipe, "SCALES", {"smoke": replace(recipe.SCALES["smoke"], trainings=(small,))})
    with pytest.raises(InputError, match=in_order("smoke scale", "--pretrained")):
        open_study("instability", "smoke", tmp_path / "out", Steps(), pretrained="bilstm")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["nosuchfolder", "here"])
def test_what_is_no_checkpoint_is_refused_before_sets_are_read(recipe: Recipe, tmp_path: Path, name: str):
    (tmp_path / "here").mkdir()
    given = str(tmp_path / name) if name == "here" else name
    with pytest.raises(InputError, match=in_order("--pretrained", f"{name} is no checkpoint:", "config")):
        open_study("instability", "smoke", tmp_path / "out", Steps(), pretrained=given)
    assert not (tmp_path / "out").exists()


def test_a_checkpoint_without_a_tokenizer_is_refused_before_sets_are_read(recipe: Recipe, tmp_path: Path):
    """Such as one for images: it would else be refused when the other networks are trained."""
    (tmp_path / "vision").mkdir()
    (tmp_path / "vision" / "config.json").write_text('{"model_type": "vit"}')
    with pytest.raises(InputError, match=in_order("--pretrained", "vision is no checkpoint:", "no tokenizer")):
        open_study("instability", "smoke", tmp_path / "out", Steps(), pretrained=str(tmp_path / "vision"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("kind", "reads"), [("clip", "images"), ("whisper", "speech"), ("marian", "translations")])
def test_a_checkpoint_of_another_kind_is_refused_before_sets_are_read(
    recipe: Recipe, tmp_path: Path, kind: str, reads: str
):
    """It has a tokenizer, and what it is made for is no classifying: it would else be refused halfway."""
    place = tmp_path / reads
    tiny_checkpoint(tmp_path, made_pairs(12)).rename(place)
    (place / "config.json").write_text(f'{{"model_type": "{kind}"}}')
    wanted = in_order("--pretrained", f"{reads} is no checkpoint:", f"kind '{kind}'", "cannot classify")
    with pytest.raises(InputError, match=wanted):
        open_study("instability", "smoke", tmp_path / "out", Steps(), pretrained=str(place))
    assert not (tmp_path / "out").exists()


def test_a_refused_study_leaves_the_specimen_of_the_other(recipe: Recipe, tmp_path: Path):
    open_study("instability", "smoke", tmp_path, Steps())
    begin(tmp_path)
    before = (tmp_path / "specimen" / "train.jsonl").read_bytes()
    with pytest.raises(InputError, match="seed was 0, is 3"):
        open_study("instability", "smoke", tmp_path, Steps(), seed=3)
    assert (tmp_path / "specimen" / "train.jsonl").read_bytes() == before


def test_rows_are_as_many_as_there_are_at_most(recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    few = replace(FEW, models={"small": "ngram_average", "other": "ngram_average"}, options={"rows": 10**6},
                  of={"other": {"rows": 7}})  # fmt: skip
    monkeypatch.setattr(recipe, "SCALES", {"smoke": replace(recipe.SCALES["smoke"], trainings=(few,))})
    jobs = open_study("instability", "smoke", tmp_path, Steps()).jobs
    assert {(job.model_name, job.rows) for job in jobs} == {("small", None), ("other", 7)}


@pytest.mark.parametrize("name", ["train", "test"])
def test_what_cannot_be_made_is_neither_trained_on_nor_tested(
    name: str, recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def prepare(work: Workplace) -> dict[str, Dataset]:
        work.unmade[name] = ()
        return {"other": work.sets["test"]}

    few = replace(FEW, tests=("test", "other"))
    monkeypatch.setattr(recipe, "prepare", prepare)
    monkeypatch.setattr(recipe, "SCALES", {"smoke": replace(recipe.SCALES["smoke"], trainings=(few,))})
    jobs = open_study("instability", "smoke", tmp_path, Steps()).jobs
    assert {test.name for job in jobs for test in job.tests} == (set() if name == "train" else {"other"})


def test_a_study_is_priced_before_it_is_trained(recipe: Recipe, tmp_path: Path):
    price = price_study(open_study("instability", "smoke", tmp_path, Steps()), 1, lambda done, total: None)
    assert (price.n_jobs, price.n_done) == (4, 0)
    assert price.seconds > 0
    assert not list((tmp_path / "runs").glob("*.parquet"))


@pytest.mark.parametrize("study", list_recipes())
def test_a_study_without_its_data_says_what_it_lacks(study: str, tmp_path: Path):
    with pytest.raises(InputError) as refused:
        open_study(study, "desk", tmp_path / "out", Steps(), data=tmp_path)
    line = str(refused.value)
    assert "sets are not there" in line
    assert "--files" in line
    assert "from " in line
    assert not (tmp_path / "out").exists()


def test_the_first_machine_decides_the_precision(recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def precisions(folder: str, multiplies: bool) -> dict[str, str]:
        monkeypatch.setattr("goldassay.lab.training.precision.multiplies_bfloat16", lambda device: multiplies)
        jobs = open_study("instability", "smoke", tmp_path / folder, Steps()).jobs
        return {job.model_name: job.precision for job in jobs}

    few = replace(FEW, models={"small": "ngram_average", "other": "ngram_average"}, of={"small": {"precision": "auto"}})
    monkeypatch.setattr(recipe, "SCALES", {"smoke": replace(recipe.SCALES["smoke"], trainings=(few,))})
    sixteen = {"small": "bfloat16", "other": "float32"}
    assert precisions("first", True) == sixteen
    begin(tmp_path / "first")
    assert precisions("first", False) == sixteen
    assert precisions("second", False) == {"small": "float32", "other": "float32"}
    noted = json.loads((tmp_path / "first" / "study-settings.json").read_text())
    assert noted["precision"] == "bfloat16"


def test_a_gpu_decides_the_precision_of_what_the_recipe_leaves_open(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def precisions(folder: str, gpu: bool, **asked: str) -> dict[str, str]:
        monkeypatch.setattr("goldassay.lab.training.precision.has_gpu", lambda kind: gpu and kind == "cuda")
        monkeypatch.setattr(
            "goldassay.lab.training.precision.multiplies_bfloat16", lambda device: gpu and device != "cpu"
        )
        jobs = open_study("instability", "smoke", tmp_path / folder, Steps(), **asked).jobs
        assert {job.device for job in jobs} == {asked.get("device", "auto")}
        return {job.model_name: job.precision for job in jobs}

    few = replace(FEW, models={"small": "ngram_average", "other": "ngram_average"}, of={"small": {"precision": "auto"}})
    monkeypatch.setattr(recipe, "SCALES", {"smoke": replace(recipe.SCALES["smoke"], trainings=(few,))})
    sixteen, usual = dict.fromkeys(("small", "other"), "bfloat16"), dict.fromkeys(("small", "other"), "float32")
    assert precisions("a processor", False) == usual
    assert "precision of all else" not in json.loads((tmp_path / "a processor" / "study-settings.json").read_text())
    assert precisions("a GPU left alone", True, device="cpu") == usual
    assert precisions("a GPU", True) == sixteen
    assert precisions("asked", False, precision="bfloat16") == sixteen
    for name in ("a processor", "a GPU", "asked"):
        begin(tmp_path / name)
    # Begun elsewhere, each goes on as it was begun.
    assert precisions("a processor", True) == usual
    assert precisions("a GPU", False) == precisions("asked", False) == sixteen
    assert precisions("a processor", False, precision="float32") == usual
    with pytest.raises(InputError, match=in_order('precision was "bfloat16", is "float32"', "precision of all else")):
        precisions("a GPU", True, precision="float32")


@pytest.mark.parametrize(
    ("asked", "said"),
    [({"precision": "float16"}, "no precision 'float16'; did you mean"), ({"device": "cdua"}, "did you mean 'cuda'")],
)
def test_a_precision_that_there_is_not_is_refused_first(
    recipe: Recipe, tmp_path: Path, asked: dict[str, str], said: str
):
    with pytest.raises(InputError, match=said):
        open_study("instability", "smoke", tmp_path / "out", Steps(), **asked)
    assert not (tmp_path / "out").exists()


def test_an_unknown_study_is_refused_with_the_nearest(tmp_path: Path):
    with pytest.raises(InputError, match="did you mean 'instability'"):
        open_study("instabilty", "smoke", tmp_path, Steps())


def test_settings_are_kept_before_anything_is_trained(recipe: Recipe, tmp_path: Path):
    open_study("instability", "smoke", tmp_path, Steps(), seed=4)
    kept = json.loads((tmp_path / "study-settings.json").read_text())
    assert (kept["study"], kept["scale"], kept["seed"]) == ("instability", "smoke", 4)
    assert len(kept["set train"]) == 1


def test_conclusions_are_judged_together(recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """One of two that is held by itself would be so by chance, as the page says."""
    given = [
        Conclusion(str(p), "It is so.", "", "held" if p < 0.05 else "not shown", "Since.", p=p) for p in (0.03, 0.5)
    ]
    monkeypatch.setattr(running, "_train", lambda *_: None)
    monkeypatch.setattr(recipe, "measure", lambda _: Findings(tuple(given), ()))
    report = run_study(open_study("instability", "smoke", tmp_path, Steps(quiet=True)))
    first, second = report.document["conclusions"]
    assert (first["standing"], second["standing"]) == ("not shown", "not shown")
    assert "2 conclusions" in first["evidence"]
    assert second["evidence"] == "Since."
    assert "Holm" in report.to_html()
