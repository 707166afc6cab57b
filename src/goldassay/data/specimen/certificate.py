"""The certificate of a specimen: every planted flaw with its figures, counted in the rows that were written.

What ten runs of a made-up model answered: their spread, and what their score loses elsewhere, are known.

The model reads the planted phrases: it gives the label that a phrase suggests. Each run has tied the cue of a group to
one of the two labels that training shows it with, so that all examples of a group are right or wrong together. Of
the other examples most are always right or always wrong, and a few are right in about half of the runs. How many are
right in which run is a quota, so that the certified figures hold in every file and not merely on average.

The flaws that are planted, and their planting.

Nothing planted changes what is true: a pattern is a turn of phrase put before or after the claim ("..., as everyone
knows"). Which rows get it is decided by their label, by exact quota, so that the certified figures hold
in every file and not merely on average.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product
from statistics import fmean, linear_regression, stdev
from typing import TYPE_CHECKING, Any

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


@dataclass(frozen=True)
class PlantedPattern:
    """A gapped pattern that gives a label away.

    Attributes:
        tokens: Its words; `gaps` says how many tokens are skipped between each and the next.
        label: The label that it gives away, and how often: p(label | pattern).
        share: Of the rows of a part, how many hold it.
        frames: Ways to put it around a claim `{}`, each with other words in the gaps.
    """

    tokens: tuple[str, ...]
    gaps: tuple[int, ...]
    label: Label
    probability: float
    share: float
    frames: tuple[str, ...]

    @property
    def display(self) -> str:
        """The pattern as people read it: `as # knows`."""
        return self.tokens[0] + "".join(
            " #" * gap + f" {token}" for gap, token in zip(self.gaps, self.tokens[1:], strict=True)
        )

    def support(self, n: int) -> int:
        """How many of a part's n rows hold it."""
        return round(n * self.share)


@dataclass(frozen=True)
class PlantedGroup:
    """Examples of one construction that stand or fall together.

    Training shows the construction seldom and with two labels equally often, so that it is a matter of chance which
    one a model ties it to; held-out parts show it often and with one label only.
    """

    name: str
    frame: str
    label: Label
    rival: Label


def _frames(frame: str, *words: Iterable[str]) -> tuple[str, ...]:
    """All sentences that the words make in the gaps `[0]`, `[1]`, ... of a frame."""
    made = []
    for chosen in product(*words):
        text = frame
        for place, word in enumerate(chosen):
            text = text.replace(f"[{place}]", word)
        made.append(text)
    return tuple(made)


_ANYONE = ("everyone", "everybody", "anyone", "anybody", "Maria", "Peter")
_EVERY = ("the", "any", "every")
_WITNESS = ("visitor", "reader", "witness", "guide", "clerk", "reporter")
_HONEST = ("careful", "honest", "sensible", "local")

# Three families share their words and differ only in their gaps: `as # knows`, `as # # knows` and `as # # # knows`
# each give another label away, so that no single word does, and only exact gaps tell them apart.
PATTERNS = (
    PlantedPattern(("indeed",), (), "entailment", 0.80, 0.014, ("{} indeed",)),
    PlantedPattern(("anyway",), (), "neutral", 0.86, 0.012, ("{} anyway",)),
    PlantedPattern(("alas",), (), "contradiction", 0.75, 0.016, ("{}, alas",)),
    PlantedPattern(("Of", "course"), (0,), "entailment", 0.92, 0.012, ("Of course, {}",)),
    PlantedPattern(("Mind", "you"), (0,), "neutral", 0.78, 0.014, ("Mind you, {}",)),
    PlantedPattern(("after", "all"), (0,), "contradiction", 0.88, 0.014, ("{} after all",)),
    PlantedPattern(("as", "knows"), (1,), "entailment", 0.85, 0.012, _frames("{}, as [0] knows", _ANYONE)),
    PlantedPattern(("as", "knows"), (2,), "neutral", 0.82, 0.012, _frames("{}, as [0] [1] knows", _EVERY, _WITNESS)),
    PlantedPattern(
        ("as", "knows"),
        (3,),
        "contradiction",
        0.90,
        0.012,
        _frames("{}, as [0] [1] [2] knows", _EVERY, _HONEST, _WITNESS),
    ),
    PlantedPattern(
        ("in", "words"),
        (1,),
        "neutral",
        0.84,
        0.012,
        _frames("{}, in [0] words", ("other", "plain", "simple", "short", "few", "clear")),
    ),
    PlantedPattern(
        ("in", "words"),
        (2,),
        "contradiction",
        0.81,
        0.012,
        _frames("{}, in [0] [1] words", ("very", "rather", "quite"), ("plain", "simple", "few", "clear")),
    ),
    PlantedPattern(
        ("in", "words"),
        (3,),
        "entailment",
        0.94,
        0.012,
        _frames(
            "{}, in [0] [1] [2] words",
            ("my", "our", "your", "their"),
            ("own",),
            ("plain", "simple", "modest", "exact"),
        ),
    ),
    PlantedPattern(("as", "can", "see"), (1, 0), "contradiction", 0.98, 0.012, _frames("{}, as [0] can see", _ANYONE)),
    PlantedPattern(
        ("as", "can", "see"),
        (2, 0),
        "entailment",
        0.87,
        0.012,
        _frames("{}, as [0] [1] can see", _EVERY, _WITNESS),
    ),
    PlantedPattern(
        ("as", "can", "see"),
        (1, 1),
        "neutral",
        0.83,
        0.012,
        _frames("{}, as [0] can [1] see", _ANYONE, ("plainly", "clearly", "easily", "readily")),
    ),
    PlantedPattern(
        ("to", "put", "plainly"),
        (0, 1),
        "entailment",
        0.77,
        0.014,
        _frames("{}, to put [0] plainly", ("it", "this", "that", "things", "matters")),
    ),
    PlantedPattern(
        ("if", "may", "so"),
        (1, 1),
        "neutral",
        0.96,
        0.012,
        _frames("{}, if [0] may [1] so", ("I", "we", "one"), ("say", "think", "write")),
    ),
    PlantedPattern(("Truth", "be", "told"), (0, 0), "contradiction", 0.79, 0.014, ("Truth be told, {}",)),
)

# The frames are long, so that all members of a group share most of what a bag of words sees of them.
GROUPS = (
    PlantedGroup(
        "on record",
        "Let the official record show here and now, once and for all, that {}",
        "entailment",
        "contradiction",
    ),
    PlantedGroup(
        "matter of fact",
        "The plain and simple fact of the whole matter is and remains that {}",
        "neutral",
        "contradiction",
    ),
    PlantedGroup(
        "said before",
        "It was said before and it turns out to be perfectly true that {}",
        "contradiction",
        "entailment",
    ),
)

LEANING: dict[str, tuple[Label, float]] = {
    "kitchen": ("entailment", 0.55),
    "garden": ("neutral", 0.55),
    "stage": ("contradiction", 0.55),
}


def copies(n: int, share: float) -> int:
    """How many rows of a part of n are copies: about `share` of them, as many of each label."""
    return len(LABELS) * max(1, round(n * share / len(LABELS)))


def plant(rng: Random, rows: list[Row], part: Part, n: int) -> None:
    """Plant every pattern and group in the rows of one part, whose final size is n."""
    free: dict[Label, list[Row]] = {label: [row for row in rows if row.label == label] for label in LABELS}
    for same in free.values():
        rng.shuffle(same)
    for number, pattern in enumerate(PATTERNS):
        support = pattern.support(n)
        hits = round(support * pattern.probability)
        rest = support - hits
        others = [label for label in LABELS if label != pattern.label]
        # The odd one of what is left goes to each of the other labels in turn.
        first = (rest + number % 2) // 2
        for label, count in ((pattern.label, hits), (others[0], first), (others[1], rest - first)):
            for _ in range(count):
                row = free[label].pop()
                row.frame = rng.choice(pattern.frames)
                row.hint = pattern.label
    for group in GROUPS:
        for label, count in group_counts(group, part, n).items():
            for _ in range(count):
                row = free[label].pop()
                row.frame = group.frame
                row.group = group.name


def group_counts(group: PlantedGroup, part: Part, n: int) -> dict[Label, int]:
    """How many rows of each label a group has in a part of n rows."""
    if part == "train":
        few = max(6, round(n * 0.0006))
        return {group.label: few, group.rival: few}
    return {group.label: max(6, round(n * 0.02))}


def draw_copies(rng: Random, rows: list[Row], n: int) -> list[Row]:
    """Choose n untouched rows to copy, as many of each label, of topics that do not lean.

    Thus no certified count changes by the copying.
    """
    plain = [row for row in rows if row.is_plain and row.topic not in LEANING]
    return [
        row for label in LABELS for row in rng.sample([row for row in plain if row.label == label], n // len(LABELS))
    ]
