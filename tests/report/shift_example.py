"""A report on shift, measured on made-up runs of two models, with names that mean mischief."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.questions.shift.detection import report_detection
from goldassay.questions.shift.question import report_generalization
from tests.cli.shift.toys import answers, texts

if TYPE_CHECKING:
    from pathlib import Path

    from goldassay.report.report import Report

HOSTILE = "<script>alert(1)</script>&\"'"


def shift_reports(folder: Path) -> tuple[Report, Report]:
    """What generalization and detection find on two models, one of them with a hostile name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, accuracy, sureness in (("own", 0.9, 3.0), ("a-rather-long-name-of-another-set", 0.6, 1.0)):
        for number, model in enumerate((HOSTILE, "plain")):
            frame = answers(name, 60, accuracy, sureness, model=model)
            frame.write_parquet(folder / f"{name}{number}.parquet")
        texts(folder / f"{name}.jsonl", frame, f"a tale of {name} <b>bold</b>")
    paths = sorted(str(path) for path in folder.glob("*.parquet"))
    from goldassay.questions.run_choice import RunChoice

    gold = {name: str(folder / f"{name}.jsonl") for name in ("own", "a-rather-long-name-of-another-set")}
    generalization = report_generalization(
        paths,
        in_distribution={"": "own"},
        sizes={HOSTILE: 10_000, "plain": 3_000_000},
        choice=RunChoice(gold=gold, label_names=("negative", "positive")),
        n_draws=40,
    )
    own = [path for path in paths if "/own" in path]
    detection = report_detection(own, [path for path in paths if path not in own], n_draws=40)
    return generalization, detection
