from workbench import battery


def transform(data, params):
    life = data["cell_life"].copy()
    # A last cycle that was stopped on the way says nothing about capacity.
    partial = (life["end_of_life"] == life["last_cycle"]) & (life["last_min_voltage"] > life["cut_off"] + 0.05)
    life["reached"] = life["end_of_life"].notna() & ~partial
    whole = life["last_cycle"] + 1 - (life["last_min_voltage"] > life["cut_off"] + 0.05)
    life["cycles"] = (life["end_of_life"] + 1).where(life["reached"], whole)
    if params["sort"]:
        life = life.sort_values(["reached", "cycles", "instance_name"], ascending=[False, True, False])
    else:
        life = life.sort_values("instance_name", ascending=False)

    what = life[params["color_by"]]
    groups = sorted(what.dropna().unique())
    colors = dict(zip(groups, battery.PALETTE))
    fig = go.Figure()
    for _, cell in life.iterrows():
        fig.add_scatter(
            x=[0, cell["cycles"]],
            y=[cell["instance_name"]] * 2,
            mode="lines",
            line={"color": battery.pale(colors[cell[params["color_by"]]], 0.45), "width": 3},
            hoverinfo="skip",
            showlegend=False,
        )
    for group in groups:
        name = f"{group:g} °C" if isinstance(group, float) else str(group)
        rim = {"color": colors[group], "width": 2}
        for reached in (True, False):
            rows = life[(what == group) & (life["reached"] == reached)]
            fig.add_scatter(
                x=rows["cycles"],
                y=rows["instance_name"],
                mode="markers+text",
                showlegend=False,
                text=[f"{n:.0f}" if reached else f"> {n:.0f}" for n in rows["cycles"]],
                textposition="middle right",
                marker={"color": colors[group] if reached else "white", "size": 11, "line": rim},
                hovertemplate="%{y}: %{text} cycles<extra></extra>",
            )
        fig.add_scatter(x=[None], y=[None], mode="markers", name=name, marker={"color": colors[group], "size": 11})
    open_marker = {"color": "white", "size": 10, "line": {"color": "#555555", "width": 2}}
    fig.add_scatter(x=[None], y=[None], mode="markers", name="not reached when the test ended", marker=open_marker)
    fig.update_layout(
        template=battery.template(),
        margin={"t": 24},
        xaxis={
            "title": {"text": f"Cycles until the capacity is below {100 * params['fraction']:.0f} % of the first"},
            "range": [0, 1.2 * life["cycles"].max()] if len(life) else [0, 1],
        },
        yaxis={
            "categoryorder": "array",
            "categoryarray": list(life["instance_name"]),
            "showgrid": False,
            "dtick": 1,
            "tickfont": {"size": 12},
        },
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
    )
    return fig
