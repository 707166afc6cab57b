import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from goldassay.data import delimited
from goldassay.data.blocks import is_quoted


def of_the_whole(data, separator):
    plain = delimited._plain_line_ends(data)
    records = delimited._records(np.frombuffer(plain, np.uint8), ord(separator), np.empty(0, np.int64))
    strict = delimited._quoted_records(delimited._line_ends_outside_quotes(data), ord(separator), records)
    return strict is not None


PIECES = [
    '"',
    "a",
    ",",
    "\t",
    "\n",
    "\r\n",
    '"a"',
    '"a,b"',
    '""',
    '"a\nb"',
    '"a\tb"',
    '"a ""b"" c"',
    "a,b\n",
    '"a","b"\n',
    "\r",
]


@given(st.lists(st.sampled_from(PIECES), max_size=25), st.sampled_from([",", "\t"]), st.integers(1, 7))
@settings(max_examples=600)
@example(['"a","b"\n', '"a","b"\n', '"a","b"\n'], ",", 3)
@example(['"a\tb"', "\t", "a", "\n", '"a\nb"', "\t", "a", "\n"], "\t", 2)
@example(['"a"', "\r", "\r", "\n"], ",", 1)
def test_blocks_decide_as_the_whole(pieces, separator, size):
    data = (f"h{separator}h\n" + "".join(pieces)).encode()
    blocks = [data[i : i + size] for i in range(0, len(data), size)]
    assert is_quoted(blocks, separator) == of_the_whole(data, separator)


@pytest.mark.parametrize("separator", [",", "\t"])
def test_no_marks(separator):
    assert not is_quoted([b"a,b\n", b"c,d\n"], separator)
