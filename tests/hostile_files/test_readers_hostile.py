"""Files that mean harm, or were harmed: each is read or refused in words, within bounds, in little time."""

from __future__ import annotations

import contextlib
import gzip
import io
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workbench.errors import FileRefused, TooLarge, WorkbenchError
from workbench.readers import limits, read
from workbench.readers.table.typed_columns import parquet_tables

pytestmark = pytest.mark.usefixtures("also_locked")

SECONDS = 10.0
"""No hostile file of this page may take longer."""

HEADER = "time [s],current [A],voltage [V]\n"


def rows(n: int) -> str:
    return "".join(f"{t}.5,{1.5 - 3 * (t // 10 % 2)},{3.6 - 0.3 * (t // 10 % 2):.3f}\n" for t in range(n))


def consume(path: Path) -> int:
    return sum(batch.n for batch in read(path).batches)


def put(folder: Path, content: bytes | str, name: str = "file.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_more_columns_than_the_bound(tmp_path: Path) -> None:
    names = ",".join(f"c{place}" for place in range(limits.MOST_COLUMNS - 3))
    values = ",".join("1" for _ in range(limits.MOST_COLUMNS - 3))
    line = "".join(f"{row.strip()},{values}\n" for row in rows(25).splitlines())
    assert consume(put(tmp_path, f"{HEADER.strip()},{names}\n{line}")) == 25
    with pytest.raises(TooLarge, match=f"has {limits.MOST_COLUMNS + 1} columns"):
        consume(put(tmp_path, f"{HEADER.strip()},{names},one\n{line}"))


def test_names_beyond_the_bound_take_no_time(tmp_path: Path) -> None:
    begun = time.process_time()
    names = ",".join(f"c{place}" for place in range(9_000))
    with pytest.raises(TooLarge, match=r"has 900[0-9] columns"):
        consume(put(tmp_path, f"{HEADER.strip()},{names}\n" + rows(10)))
    assert time.process_time() - begun < SECONDS


def test_a_million_columns(tmp_path: Path) -> None:
    begun = time.process_time()
    wide = HEADER.strip() + "," + ",".join(f"c{place}" for place in range(1_000_000)) + "\n"
    with pytest.raises(WorkbenchError):
        consume(put(tmp_path, wide + rows(10)))
    with pytest.raises(TooLarge, match="a line of more than"):
        consume(put(tmp_path, HEADER + rows(10) + "1," * 1_000_000 + "\n" + rows(10)))
    assert time.process_time() - begun < SECONDS


def test_a_line_as_long_as_the_bound_and_longer(tmp_path: Path) -> None:
    for length, fits in ((limits.LONGEST_LINE, True), (limits.LONGEST_LINE + 1, False)):
        line = "100.5,1.5,3.6,"
        path = put(tmp_path, HEADER + rows(50) + line + "x" * (length - len(line)) + "\n" + rows(50))
        if fits:
            assert consume(path) == 101
        else:
            with pytest.raises(TooLarge, match="not a cycler export"):
                consume(path)


_BLANK = " " * 60_000


@pytest.mark.parametrize(
    "text",
    [
        f"{_BLANK}x{_BLANK}1\n{HEADER}{rows(5)}",
        f"Cell:{_BLANK}x{_BLANK}1\nStart{_BLANK}=\n{HEADER}{rows(5)}",
        f"Cell{chr(9) * 60_000}{'x' * 300}\n{HEADER}{rows(5)}",
        "\n".join(["Voltage" + _BLANK + "x"] * 3),
        HEADER.replace("time", "Voltage" + _BLANK + "x") + rows(5),
        "Time,current [A],voltage [V]\n" + f"Monday{_BLANK}x,1.0,3.5\n" * 3,
        "Time,current [A],voltage [V]\n" + f"{'µ' * 100_000},1.0,3.5\n" * 3,
    ],
    ids=["above", "named", "tabs", "words", "header", "clock", "letters"],
)
def test_no_line_makes_reading_it_slow(text: str, tmp_path: Path) -> None:
    begun = time.process_time()
    with contextlib.suppress(WorkbenchError):
        consume(put(tmp_path, text))
    assert time.process_time() - begun < 2


def test_more_rows_than_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_ROWS", 100)
    monkeypatch.setattr(limits, "CHUNK_ROWS", 30)
    assert consume(put(tmp_path, HEADER + rows(100))) == 100
    with pytest.raises(TooLarge, match="more than 100 rows"):
        consume(put(tmp_path, HEADER + rows(101)))


def test_a_gzip_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RATIO_FREE", 1 << 20)
    bomb = gzip.compress((HEADER + rows(40) + "1.0,1.0,3.0\n" * 1_000_000).encode())
    begun = time.process_time()
    with pytest.raises(TooLarge, match="times its size"):
        consume(put(tmp_path, bomb))
    monkeypatch.setattr(limits, "MOST_RATIO", 1 << 20)
    monkeypatch.setattr(limits, "MOST_UNPACKED", 2 << 20)
    with pytest.raises(TooLarge, match="unpacks to more than"):
        consume(put(tmp_path, bomb))
    assert time.process_time() - begun < SECONDS


def test_a_gzip_that_breaks_off(tmp_path: Path) -> None:
    packed = gzip.compress(
        (HEADER + "".join(f"{t},{np.sin(t)},{3 + np.cos(t) / 9}\n" for t in range(60_000))).encode()
    )
    with pytest.raises(FileRefused, match="are incomplete or damaged"):
        consume(put(tmp_path, packed[: len(packed) // 2]))


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as container:
        for name, content in members.items():
            container.writestr(name, content)
    return buffer.getvalue()


def test_a_zip_bomb_in_the_clothes_of_neware(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, zipped({"data.ndc": bytes(100 << 20)}), "test.ndax")
    begun = time.process_time()
    with pytest.raises(TooLarge, match="times its size"):
        consume(path)
    monkeypatch.setattr(limits, "MOST_IN_MEMORY", 50 << 20)
    with pytest.raises(TooLarge, match="are unpacked"):
        consume(path)
    many = zipped({"data.ndc": b"", **{f"{place}": b"" for place in range(limits.MOST_MEMBERS)}})
    with pytest.raises(TooLarge, match="holds 513 files"):
        consume(put(tmp_path, many, "test.ndax"))
    assert time.process_time() - begun < SECONDS


def test_entities_in_the_clothes_of_neware(tmp_path: Path) -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "ha"}">' for n in range(12))
    bomb = f'<?xml version="1.0"?><!DOCTYPE x [{entities}]><root><config>&e11;</config></root>'.encode()
    members = {"data.ndc": bytes(512), "Step.xml": bomb, "TestInfo.xml": bomb, "VersionInfo.xml": bomb}
    begun = time.process_time()
    with pytest.raises(FileRefused, match=r"'test\.ndax'"):
        consume(put(tmp_path, zipped(members), "test.ndax"))
    assert time.process_time() - begun < SECONDS


def test_an_open_quote_does_not_swallow_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CHUNK_BYTES", 1 << 20)
    path = put(tmp_path, HEADER + rows(500) + '"' + rows(300_000))
    with pytest.raises(TooLarge, match="A quote is probably not closed"):
        consume(path)


def test_nothing_in_a_cell_is_carried_out(tmp_path: Path) -> None:
    text = (
        HEADER.strip()
        + ",note\n"
        + "".join(
            f"{t},{1.5 - 3 * (t % 2)},{3.6 - 0.3 * (t % 2)},{cell}\n"
            for t, cell in enumerate(
                ["=cmd|' /C calc'!A0", "__import__('os')", "${jndi:ldap://x}", "../../etc/passwd"]
            )
        )
    )
    (batch,) = list(read(put(tmp_path, text)).batches)
    assert batch["note"].tolist()[0] == "=cmd|' /C calc'!A0"


def test_a_parquet_file_in_one_row_group_is_not_held_whole(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    names = ("Time [s]", "Current [A]", "Voltage [V]", "x")
    table = pa.table({name: np.sort(random.random(1_500_000)) - (name != "Time [s]") for name in names})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=len(table))
    whole = table.nbytes
    del table
    before, peak = pa.total_allocated_bytes(), 0
    for _ in read(tmp_path / "a.parquet", sign="discharge").batches:
        peak = max(peak, pa.total_allocated_bytes() - before)
    assert 0 < peak < 0.8 * whole


@pytest.mark.parametrize("kind", ["numbers", "texts", "texts of a dictionary"])
def test_a_parquet_bomb(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One value, repeated, takes a few bytes however often it is there, and the sizes in the file say so."""
    monkeypatch.setattr(limits, "RATIO_FREE", 1 << 20)
    n = 1_000_000
    texts = pa.DictionaryArray.from_arrays(np.zeros(n, np.int32), pa.array(["x" * 400]))
    more = {
        "numbers": np.zeros(n),
        "texts": texts.dictionary_decode(),
        "texts of a dictionary": texts,
    }[kind]
    pq.write_table(
        pa.table({"Time [s]": np.zeros(n), "note": more}), tmp_path / "bomb.parquet", compression="zstd"
    )
    with pytest.raises(TooLarge, match="times its size"):
        for _ in parquet_tables(tmp_path / "bomb.parquet")():
            pass


def test_infinite_and_absent_numbers(tmp_path: Path) -> None:
    text = HEADER + "0,1.5,3.6\nnan,nan,nan\n2,inf,3.5\n3,-inf,1e400\n4,-1.5,3.2\n5,1.5,3.6\n"
    assert consume(put(tmp_path, text)) == 5


def test_a_name_with_control_characters(tmp_path: Path) -> None:
    text = HEADER.strip() + ",a\x1b[31mred\x07,\x00\n".replace("\x00", "\x01") + rows(20)
    (batch,) = list(read(put(tmp_path, text)).batches)
    assert all(name.isprintable() for name in batch.names)


def parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def originals() -> dict[str, bytes]:
    """A small sound file of each kind."""
    frame = pd.DataFrame(
        {
            "test_time_second": np.arange(60.0),
            "voltage_volt": 3.6 - 0.3 * (np.arange(60) // 10 % 2),
            "current_ampere": 1.5 - 3.0 * (np.arange(60) // 10 % 2),
            "cycle_count": np.arange(60) // 20,
            "note": ["a", None] * 30,
        }
    )
    maccor = "Rec#\tCyc#\tStep\tTestTime\tStepTime\tAmp-hr\tAmps\tVolts\tState\tES\tDPt Time\n"
    neware = (
        "DataPoint,Cycle Index,Step Index,Step Type,Time,Total Time,Current(A),Voltage(V),Chg. Cap.(Ah),Date\n"
    )
    for n in range(45):
        step, clock = n // 9, f"10:00:{n:02d}"
        state, size = "RCD"[step % 3], float(step % 3 > 0)
        maccor += f"{n}\t0\t{step}\t0d 00:00:{n:02d}\t0d 00:00:{n % 9}\t0.{n}\t"
        maccor += f"{size}\t3.{n}\t{state}\t1\t01/02/2024 {clock}\n"
        neware += f'{n},1,{step},CC Chg,00:00:{n:02d},"00:00:{n:02d}",'
        neware += f"{1 - 2 * (step % 2)}.0,3.{n},0.{n},2024-05-13 {clock}\n"
    mpt = "EC-Lab ASCII FILE\nNb header lines : 4\n\ntime/s\tEwe/V\tI/mA\tcycle number\tNs\t\n" + "".join(
        f"{n / 10:.3E}\t{3 + n / 100:.3E}\t{(-1) ** (n // 9) * 1.5:.3E}\t1.0E+000\t{n // 9}\n" for n in range(40)
    )
    semicolons = (HEADER + rows(40)).replace(",", ";").replace(".", ",")
    gamry = "EXPLAIN\nTAG\tX\nDATE\tLABEL\t5/11/2016\tDate\nTIME\tLABEL\t17:47:03\tTime\n"
    gamry += "OCVCURVE\tTABLE\t30\n\tPt\tT\tVf\tTemp\n\t#\ts\tV\tdeg C\n"
    gamry += (
        "".join(f"\t{n}\t{n}\t3.6\t25\n" for n in range(30)) + "ZCURVE\tTABLE\n\tPt\tTime\tFreq\tZreal\tZimag\n"
    )
    gamry += "\t#\ts\tHz\tohm\tohm\n" + "\t1\t1\t1E+3\t1E-2\t-2E-3\n" * 9 + "CURVE\tTABLE\t40\n\tPt\tT\tVf\tIm\n"
    gamry += "\t#\ts\tV\tA\n" + "".join(
        f"\t{n}\t{n}\t3.{n:02d}\t{(-1) ** (n // 9) * 1.5:.3E}\n" for n in range(40)
    )
    proved = "Time,Current,Voltage,Temperature,Capacity(Ah),Energy(Wh)\n" + "".join(
        f"{n},{1500 * (-1) ** (n // 30)},{3600 + n % 30},298.15,{n / 2400:.6f},{3.6 * n / 2400:.6f}\n"
        for n in range(60)
    )
    chi = "Sept. 5, 2019   14:10:22\nCyclic Voltammetry\nInstrument Model:  CHI760E\n\nScan Rate (V/s) = 0.05\n\n"
    chi += "Potential/V, Current/A\n\n" + "".join(f"0.{n:03d}, {(n - 20) / 1e5:.3e}\n" for n in range(60))
    spectrum = {"freq/Hz": np.logspace(4, -1, 30), "Re(Z)/Ohm": np.full(30, 1e-2), "Im(Z)/Ohm": np.full(30, -2e-3)}
    return {
        "delimited": (HEADER + rows(40)).encode(),
        "chi": chi.encode(),
        "impedance parquet": parquet(pd.DataFrame(spectrum)),
        "semicolons": semicolons.encode("latin-1"),
        "packed": gzip.compress((HEADER + rows(40)).encode()),
        "utf-16": (HEADER + rows(40)).encode("utf-16"),
        "bdf": frame.to_csv(index=False).encode(),
        "bdf parquet": parquet(frame),
        "maccor": maccor.encode(),
        "neware": neware.encode(),
        "biologic": mpt.encode(),
        "gamry": gamry.encode("latin-1"),
        "rest": b"mode\ttime/s\tEwe/V\n" + b"".join(b"3\t%d\t3.6%02d\n" % (n, n % 50) for n in range(60)),
        "blanks": b"Freq (Hz)  Z' (a)  Z'' (b)\n" + b"1.0E+3  1.0E-2  -2.0E-3\n" * 30,
        "proved units": proved.encode(),
        "two tables": (HEADER + rows(40) + "freq/Hz,Z' (a),Z'' (b)\n" + "1.0E+3,1.0E-2,-2.0E-3\n" * 9).encode(),
        "impedance": b"freq/Hz\tRe(Z)/Ohm\t-Im(Z)/Ohm\n" + b"1.0E+3\t1.0E-2\t2.0E-3\n" * 9,
    }


def mutations(original: bytes, random: np.random.Generator) -> bytes:
    data = bytearray(original)
    for _ in range(int(random.integers(1, 6))):
        if not data:
            return b""
        place = int(random.integers(0, len(data)))
        match int(random.integers(0, 7)):
            case 0:
                data[place] ^= 1 << int(random.integers(0, 8))
            case 1:
                data[place] = int(random.integers(0, 256))
            case 2:
                del data[place:]
            case 3:
                del data[place : place + int(random.integers(1, 40))]
            case 4:
                data[place:place] = bytes(random.integers(0, 256, int(random.integers(1, 9)), dtype=np.uint8))
            case 5:
                piece = data[place : place + int(random.integers(1, 80))]
                data[place:place] = piece * int(random.integers(1, 20))
            case _:
                data[place:place] = random.choice(
                    np.array([b'"', b"\n", b",", b";", b"\t", b"\r", b"\0", b"-", b"9" * 400])
                )
    return bytes(data)


@pytest.mark.parametrize("kind", list(originals()))
def test_every_mutation_is_read_or_refused(kind: str, tmp_path: Path, long: bool) -> None:
    original = originals()[kind]
    random = np.random.default_rng(len(kind))
    assert consume(put(tmp_path, original)) > 0
    check(lambda: mutations(original, random), 2000 if long else 25, tmp_path)


@pytest.mark.parametrize("name", ["neware_nda/new_nda_file.nda", "neware_ndax/Unit27_Example_Data_File.ndax"])
def test_every_mutation_of_a_binary_is_read_or_refused(
    name: str, shared_data: Path, tmp_path: Path, long: bool
) -> None:
    original = (shared_data / name).read_bytes()
    random = np.random.default_rng(len(name))
    check(lambda: mutations(original, random), 2000 if long else 25, tmp_path)


def check(make: Callable[[], bytes], times: int, folder: Path, take: Callable[[Path], object] = consume) -> None:
    for number in range(times):
        data = make()
        path = put(folder, data, "mutated")
        begun = time.process_time()
        told = ""
        try:
            take(path)
        except (FileRefused, TooLarge) as refused:
            told = str(refused)
        except Exception as error:
            raise AssertionError(f"mutation {number}: {type(error).__name__}: {error}") from error
        assert str(folder) not in told
        assert time.process_time() - begun < SECONDS
