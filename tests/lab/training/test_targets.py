"""What is asked of a network: labels or numbers, and how its answers are scored."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from goldassay.lab.models.configuration import Task
from goldassay.lab.training.many_seeds import plan_jobs, run_rows, summarize
from goldassay.lab.training.targets import LabelTarget, NumberTarget, pearson, spearman, target_of
from goldassay.readers.probes import closeness, numbers_of
from goldassay.runs.reading import list_runs, read_runs
from tests.stated import in_order

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

pytest.importorskip("torch")

WORDS = ["a", "man", "plays", "guitars", "on", "red", "hills", "while", "two", "dogs", "run", "over", "green", "grass"]
FINITE = arrays.arrays(np.float64, st.integers(2, 30), elements=st.integers(-5, 5).map(float))


def pairs(n: int, seed: int, name: str = "pairs", scale: float = 5.0) -> Dataset:
    """Pairs of sentences whose number is the share of words in common."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        common = int(rng.integers(0, 7))
        words = rng.permutation(WORDS)
        second = [*words[:common], *words[6 : 12 - common]]
        rows.append(
            {
                "sentence1": " ".join(words[:6]),
                "sentence2": " ".join(rng.permutation(second)),
                "score": scale * common / 6 + 0.001,
            }
        )
    return Dataset.from_frame(rows, name=name)


def trained(train: Dataset, model: str, test: Dataset, out: Path, **options: Any) -> pl.DataFrame:
    """What came of the jobs, done in this process."""
    from goldassay.lab.training.running import run_job

    jobs = plan_jobs(train, model, {"test": test}, out=out, **options)
    return pl.DataFrame([row for job in jobs for row in run_rows(job, run_job(job))])


def test_what_a_dataset_asks_for() -> None:
    classes = Dataset.from_frame([{"text": "a", "label": "x"}, {"text": "b", "label": "y"}])
    assert target_of(classes) is LabelTarget
    numbers = pairs(20, 0)
    assert target_of(numbers) is NumberTarget
    task = NumberTarget.task(numbers, numbers.text_columns, "treebank")
    values = numbers.examples["label"].to_numpy()
    assert (task.kind, task.n_outputs, task.label_names) == ("number", 1, ())
    assert (task.center, task.scale, task.range) == (values.mean(), values.std(), (values.min(), values.max()))
    labels = NumberTarget.labels(numbers, task)
    assert labels.dtype == np.float32
    assert labels.mean() == pytest.approx(0, abs=1e-6)
    assert labels.std() == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(labels * task.scale + task.center, values, rtol=1e-5, atol=1e-6)
    assert Task((), ("a", "b", "c")).n_outputs == 3
    assert Task((), (), kind="span").n_outputs == 2


@given(FINITE, st.integers(0, 1000))
def test_correlations_are_those_of_scipy(x: NDArray[np.float64], seed: int) -> None:
    y = np.random.default_rng(seed).integers(0, 4, len(x)).astype(float)
    for ours, theirs in ((pearson, stats.pearsonr), (spearman, stats.spearmanr)):
        if np.ptp(x) == 0 or np.ptp(y) == 0:
            assert np.isnan(ours(x, y))
        else:
            assert ours(x, y) == pytest.approx(theirs(x, y).statistic, abs=1e-12)


@given(FINITE)
def test_closeness_is_a_fraction(x: NDArray[np.float64]) -> None:
    right = np.linspace(0, 4, len(x))
    found = closeness(x, right, (0.0, 4.0))
    assert ((found >= 0) & (found <= 1)).all()
    assert (closeness(right, right, (0.0, 4.0)) == 1).all()
    np.testing.assert_allclose(found, [max(0, 1 - abs(a - b) / 4) for a, b in zip(x, right, strict=True)])


def test_dev_scores_choose_the_better() -> None:
    labels = np.array([0.0, 1.0, 2.0], np.float32)
    near, far = (np.array([[0.1], [1.0], [1.9]], np.float32), np.full((3, 1), 5, np.float32))
    assert NumberTarget.dev_score(near, labels) > NumberTarget.dev_score(far, labels)
    # What answers the same to everything has no correlation, but a score to be chosen by.
    assert NumberTarget.dev_score(np.zeros((3, 1), np.float32), labels) == pytest.approx(-5 / 3)
    assert LabelTarget.dev_score(np.array([[0.0, 1.0], [1.0, 0.0]], np.float32), np.array([1, 1])) == 0.5


def test_whole_numbers_beside_broken_ones_are_numbers() -> None:
    whole = Dataset.from_frame([{"sentence1": "a", "sentence2": "b", "label": str(i % 3)} for i in range(6)])
    assert whole.label_names
    train = pairs(20, 0)
    NumberTarget.check(train, [whole])
    assert numbers_of(whole).tolist() == [0.0, 1.0, 2.0, 0.0, 1.0, 2.0]


def test_what_does_not_fit_is_refused() -> None:
    train = pairs(20, 0)
    classes = Dataset.from_frame([{"sentence1": "a", "sentence2": "b", "label": each} for each in ("yes", "no")])
    for target, own, other, said in (
        (NumberTarget, train, classes, in_order("labels are classes", "are numbers")),
        (LabelTarget, classes, train, in_order("labels are numbers", "are classes")),
    ):
        with pytest.raises(InputError, match=said):
            target.check(own, [other])
    same = train.examples.with_columns(pl.lit(2.5).alias("label"))
    constant = Dataset(same, train.text_columns, (), "constant")
    with pytest.raises(InputError, match="all labels are the same number"):
        NumberTarget.check(constant)


@pytest.mark.parametrize("model", ["ngram_average", "convnet"])
def test_numbers_are_learned_and_read_back(model: str, tmp_path: Path) -> None:
    test = pairs(60, 2, "test")
    rows = trained(
        pairs(400, 0, "train"), model, test, tmp_path, seeds=2, dev=pairs(60, 1, "dev"),
        changes={"epochs": 6, "patience": 3}, record=("predictions", "logits"),
    )  # fmt: skip
    assert {"pearson", "spearman"} < set(rows.columns)
    assert "accuracy" not in rows.columns
    summary = summarize(rows, ("condition", "dataset"))
    assert summary["metric"].to_list() == ["pearson", "spearman"]
    if model == "ngram_average":
        assert min(summary["mean"].to_list()) > 0.5
    files = sorted(tmp_path.glob("*.parquet"))
    assert len(files) == 2
    for file, value in zip(files, rows.sort("seed")["pearson"], strict=True):
        frame = pl.read_parquet(file)
        assert frame["label"].to_list() == test.examples["label"].to_list()
        assert stats.pearsonr(frame["prediction"], frame["label"]).statistic == pytest.approx(value)
        assert "logits" not in frame.columns
        expected = 1 - (frame["prediction"] - frame["label"]).abs() / 5
        np.testing.assert_allclose(frame["score"], expected.clip(0, 1), atol=1e-12)
    # Measures that take examples one by one read the scores; there are no codes.
    runs = read_runs(tmp_path)
    assert (runs.gold, runs.predictions, runs.label_names) == (None, None, ())
    assert runs.scores.shape == (2, 60)
    assert list_runs(tmp_path)["n_runs"].to_list() == [2]
    done = json.loads(next(tmp_path.glob("_jobs/*/done.json")).read_text())
    assert set(done["scores"]["test"]) == {"pearson", "spearman"}
    assert done["n_parameters"] > 1000


def test_unit_and_offset_change_no_correlation(tmp_path: Path) -> None:
    found = []
    for name, factor in (("five", 5.0), ("thousand", 1000.0)):
        sets = pairs(100, 0, "train", factor), pairs(40, 2, "test", factor)
        rows = trained(sets[0], "ngram_average", sets[1], tmp_path / name, seeds=1, changes={"epochs": 2})
        found.append(rows["pearson"][0])
    assert found[0] == pytest.approx(found[1], abs=1e-3)


def test_objectives_are_of_one_kind(tmp_path: Path) -> None:
    numbers = pairs(20, 0)
    classes = Dataset.from_frame([{"text": f"a {i}", "label": "xy"[i % 2]} for i in range(8)], name="classes")
    for data, objective, said in (
        (numbers, "cross_entropy", in_order("cross_entropy learns classes", "are numbers")),
        (numbers, "product_of_experts", in_order("product_of_experts learns classes", "are numbers")),
        (classes, "squared_error", in_order("squared_error learns numbers", "are classes")),
    ):
        with pytest.raises(InputError, match=said):
            plan_jobs(data, "ngram_average", {"test": data}, out=tmp_path, seeds=1, objective=objective)
    jobs = plan_jobs(numbers, "ngram_average", {"test": numbers}, out=tmp_path, seeds=1)
    assert jobs[0].objective == "squared_error"
