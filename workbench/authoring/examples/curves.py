from workbench import battery


def transform(data, params):
    names = data["tests"].set_index("id")["name"]
    fig = go.Figure(
        layout={"template": battery.template(), **battery.axis_titles("Charge passed [A.h]", "Voltage [V]")}
    )
    for color, (test, frame) in zip(battery.PALETTE, data["curves"].items(), strict=False):
        for half in battery.half_cycles(frame):
            if half.direction == params["way"]:
                x = battery.charge_passed(half.frame, half.direction)
                group = {"name": names[test], "legendgroup": test, "line": {"color": color}}
                first = test not in {trace.legendgroup for trace in fig.data}
                fig.add_scatter(x=x, y=half.frame["Voltage [V]"], showlegend=first, **group)
    return fig if fig.data else battery.message("Nothing to draw: try another word or steps.")
