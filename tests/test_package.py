"""The package as it is imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

import goldassay

HEAVY = ("torch", "numba", "scipy", "sklearn", "matplotlib", "nltk", "polars", "numpy", "rich", "pydantic")


def loaded_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(' '.join(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    return {name.partition(".")[0] for name in out.split()}


@pytest.mark.parametrize("statement", ["import goldassay", "from goldassay.cli.app import app"])
def test_importing_loads_nothing_heavy(statement: str) -> None:
    assert not loaded_after(statement) & set(HEAVY)


@pytest.mark.parametrize("statement", ["import goldassay.lab.training", "import goldassay.questions.audit"])
def test_nothing_imports_torch_before_something_is_trained(statement: str) -> None:
    assert not loaded_after(statement) & {"torch", "transformers", "accelerate"}


def test_every_public_name_is_there() -> None:
    for name in goldassay.__all__:
        assert getattr(goldassay, name) is not None
    assert set(dir(goldassay)) == set(goldassay.__all__)


def test_the_classes_that_show_themselves_are_at_the_top() -> None:
    for name in ("Dataset", "PatternTable", "Report", "Runs"):
        assert hasattr(getattr(goldassay, name), "_repr_html_")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonesuch"):
        goldassay.nonesuch  # noqa: B018
