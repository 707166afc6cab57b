"""The server: who may ask, what is stored before it is confirmed, and what a kill loses."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import polars as pl
import pytest

from goldassay.core.document import About
from goldassay.core.errors import InputError, OutputError
from goldassay.data.decisions import Decision, append_decision, read_decisions
from goldassay.data.mending import mend_dataset
from goldassay.view.opening import open_workbench
from tests.stated import Fact, in_order, says, states
from tests.view.made import HOSTILE, ask, items, rows, save_both, save_report, served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goldassay.view.opening import Workbench


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return open_workbench(save_both(tmp_path)[1])


@pytest.fixture
def address(bench: Workbench) -> Iterator[str]:
    with served(bench) as found:
        yield found


def decision(bench: Workbench, row: int, word: str = "drop", **more: Any) -> dict[str, Any]:
    import numpy as np

    return {"row": row, "key": bench.table.key(bench.table.rows(np.array([row]))[0]), "decision": word, **more}


def test_the_page_shows_rows_and_escapes_them(address: str) -> None:
    status, page, headers = ask(address)
    assert status == 200
    assert HOSTILE not in page
    assert "&lt;script&gt;document.title" in page
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"
    assert "230 rows" in page


@pytest.mark.parametrize("path", ["/", "/wrong/", "/wrong/row/1", "/wrong/view.js", "/wrong/decide"])
def test_nothing_is_shown_without_the_token(address: str, path: str) -> None:
    assert ask(address, path)[0] == 403 if path != "/wrong/decide" else ask(address, path)[0] in (403, 405)


def test_a_client_that_hangs_up_is_no_error(address: str, caplog: pytest.LogCaptureFixture) -> None:
    parts = urlsplit(address)
    host = f"{parts.hostname}:{parts.port}"
    for _ in range(3):
        with socket.create_connection((str(parts.hostname), int(parts.port or 0))) as client:
            head = (
                f"POST {parts.path}decide HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Length: 999\r\n"
            )
            client.sendall(f"{head}\r\n{{".encode())
    assert ask(address)[0] == 200
    assert [each.getMessage() for each in caplog.records if each.name.startswith("uvicorn")] == []


def test_nothing_is_decided_without_the_token(address: str, bench: Workbench) -> None:
    status, _, _ = ask(address, "/wrong/decide", body=decision(bench, 1))
    assert status == 403
    assert bench.decisions is not None
    assert not bench.decisions.exists()


@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Host": "evil.example:80"}, {"Host": "127.0.0.1"}, {"Origin": "http://evil.example"},
     {"Origin": "null"}],
)  # fmt: skip
def test_another_host_or_origin_gets_nothing(address: str, bench: Workbench, headers: dict[str, str]) -> None:
    assert ask(address, headers=headers)[0] == 403
    assert ask(address, "decide", body=decision(bench, 1), headers=headers)[0] == 403
    assert bench.decisions is not None
    assert not bench.decisions.exists()


def test_a_decision_needs_an_origin(address: str, bench: Workbench) -> None:
    sent = json.dumps(decision(bench, 1)).encode()
    assert ask(address, "decide", body=sent, headers={"Origin": ""})[0] == 403


def test_only_this_machine_reaches_it(address: str) -> None:
    port = int(address.split(":")[2].split("/")[0])
    others = {each[4][0] for each in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET)} - {"127.0.0.1"}
    for other in others:
        with pytest.raises(OSError):
            socket.create_connection((other, port), timeout=2)


def test_many_rows_are_decided_and_undone_together(tmp_path: Path) -> None:
    bench = open_workbench(save_both(tmp_path)[1], decisions=tmp_path / "d.jsonl")
    easy = {"query": "f.difficulty=easy", "decision": "drop"}
    chosen = bench.selector.select(bench.state("f.difficulty=easy")).rows.tolist()
    with served(bench) as address:
        assert ask(address, "decide", body=decision(bench, chosen[0], "keep", note="fine"))[0] == 200
        before = (tmp_path / "d.jsonl").read_bytes()
        for wrong in ({"n": len(chosen) + 1}, {}, {"n": len(chosen), "decision": "relabel"},
                      {"n": 1, "query": None, "rows": [-1]}):  # fmt: skip
            assert ask(address, "decide-all", body={**easy, **wrong})[0] == 400
        assert (tmp_path / "d.jsonl").read_bytes() == before
        status, content, _ = ask(address, "decide-all", body={**easy, "n": len(chosen)})
        told = json.loads(content)
        assert (status, sorted(told["rows"]), told["n_left"]) == (200, sorted(chosen), 0)
        stands = read_decisions(tmp_path / "d.jsonl").by_row.values()
        assert {each.decision for each in stands} == {"drop"}
        assert len(stands) == len(chosen)
        # Again it changes nothing; undone, the row that was kept is kept, with its note.
        assert json.loads(ask(address, "decide-all", body={**easy, "n": len(chosen)})[1])["rows"] == []
        undo = {"rows": told["rows"], "n": len(chosen), "decision": "undecided"}
        assert ask(address, "decide-all", body=undo)[0] == 200
    left = [each for each in read_decisions(tmp_path / "d.jsonl").by_row.values() if each.decision != "undecided"]
    assert [(each.decision, each.note) for each in left] == [("keep", "fine")]


def test_many_decisions_need_a_file_that_can_be_written(tmp_path: Path) -> None:
    bench = open_workbench(save_report(tmp_path / "report", rows()))
    with served(bench) as address:
        assert ask(address, "decide-all", body={"query": "", "n": 1, "decision": "drop"})[0] == 400


def test_the_profile_counts_labels_lengths_and_issues(tmp_path: Path) -> None:
    table = items()
    report = save_report(tmp_path / "report", table)
    names = table["example_id"].cast(pl.String)
    told = pl.DataFrame({"example_id": names, "choices: rule: longest": ["right"] + ["wrong"] * (table.height - 1)})
    told.write_parquet(report / "tables" / "readers.parquet")
    bench = open_workbench(report)
    with served(bench) as address:
        profile = ask(address, "profile")[1]
        for name in table["label"].unique():
            assert f"?f.label={quote(name)}" in profile
        longest = table["question"].str.count_matches(r"\S+").max()
        assert f'<td class="number">{longest}</td>' in profile
        page = ask(address, "?f." + quote("choices: rule: longest") + "=right")[1]
        assert "<strong>1</strong>" in page
        assert "rules and readers of choices" in page


def test_a_decision_is_stored_and_shown(address: str, bench: Workbench) -> None:
    status, told, _ = ask(
        address, "decide", body=decision(bench, 4, "relabel", label=(label := other_label(bench, 4)), note="see <b>")
    )
    assert (status, json.loads(told)["saved"]) == (200, "relabel")
    assert bench.decisions is not None
    (stored,) = read_decisions(bench.decisions).by_row.values()
    assert (stored.id, stored.decision, stored.label, stored.note) == ("row-4", "relabel", label, "see <b>")
    page = ask(address, "?f.decision=relabel")[1]
    assert f"relabel → {label}" in page
    assert "see &lt;b&gt;" in page
    assert "<strong>1</strong> of 230 rows" in page
    told = ask(address, "decide", body=decision(bench, 4, "undecided"))[1]
    assert json.loads(told)["decision"] == "undecided"
    assert "<strong>230</strong> of 230 rows" in ask(address, "?f.decision=undecided")[1]


def other_label(bench: Workbench, row: int) -> str:
    own = bench.table.load()["label"][row]
    return next(label for label in bench.label_names if label != own)


@pytest.mark.parametrize("reopened", [False, True])
def test_notes_rewrites_and_undo_go_on_from_what_was_decided(tmp_path: Path, reopened: bool) -> None:
    bench = open_workbench(save_both(tmp_path)[1])
    label = other_label(bench, 4)
    with served(bench) as address:
        for body in (
            decision(bench, 4, "relabel", label=label), decision(bench, 4, "note", note="sure"),
            decision(bench, 4, "drop"), decision(bench, 4, "undecided"),
            decision(bench, 5, "rewrite", texts={"hypothesis": "First <b>."}),
            decision(bench, 5, "rewrite", texts={"premise": "Second."}),
        ):  # fmt: skip
            status, told, _ = ask(address, "decide", body=body)
            assert status == 200
        found = json.loads(told)
        assert (found["decision"], found["texts"]) == ("rewrite", {"hypothesis": "First <b>.", "premise": "Second."})
    bench = open_workbench(tmp_path / "report") if reopened else bench
    with served(bench) as address:
        for path in ("", "row/4", "row/5"):
            page = ask(address, path)[1]
            assert (f"relabel → {label}" in page) == ("sure" in page) == (path != "row/5")
            shown = "<bdi>First &lt;b&gt;.</bdi>" in page and "<bdi>Second.</bdi>" in page
            assert shown == (path != "row/4")
        assert "<strong>1</strong> of 230 rows" in ask(address, "?f.decision=relabel")[1]
        assert '<span id="decided-count">2</span>' in ask(address)[1]


def test_an_undo_goes_on_from_what_another_server_wrote(tmp_path: Path) -> None:
    _, folder = save_both(tmp_path)
    one, other = open_workbench(folder), open_workbench(folder)
    with served(one) as here, served(other) as there:
        ask(here, "decide", body=decision(one, 1, "keep"))
        ask(there, "decide", body=decision(other, 1, "drop"))
        told = ask(here, "decide", body=decision(one, 1, "undecided"))[1]
        assert json.loads(told)["decision"] == "keep"


def test_a_relabel_to_the_own_label_is_refused(address: str, bench: Workbench) -> None:
    own = bench.table.load()["label"][4]
    status, told, _ = ask(address, "decide", body=decision(bench, 4, "relabel", label=own))
    assert (status, "already" in told) == (400, True)
    assert bench.decisions is not None
    assert not bench.decisions.exists()


def test_another_server_on_the_same_file_is_seen(tmp_path: Path) -> None:
    _, folder = save_both(tmp_path)
    one, other = open_workbench(folder), open_workbench(folder)
    with served(one) as here, served(other) as there:
        ask(here, "decide", body=decision(one, 1, "keep"))
        ask(there, "decide", body=decision(other, 2, "drop"))
        for address in (here, there):
            assert '<span id="decided-count">2</span>' in ask(address)[1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"decision": "burn"}, "none of keep"),
        ({"decision": "relabel"}, "without a label"),
        ({"decision": "relabel", "label": "nope"}, ("'nope'", "no row of this dataset", "labels")),
        ({"decision": "rewrite", "texts": {"premise": " "}}, "rewrites 'premise' to an empty text; correct it"),
        ({"row": 230}, "no row"),
        ({"row": True}, "no row"),
        ({"key": "0" * 32}, "another one by now"),
        ({"key": 3}, "no text as 'key'"),
        ({"note": "\ud800"}, "half of a surrogate pair"),
        ({"decision": "rewrite", "texts": {"label": "x"}}, "cannot be rewritten"),
        ({"decision": "rewrite", "texts": {"premise": 3}}, "no texts"),
    ],
)
def test_a_wrong_decision_is_refused(address: str, bench: Workbench, change: dict[str, Any], said: Fact) -> None:
    status, told, _ = ask(address, "decide", body={**decision(bench, 1), **change})
    assert status == 400
    assert states(json.loads(told)["problem"], said)
    assert bench.decisions is not None
    assert not bench.decisions.exists()


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"note": "' + b"x" * (1 << 21) + b'"}'])
def test_a_body_that_is_no_decision_is_refused(address: str, body: bytes) -> None:
    assert ask(address, "decide", body=body)[0] == 400
    assert ask(address)[0] == 200


@pytest.mark.parametrize("path", ["page.py", "decide", "..%2f..%2fetc%2fpasswd", "list.html.j2", "row/-1", "row/x"])
def test_nothing_but_its_pages_is_there(address: str, path: str) -> None:
    status, told, _ = ask(address, path)
    assert status in (403, 404, 405)
    assert "script" not in told


@pytest.mark.parametrize("name", ["abc", "230", "-1", "1/2", "9" * 5000, "²", ""])
def test_a_row_that_is_not_there_gets_one_answer(address: str, name: str) -> None:
    status, page, _ = ask(address, f"row/{quote(name)}")
    assert status == 404
    assert "rows go from 0 to 229" in page
    assert ask(address.replace(address.split("/")[3], "wrong"), f"row/{quote(name)}")[0] == 403


def test_a_body_nested_too_deeply_is_said_in_words(address: str) -> None:
    told = ask(address, "decide", body=b"[" * 100_000)[1]
    assert json.loads(told)["problem"] == says("not JSON", "nested too deeply")


@pytest.mark.parametrize("query", ["q=(&re=1", "f.nope=1", "n.confidence=x", "sort=nope", "nope=1"])
def test_a_wrong_address_says_what_is_wrong(address: str, query: str) -> None:
    status, page, _ = ask(address, f"?{query}")
    assert status == 400
    assert 'role="alert"' in page


def test_a_row_is_shown_in_full(address: str) -> None:
    status, page, _ = ask(address, "row/0?sort=-confidence")
    assert status == 200
    assert HOSTILE not in page
    assert "variability" in page


def test_items_are_shown_with_their_right_choice(tmp_path: Path) -> None:
    bench = open_workbench(save_report(tmp_path / "report", items()), decisions=tmp_path / "d.jsonl")
    with served(bench) as address:
        page = ask(address)[1]
        assert re.search(r'<li class="right" data-raw="[^"]*"><b>B</b> <bdi>two</bdi>', page)
        assert '<td data-label="label"><bdi>B</bdi>' in page
        assert HOSTILE not in page
        assert ask(address, "decide", body=decision(bench, 0, "rewrite", texts={"choices": "x"}))[0] == 400
        assert ask(address, "decide", body=decision(bench, 0, "rewrite", texts={"choice Z": "x"}))[0] == 400
        assert ask(address, "decide", body=decision(bench, 0, "rewrite", texts={"choice B": "two new"}))[0] == 200
        assert ask(address, "decide", body=decision(bench, 0, "rewrite", texts={"question": "Which one?"}))[0] == 200
        assert "<bdi>two new</bdi>" in ask(address, "row/0")[1]
        assert "<bdi>Which one?</bdi>" in ask(address, "row/0")[1]


@pytest.mark.parametrize("choices", [["one", "two"], ["one", "two", " "]])
def test_an_item_takes_no_label_beyond_its_choices(tmp_path: Path, choices: list[str]) -> None:
    table = items()
    table = table.with_columns(choices=pl.Series([choices, table["choices"][1].to_list()]))
    bench = open_workbench(save_report(tmp_path / "report", table), decisions=tmp_path / "d.jsonl")
    bench.document = bench.document.model_copy(update={"dataset": About(label_names=("A", "B", "C"))})
    with served(bench) as address:
        status, told, _ = ask(address, "decide", body=decision(bench, 0, "relabel", label="C"))
        assert (status, json.loads(told)["problem"]) == (
            400, says("'C'", "no choice", "A, B;", "note")
        )  # fmt: skip
        assert not (tmp_path / "d.jsonl").exists()
        assert ask(address, "decide", body=decision(bench, 1, "relabel", label="C"))[0] == 200
        assert ask(address, "decide", body=decision(bench, 0, "relabel", label="A"))[0] == 200


def test_a_decision_is_on_the_disk_before_it_is_confirmed(
    address: str, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is flushed to disk after it was written and before the answer is sent."""
    assert bench.decisions is not None
    synced: list[int] = []
    real = os.fsync

    def watch(number: int) -> None:
        if Path(f"/proc/self/fd/{number}").readlink() == bench.decisions:
            synced.append(os.fstat(number).st_size)
        real(number)

    monkeypatch.setattr(os, "fsync", watch)
    for n, row in enumerate((1, 2, 3), start=1):
        assert ask(address, "decide", body=decision(bench, row))[0] == 200
        assert synced[-1] == bench.decisions.stat().st_size
        assert len(synced) == n


def test_what_cannot_be_stored_is_not_confirmed(
    address: str, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    status, told, _ = ask(address, "decide", body=decision(bench, 1))
    assert status == 400
    assert "No space left" in json.loads(told)["problem"]


def test_a_killed_server_loses_no_confirmed_decision(tmp_path: Path) -> None:
    dataset, folder = save_both(tmp_path)
    bench = open_workbench(folder)
    command = [sys.executable, "-m", "goldassay", "view", str(folder)]
    confirmed = []
    wanted = [decision(bench, row, "note", note=f"note {row} " + "x" * 300) for row in range(200)]
    while len(confirmed) < 200:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            upto = len(confirmed) + 100
            try:
                for each in wanted[len(confirmed) : upto]:
                    assert ask(address, "decide", body=each)[0] == 200
                    confirmed.append(each)
            finally:
                # In the middle of whatever it does.
                server.send_signal(signal.SIGKILL)
    stored = read_decisions(dataset.with_name("made.decisions.jsonl"))
    assert {each.note for each in stored.by_row.values()} >= {each["note"] for each in confirmed}
    assert len(confirmed) == 200


def test_it_ends_with_control_c(tmp_path: Path) -> None:
    _, folder = save_both(tmp_path)
    command = [sys.executable, "-m", "goldassay", "view", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert ask(server.stdout.readline().strip())[0] == 200
        time.sleep(0.2)
        server.send_signal(signal.SIGINT)
        told = server.communicate(timeout=20)[1]
    assert server.returncode in (0, 130)
    assert "Traceback" not in told


def test_the_header_of_classes_sorts_by_each(address: str, bench: Workbench) -> None:
    page = ask(address)[1]
    assert 'aria-label="Sort by patterns"' in page
    page = ask(address, "?sort=-difficulty")[1]
    head = page[page.index("<thead><tr>\n<th") :]
    assert '<th scope="col" aria-sort="descending">classes' in head
    shown = re.findall(r'title="patterns: (\w+)"', page)
    assert shown == sorted(shown, reverse=True)
    assert len(shown) == 50


@pytest.mark.parametrize("n", [1, 2])
def test_decisions_that_fit_no_row_are_said_in_their_number(tmp_path: Path, n: int) -> None:
    dataset, folder = save_both(tmp_path)
    file = dataset.with_name("made.decisions.jsonl")
    for at in range(n):
        append_decision(file, Decision("0" * 31 + str(at), f"gone {at}", "drop"))
    said = open_workbench(folder).notes[-1]
    assert said == {
        1: says("made.decisions.jsonl", "no row of this report", "changed or is gone", ..., "kept"),
        2: says("2 of 2 decisions", "made.decisions.jsonl", "no row of this report", "are gone", ..., "kept"),
    }[n]  # fmt: skip
    with pytest.raises(InputError, match="its decision fits" if n == 1 else "none of its 2 decisions fits"):
        open_workbench(folder, decisions=file)


def copies(n: int = 40) -> pl.DataFrame:
    """Rows of which the third to fifth say the same, and whose ids are their positions."""
    table = rows(n).with_columns(example_id=pl.Series(map(str, range(n))))
    same = [2 if at in (3, 4) else at for at in range(n)]
    return table.with_columns(table[same].select("premise", "hypothesis", "label"))


def test_equal_rows_do_not_take_each_others_decisions(tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    bench = open_workbench(save_report(tmp_path / "report", copies()), decisions=file)
    with served(bench) as address:
        assert ask(address, "decide", body=decision(bench, 3, "keep"))[0] == 200
        assert ask(address, "decide", body=decision(bench, 9, "drop"))[0] == 200
    bench = open_workbench(save_report(tmp_path / "report", copies()), decisions=file)
    assert {row: each.decision for row, each in bench.table.decided.items()} == {3: "keep", 9: "drop"}
    # A row in front: the fourth is now another one of the three.
    ahead = rows(41, seed=1)[:1].with_columns(example_id=pl.lit("0"))
    moved = pl.concat([ahead, copies()]).with_columns(example_id=pl.Series(map(str, range(41))))
    bench = open_workbench(save_report(tmp_path / "moved", moved), decisions=file)
    assert {row: each.decision for row, each in bench.table.decided.items()} == {10: "drop"}
    said = ("1 of 2 decisions", "d.jsonl", "equal rows", "no id")
    assert states(bench.notes[-1], said)
    with served(bench) as address:
        for word in ("relabel", "drop"):
            more = {"label": other_label(bench, 4)} if word == "relabel" else {}
            assert ask(address, "decide", body=decision(bench, 4, word, **more))[0] == 200
        assert '<span id="decided-count">2</span>' in ask(address)[1]
        # The row goes on from its own decisions, and not from those of the other one.
        told = [json.loads(ask(address, "decide", body=decision(bench, 4, "undecided"))[1])["decision"] for _ in "ab"]
        assert told == ["relabel", "undecided"]


def test_rows_that_nothing_tells_apart_are_not_decided(tmp_path: Path) -> None:
    table = copies().with_columns(example_id=pl.Series(["one" if at in (2, 4) else f"{at}!" for at in range(40)]))
    bench = open_workbench(save_report(tmp_path / "report", table), decisions=tmp_path / "d.jsonl")
    with served(bench) as address:
        status, told, _ = ask(address, "decide", body=decision(bench, 4))
        assert (status, "several rows with the id 'one' are equal" in told) == (400, True)
        assert not (tmp_path / "d.jsonl").exists()
        assert ask(address, "decide", body=decision(bench, 3))[0] == 200


def test_a_note_and_what_was_undone_are_no_decisions(tmp_path: Path) -> None:
    dataset, folder = save_both(tmp_path)
    bench = open_workbench(folder)
    with served(bench) as address:
        for row, word, more in (
            (1, "keep", {}), (2, "note", {"note": "hm"}), (3, "drop", {}), (3, "undecided", {}), (4, "rewrite", {}),
        ):  # fmt: skip
            assert ask(address, "decide", body=decision(bench, row, word, **more))[0] == 200
        page = ask(address)[1]
    assert '<span id="decided-count">2</span> decided<span id="noted">, <span id="noted-count">1</span>' in page
    mended = mend_dataset(dataset)
    assert (mended.n_decided, mended.n_noted) == (2, 1)
    assert mended.lines() == [
        "230 rows before, 230 after; carried out: 1 keep",
        "- 1 row has only a note: nothing changes",
        says("- 1 row", "rewritten", "without a new text", "line 5"),
    ]


def test_view_and_mend_judge_labels_alike(tmp_path: Path) -> None:
    """A label of the training part that no evaluated row has: nobody knows how the file writes it."""
    table = rows(40).filter(pl.col("label") != "neutral")
    dataset = tmp_path / "made.jsonl"
    table.select("example_id", "premise", "hypothesis", label=pl.col("label").str.slice(0, 1)).write_ndjson(dataset)
    bench = open_workbench(save_report(tmp_path / "report", table, dataset))
    assert bench.label_names == ("entailment", "contradiction")
    with served(bench) as address:
        assert 'value="neutral"' not in ask(address)[1]
        status, told, _ = ask(address, "decide", body=decision(bench, 1, "relabel", label="neutral"))
        problem = json.loads(told)["problem"]
        said = ("'neutral'", "no row of this dataset", "entailment, contradiction")
        assert (status, states(problem, said)) == (400, True)
        assert ask(address, "decide", body=decision(bench, 1, "relabel", label=other_label(bench, 1)))[0] == 200
    assert mend_dataset(dataset).counts == {"relabel": 1}
    assert bench.decisions is not None
    append_decision(bench.decisions, Decision(*read_first(bench.decisions), "relabel", "neutral"))
    with pytest.raises(InputError, match=in_order("line 2:", "no row of made.jsonl", "entailment, contradiction")):
        mend_dataset(dataset)


def read_first(file: Path) -> tuple[str, str]:
    (first,) = read_decisions(file).by_row.values()
    return first.key, first.id


def test_rows_are_shown_where_no_decision_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of decisions in a place that may only be read: what it has is shown, and nothing more is taken."""
    dataset, folder = save_both(tmp_path)
    with served(open_workbench(folder)) as address:
        assert ask(address, "decide", body=decision(open_workbench(folder), 0))[0] == 200
    file = dataset.with_name("made.decisions.jsonl")
    before = file.read_bytes()

    def locked(path: Path, option: str) -> None:
        raise OutputError(f"{path}: cannot be written (Permission denied); choose another with {option}")

    monkeypatch.setattr("goldassay.view.opening.check_place", locked)
    bench = open_workbench(folder)
    with served(bench) as address:
        page = ask(address)[1]
        assert "Nothing can be decided here:" in page
        assert "cannot be written (Permission denied)" in page
        assert '<span id="decided-count">1</span> decided' in page
        assert 'data-can-decide="no"' in page
        status, said, _ = ask(address, "decide", body=decision(bench, 1))
        assert status == 400
        assert "the file of decisions cannot be written" in said
    assert file.read_bytes() == before
    with pytest.raises(OutputError):
        open_workbench(folder, decisions=tmp_path)


@pytest.mark.parametrize(
    ("word", "more", "said"),
    [
        ("keep", {"label": "neutral"}, "has a label, which only a relabel has, with 'keep'"),
        ("drop", {"texts": {"premise": "x"}}, "has texts, which only a rewrite has, with 'drop'"),
    ],
)
def test_what_does_not_belong_to_a_decision_is_refused(
    tmp_path: Path, word: str, more: dict[str, Any], said: str
) -> None:
    dataset, folder = save_both(tmp_path)
    bench = open_workbench(folder)
    with served(bench) as address:
        status, answer, _ = ask(address, "decide", body=decision(bench, 0, word, **more))
    assert (status, said in answer) == (400, True)
    assert not dataset.with_name("made.decisions.jsonl").exists()
