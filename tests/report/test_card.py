from __future__ import annotations

import copy
import shlex
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from huggingface_hub import DatasetCard
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.document import DatasetFacts
from goldassay.core.settings import Settings, parse_settings
from goldassay.questions.provenance import changed_settings, command_of
from goldassay.report.content import front_matter
from tests.report.example import example_document
from tests.typed import compose, framed_of

if TYPE_CHECKING:
    from pathlib import Path

# The values that the hub's specification of dataset cards allows, of the fields that we write.
SIZES = (
    *("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B"),
    *("1B<n<10B", "10B<n<100B", "100B<n<1T", "n>1T"),
)


@pytest.fixture
def document() -> dict[str, Any]:
    return compose(example_document(5)).to_dict()


def card_of(document: dict[str, Any]) -> Any:
    """The card as the hub's own library reads it."""
    return DatasetCard(compose(document).to_card())


def test_the_hub_reads_the_metadata(document: dict[str, Any]) -> None:
    data = card_of(document).data.to_dict()
    assert data["pretty_name"] == "pairs & <i>friends</i>"
    assert data["size_categories"] == ["10K<n<100K"]
    assert data["task_categories"] == ["text-classification"]
    assert data["task_ids"] == ["natural-language-inference"]
    assert all(isinstance(tag, str) for tag in data["tags"])
    told = data["goldassay"]
    assert told["version"] == document["goldassay_version"]
    assert document["verdicts"].keys() - told.keys() == {"overlap"}
    for question in told.keys() & document["verdicts"].keys():
        verdict = document["verdicts"][question]
        assert told[question]["verdict"] == verdict["verdict"]
    headline = document["verdicts"]["artifacts"]["headline"]
    assert told["artifacts"]["value"] == pytest.approx(headline["value"], abs=1e-4)
    assert told["artifacts"]["low"] <= told["artifacts"]["value"] <= told["artifacts"]["high"]


def test_the_metadata_claim_nothing_unknown(document: dict[str, Any]) -> None:
    assert not {"language", "license", "configs", "dataset_info"} & set(card_of(document).data.to_dict())


@pytest.mark.parametrize(
    ("rows", "size"),
    [(0, SIZES[0]), (999, SIZES[0]), (1000, SIZES[1]), (549_367, SIZES[3]), (10**9, SIZES[7]), (10**12, SIZES[10])],
)
def test_sizes_are_the_hubs(document: dict[str, Any], rows: int, size: str) -> None:
    document["facts"] |= {"n_train": rows, "n_test": 0}
    assert card_of(document).data.size_categories == [size]


def test_a_single_text_is_no_inference(document: dict[str, Any]) -> None:
    document["dataset"]["text_columns"] = ["text"]
    assert card_of(document).data.task_ids is None


@given(st.text(max_size=40))
def test_any_name_is_read_back(name: str) -> None:
    document = {
        "dataset": {"name": name},
        "facts": DatasetFacts(1, None, {}, (), "words", {}, {}, {}, {}).to_dict(),
        "verdicts": {},
    }
    block = front_matter(compose(document))
    assert block.count("\n---") == 1
    shown = yaml.safe_load(block.strip("-\n"))["pretty_name"]
    assert shown.isprintable()
    if name.strip() and name.isprintable():
        assert shown == " ".join(name.split())


def test_the_badge_stands_under_the_title_and_beside_the_card(document: dict[str, Any], tmp_path: Path) -> None:
    compose(document).save(tmp_path / "report")
    card = (tmp_path / "report" / "report.md").read_text("utf-8")
    badge = (tmp_path / "report" / "badge.svg").read_text("utf-8")
    assert card.startswith("---\n")
    words = "goldassay: artifacts unsound, leakage unsound, instability caution, shift not measurable"
    assert f"\n\n![{words}](badge.svg)\n\n" in card
    assert words in badge
    for forbidden in ("<script", "<style", "href", "url(h", "http://", "https://"):
        assert forbidden not in badge.replace('xmlns="http://www.w3.org/2000/svg"', "")


def test_what_is_no_audit_is_no_card(document: dict[str, Any], tmp_path: Path) -> None:
    del document["facts"]
    compose(document).save(tmp_path / "report")
    assert (tmp_path / "report" / "report.md").read_text("utf-8").startswith("# ")
    assert not (tmp_path / "report" / "badge.svg").exists()
    assert "How to reproduce" not in compose(document).to_markdown()


def test_the_command_names_what_was_read(document: dict[str, Any]) -> None:
    one, two = "a" * 64, "b" * 64
    document["settings"] = Settings().model_dump(mode="json") | {"seed": 7}
    document["inputs"] = [
        {
            "role": "train",
            "name": "own",
            "files": ["my train.jsonl"],
            "sha256": [one],
            "roles": {"premise": "a", "hypothesis": "hypothesis", "label": "gold"},
        },
        {"role": "test", "name": "other", "files": ["test.jsonl"], "sha256": [two], "roles": {}},
        {"role": "runs", "name": "runs", "files": ["1.csv", "2.csv"], "sha256": [one, two]},
    ]
    command = command_of(framed_of(document).inputs, "7") or ""
    assert shlex.split(command) == [
        *("goldassay", "audit", "my train.jsonl", "--test", "test.jsonl", "--runs", "runs"),
        *("--columns", "premise=a,label=gold", "--seed", "7"),
    ]
    card = compose(document).to_card()
    assert f"{one}  my train.jsonl" in card
    assert f"With goldassay {document['goldassay_version']}, from files" in card
    assert f"$ {command}\n" in card
    assert "with every setting at its default." in card
    # A part set apart of the training file comes with it.
    document["inputs"] = [document["inputs"][0], document["inputs"][0] | {"role": "test", "name": "own/test"}]
    assert "--test" not in (command_of(framed_of(document).inputs, "7") or "")
    document["inputs"] = [document["inputs"][0] | {"files": [], "sha256": []}]
    assert command_of(framed_of(document).inputs, "7") is None
    assert "goldassay.audit(train, test, seed=7)" in compose(document).to_card()


def test_changed_settings_are_a_settings_file(document: dict[str, Any]) -> None:
    default = Settings().model_dump(mode="json")
    document["settings"] = copy.deepcopy(default)
    assert changed_settings(document["settings"]) == ""
    changed = document["settings"]
    changed["seed"] = 3
    changed["artifacts"] |= {"threshold": 0.8, "tokenizer": "whitespace"}
    changed["training"] |= {"model": 'a "b" \x7f\u2028 \\ é 😀', "conditions": ["paired"], "changes": {"epochs": 3}}
    changed["verdicts"]["leakage"]["caution"] = 0.01
    written = changed_settings(document["settings"])
    # The seed stands in the command.
    assert parse_settings(tomllib.loads(written)).model_dump(mode="json") == changed | {"seed": 0}
