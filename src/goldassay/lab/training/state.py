"""The state of a training on disk: one file, whole or not there, from which a run goes on as if nothing had happened.

A state is one safetensors file: weights, moments of the optimizers and training dynamics as tensors, and the position
in the training as JSON in the file's own metadata. One file can be renamed into place in one step, two cannot. There is
no state of random generators: what is drawn at a step is a function of seed and step (see `seeds`).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from goldassay.core.errors import InputError
from goldassay.core.files import written_whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from torch import Tensor, nn

FORMAT_VERSION = 1
_KEY = "goldassay"
# By the names that safetensors gives them, in the order in which the library writes them: the widest first.
_TYPES = {
    torch.int64: "I64",
    torch.float64: "F64",
    torch.float32: "F32",
    torch.int32: "I32",
    torch.bfloat16: "BF16",
    torch.float16: "F16",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}
_BYTES_AT_ONCE = 16 * 2**20


@dataclass
class Position:
    """Where a training is.

    Attributes:
        step: Steps done.
        epoch: Epochs done.
        batch: Batches done of the epoch begun.
        dev_scores: After each epoch done; see `targets.Target.dev_score`.
        best_step: At which the best dev score was reached, or None.
        finished: Nothing is left to train.
        memory: Of the objective.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    dev_scores: list[float] = field(default_factory=list)
    best_step: int | None = None
    finished: bool = False
    memory: dict[str, Any] = field(default_factory=dict)

    @property
    def best_score(self) -> float:
        """The best dev score so far; minus infinity before the first."""
        return max(self.dev_scores, default=float("-inf"))


def write_tensors(path: Path, tensors: Mapping[str, Tensor], content: Mapping[str, Any]) -> None:
    """Write tensors with JSON beside them, whole or not at all; the same content gives the same bytes.

    Tensors go to the file one after the other, 16 MiB at a time, so that no second copy of them is in memory. The bytes
    are those that the safetensors library writes: the length of the header in 8 bytes, the header as JSON padded to a
    multiple of 8, the tensors by type and name.

    Raises:
        OutputError: The folder cannot be written to, or the disk is full.
    """
    ready = _in_order(tensors)
    with written_whole(path) as aside, aside.open("wb") as file:
        file.write(_header(ready, content))
        for tensor in ready.values():
            if tensor.numel():
                flat = tensor.detach().reshape(-1)
                for part in flat.split(_BYTES_AT_ONCE // tensor.element_size()):
                    file.write(part.cpu().contiguous().view(torch.uint8).numpy().data)


def _in_order(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    order = list(_TYPES)
    return dict(sorted(tensors.items(), key=lambda item: (order.index(item[1].dtype), item[0])))


def _header(ready: Mapping[str, Tensor], content: Mapping[str, Any]) -> bytes:
    """What comes before the numbers of tensors that are in order."""
    header: dict[str, Any] = {
        "__metadata__": {_KEY: json.dumps({"version": FORMAT_VERSION, **content}, sort_keys=True)}
    }
    end = 0
    for name, tensor in ready.items():
        begin, end = end, end + tensor.nbytes
        header[name] = {"dtype": _TYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """What `write_tensors` wrote.

    Raises:
        InputError: The file is damaged, or of a newer version.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            content = json.loads(metadata[_KEY])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no mapping)
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise InputError("the checkpoint is damaged", file=path, mend="delete it, and the run begins anew") from error
    if content["version"] > FORMAT_VERSION:
        raise InputError("the checkpoint was written by a newer goldassay", file=path, mend="upgrade")
    return tensors, content


def write_state(path: Path, position: Position, tensors: Mapping[str, Tensor]) -> None:
    """Write the state of a training; the one before is replaced in one step."""
    write_tensors(path, tensors, {"position": asdict(position)})


def size_of_state(position: Position, tensors: Mapping[str, Tensor]) -> int:
    """Bytes of the file that `write_state` would write."""
    header = _header(_in_order(tensors), {"position": asdict(position)})
    return len(header) + sum(tensor.nbytes for tensor in tensors.values())


def read_state(path: Path) -> tuple[Position, dict[str, Tensor]] | None:
    """The last whole state, or None where there is none."""
    if not path.exists():
        return None
    tensors, content = read_tensors(path)
    return Position(**content["position"]), tensors


def weights_of(module: nn.Module) -> dict[str, Tensor]:
    """All weights and buffers of a module, by name; those under two names once."""
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def restore_weights(module: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Put weights back in place.

    Raises:
        InputError: Some are missing, too many or of another shape.
    """
    own = weights_of(module)
    wrong = sorted(own.keys() ^ tensors.keys()) or [n for n in own if own[n].shape != tensors[n].shape]
    if wrong:
        raise InputError(f"the checkpoint does not fit the network at {wrong[0]!r}", mend="delete it")
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(tensors[name])


def part_of(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin with a prefix and a dot, without it."""
    return {name.removeprefix(f"{prefix}."): value for name, value in tensors.items() if name.startswith(f"{prefix}.")}


def named(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors under a prefix."""
    return {f"{prefix}.{name}": value for name, value in tensors.items()}
