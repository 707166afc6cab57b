"""All measures on one piece of evidence, against the rooms' own functions."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from goldassay.core.errors import InputError
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings
from goldassay.leakage import agreement_report, peco, score_clusters, usable_information
from goldassay.questions.leakage.measuring import OTHER_TOKENS, Measured, measure
from goldassay.questions.leakage.page import sentences
from goldassay.questions.leakage.partial_input import LeakageChoice
from goldassay.questions.leakage.result import Split
from goldassay.runs.runs import Runs
from tests.questions.leakage.example import N, example_evidence, example_leakage_report, example_result
from tests.stated import Fact, stated_by, states
from tests.typed import compose

if TYPE_CHECKING:
    from numpy.typing import NDArray


@pytest.fixture(scope="module")
def section() -> dict[str, Any]:
    found: dict[str, Any] = example_leakage_report().to_dict()["leakage"]
    return found


def test_conditions_and_verdict(section: dict[str, Any]) -> None:
    evidence = example_evidence()
    rows = {row["condition"]: row for row in section["conditions"]}
    for name, runs in evidence.conditions.items():
        assert rows[name]["accuracy"] == pytest.approx(runs.scores.mean())
    verdict = example_leakage_report().verdicts["leakage"]
    # Shuffled words are all words: the verdict is of a part.
    assert "(hypothesis)" in verdict["headline"]["label"]
    assert "The hypothesis alone gives" in stated_by(verdict)


def test_information_is_the_mean_over_runs_against_the_empty_input(section: dict[str, Any]) -> None:
    evidence = example_evidence()
    rows = {row["condition"]: row for row in section["information"]}
    assert "empty" not in rows
    null = evidence.probabilities["empty"]
    each = [usable_information(q, null[0], n_draws=2).information for q in evidence.probabilities["paired"]]
    assert rows["paired"]["information"] == pytest.approx(np.mean(each))
    assert rows["paired"]["null"] == "a model trained on empty input"


def test_agreement_is_the_mean_over_pairs_of_runs(section: dict[str, Any]) -> None:
    evidence = example_evidence()
    row = next(row for row in section["agreement"] if row["condition"] == "hypothesis_only")
    one, two = (evidence.conditions[name].predictions for name in ("hypothesis_only", "paired"))
    assert one is not None
    assert two is not None
    pairs = [agreement_report(a, b, evidence.gold).agreement for a in one for b in two]
    assert row["agreement"] == pytest.approx(np.mean(pairs))


def test_relevance_leaves_out_what_it_cannot_lay_side_by_side(section: dict[str, Any]) -> None:
    (row,) = section["relevance"]
    assert row["n_used"] == N - 3
    assert row["skipped"] == {"the shared sentence was cut short": 1, OTHER_TOKENS: 1, "a map without any relevance": 1}
    assert 0 < row["agreement_recommended"] <= 1
    assert row["low"] < row["agreement_recommended"] < row["high"]


def test_clusters_are_those_of_peco(section: dict[str, Any]) -> None:
    evidence = example_evidence()
    row = section["peco"][0]
    found = peco(evidence.vectors["hypothesis"][0], evidence.gold, 8, 4, n_repetitions=3, together=evidence.clusters)
    assert row["score"] == pytest.approx(found.score)
    assert len(row["other_models"]) == 1
    clusters = found.clustering
    by_name = {
        (each["divergence"], each["convention"]): each["score"]
        for each in section["divergences"] if each["role"] == "hypothesis"
    }  # fmt: skip
    for (divergence, convention), score in by_name.items():
        expected = score_clusters(
            clusters.assignments, evidence.gold, divergence, convention, seed=clusters.seed, together=evidence.clusters
        )
        assert score == pytest.approx(expected.score)
    assert len(by_name) == 6
    assert row["paper_score"] == by_name["squared_l2", "paper"]


def test_cards_speak_of_what_gives_the_label_away(section: dict[str, Any]) -> None:
    said = {word["word"] for card in section["clusters"] for word in card["words"]}
    assert {"outside", "happy", "asleep"} <= said
    assert all(card["q_value"] <= 0.01 for card in section["clusters"])
    assert {card["label"] for card in section["clusters"]} <= set(example_evidence().label_names)
    assert all(card["examples"][0]["text"] for card in section["clusters"])


def test_too_few_examples_for_the_usual_clusters_are_said_not_refused() -> None:
    evidence = example_evidence()
    few = replace(
        evidence,
        gold=evidence.gold[:40], example_ids=evidence.example_ids[:40], test=None, train=None, relevances={},
        conditions={name: runs.take(np.arange(40)) for name, runs in evidence.conditions.items()},
        probabilities={}, vectors={"hypothesis": [evidence.vectors["hypothesis"][0][:40]]},
    )  # fmt: skip
    found = measure(few, LeakageChoice(), Settings(), Steps()).result
    assert found.peco == ()
    assert "ask for fewer with --n-clusters" in found.undefined["cluster outliers (PECO)"]
    assert set(found.undefined) == {
        "cluster outliers (PECO)", "usable information", "token relevance agreement",
    }  # fmt: skip
    with pytest.raises(InputError, match="40 examples cannot make 41 clusters"):
        measure(few, LeakageChoice(n_clusters=41), Settings(), Steps())


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("probes", ("4 splits of the data", "points", "+10.0")),
        ("training", ("3 splits of the data", "quick probe")),
    ],
)
def test_the_luck_of_splitting_holds_like_against_like(source: str, said: Fact) -> None:
    splits = tuple(
        Split(split=at, n_train=9, n_test=3, accuracies={"hypothesis_only": 0.4 + 0.1 * at}, majority=0.3, peco={})
        for at in range(3)
    )
    found = replace(example_result(), source=source, splits=splits)
    (sentence,) = [line for line in sentences(found) if "splits" in line]
    assert states(sentence, said)
    own = next(row for row in found.conditions if row.condition == "hypothesis_only").improvement
    highest = max(own, 0.3) if source == "probes" else 0.3
    assert sentence.endswith(f"to +{100 * highest:.1f}.")


def test_equal_embeddings_are_said_not_refused() -> None:
    evidence = example_evidence()
    flat = replace(evidence, vectors={**evidence.vectors, "premise": [np.ones((N, 4))]})
    found = measure(flat, LeakageChoice(n_clusters=8, n_repetitions=1, map=False), Settings(), Steps()).result
    assert [row.role for row in found.peco] == ["hypothesis"]
    assert "all equal" in found.undefined["cluster outliers (PECO) of the premise sentences"]


def constant_runs(runs: Runs, label: int) -> Runs:
    """The same runs, in which one label is named for every example."""
    assert runs.logits is not None
    logits = np.zeros_like(runs.logits)
    logits[..., label] = 1.0
    return with_logits(runs, logits)


def with_logits(runs: Runs, logits: NDArray[np.floating[Any]]) -> Runs:
    return Runs.from_arrays(
        gold=runs.gold, logits=logits, seeds=range(len(logits)), label_names=runs.label_names,
        example_ids=runs.example_ids, model=runs.model, dataset=runs.dataset, condition=runs.condition,
    )  # fmt: skip


def measured_with(**conditions: Runs) -> Measured:
    evidence = example_evidence()
    kept = {name: runs for name, runs in evidence.conditions.items() if name not in ("shuffled", "premise_only")}
    changed = replace(evidence, conditions=kept | conditions, vectors={}, relevances={}, train=None)
    return measure(changed, LeakageChoice(map=False), Settings(), Steps())


def test_models_of_one_label_are_not_called_sound() -> None:
    runs = example_evidence().conditions
    found = measured_with(hypothesis_only=constant_runs(runs["hypothesis_only"], 1))
    assert found.verdict.verdict == "unresolved"
    assert "No cues could be planted in the hypothesis" in stated_by(found.verdict)
    row = next(row for row in found.result.conditions if row.condition == "hypothesis_only")
    assert math.isnan(row.recovered)
    assert (row.n_constant, row.departure) == (2, 0)
    assert "one label only" in row.reason
    assert any("hypothesis_only: 2 of 2 runs" in said for said in found.result.caveats)
    assert not any(said.startswith("empty") for said in found.result.caveats)
    assert sentences(found.result)[0].startswith("Models of the hypothesis alone name one label")


def test_of_a_pair_model_of_one_label_nothing_is_recovered() -> None:
    runs = example_evidence().conditions
    found = measured_with(paired=constant_runs(runs["paired"], 0))
    assert all(math.isnan(row.recovered) and row.reason for row in found.result.conditions)
    assert found.verdict.verdict == "unsound"
    assert not any("of what the whole input gives" in said for said in sentences(found.result))


def test_one_run_says_so_wherever_it_is_told() -> None:
    runs = example_evidence().conditions
    one = {
        name: with_logits(runs[name], logits[:1])
        for name in ("paired", "hypothesis_only")
        if (logits := runs[name].logits) is not None
    }
    found = measured_with(**one)
    said = "One run of paired, hypothesis_only"
    assert any(caveat.startswith(said) for caveat in found.result.caveats)
    document = {
        "questions": ["leakage"], "verdicts": {"leakage": found.verdict.to_dict()}, "leakage": found.result,
    }  # fmt: skip
    assert said in compose(document).summary()
    assert "One run of paired" in compose(document).to_markdown()
    assert "There is one run" in stated_by(found.verdict)
