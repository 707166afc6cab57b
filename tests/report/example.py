"""A report document as an audit of a premise/hypothesis benchmark would build it, with hostile texts in it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.results import frame_of_records
from goldassay.core.sections import RowToRead
from goldassay.questions.artifacts.result import PatternsResult, TriedPattern
from goldassay.questions.leakage.result import MeasuredLeakage
from goldassay.questions.rows import table_of_rows
from goldassay.questions.shift.result import GeneralizationResult
from goldassay.stats.intervals import wilson_bounds
from tests.typed import compose, filled

if TYPE_CHECKING:
    from goldassay.report.report import Report

HOSTILE = "<script>alert(1)</script>"
LABELS = ("entailment", "neutral", 'contra"diction & <b>')

_PATTERNS = {
    LABELS[0]: ["in this picture", "A human", "A # # outdoors .", "is near # # .", "outdoors", "There is # person"],
    LABELS[1]: ["tall human", "A sad", "the first", "on # way", "vacation", "his # friends", "for # competition"],
    LABELS[2]: ["Nobody # # .", HOSTILE, "dog # sleeping", "in # bed", "No `one` | cats", "is # alone at home"],
}


def example_document(n_scatter: int = 3000, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "schema": "goldassay.report",
        "schema_version": 2,
        "goldassay_version": "0.1.0",
        "title": "Audit of pairs & <i>friends</i>",
        "verdicts": {**_verdicts(), "overlap": {"verdict": "not asked", "evidence": "Add --corpus."}},
        "issues": _issues(),
        "dataset": {
            "name": "pairs & <i>friends</i>",
            "label_names": list(LABELS),
            "text_columns": ["premise", "hypothesis"],
            "conditions": ["paired", "premise_only", "hypothesis_only"],
        },
        "inputs": [
            _input("train", "train.jsonl", 18_000, 18_031),
            _input("test", "test<&>.jsonl", 9_824, 9_824 + 176),
        ],
        "facts": _facts(),
        "artifacts": _artifacts(rng, n_scatter),
        "leakage": _leakage(),
        "instability": _instability(rng),
        "shift": filled(GeneralizationResult, {"kind": "generalization"}),
        "settings": {
            "seed": 0,
            "artifacts": {"max_tokens": 3, "max_gap": 3, "min_count": 18, "q": 0.01, "threshold": 0.7},
            "leakage": {"seeds": 5, "thresholds": {"caution": 0.05, "unsound": 0.15}},
            "instability": {"ddof": 1, "design_effect": {"caution": 2.0, "unsound": 10.0}},
        },
        "environment": {
            "python": "3.11.2",
            "platform": "Linux-6.1-x86_64",
            "packages": {"numpy": "2.4.0", "polars": "2.1.0", "scikit-learn": "1.9.0"},
        },
        "timing": {
            "started": "2025-01-01T12:00:00Z",
            "finished": "2025-01-01T12:00:41Z",
            # Nothing was measured.
            "seconds": {},
        },
    }


def example_report(n_scatter: int = 3000, seed: int = 0) -> Report:
    document = example_document(n_scatter, seed)
    strongest = [
        {"label": label, **{k: v for k, v in row.to_dict().items() if k != "examples"}, "tokens": row.pattern.split()}
        for label, rows in document["artifacts"].strongest.items()
        for row in rows
    ]
    return compose(
        document,
        {
            "patterns": pl.DataFrame(strongest),
            "difficulty": pl.DataFrame({"example_id": ["a", "b"], "difficulty": ["easy", "hard"]}),
            "leakage": frame_of_records(document["leakage"].conditions),
            "instability": pl.DataFrame([dict(r) for r in document["instability"]["results"]]),
            "instability_groups": pl.DataFrame(document["instability"]["groups"][0]["rows"]),
        },
        first=table_of_rows(_first_rows()),
    )


def _first_rows() -> tuple[RowToRead, ...]:
    long = "A man in a blue shirt is standing on a ladder cleaning a window of a shop in the center of the town."
    return tuple(
        RowToRead(str(i), f"{long}\nNobody cleans {HOSTILE}.", "neutral", f"Its hypothesis has the pattern “{word}”.")
        for i, word in enumerate(("Nobody", "outdoors", HOSTILE, "for # competition", "tall human"))
    )


def _issues() -> list[dict[str, Any]]:
    pattern = {
        "question": "artifacts",
        "kind": "pattern names the label",
        "n_rows": 3055,
        "of": "rows",
        "table": "patterns",
    }
    return [
        {**pattern, "worst": f"Nobody cleans {HOSTILE}. → neutral", "mend": "Rewrite them.", "verdict": "unsound"},
        {
            "question": "suspect",
            "kind": "wrong label suspected",
            "n_rows": None,
            "of": "rows",
            "worst": "",
            "mend": "Read.",
        },
    ]


def _verdicts() -> dict[str, Any]:
    return {
        "artifacts": {
            "verdict": "unsound",
            "evidence": f"1,204 patterns give the label away, such as {HOSTILE} with a probability of 97.9 %.",
            "headline": {"label": "label given away", "value": 0.311, "low": 0.302, "high": 0.32, "unit": "share"},
            "next_step": "Report accuracy on the hard subset beside the full score, or rewrite the strongest patterns.",
            "rule": "Unsound from 15 % of test examples given away, caution from 5 %.",
        },
        "leakage": {
            "verdict": "unsound",
            "evidence": "From the hypothesis alone the probe is 24.4 points better than the majority label.",
            "headline": {
                "label": "improvement over majority, hypothesis only",
                "value": 0.244,
                "low": 0.235,
                "high": 0.253,
                "unit": "points",
            },
            "next_step": "Print the hypothesis-only score next to every paired score.",
            "rule": "Unsound when the interval of the improvement lies above 15 points, caution above 5.",
        },
        "instability": {
            "verdict": "caution",
            "evidence": "Seeds move the score by 1.51 points (SD), as if the test set had 137 examples.",
            "headline": {"label": "design effect", "value": 218.4, "low": None, "high": None, "unit": "ratio"},
            "next_step": "Report at least ten seeds, and the score of each group.",
            "rule": "Caution from a design effect of 2, unsound from 10 with an SD above 2 points.",
        },
        "shift": {
            "verdict": "not measurable",
            "evidence": "There is no second distribution to compare with.",
            "headline": None,
            "next_step": "Give a second test set from elsewhere.",
            "rule": "Not measured in this version.",
        },
    }


def _input(role: str, name: str, n_rows: int, n_read: int) -> dict[str, Any]:
    return {
        "role": role,
        "name": name,
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "n_rows": n_rows,
        "n_read": n_read,
        "format": "snli-jsonl",
        "roles": {"premise": "sentence1", "hypothesis": "sentence2", "label": "gold_label"},
        "decisions": [
            "the label was taken from gold_label rather than annotator_labels, because gold ranks before annotators"
        ],
        "dropped": {"no gold label (-)": n_read - n_rows},
    }


def _facts() -> dict[str, Any]:
    lengths = []
    for split, n in (("train", 6000), ("test", 3275)):
        for role, base in (("premise", 14.1), ("hypothesis", 7.5)):
            for k, label in enumerate(LABELS):
                shift = 0.9 * (k - 1) if role == "hypothesis" else 0.02 * k
                row = {"split": split, "role": role, "label": label, "n": n}
                lengths.append(
                    row | {"mean": base + shift, "median": round(base + shift), "p95": round(1.8 * (base + shift))}
                )
    return {
        "n_train": 18_000,
        "n_test": 9_824,
        "label_counts": {
            "train": dict(zip(LABELS, (6012, 5980, 6008), strict=True)),
            "test": dict(zip(LABELS, (3368, 3219, 3237), strict=True)),
        },
        "lengths": lengths,
        "length_unit": "words",
        "duplicates": {"train": {"exact": 17, "conflicting": 4}, "test": {"exact": 3, "conflicting": 1}},
        "overlap": {"whole example": {"n": 2, "share": 2 / 9824}, "premise": {"n": 61, "share": 61 / 9824}},
        "premise_reuse": {
            "train": {"distinct": 16_900, "mean": 1.07, "max": 6},
            "test": {"distinct": 3_300, "mean": 2.98, "max": 3},
        },
        "dropped": {"train": {"no gold label (-)": 31}, "test": {"no gold label (-)": 176}},
    }


def _example(number: int, text: str, label: str, pattern: str) -> dict[str, Any]:
    """A sentence with the pattern's words marked where they first stand."""
    marks, at = [], 0
    for word in pattern.split():
        if word != "#" and text.find(word, at) >= 0:
            at = text.find(word, at) + len(word)
            marks.append([at - len(word), at])
    return {"example_id": f"e{number}", "text": text, "label": label, "marks": marks}


def _artifacts(rng: np.random.Generator, n_scatter: int) -> PatternsResult:
    strongest: dict[str, tuple[TriedPattern, ...]] = {}
    scatter = []
    for label, patterns in _PATTERNS.items():
        rows = []
        for rank, pattern in enumerate(patterns):
            support = int((40 + 31 * LABELS.index(label)) * 1.7 ** ((rank * 3) % 5) + 13 * rank)
            hits = round(support * (0.985 - 0.012 * LABELS.index(label) - 0.031 * rank))
            low, high = wilson_bounds(hits, support)
            probability = hits / support
            row = {
                "pattern": pattern,
                "support": support,
                "probability": probability,
                "wilson_low": float(low),
                "wilson_high": float(high),
                "lift": probability * 3,
                "q_value": 10.0 ** (-3 - 4 * rank),
                "test_support": support // 2,
                "test_probability": probability - 0.03,
                "n_folded": rank,
                "variants": [
                    {"pattern": f"{pattern} # {word}", "support": support // 2, "probability": probability}
                    for word in ("is", "<i>")[:rank]
                ],
                "examples": [
                    _example(0, f"{pattern} is what they said .", label, pattern),
                    _example(1, "A man & a <b>woman</b> are outside .", LABELS[label == LABELS[0]], "A"),
                ],
            }
            rows.append(filled(TriedPattern, row))
            scatter.append({"pattern": pattern, "support": support, "probability": probability, "label": label})
        strongest[label] = tuple(rows)
    supports = np.exp(rng.exponential(1.15, n_scatter) + math.log(18)).astype(int)
    for i, support in enumerate(supports[: max(0, n_scatter - len(scatter))]):
        lean = min(0.98, 1 / 3 + abs(rng.normal(0, 0.13)) + rng.binomial(support, 0.1) / support / 2)
        scatter.append(
            {
                "pattern": f"word{i % 977} # thing{i % 89}",
                "support": int(support),
                "probability": round(rng.binomial(support, lean) / support, 6),
                "label": LABELS[int(rng.integers(3))],
            }
        )
    scatter = [row for row in scatter if row["probability"] > 0.34]
    found = {
        "applies_to": "hypothesis",
        "settings": {
            "max_tokens": 3,
            "max_gap": 3,
            "min_count": 18,
            "tokenizer": "treebank",
            "q": 0.01,
            "threshold": 0.7,
        },
        "prior": dict.fromkeys(LABELS, 1 / 3),
        "n_mined": 21_807,
        "n_significant": 6_402,
        "n_selected": 1_204,
        "n_confirmed": 1_107,
        "strongest": strongest,
        "difficulty": {
            "easy": {"n": 3056, "share": 3056 / 9824},
            "hard": {"n": 886, "share": 886 / 9824},
            "conflicting": {"n": 342, "share": 342 / 9824},
            "uncovered": {"n": 5540, "share": 5540 / 9824},
        },
        "coverage": 4284 / 9824,
        "precision": {"value": 0.775, "low": 0.762, "high": 0.788},
        "giveaway": {"value": 0.311, "low": 0.302, "high": 0.32},
        "others": [
            {
                "applies_to": "premise",
                "n_mined": 30_112,
                "n_significant": 0,
                "n_selected": 0,
                "strongest": [],
                "coverage": 0.0,
                "precision": None,
                "giveaway": None,
            }
        ],
        "scatter": scatter,
        "coverage_curve": [
            {"threshold": t / 100, "coverage": 1 - (t - 40) ** 2 / 3600, "precision": 0.45 + (t - 50) / 100}
            for t in range(50, 100, 5)
        ],
    }
    return filled(PatternsResult, found)


def _leakage() -> MeasuredLeakage:
    def row(condition: str, accuracy: float, improvement: float, recovered: float | None) -> dict[str, Any]:
        return {
            "condition": condition,
            "n_runs": 5,
            "accuracy": accuracy,
            "accuracy_low": accuracy - 0.0098,
            "accuracy_high": accuracy + 0.0096,
            "sd": 0.0031,
            "majority": 0.3428,
            "improvement": improvement,
            "improvement_low": improvement - 0.01,
            "improvement_high": improvement + 0.01,
            "balanced_accuracy": accuracy - 0.01,
            "balanced_accuracy_low": accuracy - 0.02,
            "balanced_accuracy_high": accuracy,
            "recovered": recovered,
            "recovered_low": None if recovered is None else recovered - 0.02,
            "recovered_high": None if recovered is None else recovered + 0.02,
            "reason": "",
        }

    found = {
        "probe": "The quick probe is a linear model on hashed words and word pairs, for pairs also on their overlap.",
        "seeds": ["0", "1", "2", "3", "4"],
        "conditions": [
            row("paired", 0.6, 0.2572, None),
            row("premise_only", 0.3391, -0.0037, 0.565),
            row("hypothesis_only", 0.5868, 0.244, 0.978),
        ],
        "difficulty": [
            {"condition": condition, "subset": subset, "n": n, "accuracy": a, "low": a - 0.02, "high": a + 0.018}
            for condition, values in (("paired", (0.6, 0.872, 0.248)), ("hypothesis_only", (0.587, 0.91, 0.12)))
            for subset, n, a in zip(("full", "easy", "hard"), (9824, 3056, 886), values, strict=True)
        ],
        "note": "A quick probe is a lower bound: a stronger model may read more from the same part.",
    }
    return filled(MeasuredLeakage, found)


def _instability(rng: np.random.Generator) -> dict[str, Any]:
    results = []
    for dataset, n, mean, sd, independent in (
        ("MNLI-m", 9815, 0.8472, 0.002394, 3.0815e-6),
        ("SNLI", 9842, 0.9124, 0.001122, 1.6443e-6),
        ("HANS & <co>", 30_000, 0.6231, 0.015141, 1.0499e-6),
    ):
        accuracies = mean + sd * rng.standard_normal(10)
        total = sd**2
        results.append(
            {
                "model": "bert-base",
                "dataset": dataset,
                "condition": "paired",
                "n_runs": 10,
                "n_examples": n,
                "mean": mean,
                "sd": sd,
                "sd_low": 0.68784 * sd,
                "sd_high": 1.82561 * sd,
                "min": float(accuracies.min()),
                "max": float(accuracies.max()),
                "accuracies": [float(value) for value in accuracies],
                "total": total,
                "independent": independent,
                "covariance": total - independent,
                "design_effect": total / independent,
                "effective_size": n * independent / total,
                "reason": None,
                "name": "",
                "n_distinct": 10,
                "contradicted": 0,
                "constant": None,
                "constant_score": 0.0,
                "above_constant_low": mean - 3 * sd,
                "examples_to_exceed": 2,
                "by_position": False,
            }
        )
    names = ("lexical_overlap", "subsequence", "constituent", HOSTILE)
    return {
        "source": "runs",
        "note": "Ten fine-tuning runs that differ in their seed only.",
        "results": results,
        "groups": [
            {
                "model": "bert-base",
                "dataset": "HANS & <co>",
                "condition": "paired",
                "column": "heuristic",
                "name": "",
                "n_groups": 4,
                "within": 2.8139e-4,
                "between": -0.5318e-4,
                "rows": [
                    {
                        "group": name,
                        "n_examples": 7500,
                        "mean": 0.7 - 0.07 * i,
                        "sd": 0.03 + 0.01 * i,
                        "share_of_variance": s,
                    }
                    for i, (name, s) in enumerate(zip(names, (0.61, 0.29, -0.08, 0.18), strict=True))
                ],
            }
        ],
    }
