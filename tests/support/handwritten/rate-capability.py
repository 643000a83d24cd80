from plotly.subplots import make_subplots

from workbench import battery

RATED, AREA = "ratings.capacity.value", "properties.electrode_area.value"


def scale(row, basis):
    """What to multiply a capacity in A h by, and the title of the axis."""
    if basis == "area":
        return 1000 / row[AREA], "Capacity / mA h cm⁻²"
    if basis == "rated":
        return 100 / row[RATED], "Capacity / % of rated"
    return 1000, "Capacity / mA h"


def transform(data, params):
    rates = data["rates"].dropna(subset=[RATED])
    if rates.empty:
        return battery.message(
            f"No rates to draw: no cell with a rated capacity has a test with '{params['test']}' in its name."
        )
    fig = make_subplots(cols=2, horizontal_spacing=0.06)
    factor, title = scale(rates.iloc[0], params["basis"])
    c_rate = (rates["Mean discharge current [A]"] / rates[RATED]).round(2)
    samples = next(iter(data["samples"].values()))
    levels = sorted(c_rate.unique())
    for color, rate in zip(battery.sequential(len(levels)), levels):
        rows = rates[c_rate == rate]
        style = {"name": f"{rate:g} C", "legendgroup": f"{rate:g}"}
        fig.add_scatter(
            x=rows["Cycle count"],
            y=factor * rows["Discharge capacity [A.h]"],
            mode="markers",
            marker={"color": color, "size": 9},
            hovertemplate="cycle count %{x}: %{y:.4g}<extra>%{fullData.name}</extra>",
            row=1,
            col=1,
            **style,
        )
        last = samples[samples["Cycle count"] == rows["Cycle count"].iloc[-1]]
        discharge = last[last["Current [A]"] > 0]
        fig.add_scatter(
            x=factor * discharge["Discharge capacity [A.h]"],
            y=discharge["Voltage [V]"],
            mode="lines",
            line={"color": color},
            showlegend=False,
            hovertemplate="%{x:.4g}, %{y:.3f} V<extra>%{fullData.name}</extra>",
            row=1,
            col=2,
            **style,
        )
    fig.update_xaxes(title_text="Cycle count", dtick=1, row=1, col=1)
    fig.update_yaxes(title_text=title, row=1, col=1)
    fig.update_xaxes(title_text=title, rangemode="tozero", row=1, col=2)
    fig.update_yaxes(title_text="Voltage / V", side="right", row=1, col=2)
    fig.update_layout(
        template=battery.template(),
        margin={"t": 24},
        legend=battery.legend(title={"text": "Discharge at"}),
    )
    return fig
