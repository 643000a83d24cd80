"""Whether the log of a store is read to its end.

SQLite checks each page in the log, and stops at the first that does not fit: what follows counts as never written. So a
flipped bit in the middle of a log would lose the changes after it in silence. A power failure can leave one
transaction half written at the end, and never two.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import Damaged
from .checksums import ADVICE
from .main_file import log_of

_HEADER, _FRAME, _SALTS, _SUM = 32, 24, slice(16, 24), slice(24, 32)
"""https://sqlite.org/fileformat2.html#the_write_ahead_log"""
_AT_ONCE = 512
_LOOKS = 3
"""A log that another process writes may look torn once."""
Words = NDArray[np.uint32]


def refuse_damaged_log(path: Path) -> None:
    """Refuse a log in which transactions follow a page that SQLite does not read.

    The index of the log (``-shm``) would say where SQLite stops. But a process that closes any descriptor of that file
    loses all its locks on it, and another one may then cut it off under its feet. So the checksums are compared here.

    Raises
    ------
    Damaged
        Its text says what to do.
    """
    lost = 0
    for _ in range(_LOOKS):
        lost = _transactions_not_read(log_of(path))
        if lost <= 1:
            return
    raise Damaged(
        f"The log '{log_of(path).name}' of the store '{path}' is damaged: {lost} changes in it cannot be read. "
        f"{ADVICE} To go on with what is in the file, without the changes in the log: "
        f"'workbench backup NEW.db --without-log --store {path}'."
    )


def _transactions_not_read(path: Path) -> int:
    """How many transactions end in a log after the first page that does not fit."""
    try:
        with path.open("rb") as log:
            head = log.read(_HEADER)
            if len(head) < _HEADER:
                return 0
            magic, _, page = struct.unpack_from(">III", head)
            if page < 512 or page & (page - 1) or magic >> 1 != 0x377F0682 >> 1:
                return 0  # SQLite reads nothing of such a log; `main_file` looks at its head
            before = np.frombuffer(head[_SUM], ">u4").astype(np.uint32)
            fits, lost = True, 0
            while block := log.read(_AT_ONCE * (_FRAME + page)):
                frames = np.frombuffer(block[: len(block) // (_FRAME + page) * (_FRAME + page)], np.uint8)
                frames = frames.reshape(-1, _FRAME + page)
                for sound, salted, ends in _looked_at(frames, head, before, ">u4" if magic & 1 else "<u4"):
                    fits = fits and sound
                    lost += not fits and salted and ends
                if len(frames):
                    before = frames[-1, 16:24].copy().view(">u4").astype(np.uint32)
            log.seek(0)
            return 0 if log.read(_HEADER) != head else lost  # else another process has begun a new log meanwhile
    except FileNotFoundError:
        return 0


def _looked_at(
    frames: NDArray[np.uint8], head: bytes, before: Words, order: str
) -> Iterator[tuple[bool, bool, bool]]:
    """Of each frame: whether it fits the one before it, has the salts of this log, and ends a transaction."""
    sums = frames[:, 16:24].copy().view(">u4").astype(np.uint32)
    starts = np.vstack([before[None, :], sums[:-1]]) if len(sums) else sums
    summed = np.concatenate([frames[:, :8], frames[:, _FRAME:]], axis=1)
    words = np.ascontiguousarray(summed).view(order).astype(np.uint32)
    salted = (frames[:, 8:16] == np.frombuffer(head[_SALTS], np.uint8)).all(axis=1)
    ends = np.asarray(frames[:, 4:8].any(axis=1))
    sound = (_summed(words, starts) == sums).all(axis=1) & salted
    yield from zip(sound.tolist(), salted.tolist(), ends.tolist(), strict=True)


def _summed(words: Words, starts: Words) -> Words:
    """The checksums of rows of words, (n, 2), that go on from those of the rows before them.

    SQLite adds pairs of words: ``s0 += x0 + s1; s1 += x1 + s0``. That is linear modulo 2^32, so that the factor of each
    pair, a power of the matrix ((1, 1), (1, 2)), is computed once.
    """
    first, second = words[:, 0::2], words[:, 0::2] + words[:, 1::2]
    a, b, d = _powers(first.shape[1])
    s0 = a[0] * starts[:, 0] + b[0] * starts[:, 1] + (a[1:] * first + b[1:] * second).sum(1, dtype=np.uint32)
    s1 = b[0] * starts[:, 0] + d[0] * starts[:, 1] + (b[1:] * first + d[1:] * second).sum(1, dtype=np.uint32)
    return np.stack([s0, s1], axis=1)


@cache
def _powers(pairs: int) -> tuple[Words, Words, Words]:
    """The entries (0, 0), (0, 1) and (1, 1) of the powers from ``pairs`` down to 0, modulo 2^32."""
    entries, (a, b, d) = [], (1, 0, 1)
    for _ in range(pairs + 1):
        entries.append((a, b, d))
        a, b, d = (a + b) % 2**32, (a + 2 * b) % 2**32, (b + 2 * d) % 2**32
    a_s, b_s, d_s = np.array(entries[::-1], np.uint32).T
    return a_s, b_s, d_s
