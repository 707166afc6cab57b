"""`--clusters` of a comparison means what it means everywhere: columns that are joined, auto, or none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from goldassay import Dataset, InputError, Runs
from goldassay.cli.main import run
from goldassay.questions.comparison.alignment import cluster_names
from goldassay.questions.comparison.comparing import compare_sides
from goldassay.questions.example_clusters import example_clusters
from tests.stated import in_order

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

N = 240
# Six examples a premise, and four a writer, so that premises and writers chain to clusters of twelve.
PREMISE, WRITER = np.arange(N) // 6, np.arange(N) // 4


def runs(seed: int) -> Runs:
    drawn = np.random.default_rng(seed)
    # A model is good or bad at all examples of a premise, in each of its runs.
    skill = drawn.choice([0.1, 0.95], N // 6)[PREMISE]
    right = drawn.random((5, N)) < skill
    return Runs.from_arrays(
        scores=right.astype(float),
        example_ids=[str(i) for i in range(N)],
        groups={"premise": PREMISE.astype(str), "writer": WRITER.astype(str)},
        model=f"m{seed}",
        dataset="toy",
    )


def dataset() -> Dataset:
    rows = [
        {"example_id": str(i), "premise": f"the text number {PREMISE[i]} of all", "hypothesis": f"{i} is a claim",
         "label": "ab"[i % 2]}
        for i in range(N)
    ]  # fmt: skip
    return Dataset.from_frame(rows)


def partition(names: NDArray[np.generic]) -> list[int]:
    """Names as numbers, in the order of first appearance."""
    numbers = {name: i for i, name in enumerate(dict.fromkeys(np.asarray(names).tolist()))}
    return [numbers[name] for name in np.asarray(names).tolist()]


def test_several_columns_are_joined() -> None:
    one, other = cluster_names([runs(0)], "premise", None), cluster_names([runs(0)], "premise,writer", None)
    assert one is not None
    assert other is not None
    assert partition(one) == PREMISE.tolist()
    assert partition(other) == (np.arange(N) // 12).tolist()
    both = cluster_names([runs(0)], "premise+writer", None)
    assert both is not None
    assert partition(both) == partition(np.unique(np.stack([PREMISE, WRITER]), axis=1, return_inverse=True)[1])
    with pytest.raises(InputError, match="have a group"):
        cluster_names([runs(0)], "premise+gone", None)


def test_auto_takes_what_every_interval_over_texts_takes() -> None:
    together = cluster_names([runs(0)], "auto", dataset())
    assert together is not None
    assert partition(together) == partition(example_clusters(dataset()).codes) == PREMISE.tolist()
    with pytest.raises(InputError, match=in_order("without texts", "which examples share one")):
        cluster_names([runs(0)], "auto", None)


def test_none_counts_each_example_by_itself_and_is_not_warned_of() -> None:
    models = (runs(0), runs(1))
    silent, chosen = compare_sides(models), compare_sides(models, clusters="none")
    assert chosen.pairs[0].comparison.interval == silent.pairs[0].comparison.interval
    assert any("All examples are taken for independent" in note for note in silent.notes)
    assert not any("All examples are taken for independent" in note for note in chosen.notes)


def test_clusters_widen_the_interval() -> None:
    models = (runs(0), runs(1))
    intervals = {
        clusters: compare_sides(models, clusters=clusters).pairs[0].comparison.interval
        for clusters in ("none", "premise", "premise,writer")
    }
    widths = {clusters: interval.high - interval.low for clusters, interval in intervals.items()}
    assert widths["premise"] > 1.5 * widths["none"]
    assert widths["premise,writer"] > widths["none"]


def test_a_column_that_no_role_has_can_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for file in files:
        scores = rng.integers(0, 2, 60)
        pl.DataFrame({"id": range(60), "group": np.arange(60) // 2, "score": scores}).write_csv(file)
    asked = ["compare", *map(str, files), "--clusters", "group"]
    assert run(asked) == 2
    (mend,) = re.findall(r"(--columns \S+?),", capsys.readouterr().err)
    assert run([*asked, *mend.split()]) == 0
    assert "30 clusters (group)" in capsys.readouterr().out
