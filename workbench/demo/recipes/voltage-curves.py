from plotly.subplots import make_subplots
from workbench import battery

TEMPERATURE = "properties.ageing_temperature.value"


def transform(data, params):
    cells = data["chosen"].sort_values("instance_name")
    titles = [f"{cell['instance_name']}, {cell[TEMPERATURE]:g} °C" for _, cell in cells.iterrows()]
    columns = max(1, min(len(cells), 3))
    rows = max(1, -(-len(cells) // 3))
    fig = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=titles,
        shared_xaxes=True,
        shared_yaxes=True,
        horizontal_spacing=0.04,
        vertical_spacing=0.1,
    )
    cycles = {step: params[step] for step in ("early", "middle", "late") if params[step] is not None}
    colors = dict(zip(cycles, battery.sequential(len(cycles))))
    named = set()
    for place, cell in enumerate(cells["id"]):
        for step, cycle in cycles.items():
            for half in battery.half_cycles(data[step][cell]):
                if params["direction"] not in ("both", half.direction):
                    continue
                fig.add_scatter(
                    x=battery.charge_passed(half.frame, half.direction),
                    y=half.frame["Voltage [V]"],
                    mode="lines",
                    name=f"Cycle {cycle + 1}",
                    legendgroup=step,
                    showlegend=step not in named,
                    line={"color": colors[step]},
                    hovertemplate=f"{half.direction}, cycle {cycle + 1}<br>%{{x:.3f}} A h, %{{y:.3f}} V<extra></extra>",
                    row=place // 3 + 1,
                    col=place % 3 + 1,
                )
                named.add(step)
    fig.update_xaxes(title_text="Charge passed / A h", rangemode="tozero", row=rows)
    fig.update_yaxes(title_text="Voltage / V", col=1)
    fig.update_annotations(font_size=14)
    fig.update_layout(
        template=battery.template(),
        margin={"t": 40},
        legend={"x": 0.015, "y": 0.03, "yanchor": "bottom"},
    )
    return fig
