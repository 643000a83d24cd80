"""Whether a process of this machine lives. This module alone knows how each system says so."""

from __future__ import annotations

import ctypes
import os
import sys

_MAY_ASK = 0x1000
"""``PROCESS_QUERY_LIMITED_INFORMATION``."""
_RUNS = 259
"""The exit code of a process that has none yet, ``STILL_ACTIVE``."""
_UNKNOWN = 87
"""The error of a process that does not exist, ``ERROR_INVALID_PARAMETER``."""


def is_alive(pid: int) -> bool:
    """Whether a process runs; also true where the system does not say. A process that ended is never sent anything:
    on Windows ``os.kill`` would end the process, or send Ctrl-C to its group."""
    if sys.platform == "win32":
        return _is_alive_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_alive_on_windows(pid: int) -> bool:
    if sys.platform != "win32":
        raise OSError("Only Windows answers this.")
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.OpenProcess.restype = ctypes.c_void_p
    handle = kernel.OpenProcess(_MAY_ASK, False, pid)
    if not handle:
        return ctypes.get_last_error() != _UNKNOWN
    try:
        code = ctypes.c_ulong()
        if not kernel.GetExitCodeProcess(ctypes.c_void_p(handle), ctypes.byref(code)):
            return True
        return code.value == _RUNS
    finally:
        kernel.CloseHandle(ctypes.c_void_p(handle))
