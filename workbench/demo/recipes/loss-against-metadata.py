from workbench import battery

TEMPERATURE = "properties.ageing_temperature.value"
ELECTROLYTE = "properties.electrolyte"
TITLES = {
    TEMPERATURE: "Ageing temperature / °C",
    "properties.initial_capacity.value": "Initial capacity / A h",
    "properties.initial_resistance.value": "Initial resistance / mΩ",
}
SYMBOLS = ["circle", "diamond", "square", "triangle-up"]


def transform(data, params):
    loss = data["loss"].dropna(subset=["then"])
    loss = loss.assign(loss=100 * (1 - loss["then"] / loss["first"]))
    against, colors = params["against"], params["colors"]
    symbols = dict(zip(sorted(loss["specification_name"].unique()), SYMBOLS))
    limit = loss["loss"].max() - 1e-9 if params["label_above"] is None else params["label_above"]
    fig = go.Figure()
    groups = loss.groupby(["specification_name", ELECTROLYTE])
    for place, ((design, electrolyte), group) in enumerate(groups):
        # Beside each other at each temperature, so that no marker hides another.
        shift = 0.9 * (place - (groups.ngroups - 1) / 2) if against == TEMPERATURE else 0
        name = f"{design}, {electrolyte}"
        color = colors.get(electrolyte, "#555555")
        if against == TEMPERATURE:
            mean = battery.mean_and_spread(group, TEMPERATURE, "loss")
            line = {"mode": "lines", "line": {"color": color, "width": 1.5, "dash": "dot"}, "hoverinfo": "skip"}
            fig.add_scatter(x=mean[TEMPERATURE] + shift, y=mean["mean"], showlegend=False, **line)
        fig.add_scatter(
            x=group[against] + shift,
            y=group["loss"],
            mode="markers+text",
            name=name,
            marker={"color": color, "symbol": symbols[design], "size": 11, "line": {"color": "white", "width": 1}},
            text=[cell if value > limit else "" for cell, value in zip(group["name"], group["loss"])],
            textposition="top center",
            customdata=np.column_stack([group["name"], group[TEMPERATURE]]),
            hovertemplate="%{customdata[0]}, %{customdata[1]} °C: %{y:.2f} %<extra></extra>",
        )
    if against == TEMPERATURE:
        dots = {"color": "#777777", "width": 1.5, "dash": "dot"}
        fig.add_scatter(x=[None], y=[None], mode="lines", name="mean of the cells", line=dots)
    axis = {"title": {"text": TITLES[against]}}
    if against == TEMPERATURE:
        degrees = sorted(loss[TEMPERATURE].unique())
        axis |= {"tickvals": degrees, "range": [min(degrees) - 5, max(degrees) + 5]} if degrees else {}
    fig.update_layout(
        template=battery.template(),
        margin={"t": 24},
        xaxis=axis,
        yaxis={
            "title": {"text": f"Capacity loss after {params['cycle'] + 1} cycles / %"},
            "range": [0, 1.14 * loss["loss"].max()],
        },
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
    )
    return fig
