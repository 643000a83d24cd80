"""Spectra as impedance programs write them: fields parted by blanks, no header, an imaginary part of either sign."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
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


@pytest.mark.parametrize(
    ("frequency", "real", "imaginary"),
    [
        ("f / Hz", "Z' / Ohm", "-Z'' / Ohm"),
        ("f", "Z'", "Z''"),
        ("freq", "Z′", "Z″"),
        ("Freq", "Zreal", "Zimag"),
        ("Frequency", " Zre", " Zimg"),
        ("Frequency (Hz)", "Z' (a)", "Z'' (b)"),
        ("Frequency/Hz", "Re Z / Ω", "Im Z / Ω"),
        ("f (Hz)", "ReZ (Ohm)", "-ImZ (Ohm)"),
        ("Frequency (Hz)", "Real (Ohm)", "Imag (Ohm)"),
        ("Frequency (Hz)", "Re", "-Im"),
        ("freq_hz", "re_z_ohm", "im_z_ohm"),
        ("Frequency (Hz)", "Z real part (ohm)", "Z imaginary part (ohm)"),
        ("freq/Hz", "Re(Zwe-ce)/Ohm", "-Im(Zwe-ce)/Ohm"),
        ("Frequency (Hz)", "Impedance Real (mOhm)", "Impedance Imag (mOhm)"),
        ("Frequency/kHz", "Re[Z] / kOhm", "-Im[Z] / kOhm"),
        ("Frequency (Hz)", "Re(Z) (MΩ)", "−Im(Z) (MΩ)"),
        ("Frequency (Hz)", "Z' (Ω)", "neg. Z'' (Ω)"),
        ("Frequenz [Hz]", "Realteil [mOhm]", "Imaginärteil [mOhm]"),
        ("Frequency (Hz)", "Resistance (Ohm)", "Reactance (Ohm)"),
    ],
)
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0)])
def test_names_of_parts(
    frequency: str, real: str, imaginary: str, order: tuple[int, int, int], tmp_path: Path
) -> None:
    names = (frequency, real, imaginary)
    ohm = {"mOhm": 1e3, "kOhm": 1e-3, "(MΩ)": 1e-6}
    size = next((factor for unit, factor in ohm.items() if unit in real), 1.0)
    sign = -1 if imaginary.strip()[0] in "-−n" else 1
    columns = (F * (1e-3 if "kHz" in frequency else 1), Z.real * size, sign * Z.imag * size)
    lines_of = [";".join(names[k] for k in order)]
    lines_of += [";".join(f"{columns[k][n]:.9e}" for k in order) for n in range(len(F))]
    reading, table = got(tmp_path, "\n".join(lines_of) + "\n", "a.csv")
    holds(table)
    assert "imaginary_sign" not in codes(reading)


@pytest.mark.parametrize(
    ("modulus", "phase", "unit"),
    [
        ("|Z| (Ohm)", "Phase(Z) (deg)", "deg"),
        ("Zmod (Ohm)", "Zphz (°)", "deg"),
        ("Magnitude (Ohm)", "Phase Angle (deg)", "deg"),
        ("|Z|/Ohm", "-Phase/°", "deg"),
        ("Z (Ohm)", "θ (°)", "deg"),
        ("Impedance magnitude (Ohm)", "Theta (rad)", "rad"),
    ],
)
def test_names_of_modulus_and_phase(modulus: str, phase: str, unit: str, tmp_path: Path) -> None:
    angle = np.angle(Z) if unit == "rad" else np.degrees(np.angle(Z))
    angle = -angle if phase.startswith("-") else angle
    text = f"Frequency (Hz);{modulus};{phase}\n" + "".join(
        f"{f};{abs(z)};{a}\n" for f, z, a in zip(F, Z, angle, strict=True)
    )
    holds(got(tmp_path, text, "a.csv")[1])


def test_short_names_mean_an_impedance_only_together(tmp_path: Path) -> None:
    text = "time/s,I/A,U/V,f,phase,angle,Re\n" + "".join(
        f"{n},{1 if n < 20 else -1},{3.6 + (n if n < 20 else 40 - n) / 100},7,2,3,4\n" for n in range(40)
    )
    _, table = got(tmp_path, text, "a.csv")
    assert table["f"].tolist()[0] == 7
    assert not {"Frequency [Hz]", "Z_Re [Ohm]"} & set(table.names)


@pytest.mark.parametrize(
    ("header", "advice"),
    [
        ("Freq(Hz),A(ohm),B(ohm)", '"Freq(Hz)": "Frequency [Hz]", "A(ohm)": "Z_Re [Ohm]", "B(ohm)": "Z_Im [Ohm]"'),
        ("f (Hz),Wirkteil (Ohm),-Im(Z) (Ohm)", '"Wirkteil (Ohm)": "Z_Re [Ohm]", "-Im(Z) (Ohm)": "-Z_Im [Ohm]"'),
    ],
)
def test_a_spectrum_of_unknown_names_gets_the_advice_for_spectra(header: str, advice: str, tmp_path: Path) -> None:
    sign = -1 if "-Im" in header else 1
    text = f"{header}\n" + "".join(f"{f},{z.real},{sign * z.imag}\n" for f, z in zip(F, Z, strict=True))
    with pytest.raises(FileRefused) as refused:
        got(tmp_path, text, "a.csv")
    said = str(refused.value)
    assert "looks like an impedance spectrum" in said
    assert advice in said
    assert refused.value.unmapped
    names = header.split(",")
    ours = ["Frequency [Hz]", "Z_Re [Ohm]", "-Z_Im [Ohm]" if sign < 0 else "Z_Im [Ohm]"]
    holds(concat(list(read(tmp_path / "a.csv", column_map=dict(zip(names, ours, strict=True))).batches)))


@pytest.mark.parametrize("unit", ["Ohm cm2", "Ohm.cm²", "Ω·cm^2", "mOhm m2"])
@pytest.mark.parametrize("name", ["f (Hz)", "Frequency (Hz)"])
@pytest.mark.parametrize("minus", ["", "-"])
def test_a_spectrum_per_area_is_refused_as_one(minus: str, name: str, unit: str, tmp_path: Path) -> None:
    text = f"{name},Z' ({unit}),{minus}Z'' ({unit})\n" + "".join(
        f"{f},{z.real},{z.imag}\n" for f, z in zip(F, Z, strict=True)
    )
    with pytest.raises(FileRefused, match="are per area of the electrode") as refused:
        got(tmp_path, text, "a.csv")
    assert "Current [A]" not in str(refused.value)


@pytest.mark.parametrize("name", ["omega/rad/s", "log(f)", "Frequency (rad/s)"])
def test_another_form_of_the_frequency_is_refused_by_name(name: str, tmp_path: Path) -> None:
    text = f"{name},Z',Z''\n" + "".join(f"{f},{z.real},{z.imag}\n" for f, z in zip(F, Z, strict=True))
    with pytest.raises(FileRefused, match="is not a frequency in Hz"):
        got(tmp_path, text, "a.csv")


@pytest.mark.parametrize(
    ("header", "mark"),
    [
        ("Freq (Hz)   Z' (a)   Z'' (b)", "  "),
        ("Freq (Hz) Z' (a) Z'' (b)", " "),
        ("f / Hz   Z' / Ohm   Z'' / Ohm", " "),
        ("# Freq(Hz) Re(Z) Im(Z)", "   "),
        ("Frequency (Hz)  Real part (Ohm)  Imaginary part (Ohm)", "  "),
        ("\"  Freq (Hz)    Z'(a)    Z''(b)\"", ","),
    ],
)
def test_names_with_blanks_in_them_stay_above_their_numbers(header: str, mark: str, tmp_path: Path) -> None:
    text = f"Z60W Data File\n{header}\n" + lines("{f:.6e}" + mark + "{re:.7e}" + mark + "{im:.7e}") + "\n"
    holds(got(tmp_path, text)[1])


@pytest.mark.parametrize(
    "header", ["Frequency Real part Imaginary part", "Pt Freq(Hz) Re(Z) Im(Z)", "Freq Re Im note"]
)
def test_names_that_do_not_fit_the_rows_are_never_guessed(header: str, tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="names above rows of 3 numbers"):
        got(tmp_path, f"{header}\n" + lines("{f:.6e} {re:.7e} {im:.7e}") + "\n")


@pytest.mark.parametrize(
    ("names", "sign", "notes"),
    [
        (("Frequency [Hz]", "Z_Re [Ohm]", "Z_Im [Ohm]"), 1, set()),
        (("freq/Hz", "Re(Z)/Ohm", "-Im(Z)/Ohm"), -1, set()),
        (("f", "Z'", 'Z"'), 1, {"unit"}),
        (("frequency", "zreal", "zimag"), -1, {"unit", "imaginary_sign"}),
        (("Data: Frequency", "Data: Z'", "Data: Z''"), 1, {"unit"}),
        (("频率(Hz)", "阻抗实部(Ohm)", "阻抗虚部(Ohm)"), 1, set()),
        (("주파수(Hz)", "실수부(Ohm)", "허수부(Ohm)"), 1, set()),
        (("周波数/Hz", "実部/Ohm", "虚部/Ohm"), 1, set()),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_spectrum_is_the_same_as_text_and_as_parquet(
    names: tuple[str, str, str], sign: int, notes: set[str], ending: str, tmp_path: Path
) -> None:
    frame = pd.DataFrame(dict(zip(names, (F, Z.real, sign * Z.imag), strict=True)))
    path = tmp_path / f"eis.{ending}"
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    reading = read(path)
    holds(concat(list(reading.batches)))
    assert codes(reading) == notes
