import gzip
import json
import random
from itertools import islice

import polars as pl
import pytest

from goldassay.artifacts import PatternTable
from goldassay.core.errors import InputError
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings
from goldassay.data import labelled_blocks
from goldassay.questions.artifacts.inputs import CLUSTERS, Bounds
from goldassay.questions.artifacts.question import mine, report_of_mining
from goldassay.questions.artifacts.streamed import mine_files
from goldassay.questions.evidence import Evidence
from tests.stated import in_order, states

MEASURES = "goldassay.questions.artifacts.measures"


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr("goldassay.data.source.BLOCK", 1 << 12)
    monkeypatch.setattr(f"{MEASURES}.spool.SHARD_SENTENCES", 300)
    monkeypatch.setattr(f"{MEASURES}.spool.STEP", 50)
    monkeypatch.setattr(f"{MEASURES}.counting.MOST_GATHERED", 1 << 17)


def example(rng, number):
    label = rng.choice(["entailment", "neutral", "contradiction"])
    words = rng.choices(["a", "man", "dog", "is", "outside", "sleeping", "."], k=rng.randint(1, 9))
    return {
        "premise": "A man is here.",
        "hypothesis": " ".join(["Nobody", *words] if label == "contradiction" and number % 2 else words),
        "label": label,
        "genre": rng.choice(["fiction", "travel"]),
    }


BY_FOLDS = (
    "verdicts", "figures", "data_notes", "effects", "difficulty", "coverage", "precision", "giveaway", "coverage_of",
    "coverage_curve", "headline", "others", "sentences",
)  # fmt: skip


@pytest.fixture
def rows():
    rng = random.Random(0)
    return [example(rng, number) for number in range(1200)]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def assert_same(monkeypatch):
    def both(*given, test=None, **named):
        if test is None:
            # Of folds, which what passes by has not, nothing is compared.
            monkeypatch.setattr("goldassay.questions.artifacts.readings.PatternReadings.limits", lambda *_: ())
        return same(*given, test=test, **named)

    return both


def same(path, out, bounds=Bounds(), columns=None, condition=None, test=None, **named):  # noqa: B008
    """The tables, the report and the figures of both ways are equal; gives the latter."""
    evidence = Evidence(path, test, columns=columns, settings=Settings(), steps=Steps(), same_texts=False)
    whole = mine(evidence, bounds, condition)
    report = report_of_mining(evidence, whole.searched, condition, whole.by_value)
    paths = whole.save(out / "whole", report)
    streamed = mine_files([path], out / "streamed", bounds, "8GB", columns=columns, condition=condition, test=test)
    assert [p.name for p in paths] == [p.name for p in streamed.paths]
    # Without a test set what is drawn of folds is missing in one of both.
    left_out = set() if test is not None else {"figures"}
    names = [{p.name for p in (out / way).iterdir()} - left_out for way in ("streamed", "whole")]
    assert names[0] == names[1]
    reports = [json.loads((out / way / "report.json").read_text()) for way in ("streamed", "whole")]
    for report in reports:
        # The tables are compared below; the page shows the decisions.
        del report["digest"], report["digests"]
        # How the file was read is not decided block by block.
        report["inputs"][0]["decisions"] = None
        # What passes by is not read again fold by fold.
        for part in () if test is not None else (report, report["artifacts"]):
            for name in BY_FOLDS:
                part.pop(name, None)
    assert reports[0] == reports[1]
    assert json.dumps(streamed.to_dict()) == json.dumps(whole.to_dict())
    for file in (p.name for p in paths):
        if file.endswith(".csv"):
            assert (out / "streamed" / file).read_bytes() == (out / "whole" / file).read_bytes()
        elif file.endswith(".parquet"):
            assert pl.read_parquet(out / "streamed" / file).equals(pl.read_parquet(out / "whole" / file))
    table = PatternTable.read(out / "streamed" / "patterns.parquet")
    assert table.select(0.2).to_frame().equals(whole.patterns.select(0.2).to_frame())
    assert streamed.patterns.read().to_frame().equals(whole.patterns.to_frame())
    return streamed.to_dict()


class TestSameAsInMemory:
    def test_defaults(self, assert_same, tmp_path, rows):
        figures = assert_same(write(tmp_path / "train.jsonl", rows), tmp_path)
        assert figures["n_findings"] > 0
        assert figures["settings"]["min_count"] == 8

    def test_by_value_and_on_a_test_set(self, assert_same, tmp_path, rows):
        test = write(tmp_path / "test.jsonl", rows[:300])
        rows[3]["genre"] = "letters"
        figures = assert_same(write(tmp_path / "train.jsonl", rows), tmp_path, condition="genre", test=test)
        assert list(figures["by_value"]) == ["fiction", "travel"]
        assert figures["skipped"] == {"letters": "all its 1 rows have one label"}
        assert figures["confirmation"]["n_confirmed"] > 0

    def test_near_copies_count_as_one(self, assert_same, tmp_path, rows):
        rng = random.Random(1)
        for number, row in enumerate(rows):
            # Of each text ten rows of one label, each with another word changed, and a premise of its own.
            words = random.Random(number // 10).choices([f"w{word}" for word in range(60)], k=12)
            words[rng.randrange(12)] = f"w{rng.randrange(60)}"
            row |= {"premise": f"Premise {number}", "hypothesis": " ".join(words)}
            row["label"] = ["entailment", "neutral", "contradiction"][number // 10 * 7 % 11 % 3]
            # A row without a label lies between those that have one.
            if number % 13 == 0:
                row["label"] = "-"
        figures = assert_same(write(tmp_path / "train.jsonl", rows), tmp_path)
        assert figures["n_findings"] == 0
        assert states(figures["settings"][CLUSTERS], "Near copies", "count as one")

    def test_near_copies_count_by_themselves_where_the_memory_does_not_suffice(self, tmp_path, rows, monkeypatch):
        monkeypatch.setattr("goldassay.questions.artifacts.training.BYTES_A_SENTENCE", 1 << 40)
        with pytest.warns(UserWarning, match="near copies of a text count by themselves"):
            mine_files([write(tmp_path / "train.jsonl", rows)], tmp_path / "out", Bounds(), "8GB")

    @pytest.mark.parametrize("text", ["premise", "all"])
    def test_other_texts(self, assert_same, tmp_path, rows, text):
        assert_same(write(tmp_path / "train.jsonl", rows), tmp_path, Bounds(text=text, max_tokens=2, min_count=20))

    def test_rows_without_text_or_label_are_left_out(self, assert_same, tmp_path, rows):
        for number, row in enumerate(rows):
            if number % 5 == 0:
                row["label"] = ["-", "", None, " "][number // 5 % 4]
            if number % 7 == 0:
                row["hypothesis"] = [" ", None][number % 2]
        assert_same(write(tmp_path / "train.jsonl", rows), tmp_path)

    def test_labels_by_their_usual_names(self, assert_same, tmp_path, rows):
        for row in rows:
            row["label"] = row["label"][0].upper()
        figures = assert_same(write(tmp_path / "train.jsonl", rows), tmp_path)
        assert figures["label_names"] == ["entailment", "neutral", "contradiction"]

    def test_hidden_labels(self, assert_same, tmp_path, rows):
        for number, row in enumerate(rows):
            row["label"] = [-1, 0, 1][number % 3]
        assert assert_same(write(tmp_path / "train.jsonl", rows), tmp_path)["label_names"] == ["0", "1"]

    def test_the_training_part(self, tmp_path, rows):
        for number, row in enumerate(rows):
            row["split"] = "validation" if number < 700 else "Training"
        path = write(tmp_path / "train.jsonl", rows)
        streamed = mine_files([path], tmp_path / "streamed", Bounds(), "8GB")
        whole = mine(Evidence(path, settings=Settings(), steps=Steps(), same_texts=False))
        assert streamed.patterns.settings["n_sentences"] == 500
        assert streamed.patterns.read().to_frame().equals(whole.patterns.to_frame())
        # In memory the other part is tried too.
        assert (streamed.confirmation, whole.confirmation is None) == (None, False)

    def test_other_columns(self, assert_same, tmp_path, rows):
        renamed = [{"a": row["premise"], "b": row["hypothesis"], "c": row["label"]} for row in rows]
        assert_same(write(tmp_path / "train.jsonl", renamed), tmp_path, columns="premise=a,hypothesis=b,label=c")

    def test_a_script_without_spaces(self, assert_same, tmp_path, rows):
        for row in rows:
            row["hypothesis"] = row["premise"] = "我很好不" * len(row["hypothesis"].split())
        assert assert_same(write(tmp_path / "train.jsonl", rows), tmp_path)["settings"]["tokenizer"] == "characters"

    def test_a_script_that_only_the_rows_kept_are_in(self, assert_same, tmp_path, rows):
        for row in rows[:600]:
            row["hypothesis"] = row["premise"] = "我很好我很好我很好"
            row["label"] = "-"
        assert assert_same(write(tmp_path / "train.jsonl", rows), tmp_path)["settings"]["tokenizer"] == "treebank"

    @pytest.mark.parametrize("name", ["train.csv", "train.tsv", "train.parquet"])
    def test_formats(self, assert_same, tmp_path, rows, name):
        frame = pl.DataFrame(rows)
        if name.endswith("parquet"):
            frame.write_parquet(tmp_path / name, row_group_size=100)
        else:
            frame.write_csv(tmp_path / name, separator="\t" if name.endswith("tsv") else ",")
        assert_same(tmp_path / name, tmp_path)

    def test_a_user_s_tokenizer(self, assert_same, tmp_path, rows):
        code = tmp_path / "cutting.py"
        code.write_text("def halves(text):\n    return [text[: len(text) // 2], text[len(text) // 2 :]]\n")
        bounds = Bounds(tokenizer=f"{code}:halves", min_count=2)
        assert_same(write(tmp_path / "train.jsonl", rows), tmp_path, bounds)

    @pytest.mark.parametrize(
        ("file", "n_rows"),
        [
            ("snli/train_sample_2k.tsv.gz", 2000),
            ("multinli/train_sample_10k.tsv.gz", 3000),
            pytest.param("multinli/train_sample_10k.tsv.gz", 10_000, marks=pytest.mark.slow),
            pytest.param("hans/heuristics_evaluation_set_shuffled.tsv.gz", 30_000, marks=pytest.mark.slow),
            pytest.param("sst2/train.tsv.gz", 70_000, marks=pytest.mark.slow),
        ],
    )
    def test_real_data(self, assert_same, data_dir, tmp_path, monkeypatch, file, n_rows):
        if not (data_dir / file).exists():
            pytest.skip(f"no {file}")
        monkeypatch.setattr("goldassay.data.source.BLOCK", 1 << 16)
        monkeypatch.setattr(f"{MEASURES}.spool.SHARD_SENTENCES", 1200)
        path = tmp_path / "real.tsv"
        with gzip.open(data_dir / file, "rt", encoding="utf-8") as lines:
            path.write_text("".join(islice(lines, n_rows + 1)), encoding="utf-8")
        assert_same(path, tmp_path)


def test_several_files_are_one(tmp_path, rows):
    write(tmp_path / "all.jsonl", rows)
    parts = [write(tmp_path / "1.jsonl", rows[:500]), tmp_path / "2.jsonl.gz"]
    parts[1].write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows[500:]).encode()))
    one = mine_files([tmp_path / "all.jsonl"], tmp_path / "one", Bounds(), "8GB")
    two = mine_files(parts, tmp_path / "two", Bounds(), "8GB")
    assert one.to_dict() == two.to_dict()
    assert one.patterns.read().to_frame().equals(two.patterns.read().to_frame())


class TestRefusals:
    @pytest.fixture
    def refused(self, tmp_path):
        def refused(problem, rows, bounds=Bounds(), **named):  # noqa: B008
            (tmp_path / "out").mkdir()
            with pytest.raises(InputError, match=problem):
                mine_files([write(tmp_path / "t.jsonl", rows)], tmp_path / "out", bounds, "8GB", **named)
            assert list((tmp_path / "out").iterdir()) == []

        return refused

    def test_one_label(self, refused, rows):
        refused("there is only the label 'neutral'", [row | {"label": "neutral"} for row in rows])

    def test_no_labels(self, refused, rows):
        refused(in_order("no labels", "columns: 'premise', 'hypothesis'"), [{"premise": "a", "hypothesis": "b"}])

    def test_scores(self, refused, rows):
        refused("there are scores, not classes", [row | {"label": 0.5} for row in rows])

    def test_nothing_left(self, refused, rows):
        refused("no row is left with texts and a label", [row | {"label": "-"} for row in rows])

    def test_no_such_role(self, refused, rows):
        refused("there is no text; it has premise and hypothesis", rows, Bounds(text="text"))

    def test_bounds(self, refused, rows):
        refused("min_count is 0", rows, Bounds(min_count=0))

    def test_kinds_that_change(self, refused, rows):
        for row in rows[600:]:
            row["label"] = 1
        refused(in_order("column 'label':", "numbers", "texts"), rows)

    def test_columns_that_change(self, refused, rows):
        for row in rows[600:]:
            row["gold_label"] = "neutral"
        refused("its columns change", rows)

    def test_condition(self, refused, rows):
        refused("there is no column 'topic'; choose from", rows, condition="topic")

    def test_condition_with_a_role(self, refused, rows):
        refused("the column 'label' has a role of its own", rows, condition="label")

    def test_values_of_two_scripts(self, refused, rows):
        for row in rows:
            if row["genre"] == "travel":
                row["hypothesis"] = row["premise"] = "我很好"
        refused("'(travel|fiction)' are in another kind of script", rows, condition="genre")

    def test_too_many_values(self, refused, rows):
        refused(
            "it has 1,200 values, more than the 100", [row | {"k": str(i)} for i, row in enumerate(rows)], condition="k"
        )

    def test_too_many_labels(self, refused, rows, monkeypatch):
        monkeypatch.setattr(labelled_blocks, "_MOST_CODES", 100)
        refused("more than 100 different labels", [row | {"label": f"l{i}"} for i, row in enumerate(rows)])

    def test_a_test_set_with_other_labels(self, refused, tmp_path, rows):
        test = write(tmp_path / "test.jsonl", [row | {"label": "maybe"} for row in rows[:9]])
        refused("labels that the training set lacks", rows, test=test)
