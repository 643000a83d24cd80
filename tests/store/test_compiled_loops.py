"""The compiled loops give the bits that numpy gives, refuse what is not theirs, and nothing needs them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from tools.compile_loops import compiled as compile_file
from workbench.errors import Damaged
from workbench.store import Store
from workbench.store.scope import EVERYTHING
from workbench.store.series import codec, compiled, reading
from workbench.store.series import sample_selection as selection
from workbench.table import Column, Table

T = TypeVar("T")
Values = np.ndarray[Any, Any]
needs_loops = pytest.mark.skipif(compiled.LOOPS is None, reason="no C compiler was there at the installation")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], T]], tuple[T, T]]:
    """What something gives with the compiled loops and with numpy alone."""

    def asked(work: Callable[[], T]) -> tuple[T, T]:
        fast = work()
        with monkeypatch.context() as patch:
            patch.setattr(compiled, "LOOPS", None)
            return fast, work()

    return asked


def along(rng: np.random.Generator, n: int) -> Iterator[Values | None]:
    yield None
    yield np.sort(rng.normal(size=n))
    yield np.cumsum(rng.integers(0, 3, n)).astype(float)
    yield np.sort(np.round(20 * rng.random(n)))
    yield np.full(n, 7.0)
    yield 1.7e308 * np.linspace(-1, 1, n)
    yield np.cumsum(rng.integers(0, 2, n)) * 5e-324


def curves(rng: np.random.Generator, n: int) -> Iterator[Values]:
    yield rng.normal(size=n)
    yield np.round(rng.normal(size=n), 1)  # many are equal, and some are -0.0
    yield np.cumsum(rng.normal(size=n))
    yield np.full(n, 2.5)
    yield np.repeat(rng.normal(size=n // 7 + 1), 7)[:n] * 10.0 ** rng.integers(-300, 300)
    yield rng.choice([-1.7e308, 1.7e308, 0.0], n)
    yield np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    yield np.where(rng.random(n) < 0.01, np.inf, rng.normal(size=n))


@needs_loops
def test_the_same_samples_are_chosen(both: Callable[[Callable[[], Values]], tuple[Values, Values]]) -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        n = int(rng.integers(3, 900))
        most, size = int(rng.integers(2, n + 1)), int(rng.integers(2, 60))
        for x in along(rng, n):
            made = [*curves(rng, n)]
            picked = rng.choice(len(made), int(rng.integers(1, 4)), replace=False)
            columns = [Column("number", made[place]) for place in picked]
            with np.errstate(all="ignore"):
                mine, theirs = both(lambda: selection.choose(x, columns, most))  # noqa: B023
            assert mine.tolist() == theirs.tolist()
            mine, theirs = both(lambda: selection.candidates(columns, n, size))  # noqa: B023
            assert mine.tolist() == theirs.tolist()


def stored(rng: np.random.Generator, n: int) -> Iterator[Values]:
    steps = rng.integers(-3, 4, n)
    yield np.cumsum(steps) / 1e4
    yield np.cumsum(np.where(rng.random(n) < 0.01, rng.integers(-(1 << 40), 1 << 40, n), steps)) / 10.0
    yield np.cumsum(np.where(rng.random(n) < 0.01, 1 << 20, steps)) / 1e3
    for edge in (-(1 << 31), (1 << 31) - 1, (1 << 31) - (1 << 15), (1 << 31) - (1 << 23), -(1 << 31) + (1 << 15)):
        yield (edge + np.cumsum(rng.integers(-100, 101, n))) / 10
        yield (edge + np.cumsum(rng.integers(-30_000, 30_001, n))) / 10
    yield np.where(np.arange(n) % 997 == 0, 2_000_000_000.0, -2_000_000_000.0) / 4
    yield np.where(rng.random(n) < 0.1, np.nan, np.cumsum(steps) / 100)
    yield np.where(rng.random(n) < 0.1, -0.0, np.cumsum(steps) / 100)
    yield rng.normal(size=n)
    yield rng.normal(size=n).astype(np.float32).astype(float)
    yield np.cumsum(rng.normal(size=n)) + 1e6
    yield rng.normal(size=n).astype(np.float32)
    yield rng.choice([np.nan, np.inf, -np.inf, 5e-324, -0.0, 1.7e308], n)
    yield np.array([0x7FF0000000000001], np.int64).view(float).repeat(n)  # a NaN that signals
    yield np.cumsum(rng.integers(0, 1 << 50, n))
    yield np.full(n, 1.5)


@needs_loops
@pytest.mark.parametrize("n", [1, 2, 3, 255, 256, 257, 258, 5000, 16384])
def test_the_same_bits_are_decoded(n: int, both: Callable[[Callable[[], bytes]], tuple[bytes, bytes]]) -> None:
    for values in stored(np.random.default_rng(n), n):
        payload = codec.encode(values)
        assert [*{*both(lambda: codec.decode(payload)[0].tobytes())}] == [values.tobytes()]  # noqa: B023

        def into() -> bytes:
            room = np.zeros((n, 2), values.dtype)  # noqa: B023
            codec.decode_into(payload, room[:, 1])  # noqa: B023
            whole = np.zeros(n + 1, values.dtype)  # noqa: B023
            codec.decode_into(payload, whole[1:])  # noqa: B023
            return room[:, 1].tobytes() + whole.tobytes()

        mine, theirs = both(into)
        assert mine == theirs == values.tobytes() + bytes(values.itemsize) + values.tobytes()


@needs_loops
@pytest.mark.parametrize("n", [1, 2, 257, 5000])
def test_the_same_bits_are_decoded_of_a_part(
    n: int, both: Callable[[Callable[[], bytes]], tuple[bytes, bytes]]
) -> None:
    rng = np.random.default_rng(n)
    for values in stored(rng, n):
        payload = codec.encode(values)
        for start in {0, 1, n // 2, n - 1, int(rng.integers(0, n))} - {n}:
            stop = int(rng.integers(start + 1, n + 1))

            def into() -> bytes:
                whole = np.zeros(stop - start + 1, values.dtype)  # noqa: B023
                codec.decode_into(payload, whole[1:], start, n)  # noqa: B023
                apart = np.zeros((stop - start, 2), values.dtype)  # noqa: B023
                codec.decode_into(payload, apart[:, 1], start, n)  # noqa: B023
                return whole[1:].tobytes() + apart[:, 1].tobytes()

            mine, theirs = both(into)
            assert mine == theirs == values[start:stop].tobytes() * 2
        with pytest.raises(Damaged):
            codec.decode_into(payload, np.zeros(1, values.dtype), 0, n + 1)


@needs_loops
def test_differences_that_are_apart_replace_those_beside_them(
    both: Callable[[Callable[[], list[float]]], tuple[list[float], list[float]]],
) -> None:
    """As a damaged payload could have both: a part of it is what the whole has there, with the loops and without."""
    head, narrow = codec.deltas_parts(5, np.array([1, 2, 1 << 40, 3] + [1] * 100), 1, 1 << 40, 5, 1 << 41)
    narrow[2] = 7
    values = np.zeros(105)
    payload = codec.payload_of(codec.DELTAS, values, codec.DECIMALS, 0, b"", head + codec.pack(narrow.data))

    def part() -> list[float]:
        some = np.zeros(50)
        codec.decode_into(payload, some, 40, 105)
        return [*codec.decode(payload)[0].tolist(), *some.tolist()]

    mine, theirs = both(part)
    assert mine == theirs
    assert mine[105:] == mine[40:90]


@needs_loops
def test_rows_have_the_same_order(both: Callable[[Callable[[], list[Any]]], tuple[list[Any], list[Any]]]) -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        frames, buckets, width = (int(rng.integers(1, high)) for high in (6, 40, 300))
        rows = rng.integers(0, width, (frames, 2, buckets)) + np.arange(buckets) * width + int(rng.integers(0, 9))
        if rng.random() < 0.2:
            rng.shuffle(rows, axis=2)  # as they never should be
        cut = slice(int(rng.integers(0, buckets)), buckets)
        mine, theirs = both(lambda: [one.tolist() for one in reading._order(rows[:, :, cut])])  # noqa: B023
        assert mine == theirs


@needs_loops
def test_a_store_gives_the_same_samples(
    tmp_path: Path, both: Callable[[Callable[[], list[Any]]], tuple[list[Any], list[Any]]]
) -> None:
    rng = np.random.default_rng(8)
    n = 60_000
    time = np.cumsum(rng.choice([0.1, 1.0, 60.0], n))
    volts = np.round(3.7 + np.cumsum(rng.normal(0, 1e-3, n)), 4)
    table = Table.of({"t": time, "U": volts, "I": np.round(rng.normal(size=n), 3), "float": rng.normal(size=n)})
    with Store.open(tmp_path / "w.db") as store:
        store.series.append("one", "series", table)

        def asked() -> list[Any]:
            found = []
            for low, high in (
                (None, None),
                (time[7], time[-9]),
                (time[20_000], time[31_000]),
                (time[5], time[3000]),
            ):
                store.series.recent.forget()
                window = (None if low is None else float(low), None if high is None else float(high))
                got = store.series.sample(
                    "one", "t", ["U", "I", "float"], window=window, most=500, scope=EVERYTHING
                )
                found += [got.rows.tolist(), *(column.values.tolist() for column in got.table.values())]
            return found

        mine, theirs = both(asked)
        assert mine == theirs


@needs_loops
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("running", (1, np.zeros(3, np.int8), b"", 1.0, np.zeros(5), 0)),
        ("running", (1, np.zeros(3, np.int8), b"", 1.0, np.zeros(2), 3)),
        ("running", (1, np.zeros(3, np.int8), b"", 1.0, np.zeros(1), -1)),
        ("running", (1, np.zeros(3, np.int8), b"", 1.0, np.zeros(1), sys.maxsize)),
        ("running", (1, np.zeros(3, np.int64), b"", 1.0, np.zeros(4), 0)),
        ("running", (1, np.zeros(3, np.int8), np.array([3], "<u4").tobytes() + bytes(8), 1.0, np.zeros(4), 0)),
        ("running", (1, np.zeros(3, np.int8), np.array([1, 1], "<u4").tobytes() + bytes(16), 1.0, np.zeros(4), 0)),
        ("running", (1, np.zeros(0, np.int8), b"", 1.0, np.zeros(0), 0)),
        ("joined", (bytes(7), False, np.zeros(1), 0)),
        ("joined", (bytes(16), True, np.zeros(2), 1)),
        ("joined", (bytes(16), True, np.zeros(1), -1)),
        ("joined", (bytes(16), True, np.zeros(1), sys.maxsize)),
        ("joined", (bytes(4), False, np.zeros(2, np.int16), 0)),
        ("candidates", ((np.zeros(3),), 0, np.zeros(3, bool))),
        ("candidates", ((np.zeros(3), np.zeros(2)), 2, np.zeros(3, bool))),
        ("candidates", ((np.zeros(3, np.float32),), 2, np.zeros(3, bool))),
        ("ordered", (np.zeros(3, int), 2, np.zeros(3, int), np.zeros(3, int))),
        ("ordered", (np.zeros(4, int), 0, np.zeros(4, int), np.zeros(4, int))),
        ("ordered", (np.zeros(4, int), 2, np.zeros(3, int), np.zeros(4, int))),
        ("ordered", (np.zeros(4, int), 2, np.zeros(4, int), np.zeros(3, int))),
        ("choose", (np.arange(3.0), (np.zeros(2),), 2, np.zeros(3, bool))),
        ("choose", (np.arange(2.0), (np.zeros(3),), 2, np.zeros(3, bool))),
        ("choose", (np.arange(3.0), (np.zeros(3),), 1, np.zeros(3, bool))),
        ("choose", (np.arange(3.0), (np.zeros(3),), 3, np.zeros(3, bool))),
    ],
)
def test_what_does_not_fit_is_refused(name: str, given: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=r"."):
        getattr(compiled.LOOPS, name)(*given)


@needs_loops
def test_what_is_no_buffer_is_refused() -> None:
    for name, count in (("running", 6), ("joined", 4), ("candidates", 3), ("ordered", 4), ("choose", 4)):
        for given in ((), (None,) * count, (2,) * count, ((1,),) * count):
            with pytest.raises(TypeError):
                getattr(compiled.LOOPS, name)(*given)
    for x in (np.array([2.0, 1.0, 3.0]), np.array([0.0, np.nan, 1.0]), np.zeros(3)):
        assert not compiled.LOOPS.choose(x, (np.zeros(3),), 2, np.zeros(3, bool))  # numpy has to


def test_an_installation_without_a_compiler_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, made = tmp_path / "loops.c", tmp_path / "loops.abi3.so"
    source.write_text("this is not C")
    assert compile_file(source, made)
    assert [*tmp_path.iterdir()] == [source]
    monkeypatch.setattr("sysconfig.get_config_var", lambda name: "no-such-compiler -shared")
    assert "no compiler" in (compile_file(source, made) or "")
    monkeypatch.setattr("sysconfig.get_config_var", lambda name: None)
    assert "not for" in (compile_file(source, made) or "")
