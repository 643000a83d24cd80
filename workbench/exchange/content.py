"""The hash of a series: two series with the same samples have the same hash, in a store or in a file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..table import Column, Table


class ContentHash:
    """Hash over names, kinds, nulls and every bit of the values of a series. It does not depend on the batches."""

    def __init__(self) -> None:
        self._columns: dict[str, hashlib._Hash] = {}
        self._nulls: dict[str, hashlib._Hash] = {}
        self._words: dict[str, dict[str, int]] = {}
        self._rows = 0

    def feed(self, table: Table) -> None:
        """Add the next samples. Every table has the same columns."""
        for name, column in table.columns.items():
            if name not in self._columns:
                self._columns[name] = hashlib.sha256(f"{name}\0{column.kind}\0{column.values.dtype.str}".encode())
                self._nulls[name] = hashlib.sha256()
            values = self._values(name, column)
            if column.valid is not None:
                values = np.where(column.valid, values, np.zeros(1, values.dtype))
                self._nulls[name].update((self._rows + np.flatnonzero(~column.valid)).astype(np.int64).data)
            self._columns[name].update(np.ascontiguousarray(values).data)
        self._rows += table.n

    def replace(self, name: str, parts: Iterable[Column]) -> None:
        """Take another column of numbers in the place of one that was fed."""
        other = ContentHash()
        for part in parts:
            other.feed(Table({name: part}, len(part)))
        self._columns[name], self._nulls[name] = other._columns[name], other._nulls[name]

    def _values(self, name: str, column: Column) -> NDArray[np.generic]:
        if column.kind == "text":
            places = self._words.setdefault(name, {})
            codes = [places.setdefault(word, len(places)) for word in column.words]
            mapped: NDArray[np.int32] = np.array(codes or [0], np.int32)[column.values]
            return mapped
        if column.kind == "mixed":
            return np.frombuffer(repr(column.tolist()).encode(), np.uint8)
        return column.values

    def hexdigest(self) -> str:
        """The hash as 64 hexadecimal digits."""
        whole = hashlib.sha256(self._rows.to_bytes(8, "little"))
        for name, values in self._columns.items():
            words = "\0".join(self._words.get(name, ()))
            whole.update(values.digest() + self._nulls[name].digest())
            whole.update(hashlib.sha256(words.encode("utf-8", "surrogatepass")).digest())
        return whole.hexdigest()
