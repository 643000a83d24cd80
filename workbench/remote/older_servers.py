"""What a server of an older version cannot do itself, done with what it can."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import NotFound
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
        raise NotFound(f"No session '{session_id}' here.")
    return found


INSTEAD: Mapping[str, Callable[..., Any]] = {"revision": _revision, "session": _session}
"""By the name of the operation; servers of 0.1.0 give these only as lists."""
