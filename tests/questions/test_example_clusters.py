"""Examples that share a text or a group are drawn together in every question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import goldassay
from goldassay.cli.main import run
from goldassay.core.errors import InputError
from goldassay.core.progress import silent
from goldassay.core.settings import parse_settings
from goldassay.data.dataset import Dataset
from goldassay.data.reading import read_dataset
from goldassay.data.row_keys import text_codes
from goldassay.questions.artifacts import subsets
from goldassay.questions.artifacts.inputs import Bounds
from goldassay.questions.example_clusters import check_cluster_columns, clusters_of, example_clusters
from goldassay.questions.leakage import question
from goldassay.questions.shift.answers import Answers
from goldassay.questions.shift.gaps import measure_gaps
from goldassay.questions.shift.groups import Group
from goldassay.stats.clusters import connected_rows
from tests.stated import in_order, says, states

if TYPE_CHECKING:
    from pathlib import Path


def pairs(premises: list[str]) -> Dataset:
    rows = [
        {"id": f"e{i}", "premise": premise, "hypothesis": f"h{i}", "label": "yes" if i % 2 else "no"}
        for i, premise in enumerate(premises)
    ]
    return Dataset.from_frame(rows, name="pairs")


def spread(premises: list[str]) -> Dataset:
    """Those premises, and enough others that no cluster has more than a fifth of the rows."""
    return pairs([*premises, *(f"other {i}" for i in range(20))])


def test_examples_that_share_a_text_are_one_cluster() -> None:
    found = clusters_of(spread(["A man.", "b", "a  MAN."]))
    assert found is not None
    assert found[:3].tolist() == [0, 1, 0]
    shared = Dataset.from_frame(
        {"premise": [f"p{i}" for i in range(20)], "hypothesis": ["h", "h", *(f"h{i}" for i in range(18))]}
    )
    assert example_clusters(shared).n_clusters == 19
    single = Dataset.from_frame({"text": ["a", "a", *(f"t{i}" for i in range(18))]})
    assert example_clusters(single).taken == says("same text", "19 clusters of 20 rows")


def test_the_order_is_that_of_the_examples_asked_for() -> None:
    dataset = spread(["a", "b", "a", "c"])
    found = clusters_of(dataset, np.array(["e3", "e0", "e2", *(f"e{i}" for i in range(4, 20))]))
    assert found is not None
    assert found[:4].tolist() == [0, 1, 1, 2]
    assert clusters_of(dataset, np.array(["e3", "elsewhere"])) is None


def test_where_nothing_recurs_or_all_is_one_there_are_none() -> None:
    assert clusters_of(None) is None
    assert clusters_of(pairs(["a", "b", "c"])) is None
    assert clusters_of(pairs(["a"] * 30)) is None
    assert example_clusters(pairs(["a"] * 30)).taken == says("by itself", "premise and hypothesis", "100 %")


def rows_of_writers() -> list[dict[str, str]]:
    return [
        {"text": f"t{i}", "label": "yes" if i % 2 else "no", "writer": f"w{i // 3}", "genre": f"g{i % 10}"}
        for i in range(60)
    ]


def test_a_column_given_as_group_adds_to_the_clusters_and_a_kind_of_rows_does_not() -> None:
    dataset = Dataset.from_frame(rows_of_writers())
    assert dataset.groups == ("genre",)
    assert clusters_of(dataset) is None
    given = Dataset.from_frame(rows_of_writers(), columns={"group": "writer"})
    assert given.cluster_columns == ("writer",)
    assert example_clusters(given).taken == says("same text or writer", "20 clusters of 60 rows")
    named = pl.DataFrame(rows_of_writers()).rename({"writer": "batch_id"})
    assert example_clusters(Dataset.from_frame(named)).n_clusters == 20


def test_columns_can_be_chosen() -> None:
    dataset = Dataset.from_frame(rows_of_writers(), columns={"group": "writer"})
    assert example_clusters(dataset, "none").taken == "Each row counts by itself, as chosen."
    assert clusters_of(dataset, by="none") is None
    assert example_clusters(dataset, "genre").n_clusters == 10
    n_pairs = dataset.examples.select(pl.struct("genre", "writer").n_unique()).item()
    assert example_clusters(dataset, "genre+writer").n_clusters == n_pairs > 20
    assert check_cluster_columns("genre+writer", dataset) is None
    with pytest.raises(InputError, match=in_order("no column 'writr'", "text, label, writer")):
        example_clusters(dataset, "text, writr")


def test_a_missing_value_joins_nothing() -> None:
    values = ["w0", "w0", None, "", "  "] * 8
    rows = {"text": [f"t{i}" for i in range(40)], "writer": values}
    assert example_clusters(Dataset.from_frame(rows), "writer").n_clusters == 1 + 24


def test_snli_test_has_3139_components_of_texts(data_dir: Path) -> None:
    """Of all 10,000 rows; 176 have no label, and without them a chain or two falls apart."""
    rows = read_dataset(data_dir / "snli" / "test.tsv.gz").provenance.n_read
    frame = pl.read_csv(
        data_dir / "snli" / "test.tsv.gz", separator="\t", quote_char=None, columns=["premise", "hypothesis"]
    )
    assert frame.height == rows == 10_000
    dataset = Dataset.from_frame(frame)
    exact = text_codes(dataset, dataset.text_columns)
    assert connected_rows(exact, n_alike=2).max() + 1 == 3139
    assert connected_rows(exact[:, :1]).max() + 1 == 3323
    labelled = read_dataset(data_dir / "snli" / "test_9824.tsv.gz")
    found = example_clusters(labelled)
    assert connected_rows(text_codes(labelled, labelled.text_columns), n_alike=2).max() + 1 == 3143
    # Near copies, such as a hypothesis with and without its full stop, join some more.
    assert (found.columns, found.n_clusters) == (("premise", "hypothesis"), 3071)
    assert example_clusters(labelled, "premise").n_clusters == 3323


def test_the_interval_of_a_score_on_another_distribution_draws_premises() -> None:
    """Ten copies of each of 40 pairs tell no more than the 40: the interval is about sqrt(10) times as wide."""
    right = np.repeat(np.random.default_rng(0).random(40) < 0.7, 10).astype(float)
    dataset = pairs([f"p{i // 10}" for i in range(400)])

    def answers(name: str) -> Answers:
        return Answers(
            model="m", train_set="", dataset=name, seeds=(0, 1), example_ids=np.array([f"e{i}" for i in range(400)]),
            scores=np.stack([right, right]), predictions=None, gold=None, logits=None, label_names=("no", "yes"),
            regression=False, file="",
        )  # fmt: skip

    group = Group("m", "m", "", answers("ID"), (answers("other"),))

    def measured(texts: dict[str, Dataset]) -> tuple[float, str]:
        rows, _ = measure_gaps([group], None, {}, texts=texts, seed=0, n_draws=500, progress=silent)
        (own,) = (row for row in rows if row.own)
        return own.high - own.low, own.interval_method

    (plain, one), (clustered, other) = measured({}), measured({"ID": dataset, "other": dataset})
    assert one == "bootstrap over examples and runs"
    assert other == "bootstrap over clusters of examples and runs"
    assert 2.4 < clustered / plain < 4


def test_a_column_that_no_set_has_is_refused_before_anything_is_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    def training(*_: object, **__: object) -> None:
        raise AssertionError("something was trained")

    monkeypatch.setattr(subsets, "train_probes", training)
    monkeypatch.setattr(question, "probe_evidence", training)
    train, test = spread(["a", "b"]), spread(["c", "d"])
    message = in_order("pairs:", "no column 'nothing'", "premise, hypothesis, label, or none")
    with pytest.raises(InputError, match=message):
        subsets.classify(train, test, Bounds(clusters="premise,nothing"))
    with pytest.raises(InputError, match=message):
        goldassay.measure_leakage(train, test, clusters="nothing")


def test_a_column_of_one_of_several_sets_will_do() -> None:
    other = Dataset.from_frame([{"text": "a", "label": "x", "writer": "w"}, {"text": "b", "label": "y", "writer": "v"}])
    check_cluster_columns("writer,premise", None, pairs(["a", "b"]), other)
    for kind in ("auto", "none"):
        check_cluster_columns(kind, other)
    with pytest.raises(InputError, match="choose from text, label, writer, or none"):
        check_cluster_columns("premise", other)


@pytest.mark.parametrize("command", ["assign train.jsonl --test train.jsonl", "downsample train.jsonl"])
def test_commands_that_only_mine_refuse_such_a_column_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    spread(["a", "b"]).examples.write_ndjson("train.jsonl")
    assert run(["artifacts", *command.split(), "--clusters", "nothing", "-q"]) == 2
    assert states(capsys.readouterr().err, "no column 'nothing'", "clusters")


@pytest.mark.parametrize(("texts", "by", "said"), [({}, "auto", True), ({}, "none", False), (None, "auto", False)])
def test_a_gap_without_texts_says_that_examples_count_one_by_one(
    texts: dict[str, str] | None, by: str, said: bool
) -> None:
    runs = {}
    for name, right in (("own", 0.9), ("far", 0.7)):
        rng = np.random.default_rng(len(name))
        runs[name] = [
            {"example_id": f"{name}-{i}", "label": "xy"[i % 2], "seed": seed, "model": "m",
             "prediction": "xy"[(i + (rng.random() > right)) % 2]}
            for seed in (1, 2) for i in range(120)
        ]  # fmt: skip
    gold = None if texts == {} else {
        name: [{"id": f"{name}-{i}", "text": f"{name} {i}", "label": "xy"[i % 2]} for i in range(120)] for name in runs
    }  # fmt: skip
    settings = parse_settings({"data": {"clusters": by}})
    report = goldassay.measure_shift(runs=runs, in_distribution="own", test=gold, settings=settings, draws=50)
    assert ("Without the texts of own, far" in report.summary()) == said
