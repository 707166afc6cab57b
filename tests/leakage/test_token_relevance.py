from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cosine

from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.leakage import token_relevance_agreement

SINGLE = [0.2, 0.3, 0.5]
PAIRED = [0.1, 0.2, 0.1, 0.2, 0.4]

amounts = st.floats(0, 10, allow_subnormal=False).map(lambda value: round(value, 3))


@st.composite
def examples(draw):
    pairs = draw(
        st.lists(st.tuples(st.lists(amounts, min_size=1, max_size=6), st.lists(amounts, max_size=6)), min_size=1)
    )
    single = [draw(st.lists(amounts, min_size=len(shared), max_size=len(shared))) for shared, _ in pairs]
    return single, [[*other, *shared] for shared, other in pairs]


def brute_force(single, paired, start):
    laid = np.zeros(len(paired))
    laid[start : start + len(single)] = single
    return 1 - cosine(laid, paired)


def test_golden_value():
    found = token_relevance_agreement([SINGLE], [PAIRED])
    assert float(found) == found.agreement == pytest.approx(0.890799, abs=1e-6)
    assert found.shared_share == pytest.approx(0.7)
    assert math.isnan(found.agreement_low)
    assert found.n_used == 1


def test_premise_lies_first():
    found = token_relevance_agreement([SINGLE], [PAIRED], condition="premise_only")
    assert found.agreement == pytest.approx(brute_force(SINGLE, PAIRED, 0))
    assert found.shared_share == pytest.approx(0.4)


@pytest.mark.filterwarnings("ignore::goldassay.core.errors.UndefinedMeasureWarning")
@given(examples(), st.floats(0.1, 10))
def test_equals_the_cosine_of_padded_maps(maps, scale):
    single, paired = maps
    starts = np.array([len(whole) - len(part) for part, whole in zip(single, paired, strict=True)])
    found = token_relevance_agreement(single, paired, starts)
    for i, (part, whole) in enumerate(zip(single, paired, strict=True)):
        if any(part) and any(whole):
            expected = brute_force(part, whole, starts[i])
            assert found.example_agreements[i] == pytest.approx(expected, abs=1e-9)
            assert 0 <= found.example_agreements[i] <= 1
        else:
            assert math.isnan(found.example_agreements[i])
    scaled = token_relevance_agreement([np.array(part) * scale for part in single], paired)
    np.testing.assert_allclose(scaled.example_agreements, found.example_agreements, atol=1e-9)
    assert found.n_used + sum(found.skipped.values()) == found.n_examples
    if found.n_used > 1:
        assert found.agreement_low <= found.agreement <= found.agreement_high


def test_maps_that_share_nothing_have_0_and_the_same_have_1():
    found = token_relevance_agreement([[0, 1], [2, 4]], [[5, 1, 0], [0, 1, 2]])
    np.testing.assert_allclose(found.example_agreements, [0, 1], atol=1e-12)


def test_masks_take_the_padding_out():
    single = np.array([[0.2, 0.3, 0.5, 9.0]])
    paired = np.array([[9.0, 0.1, 0.2, 9.0, 0.1, 0.2, 0.4, 9.0]])
    found = token_relevance_agreement(
        single,
        paired,
        single_mask=[[True, True, True, False]],
        paired_mask=[[False, True, True, False, True, True, True, False]],
    )
    assert found.agreement == pytest.approx(0.890799, abs=1e-6)


def test_paper_convention_takes_maps_as_they_are():
    single, paired = np.array([[0.2, 0.8, 0.0]]), np.array([[0.1, 0.2, 0.7]])
    found = token_relevance_agreement(single, paired, single_mask=[[True, True, False]], convention="paper")
    assert found.agreement == pytest.approx(brute_force(single[0], paired[0], 0))
    longer = token_relevance_agreement([[1.0, 2.0]], [[3.0]], convention="code")
    assert longer.agreement == pytest.approx(2 / math.sqrt(5))


def test_what_is_left_out_is_counted():
    found = token_relevance_agreement([[1.0], [0.0], [1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0], [1.0]], cut=[0, 0, 1])
    assert found.n_used == 1
    assert sum(found.skipped.values()) == 2
    assert found.to_frame()["agreement"].null_count() == 2
    with pytest.warns(UndefinedMeasureWarning, match="without any relevance: 1"):
        none = token_relevance_agreement([[0.0]], [[1.0]])
    assert math.isnan(none.agreement)
    assert none.to_dict()["agreement"] is None


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[1.0]], []), {}, "1 single and 0 paired"),
        (([[-1.0]], [[1.0]]), {}, "holds -1.0"),
        (([[math.nan]], [[1.0]]), {}, "holds nan"),
        (([[1.0, 1.0]], [[1.0]]), {}, "do not fit"),
        (([[1.0]], [[1.0]], [1]), {}, "do not fit"),
        (([[1.0]], [[1.0]], [0.5]), {}, "whole numbers"),
        (([[1.0]], [[1.0]]), {"condition": "both"}, "unknown"),
        (([[1.0]], [[1.0]]), {"convention": "mine"}, "unknown"),
        (([[1.0]], [[1.0]]), {"cut": [0, 1]}, "shape"),
        ((np.ones((1, 2)), np.ones((1, 2))), {"single_mask": [[True]]}, "mask"),
        ((np.ones((1, 2, 2)), np.ones((1, 2))), {}, "one number a token"),
    ],
)
def test_refusals(arguments, options, message):
    with pytest.raises(InputError, match=message):
        token_relevance_agreement(*arguments, **options)


@pytest.mark.parametrize(
    ("maps", "message"),
    [
        ("abc", "the single maps are 'abc'; give a list of maps"),
        (None, "the single maps are None"),
        (3, "the single maps are 3"),
        ([["a"]], "relevances hold <U1, no real numbers"),
        ([[1j]], "relevances hold complex128"),
    ],
)
def test_what_is_no_map_is_refused(maps, message):
    with pytest.raises(InputError, match=message):
        token_relevance_agreement(maps, maps)
