"""Leakage: how much of the label can be read from a part of the input?"""

from goldassay.leakage.agreement import (
    AgreementReport,
    agreement,
    agreement_report,
    broken_identities,
    chance_agreement,
    cohen_kappa,
    recovery,
)
from goldassay.leakage.information import UsableInformation, label_shares, pvi, usable_information
from goldassay.leakage.single_sentence import (
    ConditionAccuracy,
    SingleSentenceReport,
    single_sentence_report,
)

__all__ = [
    "AgreementReport",
    "ConditionAccuracy",
    "SingleSentenceReport",
    "UsableInformation",
    "agreement",
    "agreement_report",
    "broken_identities",
    "chance_agreement",
    "cohen_kappa",
    "label_shares",
    "pvi",
    "recovery",
    "single_sentence_report",
    "usable_information",
]
