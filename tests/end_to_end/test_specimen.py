"""The assay checked on certified material: what was planted is found, and where nothing was, nothing is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import goldassay
from goldassay.data.specimen import make_specimen
from goldassay.questions.instability.command import measure_instability
from goldassay.questions.shift.question import report_generalization
from goldassay.runs.specimen import write_specimen_runs

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.data.specimen import Specimen

# The everyday specimens are small: an audit of a whole one takes three times as long.
FLAWED: list[Any] = [{"size": 6000, "seed": 0}]
CLEAN: list[Any] = [{"size": 6000, "seed": 0, "test_size": 5000}]
WHOLE = [pytest.param({"seed": seed}, marks=pytest.mark.slow) for seed in range(5)]


@pytest.mark.parametrize("sizes", [*FLAWED, *WHOLE], ids=str)
def test_every_planted_pattern_is_found_and_the_flaws_are_called(sizes: dict[str, int]) -> None:
    specimen = make_specimen(**sizes)
    report = goldassay.audit(specimen.train, specimen.test, seed=sizes["seed"])
    assert report.verdicts["artifacts"]["verdict"] == "unsound"
    assert report.verdicts["leakage"]["verdict"] == "unsound"
    found = {row["pattern"]: row for row in report.tables["patterns"].iter_rows(named=True)}
    planted = specimen.certificate["patterns"]
    assert len(planted) >= 12
    for pattern in planted:
        row = found[pattern["pattern"]]
        assert row["label"] == pattern["label"]
        assert row["wilson_low"] <= pattern["probability"] <= row["wilson_high"]
        assert row["support"] == pattern["support"]


@pytest.mark.parametrize("sizes", [*CLEAN, *WHOLE], ids=str)
def test_the_clean_specimen_is_called_sound(sizes: dict[str, int]) -> None:
    specimen = make_specimen(**sizes, clean=True)
    assert not specimen.certificate["patterns"]
    report = goldassay.audit(specimen.train, specimen.test, seed=sizes["seed"])
    assert report.verdicts["artifacts"]["verdict"] == "sound"
    assert report.verdicts["leakage"]["verdict"] == "sound"


RUNS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))]


def made_with_runs(folder: Path, seed: int, clean: bool) -> tuple[Specimen, str]:
    """A specimen with few training rows, which runs do not need, and its runs on disk."""
    specimen = make_specimen(size=6000, seed=seed, clean=clean, test_size=5000)
    write_specimen_runs(specimen, folder / "runs")
    return specimen, str(folder / "runs")


@pytest.mark.parametrize("clean", [False, True], ids=["flawed", "clean"])
@pytest.mark.parametrize("seed", RUNS)
def test_the_spread_over_runs_is_as_certified(tmp_path: Path, seed: int, clean: bool) -> None:
    specimen, runs = made_with_runs(tmp_path, seed, clean)
    report = measure_instability([runs], groups=["group"], dataset="test")
    assert report.verdicts["instability"]["verdict"] == ("sound" if clean else "unsound")
    section = report.to_dict()["instability"]
    (row,) = section["results"]
    certified = specimen.certificate["runs"]["test"]
    assert row["accuracies"] == pytest.approx(certified["scores"], abs=1e-12)
    assert row["mean"] == pytest.approx(certified["score"], abs=1e-12)
    assert row["sd"] == pytest.approx(certified["sd"], abs=1e-12)
    assert row["sd_low"] <= certified["sd"] <= row["sd_high"]
    (groups,) = section["groups"]
    shares = {each["group"]: each for each in groups["rows"]}
    for name, share in certified.get("share_of_variance", {}).items():
        assert shares[name]["share_of_variance"] == pytest.approx(share, abs=1e-9)
        assert shares[name]["share_low_runs"] <= share <= shares[name]["share_high_runs"]


@pytest.mark.parametrize("clean", [False, True], ids=["flawed", "clean"])
@pytest.mark.parametrize("seed", RUNS)
def test_the_loss_elsewhere_is_as_certified(tmp_path: Path, seed: int, clean: bool) -> None:
    specimen, runs = made_with_runs(tmp_path, seed, clean)
    texts = {
        "test": goldassay.Dataset.from_frame(specimen.test),
        "elsewhere": goldassay.Dataset.from_frame(specimen.elsewhere),
    }
    report = report_generalization(
        [runs], in_distribution={"": "test"}, texts=texts, trained_on=goldassay.Dataset.from_frame(specimen.train)
    )
    assert report.verdicts["shift"]["verdict"] == ("sound" if clean else "unsound")
    headline = report.verdicts["shift"]["headline"]
    certified = specimen.certificate["runs"]
    assert headline["low"] <= certified["loss"] <= headline["high"]
    # Nothing elsewhere stands in the training data, so that nothing is left out.
    assert headline["value"] == pytest.approx(certified["loss"], abs=1e-3)
