"""The map: neighbours stay neighbours, outlines hold their cluster."""

from __future__ import annotations

import numpy as np
import pytest

from goldassay.questions.leakage.clusters import _whole_numbers, lay_out, outline


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


def test_points_on_a_line_have_a_map() -> None:
    points = np.concatenate([np.random.default_rng(0).normal(at, 0.1, 30) for at in (0, 5)])[:, np.newaxis]
    plane = lay_out(points)
    assert plane.shape == (60, 2)
    near = np.linalg.norm(plane - plane[:30].mean(axis=0), axis=1)
    assert near[:30].max() < near[30:].min()


def test_an_outline_leaves_strays_outside() -> None:
    square = np.array([[x, y] for x in range(5) for y in range(5)])
    corners = outline(np.vstack([square, [[400, 400]]]))
    assert max(max(corner) for corner in corners) <= 4
    assert outline(np.array([[0, 0], [1, 1], [2, 2], [3, 3], [4, 4]])) == ()


def test_the_map_leaves_room_at_its_edges_and_is_centered() -> None:
    plane = np.array([[-3.0, 1.0], [5.0, 2.0], [1.0, 3.0]])
    places = _whole_numbers(plane)
    assert places.min() == 82
    assert places.max() == 4095 - 82
    low, high = places.min(axis=0), places.max(axis=0)
    assert np.abs(low + high - 4095).max() <= 1
    # Both directions by one scale.
    assert (high - low)[0] / (high - low)[1] == pytest.approx(4, rel=2e-3)
    assert _whole_numbers(np.zeros((3, 2))).tolist() == [[2048, 2048]] * 3
