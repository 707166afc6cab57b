"""Measures of suspect labels: what systems of unlike families say against gold, and how sure models are of it."""

from goldassay.suspect.confidence import self_confidence
from goldassay.suspect.contradiction import Contradiction, contradict_gold
from goldassay.suspect.corrections import corrected_scores
from goldassay.suspect.ranking import rank_suspects

__all__ = ["Contradiction", "contradict_gold", "corrected_scores", "rank_suspects", "self_confidence"]
