"""The boundary around readers: what an engine raises becomes one line that names the file."""

from __future__ import annotations

import pytest

from goldassay import InputError
from goldassay.core.bounds import described, reading
from tests.stated import Fact, states


class PanicException(BaseException):
    """As the table engine's, by its name: no `Exception`."""


class OutOfTime(BaseException):
    """What a test's time limit raises, wherever the program is."""


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (PanicException("index out of bounds"), ("x.csv:", "PanicException: index out of bounds")),
        (RecursionError("maximum recursion depth"), "x.csv: it cannot be read (nested too deeply)"),
        (OSError(36, "File name too long"), ("x.csv:", "File name too long")),
        (PermissionError(13, "no"), ("x.csv:", "chmod u+rX x.csv")),
        (KeyError("label"), "x.csv: it cannot be read (KeyError: 'label')"),
    ],
)
def test_what_an_engine_raises_names_the_file(raised: BaseException, said: Fact) -> None:
    with pytest.raises(InputError) as caught, reading("x.csv"):
        raise raised
    assert states(str(caught.value), said)
    assert caught.value.__cause__ is raised


@pytest.mark.parametrize(
    "raised", [InputError("ours"), KeyboardInterrupt(), SystemExit(3), MemoryError(), BrokenPipeError()]
)
def test_what_no_file_causes_passes(raised: BaseException) -> None:
    with pytest.raises(type(raised)) as caught, reading("x.csv"):
        raise raised
    assert caught.value is raised


def test_debugging_lets_the_engine_speak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOLDASSAY_DEBUG", "1")
    with pytest.raises(ZeroDivisionError), reading("x.csv"):
        raise ZeroDivisionError


def test_an_error_without_words_is_its_kind() -> None:
    assert described(ValueError()) == "ValueError"
    assert len(described(ValueError("x" * 1000))) < 250


def test_what_ends_a_command_is_not_taken_for_a_fault_of_the_file() -> None:
    with pytest.raises(OutOfTime), reading("runs.parquet"):
        raise OutOfTime
