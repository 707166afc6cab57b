"""What can be set of a network is of its kind and within its bounds, whatever the network."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from goldassay.core.errors import InputError
from goldassay.lab.models import NETWORKS, load_network
from tests.stated import in_order

pytest.importorskip("torch")

DESK = [(name, load_network(name).configurations["desk"]) for name in NETWORKS]


@pytest.mark.parametrize(("name", "configuration"), DESK)
def test_no_width_or_limit_of_any_network_may_be_0(name: str, configuration: Any):
    for field in dataclasses.fields(configuration.sizes):
        if field.type == "int":
            with pytest.raises(InputError, match=f"{field.name} is 0; give 1 or more"):
                configuration.replaced({field.name: 0})
            assert getattr(configuration.replaced({field.name: 5}).sizes, field.name) == 5


@pytest.mark.parametrize("value", [-0.1, 1, 2, float("nan")])
def test_dropout_leaves_something(value: float):
    with pytest.raises(InputError, match=r"dropout is .*; give a share from 0 to below 1"):
        dict(DESK)["bilstm"].replaced({"dropout": value})


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a word for a number": ({"units": "many"}, "units is 'many'; give a whole number, such as 128"),
    "a share for a number": ({"units": 1.5}, "units is 1.5; give a whole number, such as 128"),
    "a number for a switch": ({"frozen": 1}, "frozen is 1; give true or false, such as false"),
    "a switch for a number": ({"units": True}, "units is True; give a whole number, such as 128"),
    "a word for what may be none": ({"patience": "long"}, "patience is 'long'; give a whole number or none"),
    "none for what may not": ({"epochs": None}, "epochs is None; give a whole number, such as 4"),
    "decay that is no number": ({"weight_decay": float("nan")}, "weight_decay is nan; give 0 or more"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_say_what_is_needed(case: str):
    changes, message = REFUSED[case]
    with pytest.raises(InputError) as refusal:
        dict(DESK)["bilstm"].replaced(changes)
    assert str(refusal.value) == message


def test_what_may_be_none_can_be_taken_away():
    configuration = dict(DESK)["bilstm"]
    assert configuration.recipe.clip is not None
    assert configuration.replaced({"clip": None}).recipe.clip is None


def test_filters_have_lengths():
    with pytest.raises(InputError, match=in_order("shortest is 6", "longest is 5")):
        dict(DESK)["convnet"].replaced({"shortest": 6})
