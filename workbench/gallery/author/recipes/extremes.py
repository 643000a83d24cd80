"""How high or how low does a quantity get in each cell, and on the mean of a group of cells?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import Reads, choice, chosen_tests, drawable, summary, with_tests

TITLE = "Highest and lowest values"
LACKING = "No test has steps. Ingest a cycler file."


def make(facts, tests, column, extreme="max", group="cells"):
    ends = {"max": f"Max {column}", "min": f"Min {column}"}
    reads = Reads("steps", ("Step count", *ends.values()))
    tests = drawable(facts, tests, LACKING, reads)
    steps, params = chosen_tests(facts, tests)
    steps["steps"] = summary(facts, tests, reads)
    metrics = {ends[name]: {"fn": name, "column": ends[name]} for name in ends}
    steps["values"] = {
        "op": "aggregate",
        "input": "steps",
        "group_by": ["measurement_id"],
        "metrics": metrics,
    }
    steps["rows"] = with_tests(facts, "values")
    called = column.partition(" [")[0]
    shown = {ends["max"]: f"highest {called}", ends["min"]: f"lowest {called}"}
    params["extreme"] = choice("Value", ends[extreme], shown)
    groups = {"cells": "each cell", "all": "mean of the cells"}
    if any(one.batch for one in tests):
        groups = {"cells": "each cell", "batch": "mean of each batch", "all": "mean of all cells"}
    params["group"] = choice("Show", group if group in groups else "all", groups)
    return Made(steps, params)


# The script of the figure
def transform(data, params):
    end, group = params["extreme"], params["group"]
    rows = data["rows"].dropna(subset=[end])
    if rows.empty:
        return battery.message("No value to draw. Choose other cells.")
    how = {"value": (end, "max" if end.startswith("Max") else "min"), "batch": ("batch_name", "first")}
    cells = rows.groupby("instance_name", sort=True).agg(**how).reset_index()
    cells["batch"] = cells["batch"].fillna("no batch")
    cells["group"] = cells["batch"] if group != "all" else "all cells"
    colors, figure = palette(sorted(cells["group"].unique())), go.Figure()
    for name, part in cells.groupby("group", sort=True):
        x, y, error, hover = part["instance_name"], part["value"], None, "%{x}: %{y:.4g}<extra></extra>"
        if group != "cells":
            x, y = [f"{name} (n = {len(part)})"], [part["value"].mean()]
            error = {"array": [part["value"].std()]} if len(part) > 1 else None
        figure.add_bar(x=x, y=y, error_y=error, name=name, marker={"color": colors[name]}, hovertemplate=hover)
    called = "Highest" if end.startswith("Max") else "Lowest"
    figure.update_yaxes(title_text=battery.axis_title(f"{called} {end[4:]}"))
    figure.update_xaxes(title_text="Cell" if group == "cells" else "Cells", type="category")
    finished(figure, showlegend=group == "cells" and cells["group"].nunique() > 1)
    said = "" if group == "cells" else f"mean ± s.d. of the {called.lower()} values of the cells"
    return note(figure, said, data, params)
