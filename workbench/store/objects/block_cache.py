"""A bounded cache of objects' bytes on this machine's disk, in blocks, so that a second read crosses no network.

All processes on a store share it. Every failure of it (deleted, damaged, full disk) is a miss: the bytes come from
their place then.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..cache.disk import Kept, SideFile, Stats
from .place import Place, Range

BLOCK = 64 << 10
JOIN = 4
"""Blocks between two missing ones that are fetched with them: asking once costs less than asking twice."""
MOST_AT_ONCE = 128
"""Blocks of one request. Several requests run at the same time."""
_KIND = "block"


class BlockCache:
    """Ranges of objects at a place, from blocks that are kept in a file of at most ``most`` bytes."""

    def __init__(self, path: Path, most: int) -> None:
        self.stats = Stats()
        self._side = SideFile(path, most, self.stats)

    def ranges(self, place: Place, name: str, size: int, wanted: Sequence[Range]) -> list[bytes]:
        """Some ranges of an object of ``size`` bytes."""
        numbers = sorted({block for start, stop in wanted for block in _blocks(start, stop)})
        found = self._side.get_many(_KIND, [_key(name, block) for block in numbers])
        held = {
            block: kept.data
            for block in numbers
            if (kept := found.get(_key(name, block))) is not None and len(kept.data) == _length(block, size)
        }
        self.stats.disk_hits += len(held)
        missing = [block for block in numbers if block not in held]
        if missing:
            self.stats.misses += len(missing)
            fetched = self._fetched(place, name, size, missing)
            self._side.put_many(_KIND, {_key(name, block): Kept(data, b"") for block, data in fetched.items()})
            held |= fetched
        return [_cut(held, *one) for one in wanted]

    def forget(self, name: str, wanted: Sequence[Range]) -> None:
        """Drop blocks whose bytes turned out to be wrong."""
        numbers = {block for start, stop in wanted for block in _blocks(start, stop)}
        self._side.remove_many(_KIND, [_key(name, block) for block in sorted(numbers)])

    def _fetched(self, place: Place, name: str, size: int, missing: Sequence[int]) -> dict[int, bytes]:
        runs: list[tuple[int, int]] = []
        for block in missing:
            if runs and block - runs[-1][1] <= JOIN and block - runs[-1][0] < MOST_AT_ONCE:
                runs[-1] = runs[-1][0], block + 1
            else:
                runs.append((block, block + 1))
        wanted = [(first * BLOCK, min(last * BLOCK, size)) for first, last in runs]
        blocks: dict[int, bytes] = {}
        for (first, last), data in zip(runs, place.ranges(name, wanted), strict=True):
            for block in range(first, last):
                at = (block - first) * BLOCK
                blocks[block] = data[at : at + BLOCK]
        return blocks

    def close(self) -> None:
        self._side.close()


def _key(name: str, block: int) -> str:
    return f"{name} {block}"


def _blocks(start: int, stop: int) -> range:
    return range(start // BLOCK, -(-stop // BLOCK))


def _length(block: int, size: int) -> int:
    return min(BLOCK, size - block * BLOCK)


def _cut(held: dict[int, bytes], start: int, stop: int) -> bytes:
    first, last = start // BLOCK, (stop - 1) // BLOCK
    if stop <= start:
        return b""
    if first == last:
        return held[first][start - first * BLOCK : stop - first * BLOCK]
    parts = [held[block] for block in range(first, last + 1)]
    parts[0] = parts[0][start - first * BLOCK :]
    parts[-1] = parts[-1][: stop - last * BLOCK]
    return b"".join(parts)
