"""A flaw of the test part alone is never called sound, and a test part without one stays as it was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from goldassay.cli.main import run
from goldassay.core.numbers import percent
from goldassay.questions import cross_validated
from goldassay.questions.artifacts.readings import WrittenTexts
from goldassay.questions.cross_validated import _dealt, read_words, within_doubts
from goldassay.readers.naive_bayes import SMOOTHING, word_evidence
from goldassay.stats.clusters import Folds
from tests.stated import stated_by

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.questions.cross_validated import Reader

WORDS = [f"w{number}" for number in range(300)]
LIMITS = (0.015, 0.075)


def read_patterns(texts: pl.Series, codes: np.ndarray, n_classes: int, folds: Folds) -> np.ndarray:
    """As artifacts read the test part."""
    written = WrittenTexts(texts, codes, folds, tuple("abc")[:n_classes])
    return written.reader(25, 0.01)(written.forms + " " + texts)


def made(
    n: int, share: float, seed: int, *, n_classes: int = 3, rare: float | None = None
) -> tuple[pl.Series, np.ndarray]:
    """Texts of random words, of which this share of the last label holds a word of its own; and the labels."""
    rng = np.random.default_rng(seed)
    shares = np.full(3, 1 / 3) if rare is None else np.array([1 - rare, rare])
    gold = rng.choice(shares.size, n, p=shares)
    texts = [" ".join(rng.choice(WORDS, 8)) for _ in range(n)]
    told = (gold == shares.size - 1) & (rng.random(n) < share)
    return pl.Series([f"telltale {text}" if known else text for text, known in zip(texts, told, strict=True)]), gold


@pytest.mark.parametrize("reader", [read_words, read_patterns], ids=["words", "patterns"])
@pytest.mark.parametrize("rare", [None, 0.1])
def test_a_flaw_of_the_test_part_is_doubted(reader: Reader, rare: float | None) -> None:
    texts, gold = made(3000, 0.6, 0, rare=rare)
    (doubt,) = within_doubts({"hypothesis": texts}, gold, 3 if rare is None else 2, None, LIMITS, reader, 0)
    assert "hypothesis" in doubt.why
    assert f"not significantly below {percent(0.075)}" in doubt.why


@pytest.mark.parametrize("reader", [read_words, read_patterns], ids=["words", "patterns"])
def test_without_a_flaw_nothing_is_doubted(reader: Reader) -> None:
    for seed in range(2):
        texts, gold = made(3000, 0, seed)
        assert within_doubts({"text": texts}, gold, 3, None, LIMITS, reader, seed) == []


def test_two_words_that_tell_together_in_the_test_part_are_doubted() -> None:
    """Red or blue with two or three: words and patterns, which add up, see nothing of it."""
    for turned in (False, True):
        rng = np.random.default_rng(3)
        texts, gold = made(3000, 0, 3, n_classes=2, rare=0.5)
        color = rng.integers(0, 2, 3000)
        number = color ^ gold if turned else rng.integers(0, 2, 3000)
        first, last = np.array(["red", "blue"])[color], np.array(["two", "three"])[number]
        texts = pl.Series(first) + " " + texts + " " + pl.Series(last)
        found = within_doubts({"hypothesis": texts}, gold, 2, None, (0.03, 0.12), read_words, 0)
        assert len(found) == turned
        assert all(doubt.at_most > 0.8 for doubt in found)


def test_clusters_stay_in_one_fold() -> None:
    """Rows that are copies teach nothing of one another."""
    rng = np.random.default_rng(0)
    gold = np.repeat(rng.integers(0, 3, 300), 10)
    # A word of each cluster's own: whoever learns from its other rows knows the label.
    texts = pl.Series([f"own{row // 10} {' '.join(rng.choice(WORDS, 5))}" for row in range(3000)])
    clusters = np.repeat(np.arange(300), 10)
    apart, joined = (
        read_words(texts[rows], gold[rows], 3, folds)
        for rows, folds in (_dealt(np.arange(3000), 0), _dealt(clusters, 0))
    )
    assert (apart == gold).mean() > 0.9
    assert (joined == gold).mean() < 0.4


def test_folds_are_of_whole_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = np.random.default_rng(0).integers(0, 200, 5000)
    rows, folds = _dealt(codes, 0)
    assert rows.tolist() == list(range(5000))
    assert all(np.unique(folds.codes[codes == code]).size == 1 for code in range(200))
    assert np.bincount(folds.codes).min() > 700
    monkeypatch.setattr(cross_validated, "MOST_ROWS", 1000)
    rows, folds = _dealt(codes, 0)
    assert 900 < rows.size <= 1000
    assert {code: (codes == code).sum() for code in np.unique(codes[rows])} == {
        code: (codes[rows] == code).sum() for code in np.unique(codes[rows])
    }
    assert folds.read == tuple(range(5))


def test_words_are_read_as_scikit_learn_reads_them() -> None:
    """Naive Bayes on words that two texts or more have, each once a text, all labels equally likely."""
    texts, gold = made(600, 0.5, 3)
    known, others = texts[:500], texts[500:]
    counts = CountVectorizer(binary=True, token_pattern=r"\S+", min_df=2).fit(known.to_list())
    model = MultinomialNB(alpha=SMOOTHING, fit_prior=False).fit(counts.transform(known.to_list()), gold[:500])
    expected = model.predict(counts.transform(others.to_list()))
    found = word_evidence(known, gold[:500], 3, others).argmax(axis=1)
    assert (found == expected).mean() > 0.99


def test_a_label_without_rows_is_named_by_nothing() -> None:
    texts, gold = made(300, 0.5, 1)
    assert set(read_words(texts, gold, 5, Folds.of_all(np.arange(300) % 5)).tolist()) <= {0, 1, 2}


def test_mining_does_not_call_such_a_test_part_sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By both ways of mining; the same rows without the word are sound."""
    monkeypatch.chdir(tmp_path)
    for name, n, share, seed in (("train", 4000, 0.0, 1), ("clean", 3000, 0.0, 2), ("flawed", 3000, 0.5, 2)):
        texts, gold = made(n, share, seed)
        premises = [f"{name} {row} {' '.join(np.random.default_rng(row).choice(WORDS, 3))}" for row in range(n)]
        labels = [("a", "b", "c")[code] for code in gold]
        pl.DataFrame({"premise": premises, "hypothesis": texts, "label": labels}).write_ndjson(f"{name}.jsonl")
    told = {}
    for name in ("clean", "flawed"):
        for more in ((), ("--memory", "8GB")):
            command = ["artifacts", "mine", "train.jsonl", "--test", f"{name}.jsonl", "-q", "-o", "out", *more]
            assert run(command) == 0
            told[name, *more] = json.loads((tmp_path / "out" / "report.json").read_bytes())["verdicts"]["artifacts"]
    assert {own["verdict"] for (name, *_), own in told.items() if name == "clean"} == {"sound"}
    assert {own["verdict"] for (name, *_), own in told.items() if name == "flawed"} == {"unresolved"}
    assert len({own["evidence"] for (name, *_), own in told.items() if name == "flawed"}) == 1
    assert "test rows by themselves" in stated_by(told["flawed",])
