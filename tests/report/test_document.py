"""Every kind of report fits the schema that is published, carries its digest, and is read back."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import jsonschema
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.cli.main import run
from goldassay.core.errors import InputError
from goldassay.core.figures import declared
from goldassay.core.report_seal import digest_of
from goldassay.gate.reading import read_report
from goldassay.questions.report_schema import json_schema
from goldassay.runs.store import write_runs
from tests.cli.shift.toys import answers
from tests.questions.test_comparison_report import models
from tests.stated import Fact, states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SCHEMA = json.loads(files("goldassay.core").joinpath("report.schema.json").read_text("utf-8"))
# A count that is written as 118.0 is no whole number to those who read the file.
WHOLE = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
    "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
)
Validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, type_checker=WHOLE)
PAIR = "{base}/data/train.jsonl --test {base}/data/test.jsonl"
SMALL = "{base}/data/dev.jsonl --test {base}/data/test.jsonl"
COMMANDS = {
    "audit": f"audit {SMALL} --settings {{base}}/short.toml --runs {{base}}/predictions.csv",
    "leakage": f"leakage measure {SMALL} --seeds 2 --no-plane",
    "several": "leakage measure a={base}/data/dev.jsonl b={base}/data/test.jsonl --seeds 2 --no-plane",
    "suggest": "leakage suggest {base}/data/dev.jsonl --shares 0.1",
    "instability": "instability {base}/runs",
    "compare": "compare {base}/runs --columns weight=points",
    "suite": "compare {base}/more",
    "sensitivity": "sensitivity {base}/asked.csv",
    "answered": "answered {base}/spoken.csv",
    "board": "board {base}/asked.csv --pool-configurations --columns weight=points --cutoff day=2024-06",
    "overlap": "overlap {base}/data/test.jsonl --corpus {base}/data/train.jsonl --field premise+hypothesis "
    "--runs {base}/predictions.csv",
    "keys": "board {base}/letters.csv",
    "discount": "board {base}/asked.csv --pool-configurations --discount {base}/audit",
    "judgments": "audit {base}/judged.jsonl",
    "people": "audit {base}/scores.csv",
    "gap": "shift generalization --runs {base}/own.parquet --runs {base}/other.parquet --in-distribution own",
    "known": "shift generalization {base}/data/dev.jsonl --test ID={base}/data/test.jsonl "
    "--test elsewhere={base}/elsewhere.jsonl --model quick_probe --seeds 2 --draws 200",
    "detection": "shift detection --inside {base}/own.parquet --outside {base}/other.parquet",
    "mine": f"artifacts mine {PAIR}",
    "mine-alone": "artifacts mine {base}/data/train.jsonl",
    "assign": f"artifacts assign {PAIR}",
}


def judged_rows() -> list[dict[str, object]]:
    """Judgments of pairs of models in both orders, with lengths and what people say."""
    return [
        {
            "item": item, "judge": judge, "a": a, "b": b, "order": order, "verdict": "AB"[(7 * item + seat) % 3 % 2],
            "len_a": 50 + item % 17, "len_b": 60 - item % 13, "human": "AB"[item % 2],
        }
        for judge in ("one", "other")
        for item in range(60)
        for a, b in [(("one", "two"), ("two", "three"), ("one", "three"))[item % 3]]
        for seat, order in enumerate(("original", "swapped"))
    ]  # fmt: skip


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder that a command writes, made once."""
    base = tmp_path_factory.mktemp("kinds")
    assert run(["specimen", "-o", str(base / "data"), "--size", "2000", "--test-size", "200", "-q"]) == 0
    (base / "short.toml").write_text("leakage.seeds = 2")
    for runs in models(0.5, 0.6):
        points = np.arange(runs.n_examples) % 3 + 1.0
        write_runs(replace(runs, weights=points, weighted_by="points"), base / "runs")
        for dataset in ("one", "other"):
            write_runs(replace(runs, dataset=dataset), base / "more")
    for name, accuracy in (("own", 0.9), ("other", 0.6)):
        answers(name, 60, accuracy, 2.0).write_parquet(base / f"{name}.parquet")
    ids, labels = pl.read_ndjson(base / "data" / "test.jsonl").select("id", "label")
    # Families of models, of which each seed knows a part of the labels.
    pl.concat(
        pl.DataFrame({"id": ids, "model": model, "seed": seed}).with_columns(
            prediction=pl.select(
                pl.when(pl.int_range(len(ids)) % (place + 3) == seed).then(labels.shuffle(seed)).otherwise(labels)
            ).to_series()
        )
        for place, model in enumerate(("one", "two", "three", "four", "five"))
        for seed in range(3)
    ).write_csv(base / "predictions.csv")

    pl.concat(
        pl.DataFrame(
            {
                "id": ids, "label": labels, "prediction": labels.shuffle(seed + 9 * (model == "two")), "seed": seed % 2,
                "config_prompt": "abc"[seed // 2], "model": model, "points": pl.int_range(len(ids), eager=True) % 3 + 1,
                "day": [f"2024-{at % 12 + 1:02}" for at in range(len(ids))], "difficulty": ["easy", "hard"] * 100,
            }
        )
        for model in ("one", "two") for seed in range(6)
    ).write_csv(base / "asked.csv")  # fmt: skip

    # Ten systems agree on another answer than the first key, and err each for itself.
    key = [*"ABCD"] * 16
    letters = {f"s{at}": [key[row + {at: 1, at + 1: 2}.get(row % 11, 0)] for row in range(59)] for at in range(10)}
    board = {"item": range(60), "answer": ["A", *key[:59]], **{name: ["B", *own] for name, own in letters.items()}}
    pl.DataFrame(board).write_csv(base / "letters.csv")

    # The last label of a text is not the one that its "answer is" names.
    said = labels.shuffle(1)
    pl.DataFrame({"id": ids, "label": labels, "prediction": said, "output": said + " or neutral"}).with_columns(
        output="The answer is " + pl.col("output"), model=pl.lit("one")
    ).write_csv(base / "spoken.csv")

    # Two judges of three models, of which the first is one; both prefer the first seat a little.
    (base / "judged.jsonl").write_text("".join(json.dumps(row) + "\n" for row in judged_rows()), "utf-8")

    # A judge of whom people check every third score, three of them.
    scores = {"item": range(180), "judge": [at % 3 % 2 for at in range(180)]}
    people = {f"annotator_{who}": [None if at % 3 else (at + who) % 7 % 2 for at in range(180)] for who in range(1, 4)}
    pl.DataFrame(scores | people).write_csv(base / "scores.csv")

    # A part of it occurs in the training data of the command "known".
    lines = [(base / "data" / f"{part}.jsonl").read_text("utf-8").splitlines() for part in ("dev", "train")]
    (base / "elsewhere.jsonl").write_text("\n".join([*lines[0][:30], *lines[1][:200]]), "utf-8")

    def folder(kind: str) -> Path:
        if kind == "discount":
            folder("audit")
        if not (base / kind).exists():
            assert run([*COMMANDS[kind].format(base=base).split(), "-o", str(base / kind), "-q"]) == 0
        return base / kind

    return folder


SLOW = [pytest.param(kind, marks=pytest.mark.slow) if kind == "several" else kind for kind in COMMANDS]


@pytest.mark.parametrize("kind", SLOW)
def test_every_command_writes_what_the_schema_says(stored: Callable[[str], Path], kind: str) -> None:
    report = read_report(stored(kind))
    Validator(SCHEMA).validate(report.document)
    assert report.document["digest"] == digest_of(report.document)
    assert report.folder == stored(kind)


def test_every_measure_finds_its_figures(stored: Callable[[str], Path]) -> None:
    """A measure that no command writes would never be judged or compared, and nobody would notice."""
    reports = [read_report(stored(kind)) for kind in COMMANDS if kind != "several"]
    written = {figure.id for report in reports for figure in report.figures}
    # They take models trained for leakage, items with choices (and answers to them), other systems, and probabilities
    # of no answer.
    unmade = {"leakage.runs", "leakage.keys_to_move", "overlap.adjusted_difference"}
    unmade |= {"answered.items", "answered.other_keys"}
    unmade |= {f"instability.best_{score}{end}" for score in ("exact", "f1") for end in ("", "_threshold")}
    assert {measure.id for measure in declared()} - written == unmade


@pytest.mark.parametrize("kind", SLOW)
def test_figures_are_what_verdicts_say(stored: Callable[[str], Path], kind: str) -> None:
    """The figure that decides a verdict is among the report's, with the same interval."""
    report = read_report(stored(kind))
    figures = [[figure.value, figure.low, figure.high] for figure in report.figures]
    headlines = [verdict.headline for verdict in report.verdicts.values() if verdict.headline is not None]
    for headline in headlines:
        told = [headline.value, headline.low, headline.high]
        # A comparison's headline names the better model first.
        assert told in figures or [-headline.value, -headline.high, -headline.low] in figures


def test_a_figure_without_a_value_says_why(stored: Callable[[str], Path]) -> None:
    for kind in COMMANDS:
        if kind != "several":
            lacking = [figure for figure in read_report(stored(kind)).figures if not figure.is_defined]
            assert [figure for figure in lacking if not figure.reason] == []


def test_the_published_schema_is_that_of_the_code() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    # python -m goldassay.questions.report_schema writes it anew.
    assert json_schema() == SCHEMA


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
        ("figures.0.value", 0.01, "was edited"),
        ("verdicts.leakage.verdict", "sound", "was edited"),
        ("title", "Another", "was edited"),
        ("figures.0.n", -1, "at figures.0.n: it must be 0 or more, not -1"),
        ("figures.0.unit", "miles", "at figures.0.unit: it may be 'points', 'share'"),
        ("figures.0.another", 1, "at figures.0.another"),
        ("verdicts.leakage.verdict", "fine", ("at verdicts.leakage.verdict:", "'sound', 'caution'")),
        ("figures.0.value", "0.1", "at figures.0.value: a number is needed, not '0.1'"),
        ("inputs", {}, ("schema of a report at inputs:", "list")),
        ("schema", "other", "is no report"),
        ("schema_version", 1, ("schema version 1", "reads 2", "again")),
        ("digest", "sha256:0", "at digest: it must match ^sha256:"),
    ],
)
def test_what_was_edited_is_refused(
    stored: Callable[[str], Path], tmp_path: Path, path: str, value: Any, expected: Fact
) -> None:
    document = json.loads((stored("audit") / "report.json").read_bytes())
    (tmp_path / "report.json").write_text(changed(document, path, value))
    with pytest.raises(InputError) as refused:
        read_report(tmp_path)
    assert states(str(refused.value), expected)
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
        (b'{"schema": "goldassay.report", "schema_version": 2}', "has no digest"),
    ],
)
def test_broken_files_are_refused(tmp_path: Path, content: bytes, expected: str) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(content)
    with pytest.raises(InputError) as refused:
        read_report(file)
    assert expected in str(refused.value)


def test_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the folder has no report\.json"):
        read_report(tmp_path)
    with pytest.raises(InputError, match="there is no such report"):
        read_report(tmp_path / "none.json")


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
