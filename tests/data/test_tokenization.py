import gzip
import json
import random
import subprocess
import sys
from itertools import islice

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.errors import InputError
from goldassay.data.tokenization import tokenize, tokenizer_name, treebank_tokenizer
from tests.stated import in_order

library = treebank_tokenizer()

# Pieces that the Treebank rules look at, and spaces of every kind.
PIECES = [
    *"abK19_-'\"`.,:;?!()[]{}<>@#$%&",
    *["can", "not", "n't", "N'T", "'s", "'S", "'ll", "''", "``", "...", "--", "wanna", "gİmme", "'tis", "is"],
    *["'t", "was", "d'ye", "more'n", "é", "ſ", "中", "٣", "\u200b", "\ud800"],
    *[" ", " ", " ", " ", "  ", "\t", "\n", "\r\n", "\x0b", "\x1c", "\x85", "\xa0", "\u2028", "\u3000"],
]
texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def tokens(sentences, tokenizer="treebank"):
    corpus = tokenize(sentences, tokenizer)
    assert corpus.ids.dtype == np.int32
    assert corpus.offsets.dtype == np.int64
    assert len(corpus) == len(sentences)
    assert len(set(corpus.vocabulary)) == len(corpus.vocabulary)
    return [corpus.sentence(row) for row in range(len(sentences))]


whole_texts = texts.filter(lambda text: "\ud800" not in text)


@given(st.lists(whole_texts, max_size=20), st.sampled_from(["treebank", "whitespace", "characters"]))
def test_a_column_gives_what_a_list_gives(sentences, name):
    column, whole = tokenize(pl.Series(sentences, dtype=pl.String), name), tokenize(sentences, name)
    assert column.vocabulary == whole.vocabulary
    assert (column.ids.tolist(), column.offsets.tolist()) == (whole.ids.tolist(), whole.offsets.tolist())
    kept = np.arange(len(sentences)) % 3 > 0
    taken = whole.take(kept)
    assert [taken.sentence(i) for i in range(len(taken))] == [whole.sentence(i) for i in np.flatnonzero(kept)]


def test_a_column_with_something_else_is_refused():
    with pytest.raises(InputError, match="sentence 2 is NoneType, not a string"):
        tokenize(pl.Series(["a", None]))
    with pytest.raises(InputError, match="sentence 1 is int, not a string"):
        tokenize(pl.Series([1]))


class TestTreebank:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            " ",
            "They don't know Mary's dogs.",
            'He said "no." Then "yes"',
            "''quoted'' and ``so''",
            '""Twice',
            "The U.S. is big . ",
            "The end.\u2028",
            "The end. \xa0",
            "The end. \t\n",
            "The end.) ' \x85",
            "a, b,c ,,d 1,000: x:y",
            "I cannot wanna gimme can't Cannot. cannot's",
            "'Tis more'n d'ye 'twas.",
            "Wait... what?! (really) -- [yes]; 100%",
            "first\nsecond.\n",
            "dogs' 's s' '",
        ],
    )
    def test_equals_the_library(self, text):
        assert tokens([text, f" {text}", f"{text} ", text]) == [
            library(each) for each in (text, f" {text}", f"{text} ", text)
        ]

    @given(st.lists(texts, max_size=8))
    def test_equals_the_library_on_the_pieces_its_rules_look_at(self, sentences):
        assert tokens(sentences) == [library(text) for text in sentences]

    @given(st.lists(st.text(max_size=40), max_size=4))
    def test_equals_the_library_on_any_text(self, sentences):
        assert tokens(sentences) == [library(text) for text in sentences]

    def test_equals_the_library_over_several_blocks(self, monkeypatch):
        monkeypatch.setattr("goldassay.data.tokenization._BLOCK", 7)
        rng = random.Random(0)
        sentences = ["".join(rng.choices(PIECES, k=rng.randint(0, 9))) for _ in range(500)]
        assert tokens(sentences) == [library(text) for text in sentences]

    def test_numbers_tokens_by_first_appearance(self):
        assert tokenize(["b a b", "c a"]).vocabulary == ("b", "a", "c")

    def test_survives_more_distinct_chunks_than_the_first_table_holds(self):
        sentences = [f"w{i} w{i + 1}" for i in range(20_000)]
        assert tokens(sentences) == [text.split() for text in sentences]

    def test_loading_it_leaves_the_library_as_it_is(self):
        code = (
            "import sys; from goldassay.data.tokenization import tokenize; tokenize(['a \"b\".']);"
            "assert 'nltk' not in sys.modules and 'pandas' not in sys.modules;"
            "import nltk; assert nltk.word_tokenize and nltk.tokenize.TreebankWordTokenizer"
        )
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

    @pytest.mark.slow
    def test_equals_the_library_on_every_real_text(self, data_dir):
        assert check_files(data_dir) > 1_000_000

    def test_equals_the_library_on_a_sample_of_every_real_file(self, data_dir):
        assert check_files(data_dir, n_lines=20, n_texts=20) > 1_000


def check_files(data_dir, n_lines=None, n_texts=10**9):
    n = 0
    for path in sorted(data_dir.rglob("*.gz")):
        with gzip.open(path, "rt", encoding="utf-8", errors="replace", newline="\n") as file:
            found = sorted(set(fields(islice(file, n_lines))))
        sample = random.Random(0).sample(found, min(len(found), n_texts))
        n += len(sample)
        assert tokens(sample) == [library(text) for text in sample], path
    return n


def fields(lines):
    """Whatever may be text in a file of any format: cells with a space, strings of JSON, and whole lines."""
    for line in lines:
        text = line[:20_000]
        yield text
        yield from (cell for cell in text.split("\t") if " " in cell)
        if line.startswith("{") and len(line) < 20_000:
            try:
                yield from strings(json.loads(line))
            except ValueError:
                continue


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


class TestOthers:
    @given(st.lists(texts, max_size=8))
    def test_whitespace_is_str_split(self, sentences):
        assert tokens(sentences, "whitespace") == [text.split() for text in sentences]

    @given(st.lists(texts, max_size=8))
    def test_characters_are_all_but_spaces(self, sentences):
        expected = [[character for character in text if not character.isspace()] for text in sentences]
        assert tokens(sentences, "characters") == expected

    @given(st.lists(texts, max_size=4))
    def test_a_function_gives_its_own_tokens(self, sentences):
        assert tokens(sentences, library) == [library(text) for text in sentences]

    @pytest.mark.parametrize("name", ["treebank", "whitespace", "characters", str.split])
    def test_no_sentences_have_no_tokens(self, name):
        corpus = tokenize([], name)
        assert len(corpus) == 0
        assert corpus.ids.size == 0

    def test_a_function_is_named_by_its_module(self):
        assert tokenizer_name(tokens) == f"{__name__}.tokens"


class TestRefusals:
    @pytest.mark.parametrize(
        ("function", "kind"),
        [
            (lambda text: text, "str"),
            (lambda text: [1, 2], "a list that holds int"),
            (lambda text: None, "NoneType"),
            (lambda text: [text, None], "a list that holds NoneType"),
        ],
    )
    def test_a_function_that_returns_no_strings(self, function, kind):
        with pytest.raises(InputError, match=f"returned {kind} for sentence 1, not a list of strings"):
            tokenize(["a b"], function)

    @pytest.mark.parametrize("tokenizer", ["treebank", "whitespace", "characters", str.split])
    def test_a_sentence_that_is_no_string(self, tokenizer):
        with pytest.raises(InputError, match="sentence 2 is NoneType, not a string"):
            tokenize(["a", None], tokenizer)

    def test_an_unknown_name(self):
        with pytest.raises(InputError, match=in_order("tokenizer 'moses'", "treebank, whitespace, characters")):
            tokenize(["a"], "moses")

    def test_one_string_instead_of_a_list(self):
        with pytest.raises(InputError, match="put it into a list"):
            tokenize("a b")
