from workbench import battery


def transform(data, params):
    if data["named"].empty:
        return battery.message("No cycles to draw: choose another cell or name.")
    column = "Discharge capacity [A.h]"
    ends = data["life"].set_index("measurement_id")["end"]
    fig = go.Figure()
    for test, rows in data["named"].groupby("measurement_id", sort=False):
        y = battery.of_first(rows[column]) if params["relative"] else rows[column]
        name = rows["instance_name"].iloc[0] + ("" if pd.isna(ends[test]) else f", end at {ends[test]:g}")
        fig.add_scatter(x=rows["Cycle count"], y=y, name=name)
    title = "Capacity / first" if params["relative"] else battery.axis_title(column)
    fig.update_layout(
        template=battery.template(), legend=battery.legend(), xaxis_title="Cycle count", yaxis_title=title
    )
    return fig
