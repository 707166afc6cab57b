"""Leakage: how much of the label can be read from a part of the input?"""

from goldassay.questions.leakage.measures.agreement import (
    AgreementBounds,
    AgreementOverRuns,
    AgreementReport,
    agreement,
    agreement_from_correctness,
    agreement_over_runs,
    agreement_report,
    broken_identities,
    chance_agreement,
    cohen_kappa,
    recovery,
)
from goldassay.questions.leakage.measures.clusters import ClusterScore, score_clusters
from goldassay.questions.leakage.measures.information import UsableInformation, label_shares, pvi, usable_information
from goldassay.questions.leakage.measures.peco import PecoGrid, PecoScore, peco, peco_grid
from goldassay.questions.leakage.measures.single_sentence import (
    ConditionAccuracy,
    SingleSentenceReport,
    single_sentence_report,
    withhold_shares,
)
from goldassay.questions.leakage.measures.token_relevance import TokenRelevanceAgreement, token_relevance_agreement

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
