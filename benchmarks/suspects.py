"""Precision and recall at k of suspect labels: planted ones, and errors that people found.

    GOLDASSAY_DATA=... python -m benchmarks.suspects
    python -m benchmarks.suspects BOARD ERRORS

Beside the log odds of `contradict_gold` and `vote_on_keys` the same answers are ranked by votes alone, which is the
plain reference. BOARD is any that `goldassay board` reads, with answers and keys; ERRORS names the items that are known
to be wrong, one a line.
"""

from __future__ import annotations

import ast
import csv
import gzip
import io
import json
import os
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.special import softmax
from scipy.stats import rankdata

import goldassay
from goldassay.data.dataset import Dataset
from goldassay.data.kinds.choices import read_choices
from goldassay.data.reading import read_table
from goldassay.questions.suspect.measures import contradict_gold, family_of, vote_on_keys
from goldassay.questions.suspect.question import Q
from goldassay.readers.probes import train_probes

if TYPE_CHECKING:
    from numpy.typing import NDArray

DATA = Path(os.environ.get("GOLDASSAY_DATA", ""))
LABELS = ["entailment", "neutral", "contradiction"]


def _table(name: str) -> list[dict[str, str]]:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _member(archive: str, name: str) -> bytes:
    with tarfile.open(DATA / "known_errors" / f"{archive}.tar.gz") as packed:
        file = next(packed.extractfile(each) for each in packed if each.name.endswith(name))
        assert file is not None
        return file.read()


def _say(name: str, score: NDArray[np.float64], wrong: NDArray[np.bool_]) -> None:
    hits = wrong[np.argsort(-score, kind="stable")]
    n = int(wrong.sum())
    at = [50, 100, n, 2 * n]
    told = ", ".join(f"{k}: {hits[:k].mean():.2f} / {hits[:k].sum() / n:.2f}" for k in at if 0 < k <= hits.size)
    print(f"{name:42}{n:5} of {hits.size:6} wrong ({100 * n / hits.size:.1f} %)  precision / recall at {told}")


def _votes(predictions: NDArray[np.integer], gold: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    counts = np.stack([(predictions == label).sum(axis=0) for label in range(k)]).astype(float)
    own = counts[gold, np.arange(gold.size)].copy()
    counts[gold, np.arange(gold.size)] = -1
    return np.asarray(counts.max(axis=0) - own)


def planted() -> None:
    rows = _table("predictions/snli_test_other_models.tsv.gz")
    models = [name for name in rows[0] if name not in ("row", "gold_label")]
    code = {label: at for at, label in enumerate(LABELS)}
    predictions = np.array([[code.get(row[model], -1) for row in rows] for model in models])
    clean = np.array([code[row["gold_label"]] for row in rows])
    families = [family_of(model.removeprefix("explainaboard_")) for model in models]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        wrong = rng.random(clean.size) < 0.065
        gold = np.where(wrong, (clean + rng.integers(1, 3, clean.size)) % 3, clean)
        found = contradict_gold(predictions, gold, 3, families)
        assert found is not None
        _say(f"SNLI, planted, seed {seed}: log odds", found.log_odds, wrong)
        _say("  votes alone", _votes(predictions, gold, 3), wrong)
        n_planted = wrong[found.unison].sum()
        print(
            f"  in unison {found.unison.sum()}, of which planted {n_planted}; expected of right {found.n_expected:.1f}"
        )
    found = contradict_gold(predictions, clean, 3, families)
    assert found is not None
    print(f"SNLI as published: in unison {found.unison.sum()}, expected of right labels {found.n_expected:.1f}")


def _self_confidence(likely: NDArray[np.float64], gold: NDArray[np.integer]) -> NDArray[np.float64]:
    """The probability of each gold label, as cleanlab ranks labels by it (Northcutt, Jiang and Chuang 2021), (N,)."""
    return likely[np.arange(gold.size), gold]


def _tell(name: str, score: NDArray[np.float64], wrong: NDArray[np.bool_]) -> None:
    """AUROC, and precision at 10, 20, 50 and 100."""
    hits, n = wrong[np.argsort(-score, kind="stable")], int(wrong.sum())
    auroc = (rankdata(score)[wrong].sum() - n * (n + 1) / 2) / (n * (wrong.size - n))
    at = ", ".join(f"{hits[:k].mean():.2f}" for k in (10, 20, 50, 100))
    print(f"{name:42}{n:5} of {wrong.size:6} wrong  AUROC {auroc:.3f}  precision at 10, 20, 50, 100: {at}")


def planted_keys() -> None:
    """MMLU-Pro, 29 systems: 3.1 % of the keys replaced, anywhere or in items that 25 systems solve."""
    frame = pl.read_parquet(DATA / "boards" / "mmlu-pro-predictions.parquet")
    systems, code = frame.columns[5:], {letter: at for at, letter in enumerate("ABCDEFGHIJ")}
    answers = np.array([[code.get(each or "", -1) for each in frame[name]] for name in systems])
    published, n_choices = np.array([code[each] for each in frame["answer"]]), frame["n_options"].to_numpy()
    for least in (0, 25):
        for seed in range(3):
            rng = np.random.default_rng(seed)
            pool = np.flatnonzero((answers == published).sum(axis=0) >= least)
            wrong = np.zeros(published.size, bool)
            wrong[rng.choice(pool, round(0.031 * published.size), replace=False)] = True
            key = np.where(wrong, (published + rng.integers(1, n_choices)) % n_choices, published)
            found = vote_on_keys(answers, key, 10, systems)
            assert found is not None
            _tell(f"MMLU-Pro, solved by {least} or more, seed {seed}", found.log_odds, wrong)
            _tell("  votes alone", _votes(answers, key, 10), wrong)
            disputed = found.q <= Q
            print(f"  disputed {disputed.sum()}, of which planted {(disputed & wrong).sum()}")


def known_errors(board: str, errors: str) -> None:
    """Any board with answers, and the items whose key is known to be wrong."""
    known = {line.strip() for line in Path(errors).read_text("utf-8").splitlines()} - {""}
    keys = goldassay.rank_systems(board).tables.get("board_keys")
    if keys is None:
        sys.exit(f"{board}: it takes answers and keys of five systems or more to rank keys")
    if absent := known - set(keys["item"]):
        sys.exit(f"{errors}: {len(absent)} of {len(known)} names are no item of the board, such as {min(absent)}")
    _tell(Path(board).name, keys["log_odds"].to_numpy(), keys["item"].is_in(known).to_numpy())


def raters() -> None:
    """20 Newsgroups: five people rated what confident learning had flagged; recall is among these alone."""

    def array(name: str) -> NDArray[np.float64]:
        return np.asarray(np.load(io.BytesIO(_member("label-errors-imdb-20news-arrays", name)), allow_pickle=False))

    likely = array("cross_validated_predicted_probabilities/20news_test_set_pyx.npy").astype(float)
    gold = array("original_test_labels/20news_test_set_original_labels.npy").astype(int)
    rated = json.loads(_member("label-errors-mturk-a", "mturk/20news_mturk.json"))
    at = np.array([each["id"] for each in rated])
    wrong = np.array([each["mturk"]["given"] < 3 for each in rated])
    _say("20 Newsgroups, rated by five: confidence", -_self_confidence(likely, gold)[at], wrong)


def reviews() -> None:
    """IMDb: the reviews that five people rated, by the confidence of a quick probe trained on the 25,000 others.

    The arrays of probabilities that were published cannot be used: their rows are in no order that the files have. Of
    1,310 rated reviews, all of which these probabilities must speak against, they do so for a tenth in each order of
    names or numbers, which is what they do for all reviews.
    """
    rated = json.loads(_member("label-errors-mturk-a", "mturk/imdb_mturk.json"))
    parts = {}
    for name in ("train", "test"):
        rows = [(f"{name}/{part}/{row['id']}_{row['rating']}", row["text"], part)
                for part in ("neg", "pos") for row in _table(f"imdb/{name}_{part}.tsv.gz")]  # fmt: skip
        frame = pl.DataFrame(rows, schema=["id", "text", "label"], orient="row")
        parts[name] = Dataset.from_frame(frame, {"text": "text", "label": "label", "id": "id"}, name, ("neg", "pos"))
    runs = next(iter(train_probes(parts["train"], parts["test"], conditions=["text"], seeds=[0])))
    assert runs.logits is not None
    assert runs.gold is not None
    likely = softmax(np.asarray(runs.logits, np.float64), axis=-1)
    confidence = _self_confidence(likely[0], runs.gold)
    place = {str(name): at for at, name in enumerate(runs.example_ids.tolist())}
    at = np.array([place[each["id"]] for each in rated])
    wrong = np.array([each["mturk"]["given"] < 3 for each in rated])
    print(f"IMDb: the quick probe is right in {runs.scores.mean():.3f} of {runs.gold.size:,} reviews")
    _say("IMDb, rated by five: confidence", -confidence[at], wrong)
    every = np.zeros(runs.gold.size, bool)
    every[at[wrong]] = True
    _say("  among all reviews, unrated ones as right", -confidence, every)


def disagreement() -> None:
    """SNLI items whose majority of 100 people is another label (ChaosNLI), by released runs of two models."""
    rows = [json.loads(line) for line in _member("chaosnli-snli-mnli", "chaosNLI_snli.jsonl").splitlines()]
    short = {"e": 0, "n": 1, "c": 2}
    known = {row["uid"]: (short[row["old_label"]], short[row["majority_label"]]) for row in rows}
    runs = pl.read_parquet(DATA / "boards" / "snli-3seeds-predictions.parquet").filter(pl.col("uid").is_in(list(known)))
    names = runs.select("model", "seed").unique().sort("model", "seed").rows()
    ids = sorted(set(runs["uid"].to_list()))
    wrong = np.array([known[uid][0] != known[uid][1] for uid in ids])
    against = np.zeros(len(ids))
    for model, seed in names:
        own = runs.filter(pl.col("model") == model, pl.col("seed") == seed).unique("uid")
        told = dict(zip(own["uid"].to_list(), own.select("true", "pred", "conf").rows(), strict=True))
        against += [c if p != t else -c for t, p, c in (told[uid] for uid in ids)]
    _say("ChaosNLI, SNLI: confidence of five runs", against, wrong)


def judged_items() -> None:
    """MMLU-Redux: items that people called flawed, by the defects that an audit finds without models."""
    defective, wrong = [], []
    with tempfile.TemporaryDirectory() as folder, tarfile.open(DATA / "known_errors" / "mmlu-redux-a.tar.gz") as packed:
        for member in sorted(packed.getnames()):
            # One file has a byte that is no UTF-8.
            text = _member("mmlu-redux-a", member).decode("utf-8", "replace")
            sign = ";" if ";" in text.splitlines()[0] else ","
            read = csv.DictReader(io.StringIO(text), delimiter=sign)
            # Nobody says what "expert" means.
            rows = [row for row in read if row["error_type"].lower() not in ("", "expert")]
            file = Path(folder, f"{Path(member).stem}.jsonl")
            items = [{"question": row["question"], "choices": ast.literal_eval(row["choices"]),
                      "answer": int(row["answer"])} for row in rows]  # fmt: skip
            file.write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
            if not rows:
                continue
            found = read_choices(read_table(file), file.stem, source=str(file))
            assert found is not None
            named = set(found.problems["row"].to_list())
            defective += [line in named for line in range(1, len(rows) + 1)]
            wrong += [row["error_type"].lower() != "ok" for row in rows]
    flawed, has_defect = np.array(wrong), np.array(defective)
    n, hits = int(has_defect.sum()), int((has_defect & flawed).sum())
    print(f"MMLU-Redux: people call {flawed.sum()} of {flawed.size} flawed; {n} have a defect, {hits} of these flawed")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        known_errors(*sys.argv[1:])
        sys.exit()
    planted_keys()
    planted()
    judged_items()
    raters()
    reviews()
    disagreement()
