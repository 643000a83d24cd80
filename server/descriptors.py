"""How many files and connections a process may have open: what the system says, and what it lets us raise.

This module alone knows ``resource``, which Windows does not have. There a process has no such limit on its sockets.
"""

from __future__ import annotations

import sys

_WANTED = (1 << 16, 10_240)
"""The soft limits to try; macOS takes at most the second, whatever its hard limit says."""

if sys.platform == "win32":

    def raise_limit() -> None:
        """There is nothing to raise."""

    def limit() -> int | None:
        """None: there is no limit."""
        return None
else:
    import resource

    def raise_limit() -> None:
        """Raise the soft limit of open files of this process, and of those that it starts, to what the hard one
        allows."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        for wanted in _WANTED:
            allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            if soft == resource.RLIM_INFINITY or soft >= allowed:
                return
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
            except (ValueError, OSError):
                continue
            return

    def limit() -> int | None:
        """How many files and connections this process may have open; None if there is no limit."""
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return None if soft == resource.RLIM_INFINITY else soft
