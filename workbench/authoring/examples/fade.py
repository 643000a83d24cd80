from workbench import battery


def transform(data, params):
    if data["named"].empty:
        return battery.message("No cycles to draw: choose another cell or name.")
    column = "Discharge capacity [A.h]"
    ends = data["life"].set_index("id")["end"]
    fig = go.Figure()
    for test, rows in data["named"].groupby("id", sort=False):
        name = rows["instance_name"].iloc[0] + ("" if pd.isna(ends[test]) else f", end at {ends[test]:g}")
        mode = "lines+markers" if params["markers"] else "lines"
        fig.add_scatter(x=rows["Cycle count"], y=battery.of_first(rows[column]), name=name, mode=mode)
    titles = {"xaxis_title": "Cycle count", "yaxis_title": "Capacity / first"}
    return fig.update_layout(template=battery.template(), legend=battery.legend(), **titles)
