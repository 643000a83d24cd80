"""Whether a key is in force."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from .tables import Row

KeyState = Literal["in force", "expired", "revoked"]


def state_of(key: Row, now: datetime) -> KeyState:
    """The state of one of the keys of `People.keys`."""
    if key["revoked_at"] is not None:
        return "revoked"
    ends = key["expires_at"]
    return "in force" if ends is None or ends > now else "expired"
