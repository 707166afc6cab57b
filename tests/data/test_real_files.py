"""Every dataset of the shared folder, against the row and label counts of its README."""

from __future__ import annotations

import csv
import gzip
import io
from typing import TYPE_CHECKING

import pytest

from goldassay.core.errors import InputError
from goldassay.data.delimited import parse_delimited
from goldassay.data.reading import read_dataset

if TYPE_CHECKING:
    from goldassay.data.dataset import Dataset

# Rows as the README gives them; labels under their usual names, after rows without label or text are dropped.
FILES = [
    ("amazon_multidomain/books.tsv.gz", 2000, {"negative": 1000, "positive": 1000}, {}),
    ("amazon_multidomain/dvd.tsv.gz", 2000, {"negative": 1000, "positive": 1000}, {}),
    ("amazon_multidomain/electronics.tsv.gz", 2000, {"negative": 1000, "positive": 1000}, {}),
    ("anli/ANLI_analysis_r1_dev.csv.gz", 1000, {"contradiction": 333, "entailment": 334, "neutral": 333}, {}),
    ("anli/ANLI_analysis_r2_dev.csv.gz", 1000, {"contradiction": 333, "entailment": 334, "neutral": 333}, {}),
    ("anli/test_r1_r2_r3.tsv.gz", 3200, {"contradiction": 1062, "entailment": 1070, "neutral": 1068}, {}),
    ("breaking_nli/dataset.jsonl.gz", 8193, {"contradiction": 7164, "entailment": 982, "neutral": 47}, {}),
    ("counterfactual_imdb/new_dev.tsv.gz", 245, {"Negative": 123, "Positive": 122}, {}),
    ("counterfactual_imdb/new_test.tsv.gz", 488, {"Negative": 245, "Positive": 243}, {}),
    ("counterfactual_imdb/new_train.tsv.gz", 1707, {"Negative": 856, "Positive": 851}, {}),
    ("counterfactual_imdb/orig_dev.tsv.gz", 245, {"Negative": 122, "Positive": 123}, {}),
    ("counterfactual_imdb/orig_test.tsv.gz", 488, {"Negative": 243, "Positive": 245}, {}),
    ("counterfactual_imdb/orig_train.tsv.gz", 1707, {"Negative": 851, "Positive": 856}, {}),
    ("counterfactual_imdb/paired_dev.tsv.gz", 490, {"Negative": 245, "Positive": 245}, {}),
    ("counterfactual_imdb/paired_train.tsv.gz", 3414, {"Negative": 1707, "Positive": 1707}, {}),
    ("counterfactual_nli/all_combined_dev.tsv.gz", 1000, {"contradiction": 349, "entailment": 326, "neutral": 325}, {}),
    (
        "counterfactual_nli/all_combined_test.tsv.gz",
        2000,
        {"contradiction": 669, "entailment": 654, "neutral": 677},
        {},
    ),
    (
        "counterfactual_nli/all_combined_train.tsv.gz",
        8330,
        {"contradiction": 2782, "entailment": 2770, "neutral": 2778},
        {},
    ),
    ("counterfactual_nli/original_dev.tsv.gz", 200, {"contradiction": 51, "entailment": 74, "neutral": 75}, {}),
    ("counterfactual_nli/original_test.tsv.gz", 400, {"contradiction": 131, "entailment": 146, "neutral": 123}, {}),
    ("counterfactual_nli/original_train.tsv.gz", 1666, {"contradiction": 550, "entailment": 562, "neutral": 554}, {}),
    (
        "counterfactual_nli/revised_combined_dev.tsv.gz",
        800,
        {"contradiction": 298, "entailment": 252, "neutral": 250},
        {},
    ),
    (
        "counterfactual_nli/revised_combined_test.tsv.gz",
        1600,
        {"contradiction": 538, "entailment": 508, "neutral": 554},
        {},
    ),
    (
        "counterfactual_nli/revised_combined_train.tsv.gz",
        6664,
        {"contradiction": 2232, "entailment": 2208, "neutral": 2224},
        {},
    ),
    (
        "counterfactual_nli/revised_hypothesis_dev.tsv.gz",
        400,
        {"contradiction": 149, "entailment": 126, "neutral": 125},
        {},
    ),
    (
        "counterfactual_nli/revised_hypothesis_test.tsv.gz",
        800,
        {"contradiction": 269, "entailment": 254, "neutral": 277},
        {},
    ),
    (
        "counterfactual_nli/revised_hypothesis_train.tsv.gz",
        3332,
        {"contradiction": 1116, "entailment": 1104, "neutral": 1112},
        {},
    ),
    (
        "counterfactual_nli/revised_premise_dev.tsv.gz",
        400,
        {"contradiction": 149, "entailment": 126, "neutral": 125},
        {},
    ),
    (
        "counterfactual_nli/revised_premise_test.tsv.gz",
        800,
        {"contradiction": 269, "entailment": 254, "neutral": 277},
        {},
    ),
    (
        "counterfactual_nli/revised_premise_train.tsv.gz",
        3332,
        {"contradiction": 1116, "entailment": 1104, "neutral": 1112},
        {},
    ),
    ("hans/hans_perturbed_val.tsv.gz", 15000, {"entailment": 7500, "non-entailment": 7500}, {}),
    ("hans/heuristics_evaluation_set_shuffled.tsv.gz", 30000, {"entailment": 15000, "non-entailment": 15000}, {}),
    ("hans/heuristics_train_set.tsv.gz", 30000, {"entailment": 15000, "non-entailment": 15000}, {}),
    ("hans/mnli_contradicting_examples.txt.gz", 261, {"contradiction": 179, "neutral": 82}, {}),
    ("imdb/test_neg.tsv.gz", 12500, {"neg": 12500}, {}),
    ("imdb/test_pos.tsv.gz", 12500, {"pos": 12500}, {}),
    ("imdb/train_neg.tsv.gz", 12500, {"neg": 12500}, {}),
    ("imdb/train_pos.tsv.gz", 12500, {"pos": 12500}, {}),
    ("multi30k/test_2016_flickr.lc.norm.tok.en.gz", 1000, None, {}),
    ("multi30k/test_2017_flickr.lc.norm.tok.en.gz", 1000, None, {}),
    ("multi30k/train.en.gz", 29000, None, {}),
    ("multi30k/val.lc.norm.tok.en.gz", 1014, None, {}),
    ("multinli/dev_matched.tsv.gz", 9815, {"contradiction": 3213, "entailment": 3479, "neutral": 3123}, {}),
    (
        "multinli/dev_mismatched_partial_gold.tsv.gz",
        9832,
        {"contradiction": 311, "entailment": 313, "neutral": 293},
        {"label is empty": 8915},
    ),
    ("multinli/train_sample_10k.tsv.gz", 10000, {"contradiction": 3394, "entailment": 3239, "neutral": 3367}, {}),
    ("newsgroups20/20_newsgroup.jsonl.gz", 19997, None, {"text is empty": 41}),
    ("sick/SICK.txt.gz", 9840, {"contradiction": 1424, "entailment": 2821, "neutral": 5595}, {}),
    (
        "sick/SICK_whole_corpus_reannotated.tsv.gz",
        9840,
        {"contradiction": 1585, "entailment": 2592, "neutral": 5663},
        {},
    ),
    ("small_nli/add_one_rte_dev.tsv.gz", 387, {"entailment": 57, "non-entailment": 330}, {}),
    ("small_nli/add_one_rte_train.tsv.gz", 4991, {"entailment": 1159, "non-entailment": 3832}, {}),
    ("small_nli/commitment_bank_dev.tsv.gz", 56, {"contradiction": 28, "entailment": 23, "neutral": 5}, {}),
    ("small_nli/commitment_bank_train.tsv.gz", 250, {"contradiction": 119, "entailment": 115, "neutral": 16}, {}),
    (
        "small_nli/fracas_dev.tsv.gz",
        70,
        {"contradiction": 8, "entailment": 34, "neutral": 27},
        {"hypothesis is empty": 1},
    ),
    (
        "small_nli/fracas_train.tsv.gz",
        276,
        {"contradiction": 25, "entailment": 169, "neutral": 79},
        {"hypothesis is empty": 3},
    ),
    ("small_nli/mpe_dev.tsv.gz", 1000, {"contradiction": 424, "entailment": 344, "neutral": 232}, {}),
    ("small_nli/mpe_train.tsv.gz", 9000, {"contradiction": 3725, "entailment": 2909, "neutral": 2366}, {}),
    ("small_nli/qnli_dev.tsv.gz", 5732, {"entailment": 2866, "non-entailment": 2866}, {}),
    ("small_nli/rte_dev.tsv.gz", 277, {"entailment": 146, "non-entailment": 131}, {}),
    ("small_nli/rte_train.tsv.gz", 2490, {"entailment": 1249, "non-entailment": 1241}, {}),
    ("snli/dev.tsv.gz", 9842, {"contradiction": 3278, "entailment": 3329, "neutral": 3235}, {}),
    (
        "snli/test.tsv.gz",
        10000,
        {"contradiction": 3237, "entailment": 3368, "neutral": 3219},
        {"gold label is '-'": 176},
    ),
    ("snli/test_9824.tsv.gz", 9824, {"contradiction": 3237, "entailment": 3368, "neutral": 3219}, {}),
    ("snli/train_sample_18k.tsv.gz", 18000, {"contradiction": 6086, "entailment": 6015, "neutral": 5899}, {}),
    ("snli/train_sample_2k.tsv.gz", 2000, {"contradiction": 685, "entailment": 652, "neutral": 663}, {}),
    ("squad/dev-v1.1-rebuilt.json.gz", 10570, None, {}),
    ("squad/xquad.en.json.gz", 1190, None, {}),
    ("sst2/dev.tsv.gz", 872, {"0": 428, "1": 444}, {}),
    ("sst2/test_labelled.tsv.gz", 1821, {"negative": 912, "positive": 909}, {}),
    ("sst2/train.tsv.gz", 67349, {"0": 29780, "1": 37569}, {}),
    ("sts/semeval_sts_2012.tsv.gz", 3842, None, {}),
    ("sts/semeval_sts_2013.tsv.gz", 1500, None, {}),
    ("sts/semeval_sts_2014.tsv.gz", 3750, None, {}),
    ("sts/semeval_sts_2015.tsv.gz", 8500, None, {"score is empty": 5500}),
    ("stsb/sts-dev.tsv.gz", 1500, None, {}),
    ("stsb/sts-test.tsv.gz", 1379, None, {}),
    ("stsb/sts-train.tsv.gz", 5749, None, {}),
    (
        "syntactic_augmentation/mnli_augmentation_sets.tsv.gz",
        17210,
        {"contradiction": 830, "entailment": 5204, "neutral": 11176},
        {},
    ),
    ("textfooler_1000/ag_news.tsv.gz", 1000, {"0": 256, "1": 265, "2": 237, "3": 242}, {}),
    ("textfooler_1000/imdb.tsv.gz", 1000, {"0": 497, "1": 503}, {}),
    ("textfooler_1000/mr.tsv.gz", 1000, {"0": 511, "1": 489}, {}),
    ("textfooler_1000/yelp.tsv.gz", 1000, {"0": 518, "1": 482}, {}),
    ("uci_sentiment/sentences.tsv.gz", 3000, {"-1": 1500, "1": 1500}, {}),
    ("wmt/newstest2013.en.gz", 3000, None, {}),
    ("xnli/test-en.tsv.gz", 5010, {"contradiction": 1670, "entailment": 1670, "neutral": 1670}, {}),
]
NOT_DATASETS = [
    "anli/verifier_labels_R1-3.jsonl.gz",
    "artefact_tokens/snli_token_artefacts.csv",
    "hans/hans_gold_by_position.tsv.gz",
    "golden/peco_snli/cluster_50_l2.csv",
]


@pytest.mark.parametrize(("file", "rows", "labels", "dropped"), FILES, ids=[row[0] for row in FILES])
def test_counts_are_those_of_the_readme(data_dir, file, rows, labels, dropped):
    dataset = read_dataset(data_dir / file)
    assert dataset.provenance.n_read == rows
    assert dict(dataset.provenance.dropped) == dropped
    assert len(dataset) == rows - sum(dropped.values())
    if labels is None:
        assert dataset.label_names == ()
    else:
        assert dict(dataset.examples["label"].value_counts().iter_rows()) == labels
        assert dataset.labels().max() == len(labels) - 1
    assert dataset.examples["example_id"].n_unique() == len(dataset)
    for role in dataset.text_columns:
        assert all(text.strip() for text in dataset.texts(role))


@pytest.mark.parametrize("file", [row[0] for row in FILES if row[0].endswith((".tsv.gz", ".csv.gz"))])
def test_fields_are_those_of_the_standard_library(data_dir, file):
    data = gzip.decompress((data_dir / file).read_bytes())
    separator = "," if ".csv" in file else "\t"
    parsed = parse_delimited(data, separator, data_dir / file)
    quoting = csv.QUOTE_MINIMAL if parsed.quoted else csv.QUOTE_NONE
    text = data.decode("utf-8")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, quoting=quoting, strict=parsed.quoted)
    csv.field_size_limit(1 << 30)
    rows = list(reader)
    assert list(parsed.columns.iter_rows()) == [tuple(row) for row in rows[1:]]


def test_files_that_keep_their_own_quoting_are_read_as_quoted(data_dir):
    dataset = read_dataset(data_dir / "counterfactual_nli/all_combined_train.tsv.gz")
    texts = [text for role in dataset.text_columns for text in dataset.texts(role)]
    assert any('"' in text for text in texts)
    assert not any('""' in text for text in texts)


@pytest.mark.parametrize("file", NOT_DATASETS)
def test_files_without_text_are_refused(data_dir, file):
    with pytest.raises(InputError, match="no column is known to hold text"):
        read_dataset(data_dir / file)


def test_rows_align_with_the_predictions_of_the_readme(data_dir):
    with_dashes = read_dataset(data_dir / "snli/test.tsv.gz")
    ids = with_dashes.examples["example_id"].to_list()
    assert ids[-1] == "9999"
    assert ids != [str(i) for i in range(len(ids))]
    assert read_dataset(data_dir / "multinli/dev_matched.tsv.gz").examples["example_id"].to_list()[:2] == ["0", "1"]


def test_sick_is_split_by_its_own_column(data_dir):
    sick = read_dataset(data_dir / "sick/SICK.txt.gz")
    assert {name: len(part) for name, part in sick.parts.items()} == {"train": 4439, "dev": 495, "test": 4906}
    assert sick.provenance.roles["label"] == "entailment_label"
    assert sick.provenance.roles["premise"] == "sentence_A"


def test_gold_comes_before_one_annotator(data_dir):
    dataset = read_dataset(data_dir / "multinli/dev_matched.tsv.gz")
    assert dataset.provenance.roles["label"] == "gold_label"
    assert "one_annotator_label" in dataset.examples.columns


def test_newsgroups_take_their_group_as_label_when_told(data_dir):
    dataset = read_dataset(data_dir / "newsgroups20/20_newsgroup.jsonl.gz", columns="label=group,id=group+id")
    assert len(dataset.label_names) == 20
    assert dataset.groups == ()


def test_sts_sources_are_groups(data_dir):
    dataset: Dataset = read_dataset(data_dir / "stsb/sts-dev.tsv.gz")
    assert dataset.groups == ("genre", "file")
    counts = dict(dataset.examples["file"].value_counts().iter_rows())
    assert counts["MSRvid"] == 250
    assert counts["answers-forums"] == 375
    with pytest.raises(InputError, match="scores, not classes"):
        dataset.labels()


@pytest.mark.parametrize("part", ["easy", "hard"])
def test_pairs_without_header(data_dir, part):
    dataset = read_dataset(data_dir / f"golden/hyponli/snli_test_{part}_lambda0.7.tsv.gz")
    assert dataset.provenance.format == "bare-pairs"
    assert dataset.provenance.n_read == {"easy": 3056, "hard": 886}[part]
