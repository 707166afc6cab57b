"""Every kind of report fits the schema that is published, carries its digest, and is read back."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import jsonschema
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.cli.main import run
from goldassay.errors import InputError
from goldassay.places import figures_at
from goldassay.policy_rules import RULES
from goldassay.report.digest import digest_of
from goldassay.report.document import json_schema
from goldassay.report.reading import read_report
from goldassay.report.sections import outline
from goldassay.runs import write_runs
from goldassay.studies.diff.measures import MEASURES
from tests.cli.shift.toys import answers
from tests.studies.test_comparison_report import models

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SCHEMA = json.loads(files("goldassay.report").joinpath("report.schema.json").read_text("utf-8"))
PAIR = "{base}/data/train.jsonl --test {base}/data/test.jsonl"
SMALL = "{base}/data/dev.jsonl --test {base}/data/test.jsonl"
COMMANDS = {
    "audit": f"audit {SMALL} --config {{base}}/short.toml --runs {{base}}/predictions.csv",
    "leakage": f"leakage measure {SMALL} --seeds 2 --no-map",
    "several": "leakage measure a={base}/data/dev.jsonl b={base}/data/test.jsonl --seeds 2 --no-map",
    "suggest": "leakage suggest {base}/data/dev.jsonl --shares 0.1",
    "instability": "instability {base}/runs",
    "compare": "compare {base}/runs",
    "gap": "shift generalization --runs {base}/own.parquet --runs {base}/other.parquet --in-distribution own",
    "detection": "shift detection --in {base}/own.parquet --out {base}/other.parquet",
    "mine": f"artifacts mine {PAIR}",
    "mine-alone": "artifacts mine {base}/data/train.jsonl",
    "assign": f"artifacts assign {PAIR}",
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder that a command writes, made once."""
    base = tmp_path_factory.mktemp("kinds")
    assert run(["specimen", "-o", str(base / "data"), "--size", "2000", "-q"]) == 0
    (base / "short.toml").write_text("leakage.seeds = 2")
    for runs in models(0.5, 0.6):
        write_runs(runs, base / "runs")
    for name, accuracy in (("own", 0.9), ("other", 0.6)):
        answers(name, 60, accuracy, 2.0).write_parquet(base / f"{name}.parquet")
    ids, labels = pl.read_ndjson(base / "data" / "test.jsonl").select("id", "label")
    pl.concat(
        pl.DataFrame({"id": ids, "seed": seed, "prediction": labels.shuffle(seed)}) for seed in range(3)
    ).write_csv(base / "predictions.csv")

    def folder(kind: str) -> Path:
        if not (base / kind).exists():
            assert run([*COMMANDS[kind].format(base=base).split(), "-o", str(base / kind), "-q"]) == 0
        return base / kind

    return folder


SLOW = [pytest.param(kind, marks=pytest.mark.slow) if kind == "several" else kind for kind in COMMANDS]


@pytest.mark.parametrize("kind", SLOW)
def test_every_command_writes_what_the_schema_says(stored: Callable[[str], Path], kind: str) -> None:
    report = read_report(stored(kind))
    jsonschema.Draft202012Validator(SCHEMA).validate(report.document)
    assert report.document["digest"] == digest_of(report.document)
    assert report.folder == stored(kind)
    assert outline(report.document)


def test_every_rule_and_measure_finds_its_figures(stored: Callable[[str], Path]) -> None:
    """A place that no command writes would never be judged or compared, and nobody would notice."""
    reports = [read_report(stored(kind)) for kind in COMMANDS if kind != "several"]
    places = [place for rule in RULES for place in rule.places] + [measure.place for measure in MEASURES]
    empty = {
        (place.at, place.value) for place in places if not any(figures_at(report.document, place) for report in reports)
    }
    # These take several datasets, models trained for leakage, and logits.
    assert empty == {
        ("leakage.datasets[]", "improvement"),
        ("leakage.conditions[]", "n_runs"),
        ("shift.calibration[]", "overconfidence"),
    }


def test_the_published_schema_is_that_of_the_code() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    made = json_schema()
    assert made["required"] == SCHEMA["required"]
    assert {name: set(part["properties"]) for name, part in made["$defs"].items()} == {
        name: set(part["properties"]) for name, part in SCHEMA["$defs"].items()
    }


def changed(document: dict[str, Any], path: str, value: Any) -> str:
    *keys, last = path.split(".")
    inner: Any = document
    for key in keys:
        inner = inner[int(key) if key.isdigit() else key]
    inner[last] = value
    return json.dumps(document)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("artifacts.difficulty.easy.share", 0.01, "was edited"),
        ("verdicts.leakage.verdict", "sound", "was edited"),
        ("title", "Another", "was edited"),
        ("artifacts.difficulty.easy.share", 1.5, "at artifacts.difficulty.easy.share: it must be 1.0 or less, not 1.5"),
        ("verdicts.leakage.verdict", "fine", "at verdicts.leakage.verdict: it may be 'sound', 'caution'"),
        (
            "leakage.conditions.0.improvement",
            "0.1",
            "at leakage.conditions.0.improvement: a number is needed, not '0.1'",
        ),
        ("inputs", {}, "does not fit the schema of a report at inputs: a list is needed"),
        ("schema", "other", "is no report"),
        ("schema_version", 2, "schema version 2"),
        ("digest", "sha256:0", "at digest: it must match ^sha256:"),
    ],
)
def test_what_was_edited_is_refused(
    stored: Callable[[str], Path], tmp_path: Path, path: str, value: Any, expected: str
) -> None:
    document = json.loads((stored("audit") / "report.json").read_bytes())
    (tmp_path / "report.json").write_text(changed(document, path, value))
    with pytest.raises(InputError) as refused:
        read_report(tmp_path)
    assert expected in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "is empty"),
        (b"{", "is not JSON"),
        (b"[" * 200_000, "is not JSON"),
        (b'{"a": NaN}', "NaN is no number"),
        (b"\xff\xfe\xff", "is not JSON"),
        (b'{"a": ' + b"9" * 5000 + b"}", "is not JSON"),
        (b"[]", "is no report"),
        (b'{"schema": "goldassay.report", "schema_version": 1}', "has no digest"),
    ],
)
def test_broken_files_are_refused(tmp_path: Path, content: bytes, expected: str) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(content)
    with pytest.raises(InputError) as refused:
        read_report(file)
    assert expected in str(refused.value)


def test_missing_files_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(InputError, match="cannot be read"):
            read_report(path)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=4), VALUES, max_size=4))
def test_the_digest_is_of_the_content_and_not_of_its_form(document: dict[str, Any]) -> None:
    digest = digest_of(document)
    text = json.dumps(document, indent=3, sort_keys=True)
    assert digest_of(json.loads(text)) == digest
    assert digest_of({**document, "timing": 1, "digest": 2}) == digest_of({**document, "timing": 3})
    assert digest_of({**document, "another key": 1}) != digest


def test_whole_numbers_may_be_spelled_either_way() -> None:
    assert digest_of({"a": [1.0, {"b": 2}]}) == digest_of({"a": [1, {"b": 2.0}]})
    assert digest_of({"a": 1.5}) != digest_of({"a": 1})
    assert digest_of({"a": True}) != digest_of({"a": 1})
