"""What helpers warn of and what they refuse. In a script each warning comes with its ``code`` beside the figure."""

from __future__ import annotations


class Doubt(UserWarning):
    """A helper's doubt about its own numbers. ``code`` names the kind of doubt in the answer of a figure."""

    code = "helper_doubt"


class SamplesLeftOut(Doubt):
    """Samples that the helper needs are not in the frame, so that its numbers may be wrong."""

    code = "samples_left_out"


class ChargeDiffers(Doubt):
    """The capacity counter and the integral of the current differ by more than 0.5 %."""

    code = "charge_differs"


class UncertainResistance(Doubt):
    """Resistances of some pulses are NaN or uncertain; the column ``Warning`` says which and why."""

    code = "uncertain_resistance"


class NotMonotonic(Doubt):
    """The voltage of a half cycle goes back and forth, so that dQ/dV is not well defined there."""

    code = "not_monotonic"


class SignLooksWrong(Doubt):
    """Most of a spectrum is inductive, as if minus Z_Im had been stored as Z_Im."""

    code = "sign_looks_wrong"


class NeedsUnmet(Doubt):
    """The store lacks what the recipe draws; the sentence in the figure says what, and how to get it."""

    code = "needs_unmet"


class NeedsEverySample(ValueError):
    """The helper needs every sample, and some are not in the frame."""


CODES: dict[str, str] = {
    kind.code: " ".join((kind.__doc__ or "").split())
    for kind in (
        Doubt,
        SamplesLeftOut,
        ChargeDiffers,
        UncertainResistance,
        NotMonotonic,
        SignLooksWrong,
        NeedsUnmet,
    )
}
"""Code -> what it means."""
