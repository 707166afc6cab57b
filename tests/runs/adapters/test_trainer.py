from __future__ import annotations

import io
import json
import pickle
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goldassay.core.errors import InputError
from goldassay.runs.curves import run_folder
from goldassay.runs.reading import list_runs, read_runs
from tests.stated import in_order

WRITTEN = Path(__file__).parents[1] / "fixtures" / "trainer"
LABELS = ("entailment", "neutral", "contradiction")


def logged(seed: int, metric: str) -> float:
    history = json.loads((WRITTEN / f"tiny-bert/seed_{seed}/trainer_state.json").read_text())["log_history"]
    return float([entry[metric] for entry in history if metric in entry][-1])


def test_what_the_tool_wrote() -> None:
    rows = list_runs(WRITTEN / "tiny-bert").to_dicts()
    assert [(row["dataset"], row["n_runs"], row["n_checkpoints"], row["n_examples"]) for row in rows] == [
        ("easy", 3, 1, 18),
        ("hard", 3, 1, 30),
        ("plain", 3, 4, 24),
    ]
    assert {(row["model"], row["format"], *row["seeds"]) for row in rows} == {("tiny-bert", "trainer", "1", "2", "3")}


def test_logits_of_checkpoints_score_as_the_tool_logged() -> None:
    runs = read_runs(WRITTEN, dataset="plain")
    assert runs.label_names == LABELS
    assert runs.checkpoints is not None
    assert runs.checkpoints.tolist() == ["16", "32", "48", "final"]
    assert runs.logits is not None
    assert runs.logits.shape == (3, 4, 24, 3)
    final = runs.final().scores.mean(axis=1)
    assert final.tolist() == pytest.approx([logged(seed, "eval_plain_accuracy") for seed in (1, 2, 3)])
    assert (runs.scores[:, 2] == runs.scores[:, 3]).all()


def test_names_of_labels_scored_by_gold() -> None:
    with pytest.raises(InputError, match=in_order("tiny-bert on hard", "predictions", "no gold labels")):
        read_runs(WRITTEN, dataset="hard")
    runs = read_runs(WRITTEN, dataset="hard", gold=WRITTEN / "hard_gold.tsv")
    assert runs.scores.mean(axis=1).tolist() == pytest.approx([logged(k, "eval_hard_accuracy") for k in (1, 2, 3)])


def test_arrays_without_an_archive() -> None:
    runs = read_runs(WRITTEN, dataset="easy")
    saved = [np.load(WRITTEN / f"tiny-bert/seed_{seed}/predictions_easy.npy") for seed in (1, 2, 3)]
    assert runs.logits is not None
    assert np.array_equal(runs.logits, np.stack(saved))
    assert runs.gold is not None
    assert runs.gold.tolist() == np.load(WRITTEN / "tiny-bert/seed_1/label_ids_easy.npy").tolist()


@pytest.mark.parametrize(
    ("folder", "model", "seed", "checkpoint", "dataset"),
    [
        ("bert/seed_3", "bert", 3, None, ""),
        ("bert/seed_3/checkpoint-50", "bert", 3, 50, ""),
        ("x/bert-base-seed-7", "bert-base", 7, None, ""),
        ("x/bert_seed=7/checkpoint-1", "bert", 7, 1, ""),
        ("bert/seed1/mnli", "bert", 1, None, "mnli"),
        ("bert/42/checkpoint-9", "bert", 42, 9, ""),
        ("outputs/bert-large", "bert-large", 0, None, ""),
    ],
)
def test_model_seed_and_checkpoint_from_folders(
    folder: str, model: str, seed: int, checkpoint: int | None, dataset: str
) -> None:
    found = run_folder(Path("/somewhere") / folder)
    assert (found.model, found.seed, found.checkpoint, found.dataset) == (model, seed, checkpoint, dataset)


def test_folders_without_seeds_are_models(tmp_path: Path) -> None:
    for name in ("bert-a", "bert-b"):
        shutil.copytree(WRITTEN / "tiny-bert/seed_1", tmp_path / name)
    assert list_runs(tmp_path)["model"].unique().sort().to_list() == ["bert-a", "bert-b"]
    assert read_runs(tmp_path, model="bert-*", dataset="easy").seeds.tolist() == ["bert-a", "bert-b"]


def save(folder: Path, predictions: Any, label_ids: Any, config: Any = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / "predictions.npz", predictions=predictions, label_ids=label_ids)
    if config is not None:
        (folder / "config.json").write_text(config if isinstance(config, str) else json.dumps(config))
    return folder / "predictions.npz"


def test_codes_and_missing_labels(tmp_path: Path) -> None:
    runs = read_runs(save(tmp_path / "m/seed_1", np.array([0, 1, 2]), np.array([0, 1, 1])))
    assert (runs.label_names, runs.scores.tolist(), runs.dataset) == (("0", "1", "2"), [[1, 1, 0]], "dataset")
    # A test set without labels, as GLUE's are.
    path = save(tmp_path / "m/seed_2", np.eye(3), np.full(3, -1))
    with pytest.raises(InputError, match="no gold labels"):
        read_runs(path)
    named = {"id2label": {"2": "c", "0": "a", "1": "b"}}
    path = save(tmp_path / "m/seed_3", np.eye(3), np.array([0, 1, 2]), named)
    assert read_runs(path).label_names == ("a", "b", "c")
    assert read_runs(path, label_names=["x", "y", "z"]).label_names == ("x", "y", "z")
    unnamed = {"id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}}
    assert read_runs(save(tmp_path / "m/seed_3", np.eye(3), np.array([0, 1, 2]), unnamed)).label_names == (*"012",)


@pytest.mark.parametrize(
    ("predictions", "label_ids", "config", "said"),
    [
        (np.ones(3), np.ones(3), None, "as of a regression"),
        (np.ones((3, 1)), np.ones(3), None, "as of a regression"),
        (np.ones((3, 5, 2)), np.ones((3, 5), dtype=int), None, "neither a logit a class nor a code"),
        (np.array(["a"]), np.array([0]), None, "neither a logit a class nor a code"),
        (np.eye(3), np.array([0, 1]), None, "not one whole number for each of 3"),
        (np.eye(3), np.ones(3), None, "not one whole number for each of 3"),
        (np.eye(3), np.array([0, -100, 1]), None, "1 of 3 examples have no label"),
        (np.eye(3), np.array([0, 1, 7]), {"id2label": {"0": "a", "1": "b", "2": "c"}}, "up to 7, but 3 labels"),
        (np.eye(3), np.array([0, 1, 2]), {"id2label": {"0": "a", "1": "b"}}, "up to 2, but 2 labels"),
        (np.eye(3)[:2], np.array([0, 1]), {"id2label": {"0": "a", "1": "b"}}, "3 classes, but there are 2"),
        (np.eye(3), np.array([0, 1, 2]), {"id2label": {"x": "a"}}, "does not number"),
        (np.eye(3), np.array([0, 1, 2]), "{", "not JSON"),
        (np.eye(3), np.array([0, 1, 2]), "[]", "not hold one JSON object"),
        (np.array([[np.nan, 1.0]]), np.array([0]), None, "not a number"),
    ],
)
def test_what_is_refused(tmp_path: Path, predictions: Any, label_ids: Any, config: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_runs(save(tmp_path / "m/seed_1", predictions, label_ids, config))


class Trap:
    """Unpickled, it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return (open, (str(self.path), "w"))


def test_no_pickle_is_ever_opened(tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    trap = np.array([Trap(sprung)], dtype=object)
    folder = tmp_path / "m/seed_1"
    folder.mkdir(parents=True)
    np.savez(folder / "predictions.npz", predictions=trap, label_ids=trap)
    np.save(folder / "predictions.npy", trap)
    (folder / "plain.npz").write_bytes(pickle.dumps(Trap(sprung)))
    for name in ("out.pkl", "training_args.bin", "scores.csv", "predict_results.txt", "run.parquet", "log.eval"):
        (folder / name).write_bytes(pickle.dumps(Trap(sprung)))
    # Protocol 0 is text without a mark at its start; torch writes pickles into zip archives.
    (folder / "old.csv").write_bytes(pickle.dumps(Trap(sprung), protocol=0))
    with zipfile.ZipFile(folder / "weights.pt", "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Trap(sprung)))
    for file in sorted(folder.iterdir()):
        with pytest.raises(InputError):
            read_runs(file)
    with pytest.raises(InputError, match="pickle"):
        read_runs(folder)
    assert not sprung.exists()
    pickle.loads((folder / "out.pkl").read_bytes()).close()
    assert sprung.exists()


def test_damaged_arrays(tmp_path: Path) -> None:
    path = save(tmp_path / "m/seed_1", np.eye(3), np.array([0, 1, 2]))
    whole = path.read_bytes()
    for size in range(10, len(whole), 37):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match="damaged or cut short"):
            read_runs(path)
    # A header that claims more than any memory holds.
    claim = io.BytesIO()
    np.lib.format.write_array_header_1_0(claim, {"descr": "<f8", "fortran_order": False, "shape": (10**12, 3)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("predictions.npy", claim.getvalue())
        archive.writestr("label_ids.npy", claim.getvalue())
    for claiming in (path, path.with_suffix(".npy")):
        if claiming.suffix == ".npy":
            claiming.write_bytes(claim.getvalue())
        with pytest.raises(InputError, match=r"damaged|than memory holds"):
            read_runs(claiming)


def test_damaged_tables(tmp_path: Path) -> None:
    path = tmp_path / "predict_results_sst.txt"
    for text, said in [
        ("index\tprediction\n", "no predictions"),
        ("index\tprediction\n0\ta\n1", "line 3, column 'prediction'"),
        ("index\tprediction\n0\t2.512\n1\t-3.100\n", "as of a regression"),
    ]:
        path.write_text(text)
        with pytest.raises(InputError, match=said):
            read_runs(path)
