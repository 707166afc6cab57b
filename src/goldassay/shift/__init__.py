"""Shift: does the score hold on another distribution, and does the model know when it has left its own?

One sign everywhere: a higher score means a more anomalous example.
"""

from goldassay.shift.calibration import Calibration, CalibrationBin, measure_calibration
from goldassay.shift.detection import Detection, measure_detection
from goldassay.shift.domains import DomainShift, DomainWord, measure_domain_shift, shared_texts
from goldassay.shift.false_alarms import OperatingPoint, false_alarm_rate
from goldassay.shift.generalization import GeneralizationGap, SetGap, generalization_gap
from goldassay.shift.logit_scores import (
    logits_of,
    score_energy,
    score_entropy,
    score_max_logit,
    score_max_softmax,
    score_sides,
)
from goldassay.shift.mahalanobis import Mahalanobis, fit_mahalanobis, score_mahalanobis
from goldassay.shift.nearest_neighbors import score_knn
from goldassay.shift.ranking_metrics import SubsampledAupr, aupr, auroc, subsampled_aupr
from goldassay.shift.selective import RiskCoverage, risk_coverage, selective_accuracy
from goldassay.shift.set_metrics import label_constants

__all__ = [
    "Calibration",
    "CalibrationBin",
    "Detection",
    "DomainShift",
    "DomainWord",
    "GeneralizationGap",
    "Mahalanobis",
    "OperatingPoint",
    "RiskCoverage",
    "SetGap",
    "SubsampledAupr",
    "aupr",
    "auroc",
    "false_alarm_rate",
    "fit_mahalanobis",
    "generalization_gap",
    "label_constants",
    "logits_of",
    "measure_calibration",
    "measure_detection",
    "measure_domain_shift",
    "risk_coverage",
    "score_energy",
    "score_entropy",
    "score_knn",
    "score_mahalanobis",
    "score_max_logit",
    "score_max_softmax",
    "score_sides",
    "selective_accuracy",
    "shared_texts",
    "subsampled_aupr",
]
