"""A job that starts from a file of word vectors."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from goldassay.core.errors import InputError
from goldassay.lab.models import ALIASES, NETWORKS, find_network, full_name
from goldassay.lab.training.configured import configuration_of
from goldassay.lab.training.many_seeds import plan_jobs
from goldassay.lab.training.running import run_job
from goldassay.lab.training.snapshots import read_tensors
from tests.lab.training.made_data import made_pairs
from tests.stated import in_order


def planned(tmp_path, **options):
    words = {word for text in made_pairs().texts("premise") for word in text.split()}
    lines = [f"{word} {place} {place / 2} -1" for place, word in enumerate(sorted(words))]
    (tmp_path / "three.txt").write_text("\n".join(lines))
    given = {"model": "average", "tests": made_pairs(20, 1, "test"), "seeds": 1, "vectors": tmp_path / "three.txt"}
    return plan_jobs(made_pairs(), out=tmp_path / "runs", **{**given, **options})[0]


def test_frozen_vectors_are_kept_bit_by_bit_and_counted(tmp_path):
    job = planned(tmp_path, changes={"frozen": True, "epochs": 2, "min_count": 1})
    assert job.model == "word_average"
    assert configuration_of(job).sizes.vectors == 3
    done = run_job(job)
    assert 0 < done.words["found"] < done.words["known"]
    place = job.folder / "model"
    table = read_tensors(place / "weights.safetensors")[0]["vectors.weight"].numpy()
    kept = [row for row in table if row[2] == -1]
    assert len(kept) == done.words["found"]
    assert all(row[1] == row[0] / 2 for row in kept)


@pytest.mark.parametrize("sizes", ["desk", "published"])
def test_published_sizes_freeze_a_files_vectors_and_learn_fresh_ones(tmp_path, sizes):
    options = {"configuration": sizes, "dev": made_pairs(9, 2, "dev")}
    assert configuration_of(planned(tmp_path, **options)).sizes.frozen == (sizes == "published")
    fresh = configuration_of(planned(tmp_path, vectors=None, **options)).sizes
    assert not fresh.frozen
    assert fresh.vectors == (300 if sizes == "published" else 128)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"changes": {"vectors": 100}}, ("three.txt:", "3 numbers", "vectors=100")),
        ({"changes": {"frozen": True}, "vectors": None}, ("frozen vectors", "would be random")),
        ({"model": "bow"}, ("bag_of_words", "word vectors", "vectors")),
        ({"vectors": "nowhere.txt"}, "nowhere.txt: there is no such file"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_trained(tmp_path, options, message):
    with pytest.raises(InputError, match=in_order(message)):
        planned(tmp_path, **options)
    assert not (tmp_path / "runs" / "_jobs").exists()


def test_short_names_stand_for_networks_in_every_command():
    assert full_name("bow") == "bag_of_words"
    assert full_name("bilstm") == "bilstm"
    assert set(ALIASES.values()) <= set(NETWORKS)
    assert not set(ALIASES) & set(NETWORKS)
    assert find_network("conv") == "convnet"
    with pytest.raises(InputError, match="did you mean 'word_average'"):
        find_network("word-averge")
