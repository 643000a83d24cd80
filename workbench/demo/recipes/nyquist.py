from workbench import battery

TEMPERATURE = "properties.ageing_temperature.value"
FREQUENCY = "Frequency [Hz]"


def transform(data, params):
    fig = go.Figure()
    for color, (_, test) in zip(battery.PALETTE * 10, data["chosen"].iterrows()):
        spectrum = data["spectra"][test["id"]]
        spectrum = spectrum[spectrum[FREQUENCY] >= params["lowest"]]
        milli = spectrum.assign(**{name: 1000 * spectrum[name] for name in ("Z_Re [Ohm]", "Z_Im [Ohm]")})
        age = test["protocol.ageing_cycles"]
        kept_at = f", aged at {test[TEMPERATURE]:g} °C" if age else ""
        name = f"{test['instance_name']}, {age:.0f} cycles{kept_at}"
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
            name="whole decades of frequency",
            showlegend=not any(trace.legendgroup == "decades" for trace in fig.data),
        )
    layout = battery.nyquist_layout()
    layout["xaxis"]["title"]["text"] = "Z′ / mΩ"
    layout["yaxis"]["title"]["text"] = "−Z″ / mΩ"
    fig.update_layout(
        template=battery.template(),
        margin={"t": 24},
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        **layout,
    )
    return fig
