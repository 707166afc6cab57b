"""Rows to rewrite: what is refused, what each is predicted by, and what the ranking is worth to another reader."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from goldassay.questions.leakage.suggestions import _Work, suggest_rows
from tests.cli.test_leakage import leaky_rows


def pairs(n: int, hypotheses: list[str] | None = None) -> Dataset:
    rng = np.random.default_rng(0)
    labels = [("yes", "no")[int(code)] for code in rng.integers(0, 2, n)]
    return Dataset.from_frame(
        {
            "premise": [f"Something about {rng.integers(9)}." for _ in range(n)],
            "hypothesis": hypotheses or [f"It is {rng.integers(50)} of {rng.integers(50)}." for _ in range(n)],
            "label": labels,
        }
    )


def test_equal_texts_are_in_one_fold() -> None:
    # Each text stands three times with a label of its own: known by heart it would be predicted.
    texts = [f"thing number {i // 3}" for i in range(240)]
    data = pairs(240, texts)
    codes = np.random.default_rng(1).integers(0, 2, 80)
    labels = [("no", "yes")[codes[i // 3]] for i in range(240)]
    data = Dataset.from_frame(
        data.examples.drop("label").with_columns(label=np.array(labels)), label_names=("no", "yes")
    )
    found = suggest_rows(data, shares=(0.1,), n_seeds=2)
    assert abs(found.before["improvement"]) < 0.12
    work = _Work.of(data, None, "hypothesis_only", 0)
    assert np.array_equal(work.units[::3], work.units[2::3])
    assert np.unique(work.units).size == 80


def test_without_a_leak_nothing_is_worth_dropping() -> None:
    found = suggest_rows(pairs(300), shares=(0.05,), n_seeds=2)
    assert abs(found.before["improvement"]) < 0.12
    assert found.table["bits"].max() < 0.5
    assert found.table["rank"].to_list() == list(range(1, 301))
    assert sorted(found.table["row"].to_list()) == list(range(300))
    assert suggest_rows(pairs(300), shares=(0.05,), n_seeds=2).to_dict() == found.to_dict()


def test_gains_over_the_majority_by_hand() -> None:
    """Hypotheses that always give the label away: the reader is right on all rows in every fold."""
    labels = ["yes"] * 36 + ["no"] * 24
    rows = {
        "premise": [f"thing {i % 9}" for i in range(60)],
        "hypothesis": [f"it {'is' if label == 'yes' else 'was'} number {i}" for i, label in enumerate(labels)],
        "label": labels,
    }
    report = goldassay.suggest_rewrites(pl.DataFrame(rows), shares=(0.1,))
    before = report.to_dict()["leakage"]["suggestion"]["before"]
    # Of 60 rows 36 are "yes": 1 - .6, with no spread over the refits.
    assert (before["majority"], before["accuracy"]) == (0.6, 1)
    assert [before[f"improvement{end}"] for end in ("", "_low", "_high")] == pytest.approx([0.4, 0.4, 0.4])
    (figure,) = report.to_dict()["figures"]
    assert [figure[key] for key in ("value", "low", "high")] == pytest.approx([0.4, 0.4, 0.4])
    for row in report.tables["after_dropping"].iter_rows(named=True):
        assert (row["n_dropped"], row["n_left"]) == (6, 54)
        ends = [row[f"improvement{end}"] for end in ("", "_low", "_high")]
        assert ends == pytest.approx([1 - row["majority"]] * 3)


def test_the_ends_of_a_gain_are_as_far_from_it_on_either_side() -> None:
    found = suggest_rows(pairs(60), shares=(0.1,), n_seeds=2)
    for row in (found.before, *found.after_dropping.iter_rows(named=True)):
        assert row["improvement_high"] > row["improvement"]
        assert row["improvement_low"] + row["improvement_high"] == pytest.approx(2 * row["improvement"])


def test_the_ranking_is_worth_that_of_another_reader() -> None:
    """Both rankings are judged by scikit-learn's regression on words, which made the other one."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import KFold, cross_val_predict

    own: list[float] = []
    others: list[float] = []
    fell: list[float] = []
    for seed in range(4):
        data = Dataset.from_frame(leaky_rows(400, seed))
        labels = data.labels()
        words = CountVectorizer(ngram_range=(1, 2), min_df=2).fit_transform(data.texts("hypothesis"))

        def improvement(
            rows: np.ndarray, words: object = words, labels: np.ndarray = labels, seed: int = seed
        ) -> float:
            folds = KFold(3, shuffle=True, random_state=seed)
            predicted = cross_val_predict(LogisticRegression(), words[rows], labels[rows], cv=folds)
            return float(np.mean(predicted == labels[rows]) - np.bincount(labels[rows]).max() / rows.size)

        found = suggest_rows(data, shares=(0.4,), n_seeds=2)
        dropped = found.table["row"].to_numpy()[:160]
        folds = KFold(3, shuffle=True, random_state=7)
        shares = cross_val_predict(LogisticRegression(), words, labels, cv=folds, method="predict_proba")
        known = np.argsort(-shares[np.arange(400), labels], kind="stable")[:160]
        everything = np.arange(400)
        own.append(improvement(np.setdiff1d(everything, dropped)))
        others.append(improvement(np.setdiff1d(everything, known)))
        after_dropping = {row["rows"]: row["improvement"] for row in found.after_dropping.iter_rows(named=True)}
        assert after_dropping["suggested"] < after_dropping["random"] - 0.05
        fell.append(found.before["improvement"] - after_dropping["suggested"])
    assert np.mean(own) < np.mean(others) + 0.03
    assert np.mean(fell) > 0.2


def test_what_cannot_be_ranked_is_refused() -> None:
    data = pairs(60)
    single = Dataset.from_frame({"text": ["a", "b"] * 30, "label": ["x", "y"] * 30})
    for wrong, condition, shares, said in (
        (data, "shuffled", (0.1,), "changes the texts"),
        (data, "context_only", (0.1,), "does not apply"),
        (single, None, (0.1,), "single texts"),
        (data, None, (0.0,), "between 0 and 0.9"),
        (data, None, (), "between 0 and 0.9"),
        (data.take(np.arange(8)), None, (0.1,), "too few"),
    ):
        with pytest.raises(InputError, match=said):
            suggest_rows(wrong, None, condition, shares=shares)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_seeds": 0}, "n_seeds is 0; choose 1 or more"),
        ({"seed": -1}, "seed is -1"),
        ({"shares": ("a",)}, "the shares of rows to drop are"),
    ],
)
def test_settings_out_of_range_are_named(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        suggest_rows(pairs(40), **settings)
