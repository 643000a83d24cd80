"""Which cell a file is about: the one in its specification, batch and folder, or the name of a new one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Protocol

from ...errors import BadRequest
from ...messages import option, option_name, quoted
from ...records import Instance, Measurement, Record, Specification
from ...store.store import Scope, Store
from ..plan.destination import Destination, Ref
from ..plan.paths import is_same_folder

COMMON = "Unspecified"
"""The one specification that all cells without one had up to 0.1.0."""
OWN = "own"
"""The key of ``source`` of a specification that was made for one cell of which nothing was said."""


@dataclass(frozen=True)
class CellPlace:
    """The ``cell``, or that there is none yet; what it is called, and its specification if that is there. ``why`` is
    the sentence about a name that is not the one that was said."""

    cell: Instance | None
    name: str
    specification: Specification | None
    why: str = ""


class Named(Protocol):
    """What is read, as far as a cell can be named after it; see `plan.jobs.Job`."""

    @property
    def stem(self) -> str: ...
    @property
    def folder(self) -> str: ...
    @property
    def above(self) -> int: ...


@dataclass(frozen=True)
class _Called:
    stem: str
    folder: str
    above: int = 0


class CellPlaces:
    """Finds the cells that files are about."""

    def __init__(self, store: Store, scope: Scope) -> None:
        self._store = store
        self._scope = scope

    def of(self, to: Destination, job: Named) -> CellPlace:
        """The cell of a file.

        A cell is looked for by name in the specification and the batch that are said of it; a cell without a batch
        fits any. Where nothing is said of the cell, it goes by the name of the file, and a file of that name in
        another folder is of another cell.

        Raises
        ------
        BadRequest
            If several cells fit.
        NotFound
            For a record that is not there.
        """
        if isinstance(to.instance, Record):
            cell = self._store.rows.find(Instance, to.instance, self._scope)
            return CellPlace(cell, cell.name, self._of_cell(cell) if to.specification is None else self._said(to))
        if to.specification is not None:
            return self._within(to, job, self._said(to))
        if to.instance is not None:
            return self._anywhere(to, to.instance)
        return self._unlabelled(to, job)

    def called(self, name: str, folder: str, to: Destination) -> CellPlace:
        """The cell that a file gives a name of its own; it is looked for as the cell of a file of that name."""
        return self.of(to, _Called(name, folder))

    def in_specification(self, name: str, batch: str | None, specification: Specification) -> CellPlace:
        """The cell of this name in a specification, or what it is to be called there."""
        return self._named([name], batch, specification)

    def _said(self, to: Destination) -> Specification | None:
        ref = to.specification
        if isinstance(ref, Record):
            return self._store.rows.find(Specification, ref, self._scope)
        return None if ref is None else self._store.rows.existing(Specification, ref, self._scope, {})

    def _of_cell(self, cell: Instance) -> Specification:
        return self._store.rows.get(Specification, cell.specification_id, self._scope)

    def _within(self, to: Destination, job: Named, specification: Specification | None) -> CellPlace:
        names = [to.instance] if isinstance(to.instance, str) else [*_names(job)]
        if specification is None:
            name = names[0] if to.instance else _preferred(job)
            return CellPlace(None, name, None, _why(name, name, None, None, None if to.instance else job))
        return self._named(names, _batch(to), specification, None if to.instance else job)

    def _named(
        self, names: list[str], batch: str | None, specification: Specification, job: Named | None = None
    ) -> CellPlace:
        """The first cell of one of these names that fits the batch and the folder of the file; else the first of the
        names that is free."""
        found = [(name, self._in(specification, name)) for name in _with_batch(names, batch)]
        for name, cell in found:
            if cell is not None and _is_in(cell, batch) and (job is None or self._is_from(cell, job)):
                return CellPlace(cell, name, specification)
        wanted = names[0] if job is None else _preferred(job)
        free = [name for name, cell in found if cell is None]
        if not free:
            raise BadRequest(
                f"All names that the cell '{wanted}' could have are taken in '{specification.name}'. Say which cell "
                f"it is with {option_name('instance')} or {option_name('sheet')}."
            )
        name = wanted if wanted in free else free[0]
        taken = next((cell for _, cell in found if cell is not None), None)
        return CellPlace(None, name, specification, _why(name, wanted, taken, batch, job))

    def _in(self, specification: Specification, name: str) -> Instance | None:
        where = {"specification_id": specification.id}
        return self._store.rows.existing(Instance, name, self._scope, where)

    def _anywhere(self, to: Destination, name: str) -> CellPlace:
        """The cell of this name in whatever specification; one of its own if it is to be made."""
        batch = _batch(to)
        found = self._called(name)
        if not found and (by_id := self._store.rows.existing(Instance, name, self._scope, {})) is not None:
            return CellPlace(by_id, by_id.name, self._of_cell(by_id))
        fitting = [cell for cell in found if _is_in(cell, batch)]
        if batch is not None:
            there = [cell for cell in fitting if cell.batch_name is not None]
            there += [cell for cell in self._called(f"{batch} {name}") if _is_in(cell, batch)]
            fitting = there or fitting
        if len(fitting) > 1:
            listed = [
                f"{cell.specification_name}" + (f", batch {cell.batch_name}" if cell.batch_name else "")
                for cell in fitting
            ]
            how = " or ".join(option_name(one) for one in ("specification", "batch", "sheet"))
            raise BadRequest(
                f"There are {len(fitting)} cells '{name}': in {quoted(listed, most=5)}. Say which one it is with {how}."
            )
        if fitting:
            return CellPlace(fitting[0], fitting[0].name, self._of_cell(fitting[0]))
        taken = next((cell for cell in found if _is_unlabelled(cell)), None)
        called = name if taken is None or batch is None else f"{batch} {name}"
        return CellPlace(None, called, None, _why(called, name, taken, batch, None))

    def _unlabelled(self, to: Destination, job: Named) -> CellPlace:
        """The cell of a file of which no cell and no specification is said."""
        batch = _batch(to)
        taken: Instance | None = None
        free: list[str] = []
        for name in _with_batch([*_names(job)], batch):
            there = [cell for cell in self._called(name) if _is_unlabelled(cell)]
            for cell in there:
                if _is_in(cell, batch) and self._is_from(cell, job):
                    return CellPlace(cell, name, self._of_cell(cell))
            if there:
                taken = taken or there[0]
            else:
                free.append(name)
        wanted = _preferred(job)
        free = free or [next(f"{wanted} ({n})" for n in count(2) if not self._called(f"{wanted} ({n})"))]
        name = wanted if wanted in free else free[0]
        return CellPlace(None, name, None, _why(name, wanted, taken, batch, job))

    def _called(self, name: str) -> list[Instance]:
        found: list[Instance] = self._store.rows.page(
            Instance, self._scope, where={"name": name}, limit=None
        ).items
        return found

    def _is_from(self, cell: Instance, job: Named) -> bool:
        """Whether the tests of a cell come from the folder of a file, as far as their folders are known."""
        where = {"instance_id": cell.id}
        tests = self._store.rows.page(Measurement, self._scope, where=where, limit=None).items
        folders = {folder for test in tests if isinstance(folder := test.source.get("folder"), str)}
        return not folders or not job.folder or any(is_same_folder(folder, job.folder) for folder in folders)


def _is_unlabelled(cell: Instance) -> bool:
    """Whether no specification was said of a cell."""
    specification = cell.specification_name or ""
    return specification == COMMON or specification.startswith(f"{COMMON} ")


def _names(job: Named) -> Iterator[str]:
    """What the cell of a file may be called, where nothing is said of it: after the file, with more and more of its
    folder."""
    yield job.stem
    parts = [part for part in job.folder.split("/") if part]
    for above in range(1, len(parts) + 1):
        yield " ".join([*parts[-above:], job.stem])[-200:].strip()


def _preferred(job: Named) -> str:
    """The name that distinguishes a file from the others of the same ingest."""
    names = [*_names(job)]
    return names[min(job.above, len(names) - 1)]


def _batch(to: Destination) -> str | None:
    batch: Ref | None = to.batch
    return batch.name if isinstance(batch, Record) else batch


def _with_batch(names: list[str], batch: str | None) -> list[str]:
    return names if batch is None else [called for name in names for called in (name, f"{batch} {name}")]


def _is_in(cell: Instance, batch: str | None) -> bool:
    """Whether a cell may be one of a batch: it is in it, or in none; where no batch is said, each may be meant."""
    return batch is None or cell.batch_name is None or cell.batch_name.casefold() == batch.casefold()


def _why(name: str, wanted: str, taken: Instance | None, batch: str | None, job: Named | None) -> str:
    """The sentence about a cell that is not called as was said, or as its file."""
    if name == wanted and (job is None or not job.above):
        return ""
    if job is not None and job.above and name == wanted:
        return (
            f"Files called '{job.stem}' are in several folders, so the cell of this one is called '{name}'. If they "
            f"are of one cell, say {option('name_rule', '{cell}')}."
        )
    if taken is not None and not _is_in(taken, batch):
        return f"There is a cell '{taken.name}' in another batch, so this cell is called '{name}'."
    return f"The cell '{wanted}' has tests from another folder, so the cell of this file is called '{name}'."
