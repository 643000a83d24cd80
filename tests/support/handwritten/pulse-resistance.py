import itertools

from workbench import battery

TIME = "Time [s]"
SYMBOLS = {"discharge": "circle", "charge": "circle-open"}


def state_of_charge(frame, times):
    """In per cent, at times; 100 is the fullest and 0 the emptiest moment of the test."""
    time = frame[TIME].to_numpy()
    current = frame["Current [A]"].to_numpy()
    out = np.concatenate([[0.0], np.cumsum((current[1:] + current[:-1]) / 2 * np.diff(time))])
    return 100 * (1 - (np.interp(times, time, out) - out.min()) / (out.max() - out.min()))


def transform(data, params):
    seconds = params["seconds"]
    column = battery.resistance_column(seconds)
    low, high = params["soc"]
    tests = data["chosen"].sort_values(["protocol.ageing_cycles", "instance_name"])
    if tests.empty:
        return battery.message("No pulses to draw. Choose tests with '_HPPC' in their names.")
    fig = go.Figure()
    for color, (_, test) in zip(itertools.cycle(battery.PALETTE), tests.iterrows()):
        frame = data["samples"][test["id"]]
        pulses = battery.pulse_resistance(frame, at=[seconds])
        pulses = pulses[pulses["Duration [s]"] < 60]
        pulses = pulses.assign(soc=state_of_charge(frame, pulses[TIME]), value=1000 * pulses[column])
        if params["per_area"]:
            pulses["value"] *= test["properties.electrode_area.value"] / 1000
        pulses = pulses[pulses["soc"].between(low, high)]
        for direction, rows in pulses.groupby("Direction"):
            if params["direction"] not in ("both", direction):
                continue
            rows = rows.sort_values("soc")
            age = test["protocol.ageing_cycles"]
            name = f"{test['instance_name']}, " + (f"after {age:.0f} cycles" if age > 0 else "fresh")
            fig.add_scatter(
                x=rows["soc"],
                y=rows["value"],
                mode="lines+markers",
                name=name if params["direction"] != "both" else f"{name}, {direction}",
                line={"color": color, "dash": "solid" if direction == "discharge" else "dot"},
                marker={"symbol": SYMBOLS[direction], "size": 8},
                hovertemplate="%{x:.0f} %: %{y:.3g}<extra>%{fullData.name}</extra>",
            )
    unit = "Ω cm²" if params["per_area"] else "mΩ"
    fig.update_layout(
        template=battery.template(),
        margin={"t": 24},
        xaxis={"title": {"text": "State of charge / %"}, "range": [low - 2, high + 2]},
        yaxis={"title": {"text": f"Resistance after {seconds:g} s / {unit}"}},
        legend=battery.legend(),
    )
    return fig
