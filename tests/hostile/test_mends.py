"""A mend that a refusal prints works: typed as printed, the command is not refused again for the same reason."""

from __future__ import annotations

import json
import random
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from goldassay.core import files as core_files
from goldassay.core.errors import InputError, InterruptionError
from goldassay.questions import audit
from goldassay.questions.look import look_at as look
from tests.data.forms import FORMS, said

from .cases import Case, cases
from .test_bad_inputs import limited_memory, met

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

EVERYDAY = 40
# What is typed as printed ends before these.
_COMMAND = re.compile(r"goldassay [a-z]+(?: (?!measures).*?)(?=;| searches| shows| measures| or |$)")
_OPTION = re.compile(r"(?<!leave out )(?<!leave )(--columns-of \S+|--[a-z-]+) ('[^']+'|[^\s;)]+)")
_FAULTY = re.compile(r"Traceback|internal error|No such option|there is no role")
_WITHOUT_GOLD = "have predictions but no gold labels"
_PLACEHOLDER = re.compile(r"\b(FILE|RUNS|REPORT|CORPUS|LOW|HIGH|COLUMN|VALUE|ROLE|KEY|LABEL|MODEL|CONDITION|NAME)\b")


@pytest.fixture(autouse=True)
def only_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let an audit end where its input is read: no mend is about what is measured."""

    def reached(*_: object, **__: object) -> None:
        raise InterruptionError("read")

    monkeypatch.setattr(audit, "report_on", reached)
    monkeypatch.setattr(core_files, "_PATIENCE_MS", 20)
    monkeypatch.chdir(tmp_path)
    Path("DIR").mkdir()
    Path("DIR/texts.txt").write_text("some text that was trained on, and is none of these\n" * 3)


def problem_of(line: str) -> str:
    """What a line says is wrong, whichever columns and numbers it names."""
    return re.sub(r"'[^']*'(?:(?:, | and )'[^']*')*|\d+", "…", line.removeprefix("goldassay: ").split("; ")[0])


def typed(arguments: Sequence[str], line: str) -> Iterator[list[str]]:
    """Every command that a line prints, as it would be typed."""
    # The options of another tool are none of these.
    mend = re.sub(r"opencompass .*", "", line.partition("; ")[2])
    for command in _COMMAND.findall(mend):
        yield shlex.split(command)[1:]
    for option, value in _OPTION.findall(_COMMAND.sub("", mend)):
        if not _PLACEHOLDER.search(value) and "…" not in value:
            replaced, words = list(arguments), option.split()
            while words[0] in replaced:
                at = replaced.index(words[0])
                # An input and its columns are two words.
                del replaced[at : at + (3 if len(words) > 1 and "=" in replaced[at + 2] else 2)]
            yield [*replaced, *words, *shlex.split(value.rstrip(","))]


def unworkable(
    arguments: Sequence[str], line: str, capsys: pytest.CaptureFixture[str], *, at_all: bool = False
) -> list[str]:
    """The commands of a line that are refused for the reason that it gives, or for any that the line could know."""
    found = []
    for command in typed(arguments, line):
        if any(_PLACEHOLDER.search(word) for word in command):
            continue
        status, again = met(Case("again", tuple(command)), capsys)
        is_refused = at_all and status == 2 and _WITHOUT_GOLD not in again
        # What only the data's owner can decide is asked next.
        is_refused = is_refused and ("say which:" not in again or bool(unworkable(command, again, capsys, at_all=True)))
        if is_refused or problem_of(again) == problem_of(line) or _FAULTY.search(again):
            found.append(f"{line.strip()} -> {shlex.join(command)}: {again.strip()}")
    return found


def checked(chosen: Sequence[Case], capsys: pytest.CaptureFixture[str]) -> list[str]:
    found, seen = [], set()
    for case in chosen:
        status, line = met(case, capsys)
        if status == 2 and line not in seen:
            seen.add(line)
            found += unworkable(case.arguments, line.splitlines()[-1], capsys)
    return found


def test_mends_of_some_bad_inputs_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = random.Random(0).sample(cases(tmp_path), EVERYDAY)
    with limited_memory():
        assert checked(chosen, capsys) == []


@pytest.mark.slow
def test_mends_of_all_bad_inputs_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with limited_memory():
        assert checked(cases(tmp_path), capsys) == []


# Of each form an everyday test types these, one in turn.
COMMANDS = ("instability", "board", "split", "overlap")


def refused_mends(turns: Sequence[int], folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Mends of published forms that do not work, whatever is asked of a file that a command does not take."""
    found = []
    for at, form in enumerate(FORMS.values()):
        place = str(form.write(folder / str(at)).relative_to(folder))
        for command in ("audit", *(COMMANDS[(at + turn) % len(COMMANDS)] for turn in turns)):
            arguments = [command, place, *(["--corpus", "DIR"] if command == "overlap" else []), "-q", "-o", "out"]
            if form.held and command != "audit":
                continue
            _, line = met(Case(form.name, tuple(arguments)), capsys)
            # What is no board and no runs cannot be made one by naming columns.
            found += unworkable(arguments, line, capsys, at_all=command not in ("board", "instability"))
            # Columns that are known are named.
            assert "NAME" not in line, line
    return found


def test_mends_of_published_forms_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused_mends([0], tmp_path, capsys) == []


def test_what_look_promises_is_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = [form.write(tmp_path / str(at)) for at, form in enumerate(FORMS.values())]
    several = ["joy;fear", "joy", "fear;joy", "fear"]
    rows: dict[str, list[dict[str, object]]] = {
        "several": [{"text": f"words of {at}", "label": several[at % 4]} for at in range(40)],
        "ties": [
            {"prompt": f"say {at}", "response_a": f"a {at}", "response_b": f"b {at}", "winner": at % 3}
            for at in range(40)
        ],
        "judged": [
            {"item": at // 2, "judge": "j", "order": ("ab", "ba")[at % 2], "winner": at % 3} for at in range(40)
        ],
        "scored": [{"text": f"words of {at}", "score": at / 7} for at in range(40)],
    }
    for name, own in rows.items():
        places.append(tmp_path / f"{name}.jsonl")
        places[-1].write_text("".join(json.dumps(row) + "\n" for row in own))
    refused = []
    for place in places:
        try:
            found = look(str(place))
        except InputError:
            continue
        assert bool(found.command) or not any(each.is_asked for each in found.questions)
        if found.command:
            # Beside the test set itself something to search.
            (place.parent / "texts.txt").write_text("some text that was trained on, and is none of these\n" * 3)
            status, line = met(Case("next", tuple(shlex.split(found.command)[1:])), capsys)
            refused += [f"{found.command}: {line}"] if status == 2 else []
    assert refused == []


@pytest.mark.slow
def test_mends_of_published_forms_work_in_every_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused_mends(range(len(COMMANDS)), tmp_path, capsys) == []


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ((), 2),
        (("--columns-of", "test", "label=truth"), 130),
        (("--columns-of", "tst", "label=truth"), 2),
        (("--columns-of", "test"), 2),
        (("--columns-of", "test", "label=truth", "--elsewhere", "far=far.jsonl"), 2),
        (
            (
                "--columns-of",
                "test",
                "label=truth",
                "--elsewhere",
                "far=far.jsonl",
                "--columns-of",
                "far",
                "label=kind",
            ),
            130,
        ),
    ],
)
def test_columns_of_one_input(options: tuple[str, ...], status: int, capsys: pytest.CaptureFixture[str]) -> None:
    for at, (name, label) in enumerate((("train", "label"), ("test", "truth"), ("far", "kind"))):
        rows = [{"premise": said(at + 90 * n), "label": "z", label: "ab"[n % 2]} for n in range(9)]
        Path(f"{name}.jsonl").write_text("".join(json.dumps({**row, "hypothesis": "so"}) + "\n" for row in rows))
    found, line = met(Case("of", ("audit", "train.jsonl", "--test", "test.jsonl", *options, "-q", "-o", "out")), capsys)
    assert found == status, line


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("audit train.jsonl --test test.jsonl", "test"),
        ("audit train.jsonl --test train.jsonl --elsewhere far=test.jsonl", "far"),
        pytest.param("artifacts mine train.jsonl --test test.jsonl", "test", marks=pytest.mark.slow),
        ("artifacts assign train.jsonl --test test.jsonl", "test"),
        pytest.param("artifacts classify train.jsonl --test test.jsonl", "test", marks=pytest.mark.slow),
        pytest.param("leakage measure train.jsonl --test test.jsonl", "test", marks=pytest.mark.slow),
        ("leakage suggest train.jsonl --test test.jsonl", "test"),
        ("shift generalization train.jsonl --test a=train.jsonl --test far=test.jsonl --model quick_probe", "far"),
        pytest.param("train train.jsonl --test test.jsonl --model bow --seeds 1", "test", marks=pytest.mark.slow),
        ("instability runs.jsonl --test test.jsonl", "test"),
        ("board runs.jsonl --test test.jsonl", "test"),
    ],
)
def test_wrong_columns_of_one_input_are_named_for_it_alone(
    words: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for file, label in (("train", "label"), ("test", "truth")):
        rows = [{"id": n, "premise": said(n), "hypothesis": "so", label: "ab"[n % 2]} for n in range(9)]
        Path(f"{file}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = [{"id": n, "prediction": "ab"[n % k % 2], "model": f"m{k}"} for k in (2, 3) for n in range(9)]
    Path("runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
    arguments = [*shlex.split(words), "-q", "-o", "out"]
    status, line = met(Case("of", tuple(arguments)), capsys)
    assert status == 2
    assert f"--columns-of {name} label=truth" in line
    assert unworkable(arguments, line, capsys) == []


def test_label_names_order_the_logits_of_an_audit(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"id": at, "text": said(at), "label": "ab"[at % 2]} for at in range(9)]
    Path("test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = [{"id": at, "logits": [at % 2, 0.5]} for at in range(9)]
    Path("runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers))
    arguments = ("audit", "test.jsonl", "--runs", "runs.jsonl", "-q", "-o", "out")
    found = [met(Case("logits", (*arguments, *more)), capsys)[0] for more in ((), ("--label-names", "b,a"))]
    assert found == [2, 130]


def test_logs_of_a_tool_are_no_table_of_a_board(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = FORMS["promptfoo"].write(tmp_path)
    status, line = met(Case("board", ("board", str(path), "-q", "-o", "out")), capsys)
    assert status == 0, line


def test_a_folder_of_data_and_runs_is_no_folder_of_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither is left out in silence; files that describe the data are no runs."""
    folder = tmp_path / "set"
    folder.mkdir()
    rows = [{"id": f"e{at}", "text": said(at), "label": "ab"[at % 2]} for at in range(20)]
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, text in {
        "id2label.json": '{"0": "a", "1": "b"}',
        "names.json": '{"LABEL_0": "a", "LABEL_1": "b"}',
        "about.json": '{"author": "x", "license": "MIT"}',
        "notes.jsonl": '{"q1": "x", "q2": "y"}',
    }.items():
        (folder / name).write_text(text)
    audit_of = ["audit", "set", "-q", "-o", "out"]
    assert met(Case("described", tuple(audit_of)), capsys)[0] == 130
    assert look("set").kind == "labelled texts"
    (folder / "preds.csv").write_text("id,prediction\n" + "".join(f"e{at},{at % 2}\n" for at in range(20)))
    status, line = met(Case("beside", tuple(audit_of)), capsys)
    assert status == 2
    (command,) = typed(audit_of, line)
    assert command == ["audit", "set/train.jsonl", "--runs", "set/preds.csv"]
    assert look("set").command == shlex.join(["goldassay", *command])
    # The next refusal is about the runs alone: their codes have no names.
    status, line = met(Case("given", (*command, "-q")), capsys)
    (named,) = typed(command, line)
    assert (status, named[-2:]) == (2, ["--labels", "0=a,1=b"])
    assert met(Case("named", (*named, "-q")), capsys)[0] == 130
    assert met(Case("split", ("split", "set", "-q", "-o", "out")), capsys)[0] == 0


def test_no_column_is_proposed_that_leads_nowhere(capsys: pytest.CaptureFixture[str]) -> None:
    """A genre is no label of scored pairs, and a link of each system no item."""
    pairs = [f"{said(at)},{said(at + 50)},{at / 7:.2f},{'pq'[at % 2]}" for at in range(30)]
    Path("scored.csv").write_text("\n".join(["sentence1,sentence2,score,genre", *pairs]) + "\n")
    means = [f"model {at},https://x/{at},{at / 40},{at / 50}" for at in range(30)]
    Path("means.csv").write_text("\n".join(["name,link,arc,mmlu", *means]) + "\n")
    for command, problem in (("audit scored.csv", "scores, not classes"), ("board means.csv", "no column of items")):
        arguments = (*command.split(), "-q", "-o", "out")
        status, line = met(Case(command, arguments), capsys)
        assert status == 2
        assert problem in line
        assert "--columns" not in line


@pytest.mark.parametrize("name", ["error", "failed", "is_incorrect", "wer", "rank", "test_loss"])
def test_what_is_better_where_it_is_less_is_proposed_as_no_score(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"item": at // 2, "system": "mn"[at % 2], name: at % 3} for at in range(40)]
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    status, line = met(Case(name, ("board", "rows.jsonl", "-q")), capsys)
    assert status == 2
    assert f"of {name!r} less is better" in line
    assert "score=" not in line


@pytest.mark.parametrize("name", ["loser", "worse_response", "rejected_index"])
def test_the_worse_of_two_is_proposed_as_no_label(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"prompt": said(at), "response_a": said(at + 50), "response_b": said(at + 99), name: "ab"[at % 2]}
        for at in range(40)
    ]
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    status, line = met(Case(name, ("audit", "rows.jsonl", "-q", "-o", "out")), capsys)
    assert (status, f"={name}" in line) == (2, False)
    assert f"{name!r} names the response that is worse" in line


def test_scored_pairs_are_followed_to_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    """The command that a refusal prints runs once its four places are filled, and each refused command prints it."""
    for name, first in (("near", 0), ("far", 500)):
        rows = [
            {"id": f"{name}{at}", "sentence1": said(first + at), "sentence2": said(first + at + 50), "score": at / 7}
            for at in range(40)
        ]
        Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
        answers = [{"id": row["id"], "prediction": row["score"] + (-1) ** at} for at, row in enumerate(rows)]
        Path(f"runs_{name}.jsonl").write_text("\n".join(map(json.dumps, answers)))
    for command in ("audit near.jsonl", "instability runs_near.jsonl --test near.jsonl"):
        line = met(Case(command, (*command.split(), "-q", "-o", "out")), capsys)[1]
        found = _COMMAND.search(line)
        assert found is not None
        words = shlex.split(found[0])
        assert words[1:3] == ["shift", "generalization"]
        places = {
            "near=RUNS": "near=runs_near.jsonl",
            "other=OTHER_RUNS": "other=runs_far.jsonl",
            "other=OTHER": "other=far.jsonl",
        }
        filled = [places.get(word, word) for word in words[1:]]
        assert len(set(filled) - set(words)) == 3
        assert met(Case("filled", (*filled, "-q", "-o", "shifted")), capsys) == (0, "")


def test_a_mend_keeps_the_roles_that_were_given(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"a": said(at), "labels": {"real": at / 7, "binary": at % 2}, "options": ["a b", said(at)]} for at in range(60)
    ]
    Path("nested.jsonl").write_text("\n".join(map(json.dumps, rows)))
    command = ("audit", "nested.jsonl", "--columns", "text=a,label=labels.binary")
    line = met(Case("given", (*command, "-q", "-o", "out")), capsys)[1]
    assert "--columns text=a,label=labels.binary,ignore=options" in line


def test_a_board_under_unknown_names_is_followed_to_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    """The command names all roles and the file, whose name has a space, beside an index without a name."""
    rows = [f"{at},q{at // 2},{'mn'[at % 2]},{at % 3 % 2}" for at in range(60)]
    Path("my board.csv").write_text("\n".join([",q,sys,pts", *rows]) + "\n")
    line = met(Case("board", ("board", "my board.csv", "-q")), capsys)[1]
    found = _COMMAND.search(line)
    assert found is not None
    assert shlex.split(found[0])[1:] == ["board", "my board.csv", "--columns", "system=sys,item=q,score=pts"]
    assert met(Case("again", (*shlex.split(found[0])[1:], "-q")), capsys)[0] == 0


def test_columns_of_labels_are_followed_to_an_audit(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a row with several labels: the columns that the refusal asks for are refused with a mend that works."""
    rows = [f"{said(at)},{at % 2},{at % 3 % 2},{int(at % 5 == 0)}" for at in range(60)]
    Path("labels.csv").write_text("\n".join(["text,joy,anger,fear", *rows]) + "\n")
    line = met(Case("audit", ("audit", "labels.csv", "-q", "-o", "out")), capsys)[1]
    assert len(list(typed(("audit", "labels.csv", "-q", "-o", "out"), line))) == 3
    assert unworkable(("audit", "labels.csv", "-q", "-o", "out"), line, capsys, at_all=True) == []


@pytest.mark.parametrize("first", [0, 1])
def test_the_place_of_the_better_of_a_list_is_no_label(first: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Two responses in a list are no hypothesis; the command reads them as choices."""
    rows = [
        {"prompt": said(at), "responses": [said(at + 50), said(at + 99)], "preferred": at % 2 + first}
        for at in range(40)
    ]
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    arguments = ("audit", "rows.jsonl", "-q", "-o", "out")
    status, line = met(Case("list", arguments), capsys)
    assert (status, "choices=responses,answer=preferred" in line) == (2, True)
    assert unworkable(arguments, line, capsys, at_all=True) == []
