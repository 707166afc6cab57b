from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from goldassay.cli.main import run
from goldassay.core.errors import InputError
from goldassay.data.reading import read_dataset
from goldassay.questions.shift.benchmarks import Rows, load_recipe, parse_recipe, recipe_names
from goldassay.questions.shift.building import build_benchmark, build_by_column, split_rows
from tests.cli.run_files import refused
from tests.shift import benchmark_layouts
from tests.stated import says

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["refused"]

# name -> who writes the layout, domains, which of them are trained on, metric
LAYOUTS = {
    "yelp": (benchmark_layouts.yelp, ["american", "chinese", "italian", "japanese"], 4, "accuracy"),
    "amazon": (
        benchmark_layouts.amazon, ["shoes", "baby", "women", "men", "clothes", "music", "movies"], 7, "accuracy",
    ),
    "amazon_balanced": (
        benchmark_layouts.amazon, ["shoes", "baby", "women", "men", "clothes", "music", "movies"], 7, "accuracy",
    ),
    "mnli": (benchmark_layouts.mnli, ["telephone", "letters", "facetoface"], 1, "accuracy"),
    "record": (benchmark_layouts.record, ["cnn", "daily_mail"], 2, "exact_match"),
    "sst2_imdb": (benchmark_layouts.sentiment, ["sst2", "imdb"], 2, "accuracy"),
    "amazon_multidomain": (benchmark_layouts.markup, ["books", "kitchen"], 2, "accuracy"),
    "stsb": (benchmark_layouts.sts, ["MSRpar", "headlines", "MSRvid", "images"], 4, "pearson"),
}  # fmt: skip


def everything(folder: Path) -> dict[str, pl.DataFrame]:
    return {file.stem: pl.read_ndjson(file) for file in sorted(folder.glob("*.jsonl"))}


def test_every_recipe_is_sound_and_tested() -> None:
    assert set(recipe_names()) == set(LAYOUTS)
    for name in recipe_names():
        recipe = load_recipe(name)
        assert recipe.source.startswith(("http", "SST-2 of GLUE, http"))
        assert recipe.decisions


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_layout_as_published(name: str, tmp_path: Path) -> None:
    write, domains, n_trained, metric = LAYOUTS[name]
    write(tmp_path / "files")
    built = build_benchmark(name, [tmp_path / "files"], seed=1)
    paths = built.save(tmp_path / "out")
    told = json.loads((tmp_path / "out/benchmark.json").read_text())
    assert list(dict.fromkeys(each["domain"] for each in told["sets"])) == domains
    assert (told["metric"], len(told["experiments"])) == (metric, n_trained)
    assert paths[-1].name == "benchmark.json"
    seen: list[str] = []
    for each in told["sets"]:
        dataset = read_dataset(tmp_path / "out" / each["file"])
        ids = (tmp_path / "out/ids" / f"{each['domain']}_{each['part']}.txt").read_text().split("\n")[:-1]
        assert len(dataset) == each["n_examples"] == len(ids)
        assert dataset.examples["example_id"].cast(pl.String).to_list() == ids
        roles = dataset.text_columns
        seen += [" ".join(" ".join(row).lower().split()) for row in dataset.examples.select(roles).iter_rows()]
    assert len(set(seen)) == len(seen)
    for each in told["experiments"]:
        files = [each["train"], each["in_distribution"], *each["out_of_distribution"].values()]
        assert all((tmp_path / "out" / file).exists() for file in files)
    again = build_benchmark(name, [tmp_path / "files"], seed=1)
    assert again.to_dict() == built.to_dict()
    for domain, parts in built.splits.parts.items():
        for part, rows in parts.items():
            assert rows.equals(again.splits.parts[domain][part])


def test_what_the_rules_say(tmp_path: Path) -> None:
    for name in ("yelp", "amazon", "mnli", "sst2_imdb", "stsb", "record"):
        LAYOUTS[name][0](tmp_path / name)
    yelp = build_benchmark("yelp", [tmp_path / "yelp"])
    rows = pl.concat([part for parts in yelp.splits.parts.values() for part in parts.values()])
    assert set(rows["label"]) == {"negative", "positive"}
    # Of 351 reviews: 50 each of two doctors' kinds and of a restaurant of two food types are left out, then 3 stars.
    assert yelp.splits.dropped == {
        "of another domain, or of several": 150, "without a label that counts": 40, "text that is there already": 1,
    }  # fmt: skip
    sizes = {part: rows.height for part, rows in yelp.splits.parts["chinese"].items()}
    assert sizes == {"train": 29, "dev": 3, "test": 8}
    amazon = build_benchmark("amazon", [tmp_path / "amazon"])
    shoes = pl.concat(list(amazon.splits.parts["shoes"].values()))
    assert set(shoes["label"]) == {"1"}
    assert {note.split(" ")[0] for note in amazon.notes()} == set(LAYOUTS["amazon"][1])
    mnli = build_benchmark("mnli", [tmp_path / "mnli"])
    assert set(mnli.splits.parts["letters"]) == {"test"}
    assert {example["label"] for example in mnli.splits.parts["telephone"]["train"].to_dicts()} == {
        "entailment", "neutral", "contradiction",
    }  # fmt: skip
    films = build_benchmark("sst2_imdb", [tmp_path / "sst2_imdb"])
    assert films.splits.parts["sst2"]["test"].height == 12
    assert any(said.startswith("sst2: no test part was given") for said in films.splits.decisions)
    similar = build_benchmark("stsb", [tmp_path / "stsb"])
    assert similar.splits.parts["images"]["train"]["label"].dtype == pl.Float64
    read = build_benchmark("record", [tmp_path / "record"])
    written = read.save(tmp_path / "out")[0]
    passage = json.loads(written.read_text())["data"][0]["paragraphs"][0]
    assert passage["qas"][0]["answers"] == [{"text": "Bert", "answer_start": 9}]
    # Whoever reads the file knows which answers there are.
    assert passage["candidates"] == [[0, 4], [9, 13]]
    rows = read_dataset(written).examples
    assert rows["candidate_starts"][0].to_list() == [0, 9]
    assert rows["candidate_ends"][0].to_list() == [4, 13]


def test_files_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        rows = [{"sentence1": f"{name} {i}", "sentence2": "x", "score": i / 7, "kind": "kl"[i % 2]} for i in range(120)]
        pl.DataFrame(rows).write_csv(f"{name}.csv")
    assert run(["shift", "build", "--by", "kind", "--source", "a.csv", "b.csv", "-o", "out"]) == 0
    told = json.loads((tmp_path / "out/benchmark.json").read_text())
    assert sum(each["n_examples"] for each in told["sets"]) == 240
    # Numbers are not for a classifier.
    assert capsys.readouterr().out.splitlines()[-1].endswith("--model ridge")


def test_a_balanced_sample_has_every_label_equally_often() -> None:
    labels = ["1"] * 50 + ["2"] * 20 + ["3"] * 12
    table = pl.DataFrame(
        {"text": [f"text {i}" for i in range(82)], "label": labels, "domain": "shoes", "part": "", "example_id": "x"}
    )
    recipe = load_recipe("amazon_balanced")
    assert (recipe.split.balanced, recipe.split.first, recipe.columns) == (15_000, None, load_recipe("amazon").columns)
    for asked, each in ((30, 10), (60, 12)):
        split = recipe.split.model_copy(update={"balanced": asked})
        built = split_rows(recipe.model_copy(update={"split": split}), Rows(table, ("text",), {}, []), seed=3)
        kept = pl.concat(list(built.parts["shoes"].values()))
        assert dict(kept["label"].value_counts().iter_rows()) == dict.fromkeys("123", each)
        assert built.dropped == {"not drawn for the balanced sample": 82 - 3 * each}
        assert kept["text"].n_unique() == 3 * each


def test_a_missing_dev_part_is_drawn_from_train() -> None:
    n = {"train": 80, "test": 20}
    parts = [part for part, times in n.items() for _ in range(times)]
    table = pl.DataFrame({"text": [f"text {i}" for i in range(100)], "part": parts}).with_columns(
        label=pl.lit("1"), domain=pl.lit("shoes"), example_id=pl.lit("x")
    )
    recipe = load_recipe("amazon")
    split = recipe.split.model_copy(update={"rule": "official", "dev_share": 0.25, "first": None, "balanced": None})
    built = split_rows(recipe.model_copy(update={"split": split}), Rows(table, ("text",), {}, []), seed=3).parts[
        "shoes"
    ]
    assert {part: rows.height for part, rows in built.items()} == {"train": 60, "dev": 20, "test": 20}
    assert pl.concat([built["train"], built["dev"]])["text"].n_unique() == 80
    assert set(built["test"]["text"]) == set(table["text"][80:])


def test_another_seed_draws_other_rows_and_order_of_domains_changes_none(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "text": [f"text {i}" for i in range(300)],
            "kind": [f"k{i % 3}" for i in range(300)],
            "label": ["a", "b"] * 150,
        }
    )
    frame.write_csv(tmp_path / "all.csv")
    built = [build_by_column("kind", [tmp_path / "all.csv"], seed=seed) for seed in (0, 0, 1)]
    assert built[0].to_dict() == built[1].to_dict()
    assert not built[0].splits.parts["k0"]["test"].equals(built[2].splits.parts["k0"]["test"])
    frame.filter(pl.col("kind") != "k0").write_csv(tmp_path / "two.csv")
    fewer = build_by_column("kind", [tmp_path / "two.csv"])
    assert fewer.splits.parts["k1"]["test"]["text"].to_list() == built[0].splits.parts["k1"]["test"]["text"].to_list()
    sizes = {part: rows.height for part, rows in built[0].splits.parts["k0"].items()}
    assert sizes == {"train": 72, "dev": 8, "test": 20}


@pytest.mark.parametrize(
    ("name", "folders", "equal", "missing"),
    [
        ("stsb", ["stsb"], 4, set()),
        ("sst2_imdb", ["sst2", "imdb"], 5, set()),
        ("amazon_multidomain", ["amazon_multidomain"], 3, {"kitchen"}),
    ],
)
def test_the_real_files(name: str, folders: list[str], equal: int, missing: set[str], data_dir: Path) -> None:
    built = build_benchmark(name, [data_dir / folder for folder in folders])
    checks = built.to_dict()["checks"]
    assert sum(check["equal"] for check in checks) == equal
    assert {check["name"] for check in checks if not check["equal"]} == missing
    if name == "sst2_imdb":
        assert built.splits.parts["sst2"]["train"].height == 66_977
        assert built.splits.parts["imdb"]["test"].height == 24_801


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "unknown": (("yelpp",), "there is no recipe 'yelpp'; did you mean 'yelp'?"),
    "no files": (
        ("mnli",),
        "MNLI, telephone to letters and face-to-face: no files were given; get them from "
        "https://cims.nyu.edu/~sbowman/multinli (multinli_1.0.zip: multinli_1.0_train.jsonl, _dev_matched.jsonl, "
        "_dev_mismatched.jsonl), and name them with --source",
    ),
    "missing": (
        ("mnli", "--source", "files"),
        "MNLI, telephone to letters and face-to-face: there is no multinli_1.0_train.jsonl among the files given; get "
        "it from https://cims.nyu.edu/~sbowman/multinli (multinli_1.0.zip: multinli_1.0_train.jsonl, "
        "_dev_matched.jsonl, _dev_mismatched.jsonl), and give its folder with --source",
    ),
    "nowhere": (("mnli", "--source", "nowhere"), "nowhere: there is no such file or folder; check the path"),
    "both": (("mnli", "--by", "genre"), "a recipe and a column were both given; give NAME or --by COLUMN"),
    "column": (
        ("--by", "genre", "--source", "files/a.csv"),
        "files/a.csv, column 'genre': there is no such column; it has text, label, kind",
    ),
    "few": (
        ("--by", "kind", "--source", "files/a.csv"),
        "files/a.csv, column 'kind': 0 of its values with 50 rows or more are not enough (x 2, y 2); choose a column "
        "of domains, or a smaller --min-rows",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, refused: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files/a.csv").write_text("text,label,kind\na b,1,x\nc d,0,x\ne f,1,y\ng h,0,y\n")
    arguments, said = REFUSED[case]
    line = refused("shift", "build", *arguments, "-o", "out")
    assert line.replace("(y 2, x 2)", "(x 2, y 2)") == f"goldassay: {said}"
    assert not (tmp_path / "out").exists()


def test_what_is_left_out_on_reading_is_counted_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"text": f"Straße {i}", "label": i % 2, "kind": "new york" if i % 3 else "x'y"} for i in range(60)]
    # As many copies in capitals, which have no letter ß; and a row each without text, label and kind.
    rows += [{**row, "text": str(row["text"]).upper()} for row in rows]
    rows += [{"text": "", "label": 1, "kind": "x'y"}, {"text": "a", "label": None, "kind": "x'y"}]
    rows += [{"text": "b", "label": 1, "kind": None}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    built = build_by_column("kind", [tmp_path / "a.jsonl"], least=10)
    assert built.splits.dropped == {
        "text is empty": 1,
        "label is null": 1,
        "without a value for their domain": 1,
        "text that is there already": 60,
    }
    kept = sum(part.height for parts in built.splits.parts.values() for part in parts.values())
    assert built.to_dict()["files"][0]["rows"] == len(rows) == kept + sum(built.splits.dropped.values())
    out = tmp_path / "of two"
    assert run(["shift", "build", "--by", "kind", "--source", str(tmp_path / "a.jsonl"), "-o", str(out)]) == 2
    capsys.readouterr()
    assert (
        run(
            [
                "shift",
                "build",
                "--by",
                "kind",
                "--min-rows",
                "10",
                "--source",
                str(tmp_path / "a.jsonl"),
                "-o",
                str(out),
            ]
        )
        == 0
    )
    printed = capsys.readouterr().out.splitlines()
    assert "left out: 1 row: text is empty" in printed
    command = shlex.split(printed[-1].removeprefix("next: "))
    assert command[3:] == [
        f"{out}/new-york_train.jsonl", "--test", f"ID={out}/new-york_test.jsonl", "--test", f"x'y={out}/x-y_test.jsonl",
        "--model", "quick_probe",
    ]  # fmt: skip


def test_a_benchmark_takes_the_place_of_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"text": f"text {i}", "label": i % 2, "kind": "abc"[i % 3], "year": 2000 + i % 2} for i in range(90)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["shift", "build", "--source", "a.jsonl", "--min-rows", "10", "-q", "-o", "out", "--by"]
    for column, domains in (("kind", {"a", "b", "c"}), ("year", {"2000", "2001"})):
        assert run([*command, column]) == 0
        (tmp_path / "out/notes.txt").write_text("mine")
        assert {file.name.split("_")[0] for file in (tmp_path / "out").glob("*.jsonl")} == domains
        assert {file.name.split("_")[0] for file in (tmp_path / "out/ids").iterdir()} == domains
    assert (tmp_path / "out/notes.txt").exists()
    # A file of that name may be anything's: nothing beyond the folder goes.
    told = {"sets": [{"file": "../a.jsonl"}, {"file": "notes.txt/../../a.jsonl"}]}
    (tmp_path / "out/benchmark.json").write_text(json.dumps(told))
    assert run([*command, "kind"]) == 0
    assert (tmp_path / "a.jsonl").exists()
    assert refused(*command[:-2], "a.jsonl", "--by", "kind") == says("goldassay: a.jsonl:", "Not a directory", "-o")


def test_the_column_may_be_one_that_was_taken_for_a_role(tmp_path: Path) -> None:
    rows = [{"sentence": f"text {i}", "rating": i % 2, "label": i % 3} for i in range(60)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    columns = {"text": "sentence", "label": "rating"}
    assert set(build_by_column("rating", [tmp_path / "a.jsonl"], columns=columns, least=10).splits.parts) == {"0", "1"}


def test_recipes_are_listed_with_where_their_files_come_from(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["shift", "build"]) == 0
    printed = capsys.readouterr().out
    assert all(f"{name} " in printed for name in recipe_names())
    assert printed.count("from ") >= len(recipe_names())


BROKEN: dict[str, Any] = {
    "no TOML": ("title = ", "is not TOML"),
    "unknown key": ('titel = "x"', "did you mean 'title'"),
    "no part": (
        'title = "x"\ntask = "x"\nmetric = "x"\nsource = "x"\ngroups = []\n[split]\nrule = "official"\n[[files]]\n'
        'match = ["a"]\ndomain = "a"\n',
        "says no part, which official splits need",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_recipe_that_is_none(case: str) -> None:
    text, said = BROKEN[case]
    with pytest.raises(InputError, match=said):
        parse_recipe(text, "recipes/x.toml")
