"""The audit of preferences: what a length ruler, a phrase and noise are called; two doors, one figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.gate.reading import read_report
from tests.stated import stated_by

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.report.report import Report

WORDS = [f"w{at}x" for at in range(300)]


def made(n: int, seed: int, *, ruler: float = 0.0, phrase: float = 0.0, n_words: int = 12) -> pl.DataFrame:
    """Preferences among random words; in a share of them the preferred one is longer, or begins with a phrase."""
    rng = np.random.default_rng(seed)
    rows = []
    for at in range(n):
        good, bad = (" ".join(rng.choice(WORDS, n_words + rng.integers(0, 3))) for _ in range(2))
        if rng.random() < ruler:
            good += " " + " ".join(rng.choice(WORDS, 6))
        if rng.random() < phrase:
            good = f"{WORDS[0]} {WORDS[1]} {WORDS[2]} {good}"
            bad = f"{WORDS[3]} {WORDS[4]} {WORDS[5]} {bad}"
        rows.append({"prompt": f"question {at} {WORDS[at % 300]}", "chosen": good, "rejected": bad})
    return pl.DataFrame(rows)


def verdict(report: Report, question: str = "leakage") -> str:
    return str(report.document["verdicts"][question]["verdict"])


@pytest.fixture(scope="module")
def ruled() -> Report:
    return goldassay.audit(made(600, 0, ruler=0.6))


def test_a_length_ruler_is_unsound(ruled: Report) -> None:
    assert verdict(ruled) == "unsound"
    assert ruled.verdicts["leakage"]["evidence"].startswith("The longer response is right in")
    assert "as long as the other" in ruled.verdicts["leakage"]["next_step"]
    assert verdict(ruled, "artifacts") != "sound"
    assert ruled.document["dataset"]["kind"] == "preference"
    rules = {row["rule"]: row for row in ruled.document["leakage"]["rules"]}
    assert rules["longer"]["effect"] > 0.3
    assert all(isinstance(rule["n_items"], int) for rule in rules.values())
    like = {row["reader"]: row for row in ruled.document["leakage"]["preference_like_length"]}
    assert abs(like["longer"]["accuracy"] - 0.5) < 0.2 < abs(like["longer"]["all_accuracy"] - 0.5) + 0.05


def test_shorter_ones_that_are_preferred_are_as_unsound() -> None:
    frame = made(600, 1, ruler=0.6).rename({"chosen": "rejected", "rejected": "chosen"})
    report = goldassay.audit(frame)
    assert verdict(report) == "unsound"
    readers = {row["reader"]: row["value"] for row in report.document["leakage"]["effects"]["effects"]}
    assert readers["rule: shorter"] == pytest.approx(-readers["rule: longer"])


def test_a_phrase_that_only_a_reader_finds_is_a_caution() -> None:
    report = goldassay.audit(made(800, 2, phrase=0.5))
    assert verdict(report) == "caution"


def test_both_doors_give_the_same_figures(tmp_path: Path, ruled: Report) -> None:
    made(600, 0, ruler=0.6).write_ndjson(tmp_path / "train.jsonl")
    measured = goldassay.measure_leakage(tmp_path / "train.jsonl")
    assert measured.document["verdicts"]["leakage"] == ruled.document["verdicts"]["leakage"]
    assert measured.document["leakage"]["effects"] == ruled.document["leakage"]["effects"]


def test_check_takes_the_report(tmp_path: Path) -> None:
    made(300, 7, ruler=0.6).write_ndjson(tmp_path / "set.jsonl")
    goldassay.audit(tmp_path / "set.jsonl").save(tmp_path / "report")
    assert read_report(tmp_path / "report").verdicts["leakage"].verdict == "unsound"


def test_a_training_file_teaches_the_reader() -> None:
    report = goldassay.audit(made(600, 3, phrase=0.5), made(400, 4, phrase=0.5))
    assert verdict(report) == "caution"
    with pytest.raises(InputError, match="holds preferences, and this holds none"):
        goldassay.audit(made(60, 3), pl.DataFrame({"text": ["a b c d"] * 60, "label": ["x", "y"] * 30}))


def test_what_cannot_be_used_forbids_the_word_sound() -> None:
    frame = made(400, 5)
    spoilt = frame.with_columns(
        rejected=pl.when(pl.int_range(pl.len()) % 8 == 0).then(pl.col("chosen")).otherwise(pl.col("rejected"))
    )
    report = goldassay.audit(spoilt)
    assert "50 of the 400 items" in stated_by(report.document["verdicts"]["leakage"])
    assert any("50 items" in remark for remark in report.document["leakage"]["remarks"])


@pytest.mark.parametrize("name", ["label_names", "split_by"])
def test_options_of_labelled_texts_are_refused(name: str) -> None:
    value = ["a", "b"] if name == "label_names" else "prompt"
    with pytest.raises(InputError, match="preferences"):
        goldassay.audit(made(60, 6), **{name: value})
