"""How do these samples run over time?"""

from workbench.gallery.entry import Made
from workbench.gallery.tests_plan import NO_SAMPLES, Reads, choice, chosen_tests, drawable

TITLE = "Samples over time"


def make(facts, tests, columns, x="Time [s]"):
    tests = drawable(facts, tests, NO_SAMPLES, Reads("series", (x, *columns)))
    steps, params = chosen_tests(facts, tests, most=3, by="name")
    steps["samples"] = {
        "op": "series",
        "source": "measurements",
        "ids": {"from": "chosen", "column": "id"},
        "x": x,
        "columns": list(columns),
        "max_points": 5000,
    }
    params["lines"] = choice("Draw", "lines", {"lines": "lines", "markers": "points"})
    return Made(steps, params)


# The script of the figure
from plotly.subplots import make_subplots


def unit_of_time(seconds):
    return (86400, "d") if seconds > 4 * 86400 else (3600, "h") if seconds > 2 * 3600 else (60, "min")


def transform(data, params):
    tests, samples = data["chosen"], data["samples"]
    shown = [test for _, test in tests.iterrows() if len(samples[test["id"]])]
    if not shown:
        return battery.message("No samples to draw. Choose a test.")
    columns = [name for name in samples[shown[0]["id"]].columns if name != "Time [s]"]
    last = max(float(samples[test["id"]]["Time [s]"].max()) for test in shown)
    factor, unit = unit_of_time(last)
    figure = make_subplots(rows=len(columns), shared_xaxes=True, vertical_spacing=0.04)
    colors = palette([test["name"] for test in shown])
    for row, column in enumerate(columns, 1):
        for test in shown:
            frame = samples[test["id"]].dropna(subset=["Time [s]", column])
            figure.add_scatter(
                x=frame["Time [s]"] / factor,
                y=frame[column],
                mode=params["lines"],
                line={"color": colors[test["name"]], "width": 1.4},
                marker={"color": colors[test["name"]], "size": 4},
                name=test["name"],
                legendgroup=test["name"],
                showlegend=row == 1,
                hovertemplate=f"{test['name']}, %{{x:.4g}} {unit}: %{{y:.4g}}<extra></extra>",
                row=row,
                col=1,
            )
        figure.update_yaxes(title_text=battery.axis_title(column), row=row, col=1)
    figure.update_xaxes(title_text=f"Time / {unit}", row=len(columns), col=1)
    finished(figure, showlegend=len(shown) > 1, title={"text": shown[0]["name"] if len(shown) == 1 else ""})
    return note(figure, "", data, params) if len(shown) > 1 else figure
