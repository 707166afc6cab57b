"""Test sets of published benchmarks, searched for in their training files and in corpora: the table of docs/overlap.md.

    GOLDASSAY_DATA=DIR python -m benchmarks.overlap_sets [--only NAME]

Labelled pairs and texts are searched as an audit searches its training part, for n-grams of 13 and near copies; items
with choices and free answers in corpora by n-grams of 13, and of 8. Prints one row of the table a line, and how many
items with published labels of contamination are covered.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import random
import re
import tarfile
import tempfile
import textwrap
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import goldassay
from goldassay.core.numbers import count, percent
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings
from goldassay.kernels.words import words_of
from goldassay.questions.overlap.items import read_items
from goldassay.questions.overlap.measures import COUNTED, MOVED
from goldassay.questions.overlap.question import search_for
from goldassay.questions.overlap.search.scan import CorpusChoice
from goldassay.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(os.environ.get("GOLDASSAY_DATA", "../shared/data"))
Pair = tuple[pl.DataFrame, pl.DataFrame]


def table(name: str, *columns: str, label: str = "gold_label") -> pl.DataFrame:
    """Texts and labels of a table with tabs."""
    frame = pl.read_csv(DATA / name, separator="\t", quote_char=None, infer_schema=False)
    roles = ("premise", "hypothesis") if len(columns) == 2 else ("text",)
    chosen = [pl.col(column).fill_null("").alias(role) for column, role in zip(columns, roles, strict=True)]
    return frame.select(*chosen, label=pl.col(label).fill_null(""))


def sick() -> Pair:
    """Rows of one file by their column SemEval_set."""
    frame = pl.read_csv(DATA / "sick/SICK.txt.gz", separator="\t", quote_char=None, infer_schema=False)
    rows = frame.select("SemEval_set", premise="sentence_A", hypothesis="sentence_B", label="entailment_label")
    part = pl.col("SemEval_set").str.strip_chars()
    return rows.filter(part == "TEST").drop("SemEval_set"), rows.filter(part == "TRAIN").drop("SemEval_set")


def both(part: str) -> pl.DataFrame:
    """Good and bad reviews."""
    return pl.concat([table(f"imdb/{part}_{side}.tsv.gz", "text", label="label") for side in ("neg", "pos")])


def labelled() -> dict[str, Callable[[], Pair]]:
    """Test and training part of each set of labelled texts."""
    pair = ("premise", "hypothesis")
    sentences = ("sentence1", "sentence2")
    review = {"label": "Sentiment"}
    return {
        "SNLI test / 18,000 rows of train": lambda: (
            table("snli/test_9824.tsv.gz", *pair),
            table("snli/train_sample_18k.tsv.gz", *pair),
        ),
        "MultiNLI matched / 10,000 rows of train": lambda: (
            table("multinli/dev_matched.tsv.gz", *pair),
            table("multinli/train_sample_10k.tsv.gz", *pair),
        ),
        "SICK test / train": sick,
        "SST-2 dev / train": lambda: (
            table("sst2/dev.tsv.gz", "content", label="label"),
            table("sst2/train.tsv.gz", "sentence", label="label"),
        ),
        "HANS evaluation / HANS train": lambda: (
            table("hans/heuristics_evaluation_set_shuffled.tsv.gz", *sentences),
            table("hans/heuristics_train_set.tsv.gz", *sentences),
        ),
        "STS-B test / train": lambda: (
            table("stsb/sts-test.tsv.gz", *sentences, label="score"),
            table("stsb/sts-train.tsv.gz", *sentences, label="score"),
        ),
        "IMDb test / train": lambda: (both("test"), both("train")),
        "counterfactual IMDb, original test / original train": lambda: (
            table("counterfactual_imdb/orig_test.tsv.gz", "Text", **review),
            table("counterfactual_imdb/orig_train.tsv.gz", "Text", **review),
        ),
        "counterfactual IMDb, edited test / the reviews that were edited": lambda: (
            table("counterfactual_imdb/new_test.tsv.gz", "Text", **review),
            table("counterfactual_imdb/orig_test.tsv.gz", "Text", **review),
        ),
    }


def corpora(folder: Path) -> Path:
    """Brown and WikiText as files of text, one a document."""
    place = folder / "corpora"
    place.mkdir(exist_ok=True)
    with zipfile.ZipFile(DATA / "corpora/nltk-brown.zip") as packed:
        for name in packed.namelist():
            if len(Path(name).name) == 4 and Path(name).name.startswith("c"):
                # Each word stands before its tag: The/at jury/nn.
                words = [word.rpartition("/")[0] for word in packed.read(name).decode().split()]
                (place / f"brown-{Path(name).name}.txt").write_text(" ".join(words))
    (place / "wikitext.txt.gz").write_bytes((DATA / "corpora/wikitext-2-valid.txt.gz").read_bytes())
    return place


def posed(folder: Path) -> dict[str, Path]:
    """Test sets of items with choices and free answers."""
    places = {
        "ARC-Challenge test": "ARC-Challenge-Test.jsonl.gz",
        "CommonsenseQA dev": "csqa-dev_rand_split.jsonl.gz",
        "OpenBookQA test": "openbookqa-test.jsonl.gz",
        "Social IQa dev": "socialiqa-dev.jsonl.gz",
        "WinoGrande validation": "winogrande-validation.parquet",
        "LogiQA test": "logiqa-Test.txt.gz",
    }
    found = {name: DATA / "choices" / file for name, file in places.items()}
    for name in ("aqua", "dream"):
        with tarfile.open(DATA / "choices" / f"{name}.tar.gz") as packed:
            member = next(each for each in packed.getnames() if each.endswith("test.json"))
            content = packed.extractfile(member)
            path = folder / f"{name}-test.json{'l' if name == 'aqua' else ''}"
            path.write_bytes((content or io.BytesIO()).read())
            found[f"{name.upper()} test"] = path
    return found


def unpacked(folder: Path, name: str) -> Path:
    """A folder with the files of an archive of corpora."""
    place = folder / name
    with tarfile.open(DATA / "corpora" / f"{name}.tar.gz") as packed:
        packed.extractall(place, filter="data")
    return place


def mmlu(folder: Path) -> tuple[list[dict[str, Any]], dict[str, list[Path]]]:
    """Three subjects of MMLU, and the same rephrased in English and translated."""
    place = unpacked(folder, "llm-decontaminator-mmlu") / "rephrase"
    rows = []
    for path in sorted(place.glob("*_test.csv")):
        with path.open(newline="") as stream:
            rows += [
                {"question": question, "choices": choices, "answer": "ABCD".index(right)}
                for question, *choices, right in csv.reader(stream)
            ]
    return rows, {name: sorted(place.glob(f"*{name}*.jsonl")) for name in ("rephrase_english", "chinese")}


def labels(folder: Path) -> None:
    """Items that a search engine found on pages of the web, in the text that it showed of these: how many are covered.

    By the score that the labels rest on (METEOR), where it is .95 or more.
    """
    place = unpacked(folder, "contamination-detector-a")
    found = [
        (name, matches)
        for name in ("ARC", "commonsense_qa", "mmlu")
        for matches in json.loads((place / f"{name}.json").read_text())["matches"]
    ]
    corpus = folder / "pages.jsonl"
    pages = [match["snippet"] for _, matches in found for match in matches]
    corpus.write_text("".join(json.dumps({"text": page}) + "\n" for page in pages))
    queries = [matches[0]["query"] for _, matches in found]
    test = pl.DataFrame({"text": queries, "example_id": list(map(str, range(len(queries))))})
    for n in (13, 8):
        items = goldassay.measure_overlap(test, corpus, n=n).tables["overlap_items"]
        known = items.with_columns(
            of=pl.Series([name for name, _ in found]),
            score=pl.Series([max(match["score"] for match in matches) for _, matches in found]),
        ).filter(pl.col("class") != "not searched")
        groups = {"all": known} | {
            f"{name} from .95 on": known.filter((pl.col("of") == name) & (pl.col("score") >= 0.95))
            for name in ("ARC", "mmlu")
        }
        said = "; ".join(
            f"{name} {int((rows['coverage'] >= 0.8).sum())} of {rows.height}" for name, rows in groups.items()
        )
        print(f"labels of contamination, {len(found)} items, n = {n}: covered to 80 %: {said}", flush=True)


# As far as an answer is looked for behind a question.
_BEHIND = 60


def by_chance(folder: Path) -> None:
    """Every test set in Brown, WikiText-2 and the training reviews of IMDb: what is found there is by chance.

    And those with answers in a corpus that has each question before words of Brown: there the answers stand by chance.
    """
    place = corpora(folder)
    (place / "imdb.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in both("train")["text"]))
    sets: dict[str, Any] = {name: read()[0] for name, read in labelled().items()}
    sets |= posed(folder) | {"GSM8K test": DATA / "corpora/gsm8k-test.jsonl.gz", "MMLU": mmlu(folder)[0]}
    for name in ("commitment_bank", "fracas", "mpe", "rte", "qnli", "add_one_rte"):
        sets[name] = DATA / f"small_nli/{name}_dev.tsv.gz"
    sets |= {"XQuAD": DATA / "squad/xquad.en.json.gz", "TruthfulQA": DATA / "choices/TruthfulQA.csv.gz"}
    print("| test set | searched | found | control | beyond it | without the key | verdict |")
    n_sets = n_beyond = 0
    words = " ".join(path.read_text() for path in sorted(place.glob("brown-*.txt"))).split()
    behind = {}
    for name, test in sets.items():
        asked = [dict(item.parts)["question"] for item in read_items(test).items if item.answer]
        starts = random.Random(0).sample(range(len(words) - _BEHIND), len(asked))
        texts = [f"{question} {' '.join(words[at : at + _BEHIND])}" for question, at in zip(asked, starts, strict=True)]
        if texts:
            behind[f"{name}, each question before {_BEHIND} words of Brown"] = test, pl.DataFrame({"text": texts})
    for name, (test, corpus) in {**{name: (test, place) for name, test in sets.items()}, **behind}.items():
        try:
            report = goldassay.measure_overlap(test, corpus, skip_broken=True)
        except goldassay.InputError as error:
            print(f"| {name} | {error} |", flush=True)
            continue
        found = report.to_dict()["overlap"]
        control = "" if found["control"] is None else percent(found["control"])
        print(
            f"| {name} | {count(found['n_searched'])} | {found['n_found']} | {control} | {percent(found['excess'])} "
            f"| {percent(found['listed'])} | {report.verdicts['overlap']['verdict']} |",
            flush=True,
        )
        n_sets, n_beyond = n_sets + 1, n_beyond + (found["excess"] > 0.005)
    print(f"{n_sets} sets, {n_beyond} with more than .5 % of the items found beyond the control")


# Copies are planted of so many items, in so many draws.
_N_PLANTED, _N_SEEDS = 300, 5
_FORMS = ("exact", "re-wrapped", "re-punctuated", "in pieces", "short", "in another order")


def planted() -> None:
    """Copies of 20 to 100 % of 300 items beside as many rows of a training file, and what is found of them.

    Items of GSM8K, hypotheses of SNLI cut to 2 to 7 words, and pairs of SNLI, which an audit compares with its rows.
    """
    print("| form | planted | recall | false hits | excess, mean of the seeds | its intervals |")
    for form in _FORMS:
        for share in (0.2, 0.6, 1.0):
            n = round(share * _N_PLANTED)
            drawn = [_plant(form, n, random.Random(seed)) for seed in range(_N_SEEDS)]
            recall, false = sum(each[0] for each in drawn), sum(each[1] for each in drawn)
            values, lows, highs = (np.array([each[2][at] for each in drawn]) for at in range(3))
            known = wilson_interval(recall, n * _N_SEEDS)
            print(
                f"| {form} | {share:.0%} | {recall / (n * _N_SEEDS):.1%} ({known.low:.1%} to {known.high:.1%}) "
                f"| {false} of {_N_SEEDS * (_N_PLANTED - n)} | {values.mean():.1%} "
                f"| {lows.mean():.1%} to {highs.mean():.1%}, "
                f"{int(((lows <= share) & (share <= highs)).sum())} of {_N_SEEDS} hold the share |",
                flush=True,
            )


def _plant(form: str, n: int, rng: random.Random) -> tuple[int, int, tuple[float, float, float]]:
    """Of n copies those that were found, other items that were, and the excess with its interval."""

    def mixed(text: str) -> str:
        return " ".join(rng.sample(words := text.split(), len(words)))

    if form in _FORMS[4:]:
        rows, others = (
            table(f"snli/{name}.tsv.gz", "premise", "hypothesis").unique("hypothesis", maintain_order=True).to_dicts()
            for name in ("test_9824", "train_sample_18k")
        )
    else:
        rows, others = (
            pl.read_ndjson(DATA / f"corpora/gsm8k-{name}.jsonl.gz").to_dicts() for name in ("test", "train")
        )
    if form == "short":
        cut = {" ".join(row["hypothesis"].split()[: rng.randint(2, 7)]).lower(): row["label"] for row in rows}
        rows = [{"text": text, "label": label} for text, label in cut.items()]
        # Some hypotheses of the training file are such a text.
        others = [{"text": row["hypothesis"]} for row in others]
        equal = {tuple(words_of(row["text"])) for row in others}
        rows = [row for row in rows if tuple(words_of(row["text"])) not in equal]
    items, rest = rng.sample(rows, _N_PLANTED), rng.sample(others, _N_PLANTED)
    texts = ["\n".join(value for name, value in row.items() if name != "label") for row in (*items[:n], *rest)]
    for at, row in enumerate(items[:n]):
        if form == "re-wrapped":
            texts[at] = textwrap.fill(texts[at], rng.randint(20, 60), break_long_words=False)
        elif form == "re-punctuated":
            texts[at] = re.sub(r"\s+", rng.choice([" - ", ", ", " * "]), texts[at].upper())
        elif form == "in pieces":
            asked = (each["question"].split(". ")[0] for each in rng.sample(others, 20))
            steps = [f"{before}? ** {step}" for before, step in zip(asked, row["answer"].split("\n"), strict=False)]
            texts[at] = "\n".join([row["question"], *steps])
        elif form == "in another order":
            texts[at] = f"{mixed(row['premise'])}\n{mixed(row['hypothesis'])}"
    rng.shuffle(texts)
    test, corpus = pl.DataFrame(items), pl.DataFrame({"text": texts})
    is_moved = form == _FORMS[-1]
    if is_moved:
        known = search_for(read_items(test), [corpus["text"]], CorpusChoice(()), Settings(), Steps(quiet=True))
        found, told = known.tables["overlap_items"], {} if known.result is None else known.result.to_dict()
    else:
        report = goldassay.measure_overlap(test, corpus)
        found, told = report.tables["overlap_items"], report.to_dict()["overlap"]
    is_found = found["kind"].is_in(MOVED[:1] if is_moved else COUNTED).to_list()
    key = "reordered" if is_moved else "excess"
    return sum(is_found[:n]), sum(is_found[n:]), (told[key], told[f"{key}_low"], told[f"{key}_high"])


def row(name: str, test: Any, corpus: Any, **options: Any) -> None:
    """Search, and print what was found."""
    start = time.process_time()
    try:
        report = goldassay.measure_overlap(test, corpus, skip_broken=True, **options)
    except goldassay.InputError as error:
        print(f"| {name} | {error} |", flush=True)
        return
    found = report.to_dict()["overlap"]
    searched = count(found["n_searched"])
    if found["n_searched"] < found["n_items"]:
        searched += f" of {count(found['n_items'])}"
    kinds = {each["kind"]: each["n"] for each in found["kinds"]}
    seconds = time.process_time() - start
    print(
        f"| {name} | {searched} | {found['n_found']} ({kinds['near copy']} near copies) | {kinds['question only']} "
        f"| {percent(found['partial'])} | {report.verdicts['overlap']['verdict']} | {seconds:.1f} s",
        flush=True,
    )


def main() -> None:
    """All sets, or those whose names have a word."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="")
    only = parser.parse_args().only.lower()
    print("| test set / corpus | searched | with answers | question only | partial | verdict | processor |")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name, read in labelled().items():
            if only in name.lower():
                test, train = read()
                roles = [column for column in train.columns if column != "label"]
                path = folder / "train.parquet"
                train.select(text=pl.concat_str(roles, separator="\n")).write_parquet(path)
                row(name, test, path, near_copies=True)
        gsm8k = DATA / "corpora/gsm8k-test.jsonl.gz"
        rewrites = DATA / "corpora/benbench-gsm8k-test-rewritten-1.jsonl.gz"
        for n in (13, 8):
            for name, corpus, field in (
                ("GSM8K test / train", DATA / "corpora/gsm8k-train.jsonl.gz", "question+answer"),
                ("GSM8K test / its 1,319 rewrites", rewrites, "rewritten_question+rewritten_answer"),
            ):
                if only in name.lower():
                    row(f"{name}, n = {n}", gsm8k, corpus, field=field, n=n)
        if only in "mmlu":
            rows, copies = mmlu(folder)
            for n in (13, 8):
                for name, paths in copies.items():
                    row(f"MMLU / {name}, n = {n}", rows, paths, n=n)
        if only in "labels":
            labels(folder)
        if only in "planted":
            planted()
        if only in "by chance":
            by_chance(folder)
        place = corpora(folder)
        for name, test in {**posed(folder), "GSM8K test": gsm8k}.items():
            if only in f"{name} corpora".lower():
                row(f"{name} / Brown corpus and WikiText-2", test, place)


if __name__ == "__main__":
    main()
