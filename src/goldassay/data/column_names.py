"""The names by which columns are known, in order of precedence; `roles` says how the lists are used."""

from __future__ import annotations

import re

PAIRS: tuple[tuple[str, str], ...] = (
    ("premise", "hypothesis"),
    ("sentence1", "sentence2"),
    ("sentence_1", "sentence_2"),
    ("sentence_a", "sentence_b"),
    ("sentencea", "sentenceb"),
    ("text1", "text2"),
    ("text_1", "text_2"),
    ("text_a", "text_b"),
    ("question1", "question2"),
    ("#1_string", "#2_string"),
    ("context", "hypothesis"),
    ("context", "statement"),
    ("context", "query"),
    ("evidence", "claim"),
    ("story", "query"),
)
QUESTIONS: tuple[tuple[str, str], ...] = (
    ("question", "context"),
    ("question", "passage"),
    ("question", "paragraph"),
)
# Of QNLI: the question is to be answered by the sentence, and the label says whether it is.
LATE_PAIRS: tuple[tuple[str, str], ...] = (("question", "sentence"),)
TEXTS: tuple[str, ...] = (
    "text",
    "sentence",
    "content",
    "txt",
    "review_text",
    "reviewtext",
    "review",
    "review_body",
    "document",
    "body",
    "tweet",
    "comment",
    "comment_text",
    "utterance",
    "message",
    "post",
    "article",
    "passage",
    "abstract",
    "description",
    "headline",
    "question",
    "hypothesis",
    "sentence2",
    "premise",
    "sentence1",
    "title",
)
LABELS: tuple[tuple[str, ...], ...] = (
    ("gold_label", "gold", "gold_labels"),
    ("gold_label_if_known",),
    ("label", "labels"),
    (
        "entailment_label",
        "entailment_judgment",
        "class",
        "class_label",
        "polarity",
        "sentiment",
        "is_duplicate",
        "quality",
        "target",
        "emotion",
        "intent",
        "stance",
    ),
)
SCORES: tuple[tuple[str, ...], ...] = (
    ("score",),
    ("similarity_score", "similarity", "relatedness_score", "relatedness"),
    ("rating", "stars", "overall"),
)
IDS: tuple[str, ...] = (
    "example_id",
    "pairid",
    "pair_id",
    "uid",
    "guid",
    "fid",
    "id",
    "question_id",
    "idx",
    "index",
    "row",
    "row_id",
)
SPLITS: tuple[str, ...] = ("split", "semeval_set", "partition", "set")
ANNOTATORS: tuple[str, ...] = ("annotator_labels", "verifier_labels", "all_labels")
# Rows of one such group depend on each other; the names after them are kinds of rows, which results are listed by.
DEPENDENT: tuple[str, ...] = ("group", "groups", "group_id", "batch_id")
GROUPS: tuple[str, ...] = (
    *DEPENDENT,
    "heuristic",
    "subcase",
    "template",
    "category",
    "domain",
    "genre",
    "source",
    "file",
    "round",
    "set",
    "topic",
    "language",
)
PARTS: dict[str, str] = {
    "train": "train",
    "training": "train",
    "dev": "dev",
    "development": "dev",
    "validation": "dev",
    "valid": "dev",
    "val": "dev",
    "trial": "dev",
    "test": "test",
    "testing": "test",
}


def normalized(name: str) -> str:
    """Name as it is compared: lower case, with spaces and hyphens as underscores."""
    return re.sub(r"[\s\-]+", "_", name.strip().lower())
