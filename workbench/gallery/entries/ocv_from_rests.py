"""Does the voltage after rests agree with the slow curve?"""

from workbench.gallery.entry import Made
from workbench.gallery.records_plan import stored_results

TITLE = "Open-circuit voltage from rests"
NEEDS = "GITT or HPPC with rests of 30 min or more, and the stored results of 'ocv_from_rests'."
LACKING = "No test has rests at several states of charge. GITT or HPPC would do."
ANALYSES = ("ocv_from_rests",)


def make(facts):
    columns = ("Rest", "Voltage [V]", "Rest [s]", "Drift [mV/h]", "Direction before", "Warning")
    steps, params = stored_results(
        facts,
        "ocv_from_rests",
        "gitt",
        "hppc",
        lacking=LACKING,
        x="SOC",
        columns=columns,
        by="measurement_name",
        most=8,
    )
    params["drift"] = {
        "kind": "view",
        "default": 2.0,
        "control": {
            "label": "Open where the voltage drifts by more than / mV h⁻¹",
            "min": 0.1,
            "max": 50.0,
            "step": 0.1,
        },
    }
    return Made(steps, params)


# The script of the figure
def transform(data, params):
    params = with_defaults(params)
    tests = data["chosen"].sort_values("start_time", na_position="last")
    if tests.empty:
        return battery.message("Choose a test that has a result.")
    tests = tests.assign(measurement_name=called(tests, "measurement_name"))
    figure, moving, few = go.Figure(), 0, []
    one_cell = tests["instance_name"].nunique() == 1
    by = tests["measurement_name"] if one_cell else tests["instance_name"]
    order = 0 * tests.index if one_cell else tests.groupby("instance_name").cumcount()
    colors = distinct(list(dict.fromkeys(by)))
    for (_, test), group, place in zip(tests.iterrows(), by, order):
        table = data["values"][test["id"]].dropna(subset=["SOC", "Voltage [V]"]).sort_values("Rest")
        moving += int((table["Drift [mV/h]"].abs() > params["drift"]).sum())
        few += [test["measurement_name"]] if len(table) < 3 else []
        color, symbol = colors[group], SYMBOLS[place % len(SYMBOLS)]
        # A line joins rests that follow each other in one direction: after a charge the voltage is higher.
        turn = table["Direction before"].ne(table["Direction before"].shift()).cumsum()
        for number, (_, one) in enumerate(table.groupby(turn)):
            still = one["Drift [mV/h]"].abs() <= params["drift"]
            figure.add_scatter(
                x=100 * one["SOC"],
                y=one["Voltage [V]"],
                mode="lines+markers",
                line={"color": battery.pale(color, 0.4), "width": 1},
                marker={"size": 8, "color": color, "symbol": np.where(still, symbol, f"{symbol}-open")},
                name=group,
                legendgroup=group,
                showlegend=place == 0 and number == 0,
                customdata=np.column_stack([one["Rest [s]"] / 60, one["Drift [mV/h]"]]),
                hovertemplate="%{x:.1f} %: %{y:.4f} V<br>Rest: %{customdata[0]:.0f} min"
                "<br>Drift: %{customdata[1]:.2g} mV h⁻¹"
                f"<extra>{test['measurement_name']}</extra>",
            )
    charge_axis(figure)
    figure.update_yaxes(title_text="Voltage at the end of the rest / V")
    finished(figure, showlegend=True)
    ends = name_ends(figure)
    drift = f"open: {moving} rests that still drift by more than {params['drift']:g} mV h⁻¹" if moving else ""
    later = f"{SYMBOLS[0]}, {SYMBOLS[1]} ...: first test of a cell, second ..." if max(order) > 0 else ""
    charge = relative_charge(data["values"][id] for id in tests["id"])
    lone = f"one or two rests of half an hour only: {', '.join(few[:3])}" if few else ""
    return note(figure, "; ".join(text for text in (drift, lone, later, charge, ends) if text), data, params)
