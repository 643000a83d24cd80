"""How much energy is left at high power?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import NO_RATES, Reads, choice, chosen_tests, drawable, summary, with_tests

TITLE = "Energy against power (Ragone)"
NEEDS = "Tests with discharges at three rates or more; the mass of the cell for W/kg."


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
        "Discharge energy [W.h]",
    ),
    ("Start voltage [V]", "End voltage [V]", "Mean temperature [degC]", "End time [s]"),
)


def make(facts):
    tests = drawable(facts, facts.tests("rate"), NO_RATES, READS)
    steps, params = chosen_tests(facts, tests, "rate", by="name", most=20)
    steps["steps"] = summary(facts, tests, READS)
    steps["rows"] = with_tests(facts, "steps")
    if facts.mass:
        params["per"] = choice("Refer to", "g", {"cell": "per cell", "g": "per kg"})
    return Made(steps, params)


# The script of the figure
def transform(data, params):
    params = with_defaults(params)
    rows, base = with_excluded(data["rows"]), params.get("per", "cell")
    masses = amount_of(rows, base)
    if unknown := no_amount(masses, base):
        return unknown
    figure, said, colors = go.Figure(), {}, distinct(list(data["chosen"]["id"]))
    for number, (_, test) in enumerate(data["chosen"].iterrows()):
        steps = rows[rows["measurement_id"] == test["id"]]
        mass = masses[steps.index]
        if mass.isna().all():
            continue
        rated = rated_of(steps).iloc[0]
        table = battery.rate_capability(steps, rated=None if np.isnan(rated) else float(rated))
        for one in table.attrs["warnings"]:
            if one["code"] != "temperature_unknown":
                said.setdefault(one["message"].rstrip("."), []).append(test["instance_name"])
        table = table[table["Valid"] & table["Energy [W.h]"].notna()]
        if table.empty:
            continue
        scale = (1000 if base == "g" else 1) / mass.iloc[0]
        figure.add_scatter(
            x=scale * table["Mean power [W]"],
            y=scale * table["Energy [W.h]"],
            mode="lines+markers",
            line={"color": colors[test["id"]]},
            marker={"size": 8, "symbol": SYMBOLS[number % len(SYMBOLS)]},
            name=of_cell(test),
            customdata=table["C-rate [1/h]"],
            hovertemplate="C-rate: %{customdata:.2g}<br>%{x:.4g}, %{y:.4g}<extra>%{fullData.name}</extra>",
        )
    if not figure.data:
        why = f" {'; '.join(each_warned(said)[:3])}." if said else ""
        return battery.message(
            f"The chosen tests have no energy at several rates. Choose others.{why}", unmet=True
        )
    power, energy = ("W kg⁻¹", "W h kg⁻¹") if base == "g" else ("W", "W h")
    found = [np.concatenate([trace[axis] for trace in figure.data]) for axis in ("x", "y")]
    figure.update_xaxes(title_text=f"Mean power / {power}", **log_ticks(found[0]))
    figure.update_yaxes(title_text=f"Energy / {energy}", **log_ticks(found[1]))
    for axis, values in zip((figure.layout.xaxis, figure.layout.yaxis), found):
        low, high = np.log10(np.nanmin(values)), np.log10(np.nanmax(values))
        room = max(0.06 * (high - low), 0.02)
        axis.range = [low - room, high + room]
    finished(figure, showlegend=True)
    ends = name_ends(figure)
    if not figure.layout.showlegend:  # the range of the axis leaves room for the names beside the curves
        low, high = figure.layout.xaxis.range
        figure.update_xaxes(range=[low, high + 0.25 * (high - low)])
    lost = without_amount(rows, masses)
    return note(figure, "; ".join(text for text in (*each_warned(said), lost, ends) if text), data, params)
