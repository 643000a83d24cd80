import itertools

from workbench import battery


def group_name(value):
    return f"{value:g} °C" if isinstance(value, float) else str(value)


def transform(data, params):
    life = data["cell_life"].copy()
    if life.empty:
        return battery.message(
            "No complete cycles to draw. This plot reads the tests with '_ageing' in their names; there is none."
        )
    life["reached"] = life["end_of_life"].notna()
    life["cycles"] = life["end_of_life"].where(life["reached"], life["last_cycle"])
    if params["sort"]:
        life = life.sort_values(["reached", "cycles", "instance_name"], ascending=[False, True, False])
    else:
        life = life.sort_values("instance_name", ascending=False)

    what = life[params["color_by"]].map(group_name, na_action="ignore").fillna("not known")
    groups = sorted(what.unique())
    colors = dict(zip(groups, itertools.cycle(battery.PALETTE)))
    fig = go.Figure()
    for group, (_, cell) in zip(what, life.iterrows()):
        fig.add_scatter(
            x=[0, cell["cycles"]],
            y=[cell["instance_name"]] * 2,
            mode="lines",
            line={"color": battery.pale(colors[group], 0.45), "width": 3},
            hoverinfo="skip",
            showlegend=False,
        )
    for group in groups:
        rim = {"color": colors[group], "width": 2}
        for reached in (True, False):
            rows = life[(what == group) & (life["reached"] == reached)]
            fig.add_scatter(
                x=rows["cycles"],
                y=rows["instance_name"],
                mode="markers+text",
                showlegend=False,
                text=[f" {n:.0f}" if reached else f" > {n:.0f}" for n in rows["cycles"]],
                textposition="middle right",
                marker={"color": colors[group] if reached else "white", "size": 11, "line": rim},
                hovertemplate="%{y}: cycle count%{text}<extra></extra>",
            )
        fig.add_scatter(
            x=[None], y=[None], mode="markers", name=group, marker={"color": colors[group], "size": 11}
        )
    open_marker = {"color": "white", "size": 10, "line": {"color": "#555555", "width": 2}}
    fig.add_scatter(x=[None], y=[None], mode="markers", name="not reached", marker=open_marker)
    fig.update_layout(
        template=battery.template(),
        margin={"t": 24},
        xaxis={
            "title": {"text": f"Cycle count when the capacity falls below {100 * params['fraction']:.0f} %"},
            "range": [0, 1.2 * life["cycles"].max() + 1],
        },
        yaxis={
            "categoryorder": "array",
            "categoryarray": list(life["instance_name"]),
            "showgrid": False,
            "dtick": 1,
            "tickfont": {"size": 12},
        },
        legend=battery.legend(),
    )
    return fig
