"""Quick probes as evidence: bits are of the text, not of label shares that differ between training and test."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.core.settings import Settings
from goldassay.data.dataset import Dataset
from goldassay.questions.leakage.choices import choice_evidence
from goldassay.questions.leakage.item_loading import ItemReading, load_items
from goldassay.questions.leakage.partial_input import LeakageChoice
from goldassay.questions.leakage.question import study_leakage
from tests.stated import states

LABELS = ("no", "maybe", "yes")
EVEN, ONE_WAY, OTHER_WAY = (1 / 3, 1 / 3, 1 / 3), (0.7, 0.2, 0.1), (0.1, 0.2, 0.7)


def pairs(n: int, shares: tuple[float, ...], telling: float, seed: int) -> Dataset:
    """Pairs of random words; in a share of them the hypothesis holds a word of the label's own."""
    rng = np.random.default_rng(seed)
    gold = rng.choice(3, n, p=shares)
    words = [f"word{i}" for i in range(60)]
    frame = pl.DataFrame(
        {
            "id": [f"{seed}-{i}" for i in range(n)],
            "premise": [" ".join(rng.choice(words, 5)) for _ in range(n)],
            "hypothesis": [
                f"{' '.join(rng.choice(words, 5))} {f'sign{code}' if rng.random() < telling else ''}".strip()
                for code in gold
            ],
            "label": [LABELS[code] for code in gold],
        }
    )
    return Dataset.from_frame(frame, name=f"made{seed}", label_names=LABELS)


def bits_of(train: Dataset, test: Dataset) -> dict[str, dict[str, Any]]:
    choice = LeakageChoice(n_clusters=4, n_repetitions=1, map=False)
    found = study_leakage(train, test, conditions=("hypothesis_only",), seeds=2, choice=choice).to_dict()["leakage"]
    assert states([row["null"] for row in found["information"]], "label shares", "other half", "scaled")
    assert len({row["null"] for row in found["information"]}) == 1
    return {row["condition"]: row for row in found["information"]}


@pytest.mark.parametrize("shares", [EVEN, OTHER_WAY])
def test_texts_that_tell_nothing_have_no_bits_whatever_the_label_shares(shares: tuple[float, ...]) -> None:
    row = bits_of(pairs(800, ONE_WAY, 0.0, 0), pairs(1500, shares, 0.0, 1))["hypothesis_only"]
    assert row["information"] == pytest.approx(0, abs=0.015)
    gold = np.random.default_rng(1).choice(3, 1500, p=shares)
    drawn = np.bincount(gold) / gold.size
    assert row["h_yb"] == pytest.approx(-(drawn * np.log2(drawn)).sum(), abs=0.01)


def test_a_telling_text_has_bits_with_and_without_a_shift() -> None:
    # Seen in 60 of 100, the label is known; in the others nothing is.
    test = pairs(1500, EVEN, 0.6, 1)
    rows = [bits_of(pairs(1200, shares, 0.6, 0), test)["hypothesis_only"] for shares in (EVEN, ONE_WAY)]
    assert rows[0]["information"] == pytest.approx(0.6 * np.log2(3), abs=0.12)
    assert rows[1]["information"] == pytest.approx(rows[0]["information"], abs=0.12)


def test_how_many_choices_a_question_has_is_known_without_reading() -> None:
    rng = np.random.default_rng(0)

    def questions(n: int) -> Dataset:
        sizes = rng.choice([2, 5], n)
        rows = [
            {"question": f"number {i}", "choices": [f"c{rng.integers(40)} x{j}" for j in range(size)],
             "answer": int(rng.integers(size))}
            for i, size in enumerate(sizes)
        ]  # fmt: skip
        return Dataset.from_frame(pl.DataFrame(rows), name="asked")

    posed = load_items(questions(200), questions(600), ItemReading())
    assert posed is not None
    evidence = choice_evidence(posed, (0,), Settings(), lambda *_: None)
    assert evidence.null is not None
    sizes = np.array([2 if p > 0.35 else 5 for p in evidence.null[0]])
    assert set(sizes.tolist()) == {2, 5}
    mean = np.log2(evidence.null[0]).mean()
    assert np.log2(evidence.probabilities["question_only"][0]).mean() == pytest.approx(mean, abs=0.05)


def test_what_no_text_has_is_left_out_unless_it_was_asked_for() -> None:
    def part(n: int) -> Dataset:
        rows = [{"premise": f"one {i}", "hypothesis": f"two x{i}", "label": LABELS[i % 3]} for i in range(n)]
        return Dataset.from_frame(rows, name="apart", label_names=LABELS)

    choice = LeakageChoice(n_clusters=2, n_repetitions=1, map=False)
    found = study_leakage(part(60), part(30), seeds=1, choice=choice).to_dict()["leakage"]
    assert "overlap" not in {row["condition"] for row in found["conditions"]}
    assert states(found["remarks"], "'overlap'", "left out", "no word")
    with pytest.raises(InputError, match="'overlap' leaves no word"):
        study_leakage(part(60), part(30), conditions=("overlap",), seeds=1, choice=choice)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seeds": 0}, "seeds is 0; choose 1 or more"),
        ({"seeds": 1.5}, "seeds is 1.5; choose a whole number"),
        ({"choice": LeakageChoice(n_repetitions=0)}, "n_repetitions is 0"),
        ({"choice": LeakageChoice(n_components=-1)}, "n_components is -1"),
        ({"choice": LeakageChoice(n_clusters=0)}, "n_clusters is 0"),
        ({"choice": LeakageChoice(n_splits=0)}, "n_splits is 0"),
        ({"choice": LeakageChoice(threshold=-1)}, "threshold is -1"),
    ],
)
def test_settings_are_refused_before_anything_is_trained(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        study_leakage(pairs(9, EVEN, 0.0, 0), pairs(9, EVEN, 0.0, 1), **settings)
