"""How it is kept: one SQLite file; the only part of the workbench that knows SQLite."""

from .db.connections import Transaction
from .scope import Scope
from .store import Store

__all__ = ["Scope", "Store", "Transaction"]
