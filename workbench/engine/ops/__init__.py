"""What the operations do: one module each, named as the operation, which registers its meaning with ``run_step``."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from ...recipe.steps import STEPS, Step
from ..plan import run_step


def _load() -> None:
    """Import the module of every operation.

    Raises
    ------
    ImportError
        If an operation has no module, or its module registers nothing for it; says what to write.
    """
    for op, model in STEPS.items():
        where = f"workbench/engine/ops/{op}.py"
        if find_spec(f"{__name__}.{op}") is None:
            raise ImportError(f"The operation '{op}' has no meaning: write {where} with '@run_step.register'.")
        import_module(f"{__name__}.{op}")
        if run_step.dispatch(model) is run_step.dispatch(Step):
            raise ImportError(f"{where} registers nothing for {model.__name__}: it needs '@run_step.register'.")


_load()
