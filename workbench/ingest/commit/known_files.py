"""Files that were read before, recognised by their bytes, so that they need not be read again."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import orjson

from ...errors import NotFound
from ...records import Measurement
from ...store.scope import Scope
from ...store.store import Store
from ..plan.jobs import Job
from ..plan.paths import shown
from ..plan.read_options import ReadOptions, SaidReading
from ..read.prepare import hash_of_all

_CHUNK = 1 << 20


class Known(NamedTuple):
    """What is known of the file of a measurement: ``said`` are the options of its reading, and the version."""

    id: str
    size: int
    digest: str
    said: SaidReading


class KnownFiles:
    """What the measurements of a project were read from: by size, then by hash, then by how they were read."""

    def __init__(self, store: Store, scope: Scope) -> None:
        self._store = store
        self._scope = scope
        self._held: dict[int, dict[str, list[Known]]] = defaultdict(lambda: defaultdict(list))
        self._of_name: dict[str, list[Known]] = defaultdict(list)
        query = (
            "SELECT id, file_name, CAST(source ->> '$.size' AS INTEGER), source ->> '$.sha256', source -> '$.options' "
            "FROM measurements WHERE project_id IS ? AND file_name IS NOT NULL"
        )
        self.named: dict[str, list[str]] = {}
        """Name of a file -> the measurements that were read from one of this name."""
        with store.snapshot() as connection:
            for id, name, size, digest, options in connection.execute(query, (scope.project_id,)):
                self.named.setdefault(name, []).append(id)
                if isinstance(size, int):
                    known = Known(id, size, digest, orjson.loads(options) if options else {})
                    self._held[size][digest].append(known)
                    self._of_name[name].append(known)

    def find(self, job: Job) -> Measurement | None:
        """The measurement that these very bytes became, read by this version as the job says, or as was said once
        where it says nothing else; None if there is none. One test of several counts only for a job of this test."""
        said = job.options.said()
        for known in self._same(job):
            if said.items() <= known.said.items() and known.said.get("test") == job.options.test:
                with suppress(NotFound):  # deleted meanwhile
                    return self._store.rows.get(Measurement, known.id, self._scope)
        return None

    def tests_of(self, job: Job) -> list[str]:
        """The names of the tests that these very bytes became, where each of them is there; else empty."""
        said = job.options.said()
        known = [known for known in self._same(job) if said.items() <= known.said.items() and "test" in known.said]
        names = list(dict.fromkeys(one.said["test"] for one in known))
        return names if known and len(names) == known[0].said["of"] else []

    def read_as_one(self, job: Job) -> list[Measurement]:
        """The measurements that all tests of this file became together, when an older version read it."""
        found = []
        for known in self._same(job):
            if "test" not in known.said:
                with suppress(NotFound):
                    found.append(self._store.rows.get(Measurement, known.id, self._scope))
        return found

    def read_before(self, job: Job) -> str | None:
        """The one measurement that these very bytes became, when they were read otherwise."""
        found = [known for known in self._same(job) if known.said.get("test") == job.options.test]
        return found[0].id if len(found) == 1 else None

    def again(self, job: Job) -> Known | None:
        """The measurement that these very bytes became: as the job says where there are several; None if it is open."""
        said, found = job.options.said(), self._same(job)
        alike = [known for known in found if said.items() - {"version": ""}.items() <= known.said.items()]
        return found[0] if len(found) == 1 else alike[0] if len(alike) == 1 else None

    def as_before(self, job: Job) -> ReadOptions:
        """The options of a job; where it says none, those with which the beginning of its file was read."""
        options = job.options
        if not options.is_plain or len(job.paths) > 1:
            return options
        for known in self._of_name.get(shown(job.paths[0].name), []):
            apart = known.said.get("test") != options.test
            said = known.said.keys() - {"version", "test", "of"}
            if not apart and said and known.size < job.size:
                begun = _hash(job.paths[0], known.size)
                if begun == known.digest:
                    return options.with_said(known.said)
        return options

    def _same(self, job: Job) -> list[Known]:
        try:
            held = self._held.get(job.size)
            if not held:
                return []
            return held.get(hash_of_all([_hash(path) for path in job.paths]), [])
        except OSError:
            return []


def _hash(path: Path, size: int | None = None) -> str:
    """The hash of a file, or of its beginning."""
    with path.open("rb") as file:
        if size is None:
            return hashlib.file_digest(file, "sha256").hexdigest()
        state = hashlib.sha256()
        while size and (chunk := file.read(min(size, _CHUNK))):
            state.update(chunk)
            size -= len(chunk)
        return state.hexdigest()
