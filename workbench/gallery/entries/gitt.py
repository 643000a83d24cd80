"""How fast is diffusion at each state of charge?"""

from workbench.gallery.entry import Made
from workbench.gallery.records_plan import stored_results

TITLE = "Diffusion from GITT"
NEEDS = "GITT with every sample of its pulses, and the stored results of 'gitt'."
LACKING = "No test is a GITT. Equal charges with long rests at eight states of charge or more would do."
ANALYSES = ("gitt",)


def make(facts):
    columns = (
        "D/R2 [1/s]",
        "D/R2 second window [1/s]",
        "D [m2/s]",
        "D second window [m2/s]",
        "Direction",
        "r2",
        "Warning",
    )
    steps, params = stored_results(
        facts,
        "gitt",
        "gitt",
        lacking=LACKING,
        x="SOC",
        columns=columns,
        by="measurement_name",
        most=6,
        of_any=True,
    )
    return Made(steps, params)


# The script of the figure
def transform(data, params):
    params = with_defaults(params)
    figure, tests = go.Figure(), data["chosen"]
    tests = tests.assign(measurement_name=called(tests, "measurement_name"))
    # D where all tests have it, else D/R², which all have: a test without a radius is drawn too.
    found = [data["values"][id] for id in tests["id"]]
    bare = [
        name
        for name, table in zip(tests["measurement_name"], found)
        if table["D/R2 [1/s]"].notna().any() and not table["D [m2/s]"].notna().any()
    ]
    known = not bare and any(table["D [m2/s]"].notna().any() for table in found)
    first, second = ("D [m2/s]", "D second window [m2/s]") if known else ("D/R2 [1/s]", "D/R2 second window [1/s]")
    ways = {way for id in tests["id"] for way in data["values"][id].dropna(subset=[first])["Direction"]}
    colors = distinct(list(tests["id"]))
    for _, test in tests.iterrows():
        color = colors[test["id"]]
        found = data["values"][test["id"]].dropna(subset=["SOC", first]).sort_values("SOC")
        # A charge and a discharge at one state of charge differ: a line over both would go back and forth.
        for place, (way, table) in enumerate(sorted(found.groupby("Direction"), reverse=True)):
            both = table.dropna(subset=[second])
            figure.add_scatter(
                x=np.r_[100 * both["SOC"], 100 * both["SOC"][::-1]],
                y=np.r_[both[first], both[second][::-1]],
                mode="lines",
                fill="toself",
                fillcolor=battery.pale(color, 0.2),
                line={"width": 0},
                legendgroup=test["id"],
                showlegend=False,
                hoverinfo="skip",
            )
            out = way == "discharge"
            figure.add_scatter(
                x=100 * table["SOC"],
                y=table[first],
                mode="lines+markers",
                line={"color": color, "dash": "solid" if out or len(ways) == 1 else "dot"},
                marker={"symbol": "circle" if out or len(ways) == 1 else "circle-open"},
                name=test["measurement_name"],
                legendgroup=test["id"],
                showlegend=place == 0,
                customdata=table["Direction"],
                hovertemplate="%{x:.1f} %: %{y:.3g}<br>Pulse: %{customdata}<extra>%{fullData.name}</extra>",
            )
    if not figure.data:
        return battery.message("The chosen tests have no pulse with a diffusion. Choose others.", unmet=True)
    charge_axis(figure)
    title = "Apparent diffusion coefficient / m² s⁻¹" if known else "Apparent D/R² / s⁻¹"
    values = np.concatenate([trace.y for trace in figure.data])
    figure.update_yaxes(title_text=title, **log_ticks(values))
    finished(figure, showlegend=True)
    ends = name_ends(figure)
    some = f" of {', '.join(bare[:3])}{' ...' if len(bare) > 3 else ''}" if 0 < len(bare) < len(tests) else ""
    radius = "" if known else f"; D needs the particle radius{some}: workbench analyse gitt -p radius=5e-6"
    dashes = "solid: discharge, dotted: charge; " if len(ways) > 1 else ""
    charge = relative_charge(data["values"][id] for id in tests["id"])
    none = not_drawn(
        tests, {trace.legendgroup for trace in figure.data}, "no pulse with a diffusion", "measurement_name"
    )
    fits = f"{dashes}band: between the two time windows of the fit{radius}"
    return note(figure, "; ".join(text for text in (fits, charge, none, ends) if text), data, params)
