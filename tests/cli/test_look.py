"""`goldassay look`, as a process: what each kind of file is, and a next command that works."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.questions.provenance import data_notes
from tests.end_to_end.conftest import COMMAND

if TYPE_CHECKING:
    from pathlib import Path

N = 40
LABELS = ("yes", "no")
ROWS: dict[str, list[dict[str, Any]]] = {
    "labelled texts": [{"premise": f"a text {at}", "hypothesis": "it is", "label": LABELS[at % 2]} for at in range(N)],
    "choices": [{"question": f"What is {at}?", "choices": ["a", "b"], "answer": at % 2} for at in range(N)],
    "preferences": [{"prompt": f"Say {at}", "chosen": f"good {at}", "rejected": f"bad word {at}"} for at in range(N)],
    "judgments": [{"item": at // 2, "judge": "j", "order": ("ab", "ba")[at % 2], "winner": "A"} for at in range(N)],
    "extractive answers": [{"question": "Who?", "context": f"She is {at}.", "answers": "She"} for at in range(N)],
    "runs": [{"example_id": at, "model": "m", "seed": 1, "label": "a", "prediction": "a"} for at in range(N)],
    "board": [{"item": at // 2, "system": "mn"[at % 2], "score": float(at % 3 == 0)} for at in range(N)],
    "grades": [{"item": at // 2, "system": "mn"[at % 2], "score": 1 + at % 5} for at in range(N)],
}  # fmt: skip
ASKED = {
    "labelled texts": {"artifacts", "leakage", "suspect"},
    "choices": {"artifacts", "leakage", "suspect"},
    "preferences": {"artifacts", "leakage", "suspect"},
    "judgments": {"judgments"},
    "extractive answers": set(),
    "runs": {"answered", "instability"},
    "board": {"answered", "board"},
    "grades": set(),
}


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.mark.parametrize("kind", ROWS)
def test_each_kind_is_named_with_what_can_be_asked(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path / "a file.jsonl", ROWS[kind])
    found = goldassay.look(path)
    assert found.kind == kind
    assert found.n_rows == N
    assert {each.question for each in found.questions if each.is_asked} == ASKED[kind]
    assert all(bool(each.lacks) is not each.is_asked for each in found.questions)
    assert f"'{path}'" in found.command
    assert found.to_frame().height == len(found.questions)


def test_the_command_prints_and_writes_the_same(tmp_path: Path) -> None:
    path = write(tmp_path / "judged.jsonl", ROWS["judgments"])
    done = subprocess.run([str(COMMAND), "look", str(path), "--json", "-"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == goldassay.look(str(path)).to_dict()
    assert f"{path}: judgments (jsonl, 40 rows)" in done.stderr
    assert done.stderr.splitlines()[-1] == f"Next: goldassay audit {path}"


def test_every_column_has_a_role_or_is_named_as_one_without() -> None:
    rows = [{"text": f"{i} is a number of this row", "label": "ab"[i % 2], "story": f"it is {i} of all", "who.a": i}
            for i in range(40)]  # fmt: skip
    found = goldassay.look(pl.DataFrame(rows))
    assert found.roles == {"text": "text", "label": "label"}
    assert (found.unread, found.unused) == (("story",), ("who.a",))
    nested = [{**row, "meta": {"label": "x"}, "pair": [1]} for row in rows]
    found = goldassay.look(nested, columns="text=text,label=meta.label")
    assert found.roles["label"] == "meta.label"
    assert sorted((*found.unread, *found.unused)) == ["label", "meta", "pair", "story", "who.a"]


def test_what_is_of_no_kind_is_said_and_not_refused(tmp_path: Path) -> None:
    found = goldassay.look(pl.DataFrame({"x": [1, 2], "y": [3, 4]}))
    assert (found.kind, found.command) == ("", "")
    assert found.problem == "the columns 'x', 'y' are of no kind"
    both = [{**row, **other} for row, other in zip(ROWS["choices"], ROWS["preferences"], strict=True)]
    found = goldassay.look(write(tmp_path / "both.jsonl", both))
    assert "fits two kinds equally" in found.problem
    assert [each.kind for each in found.kinds if each.fits] == ["choices", "preferences"]


def test_scores_are_refused_by_the_names_of_their_columns(tmp_path: Path) -> None:
    rows = [{"sentence1": f"a text {at}", "sentence2": f"it is {at}", "score": at / 7} for at in range(N)]
    with pytest.raises(goldassay.InputError, match="'sentence1', 'sentence2', 'score'"):
        goldassay.audit(write(tmp_path / "sts.jsonl", rows))


def test_what_an_audit_refuses_is_not_promised(tmp_path: Path) -> None:
    rows = [{**row, "label": ("a;b", "b", "a")[at % 3]} for at, row in enumerate(ROWS["labelled texts"])]
    found = goldassay.look(write(tmp_path / "several.jsonl", rows))
    assert found.command == ""
    assert not any(each.is_asked for each in found.questions)
    assert "holds several" in found.against[0]


def test_a_column_of_ties_is_a_role_and_its_rows_are_left_out(tmp_path: Path) -> None:
    rows = [
        {"prompt": f"ask {at}", "response_a": f"one {at}", "response_b": f"other {at} more",
         "winner": "ab"[at % 3 == 0], "tie": at % 4 == 0} for at in range(60)
    ]  # fmt: skip
    path = write(tmp_path / "pairs.jsonl", rows)
    assert goldassay.look(path).roles["tie"] == "tie"
    assert goldassay.audit(path).to_dict()["dataset"]["n_test"] == 45


def test_of_grades_beside_answers_the_scale_is_in_the_next_command(tmp_path: Path) -> None:
    rows = [{"id": at, "response": f"an answer {at}", "score": 1 + at % 5} for at in range(N)]
    pl.DataFrame(rows).write_csv(tmp_path / "a.csv")
    seen = goldassay.look(tmp_path / "a.csv")
    assert (seen.kind, seen.command) == ("runs", f"goldassay audit {tmp_path / 'a.csv'} --grades 1:5")
    assert not any(each.is_asked for each in seen.questions)
    assert goldassay.audit(tmp_path / "a.csv", grades="1:5").verdicts


def test_a_missing_label_is_proposed_in_a_command(tmp_path: Path) -> None:
    rows = [{"text": f"a text {at}", "mood": "ab"[at % 2], "n": at} for at in range(N)]
    found = goldassay.look(write(tmp_path / "t.jsonl", rows))
    assert found.against == ("no column is the label",)
    assert found.command.endswith("--columns label=mood")


@pytest.mark.parametrize(("mark", "n_rows", "n_lines"), [('"', 23, "81"), ("", 80, "")])
def test_two_readings_of_quotation_marks_are_told(tmp_path: Path, mark: str, n_rows: int, n_lines: str) -> None:
    rows = [f"{mark * (at in (3, 60))}a text of words {at},{'ab'[at % 2]}" for at in range(80)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["text,label", *rows, ""]))
    found = goldassay.look(str(path))
    assert found.n_rows == n_rows
    assert [n_lines in each for each in found.decisions] == [True] * bool(mark)
    dataset = goldassay.read_dataset(path)
    assert list(found.decisions) == data_notes(dataset, None, None)


def test_files_of_one_kind_are_one_input_and_others_are_refused(tmp_path: Path) -> None:
    one, other = (write(tmp_path / f"{name}.jsonl", ROWS["runs"]) for name in "ab")
    found = goldassay.look([str(one), str(other)])
    assert found.n_rows == 2 * N
    assert found.command == f"goldassay audit {one} {other}"
    with pytest.raises(goldassay.InputError, match="holds runs, and this holds choices"):
        goldassay.look([str(one), str(write(tmp_path / "c.jsonl", ROWS["choices"]))])


def test_of_a_large_file_the_first_rows_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "large.jsonl", ROWS["labelled texts"])
    monkeypatch.setattr("goldassay.questions.look._LARGEST", 1000)
    monkeypatch.setattr("goldassay.questions.look._SAMPLE", 1000)
    found = goldassay.look(path)
    assert found.is_sample
    assert found.kind == "labelled texts"
    assert found.n_rows is not None
    assert 5 < found.n_rows < N
    assert found.paths == (str(path),)


def votes(n: int, *, texts: bool) -> pl.DataFrame:
    """Votes with a column of 1 and 0 for each winner, as an arena publishes them, and one of winners."""
    which = [("model_a", "model_b", "tie")[at % 3 if at % 2 else 0] for at in range(n)]
    one_hot = {f"winner_{name}": [int(name == each) for each in which] for name in ("model_a", "model_b", "tie")}
    names = {"model_a": ["xy"[at % 2] for at in range(n)], "model_b": ["yx"[at % 2] for at in range(n)]}
    said = {
        "prompt": [json.dumps([f"Say {at} aloud"]) for at in range(n)],
        "response_a": [json.dumps([f"one {at} word"]) for at in range(n)],
        "response_b": [json.dumps([f"other {at} words {at}"]) for at in range(n)],
    }  # fmt: skip
    more = said if texts else {"judge": ["j"] * n}
    return pl.DataFrame(
        {"id": [at if texts else at // 2 for at in range(n)], **names, **more, **one_hot, "winner": which}
    )


@pytest.mark.parametrize(("texts", "kind"), [(True, "preferences"), (False, "judgments")])
def test_a_column_for_each_winner_is_the_winner_at_every_door(tmp_path: Path, texts: bool, kind: str) -> None:
    """Three columns of 0 and 1 are no three systems of a board."""
    frame = votes(60, texts=texts)
    path, same = tmp_path / "votes.csv", tmp_path / "same" / "votes.csv"
    same.parent.mkdir()
    frame.drop("winner").write_csv(path)
    frame.drop("winner_model_a", "winner_model_b", "winner_tie").write_csv(same)
    assert goldassay.look(path).to_dict()["kind"] == kind
    found, wanted = (goldassay.audit(each).to_dict() for each in (path, same))
    assert found["verdicts"] == wanted["verdicts"]
    assert [row["n_rows"] for row in found["inputs"]] == [50 if texts else row["n_rows"] for row in wanted["inputs"]]
    with pytest.raises(InputError, match=f"but {kind}"):
        goldassay.rank_systems(path)


def test_columns_of_winners_of_which_not_one_is_1_are_refused(tmp_path: Path) -> None:
    """Two winners in a row are no verdict, and shares of votes no scores of systems."""
    frame = votes(60, texts=True).drop("winner")
    two = frame.with_columns(winner_tie=pl.when(pl.col("id") == 6).then(1).otherwise("winner_tie"))
    two.write_ndjson(tmp_path / "two.jsonl")
    shares = frame.select("id", *(pl.col(f"winner_{each}") * 0.5 + 0.1 for each in ("model_a", "model_b", "tie")))
    shares.write_csv(tmp_path / "shares.csv")
    for name, said in (("two.jsonl", "2 of the columns .* in row 7;"), ("shares.csv", "are of no kind")):
        with pytest.raises(InputError, match=said):
            goldassay.audit(tmp_path / name)
