import itertools

from workbench import battery

PARTS = {
    "Voltage [V]": ("cell voltage", "solid", 2.4),
    "Cathode potential [V]": ("cathode vs Li", "dash", 1.5),
    "Anode potential [V]": ("anode vs Li", "dot", 1.5),
}


def transform(data, params):
    if data["named"].empty:
        return battery.message("No curves to draw. Choose property sets with 'Full-cell' in their names.")
    fig = go.Figure()
    parts = PARTS if params["electrodes"] else {"Voltage [V]": PARTS["Voltage [V]"]}
    for color, (_, one) in zip(itertools.cycle(battery.PALETTE), data["named"].iterrows()):
        curve = data["curves"][one["id"]]
        for column, (part, dash, width) in parts.items():
            x, y = 100 * curve["SOC"], curve[column]
            if params["slope"]:
                grid, slope = battery.slope_on_grid(curve["SOC"], y, step=0.005, smooth=0.03)
                x, y = 100 * grid, slope
            fig.add_scatter(
                x=x,
                y=y,
                mode="lines",
                name=one["material_name"],
                legendgroup=one["id"],
                showlegend=part == "cell voltage",
                line={"color": color, "dash": dash, "width": width},
                hovertemplate=f"{one['material_name']}, {part}<br>%{{x:.1f}} %: %{{y:.3f}} V<extra></extra>",
            )
    for part, dash, width in parts.values():
        style = {"color": "#777777", "dash": dash, "width": width}
        fig.add_scatter(x=[None], y=[None], mode="lines", name=part, line=style, showlegend=len(parts) > 1)
    axis = {"title": {"text": "Potential / V"}}
    if params["slope"]:
        axis = {"title": {"text": "dU/dSOC / V"}, "range": [-2 if params["electrodes"] else 0, 4]}
    fig.update_layout(
        template=battery.template(),
        margin={"t": 24},
        xaxis={"title": {"text": "State of charge / %"}, "range": [0, 100]},
        yaxis=axis,
        legend=battery.legend(),
    )
    return fig
