"""What a bench can do on a store, here or on a server. Each capability is declared once, with its path and its right.

A local bench runs the function of an operation. A remote bench sends its arguments as a request. The server makes a
FastAPI route of it. See `operation`, and ``docs/explanation/adding-things.md`` for an example.
"""

from __future__ import annotations

from .alerts import AlertOperations
from .analyses import AnalysisOperations
from .conversations import ConversationOperations
from .galleries import GalleryOperations
from .operation import Carrier, Operation
from .plots import PlotOperations
from .recipes import RecipeOperations
from .stores import StoreOperations

__all__ = ["GROUPS", "OPERATIONS", "AnyOperation", "Carrier", "Operation", "Operations"]


class Operations(
    PlotOperations,
    RecipeOperations,
    ConversationOperations,
    AnalysisOperations,
    GalleryOperations,
    AlertOperations,
    StoreOperations,
    Carrier,
):
    """Everything that is declared as an operation."""


AnyOperation = Operation[..., object]
GROUPS: dict[str, tuple[AnyOperation, ...]] = {
    cls.group: tuple(found for found in vars(cls).values() if isinstance(found, Operation))
    for cls in (
        PlotOperations,
        RecipeOperations,
        ConversationOperations,
        AnalysisOperations,
        GalleryOperations,
        AlertOperations,
        StoreOperations,
    )
}
"""The operations by what they are about."""
OPERATIONS: tuple[AnyOperation, ...] = tuple(one for group in GROUPS.values() for one in group)
