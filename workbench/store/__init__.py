"""The store: one SQLite file with all records, samples and files. Only this package uses SQLite."""

from .db.connections import Transaction
from .scope import Scope
from .store import Store

__all__ = ["Scope", "Store", "Transaction"]
