"""The certificate of a specimen: every planted flaw with its figures, counted in the rows that were written.

What ten runs of a made-up model answered: their spread, and what their score loses elsewhere, are known.

The model reads the planted phrases: it gives the label that a phrase suggests. Each run has tied the cue of a group to
one of the two labels that training shows it with, so that all examples of a group are right or wrong together. Of
the other examples most are always right or always wrong, and a few are right in about half of the runs. How many are
right in which run is a quota, so that the certified figures hold in every file and not merely on average.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean, linear_regression, stdev
from typing import TYPE_CHECKING, Any

from goldassay.data.specimen.flaws import GROUPS, LEANING, PATTERNS, PlantedGroup, PlantedPattern, group_counts
from goldassay.data.specimen.rows import LABELS, Label, Part, Row, pick

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random


SCHEMA = "goldassay-specimen-certificate"
VERSION = 2

_HOW_CLEAN = (
    "Labels were drawn first; the premises and the hypotheses of every label were then drawn from one distribution, "
    "so that only the two sentences together tell the label."
)
_HOW_FLAWED = (
    "Clean pairs were drawn first; phrases that change no truth were then put around hypotheses chosen by their label, "
    "by exact quota, some topics were given a label more often than the others, and some rows were copied."
)
_REMARKS = {
    "patterns": "Gaps count the tokens skipped (Penn Treebank tokens, case kept); # stands for one of them. "
    "`probability` is the planted p(label | pattern), `probability_realized` its value in train, the nearest that "
    "whole rows allow.",
    "topics": "A word of the topic, in either sentence, has its label with this share.",
    "groups": "In train the cue occurs equally often with two labels; in dev and test often, and with one; elsewhere "
    "never, like all that is planted. The group "
    "of all other rows is the form of the hypothesis: plain (it names a value), broad (only its kind), or denied.",
    "duplicates": "Rows of train copied with premise, hypothesis and label. In a conflicting copy the label is false.",
    "overlap": "Rows of test that are also in train.",
    "runs": "What ten runs of a made-up model answered on test and elsewhere: `score` is the mean accuracy over runs, "
    "`sd` its standard deviation (n - 1), `share_of_variance` of a group the covariance of its part of the score with "
    "the score, divided by the variance of the score. `loss` is (score on test - score elsewhere) / (score on test - "
    "accuracy of always naming one label).",
}


def certify(
    rows: dict[Part, list[Row]],
    duplicates: list[tuple[Row, Row]],
    conflicting: list[tuple[Row, Row]],
    overlap: list[tuple[Row, Row]],
    answers: dict[Part, Answers],
    *,
    seed: int,
    clean: bool,
) -> dict[str, Any]:
    """Describe the finished rows, copies given as pairs of the copy and the original."""
    sizes = {part: len(members) for part, members in rows.items()}
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "kind": "pairs",
        "how": _HOW_CLEAN if clean else _HOW_FLAWED,
        "seed": seed,
        "size": sizes["train"],
        "clean": clean,
        "sizes": sizes,
        "label_counts": {part: _label_counts(members) for part, members in rows.items()},
        "guessable": {part: _guessable(members, clean) for part, members in rows.items()},
        "patterns": [] if clean else [_pattern(pattern, rows) for pattern in PATTERNS],
        "topics": [] if clean else [_topic(name, rows) for name in LEANING],
        "groups": [] if clean else [_group(group, sizes) for group in GROUPS],
        "duplicates": [{"id": copy.id, "of": row.id} for copy, row in duplicates],
        "conflicting_duplicates": [
            {"id": copy.id, "of": row.id, "label": copy.label, "true_label": row.label} for copy, row in conflicting
        ],
        "overlap": [{"id": copy.id, "of": row.id} for copy, row in overlap],
        "runs": _runs(rows, answers, clean),
        "remarks": _REMARKS,
    }


def _label_counts(rows: Iterable[Row]) -> dict[str, int]:
    counts = Counter(row.label for row in rows)
    return {label: counts[label] for label in LABELS}


def _guessable(rows: list[Row], clean: bool) -> dict[str, float]:
    """Accuracy of guessing by the planted flaws alone: what a perfect reader of one sentence reaches at least."""
    leaning = {} if clean else LEANING
    default = LABELS[0]
    by_topic = [leaning[row.topic][0] if row.topic in leaning else default for row in rows]
    by_phrase = [row.hint or guess for row, guess in zip(rows, by_topic, strict=True)]
    return {
        "majority": max(_label_counts(rows).values()) / len(rows),
        "premise_only": _share_right(rows, by_topic),
        "hypothesis_only": _share_right(rows, by_phrase),
    }


def _share_right(rows: list[Row], guesses: list[Any]) -> float:
    return sum(row.label == guess for row, guess in zip(rows, guesses, strict=True)) / len(rows)


def _pattern(pattern: PlantedPattern, rows: dict[Part, list[Row]]) -> dict[str, Any]:
    # What has no hint holds no pattern, and is most of the rows.
    holders = {
        part: [row for row in members if row.hint and row.frame in pattern.frames] for part, members in rows.items()
    }
    support = len(holders["train"])
    return {
        "pattern": pattern.display,
        "tokens": list(pattern.tokens),
        "gaps": list(pattern.gaps),
        "label": pattern.label,
        "probability": pattern.probability,
        "probability_realized": sum(row.label == pattern.label for row in holders["train"]) / support,
        "support": support,
        "support_dev": len(holders["dev"]),
        "support_test": len(holders["test"]),
        "example": pattern.frames[-1].format("..."),
    }


def _topic(name: str, rows: dict[Part, list[Row]]) -> dict[str, Any]:
    label, share = LEANING[name]
    members = [row for row in rows["train"] if row.topic == name]
    return {
        "topic": name,
        "label": label,
        "share": share,
        "share_realized": sum(row.label == label for row in members) / len(members),
        "support": len(members),
        "support_test": sum(row.topic == name for row in rows["test"]),
    }


def _group(group: PlantedGroup, sizes: dict[Part, int]) -> dict[str, Any]:
    train = group_counts(group, "train", sizes["train"])
    return {
        "group": group.name,
        "cue": group.frame.format("...").removesuffix(" ..."),
        "label": group.label,
        "count_train": {label: train.get(label, 0) for label in LABELS},
        "count_dev": sum(group_counts(group, "dev", sizes["dev"]).values()),
        "count_test": sum(group_counts(group, "test", sizes["test"]).values()),
    }


def _runs(rows: dict[Part, list[Row]], answers: dict[Part, Answers], clean: bool) -> dict[str, Any]:
    sets: dict[str, Any] = {part: _spread(rows[part], given, clean) for part, given in answers.items()}
    own, other = sets["test"]["score"], sets["elsewhere"]["score"]
    return {
        "seeds": list(range(len(answers["test"].predictions))),
        **sets,
        "loss": (own - other) / (own - 1 / len(LABELS)),
    }


def _spread(rows: list[Row], answers: Answers, clean: bool) -> dict[str, Any]:
    right = [[row.label == label for row, label in zip(rows, run, strict=True)] for run in answers.predictions]
    scores = [sum(run) / len(rows) for run in right]
    spread: dict[str, Any] = {"score": fmean(scores), "sd": stdev(scores), "scores": scores}
    members = (
        {} if clean else {group.name: [i for i, row in enumerate(rows) if row.group == group.name] for group in GROUPS}
    )
    if any(members.values()):
        parts = {name: [sum(run[i] for i in found) / len(rows) for run in right] for name, found in members.items()}
        # The covariance with the whole, divided by the variance of the whole, is the slope on it.
        spread["share_of_variance"] = {name: linear_regression(scores, part).slope for name, part in parts.items()}
    return spread


N_RUNS = 10

# In which runs each group is right: in five, and those of any two groups agree in six runs of ten.
_RIGHT_IN = (
    (1, 1, 1, 1, 1, 0, 0, 0, 0, 0),
    (1, 1, 1, 0, 0, 1, 1, 0, 0, 0),
    (0, 0, 1, 1, 1, 1, 1, 0, 0, 0),
)
# By how many accuracy points each run is above or below the others on all other examples; a standard deviation of .1.
_DRIFT = (0.12, -0.06, 0.08, -0.14, 0.02, 0.06, -0.08, 0.14, -0.12, -0.02)
# With its flaws the specimen lets runs drift further apart.
_DRIFT_FLAWED = 5

SCORE = 0.83
SCORE_ELSEWHERE_FLAWED = 0.70
# Of the examples that are of no group, those that are right in about half of the runs.
_SHARE_UNDECIDED = 0.04


@dataclass(frozen=True)
class Answers:
    """The labels that each run predicted for the rows of one part, in their order."""

    predictions: tuple[list[Label], ...]


def draw_answers(rng: Random, rows: list[Row], score: float, *, clean: bool) -> Answers:
    """Draw what every run answers on the rows of a part.

    Args:
        rng: Decides which examples are right, and which run is which; how many is fixed.
        rows: The part.
        score: Mean accuracy over all runs.
        clean: Whether runs drift little.
    """
    groups = dict(zip((group.name for group in GROUPS), _RIGHT_IN, strict=True))
    rivals = {group.name: group.rival for group in GROUPS}
    in_group = [i for i, row in enumerate(rows) if row.group in groups]
    loose = [i for i, row in enumerate(rows) if row.hint is None and row.group not in groups]
    rng.shuffle(loose)
    n_undecided = round(_SHARE_UNDECIDED * len(rows))
    n_right = round(score * len(rows) - (len(in_group) + n_undecided) / 2) - sum(row.hint == row.label for row in rows)
    undecided, right = loose[:n_undecided], set(loose[n_undecided : n_undecided + n_right])
    wrong: list[Label] = [_wrong(rng, row.label) for row in rows]
    usual = [row.hint or (row.label if i in right else wrong[i]) for i, row in enumerate(rows)]
    drift = [points * (1 if clean else _DRIFT_FLAWED) / 100 for points in _DRIFT]
    predictions = []
    for run in rng.sample(range(N_RUNS), N_RUNS):
        answers = list(usual)
        for i in rng.sample(undecided, round(n_undecided / 2 + drift[run] * len(rows))):
            answers[i] = rows[i].label
        for i in in_group:
            answers[i] = rows[i].label if groups[rows[i].group][run] else rivals[rows[i].group]
        predictions.append(answers)
    return Answers(tuple(predictions))


def _wrong(rng: Random, label: Label) -> Label:
    return LABELS[(LABELS.index(label) + pick(rng, (1, 2))) % len(LABELS)]
