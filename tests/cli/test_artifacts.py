"""`goldassay artifacts`: what it writes, prints, warns of and refuses.

As a process where that is the point; elsewhere as the function that the process calls, which saves its start.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

from goldassay.artifacts import PatternTable, assign_difficulty, confirm_patterns, mine_patterns
from goldassay.cli.main import run
from goldassay.data.reading import read_dataset
from goldassay.data.tokenization import tokenize
from goldassay.questions.artifacts.training import SharedTexts
from goldassay.runs.specimen import write_specimen
from tests.end_to_end.conftest import Outcome
from tests.end_to_end.conftest import goldassay as process
from tests.stated import Fact, states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Outcome]

__all__ = ["process"]


@pytest.fixture
def goldassay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command in a folder of its own, in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GOLDASSAY_DEBUG", raising=False)

    def called(*arguments: str | Path) -> Outcome:
        capsys.readouterr()
        status = run([str(each) for each in arguments])
        return Outcome(status, *capsys.readouterr())

    return called


@pytest.fixture(scope="module")
def specimen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("specimen")
    write_specimen(folder, size=3000, seed=1, test_size=300)
    return folder


@pytest.fixture(scope="module")
def patterns(specimen: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Patterns of the specimen, as the library mines them."""
    train = read_dataset(specimen / "train.jsonl")
    corpus = tokenize(train.texts("hypothesis"))
    rows = SharedTexts.of(train, "auto").dependent(("hypothesis",), corpus)
    mined = mine_patterns(corpus, train.labels(), min_count=8, label_names=train.label_names, clusters=rows.ways)
    path = tmp_path_factory.mktemp("patterns") / "patterns.parquet"
    mined.write(path)
    return path


class TestMine:
    def test_writes_what_the_library_mines(self, process: Command, specimen: Path, patterns: Path, tmp_path: Path):
        outcome = process(
            "artifacts", "mine", specimen / "train.jsonl", "-o", "out", "--min-count", "8", "--json", "found.json"
        )
        assert outcome.status == 0, outcome.err
        mined = PatternTable.read(tmp_path / "out/patterns.parquet")
        assert mined.to_frame().equals(PatternTable.read(patterns).to_frame())
        assert mined.settings["text"] == "hypothesis"
        assert pl.read_csv(tmp_path / "out/patterns.csv", infer_schema=False)["pattern"].len() == len(mined)
        found = json.loads((tmp_path / "found.json").read_text())
        assert found["n_patterns"] == len(mined)
        assert found["strongest"]
        assert found["strongest"][0]["pattern"] in outcome.out

    def test_in_bounded_memory_the_same(self, goldassay: Command, specimen: Path, tmp_path: Path):
        lines = (specimen / "train.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        (tmp_path / "1.jsonl").write_text("".join(lines[:1000]), encoding="utf-8")
        (tmp_path / "2.jsonl").write_text("".join(lines[1000:]), encoding="utf-8")
        options = ("--test", specimen / "test.jsonl", "--json")
        whole = goldassay("artifacts", "mine", specimen / "train.jsonl", "-o", "whole", *options, "whole.json")
        parts = goldassay(
            "artifacts", "mine", "1.jsonl", "2.jsonl", "-o", "parts", "--memory", "2GB", *options, "parts.json"
        )
        assert (whole.status, parts.status) == (0, 0), parts.err
        assert parts.out.replace("parts/", "whole/") == whole.out
        assert (tmp_path / "parts.json").read_text() == (tmp_path / "whole.json").read_text()
        for name in ("patterns.csv", "findings.csv"):
            assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()

    def test_each_value_of_a_column_as_if_alone(self, goldassay: Command, specimen: Path, tmp_path: Path):
        train = pl.read_ndjson(specimen / "train.jsonl").with_columns(
            genre=pl.Series([("letters", "news")[i % 3 == 0] for i in range(3000)])
        )
        train.write_parquet(tmp_path / "train.parquet")
        train.filter(pl.col("genre") == "news").write_parquet(tmp_path / "news.parquet")
        arguments = ("--min-count", "8", "--max-tokens", "2", "--max-gap", "1", "--quiet")
        whole = goldassay("artifacts", "mine", "train.parquet", "-o", "whole", "--by", "genre", *arguments)
        alone = goldassay("artifacts", "mine", "news.parquet", "-o", "alone", *arguments)
        assert (whole.status, alone.status, whole.out, whole.err) == (0, 0, "", "")
        by_value = pl.read_parquet(tmp_path / "whole/patterns_by_value.parquet")
        assert by_value["genre"].unique().sort().to_list() == ["letters", "news"]
        news = by_value.filter(pl.col("genre") == "news").drop("genre")
        assert news.equals(PatternTable.read(tmp_path / "alone/patterns.parquet").to_frame())

    def test_says_what_holds_on_a_test_set(self, goldassay: Command, specimen: Path, patterns: Path, tmp_path: Path):
        outcome = goldassay(
            "artifacts", "mine", specimen / "train.jsonl", "--test", specimen / "test.jsonl", "-o", "out",
            "--min-count", "8", "--json", "out.json",
        )  # fmt: skip
        assert outcome.status == 0, outcome.err
        test = read_dataset(specimen / "test.jsonl")
        telling = PatternTable.read(patterns).significant(0.01).select(0.7)
        expected = confirm_patterns(telling, test.texts("hypothesis"), test.examples["label"].to_list())
        findings = pl.read_parquet(tmp_path / "out/findings.parquet")
        assert findings["confirmed"].to_list() == expected.to_frame()["confirmed"].to_list()
        assert json.loads((tmp_path / "out.json").read_text())["confirmation"] == expected.to_dict()
        assert f"{expected.n_confirmed:,} are confirmed" in outcome.out

    def test_premises_and_all_texts(self, goldassay: Command, specimen: Path, tmp_path: Path):
        for text in ("premise", "all"):
            assert goldassay("artifacts", "mine", specimen / "dev.jsonl", "-o", text, "--text", text, "-q").status == 0
        premise, both = (PatternTable.read(tmp_path / text / "patterns.parquet") for text in ("premise", "all"))
        support = {name: dict(table.to_frame().select("pattern", "support").iter_rows()) for name, table in
                   (("premise", premise), ("all", both))}  # fmt: skip
        words = [word for word in support["premise"] if " " not in word and word.isalpha()]
        assert words
        assert all(support["all"][word] >= support["premise"][word] for word in words)

    @pytest.mark.parametrize("more", [(), ("--memory", "2GB")])
    def test_says_what_is_left_out_and_shows_control_characters(
        self, goldassay: Command, tmp_path: Path, more: tuple[str, ...]
    ):
        words = {"x": "out\x9b31mdoors", "y": "\u202etall", "z": "No\x07body"}
        rows = [
            {"text": "" if i % 50 == 0 else f"{words['xyz'[i % 3]]} {i}", "label": "xyz"[i % 3]} for i in range(300)
        ]
        rows[7]["label"] = "-"
        (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        outcome = goldassay("artifacts", "mine", "t.jsonl", "-o", "out", *more)
        assert states(outcome.out, "t.jsonl:", "7 of 300 rows", "text is empty: 6", "gold label is '-': 1")
        written = [path for path in (tmp_path / "out").rglob("*") if path.suffix in (".csv", ".html", ".md", ".svg")]
        assert len(written) >= 5
        for text in (outcome.out, *(path.read_text(encoding="utf-8") for path in written)):
            assert not {"\x07", "\x9b", "\u202e"} & set(text)
        for shown in (outcome.out, (tmp_path / "out/patterns.csv").read_text(encoding="utf-8")):
            assert r"No\x07body" in shown
        assert "No\x07body" in PatternTable.read(tmp_path / "out/patterns.parquet").to_frame()["pattern"].to_list()

    def test_a_count_too_high_is_warned_of(self, goldassay: Command, specimen: Path):
        outcome = goldassay("artifacts", "mine", specimen / "dev.jsonl", "-o", "out", "--min-count", "5000", "--quiet")
        assert outcome.status == 0
        assert states(outcome.line, "goldassay: warning:", "min_count=5000")
        assert "or less would give some" in outcome.line


class TestAssign:
    def test_mined_now_or_before(self, goldassay: Command, specimen: Path, patterns: Path, tmp_path: Path):
        test, train = specimen / "test.jsonl", specimen / "train.jsonl"
        now = goldassay(
            "artifacts", "assign", train, "--test", test, "--threshold", "0.8", "--min-count", "8", "-o", "now",
            "--by-classifier",
        )  # fmt: skip
        before = goldassay(
            "artifacts", "assign", "--test", test, "--patterns", patterns, "--threshold", "0.8", "-o", "before"
        )
        assert (now.status, before.status) == (0, 0), now.err + before.err
        assert ("mining patterns done" in now.err, "mining patterns done" in before.err) == (True, False)
        tables = [pl.read_parquet(tmp_path / name / "subsets.parquet") for name in ("now", "before")]
        assert tables[0].drop("class_by_classifier", "share_right").equals(tables[1])

        dataset = read_dataset(test)
        cut = PatternTable.read(patterns).select(0.8)
        expected = assign_difficulty(dataset.texts("hypothesis"), dataset.examples["label"].to_list(), cut)
        assert tables[1]["class"].to_list() == expected.classes.tolist()
        shown = cut.to_frame()["pattern"]
        assert tables[1]["patterns"].to_list() == [shown[ids].to_list() for ids in expected.pattern_ids]
        overlap = pl.read_parquet(tmp_path / "now/overlap.parquet")
        crossed = tables[0].group_by("class", "class_by_classifier").len()
        assert overlap["n"].sum() == len(dataset) == crossed["len"].sum()
        assert "trained on the" in now.out

    def test_cross_fitted_without_training_data(
        self, goldassay: Command, specimen: Path, patterns: Path, tmp_path: Path
    ):
        outcome = goldassay(
            "artifacts", "assign", "--test", specimen / "test.jsonl", "--patterns", patterns, "-o", "out",
            "--by-classifier", "--json", "out.json",
        )  # fmt: skip
        assert outcome.status == 0, outcome.err
        assert "cross-fitted on the test set in 5 folds" in outcome.out
        result = json.loads((tmp_path / "out.json").read_text())
        assert sum(result["summary"].values()) == sum(result["by_classifier"]["summary"].values())

    def test_a_threshold_that_no_share_exceeds_is_refused(self, process: Command, specimen: Path, patterns: Path):
        outcome = process(
            "artifacts", "assign", "--test", specimen / "test.jsonl", "--patterns", patterns, "--threshold", "1", "-q"
        )
        assert outcome.status == 2
        assert outcome.line.startswith("goldassay: --threshold is 1.0; give a number, more")


class TestGap:
    def test_of_what_classify_predicts(self, goldassay: Command, specimen: Path, patterns: Path, tmp_path: Path):
        train, test = specimen / "train.jsonl", specimen / "test.jsonl"
        steps = [
            ("classify", train, "--test", test, "-o", "classifiers", "--seeds", "2", "--min-count", "8"),
            ("assign", "--test", test, "--patterns", patterns, "-o", "subsets"),
            ("gap", "subsets/subsets.csv", "--runs", "classifiers/runs", "-o", "gap", "--json", "gap.json"),
        ]
        for step in steps:
            outcome = goldassay("artifacts", *step)
            assert outcome.status == 0, outcome.err
        table = pl.read_parquet(tmp_path / "gap/gap.parquet")
        accuracy = dict(
            pl.read_parquet(tmp_path / "classifiers/classifiers.parquet").select("classifier", "accuracy").iter_rows()
        )
        assert dict(table.select("model", "full").iter_rows()) == pytest.approx(accuracy)
        assert set(accuracy) == {"majority", "n-grams", "unigrams", "patterns"}
        assert accuracy["patterns"] > accuracy["majority"]
        row = table.filter(pl.col("model") == "patterns").row(0, named=True)
        assert row["n_runs"] == 2
        assert row["gap"] == pytest.approx(row["easy"] - row["hard"])
        assert row["gap"] > 0.3
        assert json.loads((tmp_path / "gap.json").read_text())["rows"][0]["model"] == table["model"][0]
        # By name, several models are runs of one.
        chosen = goldassay(
            "artifacts", "gap", "subsets/subsets.parquet", "--runs", "classifiers/runs", "--model", "uni*"
        )
        assert [line.split()[0] for line in chosen.out.splitlines()[1:]] == ["model", "uni*"]

    def test_predictions_named_otherwise_and_runs_of_fewer_examples(self, goldassay: Command, tmp_path: Path):
        ids, right = [f"e{i}" for i in range(40)], [0, 1] * 20
        classes = pl.DataFrame({"example_id": ids, "class": ["easy"] * 20 + ["hard"] * 20})
        classes.with_columns(label=pl.Series(["no", "yes"] * 20)).write_csv(tmp_path / "classes.csv")
        (tmp_path / "runs").mkdir()
        for seed, n in ((1, 40), (2, 37)):
            answers = [1 - r if i % (4 + 3 * seed) == 0 else r for i, r in enumerate(right)]
            table = pl.DataFrame({"example_id": ids[:n], "prediction": answers[:n]})
            table.write_csv(tmp_path / "runs" / f"seed_{seed}.csv")
        asked = ("artifacts", "gap", "classes.csv", "--runs", "runs")
        assert "lacks 3 of the 40 examples" in goldassay(*asked, "--labels", "0=no,1=yes", "-q").line
        assert "none in common" in goldassay(*asked, "--align", "intersect", "-q").line
        both = goldassay(*asked, "--labels", "0=no,1=yes", "--align", "intersect", "--json", "gap.json")
        assert both.status == 0, both.err
        found = json.loads((tmp_path / "gap.json").read_text())
        assert found["n_examples"] == {"full": 37, "easy": 20, "hard": 17}
        wrong = [sum(i % (4 + 3 * seed) == 0 for i in range(37)) / 37 for seed in (1, 2)]
        assert found["rows"][0]["full"] == pytest.approx(1 - sum(wrong) / 2)
        assert "3 of 40 examples of the subsets are left out" in both.out


class TestDownsample:
    def test_debias_and_its_control(self, goldassay: Command, specimen: Path, patterns: Path, tmp_path: Path):
        for mode in ("debias", "random"):
            outcome = goldassay(
                "artifacts", "downsample", specimen / "train.jsonl", "--patterns", patterns, "--threshold", "0.8",
                "--mode", mode, "--seed", "3", "-o", "out",
            )  # fmt: skip
            assert outcome.status == 0, outcome.err
            assert "reading the patterns done" in outcome.err
            assert "mining" not in outcome.err
        debias, control = (read_dataset(tmp_path / f"out/{mode}.parquet") for mode in ("debias", "random"))
        assert len(debias) == len(control) > 0
        cut = PatternTable.read(patterns).select(0.8)
        assert cut.matches(debias.texts("hypothesis"))[0].size == 0
        assert cut.matches(control.texts("hypothesis"))[0].size > 0
        sizes = pl.read_parquet(tmp_path / "out/sizes.parquet")
        assert sizes.filter(pl.col("threshold") == 0.8)["size"].item() == len(debias)
        assert read_dataset(tmp_path / "out/debias.csv").examples.height == len(debias)


class TestRefusals:
    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (("mine", "absent.jsonl"), "absent.jsonl: there is no such file"),
            (("mine", "TEST", "--text", "question"), "has no question"),
            (("mine", "TEST", "--by", "genre"), "there is no column 'genre'"),
            (("mine", "TEST", "--max-tokens", "6"), "--max-tokens is 6; give a whole number, at least 1"),
            (("assign", "--test", "TEST"), "give TRAIN, or --patterns FILE"),
            (
                ("assign", "--test", "TEST", "--patterns", "PATTERNS", "--threshold", "-0.1"),
                "--threshold is -0.1; give a number, more than 0",
            ),
            (
                ("assign", "--test", "TEST", "--patterns", "PATTERNS", "--tokenizer", "whitespace"),
                ("tokenizer treebank", "whitespace"),
            ),
            (("mine", "two.csv", "two.csv"), ("several files", "--memory 2GB")),
            (("mine", "two.csv", "--memory", "much"), "'much' is no number of bytes; write it like 2GB"),
            (("mine", "two.csv", "--memory", "90MB"), ("90 MB", "too small")),
            (("mine", "classes.csv", "--memory", "2GB"), "classes.csv: no column is known to hold text"),
            (("assign", "--test", "two.csv", "--patterns", "PATTERNS"), "two.csv also has false, true"),
            (("assign", "--test", "TEST", "--patterns", "newer.parquet"), "newer than 1; update goldassay"),
            (("assign", "--test", "TEST", "--patterns", "TEST"), "cannot be read as patterns"),
            (("downsample", "TEST", "--patterns", "cut.parquet", "--threshold", "0.6"), "already cut at 0.9"),
            (("downsample", "TEST", "--threshold", "0.01"), "is without a pattern"),
            (("gap", "two.csv", "--runs", "two.csv"), "there is no column 'example_id'"),
            (("gap", "classes.csv", "--runs", "runs.csv"), "1 of 2 examples of the subsets are not among those"),
            (
                ("gap", "easy=classes.csv", "--runs", "runs.csv"),
                ("no test set", "--test FILE"),
            ),
            (
                ("gap", "easy=classes.csv", "two.csv", "--runs", "runs.csv"),
                "'two.csv' does not say which class it holds",
            ),
            (("gap", "classes.csv", "--runs", "runs.csv", "--names", "(.+)"), "name a group (?P<model>.+)"),
            (("gap", "classes.csv", "--runs", "runs.csv", "--model", "x*"), "there are no runs of a model 'x*'"),
        ],
        ids=lambda value: " ".join(map(str, value))[:40] if isinstance(value, tuple) else None,
    )
    def test_one_line(
        self, goldassay: Command, specimen: Path, patterns: Path, tmp_path: Path, arguments: tuple[str, ...], says: Fact
    ):
        (tmp_path / "two.csv").write_text(
            "premise,hypothesis,label\n" + "".join(f"p {i},h {i},{str(i % 2 == 0).lower()}\n" for i in range(30))
        )
        (tmp_path / "classes.csv").write_text("example_id,class\na,easy\nz,hard\n")
        (tmp_path / "runs.csv").write_text("example_id,label,pred_m\na,x,x\nb,y,x\n")
        PatternTable.read(patterns).select(0.9).write(tmp_path / "cut.parquet")
        about = {"schema_version": 2, "label_names": ["a"], "settings": {}}
        pl.DataFrame({"pattern": ["a"]}).write_parquet(
            tmp_path / "newer.parquet", metadata={"goldassay.patterns": json.dumps(about)}
        )
        places = {"TEST": specimen / "test.jsonl", "PATTERNS": patterns}
        before = sorted(tmp_path.rglob("*"))
        outcome = goldassay("artifacts", *(places.get(each, each) for each in arguments), "--quiet")
        assert outcome.status == 2, outcome.err
        assert states(outcome.line, says)
        assert sorted(tmp_path.rglob("*")) == before
