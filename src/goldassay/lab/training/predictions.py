"""What a network leaves behind: predictions, logits, embeddings, token relevance, training dynamics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import torch

from goldassay.lab.training.loop import Loop, sorted_batches
from goldassay.runs.sidecar import (
    Embeddings,
    Origin,
    Relevances,
    RoleRelevance,
    write_embeddings,
    write_relevances,
)
from goldassay.runs.store import identity_of, run_file, write_answers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

    from goldassay.lab.models.network import Batch, Encoded, Network, Stream
    from goldassay.lab.training.targets import Answered, EvaluationSet

_RELEVANCE_BATCH = 64


def write_predictions(
    answered: Answered,
    on: EvaluationSet,
    of: Origin,
    folder: Path,
    *,
    checkpoint: int | None,
    n_parameters: int | None = None,
) -> Path:
    """Write what a network answered on a dataset as a file of the runs store, and return its path."""
    dataset = on.dataset
    groups = {f"group_{name}": dataset.examples[name].cast(str).fill_null("") for name in dataset.groups}
    identity = _identity(of, checkpoint, label_names=answered.label_names, n_parameters=n_parameters)
    columns = {"example_id": pl.Series(on.example_ids.tolist(), dtype=pl.String), **answered.columns, **groups}
    return write_answers(columns, identity, folder)


def predictions_file(of: Origin, folder: Path, checkpoint: int | None) -> Path:
    """Where `write_predictions` writes."""
    return run_file(_identity(of, checkpoint), folder)


def _identity(of: Origin, checkpoint: int | None, **known: Any) -> dict[str, Any]:
    return identity_of(
        model=of.model,
        seed=of.seed,
        train_set=of.train_set,
        condition=of.condition,
        checkpoint=checkpoint,
        dataset=of.dataset,
        split=of.split,
        **known,
    )


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

    r_j = || d log p(y_hat | x) / d e_j ||_2, y_hat the predicted class; of a predicted number y, || d y / d e_j ||_2.
    Special tokens and padding are left out.

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
        logits = logits.float()
        # Of a single number there is no class, and the number itself is what moves.
        best = logits.sum() if logits.shape[1] == 1 else torch.log_softmax(logits, dim=1).amax(1).sum()
        gradients: tuple[Tensor, ...] = torch.autograd.grad(best, [stream.vectors for stream in streams])
    return [
        (stream, torch.linalg.vector_norm(gradient, dim=2).float().cpu().numpy())
        for stream, gradient in zip(streams, gradients, strict=True)
    ]
