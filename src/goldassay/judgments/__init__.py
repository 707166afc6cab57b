"""Judgments of pairs: how far verdicts follow the seat, the length and the judge's own model, and agree with people."""

from goldassay.judgments.agreement import PeopleAgreement, agree_with_people
from goldassay.judgments.model import VerdictModel, model_verdicts
from goldassay.judgments.position import PositionEffect, measure_position, verdicts_by_order

__all__ = [
    "PeopleAgreement",
    "PositionEffect",
    "VerdictModel",
    "agree_with_people",
    "measure_position",
    "model_verdicts",
    "verdicts_by_order",
]
