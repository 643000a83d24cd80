"""How do the parameters of the equivalent circuit change with age and state of charge?"""

import re

from workbench.gallery.entry import Made
from workbench.gallery.records_plan import stored_results
from workbench.gallery.tests_plan import NO_SPECTRUM, per_area

TITLE = "Circuit parameters"
NEEDS = "Impedance spectra, and the stored results of 'circuit'."
ANALYSES = ("circuit",)


def make(facts):
    there = {column.name for column in facts.catalog["analyses"].series}
    parts = [
        name
        for form in (r"R\d+ \[Ohm\]", r"Wo\d+ R \[Ohm\]", r"Ws\d+ R \[Ohm\]", r"G\d+ R \[Ohm\]")
        for name in sorted(there)
        if re.fullmatch(form, name)
    ]
    columns = (*parts[:9], "Voltage [V]", "rms relative", "Circuit")  # a step has at most 12
    steps, params = stored_results(
        facts,
        "circuit",
        "eis",
        lacking=NO_SPECTRUM,
        x="Spectrum",
        columns=columns,
        by="measurement_name",
        most=6,
        of_any=True,
    )
    cells = {}
    for row in facts.results("circuit"):
        if row["metadata.workbench.valid"]:
            cells.setdefault(row["instance_name"], []).append(row["measurement_name"])
    fullest = max(cells, key=lambda cell: len(cells[cell]))
    params["tests"]["default"] = cells[fullest][:6]
    if "cells" in params:
        params["cells"]["default"] = [fullest]
    return Made(steps, {**params, **per_area(facts)})


# The script of the figure
def transform(data, params):
    params = with_defaults(params)
    tests = data["chosen"].sort_values("start_time", na_position="last")
    if tests.empty:
        return battery.message("Choose a test that has a result.")
    tests = tests.assign(measurement_name=called(tests, "measurement_name"))
    base = params.get("per", "cell")
    amount = amount_of(tests, base)
    figure, labels = go.Figure(), []
    parts = [name for name in data["values"][tests["id"].iloc[0]].columns if name.endswith("[Ohm]")]
    factor, unit = ohm_unit(base, pd.concat([data["values"][id][parts].sum(axis=1) for id in tests["id"]]))
    tables, fitted = [], set()
    for place, test in tests.iterrows():
        table = data["values"][test["id"]]
        table = table[table["rms relative"].notna()].assign(scale=factor * amount[place])
        tables.append(table)
        fitted |= {test["id"]} if len(table) else set()
        for number, volts in enumerate(table["Voltage [V]"]):
            labels.append((test["measurement_name"], f"{volts:.2f} V" if volts == volts else f"no. {number + 1}"))
    rows = pd.concat(tables)
    if rows.empty:
        return battery.message("No spectrum of the chosen tests was fitted. Choose others.", unmet=True)
    shown = [part for part in parts if rows[part].notna().any()]
    x = [[name for name, _ in labels], [volts for _, volts in labels]]
    for color, part in zip(battery.PALETTE, shown):
        figure.add_bar(
            x=x,
            y=rows["scale"] * rows[part],
            name=part.removesuffix(" [Ohm]"),
            marker_color=color,
            hovertemplate="Test: %{x}<br>%{y:.4g} " + unit + "<extra>" + part.removesuffix(" [Ohm]") + "</extra>",
        )
    # A circuit that lacks an element has no such resistance: it is not unknown.
    has = np.column_stack([rows["Circuit"].str.contains(rf"\b{part.split()[0]}\b", na=True) for part in parts])
    lacks = rows[parts].isna().to_numpy() & has
    unknown = lacks[:, [part in shown for part in parts]].sum(axis=1)
    nowhere = [part.removesuffix(" [Ohm]") for part, one in zip(parts, lacks.T) if part not in shown and one.any()]
    marked = unknown.any() and len(rows) <= 40  # marks on more bars would lie upon each other
    if marked:
        figure.add_scatter(
            x=x,
            y=rows["scale"] * rows[shown].sum(axis=1),
            mode="text",
            text=np.where(unknown > 0, "+ ?", ""),
            textposition="top center",
            name="without what is not known",
            customdata=unknown,
            hovertemplate="Test: %{x}<br>Parameters not known: %{customdata}<extra></extra>",
            showlegend=False,
        )
    figure.update_xaxes(autotickangles=[0, 90])
    top = float((rows["scale"] * rows[shown].sum(axis=1)).max())
    figure.update_yaxes(title_text=f"Resistance / {unit}", range=[0, (1.12 if unknown.any() else 1.05) * top])
    finished(figure, barmode="stack")
    circuits = ", ".join(dict.fromkeys(rows["Circuit"].dropna()))
    words = f"without {unknown.sum()} parameter{'s' if unknown.sum() > 1 else ''} that the data do not know"
    lost = f"; {'+ ?: ' if marked else ''}{words}" if unknown.any() else ""
    lost += f"; not known of any spectrum: {', '.join(nowhere)}" if nowhere else ""
    bare = without_amount(tests, amount)
    unknown_area = f"; {bare}" if bare else ""
    none = not_drawn(tests, fitted, "no spectrum is fitted", "measurement_name")
    lost += f"; {none}" if none else ""
    return note(
        figure, f"{circuits}, rms {100 * rows['rms relative'].median():.2g} %{lost}{unknown_area}", data, params
    )
