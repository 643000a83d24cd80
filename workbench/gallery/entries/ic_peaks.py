"""Where are the peaks of dQ/dV, and how do they move and shrink with age?"""

from workbench.gallery.entry import Made
from workbench.gallery.records_plan import stored_results
from workbench.gallery.tests_plan import NO_SLOW_CYCLE, choice, per

TITLE = "Peaks of dQ/dV over age"
NEEDS = "Check-ups with a slow cycle, and the stored results of 'ic_peaks'."
ANALYSES = ("ic_peaks",)


def make(facts):
    columns = ("Height [A.h/V]", "Area [A.h]", "Peak", "Window [V]", "C-rate [1/h]", "Half cycle", "Direction")
    steps, params = stored_results(
        facts, "ic_peaks", "rpt", "pocv", lacking=NO_SLOW_CYCLE, x="Position [V]", columns=columns, most=1
    )
    params["direction"] = choice("Direction", "charge", {"charge": "charge", "discharge": "discharge"})
    return Made(steps, {**params, **per(facts)})


# The script of the figure
def transform(data, params):
    params = with_defaults(params)
    if data["chosen"].empty:
        return battery.message("Choose a cell that has a result.")
    found, base = [], params.get("per", "cell")
    areas = [data["values"][id]["Area [A.h]"] for id in data["chosen"]["id"]]
    factor, unit = capacity_unit(base, pd.concat(areas, ignore_index=True))
    names = called(data["chosen"], "measurement_name")
    records = data["chosen"].assign(amount=amount_of(data["chosen"], base), measurement_name=names)
    shown_ids = set()
    for _, record in records.iterrows():
        table = data["values"][record["id"]]
        table = table[table["Direction"].eq(params["direction"]) & table["Position [V]"].notna()]
        if table.empty:
            continue
        shown_ids.add(record["id"])
        slowest = table[table["C-rate [1/h]"] == table["C-rate [1/h]"].min()]
        one = slowest[slowest["Half cycle"] == slowest["Half cycle"].max()].copy()
        one[["Height [A.h/V]", "Area [A.h]"]] *= factor / record["amount"]
        found.append(
            one.assign(test=record["measurement_name"], cell=record["instance_name"], began=record["start_time"])
        )
    if not found:
        return battery.message(
            f"No peaks on {params['direction']} in the chosen tests. Choose others, or the other direction.",
            unmet=True,
        )
    rows = pd.concat(found).sort_values("began", na_position="last")
    order = {test: place for place, test in enumerate(dict.fromkeys(rows["test"]))}
    figure = go.Figure()
    shown = battery.coloring([float(place) for place in order.values()], "Check-up")
    for color, (test, one) in zip(shown.colors, rows.groupby("test", sort=False)):
        one = one.sort_values("Position [V]")
        figure.add_scatter(
            x=one["Position [V]"],
            y=one["Height [A.h/V]"],
            mode="markers",
            marker={"size": 9, "color": color},
            name=test,
            showlegend=shown.legend,
            customdata=np.column_stack([one["Peak"], one["Area [A.h]"]]),
            hovertemplate="%{x:.3f} V: "
            f"%{{y:.3g}} {unit} V⁻¹<br>Peak: %{{customdata[0]:.0f}}<br>Area: %{{customdata[1]:.3g}} {unit}",
        )
    each = rows.groupby("test").size()
    one_cell = rows["cell"].nunique() == 1  # a line over several cells would go back and forth
    if one_cell and len(each) > 1 and each.nunique() == 1:  # the same peaks in each check-up: a line follows one
        place = rows.groupby("test")["Position [V]"].rank().astype(int)
        for _, one in rows.groupby(place):
            figure.add_scatter(
                x=one["Position [V]"],
                y=one["Height [A.h/V]"],
                mode="lines",
                line={"color": "#999999", "width": 1},
                showlegend=False,
                hoverinfo="skip",
            )
        figure.data = figure.data[len(order) :] + figure.data[: len(order)]
    figure.add_traces(shown.bar)
    figure.update_xaxes(title_text=f"Position of the peak on {params['direction']} / V")
    figure.update_yaxes(title_text=f"Height of the peak / {unit} V⁻¹", rangemode="tozero")
    finished(figure)
    windows = sorted(set((1000 * rows["Window [V]"]).round(1)))
    said = f"window {', '.join(f'{w:g}' for w in windows)} mV: heights compare only at equal windows and rates"
    none = not_drawn(records, shown_ids, f"no peaks on {params['direction']}", "measurement_name")
    return note(
        figure,
        "; ".join(text for text in (said, none, without_amount(records, records["amount"])) if text),
        data,
        params,
    )
