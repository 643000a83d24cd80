"""Calls of parsers from other packages: their errors become refusals, and their logs and warnings are silent."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ...errors import FileRefused, TooLarge
from ...messages import said_of_json


@contextmanager
def guarded(refusal: Callable[[str], str]) -> Iterator[None]:
    """Run a parser of another package. Any error becomes a ``FileRefused`` with the message ``refusal(reason)``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except (FileRefused, TooLarge):
            raise
        except BaseException as error:
            # A panic in the Rust code of a library is a BaseException. Others, such as Ctrl-C, must pass.
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise FileRefused(refusal(reason(error))) from None


def reason(error: BaseException) -> str:
    """The first line of the message of an error, at most 160 characters; its class if it has no message."""
    said = said_of_json(error).strip().splitlines()
    return said[0][:160] if said else type(error).__name__


@contextmanager
def silent(*loggers: str) -> Iterator[None]:
    """Silence the logs of libraries. Our notes say what matters."""
    kept = [(logging.getLogger(name), logging.getLogger(name).level) for name in loggers]
    for logger, _ in kept:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in kept:
            logger.setLevel(level)
