"""Every published shape of choices and preferences, in five formats: read unaided, and audited with a planted flaw.

    python -m benchmarks.verdicts.shapes [--rows 1200] [--formats jsonl,csv] [--shapes MMLU,ARC]

Made items have four choices of three to five words and a question; preferences are the right choice and a wrong one. In
70 % of the planted ones the right choice is longer and begins with a word of its own: leakage must be *unsound* and
artifacts a *caution* or worse. The clean twin has the same questions and no flaw, so that neither may be a *caution*.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import zstandard

import goldassay
from goldassay.core.errors import InputError
from goldassay.questions.leakage.item_loading import ItemReading, load_items

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goldassay.data.kinds.choices import ChoiceItems

LETTERS = "ABCD"
WORDS = ["red", "blue", "stone", "river", "lamp", "code", "idea", "horse", "field", "wave", "cloud", "paper"]
FORMATS = ("jsonl", "csv", "parquet", "jsonl.gz", "jsonl.zst")


@dataclass(frozen=True)
class Made:
    """A made item: what is asked, its choices, which of them is right, and its subject."""

    question: str
    choices: tuple[str, ...]
    right: int
    subject: str

    @property
    def gold(self) -> str:
        """The right choice."""
        return self.choices[self.right]

    @property
    def wrong(self) -> list[str]:
        """The others, in their order."""
        return [text for at, text in enumerate(self.choices) if at != self.right]

    @property
    def letter(self) -> str:
        """That of the right choice."""
        return LETTERS[self.right]

    def pair(self) -> tuple[list[str], int]:
        """The right choice and a wrong one, in an order that tells nothing, and the place of the right one."""
        place = self.right % 2
        return [self.gold, self.wrong[0]] if place == 0 else [self.wrong[0], self.gold], place


def made_items(n: int, *, planted: bool, seed: int = 0) -> list[Made]:
    """Items of which, where planted, the right choice is longer and begins with a word of its own in 70 %."""
    rng = np.random.default_rng(seed)

    def text(n_words: int) -> str:
        return " ".join(rng.choice(WORDS, n_words).tolist())

    found = []
    for at in range(n):
        right, subject = int(rng.integers(4)), str(rng.choice(["law", "biology", "mathematics"]))
        question = f"Question {at}: what of {text(6)}?"
        choices = [text(int(size)) for size in rng.integers(3, 6, 4)]
        # A choice that occurs twice would be a flaw of another kind.
        ends = rng.permutation(list("xyzw")).tolist()
        choices = [f"{choice} {at}{end}" for choice, end in zip(choices, ends, strict=True)]
        if planted and rng.random() < 0.7:
            choices[right] = f"specifically {choices[right]} {text(3)}"
        found.append(Made(question, tuple(choices), right, subject))
    return found


def _named(x: Made) -> list[dict[str, str]]:
    return [{"text": text, "label": letter} for text, letter in zip(x.choices, LETTERS, strict=True)]


def _turns(*texts: str) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]


# Of an item the published columns, where one row is one item.
ROWS: dict[str, Callable[[Made], dict[str, Any]]] = {
    "MMLU": lambda x: {
        "question": x.question, "subject": x.subject, "choices": list(x.choices), "answer": x.right,
    },
    "MMLU, a column a choice": lambda x: {
        "question": x.question, **dict(zip(LETTERS, x.choices, strict=True)), "answer": x.letter,
    },
    "MMLU-Pro": lambda x: {
        "question_id": x.question, "question": x.question, "options": list(x.choices), "answer": x.letter,
        "answer_index": x.right, "cot_content": "", "category": x.subject, "src": "s",
    },
    "ARC, OpenBookQA": lambda x: {
        "id": x.question, "question": x.question, "choices": {"text": list(x.choices), "label": list(LETTERS)},
        "answerKey": x.letter,
    },
    "ARC, OpenBookQA, nested": lambda x: {
        "id": x.question, "question": {"stem": x.question, "choices": _named(x)}, "answerKey": x.letter,
    },
    "CommonsenseQA": lambda x: {
        "id": x.question, "question": x.question, "question_concept": x.subject,
        "choices": {"label": list(LETTERS), "text": list(x.choices)}, "answerKey": x.letter,
    },
    "CommonsenseQA, nested": lambda x: {
        "answerKey": x.letter, "id": x.question,
        "question": {"question_concept": x.subject, "choices": _named(x), "stem": x.question},
    },
    "HellaSwag": lambda x: {
        "ind": 1, "activity_label": x.subject, "ctx_a": x.question, "ctx_b": "", "ctx": x.question,
        "endings": list(x.choices), "source_id": "s", "split": "val", "split_type": "indomain", "label": str(x.right),
    },
    "SWAG": lambda x: {
        "video-id": "v", "startphrase": f"{x.question} He", "sent1": x.question, "sent2": "He", "gold-source": "gold",
        **{f"ending{at}": text for at, text in enumerate(x.choices)}, "label": x.right,
    },
    "RACE": lambda x: {
        "example_id": x.question, "article": f"An article. {x.question}", "answer": x.letter, "question": x.question,
        "options": list(x.choices),
    },
    "AGIEval": lambda x: {
        "passage": f"A passage. {x.question}", "question": x.question, "label": x.letter, "answer": None,
        "options": [f"({letter}){text}" for letter, text in zip(LETTERS, x.choices, strict=True)], "other": None,
    },
    "AQuA": lambda x: {
        "question": x.question, "rationale": "", "correct": x.letter,
        "options": [f"{letter}){text}" for letter, text in zip(LETTERS, x.choices, strict=True)],
    },
    "MedMCQA": lambda x: {
        "id": x.question, "question": x.question, **{f"op{'abcd'[at]}": text for at, text in enumerate(x.choices)},
        "cop": x.right, "choice_type": "single", "exp": None, "subject_name": x.subject, "topic_name": None,
    },
    "GPQA": lambda x: {
        "Question": x.question, "Correct Answer": x.gold,
        **{f"Incorrect Answer {at + 1}": text for at, text in enumerate(x.wrong)}, "Subdomain": x.subject,
    },
    "TruthfulQA, mc1": lambda x: {
        "question": x.question,
        "mc1_targets": {"choices": [x.gold, *x.wrong], "labels": [1, 0, 0, 0]},
    },
    "TruthfulQA, mc2": lambda x: {
        "question": x.question,
        "mc2_targets": {"choices": list(x.choices), "labels": [int(at == x.right) for at in range(4)]},
    },
    "TruthfulQA, table": lambda x: {
        "Type": "t", "Category": x.subject, "Question": x.question, "Best Answer": x.gold, "Correct Answers": x.gold,
        "Incorrect Answers": "; ".join(x.wrong), "Source": "s",
    },
    "TruthfulQA, generation": lambda x: {
        "type": "t", "category": x.subject, "question": x.question, "best_answer": x.gold,
        "correct_answers": [x.gold, f"{x.gold} it is"], "incorrect_answers": x.wrong, "source": "s",
    },
    "SciQ": lambda x: {
        "question": x.question, **{f"distractor{at + 1}": text for at, text in enumerate(x.wrong)},
        "correct_answer": x.gold, "support": "",
    },
    "PIQA": lambda x: {
        "goal": x.question, "sol1": x.pair()[0][0], "sol2": x.pair()[0][1], "label": x.pair()[1],
    },
    "WinoGrande": lambda x: {
        "sentence": f"{x.question} It is _.", "option1": x.pair()[0][0], "option2": x.pair()[0][1],
        "answer": str(x.pair()[1] + 1),
    },
    "SocialIQa": lambda x: {
        "context": f"A context. {x.question}", "question": x.question, "answerA": x.choices[0],
        "answerB": x.choices[1], "answerC": x.choices[2], "answerD": x.choices[3], "label": str(x.right + 1),
    },
    "MedQA, several right": lambda x: {
        "passage": None, "question": x.question, "label": [x.letter],
        "options": [f"({letter}){text}" for letter, text in zip(LETTERS, x.choices, strict=True)],
    },
    "preferences": lambda x: {"prompt": x.question, "chosen": x.gold, "rejected": x.wrong[0]},
    "preferences, chat": lambda x: {
        "chosen": _turns(x.question, x.gold), "rejected": _turns(x.question, x.wrong[0]),
    },
    "preferences, dialogues": lambda x: {
        "chosen": f"\n\nHuman: {x.question}\n\nAssistant: {x.gold}",
        "rejected": f"\n\nHuman: {x.question}\n\nAssistant: {x.wrong[0]}",
    },
    "LLMBar": lambda x: {
        "input": x.question, "output_1": x.pair()[0][0], "output_2": x.pair()[0][1], "label": x.pair()[1] + 1,
    },
}  # fmt: skip


def _headless(items: Sequence[Made]) -> str:
    rows = [(x.question, *x.choices, x.letter) for x in items]
    return pl.DataFrame(rows, orient="row").write_csv(include_header=False)


def _logiqa(items: Sequence[Made]) -> str:
    blocks = []
    for x in items:
        choices = "\n".join(f"{letter}.{text}" for letter, text in zip(LETTERS, x.choices, strict=True))
        blocks.append(f"\n{x.letter.lower()}\nA passage. {x.question}\n{x.question}\n{choices}\n")
    return "".join(blocks)


def _dream(items: Sequence[Made]) -> str:
    return json.dumps(
        [
            [[f"M: {x.question}"], [{"question": x.question, "choice": list(x.choices), "answer": x.gold}], f"d{at}"]
            for at, x in enumerate(items)
        ]
    )


# Files of their own layout: their ending, and their content.
FILES: dict[str, tuple[str, Callable[[Sequence[Made]], str]]] = {
    "MMLU, no header": ("csv", _headless),
    "LogiQA": ("txt", _logiqa),
    "DREAM": ("json", _dream),
}
# Files in which the right choice is the first: positions are drawn anew.
RIGHT_FIRST = ("GPQA", "TruthfulQA, mc1", "TruthfulQA, table", "TruthfulQA, generation", "SciQ")
PAIRS = ("PIQA", "WinoGrande", "preferences", "preferences, chat", "preferences, dialogues", "LLMBar")


def formats_of(shape: str) -> tuple[str, ...]:
    """The endings in which a shape is written: plain, and packed where its layout is its own."""
    return FORMATS if shape in ROWS else (FILES[shape][0], f"{FILES[shape][0]}.gz")


def write_shape(shape: str, ending: str, items: Sequence[Made], folder: Path) -> Path:
    """A file of the items in a shape and format; lists and objects in a CSV file are JSON, as publishers write them."""
    path = folder / f"items.{ending}"
    plain, _, packed = ending.partition(".")
    if shape in FILES:
        data = FILES[shape][1](items).encode()
    else:
        rows = [ROWS[shape](x) for x in items]
        if plain == "jsonl":
            data = "".join(json.dumps(row) + "\n" for row in rows).encode()
        else:
            if plain == "csv":
                rows = [
                    {name: json.dumps(cell) if isinstance(cell, (list, dict)) else cell for name, cell in row.items()}
                    for row in rows
                ]
            frame, into = pl.DataFrame(rows, infer_schema_length=None), io.BytesIO()
            if plain == "csv":
                frame.write_csv(into)
            else:
                frame.write_parquet(into)
            data = into.getvalue()
    pack = {"": bytes, "gz": gzip.compress, "zst": zstandard.ZstdCompressor().compress}[packed]
    path.write_bytes(pack(data))
    return path


def read_unaided(path: Path) -> ChoiceItems | None:
    """The items of a file without a word on its columns; None where none are recognized."""
    posed = load_items(path, None, ItemReading())
    return None if posed is None else posed.test


def gold_right(shape: str, read: ChoiceItems | None, items: Sequence[Made]) -> tuple[int, int]:
    """How many items are read, and of how many the gold is the right choice and nothing else."""
    if read is None:
        return 0, 0
    right: list[list[str]] = [[] for _ in range(len(read))]
    for item, text in zip(read.item_of[read.right].tolist(), read.texts.filter(read.right).to_list(), strict=True):
        right[item].append(text)
    sizes = set(read.sizes.tolist())
    fits = sizes == {2 if shape in PAIRS else 4}
    return len(read), sum(fits and own == [x.gold] for own, x in zip(right, items, strict=False))


def main() -> None:
    """Print a row a shape and format."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1200)
    parser.add_argument("--formats", default=",".join(FORMATS), help="of those whose layout is not their own")
    parser.add_argument("--shapes", help="separated by semicolons; all if not given")
    given = parser.parse_args()
    wanted = None if given.shapes is None else {each.strip() for each in given.shapes.split(";")}
    sets = {name: made_items(given.rows, planted=name == "planted") for name in ("planted", "clean")}
    print("| shape | format | items | gold right | planted: leakage | artifacts | clean: leakage | artifacts |")
    print("|---|---|---:|---:|---|---|---|---|", flush=True)
    warnings.simplefilter("ignore")
    for shape in (*ROWS, *FILES):
        for ending in formats_of(shape):
            if (wanted is not None and shape not in wanted) or (
                shape in ROWS and ending not in given.formats.split(",")
            ):
                continue
            cells = []
            with tempfile.TemporaryDirectory() as folder:
                for items in sets.values():
                    path = write_shape(shape, ending, items, Path(folder))
                    try:
                        if not cells:
                            cells += map(str, gold_right(shape, read_unaided(path), items))
                        found = goldassay.audit(path, quiet=True).verdicts
                        cells += [found[question]["verdict"] for question in ("leakage", "artifacts")]
                    except InputError as error:
                        cells.append(str(error))
            print(f"| {shape} | {ending} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
