from __future__ import annotations

import numpy as np
import pytest

from goldassay.core.errors import InputError
from goldassay.leakage import peco, peco_grid


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    centers = random.normal(size=(6, 12)) * 4
    places = random.integers(0, 6, 400)
    labels = np.where(random.random(400) < 0.5, places % 3, random.integers(0, 3, 400))
    return centers[places] + random.normal(size=(400, 12)), labels


@pytest.mark.parametrize("convention", ["recommended", "paper"])
def test_each_score_is_that_of_peco(data, convention):
    embeddings, labels = data
    options = {"convention": convention, "seed": 3, "n_repetitions": 2, "n_permutations": 20}
    steps = []
    grid = peco_grid(
        embeddings,
        labels,
        (4, 8),
        (5, 0),
        ("squared_l2", "l2", "kl"),
        progress=lambda done, total: steps.append((done, total)),
        **options,
    )
    assert steps == [(i, 8) for i in range(1, 9)]
    assert grid.table.height == 12
    assert grid.table["n_components"].to_list() == [0] * 6 + [5] * 6
    for row in grid.table.to_dicts():
        alone = peco(embeddings, labels, row["n_clusters"], row["n_components"], row["divergence"], **options)
        for name in ("score", "sd", "null_mean", "p_value"):
            assert row[name] == pytest.approx(getattr(alone, name), abs=1e-9)
    first = peco(embeddings, labels, 4, 5, **{**options, "n_repetitions": 1})
    one = peco_grid(embeddings, labels, [4], [5], ["squared_l2"], **{**options, "n_repetitions": 1})
    assert one.table["biased_share"].item() == first.clustering.n_biased_examples / 400
    assert np.isnan(one.table["sd"].item())


def test_wide_table_has_a_row_a_number_of_components(data):
    grid = peco_grid(*data, (4, 8), (0, 5, 12), n_repetitions=1, n_permutations=5)
    wide = grid.wide("kl")
    assert wide.columns == ["n_components", "4", "8"]
    assert wide["n_components"].to_list() == [0, 5, 12]
    assert grid.to_frame() is grid.table


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (([], [5]), "clusters"),
        (([4, 4], [5]), "clusters"),
        (([4], [13]), "12 components at most"),
        (([4], [-1]), "components"),
        (([401], [5]), "401 clusters"),
        (([0, 4], [5]), "a number of clusters is 0; choose 1 or more"),
        (([2.5], [5]), "a number of clusters is 2.5; choose a whole number"),
        ((4, [5]), "the numbers of clusters to try are 4; give a list"),
        (([4], [5], ["l3"]), "unknown"),
        (([4], [5], []), "divergences"),
    ],
)
def test_refusals(data, settings, message):
    with pytest.raises(InputError, match=message):
        peco_grid(*data, *settings, n_repetitions=1, n_permutations=2)


@pytest.mark.parametrize("setting", ["n_repetitions", "seed", "n_permutations"])
def test_settings_out_of_range_are_named(data, setting):
    with pytest.raises(InputError, match=f"^{setting} is -1; choose"):
        peco_grid(*data, [4], [5], **{"n_repetitions": 1, setting: -1})


def test_by_default_what_small_data_can_give_is_tried():
    rng = np.random.default_rng(0)
    table = peco_grid(rng.standard_normal((40, 35)), rng.integers(0, 2, 40), n_repetitions=1, n_permutations=2).table
    assert sorted(set(table["n_clusters"])) == [10, 25]
    assert sorted(set(table["n_components"])) == [0, 30]
    with pytest.raises(InputError, match="too few examples for the usual numbers of clusters"):
        peco_grid(rng.standard_normal((9, 3)), np.arange(9) % 2)


def test_settings_are_those_of_the_paper_where_none_are_given():
    """Table 5 of Saxon et al.; as many as there are rows and columns for."""
    random = np.random.default_rng(1)
    embeddings, labels = random.normal(size=(130, 110)), random.integers(0, 2, 130)
    found = peco_grid(embeddings, labels, divergences=("l2",), n_permutations=2).table
    assert found["n_clusters"].unique().sort().to_list() == [10, 25, 50, 100]
    assert found["n_components"].unique().sort().to_list() == [0, 30, 50, 100]
    few = peco_grid(embeddings[:60, :40], labels[:60], divergences=("l2",), n_permutations=2).table
    assert few["n_clusters"].unique().sort().to_list() == [10, 25, 50]
    assert few["n_components"].unique().sort().to_list() == [0, 30]
