"""Shards on the workers of a dask scheduler: each is scanned by itself, and a lost worker's shard by another."""

from __future__ import annotations

import time
from asyncio import CancelledError
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.scheduler import connected, require_cluster
from goldassay.scanning.confirmation import Confirmation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distributed import Client

    from goldassay.scanning.scan import ShardResult
    from goldassay.scanning.shards import CorpusFile, Shard
    from goldassay.scanning.sought import Sought

# Lost workers that a shard outlives.
_TRIES = 3
# How long no worker may be there before the search ends; what is done is kept.
PATIENCE = 60.0
_POLL = 0.05
# The tables of one search take a second to make: a worker makes them once.
_made: dict[str, Confirmation] = {}


def scan_on_cluster(
    sought: Sought,
    shards: Sequence[tuple[int, CorpusFile, Shard]],
    fields: Sequence[str],
    scheduler: str,
    finished: Callable[[int, ShardResult], None],
) -> None:
    """Scan shards on the workers of a scheduler, which must see the files under the same paths.

    Args:
        sought: What is sought.
        shards: (number, file, range of bytes) of each.
        fields: Those that hold the text.
        scheduler: Its address, or the path of a scheduler file.
        finished: Told of each result as it comes, by the shard's number.

    Raises:
        InputError: The scheduler does not answer, has no workers, or has lost them all.
        MissingDependencyError: The extra `cluster` is not installed.
    """
    require_cluster()
    with connected(scheduler) as client:
        try:
            _hand_out(client, sought, shards, fields, finished)
        except OSError as error:
            raise _lost(scheduler) from error
        except _NoWorkersError as error:
            raise _lost(scheduler) from error


class _NoWorkersError(Exception):
    pass


def _lost(scheduler: str) -> InputError:
    return InputError(
        f"the scheduler at {scheduler} has lost all its workers",
        mend=f"start some, and search again; with {option('out', 'DIR')} what is done is kept",
    )


def _hand_out(
    client: Client,
    sought: Sought,
    shards: Sequence[tuple[int, CorpusFile, Shard]],
    fields: Sequence[str],
    finished: Callable[[int, ShardResult], None],
) -> None:
    """Hand all shards to workers, and take results as they come.

    Raises:
        OSError: The scheduler or the last worker went away.
        _NoWorkersError: No worker came back.
    """
    from goldassay.scanning.scan import ShardResult

    # Not part of each task's arguments: it is sent to each worker once.
    (handed,) = client.scatter([sought], broadcast=True)
    by_number = {number: (file, shard) for number, file, shard in shards}
    tries = dict.fromkeys(by_number, 0)

    def hand(number: int) -> Any:
        file, shard = by_number[number]
        tries[number] += 1
        there = replace(file, path=file.path.resolve())
        return client.submit(_scan, handed, there, shard, tuple(fields), retries=_TRIES, pure=False)

    waiting = {hand(number): number for number in by_number}
    again: list[int] = []
    alone_since: float | None = None
    try:
        while waiting or again:
            settled = [each for each in waiting if each.done()]
            for each in settled:
                number = waiting.pop(each)
                found, why = _result_of(each)
                if found is None and tries[number] < _TRIES:
                    again.append(number)
                else:
                    failed = ShardResult(by_number[number][1].file, error=f"its workers failed: {why}")
                    finished(number, found or failed)
            if client.scheduler_info()["workers"]:
                alone_since = None
                if again and handed.status != "finished":
                    (handed,) = client.scatter([sought], broadcast=True)
                waiting |= {hand(number): number for number in again}
                again = []
            else:
                alone_since = alone_since or time.monotonic()
                if time.monotonic() - alone_since > PATIENCE:
                    raise _NoWorkersError
            if not settled:
                time.sleep(_POLL)
    finally:
        client.cancel(list(waiting))


def _result_of(future: Any) -> tuple[ShardResult | None, str]:
    """The result of a task that is done, or why there is none, such as that its worker took it along."""
    if future.status != "finished":
        lost = future.status in ("cancelled", "lost")
        return None, "they were lost" if lost else " ".join(str(future.exception()).split())[:200]
    try:
        return future.result(), ""
    except (Exception, CancelledError) as error:
        return None, " ".join(str(error).split())[:200]


def _scan(sought: Sought, file: CorpusFile, shard: Shard, fields: tuple[str, ...]) -> ShardResult:
    """Scan one shard on a worker."""
    from goldassay.scanning.scan import scan_shard

    known = _made.get(sought.digest)
    if known is None:
        _made.clear()
        known = _made[sought.digest] = Confirmation(sought)
    return scan_shard(known, file, shard, fields)
