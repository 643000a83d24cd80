"""Lines break where nothing was recorded."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from workbench import battery


def series(time: list[float]) -> pd.DataFrame:
    count = np.arange(len(time))
    return pd.DataFrame({"Time [s]": time, "Voltage [V]": 3.0 + count, "Step count": count, "Note": "on"})


def test_a_row_of_nulls_is_put_into_each_gap() -> None:
    time = [0.0, 10.0, 20.0, 2000.0, 2010.0, 2020.0]
    broken = battery.break_gaps(series(time).iloc[[0, 1, 2, 3, 4, 5]])
    assert broken["Voltage [V]"].tolist()[:3] == [3.0, 4.0, 5.0]
    assert broken.iloc[3].isna().all()
    assert broken["Time [s]"].tolist()[4:] == time[3:]


def test_slow_logging_and_short_pauses_are_not_gaps() -> None:
    for time in ([0.0, 600.0, 1200.0, 1800.0], [0.0, 1.0, 2.0, 60.0, 61.0], [0.0, 100.0, 1100.0, 1200.0], [5.0]):
        assert battery.break_gaps(series(time))["Time [s]"].tolist() == time


def test_rests_that_a_half_cycle_left_out_make_a_gap() -> None:
    frame = series([*np.arange(0.0, 100, 10), *np.arange(100.0, 1000, 10), *np.arange(1000.0, 1100, 10)])
    frame["Current [A]"] = [1.0] * 10 + [0.0] * 90 + [1.0] * 10
    (half,) = battery.half_cycles(frame)
    broken = battery.break_gaps(half.frame)
    assert np.flatnonzero(broken["Time [s]"].isna()).tolist() == [10]


def test_samples_that_were_not_read_make_no_gap() -> None:
    time = [float(n) for n in range(300)] + [5000.0, 5001.0]
    whole = series(time)
    thin = whole.iloc[[0, 1, 2, 100, 101, 102, 200, 201, 299, 300, 301]]
    thin.attrs["workbench"] = {"complete": False, "shown": 11, "of": 302, "source": "id"}
    assert np.flatnonzero(battery.break_gaps(thin)["Time [s]"].isna()).tolist() == [9]
    assert battery.break_gaps(whole)["Time [s]"].isna().sum() == 1


def test_time_is_needed() -> None:
    with pytest.raises(ValueError, match=r"'Time \[s\]'"):
        battery.break_gaps(pd.DataFrame({"Voltage [V]": [1.0]}))


def test_end_labels_takes_the_traces_of_a_figure() -> None:
    import plotly.graph_objects as go

    figure = go.Figure([{"x": [0, 1], "y": [1.0, 2.0], "name": "A", "line": {"color": "#123456"}}])
    (label,) = battery.end_labels(figure.data)
    assert (label["text"], label["y"], label["arrowcolor"]) == ("A", 2.0, "#123456")
    assert label["bgcolor"].startswith("rgba(255,255,255"), "A curve behind the name does not cross it out."


def test_the_largest_current_that_rests_keeps_noise_out_of_half_cycles() -> None:
    frame = series([float(n) for n in range(12)])
    frame["Current [A]"] = [0.0, 0.03, 0.0, 0.0, 4.0, 4.0, 4.0, 4.0, 0.03, 0.0, 0.0, 0.0]
    noisy, quiet = battery.half_cycles(frame, rest=0.001), battery.half_cycles(frame, rest=0.02 * 4)
    assert [list(half.frame.index) for half in noisy] == [[1, 4, 5, 6, 7, 8]]
    assert [list(half.frame.index) for half in quiet] == [[4, 5, 6, 7]]
