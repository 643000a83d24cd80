"""Parsers that are not ours, kept from taking the process or the words of a refusal with them."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ...errors import FileRefused, TooLarge


@contextmanager
def guarded(refusal: Callable[[str], str]) -> Iterator[None]:
    """Run a foreign parser; whatever it makes of a damaged file is refused in the words of ``refusal(reason)``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except (FileRefused, TooLarge):
            raise
        except BaseException as error:
            # A panic in the Rust beneath some libraries is no Exception; whatever else is none is not ours to hold.
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise FileRefused(refusal(reason(error))) from None


def reason(error: BaseException) -> str:
    """The first line of what an error says, short."""
    said = str(error).strip().splitlines()
    return said[0][:160] if said else type(error).__name__


@contextmanager
def silent(*loggers: str) -> Iterator[None]:
    """Keep libraries from logging; our notes say what matters."""
    kept = [(logging.getLogger(name), logging.getLogger(name).level) for name in loggers]
    for logger, _ in kept:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in kept:
            logger.setLevel(level)
