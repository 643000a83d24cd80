"""Can early cycles tell the life of a cell?"""

from workbench.gallery.entry import Made
from workbench.gallery.records_plan import stored_results

TITLE = "Early cycles and life"
NEEDS = "Ageing tests of 100 cycles or more at one rate, and the stored results of 'delta_q'."
LACKING = "No test repeats a full cycle at least ten times. Ingest an ageing test, or give one the tag 'ageing'."
ANALYSES = ("delta_q",)


def make(facts):
    steps, params = stored_results(facts, "delta_q", "ageing", lacking=LACKING, results=("log_var",), most=400)
    wanted = ["Cycle count", "Discharge capacity [A.h]", "Complete"]
    ids = {"from": "chosen", "column": "measurement_id"}
    steps["cycles"] = {"op": "summary", "dataset": "cycles", "ids": ids, "columns": wanted}
    label = {"label": "Life ends at / % of the first capacity", "min": 50, "max": 99, "step": 1}
    params["threshold"] = {"kind": "view", "default": 80, "control": label}
    return Made(steps, params)


# The script of the figure
def transform(data, params):
    cells, found = data["chosen"], []
    cycles, partly = from_full(data["cycles"][data["cycles"]["Complete"].fillna(True).astype(bool)])
    for _, cell in cells.iterrows():
        rows = cycles[cycles["measurement_id"] == cell["measurement_id"]]
        rows = rows.dropna(subset=["Discharge capacity [A.h]"]).sort_values("Cycle count")
        if rows.empty or cell["metadata.results.log_var"] != cell["metadata.results.log_var"]:
            continue
        share = rows["Discharge capacity [A.h]"] / rows["Discharge capacity [A.h]"].iloc[0]
        below = rows["Cycle count"][share < params["threshold"] / 100]
        one = {
            "cell": cell["instance_name"],
            "batch": cell["batch_name"],
            "feature": cell["metadata.results.log_var"],
        }
        found.append(
            {**one, "ended": len(below) > 0, "life": below.min() if len(below) else rows["Cycle count"].max()}
        )
    if not found:
        return battery.message("No chosen cell has the feature of early cycles. Choose others.", unmet=True)
    rows = pd.DataFrame(found)
    colors = palette(sorted(rows["batch"].fillna("no batch").unique()))
    figure = go.Figure()
    for batch, one in rows.groupby(rows["batch"].fillna("no batch")):
        color = colors[batch]
        figure.add_scatter(
            x=one["feature"],
            y=one["life"],
            mode="markers+text" if len(rows) <= 20 else "markers",
            text=np.where(one["ended"], one["cell"], ""),
            customdata=one["cell"],
            textposition="top left",
            textfont={"size": 10},
            marker={
                "size": 10,
                "color": color,
                "symbol": np.where(one["ended"], "circle", "circle-open"),
                "line": {"width": 2},
            },
            name=str(batch),
            hovertemplate="Cell: %{customdata}<br>%{y:.0f} cycles, log var %{x:.2f}<extra></extra>",
        )
    ended = rows[rows["ended"]]
    told = "open: life not reached, at least so many cycles"
    if len(ended) >= 4:
        r = np.corrcoef(ended["feature"], np.log10(ended["life"]))[0, 1]
        told = f"r = {r:.2f} over {len(ended)} cells that ended; {told}"
    figure.update_xaxes(title_text="log10 variance of ΔQ(V), cycles 10 and 100")
    figure.update_yaxes(title_text=f"Cycles to {params['threshold']:g} %", **log_ticks(rows["life"]))
    finished(figure, showlegend=True)
    return note(figure, f"{told}; {partly}" if partly else told, data, params)
