"""What power can a cell give and take, and how much of it is left?"""

from workbench.gallery.entry import Made
from workbench.gallery.records_plan import stored_results
from workbench.gallery.tests_plan import choice

TITLE = "Power capability"
NEEDS = "HPPC tests, the voltage limits of the design, and the stored results of 'power_capability'."
LACKING = "No test is an HPPC. Pulses after rests of 5 min at several states of charge would do."
ANALYSES = ("power_capability",)


def make(facts):
    columns = ("Power at 10 s [W]", "Extrapolation", "Direction", "Warning")
    steps, params = stored_results(
        facts,
        "power_capability",
        "hppc",
        lacking=LACKING,
        x="SOC",
        columns=columns,
        by="measurement_name",
        most=8,
    )
    params["direction"] = choice(
        "Direction", "both", {"both": "both", "discharge": "discharge", "charge": "charge"}
    )
    if facts.mass:
        params["per"] = choice("Refer to", "cell", {"cell": "per cell", "g": "per g"})
    return Made(steps, params)


# The script of the figure
def transform(data, params):
    params = with_defaults(params)
    base = params.get("per", "cell")
    tests = data["chosen"].sort_values("start_time", na_position="last")
    tests = tests.assign(amount=amount_of(tests, base), measurement_name=called(tests, "measurement_name"))
    colors, figure, far = distinct(list(tests["id"])), go.Figure(), 1.0
    for _, test in tests.iterrows():
        table = data["values"][test["id"]].dropna(subset=["Power at 10 s [W]"])
        for direction, one in sorted(table.groupby("Direction"), reverse=True):
            if params["direction"] not in ("both", direction):
                continue
            one = one.sort_values("SOC")
            far = max(far, float(one["Extrapolation"].max()))
            figure.add_scatter(
                x=100 * one["SOC"],
                y=one["Power at 10 s [W]"].abs() / test["amount"],
                mode="lines+markers",
                line={"color": colors[test["id"]], "dash": "solid" if direction == "discharge" else "dot"},
                marker={"symbol": "circle" if direction == "discharge" else "circle-open", "size": 7},
                name=test["measurement_name"],
                legendgroup=test["id"],
                showlegend=not any(trace.legendgroup == test["id"] for trace in figure.data),
                customdata=[[times, direction] for times in one["Extrapolation"]],
                hovertemplate="%{x:.0f} %: %{y:.4g}<br>Current over that of the pulse: %{customdata[0]:.1f}"
                "<br>Pulse: %{customdata[1]}",
            )
    if not figure.data:
        return battery.message("The chosen tests have no power. Choose others.", unmet=True)
    charge_axis(figure)
    figure.update_yaxes(title_text="Power for 10 s / " + ("W" if base == "cell" else "W g⁻¹"), rangemode="tozero")
    finished(figure)
    ends = name_ends(figure)
    lost = without_amount(tests, tests["amount"])
    dashes = "solid: discharge, dotted: charge" if params["direction"] == "both" else params["direction"]
    return note(
        figure,
        "; ".join(
            text
            for text in (
                dashes,
                f"extrapolated up to {far:.1f} times the current of the pulses",
                relative_charge(data["values"][id] for id in tests["id"]),
                not_drawn(
                    tests, {trace.legendgroup for trace in figure.data}, "no such power", "measurement_name"
                ),
                lost,
                ends,
            )
            if text
        ),
        data,
        params,
    )
