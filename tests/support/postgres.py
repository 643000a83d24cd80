"""A server of PostgreSQL for tests: in a folder of its own, reached by a socket alone, gone with the process that
started it.

PostgreSQL refuses to run as root. Then it is started as the unprivileged user ``nobody``, in a folder that this user
can enter.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from support.about_a_file import makes_files
from support.waiting import until
from workbench.environment import is_address
from workbench.store.db import formats
from workbench.store.postgres.address import Address
from workbench.store.postgres.raw_connection import RawConnection
from workbench.store.postgres.schema import shapes
from workbench.store.postgres.words import token_text
from workbench.store.store import Store

_PLACES = "/usr/lib/postgresql/*/bin"
_ROOT = 0
_NOBODY = 65534
_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",  # a test's data need not outlive the machine
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "max_locks_per_transaction": "512",
}
_numbers = count(1)


def programs() -> Path | None:
    """The folder with ``initdb`` and ``postgres``; Debian does not put it on the path."""
    on_path = shutil.which("initdb")
    if on_path is not None and shutil.which("postgres") is not None:
        return Path(on_path).parent
    found = sorted(Path("/").glob(_PLACES.lstrip("/")), key=lambda place: int(place.parts[-2]))
    return found[-1] if found else None


class Server:
    """A running server, with one database."""

    def __init__(self, binaries: Path, folder: Path) -> None:
        self.folder = folder
        self._binaries = binaries
        if os.getuid() == _ROOT:
            os.chown(folder, _NOBODY, _NOBODY)
        self._data = folder / "data"
        words = ("--auth=trust", "--username=lab", "--locale=C.UTF-8", "-E", "UTF8", "-N", "-D", str(self._data))
        done = subprocess.run(self._as_user("initdb", *words), cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, f"initdb: {done.stdout}{done.stderr}"
        self.start()
        # Its texts have another order than their bytes: what relies on the database's order of texts is found.
        order = "LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C.UTF-8'"
        with self._connected() as connection:
            connection.execute(f"CREATE DATABASE lab TEMPLATE template0 ENCODING 'UTF8' {order}".encode())

    def _as_user(self, *words: str) -> list[str]:
        """A command as an unprivileged user, ended with this process whatever ends it."""
        own = [] if os.getuid() != _ROOT else [f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
        return ["setpriv", *own, "--pdeathsig", "QUIT", str(self._binaries / words[0]), *words[1:]]

    def start(self) -> None:
        """Start it and wait until it answers."""
        settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
        command = self._as_user("postgres", "-D", str(self._data), "-k", str(self.folder), *settings)
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log)
        until(self._answers, "PostgreSQL", 120)

    def _answers(self) -> bool:
        assert self._process.poll() is None, (self.folder / "log").read_text("utf-8", "replace")
        try:
            self._connected().close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self) -> None:
        """Stop it at once, as a machine that fails does."""
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(60)

    def close(self) -> None:
        """Stop it and delete its folder."""
        if self._process.poll() is None:
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _connected(self) -> psycopg.Connection[Any]:
        return psycopg.connect(host=str(self.folder), user="lab", dbname="postgres", autocommit=True)

    def address(self, schema: str | None = None) -> str:
        """The address of a store; by default of one that is not there yet."""
        name = schema or f"s{os.getpid()}_{next(_numbers)}"
        return f"postgresql://lab@/lab?host={quote(str(self.folder), safe='')}&schema={name}"


@cache
def server() -> Server:
    """The server of this process. It skips the test if PostgreSQL is not installed, and fails it in CI."""
    binaries = programs()
    if binaries is None:
        if os.environ.get("CI") == "true":
            pytest.fail("PostgreSQL is not installed, and CI must run these tests: install postgresql-15")
        pytest.skip("PostgreSQL is not installed: its initdb and postgres are not on this machine")
    folder = Path(tempfile.mkdtemp(prefix="wb-postgres-"))
    made = Server(binaries, folder)
    atexit.register(made.close)
    return made


def instead_of_files(patch: pytest.MonkeyPatch) -> None:
    """From now on a store that would be a new file is on PostgreSQL, in a schema of its own. A file that is there is
    opened as a file. What a machine keeps beside such a store is where it would be for the file."""
    there = server()
    opened = Store.open.__func__
    paths: dict[str, Path] = {}
    own = Address.side_path.fget

    def open_store(cls: type[Store], path: str | Path, *, create: bool = True, read_only: bool = False) -> Store:
        place = str(path)
        is_new = not makes_files() and not is_address(place)
        if is_new and not os.path.lexists(place) and Path(place).parent.is_dir():
            digest = hashlib.sha256(os.path.abspath(place).encode()).hexdigest()[:20]
            paths[f"t_{digest}"] = Path(os.path.abspath(place))
            place = there.address(f"t_{digest}")
        return opened(cls, place, create=create, read_only=read_only)

    patch.setattr(Store, "open", classmethod(open_store))
    patch.setattr(Address, "side_path", property(lambda self: paths.get(self.schema) or own(self)))


def copied(store: Store) -> str:
    """The address of a copy on PostgreSQL of a store in a file, row by row."""
    address = server().address()
    with Store.open(address) as other, other.transaction() as db, store.snapshot() as source:
        for table in reversed([*shapes()]):
            db.execute(f'delete from "{table}"')
        for table, shape in shapes().items():
            names = ", ".join(f'"{name}"' for name in shape.columns)
            marks = ["to_json(?)" if (table, name) == ("facts", "value") else "?" for name in shape.columns]
            for row in source.execute(f'select {names} from "{table}"').fetchall():
                db.execute(f'insert into "{table}" ({names}) values ({", ".join(marks)})', row)
        for table, number in (("search_entries", "entry"), ("drafts", "id"), (formats.APPLIED, "id")):
            query = f"select setval(pg_get_serial_sequence('{table}', '{number}'), "
            db.execute(f'{query} (select coalesce(max("{number}"), 0) + 1 from "{table}"))')
        # A series has the number of the draft that it was.
        db.execute("select setval(pg_get_serial_sequence('drafts', 'id'), (select max(id) + 1 from series))")
        for id, words in db.execute("select id, words from search_entries").fetchall():
            db.execute("update search_entries set tokens = ? where id = ?", [token_text(words), id])
    return address


def turns_of(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is asked of PostgreSQL and waited for from now on, a turn each."""
    turns: list[Any] = []
    for name in ("ask_together", "run"):
        own = getattr(RawConnection, name)
        monkeypatch.setattr(
            RawConnection, name, lambda self, *given, own=own: (turns.append(given), own(self, *given))[1]
        )
    return turns
