"""Where the patterns of the training part do not hold in the test part, no reader can show that nothing is there."""

from __future__ import annotations

import random

import pytest

from goldassay.questions.public import audit
from tests.stated import stated_by, states

WORDS = [f"w{number}" for number in range(200)]


def rows(n: int, seed: int, labels: str = "abc", share: float = 0.6) -> list[dict[str, str]]:
    """In a share of each label's hypotheses stands a word of the label."""
    rng = random.Random(seed)
    made = []
    for _ in range(n):
        label = rng.choice(labels)
        premise, hypothesis = (rng.choices(WORDS, k=8) for _ in range(2))
        if rng.random() < share:
            hypothesis[rng.randrange(8)] = f"told{label}"
        made.append({"premise": " ".join(premise), "hypothesis": " ".join(hypothesis), "label": label})
    return made


def words_of(train: list[dict[str, str]], test: list[dict[str, str]]) -> dict[str, dict[str, str]]:
    verdicts = audit(train, test).verdicts
    return {question: verdicts[question] for question in ("artifacts", "leakage")}


def test_gold_of_other_rows_is_never_sound() -> None:
    """Rotated by a half, the test labels belong to other rows: both questions were sound."""
    train, test = rows(3000, 0), rows(1500, 1)
    moved = [{**row, "label": other["label"]} for row, other in zip(test, test[750:] + test[:750], strict=True)]
    for verdict in words_of(train, moved).values():
        assert verdict["verdict"] == "unresolved"
        assert "the test labels may belong to other rows" in stated_by(verdict)
        assert verdict["next_step"].startswith("Check that each test label belongs to its row")
    for verdict in words_of(train, test).values():
        assert verdict["verdict"] == "unsound"
        assert "other rows" not in stated_by(verdict)


@pytest.mark.parametrize("n_rare", [49, 50])
def test_a_label_too_rare_to_be_judged_is_named(n_rare: int) -> None:
    def with_rare(n_rare: int, seed: int) -> list[dict[str, str]]:
        """Two labels that nothing tells, and one that a word tells in each of its rows."""
        return [*rows(3000, seed, "ab", 0), *rows(n_rare, seed + 10, "c", 1)]

    for verdict in words_of(with_rare(100, 0), with_rare(n_rare, 1)).values():
        if n_rare < 50:
            assert states(stated_by(verdict), "49 test rows of label c", "left out", "fewer than 50")
        else:
            assert verdict["verdict"] == "unsound"
