"""The entries of a fleet as a Dask DataFrame, a partition a store; Dask is imported when somebody asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from memkit.errors import UnsupportedError
from memkit.fleet import frames
from memkit.fleet.asking import Call, replies
from memkit.fleet.places import Place, Trouble

if TYPE_CHECKING:
    from dask.dataframe import DataFrame


def entries(call: Call, places: Sequence[Place], topic: str) -> DataFrame:
    """Return what all stores answer, to be computed where Dask computes; stores that fail are events of the topic.

    Raises: UnsupportedError without Dask.
    """
    try:
        import dask.config
        from dask.dataframe import from_map, from_pandas
    except ImportError as error:
        raise UnsupportedError("client: Dask is not installed; pip install 'agent-memkit[dask]'") from error
    empty = frames.empty(call.columns)
    with dask.config.set({"dataframe.convert-string": False}):  # they are Arrow's already, and another kind would differ
        if not places:
            return from_pandas(empty, npartitions=1)
        return from_map(partition, places, call=call, topic=topic, meta=empty, enforce_metadata=False, label="memkit")


def partition(place: Place, call: Call, topic: str) -> pd.DataFrame:
    """Return the answer of one store; one that fails has no rows, and its trouble goes to the scheduler."""
    reply = next(replies(call, [place]))
    for trouble in reply.troubles:
        _tell(topic, trouble)
    return frames.fleet_frame([place.name], reply.counts, [] if reply.table is None else [reply.table], call.columns)


def _tell(topic: str, trouble: Trouble) -> None:
    from distributed import get_worker

    try:
        get_worker().log_event(topic, tuple(trouble))
    except ValueError:  # computed without a cluster, in threads, where nobody listens
        return


def told(client: Any, topic: str) -> list[Trouble]:
    """Return the troubles that the workers of a client told, nothing once it is closed."""
    if getattr(client, "status", None) != "running":
        return []
    return list(dict.fromkeys(Trouble(*event) for _, event in client.get_events(topic) or ()))
