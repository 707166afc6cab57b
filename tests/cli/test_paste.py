"""`goldassay paste`: twelve lines of Markdown, and the RAI fields of Croissant files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import goldassay as package
from goldassay.core.errors import InputError
from goldassay.core.report_seal import digest_of
from tests.cli.run_files import goldassay, refused
from tests.gate.test_check import AUDIT, verdict
from tests.report.example import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.end_to_end.conftest import Outcome

__all__ = ["goldassay", "refused"]

RAI = "http://mlcommons.org/croissant/RAI/"
QUESTIONS = ("artifacts", "leakage", "instability", "shift", "overlap", "answered", "board")
# As an owner keeps it: fields of another vocabulary, numbers and nested parts that are none of ours.
OWNED: dict[str, Any] = {
    "@context": {"@vocab": "https://schema.org/", "cr": "http://mlcommons.org/croissant/"},
    "@type": "Dataset",
    "name": "ünï \\ pairs",
    "license": {"@type": "CreativeWork", "name": "CC0"},
    "version": 1.50,
    "recordSet": [{"@id": "rows", "key": None, "data": [{"a": 10**20}, {"a": 1e-7}]}],
}


def saved(folder: Path, **changes: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    document = AUDIT.document | changes
    document["digest"] = digest_of(document)
    (folder / "report.json").write_text(json.dumps(document))
    return folder


def test_each_verdict_with_its_interval_the_version_and_the_digest(
    goldassay: Callable[..., Outcome], tmp_path: Path
) -> None:
    leaky = verdict("unsound", 0.174) | {"headline": {"label": "above the most frequent label", "value": 0.174,
                                                      "low": 0.152, "high": 0.193, "unit": "points"}}  # fmt: skip
    verdicts = {"artifacts": verdict("sound"), "leakage": leaky, "shift": verdict("not asked", None)}
    saved(tmp_path / "report", verdicts=verdicts)
    found = goldassay("paste", "report")
    assert (found.status, found.err) == (0, "")
    document = json.loads((tmp_path / "report" / "report.json").read_text())
    lines = found.out.splitlines()
    assert len(lines) <= 12
    # The gravest first.
    assert lines[4].split(" | ")[1:] == [
        "unsound",
        "above the most frequent label",
        "17.4 points",
        "\\[15.2, 19.3\\] |",
    ]
    assert lines[5].startswith("| artifacts | sound |")
    assert f"goldassay {document['goldassay_version']}, digest `{document['digest']}`" in lines[-1]
    assert lines[-1].endswith("; not asked: shift")
    assert package.paste(tmp_path / "report") == found.out.rstrip("\n")


def test_what_sound_cannot_see_stands_beside_its_figure(goldassay: Callable[..., Outcome], tmp_path: Path) -> None:
    saved(tmp_path, verdicts={"artifacts": verdict("sound") | {"not_seen": "Not seen: fifty words."}})
    assert ". Not seen: fifty words. |" in goldassay("paste", ".").out


@pytest.mark.parametrize(
    ("question", "word", "shown"),
    [
        ("leakage", "unresolved", True),
        ("leakage", "sound", True),
        ("leakage", "caution", False),
        ("judgments", "sound", True),
        ("judgments", "unresolved", False),
    ],
)
def test_what_is_bounded_stands_after_the_label_of_the_figure(
    goldassay: Callable[..., Outcome], tmp_path: Path, question: str, word: str, shown: bool
) -> None:
    bound = "Cues give the label away in 0.0 % to 12.0 % of the rows"
    saved(tmp_path, verdicts={question: verdict(word) | {"evidence": f"{bound}. More rows lower it."}})
    assert (f". {bound} |" in goldassay("paste", ".").out) is shown


def test_never_more_than_twelve_lines(goldassay: Callable[..., Outcome], tmp_path: Path) -> None:
    words = ["sound"] * 6 + ["unsound"]
    saved(tmp_path, verdicts={key: verdict(word) for key, word in zip(QUESTIONS, words, strict=True)})
    lines = goldassay("paste", ".").out.splitlines()
    assert len(lines) == 12
    assert lines[4].startswith("| board | unsound |")
    assert lines[-1].endswith("; 2 more verdicts in the report")


def test_what_has_no_figure_says_why(goldassay: Callable[..., Outcome], tmp_path: Path) -> None:
    saved(tmp_path, verdicts={"leakage": verdict("not measurable", None, "Too few rows. More.")})
    assert "| not measurable | Too few rows | — | — |" in goldassay("paste", ".").out


def test_what_no_command_gives_again_names_its_files(goldassay: Callable[..., Outcome], tmp_path: Path) -> None:
    items = {"role": "test", "name": "items", "files": ["items.jsonl.gz"], "sha256": ["a" * 64]}
    saved(tmp_path, inputs=[items])
    assert "Made by `goldassay audit` of `items.jsonl.gz`" in goldassay("paste", ".").out


def test_hostile_names_stay_texts(goldassay: Callable[..., Outcome], tmp_path: Path) -> None:
    hostile = verdict("unsound", None, f"{HOSTILE} | `x`") | {"notes": ["\x1b[31m"]}
    saved(tmp_path / "report", title=f"{HOSTILE}\n| a |", verdicts={"leakage": hostile})
    found = goldassay("paste", "report", "--croissant", "croissant.json")
    assert found.status == 0
    assert HOSTILE not in found.out
    assert found.out.splitlines()[0].endswith("\\| a \\|**")
    assert "\\u001b" not in (tmp_path / "croissant.json").read_text()


def test_the_made_file_says_where_the_data_are(goldassay: Callable[..., Outcome], tmp_path: Path) -> None:
    files = [{"role": role, "name": role, "files": ["data.jsonl"], "sha256": [mark * 64], "dropped": {"no label": 31}}
             for role, mark in (("train", "a"), ("test", "b"))]  # fmt: skip
    saved(tmp_path, inputs=files, verdicts={"leakage": verdict("sound", at_most=0.07), "shift": verdict("caution")})
    assert goldassay("paste", ".", "--croissant", "new.json").status == 0
    made = json.loads((tmp_path / "new.json").read_text())
    assert made["conformsTo"] == ["http://mlcommons.org/croissant/1.1", f"{RAI}1.0"]
    assert [(each["@id"], each["sha256"]) for each in made["distribution"]] == [
        ("aaaaaaaa-data.jsonl", "a" * 64),
        ("bbbbbbbb-data.jsonl", "b" * 64),
    ]
    assert [("leakage: sound" in each, "7.0 %" in each) for each in made["rai:dataBiases"]] == [(True, True)]
    assert ["shift: caution" in each for each in made["rai:dataLimitations"]] == [True]
    # The field holds one value.
    assert made["rai:dataCollectionMissingData"].count("no label: 31") == 2


@pytest.mark.parametrize(("word", "missed"), [("sound", True), ("unresolved", True), ("unsound", False)])
def test_a_sentence_of_metadata_has_one_unit(tmp_path: Path, word: str, missed: bool) -> None:
    headline = {"label": "accuracy above chance", "value": 0.174, "low": 0.152, "high": 0.193, "unit": "points"}
    evidence = "Cues give the label away in up to 42.4 % of the rows. More."
    verdicts = {"leakage": verdict(word, evidence=evidence, at_most=0.09) | {"headline": headline}}
    package.paste(saved(tmp_path / "report", verdicts=verdicts), croissant=tmp_path / "new.json")
    (said,) = json.loads((tmp_path / "new.json").read_text())["rai:dataBiases"]
    assert "17.4 points (95 % interval [15.2, 19.3])." in said
    assert ("9.0" in said) == missed
    # Beside the figure is at most the bound of all readers, which is a sentence by itself.
    assert ("42.4" in said) == (word != "unsound")


def test_one_text_keeps_the_owners_words_and_replaces_ours(tmp_path: Path) -> None:
    file, key = tmp_path / "croissant.json", f"{RAI}dataCollectionMissingData"
    file.write_text(json.dumps(OWNED | {key: "Two writers left."}))
    for n in (31, 7):
        inputs = [{"role": "test", "name": "t", "files": [], "sha256": [], "dropped": {"no label": n}}]
        package.paste(saved(tmp_path / str(n), inputs=inputs, verdicts={}), croissant=file)
    said = json.loads(file.read_text())[key]
    assert said.startswith("Two writers left. Measured by goldassay")
    assert said.endswith("no label: 7.")
    assert "31" not in said


@pytest.mark.parametrize(
    ("key", "context"),
    [
        ("rai:dataBiases", {}),
        (f"{RAI}dataBiases", {}),
        ("dataBiases", {"rai": RAI, "dataBiases": "rai:dataBiases"}),
        ("biases", {"biases": {"@id": f"{RAI}dataBiases"}}),
        (f"{RAI}dataBiases", {"rai": "http://elsewhere.org/"}),
        ("rai:dataBiases", {"rai": {"@id": RAI, "@prefix": True}}),
    ],
)
def test_all_else_of_an_existing_file_is_kept(tmp_path: Path, key: str, context: dict[str, Any]) -> None:
    owned = OWNED | {"@context": OWNED["@context"] | context, key: "Written by one annotator."}
    file = tmp_path / "croissant.json"
    file.write_text(json.dumps(owned))
    for word in ("sound", "unsound"):
        report = saved(tmp_path / word, verdicts={"leakage": verdict(word), "overlap": verdict("caution")})
        package.paste(report, croissant=file)
    filled = json.loads(file.read_text())
    limits = next(name for name in filled if name.endswith("dataLimitations"))
    owner, own = filled.pop(key)
    assert owner == owned.pop(key)
    # The later report has replaced what the earlier one said.
    assert "leakage: unsound" in own
    assert [("overlap: caution" in each) for each in filled.pop(limits)] == [True]
    assert filled.pop("@context") == {"rai": RAI} | owned.pop("@context")
    assert filled == owned


@pytest.mark.parametrize(
    ("context", "short"),
    [
        (["https://schema.org/", {"cr": "http://mlcommons.org/croissant/"}], True),
        ([{"cr": "http://mlcommons.org/croissant/"}, "https://schema.org/"], False),
        ("http://mlcommons.org/croissant/1.0", False),
        ({"cr": {"@id": "https://mlcommons.org/croissant/"}}, True),
    ],
)
def test_a_context_of_another_form_is_kept(tmp_path: Path, context: Any, short: bool) -> None:
    file = tmp_path / "croissant.json"
    owned = OWNED | {"@context": context, "rai:dataUseCases": None, "name": "half \ud800 of \u00fc"}
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(owned).encode())
    for word in ("sound", "unsound"):
        package.paste(saved(tmp_path / word, verdicts={"leakage": verdict(word)}), croissant=file)
    filled = json.loads(file.read_text())
    (key,) = [name for name in filled if name.endswith("dataBiases")]
    # The short name is taken only where the context says what it is.
    assert key == ("rai:dataBiases" if short else f"{RAI}dataBiases")
    (said,) = filled.pop(key)
    assert "leakage: unsound" in said
    kept = filled.pop("@context")
    if short:
        (kept if isinstance(kept, dict) else kept[-1]).pop("rai")
    assert kept == owned.pop("@context")
    assert filled == owned


def test_values_by_language_stay_as_they_are(tmp_path: Path) -> None:
    term = {"@id": f"{RAI}dataBiases", "@container": "@language"}
    owned = OWNED | {"@context": OWNED["@context"] | {"biases": term}, "biases": {"en": "One annotator."}}
    file = tmp_path / "croissant.json"
    file.write_text(json.dumps(owned))
    package.paste(saved(tmp_path / "report", verdicts={"leakage": verdict("unsound")}), croissant=file)
    filled = json.loads(file.read_text())
    assert filled["biases"] == {"en": "One annotator."}
    assert len(filled["rai:dataBiases"]) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"@context": {"cr": "http://mlcommons.org/croissant/"}, "@graph": []}', "within @graph"),
        ('{"@context": {"cr": "http://mlcommons.org/croissant/"}, "name": 1, "name": 2}', "'name' twice"),
        ('// a comment\n{"@context": {"cr": "http://mlcommons.org/croissant/"}}', "cannot be read as JSON"),
    ],
)
def test_what_cannot_be_kept_whole_is_refused(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "croissant.json"
    file.write_text(content)
    with pytest.raises(InputError) as error:
        package.paste(saved(tmp_path / "report"), croissant=file)
    assert said in str(error.value)
    assert file.read_text() == content


@pytest.mark.parametrize(
    "content", ["", "{}", "[1]", '{"@context": "https://schema.org/"}', '{"@context": {"a": "b"}}']
)
def test_what_is_no_croissant_file_is_left_alone(tmp_path: Path, content: str) -> None:
    file = tmp_path / "croissant.json"
    file.write_text(content)
    with pytest.raises(InputError, match=r"name a Croissant file"):
        package.paste(saved(tmp_path / "report"), croissant=file)
    assert file.read_text() == content


def test_an_edited_report_and_the_report_itself_are_refused(refused: Callable[..., str], tmp_path: Path) -> None:
    saved(tmp_path / "report")
    assert "--croissant" in refused("paste", "report", "--croissant", "report/report.json")
    file = tmp_path / "report" / "report.json"
    file.write_text(file.read_text().replace('"title": "', '"title": "Another '))
    assert "was edited" in refused("paste", "report")
