"""What the documentation's commands find in the folder they are run in: small files of the kind a reader has."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.data.decisions import Decision, append_decision, decisions_beside
from goldassay.data.reading import read_dataset
from goldassay.data.row_keys import content_columns, keys_of
from goldassay.runs.runs import Runs
from goldassay.runs.specimen import write_specimen
from goldassay.runs.store import write_runs
from goldassay.view.opening import open_workbench
from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FIXTURES = ROOT / "tests" / "runs" / "fixtures"
_CLAIMS = (("makes music", "yes"), ("sleeps at home", "no"), ("holds a guitar", "yes"), ("is under water", "no"))


def provide(what: str, folder: Path, page: Path) -> None:
    """Put into the folder what a mark names."""
    place, sign, fixture = what.partition("=")
    if not sign:
        _MAKERS[what](folder, page)
        return
    source, target = FIXTURES / fixture, folder / place
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy(source, target)


def _data(folder: Path, page: Path) -> None:
    """train.jsonl, dev.jsonl, test.jsonl: a small specimen."""
    write_specimen(folder, size=2000, test_size=200)


def _policy(folder: Path, page: Path) -> None:
    """goldassay.toml: the page's own settings."""
    (folder / "goldassay.toml").write_text(page.read_text("utf-8").split("```toml\n")[1].split("```")[0])


def _parts(folder: Path, page: Path) -> None:
    """part-0.jsonl, part-1.jsonl: a dataset in two files."""
    _data(folder, page)
    for i, name in enumerate(("train", "test")):
        shutil.move(folder / f"{name}.jsonl", folder / f"part-{i}.jsonl")


def _reviews(folder: Path, page: Path) -> None:
    """reviews.csv, whose first rows are those of the page."""
    people = [f"{who} {number}" for number in range(60) for who in ("A man", "A woman")]
    rows = [
        (f"{who} plays a guitar on stage.", f"{'Nobody' if answer == 'no' and i % 3 else who} {claim}.", answer)
        for i, who in enumerate(people)
        for claim, answer in _CLAIMS
    ]
    rows[:2] = [
        ("A man plays a guitar on stage.", "A man makes music.", "yes"),
        ("A man plays a guitar on stage.", "Nobody makes music.", "no"),
    ]
    frame = pl.DataFrame(rows, ["first", "second", "answer"], orient="row")
    frame.with_columns(uid="r" + pl.int_range(1, len(rows) + 1).cast(pl.String)).select(
        "uid", "first", "second", "answer"
    ).write_csv(folder / "reviews.csv")


def _decided(folder: Path, page: Path) -> None:
    """reviews.jsonl, with decisions about some of its rows, and predictions.csv, what a model said of them."""
    rows = [{"id": f"r{i}", "text": f"review {i}", "label": "good" if i % 2 else "bad"} for i in range(6)]
    file = folder / "reviews.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    dataset = read_dataset(file)
    keys = keys_of(dataset.examples, content_columns(dataset))
    for at, (word, label) in enumerate((("drop", ""), ("relabel", "bad"), ("rewrite", ""))):
        append_decision(decisions_beside(file), Decision(keys[at], f"r{at}", word, label))
    answers = pl.DataFrame({"example_id": [row["id"] for row in rows], "prediction": ["good"] * len(rows)})
    answers.write_csv(folder / "predictions.csv")


def _predictions(folder: Path, page: Path) -> None:
    """predictions.csv and others.csv of two models, with the dataset they are of."""
    _reviews(folder, page)
    rows = pl.read_csv(folder / "reviews.csv").rename({"first": "premise", "second": "hypothesis", "answer": "label"})
    rows = rows.with_columns(id="e" + pl.int_range(1, len(rows) + 1).cast(pl.String)).drop("uid")
    rows.tail(-100).write_csv(folder / "train.csv")
    test = rows.head(100)
    test.write_csv(folder / "test.csv")
    rng = np.random.default_rng(0)
    labels = test["label"].to_numpy()
    for name, share in (("predictions", 0.8), ("others", 0.85)):
        parts = []
        for seed in range(5):
            right = rng.random(len(labels)) < share
            right[:3] = (True, False, True)
            guesses = np.where(right, labels, np.where(labels == "yes", "no", "yes"))
            # The page shows the first three.
            shown = ["yes", "no", "yes", *labels[3:].tolist()]
            guesses[:3] = ["yes", "yes", "yes"]
            parts.append(pl.DataFrame({"seed": seed, "example_id": test["id"], "label": shown, "prediction": guesses}))
        pl.concat(parts).write_csv(folder / f"{name}.csv")


def _plan(folder: Path, page: Path) -> None:
    """The page's own plan.toml, and the data it names."""
    _data(folder, page)
    found = re.search(r"```toml\n# plan.toml\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    assert found, f"{page} shows no plan.toml"
    (folder / "plan.toml").write_text(found[1], "utf-8")


def _two_datasets(folder: Path, page: Path) -> None:
    """predictions/, results/ and runs/: ten runs on two datasets, of which one has groups that flip as a whole."""
    rng = np.random.default_rng(0)
    hans = rng.random((10, 300)) < 0.6
    hans[:, :60] = (rng.random((10, 1)) < 0.5) ^ (rng.random((10, 60)) < 0.1)
    groups = {"subcase": np.repeat(["one", "two", "three", "four", "five"], 60)}
    for place in ("predictions", "results", "runs"):
        shutil.rmtree(folder / place, ignore_errors=True)
        for name, scores, of in (("mnli", rng.random((10, 400)) < 0.8, {}), ("hans", hans, groups)):
            write_runs(Runs.from_arrays(scores=scores, model="bert", dataset=name, groups=of), folder / place)


def _dropped(folder: Path, page: Path) -> None:
    """logs/a and logs/b: samples of the lm-evaluation-harness, of which a filter could not read a quarter of b's."""
    rng = np.random.default_rng(0)
    for name, share, unread in (("a", 0.70, 0.0), ("b", 0.80, 0.25)):
        place = folder / "logs" / name
        place.mkdir(parents=True, exist_ok=True)
        right, lost = rng.random(200) < share, rng.random(200) < unread
        lines = [
            {"doc_id": i, "doc": {}, "target": "7", "resps": [[f"it is {7 if own else 8}"]], "filter": "strict",
             "filtered_resps": ["[invalid]" if gone else str(7 if own else 8)], "metrics": ["exact_match"],
             "exact_match": float(own and not gone)}
            for i, (own, gone) in enumerate(zip(right.tolist(), lost.tolist(), strict=True))
        ]  # fmt: skip
        mean = sum(line["exact_match"] for line in lines) / len(lines)  # type: ignore[misc]
        (place / "samples_sums_2026-01-01T00-00-00.000000.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
        told = {"results": {"sums": {"exact_match,strict": mean}}, "model_name": name,
                "config": {"model": "hf", "model_args": f"pretrained={name}"}}  # fmt: skip
        (place / "results_2026-01-01T00-00-00.000000.json").write_text(json.dumps(told), "utf-8")


def _two_models(folder: Path, page: Path) -> None:
    """runs/bert and runs/roberta on one test set whose premises recur, and test.jsonl with its texts."""
    rng = np.random.default_rng(0)
    ids = [f"e{i}" for i in range(200)]
    rows = [
        {"id": name, "premise": f"Premise {i // 4}.", "hypothesis": f"Claim {i}.", "label": "yes" if i % 2 else "no"}
        for i, name in enumerate(ids)
    ]
    (folder / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    gold = np.array([row["label"] for row in rows])
    shutil.rmtree(folder / "runs", ignore_errors=True)
    for model, share in (("bert", 0.7), ("roberta", 0.75)):
        guesses = np.where(rng.random((5, 200)) < share, gold, np.where(gold == "yes", "no", "yes"))
        runs = Runs.from_arrays(predictions=guesses, gold=gold, example_ids=ids, model=model, dataset="hans")
        write_runs(runs, folder / "runs" / model)


def _prompts(folder: Path, page: Path) -> None:
    """prompts: runs of one model with two prompts, two seeds each."""
    rng = np.random.default_rng(0)
    for prompt, share in (("cot", 0.75), ("plain", 0.4)):
        runs = Runs.from_arrays(
            scores=(rng.random((2, 200)) < share).astype(float),
            model="mock",
            dataset="mcq",
            configuration={"prompt": prompt, "shots": 5},
        )
        write_runs(runs, folder / "prompts")


def _many_prompts(folder: Path, page: Path) -> None:
    """prompts: runs of one model with six prompts, three seeds each."""
    rng = np.random.default_rng(0)
    for place, prompt in enumerate(("plain", "polite", "cot", "role", "list", "short")):
        runs = Runs.from_arrays(
            scores=(rng.random((3, 500)) < 0.55 + 0.04 * place).astype(float),
            model="mock",
            dataset="mcq",
            configuration={"prompt": prompt, "shots": 5},
        )
        write_runs(runs, folder / "prompts")


def _board(folder: Path, page: Path) -> None:
    """board.csv: three systems on 300 items, two of them alike."""
    rng = np.random.default_rng(0)
    need = rng.random(300)
    scores = {"large": need < 0.9, "middle": need < 0.6, "small": rng.permutation(need) < 0.6}
    columns = {name: own.astype(int).tolist() for name, own in scores.items()}
    pl.DataFrame({"item": [f"i{at}" for at in range(300)], **columns}).write_csv(folder / "board.csv")


def _corpus(folder: Path, page: Path) -> None:
    """test.jsonl: 400 questions with answers; corpus.jsonl: 2,000 documents, which have nine of them."""
    rng = np.random.default_rng(0)
    words = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("n", "rt", "ck")]
    texts = [" ".join(rng.choice(words, size).tolist()) for size in rng.integers(10, 40, 800)]
    items = [{"question": f"{text}?", "answer": answer} for text, answer in zip(texts[::2], texts[1::2], strict=True)]
    (folder / "test.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
    documents = [" ".join(rng.choice(words, size).tolist()) for size in rng.integers(20, 200, 2000)]
    for place, item in enumerate(items[:9]):
        documents[200 * place] += f"\nQuestion: {item['question'].upper()}\nAnswer: {item['answer']}"
    documents[1] += items[9]["question"]
    (folder / "corpus").mkdir(exist_ok=True)
    lines = "".join(json.dumps({"id": place, "text": text}) + "\n" for place, text in enumerate(documents))
    (folder / "corpus" / "part-0.jsonl").write_text(lines, "utf-8")


def _lone_evidence(folder: Path, page: Path) -> None:
    """test.jsonl, and of its hypotheses cls.npz with embeddings and p.csv with the probabilities of all labels."""
    _data(folder, page)
    rng = np.random.default_rng(0)
    test = pl.read_ndjson(folder / "test.jsonl")
    np.savez(folder / "cls.npz", hypothesis=rng.normal(size=(len(test), 8)), id=test["id"].to_numpy().astype(str))
    p = rng.dirichlet((1, 1, 1), len(test))
    names = ("entailment", "neutral", "contradiction")
    pl.DataFrame({"id": test["id"], **{name: p[:, at] for at, name in enumerate(names)}}).write_csv(folder / "p.csv")


def _refusals(folder: Path, page: Path) -> None:
    """The specimen, reviews.csv, and files that are refused: free answers, codes, damage, grades, a typing error."""
    _data(folder, page)
    _reviews(folder, page)
    rows = {
        "free.jsonl": [{"question": f"What is {i} + {i}?", "answer": str(2 * i)} for i in range(40)],
        "prefs.jsonl": [
            {"prompt": f"q {i}", "response_a": f"yes {i}", "response_b": f"no {i}", "preference": i % 3}
            for i in range(40)
        ],
        "cut.jsonl": [{"text": f"review {i}", "label": "good" if i % 2 else "bad"} for i in range(40)],
    }
    for name, lines in rows.items():
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    with (folder / "cut.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"text": "cut off, "lab')
    grades = [{"system": name, "item": f"i{i}", "score": 1 + i % 5} for name in ("a", "b") for i in range(30)]
    pl.DataFrame(grades).write_csv(folder / "grades.csv")
    typed = {"item": [f"i{i}" for i in range(30)], "a": ["1"] * 30, "b": ["yess" if i == 7 else "1" for i in range(30)]}
    pl.DataFrame(typed).write_csv(folder / "typo.csv")


def _judged(folder: Path, page: Path) -> None:
    """scores.csv: a judge that accepts too much, and people's labels of a sample of known size."""
    rng = np.random.default_rng(1)
    people = rng.random(4000) < 0.714
    judge = rng.random(4000) < np.where(people, 0.95, 0.56)
    known = rng.permutation(4000) < 1200
    frame = pl.DataFrame({"item": range(4000), "judge": judge.astype(int), "human": people.astype(int)})
    frame.with_columns(
        pl.when(pl.Series(known)).then("human").alias("human"), sampling_probability=pl.lit(1200 / 4000)
    ).write_csv(folder / "scores.csv")


def _answered_items(folder: Path, page: Path) -> None:
    """items.jsonl and answers.csv: choices, four with a wrong key, which all of fourteen systems answer rightly."""
    rng = np.random.default_rng(0)
    right, n = rng.integers(0, 4, 600), 600
    wrong = np.arange(n) % 150 == 4
    key = np.where(wrong, (right + 1) % 4, right)
    words = rng.permutation(n * 6)
    items = [
        {"id": f"i{at}", "question": f"Which word stands for {words[at]}?",
         "choices": [f"word {words[n + 4 * at + place]}" for place in range(4)], "answer": "ABCD"[key[at]]}
        for at in range(n)
    ]  # fmt: skip
    (folder / "items.jsonl").write_text("".join(json.dumps(each) + "\n" for each in items), "utf-8")
    skill = np.linspace(0.5, 0.9, 14)
    answers = {
        f"s{at}": np.where(wrong | (rng.random(n) < share), right, rng.integers(0, 4, n))
        for at, share in enumerate(skill)
    }
    columns = {name: ["ABCD"[code] for code in given] for name, given in answers.items()}
    pl.DataFrame(
        {"id": [each["id"] for each in items], "answer": [each["answer"] for each in items], **columns}
    ).write_csv(folder / "answers.csv")


def _decided_items(folder: Path, page: Path) -> None:
    """items.decisions.jsonl: for each disputed key of the report before the answer that the systems agree on."""
    bench = open_workbench(folder / "report")
    for row in bench.table.rows(bench.selector.select(bench.state("f.suspect=disputed+key")).rows):
        decision = Decision(bench.table.key(row), row["example_id"], "relabel", row["suggested"])
        append_decision(folder / "items.decisions.jsonl", decision)


_MAKERS = {
    "refusals": _refusals,
    "lone_evidence": _lone_evidence,
    "corpus": _corpus,
    "board": _board,
    "dropped": _dropped,
    "decided": _decided,
    "policy": _policy,
    "data": _data,
    "parts": _parts,
    "reviews": _reviews,
    "predictions": _predictions,
    "plan": _plan,
    "two_datasets": _two_datasets,
    "two_models": _two_models,
    "prompts": _prompts,
    "many_prompts": _many_prompts,
    "judged": _judged,
    "answered_items": _answered_items,
    "decided_items": _decided_items,
}
