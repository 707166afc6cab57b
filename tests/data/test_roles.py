from __future__ import annotations

import polars as pl
import pytest

import goldassay
from goldassay.core.errors import SHELL, InputError, entered
from goldassay.data.dataset import Dataset
from goldassay.data.roles import assign_roles, naming, parse_columns, sure_roles, without_classes
from tests.stated import in_order


def frame(*columns: str, **values: list[str]) -> pl.DataFrame:
    return pl.DataFrame({column: values.get(column, ["x", "y"]) for column in columns})


@pytest.mark.parametrize(
    ("columns", "texts"),
    [
        (("premise", "hypothesis"), {"premise": "premise", "hypothesis": "hypothesis"}),
        (("Sentence1", "SENTENCE2"), {"premise": "Sentence1", "hypothesis": "SENTENCE2"}),
        (
            ("sentence_A_original", "sentence_A", "sentence_B", "sentence_B_original"),
            {"premise": "sentence_A", "hypothesis": "sentence_B"},
        ),
        (("context", "statement", "reason"), {"premise": "context", "hypothesis": "statement"}),
        (("query", "context"), {"premise": "context", "hypothesis": "query"}),
        (("question", "sentence"), {"premise": "question", "hypothesis": "sentence"}),
        (("question1", "question2"), {"premise": "question1", "hypothesis": "question2"}),
        (("question", "context"), {"question": "question", "context": "context"}),
        (("question", "passage"), {"question": "question", "context": "passage"}),
        (("title", "review_text"), {"text": "review_text"}),
        (("Text",), {"text": "Text"}),
        (("sentence", "text"), {"text": "text"}),
        (("#1 String", "#2 String"), {"premise": "#1 String", "hypothesis": "#2 String"}),
    ],
)
def test_texts_by_name(columns, texts):
    assert dict(assign_roles(frame(*columns)).texts) == texts


@pytest.mark.parametrize(
    ("columns", "label"),
    [
        (("gold_label", "label"), "gold_label"),
        (("label", "one_annotator_label"), "label"),
        (("one_annotator_label", "gold_label_if_known"), "gold_label_if_known"),
        (("relatedness_score", "entailment_label"), "entailment_label"),
        (("rating", "polarity"), "polarity"),
        (("bartPredLabel", "gold_label"), "gold_label"),
        (("label1", "label2", "gold_label"), "gold_label"),
        (("one_annotator_label", "n"), "one_annotator_label"),
        (("Quality",), "Quality"),
    ],
)
def test_label_by_precedence(columns, label):
    assert assign_roles(frame("text", *columns)).label == label


@pytest.mark.parametrize("columns", [("gold", "gold_label"), ("Label", "label"), ("polarity", "sentiment")])
def test_labels_of_equal_rank_are_refused(columns):
    with pytest.raises(InputError, match=in_order("could both be the label", "columns={'label':")):
        assign_roles(frame("text", *columns))
    assert assign_roles(frame("text", *columns), {"label": columns[1]}).label == columns[1]


def test_texts_of_equal_rank_are_refused():
    with pytest.raises(InputError, match="'Text' and 'text' could both be the text"):
        assign_roles(frame("Text", "text"))


def test_a_score_counts_only_without_a_label():
    roles = assign_roles(frame("sentence1", "sentence2", "score", score=["1.5", ""]))
    assert (roles.label, roles.score) == (None, "score")
    assert assign_roles(frame("text", "score", score=["April", "1"])).score is None


def test_groups_keep_their_names():
    roles = assign_roles(
        frame("text", "subcase_inferred", "heuristic", "genre", heuristic=["a", "a"], subcase_inferred=["b", "b"])
    )
    assert roles.groups == ("heuristic", "subcase_inferred")


def test_set_is_a_split_only_if_it_names_parts():
    parts = frame("text", "set", set=["TRAIN", "test"])
    assert assign_roles(parts).split == "set"
    other = assign_roles(frame("text", "set", set=["chaos", "chaos"]))
    assert (other.split, other.groups) == (None, ("set",))


def test_annotators():
    assert assign_roles(frame("text", "label", "label1", "label2")).annotators == ("label1", "label2")
    assert assign_roles(frame("text", "gold_label", "verifier labels")).annotators == ("verifier labels",)


def test_decisions_and_roles_are_recorded():
    dataset = Dataset.from_frame({"sentence1": ["a", "b"], "sentence2": ["c", "d"], "gold_label": ["x", "y"]})
    assert dataset.provenance.roles == {"premise": "sentence1", "hypothesis": "sentence2", "label": "gold_label"}
    assert "Column 'gold_label' is the label." in dataset.provenance.decisions


def test_columns_can_be_set():
    dataset = Dataset.from_frame(
        {"a": ["x", "y"], "b": ["v", "w"], "c": ["1", "2"], "d": ["g", "g"], "e": ["h", "h"]},
        columns="premise=a,hypothesis=b,label=c,group=d+e",
    )
    assert dataset.text_columns == ("premise", "hypothesis")
    assert dataset.groups == ("d", "e")
    assert dataset.label_names == ("1", "2")
    assert dataset.examples.columns == ["example_id", "premise", "hypothesis", "label", "d", "e"]


def test_a_partner_is_found_by_name():
    roles = assign_roles(frame("hypothesis", "other", "sentence1"), {"premise": "other"})
    assert dict(roles.texts) == {"premise": "other", "hypothesis": "hypothesis"}
    with pytest.raises(InputError, match="none is known to be the hypothesis"):
        assign_roles(frame("a", "b"), {"premise": "a"})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"premise": "a", "hypothesis": "a"}, "'a' is given twice, as premise and as hypothesis"),
        ({"text": "lable"}, "there is no such column; did you mean 'label'?"),
        ({"txet": "a"}, "no role 'txet'; did you mean 'text'?"),
        ({"label": "zzz"}, "the columns are a, label"),
    ],
)
def test_bad_settings_are_refused(columns, message):
    with pytest.raises(InputError) as caught:
        assign_roles(frame("a", "label"), columns)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["premise", "label=", "=a", "label=a,label=b", ""])
def test_bad_column_text_is_refused(text):
    with pytest.raises(InputError):
        parse_columns(text)


def test_column_text():
    assert parse_columns(" premise = a, group=b+c ") == {"premise": "a", "group": "b+c"}


def test_metadata_keep_their_place_beside_roles():
    dataset = Dataset.from_frame({"text": ["a", "b"], "gold_label": ["x", "y"], "label": ["u", "v"], "n": [1, 2]})
    assert dataset.examples["label"].to_list() == ["x", "y"]
    assert dataset.examples["label_column"].to_list() == ["u", "v"]
    assert dataset.examples["n"].to_list() == [1, 2]


def test_columns_of_refusals_are_named_by_what_they_hold() -> None:
    frame = pl.DataFrame(
        {
            "n": [1, 2, 3, 4],
            "what it says": [f"words of row {at}" for at in range(4)],
            "mood": list("abab"),
            "o": [{}] * 4,
        }
    )
    assert "{'text': 'what it says', 'label': 'mood'}" in naming(frame, "text", "label")
    assert "'example_id': 'n'" in naming(frame, "example_id")
    assert "'label'" not in naming(frame.select("n", "o"), "label", besides=["n"])
    with entered(SHELL):
        assert "--columns 'text=what it says,label=mood'" in naming(frame, "text", "label")


TEXTS = {name: [f"words of row {at} in {name}" for at in range(24)] for name in ("doc", "claim", "third")}


@pytest.mark.parametrize(
    ("texts", "others", "label"),
    [
        (2, {"kind": "xy"}, "kind"),
        (2, {"kind": [True, False]}, "kind"),
        (2, {"kind": [0, 1]}, "kind"),
        (2, {"grade": [0, 1, 2]}, ""),
        (2, {"kind": "xy", "sort": "xxy"}, ""),
        (2, {"kind": "xy", "sort": "xxy", "label": [0, 1, 2]}, "label"),
        (2, {"topic": "xy"}, ""),
        (2, {"a_label": "xy", "b_label": "xxy"}, ""),
        (1, {"label": "xy"}, "label"),
        (1, {"kind": "xy"}, ""),
        (1, {"label": ["[1, 2]", "[2, 1]"]}, ""),
        (1, {"target": ["(A)", "(B)"]}, ""),
        (3, {"label": "xy"}, ""),
    ],
)
def test_texts_and_label_are_guessed_where_one_reading_fits(texts, others, label) -> None:
    own = {name: [values[at % len(values)] for at in range(24)] for name, values in others.items()}
    rows = pl.DataFrame({**dict(list(TEXTS.items())[:texts]), **own})
    assert sure_roles(rows).get("label", "") == label
    if label:
        roles = assign_roles(rows)
        assert roles.label == label
        assert roles.decisions[0].startswith("Texts and label are guessed from what columns hold")


def test_free_answers_are_named_with_what_applies() -> None:
    rows = pl.DataFrame(
        {"problem": [f"what is row {at}?" for at in range(30)], "answer": [str(at) for at in range(30)]}
    )
    error = without_classes(rows, "a b.jsonl")
    assert "free answers in 'answer'" in error.problem
    with entered(SHELL):
        assert "goldassay overlap 'a b.jsonl' --corpus DIR" in str(without_classes(rows, "a b.jsonl").mend)
    assert "free" not in without_classes(rows.with_columns(answer=pl.lit("x")), "a").problem


def test_python_names_columns_of_one_input_and_values_in_mappings() -> None:
    train = [{"premise": f"a {at}", "hypothesis": f"b {at}", "label": at % 2} for at in range(20)]
    test = [{"premise": f"c {at}", "hypothesis": f"d {at}", "truth": at % 2} for at in range(20)]
    report = goldassay.suggest_rewrites(
        train, test, columns_of={"test": {"label": "truth"}}, map={"label": {"0": "no", "1": "yes"}}
    )
    assert len(report.tables["rows"]) == 20


@pytest.mark.parametrize("key", ["map", "of"])
def test_no_role_is_called_as_what_stands_beside_roles(key: str) -> None:
    with pytest.raises(InputError, match="no role"):
        Dataset.from_frame([{"text": "a word", "label": "x"}], columns={key: "x"})
