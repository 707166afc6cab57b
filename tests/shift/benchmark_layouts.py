"""Small made-up files in the layouts in which the datasets are published."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def lines(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")


def yelp(folder: Path) -> None:
    kinds = {
        "b0": "Restaurants, American (New)", "b1": "Chinese, Food", "b2": "Italian, Pizza",
        "b3": "Sushi Bars, Japanese", "b4": "Chinese, Japanese", "b5": "Doctors", "b6": None,
    }  # fmt: skip
    lines(
        folder / "yelp_academic_dataset_business.json",
        [{"business_id": b, "name": "x", "categories": c} for b, c in kinds.items()],
    )
    rows = [
        {
            "review_id": f"r{i}",
            "user_id": "u",
            "business_id": f"b{i % 7}",
            "stars": float(1 + i % 5),
            "text": f"meal {i}\n!",
        }
        for i in range(350)
    ]
    # A text that is there already, in other case.
    rows.append({"review_id": "again", "user_id": "u", "business_id": "b0", "stars": 1.0, "text": "MEAL 0 !"})
    lines(folder / "yelp_academic_dataset_review.json", rows)


def amazon(folder: Path) -> None:
    paths = [
        ["Clothing, Shoes & Jewelry", "Women", "Shoes"], ["Clothing, Shoes & Jewelry", "Baby"],
        ["Clothing, Shoes & Jewelry", "Women", "Clothing"], ["Clothing, Shoes & Jewelry", "Men"],
        ["Clothing, Shoes & Jewelry"],
    ]  # fmt: skip
    lines(
        folder / "meta_Clothing_Shoes_and_Jewelry.json.gz",
        [{"asin": f"a{i}", "category": p} for i, p in enumerate(paths)],
    )
    for name in ("Clothing_Shoes_and_Jewelry", "Digital_Music", "Movies_and_TV"):
        rows = [
            {"overall": float(1 + i % 5), "asin": f"a{i % 5}", "reviewText": f"{name} {i}", "summary": "s"}
            for i in range(100)
        ]
        lines(folder / f"{name}.json.gz", rows)


def mnli(folder: Path) -> None:
    def rows(n: int, genres: Sequence[str], kind: str) -> list[dict[str, Any]]:
        labels = ("entailment", "neutral", "contradiction", "-")
        return [
            {
                "pairID": f"{kind}{i}", "genre": genres[i % len(genres)], "gold_label": labels[i % 4],
                "sentence1": f"{kind} premise {i}", "sentence2": f"hypothesis {i}", "annotator_labels": [labels[i % 3]],
            }
            for i in range(n)
        ]  # fmt: skip

    lines(folder / "multinli_1.0_train.jsonl", rows(90, ("telephone", "fiction", "slate"), "train"))
    lines(folder / "multinli_1.0_dev_matched.jsonl", rows(40, ("telephone", "travel"), "m"))
    lines(folder / "multinli_1.0_dev_mismatched.jsonl", rows(60, ("letters", "facetoface", "oup"), "mm"))


def record(folder: Path) -> None:
    for part, n in (("train", 30), ("dev", 10)):
        articles = [
            {
                "id": f"{part}{i}", "source": ("CNN", "Daily mail")[i % 2],
                "passage": {
                    "text": f"Anna met Bert in {part} {i}.\n@highlight\nBert",
                    "entities": [{"start": 0, "end": 3}, {"start": 9, "end": 12}],
                },
                "qas": [
                    {
                        "id": f"{part}{i}-{q}", "query": f"Whom did @placeholder meet, {q}?",
                        "answers": [{"start": 9, "end": 12, "text": "Bert"}],
                    }
                    for q in range(2)
                ],
            }
            for i in range(n)
        ]  # fmt: skip
        path = folder / "ReCoRD" / f"{part}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"version": "1.0", "data": articles}))


def sentiment(folder: Path) -> None:
    for part, n in (("train", 40), ("dev", 12)):
        path = folder / "SST-2" / f"{part}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("sentence\tlabel\n" + "".join(f'a "{part}" film {i}\t{i % 2}\n' for i in range(n)))
    for part in ("train", "test"):
        for label in ("pos", "neg"):
            place = folder / "aclImdb" / part / label
            place.mkdir(parents=True)
            for i in range(20):
                (place / f"{i}_{9 if label == 'pos' else 2}.txt").write_text(f"{label} review {part} {i}<br />")


def markup(folder: Path) -> None:
    for domain in ("books", "kitchen_&_housewares"):
        for label in ("positive", "negative"):
            path = folder / "sorted_data_acl" / domain / f"{label}.review"
            path.parent.mkdir(parents=True, exist_ok=True)
            reviews = "".join(
                f"<review>\n<rating>\n5.0\n</rating>\n<review_text>\n{label} {domain} {i}\n</review_text>\n</review>\n"
                for i in range(20)
            )
            path.write_bytes(reviews.encode("latin-1"))


def sts(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    sources = ("MSRpar", "headlines", "MSRvid", "images", "deft-news")
    for part, n in (("train", 60), ("dev", 20), ("test", 20)):
        rows = "".join(
            f"main-news\t{sources[i % 5]}\t2012\t{i:04}\t{i % 6}.200\tOne {part} {i}\tTwo {part} {i}\n"
            for i in range(n)
        )
        (folder / f"sts-{part}.csv").write_text(rows)
