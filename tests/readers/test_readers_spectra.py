"""Spectra as impedance programs write them: fields parted by blanks, no header, an imaginary part of either sign."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from workbench.errors import FileRefused
from workbench.readers import Reading, read
from workbench.table import Table, concat

F = np.logspace(4, -2, 31)
Z = 0.02 + 0.03 / (1 + 2j * np.pi * F * 0.03 * 5.0) + 2j * np.pi * F * 1e-7
"""A resistance, a half circle and the inductance of leads: positive at the highest frequencies."""


def got(folder: Path, text: str, name: str = "eis.z") -> tuple[Reading, Table]:
    path = folder / name
    path.write_text(text)
    reading = read(path)
    return reading, concat(list(reading.batches))


def holds(table: Table, frequency: np.ndarray = F, z: np.ndarray = Z) -> None:
    assert table["Frequency [Hz]"].floats() == pytest.approx(frequency, rel=1e-6)
    assert table["Z_Re [Ohm]"].floats() == pytest.approx(z.real, rel=1e-5)
    assert table["Z_Im [Ohm]"].floats() == pytest.approx(z.imag, rel=1e-4, abs=1e-9)


def lines(form: str, **more: float) -> str:
    return "\n".join(
        form.format(f=f, re=z.real, im=z.imag, mod=abs(z), phase=np.degrees(np.angle(z)), n=n, **more)
        for n, (f, z) in enumerate(zip(F, Z, strict=True))
    )


NUMBERS = "{f:.6e}{s}{re:.7e}{s}{im:.7e}"


def codes(reading: Reading) -> set[str]:
    return {note.code for note in reading.notes}


@pytest.mark.parametrize("mark", ["\t", "   ", "  \t "])
def test_scribner(mark: str, tmp_path: Path) -> None:
    head = "ZPLOT2 ASCII\n  Measured Data, ZPlot:       3.2c\n  Date:                       10-12-2018\n"
    head += "  Sweep Frequency: Control Voltage\n  End Comments\n"
    names = ["Freq(Hz)", "Ampl", "Bias", "Time(Sec)", "Z'(a)", "Z''(b)", "GD", "Err", "Range"]
    row = mark.join(["{f:.6e}", "0.0", "0.0", "{n}", "{re:.7e}", "{im:.7e}", "0", "0", "3"])
    reading, table = got(tmp_path, head + "  " + mark.join(names) + "\n" + lines(" " + row) + "\n")
    holds(table)
    assert "imaginary_sign" not in codes(reading)


@pytest.mark.parametrize(
    ("header", "form"),
    [
        ("freq. /Hz,Z1 /ohm,Z2 /ohm", "{f},{re:.8e},{im:.8e}"),
        ("freq. /Hz;Z1 /ohm;-Z2 /ohm", "{f};{re:.8e};{neg}"),
        ("Number\tFrequency/Hz\tImpedance/Ohm\tPhase/deg\tSignificance", "{n}\t{f}\t{mod:.8e}\t{phase:.8e}\t1"),
        ("Freq/Hz, Z'/ohm, Z\"/ohm, Z/ohm, Phase/deg\n", "{f}, {re:.8e}, {im:.8e}, {mod:.8e}, {phase:.6f}"),
        ("Freq(MHz)  Z'(Ohm)  Z''(Ohm)", None),
    ],
)
def test_other_makes(header: str, form: str | None, tmp_path: Path) -> None:
    if form is None:
        header, form = "Frequency(Hz)  Z'(Ohm)  Z''(Ohm)", "{f}  {re:.8e}  {im:.8e}"
    text = "\n".join(
        form.format(
            f=f, re=z.real, im=z.imag, neg=f"{-z.imag:.8e}", mod=abs(z), phase=np.degrees(np.angle(z)), n=n
        )
        for n, (f, z) in enumerate(zip(F, Z, strict=True))
    )
    reading, table = got(tmp_path, f"{header}\n{text}\n", "a.txt")
    holds(table)
    assert not codes(reading) & {"imaginary_sign", "spectrum_header"}


def test_an_imaginary_part_of_the_other_sign_is_turned_and_told(tmp_path: Path) -> None:
    text = "freq/Hz,Re(Z)/Ohm,Im(Z)/Ohm\n" + "\n".join(
        f"{f},{z.real},{-z.imag}" for f, z in zip(F, Z, strict=True)
    )
    reading, table = got(tmp_path, text)
    holds(table)
    (said,) = [note.message for note in reading.notes if note.code == "imaginary_sign"]
    assert 'column_map={"Im(Z)/Ohm": "Z_Im [Ohm]"}' in said
    kept = read(tmp_path / "eis.z", column_map={"Im(Z)/Ohm": "Z_Im [Ohm]"})
    holds(concat(list(kept.batches)), z=Z.conj())
    turned = read(tmp_path / "eis.z", column_map={"Im(Z)/Ohm": "-Z_Im [Ohm]"})
    holds(concat(list(turned.batches)))


def test_a_phase_of_the_other_sign_too(tmp_path: Path) -> None:
    text = "Frequency/Hz,|Z|/Ohm,Phase/deg\n" + "\n".join(
        f"{f},{abs(z)},{-np.degrees(np.angle(z))}" for f, z in zip(F, Z, strict=True)
    )
    holds(got(tmp_path, text)[1])


def test_high_frequencies_alone_tell_no_sign(tmp_path: Path) -> None:
    text = "freq/Hz,Re(Z)/Ohm,Im(Z)/Ohm\n" + "\n".join(f"{f},0.02,{f * 1e-6}" for f in np.logspace(5, 3, 9))
    reading, table = got(tmp_path, text)
    assert (table["Z_Im [Ohm]"].floats() > 0).all()
    assert "imaginary_sign" not in codes(reading)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("mark", [",", "\t", "   ", ";"])
def test_three_columns_without_a_header(mark: str, sign: int, tmp_path: Path) -> None:
    text = "\n".join(
        mark.join((f"{f:.8e}", f"{z.real:.8e}", f"{sign * z.imag:.8e}")) for f, z in zip(F, Z, strict=True)
    )
    reading, table = got(tmp_path, text + "\n")
    assert reading.format == "impedance-bare"
    holds(table)
    assert "spectrum_header" in codes(reading)


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"{f},0.02,{f * 1e-6}" for f in np.logspace(5, 3, 9)),
        "primary_data\n3\n9\n" + "\n".join(f"{f} 0.02 0.01" for f in range(1, 10)),
        "\n".join(f"{n},3.{n},0.01" for n in range(1, 30)),
        "\n".join(f"{n},{n % 7},{n % 5}" for n in range(30)),
    ],
)
def test_what_does_not_tell_is_refused_in_words(text: str, tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match=r"Export|header"):
        got(tmp_path, text + "\n", "a.idf")
