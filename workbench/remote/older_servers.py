"""Operations that an older server does not have, done with those it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..errors import NotFound
from ..operations.operation import Argument
from ..records import Plot, Revision, Session

if TYPE_CHECKING:
    from . import RemoteBackend


def _revision(backend: RemoteBackend, plot: Plot, number: int) -> Revision:
    found = next((one for one in backend.history(plot) if one.revision == number), None)
    if found is None:
        raise NotFound(f"The plot '{plot.id}' has no revision {number}.")
    return found


def _session(backend: RemoteBackend, session_id: str) -> Session:
    found = next((one for one in backend.sessions() if one.id == session_id), None)
    if found is None:
        raise NotFound(f"There is no session '{session_id}'.")
    return found


INSTEAD: Mapping[str, Callable[..., Argument]] = {"revision": _revision, "session": _session}
"""By the name of the operation. A server of 0.1.0 gives a revision and a session only as one of a list."""
