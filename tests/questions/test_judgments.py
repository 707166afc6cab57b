"""The audit of judgments: which judges it calls what, and what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.core.settings import Settings
from goldassay.data.kinds.judgments import read_judgments
from goldassay.data.table import Table
from goldassay.view.opening import open_workbench
from tests.stated import in_order, stated_by, states

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.report.report import Report


def made(n: int, seed: int, *, seat: float = 0.0, consistent: float = 1.0, judge: str = "j") -> pl.DataFrame:
    """Verdicts in two columns, sides named."""
    rng = np.random.default_rng(seed)
    better = rng.integers(1, 3, n)
    columns: dict[str, Any] = {"item": np.arange(n), "judge": [judge] * n, "human": better}
    for place, name in ((1, "winner_original"), (2, "winner_swapped")):
        follows = rng.random(n)
        merit = np.where(rng.random(n) < consistent, better, rng.integers(1, 3, n))
        seated = place if seat > 0 else 3 - place
        columns[name] = np.where(follows < abs(seat), seated, merit)
    return pl.DataFrame(columns)


def word(report: Report) -> str:
    return str(report.document["verdicts"]["judgments"]["verdict"])


@pytest.mark.parametrize(("seat", "wanted"), [(0.3, "unsound"), (-0.3, "unsound"), (0.07, "caution")])
def test_a_judge_that_follows_a_seat(seat: float, wanted: str) -> None:
    report = goldassay.audit(made(1500, 0, seat=seat, consistent=0.95))
    assert word(report) == wanted
    headline = report.document["verdicts"]["judgments"]["headline"]
    assert headline["label"].startswith("verdicts that change with the order")
    assert states(stated_by(report.verdicts["judgments"]), "he first seat" if seat > 0 else "he second seat", "adds")
    assert report.document["judgments"]["results"][0]["effect"] == pytest.approx(seat, abs=0.05)


def test_a_judge_that_does_not_is_sound() -> None:
    report = goldassay.audit(made(1500, 1, consistent=0.95))
    assert word(report) == "sound"
    assert list(report.document["verdicts"]) == ["judgments"]


def test_the_worst_of_several_judges_counts() -> None:
    both = pl.concat([made(800, 2, judge="fair"), made(800, 3, seat=0.5, judge="unfair")])
    report = goldassay.audit(both)
    assert word(report) == "unsound"
    assert "unfair" in stated_by(report.document["verdicts"]["judgments"])


def test_a_judge_that_only_ties_is_not_sound() -> None:
    tied = made(600, 1).drop("human").with_columns(winner_original=pl.lit("tie"), winner_swapped=pl.lit("tie"))
    found = goldassay.audit(tied).document["verdicts"]["judgments"]
    assert found["verdict"] == "unresolved"
    assert any("ties" in each for each in found["notes"])


@pytest.mark.parametrize("opposite", [True, False])
def test_seats_that_cancel_over_kinds_of_items_are_never_sound(opposite: bool) -> None:
    """Half of the items follow the first seat, the other half the second."""
    parts = [made(1500, seed, seat=0.4 * sign * opposite, consistent=0.98) for seed, sign in ((0, 1), (1, -1))]
    frame = pl.concat([part.with_columns(category=pl.lit(kind)) for part, kind in zip(parts, "xy", strict=True)])
    found = goldassay.audit(frame).document["verdicts"]["judgments"]
    assert found["verdict"] == ("unresolved" if opposite else "sound")
    assert ("over all items such effects may cancel each other" in stated_by(found)) is opposite
    assert (found["next_step"] == "Judge each kind of items by itself.") is opposite


@pytest.mark.parametrize("column", ["topic", "turn", "lang", "n"])
def test_a_seat_that_cancels_over_any_column_of_few_values_is_never_sound(column: str) -> None:
    parts = [made(800, seed, seat=0.4 * sign) for seed, sign in ((0, 1), (1, -1))]
    kinds = (3, 7) if column == "n" else ("x", "y")
    frame = pl.concat([
        part.with_columns(pl.lit(kind).alias(column), item=pl.col("item") + 1000 * at)
        for at, (part, kind) in enumerate(zip(parts, kinds, strict=True))
    ])  # fmt: skip
    found = goldassay.audit(frame, quiet=True).document["verdicts"]["judgments"]
    assert found["verdict"] == "unresolved"
    assert f"({column})" in stated_by(found)


@pytest.mark.parametrize("how", ["texts", "lengths"])
def test_a_seat_that_cancels_over_long_and_short_texts_is_never_sound(how: str) -> None:
    parts = [made(800, seed, seat=0.4 * sign) for seed, sign in ((2, 1), (3, -1))]
    frames = []
    for at, part in enumerate(parts):
        n = 30 if at else 10
        given = {"length_a": pl.lit(n), "length_b": pl.lit(n + 1)} if how == "lengths" else {
            "response_a": pl.format("{} is the number of the first" + " a" * n, "item"),
            "response_b": pl.format("{} is the number of the other" + " b" * n, "item"),
        }  # fmt: skip
        frames.append(part.with_columns(item=pl.col("item") + 1000 * at, **given).with_columns(
            *[] if how == "lengths" else [pl.format("What of {}?", _spelled(part.height, at)).alias("question")]
        ))  # fmt: skip
    found = goldassay.audit(pl.concat(frames), quiet=True).document["verdicts"]["judgments"]
    assert found["verdict"] == "unresolved"
    assert "half of the texts" in stated_by(found)


@pytest.mark.parametrize("named", [True, False])
def test_a_seat_that_cancels_over_which_side_is_longer_is_never_sound(named: bool, tmp_path: Path) -> None:
    """The lengths of both sides together are alike; from CSV, where lengths are text."""
    parts = [made(800, seed, seat=0.4 * sign) for seed, sign in ((2, 1), (3, -1))]
    names = {"model_a": pl.lit("one"), "model_b": pl.lit("other")} if named else {}
    whole = pl.concat(
        part.with_columns(item=pl.col("item") + 1000 * at, length_a=20 + 10 * at, length_b=30 - 10 * at, **names)
        for at, part in enumerate(parts)
    )
    whole.write_csv(tmp_path / "set.csv")
    report = goldassay.audit(tmp_path / "set.csv")
    assert word(report) == "unresolved"
    side = "one" if named else "the first response"
    assert f"In pairs in which {side} is longer the second seat" in stated_by(report.verdicts["judgments"]) or (
        "is longer the first seat" in stated_by(report.verdicts["judgments"])
    )
    figures, text = report.document["judgments"]["results"], goldassay.audit(whole).document["judgments"]["results"]
    assert figures == text


def test_of_a_single_judge_among_its_systems_what_cannot_be_told_is_said() -> None:
    frame = made(600, 1, judge="gpt-4-0613").with_columns(model_a=pl.lit("gpt-4"), model_b=pl.lit("other"))
    said = "No other judge"
    assert said in stated_by(goldassay.audit(frame).verdicts["judgments"])
    both = pl.concat([frame, frame.with_columns(judge=pl.lit("j"))])
    assert said not in stated_by(goldassay.audit(both).verdicts["judgments"])
    alone = frame.with_columns(model_a=pl.lit("one"))
    assert said not in stated_by(goldassay.audit(alone).verdicts["judgments"])


def _spelled(n: int, seed: int) -> pl.Series:
    """A word for each item that is like no other."""
    rng = np.random.default_rng(seed)
    return pl.Series(["".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz"), 30)) for _ in range(n)])


def test_columns_of_what_a_judge_said_are_no_kinds() -> None:
    """Among items with one verdict in the first order the second one falls back to the mean: no seat."""
    frame = made(1500, 11, consistent=0.8)
    said = frame.with_columns(first_call=pl.col("winner_original").cast(pl.String), raw_original="winner_original")
    kinds = read_judgments(Table(said, ""), "set")
    assert kinds is not None
    assert not {"raw_original", "first_call"} & {*kinds.kinds.columns}
    assert word(goldassay.audit(said, quiet=True)) == "sound"


def test_a_judge_that_follows_length_or_itself_is_named_in_the_evidence() -> None:
    rng = np.random.default_rng(13)
    longer = rng.integers(1, 3, 1500)
    texts = {
        side: pl.Series(
            [f"{word_} " * (12 if one else 6) for word_, one in zip(_spelled(1500, at), longer == at + 1, strict=True)]
        )
        for at, side in enumerate(("response_a", "response_b"))
    }
    by_length = np.where(rng.random(1500) < 0.7, longer, rng.integers(1, 3, 1500))
    frame = pl.DataFrame(
        {"item": np.arange(1500), "judge": "j", "winner_original": by_length, "winner_swapped": by_length}
    )
    found = goldassay.audit(frame.with_columns(**texts), quiet=True)
    assert word(found) == "sound"
    model = found.document["judgments"]["models"][0]
    assert f"j prefers longer texts: log odds {model['length']:.2f} (" in stated_by(
        found.document["verdicts"]["judgments"]
    )
    assert "prefers" not in stated_by(goldassay.audit(frame, quiet=True).document["verdicts"]["judgments"])


def test_columns_that_say_nothing_leave_clean_judges_sound() -> None:
    rng = np.random.default_rng(12)
    frame = made(1500, 12, consistent=0.95).with_columns(
        *[pl.Series(name, rng.integers(0, n, 1500)) for name, n in (("one", 2), ("two", 5), ("three", 30))]
    )
    assert word(goldassay.audit(frame, quiet=True)) == "sound"


def test_few_items_show_nothing() -> None:
    assert word(goldassay.audit(made(15, 4))) == "unresolved"


def test_copies_of_items_under_other_ids_count_once() -> None:
    one = made(40, 5, consistent=0.8).with_columns(
        question=pl.format("What of {}?", "item"),
        response_a=pl.format("The first answer to number {} has a number of words", "item"),
        response_b=pl.format("The second one to {} does as well", "item"),
    )
    copies = [one.with_columns(item=pl.format("{}-{}", "item", pl.lit(at)).cast(pl.String)) for at in range(50)]
    # White space, case, and the sides' columns make no other item.
    turned = copies[1].with_columns(response_a="response_b", response_b=pl.col("response_a").str.to_uppercase() + " ")
    report = goldassay.audit(pl.concat([copies[0], turned, *copies[2:]]), quiet=True)
    alone = goldassay.audit(copies[0], quiet=True)
    assert word(report) == word(alone) == "unresolved"
    found, wanted = (each.to_dict()["judgments"]["results"][0] for each in (report, alone))
    assert found["n_items"] == wanted["n_items"] == 40
    assert found["effect"] == pytest.approx(wanted["effect"])
    assert states(str(report.to_dict()["inputs"]), "1,960 items", "two texts", "as that one")
    # Answers of a few words are alike by chance, and other prompts are other items.
    short = one.with_columns(response_a=pl.lit("yes"), response_b=pl.lit("no"))
    words = pl.Series([chr(97 + at // 26) * 4 + chr(97 + at % 26) * 4 for at in range(40)])
    same = one.with_columns(
        question=pl.format("What of {}?", words),
        response_a=pl.lit("of so many words " * 3), response_b=pl.lit("of these words " * 3),
    )  # fmt: skip
    for frame in (short, same):
        found = goldassay.audit(frame, quiet=True).to_dict()["judgments"]["results"][0]
        assert found["n_items"] == 40


def test_near_copies_of_items_count_once() -> None:
    rng, letters = np.random.default_rng(0), list("abcdefghijklmnopqrstuvwxyz")
    one = made(12, 5, consistent=0.8)
    texts = {
        side: pl.Series([" ".join("".join(rng.choice(letters, 6)) for _ in range(20)) for _ in range(12)])
        for side in ("response_a", "response_b")
    }
    copies = [
        one.with_columns(
            item=pl.format("{}-{}", "item", pl.lit(at)).cast(pl.String),
            question=pl.format("Q{} {}", "item", pl.lit(at)),
            response_a=pl.format("{} {}", texts["response_a"], pl.lit(at)),
            response_b=texts["response_b"] + " ok" * (at % 3),
        )
        for at in range(50)
    ]
    report = goldassay.audit(pl.concat(copies), quiet=True)
    assert word(report) == "unresolved"
    assert report.to_dict()["judgments"]["results"][0]["n_items"] == 12


def test_sides_that_are_taken_for_seats_are_never_sound() -> None:
    # Of a judge that follows merit, verdicts on sides look like a judge that always changes its mind.
    wrong = made(1500, 5, consistent=0.98).rename({"winner_original": "decision_1", "winner_swapped": "decision_2"})
    report = goldassay.audit(wrong)
    assert word(report) != "sound"
    assert "they may name sides" in stated_by(report.document["verdicts"]["judgments"])
    said = goldassay.audit(wrong, columns={"winner": "decision_1+decision_2"})
    assert word(said) == "sound"


def test_seats_that_are_taken_for_sides_are_never_sound() -> None:
    wrong = made(1500, 6, seat=0.6)
    swapped = wrong.with_columns(winner_swapped=3 - pl.col("winner_swapped"))
    assert word(goldassay.audit(swapped)) != "sound"


def test_one_order_is_not_measurable() -> None:
    frame = made(500, 7).select("item", "judge", winner="winner_original").with_columns(a=pl.lit("x"), b=pl.lit("y"))
    report = goldassay.audit(frame)
    assert word(report) == "not measurable"
    assert "one order" in stated_by(report.document["verdicts"]["judgments"])


def test_verdicts_that_cannot_be_used_forbid_the_word_sound() -> None:
    frame = made(1500, 8).with_columns(pl.col("winner_swapped").cast(pl.String))
    spoilt = frame.with_columns(
        winner_swapped=pl.when(pl.col("item") % 5 == 0).then(pl.lit("?")).otherwise(pl.col("winner_swapped"))
    )
    report = goldassay.audit(spoilt)
    assert word(report) == "unresolved"
    assert "300 of the 3,000 verdicts cannot be used" in stated_by(report.document["verdicts"]["judgments"])


def test_judgments_with_texts_are_preferences_at_no_door() -> None:
    frame = made(100, 9, seat=0.6)
    texts = {"prompt": pl.format("What of {}?", "item"), "response_a": pl.format("The answer {} of one side", "item"),
             "response_b": pl.format("The other answer to {} which there is", "item")}  # fmt: skip
    orders = [
        frame.select("item", "judge", winner=column, order=pl.lit(order), **texts)
        for column, order in (("winner_original", "original"), ("winner_swapped", "swapped"))
    ]
    both = pl.concat(orders)
    # Without a column that is known for one of orders, the table is refused and never read as preferences.
    unnamed = both.rename({"order": "run"})
    for table in (both, unnamed):
        for ask in (goldassay.measure_leakage, goldassay.suggest_rewrites):
            with pytest.raises(InputError, match=r"judgments of pairs|more than once"):
                ask(table, quiet=True)
    with pytest.raises(InputError, match=r"order.*run"):
        goldassay.audit(unnamed, quiet=True)
    assert word(goldassay.audit(unnamed, columns={"order": "run", "winner": "winner"}, quiet=True)) == "unsound"


def test_columns_that_are_not_read_are_named() -> None:
    frame = made(40, 0).with_columns(
        reasoning=pl.lit("why it is the better one"), remarked=pl.lit("a remark on it all")
    )
    notes = goldassay.audit(frame, quiet=True).document["data_notes"]
    assert len(notes) == 1
    assert states(notes[0], "Not read:", "'reasoning', 'remarked'", "no role")


def test_limits_are_settings() -> None:
    settings = Settings.model_validate({"verdicts": {"judgments": {"caution": 0.3, "unsound": 0.9}}})
    assert word(goldassay.audit(made(800, 9, seat=0.2), settings=settings)) == "sound"


def test_a_report_is_written_with_its_figures_and_tables(tmp_path: Path) -> None:
    report = goldassay.audit(made(300, 10, seat=0.2))
    report.save(tmp_path / "report")
    assert (tmp_path / "report" / "report.html").exists()
    figures = {figure["id"] for figure in report.document["figures"]}
    assert {"judgments.position", "judgments.changed", "judgments.accuracy", "judgments.kappa"} <= figures
    assert "judgments_position" in report.charts


def test_items_are_listed_with_their_verdicts_in_either_order(tmp_path: Path) -> None:
    frame = pl.concat([made(300, 10, seat=0.2), made(300, 11, judge="k", consistent=0.7)])
    report = goldassay.audit(frame)
    found = report.tables["judged_items"]
    wanted = {
        # The winner is named by its side, in both orders.
        (judge, str(item)): (float(one == 1), float(other == 1), one != other)
        for item, judge, one, other in frame.select("item", "judge", "winner_original", "winner_swapped").iter_rows()
    }
    own = {(row["judge"], row["item"]): (row["first"], row["second"], row["changed"]) for row in found.to_dicts()}
    assert own == wanted
    # What the page counts is what the table lists.
    for each in report.document["judgments"]["results"]:
        changed = found.filter(pl.col("judge") == each["judge"])["changed"]
        assert (each["n_both"], each["n_changed"]) == (len(changed), int(changed.sum()))
    folder = report.save(tmp_path / "report").parent
    with pytest.raises(InputError, match=in_order("no texts to look through", "tables/judged_items.csv")):
        open_workbench(folder)


@pytest.mark.parametrize(
    ("name", "value"),
    [("test", None), ("label_names", ["a", "b"]), ("split_by", "item"), ("clusters", "item"), ("runs", "x"),
     ("model", "convnet")],
)  # fmt: skip
def test_options_without_effect_are_refused(name: str, value: Any, tmp_path: Path) -> None:
    frame = made(50, 11)
    if name == "test":
        value = frame
    if name == "runs":
        value = str(tmp_path)
    with pytest.raises(InputError):
        goldassay.audit(frame, **{name: value})


def test_the_headline_of_an_arena_is_of_all_judges() -> None:
    """Fifty-six judges with some ten votes each: the worst of them is chance."""
    rng, n = np.random.default_rng(1), 600
    pairs = np.array([rng.choice(6, 2, replace=False) for _ in range(n)])
    votes = pl.DataFrame(
        {"question_id": np.arange(n), "model_a": [f"m{a}" for a in pairs[:, 0]],
         "model_b": [f"m{b}" for b in pairs[:, 1]], "winner": rng.choice(["model_a", "model_b", "tie"], n),
         "judge": [f"arena_user_{each}" for each in rng.integers(0, 56, n)]}
    )  # fmt: skip
    report = goldassay.audit(votes)
    assert report.document["verdicts"]["judgments"]["headline"]["label"].endswith(", 56 judges")
    (found,) = report.document["judgments"]["results"]
    assert found["high"] - found["low"] < 0.3
    assert found["low"] <= 0 <= found["high"]
    assert report.tables["judged_items"]["judge"].n_unique() == 56
