"""Times and dates in text files: units, clocks, zones, the order of day and month, midnight. All files are our own."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from support.text_file import IMPEDANCE, PLAIN, TEST, file, holds_the_test, lines, notes, table

from workbench.errors import FileRefused
from workbench.readers import read
from workbench.readers.table.fixed_width_clocks import fixed_width_clocks, fixed_width_durations
from workbench.readers.table.values import _durations, durations, some_texts
from workbench.table import concat


@pytest.mark.parametrize(
    ("header", "factor"),
    [
        ("time [s]", 1.0),
        ("time/s", 1.0),
        ("Time / s", 1.0),
        ("time (min)", 60.0),
        ("Total Time (Seconds)", 1.0),
        ("test_time_millisecond", 1e-3),
        ("Time_h", 3600.0),
        ("elapsed time [ms]", 1e-3),
    ],
)
def test_time_units_from_the_header(header: str, factor: float, tmp_path: Path) -> None:
    made = table(file(tmp_path, PLAIN.replace("time [s]", header)))
    assert made["Time [s]"].tolist() == pytest.approx([10 * place * factor for place in range(5)], rel=1e-15)


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        (["00:00:00", "00:00:10", "00:01:00", "01:00:00", "125:00:00"], [0, 10, 60, 3600, 450000]),
        (["0d 00:00:0", "0d 00:00:5.5", "0d 00:22:05.05", "1d 00:00:00", "2d 1:00:00"],
         [0, 5.5, 1325.05, 86400, 176400]),
        (["0:00:00.000", "0:00:00.100", "0:00:01.000", "0:01:00.5", "0:02:00.5"], [0, 0.1, 1, 60.5, 120.5]),
        (["2024-02-28 23:59:50", "2024-02-29 00:00:00", "2024-02-29 00:00:10", "2024-03-01 00:00:00", ""],
         [0, 10, 20, 86410, None]),
        (["05/13/2024 11:00:00.5", "05/13/2024 11:00:01.5", "05/13/2024 12:00:00.5", "05/13/2024 13:00:00.5", ""],
         [0, 1, 3600, 7200, None]),
        (["0h 0m 0s", "0h 0m 10s", "0h 1m 0.5s", "1h 0m 0s", "1d 2h 0m 0s"], [0, 10, 60.5, 3600, 93600]),
        (["0 s", "10 sec", "1 min 1 s", "1 hour", "1h30m"], [0, 10, 61, 3600, 5400]),
        (["00:00:00:000", "00:00:00:500", "00:01:00:250", "01:00:00:000", "0d 02:00:00:001"],
         [0, 0.5, 60.25, 3600, 7200.001]),
        (["10.00.00", "10.00.10", "10.01.00", "11.00.00", "12.00.00"], [0, 10, 60, 3600, 7200]),
        (["14/03/2019 9.26.53", "14/03/2019 9.27.03", "14/03/2019 10.26.53", "15/03/2019 9.26.53", ""],
         [0, 10, 3600, 86400, None]),
        (["2024年05月13日09时59分50秒", "2024年05月13日10时00分00秒", "2024年05月13日10时59分50秒",
          "2024年05月14日09时59分50秒", ""], [0, 10, 3600, 86400, None]),
    ],
)  # fmt: skip
def test_times_as_text(times: list[str], seconds: list[float | None], tmp_path: Path) -> None:
    lines = [f"{time},{1 - place % 2},3.{place}" for place, time in enumerate(times)]
    made = table(file(tmp_path, "time,current [A],voltage [V]\n" + "\n".join(lines) + "\n"), sign="charge")
    assert made["Time [s]"].tolist() == pytest.approx(seconds)


def test_dates_with_points_alone_are_no_times_of_day(tmp_path: Path) -> None:
    rows = "".join(f"{12 + place}.03.24,{1 - place % 2},3.{place}\n" for place in range(5))
    with pytest.raises(FileRefused, match="The times in column 'time'"):
        table(file(tmp_path, "time,current [A],voltage [V]\n" + rows), sign="charge")


def test_time_from_a_clock_where_there_is_no_other(tmp_path: Path) -> None:
    text = PLAIN.replace("time [s]", "Date Time")
    for place in range(5):
        text = text.replace(f"\n{place * 10},", f"\n13.05.2024 10:00:{place * 10:02d},")
    reading = read(file(tmp_path, text))
    (batch,) = list(reading.batches)
    assert batch["Time [s]"].tolist() == [0.0, 10.0, 20.0, 30.0, 40.0]
    assert batch["Date Time"].kind == "datetime"
    assert reading.start_time == datetime(2024, 5, 13, 10, tzinfo=UTC)
    assert {"time_from_clock", "time_zone"} <= {note.code for note in reading.notes}


@pytest.mark.parametrize(
    ("header", "per_second", "zero"),
    [
        *(
            (name, 1, 0.0)
            for name in ("uts", "Unix time", "unixtime", "Unix_timestamp", "Unix time [s]", "Epoch time")
        ),
        *(("POSIX time", 1, 0.0), ("epoch_time (ms)", 1000, 0.0), ("Unixzeit", 1, 0.0)),
        *(("datenum", 1 / 86400, 719_529.0), ("Excel time", 1 / 86400, 25_569.0)),
    ],
)
def test_a_clock_that_counts_from_a_known_moment_is_the_time(
    header: str, per_second: float, zero: float, tmp_path: Path
) -> None:
    begun = 1_700_000_000
    text = PLAIN.replace("time [s]", header)
    for place in range(5):
        moment = zero + (begun + 10 * place) * per_second
        text = text.replace(f"\n{10 * place},", f"\n{moment:.9f},", 1)
    reading = read(file(tmp_path, text))
    made = concat(list(reading.batches))
    assert made["Time [s]"].tolist() == pytest.approx([10.0 * place for place in range(5)], abs=1e-4)  # of 1e-9 d
    assert reading.start_time is not None
    assert abs(reading.start_time.timestamp() - begun) < 1e-4


@pytest.mark.parametrize("header", ["Time", "Zeit", "time [s]"])
@pytest.mark.parametrize(("first", "apart"), [(45356.5, 7.3), (45356.5, 10.0), (739316.5, 60.0)])
def test_days_below_a_name_of_time_are_said(header: str, first: float, apart: float, tmp_path: Path) -> None:
    """Taken for seconds they make charges 86400 times too small; the word of it was for whole seconds alone."""
    text = PLAIN.replace("time [s]", header)
    for place in range(5):
        text = text.replace(f"\n{10 * place},", f"\n{first + apart * place / 86400:.9f},", 1)
    path = file(tmp_path, text)
    reading = read(path)
    list(reading.batches)
    assert any(f'say column_map={{"{header}": "Date"}}' in note.message for note in reading.notes)
    made = table(path, column_map={header: "Date"})
    assert made["Time [s]"].tolist() == pytest.approx([apart * place for place in range(5)], abs=1e-4)
    seconds = PLAIN.replace("time [s]", header)
    for place in range(5):
        seconds = seconds.replace(f"\n{10 * place},", f"\n{first + apart * place},", 1)
    assert "Excel" not in str(notes(file(tmp_path, seconds)))


def test_numbers_below_the_name_of_such_a_clock_that_are_no_moments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="are not times of a clock"):
        table(file(tmp_path, PLAIN.replace("time [s]", "Unix time")))


def test_time_is_counted_from_the_first_row(tmp_path: Path) -> None:
    path = file(tmp_path, PLAIN.replace("\n0,", "\n5,"))
    assert table(path)["Time [s]"].tolist() == [0.0, 5.0, 15.0, 25.0, 35.0]
    assert "begins at 5 s" in notes(path)["time_from_first_row"]


def test_minutes_of_maccor_are_minutes_as_the_clock_says(tmp_path: Path) -> None:
    lines = ["Rec\tCycle P\tCycle C\tStep\tTestTime\tStepTime\tCap. [Ah]\tCurrent [A]\tVoltage [V]\tMd\tDPT Time"]
    lines += [f"{n}\t0\t1\t1\t{n},5\t{n},5\t0,0\t0,0\t3,{n}\tR\t01/13/2024 10:{n:02d}:00" for n in range(5)]
    path = file(tmp_path, "\n".join(lines))
    assert table(path)["Time [s]"].tolist() == [0.0, 60.0, 120.0, 180.0, 240.0]
    assert "was read in minutes, which agrees with the clock times in 'DPT Time'" in notes(path)["time_unit"]


def test_dates_that_could_be_swapped_are_said(tmp_path: Path) -> None:
    lines = ["time [s],current [A],voltage [V],Date"]
    lines += [f"{n},{1 - 2 * (n % 2)},3.{9 - n % 2},05/06/2024 10:00:0{n}" for n in range(5)]
    reading = read(file(tmp_path, "\n".join(lines)))
    assert reading.start_time == datetime(2024, 5, 6, 10, tzinfo=UTC)
    told = {note.code: note.message for note in reading.notes}
    assert "month before day: '05/06/2024 10:00:00' is 6 May 2024" in told["dates"]
    assert 'column_map={"Date": "Date [day first]"}' in told["dates"]
    assert "no time zone. They were read as UTC" in told["time_zone"]


@pytest.mark.parametrize("header", ["Date", "Time", "Datum"])
@pytest.mark.parametrize(("order", "month"), [("day first", 6), ("month first", 5)])
def test_the_order_of_a_date_can_be_said(header: str, order: str, month: int, tmp_path: Path) -> None:
    lines = [f"{header},current [A],voltage [V]"]
    lines += [f"05/06/2024 10:00:0{n},{1 - 2 * (n % 2)},3.{9 - n % 2}" for n in range(5)]
    path = file(tmp_path, "\n".join(lines))
    reading = read(path, column_map={header: f"Date [{order}]"})
    assert reading.start_time == datetime(2024, month, 11 - month, 10, tzinfo=UTC)
    assert concat(list(reading.batches))["Time [s]"].tolist() == [0, 1, 2, 3, 4]
    assert "dates" not in {note.code for note in reading.notes}
    if header == "Time":
        assert "can be read in two ways" in notes(path)["dates"]
        assert "time_zone" in notes(path)


def test_a_date_above_the_header_that_could_be_read_two_ways_is_said(tmp_path: Path) -> None:
    def told(date: str) -> dict[str, str]:
        return notes(file(tmp_path, IMPEDANCE.replace("05/13/2024 11:19:51.602", date)))

    assert "5 April 2024" not in told("05/13/2024 11:19:51.602").get("dates", "")
    assert "'05/04/2024 11:19:51.602' is 4 May 2024" in told("05/04/2024 11:19:51.602")["dates"]
    assert "header names no time zone" in told("05/04/2024 11:19:51.602")["time_zone"]
    assert "dates" not in told("05/05/2024 11:19:51.602")


def test_times_that_name_their_zone_are_not_said_to_name_none(tmp_path: Path) -> None:
    lines = ["Date,current [A],voltage [V]"]
    lines += [f"2024-06-05T10:00:0{n}Z,{1 - 2 * (n % 2)},3.{9 - n % 2}" for n in range(5)]
    assert "time_zone" not in notes(file(tmp_path, "\n".join(lines)))


@pytest.mark.parametrize("zone", ["+02:00", "+0200"])
@pytest.mark.parametrize("mark", ["T", " "])
def test_clock_times_with_their_zone(zone: str, mark: str, tmp_path: Path) -> None:
    rows = lines(TEST, lambda t: f"2024-05-13{mark}00:{t // 60:02}:{t % 60:02}{zone}")
    path = file(tmp_path, "\n".join(["timestamp,current [A],voltage [V]", *rows]) + "\n")
    holds_the_test(table(path))
    assert read(path).start_time == datetime(2024, 5, 12, 22, 0, tzinfo=UTC)
    assert "time_zone" not in notes(path)


def test_a_zone_that_changes_with_the_season(tmp_path: Path) -> None:
    begun = datetime(2024, 10, 27, 0, 56, 40, tzinfo=UTC)  # summer time ends at 01:00 UTC
    europe = ZoneInfo("Europe/Berlin")
    rows = lines(TEST, lambda t: (begun + timedelta(seconds=t)).astimezone(europe).isoformat())
    path = file(tmp_path, "\n".join(["timestamp,current [A],voltage [V]", *rows]) + "\n")
    holds_the_test(table(path))


def test_a_time_of_day_that_passes_midnight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def of_day(t: float) -> str:
        at = (86200 + int(t)) % 86400
        return f"{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}"

    path = file(tmp_path, "\n".join(["time,current [A],voltage [V]", *lines(TEST, of_day)]) + "\n")
    for rows in (1 << 20, 7):
        monkeypatch.setattr("workbench.readers.limits.CHUNK_ROWS", rows)
        holds_the_test(table(path))
        assert "passes midnight (once)" in notes(path)["midnights"]


def test_a_long_step_time_that_starts_again_is_no_time_of_day(tmp_path: Path) -> None:
    rows = [f"{h:02}:00:00,{1 if h < 12 else -1},3.6" for h in (*range(0, 30, 3), *range(0, 30, 3))]
    made = table(file(tmp_path, "\n".join(["time,current [A],voltage [V]", *rows]) + "\n"), sign="charge")
    assert made["Time [s]"].floats().max() == 27 * 3600


HOURS = "\n".join(f"{n // 2}:{30 * (n % 2):02},{3.6 + n / 1000:.3f},{1 + n % 2}" for n in range(12))


@pytest.mark.parametrize(
    ("header", "column_map", "step"),
    [
        ("Time", None, 30.0),
        ("Time", {"Time": "Time [h]"}, 1800.0),
        ("Time", {"Time": "Time [min]"}, 30.0),
        ("Time (h)", None, 1800.0),
        ("Time (hh:mm)", None, 1800.0),
        ("Time (mm:ss)", None, 30.0),
    ],
)
def test_times_of_two_parts_are_what_the_unit_says(
    header: str, column_map: dict[str, str] | None, step: float, tmp_path: Path
) -> None:
    path = file(tmp_path, f"{header},voltage [V],current [A]\n{HOURS}\n")
    reading = read(path, column_map=column_map, sign="discharge")
    assert concat(list(reading.batches))["Time [s]"].floats() == pytest.approx([step * n for n in range(12)])
    parts = [note for note in reading.notes if note.code == "time_parts"]
    assert bool(parts) == (header == "Time" and column_map is None)
    assert all('say column_map={"Time": "Time [h]"}' in note.message for note in parts)


@pytest.mark.parametrize("kind", ["text", "typed"])
@pytest.mark.parametrize(("clock", "step"), [(1800, 1800.0), (30, 30.0), (700, 30.0), (None, 30.0)])
def test_a_clock_shows_whether_times_of_two_parts_are_hours(
    clock: int | None, step: float, kind: str, tmp_path: Path
) -> None:
    begin = datetime(2024, 5, 13, 22, 50, 7)
    made = pd.read_csv(StringIO(f"Time,voltage [V],current [A]\n{HOURS}\n"), dtype={"Time": "str"})
    if clock is not None:
        made["Date Time"] = [f"{begin + timedelta(seconds=clock * n):%Y-%m-%d %H:%M:%S}" for n in range(12)]
    path = tmp_path / ("test.csv" if kind == "text" else "test.parquet")
    made.to_csv(path, index=False) if kind == "text" else made.to_parquet(path)
    reading = read(path, sign="discharge")
    assert concat(list(reading.batches))["Time [s]"].floats() == pytest.approx([step * n for n in range(12)])
    (said,) = [note.message for note in reading.notes if note.code == "time_parts"]
    assert ("agrees with the clock times in 'Date Time'" in said) == (clock == 1800)
    assert ('say column_map={"Time": "Time [h]"}' in said) == (clock != 1800)


def test_times_of_day_of_two_parts_are_hours_where_the_day_changes_with_them(tmp_path: Path) -> None:
    begin = datetime(2024, 5, 13, 22, 50)
    moments = [begin + timedelta(minutes=5 * n) for n in range(60)]
    rows = "".join(f"{at:%Y-%m-%d},{at:%H:%M},{3.6 + n / 1e3},1\n" for n, at in enumerate(moments))
    reading = read(file(tmp_path, f"Date,Time,voltage [V],current [A]\n{rows}"), sign="discharge")
    assert concat(list(reading.batches))["Time [s]"].floats() == pytest.approx([300.0 * n for n in range(60)])
    assert reading.start_time == begin.replace(tzinfo=UTC)


def test_step_times_of_two_parts_are_hours_beside_a_clock(tmp_path: Path) -> None:
    begin = datetime(2024, 5, 13, 8, 50)
    rows = "".join(
        f"{n // 6 % 24}:{10 * (n % 6):02},{1 + s},{3.6 - n / 1e3},{1 - 2 * s},"
        f"{begin + timedelta(minutes=130 * s + 10 * n)}\n"
        for s in range(2)
        for n in range(13)
    )
    header = "Step Time,Step,voltage [V],current [A],Date Time\n"
    made = table(file(tmp_path, header + rows), sign="discharge")
    assert made["Time [s]"].floats()[12] == pytest.approx(7200.0)


@pytest.mark.parametrize(
    "form",
    [
        "%Y%m%dT%H%M%S", "%Y%m%d %H%M%S", "%Y年%m月%d日 %H:%M:%S", "%d/%m/%y %H:%M:%S", "%B %d, %Y %I:%M:%S %p",
        "%a %b %d %H:%M:%S %Y", "%Y:%m:%d %H:%M:%S", "%Y-%m-%d_%H-%M-%S", "%Y-%m-%d %H:%M:%S UTC",
        "%d.%m.%Y, %H:%M:%S", "%m/%d/%Y, %I:%M:%S %p", "%H:%M:%S %d/%m/%Y", "%H:%M:%S %d.%m.%Y", "%I:%M:%S %p %m/%d/%Y",
        "%d.%m.%Y %H:%M:%S Uhr", "%d%b%Y %H:%M:%S", "%d%b%Y:%H:%M:%S", "%d.%m.%Y - %H:%M:%S", "%Y-%m-%d_%H:%M:%S",
        "%m/%d/%Y %I:%M:%S%p",
    ],
)  # fmt: skip
def test_other_ways_to_write_a_clock_time(form: str, tmp_path: Path) -> None:
    begin = datetime(2024, 5, 13, 22, 50)
    rows = "".join(f'"{begin + timedelta(seconds=60 * n):{form}}",{3.6 + n / 1e3},1\n' for n in range(100))
    reading = read(file(tmp_path, f"Date,voltage [V],current [A]\n{rows}"), sign="discharge")
    assert concat(list(reading.batches))["Time [s]"].floats() == pytest.approx([60.0 * n for n in range(100)])
    assert reading.start_time == begin.replace(tzinfo=UTC)
    assert ("time_zone" in {note.code for note in reading.notes}) == ("UTC" not in form)


@pytest.mark.parametrize(
    ("zone", "hours"),
    [(" CEST", 2), (" CET", 1), (" MESZ", 2), (" EDT", -4), (" +0200", 2), ("+02:00", 2), (" -0500", -5)],
)
@pytest.mark.parametrize("form", ["%d.%m.%Y %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f"])
def test_a_clock_that_names_its_zone(form: str, zone: str, hours: int, tmp_path: Path) -> None:
    begin = datetime(2024, 5, 28, 11, 30)
    rows = "".join(f"{begin + timedelta(seconds=n):{form}}{zone},{3.6 + n / 1e3},1\n" for n in range(9))
    reading = read(file(tmp_path, f"Date,voltage [V],current [A]\n{rows}"), sign="discharge")
    assert reading.start_time == begin.replace(tzinfo=UTC) - timedelta(hours=hours)
    assert "time_zone" not in {note.code for note in reading.notes}


def test_a_clock_that_names_summer_and_winter_time_goes_on_over_the_change(tmp_path: Path) -> None:
    begin = datetime(2017, 10, 29, 2, 59)
    clocks = [begin + timedelta(seconds=10 * n - 3600 * (n >= 6)) for n in range(30)]
    rows = "".join(
        f"{clock:%Y-%m-%d %H:%M:%S} {'CET' if n >= 6 else 'CEST'},{3.6 + n / 1e3},1\n"
        for n, clock in enumerate(clocks)
    )
    made = table(file(tmp_path, f"Date,voltage [V],current [A]\n{rows}"), sign="discharge")
    assert made["Time [s]"].tolist() == [10.0 * n for n in range(30)]


def test_the_order_of_a_date_behind_the_hour_can_be_said(tmp_path: Path) -> None:
    begin = datetime(2017, 10, 5, 11, 30)
    rows = "".join(f"{begin + timedelta(seconds=n):%H:%M:%S %d/%m/%Y},{3.6 + n / 1e3},1\n" for n in range(9))
    path = file(tmp_path, f"Date,voltage [V],current [A]\n{rows}")
    assert (
        "month before day: '11:30:00 05/10/2017' is 10 May 2017. If not, say"
        in notes(path, sign="discharge")["dates"]
    )
    reading = read(path, sign="discharge", column_map={"Date": "Date [day first]"})
    assert reading.start_time == begin.replace(tzinfo=UTC)


@pytest.mark.parametrize(("form", "meant"), [("%H:%M:%S", "Time [s]"), ("%H:%M", "Time [h]")])
def test_times_of_day_without_a_day_say_how_to_take_them(form: str, meant: str, tmp_path: Path) -> None:
    begin = datetime(2024, 5, 13, 23, 50)
    rows = "".join(f"{begin + timedelta(seconds=60 * n):{form}},{3.6 + n / 1e3},1\n" for n in range(30))
    path = file(tmp_path, f"DateTime,voltage [V],current [A]\n{rows}")
    with pytest.raises(FileRefused, match="have no day") as refused:
        read(path, sign="discharge")
    assert f'say column_map={{"DateTime": "{meant}"}}' in str(refused.value)
    made = table(path, sign="discharge", column_map={"DateTime": meant})
    assert made["Time [s]"].floats() == pytest.approx([60.0 * n for n in range(30)])


def test_a_clock_that_cannot_be_read_is_named_with_one_of_its_times(tmp_path: Path) -> None:
    rows = "".join(f"13th of May at {n},{3.6 + n / 1e3},1\n" for n in range(10))
    with pytest.raises(
        FileRefused, match=r"clock times in column 'Date' of .* cannot be read \('13th of May at 0'\)"
    ):
        read(file(tmp_path, f"Date,voltage [V],current [A]\n{rows}"), sign="discharge")


FORMS_OF_DURATIONS = [
    "00:00:00", "0:00:05", "130:00:05.5", "99:99:99.999", "00:00:00.1", "00:00:00.30", "12345678:00:00",
    "001:02:03.0000001", "123456789:00:00", "00:00:00.", "00:00:00.12345678901234", "1:30", "00:30", "1d 00:00:05",
    "2.03:04:05", "00:00:05,5", " 00:00:05", "00:00:05 ", "0x:00:05", "00:0x:05", "00:00:0x", "00;00:05", "",
    "٠٠:٠٠:٠٥", "-00:00:05", ":00:00:05",
]  # fmt: skip


def test_durations_of_one_width_are_those_that_are_read_one_by_one() -> None:
    known = np.array([fixed_width_durations(pa.array([text]))[0] for text in FORMS_OF_DURATIONS])
    slow = _durations(pa.array(FORMS_OF_DURATIONS))
    plain = ~np.isnan(known)
    assert [text for text, one in zip(FORMS_OF_DURATIONS, plain, strict=True) if one] == FORMS_OF_DURATIONS[:8]
    assert known[plain].tolist() == slow[plain].tolist()
    found, unread = durations(pd.Series([*FORMS_OF_DURATIONS, None], dtype="str"))
    assert np.array_equal(found, [*slow, np.nan], equal_nan=True)
    assert unread == int(np.isnan(slow).sum())


def test_the_first_different_texts_of_a_column_are_those_of_all_its_rows() -> None:
    few = ["a"] * 50_000 + [f"b{n}" for n in range(30)]
    assert some_texts(pd.Series(few, dtype="str")) == ["a", *few[50_000:]]
    many = [f"c{n}" for n in range(60_000)]
    assert some_texts(pd.Series(many, dtype="str")) == many[:20_000:20]


def test_clock_times_with_one_digit_or_a_half_day_are_those_of_pandas() -> None:
    """Whatever the fast way reads, pandas reads as the same moment; it leaves none of the usual ones to pandas."""
    chance = np.random.default_rng(3)
    patterns = ("%m/%d/%Y %I:%M:%S %p", "%d.%m.%Y %H:%M", "%Y-%m-%d %H:%M:%S.%f", "%d/%m/%Y %I:%M %p", "%Y-%m-%d")
    odd = [
        *("1/1/2024 0:00:00 AM", "1/1/2024 13:00:00 PM", "2/30/2024 1:00:00 am", "12/31/2024 12:00:00 pm"),
        *("1/1/2024 1:00:00 XM", "1/1/2024 1:0:0 AM", "/1/2024 1:00:00 AM", "1.1.2024 24:00", "1.1.2024 0:00"),
    ]
    for pattern in patterns:
        before = r"(^|[/ .])0(?=\d)" if pattern.startswith("%d.") else r"(^|[/ -])0(?=\d)"
        texts = []
        for moment in pd.to_datetime(chance.integers(0, 4_000_000_000, 3000), unit="s"):
            text = moment.strftime(pattern)
            texts.append(re.sub(before, r"\1", text) if chance.random() < 0.5 else text)
        slow = pd.to_datetime(pd.Series([*texts, *odd]), format=pattern, errors="coerce").to_numpy(
            "datetime64[us]"
        )
        fast = fixed_width_clocks(pa.array([*texts, *odd]), pattern)
        known = ~np.isnat(fast)
        assert np.array_equal(fast[known], slow[known]), pattern
        assert known[: len(texts)].all(), pattern


def _dated(folder: Path, form: str, first: datetime, step: timedelta, n: int, mark: str = ".") -> Path:
    """A test of ``n`` samples, one every ``step``, with semicolons and numbers with the mark."""
    rows = ["Date;Voltage (V);Current (A)"]
    for place in range(n):
        volts, amps = f"{3.6 + 0.1 * (place % 8 > 3):.3f}", f"{0.5 * (place % 8 > 3):.1f}"
        values = f"{volts};{amps}".replace(".", mark)
        rows.append(f"{(first + place * step).strftime(form)};{values}")
    (folder / "dated.csv").write_text("\n".join(rows) + "\n")
    return folder / "dated.csv"


@pytest.mark.parametrize(
    "form", ["%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%d-%m-%Y %H:%M", "%d/%m/%y %I:%M:%S %p"]
)
def test_a_midnight_shows_the_order_of_day_and_month(form: str, tmp_path: Path) -> None:
    first = datetime(2024, 6, 5, 23, 50, tzinfo=UTC)
    path = _dated(tmp_path, form, first, timedelta(minutes=2), 16)
    reading = read(path)
    made = concat(list(reading.batches))
    assert reading.start_time == first
    assert made["Time [s]"].tolist() == [120.0 * place for place in range(16)]
    assert "dates" not in {note.code for note in reading.notes}
    other = "Date [month first]" if form.startswith("%d") else "Date [day first]"
    assert read(path, column_map={"Date": other}).start_time != first


def test_a_day_far_below_shows_the_order_of_day_and_month(tmp_path: Path) -> None:
    first = datetime(2024, 6, 11, 0, 0, tzinfo=UTC)
    path = _dated(tmp_path, "%d/%m/%Y %H:%M:%S", first, timedelta(seconds=5), 36_000)
    reading = read(path)
    assert reading.start_time == first
    assert concat(list(reading.batches))["Time [s]"].tolist()[-1] == 5.0 * 35_999


@pytest.mark.parametrize(("mark", "month"), [(".", 5), (",", 6)], ids=["points", "commas"])
def test_dates_that_can_be_read_in_two_ways_begin_with_the_day_beside_decimal_commas(
    mark: str, month: int, tmp_path: Path
) -> None:
    first = datetime(2024, 6, 5, 10, 0, tzinfo=UTC)
    reading = read(_dated(tmp_path, "%d/%m/%Y %H:%M:%S", first, timedelta(seconds=5), 16, mark))
    assert reading.start_time is not None
    assert reading.start_time.month == month
    list(reading.batches)
    assert "dates" in {note.code for note in reading.notes}


@pytest.mark.parametrize("tail", ["", "Z", "+02:00"])
@pytest.mark.parametrize("between", "T ")
@pytest.mark.parametrize("first", [0, 250_000])
def test_whole_seconds_without_a_fraction_among_others(
    first: int, between: str, tail: str, tmp_path: Path
) -> None:
    """As Python writes its times: the fraction is left out where it is 0."""
    micros = [first, 10_000_000, 20_010_000, 30_000_000, 40_500_000]
    moments = [datetime(2024, 5, 13, 10) + timedelta(microseconds=at) for at in micros]
    text = "timestamp,current [A],voltage [V]\n" + "".join(
        f"{at.isoformat(between)}{tail},{1 - 2 * (n % 2)},{3.6 - 0.1 * (n % 2)}\n" for n, at in enumerate(moments)
    )
    made = table(file(tmp_path, text))
    assert made["Time [s]"].tolist() == pytest.approx([(at - first) / 1e6 for at in micros], abs=1e-6)


@pytest.mark.parametrize("pause", [3 * 86400, 20 * 3600, 86400 + 600])
def test_a_pause_until_a_later_hour_of_another_day_is_as_long_as_the_days_say(pause: int, tmp_path: Path) -> None:
    """The time of day falls at midnight, and does not fall where the test goes on."""
    seconds = [0, 600, 1200, 1800, 1800 + pause]
    moments = [datetime(2024, 5, 13, 23, 45) + timedelta(seconds=at) for at in seconds]
    text = "Date,Time,current [A],voltage [V]\n" + "".join(
        f"{at:%Y-%m-%d,%H:%M:%S},{1 - 2 * (n % 2)},{3.6 - 0.1 * (n % 2)}\n" for n, at in enumerate(moments)
    )
    reading = read(file(tmp_path, text))
    assert concat(list(reading.batches))["Time [s]"].tolist() == seconds
    assert reading.start_time == datetime(2024, 5, 13, 23, 45, tzinfo=UTC)
