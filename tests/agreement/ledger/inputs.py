"""Small files of every kind that commands read, the same bytes each time, and beginnings of real files."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import shutil
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LABELS = ("contradiction", "entailment", "neutral")
FIXTURES = Path(__file__).parents[2] / "runs" / "fixtures"
_ACTS = (("is asleep", "is at home"), ("is outside", "is near a person"), ("is happy today", "waits for a friend"))
_THINGS = (
    "river",
    "stone",
    "window",
    "garden",
    "lamp",
    "paper",
    "market",
    "bridge",
    "candle",
    "forest",
    "engine",
    "mirror",
)
_SETTINGS = """
seed = 5
[artifacts]
min_count = 10
[leakage]
seeds = 2
[verdicts.leakage]
unsound = 0.9
[policy]
max_easy_share = 0.05
max_single_sentence_improvement = 0.9
worst_verdict = "sound"
"artifacts.gain" = { max = 0.5, by = "high", optional = true }
"""
_PLAN = """
models = ["ngram_average"]
train = { made = "in/train.jsonl" }
test = { test = "in/test.jsonl" }
[every]
seeds = 2
changes = { epochs = 1 }
"""
# Of real files: how many lines or rows, after those that are passed over, and the name here.
_REAL: dict[str, tuple[str, int]] = {
    "snli/train_sample_2k.tsv.gz": ("snli-train.tsv", 700),
    "snli/dev.tsv.gz": ("snli-dev.tsv", 200),
    "sick/SICK.txt.gz": ("sick.txt", 400),
    "counterfactual_nli/original_test.tsv.gz": ("counterfactual.tsv", 400),
    "uci_sentiment/sentences.tsv.gz": ("sentences.tsv", 400),
    "anli/ANLI_analysis_r1_dev.csv.gz": ("anli.csv", 150),
    "hans/heuristics_evaluation_set_shuffled.tsv.gz": ("hans.tsv", 300),
    "breaking_nli/dataset.jsonl.gz": ("breaking.jsonl", 200),
    "choices/ARC-Challenge-Dev.jsonl.gz": ("arc.jsonl", 200),
    "choices/openbookqa-test.jsonl.gz": ("openbookqa.jsonl", 200),
    "choices/TruthfulQA.csv.gz": ("truthfulqa.csv", 120),
    "choices/socialiqa-dev.jsonl.gz": ("socialiqa.jsonl", 150),
    "choices/logiqa-Test.txt.gz": ("logiqa.txt", 640),
    "choices/winogrande-validation.parquet": ("winogrande.parquet", 150),
    "preferences/hh-harmless-test.jsonl.gz": ("hh.jsonl", 150),
    "preferences/llmbar-judgments.parquet": ("llmbar.parquet", 400),
    "preferences/judgebench-gpt-4o-decisions.parquet": ("judgebench.parquet", 200),
    "boards/gsm8k-example_model_solutions.jsonl.gz": ("gsm8k-solutions.jsonl", 100),
    "boards/swebench-verified-minisweagent-long.parquet": ("swebench.parquet", 2000),
    "boards/mmlu-pro-predictions.parquet": ("mmlu-pro.parquet", 200),
    "boards/snli-3seeds-predictions.parquet": ("snli-seeds.parquet", 3000),
    "corpora/gsm8k-test.jsonl.gz": ("gsm8k-test.jsonl", 120),
    "corpora/gsm8k-train.jsonl.gz": ("gsm8k-train.jsonl", 300),
    "prompts/metabench-pythia14m-permuted.parquet": ("metabench.parquet", 645),
    "predictions/instability_bert_base/snli.preds.tsv.gz": ("snli-preds.tsv", 200),
    "klue/klue-sts-v1.1_dev.json.gz": ("klue-sts.json", 60),
}
_MOST_BYTES = 3_000_000


def write_inputs(folder: Path, data: Path) -> str:
    """Write all inputs, and give a digest of their names and bytes.

    Args:
        folder: Where they go.
        data: The folder of real files; without it their beginnings are left out.
    """
    for part in ("board", "corpus", "runs"):
        (folder / part).mkdir(parents=True)
    _pairs(folder)
    _texts(folder)
    _choices(folder)
    _opinions(folder)
    _runs(folder)
    _boards(folder)
    _broken(folder)
    shutil.copytree(FIXTURES, folder / "logs", ignore=shutil.ignore_patterns("*.py", "*.md"))
    (folder / "policy.toml").write_text(_SETTINGS)
    (folder / "plan.toml").write_text(_PLAN)
    (folder / "bad.toml").write_text("[policy]\nmax_eazy_share = 0.1\n")
    if data.is_dir():
        (folder / "real").mkdir()
        for source, (name, n) in _REAL.items():
            _beginning(data / source, folder / "real" / name, n)
    digest = hashlib.sha256()
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def lines(rows: Iterable[Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def pair_rows(n: int, name: str, seed: int, *, told: float = 0.67, place: str = "street") -> list[dict[str, Any]]:
    """Pairs of which the hypothesis gives the label away in this share, of premises that others share."""
    draw = random.Random(seed)
    made = []
    for at in range(n):
        gold = draw.randrange(3)
        act = draw.choice(_ACTS[gold if draw.random() < told else draw.randrange(3)])
        made.append(
            {
                "id": f"{name}-{at}",
                "premise": f"A person in coat {draw.randrange(n // 4)} walks along the {place}.",
                "hypothesis": f"Somebody with {draw.randrange(60)} coins {act}.",
                "label": LABELS[gold],
                "genre": ("fiction", "travel", "letters")[at % 3],
            }
        )
    return made


def _pairs(folder: Path) -> None:
    train, test = pair_rows(400, "train", 0), pair_rows(96, "test", 1)
    far = [{**row, "id": f"far-{at}"} for at, row in enumerate(pair_rows(60, "far", 2, place="shore"))]
    far[:3] = [{**row, "id": f"far-{at}"} for at, row in enumerate(train[:3])]
    for name, rows in (("train", train), ("test", test), ("far", far)):
        (folder / f"{name}.jsonl").write_bytes(lines(rows))
    frame = pl.DataFrame(train)
    frame.write_csv(folder / "train.csv")
    frame.write_parquet(folder / "train.parquet")
    frame.write_ipc(folder / "train.arrow")
    (folder / "train.jsonl.gz").write_bytes(gzip.compress(lines(train), mtime=0))
    (folder / "train.json").write_text(json.dumps(train))
    (folder / "clean.jsonl").write_bytes(lines(pair_rows(400, "train", 3, told=0.0)))
    other = {"premise": "first", "hypothesis": "second", "label": "answer", "id": "uid"}
    frame.rename(other).write_csv(folder / "renamed.tsv", separator="\t")
    # Rows decided about are named by their content, as docs/view.md says; the second one's label is wrong.
    decided = []
    for row, word in zip(test[:3], ({"decision": "drop"}, {"decision": "relabel", "label": "neutral"},
                                    {"decision": "note", "note": "odd"}), strict=True):  # fmt: skip
        content = json.dumps({key: row[key] for key in ("hypothesis", "label", "premise")}, separators=(",", ":"))
        decided.append({"key": hashlib.sha256(content.encode()).hexdigest()[:32], "id": row["id"], **word})
    (folder / "test.decisions.jsonl").write_bytes(lines(decided))
    (folder / "lost.decisions.jsonl").write_bytes(lines([{"key": "0" * 32, "id": "test-1", "decision": "drop"}]))
    gold = np.array([LABELS.index(row["label"]) for row in test])
    rng = np.random.default_rng(4)
    vectors = rng.normal(size=(len(test), 8)) + 2.0 * (gold == 1)[:, np.newaxis]
    np.save(folder / "vectors.npy", vectors)
    shares = np.exp(rng.normal(size=(len(test), 3)) + 1.5 * np.eye(3)[gold])
    shares /= shares.sum(axis=1, keepdims=True)
    named = {label: shares[:, at] for at, label in enumerate(LABELS)}
    pl.DataFrame({"id": [row["id"] for row in test], **named}).write_csv(folder / "shares.csv")


def _texts(folder: Path) -> None:
    draw = random.Random(5)

    def rows(n: int) -> list[dict[str, str]]:
        made = []
        for at in range(n):
            good = draw.random() < 0.55
            words = [*draw.sample(_THINGS, 4), draw.choice(("fine", "bright") if good else ("dull", "broken"))]
            words[-1:] = words[-1:] if draw.random() < 0.5 else [draw.choice(_THINGS)]
            made.append({"text": f"The {' '.join(words)} number {at % 90}.", "label": ("bad", "good")[good]})
        return made

    train = rows(300)
    pl.DataFrame(train).write_csv(folder / "reviews.tsv", separator="\t")
    pl.DataFrame(rows(80)).write_csv(folder / "reviews-test.tsv", separator="\t")
    bare = "".join(f"{row['text']}\t{row['label']}\n" for row in train)
    (folder / "headerless.tsv").write_text(bare)
    (folder / "numbers.jsonl").write_bytes(
        lines({"text": row["text"], "score": at % 5 / 4} for at, row in enumerate(train))
    )
    # Documents in which some test questions and texts stand.
    documents = [{"text": " ".join(draw.choices(_THINGS, k=60))} for _ in range(40)]
    asked = _asked(60)
    for at in range(8):
        choices, gold = asked[at]["choices"], asked[at]["answer"]
        documents[at]["text"] += f" {asked[at]['question']} The answer is {choices[gold]} " + documents[at]["text"]
    (folder / "corpus" / "documents.jsonl").write_bytes(lines(documents))
    (folder / "corpus.txt").write_text("\n".join(row["text"] for row in documents))
    pl.DataFrame(documents).rename({"text": "content"}).write_parquet(folder / "corpus.parquet")


def _asked(n: int) -> list[dict[str, Any]]:
    """Questions with four choices, of which the longest is right too often."""
    draw = random.Random(6)
    made = []
    for at in range(n):
        gold = draw.randrange(4)
        choices = [f"the {' '.join(draw.sample(_THINGS, 3))} of {at}" for _ in range(4)]
        if draw.random() < 0.7:
            choices[gold] += f" that stands beside the {draw.choice(_THINGS)} and nowhere else"
        words = " ".join(draw.sample(_THINGS, 5))
        made.append(
            {"id": f"q{at}", "question": f"In which place of town number {at} does the {words} belong to people?",
             "choices": choices, "answer": gold, "subject": ("law", "art")[at % 2]}
        )  # fmt: skip
    return made


def _choices(folder: Path) -> None:
    rows = _asked(120)
    (folder / "choices.jsonl").write_bytes(lines(rows))
    pl.DataFrame(rows).write_parquet(folder / "choices.parquet")
    (folder / "choices-train.jsonl").write_bytes(lines(rows[60:]))
    (folder / "questions.jsonl").write_bytes(lines(rows[:60]))
    (folder / "named.jsonl").write_bytes(
        lines(
            {"id": row["id"], "question": {"stem": row["question"], "choices": [
                {"text": text, "label": "ABCD"[at]} for at, text in enumerate(row["choices"])]},
             "answerKey": "ABCD"[row["answer"]]}
            for row in rows
        )
    )  # fmt: skip
    columns = [{"question": row["question"], **dict(zip("ABCD", row["choices"], strict=True)),
                "answer": "ABCD"[row["answer"]]} for row in rows]  # fmt: skip
    pl.DataFrame(columns).write_csv(folder / "lettered.csv")
    pl.DataFrame(columns).write_csv(folder / "mmlu.csv", include_header=False)
    piqa = ({"goal": row["question"], "sol1": row["choices"][0], "sol2": row["choices"][1], "label": row["answer"] % 2}
            for row in rows)  # fmt: skip
    (folder / "piqa.jsonl").write_bytes(lines(piqa))
    science = ({"question": row["question"], "correct_answer": row["choices"][row["answer"]], "support": "",
                **{f"distractor{at}": text for at, text in enumerate(row["choices"][:3], 1)}}
               for row in rows)  # fmt: skip
    (folder / "sciq.jsonl").write_bytes(lines(science))
    flawed = [dict(row) for row in rows[:40]]
    flawed[2]["answer"] = 9
    flawed[5]["choices"] = [flawed[5]["choices"][0]] * 4
    (folder / "flawed.jsonl").write_bytes(lines(flawed))


def _opinions(folder: Path) -> None:
    """Preferences and judgments."""
    rows, draw = _asked(120), random.Random(7)
    pairs = [{"prompt": row["question"], "chosen": row["choices"][row["answer"]],
              "rejected": row["choices"][row["answer"] - 1]} for row in rows]  # fmt: skip
    pl.DataFrame(pairs).write_csv(folder / "preferences.csv")
    chats = ({side: [{"role": "user", "content": pair["prompt"]}, {"role": "assistant", "content": pair[side]}]
              for side in ("chosen", "rejected")} for pair in pairs)  # fmt: skip
    (folder / "chats.jsonl").write_bytes(lines(chats))
    sides = ({"input": pair["prompt"], "output_1": pair["chosen"], "output_2": pair["rejected"], "label": 1 + at % 2}
             for at, pair in enumerate(pairs))  # fmt: skip
    (folder / "sides.jsonl").write_bytes(lines(sides))
    ties = ({"prompt": pair["prompt"], "response_a": pair["chosen"], "response_b": pair["rejected"], "label": at % 3}
            for at, pair in enumerate(pairs))  # fmt: skip
    (folder / "ties.jsonl").write_bytes(lines(ties))
    judged = [
        {"item": at, "judge": judge, "order": order, "verdict": "A" if draw.random() < lean else "B",
         "human": "AB"[at % 2], "response_a": pair["chosen"], "response_b": pair["rejected"]}
        for at, pair in enumerate(pairs[:60])
        for judge, lean in (("x", 0.7), ("y", 0.5))
        for order in ("original", "swapped")
    ]  # fmt: skip
    (folder / "judged.jsonl").write_bytes(lines(judged))
    swapped = [{"item": at, "winner_unswapped": 1 + (draw.random() < 0.4), "winner_swapped": 1 + (draw.random() < 0.5)}
               for at in range(80)]  # fmt: skip
    pl.DataFrame(swapped).write_csv(folder / "swapped.csv")


def _answers(rows: Sequence[dict[str, Any]], dataset: str, level: float) -> list[dict[str, Any]]:
    """Rows of a long table: two models, four seeds."""
    draw = random.Random(f"{dataset}{level}")
    made = []
    for model, skill in (("a", level), ("b", level - 0.15)):
        for seed in range(4):
            run_skill = skill + draw.gauss(0, 0.04)
            for at, row in enumerate(rows):
                right = draw.random() < run_skill + (0.1 if at % 3 else -0.2)
                gold = LABELS.index(row["label"])
                said = gold if right else (gold + draw.choice((1, 2))) % 3
                made.append(
                    {"model": model, "seed": seed, "dataset": dataset, "example_id": row["id"], "label": row["label"],
                     "prediction": LABELS[said], "group_genre": row["genre"],
                     "logits": [round(draw.gauss(2.0 * (each == said), 0.7), 4) for each in range(3)]}
                )  # fmt: skip
    return made


def _runs(folder: Path) -> None:
    test, far = (pl.read_ndjson(folder / f"{name}.jsonl").to_dicts() for name in ("test", "far"))
    own, other = pl.DataFrame(_answers(test, "test", 0.8)), pl.DataFrame(_answers(far, "far", 0.6))
    bare = own.drop("logits")
    bare.write_csv(folder / "runs" / "test.csv")
    other.drop("logits").write_csv(folder / "runs" / "far.csv")
    own.write_parquet(folder / "scored.parquet")
    other.write_parquet(folder / "far-scored.parquet")
    bare.write_ndjson(folder / "long.jsonl")
    bare.filter(pl.col("model") == "a").write_csv(folder / "a.csv")
    bare.filter(pl.col("model") == "b").write_csv(folder / "b.csv")
    first = bare.filter(pl.col("model") == "a")
    wide = first.pivot(on="seed", index=["example_id", "label"], values="prediction")
    wide.rename({name: f"seed_{name}" for name in wide.columns[2:]}).write_csv(folder / "wide.csv")
    codes = np.array([LABELS.index(said) for said in first["prediction"]]).reshape(4, -1)
    gold = np.array([LABELS.index(row["label"]) for row in test])
    logits = np.array(own.filter(pl.col("model") == "a")["logits"].to_list()).reshape(4, -1, 3)
    np.savez(folder / "arrays.npz", predictions=codes, gold=gold, logits=logits)
    steps = pl.concat(
        bare.with_columns(
            checkpoint=pl.lit(step),
            prediction=pl.when(pl.int_range(pl.len()) % 7 < lost).then(pl.lit(LABELS[0])).otherwise("prediction"),
        )
        for step, lost in ((10, 3), (20, 1), (30, 0))
    )
    steps.write_parquet(folder / "checkpoints.parquet")
    scores = first.select("seed", "example_id", score=(pl.col("label") == pl.col("prediction")).cast(pl.Int8))
    scores.write_ndjson(folder / "scores.jsonl")
    scores.with_columns(score=1 + pl.int_range(pl.len()) * 7 % 5).write_csv(folder / "grades.csv")
    configured = [
        {"example_id": row["id"], "seed": seed, "config_prompt": prompt, "model": "a", "label": row["label"],
         "prediction": row["label"] if (at * 7 + seed * 3 + lost) % 10 > lost else LABELS[at % 3]}
        for lost, prompt in enumerate(("plain", "cot", "few")) for seed in range(2) for at, row in enumerate(test)
    ]  # fmt: skip
    (folder / "configured.jsonl").write_bytes(lines(configured))
    (folder / "array.json").write_text(json.dumps(first.to_dicts()))
    unread = first.with_columns(prediction=pl.when(pl.int_range(pl.len()) % 5 > 0).then("prediction"))
    unread.write_ndjson(folder / "unread.jsonl")
    bare.filter(~((pl.col("seed") == 1) & (pl.col("example_id") == "test-3"))).write_csv(folder / "uneven.csv")
    classes = [{"example_id": row["id"], "class": "easy" if at % 3 else "hard"} for at, row in enumerate(test)]
    pl.DataFrame(classes).write_csv(folder / "classes.csv")


def _boards(folder: Path) -> None:
    draw = random.Random(8)
    items = [f"i{at}" for at in range(80)]
    right = {
        f"system {at}": [int(draw.random() < skill) for _ in items] for at, skill in enumerate((0.8, 0.75, 0.6, 0.3))
    }
    wide = pl.DataFrame({"item": items, **right})
    wide.write_csv(folder / "board.csv")
    long = wide.unpivot(index="item", variable_name="system", value_name="score")
    long.write_parquet(folder / "board.parquet")
    long.filter(pl.int_range(pl.len()) % 37 > 0).write_ndjson(folder / "holes.jsonl")
    for name, own in right.items():
        place = folder / "board" / name / "results"
        place.mkdir(parents=True)
        solved = [item for item, score in zip(items, own, strict=True) if score]
        (place / "results.json").write_text(json.dumps({"resolved": solved, "generated": items}))


def _broken(folder: Path) -> None:
    place = folder / "broken"
    place.mkdir()
    rows = pair_rows(60, "row", 9)
    good, answers = lines(rows), _answers(rows, "d", 0.8)
    for answer in answers:
        del answer["logits"]
    table = pl.DataFrame(rows)
    table.write_parquet(place / "whole.parquet")
    contents = {
        "cut.jsonl": good[:-20],
        "cut.json": json.dumps(rows).encode()[:-9],
        "cut.jsonl.gz": gzip.compress(good, mtime=0)[:-30],
        "cut.parquet": (place / "whole.parquet").read_bytes()[:-50],
        "empty.jsonl": b"",
        "blank.csv": b"\n\n\n",
        "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        "page.csv": b"<!DOCTYPE html><html><body>404 not found</body></html>\n",
        "pointer.jsonl": b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12345\n",
        "unknown.jsonl": lines({"alpha": row["id"], "beta": at} for at, row in enumerate(rows)),
        "mixed.jsonl": lines([*rows, 3]),
        "list-label.jsonl": lines({**row, "label": [at % 3, 1]} for at, row in enumerate(rows)),
        "object-label.jsonl": lines({**row, "label": {"value": at % 3}} for at, row in enumerate(rows)),
        "nan-label.jsonl": lines({**row, "label": float("nan")} for row in rows),
        "one-label.jsonl": lines({**row, "label": "x"} for row in rows),
        "no-text.jsonl": lines({**row, "premise": "", "hypothesis": ""} for row in rows),
        "twice.jsonl": lines([*answers, *answers]),
        "large-score.jsonl": lines({"seed": 0, "example_id": at, "score": 7.5} for at in range(20)),
        "ragged.jsonl": lines({"seed": 0, "example_id": at, "logits": [0.5] * (1 + at % 3)} for at in range(20)),
        "foreign-label.jsonl": lines(
            {**row, "prediction": "maybe"} if at == 4 else row for at, row in enumerate(answers)
        ),
        "ragged.csv": b"premise,hypothesis,label\n" + b"a,b,x,d\n" * 15,
        "latin-1.csv": table.write_csv().replace("person", "p\xe9rson").encode("latin-1"),
        "harness.json": b'{"results": {"x": 3}, "configs": [], "samples": {"x": [1]}}',
        "report.json": b'{"schema_version": 2, "verdicts": {"art',
        "decisions.jsonl": lines([{"key": "x", "id": "y", "decision": "maybe"}]),
        "plan.toml": b"models = ['nope']\ntrain = {a = 'in/train.jsonl'}\ntest = {a = 'in/test.jsonl'}\n",
    }
    for name, content in contents.items():
        (place / name).write_bytes(content)
    np.savez(place / "lengths.npz", predictions=np.zeros((3, 20), int), gold=np.zeros(19, int))
    with tarfile.open(place / "rows.tar", "w") as archive:
        archive.add(place / "cut.jsonl", "cut.jsonl", filter=_without_clock)


def _without_clock(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.mtime = 0
    return member


def _beginning(source: Path, place: Path, n: int) -> None:
    """Write the first lines, rows or elements of a file, unpacked; nothing where it is missing."""
    if not source.is_file():
        return
    if place.suffix == ".parquet":
        pl.read_parquet(source, n_rows=n).write_parquet(place)
    elif place.suffix == ".json":
        place.write_text(json.dumps(json.loads(gzip.decompress(source.read_bytes()))[:n]), encoding="utf-8")
    else:
        with gzip.open(source) as file:
            place.write_bytes(b"".join(file.readlines(_MOST_BYTES)[:n]))
