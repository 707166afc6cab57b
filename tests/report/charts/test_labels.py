"""Names beside marks: never over each other, over a mark or beyond the edge."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from goldassay.report.charts.maps import place_names

HEIGHT, GAP, ROOM = 10.0, 7.0, (0.0, 0.0, 200.0, 150.0)
places = st.tuples(st.floats(0, 200), st.floats(0, 150))


@given(st.lists(st.tuples(places, st.floats(5, 60)), max_size=15))
def test_nothing_lies_over_anything(marks: list[tuple[tuple[float, float], float]]) -> None:
    found = place_names([at for at, _ in marks], [width for _, width in marks], HEIGHT, GAP, ROOM)
    assert len(found) == len(marks)
    boxes = [
        (at[0] - width / 2, at[1] - HEIGHT / 2, at[0] + width / 2, at[1] + HEIGHT / 2)
        for at, (_, width) in zip(found, marks, strict=True)
        if at is not None
    ]
    for left, low, right, high in boxes:
        assert left >= ROOM[0]
        assert low >= ROOM[1]
        assert right <= ROOM[2]
        assert high <= ROOM[3]
        assert not any(left < x < right and low < y < high for (x, y), _ in marks)
    for one, other in combinations(boxes, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_the_right_is_taken_first_then_the_left() -> None:
    assert place_names([(100, 50)], [20], HEIGHT, GAP, ROOM) == [(117, 50)]
    assert place_names([(195, 50)], [20], HEIGHT, GAP, ROOM) == [(178, 50)]
    assert place_names([(100, 50), (112, 50), (88, 50), (100, 38), (100, 62)], [20] * 5, HEIGHT, GAP, ROOM)[0] is None
