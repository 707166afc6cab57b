"""States on disk: the bytes of the safetensors library, without a copy of the tensors in memory."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import save

from goldassay.lab.training import snapshots
from goldassay.lab.training.snapshots import read_tensors, write_tensors

if TYPE_CHECKING:
    from pathlib import Path

TYPES = [torch.int64, torch.float64, torch.float32, torch.int32, torch.bfloat16, torch.float16, torch.int16,
         torch.int8, torch.uint8, torch.bool]  # fmt: skip


def made() -> dict[str, torch.Tensor]:
    """Tensors of every type that a state may hold, of several shapes, some of them not contiguous or empty."""
    generator = torch.Generator().manual_seed(0)
    found = {}
    for number, kind in enumerate(TYPES):
        drawn = torch.randn(7, 5, generator=generator) * 3
        found[f"z{number}.rows"] = drawn.to(kind)
        found[f"a{number}.turned"] = drawn.to(kind).T
        found[f"m{number}.number"] = drawn[0, 0].to(kind)
    found["every second"] = torch.arange(24.0).reshape(4, 6)[:, ::2]
    found["empty"] = torch.zeros(0, 3)
    found['with "quotes" and ü'] = torch.ones(3)
    found["learnt"] = torch.nn.Parameter(torch.ones(2, 2))
    return found


@pytest.mark.parametrize("at_once", [8, 64, snapshots._BYTES_AT_ONCE])
def test_the_bytes_are_those_of_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int):
    monkeypatch.setattr(snapshots, "_BYTES_AT_ONCE", at_once)
    tensors, content = made(), {"position": {"step": 3}, "said": 'ü "x"'}
    write_tensors(tmp_path / "file", tensors, content)
    # The library refuses tensors that share memory, as a view and what it is a view of.
    ready = {name: tensor.detach().clone(memory_format=torch.contiguous_format) for name, tensor in tensors.items()}
    metadata = {"goldassay": json.dumps({"version": 1, **content}, sort_keys=True)}
    assert (tmp_path / "file").read_bytes() == save(ready, metadata)
    again, read = read_tensors(tmp_path / "file")
    assert read == {"version": 1, **content}
    assert again.keys() == tensors.keys()
    assert all(torch.equal(again[name], tensors[name]) and again[name].dtype == tensors[name].dtype for name in again)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory from /proc")
def test_nothing_is_copied_in_memory(tmp_path: Path):
    done = subprocess.run([sys.executable, "-c", _WRITES, str(tmp_path)], capture_output=True, text=True, check=True)
    size, more = map(int, done.stdout.split())
    assert size == (tmp_path / "large").stat().st_size // 2**20 == 512
    assert more < 64


# Peak of the process's own memory while 512 MiB are written, above what it had before, in MiB.
_WRITES = """
import sys
from pathlib import Path
import torch
from goldassay.lab.training.snapshots import write_tensors

def status(name):
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name)]
    return int(line.split()[1]) // 1024

folder = Path(sys.argv[1])
tensors = {str(number): torch.ones(16, 2**20) for number in range(8)}
write_tensors(folder / "small", {"a": torch.ones(3)}, {})
before = status("VmRSS")
assert status("VmHWM") < before + 16
write_tensors(folder / "large", tensors, {})
print(sum(each.nbytes for each in tensors.values()) // 2**20, status("VmHWM") - before)
"""
