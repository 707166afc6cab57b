"""`goldassay runs summarize`: the figures of more runs and checkpoints than fit into memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import OptionalOut, Quiet
from goldassay.cli.run_options import reads_runs
from goldassay.cli.runs import Place, runs_app
from goldassay.questions.run_choice import RunChoice

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from goldassay.questions.stored_runs import RunSetSummary


@runs_app.command(short_help="Mean, spread and effective size at each checkpoint, of any number of runs.")
@reads_runs()
def summarize(
    path: Place,
    choice: RunChoice,
    out: OptionalOut = None,
    json_file: JsonFile = None,
    quiet: Quiet = False,
) -> None:
    """Summarize the runs of each model and dataset at each checkpoint, reading one checkpoint at a time.

    For each checkpoint: mean and standard deviation over runs with its 95 % interval, the variance taken apart, the
    design effect and the effective size. Printed are those of the last; --json and --out have them all. Memory holds
    one checkpoint of one dataset, so the folder may be larger than memory.
    """
    import json

    from goldassay.core.progress import Steps
    from goldassay.questions.stored_runs import summarize_store

    with Steps(quiet).step("summarizing") as progress:
        found = summarize_store(path, choice, progress)
    if out is not None:
        _write_table(found.to_frame(), out / "checkpoints.parquet")
    if json_file is not None:
        write_json(json_file, json.dumps(found.to_dict(), ensure_ascii=False, indent=2) + "\n")
    if not quiet:
        for each in found.sets:
            for line in _lines(each):
                typer.echo(line)
        for caveat in dict.fromkeys(said for each in found.sets for said in each.scores.caveats):
            typer.echo(f"note: {caveat}")
        typer.echo(f"{found.n_rows:,} predictions read")


def _write_table(frame: pl.DataFrame, path: Path) -> None:
    from goldassay.core.files import write_parquet, written_whole

    with written_whole(path) as aside:
        write_parquet(frame, aside)


def _lines(found: RunSetSummary) -> Iterator[str]:
    scores = found.scores
    shape = f"{scores.n_runs} runs"
    if scores.n_checkpoints > 1:
        shape += f" x {scores.n_checkpoints} checkpoints"
    yield f"{found.model} on {found.dataset}, {found.condition}: {shape} x {scores.n_examples:,} examples"
    last = scores.to_frame().row(-1, named=True)
    spread = ""
    if last["sd"] is not None:
        spread = f", SD {100 * last['sd']:.2f} [{100 * last['sd_low']:.2f}, {100 * last['sd_high']:.2f}]"
    yield f"  at {last['checkpoint']}: mean {100 * last['mean']:.2f} points{spread}"
    if last["design_effect"] is not None:
        yield f"  design effect {last['design_effect']:.2f}, effective size {last['effective_size']:,.0f}"
    if scores.n_checkpoints > 1:
        moves = found.scores.trajectories()
        run = int(abs(moves.largest_changes).argmax())
        at = int(moves.largest_change_at[run])
        yield (
            f"  largest change: {100 * moves.largest_changes[run]:+.2f} points, seed {found.seeds[run]}, "
            f"from {scores.checkpoints[at - 1]} to {scores.checkpoints[at]}"
        )
