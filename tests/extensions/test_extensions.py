"""What other distributions add: formats of datasets and of runs, kinds. Questions are in tests/questions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

import goldassay
from goldassay.core.errors import GoldassayError, InputError, MissingDependencyError
from goldassay.core.extensions import extensions
from goldassay.data.kinds import added_kinds
from goldassay.data.kinds.kind import Strength
from goldassay.data.reading import formats
from goldassay.data.table import table_of
from goldassay.questions.networks import network_trainer
from tests.extensions.distributions import installed
from tests.stated import states

EXAMPLES = ("fasttext_reader", "prodigy_kind", "tagged_adapter", "brevity_question")


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


@pytest.fixture
def annotations(tmp_path: Path) -> Path:
    file = tmp_path / "annotations.jsonl"
    options, accepted = [{"id": "good", "text": "Good"}, {"id": "bad", "text": "Bad"}], [["good"], ["bad"], []]
    rows = [{"text": f"text {n}", "batch": n % 2, "options": options, "accept": accepted[n % 3]} for n in range(60)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_a_kind_is_read_at_every_entry(tmp_path: Path, annotations: Path) -> None:
    assert goldassay.look(annotations).kind == "choices"
    with installed(tmp_path / "site", "goldassay.kinds", prodigy="prodigy_kind:PRODIGY"):
        read = goldassay.read_dataset(annotations, columns="group=batch")
        assert (read.label_names, len(read), read.groups) == (("bad", "good"), 40, ("batch",))
        assert sum(read.provenance.dropped.values()) == 20
        look = goldassay.look(annotations)
        assert (look.kind, look.roles["label"], look.format) == ("labelled texts", "label", "jsonl, prodigy")
        document = goldassay.audit(annotations, test=pl.read_ndjson(annotations).head(30)).document
        assert document["dataset"]["label_names"] == ["bad", "good"]
        assert [each["n_read"] for each in document["inputs"]] == [60, 30]


@pytest.mark.parametrize("columns", [{}, {"choices": "options", "answer": "accept"}])
def test_a_kind_that_fits_as_well_as_one_of_the_package(
    tmp_path: Path, annotations: Path, columns: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with installed(tmp_path / "site", "goldassay.kinds", prodigy="prodigy_kind:PRODIGY"):
        (kind,) = added_kinds()
        match = kind.recognize(table_of(pl.read_ndjson(annotations)), {})
        as_good = replace(match, strength=Strength.SHAPE, core=frozenset({"batch"}))
        monkeypatch.setattr(type(kind), "recognize", lambda *_: as_good)
        if columns:
            assert goldassay.look(annotations, columns=columns).kind == "choices"
        else:
            with pytest.raises(InputError, match="two kinds equally") as caught:
                goldassay.look(annotations)
            assert states(str(caught.value), "items with choices in 'options'", "annotations in 'batch'", "columns")


def test_a_kind_that_loses_rows_is_refused(tmp_path: Path, annotations: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with installed(tmp_path / "site", "goldassay.kinds", prodigy="prodigy_kind:PRODIGY"):
        (kind,) = added_kinds()
        monkeypatch.setattr(type(kind), "read", lambda _, table, match: table.frame.head(3))
        with pytest.raises(InputError, match="prodigy gives 3 rows of 60"):
            goldassay.read_dataset(annotations)


def test_a_kind_that_raises_is_no_other_kind(
    tmp_path: Path, annotations: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise InputError("a damaged cell")

    with installed(tmp_path / "site", "goldassay.kinds", prodigy="prodigy_kind:PRODIGY"):
        monkeypatch.setattr(type(added_kinds()[0]), "recognize", failing)
        with pytest.raises(InputError, match=r"annotations\.jsonl: a damaged cell"):
            goldassay.audit(annotations)


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
