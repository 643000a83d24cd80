from workbench import battery


def transform(data, params):
    column = "Discharge capacity [A.h]"
    rows = data["named"][data["named"][column] > 0]
    rows = rows[rows.groupby("id")["id"].transform("size") >= 3]
    if rows.empty:
        return battery.message("No test of 3 cycles: choose another cell or name.")
    ends = data["life"].set_index("id")["end"]
    fig = go.Figure()
    for n, (test, one) in enumerate(rows.groupby("id", sort=False)):
        name = one["name"].iloc[0] + ("" if pd.isna(ends[test]) else f", end at {ends[test]:g}")
        line = {"color": battery.PALETTE[n % 8], "dash": ["solid", "dash", "dot"][n // 8 % 3]}
        fig.add_scatter(x=one["Cycle count"], y=battery.of_first(one[column]), name=name, line=line)
    titles = {"xaxis_title": "Cycle count", "yaxis_title": "Capacity / first"}
    return fig.update_layout(template=battery.template(), legend=battery.legend(), **titles)
