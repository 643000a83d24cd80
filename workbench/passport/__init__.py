"""What an exported figure says of itself: its recipe, values, data, versions. Made, kept in files, read, compared."""

from .compare import Change, Changes, why_boards_changed, why_changed
from .embedding import attached, embedded, sidecar, sidecar_of
from .passport import Passport, PlotSeen, StepSeen, made
from .reading import meant, passport_in, passports_in, read_passport, read_passports

__all__ = [
    "Change",
    "Changes",
    "Passport",
    "PlotSeen",
    "StepSeen",
    "attached",
    "embedded",
    "made",
    "meant",
    "passport_in",
    "passports_in",
    "read_passport",
    "read_passports",
    "sidecar",
    "sidecar_of",
    "why_boards_changed",
    "why_changed",
]
