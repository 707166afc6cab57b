"""The boundary around readers: what an engine raises becomes one line that names the file."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl
import pytest

from goldassay import InputError
from goldassay.core.bounds import check_parquet, described, reading
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


def test_a_wrong_byte_in_the_footer_of_parquet_is_refused_and_breaks_nothing() -> None:
    """Whatever the footer states, the check ends in a refusal, in the engine's own error, or in nothing."""
    stream = io.BytesIO()
    pl.DataFrame({"text": ["a b", "c d", "e"] * 5, "label": [0, 1, 2] * 5}).write_parquet(stream)
    whole = stream.getvalue()
    begin = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    refused = 0
    for at in range(begin, len(whole) - 8):
        for value in (0, 0x0C, 0x1C, 0xFF):
            changed = bytearray(whole)
            changed[at] = value
            try:
                check_parquet(Path("x.parquet"), io.BytesIO(bytes(changed)))
            except InputError:
                refused += 1
            except pl.exceptions.PolarsError:
                continue
    assert refused > 100
