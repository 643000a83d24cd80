from workbench import battery

TEMPERATURE = "properties.ageing_temperature.value"
ELECTROLYTE = "properties.electrolyte"
TITLES = {
    TEMPERATURE: "Ageing temperature / °C",
    "properties.initial_capacity.value": "Initial capacity / A h",
    "properties.initial_resistance.value": "Initial resistance / mΩ",
}
SYMBOLS = ["circle", "diamond", "square", "triangle-up"]
NOTHING = """No loss to draw. This plot needs cells with a value of '{}' whose test with '_ageing' in its name
came to cycle count {}."""


def beside(group, against):
    """Steps aside within a group, so that cells of one temperature do not hide each other."""
    if against != TEMPERATURE:
        return 0
    at = group.groupby(TEMPERATURE)
    return 0.5 * (at.cumcount() - (at[TEMPERATURE].transform("size") - 1) / 2)


def transform(data, params):
    against, colors = params["against"], params["colors"]
    loss = data["loss"].dropna(subset=["then", against])
    if loss.empty:
        return battery.message(NOTHING.format(TITLES[against].split(" /")[0], params["cycle"]))
    loss = loss.assign(loss=100 * (1 - loss["then"] / loss["first"]))
    loss[ELECTROLYTE] = loss[ELECTROLYTE].fillna("electrolyte not known")
    symbols = dict(zip(sorted(loss["specification_name"].unique()), SYMBOLS * 10))
    limit = loss["loss"].max() - 1e-9 if params["label_above"] is None else params["label_above"]
    fig = go.Figure()
    groups = loss.groupby(["specification_name", ELECTROLYTE])
    for place, ((design, electrolyte), group) in enumerate(groups):
        # Beside each other at each temperature, so that no marker hides another.
        shift = 1.4 * (place - (groups.ngroups - 1) / 2) if against == TEMPERATURE else 0
        name = f"{design}, {electrolyte}"
        color = colors.get(electrolyte, "#555555")
        if against == TEMPERATURE:
            mean = battery.mean_and_spread(group, TEMPERATURE, "loss")
            line = {"mode": "lines", "line": {"color": color, "width": 1.5, "dash": "dot"}, "hoverinfo": "skip"}
            fig.add_scatter(x=mean[TEMPERATURE] + shift, y=mean["mean"], showlegend=False, **line)
        fig.add_scatter(
            x=group[against] + shift + beside(group, against),
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
        axis |= {"tickvals": degrees, "range": [min(degrees) - 5, max(degrees) + 5]}
    fig.update_layout(
        template=battery.template(),
        margin={"t": 24},
        xaxis=axis,
        yaxis={
            "title": {"text": f"Capacity loss at cycle count {params['cycle']} / %"},
            "range": [0, 1.14 * loss["loss"].max()],
        },
        legend=battery.legend(),
    )
    return fig
