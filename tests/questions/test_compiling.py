"""Compiling ahead: begun where nothing is kept on disk, ended with the audit, and of use to it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numba import njit

from goldassay.core.compiled import compiled, is_kept
from goldassay.questions import compiling

if TYPE_CHECKING:
    from pathlib import Path

# Trains probes on other rows than those that are compiled with, and counts loops of ours that had to be compiled.
COUNT = """
import numba.core.event as events
compiled = []
class Listener(events.Listener):
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith("goldassay"):
            compiled.append(function.__qualname__)
    def on_end(self, event): pass
events.register("numba:compile", Listener())
from goldassay.artifacts import mine_patterns
from goldassay.questions.artifacts.measures.presence import CoverageCount
from goldassay.data.dataset import Dataset
from goldassay.data.text_form import form_words
from goldassay.data.tokenization import tokenize
from goldassay.data.text_form import spelled_with
from goldassay.readers.naive_bayes import word_evidence
from goldassay.readers.probes import train_probes
import numpy as np
texts = [f"a man {i % 7} walks {'in' if i % 3 else 'out'}" for i in range(90)]
rows = {"premise": texts[::-1], "hypothesis": texts, "label": ["abc"[i % 3] for i in range(90)]}
train = Dataset.from_frame(rows)
list(train_probes(train, train, seeds=(0, 1)))
table = mine_patterns(train.examples["hypothesis"], train.examples["label"], min_count=2)
texts, codes = train.examples["hypothesis"], train.labels()
CoverageCount(table, (0.4, 0.6)).add(tokenize(texts), codes)
form_words(texts)
spelled_with(texts, texts)
word_evidence(texts, codes, 3, texts)
print(sorted(set(compiled)))
"""


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    started: list[subprocess.Popen[bytes]] = []

    def begin() -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]))
        return started[-1]

    monkeypatch.setattr(compiling, "_begun", begin)
    monkeypatch.setattr(compiling, "cores", lambda: 2)
    return started


def test_nothing_is_begun_where_the_loops_are_kept(
    begun: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "is_ready", lambda: True)
    with compiling.compiling_ahead():
        assert not begun
    monkeypatch.setattr(compiling, "is_ready", lambda: False)
    monkeypatch.setattr(compiling, "cores", lambda: 1)
    with compiling.compiling_ahead():
        assert not begun


def test_what_was_begun_ends_with_the_audit(
    begun: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "is_ready", lambda: False)
    with compiling.compiling_ahead():
        assert begun[0].poll() is None
    with pytest.raises(KeyboardInterrupt), compiling.compiling_ahead():
        raise KeyboardInterrupt
    assert len(begun) == 2
    assert all(each.poll() is not None for each in begun)


def loop_of(source: Path, text: str) -> Any:
    source.write_text(text)
    names: dict[str, Any] = {}
    exec(compile(text, str(source), "exec"), names)
    return compiled(names["count"])


def test_code_is_kept_that_fits_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "kept"))
    source, text = tmp_path / "kernels.py", "def count(n):\n    return n + 1\n"
    loop = loop_of(source, text)
    assert not is_kept(loop)
    assert loop(1) == 2
    assert is_kept(loop)
    assert is_kept(loop_of(source, text))
    assert not is_kept(loop_of(source, text.replace("1", "10 + n")))


def test_nothing_is_begun_where_nothing_can_be_kept() -> None:
    assert is_kept(njit(compiling._made_rows))


def test_the_made_rows_serve_every_loop() -> None:
    compiling.compile_late_loops()
    assert compiling.is_ready()
    for labels in (("no", "yes"), ("maybe", "no", "yes")):
        made = compiling._made_rows(labels)
        assert {len(column) for column in made.values()} == {compiling.N_ROWS}
        assert np.unique(made["label"]).tolist() == list(labels)


@pytest.mark.slow  # It compiles everything, with nothing kept.
def test_an_audit_compiles_nothing_that_was_compiled_ahead(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-m", compiling.__name__], env=environment, check=True)
    done = subprocess.run([sys.executable, "-c", COUNT], env=environment, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
