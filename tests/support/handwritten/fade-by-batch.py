import itertools

from workbench import battery

TEMPERATURE = "properties.ageing_temperature.value"
DASHES = ["solid", "dash", "dot", "dashdot"]
SPREADS = {
    "sd": "Mean ± s.d., thin: each cell",
    "range": "Mean, min to max, thin: each cell",
    "cells": "Each cell",
}
NOTHING = "No complete cycles to draw. Choose batches whose cells have a test with '_ageing' in its name."


def transform(data, params):
    fade = data["fade"]
    if params["temperature"] != "all":
        fade = fade[fade[TEMPERATURE] == params["temperature"]]
    if fade.empty:
        return battery.message(NOTHING)
    capacity = fade["Discharge capacity [A.h]"]
    if params["relative"]:
        capacity = 100 * battery.of_first(capacity, fade["measurement_id"])
    title = "Capacity retention / %" if params["relative"] else "Discharge capacity / A h"
    fade = fade.assign(value=capacity, cycle=fade["Cycle count"])

    batches = sorted(data["cells"]["batch_name"].dropna().unique())
    colors = dict(zip(batches, itertools.cycle(battery.PALETTE)))
    dashes = dict(zip(sorted(data["fade"][TEMPERATURE].dropna().unique()), DASHES * 10))
    fig = go.Figure()
    for (batch, degrees), group in fade.groupby(["batch_name", TEMPERATURE], dropna=False):
        name = f"{batch}, {degrees:g} °C" if degrees == degrees else str(batch)
        name += f" (n = {group['measurement_id'].nunique()})"
        color, each = colors[batch], params["spread"] == "cells"
        style = {"color": color, "dash": dashes.get(degrees, "solid"), "width": 2.2}
        thin = {**style, "width": 1.6 if each else 1, "color": color if each else battery.pale(color, 0.55)}
        for number, (cell, rows) in enumerate(group.groupby("instance_name")):
            legend = {"name": name, "legendgroup": name, "showlegend": each and number == 0}
            hover = f"{cell}, cycle count %{{x}}: %{{y:.4g}}<extra></extra>"
            fig.add_scatter(
                x=rows["cycle"], y=rows["value"], mode="lines", line=thin, hovertemplate=hover, **legend
            )
        if each:
            continue
        mean = battery.mean_and_spread(group, "cycle", "value")
        if params["spread"] == "range":
            ends = group.groupby("cycle")["value"].agg(["min", "max"]).reindex(mean["cycle"])
            mean = mean.assign(low=ends["min"].to_numpy(), high=ends["max"].to_numpy())
        shade, line = battery.band(mean, "cycle", name, color)
        line["line"] = style
        line["hovertemplate"] = "cycle count %{x}: %{y:.4g} ± %{customdata[0]:.2g} (n = %{customdata[1]:.0f})"
        fig.add_traces([shade, line])
    fig.update_layout(
        template=battery.template(),
        margin={"t": 24},
        xaxis={"title": {"text": "Cycle count"}, "rangemode": "tozero"},
        yaxis={"title": {"text": title}},
        legend=battery.legend(title={"text": SPREADS[params["spread"]], "side": "top"}),
    )
    return fig
