"""In which steps does a model miss the measurement most?"""

from workbench.gallery.entry import Made
from workbench.gallery.simulations_plan import SIMULATIONS_OF_TESTS, beside_measurements
from workbench.gallery.tests_plan import choice

TITLE = "Error of a model by step"
NEEDS = SIMULATIONS_OF_TESTS


def make(facts):
    steps, params = beside_measurements(facts, most=3)
    shown = {"rms": "root mean square", "mean": "mean", "largest": "largest"}
    params["quantity"] = choice("Error", "rms", shown)
    return Made(steps, params)


# The script of the figure
def transform(data, params):
    params = with_defaults(params)
    if data["chosen"].empty:
        return battery.message("Choose a simulation.")
    figure, apart, thinned = go.Figure(), params["quantity"] != "largest", []
    for color, (_, one) in zip(distinct(list(data["chosen"]["id"])).values(), data["chosen"].iterrows()):
        frame = data["samples"][one["id"]]
        if not data["samples"].complete[one["id"]]:
            thinned.append(one["name"])
            if apart:  # a selection has more of the extremes than all samples do
                continue
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
    named = ", ".join(thinned[:3]) + (f" and {len(thinned) - 3} more" if len(thinned) > 3 else "")
    if not figure.data:
        return battery.message(
            f"The error of each step is not known here: not all samples are read of {named}. "
            "It is in bench.simulations.steps(...) where bench.simulate made the simulation.",
            unmet=True,
        )
    words = {"rms": "Root mean square error", "mean": "Mean error", "largest": "Largest error"}[params["quantity"]]
    figure.update_xaxes(title_text="Step count", type="category")
    figure.update_yaxes(title_text=f"{words} / mV")
    finished(figure, barmode="group", showlegend=True)
    bare = f"left out: {named} (not all samples are read)" if apart else f"of a selection of samples: {named}"
    weighted = "simulated less measured, weighted by time"
    return note(figure, f"{weighted}; {bare}" if thinned else weighted, data, params)


def direction_of(current):
    mean, most = current.mean(), max(current.abs().max(), 1e-9)
    return "rest" if abs(mean) < 1e-3 * most else "discharge" if mean > 0 else "charge"
