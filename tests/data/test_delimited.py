from __future__ import annotations

import csv
import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from goldassay.core.errors import InputError
from goldassay.data.delimited import parse_delimited

PATH = Path("data.tsv")


def fields(data: str, separator: str = "\t") -> list[tuple[str, ...]]:
    return list(parse_delimited(data.encode(), separator, PATH).columns.iter_rows())


def test_marks_inside_text_are_text():
    parsed = parse_delimited(b'a\tb\nHe said "hi"\tx\n"Go", he said\ty\n', "\t", PATH)
    assert not parsed.quoted
    assert parsed.columns["a"].to_list() == ['He said "hi"', '"Go", he said']


def test_a_wholly_marked_sentence_alone_shows_no_quotation():
    assert fields('a\tb\n"Hello."\tx\ny\tz\n') == [('"Hello."', "x"), ("y", "z")]


def test_a_doubled_mark_shows_quotation():
    assert fields('a\tb\n"Say ""hi""."\tx\ny\tz\n') == [('Say "hi".', "x"), ("y", "z")]


def test_a_column_quoted_throughout_shows_quotation():
    assert fields('a,b\n"x",1\n"y",2\n', ",") == [("x", "1"), ("y", "2")]


def test_separator_and_line_break_within_marks():
    parsed = parse_delimited(b'a,b\n"x,\ny",1\nz,2\n', ",", PATH)
    assert list(parsed.columns.iter_rows()) == [("x,\ny", "1"), ("z", "2")]
    assert parsed.lines.tolist() == [2, 4]


def test_two_sentences_with_one_mark_each_do_not_melt():
    assert fields('a\tb\n1\t"We leave, he said.\n2\tI see.\n3\tI saw it."\n') == [
        ("1", '"We leave, he said.'),
        ("2", "I see."),
        ("3", 'I saw it."'),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end):
    assert fields(f"a\tb{end}1\t2{end}3\t4{end}") == [("1", "2"), ("3", "4")]
    assert fields(f'a\tb{end}"1 ""x"""\t2{end}3\t4') == [('1 "x"', "2"), ("3", "4")]


def test_carriage_return_within_marks_stays():
    assert fields('a,b\r\n"x\r\ny",2\r\n', ",") == [("x\r\ny", "2")]


def test_blank_lines_are_no_rows_but_count_as_lines():
    parsed = parse_delimited(b"a\tb\n\n1\t2\n\n\n3\t4\n\n", "\t", PATH)
    assert list(parsed.columns.iter_rows()) == [("1", "2"), ("3", "4")]
    assert parsed.lines.tolist() == [3, 6]


def test_numbers_dates_and_na_stay_text():
    assert fields("a,b\n1.0,NA\n007,2020-01-01\n,null\n", ",") == [("1.0", "NA"), ("007", "2020-01-01"), ("", "null")]


def test_unicode_line_separators_are_text():
    assert fields("a\tb\nx\u2028y\x85z\x0b\x1c\ty\n") == [("x\u2028y\x85z\x0b\x1c", "y")]


@pytest.mark.parametrize(
    ("data", "line"), [("a,b\n1,2\n1,2,3\n", 3), ("a,b\n1\n", 2), ('a,b\n"x\ny",1\n"z ""q""",1,2\n', 4)]
)
def test_ragged_rows_are_refused_by_line(data, line):
    with pytest.raises(InputError, match=rf"line {line}: the row has"):
        fields(data, ",")


def test_duplicate_and_missing_names():
    with pytest.raises(InputError, match="names the column 'a' twice"):
        fields("a,a\n1,2\n", ",")
    assert parse_delimited(b",b\n1,2\n", ",", PATH).columns.columns == ["column_1", "b"]


def test_only_a_header():
    with pytest.raises(InputError, match="a header but no row"):
        fields("a,b\n", ",")


def test_one_column():
    assert fields("text\nx\n\ny\n\n") == [("x",), ("",), ("y",)]
    assert fields('text\n"x ""1"""\n"a\nb"\n', ",") == [('x "1"',), ("a\nb",)]


def test_extra_fields_where_they_are_allowed():
    parsed = parse_delimited(b"1\t2\n3\t4\tlicence\n", "\t", PATH, names=("a", "b"), extra=1)
    assert list(parsed.columns.iter_rows()) == [("1", "2"), ("3", "4")]
    assert parsed.lines.tolist() == [1, 2]


text = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
rows = st.lists(st.tuples(text, text, text), min_size=1, max_size=8)


@given(rows, st.sampled_from([",", "\t", ";"]), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_what_the_standard_library_writes_comes_back(rows, separator, quoting):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=separator, quoting=quoting)
    writer.writerow(["a", "b", "c"])
    # A carriage return alone is a line end to some readers, so that csv quotes it: it comes back all the same.
    writer.writerows(rows)
    assert fields(out.getvalue(), separator) == rows


@given(rows, st.sampled_from([",", "\t"]), st.sampled_from(["necessary", "always", "non_numeric"]))
def test_what_polars_writes_comes_back(rows, separator, quote_style):
    rows = [tuple(field.replace("\r", " ") for field in row) for row in rows]
    frame = pl.DataFrame(rows, schema=["a", "b", "c"], orient="row")
    out = io.BytesIO()
    frame.write_csv(out, separator=separator, quote_style=quote_style)
    assert fields(out.getvalue().decode(), separator) == rows


plain = st.text(st.characters(exclude_characters='\0\t\n\r"', exclude_categories=["Cs"]), max_size=12)
marked = st.tuples(st.sampled_from(['say "', 'a "', 'b" "', "it's\""]), plain).map("".join)


@given(st.lists(st.tuples(marked, plain), min_size=1, max_size=8))
def test_unquoted_text_with_marks_comes_back(rows):
    data = "a\tb\n" + "".join("\t".join(row) + "\n" for row in rows)
    assert fields(data) == rows


PLAIN = "text,label\n" + "".join(f"row {at},{'ab'[at % 2]}\n" for at in range(8))


@pytest.mark.parametrize(
    ("text", "label"),
    [
        (PLAIN + 'five " inches,a\n', ('five " inches', "a")),
        (PLAIN + '"a comma, and ""marks""",b\nfive " inches,a\n', ('five " inches', "a")),
        (PLAIN + '"wholly marked",b\nit is 6" long,a\n', ('it is 6" long', "a")),
        (PLAIN + '"closed" early,b\n', ("closed early", "b")),
    ],
)
def test_a_stray_mark_changes_its_own_field_alone(text: str, label: tuple[str, str]) -> None:
    found = parse_delimited(text.encode(), ",", Path("a.csv"))
    assert found.columns.rows() == [tuple(row) for row in csv.reader(io.StringIO(text))][1:]
    assert found.columns.rows()[-1] == label
    assert found.columns.height == text.count("\n") - 1
    assert found.lines.tolist() == list(range(2, found.columns.height + 2))


def test_marks_are_text_where_quotation_breaks_rows() -> None:
    text = PLAIN + '"she said no,a\n'
    found = parse_delimited(text.encode(), ",", Path("a.csv"))
    assert found.columns.rows()[-1] == ('"she said no', "a")
    assert len(found.notes) == 1


_CELL = st.text(st.sampled_from('ab ",\n'), min_size=1, max_size=5)


@given(st.lists(st.tuples(_CELL, _CELL), min_size=1, max_size=6))
def test_commas_are_read_as_by_the_standard_library(rows: list[tuple[str, str]]) -> None:
    text = "text,label\n" + "".join(f"{one},{two}\n" for one, two in rows)
    expected = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    assume(len(expected) > 1 and all(len(row) == 2 for row in expected))
    assert [list(row) for row in parse_delimited(text.encode(), ",", Path("a.csv")).columns.rows()] == expected[1:]
