"""Two synthetic drive cycles: a speed profile of random trips, a road load, a current for one 5 Ah cell."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Route:
    """How a route is driven: cruising speeds m/s, accelerations m/s2, lengths of cruise and stop s."""

    seconds: int
    speeds: tuple[float, float]
    acceleration: tuple[float, float]
    cruise: tuple[float, float]
    stop: tuple[float, float]
    stop_chance: float


URBAN = Route(1200, (5.0, 15.0), (0.6, 1.6), (6.0, 40.0), (4.0, 22.0), 0.75)
HIGHWAY = Route(1500, (20.0, 35.0), (0.3, 1.1), (40.0, 160.0), (3.0, 8.0), 0.05)


def speed(route: Route, rng: np.random.Generator) -> Floats:
    """Speed at every second, m/s; starts and ends at rest."""
    values = [0.0] * 5
    while len(values) < route.seconds - 60:
        target = rng.uniform(*route.speeds)
        _ramp(values, target, rng.uniform(*route.acceleration))
        for _ in range(int(rng.uniform(*route.cruise))):
            values.append(max(values[-1] + 0.12 * (target - values[-1]) + rng.normal(0, 0.15), 0.0))
        if rng.random() < route.stop_chance:
            _ramp(values, 0.0, rng.uniform(0.8, 2.0))
            values.extend([0.0] * int(rng.uniform(*route.stop)))
    del values[route.seconds - 60 :]
    _ramp(values, 0.0, 1.2)
    values.extend([0.0] * (route.seconds + 1 - len(values)))
    return np.array(values[: route.seconds + 1])


def _ramp(values: list[float], target: float, rate: float) -> None:
    """Append a ramp from the last speed to `target` (m/s) at `rate` (m/s2)."""
    while abs(values[-1] - target) > rate:
        values.append(values[-1] + np.sign(target - values[-1]) * rate)
    values.append(target)


def current(profile: Floats, *, cells: int = 1500, mass: float = 1750.0) -> Floats:
    """Current of one cell, A, positive = discharge, from the road load of a car with `cells` cells at 3.7 V."""
    acceleration = np.gradient(profile)
    force = mass * acceleration + 0.5 * 1.2 * 0.62 * profile**2 + 0.011 * mass * 9.81 * (profile > 0.1)
    power = force * profile
    electric = np.where(power > 0, power / 0.88, power * 0.60) + 600.0
    return np.asarray(np.round(np.clip(electric / cells / 3.7, -5.0, 12.5), 3))


def write(path: Path, amperes: Floats) -> None:
    """Csv with a header: time in s, current in A (positive = discharge)."""
    rows = "".join(f"{second},{value:.3f}\n" for second, value in enumerate(amperes))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("Time [s],Current [A]\n" + rows, encoding="utf-8")
