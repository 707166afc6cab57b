"""Pictures of data with more labels than can be named."""

from __future__ import annotations

from goldassay.report.figures import artifacts_scatter, artifacts_strongest


def test_a_few_labels_are_named_and_the_others_counted() -> None:
    labels = [f"label{i}" for i in range(150)]
    point = {"pattern": "x", "support": 30, "probability": 0.95, "label": "label149"}
    document = {
        "dataset": {"label_names": labels},
        "artifacts": {
            "prior": dict.fromkeys(labels, 1 / 150),
            "settings": {"q": 0.01, "threshold": 0.7},
            "n_mined": 100,
            "n_significant": 1,
            "scatter": [point],
            "strongest": {"label149": [point]},
        },
    }
    rows, order = artifacts_scatter.points_of(document)
    assert order[0] == "label149"
    assert rows[0]["series"] == 0
    for width in (720, 344):
        drawn = artifacts_scatter.draw(document, width)
        assert drawn is not None
        picture = drawn.standalone()
        assert "label149" in picture
        assert "label140" not in picture
        assert "and 138 labels more" in picture
        assert artifacts_strongest.draw(document, width) is not None
