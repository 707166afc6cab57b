"""Other distributions in an audit: what is refused, who is asked, and what must never be called sound."""

from __future__ import annotations

import io
import json
from contextlib import chdir, redirect_stderr
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import goldassay
from goldassay.cli.main import run
from goldassay.core.errors import InputError
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings, parse_settings
from goldassay.data.dataset import Dataset
from goldassay.questions.evidence import Evidence
from goldassay.questions.instability.question import CHECK as INSTABILITY
from goldassay.questions.instability.result import InstabilityResult
from goldassay.questions.matching import runs_on_test
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.shift.question import CHECK as SHIFT
from goldassay.questions.shift.question import report_generalization
from goldassay.questions.shift.result import GapRow, GeneralizationResult
from goldassay.readers.probes import train_probes
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs
from tests.stated import Fact, in_order, stated_by, states

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

LABELS = ("entailment", "neutral", "contradiction")
TWO = ("entailment", "non-entailment")
SMALL = parse_settings({"leakage": {"seeds": 2}, "artifacts": {"min_count": 10}})


def rows(name: str, n: int, labels: Sequence[str] = LABELS, seed: int = 0) -> list[dict[str, str]]:
    """Pairs whose label stands in the hypothesis; no text is in two sets of other names, or nearly in one twice.

    Few words are in all of them: texts that are half alike would all be held against each other.
    """
    rng = np.random.default_rng(seed)
    golds, words = rng.integers(0, 3, n).tolist(), rng.integers(0, 500, (n, 14)).astype(str).tolist()
    return [
        {
            "id": f"{name}-{i}",
            "premise": f"{name} {i} w{' w'.join(words[i][:9])}.",
            "hypothesis": f"{name} {i} {('waits', 'hopes', 'sleeps')[gold]} w{' w'.join(words[i][9:])}.",
            "label": labels[min(gold, len(labels) - 1)],
        }
        for i, gold in enumerate(golds)
    ]


def answers(
    gold: Sequence[str], right: float | Sequence[float], n_runs: int = 5, labels: Sequence[str] = LABELS, seed: int = 1
) -> NDArray[np.int64]:
    """Codes, (R, N): right with a chance that may differ from label to label, else any other label."""
    rng = np.random.default_rng(seed)
    codes = np.array([labels.index(name) for name in gold])
    chance = np.broadcast_to(right, len(labels))[codes]
    wrong = (codes + rng.integers(1, len(labels), (n_runs, codes.size))) % len(labels)
    return np.where(rng.random((n_runs, codes.size)) < chance, codes, wrong)


def keep(folder: Path, dataset: str, data: Sequence[dict[str, str]], predictions: Any, **more: Any) -> Path:
    """Write runs of a model on a dataset, as a long table: one file a call."""
    names = more.pop("labels", LABELS)
    folder.mkdir(exist_ok=True)
    table = pl.concat(
        pl.DataFrame({
            "model": more.get("model", "m"), "dataset": dataset, "seed": seed,
            "condition": more.get("condition", "paired"), "train_set": "train",
            "example_id": [row["id"] for row in data], "prediction": [names[code] for code in run],
        })
        for seed, run in enumerate(predictions)
    )  # fmt: skip
    table.write_csv(folder / f"{more.get('model', 'm')}-{dataset}-{more.get('condition', '')}.csv")
    return folder


def known(train: Any, test: Any, runs: Sequence[Any] = (), elsewhere: Any = None, **settings: Any) -> Evidence:
    return Evidence(train, test, runs, elsewhere=elsewhere, settings=Settings(**settings), steps=Steps())


def judged(train: Any, test: Any, runs: Sequence[Any], elsewhere: Any) -> tuple[str, GeneralizationResult, str]:
    """The word on shift, what was measured, and the evidence; nothing is trained."""
    evidence = known(train, test, runs, elsewhere)
    assert evidence.unanswered == []
    found = SHIFT.run(evidence)
    assert found.verdict is not None
    assert isinstance(found.result, GeneralizationResult)
    return found.verdict.verdict, found.result, stated_by(found.verdict)


def gap_of(results: GeneralizationResult, test: str) -> GapRow:
    return next(row for row in results.generalization if row.test == test)


def write(path: Path, data: Sequence[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in data), encoding="utf-8")


TRAIN, TEST, FAR = rows("train", 90), rows("test", 60, seed=1), rows("far", 60, seed=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("elsewhere")
    for name, data in {
        "train": TRAIN,
        "test": TEST,
        "far": FAR,
        "copy": [{**row, "id": f"c{i}", "premise": row["premise"].upper()} for i, row in enumerate(TEST)],
        "known": [{**row, "id": f"k{i}"} for i, row in enumerate(TRAIN[:30])],
        "bare": [{key: row[key] for key in ("id", "premise", "hypothesis")} for row in FAR],
        "other": [{**row, "label": {"neutral": "maybe"}.get(row["label"], row["label"])} for row in FAR],
        "graded": [{**row, "label": i / 7} for i, row in enumerate(FAR)],
        "single": [{"id": row["id"], "text": row["premise"], "label": row["label"]} for row in FAR],
    }.items():
        write(place / f"{name}.jsonl", data)
    stray = rows("stray", 20, seed=3)
    keep(place / "stray", "stray", stray, answers([row["label"] for row in stray], 0.8))
    numbered = [{**row, "id": str(i)} for i, row in enumerate(FAR)]
    for name in ("one", "two"):
        write(place / f"{name}.jsonl", [{**row, "premise": f"{name} {row['premise']}"} for row in numbered])
    table = pl.DataFrame({"seed": 0, "example_id": [row["id"] for row in numbered], "prediction": "neutral"})
    table.write_csv(place / "numbered.csv")
    return place


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--elsewhere", "bare.jsonl"], "--elsewhere bare.jsonl: there are no labels"),
        (["--elsewhere", "x=other.jsonl"], ("--elsewhere x=other.jsonl:", "labels", "training data lack")),
        (["--elsewhere", "graded.jsonl"], ("--elsewhere graded.jsonl:", "scores")),
        (["--elsewhere", "single.jsonl"], "--elsewhere single.jsonl: its texts are text"),
        (["--elsewhere", "missing.jsonl"], "--elsewhere missing.jsonl: "),
        (["--elsewhere", "test.jsonl"], ("--elsewhere", "'test'")),
        (["--elsewhere", "x=test.jsonl"], ("every text", "set 'x' of --elsewhere", "test part")),
        (["--elsewhere", "copy.jsonl"], ("every text", "set 'copy' of --elsewhere", "test part")),
        (["--elsewhere", "known.jsonl"], ("every text", "set 'known' of --elsewhere", "training part")),
        (["--elsewhere", "far.jsonl", "--elsewhere", "far=one.jsonl"], "--elsewhere names a set 'far', as another set"),
        (["--elsewhere", "far.jsonl", "--runs", "stray"], "to --runs"),
        (["--runs", "stray"], "to --runs"),
        (["--elsewhere", "one.jsonl", "--elsewhere", "two.jsonl", "--runs", "numbered.csv"], "--runs one=PATH"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_that_names_the_option(folder: Path, arguments: list[str], said: Fact) -> None:
    warned = io.StringIO()
    with chdir(folder), redirect_stderr(warned):
        status = run(["audit", "train.jsonl", "--test", "test.jsonl", *arguments, "-o", "out", "--quiet"])
    assert status == 2
    (line,) = warned.getvalue().splitlines()
    assert states(line, said)
    assert not (folder / "out").exists()


def big(name: str, seed: int, n: int = 2500) -> list[dict[str, str]]:
    return rows(name, n, seed=seed)


HOME, AWAY = big("home", 4), big("away", 5)


def test_a_score_that_holds_is_sound_and_one_that_falls_is_not(tmp_path: Path) -> None:
    home = answers([row["label"] for row in HOME], 0.9, seed=1)
    for level, word in ((0.9, "sound"), (0.86, "caution"), (0.7, "unsound")):
        place = keep(tmp_path / word, "home", HOME, home)
        keep(place, "away", AWAY, answers([row["label"] for row in AWAY], level, seed=2))
        found, results, _ = judged(TRAIN, frame(HOME, "home"), [place], {"away": AWAY})
        assert found == word
        assert gap_of(results, "away").gap == pytest.approx(0.9 - level, abs=0.01)


def frame(data: Sequence[dict[str, str]], name: str) -> Dataset:
    return Dataset.from_frame(list(data), name=name)


@pytest.mark.parametrize("kind", ["random", "constant"])
def test_a_model_that_knows_nothing_is_never_sound(tmp_path: Path, kind: str) -> None:
    for name, data, seed in (("home", HOME, 1), ("away", AWAY, 2)):
        made = answers([row["label"] for row in data], 1 / 3, seed=seed)
        keep(tmp_path / "runs", name, data, made if kind == "random" else np.zeros_like(made) + (made[:, :1] % 3))
    word, _, evidence = judged(TRAIN, frame(HOME, "home"), [tmp_path / "runs"], {"away": AWAY})
    assert word == "unresolved"
    assert "The model may know nothing" in evidence


def in_two(data: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    return [{**row, "label": TWO[row["label"] != "entailment"]} for row in data]


def balanced(data: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """As many of both labels."""
    sides = [[row for row in data if row["label"] == name] for name in TWO]
    n = min(map(len, sides))
    return [*sides[0][:n], *sides[1][:n]]


def test_coarser_labels_hide_no_loss(tmp_path: Path) -> None:
    """At home entailment is told without error, and neutral from contradiction by chance: .67 of three labels.

    Elsewhere .85 of two labels is more, and more above the floor too (.35 after .33), yet of what the model knew about
    entailment a third is lost.
    """
    home = answers([row["label"] for row in HOME], (1, 0.5, 0.5), seed=1)
    mixed = np.where((home == 0) & (np.array([row["label"] for row in HOME]) != "entailment"), 1, home)
    away = balanced(in_two(AWAY))
    told = answers([row["label"] for row in away], 0.85, labels=TWO, seed=2)
    place = keep(tmp_path / "runs", "home", HOME, mixed)
    # What it names elsewhere are its own three labels.
    keep(place, "away", away, np.where(told == 1, 1 + np.arange(told.shape[1]) % 2, 0))
    word, results, _ = judged(TRAIN, frame(HOME, "home"), [place], {"away": away})
    assert word == "unsound"
    row = gap_of(results, "away")
    gold = np.array([row["label"] for row in HOME])
    at_home = ((mixed == 0) == (gold == "entailment")).mean()
    assert row.gap == pytest.approx(at_home - (told == [row["label"] != "entailment" for row in away]).mean())
    assert "entailment or not" in row.model
    assert any("away has two labels" in note for note in results.notes)


def test_runs_with_labels_of_two_kinds_are_counted_by_the_sets_own(tmp_path: Path) -> None:
    """Right labels in the runs may be the three that the set's two stand for; those that contradict it are refused."""
    away = in_two(AWAY)
    told = answers([row["label"] for row in AWAY], 0.9, seed=2)
    place = keep(tmp_path / "runs", "home", HOME, answers([row["label"] for row in HOME], 0.9, seed=1))
    table = pl.read_csv(keep(tmp_path / "aside", "away", away, told) / "m-away-.csv")
    gold = pl.DataFrame({"example_id": [row["id"] for row in AWAY], "label": [row["label"] for row in AWAY]})
    table.join(gold, on="example_id", maintain_order="left").write_csv(place / "m-away.csv")
    _, results, _ = judged(TRAIN, frame(HOME, "home"), [place], {"away": away})
    right = (told == 0) == np.array([row["label"] == "entailment" for row in away])
    assert gap_of(results, "away").value == pytest.approx(right.mean())
    turned = gold.with_columns(pl.col("label").replace({"entailment": "neutral", "neutral": "entailment"}))
    table.join(turned, on="example_id", maintain_order="left").write_csv(place / "m-away.csv")
    with pytest.raises(InputError, match=in_order("labels of m on away", "those of away")):
        known(TRAIN, frame(HOME, "home"), [place], {"away": away}).load()


def test_right_labels_count_in_any_spelling_as_predictions_do(tmp_path: Path) -> None:
    """The dataset's own file may write NEUTRAL, and its runs so; other labels in that spelling are still refused."""
    told = answers([row["label"] for row in HOME], 0.9, seed=1)
    plain = keep(tmp_path / "plain", "home", HOME, told)
    file = plain / "m-home-.csv"
    (tmp_path / "loud").mkdir()
    gold = pl.DataFrame({"example_id": [row["id"] for row in HOME], "label": [row["label"] for row in HOME]})
    loud = pl.read_csv(file).join(gold, on="example_id", maintain_order="left")
    loud = loud.with_columns(pl.col("label", "prediction").str.to_uppercase())
    loud.write_csv(tmp_path / "loud" / "m-home-.csv")
    read = [
        known(TRAIN, frame(HOME, "home"), [tmp_path / name]).answered.sets["home"][0].load()
        for name in ("plain", "loud")
    ]
    assert read[0].label_names == read[1].label_names == LABELS
    assert (read[0].scores == read[1].scores).all()
    loud.with_columns(pl.col("label").replace({"NEUTRAL": "ENTAILMENT"})).write_csv(tmp_path / "loud" / "m-home-.csv")
    with pytest.raises(InputError, match=r"the labels of m on home differ from those of home"):
        known(TRAIN, frame(HOME, "home"), [tmp_path / "loud"]).load()


@pytest.mark.slow
def test_labels_in_another_order_change_nothing(tmp_path: Path) -> None:
    """Labels count by name, in whatever order data, runs and logits have them."""
    home, away = (answers([row["label"] for row in data], 0.9, seed=seed) for seed, data in ((1, HOME), (2, AWAY)))
    words = []
    for place, names in (("same", LABELS), ("turned", ("contradiction", "entailment", "neutral"))):
        for name, data, codes in (("home", HOME, home), ("away", AWAY, away)):
            order = np.array([names.index(label) for label in LABELS]) if name == "away" else np.arange(3)
            shown = names if name == "away" else LABELS
            logits = np.eye(3)[order[codes]] * 4
            gold = np.array([shown.index(row["label"]) for row in data])
            made = Runs.from_arrays(
                gold=gold, logits=logits, label_names=shown, seeds=range(5), model="m", dataset=name,
                example_ids=[row["id"] for row in data],
            )  # fmt: skip
            write_runs(made, tmp_path / place)
        sets = {"away": AWAY if place == "same" else sorted(AWAY, key=lambda row: row["label"])}
        words.append(judged(TRAIN, frame(HOME, "home"), [tmp_path / place], sets))
    assert words[0][0] == words[1][0] == "sound"
    one, other = (gap_of(results, "away") for _, results, _ in words)
    assert (one.value, one.gap) == (other.value, other.gap)


def test_known_texts_are_left_out_and_many_of_them_forbid_the_word_sound(tmp_path: Path) -> None:
    """The set's texts of the training part are answered without error, the others as at home."""
    for share, word in ((0.1, "sound"), (0.3, "unresolved")):
        n = int(share * len(AWAY))
        train = [*TRAIN, *({**row, "id": f"t{i}"} for i, row in enumerate(AWAY[:n]))]
        right = answers([row["label"] for row in AWAY], 0.9, seed=2)
        right[:, :n] = [LABELS.index(row["label"]) for row in AWAY[:n]]
        place = keep(tmp_path / word, "home", HOME, answers([row["label"] for row in HOME], 0.9, seed=1))
        keep(place, "away", AWAY, right)
        found, results, evidence = judged(train, frame(HOME, "home"), [place], {"away": AWAY})
        assert found == word
        assert gap_of(results, "away").n_known == n
        assert gap_of(results, "away").n == len(AWAY) - n
        assert ("a fifth of the texts of away" in evidence) is (share > 0.2)


def test_a_set_with_one_label_is_never_sound(tmp_path: Path) -> None:
    away = [row for row in AWAY if row["label"] == "entailment"]
    place = keep(tmp_path / "runs", "home", HOME, answers([row["label"] for row in HOME], 0.9, seed=1))
    keep(place, "away", away, np.zeros((5, len(away)), dtype=np.int64))
    word, _, evidence = judged(TRAIN, frame(HOME, "home"), [place], {"away": away})
    assert word == "unresolved"
    assert "All labels of away are the same" in evidence


def test_models_of_a_part_of_the_input_answer_no_set(tmp_path: Path) -> None:
    place = keep(tmp_path / "runs", "home", HOME, answers([row["label"] for row in HOME], 0.9))
    keep(place, "away", AWAY, answers([row["label"] for row in AWAY], 0.9), condition="hypothesis_only")
    evidence = known(TRAIN, frame(HOME, "home"), [place], {"away": AWAY})
    assert [each.name for each in evidence.unanswered] == ["away"]


def test_each_set_is_judged_by_the_runs_that_answer_it(tmp_path: Path) -> None:
    """Runs of several datasets in one folder; those on other examples are left out by name."""
    place = keep(tmp_path / "runs", "home", HOME, answers([row["label"] for row in HOME], 0.9, seed=1))
    keep(place, "far", AWAY, answers([row["label"] for row in AWAY], 0.9, seed=2))
    keep(place, "stray", FAR, answers([row["label"] for row in FAR], 0.9, seed=3))
    evidence = known(TRAIN, frame(HOME, "dev"), [place], {"away": AWAY})
    assert [each.dataset for each in evidence.run_sets] == ["home"]
    found = SHIFT.run(evidence)
    assert isinstance(found.result, GeneralizationResult)
    assert [(row.model, row.test) for row in found.result.generalization] == [("m", "dev"), ("m", "away")]
    assert states(found.result.notes, "runs of m on stray", "left out", "60 of their 60 examples", "dev, away")
    measured = INSTABILITY.run(evidence).result
    assert isinstance(measured, InstabilityResult)
    (spread,) = measured.results
    assert (spread.dataset, spread.n_examples) == ("home", len(HOME))


def test_runs_by_row_numbers_answer_the_set_that_they_are_called_after(tmp_path: Path) -> None:
    home, away = ([{**row, "id": str(i)} for i, row in enumerate(data)] for data in (HOME, AWAY))
    place = keep(tmp_path / "runs", "home", home, answers([row["label"] for row in home], 0.9, seed=1))
    keep(place, "away", away, answers([row["label"] for row in away], 0.7, seed=2))
    word, results, _ = judged(TRAIN, frame(home, "home"), [place], {"away": away})
    assert word == "unsound"
    assert gap_of(results, "away").value == pytest.approx(0.7, abs=0.01)
    # Of no known name, labels or sizes tell, or else nothing does.
    one = keep(tmp_path / "one", "dev", home, answers([row["label"] for row in home], 0.9, seed=1))
    with pytest.raises(InputError, match="it is not known which of these was predicted"):
        known(TRAIN, frame(home, "home"), [one], {"away": away}).load()
    shorter = away[:-1]
    keep(tmp_path / "two", "dev", shorter, answers([row["label"] for row in shorter], 0.9, seed=1))
    evidence = known(TRAIN, frame(home, "home"), [tmp_path / "two"], {"away": shorter})
    assert list(evidence.answered.sets) == ["away"]


@pytest.mark.parametrize("of", ["home", "away"])
@pytest.mark.parametrize("written", [str, str.upper])
def test_runs_by_row_numbers_answer_the_set_whose_labels_they_bring(tmp_path: Path, of: str, written: Any) -> None:
    home, away = ([{**row, "id": str(i)} for i, row in enumerate(data)] for data in (TEST, FAR))
    data = {"home": home, "away": away}[of]
    assert [row["label"] for row in home] != [row["label"] for row in away]
    gold = [row["label"] for row in data]
    pl.concat(
        pl.DataFrame({
            "model": "m", "dataset": "dev", "seed": seed, "example_id": [row["id"] for row in data],
            "label": [written(label) for label in gold], "prediction": [LABELS[code] for code in run],
        })
        for seed, run in enumerate(answers(gold, 0.9, n_runs=2))
    ).write_csv(tmp_path / "runs.csv")  # fmt: skip
    evidence = known(TRAIN, frame(home, "home"), [tmp_path / "runs.csv"], {"away": away})
    assert {name: len(sets) for name, sets in evidence.answered.sets.items()} == {of: 1}
    # Where both sets have these labels, nothing tells them apart.
    one, two = (
        [{**row, "label": label, "premise": f"{name} {row['premise']}"} for row, label in zip(home, gold, strict=True)]
        for name in ("one", "two")
    )
    with pytest.raises(InputError, match="are in one and in two, and it is not known"):
        known(TRAIN, frame(one, "one"), [tmp_path / "runs.csv"], {"two": two}).load()


def test_labels_that_only_their_spelling_tells_apart_are_not_taken_for_each_other(tmp_path: Path) -> None:
    names = ("US", "us", "other")
    train, test = ([{**row, "label": names[i % 3]} for i, row in enumerate(data)] for data in (TRAIN, TEST))
    gold = [row["label"] for row in test]
    table = pl.DataFrame({"example_id": [row["id"] for row in test], "label": gold, "prediction": gold})
    table.write_csv(tmp_path / "runs.csv")
    assert list(known(train, frame(test, "home"), [tmp_path / "runs.csv"]).answered.sets) == ["home"]
    table.with_columns(pl.col("label").replace("us", "Us")).write_csv(tmp_path / "runs.csv")
    # A third of 60 rows: "Us" may be either of the two.
    with pytest.raises(InputError, match="differ from those of home in 20 of 60 examples"):
        known(train, frame(test, "home"), [tmp_path / "runs.csv"]).load()


def test_graded_scores_of_labels_are_refused(tmp_path: Path) -> None:
    for name, data in (("home", HOME), ("away", AWAY)):
        made = Runs.from_arrays(
            scores=np.full((5, len(data)), 0.6), model="m", dataset=name, example_ids=[row["id"] for row in data]
        )
        write_runs(made, tmp_path / "runs")
    evidence = known(TRAIN, frame(HOME, "home"), [tmp_path / "runs"], {"away": AWAY})
    with pytest.raises(InputError, match="graded scores"):
        SHIFT.run(evidence)


def test_scores_alone_are_held_against_the_labels_of_the_data(tmp_path: Path) -> None:
    for name, data, seed in (("home", HOME, 1), ("away", AWAY, 2)):
        gold = [row["label"] for row in data]
        right = answers(gold, 0.9, seed=seed) == [LABELS.index(label) for label in gold]
        made = Runs.from_arrays(
            scores=right, model="m", dataset=name, seeds=range(5), example_ids=[row["id"] for row in data]
        )
        write_runs(made, tmp_path / "runs")
    word, results, _ = judged(TRAIN, frame(HOME, "home"), [tmp_path / "runs"], {"away": AWAY})
    assert word == "sound"
    assert gap_of(results, "home").floor == pytest.approx(1 / 3, abs=0.02)


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[goldassay.Report, Path]:
    """An audit without runs, with a set of three labels and one of two."""
    place = tmp_path_factory.mktemp("quick")
    for name, data in {"test": TEST, "far": FAR, "two": in_two(rows("two", 60, seed=6))}.items():
        write(place / f"{name}.jsonl", data)
    sets = [frame(FAR, "far"), f"two={place / 'two.jsonl'}"]
    return goldassay.audit(TRAIN, str(place / "test.jsonl"), elsewhere=sets, out=place, settings=SMALL), place


def test_without_runs_quick_probes_answer_and_the_command_agrees(quick: tuple[goldassay.Report, Path]) -> None:
    """The runs that an audit kept give the same figures in `shift generalization`."""
    report, place = quick
    gold = {name: str(place / f"{name}.jsonl") for name in ("test", "far", "two")}
    again = report_generalization(
        [str(place / "runs")],
        in_distribution={"": "test"},
        choice=RunChoice(gold=gold),
        trained_on=frame(TRAIN, "train"),
        settings=SMALL,
    )
    one, other = (
        {(row["id"], *sorted(row["of"].items())): (row["value"], row["low"], row["high"], row["n"])
         for row in each.to_dict()["figures"] if row["question"] == "shift"}
        for each in (report, again)
    )  # fmt: skip
    assert one == other
    models = {dict(key[1:])["model"] for key in one}
    assert models == {"quick_probe", "quick_probe (entailment or not)"}
    for key in ("verdict", "evidence", "headline", "rule"):
        assert report.verdicts["shift"][key] == again.verdicts["shift"][key]
    scores = {
        row["of"]["condition"]: row["value"] for row in report.to_dict()["figures"] if row["id"] == "leakage.accuracy"
    }
    own = next(value[0] for key, value in one.items() if key[0] == "shift.score" and ("test", "test") in key)
    assert own == pytest.approx(scores["paired"])


def test_a_question_that_was_not_asked_is_one_line(quick: tuple[goldassay.Report, Path]) -> None:
    report, _ = quick
    document = report.to_dict()
    line = "Not asked: instability. Add --runs."
    assert document["verdicts"]["instability"]["verdict"] == "not asked"
    assert "instability" not in document
    assert all(row["question"] != "instability" for row in document["figures"])
    assert [card.key for card in report.cards] == ["artifacts", "leakage", "shift", "overlap"]
    assert "instability" not in {section.key for section in report.sections}
    assert not [name for name in (*report.charts, *report.tables) if "instability" in name]
    for text in (report.summary(), report.to_markdown(), report._repr_html_()):
        assert text.count("nstability") == 1
        assert line in text
    assert report.to_html().count(line) == 1
    assert 'id="instability' not in report.to_html()


def test_quick_probes_predict_the_same_whatever_else_they_are_shown() -> None:
    """Sets of other distributions change nothing in leakage."""
    test, far = frame(TEST, "test"), frame(in_two(FAR), "far")
    train = frame(TRAIN, "train")
    alone = [run.logits for run in train_probes(train, test, seeds=[0])]
    beside = list(train_probes(train, test, seeds=[0], extra_tests=[far]))
    assert all(np.array_equal(one, run.logits) for one, run in zip(alone, beside[::2], strict=True))
    assert all((run.dataset, run.label_names, run.logits) == ("far", TWO, None) for run in beside[1::2])


def test_runs_of_a_part_of_the_input_are_readers_in_leakage(tmp_path: Path) -> None:
    """Labels in another order, and an answer that is no label, among them."""
    gold = [row["label"] for row in TEST]
    place = keep(tmp_path / "runs", "test", TEST, answers(gold, 0.95), condition="hypothesis_only")
    keep(place, "test", TEST, answers(gold, 0.95), condition="premise_only", model="turned", labels=LABELS)
    report = goldassay.audit(TRAIN, frame(TEST, "test"), runs=place, settings=SMALL)
    effects = report.to_dict()["leakage"]["effects"]["effects"]
    skill = {(row["part"], row["reader"]): row for row in effects if row["measure"] == "accuracy skill"}
    assert skill["hypothesis", "model m"]["value"] == pytest.approx(0.925, abs=0.05)
    assert skill["premise", "model turned"]["value"] == pytest.approx(0.925, abs=0.05)
    assert report.verdicts["leakage"]["verdict"] == "unsound"
    assert report.verdicts["instability"]["verdict"] == "not measurable"


def test_a_chosen_part_of_a_set_is_no_answer_to_it(tmp_path: Path) -> None:
    """Of the examples that it gets right alone, any model would be sound."""
    place = keep(tmp_path / "runs", "home", HOME, answers([row["label"] for row in HOME], 0.9, seed=1))
    away = AWAY[: len(AWAY) // 2]
    keep(place, "away", away, answers([row["label"] for row in away], 1.0, seed=2))
    evidence = known(TRAIN, frame(HOME, "home"), [place], {"away": AWAY})
    assert [each.name for each in evidence.unanswered] == ["away"]


def test_runs_may_answer_rows_that_were_dropped_for_want_of_a_label(tmp_path: Path) -> None:
    home = [{**row, "label": "-"} if i < 50 else row for i, row in enumerate(HOME)]
    codes = answers([row["label"] for row in HOME], 0.9, seed=1)
    place = keep(tmp_path / "runs", "home", home, codes)
    keep(place, "away", AWAY, answers([row["label"] for row in AWAY], 0.9, seed=2))
    word, results, _ = judged(TRAIN, frame(home, "home"), [place], {"away": AWAY})
    assert word == "sound"
    own = gap_of(results, "home")
    gold = np.array([LABELS.index(row["label"]) for row in HOME])
    assert (own.n, own.value) == (len(HOME) - 50, pytest.approx((codes == gold)[:, 50:].mean()))
    assert states(results.notes, "50 of the 2,500 examples", "m on home", "dropped", "left out")


def test_right_labels_that_runs_bring_are_held_against_the_rows_that_were_kept(tmp_path: Path) -> None:
    """The first five of sixty rows have no label; runs bring one for each row, and one run has the last ten wrong."""
    gold = [row["label"] for row in TEST]
    right = np.array([LABELS.index(label) for label in gold])
    wrong = np.where(np.arange(60) < 50, right, (right + 1) % 3)
    pl.concat(
        pl.DataFrame({
            "model": "m", "dataset": "home", "seed": seed, "example_id": [row["id"] for row in TEST], "label": gold,
            "prediction": [LABELS[code] for code in run],
        })
        for seed, run in enumerate((right, wrong))
    ).write_csv(tmp_path / "runs.csv")  # fmt: skip
    home = [{**row, "label": "-"} if i < 5 else row for i, row in enumerate(TEST)]
    evidence = known(TRAIN, frame(home, "home"), [tmp_path / "runs.csv"])
    (runs,) = runs_on_test(evidence.test, evidence.run_sets)
    assert runs.scores.mean(axis=1).tolist() == pytest.approx([1, 45 / 55])


def test_rows_that_folds_answer_are_no_known_texts() -> None:
    near, far = rows("near", 200), rows("far", 80, seed=5)
    found = goldassay.audit(near, elsewhere={"far": far}, settings=Settings(leakage={"seeds": 2})).to_dict()["shift"]
    (own,) = [row for row in found["generalization"] if row["own"]]
    assert (own["n"], own["n_known"], own["known_share"]) == (200, 0, 0)
