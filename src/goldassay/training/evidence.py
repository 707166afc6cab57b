"""What a network leaves behind: predictions, logits, embeddings, token relevance, training dynamics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from goldassay.runs import Runs, write_runs
from goldassay.runs.beside import (
    Embeddings,
    Origin,
    Relevances,
    RoleRelevance,
    write_embeddings,
    write_relevances,
)
from goldassay.training.batches import sorted_batches

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.data import Dataset
    from goldassay.models.network import Batch, Encoded, Network, Stream
    from goldassay.training.loop import Loop

_RELEVANCE_BATCH = 64


@dataclass(frozen=True)
class EvaluationSet:
    """A dataset as a network sees it.

    Attributes:
        dataset: N examples.
        split: What the runs call the part.
        texts: A column for each role that the condition shows.
        gold: Codes in the training set's labels, (N,).
        encoded: The texts as the network's numbers.
    """

    dataset: Dataset
    split: str
    texts: dict[str, list[str]]
    gold: NDArray[np.int64]
    encoded: Encoded

    @property
    def example_ids(self) -> NDArray[np.str_]:
        """(N,)."""
        return np.array(self.dataset.examples["example_id"].to_list(), dtype=np.str_)


def write_predictions(
    logits: NDArray[np.float32],
    on: EvaluationSet,
    of: Origin,
    label_names: Sequence[str],
    folder: Path,
    *,
    checkpoint: int | None,
    keep_logits: bool,
) -> list[Path]:
    """Write what a network predicts on a dataset as a file of the runs store, and return its path."""
    dataset = on.dataset
    runs = Runs.from_arrays(
        predictions=None if keep_logits else logits.argmax(1)[np.newaxis].astype(np.int64),
        logits=logits[np.newaxis] if keep_logits else None,
        gold=on.gold,
        seeds=np.array([of.seed]),
        label_names=tuple(label_names),
        example_ids=on.example_ids,
        groups={name: np.array(dataset.examples[name].cast(str).fill_null("").to_list()) for name in dataset.groups},
        model=of.model,
        dataset=of.dataset,
        condition=of.condition,
        split=of.split,
        train_set=of.train_set,
    )
    return write_runs(_at_checkpoint(runs, checkpoint), folder)


def _at_checkpoint(runs: Runs, checkpoint: int | None) -> Runs:
    return runs if checkpoint is None else replace(runs, checkpoints=np.array([checkpoint]))


def record_embeddings(loop: Loop, on: EvaluationSet, of: Origin, path: Path) -> None:
    """Write the layer before the classifier for all texts together and, where there are several, for each alone."""
    roles = list(on.texts)
    vectors = {}
    if len(roles) > 1:
        vectors["paired"] = loop.represent(on.encoded)
        for role in roles:
            alone = [on.texts[other] if other == role else None for other in roles]
            vectors[role] = loop.represent(loop.network.encode(alone))
    else:
        vectors[roles[0]] = loop.represent(on.encoded)
    write_embeddings(Embeddings(of, on.example_ids, vectors), path)


def record_relevance(loop: Loop, on: EvaluationSet, of: Origin, path: Path) -> None:
    """Write the relevance of each token; see `relevances`."""
    roles = relevances(loop.network, on.encoded, list(on.texts), loop.accelerator.device)
    write_relevances(Relevances(of, on.example_ids, roles), path)


def relevances(
    network: Network, encoded: Encoded, roles: Sequence[str], device: torch.device
) -> dict[str, RoleRelevance]:
    """How much each token's embedding moves the prediction.

    r_j = || d log p(y_hat | x) / d e_j ||_2, y_hat the predicted class; special tokens and padding left out.

    Source: Saxon, Wang, Xu and Wang 2023, section 3.3, with the gradient of the predicted class alone.
    """
    names = np.array(network.token_names(), dtype=object)
    n = len(encoded)
    values: list[list[Any]] = [[None] * n for _ in roles]
    tokens: list[list[Any]] = [[None] * n for _ in roles]
    network.eval()
    for rows in sorted_batches(encoded.costs, _RELEVANCE_BATCH):
        batch = network.collate(encoded, rows).to(device)
        for stream, norms in _gradient_norms(network, batch):
            places, numbers = stream.roles.cpu().numpy(), stream.tokens.cpu().numpy()
            for role in range(len(roles)):
                inside = places == role
                if not inside.any():
                    continue
                for at, row in enumerate(rows):
                    values[role][row] = norms[at, inside[at]]
                    tokens[role][row] = names[numbers[at, inside[at]]].tolist()
    nothing = np.zeros(0, np.float32)
    return {
        name: RoleRelevance(
            [nothing if each is None else each for each in values[role]],
            [each or [] for each in tokens[role]],
            encoded.cut[role],
        )
        for role, name in enumerate(roles)
    }


def _gradient_norms(network: Network, batch: Batch) -> list[tuple[Stream, NDArray[np.float32]]]:
    streams = [replace(each, vectors=each.vectors.detach().requires_grad_()) for each in network.embed(batch)]
    # The GPU library's recurrent layers refuse to go backwards outside training mode.
    with torch.backends.cudnn.flags(enabled=False), torch.enable_grad():
        logits = network.classify(network.represent_streams(streams, batch))
        best = torch.log_softmax(logits.float(), dim=1).amax(1).sum()
        gradients: tuple[Tensor, ...] = torch.autograd.grad(best, [stream.vectors for stream in streams])
    return [
        (stream, torch.linalg.vector_norm(gradient, dim=2).float().cpu().numpy())
        for stream, gradient in zip(streams, gradients, strict=True)
    ]
