"""Evidence made elsewhere is of texts that the test set has."""

from __future__ import annotations

from typing import Any

import pytest

from goldassay import Dataset
from goldassay.core.errors import InputError
from goldassay.questions.leakage.given import GivenEvidence, _check_roles
from goldassay.questions.run_choice import RunChoice
from tests.stated import Fact, in_order

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


def test_other_conditions_may_have_any_name():
    conditions = {"paired": "a", "hypothesis_only": "b", "raw_overlap": "c"}
    _check_roles(given(conditions=conditions, embeddings={"premise": "e.npy"}), PAIRS)
