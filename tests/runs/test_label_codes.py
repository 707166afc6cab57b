"""Codes for labels: learned from the data, proposed in a command that works as typed, or doubted; never guessed."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import numpy as np
import pytest

from goldassay import audit, rank_systems, read_runs
from goldassay.core.errors import InputError, entered
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.run_scores import score_runs
from goldassay.runs.missing import describe_scores
from goldassay.runs.runs import Runs

if TYPE_CHECKING:
    from pathlib import Path

NLI = ("entailment", "neutral", "contradiction")
ORDERS = (NLI, ("contradiction", "entailment", "neutral"), ("contradiction", "neutral", "entailment"))
N = 120


def _truth() -> tuple[list[str], list[str]]:
    """Right labels and predictions, of which every tenth is wrong."""
    gold = [NLI[i * 7 % 3] for i in range(N)]
    return gold, [NLI[(NLI.index(label) + 1) % 3] if i % 10 == 0 else label for i, label in enumerate(gold)]


def _write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def test_set(tmp_path: Path) -> Path:
    rows = [{"id": f"e{i}", "premise": f"p {i}", "hypothesis": f"h {i}", "label": g} for i, g in enumerate(_truth()[0])]
    return _write(tmp_path / "test.jsonl", rows)


def _typed(path: Path, gold: Path | None, option: str) -> str:
    """The value of an option in the advice of a refusal, as a shell parses it."""
    with entered("shell"), pytest.raises(InputError) as caught:
        read_runs(path, gold=gold)
    words = shlex.split(str(caught.value))
    return words[words.index(option) + 1]


@pytest.mark.parametrize("order", ORDERS)
def test_codes_are_read_by_the_labels_beside_them(tmp_path: Path, test_set: Path, order: tuple[str, ...]) -> None:
    gold, given = _truth()
    pairs = zip(gold, given, strict=True)
    rows = [{"id": f"e{i}", "prediction": order.index(p), "label": order.index(g)} for i, (g, p) in enumerate(pairs)]
    runs = read_runs(_write(tmp_path / "runs.jsonl", rows), gold=test_set)
    assert runs.scores.mean() == pytest.approx(0.9)
    assert runs.contradicted == 0
    assert any(f"0 as {order[0]}" in said for said in describe_scores(runs))


def test_names_in_order_that_contradict_the_labels_are_refused(tmp_path: Path, test_set: Path) -> None:
    gold, given = _truth()
    order = ORDERS[1]
    pairs = zip(gold, given, strict=True)
    rows = [{"id": f"e{i}", "prediction": order.index(p), "label": order.index(g)} for i, (g, p) in enumerate(pairs)]
    path = _write(tmp_path / "runs.jsonl", rows)
    with pytest.raises(InputError, match="contradicts the labels"):
        read_runs(path, gold=test_set, label_names=NLI)
    assert read_runs(path, gold=test_set, label_names=order).scores.mean() == pytest.approx(0.9)


@pytest.mark.parametrize("order", ORDERS)
def test_the_advice_for_codes_alone_is_the_order_that_agrees_with_the_gold(
    tmp_path: Path, test_set: Path, order: tuple[str, ...]
) -> None:
    rows = [{"id": f"e{i}", "prediction": order.index(p)} for i, p in enumerate(_truth()[1])]
    path = _write(tmp_path / "runs.jsonl", rows)
    pairs = dict(pair.split("=") for pair in _typed(path, test_set, "--labels").split(","))
    assert read_runs(path, gold=test_set, labels=pairs).scores.mean() == pytest.approx(0.9)


@pytest.mark.parametrize("order", ORDERS)
def test_the_advice_for_logits_is_the_order_that_agrees_with_the_gold(
    tmp_path: Path, test_set: Path, order: tuple[str, ...]
) -> None:
    rows = [{"id": f"e{i}", "logits": [3.0 if p == name else 0.1 for name in order]} for i, p in enumerate(_truth()[1])]
    path = _write(tmp_path / "runs.jsonl", rows)
    names = _typed(path, test_set, "--label-names").split(",")
    assert read_runs(path, gold=test_set, label_names=names).scores.mean() == pytest.approx(0.9)


def test_the_advice_for_sentences_is_the_label_that_each_holds(tmp_path: Path, test_set: Path) -> None:
    rows = [{"id": f"e{i}", "prediction": f"The answer is {p}."} for i, p in enumerate(_truth()[1])]
    path = _write(tmp_path / "runs.jsonl", rows)
    pairs = dict(pair.split("=") for pair in _typed(path, test_set, "--labels").split(","))
    assert read_runs(path, gold=test_set, labels=pairs).scores.mean() == pytest.approx(0.9)


def test_no_order_is_proposed_where_none_agrees_with_the_gold(tmp_path: Path, test_set: Path) -> None:
    rows = [{"id": f"e{i}", "prediction": int(c)} for i, c in enumerate(np.random.default_rng(0).integers(0, 3, N))]
    path = _write(tmp_path / "runs.jsonl", rows)
    with pytest.raises(InputError, match="no order of the labels fits"):
        read_runs(path, gold=test_set)


@pytest.mark.parametrize("order", ORDERS)
def test_a_score_without_skill_is_doubted_where_another_order_has_some(order: tuple[str, ...]) -> None:
    gold, given = (np.array(each) for each in _truth())
    codes = np.array([order.index(p) for p in given])
    runs = Runs.from_arrays(predictions=codes, gold=[NLI.index(g) for g in gold], label_names=NLI)
    said = describe_scores(runs)
    assert bool(said) == (order != NLI)
    assert all("90.00 points" in each for each in said)


@pytest.mark.parametrize("share", [0.34, 0.5, 0.9])
def test_chance_and_a_constant_answer_are_not_doubted(share: float) -> None:
    rng = np.random.default_rng(1)
    gold = (rng.random(300) > share).astype(int) + (rng.random(300) > 0.7)
    for predictions in (rng.integers(0, 3, 300), np.zeros(300, int), np.full(300, 2)):
        runs = Runs.from_arrays(predictions=predictions, gold=gold, label_names=NLI)
        assert describe_scores(runs) == []


def test_rows_that_are_in_no_score_are_counted(tmp_path: Path, test_set: Path) -> None:
    rows = [{"id": f"e{i}", "prediction": p} for i, p in enumerate(_truth()[1])]
    half = read_runs(_write(tmp_path / "runs.jsonl", rows[:60]), gold=test_set)
    assert any("60 of the 120 examples" in said for said in describe_scores(half))
    labelled = map(json.loads, test_set.read_text().splitlines())
    _write(test_set, [{**row, "label": row["label"] if i % 3 else None} for i, row in enumerate(labelled)])
    rest = read_runs(_write(tmp_path / "runs.jsonl", [r for i, r in enumerate(rows) if i % 3]), gold=test_set)
    assert any("40 rows were left out" in said for said in describe_scores(rest))


def test_an_audit_says_by_what_labels_scores_were_read(tmp_path: Path, test_set: Path) -> None:
    gold, given = _truth()
    order = ORDERS[1]
    pairs = list(zip(gold, given, strict=True))
    learned = _write(
        tmp_path / "learned.jsonl",
        [{"id": f"e{i}", "prediction": order.index(p), "label": order.index(g)} for i, (g, p) in enumerate(pairs)],
    )
    codes = [{"id": f"e{i}", "prediction": order.index(p)} for i, (_, p) in enumerate(pairs)]
    named = _write(tmp_path / "named.jsonl", codes)
    for runs, names, stem in ((learned, None, "0 as contradiction"), (named, list(NLI), "in another order: 90.00")):
        report = audit(str(runs), test=str(test_set), label_names=names)
        assert stem in report.verdicts["instability"]["evidence"]
        assert stem in report.summary()
        assert stem in report.to_markdown()
    words = _write(tmp_path / "words.jsonl", [{"id": f"e{i}", "prediction": p} for i, (_, p) in enumerate(pairs)])
    board = rank_systems([str(named), str(words)], test=str(test_set), label_names=list(NLI))
    assert any("in another order: 90.00" in note for note in board.document["board"]["notes"])


def test_runs_that_code_labels_otherwise_are_of_the_test_set(tmp_path: Path, test_set: Path) -> None:
    gold, given = _truth()
    order = ORDERS[1]
    pairs = zip(gold, given, strict=True)
    rows = [{"id": f"e{i}", "prediction": order.index(p), "label": order.index(g)} for i, (g, p) in enumerate(pairs)]
    path = str(_write(tmp_path / "runs.jsonl", rows))
    report = audit(str(test_set), runs=path)
    assert report.document["instability"]["results"][0]["mean"] == pytest.approx(0.9)
    with pytest.raises(InputError, match="contradicts the labels"):
        audit(str(test_set), runs=path, label_names=list(NLI))


@pytest.mark.parametrize(("mark", "labels"), [("-", NLI), (-1, (0, 1, 2)), ("-", ("-", "x1"))])
def test_right_labels_that_say_there_is_none_do_not_count(
    tmp_path: Path, mark: object, labels: tuple[object, ...]
) -> None:
    rows = [
        {"id": f"e{i}", "label": mark if i % 4 == 0 else labels[i % len(labels)], "prediction": labels[i % len(labels)]}
        for i in range(N)
    ]
    runs = read_runs(_write(tmp_path / "runs.jsonl", rows))
    # A mark that is predicted, too, is a label.
    blank = mark not in labels
    assert runs.n_examples == (90 if blank else N)
    assert any("30 rows have no right label" in said for said in describe_scores(runs)) == blank
    assert not blank or runs.scores.mean() == 1.0


def test_a_point_after_a_prediction_makes_no_other_label(tmp_path: Path, test_set: Path) -> None:
    forms = ("{}.", " {}.\n", " {}", "{}", "{}\t")
    rows = [{"id": f"e{i}", "prediction": forms[i % 5].format(p.title())} for i, p in enumerate(_truth()[1])]
    assert read_runs(_write(tmp_path / "runs.jsonl", rows), gold=test_set).scores.mean() == pytest.approx(0.9)
    floats = [{"id": i, "label": i % 3, "prediction": float(i % 3)} for i in range(30)]
    assert read_runs(_write(tmp_path / "floats.jsonl", floats)).scores.mean() == 1.0


def test_the_advice_for_letters_in_brackets_is_the_letter(tmp_path: Path) -> None:
    rows = [{"id": i, "answer": "ABC"[i % 3], "prediction": f"({'ABC'[i % 3 if i % 4 else 0]})"} for i in range(60)]
    path = _write(tmp_path / "runs.jsonl", rows)
    pairs = dict(pair.split("=") for pair in _typed(path, None, "--labels").split(","))
    assert read_runs(path, labels=pairs).scores.mean() == pytest.approx(50 / 60)


def test_predictions_beyond_the_right_labels_are_counted(tmp_path: Path, test_set: Path) -> None:
    rows = [{"id": f"e{i}", "prediction": "maybe" if i % 4 == 0 else p} for i, p in enumerate(_truth()[1])]
    said = describe_scores(read_runs(_write(tmp_path / "runs.jsonl", rows), gold=test_set))
    assert any("30 predictions are 'maybe'" in each for each in said)


@pytest.mark.parametrize("labels", [NLI, (0, 1)])
def test_how_sure_a_model_was_is_no_score(tmp_path: Path, labels: tuple[object, ...]) -> None:
    rng = np.random.default_rng(0)
    rows = [
        {
            "id": f"e{i}",
            "label": labels[i % len(labels)],
            "score": 0.4 + 0.5 * (i % 2 if labels != NLI else 1) * rng.random(),
        }
        for i in range(N)
    ]
    path = _write(tmp_path / "runs.jsonl", rows)
    with pytest.raises(InputError, match="may be how probable"):
        read_runs(path)
    assert 0.4 < read_runs(path, columns={"score": "score"}).scores.mean() < 0.9
    with pytest.raises(InputError, match="no gold labels"):
        read_runs(path, columns={"prediction": "label"})


def test_an_epoch_is_no_system_and_an_index_without_a_name_is_an_id(tmp_path: Path) -> None:
    rows = [{"id": i, "epoch": 1, "target": "AB"[i % 2], "output": {"completion": "A"}} for i in range(40)]
    with pytest.raises(InputError, match="no runs were recognized"):
        read_runs(_write(tmp_path / "runs.jsonl", rows))
    for name in ("", "Unnamed: 0"):
        path = tmp_path / "index.csv"
        path.write_text(f"{name},text,label,pred\n" + "".join(f"{i},t {i},{'ab'[i % 2]},a\n" for i in range(40)))
        assert read_runs(path).scores.mean() == 0.5
    path.write_text("text,label,pred\n" + "".join(f"t {i},{'ab'[i % 2]},a\n" for i in range(40)))
    with pytest.raises(InputError, match=r"example_id.*text"):
        read_runs(path)


def test_no_common_example_is_no_reason_to_keep_those_in_common(tmp_path: Path, test_set: Path) -> None:
    rows = [{"id": i, "prediction": p} for i, p in enumerate(_truth()[1])]
    path = _write(tmp_path / "runs.jsonl", rows)
    with pytest.raises(InputError, match="not in the gold") as caught:
        read_runs(path, gold=test_set)
    assert "position" in str(caught.value)
    assert "intersect" not in str(caught.value)
    assert read_runs(path, gold=test_set, align="position").scores.mean() == pytest.approx(0.9)


def test_scores_say_that_labels_may_be_of_other_rows_or_another_version(tmp_path: Path, test_set: Path) -> None:
    gold, given = _truth()
    pairs = zip(gold, given, strict=True)
    rows = [{"id": f"e{i}", "prediction": p, "label": NLI[0] if i < 12 else g} for i, (g, p) in enumerate(pairs)]
    (scored,) = score_runs(_write(tmp_path / "runs.jsonl", rows), RunChoice.of(test=str(test_set))).sets
    n = sum(label != NLI[0] for label in gold[:12])
    assert any(f"in {n} of 120 examples" in note for note in scored.notes)
    rng = np.random.default_rng(2)
    other = [{"id": f"x{i}", "prediction": given[at]} for i, at in enumerate(rng.permutation(N))]
    choice = RunChoice.of(test=str(test_set), align="position")
    (scored,) = score_runs(_write(tmp_path / "other.jsonl", other), choice).sets
    assert any("may belong to other rows" in note for note in scored.notes)
