from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from goldassay.data.fields import normalized_text
from goldassay.data.reading import read_dataset
from goldassay.data.splits import BRIDGES, columns_to_split_by, split_disjoint
from tests.stated import in_order


def sentences(dataset):
    return {normalized_text(text) for role in dataset.text_columns for text in dataset.texts(role)}


def pairs(premises, hypotheses, labels):
    return Dataset.from_frame({"premise": premises, "hypothesis": hypotheses, "label": labels})


def test_normalized_text():
    assert normalized_text("  A  MAN\tsleeps. ") == "a man sleeps."
    assert normalized_text("Straße") == normalized_text("STRASSE")


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(0, 60), st.sampled_from("abc")),
        min_size=30,
        max_size=120,
        unique=True,
    ),
    st.integers(0, 3),
)
def test_no_sentence_is_in_both_parts(rows, seed):
    dataset = pairs([f"P {p}" for p, _, _ in rows], [f"h {h}" for _, h, _ in rows], [label for *_, label in rows])
    try:
        train, test = split_disjoint(dataset, 0.3, seed)
    except InputError:
        return
    assert not sentences(train) & sentences(test)
    lost = train.provenance.dropped.get(BRIDGES, 0) + test.provenance.dropped.get(BRIDGES, 0)
    assert len(train) + len(test) + lost == len(dataset)
    kept = [*train.examples["example_id"], *test.examples["example_id"]]
    assert len(set(kept)) == len(kept)


def test_components_stay_whole_where_they_can():
    n = 300
    dataset = pairs([f"p {i // 3}" for i in range(n)], [f"h {i}" for i in range(n)], ["a", "b", "c"] * (n // 3))
    train, test = split_disjoint(dataset, 0.2, 0)
    assert (len(train), len(test)) == (240, 60)
    assert not train.provenance.dropped
    assert not test.provenance.dropped
    assert np.bincount(test.labels()).tolist() == [20, 20, 20]
    assert test.label_names == train.label_names == ("a", "b", "c")


def test_a_component_too_large_is_broken_up_by_premise():
    rng = np.random.default_rng(0)
    n = 2000
    hypotheses = [f"common {k}" if k < 300 else f"own {i}" for i, k in enumerate(rng.integers(0, 600, n))]
    dataset = pairs([f"p {i // 4}" for i in range(n)], hypotheses, list(rng.choice(["a", "b"], n)))
    train, test = split_disjoint(dataset, 0.2, 1)
    assert not sentences(train) & sentences(test)
    lost = train.provenance.dropped.get(BRIDGES, 0) + test.provenance.dropped.get(BRIDGES, 0)
    assert lost == n - len(train) - len(test) > 0
    assert 100 < len(test) < 420
    assert "were dropped" in test.provenance.decisions[-1]


def test_case_and_spaces_do_not_make_another_sentence():
    dataset = Dataset.from_frame({"text": ["A man.", "a  MAN.", "b", "c", "d", "e", "f", "g", "h", "i"]})
    for seed in range(10):
        train, test = split_disjoint(dataset, 0.3, seed)
        assert not sentences(train) & sentences(test)


def test_seed_decides():
    dataset = Dataset.from_frame({"text": [f"t {i}" for i in range(100)], "label": ["a", "b"] * 50})
    first, again, other = (split_disjoint(dataset, 0.2, seed)[1].texts("text") for seed in (0, 0, 1))
    assert first == again != other
    assert len(first) == 20


def test_scores_and_unlabelled_data_are_split_too():
    assert len(split_disjoint(Dataset.from_frame({"text": list("abcdefghij")}))[1]) == 2


def test_what_cannot_be_split_is_refused():
    with pytest.raises(InputError, match="cannot be split"):
        split_disjoint(Dataset.from_frame({"text": ["a", "a", "a"]}))
    with pytest.raises(InputError, match="share of the test part"):
        split_disjoint(Dataset.from_frame({"text": ["a", "b"]}), share=1.0)


@pytest.mark.parametrize("file", ["snli/train_sample_18k.tsv.gz", "sick/SICK.txt.gz", "breaking_nli/dataset.jsonl.gz"])
def test_real_files_split_near_the_share(data_dir, file):
    dataset = read_dataset(data_dir / file)
    train, test = split_disjoint(dataset)
    assert not sentences(train) & sentences(test)
    assert abs(len(test) / len(dataset) - 0.2) < 0.02
    shares = [np.bincount(part.labels(), minlength=3) / len(part) for part in (train, test)]
    assert np.abs(shares[0] - shares[1]).max() < 0.03


def test_only_the_named_texts_must_differ():
    n = 60
    dataset = pairs([f"p {i}" for i in range(n)], [f"h {i % 3}" for i in range(n)], ["a", "b", "c"] * (n // 3))
    train, test = split_disjoint(dataset, 0.2, 0, roles=["premise"])
    assert (len(train), len(test)) == (48, 12)
    assert not set(train.texts("premise")) & set(test.texts("premise"))
    assert set(train.texts("hypothesis")) & set(test.texts("hypothesis"))
    assert "no premise being in both parts" in test.provenance.decisions[-1]
    for roles in (["text"], []):
        with pytest.raises(InputError, match="choose from premise, hypothesis"):
            split_disjoint(dataset, roles=roles)


def batches(n: int = 120, size: int = 2) -> Dataset:
    rows = [{"text": f"row {i} of {i * 7919 % 1000}", "label": "ab"[i % 2], "batch": f"b{i // size}"} for i in range(n)]
    return Dataset.from_frame(rows, columns={"group": "batch"})


def together(parts: tuple[Dataset, Dataset], column: str) -> int:
    """Values that stand in both parts."""
    train, test = (set(part.examples[column].drop_nulls().to_list()) - {""} for part in parts)
    return len(train & test)


@pytest.mark.parametrize("seed", range(4))
def test_no_group_is_in_both_parts(seed: int):
    dataset = batches()
    parts = split_disjoint(dataset, 0.2, seed)
    assert together(parts, "batch") == 0
    assert (len(parts[0]), len(parts[1])) == (96, 24)
    assert "no sentence and no batch being in both parts" in parts[1].provenance.decisions[-1]
    assert together(split_disjoint(dataset, 0.2, seed, by=()), "batch") > 5


def test_columns_to_split_by_can_be_named():
    rows = [{"text": f"row {i}", "label": "ab"[i % 2], "writer": f"w{i % 30}"} for i in range(300)]
    dataset = Dataset.from_frame(rows)
    assert together(split_disjoint(dataset), "writer") > 20
    assert together(split_disjoint(dataset, by=["writer"]), "writer") == 0
    with pytest.raises(InputError, match=in_order("no column 'writr'", "text, label, writer, or none")):
        split_disjoint(dataset, by=["writr"])
    nested = Dataset.from_frame([{**row, "w": {"writer": row.pop("writer")}} for row in rows])
    by_field = split_disjoint(nested, by=["w.writer"])
    assert [part.texts("text") for part in by_field] == [
        part.texts("text") for part in split_disjoint(dataset, by=["writer"])
    ]
    assert "w.writer" not in by_field[0].examples.columns
    assert columns_to_split_by(None) is None
    assert columns_to_split_by("none") == ()
    assert columns_to_split_by("a, b,a") == ("a", "b")


def test_groups_hold_where_sentences_chain_all_rows_and_a_missing_group_is_none():
    n = 400
    rows = [
        {"premise": f"p {i // 8}", "hypothesis": f"h {(i + 4) // 8}", "label": "ab"[i % 2], "group": f"g{i // 8}"}
        for i in range(n)
    ]
    parts = split_disjoint(Dataset.from_frame(rows))
    assert together(parts, "group") == 0
    assert not sentences(parts[0]) & sentences(parts[1])
    assert len(parts[1]) > 0
    for row in rows[: n // 2]:
        row["group"] = ""
    dataset = Dataset.from_frame(rows, columns={"group": "group"})
    assert together(split_disjoint(dataset), "group") == 0


def test_near_copies_stay_together():
    base = [
        f"the {a} {b} is sleeping in the garden of {c}" for a in "abcdefgh" for b in "ijklm" for c in ("ann", "bob")
    ]
    dataset = Dataset.from_frame({"text": [t for text in base for t in (text, f"{text}.")], "label": ["a", "b"] * 80})

    def copies(parts: tuple[Dataset, Dataset]) -> int:
        train, test = ({text.rstrip(".") for text in part.texts("text")} for part in parts)
        return len(train & test)

    assert copies(split_disjoint(dataset, near_copies=False)) > 10
    parts = split_disjoint(dataset)
    assert copies(parts) == 0
    assert "near copies count as the same" in parts[0].provenance.decisions[-1]
    assert parts[0].provenance.kept_together == ("near copies",)


def test_where_all_texts_are_near_copies_they_are_split_by_exact_sentences():
    dataset = Dataset.from_frame({"text": [f"one long template of all texts, number {i}" for i in range(60)]})
    train, test = split_disjoint(dataset)
    assert (len(train), len(test)) == (48, 12)
    assert "Near copies are in both parts" in test.provenance.decisions[-1]
    assert test.provenance.kept_together == ()
    assert split_disjoint(batches())[0].provenance.kept_together == ("rows with the same batch",)


def test_counterfactual_pairs_are_not_torn_apart(data_dir):
    dataset = read_dataset(data_dir / "counterfactual_imdb" / "paired_dev.tsv.gz")
    assert dataset.cluster_columns == ("batch_id",)
    torn = split_disjoint(dataset, by=(), near_copies=False)
    assert together(torn, "batch_id") > 50
    assert together(split_disjoint(dataset), "batch_id") == 0
