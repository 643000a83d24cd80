"""Does the fade steepen, and from which cycle on?"""

from workbench.gallery.entry import Made
from workbench.gallery.records_plan import cycles_of_records, stored_results
from workbench.gallery.tests_plan import NO_AGEING, RATE

TITLE = "Knee of the fade"
NEEDS = "Ageing tests of 50 complete cycles or more, and the stored results of 'knee'."
ANALYSES = ("knee",)


def make(facts):
    columns = (
        "Knee low",
        "Knee high",
        "Onset cycle",
        "Onset low",
        "Onset high",
        "Slope 1 [1/cycle]",
        "Slope 3 [1/cycle]",
    )
    steps, params = stored_results(facts, "knee", "ageing", lacking=NO_AGEING, x="Knee cycle", columns=columns)
    needs, also = ("Cycle count", "Discharge capacity [A.h]", "Complete"), RATE
    steps["cycles"] = cycles_of_records(facts, "knee", needs, also)
    return Made(steps, params)


# The script of the figure
def transform(data, params):
    params = with_defaults(params)
    figure, cells = go.Figure(), data["chosen"]
    if cells.empty:
        return battery.message("Choose a cell that has a result.")
    colors = distinct(list(cells["id"]))
    cycles = data["cycles"][data["cycles"]["measurement_id"].isin(cells["measurement_id"])]
    full = cycles[cycles["Complete"].fillna(True).astype(bool)]
    few = incomplete(cycles, full)
    cycles, partly = from_full(full)
    cycles, apart = of_course(cycles)
    for _, cell in cells.iterrows():
        rows = cycles[cycles["measurement_id"] == cell["measurement_id"]]
        rows = rows.dropna(subset=["Discharge capacity [A.h]"]).sort_values("Cycle count")
        found = data["values"][cell["id"]].iloc[0]
        if rows.empty:
            continue
        retention = 100 * rows["Discharge capacity [A.h]"] / rows["Discharge capacity [A.h]"].iloc[0]
        color = colors[cell["id"]]
        style = {"mode": "lines", "line": {"color": color}, "legendgroup": cell["id"]}
        figure.add_scatter(x=rows["Cycle count"], y=retention, name=cell["instance_name"], **style)
        for name, symbol, beside in (("Onset", "circle-open", "bottom left"), ("Knee", "diamond", "top right")):
            at, low, high = found[f"{name} cycle"], found[f"{name} low"], found[f"{name} high"]
            if at != at:
                continue
            y = float(np.interp(at, rows["Cycle count"], retention))
            figure.add_scatter(
                x=[at],
                y=[y],
                error_x={"type": "data", "array": [high - at], "arrayminus": [at - low], "thickness": 1.5},
                mode="markers+text",
                marker={"symbol": symbol, "size": 11, "color": color},
                text=[f"{name.lower()} {at:.0f}"],
                textposition=beside,
                showlegend=False,
                hovertemplate=f"{name} of {cell['instance_name']}: {at:.0f} ({low:.0f} to {high:.0f})<extra></extra>",
            )
    figure.update_xaxes(title_text="Cycle count", rangemode="tozero")
    figure.update_yaxes(title_text="Capacity retention / %")
    finished(figure, showlegend=True)
    ends = name_ends(figure)
    without = sorted(set(data["records"]["instance_name"]) - set(cells["instance_name"]))
    lacking = f"no knee: {', '.join(without[:8])}{' ...' if len(without) > 8 else ''}" if without else ""
    names = cells.drop_duplicates("measurement_id")["instance_name"]
    several = names[names.duplicated()].unique()
    own = f"each test counts from its own first cycle: {', '.join(several[:5])}" if len(several) else ""
    return note(figure, "; ".join(text for text in (lacking, own, few, apart, partly, ends) if text), data, params)
