"""Parses plain text into frames as pandas does, in a third to a half of its time, if a C compiler was at hand when the
workbench was installed.

Plain is ASCII without quotes. What looks like a number is one for pandas too: no blanks beside it, no plus sign, not
more digits than a double has, no infinity, and no column is of truth values. `compiled_rows.c` does the work. Any other
text goes to pandas, from the batch on that holds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from types import ModuleType
from typing import Protocol

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

try:
    from . import compiled_rows as _found
except ImportError:  # there was no compiler, or it is one for another system
    PARSER: ModuleType | None = None
else:
    # An installation for developers keeps what was compiled from an older file.
    PARSER = _found if _found.VERSION == 1 else None

NOT_NUMBERS = ("-", "--", "---", "N.A.", "n.a.")
"""What cyclers write where there is no value, beside what pandas knows."""
_OF_PANDAS = (
    *("#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>"),
    *("N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)
_MISSING, _WHOLE, _BROKEN, _WORD, _STRANGE = 1, 2, 4, 8, 16
"""What the cells of a column are, as `compiled_rows.c` has it."""
_MOST_EXPONENT = 64
_LEAST = 1 << 20
"""Bytes that are parsed at once: what is done for each column of texts takes as long for fewer."""
_PASSED_OVER = np.iinfo(np.int32).min


class Source(Protocol):
    """A text of whole lines, in blocks; the last line may lack its end."""

    def read(self) -> bytes: ...


class NotPlain(Exception):
    """A batch that pandas has to parse; ``text`` is what was read of it and after it."""

    def __init__(self, text: bytes) -> None:
        super().__init__()
        self.text = text


class PlainRows:
    """The rows of a text with these columns, or with ``only`` some of them, in batches."""

    def __init__(
        self,
        parser: ModuleType,
        source: Source,
        names: Sequence[str],
        delimiter: str,
        decimal: str,
        only: Sequence[str] | None,
    ) -> None:
        self._parser = parser
        self._source = source
        self._names = names
        self._wanted = [place for place, name in enumerate(names) if only is None or name in only]
        missing = b"".join(bytes([len(text)]) + text.encode() for text in (*NOT_NUMBERS, *_OF_PANDAS))
        self._form = delimiter.encode() + decimal.encode() + missing + b"\0"
        self._texts: frozenset[int] = frozenset()
        """The columns that held texts in the batch before."""
        self._again: list[bytes] = []
        """What was read and is still to be parsed."""

    @property
    def columns(self) -> int:
        """The number of columns of a batch."""
        return len(self._wanted)

    @property
    def follows(self) -> bool:
        """Whether it is certain that more rows follow what was parsed."""
        return any(block and not block.isspace() for block in self._again)

    def batch(self, rows: int) -> pd.DataFrame:
        """The next ``rows`` rows, or fewer at the end.

        Raises
        ------
        StopIteration
            If there are no more rows.
        NotPlain
        """
        while (found := self._cut(rows)) is None:
            pass
        if not len(found):
            raise StopIteration
        return found

    def _cut(self, rows: int) -> pd.DataFrame | None:
        """The next batch; None if its texts are in other columns than those of the batch before."""
        texts = [place for place in self._wanted if place in self._texts]
        numbers = [place for place in self._wanted if place not in self._texts]
        row_of = np.full(len(self._names), _PASSED_OVER, np.int32)
        row_of[numbers] = np.arange(len(numbers))
        row_of[texts] = -1 - np.arange(len(texts))
        seen = np.zeros(len(self._names), np.uint8)
        read = [self._next(), self._next()]
        most = rows if read[1] else min(rows, read[0].count(b"\n") + 1)
        values = np.empty((len(numbers), most))
        starts, lengths = np.empty((len(texts), most), np.int64), np.empty((len(texts), most), np.int32)
        words: list[list[pa.Array]] = [[] for _ in texts]
        text, place, done, used = b"", 0, 0, 0
        for block in self._blocks(read):
            text, ended, used = text[place:] + block, not block, used + 1
            first = done
            found = self._parser.rows(
                *(text, ended, first, most, self._form, _powers_of_five(), row_of, seen, values, starts, lengths)
            )
            if found is None:
                raise NotPlain(b"".join([*read, *self._again]))
            done, place = found
            if (seen[numbers] & _WORD).any():  # begin again, for these are texts
                self._texts |= {column for column in numbers if seen[column] & _WORD}
                self._again = [*read, *self._again]
                return None
            for made, begin, size in zip(words, starts[:, first:done], lengths[:, first:done], strict=True):
                made.append(self._words(text, begin, size))
            if done == most or ended:
                break
        if any(seen[column] & (_WORD | _STRANGE) == _STRANGE for column in self._wanted):
            raise NotPlain(b"".join([*read, *self._again]))
        if any(not seen[column] & _WORD for column in texts):  # these were texts in the batch before
            self._texts = frozenset(column for column in texts if seen[column] & _WORD)
            self._again = [*read, *self._again]
            return None
        self._again = [text[place:], *read[used:], *self._again]
        columns: dict[str, pd.Series[str] | NDArray[np.float64] | NDArray[np.int64]] = {}
        for column in self._wanted:
            row = row_of[column]
            columns[self._names[column]] = (
                _numbers(values[row, :done], int(seen[column]))
                if row >= 0
                else pd.Series(pa.concat_arrays(words[-1 - row]), dtype="str")
            )
        return pd.DataFrame(columns, copy=False)

    def _next(self) -> bytes:
        """Some more bytes; empty at the end."""
        while self._again:
            if block := self._again.pop(0):
                return block
        blocks, size = list[bytes](), 0
        while size < _LEAST and (block := self._source.read()):
            blocks.append(block)
            size += len(block)
        return b"".join(blocks)

    def _blocks(self, read: list[bytes]) -> Iterator[bytes]:
        """What was ``read`` and what follows, which is added to it; the last block is empty."""
        yield from read
        while read[-1]:
            read.append(self._next())
            yield read[-1]

    def _words(self, text: bytes, starts: NDArray[np.int64], lengths: NDArray[np.int32]) -> pa.Array:
        """(n,) texts."""
        there = lengths >= 0
        offsets = np.empty(len(lengths) + 1, np.int64)
        letters = np.empty(int(lengths.sum(where=there, dtype=np.int64)), np.uint8)
        self._parser.joined(text, starts, lengths, offsets, letters)
        valid = None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little"))
        buffers = [valid, pa.py_buffer(offsets), pa.py_buffer(letters)]
        return pa.Array.from_buffers(pa.large_string(), len(lengths), buffers)


def _numbers(values: NDArray[np.float64], seen: int) -> NDArray[np.float64] | NDArray[np.int64]:
    """(n,) numbers of the kind that pandas gives them."""
    if seen & _BROKEN or not seen & _WHOLE:
        return values
    # As a whole number a negative zero loses its sign.
    return values + 0.0 if seen & _MISSING else values.astype(np.int64)


@cache
def _powers_of_five() -> bytes:
    """The 128 most significant bits of each power of five from -64 to 64, high before low. Those from -27 to -1, which
    decide what is half between two doubles, are rounded up, the others cut."""
    made = []
    for exponent in range(-_MOST_EXPONENT, _MOST_EXPONENT + 1):
        power = 5 ** abs(exponent)
        if exponent >= 0:
            bits = power << 128
        elif exponent >= -27:
            bits = (1 << power.bit_length() + 127) // power + 1
        else:
            bits = (1 << 2 * power.bit_length() + 128) // power
        bits >>= bits.bit_length() - 128
        made += [bits >> 64, bits & (1 << 64) - 1]
    return np.array(made, np.uint64).tobytes()
