"""What happened in this test?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import NO_SAMPLES, Reads, chosen_tests, drawable, per, summary

TITLE = "What happened in a test"
NEEDS = "Any test with samples."


STEPS = Reads("steps", ("Step count", "Step type", "Start time [s]", "Duration [s]"))
SAMPLES = Reads("series", ("Time [s]", "Voltage [V]", "Current [A]"))


def make(facts):
    tests = drawable(facts, facts.tests(), NO_SAMPLES, STEPS, SAMPLES)
    steps, params = chosen_tests(facts, tests, most=1, by="name")
    steps["steps"] = summary(facts, tests, STEPS)
    steps["samples"] = {
        "op": "series",
        "source": "measurements",
        "ids": {"from": "chosen", "column": "id"},
        "x": "Time [s]",
        "columns": ["Voltage [V]", "Current [A]"],
        "window": {"min": "$start", "max": "$end"},
        "max_points": 4000,
    }
    params["tests"]["default"] = tests[0].name
    if "cells" in params:
        params["cells"]["default"], params["cells"]["control"]["label"] = tests[0].cell, "Cell"
    params["tests"]["control"]["label"] = "Test"
    for name, label, words in (("start", "From / s", "from the start"), ("end", "To / s", "to the end")):
        control = {"label": label, "description": f"Auto reads {words}.", "min": -1e9, "max": 1e9, "step": 0.1}
        params[name] = {"kind": "data", "default": None, "control": control}
    return Made(steps, {**params, **per(facts)})


# The script of the figure
from plotly.subplots import make_subplots

COLORS = {
    "Rest": "#BBBBBB",
    "Constant current charge": "#0072B2",
    "Constant voltage charge": "#56B4E9",
    "Constant current discharge": "#D55E00",
    "Constant voltage discharge": "#E69F00",
    "EIS": "#CC79A7",
}


def transform(data, params):
    params = with_defaults(params)
    if data["chosen"].empty:
        return battery.message("Choose a test.")
    test = data["chosen"].iloc[0]
    samples = data["samples"][test["id"]]
    if not samples["Time [s]"].notna().any():
        ends = [params[name] for name in ("start", "end")]
        if all(end is None for end in ends):
            return battery.message(f"The test '{test['name']}' has no time. Choose another one.")
        first, last = (
            f"{end:g} s" if end is not None else name for end, name in zip(ends, ("its start", "its end"))
        )
        return battery.message(
            f"The test '{test['name']}' has no sample from {first} to {last}. Choose other times."
        )
    first, last = samples["Time [s]"].min(), samples["Time [s]"].max()
    factor, unit = scale_of_time(last - first)
    steps = data["steps"]
    steps = steps[steps["measurement_id"] == test["id"]]
    ends = steps["Start time [s]"] + steps["Duration [s]"]
    steps = steps[(ends >= first) & (steps["Start time [s]"] <= last)]
    figure = make_subplots(
        rows=3, shared_xaxes=True, row_heights=[0.5, 0.42, 0.08], vertical_spacing=0.03, specs=[[{}], [{}], [{}]]
    )
    base = params.get("per", "cell")
    amount = amount_of(data["chosen"], base)
    scale, unit_of_current = current_unit(base, samples["Current [A]"])
    scale = scale / amount.iloc[0]
    for row, name, by, what in ((1, "Voltage [V]", 1.0, "Voltage"), (2, "Current [A]", scale, "Current")):
        figure.add_scatter(
            x=samples["Time [s]"] / factor,
            y=by * samples[name],
            mode="lines",
            line={"color": "#222222", "width": 1.2},
            name=what,
            showlegend=False,
            hovertemplate=f"%{{x:.4g}} {unit}: %{{y:.4g}} {'V' if row == 1 else unit_of_current}<extra></extra>",
            row=row,
            col=1,
        )
    figure.update_yaxes(title_text="Voltage / V", row=1, col=1)
    figure.update_yaxes(title_text=f"Current / {unit_of_current}", row=2, col=1)
    for place, (kind, rows) in enumerate(steps.groupby("Step type", sort=False)):
        start, end = rows["Start time [s]"] / factor, (rows["Start time [s]"] + rows["Duration [s]"]) / factor
        nothing = pd.Series(np.nan, rows.index)
        x = np.column_stack([start, start, end, end, start, nothing]).ravel()
        y = np.tile([0.0, 1.0, 1.0, 0.0, 0.0, np.nan], len(rows))
        color = COLORS.get(str(kind), battery.PALETTE[(place + 2) % len(battery.PALETTE)])
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            fill="toself",
            fillcolor=color,
            line={"color": color, "width": 0.5},
            name=f"{kind} ({len(rows)})",
            hoveron="fills",
            hoverinfo="name",
            meta={"step": "steps"},
            row=3,
            col=1,
        )
    figure.update_yaxes(visible=False, range=[0, 1], row=3, col=1)
    figure.update_xaxes(title_text=f"Time / {unit}", row=3, col=1)
    if len(steps) and (steps["Start time [s]"].min() < first or ends[steps.index].max() > last):
        figure.update_xaxes(range=[first / factor, last / factor])
    finished(figure)
    began = "" if pd.isna(test["start_time"]) else f", began {test['start_time']:%Y-%m-%d}"
    said = f"{len(steps)} steps in {(last - first) / factor:.3g} {unit}"
    lost = without_amount(data["chosen"], amount)
    return note(figure, f"{of_cell(test)}{began}: {said}" + (f"; {lost}" if lost else ""), data, params)
