"""Evidence made elsewhere is of texts that the test set has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from goldassay import Dataset
from goldassay.core.errors import InputError
from goldassay.questions.leakage.given import GivenEvidence, _check_roles, from_runs
from goldassay.questions.run_choice import RunChoice
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs
from tests.stated import Fact, in_order

if TYPE_CHECKING:
    from pathlib import Path

PAIRS = Dataset.from_frame(
    [{"premise": f"p{i}", "hypothesis": f"h{i}", "label": name} for i, name in enumerate(("entailment", "neutral"))]
)


def given(**what: Any) -> GivenEvidence:
    return GivenEvidence(paths=["runs"], choice=RunChoice(), **what)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ({"conditions": {"foo_only": "m"}}, ("condition 'foo_only':", "no foo", "premise")),
        ({"conditions": {"hypotesis_only": "m"}}, "did you mean 'hypothesis'"),
        ({"embeddings": {"foo": "e.npy"}}, "embeddings of 'foo': the test set has no foo"),
    ],
)
def test_a_text_that_the_test_set_has_not_is_refused(what: dict[str, Any], said: Fact):
    with pytest.raises(InputError, match=in_order(said)):
        _check_roles(given(**what), PAIRS)


def test_examples_in_common_are_kept_where_the_rule_leaves_out_what_is_missing(tmp_path: Path):
    for name, n in (("paired", 6), ("hypothesis_only", 4)):
        runs = Runs.from_arrays([[0, 1] * (n // 2)], [0, 1] * (n // 2), example_ids=[f"e{i}" for i in range(n)][::-1])
        write_runs(replace(runs, condition=name), tmp_path)
    with pytest.raises(InputError, match=in_order("cover 4 examples", "missing='leave-out'")):
        from_runs(GivenEvidence([tmp_path], RunChoice()), None, None, {})
    for way in (RunChoice(missing="leave-out"), RunChoice(align="intersect")):
        evidence, _ = from_runs(GivenEvidence([tmp_path], way), None, None, {})
        assert evidence.example_ids.tolist() == ["e3", "e2", "e1", "e0"]
        assert {runs.n_examples for runs in evidence.conditions.values()} == {4}


def test_other_conditions_may_have_any_name():
    conditions = {"paired": "a", "hypothesis_only": "b", "raw_overlap": "c"}
    _check_roles(given(conditions=conditions, embeddings={"premise": "e.npy"}), PAIRS)
