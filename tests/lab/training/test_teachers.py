"""Where opinions come from: their figures by hand, and what does not fit the training set refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

pytest.importorskip("torch")

from goldassay.artifacts import assign_difficulty, mine_patterns
from goldassay.core.errors import InputError
from goldassay.lab.training.objectives import DEV, TRAIN, part_of_test, softmax
from goldassay.lab.training.snapshots import TeacherSnapshot, snapshot_teacher, take_snapshot
from goldassay.lab.training.teachers import CrossedProbes, Fit, bias_source, teacher_source, with_sources
from goldassay.questions.artifacts.inputs import Bounds, mine_dataset
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs
from tests.lab.training.made_data import LABELS, made_pairs
from tests.stated import in_order

if TYPE_CHECKING:
    from goldassay.data.dataset import Dataset

TEST = part_of_test("test")


@pytest.fixture(scope="module")
def parts() -> dict[str, Dataset]:
    return {TRAIN: made_pairs(90), DEV: made_pairs(30, 2, "dev"), TEST: made_pairs(30, 1, "test")}


@pytest.fixture(scope="module")
def patterns(parts, tmp_path_factory):
    file = tmp_path_factory.mktemp("mined") / "patterns.parquet"
    table = mine_dataset(parts[TRAIN], Bounds(max_tokens=2, max_gap=1, min_count=5))
    table.write(file)
    return file, table


def test_patterns_point_as_they_were_counted(parts, patterns):
    file, table = patterns
    teacher_logits = bias_source(file.parent).on(parts, 0)
    assert teacher_logits.label_names == LABELS
    rows = table.to_frame().to_dicts()
    order = [table.label_names.index(name) for name in LABELS]
    for part, dataset in parts.items():
        gold = dataset.labels()
        at, held = table.matches(dataset.texts("hypothesis"))
        for n in range(len(dataset)):
            own = [rows[v] for v in held[at == n]]
            counts = np.array([[row["counts"][k] for k in order] for row in own], float).reshape(-1, 3)
            strengths = (counts / counts.sum(1, keepdims=True)).max(0) if own else np.zeros(3)
            np.testing.assert_allclose(teacher_logits.on[part].strengths[n], strengths, rtol=1e-6)
            # The strongest pattern, of equals the first row, which is the most frequent.
            best = int(np.argmax((counts / counts.sum(1, keepdims=True)).max(1))) if own else None
            used = np.bincount(parts[TRAIN].labels(), minlength=3) if best is None else counts[best]
            used = used - np.eye(3)[gold[n]] if part == TRAIN else used
            np.testing.assert_allclose(
                teacher_logits.on[part].probabilities[n], (used + 1) / (used + 1).sum(), rtol=1e-6
            )


def test_easy_and_hard_are_those_of_artifacts(parts, patterns):
    file, table = patterns
    teacher_logits = bias_source(file).on(parts, 0)
    for threshold in (0.4, 0.7):
        assigned = assign_difficulty(
            parts[TEST].texts("hypothesis"), [LABELS[code] for code in parts[TEST].labels()], table.select(threshold)
        )
        easy, hard = teacher_logits.on[TEST].difficulty(parts[TEST].labels(), threshold)
        assert easy.tolist() == (assigned.classes == "easy").tolist()
        assert hard.tolist() == (assigned.classes == "hard").tolist()
        assert teacher_logits.on[TEST].biased(threshold).tolist() == (assigned.classes != "uncovered").tolist()


def test_patterns_of_other_data_or_another_tokenizer_are_refused(parts, patterns, tmp_path):
    file, table = patterns
    bias = bias_source(file)
    with pytest.raises(InputError, match=in_order("than made", "90 rows", 80)):
        bias.on({TRAIN: parts[TRAIN].take(np.arange(80))}, 0)
    with pytest.raises(InputError, match=in_order("another training set", "this one", "rows")):
        bias.on({TRAIN: replace(made_pairs(90, 7), name="other")}, 0)
    spaces = mine_dataset(parts[TRAIN], Bounds(min_count=5, tokenizer="whitespace"))
    spaces.write(tmp_path / "spaces.parquet")
    with pytest.raises(InputError, match=in_order("tokenizer whitespace", "training")):
        bias_source(tmp_path / "spaces.parquet").on(parts, 0)
    table.select(0.7).write(tmp_path / "cut.parquet")
    with pytest.raises(InputError, match=r"were cut at a share of 0\.7"):
        bias_source(tmp_path / "cut.parquet").on(parts, 0)
    films = mine_patterns(["a good film", "a bad film"] * 45, ["good", "bad"] * 45, min_count=5)
    films.write(tmp_path / "films.parquet")
    with pytest.raises(InputError, match="the patterns are of the labels"):
        bias_source(tmp_path / "films.parquet").on(parts, 0)


class _Recorded(CrossedProbes):
    """Says which rows it learnt and judged instead of fitting."""

    def _judge(self, fits, condition):
        seen = [set(fit.train.examples["example_id"]) for fit in fits]
        for learnt, fit in zip(seen[: self.folds] if self.folds > 1 else [], fits, strict=False):
            assert not learnt & set(fit.judges[0].examples["example_id"])
        assert condition == "hypothesis_only"
        return [[np.tile([0.2, 0.5, 0.3], (len(each), 1)) for each in fit.judges] for fit in fits]


@pytest.mark.parametrize(("folds", "told"), [(1, "fitted on the rows"), (4, "out of fold, 4 folds")])
def test_no_row_is_judged_by_what_learnt_it(parts, folds, told):
    teacher_logits = _Recorded(folds).on(parts, 0)
    assert told in teacher_logits.about
    assert teacher_logits.on.keys() == parts.keys()
    assert {part: len(on) for part, on in teacher_logits.on.items()} == {TRAIN: 90, DEV: 30, TEST: 30}
    assert teacher_logits.accuracy[TRAIN] == pytest.approx(np.mean(parts[TRAIN].labels() == 1))
    assert Fit(parts[TRAIN], []).judges == []


def test_quick_probes_are_made_once_for_the_same_data(parts, tmp_path, monkeypatch):
    held = {part: take_snapshot(dataset, tmp_path) for part, dataset in parts.items()}
    first = snapshot_teacher(CrossedProbes(2), held, 0, tmp_path)
    assert first.load().accuracy[TRAIN] > 0.5
    np.testing.assert_allclose(first.load().on[TRAIN].probabilities.sum(1), 1, rtol=1e-5)
    monkeypatch.setattr(CrossedProbes, "on", lambda *_: pytest.fail("made again"))
    assert snapshot_teacher(CrossedProbes(2), held, 1, tmp_path) == first
    assert isinstance(first, TeacherSnapshot)


def stored(
    dataset: Dataset, folder, *, seeds=(0,), model="probe", condition="hypothesis_only", names=LABELS, rows=None
):
    """Runs with logits on the rows of a dataset, in another order than theirs."""
    rng = np.random.default_rng(3)
    rows = rng.permutation(len(dataset)) if rows is None else np.asarray(rows)
    logits = rng.normal(size=(len(seeds), len(rows), len(names))).astype(np.float32)
    gold = np.array([names.index(LABELS[code]) for code in dataset.labels()[rows]])
    ids = np.array(dataset.examples["example_id"].to_list())[rows]
    runs = Runs.from_arrays(
        logits=logits, gold=gold, seeds=np.array(seeds), label_names=names, example_ids=ids, model=model,
        dataset=dataset.name, condition=condition, train_set="made",
    )  # fmt: skip
    write_runs(runs, folder)
    return logits, rows


def test_stored_runs_are_found_by_content_and_seed(parts, tmp_path):
    turned = (LABELS[2], LABELS[0], LABELS[1])
    logits, rows = stored(parts[TRAIN], tmp_path, seeds=(0, 1), names=turned)
    stored(parts[TEST], tmp_path, seeds=(0, 1), names=turned)
    stored(parts[TRAIN], tmp_path, model="paired", condition="paired")
    for seed in (0, 1):
        teacher_logits = bias_source(tmp_path).on(parts, seed)
        assert teacher_logits.source == "probe/hypothesis_only"
        assert teacher_logits.on.keys() == {TRAIN, TEST}
        expected = softmax(logits[seed])[:, [turned.index(name) for name in LABELS]]
        np.testing.assert_allclose(teacher_logits.on[TRAIN].probabilities[rows], expected, rtol=1e-5)
    assert teacher_source(tmp_path).on(parts, 5).source == "paired/paired"
    with pytest.raises(InputError, match="has runs with the seeds 0, 1, and none with 5"):
        bias_source(tmp_path).on(parts, 5)


def test_runs_that_lack_rows_or_labels_are_refused(parts, tmp_path):
    stored(parts[TRAIN], tmp_path / "some", rows=range(70))
    with pytest.raises(InputError, match=in_order("all 90 training rows", "probe on made", 20)):
        bias_source(tmp_path / "some").on(parts, 0)
    # The same ids with other labels are another dataset.
    stored(replace(made_pairs(90, 9), name="made"), tmp_path / "other")
    with pytest.raises(InputError, match="or has other labels there"):
        bias_source(tmp_path / "other").on(parts, 0)
    for name in ("a", "b"):
        stored(parts[TRAIN], tmp_path / "two", model=name)
    with pytest.raises(InputError, match=in_order("several runs", "a/made/hypothesis_only/made, b/made")):
        bias_source(tmp_path / "two").on(parts, 0)
    frame = parts[TRAIN].examples.select("example_id", "label", prediction=pl.col("label"))
    frame.write_csv(tmp_path / "made.csv")
    with pytest.raises(InputError, match="hold no logits"):
        bias_source(tmp_path / "made.csv").on(parts, 0)


def test_what_names_nothing_is_refused_with_the_nearest(tmp_path):
    with pytest.raises(InputError, match=in_order("no bias 'quick_prob'", "'quick_probe'")):
        bias_source("quick_prob")
    with pytest.raises(InputError, match="0 folds are asked for"):
        bias_source("quick_probe", folds=0)
    with pytest.raises(InputError, match="no such file or folder"):
        teacher_source(tmp_path / "nowhere")
    with pytest.raises(InputError, match="folds are of a bias model that is trained here"):
        with_sources({"bias_folds": 3}, tmp_path)
    assert bias_source("bow", tmp_path).name == "bag_of_words"
    assert isinstance(with_sources({"bias": "quick_probe", "rows": 3}, tmp_path)["bias"], CrossedProbes)


def test_there_are_no_more_folds_than_rows(parts):
    with pytest.raises(InputError, match=in_order("91 folds", "90 training rows")):
        CrossedProbes(91).on(parts, 0)
