"""The audit with a network in place of the quick probes, as a process and as a function."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

import goldassay as package
from goldassay.core.errors import InputError
from goldassay.core.settings import parse_settings
from goldassay.data.specimen import make_specimen
from tests.cli.run_files import goldassay as here
from tests.end_to_end.conftest import COMMAND, Outcome, goldassay
from tests.lab.training.in_place import in_place
from tests.stated import says, states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goldassay.data.specimen import Specimen

    Command = Callable[..., Outcome]

__all__ = ["goldassay", "here", "in_place"]

TINY = """
[leakage]
seeds = 2
[training]
changes = { vectors = 16, hidden = 16, epochs = 4, batch_size = 32 }
"""


@pytest.fixture(scope="module")
def made() -> Specimen:
    return make_specimen(size=2000, seed=0, test_size=400)


@pytest.fixture
def specimen(made: Specimen, tmp_path: Path) -> Path:
    made.train.write_ndjson(tmp_path / "train.jsonl")
    made.test.write_ndjson(tmp_path / "test.jsonl")
    (tmp_path / "goldassay.toml").write_text(TINY)
    return tmp_path


@pytest.fixture
def trains_here(in_place: None, here: Command) -> Command:
    return here


@pytest.mark.parametrize("command", ["trains_here", pytest.param("goldassay", marks=pytest.mark.slow)])
def test_a_network_judges_and_the_report_says_so(
    command: str, request: pytest.FixtureRequest, here: Command, specimen: Path
) -> None:
    arguments = ("audit", "train.jsonl", "--test", "test.jsonl", "--model", "ngram_average", "-o", "report")
    done = request.getfixturevalue(command)(*arguments, "-q")
    assert done.status == 0, done.err
    document = json.loads((specimen / "report" / "report.json").read_text())
    leakage = document["leakage"]
    assert states(leakage["probe"], "network ngram_average", "quick probe", ..., 2000)
    assert leakage["seeds"] == ["0", "1"]
    rows = {row["condition"]: row for row in leakage["conditions"]}
    assert set(rows) == {"paired", "premise_only", "hypothesis_only"}
    assert {row["n_runs"] for row in rows.values()} == {2}
    # What is planted in the hypotheses is found there.
    assert rows["hypothesis_only"]["accuracy"] > rows["premise_only"]["accuracy"]
    assert document["verdicts"]["leakage"]["evidence"].startswith("The hypothesis alone gives ")
    assert document["settings"]["leakage"]["model"] == "ngram_average"
    assert "ngram_average" in (specimen / "report" / "report.html").read_text()
    # The same command again does not train again, and says the same.
    weights = next((specimen / "report" / "runs").rglob("weights.safetensors"))
    before = weights.stat().st_mtime_ns
    assert here(*arguments, "-q").status == 0
    assert weights.stat().st_mtime_ns == before
    again = json.loads((specimen / "report" / "report.json").read_text())
    assert again["leakage"] == leakage


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "ngram_averge"), "did you mean 'ngram_average'"),
        (("--model", "report-that-is-not-there/model"), "is no folder with a checkpoint"),
        (("--model", "bilstm", "--settings", "other.toml"), "there is no setting 'epoch'; did you mean 'epochs'"),
    ],
)
def test_refusals_are_one_line_before_anything_is_mined(
    here: Command, specimen: Path, arguments: tuple[str, ...], message: str
) -> None:
    (specimen / "report-that-is-not-there").mkdir()
    (specimen / "other.toml").write_text("[training]\nchanges = { epoch = 2 }\n")
    outcome = here("audit", "train.jsonl", "--test", "test.jsonl", "-q", *arguments)
    assert outcome.status == 2
    assert message in outcome.line


def test_without_the_extra_it_says_what_to_install(specimen: Path) -> None:
    (specimen / "sitecustomize.py").write_text(
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'torch' else find(name, *more)\n"
    )
    process = subprocess.run(
        [str(COMMAND), "audit", "train.jsonl", "--test", "test.jsonl", "--model", "bilstm", "-q"],
        cwd=specimen, capture_output=True, text=True, timeout=120, env=os.environ | {"PYTHONPATH": str(specimen)},
    )  # fmt: skip
    assert process.returncode == 2
    assert process.stderr.rstrip("\n").split("\n") == [says("goldassay:", "torch", "pip install 'goldassay[train]'")]


def test_the_function_takes_a_model_too(made: Specimen) -> None:
    with pytest.raises(InputError, match="did you mean 'bilstm'"):
        package.audit(made.train, made.test, model="bilstmm", settings=parse_settings({"leakage": {"seeds": 2}}))
