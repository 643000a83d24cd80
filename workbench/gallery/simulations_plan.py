"""The part of a plan that entries on simulations share: those with a measured voltage, and their control."""

from __future__ import annotations

from pydantic import JsonValue

from ..recipe.steps.series import MOST_POINTS
from .entry import Params, Steps, Unmet
from .facts import Facts

COLUMNS = ("Voltage [V]", "Measured voltage [V]", "Voltage error [mV]", "Current [A]", "Step count")
SIMULATIONS_OF_TESTS = (
    "Simulations with the measured current of a test: bench.simulate('Chen2020', 'NAME OF A TEST')."
)
"""What entries on simulations need, in words."""
LACKING = (
    "The project has no simulation beside a measurement. Make one from its current: "
    "bench.simulate('Chen2020', 'NAME OF A TEST'), with battery-workbench[sim] installed."
)


def beside_measurements(facts: Facts, most: int = 3) -> tuple[Steps, Params]:
    """The steps ``simulations``, ``chosen`` and ``samples``, and the control that chooses among them.

    Raises
    ------
    Unmet
        If no simulation has a measured voltage beside its own.
    """
    held = facts.simulations(*COLUMNS, "Time [s]")
    if not held:
        raise Unmet(LACKING)
    ids: list[JsonValue] = [*held]
    wanted: list[JsonValue] = [*COLUMNS]
    steps: Steps = {
        "simulations": {"op": "list", "source": "simulations", "where": {"ids": ids}, "fields": ["id", "name"]},
        "chosen": {
            "op": "list",
            "source": "simulations",
            "where": {"ids": "$simulations"},
            "fields": ["id", "name", "model_name", "created_at"],
        },
        "samples": {
            "op": "series",
            "source": "simulations",
            "ids": {"from": "chosen", "column": "id"},
            "x": "Time [s]",
            "columns": wanted,
            "max_points": MOST_POINTS,
        },
    }
    options: dict[str, JsonValue] = {"step": "simulations", "value": "id", "label": "name"}
    control: dict[str, JsonValue] = {"label": "Simulations", "optionsFrom": options}
    newest: list[JsonValue] = [*ids[-most:]]
    return steps, {"simulations": {"kind": "data", "default": newest, "control": control}}
