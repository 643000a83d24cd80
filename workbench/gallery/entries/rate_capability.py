"""How much of its capacity does a cell give at high rates?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import NO_RATES, Reads, choice, chosen_tests, drawable, per, summary, with_tests

TITLE = "Rate capability"
NEEDS = "Tests with discharges at three rates or more."


READS = Reads(
    "steps",
    (
        "Step count",
        "Cycle count",
        "Step type",
        "Duration [s]",
        "Mean current [A]",
        "Discharge capacity [A.h]",
        "Charge capacity [A.h]",
    ),
    (
        "Start voltage [V]",
        "End voltage [V]",
        "Discharge energy [W.h]",
        "Mean temperature [degC]",
        "End time [s]",
    ),
)


def make(facts):
    tests = drawable(facts, facts.tests("rate"), NO_RATES, READS)
    steps, params = chosen_tests(facts, tests, "rate", by="name", most=20)
    steps["steps"] = summary(facts, tests, READS)
    steps["rows"] = with_tests(facts, "steps")
    shown = {"slowest": "% of the slowest", "value": "its value"}
    params["relative"] = choice("Capacity", "slowest", shown)
    return Made(steps, {**params, **per(facts)})


# The script of the figure
def transform(data, params):
    params = with_defaults(params)
    rows, base = with_excluded(data["rows"]), params.get("per", "cell")
    amounts, of_cells = amount_of(rows, base), params["relative"] != "slowest"
    if of_cells and (unknown := no_amount(amounts, base)):
        return unknown
    figure, said, slowest = go.Figure(), {}, []
    colors = distinct(list(data["chosen"]["id"]))
    for number, (_, test) in enumerate(data["chosen"].iterrows()):
        steps = rows[rows["measurement_id"] == test["id"]]
        if steps.empty or (of_cells and amounts[steps.index].isna().all()):
            continue
        rated = rated_of(steps).iloc[0]
        table = battery.rate_capability(steps, rated=None if np.isnan(rated) else float(rated))
        for one in table.attrs["warnings"]:
            if one["code"] != "temperature_unknown":
                said.setdefault(one["message"].rstrip("."), []).append(test["instance_name"])
        table = table[table["Valid"] & table["CC capacity [A.h]"].notna()]
        if table.empty:
            continue
        slowest.append(table["C-rate [1/h]"].iloc[0])
        if not of_cells:
            scale, title = 100 / table["CC capacity [A.h]"].iloc[0], "CC capacity / % of the slowest"
        else:
            factor, unit = capacity_unit(base, rows["Discharge capacity [A.h]"])
            scale, title = factor / amounts[steps.index].iloc[0], f"CC capacity / {unit}"
        color = colors[test["id"]]
        figure.add_scatter(
            x=table["C-rate [1/h]"],
            y=scale * table["CC capacity [A.h]"],
            error_y={"type": "data", "array": scale * table["Spread [A.h]"], "thickness": 1},
            mode="lines+markers",
            line={"color": color},
            marker={"size": 8, "symbol": SYMBOLS[number % len(SYMBOLS)]},
            name=of_cell(test),
            customdata=table["n"],
            hovertemplate="%{x:.3g} C: %{y:.4g} (n = %{customdata:.0f})<extra>%{fullData.name}</extra>",
        )
    if not figure.data:
        return battery.message(next(iter(said)) + "." if said else "No test is chosen.", unmet=True)
    ticks = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20]
    figure.update_xaxes(
        title_text="Discharge rate / C", type="log", tickvals=ticks, ticktext=[f"{t:g}" for t in ticks]
    )
    rates = list(dict.fromkeys(f"{rate:.2g}" for rate in sorted(slowest)))
    if not of_cells and len(rates) == 1:
        title = f"CC capacity / % of that at {rates[0]} C"
    unlike = f"the slowest of each test: {rates[0]} to {rates[-1]} C" if not of_cells and len(rates) > 1 else ""
    figure.update_yaxes(title_text=title, rangemode="tozero")
    finished(figure, showlegend=True)
    ends = name_ends(figure)
    lost = without_amount(rows, amounts) if of_cells else ""
    return note(figure, "; ".join(text for text in (unlike, *each_warned(said), lost, ends) if text), data, params)
