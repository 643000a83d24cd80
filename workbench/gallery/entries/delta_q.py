"""Can early cycles tell the life of a cell?"""

from workbench.gallery.entry import Made
from workbench.gallery.records_plan import cycles_of_records, stored_results
from workbench.gallery.tests_plan import NO_AGEING, RATE

TITLE = "Early cycles and life"
NEEDS = "Ageing tests of 100 cycles or more at one rate, and the stored results of 'delta_q'."
ANALYSES = ("delta_q",)


def make(facts):
    steps, params = stored_results(facts, "delta_q", "ageing", lacking=NO_AGEING, results=("log_var",), most=400)
    # Which cycles the feature compares is a choice of each record.
    steps["records"]["fields"] += ["metadata.workbench.parameters.m", "metadata.workbench.parameters.n"]
    needs = ("Cycle count", "Discharge capacity [A.h]", "Complete")
    also = (*RATE, "Mean temperature [degC]", "Cycle in life")
    steps["cycles"] = cycles_of_records(facts, "delta_q", needs, also)
    label = {"label": "Life ends at / % of the first capacity", "min": 50, "max": 99, "step": 1}
    params["threshold"] = {"kind": "view", "default": 80, "control": label}
    return Made(steps, params)


# The script of the figure
def transform(data, params):
    params = with_defaults(params)
    cells, found, said = data["chosen"], [], []
    cells = cells.dropna(subset=["metadata.results.log_var"])
    sizes = rated_of(cells)
    cycles = data["cycles"][data["cycles"]["measurement_id"].isin(cells["measurement_id"])]
    cycles, partly = from_full(not_excluded(cycles))
    cell_of = dict(zip(cells["measurement_id"], cells["instance_name"]))
    cycles = cycles.assign(instance_name=cycles["measurement_id"].map(cell_of))
    cycles["life"], own = lives(cycles)
    cycles = along_life(cycles).sort_values("Cycle count")
    # A life may go on in further tests of its cell, and its early cycles are those of the first one.
    firsts = cycles.groupby("life", sort=False)["measurement_id"].first()
    later = cells[cells["measurement_id"].isin(set(cycles["measurement_id"]) - set(firsts))]
    names = ", ".join(later["instance_name"].unique()[:5])
    goes_on = f"a life over several tests: {names}" if names else ""
    for _, cell in cells.drop(later.index).iterrows():
        rows = cycles[cycles["life"].isin(firsts.index[firsts == cell["measurement_id"]])]
        life = battery.end_of_life(rows, threshold=params["threshold"] / 100).iloc[0]
        if life["EOL reached"] not in ("yes", "no"):
            said.append(f"without {cell['instance_name']}: {str(life['Warning']).rstrip('.')}")
            continue
        ended = life["EOL reached"] == "yes"
        one = {
            "cell": cell["instance_name"],
            "batch": cell["batch_name"],
            "size": sizes[cell.name],
            "feature": cell["metadata.results.log_var"],
            "of": f"{cell['metadata.workbench.parameters.m']:g} and {cell['metadata.workbench.parameters.n']:g}",
        }
        found.append({**one, "ended": ended, "life": life["EOL cycle"] if ended else life["Last cycle"]})
    if not found:
        why = f" {'; '.join(said[:3])}." if said else ""
        return battery.message(
            f"No chosen cell has the feature of early cycles and a life. Choose others.{why}", unmet=True
        )
    rows = pd.DataFrame(found)
    rows["batch"] = names_or(rows["batch"], "no batch")
    colors = distinct(sorted(rows["batch"].unique()))
    figure = go.Figure()
    for batch, one in rows.groupby("batch"):
        color = colors[batch]
        figure.add_scatter(
            x=one["feature"],
            y=one["life"],
            mode="markers+text" if len(rows) <= 20 else "markers",
            text=np.where(one["ended"], one["cell"], ""),
            customdata=one[["cell", "of"]],
            textposition="top left",
            textfont={"size": 10},
            marker={
                "size": 10,
                "color": color,
                "symbol": np.where(one["ended"], "circle", "circle-open"),
                "line": {"width": 2},
            },
            name=str(batch),
            hovertemplate="Cell: %{customdata[0]}<br>%{y:.0f} cycles, log var %{x:.2f}"
            "<br>Cycles compared: %{customdata[1]}<extra></extra>",
        )
    ended, compared = rows[rows["ended"]], list(dict.fromkeys(rows["of"]))
    words = "open: life not reached, at least so many cycles"
    if len(compared) > 1:
        words += f"; the cells compare different cycles, and such values are not alike: {', '.join(compared[:5])}"
    elif ended["size"].max() > 1.1 * ended["size"].min():  # a variance of charge is larger in a larger cell
        words += "; the cells are of unlike rated capacities, and such values are not alike"
    elif len(ended) >= 4:
        r = np.corrcoef(ended["feature"], np.log10(ended["life"]))[0, 1]
        words = f"r = {r:.2f} over {len(ended)} cells that ended; {words}"
    of = f", cycles {compared[0]}" if len(compared) == 1 else ""
    figure.update_xaxes(title_text=f"log10 variance of ΔQ(V){of}")
    figure.update_yaxes(title_text=f"Cycles to {params['threshold']:g} %", **log_ticks(rows["life"]))
    finished(figure, showlegend=True)
    more = f"; and {len(said) - 3} more" if len(said) > 3 else ""
    lost = "; ".join(said[:3]) + more
    return note(figure, "; ".join(text for text in (words, goes_on, own, partly, lost) if text), data, params)
