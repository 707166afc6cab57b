"""What the other questions know of the examples whose sentences are clustered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.data.tokenization import tokenize
from goldassay.questions.artifacts.search import read_role
from goldassay.questions.artifacts.shortlist import STANDING
from goldassay.questions.leakage.condition_evidence import PAIRED, TEXT, ConditionEvidence, softmax_at
from goldassay.questions.leakage.crossing import KnownOfExamples
from goldassay.readers.conditions import tokenizer_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.core.settings import Settings
    from goldassay.data import Dataset
    from goldassay.questions.artifacts.measures.pattern_table import PatternTable
    from goldassay.questions.artifacts.readings import PatternReadings


@dataclass(frozen=True)
class Artifacts:
    """What patterns of the training part say of the test examples.

    Attributes:
        patterns: Those that give a label away and stand for themselves.
        classes: Difficulty by all of them, (N,).
        readings: What guessing by them names for each test example.
    """

    patterns: PatternTable
    classes: NDArray[np.str_]
    readings: PatternReadings


def find_artifacts(train: Dataset, test: Dataset, role: str, settings: Settings) -> Artifacts:
    """Mine one text of the training part, as an audit does, and class the test examples by what is found."""
    short, readings = read_role(train, test, role, settings)
    standing = short.findings().select(STANDING).to_series().to_numpy()
    return Artifacts(short.selected.take(np.flatnonzero(standing)), readings.assignment.classes, readings)


def known_of(evidence: ConditionEvidence, role: str, artifacts: Artifacts | None) -> KnownOfExamples:
    """All that is known of the examples, for one role's clusters."""
    test = evidence.test
    texts = test.texts(role) if test is not None and role in test.text_columns else None
    probabilities, predicted, what = confidences(evidence)
    return KnownOfExamples(
        texts=texts,
        corpus=None if texts is None or test is None else tokenize(texts, tokenizer_of(test)),
        classes=None if artifacts is None else artifacts.classes,
        gold_probabilities=probabilities,
        gold_predicted=predicted,
        confidence=what,
        correct={name: runs.final().scores for name, runs in evidence.conditions.items()},
        patterns=None if artifacts is None else artifacts.patterns,
    )


def confidences(
    evidence: ConditionEvidence,
) -> tuple[NDArray[np.float64] | None, NDArray[np.bool_] | None, str]:
    """The gold label's probability from the model of the whole, whether it was predicted, and what these are of.

    Training dynamics are of the checkpoints of one training, (R, T, N); where only final models are at hand, the runs
    take their place, (R, N), and whether they predict it is not dynamics.
    """
    name = next((each for each in (PAIRED, TEXT) if each in evidence.conditions), "")
    runs = evidence.conditions.get(name)
    if runs is not None and runs.checkpoints is not None and runs.logits is not None and runs.n_checkpoints > 1:
        logits = np.asarray(runs.logits, dtype=np.float64)
        found = softmax_at(logits, evidence.gold)
        what = f"the {runs.n_checkpoints} checkpoints of {runs.n_runs} runs of the {name} model"
        return found, logits.argmax(axis=-1) == evidence.gold, what
    final = evidence.probabilities.get(name)
    if final is None:
        return None, None, ""
    return final, None, f"{len(final)} trained model{'s' if len(final) > 1 else ''} of the {name} condition"
