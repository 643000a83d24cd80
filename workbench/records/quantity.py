"""Numbers with a unit, and the electrical ratings made of them."""

import math
from typing import Annotated

from pydantic import AfterValidator, Field

from .record import Strict, Text


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise ValueError(f"{number} is not a finite number.")
    return number


class Quantity(Strict):
    """A number and its unit: ``{"value": 5.0, "unit": "A.h"}``."""

    value: Annotated[float, AfterValidator(_finite)] = Field(description="The number.")
    unit: Text = Field(description="Its unit, such as A.h or V.")


class Ratings(Strict):
    """Electrical ratings from the spec sheet or design targets; the list is closed."""

    capacity: Quantity = Field(description="Rated capacity; 0 where it is not known.")
    voltage_min: Quantity = Field(description="Lower voltage bound.")
    voltage_max: Quantity = Field(description="Upper voltage bound.")
    nominal_voltage: Quantity | None = Field(None, description="Nominal voltage.")
    energy: Quantity | None = Field(None, description="Rated energy.")
    energy_density_gravimetric: Quantity | None = Field(None, description="Energy by mass.")
    energy_density_volumetric: Quantity | None = Field(None, description="Energy by volume.")
    max_discharge_rate: Quantity | None = Field(None, description="Highest discharge rate.")
    max_charge_rate: Quantity | None = Field(None, description="Highest charge rate.")
