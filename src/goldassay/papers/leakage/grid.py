"""Scores of clusters over numbers of clusters and components: the cells of Table 5."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.leakage import peco_grid
from goldassay.papers.leakage.evidence import LEAST_A_CLUSTER, is_printed_part
from goldassay.runs.beside import read_embeddings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goldassay.papers.leakage.evidence import MeasuredSet
    from goldassay.papers.workplace import Workplace


def peco_cells(work: Workplace, found: Iterable[MeasuredSet]) -> list[dict[str, Any]]:
    """A cell a model, set, part, k, number of components and divergence, in the paper's convention and units.

    Sentences go alone through the model of the pair, trained with the first seed, and are clustered once, as printed;
    scores of the Kullback-Leibler kind are hundredfold. Settings for which there are too few examples or dimensions
    are left out.
    """
    clusters, components = work.scale.chosen["grid"]
    cells: list[dict[str, Any]] = []
    for each in found:
        recorded = read_embeddings(
            work.runs, model=each.model, dataset=each.dataset, train_set=each.train, condition="paired"
        )[0]
        test = work.sets[each.dataset]
        place = {str(name): row for row, name in enumerate(recorded.example_ids.tolist())}
        order = np.array([place[str(name)] for name in test.examples["example_id"]])
        for role in test.text_columns:
            condition = f"{role}_only"
            if not is_printed_part({"dataset": each.dataset, "condition": condition}):
                continue
            vectors = recorded.vectors[role][order]
            ks = [k for k in clusters if k * LEAST_A_CLUSTER <= len(test)]
            sizes = [size for size in components if size <= min(vectors.shape)]
            if not ks:
                continue
            with warnings.catch_warnings():
                # A model that puts many sentences in one place leaves clusters empty; the score counts them so.
                warnings.simplefilter("ignore", UserWarning)
                table = peco_grid(vectors, test.labels(), ks, sizes, convention="paper", seed=work.seed).to_frame()
            cells += [
                {
                    "model": each.model, "dataset": each.dataset, "condition": condition, "k": str(row["n_clusters"]),
                    "pca": str(row["n_components"]), "divergence": row["divergence"],
                    "ours": row["score"] * (100 if row["divergence"] == "kl" else 1),
                }
                for row in table.iter_rows(named=True)
            ]  # fmt: skip
    return cells
