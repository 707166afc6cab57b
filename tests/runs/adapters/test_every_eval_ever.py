"""The files in fixtures/every_eval_ever were written by its own converter; make_every_eval_ever.py says how."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goldassay.core.errors import InputError
from goldassay.runs.adapters.every_eval_ever import read_aggregates
from goldassay.runs.finding import find_slices
from goldassay.runs.loading import resolved
from goldassay.runs.reading import list_runs, read_runs
from goldassay.runs.run_parts import Request

MADE = Path(__file__).parents[1] / "fixtures" / "every_eval_ever"
SOURCE = Path(__file__).parents[1] / "fixtures" / "lm_eval" / "made-up__tiny"
ACC = {"score": "acc"}


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    """A samples file beside its aggregate, both of which may be changed."""
    made = min((MADE / "data" / "made_up_choice").rglob("*_samples.jsonl"))
    for file in (made, made.with_name(made.name.replace("_samples.jsonl", ".json"))):
        shutil.copy(file, tmp_path)
    return tmp_path / made.name


def test_evaluations_are_runs() -> None:
    listed = list_runs(MADE)
    assert listed.select("model", "dataset", "n_runs", "n_examples").rows() == [
        ("made-up/tiny", "made_up_answer/first", 2, 6),
        ("made-up/tiny", "made_up_answer/last-word", 2, 6),
        ("made-up/tiny", "made_up_choice", 2, 6),
    ]
    assert all(seed.startswith("made_up_choice/made-up/tiny/") for seed in listed["seeds"][2])


def test_scores_are_those_of_the_source() -> None:
    with pytest.raises(InputError, match="each example has 2 scores: acc, acc_norm"):
        read_runs(MADE, dataset="made_up_choice")
    converted = read_runs(MADE, dataset="made_up_choice", columns=ACC)
    source = read_runs(SOURCE, dataset="made_up_choice", columns=ACC)
    assert converted.scores.tolist() == source.scores.tolist()
    assert converted.label_names == ("yes", "no", "maybe")
    assert converted.predictions is not None
    assert np.array_equal(converted.predictions, source.predictions)
    assert converted.gold is None


def test_aggregates_of_the_converter() -> None:
    frame = read_aggregates(MADE).filter(dataset="made_up_choice", metric="accuracy").sort("evaluation_id")
    runs = read_runs(MADE, dataset="made_up_choice", columns=ACC)
    assert frame["score"].to_list() == pytest.approx(runs.scores.mean(axis=1))
    assert frame["evaluation_id"].to_list() == runs.seeds.tolist()
    assert frame["seed"].to_list() == [None, None]


def test_an_aggregate_alone_holds_no_examples(samples: Path) -> None:
    aggregate = samples.with_name(samples.name.replace("_samples.jsonl", ".json"))
    with pytest.raises(InputError, match=f"no examples; give the examples, {samples.name}"):
        read_runs(aggregate)
    samples.unlink()
    with pytest.raises(InputError, match="no runs were recognized"):
        read_runs(aggregate.parent)


def rewrite(samples: Path, change: Any) -> None:
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    samples.write_text("".join(json.dumps(row) + "\n" for row in change(rows)))


def test_the_aggregate_beside_must_fit(samples: Path) -> None:
    rewrite(samples, lambda rows: rows[:-1])
    with pytest.raises(InputError, match=r"there are 11 records, but .* says 12"):
        list_runs(samples)
    rewrite(samples, lambda rows: [*rows, rows[-1] | {"sample_id": "x"}])
    with pytest.raises(InputError, match="checksum is not the one in"):
        list_runs(samples)
    samples.with_name(samples.name.replace("_samples.jsonl", ".json")).unlink()
    assert list_runs(samples)["n_examples"].to_list() == [7]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: [rows[0] | {"evaluation": {"is_correct": True}}], "line 1: .*KeyError: 'score'"),
        (lambda rows: [*rows[:3], {"a": 1}], "line 4: the line is not an instance record"),
        (lambda rows: [*rows[:3], 3], "line 4: the line is not an instance record"),
        (lambda rows: [*rows, rows[0]], "1 example ids are there more than once, first 0"),
        (lambda rows: [{**row, "evaluation": {"score": 7, "is_correct": True}} for row in rows], "outside"),
    ],
)
def test_damage_is_one_line(samples: Path, change: Any, message: str) -> None:
    samples.with_name(samples.name.replace("_samples.jsonl", ".json")).unlink()
    rewrite(samples, change)
    with pytest.raises(InputError, match=message) as caught:
        read_runs(samples, columns=ACC)
    assert "\n" not in str(caught.value)


def test_logits_must_fit_the_choices(samples: Path) -> None:
    samples.with_name(samples.name.replace("_samples.jsonl", ".json")).unlink()

    def with_logits(text: str) -> Any:
        return lambda rows: [{**row, "metadata": {"logits": text}} for row in rows]

    rewrite(samples, with_logits("[1, 2]"))
    with pytest.raises(InputError, match="logits have shape"):
        read_runs(samples, columns=ACC)
    rewrite(samples, with_logits("no"))
    with pytest.raises(InputError, match="not one list of numbers a line"):
        read_runs(samples, columns=ACC)


def test_fields_in_another_order(samples: Path) -> None:
    samples.with_name(samples.name.replace("_samples.jsonl", ".json")).unlink()
    before = read_runs(samples, columns=ACC)
    rewrite(samples, lambda rows: [dict(sorted(row.items())) for row in rows])
    assert np.array_equal(read_runs(samples, columns=ACC).scores, before.scores)


def test_a_line_cut_short(samples: Path) -> None:
    samples.write_bytes(samples.read_bytes()[:-20])
    with pytest.raises(InputError, match="line 12: the line is not JSON"):
        list_runs(samples)


def test_errors_and_answers_that_could_not_be_read(samples: Path) -> None:
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    first = lines[0]["evaluation_result_id"]
    own = [line for line in lines if line["evaluation_result_id"] == first]
    own[0] |= {"error": "timed out"}
    own[1]["output"] = {"raw": [""]}
    own[2]["answer_attribution"][-1]["extracted_value"] = None
    own[3] |= {"error": "timed out, and scored before"}
    for at, line in enumerate(own):
        line["evaluation"]["score"] = float(at >= 3)
    samples.write_text("".join(json.dumps(line) + "\n" for line in own))
    samples.with_name(samples.name.replace("_samples.jsonl", ".json")).unlink(missing_ok=True)
    part = find_slices(samples, "auto", Request())[0]
    status = resolved(part.load(), by_gold=False).to_list()
    assert status[:4] == ["error", "empty", "unparsed", "scored"]
    assert set(status[4:]) == {"scored"}
    assert part.outputs is not None
    written = part.outputs()
    assert written is not None
    assert written.texts[1] == ""
    assert written.predictions is not None
    assert written.predictions[2] is None


def test_without_outputs_the_attributed_answers_are_what_was_written(samples: Path) -> None:
    """As in talks of several turns."""
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    own = [line for line in lines if line["evaluation_result_id"] == lines[0]["evaluation_result_id"]]
    for at, line in enumerate(own):
        line["output"] = None
        line["answer_attribution"] = [
            {**line["answer_attribution"][-1], "extracted_value": said, "is_terminal": said == "last"}
            for said in (f"turn {at}", "last")
        ]
    samples.write_text("".join(json.dumps(line) + "\n" for line in own))
    samples.with_name(samples.name.replace("_samples.jsonl", ".json")).unlink(missing_ok=True)
    part = find_slices(samples, "auto", Request())[0]
    written = part.outputs() if part.outputs is not None else None
    assert written is not None
    assert written.texts.to_list() == ["last"] * len(own)
