from plotly.subplots import make_subplots

from workbench import battery


def discharges(frame):
    return [half.frame for half in battery.half_cycles(frame) if half.direction == "discharge"]


def curve(frame):
    """Charge passed and voltage of one discharge."""
    return battery.charge_passed(frame, "discharge"), frame["Voltage [V]"].to_numpy()


def rate(frame):
    return frame["Current [A]"].mean()


def transform(data, params):
    modelled = [half for frame in data["modelled"].values() for half in discharges(frame)]
    measured = [half for frame in data["measured"].values() for half in discharges(frame)]
    if not modelled or not measured:
        missing = "measurement" if modelled else "simulation"
        return battery.message(f"Nothing to compare. Choose a {missing} that has a discharge.")
    simulation, test, model = data["simulation"].iloc[0], data["test"].iloc[0], modelled[0]
    # Of the measured discharges, the first whole one at the current nearest to the model's.
    most = max(curve(one)[0][-1] for one in measured)
    whole = [one for one in measured if curve(one)[0][-1] > 0.5 * most]
    real = min(whole, key=lambda one: round(abs(np.log(rate(one) / rate(model))), 1))
    (model_q, model_u), (real_q, real_u) = curve(model), curve(real)
    grid = np.linspace(0, min(model_q[-1], real_q[-1]), 400)
    residual = 1000 * (np.interp(grid, model_q, model_u) - np.interp(grid, real_q, real_u))

    rows = 2 if params["residual"] else 1
    heights = [0.7, 0.3] if rows == 2 else [1.0]
    fig = make_subplots(rows=rows, shared_xaxes=True, vertical_spacing=0.05, row_heights=heights)
    dots = {"mode": "markers", "marker": {"color": "#999999", "size": 5}}
    line = {"mode": "lines", "line": {"color": "#D55E00"}}
    hover = {"hovertemplate": "%{x:.3f} A h: %{y:.3f} V<extra></extra>", "row": 1, "col": 1}
    fig.add_scatter(x=real_q, y=real_u, name=f"{test['name']}, {rate(real):.2g} A", **dots, **hover)
    fig.add_scatter(x=model_q, y=model_u, name=f"{simulation['model_name']}, {rate(model):.2g} A", **line, **hover)
    fig.update_yaxes(title_text="Voltage / V", row=1)
    if rows == 2:
        hover = {"hovertemplate": "%{x:.3f} A h: %{y:.0f} mV<extra></extra>", "row": 2, "col": 1}
        fig.add_scatter(x=grid, y=residual, showlegend=False, **line, **hover)
        fig.add_hline(y=0, line={"color": "#222222", "width": 1}, row=2, col=1)
        limit = None if params["limit"] is None else [-params["limit"], params["limit"]]
        fig.update_yaxes(title_text="ΔU / mV", range=limit, row=2)
    rms = np.sqrt(np.mean(residual**2))
    fig.add_annotation(
        text=f"rms difference {rms:.0f} mV",
        xref="x domain",
        yref="y domain",
        x=0.02,
        y=0.05,
        yanchor="bottom",
        showarrow=False,
    )
    fig.update_xaxes(rangemode="tozero")
    fig.update_xaxes(title_text="Discharge capacity / A h", row=rows)
    fig.update_layout(template=battery.template(), margin={"t": 24}, legend=battery.legend(itemsizing="constant"))
    return fig
