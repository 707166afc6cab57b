"""What is said first of many models and sets."""

from __future__ import annotations

from goldassay.questions.shift.page import describe_overconfidence
from goldassay.questions.shift.result import CalibrationRow
from tests.typed import filled


def test_the_most_overconfident_are_said_first_and_not_all() -> None:
    rows = []
    for i in range(6):
        common = {"model": f"m{i}", "confidence": 0.9, "accuracy": 0.7}
        rows.append({**common, "dataset": "ID", "own": True, "overconfidence": 0.0, "overconfidence_low": -0.1,
                     "overconfidence_high": 0.1})  # fmt: skip
        excess = i / 20
        rows.append({**common, "dataset": "far", "own": False, "overconfidence": excess,
                     "overconfidence_low": excess - 0.02, "overconfidence_high": excess + 0.02})  # fmt: skip
    calibration = [filled(CalibrationRow, row) for row in rows]
    said = describe_overconfidence(calibration)
    assert [line.split()[0] for line in said] == ["m5", "m4", "m3", "m2"]
    assert "on ID 0.0" in said[0]
    # One whose interval holds 0 is not said at all.
    assert describe_overconfidence(calibration[:2]) == []
