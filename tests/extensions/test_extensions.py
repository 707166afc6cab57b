"""What other distributions add: formats of datasets and of runs. Questions are in tests/questions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import goldassay
from goldassay.core.errors import GoldassayError, MissingDependencyError
from goldassay.core.extensions import extensions
from goldassay.data import formats
from goldassay.questions.networks import network_trainer
from tests.extensions.distributions import installed
from tests.stated import states

EXAMPLES = ("fasttext_reader", "tagged_adapter", "brevity_question")


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_short(name: str) -> None:
    assert len(Path(__file__).with_name(f"{name}.py").read_text().splitlines()) <= 30


def test_a_format_of_datasets(tmp_path: Path) -> None:
    file = tmp_path / "reviews.txt"
    file.write_text("__label__good A fine film .\n__label__bad Not worth it .\n__label__good Go and see it .\n")
    with installed(tmp_path / "site", "goldassay.readers", fasttext="fasttext_reader"):
        assert "fasttext" in formats()
        for asked in ("auto", "fasttext"):
            read = goldassay.read_dataset(file, format=asked)
            assert read.label_names == ("bad", "good")
            assert read.texts("text") == ["A fine film .", "Not worth it .", "Go and see it ."]
    assert "fasttext" not in formats()


def test_a_format_of_runs(tmp_path: Path) -> None:
    for seed, said in enumerate(("yes no no", "yes yes no")):
        lines = (
            f"{n} {gold} {word}\n" for n, (gold, word) in enumerate(zip(("yes", "no", "no"), said.split(), strict=True))
        )
        (tmp_path / f"{seed}.txt").write_text(f"#run mine {seed} made\n{''.join(lines)}")
    with installed(tmp_path / "site", "goldassay.adapters", tagged="tagged_adapter"):
        runs = goldassay.read_runs([tmp_path / "0.txt", tmp_path / "1.txt"])
    assert (runs.model, runs.dataset, runs.seeds.tolist()) == ("mine", "made", [0, 1])
    assert runs.scores is not None
    assert runs.scores.tolist() == [[1.0, 1.0, 1.0], [1.0, 0.0, 1.0]]


def test_a_policy_knows_a_question_in_a_process_that_asks_none(tmp_path: Path) -> None:
    site = tmp_path / "site"
    with installed(site, "goldassay.questions", brevity="brevity_question:BREVITY"):
        code = "import goldassay.questions.gating\nfrom goldassay.core import figures as f\n"
        code += "print(f.judged_questions()[-1], f.measure_of('brevity.share').rule.name)"
        path = os.pathsep.join((str(site), os.environ.get("PYTHONPATH", "")))
        command = [sys.executable, "-c", code]
        done = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True
        )
    assert done.stdout.split()[-2:] == ["brevity", "max_short"]


def test_a_question_of_texts_is_not_asked_of_items() -> None:
    words = ("red", "blue", "green", "white")
    items = [
        {"question": f"Which color has {n}?", "choices": [f"{word} {n % 7}" for word in words], "answer": n % 4}
        for n in range(80)
    ]
    added = SimpleNamespace(question="brevity", title="Brevity", asks="How many texts are short?", needs=())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("goldassay.questions.checks.added_checks", lambda: (added,))
        report = goldassay.audit(items)
    assert report.document["verdicts"]["brevity"]["verdict"] == "not asked"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("csv", "fasttext_reader", "name"),
        ("other", "fasttext_reader", "fasttext"),
        ("gone", "no_such_module", "no_such_module"),
    ],
)
def test_what_cannot_be_added_is_said(tmp_path: Path, name: str, value: str, said: str) -> None:
    with installed(tmp_path / "site", "goldassay.readers", **{name: value}), pytest.raises(GoldassayError) as caught:
        formats()
    assert states(str(caught.value), name, "goldassay.readers", value, "added")
    assert said in str(caught.value)


def test_networks_are_registered() -> None:
    assert list(extensions("goldassay.trainers")) == ["networks"]


def test_without_a_trainer_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goldassay.questions.networks._GROUP", "goldassay.none")
    with pytest.raises(MissingDependencyError, match="pip install"):
        network_trainer()
