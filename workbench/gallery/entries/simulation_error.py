"""In which steps does a model miss the measurement most?"""

from workbench.gallery.entry import Made
from workbench.gallery.simulations_plan import beside_measurements
from workbench.gallery.tests_plan import choice

TITLE = "Error of a model by step"
NEEDS = "Simulations with the measured current of a test: bench.simulate('Chen2020', 'NAME OF A TEST')."


def make(facts):
    steps, params = beside_measurements(facts, most=3)
    shown = {"rms": "root mean square", "mean": "mean", "largest": "largest"}
    params["quantity"] = choice("Error", "rms", shown)
    return Made(steps, params)


# The script of the figure
def transform(data, params):
    if data["chosen"].empty:
        return battery.message("Choose a simulation.")
    figure, thinned = go.Figure(), []
    for color, (_, one) in zip(itertools.cycle(battery.PALETTE), data["chosen"].iterrows()):
        frame = data["samples"][one["id"]]
        thinned += [] if data["samples"].complete[one["id"]] else [one["name"]]
        found = {step: error_over_time(part) for step, part in frame.groupby("Step count")}
        kind = {step: direction_of(part["Current [A]"]) for step, part in frame.groupby("Step count")}
        figure.add_bar(
            x=[f"{step:g}" for step in found],
            y=[part[params["quantity"]] for part in found.values()],
            marker={"color": color},
            name=one["name"],
            customdata=np.column_stack([list(kind.values()), [part["seconds"] for part in found.values()]]),
            hovertemplate="step %{x}: %{y:.3g} mV<br>Step type: %{customdata[0]}<br>Duration: %{customdata[1]:.4g} s",
        )
    words = {"rms": "Root mean square error", "mean": "Mean error", "largest": "Largest error"}[params["quantity"]]
    figure.update_xaxes(title_text="Step count", type="category")
    figure.update_yaxes(title_text=f"{words} / mV")
    finished(figure, barmode="group", showlegend=True)
    exact = f"; approximate, from thinned samples: {', '.join(thinned)}" if thinned else ""
    return note(figure, f"simulated less measured, weighted by time{exact}", data, params)


def direction_of(current):
    mean, most = current.mean(), max(current.abs().max(), 1e-9)
    return "rest" if abs(mean) < 1e-3 * most else "discharge" if mean > 0 else "charge"
