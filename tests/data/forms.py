"""Files in the forms in which benchmarks, answers and boards are published, made by code.

Each form has the keys, nesting and coding of its model, and no text of it.
"""

from __future__ import annotations

import bz2
import csv
import io
import json
import lzma
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

N = 24
WORDS = [
    "river",
    "stone",
    "blue",
    "table",
    "cloud",
    "wood",
    "green",
    "apple",
    "metal",
    "paper",
    "bridge",
    "house",
    "red",
]
LETTERS = "ABCD"


@dataclass(frozen=True)
class Form:
    """One form.

    Attributes:
        name: Whose form it is, and what of.
        files: The content of each file by its path: rows, text, or bytes.
        held: The kind that is recognized; "" where the file is refused, or holds a kind only with options.
        n_rows: Rows that are read; None of logs.
        roles: Some of the roles that are recognized.
        says: What the line of a refusal says.
        command: What is typed before the path.
        at: The path that is given, by default the first file.
    """

    name: str
    files: dict[str, Any]
    held: str = ""
    n_rows: int | None = N
    roles: dict[str, str] | None = None
    says: str = ""
    command: tuple[str, ...] = ("audit",)
    at: str = ""

    def write(self, folder: Path) -> Path:
        """Write the files into a folder, and give the path to read."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_bytes(path.name, content))
        return folder / (self.at or next(iter(self.files)))


def _bytes(name: str, content: Any) -> bytes:
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode()
    if name.endswith(".parquet"):
        packed = io.BytesIO()
        pl.DataFrame(content).write_parquet(packed)
        return packed.getvalue()
    if name.endswith(".jsonl"):
        return "".join(json.dumps(row) + "\n" for row in content).encode()
    if name.endswith((".csv", ".tsv")):
        text = io.StringIO()
        writer = csv.writer(text, delimiter="\t" if name.endswith(".tsv") else ",", lineterminator="\n")
        writer.writerows([list(content[0]), *(list(row.values()) for row in content)])
        return text.getvalue().encode()
    return json.dumps(content).encode()


def _zipped(*names: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return packed.getvalue()


def said(at: int, n: int = 6) -> str:
    """A sentence, another for each number."""
    return " ".join(WORDS[(at * 7 + step * step + step * at) % len(WORDS)] for step in range(n)) + f" {at}"


def rows(row: Callable[[int], dict[str, Any]], n: int = N) -> list[dict[str, Any]]:
    return [row(at) for at in range(n)]


def four(at: int) -> list[str]:
    """Four choices."""
    return [said(4 * at + k, 3) for k in range(4)]


def lettered(at: int, before: str = "", letters: str = LETTERS) -> dict[str, str]:
    return {f"{before}{letter}": text for letter, text in zip(letters, four(at), strict=True)}


ITEMS = [
    Form(
        "MMLU-Pro",
        {
            "test.parquet": rows(
                lambda at: {
                    "question_id": at,
                    "question": f"What is {said(at)}?",
                    "options": four(at),
                    "answer": LETTERS[at % 4],
                    "answer_index": at % 4,
                    "cot_content": "",
                    "category": "law",
                    "src": "x",
                }
            )
        },
        "choices",
        roles={"choices": "options", "answer": "answer_index"},
    ),
    Form(
        "MMLU-Redux",
        {
            "data.jsonl": rows(
                lambda at: {
                    "question": f"What is {said(at)}?",
                    "choices": four(at),
                    "answer": at % 4,
                    "error_type": "ok",
                    "source": None,
                    "correct_answer": None,
                    "potential_reason": None,
                }
            )
        },
        "choices",
        roles={"answer": "answer"},
    ),
    Form(
        "Global-MMLU",
        {
            "ha.csv": rows(
                lambda at: {
                    "sample_id": f"law/test/{at}",
                    "subject": "law",
                    "subject_category": "Humanities",
                    "question": f"What is {said(at)}?",
                    **lettered(at, "option_", "abcd"),
                    "answer": LETTERS[at % 4],
                    "required_knowledge": "[]",
                    "time_sensitive": "[]",
                    "is_annotated": False,
                }
            )
        },
        "choices",
        roles={"answer": "answer"},
    ),
    Form(
        "KMMLU",
        {
            "law-test.csv": rows(
                lambda at: {
                    "question": f"What is {said(at)}?",
                    "answer": at % 4 + 1,
                    **lettered(at),
                    "Category": "Law",
                    "Human Accuracy": 0.4,
                }
            )
        },
        "choices",
        roles={"answer": "answer"},
    ),
    Form(
        "CMMLU, a file a subject",
        {
            f"test/{subject}.csv": rows(
                lambda at: {"": at, "Question": f"What is {said(at)}?", **lettered(at), "Answer": LETTERS[at % 4]}
            )
            for subject in ("law", "art")
        },
        "choices",
        2 * N,
        {"group": "file"},
        at="test",
    ),
    Form(
        "GPQA",
        {
            "gpqa.csv": rows(
                lambda at: {
                    "Record ID": f"rec{at}",
                    "Question": f"What is {said(at)}?",
                    "Correct Answer": said(at, 3),
                    **{f"Incorrect Answer {k}": said(at + k, 3) for k in (1, 2, 3)},
                    "Explanation": said(at, 20),
                    "Subdomain": "Optics",
                }
            )
        },
        "choices",
    ),
    Form(
        "MuSR",
        {
            "murder.csv": rows(
                lambda at: {
                    "narrative": said(at, 60),
                    "question": f"Who is {said(at)}?",
                    "choices": str([said(at, 2), said(at + 1, 2)]),
                    "answer_index": at % 2,
                    "answer_choice": said(at + at % 2, 2),
                }
            )
        },
        "choices",
        roles={"passage": "narrative"},
    ),
    Form(
        "LongBench v2",
        {
            "data.json": rows(
                lambda at: {
                    "_id": f"x{at}",
                    "domain": "Law",
                    "sub_domain": "Code",
                    "difficulty": "easy",
                    "length": "short",
                    "question": f"What is {said(at)}?",
                    **lettered(at, "choice_"),
                    "answer": LETTERS[at % 4],
                    "context": said(at, 90),
                }
            )
        },
        "choices",
        roles={"passage": "context"},
    ),
    Form(
        "LogiQA 2, the passage called text",
        {
            "test.jsonl": rows(
                lambda at: {
                    "id": at,
                    "answer": at % 4,
                    "text": said(at, 40),
                    "type": {"Sufficient": True},
                    "question": f"What follows from {said(at)}?",
                    "options": four(at),
                }
            )
        },
        "choices",
        roles={"passage": "text"},
    ),
    Form(
        "ZebraLogic",
        {
            "test.parquet": rows(
                lambda at: {
                    "id": f"z{at}",
                    "puzzle": said(at, 50),
                    "question": f"Which is {said(at)}?",
                    "choices": four(at),
                    "answer": four(at)[at % 4],
                    "created_at": "2024-07-11",
                }
            )
        },
        "choices",
        roles={"passage": "puzzle"},
    ),
    Form(
        "HLE, free answers and choices together",
        {
            "test.jsonl": rows(
                lambda at: {
                    "id": f"h{at}",
                    "question": f"What is {said(at, 20)}?",
                    "image": "",
                    "answer": said(at, 2),
                    "answer_type": ["exactMatch", "multipleChoice"][at % 2],
                    "rationale": said(at, 20),
                    "category": "Math",
                }
            )
        },
        says="free answers",
    ),
    Form(
        "SimpleQA",
        {
            "simple_qa.csv": rows(
                lambda at: {
                    "metadata": "{'topic': 'Art', 'answer_type': 'Person'}",
                    "problem": f"Who is {said(at)}?",
                    "answer": said(at, 2),
                }
            )
        },
        says="free answers",
    ),
    Form(
        "AIME 2025",
        {"aime.jsonl": rows(lambda at: {"problem": f"Find {said(at, 12)}.", "answer": str(7 * at % 997)})},
        says="free answers",
    ),
    Form(
        "MATH-500",
        {
            "test.jsonl": rows(
                lambda at: {
                    "problem": f"Find {said(at, 12)}.",
                    "solution": said(at, 30),
                    "answer": f"\\frac{{{at}}}{{7}}",
                    "subject": "Algebra",
                    "level": at % 5 + 1,
                    "unique_id": f"test/{at}.json",
                }
            )
        },
        says="free answers",
    ),
    Form(
        "IFEval",
        {
            "input_data.jsonl": rows(
                lambda at: {
                    "key": 1000 + at,
                    "prompt": f"Write {said(at, 12)}.",
                    "instruction_id_list": ["length:words"],
                    "kwargs": [{"num_words": at}],
                }
            )
        },
        says="there are no labels",
    ),
    Form(
        "BBH, a task in a file",
        {
            "task.json": {
                "canary": "x",
                "examples": rows(lambda at: {"input": said(at, 20), "target": ["Yes", "No"][at % 2]}),
            }
        },
        "labelled texts",
        roles={"text": "input", "label": "target"},
    ),
    Form(
        "BIG-bench task",
        {
            "task.json": {
                "name": "t",
                "description": "d",
                "keywords": [],
                "metrics": ["multiple_choice_grade"],
                "examples": rows(
                    lambda at: {
                        "input": f"What is {said(at)}?",
                        "target_scores": {text: int(k == at % 4) for k, text in enumerate(four(at))},
                    }
                ),
            }
        },
        "choices",
    ),
    Form(
        "LiveBench",
        {
            "question.jsonl": rows(
                lambda at: {
                    "question_id": f"q{at}",
                    "category": "math",
                    "task": "comp",
                    "turns": [f"Find {said(at, 12)}."],
                    "ground_truth": str(at),
                }
            )
        },
        says="free answers",
    ),
    Form(
        "SWE-bench Verified",
        {
            "test.parquet": rows(
                lambda at: {
                    "repo": "a/b",
                    "instance_id": f"a__b-{at}",
                    "base_commit": "f" * 8,
                    "patch": f"--- a\n+++ {at}",
                    "test_patch": f"--- t\n+++ {at}",
                    "problem_statement": said(at, 30),
                    "FAIL_TO_PASS": "[]",
                }
            )
        },
        says="there are no labels",
    ),
    Form(
        "SQuAD",
        {
            "dev-v2.0.json": {
                "version": "v2.0",
                "data": [
                    {
                        "title": "T",
                        "paragraphs": [
                            {
                                "context": said(at, 40),
                                "qas": [
                                    {
                                        "id": f"q{at}",
                                        "question": f"What is {said(at)}?",
                                        "is_impossible": False,
                                        "answers": [{"text": said(at, 40).split()[0], "answer_start": 0}],
                                    }
                                ],
                            }
                            for at in range(N)
                        ],
                    }
                ],
            }
        },
        "extractive answers",
    ),
]

TEXTS = [
    Form(
        "ANLI with annotators' reasons",
        {
            "test.jsonl": rows(
                lambda at: {
                    "uid": f"u{at}",
                    "context": said(at, 20),
                    "hypothesis": said(at + 1),
                    "label": "enc"[at % 3],
                    "model_label": "enc"[(at + 1) % 3],
                    "reason": said(at, 12),
                    "tag": "x",
                }
            )
        },
        "labelled texts",
        roles={"premise": "context"},
    ),
    Form(
        "FOLIO, premises as a list",
        {
            "folio.jsonl": rows(
                lambda at: {
                    "story_id": at,
                    "example_id": at,
                    "premises": [said(at), said(at + 1)],
                    "conclusion": said(at + 2),
                    "label": ["True", "False", "Uncertain"][at % 3],
                }
            )
        },
        "labelled texts",
        roles={"premise": "premises", "hypothesis": "conclusion"},
    ),
    Form(
        "LLM-AggreFact",
        {
            "test.parquet": rows(
                lambda at: {
                    "dataset": "Wice",
                    "doc": said(at, 60),
                    "claim": said(at),
                    "label": at % 2,
                    "contamination_identifier": f"c{at}",
                }
            )
        },
        "labelled texts",
        roles={"premise": "doc", "hypothesis": "claim"},
    ),
    Form(
        "WildGuardMix",
        {
            "test.parquet": rows(
                lambda at: {
                    "prompt": said(at, 12),
                    "adversarial": bool(at % 2),
                    "response": said(at, 30),
                    "prompt_harm_label": ["harmful", "unharmful"][at % 2],
                    "response_refusal_label": ["refusal", "compliance"][at % 3 % 2],
                    "response_harm_label": ["harmful", "unharmful"][at % 3 % 2],
                }
            )
        },
        says="premise=prompt,hypothesis=response,label=prompt_harm_label",
    ),
    Form(
        "XSTest",
        {
            "prompts.csv": rows(
                lambda at: {
                    "id": at,
                    "prompt": f"How do I {said(at)}?",
                    "type": "homonyms",
                    "label": ["safe", "unsafe"][at % 2],
                    "focus": "kill",
                    "note": "",
                }
            )
        },
        "labelled texts",
        roles={"text": "prompt"},
    ),
    Form(
        "Banking77",
        {"test.csv": rows(lambda at: {"text": said(at), "category": ["card_arrival", "exchange_rate"][at % 2]})},
        says="label=category",
    ),
    Form(
        "ChaosNLI",
        {
            "chaos.jsonl": rows(
                lambda at: {
                    "uid": f"u{at}",
                    "label_counter": {"e": 60, "n": 40},
                    "majority_label": "enc"[at % 3],
                    "label_dist": [0.6, 0.4, 0.0],
                    "label_count": [60, 40, 0],
                    "entropy": 0.97,
                    "example": {"uid": f"u{at}", "premise": said(at, 12), "hypothesis": said(at + 1), "source": "s"},
                    "old_label": "e",
                    "old_labels": ["entailment"] * 5,
                }
            )
        },
        "labelled texts",
        roles={"premise": "premise"},
    ),
    Form(
        "GoEmotions, several labels of a row",
        {"train.tsv": "".join(f"{said(at)}\t{('0', '0,2', '2')[at % 3]}\tid{at}\n" for at in range(N))},
        says="there are no labels",
    ),
    Form(
        "GoEmotions on the hub, lists of labels",
        {"train.parquet": rows(lambda at: {"text": said(at), "labels": [[0], [0, 2], [2]][at % 3], "id": f"x{at}"})},
        says="the column holds lists, not one label per row",
    ),
    Form(
        "STS-B",
        {
            "sts.tsv": rows(
                lambda at: {
                    "index": at,
                    "genre": "news",
                    "sentence1": said(at),
                    "sentence2": said(at + 1),
                    "score": at % 26 / 5,
                }
            )
        },
        says="goldassay shift",
    ),
    Form(
        "HelpSteer2, grades of a response",
        {
            "train.jsonl": rows(
                lambda at: {
                    "prompt": said(at, 12),
                    "response": said(at, 30),
                    "helpfulness": at % 5,
                    "correctness": at % 4,
                    "coherence": 4,
                    "complexity": 1,
                    "verbosity": 2,
                }
            )
        },
        says="premise=prompt,hypothesis=response,label=correctness",
    ),
    Form(
        "TweetEval, lines beside lines",
        {
            "mood/train_text.txt": "".join(f"{said(at)}\n" for at in range(N)),
            "mood/train_labels.txt": "".join(f"{at % 2}\n" for at in range(N)),
            "mood/mapping.txt": "0\tbad\n1\tgood\n",
        },
        "labelled texts",
        at="mood",
    ),
    Form(
        "CoNLL",
        {
            "test.txt": "".join(f"{word} {'B-PER' if word == 'stone' else 'O'}\n" for word in WORDS)
            + "\nblue O\n\nred O\n"
        },
        says="labels of tokens",
    ),
    Form(
        "glue dump with -1 labels",
        {"test.parquet": rows(lambda at: {"sentence1": said(at), "sentence2": said(at + 1), "label": -1, "idx": at})},
        says="label is -1 (hidden)",
    ),
    Form(
        "RTE as XML",
        {
            "rte.xml": '<?xml version="1.0"?>\n<entailment-corpus>\n'
            + "".join(
                f'<pair id="{at}" value="{("TRUE", "FALSE")[at % 2]}"><t>{said(at, 20)}</t><h>{said(at)}</h></pair>\n'
                for at in range(N)
            )
            + "</entailment-corpus>\n"
        },
        says="XML is not read",
    ),
]

PREFERENCES = [
    Form(
        "RewardBench",
        {
            "filtered.parquet": rows(
                lambda at: {
                    "prompt": said(at),
                    "chosen": said(at, 20),
                    "chosen_model": "a",
                    "rejected": said(at + 1, 12),
                    "rejected_model": "b",
                    "subset": "chat",
                    "id": at,
                }
            )
        },
        "preferences",
    ),
    Form(
        "RewardBench 2, four responses",
        {
            "test.parquet": rows(
                lambda at: {
                    "id": str(at),
                    "prompt": said(at),
                    "chosen": [said(at, 20)],
                    "rejected": [said(at + k, 12) for k in (1, 2, 3)],
                    "num_correct": 1,
                    "num_incorrect": 3,
                    "total_completions": 4,
                    "models": ["a", "b", "c", "d"],
                    "subset": "Focus",
                    "additional_metadata": "x",
                }
            )
        },
        "preferences",
    ),
    Form(
        "JudgeBench",
        {
            "gpt.jsonl": rows(
                lambda at: {
                    "pair_id": f"p{at}",
                    "original_id": str(at),
                    "source": "mmlu",
                    "question": said(at, 9),
                    "response_model": "m",
                    "response_A": said(at, 20),
                    "response_B": said(at + 1, 12),
                    "label": ["A>B", "B>A"][at % 2],
                }
            )
        },
        "preferences",
    ),
    Form(
        "HelpSteer3, preferences from -3 to 3",
        {
            "preference.jsonl": rows(
                lambda at: {
                    "domain": "general",
                    "language": "english",
                    "context": [{"role": "user", "content": said(at)}],
                    "response1": said(at, 20),
                    "response2": said(at + 1, 12),
                    "overall_preference": at % 7 - 3,
                    "individual_preference": [{"score": 1, "reasoning": "r", "feedback_1": "f"}],
                }
            )
        },
        says="--map overall_preference=-3:first",
    ),
    Form(
        "LMArena votes",
        {
            "votes.jsonl": rows(
                lambda at: {
                    "question_id": f"q{at}",
                    "model_a": "ab"[at % 2],
                    "model_b": "ba"[at % 2],
                    "winner": ["model_a", "model_b", "tie", "tie (bothbad)"][at % 4],
                    "judge": f"u{at}",
                    "conversation_a": [
                        {"role": "user", "content": said(at)},
                        {"role": "assistant", "content": said(at, 20)},
                    ],
                    "conversation_b": [
                        {"role": "user", "content": said(at)},
                        {"role": "assistant", "content": said(at + 1, 9)},
                    ],
                    "turn": 1,
                    "language": "English",
                }
            )
        },
        "judgments",
    ),
    Form(
        "PandaLM, a column an annotator",
        {
            "testset.json": rows(
                lambda at: {
                    "idx": at,
                    "motivation_app": "x",
                    "cmp_key": "a_b",
                    "instruction": said(at),
                    "input": "",
                    "response1": said(at, 20),
                    "response2": said(at + 1, 12),
                    **{f"annotator{k}": (at + (k > 2)) % 3 for k in (1, 2, 3)},
                }
            )
        },
        "preferences",
    ),
]

ANSWERS = [
    Form(
        "MMLU-Pro outputs, an array",
        {
            "outputs.json": rows(
                lambda at: {
                    "question_id": at,
                    "answer": LETTERS[at % 4],
                    "pred": LETTERS[(at + at % 3) % 4],
                    "category": "law",
                }
            )
        },
        "runs",
    ),
    Form(
        "predictions, a code a line",
        {"preds.txt": "".join(f"{at % 3}\n" for at in range(N))},
        "runs",
    ),
    Form(
        "predictions, an array of codes",
        {"preds.json": [at % 3 for at in range(N)]},
        "runs",
    ),
    Form(
        "OpenCompass predictions",
        {
            "preds.json": {
                str(at): {"origin_prompt": said(at), "prediction": LETTERS[at % 4], "gold": LETTERS[at % 3]}
                for at in range(N)
            }
        },
        says="--dump-eval-details",
    ),
    Form(
        "ANLI with eight models beside the texts",
        {
            "preds.jsonl": rows(
                lambda at: {
                    "uid": f"u{at}",
                    "context": said(at, 20),
                    "hypothesis": said(at + 1),
                    "label": "enc"[at % 3],
                    **{f"pred_model{k}": "enc"[(at + (at + k) % 4 // 3) % 3] for k in range(8)},
                }
            )
        },
        "labelled texts",
    ),
    Form(
        "AlpacaEval annotations, preference 1 to 2",
        {
            "annotations.json": rows(
                lambda at: {
                    "instruction": said(at),
                    "output_1": said(at, 20),
                    "generator_1": "ref",
                    "output_2": said(at + 1, 12),
                    "generator_2": "m",
                    "annotator": "gpt",
                    "preference": [1.0, 2.0, 1.03, 1.98][at % 4],
                }
            )
        },
        "judgments",
    ),
    Form(
        "EvalPlus-like board, pass_at_1",
        {
            "board.csv": [
                {"model": model, "task_id": f"T/{at}", "pass_at_1": int((at + k) % 3 > 0)}
                for k, model in enumerate("abc")
                for at in range(N)
            ]
        },
        "runs",
        3 * N,
        {"score": "pass_at_1"},
    ),
    Form(
        "a board with a gold column called true",
        {
            "board.csv": [
                {"model": model, "id": f"T/{at}", "true": "xy"[at % 2], "pred": "xy"[(at + k) % 3 % 2]}
                for k, model in enumerate("abc")
                for at in range(N)
            ]
        },
        "runs",
        3 * N,
        {"label": "true"},
    ),
    Form(
        "a table of prompts: prompt is the configuration",
        {
            "prompts.csv": [
                {"model": model, "prompt": f"p{prompt}", "example_id": at, "correct": int((at + k + prompt) % 3 > 0)}
                for k, model in enumerate("ab")
                for prompt in range(3)
                for at in range(N)
            ]
        },
        "runs",
        6 * N,
        {"configuration": "prompt"},
    ),
    Form(
        "a row a paraphrase, a column a model",
        {
            "task.csv": [
                {
                    "paraphrase": f"{said(at)} {{text}}",
                    **{model: 0.5 + (at * k) % 10 / 40 for k, model in enumerate(("flan", "llama", "alpaca"), 3)},
                }
                for at in range(N)
            ]
        },
        "board",
    ),
    Form(
        "results in lists of examples",
        {
            "board.jsonl": [
                {"model": model, "prompt": prompt, "example": [{"id": at, "correct": bool(at % 3)} for at in range(N)]}
                for model in "ab"
                for prompt in ("p", "q")
            ]
        },
        "runs",
        4 * N,
        {"example_id": "id", "score": "correct", "configuration": "prompt"},
    ),
    Form(
        "promptfoo",
        {
            "out.json": {
                "evalId": "e",
                "results": {
                    "version": 3,
                    "results": [
                        {
                            "provider": {"id": model},
                            "testIdx": at,
                            "promptIdx": 0,
                            "vars": {"q": at},
                            "success": bool((at + k) % 3),
                            "score": 1,
                        }
                        for at in range(N)
                        for k, model in enumerate("ab")
                    ],
                },
            }
        },
        "runs",
        None,
        command=("board",),
    ),
    Form(
        "results of several systems in objects",
        {
            "sol.jsonl": rows(
                lambda at: {
                    "question": said(at),
                    "ground_truth": "1",
                    **{m: {"is_correct": bool((at + k) % 3), "solution": "s"} for k, m in enumerate(("m1", "m2"))},
                }
            )
        },
        "board",
        command=("board",),
    ),
    Form(
        "unlabelled texts",
        {"texts.jsonl": rows(lambda at: {"text": said(at, 12)})},
        says="there are no labels",
    ),
    Form(
        "JSON lines in a .json",
        {"rows.json": "".join(json.dumps({"text": said(at), "label": "ab"[at % 2]}) + "\n" for at in range(N))},
        "labelled texts",
        command=("instability",),
    ),
]

OTHERWISE_WRITTEN = [
    Form(
        "one table beside README and LICENSE",
        {
            "set/data.jsonl": rows(lambda at: {"text": said(at), "label": "ab"[at % 2]}),
            "set/README.md": "# A set\n",
            "set/LICENSE": "CC BY 4.0\n",
            "set/dataset_infos.json": {"default": {"description": ""}},
        },
        "labelled texts",
        at="set",
    ),
    Form(
        "subjects without a header, two equal choices in a first line",
        {
            f"subjects/{subject}_test.csv": f"What is {said(0)}?,0,0,1,2,A\n"
            + "".join(f"What is {said(at)}?,{','.join(four(at))},{LETTERS[at % 4]}\n" for at in range(1, N))
            for subject in ("law", "art")
        },
        "choices",
        2 * N,
        {"group": "file"},
        at="subjects",
    ),
    Form(
        "MMLU, a folder a part and a file a subject",
        {
            f"mmlu/{part}/{subject}_{part}.csv": "".join(
                f"What is {said(at)}?,{','.join(four(at))},{LETTERS[at % 4]}\n" for at in range(N)
            )
            for part in ("dev", "test")
            for subject in ("law", "art")
        },
        "choices",
        4 * N,
        {"group": "file"},
        at="mmlu",
    ),
    Form(
        "parts under keys of one JSON file",
        {"data.json": {part: rows(lambda at: {"text": said(at), "label": "ab"[at % 2]}) for part in ("train", "test")}},
        "labelled texts",
        2 * N,
        {"split": "split"},
    ),
    Form(
        "a table of Weights & Biases",
        {"table.json": {"columns": ["text", "label"], "data": [[said(at), "ab"[at % 2]] for at in range(N)]}},
        "labelled texts",
    ),
    Form(
        "rows of a dataset viewer",
        {
            "rows.json": {
                "features": [{"feature_idx": 0, "name": "text"}],
                "rows": rows(lambda at: {"row_idx": at, "row": {"text": said(at), "label": at % 2}}),
            }
        },
        says="text=row.text,label=row.label",
    ),
    Form(
        "answers written Option A",
        {
            "test.jsonl": rows(
                lambda at: {"question": said(at), "options": four(at), "answer": f"Option {LETTERS[at % 4]}"}
            )
        },
        "choices",
        roles={"choices": "options", "answer": "answer"},
    ),
    Form(
        "choices as numpy prints them",
        {
            "test.csv": rows(
                lambda at: {
                    "question": said(at),
                    "choices": "[" + "\n ".join(map(repr, four(at))) + "]",
                    "answer": at % 4,
                }
            )
        },
        "choices",
        roles={"choices": "choices"},
    ),
    Form(
        "choices under Chinese names",
        {"test.csv": rows(lambda at: {"问题": said(at), **lettered(at, "选项"), "答案": LETTERS[at % 4]})},
        says="question=问题,choices=选项A+选项B+选项C+选项D,answer=答案",
    ),
    Form(
        "TriviaQA, answers with aliases",
        {
            "qa.jsonl": rows(
                lambda at: {
                    "question": f"Who is {said(at)}?",
                    "answer": {"value": said(at, 2), "aliases": [said(at, 1)]},
                }
            )
        },
        says="free answers",
    ),
    Form(
        "a conversation with a label",
        {
            "chats.jsonl": rows(
                lambda at: {
                    "messages": [{"role": "user", "content": said(at)}, {"role": "assistant", "content": "Yes."}],
                    "label": ["safe", "unsafe"][at % 2],
                }
            )
        },
        says="text=messages.content,label=label",
    ),
    Form(
        "a column for each label",
        {
            "train.csv": rows(
                lambda at: {"comment_text": said(at), "toxic": at % 2, "insult": at % 3 % 2, "threat": at % 5 % 2}
            )
        },
        says="text=comment_text,label=",
    ),
    Form(
        "a comment above the header",
        {"train.csv": "# v1\ntext,label\n" + "".join(f"{said(at)},{'ab'[at % 2]}\n" for at in range(N))},
        says="tail -n +2 < ",
    ),
    Form(
        "sep=; above the header",
        {"train.csv": "sep=;\ntext;label\n" + "".join(f"{said(at)};{'ab'[at % 2]}\n" for at in range(N))},
        says="tail -n +2 < ",
    ),
    Form(
        "a comma at the end of each row",
        {"train.csv": "text,label\n" + "".join(f"{said(at)},{'ab'[at % 2]},\n" for at in range(N))},
        says="sed 's/,$//' < ",
    ),
    Form(
        "BIG-Bench Extra Hard, a task in a file",
        {
            "task.json": {
                "canary": "x",
                "examples": rows(
                    lambda at: {"input": f"What of {said(at)}?", "target": ("yes", "no", "unknown")[at % 3]}
                ),
            }
        },
        "labelled texts",
        roles={"text": "input", "label": "target"},
    ),
    Form(
        "MMLU-ProX",
        {
            "test.parquet": rows(
                lambda at: {
                    "question_id": at,
                    "question": f"What is {said(at)}?",
                    **{f"option_{k}": said(9 * at + k, 3) if k < 4 + at % 7 else None for k in range(10)},
                    "answer": LETTERS[at % 4],
                    "answer_index": at % 4,
                    "category": "law",
                }
            )
        },
        "choices",
        roles={"answer": "answer_index", "question": "question", "group": "category"},
    ),
    Form(
        "SuperGPQA",
        {
            "all.jsonl": rows(
                lambda at: {
                    "uuid": f"u{at}",
                    "question": f"What is {said(at)}?",
                    "options": four(at),
                    "answer": four(at)[at % 4],
                    "answer_letter": LETTERS[at % 4],
                    "discipline": "Law",
                    "difficulty": "hard",
                    "is_calculation": bool(at % 2),
                }
            )
        },
        "choices",
        roles={"choices": "options", "answer": "answer", "question": "question"},
    ),
    Form(
        "INCLUDE",
        {
            "test.parquet": rows(
                lambda at: {
                    "language": "Greek",
                    "country": "Greece",
                    "domain": "Law",
                    "question": f"What is {said(at)}?",
                    **lettered(at, "option_", "abcd"),
                    "answer": at % 4,
                }
            )
        },
        "choices",
        roles={"choices": "option_a+option_b+option_c+option_d", "answer": "answer"},
    ),
    Form(
        "BLEnD, choices as JSON texts",
        {
            "mc.csv": rows(
                lambda at: {
                    "MCQID": f"m{at}",
                    "ID": f"q{at}",
                    "country": "UK",
                    "prompt": f"What is {said(at)}?",
                    "choices": json.dumps(lettered(at)),
                    "choice_countries": json.dumps(dict(zip(LETTERS, ("UK", "US", "CN", "IR"), strict=True))),
                    "answer_idx": LETTERS[at % 4],
                }
            )
        },
        "choices",
        roles={"choices": "choices", "answer": "answer_idx", "question": "prompt"},
    ),
    Form(
        "MedXpertQA",
        {
            "test.jsonl": rows(
                lambda at: {
                    "id": f"t{at}",
                    "question": f"What is {said(at)}?",
                    "options": lettered(at),
                    "label": LETTERS[at % 4],
                    "medical_task": "Diagnosis",
                    "question_type": "Reasoning",
                }
            )
        },
        "choices",
        roles={"choices": "options", "answer": "label"},
    ),
    Form(
        "Arena-Hard judgments, a game in each order",
        {
            "model.jsonl": rows(
                lambda at: {
                    "uid": f"u{at}",
                    "category": "hard_prompt",
                    "judge": "j",
                    "model": "m",
                    "baseline": "b",
                    "games": [
                        {"score": ("A>B", "A=B", "B>>A")[at % 3], "judgment": {"answer": said(at)}},
                        {"score": ("B>A", "A=B", "A>B")[at % 3], "judgment": {"answer": said(at)}},
                    ],
                }
            )
        },
        "judgments",
        2 * N,
        roles={"item": "question_id", "judge": "judge", "winner": "winner"},
    ),
    Form(
        "MT-Bench's human judgments",
        {
            "human.parquet": rows(
                lambda at: {
                    "question_id": 80 + at // 3,
                    "model_a": "m",
                    "model_b": ("n", "o", "p")[at % 3],
                    "winner": ("model_a", "model_b", "tie")[at % 3],
                    "judge": f"expert_{at % 4}",
                    "conversation_a": [{"content": said(at), "role": "user"}],
                    "conversation_b": [{"content": said(at), "role": "user"}],
                    "turn": 1 + at % 2,
                }
            )
        },
        "judgments",
        roles={"winner": "winner", "item": "question_id", "judge": "judge"},
    ),
    Form(
        "PPE, human preferences",
        {
            "test.parquet": rows(
                lambda at: {
                    "question_id": f"q{at}",
                    "ground_truth": "tie" if at % 5 == 4 else ("model_a", "model_b")[at % 2],
                    "model_name_1": "m",
                    "model_name_2": "n",
                    "prompt": said(at),
                    "response_1": said(at + 50),
                    "response_2": said(at + 90),
                    "language": "English",
                }
            )
        },
        "preferences",
        roles={"responses": "response_1+response_2", "winner": "ground_truth"},
    ),
    Form(
        "BFCL, calls of functions",
        {
            "simple.jsonl": rows(
                lambda at: {
                    "id": f"simple_{at}",
                    "question": [[{"role": "user", "content": said(at)}]],
                    "function": [{"name": "f", "description": said(at), "parameters": {"type": "dict"}}],
                }
            )
        },
        says="goldassay overlap",
    ),
    Form(
        "tau2, tasks of an agent",
        {
            "tasks.json": rows(
                lambda at: {
                    "id": str(at),
                    "description": {"purpose": said(at)},
                    "user_scenario": {"persona": None, "instructions": {"task_instructions": said(at)}},
                    "evaluation_criteria": {"actions": [{"name": "get", "arguments": {"id": "x"}}]},
                }
            )
        },
        says="goldassay overlap",
    ),
    Form(
        "packed with xz",
        {"train.jsonl.xz": lzma.compress(b'{"text": "a", "label": "b"}\n')},
        says="xz -dk ",
    ),
    Form("packed with bzip2", {"train.csv.bz2": bz2.compress(b"text,label\na,b\n")}, says="bzip2 -dk "),
    Form(
        "an object of a number for each id",
        {"scores.json": {f"{at}-n": at / N for at in range(N)}},
        says="are of no kind",
    ),
    Form("a spreadsheet", {"train.xlsx": _zipped("[Content_Types].xml")}, says="save its table as CSV"),
]

FORMS = {form.name: form for form in (*ITEMS, *TEXTS, *PREFERENCES, *ANSWERS, *OTHERWISE_WRITTEN)}
