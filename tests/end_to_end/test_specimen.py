"""The assay checked on certified material: what was planted is found, and where nothing was, nothing is."""

from __future__ import annotations

import pytest

import goldassay
from goldassay.data.specimen import make_specimen

# Rows and seed: smaller specimens each day, whole ones with the slow tests.
WHOLE = [pytest.param(20_000, seed, marks=pytest.mark.slow) for seed in range(5)]


@pytest.mark.parametrize(("size", "seed"), [(4000, 0), *WHOLE])
def test_every_planted_pattern_is_found_and_the_flaws_are_called(size: int, seed: int) -> None:
    specimen = make_specimen(size=size, seed=seed)
    report = goldassay.audit(specimen.train, specimen.test, seed=seed)
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


# Of fewer rows a leak as small as allowed could not be told from none.
@pytest.mark.parametrize(("size", "seed"), [(10_000, 0), *WHOLE])
def test_the_clean_specimen_is_called_sound(size: int, seed: int) -> None:
    specimen = make_specimen(size=size, seed=seed, clean=True)
    assert not specimen.certificate["patterns"]
    report = goldassay.audit(specimen.train, specimen.test, seed=seed)
    assert report.verdicts["artifacts"]["verdict"] == "sound"
    assert report.verdicts["leakage"]["verdict"] == "sound"
