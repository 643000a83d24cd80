"""How do the parameters of the equivalent circuit change with age and state of charge?"""

from workbench.gallery.entry import Made
from workbench.gallery.records_plan import stored_results

TITLE = "Circuit parameters"
NEEDS = "Impedance spectra, and the stored results of 'circuit'."
LACKING = "No test has an impedance spectrum. Ingest a file with frequency and impedance."
ANALYSES = ("circuit",)


def make(facts):
    there = {column.name for column in facts.catalog["analyses"].series}
    parts = [
        name
        for name in ("R0 [Ohm]", "R1 [Ohm]", "R2 [Ohm]", "R3 [Ohm]", "Wo1 R [Ohm]", "Ws1 R [Ohm]")
        if name in there
    ]
    columns = (*parts, "Voltage [V]", "rms relative", "Circuit")
    steps, params = stored_results(
        facts, "circuit", "eis", lacking=LACKING, x="Spectrum", columns=columns, by="measurement_name", most=6
    )
    cells = {}
    for row in facts.results("circuit"):
        if row["metadata.workbench.valid"]:
            cells.setdefault(row["instance_name"], []).append(row["measurement_name"])
    params["tests"]["default"] = max(cells.values(), key=len)[:6]
    return Made(steps, params)


# The script of the figure
def transform(data, params):
    tests = data["chosen"].sort_values("start_time", na_position="last")
    figure, labels, unknown = go.Figure(), [], 0
    parts = [name for name in data["values"][tests["id"].iloc[0]].columns if name.endswith("[Ohm]")]
    tables = []
    for _, test in tests.iterrows():
        table = data["values"][test["id"]]
        table = table[table["rms relative"].notna()]
        tables.append(table)
        labels += [(test["measurement_name"], f"{volts:.2f} V") for volts in table["Voltage [V]"]]
    rows = pd.concat(tables)
    if rows.empty:
        return battery.message("No spectrum of the chosen tests was fitted. Choose others.", unmet=True)
    shown = [part for part in parts if rows[part].notna().any()]
    for color, part in zip(battery.PALETTE, shown):
        unknown += int(rows[part].isna().sum())
        figure.add_bar(
            x=[[name for name, _ in labels], [volts for _, volts in labels]],
            y=1000 * rows[part],
            name=part.removesuffix(" [Ohm]"),
            marker_color=color,
            hovertemplate="%{x}: %{y:.4g} mΩ<extra>" + part.removesuffix(" [Ohm]") + "</extra>",
        )
    figure.update_xaxes(autotickangles=[0, 90])
    figure.update_yaxes(title_text="Resistance / mΩ", rangemode="tozero")
    finished(figure, barmode="stack")
    circuits = ", ".join(dict.fromkeys(rows["Circuit"].dropna()))
    lost = f"; left out: {unknown} parameters that the data do not know" if unknown else ""
    return note(figure, f"{circuits}, rms {100 * rows['rms relative'].median():.2g} %{lost}")
