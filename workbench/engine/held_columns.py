"""Which columns the tables of records have, each record for itself."""

from __future__ import annotations

from collections.abc import Sequence

from ..cycling.computed_columns import COMPUTED
from ..cycling.life import KINDS
from .reader import Reader


def held_columns(reader: Reader, ids: Sequence[str], dataset: str) -> dict[str, frozenset[str]]:
    """Record id -> the columns that a plan can read of its dataset; a record without that dataset is absent.

    Parameters
    ----------
    ids : of records of any kind. dataset : ``series``; of measurements also ``steps`` or ``cycles``, with the columns
        that are computed as they are read.
    """
    infos = reader.store.series.infos(ids, dataset, scope=reader.scope)
    if dataset in COMPUTED and infos:
        reader.lives.of(infos)  # all at once, since each alone is a query
        infos = {id: reader.lives.widened(info, dataset, [*KINDS]) for id, info in infos.items()}
    computed = {COMPUTED[dataset].name} if dataset in COMPUTED else set()
    same: dict[frozenset[str], frozenset[str]] = {}  # most have the same columns, and the answer may be kept
    found = {id: frozenset(computed.union(info.names)) for id, info in infos.items()}
    return {id: same.setdefault(columns, columns) for id, columns in found.items()}
