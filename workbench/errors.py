"""All errors of the workbench, as one tree. Each class has its HTTP status and its code.

WorkbenchError
├── BadRequest            400  a reference of the wrong kind, a malformed value outside a recipe
│   └── UnknownOption     400  an option of an ingest that does not exist; a TypeError too
├── Unauthorized          401  no key, or one that is unknown, revoked or expired
├── Forbidden             403  the record may be read, but not what was asked of it
├── NotFound              404  absent, or out of the caller's reach (one answer for both)
├── Conflict              409  a name is taken (``existing_id``), or an action does not fit the state
│   └── Replaced          409  samples as of a time are not kept: they were replaced since
├── Invalid               422  a recipe, its values or its script; holds every Problem found
│   └── ScriptError       422  the transform failed; its Problem has ``line`` and ``text``
├── FileRefused           422  a cycler file that cannot be read; says why, and the fix
│   └── SeveralTests      422  a file that holds several tests; ``tests`` names them
├── TooLarge              413  a bound on size or work was passed
├── Cancelled             499  the caller cancelled the request
├── ExportUnavailable     501  the program that draws pictures is not installed
├── Later                 503  nothing is wrong with the request; send it again after ``retry_after`` seconds
│   ├── TooMany           429  more requests than the key is granted
│   └── Busy              503  all places for such work are taken
├── ServerAway            502  the server of a remote bench cannot be reached, or the connection broke
├── ExecutorAway          503  the executor of work over many tests cannot be reached, or broke
├── WorkerDied            500  a task ended each worker that did it
├── OtherVersion          409  the versions of a server or a worker and of this workbench differ too much
├── NotProtected          503  a script must run in a locked process, and this machine cannot lock it
└── StoreError            500  the store itself
    ├── Damaged           500  a checksum failed; names the series, column and chunk
    │   └── ObjectMissing 500  an object with samples is gone from its folder or object store
    ├── StoreAway         503  the database of the store does not answer now, or others have been writing for long
    ├── StoreFull         507  a disk of the store, or of temporary files, has no room
    ├── PlaceAway         503  the folder or object store with the samples cannot be used now
    ├── StoreTooNew       500  a newer workbench wrote the store
    └── StoreTooOld       500  an older workbench wrote the store; ``workbench upgrade`` brings it up to date
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, NotRequired

from typing_extensions import TypedDict

Loc = tuple[str | int, ...]


class WorkbenchError(Exception):
    """Base of all errors that the workbench raises on purpose; the text is for the person who uses it."""

    status = 500
    code = "ERROR"

    def __reduce__(self) -> tuple[Any, ...]:
        """The same error in another process, whatever its constructor takes."""
        return _again, (type(self), self.args, self.__dict__)

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the lines of the caller, and the sentence. ``%xmode Verbose`` shows the lines of the
        workbench too, and ``%debug`` enters them."""
        from IPython.core.getipython import get_ipython

        shown = get_ipython().InteractiveTB
        if shown.mode in ("Verbose", "Docs"):
            return list(shown.structured_traceback(type(self), self, self.__traceback__))
        cause, hidden = self.__cause__, self.__suppress_context__
        self.__cause__, self.__suppress_context__ = None, True
        try:
            return list(shown.structured_traceback(type(self), self, _of_the_caller(self.__traceback__)))
        finally:
            self.__cause__, self.__suppress_context__ = cause, hidden


def _again(cls: type[WorkbenchError], args: tuple[Any, ...], held: Mapping[str, Any]) -> WorkbenchError:
    made = cls.__new__(cls)
    made.args = args
    made.__dict__.update(held)
    return made


def _of_the_caller(found: TracebackType | None) -> TracebackType | None:
    """A traceback that ends where the caller called the workbench."""
    frames = []
    step = found
    while step is not None and _PACKAGE not in Path(step.tb_frame.f_code.co_filename).parents:
        frames.append(step)
        step = step.tb_next
    shortened = None
    for frame in reversed(frames):
        shortened = TracebackType(shortened, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return shortened or found


_PACKAGE = Path(__file__).parent
_NEAR, _NEAR_OF_ANOTHER_INITIAL = 0.6, 0.75


class BadRequest(WorkbenchError):
    status = 400
    code = "BAD_REQUEST"


class Unauthorized(WorkbenchError):
    status = 401
    code = "UNAUTHORIZED"


class Forbidden(WorkbenchError):
    status = 403
    code = "FORBIDDEN"


class NotFound(WorkbenchError):
    status = 404
    code = "NOT_FOUND"


class Conflict(WorkbenchError):
    """A name is taken, or the state does not allow an action. ``existing_id`` is the record that has the name, and
    ``detail`` what else helps to go on, such as both revisions of a plot."""

    status = 409
    code = "CONFLICT"

    def __init__(
        self, message: str, existing_id: str | None = None, detail: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.existing_id = existing_id
        self.detail = dict(detail or {})


class ProblemDetail(TypedDict):
    """A problem as JSON: the ValidationError object of the interface."""

    loc: list[str | int]
    msg: str
    type: str
    ctx: NotRequired[dict[str, Any]]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: its place (``loc``, keys and indexes of the request), and what to do (``msg``)."""

    loc: Loc
    msg: str
    type: str = "value_error"
    ctx: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        place = ".".join(str(part) for part in self.loc)
        return f"{place}: {self.msg}" if place else self.msg

    def below(self, place: Loc) -> Problem:
        """The same problem; its place begins further out."""
        return replace(self, loc=(*place, *self.loc))

    def as_detail(self) -> ProblemDetail:
        """The ValidationError object of the interface."""
        detail: ProblemDetail = {"loc": list(self.loc), "msg": self.msg, "type": self.type}
        if self.ctx:
            detail["ctx"] = self.ctx
        return detail


class Invalid(WorkbenchError):
    """A recipe, its values, its script or a field is wrong; ``problems`` has all that was found, not only the first."""

    status = 422
    code = "VALIDATION_ERROR"

    def __init__(self, problems: Sequence[Problem] | Problem) -> None:
        self.problems: list[Problem] = [problems] if isinstance(problems, Problem) else list(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class ScriptError(Invalid):
    """The transform failed; ``log`` has what it printed before that."""

    def __init__(self, problems: Sequence[Problem] | Problem, log: str = "") -> None:
        super().__init__(problems)
        self.log = log


class FileRefused(WorkbenchError):
    """``unmapped``: the file is a table of numbers like a test, but no format knows the names of its columns.
    ``unopened``: the system does not open it, so that nobody knows what it is."""

    status = 422
    code = "FILE_REFUSED"

    def __init__(self, message: str, *, unmapped: bool = False, unopened: bool = False) -> None:
        super().__init__(message)
        self.unmapped = unmapped
        self.unopened = unopened


class TooLarge(WorkbenchError):
    status = 413
    code = "TOO_LARGE"


class Later(WorkbenchError):
    """Nothing is wrong with the request; send it again after ``retry_after`` seconds."""

    status = 503
    code = "LATER"

    def __init__(self, message: str, retry_after: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TooMany(Later):
    status = 429
    code = "TOO_MANY_REQUESTS"


class Busy(Later):
    status = 503
    code = "BUSY"


class Cancelled(WorkbenchError):
    status = 499
    code = "CANCELLED"


class ExportUnavailable(WorkbenchError):
    status = 501
    code = "EXPORT_UNAVAILABLE"


class ServerAway(WorkbenchError):
    """``again`` says that the connection broke, so that the request may be sent again at once."""

    status = 502
    code = "SERVER_AWAY"

    def __init__(self, message: str, again: bool = False) -> None:
        super().__init__(message)
        self.again = again


class ExecutorAway(WorkbenchError):
    status = 503
    code = "EXECUTOR_AWAY"


class WorkerDied(WorkbenchError):
    code = "WORKER_DIED"


class OtherVersion(WorkbenchError):
    status = 409
    code = "OTHER_VERSION"


class NotProtected(WorkbenchError):
    status = 503
    code = "NOT_PROTECTED"


class StoreError(WorkbenchError):
    code = "STORE_ERROR"


class StoreAway(StoreError):
    """The store cannot be used now, and mostly can a little later."""

    status = 503
    code = "STORE_AWAY"


class StoreFull(StoreError):
    """There is no room for a change; nothing of it is stored."""

    status = 507
    code = "STORE_FULL"


class Damaged(StoreError):
    code = "DAMAGED"


class StoreTooNew(StoreError):
    code = "STORE_TOO_NEW"


class StoreTooOld(StoreError):
    code = "STORE_TOO_OLD"


class StoreNotice(UserWarning):
    """A warning about a store that was opened: it was brought up to date, or it can only be read."""


def near(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """The valid names nearest to ``name``, the nearest first, at most ``most``; upper and lower case are the same.

    A name is near if three fifths of its letters are the same, with its unit or without (three quarters if it begins
    with another letter), or if one of its words begins with ``name``.

    >>> near("Volts", ["Voltage [V]", "Time [s]"]), near("res", ["arbin-res", "pec"]), near("nope", ["pec"])
    (['Voltage [V]'], ['arbin-res'], [])
    """
    folded = name.casefold()
    by_folded: dict[str, str] = {}
    for candidate in names:
        by_folded.setdefault(candidate.casefold(), candidate)
    scores = {candidate: _likeness(folded, other) for other, candidate in by_folded.items()}
    best = sorted((candidate for candidate in scores if scores[candidate] >= _NEAR), key=lambda one: -scores[one])
    return best[:most]


def _likeness(name: str, candidate: str) -> float:
    """The share of letters that two names have in common; at least that of near names if one begins a word of the
    other."""
    matcher = difflib.SequenceMatcher(b=name)
    found = 0.0
    for text in {candidate, candidate.partition(" [")[0]}:
        matcher.set_seq1(text)
        if matcher.real_quick_ratio() >= _NEAR and matcher.quick_ratio() >= _NEAR:
            found = max(found, matcher.ratio())
    if candidate[:1] != name[:1] and found < _NEAR_OF_ANOTHER_INITIAL:
        found = 0.0
    begins = len(name) >= 3 and re.search(rf"(?:^|[\W_]){re.escape(name)}", candidate) is not None
    return max(found, _NEAR) if begins else found


def instead(name: str, names: Iterable[str], what: str = "names") -> str:
    """The last sentence of an error about ``name``: the names that were probably meant, else those that exist."""
    known = list(names)
    close = near(name, known)
    if close:
        return "Did you mean " + " or ".join(f"'{candidate}'" for candidate in close) + "?"
    if not known:
        return f"There are no {what}."
    quoted = listed(f"'{candidate}'" for candidate in known)
    return f"The {what} are {quoted}."


MOST_LISTED = 40
"""A sentence lists so many names. Every closed set of the workbench but the names of time zones is shorter."""


def listed(written: Iterable[str], most: int = MOST_LISTED) -> str:
    """Names as a sentence lists them: the first ones, and how many more there are."""
    names = list(written)
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
