"""The certificate of a specimen: every planted flaw with its figures, counted in the rows that were written."""

from __future__ import annotations

from collections import Counter
from statistics import fmean, linear_regression, stdev
from typing import TYPE_CHECKING, Any

from goldassay.data.specimen.flaws import GROUPS, LEANING, PATTERNS, group_counts
from goldassay.data.specimen.rows import LABELS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goldassay.data.specimen.answers import Answers
    from goldassay.data.specimen.flaws import PlantedGroup, PlantedPattern
    from goldassay.data.specimen.rows import Part, Row

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
    "topics": "Whatever tells the topic, in either sentence, tells its label with this share.",
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
