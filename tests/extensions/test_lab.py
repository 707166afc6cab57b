"""Networks, studies and sources of others: by entry points, and networks by `module:Class`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch")

import goldassay
from goldassay.core.errors import InputError
from goldassay.core.progress import Steps
from goldassay.lab.models import find_network, load_network
from goldassay.lab.papers.running import list_recipes, open_study, run_study
from goldassay.lab.papers.sources import known_sources
from goldassay.runs.specimen import write_specimen
from tests.extensions.distributions import installed
from tests.lab.training.in_place import done_in_place

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", ["squashed_network", "specimen_study"])
def test_an_example_is_short(name: str) -> None:
    assert len((HERE / f"{name}.py").read_text().splitlines()) <= 60


@pytest.mark.parametrize("model", ["squashed", "squashed_network:Squashed"])
def test_a_network_is_trained(tmp_path: Path, model: str) -> None:
    train, test = write_specimen(tmp_path / "data", size=2000, seed=0, test_size=200)[:2]
    with installed(tmp_path / "site", "goldassay.models", squashed="squashed_network:Squashed"):
        assert load_network(model).name == "squashed"
        with done_in_place():
            goldassay.train(train, {"test": test}, model=model, out=tmp_path / "runs", seeds=2, rows=300)
        found = goldassay.read_runs(tmp_path / "runs")
    assert (found.model, found.n_runs, found.n_examples) == (model, 2, 200)
    with pytest.raises(InputError, match="no model 'squashed'"):
        find_network("squashed")


def test_a_network_is_found_in_the_folder_that_one_works_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(HERE / "squashed_network.py", tmp_path / "mine_alone.py")
    monkeypatch.chdir(tmp_path)
    assert load_network("mine_alone:Squashed").name == "squashed"


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("nowhere_at_all:Net", "cannot be loaded"),
        ("json:Nothing", "cannot be loaded"),
        ("json:JSONDecoder", "is no network"),
    ],
)
def test_what_is_no_network_is_refused(model: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        load_network(model)


def test_a_study_with_a_source_of_its_own(tmp_path: Path) -> None:
    own = list_recipes()
    with (
        installed(tmp_path / "site", "goldassay.studies", own="specimen_study"),
        done_in_place(),
    ):
        assert set(list_recipes()) - set(own) == {"own"}
        report = run_study(open_study("own", "smoke", tmp_path / "out", Steps(quiet=True)))
        assert [each["standing"] for each in report.document["conclusions"]] == ["found as planted"]
        assert report.tables["accuracy"]["ours"].item() > 40
        with pytest.raises(InputError, match="no paper scale"):
            open_study("own", "paper", tmp_path / "paper", Steps(quiet=True))
    assert list_recipes() == own


def test_a_source_is_looked_for_in_the_folder_of_data(tmp_path: Path) -> None:
    with installed(tmp_path / "site", "goldassay.sources", own="specimen_study:OWN"):
        (tmp_path / "own.jsonl").write_text('{"text": "a", "label": "x"}\n')
        assert known_sources()["own"].find(tmp_path) == tmp_path / "own.jsonl"
    assert "own" not in known_sources()
