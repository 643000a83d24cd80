"""The test plans that the cyclers run."""

from __future__ import annotations

from dataclasses import dataclass

from channel import Cycler, Record

SPARSE = Record(seconds=210.0, volts=0.045, share=0.08)
SLOW = Record(seconds=120.0, volts=0.006, share=0.10)
RESTING = Record(seconds=600.0, volts=0.02)
PULSE = Record(seconds=1.0, volts=1.0)


@dataclass(frozen=True)
class Rates:
    """Currents of a specification's tests, A; voltages V."""

    charge: float
    discharge: float
    end: float
    rated: float
    low: float
    high: float


def ageing_cycle(channel: Cycler, rates: Rates, *, partial: float | None = None) -> None:
    """CC-CV charge, rest, CC discharge, rest. `partial`: seconds after which the discharge is broken off."""
    channel.cc(1, -rates.charge, SPARSE, until=rates.high)
    channel.cv(2, rates.high, rates.end, SPARSE)
    channel.rest(3, 600.0, SPARSE)
    if partial is not None:
        channel.cc(4, rates.discharge, SPARSE, until=rates.low, seconds=partial)
        return
    channel.cc(4, rates.discharge, SPARSE, until=rates.low)
    channel.rest(5, 600.0, SPARSE)
    channel.cycle += 1


def capacity_check(channel: Cycler, rates: Rates) -> None:
    """Cycle one: C/3 CC-CV charge and C/10 discharge. Cycle two: C/10 charge, then a 1C pulse at half charge."""
    rated = rates.rated
    channel.rest(1, 7200.0, RESTING)
    channel.cc(2, -rated / 3, SPARSE, until=rates.high)
    channel.cv(3, rates.high, rated / 50, SPARSE)
    channel.rest(4, 3600.0, RESTING)
    channel.cc(5, rated / 10, SLOW, until=rates.low)
    channel.rest(6, 3600.0, RESTING)
    channel.cycle += 1
    channel.cc(7, -rated / 10, SLOW, until=rates.high)
    channel.rest(8, 3600.0, RESTING)
    channel.cc(9, rated / 2, SPARSE, until=rates.low, seconds=3600.0)
    channel.rest(10, 3600.0, RESTING)
    pulse_pair(channel, 11, rated)
    channel.cc(15, rated / 2, SPARSE, until=rates.low)
    channel.rest(16, 1800.0, RESTING)


def pulse_pair(channel: Cycler, step: int, rated: float) -> None:
    """Discharge 10 s at 1C, rest 40 s, charge 10 s at C/2, rest 40 s."""
    relaxing = Record(seconds=5.0, volts=1.0)
    channel.cc(step, rated, PULSE, seconds=10.0)
    channel.rest(step + 1, 40.0, relaxing)
    channel.cc(step + 2, -0.5 * rated, PULSE, seconds=10.0)
    channel.rest(step + 3, 40.0, relaxing)


def pulse_test(channel: Cycler, rates: Rates) -> None:
    """Full charge, then a pulse pair at every tenth of charge on the way down (HPPC)."""
    rated = rates.rated
    channel.cc(1, -rated / 3, SPARSE, until=rates.high)
    channel.cv(2, rates.high, rated / 50, SPARSE)
    channel.rest(3, 3600.0, RESTING)
    for _ in range(9):
        channel.cc(4, rated / 3, SPARSE, until=rates.low + 0.1, seconds=1080.0)
        channel.rest(5, 3600.0, Record(300.0, 0.003))
        if channel.cell.voltage(rated) < rates.low + 0.3:
            break
        pulse_pair(channel, 6, rated)
    channel.cc(10, rated / 3, SPARSE, until=rates.low)
    channel.rest(11, 1800.0, RESTING)


def titration(channel: Cycler, rates: Rates) -> None:
    """GITT: C/10 pulses of 20 minutes, each followed by 90 minutes of rest, from full to empty. The samples of a pulse
    are close after its onset, where the square root of time is looked for."""
    rated = rates.rated
    channel.cc(1, -rated / 5, SPARSE, until=rates.high)
    channel.cv(2, rates.high, rated / 50, SPARSE)
    channel.rest(3, 7200.0, RESTING)
    for _ in range(40):
        before = channel.cell.voltage(rated / 10)
        if before <= rates.low + 0.02:
            break
        channel.cc(4, rated / 10, Record(60.0, 0.004, growth=1.25), until=rates.low, seconds=1200.0)
        channel.rest(5, 5400.0, Record(300.0, 0.001))


def slow_cycle(channel: Cycler, rates: Rates) -> None:
    """C/20 charge and discharge: quasi-open-circuit curves."""
    rated = rates.rated
    fine = Record(120.0, 0.004)
    channel.rest(1, 3600.0, RESTING)
    channel.cc(2, -rated / 20, fine, until=rates.high)
    channel.rest(3, 3600.0, RESTING)
    channel.cc(4, rated / 20, fine, until=rates.low)
    channel.rest(5, 3600.0, RESTING)


def rate_test(channel: Cycler, rates: Rates, multiples: tuple[float, ...]) -> None:
    """Two cycles at each discharge rate, charged the same way every time."""
    rated = rates.rated
    for multiple in multiples:
        for _ in range(2):
            channel.cc(1, -rated / 3, SPARSE, until=rates.high)
            channel.cv(2, rates.high, rated / 40, SPARSE)
            channel.rest(3, 1800.0, RESTING)
            channel.cc(4, rated * multiple, Record(60.0, 0.02), until=rates.low)
            channel.rest(5, 1800.0, RESTING)
            channel.cycle += 1
