"""Discounted scores where the truth is known, and of released runs on SNLI.

    GOLDASSAY_DATA=... python -m benchmarks.discount

Systems are made on the specimen with certified flaws: what follows the reader of the hypothesis must fall to chance,
what knows a share of the labels and guesses otherwise must keep its score. The released runs that saw the hypothesis
alone, or the premise alone, are the same on real data.
"""

from __future__ import annotations

import csv
import gzip
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import goldassay
from goldassay.cli.main import run
from goldassay.questions.discount.measures import shortcut_weights
from goldassay.questions.discount.page import discount_lines
from goldassay.questions.discount.result import DiscountResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

DATA = Path(os.environ.get("GOLDASSAY_DATA", ""))
_RELEASED = {
    "bert": "bert-base-cased_snli_std_test",
    "distilbert": "distilbert-base-uncased_snli_std_test",
    "gpt2": "gpt2_snli_std_test",
    "bert-hypothesis-only": "bert-base-cased_snli_hypothesis_test",
    "distilbert-hypothesis-only": "distilbert-base-uncased_snli_hypothesis_test",
    "gpt2-hypothesis-only": "gpt2_snli_hypothesis_test",
    "bert-premise-only": "bert-base-cased_snli_premise_test",
}


def _say(ids: list[str], systems: Mapping[str, NDArray[np.float64]], report: Path) -> None:
    table = pl.DataFrame({"item": ids, **{name: own.astype(int).tolist() for name, own in systems.items()}})
    for line in discount_lines(goldassay.rank_systems(table, discount=str(report)).answer(DiscountResult)):
        print(line)


def made(folder: Path) -> None:
    run(["specimen", "-o", str(folder / "data"), "-q"])
    report = goldassay.audit(str(folder / "data" / "train.jsonl"), str(folder / "data" / "test.jsonl"))
    report.save(folder / "made")
    rows = report.tables["examples"]
    rng, n = np.random.default_rng(0), rows.height
    follower = rng.random(n) < rows["right_hypothesis_only"].to_numpy()
    systems = {f"knows {share}": (rng.random(n) < share) | (rng.random(n) < 1 / 3) for share in (0.3, 0.6, 0.9)}
    systems |= {"follows": follower, "knows .6, follows else": (rng.random(n) < 0.6) | follower}
    _say(rows["example_id"].to_list(), systems, folder / "made")


def parts(n: int = 400_000, share: float = 0.6) -> None:
    """Two parts with a shortcut each: by one part, by the part that tells most in each row, by the product of both.

    Each cue is the label in a share of the rows, else any of three. The two are independent given the label, or one and
    the same, or the second part has none.
    """
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 3, n)

    def cue(own: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        shown = np.where(rng.random(n) < own, gold, rng.integers(0, 3, n))
        return shown, np.log2(3 * np.where(shown == gold, own + (1 - own) / 3, (1 - own) / 3))

    first, bits = cue(share)
    for kind, (second, others) in {
        "independent": cue(share), "the same": (first, bits), "none in the second": cue(0.0)
    }.items():  # fmt: skip
        systems = {
            "follows the first": first == gold,
            "follows the second": second == gold,
            "knows .6": (rng.random(n) < 0.6) | (rng.random(n) < 1 / 3),
        }
        for name, told in {"one part": bits, "most there": np.maximum(bits, others), "product": bits + others}.items():
            weights = shortcut_weights(told)
            scores = {of: round(float(weights @ own / weights.sum()), 3) for of, own in systems.items()}
            print(f"{kind}, {name}: mean weight {weights.mean():.2f}, {scores}")


def _table(name: str) -> list[dict[str, str]]:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _pairs(name: str) -> pl.DataFrame:
    rows = [
        {"id": f"s{at}", "premise": row["premise"], "hypothesis": row["hypothesis"], "label": row["gold_label"]}
        for at, row in enumerate(_table(name))
    ]
    return pl.DataFrame(rows)


def released(folder: Path) -> None:
    train, test = _pairs("snli/train_sample_18k.tsv.gz"), _pairs("snli/test_9824.tsv.gz")
    goldassay.audit(train, test).save(folder / "snli")
    runs = _table("predictions/snli_test_runs/correct.tsv.gz")
    systems = {name: np.array([row[column] in ("1", "True") for row in runs]) for name, column in _RELEASED.items()}
    _say(test["id"].to_list(), systems, folder / "snli")


if __name__ == "__main__":
    parts()
    with tempfile.TemporaryDirectory() as place:
        made(Path(place))
        if (DATA / "snli").is_dir():
            released(Path(place))
