"""The hash of samples: what makes two series the same, wherever they stand."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..table import Column, Table


class ContentHash:
    """Hash of a series: names, kinds, nulls and every bit of its values, however it is cut into batches."""

    def __init__(self) -> None:
        self._columns: dict[str, Any] = {}
        self._nulls: dict[str, Any] = {}
        self._words: dict[str, dict[str, int]] = {}
        self._rows = 0

    def feed(self, table: Table) -> None:
        """The next samples; every table has the same columns."""
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

    def _values(self, name: str, column: Column) -> NDArray[Any]:
        if column.kind == "text":
            places = self._words.setdefault(name, {})
            codes = [places.setdefault(word, len(places)) for word in column.words]
            mapped: NDArray[np.int32] = np.array(codes or [0], np.int32)[column.values]
            return mapped
        if column.kind == "mixed":
            return np.frombuffer(repr(column.tolist()).encode(), np.uint8)
        return column.values

    def hexdigest(self) -> str:
        """64 hexadecimal digits."""
        whole = hashlib.sha256(self._rows.to_bytes(8, "little"))
        for name, values in self._columns.items():
            words = "\0".join(self._words.get(name, ()))
            whole.update(values.digest() + self._nulls[name].digest())
            whole.update(hashlib.sha256(words.encode("utf-8", "surrogatepass")).digest())
        return whole.hexdigest()
