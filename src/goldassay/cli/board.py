"""`goldassay board`: which places of a board are sure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from goldassay.cli.app import app
from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import (
    METHOD,
    Config,
    Discount,
    DiscountPart,
    ExampleClusters,
    OptionalOut,
    Quiet,
    Seed,
    of_option,
    say_settings,
)
from goldassay.cli.report_files import save_report
from goldassay.cli.run_options import reads_runs
from goldassay.questions.run_choice import RunChoice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goldassay.questions.board.result import BoardResult

# Systems that the terminal shows; the page and the table have more.
_MOST = 12


@app.command(short_help="Rank systems on the same items, and say which places are sure.")
@reads_runs()
def board(
    *,
    table: Annotated[
        list[str],
        typer.Argument(
            metavar="TABLE", help="A column a system, or a row a system and item; lists of solved items; runs."
        ),
    ],
    missing: Annotated[Literal["leave-out", "wrong"], of_option("missing", group=METHOD)] = "leave-out",
    clusters: ExampleClusters = None,
    discount: Discount = None,
    discount_part: DiscountPart = None,
    out: OptionalOut = None,
    json_file: JsonFile = None,
    choice: RunChoice,
    seed: Seed = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Rank systems on the same items, and say which places are sure.

    Of each system the score and the ranks that it may have, which hold for all systems at once; groups that cannot be
    told apart; how often the first is first in random halves of the items; the items that decide the first place, and
    such as weaker systems solve and stronger ones miss.
    """
    import json

    from goldassay.core.settings import with_data, with_seed
    from goldassay.questions.board.question import study_board
    from goldassay.questions.board.result import BoardResult
    from goldassay.questions.discount.page import discount_lines, with_discount
    from goldassay.questions.discount.result import DiscountResult
    from goldassay.questions.gating import load_settings

    settings = with_data(with_seed(load_settings(config), seed), clusters=clusters)
    report, found = study_board(
        table, choice, missing, settings, quiet=quiet, discount=discount, discount_part=discount_part
    )
    page = None if out is None else save_report(report, out, None, latex=False)
    if json_file is not None:
        said = with_discount(found.to_dict(), report.answer(DiscountResult))
        write_json(json_file, json.dumps(said, ensure_ascii=False, indent=2) + "\n")
    if not quiet:
        say_settings(settings)
        ranked = report.answer(BoardResult)
        assert ranked is not None
        for line in (*_lines(ranked), *discount_lines(report.answer(DiscountResult))):
            typer.echo(line)
        if page is not None:
            typer.echo(page)


def _lines(found: BoardResult) -> Iterator[str]:
    from goldassay.questions.board.page import ranks_of, sentences

    rows = found.systems
    width = max(len(row.system) for row in rows[:_MOST])
    yield f"{'place':>5}  {'system':<{width}}  {'score':>6}  {'95 % interval':<16}  ranks it may have"
    for row in rows[:_MOST]:
        interval = f"[{100 * row.low:.2f}, {100 * row.high:.2f}]"
        yield f"{row.place:>5}  {row.system:<{width}}  {100 * row.score:>6.2f}  {interval:<16}  {ranks_of(row)}"
    if len(rows) > _MOST:
        yield f"       and {len(rows) - _MOST} more: -o DIR writes all"
    for said in (*sentences(found), *found.notes):
        yield f"- {said}"
