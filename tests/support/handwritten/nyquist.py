import itertools

from workbench import battery

TEMPERATURE = "properties.ageing_temperature.value"
FREQUENCY = "Frequency [Hz]"


def transform(data, params):
    tests = data["chosen"].sort_values(["protocol.ageing_cycles", "instance_name"])
    if tests.empty:
        return battery.message("No impedance to draw. Choose tests with '_EIS' in their names.")
    fig = go.Figure()
    for color, (_, test) in zip(itertools.cycle(battery.PALETTE), tests.iterrows()):
        spectrum = data["spectra"][test["id"]]
        spectrum = spectrum[spectrum[FREQUENCY] >= params["lowest"]]
        if not params["inductive"]:
            spectrum = spectrum[spectrum["Z_Im [Ohm]"] <= 0]
        milli = spectrum.assign(**{name: 1000 * spectrum[name] for name in ("Z_Re [Ohm]", "Z_Im [Ohm]")})
        age = test["protocol.ageing_cycles"]
        state = f"{age:.0f} cycles at {test[TEMPERATURE]:g} °C" if age > 0 else "fresh"
        name = f"{test['instance_name']}, {state}"
        trace = battery.nyquist_trace(milli, name, color)
        trace["marker"] = {"color": color, "size": 5}
        trace["hovertemplate"] = "Z′ %{x:.2f} mΩ, −Z″ %{y:.2f} mΩ<br>%{customdata:.3~s}Hz"
        fig.add_trace(trace)
        if not params["decades"]:
            continue
        power = np.log10(spectrum[FREQUENCY])
        decades = milli[np.isclose(power, power.round(), atol=0.01)]
        fig.add_scatter(
            x=decades["Z_Re [Ohm]"],
            y=-decades["Z_Im [Ohm]"],
            mode="markers",
            marker={"color": "white", "size": 9, "line": {"color": color, "width": 2}},
            hoverinfo="skip",
            legendgroup="decades",
            legendrank=2000,
            name="decades of frequency",
            showlegend=not any(trace.legendgroup == "decades" for trace in fig.data),
        )
    layout = battery.nyquist_layout()
    layout["xaxis"]["title"]["text"] = "Z′ / mΩ"
    layout["yaxis"]["title"]["text"] = "−Z″ / mΩ"
    fig.update_layout(
        template=battery.template(),
        margin={"t": 24},
        legend=battery.legend(),
        **layout,
    )
    return fig
