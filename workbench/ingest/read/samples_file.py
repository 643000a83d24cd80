"""Conformed samples on their way to the store: tables in a file of their own, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import zstandard

from ...dataset import pack, unpack
from ...errors import StoreError
from ...exchange import ContentHash
from ...table import Table

__all__ = ["ContentHash", "put", "tables"]

_HEAD = 8


def put(file: IO[bytes], name: str, table: Table) -> None:
    """Write one table at the end of ``file``."""
    data = zstandard.ZstdCompressor(level=1).compress(pack({name: table}))
    file.write(len(data).to_bytes(_HEAD, "little"))
    file.write(data)


def tables(file: IO[bytes]) -> Iterator[tuple[str, Table]]:
    """The tables of a file from where it stands, with their names, one in memory at a time."""
    while head := file.read(_HEAD):
        length = int.from_bytes(head, "little")
        data = file.read(length)
        if len(data) != length:
            raise StoreError("The samples of a file were cut short on their way to the store.")
        steps, _ = unpack(zstandard.ZstdDecompressor().decompress(data))
        for name, table in steps.items():
            if not isinstance(table, Table):
                raise StoreError("The samples of a file came with something that is not a table.")
            yield name, table
