from plotly.subplots import make_subplots

from workbench import battery

TEMPERATURE = "properties.ageing_temperature.value"


def transform(data, params):
    cells = data["chosen"].sort_values("instance_name")
    if cells.empty:
        return battery.message("No curves to draw. Choose cells that have a test with '_ageing' in its name.")
    degrees = cells[TEMPERATURE].map(", {:g} °C".format, na_action="ignore").fillna("")
    titles = list(cells["instance_name"] + degrees)
    columns = min(max(1, int(np.ceil(np.sqrt(len(cells))))), 3)
    rows = max(1, -(-len(cells) // columns))
    fig = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=titles,
        horizontal_spacing=0.08,
        vertical_spacing=0.24 / rows,
    )
    cycles = {step: params[step] for step in ("early", "middle", "late") if params[step] is not None}
    colors = dict(zip(cycles, battery.sequential(len(cycles))))
    named, widest, volts = set(), 0.0, []
    for place, cell in enumerate(cells["id"]):
        for step, cycle in cycles.items():
            for half in battery.half_cycles(data[step][cell]):
                if params["direction"] not in ("both", half.direction):
                    continue
                charge = battery.charge_passed(half.frame, half.direction)
                widest = max(widest, charge[-1])
                volts += [half.frame["Voltage [V]"].min(), half.frame["Voltage [V]"].max()]
                fig.add_scatter(
                    x=charge,
                    y=half.frame["Voltage [V]"],
                    mode="lines",
                    name=str(cycle),
                    legendgroup=step,
                    showlegend=step not in named,
                    line={"color": colors[step]},
                    hovertemplate=f"{half.direction} {cycle}<br>%{{x:.3f}} A h, %{{y:.3f}} V<extra></extra>",
                    row=place // columns + 1,
                    col=place % columns + 1,
                )
                named.add(step)
    fig.update_xaxes(range=[0, 1.04 * widest or 1])
    fig.update_xaxes(title_text="Charge passed / A h", row=rows)
    fig.update_yaxes(title_text="Voltage / V", col=1)
    if volts:
        fig.update_yaxes(range=[min(volts) - 0.08, max(volts) + 0.08])
    fig.update_annotations(font_size=14)
    fig.update_layout(
        template=battery.template(),
        margin={"t": 48},
        legend=battery.legend(title={"text": "Cycle count"}),
    )
    return fig
