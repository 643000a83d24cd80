"""BioLogic text: .mpt of EC-Lab, text of BT-Lab, with or without its header block; cycling and impedance."""

from __future__ import annotations

from ..table.columns import From
from ..table.text_format import TextFormat

BIOLOGIC = TextFormat(
    name="biologic",
    brand="BioLogic",
    endings=(".mpt", ".txt", ".csv"),
    sign="charge",
    about="Text of EC-Lab and BT-Lab; known by 'time/s' or 'freq/Hz' with 'Ewe/V', 'Ecell/V' or 'Re(Z)/Ohm'.",
    needs=(
        ("time", "freq"),
        ("ewe", "ecell", "<ewe>", "<ecell>", "re(z)", "ewe-ece", "|ewe|"),
        ("i", "<i>", "-im(z)", "dq", "|i|"),
    ),
    columns=(
        From("Time [s]", ("time",), "s"),
        From("Current [A]", ("i", "<i>"), "A"),
        From("Voltage [V]", ("ecell", "ewe", "<ecell>", "<ewe>", "ewe-ece"), "V"),
        From("Step from cycler", ("ns",)),
        From("Cycle from cycler", ("cycle number", "cyclenumber")),
        From("Charge capacity [A.h]", ("q charge", "qcharge"), "A.h", positive=True),
        From("Discharge capacity [A.h]", ("q discharge", "qdischarge"), "A.h", positive=True),
        From("Charge energy [W.h]", ("energy charge", "energycharge"), "W.h", positive=True),
        From("Discharge energy [W.h]", ("energy discharge", "energydischarge"), "W.h", positive=True),
        From("Temperature [degC]", ("temperature", "t"), "degC"),
        From("Frequency [Hz]", ("freq",), "Hz"),
        From("Z_Re [Ohm]", ("re(z)",), "Ohm"),
        From("Z_Im [Ohm]", ("-im(z)",), "Ohm", negate=True),
        From("Z_Mod [Ohm]", ("|z|",), "Ohm"),
        From("Z_Phase [deg]", ("phase(z)",), "deg"),
    ),
    charges=("dq",),
    start=r"^\s*Acquisition started on\s*:\s*(.+)$",
    start_at_zero=True,
    rule=6,
)
