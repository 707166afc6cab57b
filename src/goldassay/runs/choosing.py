"""Out of what was found the runs of one model, dataset and condition, at the checkpoints that were asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goldassay.core.errors import InputError, option
from goldassay.core.naming import is_wildcard, listing, matches
from goldassay.runs.configurations import refuse_base_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goldassay.runs.run_parts import Collection, Slice


def choose_slices(found: list[Slice], asked: Mapping[str, str | None]) -> list[Slice]:
    """The slices of one model, dataset, split, condition and training set.

    Args:
        found: What is there.
        asked: What to take, by these names; a model may be a pattern, whose matches become runs of one.

    Raises:
        InputError: There is nothing of that name, or several are there and none was named.
    """
    chosen = found
    for field, want in asked.items():
        choices = sorted({getattr(part.collection, field) for part in chosen})
        word = field.replace("_", " ")
        if want is not None and field == "model" and is_wildcard(want):
            chosen = _as_one_model(chosen, want)
        elif want is not None:
            chosen = [part for part in chosen if getattr(part.collection, field) == want]
            if not chosen:
                refuse_base_name(found, want)
                raise InputError(f"there are no runs with {word} {want!r}", mend=f"there are {listing(choices, 8)}")
        elif len(choices) > 1:
            raise InputError(
                f"there are runs of {len(choices)} {word}s: {listing(choices, 12)}",
                mend=f"choose one, as in {option(field, str(choices[0]))}",
            )
    return chosen


def no_such_model(slices: Iterable[Slice], pattern: str) -> InputError:
    """What is said where no model matches."""
    models = sorted({part.collection.model for part in slices})
    return InputError(f"no model is called {pattern!r}", mend=f"there are {listing(models, 8)}")


def _as_one_model(slices: list[Slice], pattern: str) -> list[Slice]:
    """Take all models whose names match as runs of one, which is called by the pattern."""
    kept = [part for part in slices if matches(part.collection.model, pattern)]
    if not kept:
        raise no_such_model(slices, pattern)
    one_each = len({(part.collection, part.checkpoint) for part in kept}) == len(kept)
    return [
        replace(
            part,
            collection=part.collection._replace(model=pattern),
            seed=part.collection.model if one_each else f"{part.collection.model}/{part.seed}",
        )
        for part in kept
    ]


def at_checkpoint(slices: list[Slice], checkpoint: int | str | None) -> list[Slice]:
    """The slices at one checkpoint, or each run's last.

    Raises:
        InputError: There is no such checkpoint, or a run is there twice.
    """
    if checkpoint is None:
        return slices
    # Where each run's last is taken, a second run of the same name would be taken for an earlier checkpoint, and lost.
    by_place(slices)
    if checkpoint != "last":
        kept = [part for part in slices if str(part.checkpoint) == str(checkpoint)]
        if not kept:
            steps = list(dict.fromkeys(str(part.checkpoint) for part in slices))
            raise InputError(f"there is no checkpoint {checkpoint!r}", mend=f"there are {listing(steps, 8)}")
        return kept
    last: dict[int | str, Slice] = {}
    for part in slices:
        before = last.get(part.seed)
        if before is None or _later(part.checkpoint, before.checkpoint):
            last[part.seed] = part
    # Last checkpoints of runs that stopped at different steps are one checkpoint, "last".
    return [replace(part, checkpoint="last") for part in last.values()]


def by_place(slices: Iterable[Slice]) -> dict[tuple[int | str, int | str | None], Slice]:
    """The slices of one collection by seed and checkpoint, each once.

    Raises:
        InputError: A run is there twice, or with and without a checkpoint: which counts is not for us to say.
    """
    found: dict[tuple[int | str, int | str | None], Slice] = {}
    for part in slices:
        other = found.setdefault((part.seed, part.checkpoint), part)
        if other is not part:
            raise _twice(part, other)
    for (seed, checkpoint), part in found.items():
        whole = found.get((seed, None))
        if checkpoint is not None and whole is not None:
            raise InputError(
                f"the run with seed {seed} is there with a checkpoint, {checkpoint}, and in {whole.file} without one, "
                "so that it is not known which is later",
                file=part.file,
                mend="name the checkpoint of both, or remove one of them",
            )
    return found


def describe_twice(found: Iterable[Slice]) -> list[str]:
    """A sentence for each model and dataset of which a run is there twice, so that no question can be asked of it."""
    places: dict[Collection, dict[tuple[int | str, int | str | None], list[str]]] = {}
    for part in found:
        files = places.setdefault(part.collection, {}).setdefault((part.seed, part.checkpoint), [])
        files.append(part.file)
    said = []
    for key, of_model in sorted(places.items()):
        twice = [(seed, files) for (seed, _), files in of_model.items() if len(files) > 1]
        if twice:
            seed, files = twice[0]
            where = f"in {files[0]} and {files[1]}" if files[0] != files[1] else f"in {files[0]}"
            one = (
                f"a run of {key.model} on {key.dataset} is there twice, that with seed {seed}"
                if len(twice) == 1
                else f"{len(twice)} runs of {key.model} on {key.dataset} are there twice, first that with seed {seed}"
            )
            said.append(f"{one[0].upper()}{one[1:]} ({where}): remove one of the two.")
    return said


def retried(slices: Iterable[Slice]) -> dict[str, str]:
    """Files of unfinished runs of which another file has a finished one, each with the first such file.

    An evaluation that was cancelled and started anew is one run. Epochs of one file are not told apart by this.
    """
    finished: dict[Collection, list[str]] = {}
    unfinished: dict[str, Collection] = {}
    for part in slices:
        if part.unfinished:
            unfinished.setdefault(part.file, part.collection)
        else:
            finished.setdefault(part.collection, []).append(part.file)
    return {
        file: other[0]
        for file, key in unfinished.items()
        if (other := [each for each in finished.get(key, ()) if each != file])
    }


def refuse_retried(slices: Iterable[Slice]) -> None:
    """Refuse an unfinished run next to a finished one of another file: it is no repeat, and would cost examples.

    Raises:
        InputError: There is one.
    """
    slices = list(slices)
    again = retried(slices)
    for part in slices:
        if part.file in again and part.unfinished:
            raise InputError(
                f"the run with seed {part.seed} is unfinished: {part.unfinished}; {again[part.file]} holds a finished "
                "run",
                file=part.file,
                mend="remove the unfinished one",
            )


def describe_unfinished(found: Iterable[Slice]) -> list[str]:
    """A sentence for each run that does not answer all that it was to answer."""
    return [
        f"The run {part.seed} of {part.collection.model} on {part.collection.dataset} ({part.file}) is unfinished: "
        f"{part.unfinished}."
        for part in found
        if part.unfinished
    ]


def _twice(part: Slice, other: Slice) -> InputError:
    where = "" if part.checkpoint is None else f", checkpoint {part.checkpoint}"
    one_format = f", or read one format with {option('format', part.format)}" if part.format != other.format else ""
    return InputError(
        f"the run with seed {part.seed}{where} is there twice",
        file=part.file,
        mend="both are in this file, and differ only in spelling: spell them alike, or remove one"
        if part.file == other.file
        else f"the other is in {other.file}: remove one of them{one_format}",
    )


def _later(step: int | str | None, other: int | str | None) -> bool:
    if isinstance(step, int) and isinstance(other, int):
        return step > other
    return str(step) > str(other)
