"""Files that were read before, told by their bytes, so that they need not be read again."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from pathlib import Path
from typing import Any

import orjson

from ..records import Measurement
from ..store.scope import Scope
from ..store.store import Store
from .jobs import Job
from .prepare import hash_of_all, reader_version


class KnownFiles:
    """What the measurements of a project were read from: by size, then by hash, then by how they were read."""

    def __init__(self, store: Store, scope: Scope) -> None:
        self._store = store
        self._scope = scope
        self._by_size: dict[int, dict[str, list[tuple[str, dict[str, Any]]]]] = defaultdict(
            lambda: defaultdict(list)
        )
        query = (
            "SELECT id, file_name, source ->> '$.size', source ->> '$.sha256', source -> '$.options' "
            "FROM measurements WHERE project_id IS ? AND file_name IS NOT NULL"
        )
        self.named: dict[str, list[str]] = {}
        """Name of a file -> the measurements that were read from one of this name."""
        with store.snapshot() as connection:
            for id, name, size, digest, options in connection.execute(query, (scope.project_id,)):
                self.named.setdefault(name, []).append(id)
                said = orjson.loads(options) if options else {}
                if isinstance(size, int) and said.get("version") == reader_version():
                    self._by_size[size][digest].append((id, said))

    def find(self, job: Job) -> Measurement | None:
        """The measurement that these very bytes became, read as the job says by this version; None if there is none."""
        try:
            held = self._by_size.get(job.size)
            if not held:
                return None
            digest = hash_of_all([{"sha256": _hash(path)} for path in job.paths])
        except OSError:
            return None
        for id, said in held.get(digest, []):
            if said == job.options.said():
                return self._store.rows.get(Measurement, id, self._scope)
        return None


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
