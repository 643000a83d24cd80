from plotly.subplots import make_subplots

from workbench import battery

NOTHING = """No drive cycle to draw. This plot compares the measurement 'M50-A-02_drive_urban' with the simulation
'M50_DFN_drive_urban'; put your own names into its plan."""


def transform(data, params):
    model, real = (next(iter(data[step].values()), None) for step in ("modelled", "measured"))
    if model is None or real is None:
        return battery.message(NOTHING)
    low, high = (60 * minutes for minutes in params["minutes"])
    model = model.assign(time=model["Time [s]"] + params["offset"])
    real = real.assign(time=real["Time [s]"] - data["drive"]["start"].iloc[0])
    model, real = (frame[frame["time"].between(low, high)] for frame in (model, real))
    if model.empty or real.empty:
        return battery.message("No samples to draw in these minutes. Choose others.")
    residual = 1000 * (np.interp(real["time"], model["time"], model["Voltage [V]"]) - real["Voltage [V]"])
    rms = np.sqrt(np.mean(residual**2))

    fig = make_subplots(rows=3, shared_xaxes=True, vertical_spacing=0.04, row_heights=[0.5, 0.22, 0.28])
    curves = [
        (1, real["time"], real["Voltage [V]"], "measured", "#A0A7B0", 3.5),
        (1, model["time"], model["Voltage [V]"], f"model, rms difference {rms:.0f} mV", "#D55E00", 1.4),
        (2, real["time"], residual, "difference", "#D55E00", 1.4),
        (3, real["time"], real["Current [A]"], "current", "#0072B2", 1.4),
    ]
    for row, time, values, name, color, width in curves:
        fig.add_scatter(
            x=time / 60,
            y=values,
            mode="lines",
            name=name,
            showlegend=row == 1,
            line={"color": color, "width": width},
            hovertemplate="%{x:.2f} min: %{y:.4g}<extra>%{fullData.name}</extra>",
            row=row,
            col=1,
        )
    fig.update_yaxes(title_text="U / V", row=1)
    fig.update_yaxes(title_text="ΔU / mV", zeroline=True, zerolinecolor="#222222", row=2)
    fig.update_yaxes(title_text="I / A", zeroline=True, zerolinecolor="#222222", row=3)
    fig.update_xaxes(title_text="Time / min", row=3)
    fig.update_layout(
        template=battery.template(),
        margin={"t": 24},
        legend=battery.legend(),
    )
    return fig
