from workbench import battery

TEMPERATURE = "properties.ageing_temperature.value"
DASHES = ["solid", "dash", "dot", "dashdot"]


def whole_cycles(fade):
    """Without a last cycle that was stopped before its discharge came down to the usual voltage."""
    usual = fade.groupby("measurement_id")["Min voltage [V]"].transform("median")
    last = fade.groupby("measurement_id")["Cycle count"].transform("max")
    cut = (fade["Cycle count"] == last) & (fade["Min voltage [V]"] > usual + 0.05)
    return fade[~cut]


def transform(data, params):
    fade = whole_cycles(data["fade"])
    if params["temperature"] != "all":
        fade = fade[fade[TEMPERATURE] == params["temperature"]]
    capacity = fade["Discharge capacity [A.h]"]
    if params["relative"]:
        capacity = 100 * battery.of_first(capacity, fade["measurement_id"])
    title = "Capacity retention / %" if params["relative"] else "Discharge capacity / A h"
    fade = fade.assign(value=capacity, cycle=fade["Cycle count"] + 1)

    batches = sorted(data["cells"]["batch_name"].dropna().unique())
    colors = dict(zip(batches, battery.PALETTE))
    dashes = dict(zip(sorted(data["fade"][TEMPERATURE].dropna().unique()), DASHES))
    fig = go.Figure()
    for (batch, degrees), group in fade.groupby(["batch_name", TEMPERATURE]):
        name = f"{batch}, {degrees:g} °C (n = {group['measurement_id'].nunique()})"
        color, each = colors[batch], params["spread"] == "cells"
        style = {"color": color, "dash": dashes[degrees], "width": 2.2}
        thin = {**style, "width": 1.6 if each else 1, "color": color if each else battery.pale(color, 0.55)}
        for number, (cell, rows) in enumerate(group.groupby("instance_name")):
            legend = {"name": name, "legendgroup": name, "showlegend": each and number == 0}
            hover = f"{cell}, cycle %{{x}}: %{{y:.4g}}<extra></extra>"
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
        line["hovertemplate"] = "cycle %{x}: %{y:.4g} ± %{customdata[0]:.2g} (n = %{customdata[1]:.0f})"
        fig.add_traces([shade, line])
    fig.update_layout(
        template=battery.template(),
        margin={"t": 24},
        xaxis={"title": {"text": "Cycle number"}, "rangemode": "tozero"},
        yaxis={"title": {"text": title}},
        legend={
            "title": {"text": "Batch, temperature"},
            "x": 0.02,
            "y": 0.03,
            "yanchor": "bottom",
            "tracegroupgap": 0,
        },
    )
    return fig
