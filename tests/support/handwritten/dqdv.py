from workbench import battery


def slow_half_cycle(frame, direction):
    """The whole half cycle at the lowest current: of those that pass most of the charge."""
    halves = [half for half in battery.half_cycles(frame) if half.direction == direction]
    passed = [battery.charge_passed(half.frame, direction)[-1] for half in halves]
    whole = [half for half, charge in zip(halves, passed) if charge > 0.8 * max(passed)]
    return min(whole, key=lambda half: half.frame["Current [A]"].abs().mean(), default=None)


def age(cycles):
    return f"after {cycles:.0f} cycles" if cycles else "fresh"


def transform(data, params):
    checks = data["checks"].sort_values("protocol.ageing_cycles")
    if checks.empty:
        return battery.message(
            "No capacity check to draw. Choose a cell that has tests with '_RPT' in their names."
        )
    colors = battery.sequential(len(checks))
    fig = go.Figure()
    for color, (_, check) in zip(colors, checks.iterrows()):
        half = slow_half_cycle(data["samples"][check["id"]], params["direction"])
        if half is None:
            continue
        charge = battery.charge_passed(half.frame, half.direction)
        voltage, slope = battery.differential_capacity(
            half.frame["Voltage [V]"], charge, step=0.002, smooth=params["smooth"] / 1000
        )
        fig.add_scatter(
            x=voltage,
            y=slope,
            mode="lines",
            name=age(check["protocol.ageing_cycles"]),
            line={"color": color},
            hovertemplate="%{x:.3f} V: %{y:.2f} A h V⁻¹<extra>%{fullData.name}</extra>",
        )
    rates = "C/10 " + params["direction"]
    fig.update_layout(
        template=battery.template(),
        margin={"t": 24},
        xaxis={"title": {"text": "Voltage / V"}, "range": params["voltage"]},
        yaxis={"title": {"text": f"dQ/dV ({rates}) / A h V⁻¹"}, "rangemode": "tozero"},
        legend=battery.legend(title={"text": params["cell"] or ""}),
    )
    return fig
