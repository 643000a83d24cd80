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
    for (design, electrolyte), group in loss.groupby(["specification_name", ELECTROLYTE]):
        name = f"{design}, {electrolyte}"
        color = colors.get(electrolyte, "#555555")
        if against == TEMPERATURE:
            mean = battery.mean_and_spread(group, TEMPERATURE, "loss")
            fig.add_scatter(
                x=mean[TEMPERATURE],
                y=mean["mean"],
                mode="lines",
                legendgroup=name,
                showlegend=False,
                hoverinfo="skip",
                line={"color": color, "width": 1.5, "dash": "dot"},
            )
        fig.add_scatter(
            x=group[against],
            y=group["loss"],
            mode="markers+text",
            name=name,
            legendgroup=name,
            marker={"color": color, "symbol": symbols[design], "size": 11, "line": {"color": "white", "width": 1}},
            text=[cell if value > limit else "" for cell, value in zip(group["name"], group["loss"])],
            textposition="middle left",
            customdata=np.column_stack([group["name"], group[TEMPERATURE]]),
            hovertemplate="%{customdata[0]}, %{customdata[1]} °C: %{y:.2f} %<extra></extra>",
        )
    axis = {"title": {"text": TITLES[against]}}
    if against == TEMPERATURE:
        degrees = sorted(loss[TEMPERATURE].unique())
        axis |= {"tickvals": degrees, "range": [min(degrees) - 5, max(degrees) + 5]} if degrees else {}
    fig.update_layout(
        template=battery.template(),
        margin={"t": 24},
        xaxis=axis,
        yaxis={"title": {"text": f"Capacity loss after {params['cycle'] + 1} cycles / %"}, "rangemode": "tozero"},
        legend={"x": 0.02, "y": 0.98},
    )
    return fig
