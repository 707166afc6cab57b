"""Which precision a machine is given that has, or has not, instructions for 16 bits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import torch

from goldassay.cli.main import run
from goldassay.core.errors import InputError
from goldassay.core.settings import TrainingSettings
from goldassay.lab.training import precision, workers
from goldassay.lab.training.job import Job
from goldassay.lab.training.loop import Loop
from goldassay.lab.training.many_seeds import plan_jobs
from goldassay.lab.training.running import run_job
from goldassay.lab.training.snapshots import NO_SNAPSHOT
from tests.lab.training.made_data import made_pairs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def has(monkeypatch: pytest.MonkeyPatch, *instructions: str) -> None:
    """A processor with these instructions, and no GPU."""
    known: Mapping[str, bool] = {"avx2": True, "amx_bf16": False, **dict.fromkeys(instructions, True)}
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: known, raising=False)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)


@pytest.mark.parametrize(
    ("instructions", "chosen"),
    [
        ((), "float32"),
        # It multiplies 16 bits as 32.
        (("avx512_f", "avx512_bw"), "float32"),
        (("avx512_f", "avx512_bf16"), "bfloat16"),
        (("amx_bf16",), "bfloat16"),
        (("bf16",), "bfloat16"),
    ],
)
def test_processors(instructions: tuple[str, ...], chosen: str, monkeypatch: pytest.MonkeyPatch):
    has(monkeypatch, *instructions)
    assert precision.choose_precision("auto", "auto") == precision.choose_precision("auto", "cpu") == chosen


def test_instructions_that_torch_was_built_without_are_none(monkeypatch: pytest.MonkeyPatch):
    has(monkeypatch, "bf16")
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert precision.choose_precision("auto", "cpu") == "float32"


def test_a_torch_that_does_not_tell_computes_in_32_bits(monkeypatch: pytest.MonkeyPatch):
    has(monkeypatch, "amx_bf16")
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    assert precision.choose_precision("auto", "cpu") == "float32"


@pytest.mark.parametrize(("native", "chosen"), [(True, "bfloat16"), (False, "float32")])
def test_gpus(native: bool, chosen: str, monkeypatch: pytest.MonkeyPatch):
    has(monkeypatch)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: native or including_emulation)
    assert precision.choose_precision("auto", "auto") == precision.choose_precision("auto", "cuda") == chosen
    assert precision.choose_precision("auto", "cpu") == "float32"


def test_the_gpu_of_a_mac_computes_in_32_bits(monkeypatch: pytest.MonkeyPatch):
    has(monkeypatch, "bf16")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert precision.choose_precision("auto", "auto") == "float32"


@pytest.mark.parametrize(
    ("instructions", "native", "device", "chosen"),
    [
        ((), None, "auto", "float32"),
        (("amx_bf16",), None, "auto", "float32"),
        (("amx_bf16",), True, "cpu", "float32"),
        ((), True, "auto", "bfloat16"),
        ((), True, "cuda", "bfloat16"),
        ((), False, "auto", "float32"),
    ],
)
def test_where_nobody_asks_a_gpu_is_given_16_bits_and_a_processor_what_it_always_was(
    instructions: tuple[str, ...], native: bool | None, device: str, chosen: str, monkeypatch: pytest.MonkeyPatch
):
    has(monkeypatch, *instructions)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: native is not None)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: native or including_emulation)
    assert precision.unasked_precision(device) == chosen


@pytest.mark.parametrize("asked", ["float32", "bfloat16"])
def test_what_is_asked_for_is_done(asked: str, monkeypatch: pytest.MonkeyPatch):
    has(monkeypatch)
    assert precision.choose_precision(asked, "cpu") == asked


@pytest.mark.parametrize(("instructions", "chosen"), [((), "float32"), (("amx_bf16",), "bfloat16")])
def test_jobs_hold_what_was_chosen(
    instructions: tuple[str, ...], chosen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    has(monkeypatch, *instructions)
    tests = made_pairs(20, 1, "test")
    jobs = plan_jobs(
        made_pairs(40, 0), "ngram_average", tests, out=tmp_path, seeds=2, changes={"epochs": 1}, precision="auto"
    )
    assert {job.precision for job in jobs} == {chosen}


@pytest.mark.parametrize(
    ("instructions", "asked", "warns"),
    [((), "bfloat16", True), ((), "float32", False), (("amx_bf16",), "bfloat16", False)],
)
def test_slow_products_are_warned_of(
    instructions: tuple[str, ...],
    asked: str,
    warns: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    from goldassay.core.errors import SHELL, entered
    from goldassay.lab.training.job import warn_of_precision

    has(monkeypatch, *instructions)
    with entered(SHELL):
        warn_of_precision([Job("dam", NO_SNAPSHOT, (), "", precision=asked)])
    said = capsys.readouterr()
    assert not said.out
    assert ("--precision auto" in said.err, said.err.count("\n")) == ((True, 1) if warns else (False, 0))


def test_32_bits_are_32_bits_in_recurrent_layers(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)
    precision.open_accelerator("cpu", "float32")
    assert torch.backends.cudnn.allow_tf32 is False


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU that was not used yet, and no configuration of its library."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", "to be taken back")
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG")


@pytest.mark.usefixtures("gpu")
def test_determinism_is_of_torch_and_of_the_library_for_products():
    with precision.determinism(asked=True):
        assert torch.are_deterministic_algorithms_enabled()
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] in (":4096:8", ":16:8")
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.usefixtures("gpu")
def test_without_being_asked_for_nothing_is_configured():
    with precision.determinism(asked=False):
        assert not torch.are_deterministic_algorithms_enabled()
    assert "CUBLAS_WORKSPACE_CONFIG" not in os.environ
    assert "CUBLAS_WORKSPACE_CONFIG" not in workers.ENVIRONMENT


@pytest.mark.usefixtures("gpu")
def test_a_configuration_that_came_too_late_or_is_another_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":0:0")
    with pytest.raises(InputError, match="does not give the same bits"), precision.determinism(asked=True):
        pass
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG")
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    with pytest.raises(InputError, match="before it was asked"), precision.determinism(asked=True):
        pass
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_job_trains_under_what_it_asks_for(make_job, monkeypatch: pytest.MonkeyPatch):
    """Its settings are the same: where the same bits are computed is not part of them."""
    seen: list[bool] = []
    step = Loop._step

    def noted(loop: Loop, prepared: Any) -> None:
        seen.append(torch.are_deterministic_algorithms_enabled())
        step(loop, prepared)

    monkeypatch.setattr(Loop, "_step", noted)
    jobs = [make_job(deterministic=asked, rows=8, more={"epochs": 1}) for asked in (True, False)]
    assert jobs[0].settings() == jobs[1].settings()
    assert not run_job(jobs[0]).skipped
    assert seen == [True]
    assert not torch.are_deterministic_algorithms_enabled()
    assert run_job(jobs[1]).skipped


def test_deterministic_is_an_option_of_python_and_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    data = made_pairs(40, 0)
    (job,) = plan_jobs(data, "ngram_average", made_pairs(20, 1, "test"), out=tmp_path, seeds=1, deterministic=True)
    assert Job.from_dict(job.to_dict()).deterministic
    assert TrainingSettings(deterministic=True).arguments()["deterministic"] is True
    for part, seed in (("train", 0), ("test", 1)):
        made_pairs(40, seed, part).examples.drop("weight").write_ndjson(tmp_path / f"{part}.jsonl")
    asked: list[Job] = []

    def planned(jobs: list[Job], *_: Any) -> None:
        asked.extend(jobs)
        raise InputError("nothing is trained here")

    monkeypatch.setattr("goldassay.lab.training.train.run_plan", planned)
    files = (str(tmp_path / "train.jsonl"), "--test", str(tmp_path / "test.jsonl"), "-o", str(tmp_path / "out"))
    assert run(("train", *files, "--model", "ngram_average", "--seeds", "1", "--deterministic", "-q")) == 2
    assert [job.deterministic for job in asked] == [True]
