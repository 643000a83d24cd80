"""What is the open-circuit voltage over the state of charge, and how large is the hysteresis?"""

from workbench.gallery.entry import Made
from workbench.gallery.records_plan import stored_results

TITLE = "Pseudo open-circuit voltage"
NEEDS = "A slow charge and a slow discharge in one test, and the stored results of 'pseudo_ocv'."
LACKING = "No test has a slow charge and discharge. A cycle at C/20, or a check-up, would do."
ANALYSES = ("pseudo_ocv",)


def make(facts):
    columns = ("Voltage [V]", "Charge voltage [V]", "Discharge voltage [V]", "Hysteresis [V]")
    steps, params = stored_results(
        facts,
        "pseudo_ocv",
        "pocv",
        "rpt",
        lacking=LACKING,
        x="SOC",
        columns=columns,
        by="measurement_name",
        most=1,
    )
    return Made(steps, params)


# The script of the figure
from plotly.subplots import make_subplots


def transform(data, params):
    params = with_defaults(params)
    tests = data["chosen"].sort_values("start_time", na_position="last")
    if tests.empty:
        return battery.message("Choose a test that has a result.")
    tests = tests.assign(measurement_name=called(tests, "measurement_name"))
    figure = make_subplots(rows=2, shared_xaxes=True, row_heights=[0.72, 0.28], vertical_spacing=0.04)
    several, colors = len(tests) > 1, distinct(list(tests["id"]))
    for _, test in tests.iterrows():
        table = data["values"][test["id"]].sort_values("SOC")
        color = colors[test["id"]]
        lines = {"Voltage [V]": "mean", "Charge voltage [V]": "charge", "Discharge voltage [V]": "discharge"}
        for place, (name, label) in enumerate(lines.items()):
            shade = color if several else ["#222222", battery.PALETTE[0], battery.PALETTE[1]][place]
            figure.add_scatter(
                x=100 * table["SOC"],
                y=table[name],
                mode="lines",
                line={"color": shade, "dash": ["solid", "dash", "dot"][place], "width": 2 if place == 0 else 1.3},
                name=f"{test['measurement_name']}, {label}" if several else label,
                legendgroup=test["id"] if several else label,
                showlegend=not several or place == 0,
                hovertemplate="%{x:.1f} %: %{y:.4f} V<extra>%{fullData.name}</extra>",
                row=1,
                col=1,
            )
        figure.add_scatter(
            x=100 * table["SOC"],
            y=1000 * table["Hysteresis [V]"],
            mode="lines",
            line={"color": color if several else "#222222"},
            name=f"{test['measurement_name']}, hysteresis" if several else "hysteresis",
            legendgroup=test["id"] if several else "hysteresis",
            showlegend=False,
            hovertemplate="%{x:.1f} %: %{y:.3g} mV<extra>%{fullData.name}</extra>",
            row=2,
            col=1,
        )
    figure.update_yaxes(title_text="Voltage / V", row=1, col=1)
    figure.update_yaxes(title_text="Hysteresis / mV", rangemode="tozero", row=2, col=1)
    figure.update_xaxes(title_text="State of charge / %", row=2, col=1)
    finished(figure)
    return note(
        figure, name_ends(figure, share=0.7) if several else tests["measurement_name"].iloc[0], data, params
    )
