"""Clusters of single sentences: their scores, and what those that lean to a label are about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.questions.leakage.crossing import Crossing, cross_clusters
from goldassay.questions.leakage.example_artifacts import Artifacts, known_of
from goldassay.questions.leakage.measures.clusters import score_clusters
from goldassay.questions.leakage.measures.peco import PecoScore, peco, peco_grid, reduce_embeddings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.core.progress import Progress
    from goldassay.questions.leakage.condition_evidence import ConditionEvidence
    from goldassay.questions.leakage.measures.clusters import ClusterScore, Convention, Divergence
    from goldassay.questions.leakage.options import LeakageChoice

# Cards on the page; the table has all clusters.
MOST_CARDS = 12
# Where fewer clusters pass the threshold, so many of those that lean beyond chance are shown.
FEWEST_CARDS = 4
# Chance that any cluster at all leans so far where labels know nothing of the clusters.
_CHANCE = 0.01
_MOST_CURVE = 101

_ALL: tuple[tuple[Divergence, Convention], ...] = (
    ("squared_l2", "recommended"),
    ("squared_l2", "paper"),
    ("l2", "recommended"),
    ("l2", "paper"),
    ("kl", "recommended"),
    ("kl", "paper"),
)


@dataclass(frozen=True)
class RoleClusters:
    """What the clusters of one role's sentences say.

    Attributes:
        role: Of the sentences.
        points: What was clustered, (N, D).
        score: Of the first model's embeddings.
        crossing: What the clusters are about.
        row: The scores, as plain data.
        divergences: A row a divergence and convention.
        cards: What the page tells of the clusters that lean most.
        grid: Scores over settings, or None.
    """

    role: str
    points: NDArray[np.floating[Any]]
    score: PecoScore
    crossing: Crossing
    row: dict[str, Any]
    divergences: list[dict[str, Any]]
    cards: list[dict[str, Any]]
    grid: pl.DataFrame | None


def measure_clusters(
    evidence: ConditionEvidence,
    role: str,
    vectors: Sequence[NDArray[np.floating[Any]]],
    artifacts: Artifacts | None,
    choice: LeakageChoice,
    seed: int,
    progress: Progress,
) -> RoleClusters:
    """Score and explain the clusters of one role's sentences.

    Args:
        evidence: What is known of the examples.
        role: Of the sentences.
        vectors: Their embeddings, one (N, D) a model; the first is explained.
        artifacts: What patterns of the training part say of the examples, if there is one.
        choice: How clusters are made.
        seed: Of k-means and permutations.
        progress: Told after each clustering.

    Raises:
        InputError: There are fewer examples than clusters, or embeddings hold NaN.
    """
    gold, k = evidence.gold, choice.k
    components = min(choice.n_components, *vectors[0].shape)
    score = peco(
        vectors[0], gold, k, components,
        seed=seed, n_repetitions=choice.n_repetitions, threshold=choice.threshold, together=evidence.clusters,
        progress=progress,
    )  # fmt: skip
    points = reduce_embeddings(np.asarray(vectors[0]), components)
    crossing = cross_clusters(
        score.clustering, points, evidence.label_names, known_of(evidence, role, artifacts), varying=_whole(evidence)
    )
    others = [
        peco(
            each,
            gold,
            k,
            min(choice.n_components, *each.shape),
            seed=seed,
            n_repetitions=1,
            together=evidence.clusters,
        ).score
        for each in vectors[1:]
    ]
    divergences = _divergences(score.clustering, gold, evidence.clusters)
    return RoleClusters(
        role=role,
        points=points,
        score=score,
        crossing=crossing,
        row=_row(role, score, divergences, others),
        divergences=[{"role": role, **each} for each in divergences],
        cards=_cards(role, score.clustering, crossing, evidence),
        grid=_grid(vectors[0], gold, seed) if choice.grid else None,
    )


def _whole(evidence: ConditionEvidence) -> str:
    return "paired" if "paired" in evidence.conditions else "text"


def _divergences(
    clustering: ClusterScore, gold: NDArray[np.int64], together: NDArray[np.int64] | None
) -> list[dict[str, Any]]:
    """The same clusters by every divergence in both conventions; a score of each, and the largest divergence."""
    found = []
    for divergence, convention in _ALL:
        scored = score_clusters(
            clustering.assignments, gold, divergence, convention,
            n_clusters=clustering.n_clusters, threshold=clustering.threshold, seed=clustering.seed,
            together=together,
        )  # fmt: skip
        found.append(
            {
                "divergence": divergence,
                "convention": convention,
                "score": scored.score,
                "uncorrected": scored.uncorrected,
                "null_mean": scored.null_mean,
                "p_value": scored.p_value,
                "largest": float(scored.divergences.max()),
            }
        )
    return found


def _row(role: str, score: PecoScore, divergences: Sequence[dict[str, Any]], others: Sequence[float]) -> dict[str, Any]:
    clustering = score.clustering
    paper = next(each for each in divergences if each["divergence"] == "squared_l2" and each["convention"] == "paper")
    significant = (clustering.cluster_q <= _CHANCE) & (clustering.sizes > 0)
    return {
        "role": role,
        "score": score.score,
        "score_low": score.score_low,
        "score_high": score.score_high,
        "sd": score.sd,
        "null_mean": score.null_mean,
        "p_value": score.p_value,
        "examples_error": score.examples_error,
        "paper_score": paper["score"],
        "n_clusters": score.n_clusters,
        "n_empty": clustering.n_empty,
        "n_components": score.n_components,
        "n_repetitions": score.n_repetitions,
        "n_biased": int(clustering.biased.sum()),
        "n_biased_examples": clustering.n_biased_examples,
        "biased_share": clustering.n_biased_examples / clustering.n_examples,
        "n_significant": int(significant.sum()),
        "significant_share": float(clustering.sizes[significant].sum() / clustering.n_examples),
        "threshold": clustering.threshold,
        "other_models": list(others),
        "curve": {
            "thresholds": clustering.thresholds[:_MOST_CURVE],
            "shares": clustering.curve[:_MOST_CURVE],
        },
    }


def _grid(vectors: NDArray[np.floating[Any]], gold: NDArray[np.int64], seed: int) -> pl.DataFrame:
    """Table 5's layout, as far as there are examples and dimensions for it."""
    return peco_grid(vectors, gold, seed=seed, n_repetitions=3).to_frame()


def _cards(
    role: str, clustering: ClusterScore, crossing: Crossing, evidence: ConditionEvidence
) -> list[dict[str, Any]]:
    """The clusters that lean beyond chance, the most divergent first: those above the threshold, but a few at least."""
    beyond_chance = crossing.table.filter(pl.col("q_value") <= _CHANCE)
    n_biased = beyond_chance.filter(pl.col("biased")).height
    chosen = beyond_chance.head(min(max(n_biased, FEWEST_CARDS), MOST_CARDS))
    texts = None if evidence.test is None or role not in evidence.test.text_columns else evidence.test.texts(role)
    cards = []
    for row in chosen.iter_rows(named=True):
        c = row["cluster"]
        cards.append(
            {
                "role": role,
                **row,
                "shares": dict(zip(evidence.label_names, clustering.shares[c].tolist(), strict=True)),
                "reference": dict(zip(evidence.label_names, clustering.reference.tolist(), strict=True)),
                "words": crossing.words.get(c, []),
                "patterns": crossing.patterns.get(c, []),
                "examples": [
                    {
                        "example_id": str(evidence.example_ids[at]),
                        "text": "" if texts is None else texts[at],
                        "label": evidence.label_names[evidence.gold[at]],
                    }
                    for at in crossing.examples.get(c, [])
                ],
            }
        )
    return cards


def example_table(
    found: Sequence[RoleClusters], evidence: ConditionEvidence, classes: NDArray[np.str_] | None
) -> pl.DataFrame:
    """One row an example: texts, label, and for each role its cluster, how divergent that is and whether biased."""
    columns: dict[str, Any] = {"example_id": [str(each) for each in evidence.example_ids.tolist()]}
    if evidence.test is not None:
        columns |= {role: evidence.test.texts(role) for role in evidence.test.text_columns}
    columns["label"] = [evidence.label_names[code] for code in evidence.gold]
    if classes is not None:
        columns["difficulty"] = classes.tolist()
    for name, runs in evidence.conditions.items():
        columns[f"right_{name}"] = runs.final().scores.mean(axis=0)
    for each in found:
        clustering = each.score.clustering
        columns[f"{each.role}_cluster"] = clustering.assignments
        columns[f"{each.role}_divergence"] = clustering.example_divergences
        columns[f"{each.role}_biased"] = clustering.biased[clustering.assignments]
    return pl.DataFrame(columns)


def cluster_table(found: Sequence[RoleClusters], label_names: Sequence[str]) -> pl.DataFrame:
    """One row a role and cluster: what `Crossing.table` has, label shares, words and patterns."""
    parts = []
    for each in found:
        shares = each.score.clustering.to_frame().select(
            "cluster", *(pl.col(f"share_{c}").alias(f"share_{name}") for c, name in enumerate(label_names)), "p_value"
        )
        words = [
            " ".join(item["word"] for item in each.crossing.words.get(c, [])) for c in each.crossing.table["cluster"]
        ]
        patterns = [
            " | ".join(item["pattern"] for item in each.crossing.patterns.get(c, []))
            for c in each.crossing.table["cluster"]
        ]
        parts.append(
            each.crossing.table.with_columns(
                pl.lit(each.role).alias("role"),
                pl.Series("words", words, dtype=pl.String),
                pl.Series("patterns", patterns, dtype=pl.String),
            )
            .join(shares, on="cluster", how="left", maintain_order="left")
            .select("role", pl.exclude("role"))
        )
    return pl.concat(parts, how="diagonal")
