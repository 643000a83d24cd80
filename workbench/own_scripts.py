"""Which scripts are this user's own: a record outside of all stores, and the mark on scripts that are not.

A store and a server can claim anything about who wrote a script. So they are not asked. A script is a user's own if it
was saved or trusted here: its fingerprint is then in a file in this user's own folder.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import threading
import warnings
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from .errors import StoreNotice

OWN_SCRIPTS = "WORKBENCH_OWN_SCRIPTS"
"""The environment variable that names another file for the record."""
MARK_START = "# workbench: somebody else wrote this script"
MARK = f"{MARK_START}, so it runs protected. If you have read and trust it, delete this line."
"""The last line of a script of somebody else that leaves its plot: in a file, a notebook or a copied recipe."""
_LINE = re.compile(rb"(script|remove|store) ([0-9a-f]{32,64}) [!-~]+ [!-~]+")


def is_marked(script: str) -> bool:
    """Whether a script says that somebody else wrote it."""
    return MARK_START in script


def marked(script: str) -> str:
    """A script with the mark as its last line, so that no line has another number."""
    return script if is_marked(script) else f"{script}{'' if script.endswith(chr(10)) else chr(10)}{MARK}\n"


def fingerprint(script: str) -> str:
    """SHA-256 of a script without the mark. Only white space and the mark at the very end do not count."""
    text = script.rstrip()
    while text.endswith(f"\n{MARK}"):
        text = text[: -len(MARK)].rstrip()
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def record_path() -> Path | None:
    """The file of the record: ``$WORKBENCH_OWN_SCRIPTS``, else in the folder that this system has for such files.

    None if this user has no home folder.
    """
    if given := os.environ.get(OWN_SCRIPTS):
        return Path(given).absolute()
    try:
        return _state_folder() / "battery-workbench" / "own-scripts.txt"
    except RuntimeError:
        return None


def _state_folder() -> Path:
    if sys.platform == "win32":
        return _absolute("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return _absolute("XDG_STATE_HOME") or Path.home() / ".local" / "state"


def _absolute(variable: str) -> Path | None:
    """The folder that a variable names; relative ones do not count, since they would follow the working folder."""
    given = Path(os.environ.get(variable, ""))
    return given if given.is_absolute() else None


class OwnScripts:
    """The record of one user. Several processes may read and extend it at once.

    Each line of the file is one fact, and is appended by one write. A line that cannot be read counts as absent, so a
    damaged record makes scripts untrusted and never trusted.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._state: tuple[int, int, int] | None = None
        self._scripts: set[str] = set()
        self._stores: set[str] = set()
        self._unwritten: set[str] = set()
        self._met: set[str] = set()
        self._warned = False

    def has(self, script: str) -> bool:
        """Whether this user saved or trusted exactly this script."""
        one = fingerprint(script)
        with self._lock:
            self._read()
            return one in self._scripts or one in self._unwritten

    def is_untrusted(self, script: str) -> bool:
        """Whether a script is marked, or came out of a store or from a server, and is not this user's own."""
        if not is_marked(script) and fingerprint(script) not in self._met:
            return False
        return not self.has(script)

    def meet(self, script: object) -> None:
        """Note for this process that a script came out of a store or from a server."""
        if isinstance(script, str):
            self._met.add(fingerprint(script))

    def add(self, scripts: Iterable[str], how: str) -> int:
        """Make scripts this user's own; ``how`` is one word for the record. Returns how many were not before."""
        with self._lock:
            self._read()
            new = {fingerprint(one) for one in scripts} - self._scripts - self._unwritten
            if new and not self._append([f"script {one} {_now()} {how}" for one in sorted(new)]):
                self._unwritten |= new
            return len(new)

    def remove(self, scripts: Iterable[str]) -> int:
        """Make scripts untrusted again. Returns how many were this user's own.

        Raises
        ------
        OSError
            If the record cannot be written: the scripts would stay trusted.
        """
        with self._lock:
            self._read()
            old = {fingerprint(one) for one in scripts} & (self._scripts | self._unwritten)
            self._unwritten -= old
            written = sorted(old & self._scripts)
            # Twice, and apart: what damages one of the lines does not make the script trusted again.
            lines = [line for one in written for line in (f"remove {one} {_now()} removed", "") * 2]
            if written and not self._append(lines):
                raise OSError(f"The record of your own scripts, '{self.path}', cannot be written.")
            self._met |= old
            return len(old)

    def is_first_look(self, store: str) -> bool:
        """Whether this user never opened the store of this id before, or never was shown the notice of this id; it is
        known from now on."""
        with self._lock:
            self._read()
            new = store not in self._stores
            if new:
                self._stores.add(store)
                self._append([f"store {store} {_now()} opened"])
            return new

    # The file

    def _read(self) -> None:
        """Read the file again if it has changed."""
        try:
            state = None if self.path is None else os.stat(self.path)
        except OSError:
            state = None
        if self.path is None or state is None:
            self._forget(None)
            return
        now = (state.st_ino, state.st_size, state.st_mtime_ns)
        if now == self._state:
            return
        self._forget(now)
        if (why := _not_private(state)) is not None:
            self._warn(f"The record of your own scripts, '{self.path}', does not count: {why}.")
            return
        try:
            content = self.path.read_bytes()
        except OSError as error:
            self._warn(f"The record of your own scripts, '{self.path}', cannot be read: {error.strerror}.")
            return
        for line in content.splitlines():
            if (found := _LINE.fullmatch(line)) is not None:
                what, one = found[1].decode(), found[2].decode()
                if what == "store":
                    self._stores.add(one)
                else:
                    (self._scripts.add if what == "script" else self._scripts.discard)(one)

    def _forget(self, state: tuple[int, int, int] | None) -> None:
        self._state = state
        self._scripts.clear()
        if state is not None:
            self._stores.clear()

    def _append(self, lines: list[str]) -> bool:
        """Add lines by one write, and read the file anew; False, after a notice, if that cannot be done."""
        if self.path is None:
            self._warn("This user has no home folder, so the workbench cannot keep which scripts are your own.")
            return False
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                # Begins with an end of line: what another process left half written stays alone.
                written = ("\n" + "\n".join(lines) + "\n").encode()
                if os.write(file, written) != len(written):
                    raise OSError(0, "the disk is full")
                os.fsync(file)
            finally:
                os.close(file)
        except OSError as error:
            self._warn(
                f"The record of your own scripts, '{self.path}', cannot be written: {error.strerror}. Scripts that you "
                f"save now count as your own only until this process ends. ${OWN_SCRIPTS} names another file."
            )
            return False
        self._state = None
        self._read()
        return True

    def _warn(self, text: str) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(text, StoreNotice, stacklevel=4)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _not_private(state: os.stat_result) -> str | None:
    """Why a record may have been written by somebody else; None if it may not."""
    if sys.platform == "win32":
        return None  # the folder of a user is private there; a mode says nothing
    if state.st_uid not in (os.geteuid(), 0):
        return "another user owns it"
    return "others may write it (chmod 600 makes it yours alone)" if state.st_mode & 0o022 else None


_opened: dict[Path | None, OwnScripts] = {}


def own_scripts() -> OwnScripts:
    """The record of this user."""
    path = record_path()
    return _opened.setdefault(path, OwnScripts(path))
