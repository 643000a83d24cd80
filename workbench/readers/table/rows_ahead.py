"""Batches of rows, of which the next is parsed on a thread while the caller works on the last."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pandas as pd

from .plain_rows import NotPlain, PlainRows

MOST_BYTES = 64 << 20
"""Bytes of numbers in a batch that is parsed ahead: it is in memory beside the one before."""


class RowsAhead:
    """The batches of one text: of ``plain`` as long as it is plain, then of what ``otherwise`` makes of the bytes that
    are left. ``done`` is called after each batch, in the thread that parsed it.
    """

    def __init__(
        self,
        rows: int,
        plain: PlainRows | None,
        otherwise: Callable[[bytes], Callable[[int], pd.DataFrame]],
        done: Callable[[], None],
    ) -> None:
        self._rows, self._otherwise, self._done = rows, otherwise, done
        self._plain = plain
        self._batch = otherwise(b"") if plain is None else plain.batch
        self._thread: threading.Thread | None = None
        self._found: pd.DataFrame | BaseException | None = None

    @property
    def follows(self) -> bool:
        """Whether it is certain that another batch follows the last one."""
        return self._plain is not None and self._plain.follows

    def next(self) -> pd.DataFrame:
        """The next batch.

        Raises
        ------
        StopIteration
            If there are no more rows.
        """
        self.end()
        found, self._found = self._found, None
        if found is None:
            found = self._parsed()
        if isinstance(found, NotPlain):
            self._plain, self._batch = None, self._otherwise(found.text)
            found = self._parsed()
        if isinstance(found, BaseException):
            raise found
        return found

    def begin(self) -> None:
        """Begin to parse the next batch, if it is certain that there is one and memory and threads are to be had."""
        if self._thread is not None or self._plain is None or not self._plain.follows:
            return
        if self._rows * self._plain.columns * 8 > MOST_BYTES:
            return
        thread = threading.Thread(target=self._parse, name="workbench-rows", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no more threads are allowed: the caller parses it
            return
        self._thread = thread

    def end(self) -> None:
        """Wait for what was begun."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _parse(self) -> None:
        self._found = self._parsed()

    def _parsed(self) -> pd.DataFrame | BaseException:
        try:
            found = self._batch(self._rows)
        except BaseException as error:  # it is raised where the batch is asked for
            return error
        self._done()
        return found
