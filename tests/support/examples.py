"""How many cases Hypothesis tries: fewer every day, many with ``--long``."""

from __future__ import annotations

from hypothesis import settings

FULL_SIZE = "full size"


def examples(everyday: int, full: int) -> int:
    """The number of cases of a test, by the profile that ``tests/conftest.py`` loads before the tests are imported."""
    return full if settings.get_current_profile_name() == FULL_SIZE else everyday
