"""Slow, plain Python ``steps`` and ``cycles``, written from the pages alone, to compare the fast ones with."""

from __future__ import annotations

import math
from itertools import groupby, pairwise
from typing import Any

from support.reference_onsets import onset

Row = dict[str, Any]
COUNTERS = {
    "Discharge capacity [A.h]": ("Current [A]", 1),
    "Charge capacity [A.h]": ("Current [A]", -1),
    "Discharge energy [W.h]": ("Power", 1),
    "Charge energy [W.h]": ("Power", -1),
}


def known(value: Any) -> bool:
    return value is not None and value == value


def number(value: Any) -> Any:
    return value if known(value) else None


def deviation(values: list[Any]) -> float:
    if len(values) >= 4:
        values = values[1:-1]
    elif len(values) == 3:
        values = values[1:]
    values = [value for value in values if known(value)]
    if len(values) < 2:
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def trapezoid(times: list[Any], rates: list[Any]) -> float:
    points = [(t, r) for t, r in zip(times, rates, strict=True) if known(t) and known(r)]
    return math.fsum((t2 - t1) * (a + b) / 2 / 3600 for (t1, a), (t2, b) in pairwise(points))


def clipped(values: list[Any], sign: int) -> list[Any]:
    return [max(sign * value, 0.0) if known(value) else None for value in values]


def cycle_numbers(rows: list[Row]) -> list[int]:
    name = "Cycle from cycler" if rows and "Cycle from cycler" in rows[0] else "Cycle count"
    number_, last, made = 0, None, []
    for row in rows:
        value = row.get(name)
        if known(value):
            if last is not None and value != last:
                number_ += 1
            last = value
        made.append(number_)
    return made


def statistics(out: Row, name: str, unit: str, values: list[Any], *, std: bool = True) -> None:
    some = [value for value in values if known(value)]
    out[f"Min {name} [{unit}]"] = min(some) if some else None
    out[f"Max {name} [{unit}]"] = max(some) if some else None
    out[f"Mean {name} [{unit}]"] = math.fsum(some) / len(some) if some else None
    if std:
        out[f"Std {name} [{unit}]"] = deviation(values)


def one_step(rows: list[Row], start: int, cycle: int) -> Row:
    def col(name: str) -> list[Any]:
        return [row.get(name) for row in rows]

    t, v, i = col("Time [s]"), col("Voltage [V]"), col("Current [A]")
    p = [a * b if known(a) and known(b) else None for a, b in zip(v, i, strict=True)]
    out: Row = {"Step count": rows[0]["Step count"], "Start index": start, "End index": start + len(rows) - 1}
    out["Start time [s]"], out["End time [s]"] = number(t[0]), number(t[-1])
    out["Duration [s]"] = t[-1] - t[0] if known(t[0]) and known(t[-1]) else None
    out["Start voltage [V]"], out["End voltage [V]"] = number(v[0]), number(v[-1])
    statistics(out, "voltage", "V", v)
    statistics(out, "current", "A", i)
    statistics(out, "power", "W", p)
    statistics(out, "frequency", "Hz", col("Frequency [Hz]"))
    for word in ("Min", "Max", "Mean"):
        if out[f"{word} frequency [Hz]"] is None:
            out[f"{word} frequency [Hz]"] = 0.0
    for name, (rate, sign) in COUNTERS.items():
        if name in rows[0]:
            some = [value for value in col(name) if known(value)]
            out[name] = max(some[-1] - some[0], 0.0) if some else None
        else:
            out[name] = trapezoid(t, clipped(i if rate == "Current [A]" else p, sign))
    out["Cycle count"] = cycle
    for name in ("Step from cycler", "Cycle from cycler"):
        some = [value for value in col(name) if known(value)]
        out[name] = some[0] if some else None
    if "Temperature [degC]" in rows[0]:
        statistics(out, "temperature", "degC", col("Temperature [degC]"), std=False)
    return out


def steps(rows: list[Row]) -> list[Row]:
    numbers = cycle_numbers(rows)
    made, at = [], 0
    for _, group in groupby(rows, key=lambda row: row["Step count"]):
        members = list(group)
        made.append(one_step(members, at, numbers[at]))
        made[-1] |= onset(rows[:at], members, made[-1]["Std current [A]"])
        at += len(members)
    add_cycle_sums(made)
    return made


def add_cycle_sums(made: list[Row]) -> None:
    for name in COUNTERS:
        for row in made:
            same = [other[name] for other in made if other["Cycle count"] == row["Cycle count"]]
            row[f"Cycle {name[0].lower()}{name[1:]}"] = math.fsum(value for value in same if known(value))


def ratio(above: Any, below: Any) -> Any:
    return above / below if below else None


def total(values: list[Any]) -> float:
    return math.fsum(value for value in values if known(value))


def weighted(pairs: list[tuple[Any, Any]]) -> Any:
    pairs = [(value, weight) for value, weight in pairs if known(value) and known(weight)]
    return ratio(math.fsum(value * weight for value, weight in pairs), math.fsum(weight for _, weight in pairs))


def one_cycle(number_: int, rows: list[Row]) -> Row:
    out: Row = {"Cycle count": number_}
    for name in COUNTERS:
        out[name] = total([row[name] for row in rows])
    out["Coulombic efficiency"] = ratio(out["Discharge capacity [A.h]"], out["Charge capacity [A.h]"])
    out["Energy efficiency"] = ratio(out["Discharge energy [W.h]"], out["Charge energy [W.h]"])
    for word, sign in (("discharge", 1), ("charge", -1)):
        chosen = [row for row in rows if known(row["Mean current [A]"]) and row["Mean current [A]"] * sign > 0]
        out[f"Mean {word} current [A]"] = weighted([(r["Mean current [A]"], r["Duration [s]"]) for r in chosen])
        out[f"{word.capitalize()} duration [s]"] = total([row["Duration [s]"] for row in chosen])
    for name, choose in (("Min voltage [V]", min), ("Max voltage [V]", max), ("Start time [s]", min)):
        some = [row[name] for row in rows if known(row[name])]
        out[name] = choose(some) if some else None
    out["Cycle duration [s]"] = total([row["Duration [s]"] for row in rows])
    if "Mean temperature [degC]" in rows[0]:
        out["Mean temperature [degC]"] = weighted(
            [(r["Mean temperature [degC]"], r["Duration [s]"]) for r in rows]
        )
    return out


def cycles(made: list[Row]) -> list[Row]:
    numbers = sorted({row["Cycle count"] for row in made})
    out = [one_cycle(n, [row for row in made if row["Cycle count"] == n]) for n in numbers]
    for word, unit in (("Capacity", "capacity [A.h]"), ("Energy", "energy [W.h]")):
        so_far = []
        for row in out:
            row[f"{word} retention"] = ratio(row[f"Discharge {unit}"], out[0][f"Discharge {unit}"])
            row[f"{word} fade"] = None if row[f"{word} retention"] is None else 1 - row[f"{word} retention"]
            so_far += [row[f"Discharge {unit}"], row[f"Charge {unit}"]]
            row[f"{word} throughput {unit[unit.index('[') :]}"] = math.fsum(so_far)
    return out


def step_type(row: Row, rest: float, constant: float) -> str:
    mean = row["Mean current [A]"]
    if row["Mean frequency [Hz]"] > 1e-8:
        return "EIS"
    if mean is None:
        return "Unknown step type"
    if abs(mean) < rest:
        return "Rest"
    way = "discharge" if mean > 0 else "charge"
    if row["Std current [A]"] < constant:
        return f"Constant current {way}"
    if row["Std voltage [V]"] < 0.01:
        return f"Constant voltage {way}"
    if row["Std power [W]"] < 0.01:
        return f"Constant power {way}"
    return "Unknown step type"
