"""Conformed samples on their way to the store: tables in a file of their own, one after the other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import IO

import numpy as np
import zstandard
from numpy.typing import NDArray

from ...cycling.columns import CYCLE_COUNT
from ...dataset import packed, unpack
from ...errors import StoreError
from ...exchange import ContentHash
from ...table import Column, Table

__all__ = ["ContentHash", "arrived", "counted", "cycle_numbers", "emptied", "numbers_at", "put", "tables"]

_HEAD = 8
_IS_PLAIN, _IS_UNSURE = 1 << 63, 1 << 62
_LENGTH = _IS_UNSURE - 1
_PLAIN = 32 << 20
"""Bytes of a file up to which its tables are not compressed: that takes several times as long as to write and to read
them. The rest is, so that a file stays small where the temporary folder is memory."""


def put(file: IO[bytes], name: str, table: Table, *, unsure: bool = False) -> None:
    """Write one table at the end of ``file``; ``unsure``: the file may be emptied, and other tables written."""
    parts = packed({name: table})
    size = len(parts)
    if file.tell() + size <= _PLAIN:
        file.write((size | _IS_PLAIN | unsure * _IS_UNSURE).to_bytes(_HEAD, "little"))
        file.writelines(parts.pieces)
        return
    # With its size in its head a frame is unpacked into one buffer.
    compressor = zstandard.ZstdCompressor(level=1).compressobj(size=size)
    data = [*map(compressor.compress, parts.pieces), compressor.flush()]
    file.write((sum(map(len, data)) | unsure * _IS_UNSURE).to_bytes(_HEAD, "little"))
    file.writelines(data)


def emptied(file: IO[bytes]) -> bool:
    """Empty a file; whether there was anything in it."""
    held = file.seek(0, os.SEEK_END) > 0
    file.seek(0)
    file.truncate()
    return held


def cycle_numbers(starts: Sequence[int], row: int, n: int) -> Column:
    """(n,) numbers of the cycles that begin at the samples ``starts``, of the samples from number ``row`` on."""
    return numbers_at(starts, np.arange(row, row + n))


def numbers_at(starts: Sequence[int], rows: NDArray[np.int64], first: int = 0) -> Column:
    """(n,) numbers of the cycles of the samples ``rows``, as `cycle_numbers`; ``first`` is that of the first cycle."""
    numbers = np.searchsorted(np.asarray(starts, np.int64), rows, side="right")
    return Column("integer", numbers.astype(np.int64) + first)


def counted(
    named: Iterator[tuple[str, Table]], starts: Sequence[int] | None, row: int = 0
) -> Iterator[tuple[str, Table]]:
    """The tables of a file; its samples from number ``row`` on with the cycles that begin at ``starts``, unless that is
    None."""
    for name, table in named:
        if name == "series" and starts is not None:
            table = Table({**table.columns, CYCLE_COUNT: cycle_numbers(starts, row, table.n)}, table.n)
            row += table.n
        yield name, table


def tables(file: IO[bytes]) -> Iterator[tuple[str, Table]]:
    """The tables of a file from where it stands, with their names, one in memory at a time."""
    while head := file.read(_HEAD):
        said = int.from_bytes(head, "little")
        length = said & _LENGTH
        data = file.read(length)
        if len(data) != length:
            raise StoreError("The samples of a file were cut short on their way to the store.")
        yield from _unpacked(data, plain=bool(said & _IS_PLAIN))


def arrived(file: IO[bytes]) -> Iterator[tuple[str, Table, bool]]:
    """The tables that are whole by now in a file that is still written, from where it stands, and whether each is
    unsure; then the file stands before the next one."""
    size = os.fstat(file.fileno()).st_size
    while (place := file.tell()) + _HEAD <= size:
        said = int.from_bytes(file.read(_HEAD), "little")
        length = said & _LENGTH
        if place + _HEAD + length > size:
            file.seek(place)
            return
        for name, table in _unpacked(file.read(length), plain=bool(said & _IS_PLAIN)):
            yield name, table, bool(said & _IS_UNSURE)


def _unpacked(data: bytes, *, plain: bool) -> Iterator[tuple[str, Table]]:
    steps, _ = unpack(data if plain else zstandard.ZstdDecompressor().decompress(data))
    for name, table in steps.items():
        if not isinstance(table, Table):
            raise StoreError("The samples of a file came with something that is not a table.")
        yield name, table
