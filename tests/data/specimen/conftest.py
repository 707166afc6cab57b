from __future__ import annotations

import pytest

from goldassay.data.specimen import Specimen, make_specimen

SEEDS = range(5)


@pytest.fixture(scope="session")
def planted() -> Specimen:
    return make_specimen(size=6000, seed=3)


@pytest.fixture(scope="session")
def clean_ones() -> list[Specimen]:
    return [make_specimen(size=8000, seed=seed, clean=True) for seed in SEEDS]
