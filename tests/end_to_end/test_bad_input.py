"""Whatever is wrong with the input: exit status 2, one line that names the place and the mend, nothing written.

What rights, signals and the lack of a network or of room do is tried on a process, the rest on its entry point.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.cli.run_files import goldassay as here

from .conftest import COMMAND, LABELS, Outcome, pairs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["here"]


def jsonl(rows: list[dict[str, str]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def csv_text(rows: list[dict[str, str]]) -> str:
    return "premise,hypothesis,label\n" + "".join(f"{r['premise']},{r['hypothesis']},{r['label']}\n" for r in rows)


def with_label(label: str) -> list[dict[str, str]]:
    return [{**row, "label": label} for row in pairs()]


def broken_line() -> str:
    lines = jsonl(pairs()).split("\n")
    lines[6] = lines[6][:20]
    return "\n".join(lines)


def ragged() -> str:
    lines = csv_text(pairs()).split("\n")
    lines[9] += ",one more"
    return "\n".join(lines)


def equal_rank() -> str:
    return jsonl([{**row, "Label": row["label"]} for row in pairs()])


def duplicate_ids() -> str:
    return jsonl([{"id": str(i if i != 30 else 4), **row} for i, row in enumerate(pairs())])


# name of the file, its bytes, what the line must say
FILES: dict[str, tuple[str, bytes, tuple[str, ...]]] = {
    "empty file": ("train.jsonl", b"", ("empty",)),
    "only a header": ("train.csv", b"premise,hypothesis,label\n", ("header",)),
    "truncated gzip": ("train.jsonl.gz", gzip.compress(jsonl(pairs()).encode())[:-300], ("cut short",)),
    "UTF-16": ("train.csv", csv_text(pairs()).encode("utf-16"), ("UTF-16", "iconv")),
    "latin-1": ("train.csv", csv_text([*pairs(), {**pairs()[0], "premise": "Un café."}]).encode("latin-1"), ("UTF-8",)),
    "NUL bytes": ("train.jsonl", jsonl(pairs()).encode().replace(b"coat 5 ", b"coat \x00 "), ("NUL",)),
    "broken JSON on line 7": ("train.jsonl", broken_line().encode(), ("line 7", "JSON")),
    "array of anything but objects": ("train.json", b'["a", "b", 3]', ("no labels", "text")),
    "ragged row": ("train.csv", ragged().encode(), ("line 10",)),
    "no label column": (
        "train.jsonl",
        jsonl([{k: v for k, v in row.items() if k != "label"} for row in pairs()]).encode(),
        ("premise", "an audit needs labels"),
    ),
    "label columns of equal rank": ("train.jsonl", equal_rank().encode(), ("label", "Label", "--columns label=")),
    "one class only": ("train.jsonl", jsonl(with_label("neutral")).encode(), ("only", "neutral")),
    "all labels -": ("train.jsonl", jsonl(with_label("-")).encode(), ("label", "-")),
    "nothing but empty texts": (
        "train.jsonl",
        jsonl([{**row, "hypothesis": " "} for row in pairs()]).encode(),
        ("empty",),
    ),
    "duplicate ids": ("train.jsonl", duplicate_ids().encode(), ("line 31", "'4'")),
    "a 1 MB line": ("train.jsonl", b"a" * 1_000_000, ("line 1",)),
    "a column given twice": ("train.csv", csv_text(pairs()).replace("hypothesis", "premise", 1).encode(), ("premise",)),
}


@pytest.mark.parametrize("case", FILES)
def test_files_that_cannot_be_used(case: str, here: Callable[..., Outcome], tmp_path: Path) -> None:
    name, content, words = FILES[case]
    (tmp_path / name).write_bytes(content)
    outcome = here("audit", name, "-o", "report")
    assert outcome.status == 2
    assert outcome.out == ""
    assert name in outcome.line
    for word in words:
        assert word in outcome.line
    assert not (tmp_path / "report" / "report.html").exists()


def test_missing_file(here: Callable[..., Outcome]) -> None:
    outcome = here("audit", "nowhere.jsonl")
    assert outcome.status == 2
    assert "nowhere.jsonl" in outcome.line


def test_directory_without_a_dataset(here: Callable[..., Outcome], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.pdf").write_bytes(b"%PDF-1.4")
    outcome = here("audit", "folder")
    assert outcome.status == 2
    assert "folder" in outcome.line


def test_label_outside_the_set_that_was_given(here: Callable[..., Outcome], tmp_path: Path) -> None:
    rows = pairs()
    rows[40]["label"] = "perhaps"
    (tmp_path / "train.jsonl").write_text(jsonl(rows))
    outcome = here("audit", "train.jsonl", "--label-names", ",".join(LABELS))
    assert outcome.status == 2
    assert "line 41" in outcome.line
    assert "perhaps" in outcome.line


def test_test_labels_that_train_lacks(here: Callable[..., Outcome], tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(jsonl(pairs()))
    (tmp_path / "test.jsonl").write_text(jsonl(pairs(labels=("entailment", "unrelated"))))
    outcome = here("audit", "train.jsonl", "--test", "test.jsonl")
    assert outcome.status == 2
    assert "test.jsonl" in outcome.line
    assert "unrelated" in outcome.line


def test_a_role_given_twice_or_a_column_that_is_not_there(here: Callable[..., Outcome], tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(jsonl(pairs()))
    twice = here("audit", "train.jsonl", "--columns", "premise=premise,premise=hypothesis")
    assert twice.status == 2
    assert "premise" in twice.line
    absent = here("audit", "train.jsonl", "--columns", "premise=premisse")
    assert absent.status == 2
    assert "'premise'" in absent.line


def test_unreadable_file(goldassay: Callable[..., Outcome], tmp_path: Path, without_root: tuple[str, ...]) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text(jsonl(pairs()))
    path.chmod(0)
    outcome = goldassay("audit", "train.jsonl", prefix=without_root)
    assert outcome.status == 2
    assert "train.jsonl" in outcome.line
    assert "chmod" in outcome.line


def test_output_directory_not_writable(
    goldassay: Callable[..., Outcome], tmp_path: Path, without_root: tuple[str, ...]
) -> None:
    (tmp_path / "train.jsonl").write_text(jsonl(pairs()))
    (tmp_path / "sealed").mkdir(mode=0o555)
    outcome = goldassay("audit", "train.jsonl", "-o", "sealed/report", "--quiet", prefix=without_root)
    assert outcome.status == 2
    assert "sealed" in outcome.line
    assert "-o" in outcome.line


def test_output_is_a_file(here: Callable[..., Outcome], tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(jsonl(pairs()))
    (tmp_path / "report").write_text("mine")
    outcome = here("audit", "train.jsonl", "-o", "report", "--quiet")
    assert outcome.status == 2
    assert "report" in outcome.line
    assert (tmp_path / "report").read_text() == "mine"


@pytest.fixture
def small_disk(tmp_path: Path) -> Path:
    """A disk of 64 KiB."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", place], check=True)


def test_disk_full_while_writing(goldassay: Callable[..., Outcome], tmp_path: Path, small_disk: Path) -> None:
    (tmp_path / "train.jsonl").write_text(jsonl(pairs(240)))
    outcome = goldassay("audit", "train.jsonl", "-o", small_disk / "report", "--quiet")
    assert outcome.status == 2
    assert "space" in outcome.line
    assert not (small_disk / "report" / "report.html").exists()
    assert not [path for path in small_disk.rglob("*") if path.name.endswith(".part") or ".goldassay-" in str(path)]


def test_interrupted_in_mid_run_keeps_what_is_finished(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(jsonl(pairs(3000)))
    process = subprocess.Popen(
        [str(COMMAND), "audit", "train.jsonl", "-o", "report", "--quiet"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 200
    while not list(tmp_path.glob("report/runs/*.parquet")) and process.poll() is None:
        assert time.monotonic() < deadline, "no run was finished"
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "interrupted" in Outcome(130, out, err).line
    assert not (tmp_path / "report" / "report.html").exists()
    import polars as pl

    kept = list(tmp_path.glob("report/runs/*.parquet"))
    assert kept
    assert all(pl.read_parquet(path).height > 0 for path in kept)
    assert not list(tmp_path.rglob("*.part"))


def test_seed_that_is_no_number(here: Callable[..., Outcome]) -> None:
    outcome = here("audit", "train.jsonl", "--seed", "x")
    assert outcome.status == 2
    assert "--seed" in outcome.line


def test_unknown_key_in_settings_names_the_nearest(here: Callable[..., Outcome], tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(jsonl(pairs()))
    (tmp_path / "goldassay.toml").write_text("[artifacts]\nmin_cuont = 5\n")
    outcome = here("audit", "train.jsonl")
    assert outcome.status == 2
    assert "goldassay.toml" in outcome.line
    assert "artifacts.min_count" in outcome.line


@pytest.mark.parametrize("arguments", [("adit",), ("audit",), ("audit", "a", "--tset", "b"), ("specimen",)])
def test_a_command_line_that_is_wrong(arguments: tuple[str, ...], here: Callable[..., Outcome]) -> None:
    outcome = here(*arguments)
    assert outcome.status == 2
    assert "--help" in outcome.line


def test_specimen_too_small_or_not_writable(
    goldassay: Callable[..., Outcome], here: Callable[..., Outcome], tmp_path: Path, without_root: tuple[str, ...]
) -> None:
    small = here("specimen", "-o", "s", "--size", "7")
    assert small.status == 2
    assert small.line
    (tmp_path / "sealed").mkdir(mode=0o555)
    sealed = goldassay("specimen", "-o", "sealed/s", "--size", "4000", prefix=without_root)
    assert sealed.status == 2
    assert "sealed" in sealed.line


def test_hub_name_without_a_network(goldassay: Callable[..., Outcome]) -> None:
    if shutil.which("unshare") is None or os.geteuid() != 0:
        pytest.skip("taking the network away needs unshare and root")
    outcome = goldassay("audit", "nobody/nothing", prefix=("unshare", "--net"), timeout=60)
    assert outcome.status == 2
    assert "nobody/nothing" in outcome.line


def test_refused_data_leave_no_trace(here: Callable[..., Outcome], tmp_path: Path) -> None:
    assert here("audit", "nowhere.jsonl", "-o", "report").status == 2
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize("seed", ["-1", "99999999999999999999"])
def test_a_seed_out_of_range(seed: str, here: Callable[..., Outcome], tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(jsonl(pairs()))
    outcome = here("audit", "train.jsonl", "--seed", seed)
    assert outcome.status == 2
    assert "seed" in outcome.line


def test_the_mend_speaks_of_options(here: Callable[..., Outcome], tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(jsonl(pairs()))
    outcome = here("audit", "train.jsonl", "--runs", "train.jsonl")
    assert outcome.status == 2
    assert "columns={" not in outcome.line
