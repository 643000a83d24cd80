"""What the kernel (Linux) lets a process do no more, once it has locked itself. Nothing can take the lock off again.

Two kinds of process use it, and each declares what it may do as data: scripts of plots
(``workbench.transform.protected``) and parsers of files (``workbench.lock.reader_profile``).
"""

from __future__ import annotations


class LockFailed(OSError):
    """A step of the lock did not work; the text names it."""
