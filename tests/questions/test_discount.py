"""Discounted scores of anybody's runs: the same at three doors, and nothing taken from who follows no shortcut."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import goldassay
from goldassay.cli.main import run
from goldassay.core.errors import InputError
from goldassay.core.files import sha256_of
from goldassay.core.progress import Steps
from goldassay.questions.discount.measures import mean_bits
from goldassay.questions.discount.reading import read_bits
from goldassay.questions.report_frame import frame_findings
from goldassay.report.report import Report
from tests.cli.run_files import refused
from tests.leakage.test_discount import bits_of, knows, made
from tests.stated import Fact, in_order, states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["refused"]

LABELS = ("a", "b", "c")
N = 3000


def shortcut_report(folder: Path, ids: list[str], bits: np.ndarray, labels: list[str] | None = None) -> Path:
    """A report on rows whose hypothesis tells so many bits, and whose premise tells none."""
    table = pl.DataFrame(
        {
            "example_id": ids,
            "hypothesis": [f"text {i // 2}" for i in range(len(ids))],
            "reader_bits_hypothesis_only": pl.Series(bits.T.tolist(), dtype=pl.List(pl.Float32)),
            "reader_bits_premise_only": pl.Series(np.zeros(bits.T.shape).tolist(), dtype=pl.List(pl.Float32)),
        }
    )
    if labels is not None:
        table = table.with_columns(pl.Series("label", labels))
    findings = {"dataset": {"name": "made"}, "inputs": [], "settings": {}, "clusters": {"columns": ["hypothesis"]}}
    Report(frame_findings("Audit of made", findings, Steps(quiet=True)).document, {"examples": table}).save(folder)
    return folder


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pl.DataFrame]:
    """A report, and answers of three models: one follows the shortcut, one knows 60 %, one does both."""
    base = tmp_path_factory.mktemp("discount")
    gold, likely, follower = made(0, n=N)
    rng = np.random.default_rng(1)
    bits = bits_of(gold, likely) + 0.05 * rng.normal(size=(3, N))
    ids = [f"e{i}" for i in range(N)]
    report = shortcut_report(base / "report", ids, bits)
    answers = {
        "follower": follower,
        "knower": knows(rng, gold, 0.6),
        "both": np.where(rng.random(N) < 0.6, gold, follower),
    }
    names = np.array(LABELS)
    runs = pl.concat(
        pl.DataFrame({"model": model, "example_id": ids, "label": names[gold], "prediction": names[own]})
        for model, own in answers.items()
    )
    return report, runs


def discounted(report: Any) -> dict[tuple[str, str], tuple[float, ...]]:
    rows = report.figures.filter(pl.col("question") == "discount").sort("id", "label").to_dicts()
    return {
        (row["id"], str({name: value for name, value in row["of"].items() if value})): (
            row["value"], row["low"], row["high"], row["n"],
        )
        for row in rows
    }  # fmt: skip


def test_three_doors_say_the_same(given: tuple[Path, pl.DataFrame]) -> None:
    report, runs = given
    shuffled = runs.sample(fraction=1, shuffle=True, seed=3)
    found = [
        discounted(goldassay.rank_systems(runs, discount=str(report))),
        discounted(goldassay.compare_models(shuffled, discount=str(report), align="intersect")),
        discounted(goldassay.measure_instability(runs, discount=str(report))),
    ]
    assert len(found[0]) == 11
    assert found[0] == found[1] == found[2]


def test_the_shortcut_goes_and_knowledge_stays(given: tuple[Path, pl.DataFrame], tmp_path: Path) -> None:
    report, runs = given
    written = goldassay.rank_systems(runs, discount=str(report))
    section = written.document["discount"]
    assert section["part"] == "hypothesis"
    systems = {row["system"]: row for row in section["systems"]}
    assert systems["follower"]["discounted"] == pytest.approx(1 / 3, abs=0.06)
    assert systems["follower"]["score"] > 0.6
    # The negative control: what follows no shortcut keeps its score.
    assert systems["knower"]["discounted_low"] < systems["knower"]["score"] < systems["knower"]["discounted_high"]
    assert systems["both"]["discounted"] == pytest.approx(0.6 + 0.4 / 3, abs=0.04)
    assert systems["knower"]["discounted_place"] < systems["follower"]["discounted_place"]
    page = written.save(tmp_path / "board").read_text("utf-8")
    assert "Scores without the shortcut" in page
    assert (tmp_path / "board" / "tables" / "discount.parquet").is_file()


def test_the_command_prints_it(
    given: tuple[Path, pl.DataFrame], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, runs = given
    file = tmp_path / "runs.csv"
    runs.write_csv(file)
    for command in ("board", "compare", "instability"):
        out = ["-o", str(tmp_path / command)]
        assert run([command, str(file), "--discount", str(report), *out]) == 0
        told = capsys.readouterr().out
        assert "discounted by Audit of made:" in told
        assert states(told, "stronger reader", "still in these scores")


def test_rows_that_the_report_lacks_are_counted(given: tuple[Path, pl.DataFrame], tmp_path: Path) -> None:
    _, runs = given
    few = shortcut_report(tmp_path / "few", [f"e{i}" for i in range(2000)], np.zeros((2, 2000)))
    section = goldassay.rank_systems(runs, discount=str(few)).document["discount"]
    assert (section["n_items"], section["n_dropped"]) == (2000, 1000)
    assert any("1,000 rows of the runs are not in the report" in said for said in section["sentences"])
    assert states(section["sentences"][1], "no better than label frequencies", "as they are")


def test_runs_scored_by_other_labels_are_refused(given: tuple[Path, pl.DataFrame], tmp_path: Path) -> None:
    """The weights of a report are those of its own labels: by others a leaky score could be called earned."""
    runs = given[1].filter(pl.col("model") == "knower")
    ids, labels = runs["example_id"].to_list(), runs["label"].to_list()
    turned = [LABELS[(LABELS.index(label) + 1) % 3] for label in labels]
    same = shortcut_report(tmp_path / "same", ids, np.zeros((2, N)), labels)
    other = shortcut_report(tmp_path / "other", ids, np.zeros((2, N)), [*turned[:40], *labels[40:]])
    assert goldassay.measure_instability(runs, discount=str(same)).document["discount"]["n_items"] == N
    with pytest.raises(goldassay.InputError, match="40 of 3,000 rows have another right label"):
        goldassay.measure_instability(runs, discount=str(other))


@pytest.mark.parametrize("coarser", [False, True])
def test_rows_that_only_share_their_numbers_are_refused(
    given: tuple[Path, pl.DataFrame], tmp_path: Path, coarser: bool
) -> None:
    """Labels of other names, such as numbers or two for three, go with those of the report, or the rows are others."""
    runs = given[1].filter(pl.col("model") == "knower")
    ids, labels = runs["example_id"].to_list(), runs["label"].to_list()
    named = {"a": "yes", "b": "no" if coarser else "maybe", "c": "no"}
    same = shortcut_report(tmp_path / "same", ids, np.zeros((2, N)), [named[label] for label in labels])
    other = shortcut_report(tmp_path / "other", ids, np.zeros((2, N)), [named[label] for label in labels[::-1]])
    assert goldassay.measure_instability(runs, discount=str(same)).document["discount"]["n_items"] == N
    with pytest.raises(goldassay.InputError, match="have another right label"):
        goldassay.measure_instability(runs, discount=str(other))


@pytest.mark.parametrize("command", ["board", "compare", "instability"])
def test_the_json_of_a_command_has_what_its_report_has(
    given: tuple[Path, pl.DataFrame], tmp_path: Path, command: str
) -> None:
    file, said = tmp_path / "runs.csv", tmp_path / "said.json"
    given[1].write_csv(file)
    assert (
        run([command, str(file), "-q", "--discount", str(given[0]), "--json", str(said), "-o", str(tmp_path / "o")])
        == 0
    )
    report = json.loads((tmp_path / "o" / "report.json").read_text("utf-8"))
    assert json.loads(said.read_text("utf-8"))["discount"] == report["discount"]


@pytest.mark.parametrize("command", ["board", "compare", "instability"])
def test_what_does_not_fit_is_one_line(
    given: tuple[Path, pl.DataFrame], tmp_path: Path, refused: Callable[..., str], command: str
) -> None:
    file = tmp_path / "runs.csv"
    given[1].write_csv(file)
    other = shortcut_report(tmp_path / "other", [f"x{i}" for i in range(50)], np.zeros((2, 50)))
    assert "--discount" in refused(command, str(file), "-q", "--discount", str(other))
    assert "report.json" in refused(command, str(file), "--discount", str(tmp_path))
    plain = tmp_path / "plain"
    goldassay.rank_systems(given[1]).save(plain)
    assert "examples.parquet" in refused(command, str(file), "--discount", str(plain))


def test_readers_of_an_audit_never_learn_from_the_rows_that_they_read(tmp_path: Path) -> None:
    """Items without any shortcut: a reader that learned from them would name them, and take scores from who knows."""
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(400)])
    choices = [[" ".join(rng.choice(words, 3)) for _ in range(4)] for _ in range(300)]
    items = [
        {"id": f"e{i}", "question": f"What is number {i}?", "choices": own, "answer": int(rng.integers(4))}
        for i, own in enumerate(choices)
    ]
    report = goldassay.audit(items, columns=None)
    folder = report.save(tmp_path / "report").parent
    told = read_bits(folder)
    assert told.bits.mean() < 0.05
    gold = np.zeros(300)
    knower = ((rng.random(300) < 0.6) | (rng.random(300) < 0.25)).astype(int)
    table = pl.DataFrame({"item": list(told.ids), "knower": knower, "other": gold.astype(int)})
    section = goldassay.rank_systems(table, discount=str(folder)).document["discount"]
    own = next(row for row in section["systems"] if row["system"] == "knower")
    assert section["reason"] == ""
    assert own["discounted"] == pytest.approx(own["score"], abs=0.03)


@pytest.mark.parametrize(
    "bits", [["a", "b"], [[0.5], [0.5, 0.1]], [[0.5], [None]], [[0.5], None], [[], []], [[0.5], [float("inf")]]]
)
def test_bits_that_are_no_rectangle_of_numbers_are_refused(tmp_path: Path, bits: list[object]) -> None:
    report = shortcut_report(tmp_path / "report", ["a", "b"], np.zeros((1, 2)))
    table = pl.DataFrame({"example_id": ["a", "b"], "reader_bits_premise_only": bits})
    table.write_parquet(report / "tables" / "examples.parquet")
    document = json.loads((report / "report.json").read_bytes())
    document["digests"]["tables/examples.parquet"] = sha256_of(report / "tables" / "examples.parquet")
    (report / "report.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"reader_bits_premise_only.*examples\.parquet|examples\.parquet.*reader_bits"):
        read_bits(report)


DOORS = {
    "board": goldassay.rank_systems, "compare": goldassay.compare_models, "instability": goldassay.measure_instability,
}  # fmt: skip


def numbered(given: tuple[Path, pl.DataFrame], folder: Path, dropped: list[int] | None = None) -> tuple[Path, Any]:
    """A report on rows that are called by their numbers, of which some were dropped, and runs on all of them."""
    report, runs = given
    table = pl.read_parquet(report / "tables" / "examples.parquet")
    bits = np.array(table["reader_bits_hypothesis_only"].to_list()).T
    labels = runs.filter(pl.col("model") == "knower")["label"].to_list()
    left = [at for at in range(N) if at not in (dropped or ())]
    ids = [str(at) for at in range(len(left))]
    made = shortcut_report(folder / "numbered", ids, bits[:, left], [labels[at] for at in left])
    return made, runs.with_columns(pl.col("example_id").str.strip_prefix("e"))


@pytest.mark.parametrize("entry_point", DOORS)
@pytest.mark.parametrize(
    ("dropped", "said"),
    [([5, 17], ("another right label", "than in the report")),
     # So near the end that less than a hundredth of the labels differ.
     ([N - 20], "the runs end at 2999 and the report at 2998")],
)  # fmt: skip
def test_runs_of_a_set_before_rows_were_dropped_are_refused(
    given: tuple[Path, pl.DataFrame], tmp_path: Path, entry_point: str, dropped: list[int], said: Fact
) -> None:
    report, runs = numbered(given, tmp_path, dropped)
    with pytest.raises(InputError, match=in_order(said)):
        DOORS[entry_point](runs, discount=str(report))


@pytest.mark.parametrize("entry_point", DOORS)
def test_scores_by_row_number_are_refused_and_by_name_said_to_be(
    given: tuple[Path, pl.DataFrame], tmp_path: Path, entry_point: str
) -> None:
    """Rows of any set of equal length, or in another order, have the same numbers."""
    report, runs = numbered(given, tmp_path)
    scores = runs.select("model", "example_id", score=(pl.col("label") == pl.col("prediction")).cast(pl.Float64))
    assert discounted(DOORS[entry_point](runs, discount=str(report)))
    with pytest.raises(InputError, match=in_order("called by their numbers", "no right labels")):
        DOORS[entry_point](scores, discount=str(report))
    # A single name among the numbers changes nothing.
    mixed = scores.with_columns(pl.col("example_id").replace("7", "seven"))
    with pytest.raises(InputError, match=in_order("called by their numbers", "no right labels")):
        DOORS[entry_point](mixed, discount=str(report))
    named = scores.with_columns(example_id="e" + pl.col("example_id"))
    section = DOORS[entry_point](named, discount=str(given[0])).document["discount"]
    # Before anything that holds only if they are the same rows.
    assert section["sentences"][0].startswith("Only the names of rows tell")
    assert sum("Only the names" in said for said in section["sentences"]) == 1


def test_the_doors_of_runs_take_scores_by_number_with_the_dataset(
    given: tuple[Path, pl.DataFrame], tmp_path: Path
) -> None:
    report, runs = numbered(given, tmp_path)
    own = runs.filter(pl.col("model") == "knower")
    gold = own.select(id="example_id", text="text " + pl.col("example_id"), label="label")
    scores = runs.select("model", "example_id", score=(pl.col("label") == pl.col("prediction")).cast(pl.Float64))
    found = [discounted(entry_point(scores, discount=str(report), test=gold)) for entry_point in DOORS.values()]
    assert found[0] == found[1] == found[2]
    assert found[0] == discounted(goldassay.measure_instability(runs, discount=str(report)))
    with pytest.raises(InputError, match="another right label"):
        goldassay.rank_systems(scores, discount=str(report), test=gold.with_columns(pl.col("label").reverse()))


def test_a_table_without_items_is_not_taken_row_by_row(given: tuple[Path, pl.DataFrame], tmp_path: Path) -> None:
    """Its rows would be counted from 1, those of the report from 0."""
    report, runs = numbered(given, tmp_path)
    right = runs.with_columns(right=(pl.col("label") == pl.col("prediction")).cast(pl.Int64))
    wide = pl.DataFrame({model: own["right"] for (model,), own in right.group_by("model", maintain_order=True)})
    with pytest.raises(InputError, match="called by their numbers"):
        goldassay.rank_systems(wide, discount=str(report))


@pytest.mark.parametrize("entry_point", DOORS)
def test_rows_with_a_mended_label_are_left_out_and_said(
    given: tuple[Path, pl.DataFrame], tmp_path: Path, entry_point: str
) -> None:
    report, runs = numbered(given, tmp_path)
    changed = {str(at) for at in range(0, N, 150)}
    mended = runs.with_columns(
        pl.when(pl.col("example_id").is_in(changed))
        .then(pl.col("label").replace({"a": "b", "b": "c", "c": "a"}))
        .otherwise("label")
        .alias("label")
    )
    found = DOORS[entry_point](mended, discount=str(report))
    section = found.document["discount"]
    assert (section["n_other_label"], section["n_items"]) == (20, N - 20)
    assert any(said.startswith("20 rows have another right label") for said in section["sentences"])
    without = runs.filter(~pl.col("example_id").is_in(changed))
    assert discounted(found) == discounted(DOORS[entry_point](without, discount=str(report)))


def test_labels_that_tell_no_rows_apart_are_no_labels(tmp_path: Path) -> None:
    ids = [str(at) for at in range(400)]
    gold = ["yes"] * 396 + ["no"] * 4
    report = shortcut_report(tmp_path / "report", ids, np.zeros((2, 400)), gold)
    for labels in (gold[::-1], [f"answer {at}" for at in ids]):
        runs = pl.concat(
            pl.DataFrame({"model": model, "example_id": ids, "label": labels, "prediction": labels})
            for model in ("one", "two")
        )
        with pytest.raises(InputError, match="no right labels that tell"):
            goldassay.rank_systems(runs, discount=str(report))


@pytest.fixture(scope="module")
def both_parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pl.DataFrame]:
    """A report on rows of which each part tells by itself, and answers of a follower of either, and of a knower."""
    base = tmp_path_factory.mktemp("parts")
    gold, likely, follower = made(0, n=N)
    rng = np.random.default_rng(5)
    # A second shortcut, which given the label has nothing to do with the first: right in 70 % of the rows.
    other = np.where(rng.random(N) < 0.55, gold, rng.integers(0, 3, N))
    shown = np.log2(3 * np.where(other == gold, 0.7, 0.15))
    ids = [f"e{i}" for i in range(N)]
    report = shortcut_report(base / "report", ids, bits_of(gold, likely) + 0.05 * rng.normal(size=(3, N)))
    file = report / "tables" / "examples.parquet"
    bits = shown + 0.05 * rng.normal(size=(3, N))
    table = pl.read_parquet(file).with_columns(
        pl.Series("reader_bits_premise_only", bits.T.tolist(), dtype=pl.List(pl.Float32))
    )
    document = {"dataset": {"name": "made"}, "inputs": [], "settings": {}, "clusters": {"columns": ["hypothesis"]}}
    Report(frame_findings("Audit of made", document, Steps(quiet=True)).document, {"examples": table}).save(
        base / "both"
    )
    names = np.array(LABELS)
    answers = {"follower": follower, "other": other, "knower": knows(rng, gold, 0.6)}
    return base / "both", pl.concat(
        pl.DataFrame({"model": model, "example_id": ids, "label": names[gold], "prediction": names[own]})
        for model, own in answers.items()
    )


def test_what_another_part_tells_is_named_and_can_be_discounted(
    both_parts: tuple[Path, pl.DataFrame], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, runs = both_parts
    first = read_bits(report).part
    (rest,) = {"premise", "hypothesis"} - {first}
    follows = {"hypothesis": "follower", "premise": "other"}
    for part, left in ((None, rest), (rest, first)):
        own = first if part is None else part
        doors = [
            goldassay.rank_systems(runs, discount=str(report), discount_part=part),
            goldassay.compare_models(runs, discount=str(report), discount_part=part),
            goldassay.measure_instability(runs, discount=str(report), discount_part=part),
        ]
        found = [discounted(each) for each in doors]
        assert found[0] == found[1] == found[2]
        section = doors[0].document["discount"]
        systems = {row["system"]: row for row in section["systems"]}
        assert section["part"] == own
        # What follows the part falls to chance; what follows the other one, or none, keeps its score.
        assert systems[follows[own]]["discounted"] == pytest.approx(1 / 3, abs=0.06)
        for name in (follows[left], "knower"):
            assert systems[name]["discounted_low"] < systems[name]["score"] < systems[name]["discounted_high"]
        (told,) = section["other_parts"]
        assert told["part"] == left
        assert told["bits"] == pytest.approx(float(pl.read_parquet(report / "tables" / "examples.parquet")
                                             [f"reader_bits_{left}_only"].list.mean().mean()), abs=1e-6)  # fmt: skip
        said = f"discount_part='{left}' discounts the {left} instead"
        # The last of three sentences that a page does not fold, since here a remark on names comes first.
        assert all(states(entry_point.document["discount"]["sentences"][2], said) for entry_point in doors)
        assert states(doors[0].save(tmp_path / str(part)).read_text("utf-8").replace("&#39;", "'"), said)
    file = tmp_path / "runs.csv"
    runs.write_csv(file)
    for command in ("board", "compare", "instability"):
        out = ["-o", str(tmp_path / command)]
        assert run([command, str(file), "--discount", str(report), "--discount-part", rest, *out]) == 0
        told = capsys.readouterr().out
        assert f"Readers of the {rest} alone give" in told
        assert f"--discount-part {first} discounts the {first} instead" in told
        assert run([command, str(file), "--discount", str(report), "--discount-part", "premisse", *out]) == 2
        said = ("--discount-part premisse:", "hypothesis, premise")
        assert states(capsys.readouterr().err, said)
        assert run([command, str(file), "--discount-part", "premise", *out]) == 2
        assert "given without a report to discount by" in capsys.readouterr().err


def test_a_part_that_tells_nothing_beyond_noise_is_not_named(given: tuple[Path, pl.DataFrame]) -> None:
    report, runs = given
    section = goldassay.rank_systems(runs, discount=str(report)).document["discount"]
    assert [row["part"] for row in section["other_parts"]] == ["premise"]
    assert not any("premise" in said for said in section["sentences"])


def test_the_interval_of_bits_is_that_of_clusters() -> None:
    """Of pairs of equal rows: the t interval of the means of pairs, and no narrower one."""
    rng = np.random.default_rng(0)
    own = rng.normal(0.1, 1, 400)
    value, low, high = mean_bits(np.repeat(own, 2)[np.newaxis], np.repeat(np.arange(400), 2))
    half = 1.96 * own.std(ddof=1) / 20
    assert value == pytest.approx(own.mean())
    assert (low, high) == pytest.approx((own.mean() - half, own.mean() + half), abs=0.02)
