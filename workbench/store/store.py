"""The store: opens and upgrades the SQLite file, verifies it, and gives its parts (records, series, blobs, people)."""

from __future__ import annotations

import hashlib
import sqlite3
import time
import uuid
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import orjson

from ..cached_property import cached_property
from ..environment import is_address
from ..errors import Damaged, NotFound, StoreError, StoreNotice
from ..near_files import near_store
from ..quick_import import later
from . import soundness
from .db import row_checksums, unsummed
from .db.backup import backup
from .db.database_file import Host
from .db.formats import (
    State,
    apply,
    may_not_write,
    opened_to_read,
    state_of,
    too_old,
    upgrade_notice,
    wrong_format,
)
from .db.kept import Kept
from .db.log_frames import refuse_damaged_log
from .db.main_file import (
    first_bytes,
    is_noted,
    log_number,
    refuse_log_of_another,
    refuse_older_log,
    refuse_without_log,
)
from .db.schema import refuse_wrong_tables, stand_ins
from .db.upgrade_plan import refuse_full_disk
from .db.verify import check_rows
from .files.blobs import Blobs
from .objects import claims, stored
from .objects.objects import Objects
from .records.alerts import Alerts
from .records.name_order import NameOrder
from .records.people import People
from .records.plots import Plots
from .records.rows import Rows
from .records.search import check_index
from .records.sessions import Sessions
from .records.switches import Switches
from .scope import Scope
from .series import derived
from .series.series import Series

__all__ = ["Scope", "Store"]

if TYPE_CHECKING:
    from .files import uploads as of_uploads
    from .files.uploads import Uploads
    from .postgres.database import Database
    from .records import bookmarks as of_bookmarks
    from .records import catalog as of_catalogs
    from .records import identities as of_identities
    from .records import shares as of_shares
    from .records import sign_ins as of_sign_ins
    from .records.bookmarks import Bookmarks
    from .records.catalog import Catalogs
    from .records.identities import Identities
    from .records.shares import Shares
    from .records.sign_ins import SignIns
    from .shared import Shared
else:
    of_bookmarks = later("workbench.store.records.bookmarks")
    of_catalogs = later("workbench.store.records.catalog")
    of_identities = later("workbench.store.records.identities")
    of_shares = later("workbench.store.records.shares")
    of_sign_ins = later("workbench.store.records.sign_ins")
    of_uploads = later("workbench.store.files.uploads")

T = TypeVar("T")
MOST_ANSWERS = 128
MOST_COLUMN_SETS = 16
LOOKS = (0.02, 0.1, 0.3, 0)
AHEAD_SECONDS = 24 * 3600
_MAGIC = b"SQLite format 3\0"


class Store(Host):
    """One workbench store; any number of threads and processes may use the same file.

    >>> store = Store.open("lab.wb")                                          # doctest: +SKIP
    >>> with store.transaction() as connection:                               # doctest: +SKIP
    ...     store.bump(connection, "measurements")
    """

    def __init__(self, path: Path, database: Database | None = None) -> None:
        super().__init__(path, None if database is None else database.connections)
        self._database = database
        self.objects = Objects(self, self.place_id)
        self.series = Series(self, self.objects)
        self.blobs = Blobs(self)
        self.rows = Rows(self, self.series)
        self.name_order = NameOrder(self)
        self.plots = Plots(self.rows)
        self.switches = Switches(self)
        self.sessions = Sessions(self.rows)
        self.people = People(self.rows)
        self.alerts = Alerts(self.rows)
        self._check: soundness.BackgroundCheck | None = None

    # A bench opens and lists without these, so that they are imported when one of them is first used.

    @cached_property
    def catalogs(self) -> Catalogs:
        return of_catalogs.Catalogs(self, self.rows)

    @cached_property
    def _answers(self) -> Kept[bytes]:
        return Kept(self, MOST_ANSWERS)

    def kept_answer(self, name: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` gives about whole projects, kept as JSON by its name until a record or the samples of any
        project change."""
        made: T = orjson.loads(self._answers.get(name, self.catalogs.tables, lambda: orjson.dumps(make())))
        return made

    @cached_property
    def kept_columns(self) -> Kept[Mapping[str, Mapping[str, frozenset[str]]]]:
        """The columns that each of some records has in some datasets, by whatever distinguishes the question."""
        return Kept(self, MOST_COLUMN_SETS)

    @cached_property
    def sign_ins(self) -> SignIns:
        return of_sign_ins.SignIns(self.people)

    @cached_property
    def identities(self) -> Identities:
        return of_identities.Identities(self.people)

    @cached_property
    def bookmarks(self) -> Bookmarks:
        return of_bookmarks.Bookmarks(self.rows)

    @cached_property
    def shares(self) -> Shares:
        return of_shares.Shares(self.rows, self.people)

    @cached_property
    def uploads(self) -> Uploads:
        return of_uploads.Uploads(self)

    @classmethod
    def open(cls, path: str | Path, *, create: bool = True, read_only: bool = False) -> Store:
        """Open the store at ``path``; what a killed writer left unpublished is removed.

        A store of an older format gets new columns, tables and indexes, after a `StoreNotice`.

        Parameters
        ----------
        read_only : change nothing, not even the format. New columns of an older store are read as null.

        Raises
        ------
        NotFound
            If there is none and ``create`` is false.
        StoreError, StoreTooNew, StoreTooOld, Damaged
            If the file is not a store or cannot be reached, a newer workbench wrote it, it needs
            `workbench upgrade`, or its tables are wrong.
        """
        if is_address(path):
            return cls._at(str(path), create=create, read_only=read_only)
        check_sqlite()
        try:
            place = checked_path(Path(path), create=create and not read_only)
        except (OSError, ValueError) as error:  # forbidden, a name that is too long, a null character
            raise StoreError(f"The store '{path}' cannot be reached: {error}.") from error
        store = cls(place)
        try:
            store._prepare(create=create and not read_only, read_only=read_only)
        except BaseException:  # whatever stops it, the connections must not stay open
            store.close()
            raise
        return store

    @classmethod
    def _at(cls, address: str, *, create: bool, read_only: bool) -> Store:
        """Open the store at an address of PostgreSQL."""
        database = database_at(address)
        store = cls(database.side_path, database)
        try:
            if database.open(create=create, read_only=read_only):
                store._sweep()
        except BaseException:  # as above
            store.close()
            raise
        return store

    @property
    def place(self) -> str:
        return super().place if self._database is None else str(self._database.address)

    @property
    def location(self) -> str | Path:
        """What ``Store.open`` takes to open it again, maybe with a password; ``place`` is for messages."""
        return self.path if self._database is None else self._database.address.location

    def _prepare(self, *, create: bool, read_only: bool) -> None:
        with self.snapshot() as db:
            state = state_of(db, self.path)
            if state.is_new and not create:
                raise no_store(self.path)
            refuse_wrong_tables(db, state, self.path)
            refuse_damaged_log(self.path)
        is_new = state.is_new
        if not state.is_new and not state.is_additive:
            raise too_old(state, self.path)
        if state.pending and not read_only:
            try:
                if not state.is_new:
                    refuse_full_disk(self.path)
                    warnings.warn(upgrade_notice(state, self.path), StoreNotice, stacklevel=5)
                state = self._add()
                self.move_log()
            except StoreError as error:
                if state.is_new or isinstance(error, Damaged):
                    raise
                warnings.warn(f"{error} Until then it can be read here, not changed.", StoreNotice, stacklevel=5)
                read_only = True
        if read_only or state.only_read:
            refusal = may_not_write(state, self.path) if state.only_read else opened_to_read(self.path)
            self._connections.only_read(refusal, stand_ins(state.pending))
            self._look_for_damage()
            return
        self._connections.on_new_tables = self._look_again
        if not is_new and not self._look_for_damage():
            self._sweep()
        if is_noted(self.path) and log_number(self.path) is None:
            self.move_log()  # a killed process moved the log and did not clear its note

    def _look_for_damage(self) -> bool:
        """Refuse the tables that are damaged. A store with many rows is checked in a thread."""
        with self.snapshot() as db:
            if not soundness.is_small(db):
                self._check = soundness.BackgroundCheck(self._connections)
                return False
            found = soundness.check(db)
        self._connections.refuse_tables(soundness.texts(found, str(self.path)))
        return bool(found)

    @property
    def unverified(self) -> bool:
        """Whether the records are still being checked for damage. It ends by itself."""
        return self._check is not None and self._check.is_running

    def wait_verified(self, seconds: float) -> bool:
        """Wait until the records have been checked for damage; False if that takes longer."""
        if self._check is not None:
            self._check.wait(seconds)
        return not self.unverified

    def close(self) -> None:
        if self._check is not None:
            self._check.stop()
        self.objects.close()
        if self._database is not None:
            self._database.close()
        super().close()

    def _add(self) -> State:
        """Run the additive migrations that the store does not have."""
        with self.transaction() as db:
            state = state_of(db, self.path)  # another process may have been faster
            apply(db, state.pending)
            db.execute(
                "insert or ignore into facts (name, value) values ('store', ?), ('clock', 0)", (uuid.uuid4().hex,)
            )
            row_checksums.fill(db)
            if state.is_new:
                derived.keep_search_rule(db)
            made = state_of(db, self.path)
            refuse_wrong_tables(db, made, self.path)
        return made

    def _look_again(self, db: sqlite3.Connection) -> None:
        """Refuse to write if a newer workbench upgraded the store while it was open here."""
        state = state_of(db, self.path)
        if state.only_read:
            raise may_not_write(state, self.path)

    def format_is_ours(self) -> bool:
        """Whether this version may write the store, and has all of its tables: a newer one may have upgraded it."""
        with self.snapshot() as db:
            state = state_of(db, self.path) if self._database is None else self._database.state()
        return not state.only_read and not state.pending

    def _sweep(self) -> None:
        try:
            self.series.sweep()
            self.blobs.tidy()
        except StoreError as error:
            # A reader does not need the sweep. If nothing can be written now, a later process does it.
            if isinstance(error, Damaged):
                raise

    def revisions(
        self, tables: Iterable[str] = (), series: Iterable[tuple[str, str]] = ()
    ) -> dict[tuple[str, ...], int]:
        """The present revisions by ``("rows", table)`` and ``("series", owner, dataset)``; 0 if there is none."""
        found: dict[tuple[str, ...], int] = {}
        with self.snapshot():
            found |= {("rows", name): revision for name, revision in self.row_revisions(tables).items()}
            found |= self.series.revisions(series)
        return found

    @property
    def shared(self) -> Shared | None:
        """What servers on several machines share; None for a file, which one machine has, and if it is only read."""
        return None if self._database is None else self._database.shared

    def place_id(self) -> str:
        """A fingerprint of the store at its path; a copy elsewhere has another one."""
        with self.snapshot() as connection:
            (id,) = connection.execute("select value from facts where name = 'store'").fetchone() or ("",)
        if self._database is not None:
            return self._database.fingerprint(id)
        return hashlib.sha256(f"{id} {self.path}".encode("utf-8", "surrogateescape")).hexdigest()

    def backup(self, destination: str | Path) -> None:
        """Copy the store's file to a new one while it is in use; the copy is one moment of it.

        Objects outside of the file stay where they are; `objects.backup.backup` copies them too.

        Raises
        ------
        Conflict
            If ``destination`` exists.
        NotFound
            If its folder does not.
        """
        if self._database is not None:
            raise self._database.refuse_backup()
        backup(self, destination)

    def verify(self, bulk: Sequence[Callable[[], list[str]]] | None = None) -> list[str]:
        """Everything that is wrong with the file, as sentences; empty if nothing is.

        Checks SQLite's pages, indexes and links, and each record, chunk, summary and blob by checksum. If the
        store may be written, it also checks the indexes of the search.

        Parameters
        ----------
        bulk : what checks the chunks, summaries and blobs, where that is done elsewhere; see `verify_apart`.
        """
        findings: list[str] = []
        checks = [
            self._verify_file,
            self._verify_rows,
            self._verify_claim,
            *(bulk or [self.series.verify, self.blobs.verify]),
        ]
        for check in checks:
            findings += [found for found in self.found_by(check) if found not in findings]
        with self._connections.all_tables():
            return findings + self._verify_search()

    def found_by(self, check: Callable[[], list[str]]) -> list[str]:
        """What a check finds at one moment, in damaged tables too; what stops it is its last sentence."""
        with self._connections.all_tables():
            try:
                with self.snapshot():
                    return check()
            except StoreError as error:
                return [str(error)]
            except Exception as error:  # a page that belongs elsewhere gives rows of anything
                return [f"rows hold what no row can hold ({type(error).__name__}: {error})"]

    def _verify_search(self) -> list[str]:
        if self._database is not None:
            return []
        try:
            with self._connections.trial() as connection:
                return check_index(connection)
        except Damaged as error:
            return [str(error)]
        except StoreError:  # SQLite checks these indexes by a statement that needs the right to write
            return []

    def _verify_file(self) -> list[str]:
        if self._database is not None:
            return self._database.verify(AHEAD_SECONDS)
        connection = self.connection()
        findings = [f"SQLite: {row[0]}" for row in connection.execute("pragma integrity_check") if row[0] != "ok"]
        findings += wrong_format(connection)
        for table in unsummed.tables(connection):
            findings += unsummed.check(connection, table)
        facts = dict(connection.execute("select name, value from facts"))
        findings += [f"the store's fact '{name}' is missing" for name in ("store", "clock") if name not in facts]
        clock = facts.get("clock", 0)
        if not isinstance(clock, int) or clock > time.time_ns() // 1000 + AHEAD_SECONDS * 10**6:
            findings.append(f"the store's clock is at {clock}, in the future: times of new records are wrong")
        late = connection.execute("select name from revisions where revision > ?", (clock,))
        findings += [f"the revision of '{name}' is later than the store's clock" for (name,) in late]
        for table, row, parent, _ in connection.execute("pragma foreign_key_check"):
            findings.append(f"row {row} of '{table}' refers to a row of '{parent}' that is not there")
        return findings

    def _verify_claim(self) -> list[str]:
        with self.snapshot() as db:
            setting, is_keeper = stored.setting(db), self.objects.is_keeper(db)
        return (
            [] if setting is None else claims.check(self, self.objects.opened(setting.place), is_keeper=is_keeper)
        )

    def _verify_rows(self) -> list[str]:
        return check_rows(self.connection())


def database_at(address: str) -> Database:
    """The place of a store on PostgreSQL.

    Raises
    ------
    StoreError
        If psycopg is not installed.
    """
    try:
        from .postgres.database import Database  # a store in a file does not need it
    except ImportError as error:
        raise StoreError(
            "A store on PostgreSQL needs psycopg. Install it with: pip install 'battery-workbench[postgres]'"
        ) from error
    return Database(address)


def checked_path(place: Path, *, create: bool) -> Path:
    """The absolute path of a store, or of a place where one can be made. An empty file counts as no store."""
    there = place.exists()
    if there:
        _check_header(place)
        refuse_without_log(place)
        refuse_log_of_another(place)
        refuse_older_log(place)
    elif create and not place.parent.is_dir():
        raise NotFound(f"There is no folder '{place.parent}' to make the store in.")
    if not create and not (there and place.stat().st_size):
        raise no_store(place)
    return place.resolve()


def no_store(place: Path) -> NotFound:
    """The error for a place without a store: nothing, an empty file, or a database that nobody filled, which a process
    leaves that was stopped while it made a store."""
    why = ": the file holds nothing yet." if place.exists() else f".{near_store(place)}"
    return NotFound(f"There is no store at '{place}'{why} Make one with 'workbench demo' or 'workbench ingest'.")


def _check_header(place: Path) -> None:
    if not place.is_file():
        what = "a folder" if place.is_dir() else "not an ordinary file"
        raise StoreError(f"'{place}' is {what}; a store is one file.{near_store(place)}")
    for pause in LOOKS:
        start = first_bytes(place, len(_MAGIC))
        if not start or start == _MAGIC:
            return
        time.sleep(pause)  # another process may be making the store and have its first page not written yet
    raise StoreError(
        f"'{place}' is not an SQLite file. Either it is not a workbench store, or its first bytes are damaged."
    )


def check_sqlite() -> None:
    if sqlite3.sqlite_version_info < (3, 38):
        raise StoreError(
            f"SQLite {sqlite3.sqlite_version} is too old; the store needs 3.38 or later. Use a newer Python."
        )
    probe = sqlite3.connect(":memory:")
    try:
        probe.execute("create virtual table probe using fts5(words, tokenize = 'trigram')")
    except sqlite3.OperationalError as error:
        raise StoreError(
            "This SQLite has no FTS5 with the trigram tokenizer, which search needs. Use another build of Python."
        ) from error
    finally:
        probe.close()
