"""What ten runs of a made-up model answered: their spread, and what their score loses elsewhere, are known.

The model reads the planted phrases: it gives the label that a phrase suggests. Each run has tied the cue of a group to
one of the two labels that training shows it with, so that all examples of a group are right or wrong together. Of
the other examples most are always right or always wrong, and a few are right in about half of the runs. How many are
right in which run is a quota, so that the certified figures hold in every file and not merely on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldassay.data.specimen.flaws import GROUPS
from goldassay.data.specimen.rows import LABELS, Label, pick

if TYPE_CHECKING:
    from random import Random

    from goldassay.data.specimen.rows import Row

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
