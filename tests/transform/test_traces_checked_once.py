"""A trace that plotly has checked is not checked again when it is added to a figure, and nothing else changes."""

from __future__ import annotations

import plotly.graph_objects as go
import pytest
from _plotly_utils.basevalidators import BaseDataValidator, DataArrayValidator

from workbench.dataset import pack
from workbench.errors import ScriptError
from workbench.transform import traces_checked_once
from workbench.transform.figure import decode
from workbench.transform.inprocess import draw

DATA = pack({})
KINDS = """
from plotly.subplots import make_subplots


def transform(data, params):
    mark = go.scatter.Marker(color=["red", "blue"])
    one = go.Scatter(x=[1, 2], y=np.array([3.0, 4.0]), line={"width": 1}, marker=mark)
    figure = make_subplots(rows=1, cols=2, specs=[[{"secondary_y": True}, {}]])
    figure.add_trace(one, row=1, col=1)
    figure.add_trace(one, row=1, col=2)
    figure.add_scatter(x=pd.Series([1, 2]), y=[5, 6], row=1, col=1, secondary_y=True, hovertemplate="%{y}")
    figure.add_traces([go.Bar(x=["a"], y=[1]), {"type": "heatmap", "z": [[1, 2], [3, 4]]}])
    figure.add_traces(list(px.line(pd.DataFrame({"x": [1, 2], "y": [3, 4]}), x="x", y="y").data))
    figure.frames = [go.Frame(data=[one], name="later")]
    one.y = [9, 9]
    one.line.width = 7
    figure.data[0].line.width = 3
    figure.data[1].marker.color = "green"
    figure.update_traces(opacity=0.5, selector={"type": "bar"})
    return go.Figure(data=[*figure.data, one], layout=figure.layout, frames=figure.frames)
"""


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the arrays that plotly has checked."""
    seen: list[str] = []
    of_plotly = DataArrayValidator.validate_coerce

    def counted(self: DataArrayValidator, v: object) -> object:
        seen.append(self.plotly_name)
        return of_plotly(self, v)

    monkeypatch.setattr(DataArrayValidator, "validate_coerce", counted)
    return seen


def script(*body: str) -> str:
    return "\n".join(
        ["def transform(data, params):", "    figure = go.Figure()", *(f"    {line}" for line in body)]
    )


def test_arrays_are_checked_once_in_a_script_and_as_before_outside(checks: list[str]) -> None:
    draw(script("return figure.add_scatter(x=[1, 2], y=[3, 4])"), DATA, {})
    assert checks == ["x", "y"]
    checks.clear()
    go.Figure().add_scatter(x=[1, 2], y=[3, 4])
    assert checks == ["x", "y", "x", "y"]


def test_a_figure_is_the_same_to_the_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    once = draw(KINDS, DATA, {}).figure
    monkeypatch.setattr(traces_checked_once, "_KNOWN", False)
    assert draw(KINDS, DATA, {}).figure == once
    widths = [trace.get("line", {}).get("width") for trace in decode(once)["data"]]
    assert (widths[0], widths[1], widths[-1]) == (3, 1, 7)


@pytest.mark.parametrize(
    "line",
    [
        "figure.add_scatter(mode='wavy')",
        "figure.add_trace({'type': 'scatter', 'mode': 'wavy'})",
        "go.Figure(data=[{'mode': 'wavy'}])",
        "figure.add_scatter(y=[1]).data[0].mode = 'wavy'",
        "figure.add_scatter(y=[1]).data[0].line.width = 'thick'",
        "figure.add_scatter(y=[1]).update_traces(mode='wavy')",
    ],
)
def test_what_is_wrong_is_still_found(line: str) -> None:
    with pytest.raises(ScriptError, match=r"wavy|thick"):
        draw(script(line, "return figure"), DATA, {})
    assert BaseDataValidator.validate_coerce is traces_checked_once._OF_PLOTLY
