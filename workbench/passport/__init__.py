"""What an exported figure says of itself: its recipe, values, data, versions. Made, kept in files, read, compared."""

from .compare import Change, Changes, why_changed
from .embedding import embedded, sidecar, sidecar_of
from .passport import Passport, StepSeen, made
from .reading import passport_in, passports_in, read_passport

__all__ = [
    "Change",
    "Changes",
    "Passport",
    "StepSeen",
    "embedded",
    "made",
    "passport_in",
    "passports_in",
    "read_passport",
    "sidecar",
    "sidecar_of",
    "why_changed",
]
