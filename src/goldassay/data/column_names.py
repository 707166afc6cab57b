"""The roles that columns play, and the names by which they are known, in order of precedence.

`roles` says how the ranked lists of labelled texts are used; the other kinds take the first name that is there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

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
ASKED: tuple[str, ...] = ("question", "prompt", "instruction", "problem", "query", "input")
# Most of them have so many values that they are no classes.
FREE_ANSWERS: tuple[str, ...] = (
    "answer",
    "answers",
    "output",
    "completion",
    "solution",
    "canonical_solution",
    "target",
    "reference",
    "ground_truth",
    "gold_answer",
    "final_answer",
)
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


@dataclass(frozen=True)
class Role:
    """What a column may be to a kind of rows.

    Attributes:
        meaning: In a sentence.
        names: By kind the names under which the column is known, in order of precedence, with spaces between; those of
            labelled texts have ranks of their own, above.
    """

    meaning: str
    names: Mapping[str, str] = field(default_factory=dict)


# Every role of every kind of data, runs and boards, once: what a user names with --columns.
ROLES: Mapping[str, Role] = MappingProxyType(
    {
        "premise": Role("The first text of a pair."),
        "hypothesis": Role("The second text of a pair, which the label is about."),
        "text": Role("The only text."),
        "context": Role("What a question is asked about, where the answer is a span of it."),
        "label": Role(
            "What is right of a row: a class.",
            {
                "runs": "label gold_label gold target y_true true",
            },
        ),
        "score": Role(
            "A number that a row has been given.",
            {
                "runs": (
                    "score graded_list pass@1 pass_at_1 pass1 correct is_correct resolved success passed exact_match "
                    "accuracy acc f1 reward"
                ),
                "board": (
                    "score graded_list pass@1 pass_at_1 pass1 correct is_correct resolved solved success passed pass "
                    "exact_match accuracy acc f1 reward right win preference"
                ),
                "judged scores": (
                    "judge_score judge_label judge_rating judge_grade judge_verdict llm_judge llm_score llm_label "
                    "llm_rating llm_grade autorater autorater_score judge score rating grade verdict is_correct correct"
                ),
            },
        ),
        "id": Role(
            "The name of a row.",
            {
                "choices": "id question_id example_id qid uid ind _id",
                "preferences": "id pair_id prompt_id question_id uid idx example_id _id",
            },
        ),
        "example_id": Role(
            "The example that a run answers.",
            {
                "runs": (
                    "example_id id uid guid pairid pair_id instance_id sample_id doc_id qid question_id index row "
                    "task_id"
                ),
            },
        ),
        "item": Role(
            "What is judged, or solved.",
            {
                "judgments": (
                    "item item_id question_id pair_id prompt_id instance_id instance question prompt instruction id idx"
                ),
                "board": (
                    "item item_id example_id instance_id question_id doc_id task_id id uid index row paraphrase "
                    "paraphrase_id paraphrase_idx prompt_id prompt_idx template_id template_idx"
                ),
            },
        ),
        "group": Role(
            "Rows of one group depend on each other, or are of one kind.",
            {
                "choices": "subject category subject_name topic activity_label subset task src type file",
                "preferences": "subset category section domain task source dataset subject topic type split",
                "judgments": "subset category source section domain task dataset",
            },
        ),
        "split": Role(
            "The part of a row: train, dev or test.",
            {
                "runs": "split",
            },
        ),
        "annotator_labels": Role("The label of each annotator."),
        "ignore": Role("Columns that are not read."),
        "choices": Role(
            "The choices of an item: a list, or a column a choice.",
            {
                "choices": "choices options endings choice candidates",
            },
        ),
        "answer": Role(
            "Which choice is right, or what is right of an item.",
            {
                "choices": (
                    "answer_index answer_idx answerkey cop answer label labels correct gold target correct_answer "
                    "answers correct_option answer_right_ending answerrightending"
                ),
                "board": (
                    "answer gold label answer_key target true ground_truth groundtruth gt y_true true_label gold_label "
                    "gold_answer correct_answer correct_label human_label reference expected actual truth"
                ),
                "runs": "answer gold_answer correct_answer answer_key ground_truth reference",
            },
        ),
        "question": Role(
            "What is asked.",
            {
                "choices": "question ctx goal sentence sent1 query startphrase prompt input obs1 observation_1",
            },
        ),
        "passage": Role(
            "What a question of choices is asked about.",
            {
                "choices": (
                    "passage article context support story dialogue paragraph obs2 observation_2 premise narrative "
                    "puzzle text"
                ),
            },
        ),
        "chosen": Role("The response that was preferred."),
        "rejected": Role("The response that was not."),
        "responses": Role("Two responses beside each other."),
        "winner": Role(
            "Which of two responses is preferred, or which side wins.",
            {
                "preferences": (
                    "winner preferred preference better better_response_id safer_response_id chosen label labels "
                    "human_label gold_label choice gold target human_preference majority verdict overall_preference "
                    "ground_truth"
                ),
                "judgments": "winner preferred preference better",
            },
        ),
        "seat": Role(
            "Which of the two that were shown wins, the first or the second.",
            {
                "judgments": "verdict decision judgment judgement vote choice seat",
            },
        ),
        "prompt": Role(
            "What responses answer.",
            {
                "preferences": (
                    "prompt instruction question query input context history post article passage instructions "
                    "user_prompt problem info"
                ),
                "judgments": "question prompt instruction input query",
                "runs": "prompt question instruction input query",
                "board": "prompt question instruction input query",
            },
        ),
        "judge": Role(
            "Who gave a verdict.",
            {
                "judgments": "judge judge_name judge_model evaluator annotator grader rater strategy",
            },
        ),
        "order": Role(
            "Which side was shown first.",
            {
                "judgments": (
                    "order swapped is_swapped swap flipped reversed presentation_order position shown_first first_shown"
                ),
            },
        ),
        "a": Role("The name or the text of the first side."),
        "b": Role("The name or the text of the second side."),
        "people": Role(
            "Which side people prefer, or what they score.",
            {
                "judgments": "human human_label human_winner human_verdict human_preference gold gold_label label",
                "judged scores": (
                    "human human_label human_score human_rating human_grade human_verdict human_judgment human_correct "
                    "gold_human people expert expert_label expert_score expert_rating"
                ),
            },
        ),
        "system": Role(
            "What a score of a board is of.",
            {
                "board": "system model model_name model_name_or_path model_id model_path system_name submission agent",
            },
        ),
        "model": Role(
            "What answers in a run.",
            {
                "runs": "model model_name model_name_or_path model_id model_path system system_name",
            },
        ),
        "prediction": Role(
            "What was predicted.",
            {
                "runs": "prediction predicted_label predicted pred_label pred y_pred",
                "board": "prediction predicted pred response",
            },
        ),
        "logits": Role(
            "A number for each label.",
            {
                "runs": "logits logit",
            },
        ),
        "features": Role(
            "What a model made of an example before its classifier.",
            {
                "runs": "features embedding embeddings",
            },
        ),
        "seed": Role(
            "Which run of a model.",
            {
                "runs": "seed random_seed run_id run replica",
            },
        ),
        "run": Role(
            "Which run of a system.",
            {
                "board": "seed run epoch repeat replica",
            },
        ),
        "checkpoint": Role(
            "A step of the training of a run.",
            {
                "runs": "checkpoint global_step step epoch",
            },
        ),
        "dataset": Role(
            "What was answered.",
            {
                "runs": "dataset task benchmark benchmark_id",
            },
        ),
        "condition": Role(
            "The part of the input that a model saw.",
            {
                "runs": "condition",
            },
        ),
        "train_set": Role(
            "What a model was trained on.",
            {
                "runs": "train_set",
            },
        ),
        "configuration": Role(
            "How a model was asked: its prompt, shots, temperature.",
            {
                "runs": (
                    "configuration prompt prompt_id prompt_name prompt_template template template_id paraphrase "
                    "paraphrase_id instruction_id variant"
                ),
            },
        ),
        "probability": Role(
            "With which probability a row was drawn for people to score.",
            {
                "judged scores": "sampling_probability label_probability inclusion_probability",
            },
        ),
        "weight": Role("How much a row counts."),
        "date": Role("When a row was made."),
        "tie": Role("Whether neither side wins."),
        "status": Role(
            "Whether an answer could be read, and why not.",
            {
                "runs": "status finish_reason stop_reason",
            },
        ),
        "output": Role(
            "What a model wrote, of which its prediction was read.",
            {
                "runs": "output response generated_text model_output model_outputs completion generation output_2",
                "board": "output response generated_text model_output model_outputs completion generation output_2",
            },
        ),
        "trial": Role(
            "Which attempt at a task.",
            {
                "runs": "trial attempt sample_idx sample_index trial_id",
            },
        ),
    }
)


def names_of(role: str, kind: str) -> tuple[str, ...]:
    """The names under which a kind knows the column of a role."""
    return tuple(ROLES[role].names[kind].split())
