"""Of two writers into one folder the second is refused."""

from __future__ import annotations

import subprocess
import sys
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from goldassay.core.errors import OutputError
from goldassay.core.files import locked_folder, locks_kept, written_together
from tests.stated import says

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("fcntl", reason="this system has no such locks")

HOLD = """
import sys, time
from pathlib import Path
from goldassay.core.files import written_together
with written_together(sys.argv[1]) as folder:
    print("writing", flush=True)
    time.sleep(99)
"""


@pytest.fixture
def writer(tmp_path: Path) -> subprocess.Popen[str]:
    """Another process that is writing into the folder."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    yield process
    process.kill()
    process.wait()


def test_a_second_writer_is_refused_until_the_first_is_killed(tmp_path: Path, writer: subprocess.Popen[str]) -> None:
    with pytest.raises(OutputError) as refused, written_together(tmp_path):
        pass
    assert str(refused.value) == says(f"{tmp_path}: another command", "-o")
    writer.kill()
    writer.wait()
    with written_together(tmp_path) as folder:
        (folder / "a").write_text("")
    assert (tmp_path / "a").exists()


def test_a_thread_may_lock_again_what_it_holds_and_another_may_not(tmp_path: Path) -> None:
    refused = []

    def try_it() -> None:
        try:
            with locked_folder(tmp_path):
                pass
        except OutputError as error:
            refused.append(error)

    with locked_folder(tmp_path), locked_folder(tmp_path):
        other = Thread(target=try_it)
        other.start()
        other.join()
    assert len(refused) == 1
    try_it()
    assert len(refused) == 1


def test_a_command_keeps_its_locks(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from goldassay.core.files import locked_folder\n"
    code += "with locked_folder(Path(sys.argv[1])): pass"

    def other() -> int:
        return subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, check=False).returncode

    with locks_kept():
        with locked_folder(tmp_path):
            pass
        assert other() == 1
    assert other() == 0
