"""`goldassay audit`, once as a process, on each kind of data, on runs and on boards; several paths are one input."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import goldassay
from goldassay.core.errors import InputError
from tests.cli.run_files import goldassay as here
from tests.cli.test_look import ROWS, write
from tests.end_to_end.conftest import COMMAND

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.end_to_end.conftest import Outcome

__all__ = ["here"]

N = 60


def answers(models: str = "mn", seeds: int = 2, ways: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """What models answer: the later a model, the more of its answers are wrong."""
    return [
        {"example_id": at, "model": model, "seed": seed, "label": "ab"[at % 2], "dataset": "exam",
         "prediction": "ab"[(at + ((at + seed) % (5 - 2 * models.index(model)) == 0)) % 2],
         **({"config_prompt": way} if way else {})}
        for way in (ways or ("",)) for model in models for seed in range(seeds) for at in range(N)
    ]  # fmt: skip


def test_runs_of_several_models_are_one_page(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.jsonl", answers())
    command = [str(COMMAND), "audit", str(path), "-o", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "out" / "report.json").read_text())
    assert document["command"] == "audit"
    assert document["questions"] == ["answered", "instability", "comparison", "board"]
    assert set(document["verdicts"]) == {"answered", "instability", "comparison"}
    asked = {figure["question"] for figure in document["figures"]}
    assert {"instability", "comparison", "board"} <= asked
    page = (tmp_path / "out" / "report.html").read_text()
    assert all(f">{title}<" in page for title in ("Answers", "Instability", "Comparison", "Board"))


def test_figures_are_those_of_the_single_commands(tmp_path: Path) -> None:
    path = str(write(tmp_path / "runs.jsonl", answers()))
    whole = goldassay.audit(path)
    alone = [
        each(path)
        for each in (
            *(goldassay.measure_answered, goldassay.measure_instability),
            *(goldassay.compare_models, goldassay.rank_systems),
        )
    ]
    for report, question in zip(alone, ("answered", "instability", "comparison", "board"), strict=True):
        own = [each for each in report.document["figures"] if each["question"] == question]
        assert own
        assert [each for each in whole.document["figures"] if each["question"] == question] == own
        if question in report.verdicts:
            assert whole.verdicts[question]["verdict"] == report.verdicts[question]["verdict"]


def test_runs_in_several_configurations_are_asked_how_far_these_move_them(tmp_path: Path) -> None:
    report = goldassay.audit(write(tmp_path / "runs.jsonl", answers("m", 2, ("plain", "polite"))))
    assert "sensitivity" in report.document["questions"]
    alone = goldassay.measure_sensitivity(str(tmp_path / "runs.jsonl"))
    assert report.document["sensitivity"]["results"] == alone.document["sensitivity"]["results"]


def test_one_model_is_asked_for_its_spread_alone(tmp_path: Path) -> None:
    report = goldassay.audit(write(tmp_path / "runs.jsonl", answers("m", 3)))
    assert report.document["questions"] == ["answered", "instability"]


def test_several_logs_are_one_input(tmp_path: Path) -> None:
    rows = answers("mn", 2)
    paths = [write(tmp_path / f"{name}.jsonl", [row for row in rows if row["model"] == name]) for name in "mn"]
    report = goldassay.audit([str(path) for path in paths])
    assert report.document["questions"] == ["answered", "instability", "comparison", "board"]
    whole = goldassay.audit(write(tmp_path / "all.jsonl", rows))
    assert report.document["board"]["systems"] == whole.document["board"]["systems"]


def test_a_board_is_ranked(tmp_path: Path) -> None:
    path = write(tmp_path / "board.jsonl", ROWS["board"])
    report = goldassay.audit(path)
    assert report.document["questions"] == ["answered", "board"]
    assert report.document["board"]["systems"] == goldassay.rank_systems(path).document["board"]["systems"]


def test_grades_need_their_scale(here: Callable[..., Outcome], tmp_path: Path) -> None:
    path = write(tmp_path / "grades.jsonl", ROWS["grades"])
    done = here("audit", str(path), "-o", str(tmp_path / "out"))
    assert done.status == 2
    assert "--grades 1:5" in done.err
    assert goldassay.audit(path, grades="1:5").document["questions"] == ["answered", "board"]


def test_extractive_answers_are_refused_with_what_can_be_asked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="an audit asks nothing of extractive answers"):
        goldassay.audit(write(tmp_path / "squad.jsonl", ROWS["extractive answers"]))


@pytest.mark.parametrize("kind", ["runs", "board", "judgments"])
def test_what_is_of_no_use_is_refused(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path / "rows.jsonl", ROWS[kind])
    for given in ({"elsewhere": str(path)}, {"corpus": str(path)}, {"model": "bert"}):
        with pytest.raises(InputError, match=f"{next(iter(given))}: an audit of {kind} does not use it"):
            goldassay.audit(path, **given)  # type: ignore[arg-type]


def test_two_data_files_of_like_columns_are_advised_a_test_part(here: Callable[..., Outcome], tmp_path: Path) -> None:
    one, other = (write(tmp_path / name, ROWS["labelled texts"]) for name in ("test.jsonl", "train.jsonl"))
    done = here("audit", str(one), str(other))
    assert done.status == 2
    assert f"write goldassay audit {other} --test {one}" in done.err


def test_data_and_runs_are_advised_one_command(here: Callable[..., Outcome], tmp_path: Path) -> None:
    data, runs = write(tmp_path / "a b.jsonl", ROWS["labelled texts"]), write(tmp_path / "r.jsonl", ROWS["runs"])
    done = here("audit", str(runs), str(data))
    assert done.status == 2
    assert done.err.count("\n") == 1
    assert f"write goldassay audit '{data}' --runs {runs}" in done.err


def test_a_folder_of_unlike_files_is_refused_with_their_columns(here: Callable[..., Outcome], tmp_path: Path) -> None:
    data = write(tmp_path / "a b.jsonl", [{"text": f"a text {at}", "label": "ab"[at % 2]} for at in range(N)])
    write(tmp_path / "preds.jsonl", [{"id": at, "prediction": "a", "label": "a"} for at in range(N)])
    (tmp_path / "torn.jsonl").write_text('{"text": ')
    done = here("audit", str(tmp_path))
    assert done.status == 2
    assert done.err.count("\n") == 1
    for said in ("a b.jsonl has 'text', 'label';", "preds.jsonl has 'id', 'prediction', 'label';", f"as '{data}',"):
        assert said in done.err
    assert "torn.jsonl cannot be read" in done.err


def test_other_kinds_together_are_one_line(tmp_path: Path) -> None:
    paths = [str(write(tmp_path / f"{at}.jsonl", ROWS[kind])) for at, kind in enumerate(("choices", "preferences"))]
    with pytest.raises(InputError, match=r"holds choices, .* holds preferences; audit"):
        goldassay.audit(paths)


def test_files_of_one_dataset_are_one_input(tmp_path: Path) -> None:
    rows = [{"id": at % 40, "text": f"a text of number {at}", "label": "ab"[at % 2]} for at in range(120)]
    paths = [str(write(tmp_path / f"part{at}.jsonl", rows[40 * at : 40 * at + 40])) for at in range(3)]
    report = goldassay.audit(paths)
    assert sum(report.document["facts"][f"n_{part}"] or 0 for part in ("train", "test")) == 120
    write(tmp_path / "part1.jsonl", [*rows[40:79], {"id": 39, "text": "t", "label": None}])
    (tmp_path / "part2.jsonl").write_text(
        (tmp_path / "part2.jsonl").read_text() + '{"id": null, "text": "x", "label": "a"}\n'
    )
    with pytest.raises(InputError, match=r"part2\.jsonl, line 41, column 'id': "):
        goldassay.audit(paths)
    write(tmp_path / "part1.jsonl", [{"id": at, "text": "x", "more": 1, "label": "ab"[at % 2]} for at in range(9)])
    with pytest.raises(InputError, match=r"the files differ in their columns \('more'\)"):
        goldassay.audit(paths)


def test_judgments_of_two_files_are_one_input(tmp_path: Path) -> None:
    rows = ROWS["judgments"]
    paths = [str(write(tmp_path / f"{at}.jsonl", rows[20 * at : 20 * at + 20])) for at in range(2)]
    report = goldassay.audit(paths)
    assert report.document["judgments"]["n_judgments"] == len(rows)
    assert isinstance(report.tables["judges"], pl.DataFrame)


def test_codes_that_may_mean_two_things_are_decided_by_a_map(here: Callable[..., Outcome], tmp_path: Path) -> None:
    """0, 1, 2 as first, second, tie: refused with both readings; each reading turns the winners round."""
    rows = [
        {"prompt": f"Ask {at}", "response 1": "word " * (9, 2)[at % 2 == 0],
         "response 2": "word " * (2, 9)[at % 2 == 0], "label": 2 if at % 6 == 5 else int(at % 2 == 0)}
        for at in range(240)
    ]  # fmt: skip
    path = write(tmp_path / "pairs.jsonl", rows)
    refused = here("audit", str(path), "-q", "-o", str(tmp_path / "out"))
    assert refused.status == 2
    mends = [f"label={names}" for names in ("0:first,1:second,2:tie", "0:tie,1:first,2:second")]
    assert all(f"--map {mend}" in refused.err for mend in mends)
    found = []
    for n, mend in enumerate(mends):
        done = here("audit", str(path), "-q", "-o", str(tmp_path / str(n)), "--map", mend)
        assert done.status == 0, done.err
        document = json.loads((tmp_path / str(n) / "report.json").read_text())
        found.append(("longer" in json.dumps(document["verdicts"]["leakage"]), document["dataset"]["n_test"]))
    assert found[0] == (True, 200)
    assert not found[1][0]
    unknown = here("audit", str(path), "--map", "label=7:first")
    assert unknown.status == 2
    assert "'0', '1', '2'" in unknown.err


def test_a_pattern_is_its_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        rows = [{"text": f"{name} says word{at}", "label": "xy"[at % 2]} for at in range(30)]
        write(tmp_path / f"{name}.jsonl", rows)
    found = goldassay.look(str(tmp_path / "*.jsonl"))
    assert (found.n_rows, len(found.paths)) == (60, 2)
    with pytest.raises(InputError, match="matches nothing"):
        goldassay.audit(str(tmp_path / "*.csv"))


@pytest.mark.filterwarnings("error::UserWarning")
def test_few_items_without_a_frequent_pattern_warn_of_nothing(here: Callable[..., Outcome], tmp_path: Path) -> None:
    rows = [{"question": f"q{i}", "choices": [f"a{i}", f"b{i}"], "answer": i % 2} for i in range(40)]
    done = here("audit", str(write(tmp_path / "few.jsonl", rows)), "-o", str(tmp_path / "out"), "-q")
    assert (done.status, done.err) == (0, "")
