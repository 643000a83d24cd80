"""When does each cell reach the end of its life?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import Reads, chosen_tests, drawable, summary, with_tests

TITLE = "End of life"
NEEDS = "Tests that repeat a full cycle at least ten times."
LACKING = "No test repeats a full cycle at least ten times. Ingest an ageing test, or give one the tag 'ageing'."


READS = Reads(
    "cycles",
    ("Cycle count", "Discharge capacity [A.h]", "Complete"),
    ("Mean discharge current [A]", "Mean temperature [degC]"),
)


def make(facts):
    tests = drawable(facts, facts.tests("ageing"), LACKING, READS)
    steps, params = chosen_tests(facts, tests, "ageing", most=60)
    steps["cycles"] = summary(facts, tests, READS)
    steps["rows"] = with_tests(facts, "cycles")
    label = {"label": "End of life / % of the first capacity", "min": 30, "max": 99, "step": 1}
    params["threshold"] = {"kind": "view", "default": 80, "control": label}
    return Made(steps, params)


# The script of the figure
def transform(data, params):
    rows, share = data["rows"], params["threshold"] / 100
    found = []
    for test, cycles in rows.groupby("measurement_id", sort=False):
        cycles = cycles.sort_values("Cycle count")
        cell = cycles["instance_name"].iloc[0]
        reached = battery.end_of_life(cycles, threshold=share).iloc[0]
        one = {"cell": cell, "batch": cycles["batch_name"].iloc[0], "last": cycles["Cycle count"].max()}
        if reached["Valid"] and reached["EOL cycle"] == reached["EOL cycle"]:
            found.append({**one, "how": "reached", "eol": reached["EOL cycle"]})
            continue
        ahead = battery.eol_extrapolation(cycles, threshold=share).iloc[0]
        if ahead["Valid"] and ahead["EOL cycle"] == ahead["EOL cycle"]:
            ends = {"low": ahead["EOL low"], "high": ahead["EOL high"]}
            found.append({**one, "how": "extrapolated", "eol": ahead["EOL cycle"], **ends})
        else:
            found.append({**one, "how": "beyond", "eol": one["last"], "why": str(ahead["Warning"])})
    if not found:
        return battery.message("No cycles to draw. Choose other cells.", unmet=True)
    found = pd.DataFrame(found).sort_values(["batch", "cell"], na_position="last")
    batches = sorted(found["batch"].fillna("no batch").unique())
    colors = palette(batches)
    figure = go.Figure()
    styles = {
        "reached": "reached",
        "extrapolated": "extrapolated, 90 % band",
        "beyond": "not reached: beyond the last cycle",
    }
    for how, name in styles.items():
        one = found[found["how"] == how]
        if one.empty:
            continue
        shade = [colors[batch] for batch in one["batch"].fillna("no batch")]
        marker = {"color": shade if how == "reached" else "rgba(0,0,0,0)", "line": {"color": shade, "width": 2}}
        if how == "beyond":
            marker = {"color": [battery.pale(color, 0.25) for color in shade], "line": {"width": 0}}
        error = None
        if how == "extrapolated":
            error = {"type": "data", "array": one["high"] - one["eol"], "arrayminus": one["eol"] - one["low"]}
        figure.add_bar(
            x=one["cell"],
            y=one["eol"],
            error_y=error,
            marker=marker,
            name=name,
            text=[f"> {last:g}" for last in one["last"]]
            if how == "beyond"
            else [f"{eol:.0f}" for eol in one["eol"]],
            textposition="outside",
            hovertemplate="%{x}: %{text} cycles<extra>" + name + "</extra>",
        )
    figure.update_xaxes(categoryorder="array", categoryarray=found["cell"], autotickangles=[0, 90])
    figure.update_yaxes(title_text=f"Cycles to {params['threshold']:g} %", rangemode="tozero")
    finished(figure)
    return note(figure, "of the first capacity" + ("; colour: batch" if len(batches) > 1 else ""))
