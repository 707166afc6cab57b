"""What is run: the command lines of commands.txt, and calls of the public functions.

The lines of a scenario share a folder, in their order. In it `in` holds the inputs, `in/real` beginnings of real files,
and `cases` made cases of faults of published files; lines of what is not there are left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def command_lines() -> dict[str, dict[str, list[str]]]:
    """Words of each command line, by scenario and name."""
    found: dict[str, dict[str, list[str]]] = {}
    for line in Path(__file__).with_name("commands.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            scenario = found.setdefault(line.strip("[]"), {})
        elif line:
            name, _, words = line.partition(": ")
            scenario[name] = words.split()
    return found


# Calls of public functions, which find the inputs in `in`; `g` is the package.
CALLS: Mapping[str, Callable[[Any], Any]] = {
    "audit": lambda g: g.audit("in/train.jsonl", "in/test.jsonl", "in/runs", {"far": "in/far.jsonl"}, seed=1),
    "audit-frame": lambda g: g.audit(pl.read_ndjson("in/train.jsonl"), pl.read_ndjson("in/test.jsonl")),
    "audit-items": lambda g: g.audit("in/questions.jsonl", corpus="in/corpus"),
    "audit-refused": lambda g: g.audit("in/renamed.tsv", columns={"premise": "first", "label": "third"}),
    "measure-artifacts": lambda g: g.measure_artifacts("in/train.jsonl", "in/test.jsonl", min_count=10),
    "measure-leakage": lambda g: g.measure_leakage(
        "in/train.jsonl", "in/test.jsonl", seeds=2, plane=False, n_clusters=6
    ),
    "suggest-rewrites": lambda g: g.suggest_rewrites("in/train.jsonl", "in/test.jsonl", shares=[0.1]),
    "measure-instability": lambda g: g.measure_instability("in/runs", groups=["genre"], dataset="test"),
    "compare-models": lambda g: g.compare_models("in/a.csv", "in/b.csv", clusters="premise", test="in/test.jsonl"),
    "measure-shift": lambda g: g.measure_shift(
        runs={"test": "in/runs/test.csv", "far": "in/runs/far.csv"}, in_distribution="test",
        trained_on="in/train.jsonl", test={"test": "in/test.jsonl", "far": "in/far.jsonl"},
    ),
    "detect-shift": lambda g: g.detect_shift(
        {"test": "in/scored.parquet"}, {"far": "in/far-scored.parquet"}, model="a", draws=100, scores=["energy"]
    ),
    "build-shift": lambda g: g.build_shift(by="genre", source="in/train.jsonl", min_rows=20),
    "measure-overlap": lambda g: g.measure_overlap("in/questions.jsonl", "in/corpus"),
    "rank-systems": lambda g: g.rank_systems(pl.read_csv("in/board.csv")),
    "measure-sensitivity": lambda g: g.measure_sensitivity("in/configured.jsonl", claim=2),
    "measure-answered": lambda g: g.measure_answered("in/unread.jsonl"),
    "look": lambda g: g.look("in/train.jsonl"),
    "check": lambda g: g.check(g.rank_systems("in/board.csv"), {"worst_verdict": "caution"}),
    "train": lambda g: g.train("in/train.jsonl", {"test": "in/test.jsonl"}, "ngram_average", seeds=1,
                                changes={"epochs": 1}, workers=1, out="trained"),
    "read-dataset": lambda g: g.read_dataset("in/renamed.tsv", columns={"premise": "first", "hypothesis": "second",
                                                                      "label": "answer", "id": "uid"}),
    "from-frame": lambda g: g.Dataset.from_frame(pl.read_ndjson("in/test.jsonl").to_dicts(), name="made"),
    "read-runs": lambda g: g.read_runs("in/runs", model="a", dataset="test", gold="in/test.jsonl"),
    "read-checkpoints": lambda g: g.read_runs("in/checkpoints.parquet", model="b"),
    "list-runs": lambda g: g.list_runs("in/runs"),
    "read-refused": lambda g: g.read_runs("in/uneven.csv", model="a"),
    "decompose-variance": lambda g: g.instability.decompose_variance(_scores(0), np.arange(90) % 4),
    "normalized-deviation": lambda g: g.instability.normalized_deviation(0.02, 500, 0.01, 900),
    "correlate-datasets": lambda g: g.instability.correlate_datasets(
        {name: _scores(at, steps=3).mean(-1) for at, name in enumerate("xyz")}
    ),
    "correlate-examples": lambda g: g.instability.correlate_examples(_scores(1, steps=3)),
    "top-covarying-pairs": lambda g: g.instability.top_covarying_pairs(_scores(2), 10),
    "select-checkpoints": lambda g: g.instability.select_checkpoints(_scores(3, steps=4), _scores(4, steps=4)),
    "compare": lambda g: g.instability.compare(_scores(5), _scores(6), np.arange(90) // 3),
    "seeds-needed": lambda g: g.instability.seeds_needed(0.02, 0.01, example_variance=0.0001),
    "mine-patterns": lambda g: _mined(g).to_frame(),
    "select": lambda g: _mined(g).select(0.6).to_frame(),
    "assign-difficulty": lambda g: g.artifacts.assign_difficulty(*_sentences("test"), _mined(g).select(0.6)),
    "downsample": lambda g: g.artifacts.downsample(g.read_dataset("in/train.jsonl"), _mined(g).select(0.95), seed=2),
    "single-sentence": lambda g: g.leakage.single_sentence_report(
        {"premise_only": _scores(7), "paired": _scores(8)}, np.arange(90) % 3, n_draws=200
    ),
    "agreement": lambda g: g.leakage.agreement(_codes(0), _codes(1)),
    "recovery": lambda g: g.leakage.recovery(_codes(0), _codes(1), _codes(2), convention="paper"),
    "peco": lambda g: g.leakage.peco(_features(0), np.arange(90) % 3, n_clusters=8, n_components=4, n_permutations=50),
    "score-clusters": lambda g: g.leakage.score_clusters(_codes(3), _codes(4), n_permutations=50),
    "generalization-gap": lambda g: g.shift.generalization_gap({"own": _scores(9), "far": 1 - _scores(9)}, "own",
                                                               n_draws=200),
    "false-alarm-rate": lambda g: [g.shift.false_alarm_rate(_features(1)[:, 0], 1 + _features(2)[:, 0], rule=rule)
                                   for rule in ("at_least", "closest", "interpolate")],
    "auroc": lambda g: [g.shift.auroc(_features(1)[:, 0], 1 + _features(2)[:, 0]),
                        g.shift.aupr(_features(1)[:, 0], 1 + _features(2)[:, 0], positive="in")],
    "scores-of-logits": lambda g: [getattr(g.shift, f"score_{name}")(_features(3)) for name in
                                   ("max_softmax", "max_logit", "energy", "entropy")],
    "scores-of-features": lambda g: [g.shift.score_mahalanobis(_features(4), _features(5), np.arange(90) % 3),
                                     g.shift.score_knn(_features(4), _features(5), 3)],
    "from-arrays": lambda g: g.Runs.from_arrays(_codes(5).reshape(3, 30), np.arange(30) % 3, label_names=list("abc")),
    "from-arrays-refused": lambda g: g.Runs.from_arrays(_codes(5).reshape(3, 30), np.arange(29) % 3),
}  # fmt: skip


def _scores(seed: int, steps: int = 0) -> np.ndarray[Any, Any]:
    """Right or wrong of six runs, over so many checkpoints, on 90 examples."""
    rng = np.random.default_rng(seed)
    shape = (6, steps, 90) if steps else (6, 90)
    levels = rng.normal(0.7, 0.05, shape[:-1])[..., np.newaxis] + np.where(np.arange(90) % 4, 0.1, -0.3)
    return (rng.random(shape) < levels).astype(np.float64)


def _codes(seed: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed + 20).integers(0, 3, 90)


def _features(seed: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed + 40).normal(size=(90, 6)) + np.eye(6)[np.arange(90) % 3]


def _sentences(name: str) -> tuple[list[str], list[str]]:
    frame = pl.read_ndjson(f"in/{name}.jsonl")
    return frame["hypothesis"].to_list(), frame["label"].to_list()


def _mined(g: Any) -> Any:
    return g.artifacts.mine_patterns(*_sentences("train"), min_count=10)
