"""The transforms of quick recipes. Their text becomes the script, so they use only what a script has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from workbench import battery

if TYPE_CHECKING:
    from collections.abc import Mapping

    Data = Mapping[str, Any]
    """Frames by step, as a script gets them; a series step is a mapping of frames."""

SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
PANELS = ("Voltage [V]", "Current [A]", "Temperature [degC]")
TITLES = {"Temperature [degC]": "Temp. / °C"}
DASHES = ("solid", "dash", "dot", "dashdot")
CYCLE, OUT, IN, COMPLETE = "Cycle count", "Discharge capacity [A.h]", "Charge capacity [A.h]", "Complete"


class TimeParams(TypedDict):
    """``unit`` of the time axis, a key of ``SECONDS``."""

    unit: str


class CycleParams(TypedDict):
    """``partial`` also shows incomplete cycles."""

    partial: bool


class LineParams(TypedDict):
    """Columns ``y`` over the column ``x``, one curve for each value of the column ``group``."""

    x: str
    y: list[str]
    group: str | None


def over_time(data: Data, params: TimeParams) -> go.Figure:
    """Voltage, current and the other columns of the step over time, one panel each."""
    samples = next(iter(data["samples"].values()))
    columns = [column for column in samples.columns if column in PANELS and samples[column].notna().any()]
    back = np.flatnonzero(np.diff(samples["Time [s]"]) < 0)
    if len(back):  # the curve is interrupted where the time starts again
        samples = pd.DataFrame(
            np.insert(samples.to_numpy(float), back + 1, np.nan, axis=0), columns=samples.columns
        )
    unit = params["unit"]
    time = samples["Time [s]"] if unit == "s" else samples["Time [s]"] / SECONDS[unit]
    heights = {1: [1], 2: [0.6, 0.4], 3: [0.46, 0.27, 0.27]}[len(columns)]
    fig = make_subplots(rows=len(columns), shared_xaxes=True, vertical_spacing=0.05, row_heights=heights)
    for row, column in enumerate(columns, start=1):
        values, title = of_size(samples[column], column)
        fig.add_scatter(
            x=time,
            y=values,
            mode="lines",
            name=column,
            showlegend=False,
            line={"color": battery.PALETTE[row - 1], "width": 1.4},
            hovertemplate=f"%{{x:.5g}} {unit}: %{{y:.5g}}<extra></extra>",
            row=row,
            col=1,
        )
        fig.update_yaxes(title_text=title, row=row)
    fig.update_xaxes(title_text=f"Time / {unit}", row=len(columns))
    return fig.update_layout(
        template=battery.template(), margin={"t": 24}, height=[400, 450, 560][len(columns) - 1]
    )


def of_size(values: pd.Series[float], column: str) -> tuple[pd.Series[float], str]:
    """Values with the title of their axis; small currents in mA or µA."""
    if column == "Current [A]":
        most = values.abs().max()
        for unit, factor in (("µA", 1e6), ("mA", 1e3)):
            if 0 < most < 100 / factor:
                return factor * values, f"Current / {unit}"
    return values, TITLES.get(column, battery.axis_title(column))


def complete_cycles(rows: pd.DataFrame) -> pd.DataFrame:
    """The cycles without those that are not complete; all of them if none is."""
    kept = rows[~rows[COMPLETE].isin([False])]
    return kept if len(kept) else rows


def per_cycle(data: Data, params: CycleParams) -> go.Figure:
    """Capacity of every cycle, and in a second panel the coulombic efficiency."""
    rows = data["cycles"] if params["partial"] else complete_cycles(data["cycles"])
    milli = max(rows[OUT].max(), rows[IN].max()) < 0.1
    unit, factor = ("mA h", 1000) if milli else ("A h", 1)
    fig = make_subplots(rows=2, shared_xaxes=True, vertical_spacing=0.05, row_heights=[0.58, 0.42])
    for column, name, symbol, color in ((OUT, "discharge", "circle", 0), (IN, "charge", "circle-open", 1)):
        fig.add_scatter(
            x=rows[CYCLE],
            y=factor * rows[column],
            mode="markers",
            name=name,
            marker={"symbol": symbol, "color": battery.PALETTE[color], "size": 6},
            hovertemplate=f"cycle count %{{x}}: %{{y:.5g}} {unit}<extra>{name}</extra>",
            row=1,
            col=1,
        )
    # The efficiency of a cycle with almost no charge is a quotient of noise.
    efficiency = (100 * rows["Coulombic efficiency"]).where(rows[IN] > 0.01 * rows[IN].max())
    fig.add_scatter(
        x=rows[CYCLE],
        y=efficiency,
        mode="markers",
        name="efficiency",
        showlegend=False,
        marker={"color": battery.PALETTE[2], "size": 5},
        hovertemplate="cycle count %{x}: %{y:.3f} %<extra></extra>",
        row=2,
        col=1,
    )
    inner = efficiency[np.isfinite(efficiency)]
    if len(inner) > 4:  # a first cycle far from the others would flatten them
        low, high = inner.quantile(0.05), inner.quantile(0.95)
        room = max(high - low, 0.1)
        fig.update_yaxes(range=[low - room, high + room], row=2)
    fig.update_yaxes(title_text=f"Capacity / {unit}", row=1)
    fig.update_yaxes(title_text="Coulombic eff. / %", row=2)
    fig.update_xaxes(title_text="Cycle count", row=2)
    look = {"template": battery.template(), "legend": battery.legend()}
    return fig.update_layout(margin={"t": 24}, height=520, **look)


def nyquist(data: Data, params: dict[str, str]) -> go.Figure:
    """Every spectrum: minus the imaginary part over the real part."""
    samples = next(iter(data["samples"].values())).dropna(subset=["Z_Re [Ohm]", "Z_Im [Ohm]"])
    loops = next((name for name in (CYCLE, "Step count") if samples[name].nunique() > 1), None)
    groups: list[tuple[int, pd.DataFrame]] = [(0, samples)] if loops is None else list(samples.groupby(loops))
    milli = samples[["Z_Re [Ohm]", "Z_Im [Ohm]"]].abs().max().max() < 1
    colors = battery.sequential(len(groups))
    fig = go.Figure()
    for color, (place, spectrum) in zip(colors, groups, strict=True):
        scaled = spectrum.assign(
            **{name: (1000 if milli else 1) * spectrum[name] for name in ("Z_Re [Ohm]", "Z_Im [Ohm]")}
        )
        name = "spectrum" if loops is None else f"{'loop' if loops == CYCLE else 'step'} {place + 1}"
        trace = battery.nyquist_trace(scaled, name, color)
        trace["showlegend"] = 1 < len(groups) <= 12
        trace["hovertemplate"] = (
            "Z′ %{x:.4g}, −Z″ %{y:.4g} " + ("mΩ" if milli else "Ω") + "<br>%{customdata:.3~s}Hz"
        )
        fig.add_trace(trace)
    layout = battery.nyquist_layout()
    if milli:
        layout["xaxis"]["title"]["text"], layout["yaxis"]["title"]["text"] = "Z′ / mΩ", "−Z″ / mΩ"
    return fig.update_layout(template=battery.template(), margin={"t": 24}, **layout)


def unit_of(column: str) -> str:
    """The unit in brackets. A column without a unit has a panel of its own; columns without a name share one."""
    if column.startswith("column "):
        return "value"
    return column.rpartition("[")[2].rstrip("]") if column.endswith("]") else column


def lines(data: Data, params: LineParams) -> go.Figure:
    """Columns over another column, one panel for each unit, one colour for each group."""
    frame = next(iter(data["rows"].values())) if hasattr(data["rows"], "complete") else data["rows"]
    x, group = params["x"], params["group"]
    units = list(dict.fromkeys(unit_of(column) for column in params["y"]))
    fig = make_subplots(rows=len(units), shared_xaxes=True, vertical_spacing=0.05)
    several = {unit: sum(unit_of(column) == unit for column in params["y"]) > 1 for unit in units}
    parts: list[tuple[str, pd.DataFrame]] = (
        [("", frame)] if group is None else list(frame.groupby(group, sort=False))
    )
    for used, column in enumerate(params["y"]):
        row = units.index(unit_of(column)) + 1
        for place, (part, rows) in enumerate(parts):
            rows = rows.dropna(subset=[column])
            if not len(rows):
                continue
            steps = np.diff(rows[x].to_numpy(float)) if pd.api.types.is_numeric_dtype(rows[x]) else np.ones(0)
            mode = "lines" if (steps >= 0).all() or (steps <= 0).all() else "markers"
            label = str(part) if group is not None else column
            look = place if group is not None else used
            fig.add_scatter(
                x=rows[x],
                y=rows[column],
                mode="lines+markers" if mode == "lines" and len(rows) <= 60 else mode,
                name=label if group is None or not several[unit_of(column)] else f"{label}, {column}",
                legendgroup=label,
                showlegend=(group is not None and row == 1) or several[unit_of(column)],
                line={"color": battery.PALETTE[look % 8], "dash": DASHES[look // 8 % 4]},
                marker={"size": 5},
                row=row,
                col=1,
            )
    for row, unit in enumerate(units, start=1):
        shown = [column for column in params["y"] if unit_of(column) == unit]
        title = battery.axis_title(shown[0]) if len(shown) == 1 else f"{battery.unit_text(unit)}"
        fig.update_yaxes(title={"text": title, "font": {"size": 14 if len(units) < 3 else 11}}, row=row)
    fig.update_xaxes(title_text=battery.axis_title(x), row=len(units))
    height = max(450, 100 + 150 * len(units))
    return fig.update_layout(
        template=battery.template(), margin={"t": 24}, height=height, legend={"tracegroupgap": 0}
    )
