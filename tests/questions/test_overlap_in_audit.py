"""Overlap within an audit: the training part and a corpus are searched together."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.core.settings import parse_settings
from tests.overlap.search.corpora import sentence
from tests.questions.test_overlap import other_texts, written
from tests.stated import stated_by, states

if TYPE_CHECKING:
    from pathlib import Path

QUICK = parse_settings({"leakage": {"seeds": 2}})


def pairs(n: int, seed: int) -> list[dict[str, str]]:
    rng = random.Random(seed)
    return [
        {"premise": sentence(rng, 12), "hypothesis": sentence(rng, 8), "label": rng.choice(["yes", "no"])}
        for _ in range(n)
    ]


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def kinds_of_issues(report: goldassay.Report) -> list[str]:
    return [each["kind"] for each in report.to_dict()["issues"]]


def whole(row: dict[str, str]) -> str:
    return f"{row['premise']}\n{row['hypothesis']}"


def test_it_is_asked_with_a_corpus_and_agrees_with_its_command(tmp_path: Path) -> None:
    test = pairs(300, 1)
    train = lines(tmp_path / "train.jsonl", [*pairs(300, 0), *test[:20]])
    path = lines(tmp_path / "test.jsonl", test)
    corpus = written(tmp_path / "corpus.jsonl", [*other_texts(50), *map(whole, test[10:50])])
    report = goldassay.audit(train, path, corpus=corpus, settings=QUICK)
    found = report.to_dict()["overlap"]
    assert report.verdicts["overlap"]["verdict"] == "unsound"
    assert (found["n_found"], found["corpus"]) == (50, "training part and corpus.jsonl")
    assert "test item in the training part or corpus" in kinds_of_issues(report)
    assert report.verdicts["overlap"]["question"] == "Was the test set seen in training?"
    examples = report.tables["examples"]
    assert (examples["overlap_kind"] == "whole item").sum() == 50
    # The training part is none of the corpus' documents.
    only = goldassay.measure_overlap(path, corpus).to_dict()["overlap"]
    assert (found["n_documents"], found["n_bytes"]) == (90, only["n_bytes"])
    assert found["n_documents"] == only["n_documents"]
    rows = lines(tmp_path / "rows.jsonl", [{"text": whole(row)} for row in [*pairs(300, 0), *test[:20]]])
    alone = goldassay.measure_overlap(path, [rows, corpus]).to_dict()["overlap"]
    for name in ("share", "low", "high", "dirty", "partial", "coverage", "union", "kinds"):
        assert alone[name] == found[name], name


def test_of_rows_that_were_set_apart_it_is_not_asked(tmp_path: Path) -> None:
    report = goldassay.audit(lines(tmp_path / "a.jsonl", pairs(300, 0)), settings=QUICK)
    assert report.verdicts["overlap"]["verdict"] == "not asked"
    assert report.verdicts["overlap"]["evidence"] == "Not asked: overlap. Add --test."


def mangled(row: dict[str, str]) -> dict[str, str]:
    """A copy that has no n-gram and no equal text left: every word has a capital, and one letter of the row is lost."""
    return {**row, "premise": row["premise"].title() + ",", "hypothesis": row["hypothesis"][:-1]}


@pytest.mark.parametrize(("n", "verdict"), [(0, "sound"), (10, "caution"), (60, "unsound")])
def test_the_training_part_is_searched_for_near_copies(n: int, verdict: str, tmp_path: Path) -> None:
    """Pairs are too short for n-grams of their own: a letter that is changed hides them from equality, too."""
    test = [{**row, "premise": row["premise"][:30]} for row in pairs(300, 1)]
    train = [*pairs(300, 0), *map(mangled, test[:n])]
    paths = lines(tmp_path / "train.jsonl", train), lines(tmp_path / "test.jsonl", test)
    report = goldassay.audit(*paths, settings=QUICK)
    found = report.to_dict()["overlap"]
    assert (found["n_found"], report.verdicts["overlap"]["verdict"]) == (n, verdict)
    assert found["corpus"] == "training part"
    texts = lines(tmp_path / "rows.jsonl", [{"text": whole(row)} for row in train])
    alone = goldassay.measure_overlap(paths[1], texts, near_copies=True)
    for name in ("share", "low", "high", "dirty", "partial", "coverage", "union", "kinds", "n_found"):
        assert alone.to_dict()["overlap"][name] == found[name], name


def test_a_premise_in_both_parts_is_no_overlap(tmp_path: Path) -> None:
    """Of pairs with a long premise most words are equal by construction."""
    rng = random.Random(7)
    premises = [sentence(rng, 60) for _ in range(100)]
    rows = [
        {"premise": premise, "hypothesis": sentence(rng, 6), "label": rng.choice(["yes", "no"])}
        for premise in premises
        for _ in range(6)
    ]
    train, test = lines(tmp_path / "a.jsonl", rows[::2]), lines(tmp_path / "b.jsonl", rows[1::2])
    report = goldassay.audit(train, test, settings=QUICK)
    found = report.to_dict()["overlap"]
    assert (found["n_found"], report.verdicts["overlap"]["verdict"]) == (0, "sound")
    kinds = {row["kind"]: row["n"] for row in found["kinds"]}
    assert kinds["one part"] == 300


def test_the_same_file_twice_is_unsound(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", [{"premise": "Yes", "hypothesis": f"no {at}", "label": str(at % 2)}
                                        for at in range(200)])  # fmt: skip
    report = goldassay.audit(path, path, settings=QUICK)
    assert (report.verdicts["overlap"]["verdict"], report.to_dict()["overlap"]["share"]) == ("unsound", 1.0)


def test_choices_of_a_training_part(tmp_path: Path) -> None:
    """Questions of a few words, with the choices in another order."""
    rng = random.Random(4)

    def items(n: int) -> list[dict[str, Any]]:
        return [
            {"question": sentence(rng, 4), "choices": [sentence(rng, 3) for _ in range(4)], "answer": rng.randrange(4)}
            for _ in range(n)
        ]

    test = items(150)
    turned = [{**row, "choices": row["choices"][::-1], "answer": 3 - row["answer"]} for row in test[:40]]
    train = lines(tmp_path / "train.jsonl", [*items(100), *turned])
    report = goldassay.audit(train, lines(tmp_path / "test.jsonl", test), settings=QUICK)
    found = report.to_dict()["overlap"]
    assert (found["n_found"], report.verdicts["overlap"]["verdict"]) == (40, "unsound")
    assert "test item in the training part" in kinds_of_issues(report)


def test_a_corpus_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        goldassay.audit("nowhere.jsonl", corpus=tmp_path / "nothing.jsonl")


def test_what_cannot_be_read_leaves_a_doubt(tmp_path: Path) -> None:
    train, test = lines(tmp_path / "a.jsonl", pairs(200, 0)), lines(tmp_path / "b.jsonl", pairs(200, 1))
    corpus = written(tmp_path / "corpus.jsonl", other_texts(50))
    corpus.write_bytes(corpus.read_bytes() + b"{\n")
    report = goldassay.audit(train, test, corpus=corpus, settings=QUICK)
    assert report.verdicts["overlap"]["verdict"] == "unresolved"
    corpus.write_bytes(corpus.read_bytes()[:-2])
    report = goldassay.audit(train, test, corpus=corpus, settings=QUICK)
    assert report.verdicts["overlap"]["verdict"] == "sound"
    said = stated_by(report.verdicts["overlap"])
    assert states(said, "training part", "50 documents", "corpus")
    # Lines without text are so many of the corpus' documents, whatever the training part has.
    corpus.write_bytes(corpus.read_bytes() + b'{"body": ""}\n' * 4)
    report = goldassay.audit(train, test, corpus=corpus, settings=QUICK)
    assert "4 of 54 documents have no text" in stated_by(report.verdicts["overlap"])
    assert report.verdicts["overlap"]["verdict"] == "unresolved"


def test_a_field_that_the_corpus_lacks_leaves_a_doubt(tmp_path: Path) -> None:
    """The training part is no document that has it."""
    train, test = lines(tmp_path / "train.jsonl", pairs(300, 0)), lines(tmp_path / "test.jsonl", pairs(300, 1))
    corpus = lines(tmp_path / "corpus.jsonl", [{"text": whole(row)} for row in pairs(300, 2)])
    report = goldassay.audit(train, test, corpus=corpus, field="txt+text", settings=QUICK)
    verdict = report.verdicts["overlap"]
    assert verdict["verdict"] == "unresolved"
    assert "No document has 'txt'; the fields are 'text'." in stated_by(verdict)


def test_one_named_field_is_searched_in_the_training_part_too(tmp_path: Path) -> None:
    test = pairs(60, 1)
    train = lines(tmp_path / "train.jsonl", [*pairs(60, 0), *test[:10]])
    corpus = lines(tmp_path / "corpus.jsonl", [{"text": "", "body": whole(row)} for row in test[5:20]])
    report = goldassay.audit(train, lines(tmp_path / "test.jsonl", test), corpus=corpus, field="body", settings=QUICK)
    found = report.to_dict()["overlap"]
    # Items 0 to 9 are in the training part, and 5 to 19 in the corpus: 20 of 60.
    assert (found["n_found"], found["share"], found["n_documents"]) == (20, pytest.approx(20 / 60), 15)
    assert report.verdicts["overlap"]["verdict"] == "unsound"


def test_items_with_choices(tmp_path: Path) -> None:
    rng = random.Random(3)
    rows = [
        {"question": sentence(rng, 20), "choices": [sentence(rng, 4) for _ in range(4)], "answer": rng.randrange(4)}
        for _ in range(120)
    ]
    texts = [f"{row['question']} {row['choices'][row['answer']]}" for row in rows[:30]]
    path = lines(tmp_path / "items.jsonl", rows)
    corpus = written(tmp_path / "corpus.jsonl", texts)
    report = goldassay.audit(path, corpus=corpus, settings=QUICK)
    assert report.verdicts["overlap"]["verdict"] == "unsound"
    assert report.to_dict()["overlap"]["n_found"] == 30
    assert (report.tables["examples"]["overlap_kind"] == "question and answer").sum() == 30


@pytest.mark.parametrize(("n", "verdict"), [(0, "sound"), (30, "caution")])
def test_rows_with_their_words_in_another_order_are_a_caution(n: int, verdict: str, tmp_path: Path) -> None:
    rng = random.Random(9)
    test = pairs(300, 1)

    def shuffled(text: str) -> str:
        words = text.split()
        rng.shuffle(words)
        return " ".join(words)

    moved = [
        {**row, "premise": shuffled(row["premise"]), "hypothesis": shuffled(row["hypothesis"])} for row in test[:n]
    ]
    swapped = [{**row, "premise": row["hypothesis"], "hypothesis": row["premise"]} for row in test[40:42]]
    train = lines(tmp_path / "train.jsonl", [*pairs(300, 0), *moved, *swapped])
    report = goldassay.audit(train, lines(tmp_path / "test.jsonl", test), settings=QUICK)
    found = report.to_dict()["overlap"]
    kinds = {row["kind"]: row["n"] for row in found["kinds"]}
    assert (kinds["words in another order"], kinds["texts swapped"], found["n_found"]) == (n, 2, 0)
    assert report.verdicts["overlap"]["verdict"] == verdict
    assert report.verdicts["overlap"]["at_most"] >= n / 300
    # What a terminal shows.
    said = report.verdicts["overlap"]["evidence"]
    assert ("30 items have their words" in said, "2 pairs are there" in said) == (n == 30, True)
    figures = {row["id"]: row for row in report.to_dict()["figures"]}
    assert figures["overlap.reordered"]["value"] == pytest.approx(n / 300)
    assert figures["overlap.reordered_within"]["value"] == 0.0


def test_parts_without_a_shared_text_are_sound_however_few_their_clusters(tmp_path: Path) -> None:
    """As `goldassay split` makes them; one text in both parts leaves it open."""
    rng = random.Random(10)
    premises = [sentence(rng, 12) for _ in range(24)]
    rows = [{**row, "premise": premises[at % 24]} for at, row in enumerate(pairs(480, 5))]
    test = [row for at, row in enumerate(rows) if at % 24 < 12]
    train = [row for at, row in enumerate(rows) if at % 24 >= 12]
    for more, verdict in (([], "sound"), ([{**train[0], "premise": premises[0]}], "unresolved")):
        paths = lines(tmp_path / "train.jsonl", train + more), lines(tmp_path / "test.jsonl", test)
        found = goldassay.audit(*paths, settings=QUICK).verdicts["overlap"]
        assert (found["verdict"], found["at_most"] == 0.0) == (verdict, verdict == "sound")
