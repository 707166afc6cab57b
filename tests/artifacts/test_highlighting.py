import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.artifacts import mine_patterns
from goldassay.data.tokenization import tokenize
from goldassay.questions.artifacts.measures.matching import mark_pattern, token_spans


def marked(text, pattern, gaps, tokenizer="treebank"):
    found = mark_pattern(text, tokenize([text], tokenizer).sentence(0), pattern, gaps)
    return [found.text[begin:end] for begin, end in found.spans]


class TestMarkPattern:
    def test_skipped_tokens_are_not_marked(self):
        text = "A man is outdoors."
        found = mark_pattern(text, tokenize([text]).sentence(0), ["A", "outdoors", "."], [2, 0])
        assert found.text == text
        # What stands side by side in the text is one mark.
        assert found.spans == ((0, 1), (9, 18))

    def test_first_place(self):
        assert mark_pattern("a b a b", list("abab"), ["a", "b"], [0]).spans == ((0, 1), (2, 3))
        assert mark_pattern("b a", ["b", "a"], ["a"], []).spans == ((2, 3),)

    def test_absent(self):
        assert mark_pattern("a b", ["a", "b"], ["b", "a"], [0]).spans == ()

    def test_quotation_marks_and_contractions(self):
        assert marked('He "cannot" go', ["``", "not"], [1]) == ['"', "not"]
        assert marked("They don't know", ["n't", "know"], [0]) == ["n't", "know"]

    def test_characters(self):
        assert marked("没有 人在睡觉", ["没", "有", "睡"], [0, 2], "characters") == ["没有", "睡"]

    def test_tokens_that_the_text_does_not_hold(self):
        found = mark_pattern("Dogs ran", ["dog", "run"], ["run"], [])
        assert (found.text, found.spans) == ("dog run", ((4, 7),))

    @given(st.lists(st.sampled_from(["a", "bb", '"', ".", "don't", "é", "(c)"]), min_size=1, max_size=7))
    def test_whatever_is_mined_is_marked(self, words):
        text = " ".join(words)
        table = mine_patterns([text, text], ["x", "y"], max_tokens=3, max_gap=1, min_count=1)
        tokens = tokenize([text]).sentence(0)
        assert token_spans(text, tokens) is not None
        for row in table.to_frame().to_dicts():
            shown = [text[b:e] for b, e in mark_pattern(text, tokens, row["tokens"], row["gaps"]).spans]
            assert "".join(shown) == "".join(row["tokens"]).replace("``", '"').replace("''", '"')


@pytest.mark.parametrize(("text", "tokens"), [("ab", ["b", "a"]), ("ab", ["c"])])
def test_tokens_out_of_order_have_no_places(text, tokens):
    assert token_spans(text, tokens) is None
