"""Which columns the tables of records have, each record for itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..cycling.computed_columns import COMPUTED
from ..cycling.life import KINDS
from .reader import Reader


def together(dataset: str) -> tuple[str, ...]:
    """The datasets that are best asked for at once: steps and cycles, for which the same lives are read."""
    return tuple(COMPUTED) if dataset in COMPUTED else (dataset,)


def held_columns(
    reader: Reader, ids: Sequence[str], datasets: Iterable[str]
) -> dict[str, dict[str, frozenset[str]]]:
    """Dataset -> record id -> the columns that a plan can read of it; a record without that dataset is absent.

    Parameters
    ----------
    ids : of records of any kind. datasets : ``series``; of measurements also ``steps`` and ``cycles``, with the columns
        that are computed as they are read.
    """
    return {dataset: _of(reader, ids, dataset) for dataset in datasets}


def _of(reader: Reader, ids: Sequence[str], dataset: str) -> dict[str, frozenset[str]]:
    infos = reader.store.series.infos(ids, dataset, scope=reader.scope)
    if dataset in COMPUTED:
        infos = reader.lives.widened(infos, dataset, [*KINDS])
    computed = {COMPUTED[dataset].name} if dataset in COMPUTED else set()
    same: dict[frozenset[str], frozenset[str]] = {}  # most have the same columns, and the answer may be kept
    found = {id: frozenset(computed.union(info.names)) for id, info in infos.items()}
    return {id: same.setdefault(columns, columns) for id, columns in found.items()}
