"""`goldassay overlap`: what it prints and writes, and what it does with what cannot be read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import goldassay
from goldassay.cli.main import run
from goldassay.questions.overlap.search.corpus import find_corpus
from tests.questions.test_overlap import other_texts, questions, written

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def status_of(*arguments: object) -> int:
    return run([str(each) for each in arguments])


def given(folder: Path) -> tuple[Path, Path]:
    rows = questions(60)
    test = folder / "test.jsonl"
    test.write_text("".join(json.dumps(row) + "\n" for row in rows))
    copies = [f"{row['question']} {row['answer']}" for row in rows[:30]]
    return test, written(folder / "corpus.jsonl", [*other_texts(20), *copies])


def test_both_doors_say_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    test, corpus = given(tmp_path)
    assert status_of("overlap", test, "--corpus", corpus, "-o", tmp_path / "out", "--json", tmp_path / "f.json") == 0
    printed = capsys.readouterr().out
    assert "overlap: unsound" in printed
    assert "30  question and answer" in printed
    report = goldassay.measure_overlap(test, corpus)
    stored = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert stored["overlap"] == report.to_dict()["overlap"] == json.loads((tmp_path / "f.json").read_text("utf-8"))
    assert stored["figures"] == report.to_dict()["figures"]
    assert stored["verdicts"] == report.verdicts


def test_a_second_run_takes_what_was_kept_and_writes_the_same(tmp_path: Path) -> None:
    test, corpus = given(tmp_path)
    command = ("overlap", test, "--corpus", corpus, "-o", tmp_path / "out", "-q")
    assert status_of(*command) == 0
    first = (tmp_path / "out" / "report.json").read_bytes()
    kept = list((tmp_path / "out" / "shards").glob("*.parquet"))
    assert len(kept) == 1
    assert status_of(*command) == 0
    assert (tmp_path / "out" / "report.json").read_bytes() == first


# Killed while it writes its third shard, of which half is there.
KILLED = """
import os, signal, sys
from goldassay.cli.main import run
from goldassay.questions.overlap.search import scan
scan.SHARD = scan.scan_corpus.__kwdefaults__["shard_size"] = 4000
write, n = scan.write_parquet, []
def stopping(frame, path, **options):
    n.append(path)
    if len(n) == 3:
        path.write_bytes(b"PAR1half")
        os.kill(os.getpid(), signal.SIGKILL)
    write(frame, path, **options)
if sys.argv[1] == "kill":
    scan.write_parquet = stopping
sys.exit(run(sys.argv[2:]))
"""


def test_a_killed_search_goes_on_to_the_same_bytes_and_leaves_nothing(tmp_path: Path) -> None:
    test, corpus = given(tmp_path)

    def search(how: str, out: Path, *more: str) -> int:
        command = [how, "overlap", test, "--corpus", corpus, "-o", out, "-q", *more]
        return subprocess.run([sys.executable, "-c", KILLED, *map(str, command)], check=False).returncode

    assert search("whole", tmp_path / "whole") == 0
    killed = tmp_path / "killed"
    assert search("kill", killed) == -signal.SIGKILL
    (left,) = [path for path in (killed / "shards").iterdir() if path.suffix == ".part"]
    # Nor is it read as a file of a corpus in which the killed search lies.
    searched = find_corpus([tmp_path])
    assert left.name not in str((searched.files, searched.left_out, searched.broken))
    assert left.name not in str(find_corpus([f"{killed}/**/.*", corpus]).left_out)
    assert search("whole", killed) == 0
    assert (killed / "report.json").read_bytes() == (tmp_path / "whole" / "report.json").read_bytes()
    names = [{path.name for path in (folder / "shards").iterdir()} for folder in (killed, tmp_path / "whole")]
    assert names[0] == names[1]
    assert len(names[0]) > 4


def test_a_report_within_the_corpus_is_no_part_of_it(tmp_path: Path) -> None:
    """It quotes the items that were found, and would be read as more of the corpus the next time."""
    test, corpus = given(tmp_path)
    command = ("overlap", test, "--corpus", tmp_path, "-o", tmp_path / "out", "-q")
    assert status_of(*command) == 0
    first = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))["overlap"]
    (tmp_path / "out" / "corpus.jsonl").write_bytes(corpus.read_bytes())
    assert status_of(*command) == 0
    second = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))["overlap"]
    # What lies beside a report is searched, the report is not.
    assert second["n_documents"] == 2 * first["n_documents"]
    assert second["share"] == first["share"]
    assert any("10 files of the folders are no part of the corpus" in note for note in second["notes"])


def test_results_of_an_earlier_search_are_said_to_be_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    test, corpus = given(tmp_path)
    command = ("overlap", test, "--corpus", corpus, "-o", tmp_path / "out")
    said = []
    for more in ((), (), ("-q",)):
        assert status_of(*command, *more) == 0
        said.append(capsys.readouterr().err)
    stem = "parts of the corpus are unchanged since an earlier"
    assert [stem in each for each in said] == [False, True, False]
    assert f"1 of 1 {stem}" in said[1]
    # Equal in size, and in time too, but not in content.
    times = corpus.stat().st_atime_ns, corpus.stat().st_mtime_ns
    content = corpus.read_text("utf-8")
    corpus.write_text(content.replace("a", "o"), "utf-8")
    os.utime(corpus, ns=times)
    assert status_of(*command) == 0
    assert stem not in capsys.readouterr().err


def test_what_is_broken_is_said_at_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    test, corpus = given(tmp_path)
    (tmp_path / "bad.jsonl").write_text('{"text": \n')
    command = ("overlap", test, "--corpus", corpus, "--corpus", tmp_path / "bad.jsonl", "-o", tmp_path / "out")
    assert status_of(*command) == 2
    said = capsys.readouterr()
    assert "30  question and answer" in said.out
    last = said.err.strip().splitlines()[-1]
    assert "bad.jsonl: 1 line is no JSON object (line 1)" in last
    assert "--skip-broken" in last
    assert (tmp_path / "out" / "report.html").is_file()
    assert status_of(*command, "--skip-broken") == 0


def test_a_corpus_without_a_name_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As a path it would be the folder at hand."""
    test, _ = given(tmp_path)
    for command in (("overlap", test), ("audit", test, "--test", test)):
        for place in ("", " "):
            assert status_of(*command, "--corpus", place) == 2
            assert f"--corpus '{place}' names nothing" in capsys.readouterr().err


def test_a_link_that_leads_nowhere_is_counted_among_those_of_a_pattern(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    test, _ = given(tmp_path)
    (tmp_path / "corpus-2.jsonl").symlink_to(tmp_path / "gone")
    command = ("overlap", test, "--corpus", tmp_path / "corpus*.jsonl", "-o", tmp_path / "out")
    assert status_of(*command) == 2
    said = capsys.readouterr()
    assert "30  question and answer" in said.out
    assert "corpus-2.jsonl: No such file" in said.err.strip().splitlines()[-1]
    assert status_of(*command, "--skip-broken") == 0
    assert json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))["overlap"]["n_broken"] == 1
