"""Does a model give the voltage that was measured?"""

from workbench.gallery.entry import Made
from workbench.gallery.simulations_plan import SIMULATIONS_OF_TESTS, beside_measurements

TITLE = "Model over measurement"
NEEDS = SIMULATIONS_OF_TESTS


def make(facts):
    return Made(*beside_measurements(facts, most=1))


# The script of the figure
from plotly.subplots import make_subplots


def transform(data, params):
    params = with_defaults(params)
    if data["chosen"].empty:
        return battery.message("Choose a simulation.")
    figure = make_subplots(rows=2, shared_xaxes=True, row_heights=[0.68, 0.32], vertical_spacing=0.04)
    ends = [frame["Time [s]"].max() for frame in data["samples"].values()]
    factor, unit = scale_of_time(max(ends))
    said = []
    for color, (_, one) in zip(distinct(list(data["chosen"]["id"])).values(), data["chosen"].iterrows()):
        frame = data["samples"][one["id"]]
        time, several = frame["Time [s]"] / factor, len(data["chosen"]) > 1
        style = {"mode": "lines", "legendgroup": one["id"]}
        own = {"color": color if several else "#222222", "width": 1.4, "dash": "dot" if several else "solid"}
        name = f"measured, {one['name']}" if several else "measured"
        figure.add_scatter(x=time, y=frame["Measured voltage [V]"], line=own, name=name, row=1, col=1, **style)
        line = {"color": color, "width": 1.6}
        figure.add_scatter(x=time, y=frame["Voltage [V]"], line=line, name=one["name"], row=1, col=1, **style)
        error = frame["Voltage error [mV]"]
        style["showlegend"] = False
        figure.add_scatter(x=time, y=error, line=line, name=one["name"], row=2, col=1, **style)
        found = error_of(data["samples"], one)
        said.append(error_words(found, rms="rms {:.3g} mV", largest="at most {:.3g} mV"))
    figure.add_hline(y=0, line={"color": "#999999", "width": 1}, row=2, col=1)
    figure.update_yaxes(title_text="Voltage / V", row=1, col=1)
    figure.update_yaxes(title_text="Error / mV", row=2, col=1)
    figure.update_xaxes(title_text=f"Time / {unit}", row=2, col=1)
    words = ["simulated less measured: " + "; ".join(said[:3]), selected(data)]
    return note(finished(figure), "; ".join(text for text in words if text), data, params)
