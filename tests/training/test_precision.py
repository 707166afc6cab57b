"""Which precision a machine is given that has, or has not, instructions for 16 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

import torch

from goldassay.training import Job, plan_jobs, precision
from goldassay.training.held import UNHELD
from tests.training.made_data import made_pairs

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
    from goldassay.cli.training_progress import warn_of_precision

    has(monkeypatch, *instructions)
    warn_of_precision([Job("dam", UNHELD, (), "", precision=asked)])
    said = capsys.readouterr()
    assert not said.out
    assert ("--precision auto" in said.err, said.err.count("\n")) == ((True, 1) if warns else (False, 0))
