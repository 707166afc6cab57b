"""The group of commands, and what they share."""

from __future__ import annotations

from typing import Annotated

from goldassay.cli.app import Commands, app
from goldassay.cli.options import (
    METHOD,
    of_option,
)
from goldassay.core.errors import InputError

leakage_app = Commands(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(leakage_app, name="leakage", short_help="Measure what a part of the input gives away of the label.")

NClusters = Annotated[
    int | None,
    of_option("n_clusters", metavar="K", group=METHOD),
]
Components = Annotated[
    int,
    of_option("components", metavar="D", group=METHOD),
]
ClusterThreshold = Annotated[
    float,
    of_option("cluster_threshold", metavar="D", group=METHOD),
]


@leakage_app.callback()
def leakage() -> None:
    """Measure what a part of the input gives away of the label, and say which rows to rewrite first.

    A task about a pair of texts cannot be solved from one of them alone. Where a model of the hypothesis alone does
    better than naming the most frequent label, it reads something that should not be there.
    """


def by_name(values: list[str] | None, option: str, name: str, mend: str = "") -> dict[str, str]:
    """NAME=VALUE options as a map; `mend` says what to write where one is none.

    Raises:
        InputError: A value names nothing, or a name stands twice.
    """
    found: dict[str, str] = {}
    for value in values or ():
        key, sign, rest = value.partition("=")
        if not sign or not key or not rest:
            raise InputError(f"{option} {value!r} is not {name}=VALUE", mend=mend or f"write {option} {name}=...")
        if key in found:
            raise InputError(f"{option} names {key!r} twice", mend="give each once")
        found[key] = rest
    return found
