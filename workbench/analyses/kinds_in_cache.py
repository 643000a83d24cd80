"""Remembers in the cache of a store what kinds its tests are of.

Where no analysis runs when tests arrive, their kinds have no records, and the gallery asks for those of all tests.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import orjson

from ..store import Scope, Store
from ..store.cache.cache import Cache
from .test_kinds import TestKind

CACHED = "kinds"
SHAPE = 1
"""Of what is in the cache. Another number leaves aside what an older version kept."""


class KindsInCache:
    """The kinds of the tests in a scope, each with a digest of all that it follows from.

    Parameters
    ----------
    cache : None remembers nothing.
    """

    def __init__(self, store: Store, scope: Scope, cache: Cache | None = None) -> None:
        self._store = store
        self._cache = None if cache is None or store.is_changing else cache
        self._key = hashlib.sha256(orjson.dumps([SHAPE, store.identity(), *scope.name])).hexdigest()
        kept = None if self._cache is None else self._cache.get(CACHED, self._key)
        self._known: dict[str, tuple[str, list[tuple[str, float, str]]]] = orjson.loads(kept.bytes) if kept else {}
        self._asked: dict[str, tuple[str, list[tuple[str, float, str]]]] = {}

    def of(self, test: str, state: str, recognise: Callable[[], list[TestKind]]) -> list[TestKind]:
        """The kinds of a test; ``recognise`` finds them if they are not known in this state of its data."""
        digest = hashlib.blake2b(state.encode(), digest_size=16).hexdigest()
        known = self._known.get(test)
        if known is None or known[0] != digest:
            known = digest, [(one.name, one.certainty, one.evidence) for one in recognise()]
        self._asked[test] = known
        return [TestKind(*one) for one in known[1]]

    def keep(self, *, but_add: bool = False) -> None:
        """Put into the cache what was asked for, if not all of it is there. Where most of what is there was not asked
        for, its tests may be deleted: it is left out, unless what was asked for is to be added only."""
        changed = any(self._known.get(test) is not known for test, known in self._asked.items())
        if self._cache is not None and changed and not self._store.unverified:
            kept = {**self._known, **self._asked}
            if not but_add and len(kept) >= 2 * len(self._asked):
                kept = self._asked
            self._cache.put(CACHED, self._key, orjson.dumps(kept))
