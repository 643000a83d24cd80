"""A lithium-ion cell that ages: a single-particle model with lumped electrolyte, heat and side reactions.

Signs inside this folder: current is positive on discharge. The exports turn it to each brand's own sign.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import asinh, exp, sqrt

GAS = 8.314462618  # J/(mol K)
FARADAY = 96485.33212  # C/mol
REFERENCE = 298.15  # K

# Roots of tan(x) = x: the modes of diffusion in a sphere with a given flux at its surface.
MODES = (4.493409458, 7.725251837, 10.904121659, 14.066193913)
SHARES = tuple(2.0 / root**2 for root in MODES)
REMAINDER = 0.2 - sum(SHARES)


@dataclass(frozen=True)
class Potential:
    """An open-circuit potential tabulated evenly over stoichiometry 0 to 1, V against Li/Li+."""

    values: tuple[float, ...]

    def __call__(self, stoichiometry: float) -> float:
        """Potential at one stoichiometry, V; beyond 0 and 1 it runs away steeply, as a real electrode does."""
        last = len(self.values) - 1
        position = stoichiometry * last
        if position <= 0:
            return self.values[0] - 40.0 * stoichiometry
        if position >= last:
            return self.values[-1] - 40.0 * (stoichiometry - 1.0)
        low = int(position)
        return self.values[low] + (position - low) * (self.values[low + 1] - self.values[low])


@dataclass(frozen=True)
class Electrode:
    """One porous electrode seen as a single particle."""

    potential: Potential
    capacity: float  # A.h over stoichiometry 0 to 1
    empty: float  # stoichiometry of the discharged cell
    full: float  # stoichiometry of the charged cell
    diffusion_time: float  # s, radius squared over diffusivity at 25 degC
    exchange_current: float  # A, at stoichiometry 0.5 and 25 degC


@dataclass(frozen=True)
class Design:
    """What a specification fixes: two electrodes, a resistance, an electrolyte branch, a thermal mass."""

    name: str
    negative: Electrode
    positive: Electrode
    rated: float  # A.h
    voltage_min: float  # V
    voltage_max: float  # V
    resistance: float  # Ohm, ohmic, at 25 degC
    electrolyte_resistance: float  # Ohm, slow branch at 25 degC
    electrolyte_time: float  # s
    heat_capacity: float  # J/K
    heat_loss: float  # W/K


@dataclass(frozen=True)
class Ageing:
    """Rates at 25 degC; each rises with temperature by its activation energy."""

    sei: float  # A.h per square root of a day, parabolic film growth
    sei_energy: float  # J/mol
    throughput_loss: float  # A.h of lithium per A.h charged (film cracked and healed)
    loss_negative: float  # share of active material per A.h
    loss_positive: float  # share of active material per A.h
    loss_energy: float  # J/mol
    resistance_per_loss: float  # relative rise of the resistances per share of capacity lost to the film
    knee: float = 9.0  # share of capacity lost at which plating sets in; 9 = never
    plating: float = 0.0  # A.h of lithium per A.h charged once it has set in


@dataclass
class Cell:
    """The state of one cell. `advance` moves it in time, `voltage` reads it."""

    design: Design
    ageing: Ageing
    ambient: float  # degC
    soc: float = 0.3
    size: float = 1.0  # capacity relative to the design
    resistance_factor: float = 1.0
    x_negative: float = field(init=False)
    x_positive: float = field(init=False)
    q_negative: float = field(init=False)  # A.h
    q_positive: float = field(init=False)  # A.h
    temperature: float = field(init=False)  # degC
    sei: float = field(init=False)  # A.h of lithium in the film
    plated: float = 0.0  # A.h of lithium plated for good
    electrolyte_voltage: float = 0.0  # V
    modes_negative: list[float] = field(default_factory=lambda: [0.0] * len(MODES))
    modes_positive: list[float] = field(default_factory=lambda: [0.0] * len(MODES))

    def __post_init__(self) -> None:
        negative, positive = self.design.negative, self.design.positive
        self.x_negative = negative.empty + self.soc * (negative.full - negative.empty)
        self.x_positive = positive.empty + self.soc * (positive.full - positive.empty)
        self.q_negative = negative.capacity * self.size
        self.q_positive = positive.capacity * self.size
        self.temperature = self.ambient
        self.sei = 0.004 * self.design.rated

    def snapshot(self) -> tuple[float | list[float], ...]:
        """The moving part of the state, to return to if a step went too far."""
        return (
            self.x_negative,
            self.x_positive,
            self.q_negative,
            self.q_positive,
            self.temperature,
            self.sei,
            self.plated,
            self.electrolyte_voltage,
            list(self.modes_negative),
            list(self.modes_positive),
        )

    def restore(self, state: tuple[float | list[float], ...]) -> None:
        """Return to a snapshot."""
        (
            self.x_negative,
            self.x_positive,
            self.q_negative,
            self.q_positive,
            self.temperature,
            self.sei,
            self.plated,
            self.electrolyte_voltage,
            negative,
            positive,
        ) = state  # type: ignore[assignment]
        self.modes_negative, self.modes_positive = list(negative), list(positive)  # type: ignore[arg-type]

    def faster(self, energy: float) -> float:
        """Arrhenius factor at the present temperature for an activation energy in J/mol."""
        return exp(energy / GAS * (1.0 / REFERENCE - 1.0 / (self.temperature + 273.15)))

    def film_loss(self) -> float:
        """Lithium lost to film and plating, share of the rated capacity."""
        return (self.sei + self.plated) / self.design.rated

    def ohmic(self) -> float:
        """Ohmic resistance now, Ohm."""
        grown = 1.0 + self.ageing.resistance_per_loss * self.film_loss()
        return self.design.resistance * self.resistance_factor * grown / self.faster(12_000.0)

    def exchange_currents(self) -> tuple[float, float]:
        """Exchange currents of the negative and the positive electrode at their mean stoichiometries, A."""
        hot = self.faster(42_000.0)
        currents = []
        for electrode, x, q in (
            (self.design.negative, self.x_negative, self.q_negative),
            (self.design.positive, self.x_positive, self.q_positive),
        ):
            inside = min(max(x, 0.004), 0.996)
            active = q / (electrode.capacity * self.size)
            currents.append(electrode.exchange_current * 2.0 * sqrt(inside * (1.0 - inside)) * active * hot)
        grown = 1.0 + 0.6 * self.ageing.resistance_per_loss * self.film_loss()
        return currents[0] / grown, currents[1] / grown

    def open_circuit(self) -> float:
        """Voltage after a very long rest, V."""
        return self.design.positive.potential(self.x_positive) - self.design.negative.potential(self.x_negative)

    def voltage(self, current: float) -> float:
        """Terminal voltage under `current` (A, positive = discharge), V."""
        hot = self.faster(30_000.0)
        rate_n = -current / (3600.0 * self.q_negative) * self.design.negative.diffusion_time / hot / 3.0
        rate_p = current / (3600.0 * self.q_positive) * self.design.positive.diffusion_time / hot / 3.0
        surface_n = self.x_negative + sum(self.modes_negative) + rate_n * REMAINDER
        surface_p = self.x_positive + sum(self.modes_positive) + rate_p * REMAINDER
        thermal = 2.0 * GAS * (self.temperature + 273.15) / FARADAY
        i_n, i_p = self.exchange_currents()
        kinetic = thermal * (asinh(current / (2.0 * i_n)) + asinh(current / (2.0 * i_p)))
        equilibrium = self.design.positive.potential(surface_p) - self.design.negative.potential(surface_n)
        return equilibrium - kinetic - current * self.ohmic() - self.electrolyte_voltage

    def advance(self, current: float, seconds: float) -> None:
        """Move on by `seconds` under a constant `current` (A, positive = discharge)."""
        hot = self.faster(30_000.0)
        hours = seconds / 3600.0
        heat = current * (self.open_circuit() - self.voltage(current))

        for modes, rate, tau in (
            (
                self.modes_negative,
                -current / (3600.0 * self.q_negative),
                self.design.negative.diffusion_time / hot,
            ),
            (self.modes_positive, current / (3600.0 * self.q_positive), self.design.positive.diffusion_time / hot),
        ):
            for k, root in enumerate(MODES):
                settled = rate * tau / 3.0 * SHARES[k]
                modes[k] = settled + (modes[k] - settled) * exp(-seconds * root**2 / tau)

        settled = current * self.design.electrolyte_resistance / self.faster(15_000.0)
        decay = exp(-seconds / self.design.electrolyte_time)
        self.electrolyte_voltage = settled + (self.electrolyte_voltage - settled) * decay

        lost = self._side_reactions(current, hours)
        self.x_negative -= (current * hours + lost) / self.q_negative
        self.x_positive += current * hours / self.q_positive

        steady = self.ambient + heat / self.design.heat_loss
        cooling = exp(-seconds * self.design.heat_loss / self.design.heat_capacity)
        self.temperature = steady + (self.temperature - steady) * cooling

    def _side_reactions(self, current: float, hours: float) -> float:
        """Lithium lost in this step, A.h; also shrinks the active material."""
        rates = self.ageing
        growth = (rates.sei * self.faster(rates.sei_energy)) ** 2 / 24.0
        film = growth / (2.0 * self.sei) * hours
        moved = abs(current) * hours
        plated = 0.0
        if current < 0:
            film += rates.throughput_loss * self.faster(rates.sei_energy) * moved
            excess = self.film_loss() - rates.knee
            if excess > 0:
                plated = rates.plating * (1.0 + 30.0 * excess) * moved
        self.sei += film
        self.plated += plated
        worn = moved * self.faster(rates.loss_energy)
        self.q_negative *= 1.0 - rates.loss_negative * worn
        self.q_positive *= 1.0 - rates.loss_positive * worn
        return film + plated
