"""Makes Linux look like another system to the modules of the workbench, and to those of the processes they start.

Python imports a module of this name at its start. The environment names the system, and which names of which modules it
lacks. Only ``import`` statements of the workbench see the difference, so that Python itself goes on working.

On Windows a file that is open can be neither removed nor replaced, ``select`` takes sockets only, and ``os.kill`` with
0 sends Ctrl-C. These are here too; for what else differs, only a real system helps.
"""

from __future__ import annotations

import builtins
import json
import os
import types

_OURS = ("workbench", "server")


class _Module(types.ModuleType):
    """A module without some names, and with others."""

    def __init__(self, real: types.ModuleType, missing: list[str], more: dict[str, object]) -> None:
        super().__init__(real.__name__)
        self.__dict__.update(_real=real, _missing=frozenset(missing), _more=more)

    def __getattr__(self, name: str) -> object:
        if name in self._more:
            return self._more[name]
        if name in self._missing:
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}' on this system")
        return getattr(self._real, name)


def _sockets_only(*lists: object) -> object:
    raise OSError("[WinError 10038] An operation was attempted on something that is not a socket")


def _no_signal(pid: int, number: int) -> None:
    raise AssertionError("os.kill ends a process, or sends Ctrl-C, on Windows")


def _locking(descriptor: int, mode: int, size: int) -> None:
    import fcntl

    fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, size)


class _Kernel32:
    """The three functions by which the workbench asks whether a process lives."""

    def __init__(self, *_: object, **__: object) -> None:
        self.error = 0
        self.OpenProcess = types.SimpleNamespace()
        self.OpenProcess = self._open  # type: ignore[assignment]

    class _Open:
        restype: object = None

        def __call__(self, access: int, inherits: bool, pid: int) -> int | None:
            return pid if os.path.exists(f"/proc/{pid}") else None

    _open = _Open()

    @staticmethod
    def GetExitCodeProcess(handle: object, code: object) -> int:
        code._obj.value = 259  # type: ignore[attr-defined]
        return 1

    @staticmethod
    def CloseHandle(handle: object) -> int:
        return 1


def _is_open(path: object) -> bool:
    held = os.path.realpath(os.fspath(path))  # type: ignore[call-overload]
    for number in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{number}") == held:
                return True
        except OSError:
            continue
    return False


def _install(told: dict[str, object]) -> None:
    import ctypes
    import importlib
    import pathlib

    system = told["system"]
    more: dict[str, dict[str, object]] = {"sys": {"platform": system}}
    absent = set(told["absent"])  # type: ignore[call-overload]
    if system == "win32":
        more["select"] = {"select": _sockets_only}
        more["os"] = {"kill": _no_signal}
        more["socket"] = {"SO_EXCLUSIVEADDRUSE": 2}
        more["ctypes"] = {"WinDLL": _Kernel32, "get_last_error": lambda: 87}
        more["msvcrt"] = {"LK_LOCK": 1, "locking": _locking}
        for name in ("unlink", "replace"):
            real = getattr(pathlib.Path, name)

            def checked(self: pathlib.Path, *rest: object, _real: object = real, **named: object) -> object:
                for path in (self, *(one for one in rest if isinstance(one, str | pathlib.Path))):
                    if _is_open(path):
                        raise PermissionError(13, "The process cannot access the file", str(path))
                return _real(self, *rest, **named)  # type: ignore[operator]

            setattr(pathlib.Path, name, checked)
    made: dict[str, types.ModuleType] = {}
    missing: dict[str, list[str]] = told["missing"]  # type: ignore[assignment]
    for name in {*missing, *more}:
        whole = types.ModuleType(name) if name == "msvcrt" else importlib.import_module(name)
        made[name] = _Module(whole, missing.get(name, []), more.get(name, {}))
    assert ctypes
    real_import = builtins.__import__

    def imported(name, globals=None, locals=None, fromlist=(), level=0):  # type: ignore[no-untyped-def]
        importer = str((globals or {}).get("__name__", "")).partition(".")[0]
        if level or importer not in _OURS:
            return real_import(name, globals, locals, fromlist, level)
        if name in absent:
            raise ModuleNotFoundError(f"No module named {name!r} on this system", name=name)
        found = made.get(name if fromlist else name.partition(".")[0])
        return found or real_import(name, globals, locals, fromlist, level)

    builtins.__import__ = imported


if _told := os.environ.get("WORKBENCH_STAND_IN"):
    _install(json.loads(_told))
