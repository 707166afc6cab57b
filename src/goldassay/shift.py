"""Shift: does the score hold on another distribution, and does the model know when it has left its own?

One sign everywhere: a higher score means a more anomalous example.
"""

from goldassay.questions.shift.measures.calibration import (
    Calibration,
    CalibrationBin,
    RiskCoverage,
    measure_calibration,
    risk_coverage,
    selective_accuracy,
)
from goldassay.questions.shift.measures.detection import Detection, measure_detection
from goldassay.questions.shift.measures.false_alarms import (
    OperatingPoint,
    SubsampledAupr,
    aupr,
    auroc,
    false_alarm_rate,
    subsampled_aupr,
)
from goldassay.questions.shift.measures.generalization import (
    DomainShift,
    DomainWord,
    GeneralizationGap,
    generalization_gap,
    measure_domain_shift,
    shared_texts,
)
from goldassay.questions.shift.measures.scores import (
    Mahalanobis,
    fit_mahalanobis,
    logits_of,
    score_energy,
    score_entropy,
    score_knn,
    score_mahalanobis,
    score_max_logit,
    score_max_softmax,
    score_sides,
)
from goldassay.questions.shift.measures.set_metrics import SetGap, label_constants

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
