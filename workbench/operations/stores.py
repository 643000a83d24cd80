"""Operations on the whole store."""

from __future__ import annotations

from typing_extensions import TypedDict

from ..store.verify_apart import verify
from .operation import Local, operation


class Soundness(TypedDict):
    """Everything wrong with a store, as sentences; empty if it is sound."""

    problems: list[str]


class StoreOperations:
    """What Admins can do with the whole store."""

    group = "The store"

    @operation("GET", "/store/verify", None, project="none", heavy=True, since="0.1.1")
    def soundness(self: Local) -> Soundness:
        """Everything wrong with the store; reads all of it. Only for Admins of every organization in it."""
        return {"problems": verify(self.store, self.fan_out)}
