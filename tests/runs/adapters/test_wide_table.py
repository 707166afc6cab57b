from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from goldassay.runs.reading import list_runs, read_runs
from tests.stated import in_order

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def write(path: Path, columns: dict[str, Sequence[Any]]) -> Path:
    pl.DataFrame(columns).write_csv(path, separator="\t")
    return path


def test_rows_of_several_runs_are_no_columns_of_one(tmp_path: Path) -> None:
    """They were taken for two examples of one run."""
    (tmp_path / "runs.csv").write_text("prediction,label,seed\nx,x,1\nx,x,2\n")
    with pytest.raises(InputError, match="no runs were recognized"):
        read_runs(tmp_path / "runs.csv")


def test_a_score_of_rows_of_data_is_no_run(tmp_path: Path) -> None:
    """SICK rates its pairs from 1 to 5."""
    pairs = {"sentence_A": ["It rains.", "He runs."], "sentence_B": ["It pours.", "He sits."], "label": ["a", "b"]}
    rated = write(tmp_path / "sick.tsv", {**pairs, "relatedness_score": [4.5, 3.2]})
    with pytest.raises(InputError, match="labelled texts"):
        list_runs(rated)
    assert list_runs(write(tmp_path / "b.tsv", {**pairs, "bert_score": [0, 1]}))["model"].to_list() == ["bert"]
    graded = read_runs(rated, grades="1:5")
    assert graded.scores.tolist() == [[pytest.approx(0.875), pytest.approx(0.55)]]


def test_columns_of_seeds_are_runs_of_one_model(tmp_path: Path) -> None:
    path = write(
        tmp_path / "dev.tsv", {"row": [0, 1], "gold_label": ["a", "b"], "seed_1": ["a", "a"], "seed_2": ["b", "b"]}
    )
    runs = read_runs(path)
    assert runs.seeds.tolist() == [1, 2]
    assert runs.dataset == "dev"
    assert runs.scores.tolist() == [[1, 0], [0, 1]]


def test_other_columns_are_models(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", {"id": ["x", "y"], "label": ["a", "b"], "bert": ["a", "b"], "t5": ["b", "b"]})
    assert list_runs(path)["model"].to_list() == ["bert", "t5"]
    assert read_runs(path, model="t5").scores.tolist() == [[0, 1]]
    together = read_runs(path, model="*")
    assert together.seeds.tolist() == ["bert", "t5"]
    with pytest.raises(InputError, match="no model is called"):
        read_runs(path, model="z*")


def test_names_of_model_and_seed(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", {"id": [1, 2], "label": ["a", "b"], "m_seed1": ["a", "b"], "m_seed2": ["b", "b"]})
    runs = read_runs(path)
    assert (runs.model, runs.seeds.tolist()) == ("m", [1, 2])


def test_prefixes_say_what_a_column_holds(tmp_path: Path) -> None:
    columns = {"id": [1, 2], "label": [0, 1], "pred_m": [0, 0], "pred_n": [1, 1]}
    assert read_runs(write(tmp_path / "t.tsv", columns), model="n").scores.tolist() == [[0, 1]]
    columns = {"id": [1, 2], "label": [0, 1], "correct_m": [0, 0]}
    assert read_runs(write(tmp_path / "t.tsv", columns)).scores.tolist() == [[0, 0]]


def test_zeros_and_ones_without_labels_need_a_word(tmp_path: Path) -> None:
    columns = {"id": [1, 2], "seed_1": [0, 1]}
    with pytest.raises(InputError, match="may be labels or correctness"):
        read_runs(write(tmp_path / "t.tsv", columns))
    assert read_runs(write(tmp_path / "t_correct.tsv", columns)).scores.tolist() == [[0, 1]]
    fractions = {"id": [1, 2], "seed_1": [0.5, 1]}
    assert read_runs(write(tmp_path / "u.tsv", fractions)).scores.tolist() == [[0.5, 1]]


def test_texts_are_not_runs(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", {"id": [1, 2], "premise": ["one", "two"], "label": ["a", "b"]})
    with pytest.raises(InputError, match="no runs were recognized"):
        read_runs(path)


NLI = {"0": "contradiction", "1": "entailment", "2": "neutral"}


@pytest.mark.parametrize(
    ("name", "gold", "n", "mean"),
    [
        ("mnli", "multinli/dev_matched.tsv.gz", 9815, 84.72033),
        ("hans", "hans/hans_gold_by_position.tsv.gz", 30_000, 62.30733),
    ],
)
def test_published_predictions_of_ten_seeds(data_dir: Path, name: str, gold: str, n: int, mean: float) -> None:
    table = pl.read_csv(data_dir / gold, separator="\t", quote_char=None, infer_schema=False)
    table = table.select(example_id=pl.int_range(pl.len()).cast(pl.String), label="gold_label")
    labels = tuple(table["label"].unique().sort())
    runs = read_runs(
        data_dir / f"predictions/instability_bert_base/{name}.preds.tsv.gz",
        gold=Dataset(table, (), labels, name),
        labels={**NLI, "0": "non-entailment", "2": "non-entailment"} if name == "hans" else NLI,
    )
    assert (runs.n_runs, runs.n_examples, runs.dataset) == (10, n, name)
    assert runs.scores.mean() * 100 == pytest.approx(mean, abs=5e-6)


def test_published_correctness_of_many_models(data_dir: Path) -> None:
    path = data_dir / "predictions/snli_test_runs/correct.tsv.gz"
    summary = pl.read_csv(data_dir / "predictions/snli_test_runs/runs.tsv", separator="\t")
    assert list_runs(path)["model"].to_list() == sorted(summary["run"])
    runs = read_runs(path, model="bert-base-cased_snli_std_test_*0.05")
    assert runs.n_runs == 3
    expected = {row["run"]: row["accuracy"] for row in summary.to_dicts()}
    for name, scores in zip(runs.seeds, runs.scores, strict=True):
        assert scores.mean() == pytest.approx(expected[name], abs=1e-6)


def test_published_predictions_of_single_models(data_dir: Path) -> None:
    path = data_dir / "predictions/snli_test_other_models.tsv.gz"
    assert "mistral" in list_runs(path)["model"].to_list()
    with pytest.raises(InputError, match=in_order("323 of 9824 examples", "seed 0", "no prediction", "41, 48")):
        read_runs(path, model="mistral", missing="refuse")
    assert read_runs(path, model="mistral").scores.mean() == pytest.approx(0.6005, abs=5e-5)
    answered = read_runs(path, model="mistral", align="intersect")
    assert answered.n_examples == 9824 - 323
    # The published accuracy counts an answer that is missing as wrong.
    assert answered.scores.sum() / 9824 == pytest.approx(0.6005, abs=5e-5)
    runs = read_runs(path, model="deberta")
    assert runs.label_names == ("entailment", "neutral", "contradiction")
    assert 0.85 < runs.scores.mean() < 0.95


def test_anli_models(data_dir: Path) -> None:
    path = data_dir / "anli/ANLI_analysis_r1_dev.csv.gz"
    models = list_runs(path)
    assert models.height == 8
    assert "bert-r1" in models["model"].to_list()
    # The model that the annotators were to fool, and did.
    # What the writers of the examples were to fool is a column of its own style: adversary_pred.
    assert "adversary" not in models["model"].to_list()
    runs = read_runs(path, model="anli-albert-xxlarge")
    assert runs.n_examples == 1000
    assert 0.6 < runs.scores.mean() < 0.9


def test_sst2_and_xnli_systems(data_dir: Path) -> None:
    sst2 = data_dir / "sst2/test_labelled.tsv.gz"
    assert read_runs(sst2, model="cnn").scores.mean() == pytest.approx(0.8572, abs=5e-5)
    assert read_runs(sst2, model="lstm").scores.mean() == pytest.approx(0.8803, abs=5e-5)
    assert list_runs(data_dir / "xnli/test-en.tsv.gz")["model"].to_list() == ["mlpp", "mt5base"]


def test_missing_labels_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("id\tlabel\tpred_m\nx\ta\ta\ny\t\tb\n")
    with pytest.raises(InputError, match="1 labels are missing, first of example y"):
        read_runs(path)
