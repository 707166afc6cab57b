"""Networks of three classes on sets that tell entailment from the rest only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from goldassay.readers.conditions import coarsening, labels_named_in
from goldassay.runs.reading import read_runs

pytest.importorskip("torch")

from goldassay.lab.training.many_seeds import plan_jobs, train
from goldassay.lab.training.teachers import with_sources
from tests.lab.training.in_place import in_place
from tests.lab.training.made_data import LABELS, made_pairs

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["in_place"]

QUICK = {"seeds": 1, "workers": 1, "changes": {"min_count": 1, "epochs": 2}}


def of_two(dataset: Dataset, name: str, names: tuple[str, ...] = ("entailment", "non-entailment")) -> Dataset:
    """The same rows, whose label is entailment or not."""
    label = pl.when(pl.col("label") == "entailment").then(pl.lit(names[0])).otherwise(pl.lit(names[1]))
    return Dataset(dataset.examples.with_columns(label=label), dataset.text_columns, names, name, dataset.groups)


@pytest.mark.parametrize(
    ("own", "coarser", "expected"),
    [
        (LABELS, ("entailment", "non-entailment"), [0, 1, 1]),
        (("c", "e", "n"), ("not_entailment", "entailment"), [0, 1, 0]),
        (LABELS, ("entailment", "contradiction"), None),
        (("entailment", "non-entailment"), ("entailment", "non-entailment"), None),
        (("good", "bad", "neutral"), ("entailment", "non-entailment"), None),
        (LABELS, LABELS, None),
    ],
)
def test_which_label_stands_for_which(own: tuple[str, ...], coarser: tuple[str, ...], expected: list[int] | None):
    found = coarsening(own, coarser)
    assert (None if found is None else found.tolist()) == expected
    names, codes = labels_named_in(own, coarser)
    assert [names[code] for code in codes] == ([coarser[i] for i in expected] if expected else list(own))


@pytest.mark.parametrize(
    "options",
    [{}, {"objective": "adversarial", "objective_changes": {"discriminators": 2}}],
    ids=["plain", "with discriminators"],
)
def test_answers_are_counted_as_one_of_two_after_they_were_given(
    in_place: None, tmp_path: Path, options: dict[str, Any]
):
    test = made_pairs(60, 1, "three")
    report = train(
        made_pairs(80, 0, "train"), "ngram_average", [test, of_two(test, "two")], out=tmp_path, **QUICK, **options
    )
    three, two = (read_runs(tmp_path, dataset=name) for name in ("three", "two"))
    assert two.label_names == ("entailment", "non-entailment")
    assert two.logits is None
    given = [three.label_names[code] == "entailment" for code in three.logits[0].argmax(1)]
    gold = [three.label_names[code] == "entailment" for code in three.gold]
    assert (two.scores[0] == [a == b for a, b in zip(given, gold, strict=True)]).all()
    accuracy = dict(report.runs.select("dataset", "accuracy").iter_rows())
    assert accuracy["two"] == pytest.approx(sum(a == b for a, b in zip(given, gold, strict=True)) / 60)
    assert accuracy["two"] > accuracy["three"]


def test_a_bias_model_is_asked_about_sets_with_labels_of_its_own(tmp_path: Path):
    test = of_two(made_pairs(40, 1), "two")
    asked = with_sources({"objective": "product_of_experts", "bias": "quick_probe"}, tmp_path)
    (job,) = plan_jobs(made_pairs(80, 0, "train"), "ngram_average", [test], out=tmp_path, seeds=1, **asked)
    assert job.bias is not None
    assert list(job.bias.load().accuracy) == ["train"]


def test_nothing_is_chosen_by_coarser_labels_and_no_others_are_merged(tmp_path: Path):
    training, other = made_pairs(40, 0, "train"), made_pairs(40, 1)
    with pytest.raises(InputError, match="has labels that the training set lacks"):
        train(training, "ngram_average", [other], out=tmp_path, dev=of_two(other, "dev"), **QUICK)
    with pytest.raises(InputError, match="has labels that the training set lacks"):
        train(training, "ngram_average", [of_two(other, "other", ("yes", "no"))], out=tmp_path, **QUICK)
