"""Every figure of the certificate, counted again in the files."""

from __future__ import annotations

import json

import polars as pl
import pytest
from nltk.tokenize import TreebankWordTokenizer

from goldassay.data.specimen import Specimen, make_specimen
from goldassay.data.specimen.rows import LABELS
from goldassay.runs.specimen import write_specimen
from goldassay.stats.intervals import wilson_interval

CUT = TreebankWordTokenizer().tokenize
# Rows and seed.
SPECIMENS = [
    pytest.param((size, seed), id=str((size, seed)), marks=() if size < 9000 else pytest.mark.slow)
    for size, seed in ((2000, 0), (5000, 7), (9000, 1))
]


def holds(tokens: list[str], words: list[str], gaps: list[int]) -> bool:
    if words[0] not in tokens or words[-1] not in tokens:
        return False
    places = [0]
    for gap in gaps:
        places.append(places[-1] + gap + 1)
    return any(
        all(tokens[start + place] == word for place, word in zip(places, words, strict=True))
        for start in range(len(tokens) - places[-1])
    )


@pytest.fixture(scope="module", params=SPECIMENS)
def written(request, tmp_path_factory) -> tuple[dict, dict[str, pl.DataFrame]]:
    size, seed = request.param
    folder = tmp_path_factory.mktemp("specimen")
    write_specimen(folder, size=size, seed=seed)
    parts = {part: pl.read_ndjson(folder / f"{part}.jsonl") for part in ("train", "dev", "test", "elsewhere")}
    return json.loads((folder / "certificate.json").read_text()), parts


def test_patterns_are_where_the_certificate_says(written) -> None:
    certificate, parts = written
    tokens = {part: [CUT(text) for text in rows["hypothesis"]] for part, rows in parts.items()}
    for entry in certificate["patterns"]:
        found = {
            part: [holds(text, entry["tokens"], entry["gaps"]) for text in texts] for part, texts in tokens.items()
        }
        labels = parts["train"].filter(pl.Series(found["train"]))["label"]
        hits = (labels == entry["label"]).sum()
        assert len(labels) == entry["support"]
        assert hits / len(labels) == entry["probability_realized"]
        assert entry["probability"] in wilson_interval(hits, len(labels))
        assert abs(hits - entry["probability"] * len(labels)) <= 0.5
        assert sum(found["dev"]) == entry["support_dev"]
        assert sum(found["test"]) == entry["support_test"]
        assert sum(found["elsewhere"]) == 0


def test_patterns_are_findable_and_various(written) -> None:
    certificate, parts = written
    patterns = certificate["patterns"]
    rows = len(parts["train"])
    assert len(patterns) >= 12
    assert all(entry["support"] >= max(8, rows / 1000) for entry in patterns)
    assert all(entry["probability_realized"] > 0.7 for entry in patterns)
    assert {entry["label"] for entry in patterns} == set(LABELS)
    assert {len(entry["tokens"]) for entry in patterns} == {1, 2, 3}
    assert len({tuple(entry["gaps"]) for entry in patterns}) >= 8
    assert sum(entry["support_test"] for entry in patterns) >= 0.15 * len(parts["test"])


def test_gaps_are_filled_with_various_words(written) -> None:
    certificate, parts = written
    texts = [CUT(text) for text in parts["train"]["hypothesis"]]
    for entry in certificate["patterns"]:
        if not sum(entry["gaps"]):
            continue
        span = len(entry["tokens"]) + sum(entry["gaps"])
        fillings = {
            tuple(text[start : start + span])
            for text in texts
            for start in range(len(text) - span + 1)
            if holds(text[start : start + span], entry["tokens"], entry["gaps"])
        }
        assert len(fillings) >= 5


def test_topics_lean_as_certified(written) -> None:
    certificate, parts = written
    assert certificate["topics"]
    for entry in certificate["topics"]:
        labels = parts["train"].filter(pl.col("topic") == entry["topic"])["label"]
        hits = (labels == entry["label"]).sum()
        assert hits / len(labels) == entry["share_realized"]
        assert len(labels) == entry["support"]
        assert entry["share"] in wilson_interval(hits, len(labels))
        assert (parts["test"]["topic"] == entry["topic"]).sum() == entry["support_test"]


def test_groups_share_a_cue_that_decides(written) -> None:
    certificate, parts = written
    assert certificate["groups"]
    for entry in certificate["groups"]:
        assert (parts["elsewhere"]["group"] != entry["group"]).all()
        for part in ("train", "dev", "test"):
            rows = parts[part]
            members = rows.filter(pl.col("group") == entry["group"])
            assert members["hypothesis"].str.starts_with(entry["cue"]).all()
            assert rows["hypothesis"].str.starts_with(entry["cue"]).sum() == len(members)
            counts = {label: (members["label"] == label).sum() for label in LABELS}
            if part == "train":
                assert counts == entry["count_train"]
                assert sorted(counts.values())[1:] == [counts[entry["label"]]] * 2
            else:
                assert counts[entry["label"]] == len(members) == entry[f"count_{part}"]


def test_copies_are_those_certified_and_no_others(written) -> None:
    certificate, parts = written
    pair = ["premise", "hypothesis"]
    train, test = parts["train"], parts["test"]
    by_id = {row["id"]: row for row in pl.concat(parts.values()).iter_rows(named=True)}
    n_copies = len(certificate["duplicates"]) + len(certificate["conflicting_duplicates"])
    assert len(train) - train.select(pair).n_unique() == n_copies
    assert len(train) - train["premise"].n_unique() == n_copies
    for entry in certificate["duplicates"] + certificate["overlap"]:
        copy, original = by_id[entry["id"]], by_id[entry["of"]]
        assert {**copy, "id": ""} == {**original, "id": ""}
    for entry in certificate["conflicting_duplicates"]:
        copy, original = by_id[entry["id"]], by_id[entry["of"]]
        assert [copy[name] for name in pair] == [original[name] for name in pair]
        assert (copy["label"], original["label"]) == (entry["label"], entry["true_label"])
        assert entry["label"] != entry["true_label"]
    for column in pair:
        seen = pl.concat([train, test, parts["dev"]])[column]
        assert not parts["elsewhere"][column].is_in(seen.implode()).any()
        shared = test.filter(pl.col(column).is_in(train[column].implode()))
        assert sorted(shared["id"]) == sorted(entry["id"] for entry in certificate["overlap"])
    assert len(certificate["duplicates"]) >= len(certificate["conflicting_duplicates"]) > 0
    assert certificate["overlap"]


def test_sizes_and_labels_are_as_certified(written) -> None:
    certificate, parts = written
    for part, rows in parts.items():
        assert len(rows) == certificate["sizes"][part]
        assert {label: (rows["label"] == label).sum() for label in LABELS} == certificate["label_counts"][part]
    assert certificate["schema"] == "goldassay-specimen-certificate"
    assert certificate["version"] == 2
    assert certificate["clean"] is False


def test_guessing_by_the_certificate_scores_what_it_says(written) -> None:
    certificate, parts = written
    leaning = {entry["topic"]: entry["label"] for entry in certificate["topics"]}
    for part, rows in parts.items():
        right = {"premise_only": 0, "hypothesis_only": 0}
        for hypothesis, label, topic in rows.select("hypothesis", "label", "topic").iter_rows():
            by_topic = leaning.get(topic, "entailment")
            tokens = CUT(hypothesis)
            hints = [
                entry["label"] for entry in certificate["patterns"] if holds(tokens, entry["tokens"], entry["gaps"])
            ]
            assert len(hints) <= 1
            right["premise_only"] += by_topic == label
            right["hypothesis_only"] += (hints or [by_topic])[0] == label
        for condition, hits in right.items():
            assert hits / len(rows) == certificate["guessable"][part][condition]


def test_the_flaws_together_are_grave(written) -> None:
    guessable = written[0]["guessable"]["test"]
    assert guessable["hypothesis_only"] - guessable["majority"] > 0.12


def test_a_clean_certificate_lists_nothing() -> None:
    specimen: Specimen = make_specimen(size=600, seed=0, clean=True)
    for name in ("patterns", "topics", "groups", "duplicates", "conflicting_duplicates", "overlap"):
        assert specimen.certificate[name] == []
    assert specimen.certificate["clean"] is True
    assert specimen.certificate["guessable"]["test"]["hypothesis_only"] <= 0.34
