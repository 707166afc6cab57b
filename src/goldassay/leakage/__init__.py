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
from goldassay.leakage.agreement_over_runs import (
    AgreementBounds,
    AgreementOverRuns,
    agreement_from_correctness,
    agreement_over_runs,
)
from goldassay.leakage.clusters import ClusterScore, score_clusters
from goldassay.leakage.information import UsableInformation, label_shares, pvi, usable_information
from goldassay.leakage.peco import PecoScore, peco
from goldassay.leakage.peco_grid import PecoGrid, peco_grid
from goldassay.leakage.single_sentence import (
    ConditionAccuracy,
    SingleSentenceReport,
    single_sentence_report,
    withhold_shares,
)
from goldassay.leakage.token_relevance import TokenRelevanceAgreement, token_relevance_agreement

__all__ = [
    "AgreementBounds",
    "AgreementOverRuns",
    "AgreementReport",
    "ClusterScore",
    "ConditionAccuracy",
    "PecoGrid",
    "PecoScore",
    "SingleSentenceReport",
    "TokenRelevanceAgreement",
    "UsableInformation",
    "agreement",
    "agreement_from_correctness",
    "agreement_over_runs",
    "agreement_report",
    "broken_identities",
    "chance_agreement",
    "cohen_kappa",
    "label_shares",
    "peco",
    "peco_grid",
    "pvi",
    "recovery",
    "score_clusters",
    "single_sentence_report",
    "token_relevance_agreement",
    "usable_information",
    "withhold_shares",
]
