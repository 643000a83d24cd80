"""The functions that may run in other processes: those of the workbench, marked as such and called by name.

An executor takes any function, and a scheduler of Dask runs whatever it is sent. So nothing is sent but a name: the
script of a plot cannot be among the names, and its code does not travel.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..errors import BadRequest, OtherVersion
from ..version import __version__

Function = TypeVar("Function", bound=Callable[..., object])
PACKAGE = __name__.partition(".")[0]
_OWN: dict[str, Callable[..., object]] = {}


def own_task(function: Function) -> Function:
    """Marks a function of a module of the workbench as one that may run in another process."""
    _OWN[f"{function.__module__}:{function.__qualname__}"] = function
    return function


def name_of(function: Callable[..., object]) -> str:
    """The name under which another process finds a function.

    Raises
    ------
    TypeError
        If it is not marked as a task of the workbench.
    """
    name = f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', '')}"
    if _OWN.get(name) is not function or not _is_inside(name):
        raise TypeError(f"Only functions of the workbench that are marked with own_task fan out, not '{name}'.")
    return name


def carry_out(version: str, name: str, arguments: Sequence[Any]) -> Any:
    """Run a task by its name, in the process that was asked.

    Raises
    ------
    OtherVersion
        If who asks has another version of the workbench: its answers could differ.
    BadRequest
        If the name is not that of a task.
    """
    if version != __version__:
        raise OtherVersion(
            f"A worker has version {__version__} of the workbench and this process {version}. Install the same version "
            "for the workers, and start them again."
        )
    if _is_inside(name):
        importlib.import_module(name.partition(":")[0])
    if name not in _OWN:
        raise BadRequest(f"There is no task '{name[:120]}'.")
    return _OWN[name](*arguments)


def _is_inside(name: str) -> bool:
    module = name.partition(":")[0]
    return module.startswith(f"{PACKAGE}.")
