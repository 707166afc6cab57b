from __future__ import annotations

import pytest

from goldassay.errors import InputError
from goldassay.training import conditions_of, roles_of


@pytest.mark.parametrize(
    ("columns", "conditions"),
    [
        (("premise", "hypothesis"), ("paired", "premise_only", "hypothesis_only")),
        (("question", "context"), ("paired", "question_only", "context_only")),
        (("text",), ("text",)),
        (("sentence",), ("text",)),
    ],
)
def test_conditions_of_each_kind_of_dataset(columns, conditions):
    assert conditions_of(columns) == conditions
    assert roles_of(conditions[0], columns) == columns
    for condition, role in zip(conditions[1:], columns, strict=False):
        assert roles_of(condition, columns) == (role,)


@pytest.mark.parametrize(
    ("condition", "columns"),
    [("hypothesis_only", ("text",)), ("paired", ("text",)), ("text", ("premise", "hypothesis")), ("typo", ("text",))],
)
def test_refuses_what_does_not_apply(condition, columns):
    with pytest.raises(InputError, match="does not apply"):
        roles_of(condition, columns)
