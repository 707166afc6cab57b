"""The map: neighbours stay neighbours, outlines hold their cluster."""

from __future__ import annotations

import numpy as np
import pytest

from goldassay.studies.leakage.map import lay_out, outline


def test_groups_stay_together() -> None:
    pytest.importorskip("openTSNE")
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], 40)
    points = rng.standard_normal((80, 5)) + 20 * groups[:, np.newaxis]
    plane = lay_out(points)
    centers = np.stack([plane[groups == g].mean(axis=0) for g in (0, 1)])
    nearer = np.linalg.norm(plane[:, np.newaxis] - centers, axis=2).argmin(axis=1)
    assert np.array_equal(nearer, groups)
    assert np.array_equal(plane, lay_out(points))


def test_too_few_points_have_no_map() -> None:
    assert lay_out(np.ones((3, 2))).tolist() == [[0, 0]] * 3


def test_an_outline_leaves_strays_outside() -> None:
    square = np.array([[x, y] for x in range(5) for y in range(5)])
    corners = outline(np.vstack([square, [[400, 400]]]))
    assert max(max(corner) for corner in corners) <= 4
    assert outline(np.array([[0, 0], [1, 1], [2, 2], [3, 3], [4, 4]])) == []
