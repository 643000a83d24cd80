"""Where does a model miss the measurement: at which voltage, current or time?"""

from workbench.gallery.entry import Made
from workbench.gallery.simulations_plan import SIMULATIONS_OF_TESTS, beside_measurements
from workbench.gallery.tests_plan import choice

TITLE = "Residual of a model"
NEEDS = SIMULATIONS_OF_TESTS


def make(facts):
    steps, params = beside_measurements(facts, most=3)
    axes = {"voltage": "measured voltage", "current": "current", "time": "time"}
    params["over"] = choice("Over", "voltage", axes)
    return Made(steps, params)


# The script of the figure
from plotly.subplots import make_subplots


def transform(data, params):
    params = with_defaults(params)
    if data["chosen"].empty:
        return battery.message("Choose a simulation.")
    ends = [frame["Time [s]"].max() for frame in data["samples"].values()]
    factor, unit = scale_of_time(max(ends))
    column, title = {
        "voltage": ("Measured voltage [V]", "Measured voltage / V"),
        "current": ("Current [A]", "Current / A"),
        "time": ("Time [s]", f"Time / {unit}"),
    }[params["over"]]
    figure = make_subplots(cols=2, column_widths=[0.75, 0.25], shared_yaxes=True, horizontal_spacing=0.03)
    said = []
    for color, (_, one) in zip(distinct(list(data["chosen"]["id"])).values(), data["chosen"].iterrows()):
        frame = data["samples"][one["id"]]
        x = frame[column] / (factor if params["over"] == "time" else 1)
        error = frame["Voltage error [mV]"]
        figure.add_scatter(
            x=x,
            y=error,
            mode="markers",
            marker={"color": color, "size": 5, "opacity": 0.8},
            name=one["name"],
            legendgroup=one["id"],
            hovertemplate="%{x:.4g}: %{y:.3g} mV<extra>%{fullData.name}</extra>",
            row=1,
            col=1,
        )
        found = error_of(data["samples"], one)
        of_model = f"{one['name'].split(',')[0]}: " if len(data["chosen"]) > 1 else ""
        said.append(of_model + error_words(found, mean="mean {:+.3g} mV", rms="rms {:.3g} mV"))
        if not data["samples"].complete[one["id"]]:
            continue  # a selection has more of the extremes than all samples do
        figure.add_histogram(
            y=error,
            histnorm="percent",
            nbinsy=40,
            marker={"color": color},
            opacity=0.6,
            name=one["name"],
            legendgroup=one["id"],
            showlegend=False,
            hovertemplate="%{y} mV: %{x:.1f} % of the samples<extra></extra>",
            row=1,
            col=2,
        )
    figure.add_hline(y=0, line={"color": "#999999", "width": 1})
    figure.update_xaxes(title_text=title, row=1, col=1)
    figure.update_xaxes(title_text="Samples / %", row=1, col=2)
    figure.update_yaxes(title_text="Error / mV", row=1, col=1)
    finished(figure, barmode="overlay", showlegend=True)
    bare = selected(data)
    bare = f"{bare}, and has no histogram" if bare else ""
    words = ["simulated less measured, weighted by time", *said[:3], bare]
    return note(figure, "; ".join(text for text in words if text), data, params)
