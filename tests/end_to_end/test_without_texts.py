"""With --no-texts no file that a command writes has a text of the data: whole texts, choices and responses."""

from __future__ import annotations

import html
import json
import random
import re
import shutil
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from goldassay.cli.app import COMMANDS
from goldassay.cli.main import run
from goldassay.runs.specimen import write_specimen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SYLLABLES = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
PLAIN = re.compile(r"\W+")


class Made:
    """Texts of words that nothing else says; every one is remembered."""

    def __init__(self) -> None:
        self.random = random.Random(0)
        self.texts: set[str] = set()
        self._words = ["".join(self.random.choices(SYLLABLES, k=3)) for _ in range(60)]

    def text(self, n: int, *own: str) -> str:
        text = " ".join([*own, *self.random.choices(self._words, k=n), f"{len(self.texts)}th"]) + "."
        self.texts.add(text)
        return text

    def name(self) -> str:
        """A text of one word."""
        text = "".join(self.random.choices(SYLLABLES, k=4)).title()
        self.texts.add(text)
        return text


def pairs(made: Made, folder: Path) -> list[list[str]]:
    write_specimen(folder, size=2000, test_size=300)
    for name in ("train", "test", "elsewhere"):
        frame = pl.read_ndjson(folder / f"{name}.jsonl")
        made.texts |= {*frame["premise"], *frame["hypothesis"]}
    audit = ["audit", "train.jsonl", "--test", "test.jsonl", "--runs", "runs"]
    return [
        [
            *audit,
            "--elsewhere",
            "far=elsewhere.jsonl",
        ]
    ]


def single_questions(made: Made, folder: Path) -> list[list[str]]:
    pairs(made, folder)
    (folder / "corpus").mkdir()
    shutil.copy(folder / "test.jsonl", folder / "corpus")
    return [
        ["leakage", "measure", "train.jsonl", "--test", "test.jsonl"],
        ["leakage", "measure", "a=train.jsonl", "b=train.jsonl", "--test", "a=test.jsonl"],
        ["leakage", "suggest", "train.jsonl"],
        ["overlap", "test.jsonl", "--corpus", "corpus", "--field", "premise+hypothesis"],
        ["instability", "runs", "--test", "test.jsonl", "--dataset", "test", "--figures", "svg", "--latex"],
        ["shift", "generalization", "--runs", "runs", "--in-distribution", "test"],
    ]


def items(made: Made, folder: Path) -> list[list[str]]:
    rows = []
    for at in range(400):
        question, right = made.text(8), made.random.randrange(4)
        choices = [
            made.text(3, *(["surely"] if place == right else [])) if at % 2 else made.name() for place in range(4)
        ]
        rows.append({"id": f"i{at}", "question": question, "choices": choices, "answer": right})
    # A copy, whose right choice is one word, and one with a choice twice.
    rows += [{**rows[4], "id": "copy"}, {**rows[5], "id": "twice", "choices": [*rows[5]["choices"][:3]] * 2}]
    write(folder / "items.jsonl", rows)
    return [["audit", "items.jsonl"], ["leakage", "suggest", "items.jsonl"]]


def preferences(made: Made, folder: Path) -> list[list[str]]:
    rows = [
        {"prompt": made.text(9), "chosen": made.text(12, "surely"), "rejected": made.text(6), "id": f"p{at}"}
        for at in range(400)
    ]
    write(folder / "preferences.jsonl", rows)
    return [["audit", "preferences.jsonl"]]


def judgments(made: Made, folder: Path) -> list[list[str]]:
    rows = []
    for at in range(200):
        texts = {"prompt": made.text(9), "response_a": made.text(12), "response_b": made.text(6)}
        for judge in ("one", "two"):
            winner = made.random.choice(["model_a", "model_b"])
            rows.append({"item": f"q{at}", **texts, "model_a": "a", "model_b": "b", "judge": judge, "winner": winner})
    write(folder / "judgments.jsonl", rows)
    return [["audit", "judgments.jsonl"]]


def logs(made: Made, folder: Path) -> list[list[str]]:
    questions = [made.text(9) for _ in range(120)]
    for name, share in (("a", 0.7), ("b", 0.8)):
        place = folder / "logs" / name
        place.mkdir(parents=True)
        lines = []
        for at, question in enumerate(questions):
            right, said = made.random.random() < share, made.text(20)
            unread = at % 7 == 0 and name == "b"
            lines.append(
                {"doc_id": at, "doc": {"question": question}, "target": "7", "filter": "strict", "resps": [[said]],
                 "arguments": {"gen_args_0": {"arg_0": question, "arg_1": {}}},
                 "filtered_resps": ["[invalid]" if unread else "7" if right else "8"], "metrics": ["exact_match"],
                 "exact_match": float(right and not unread)}
            )  # fmt: skip
        write(place / "samples_sums_2026-01-01T00-00-00.000000.jsonl", lines)
        told = {"results": {"sums": {"exact_match,strict": sum(each["exact_match"] for each in lines) / 120}},
                "model_name": name, "config": {"model": "hf", "model_args": f"pretrained={name}"}}  # fmt: skip
        (place / "results_2026-01-01T00-00-00.000000.json").write_text(json.dumps(told), "utf-8")
    return [["audit", "logs"], ["answered", "logs", "--reparse"], ["compare", "logs/a", "logs/b"], ["board", "logs"]]


def answers_as_labels(made: Made, folder: Path) -> list[list[str]]:
    """Runs whose labels and predictions are choices in words, of which many are one word."""
    lines = []
    for at in range(120):
        choices = [made.text(3) if at % 2 else made.name() for _ in range(4)]
        for model in "ab":
            said = choices[0] if made.random.random() < 0.6 else made.random.choice(choices)
            lines.append({"id": f"i{at}", "model": model, "label": choices[0], "prediction": said})
    write(folder / "runs.jsonl", lines)
    commands = [["audit", "runs.jsonl"], ["instability", "runs.jsonl"], ["board", "runs.jsonl"]]
    return [*commands, ["compare", "runs.jsonl"]]


def patterns(made: Made, folder: Path, shared: int = 6) -> list[list[str]]:
    """Labelled pairs of which one in so many has the same whole text, so that it is a pattern."""
    often = made.text(2)
    for name, n in (("train", 400), ("test", 100)):
        rows = [
            {"id": f"{name}{at}", "premise": made.text(8), "label": "yes" if at % 2 else "no",
             "topic": "law" if at % 4 < 2 else "art",
             "hypothesis": often if at % shared == 1 else made.text(5, *(["surely"] if at % 2 else []))}
            for at in range(n)
        ]  # fmt: skip
        write(folder / f"{name}.jsonl", rows)
    mined = ["train.jsonl", "--test", "test.jsonl", "--min-count", "10"]
    return [
        ["artifacts", "mine", *mined],
        ["artifacts", "assign", *mined],
        ["artifacts", "mine", *mined, "--by", "label"],
    ]


def write(file: Path, rows: list[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def strings(file: Path) -> Iterator[str]:
    """Every text of a file, as a person or a program reads it."""
    if file.suffix == ".parquet":
        for column in pl.read_parquet(file).iter_columns():
            yield from map(str, column.to_list())
    elif file.suffix != ".pdf":
        yield html.unescape(file.read_text("utf-8", "replace"))


def found_in(folder: Path, made: Made) -> dict[str, set[str]]:
    """The texts that stand in each file: as they are, and as lower-case words with single spaces."""
    known = {f" {PLAIN.sub(' ', text.casefold()).strip()} ": text for text in made.texts}
    starts: dict[str, list[str]] = {}
    for plain in known:
        starts.setdefault(plain[:9], []).append(plain)
    found: dict[str, set[str]] = {}
    for file in (each for each in folder.rglob("*") if each.is_file()):
        for text in strings(file):
            plain = f" {PLAIN.sub(' ', text.casefold()).strip()} "
            for space in re.finditer(" ", plain):
                for each in starts.get(plain[space.start() : space.start() + 9], ()):
                    if plain.startswith(each, space.start()):
                        found.setdefault(file.relative_to(folder).as_posix(), set()).add(known[each])
    return found


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(pairs, marks=pytest.mark.slow), pytest.param(single_questions, marks=pytest.mark.slow), items,
        pytest.param(preferences, marks=pytest.mark.slow), judgments, logs,
        answers_as_labels, patterns,
    ],
)  # fmt: skip
def test_no_file_has_a_text(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    made = Made()
    commands = make(made, tmp_path)
    for at, words in enumerate(commands):
        out = tmp_path / "out" / str(at)
        assert run([*words, "-o", str(out / "report"), "--json", str(out / "report-again.json"), "--no-texts"]) == 0
        assert json.loads((out / "report" / "report.json").read_text("utf-8"))["has_texts"] is False
        assert run(["paste", str(out / "report"), "--croissant", str(out / "croissant.json")]) == 0
        assert run(["diff", str(out / "report"), str(out / "report"), "-o", str(out / "diff")]) == 0
        if (out / "report" / "tables" / "examples.parquet").exists():
            assert run(["view", str(out / "report"), "--export", str(out / "view.html")]) == 0
        (out / "said.txt").write_text(capfd.readouterr().out, "utf-8")
    assert {name: sorted(texts)[:3] for name, texts in found_in(tmp_path / "out", made).items()} == {}
    # The search itself finds them where they are.
    assert found_in(tmp_path, made)


def test_an_export_of_a_report_with_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = Made()
    commands = items(made, tmp_path)
    assert run([*commands[0], "-o", "report"]) == 0
    for name, more in (("with", ()), ("without", ("--no-texts",))):
        (tmp_path / name).mkdir()
        assert run(["view", "report", "--export", f"{name}/view.html", *more]) == 0
    assert len(found_in(tmp_path / "with", made)["view.html"]) > 1000
    assert found_in(tmp_path / "without", made) == {}
    assert "i399" in (tmp_path / "without" / "view.html").read_text("utf-8")


# What these write is the set itself, or a part of it, which is what they are for.
OF_THE_SET = {"specimen", "split", "mend", "shift build", "artifacts downsample", "runs export"}
# These write figures, labels and ids, or what another report holds.
OF_FIGURES = {
    "look", "check", "diff", "paste", "artifacts gap", "artifacts classify", "runs list", "runs show", "runs import",
    "runs scores", "runs summarize", "train", "sweep", "studies",
}  # fmt: skip


def test_every_other_command_has_the_option() -> None:
    assert {name for name, each in COMMANDS.items() if "no_texts" not in each.parameters()} == OF_THE_SET | OF_FIGURES


def test_commands_of_figures_write_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    made = Made()
    logs(made, tmp_path)
    _, assign, _ = patterns(made, tmp_path, 1000)
    (tmp_path / "out").mkdir()
    assert run([*assign, "-o", "subsets", "--no-texts"]) == 0
    shutil.copytree("subsets", "out/subsets")
    for at, words in enumerate(
        [
            ["artifacts", "classify", "train.jsonl", "--test", "test.jsonl", "--seeds", "1", "-o", "out/classes"],
            ["artifacts", "gap", "subsets/subsets.parquet", "--runs", "out/classes/runs", "-o", "out/gap"],
            ["runs", "import", "logs", "-o", "out/runs"],
            ["runs", "export", "logs", "--to", "long", "-o", "out/long"],
            ["runs", "export", "logs", "--to", "every_eval_ever", "-o", "out/records"],
            ["runs", "scores", "logs"],
            ["look", "train.jsonl"],
            ["look", "logs"],
        ]
    ):
        is_read = words[0] == "look" or words[1] in ("scores", "classify", "gap")
        assert run([*words, *(["--json", f"out/{at}.json"] if is_read else [])]) == 0
    (tmp_path / "out" / "said.txt").write_text(capfd.readouterr().out, "utf-8")
    assert {name: sorted(texts)[:3] for name, texts in found_in(tmp_path / "out", made).items()} == {}
