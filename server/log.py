"""The log: one line of JSON for each event, never with a key, a signed address or a body."""

from __future__ import annotations

import logging
import sys
import time
from contextvars import ContextVar

import orjson

Detail = str | int | float | None
REQUEST: ContextVar[str | None] = ContextVar("request", default=None)
"""The id of the request that is being answered; each line of the log that belongs to it has it."""
LOGGER = logging.getLogger("workbench.server")


def event(name: str, **what: Detail) -> None:
    """Write an event; values that are None are left out."""
    if LOGGER.isEnabledFor(logging.INFO):
        fields = {key: value for key, value in what.items() if value is not None}
        # `LOGGER.info` would look for the line of code that called it, which takes a third of the time of an event.
        LOGGER.handle(
            LOGGER.makeRecord(LOGGER.name, logging.INFO, "", 0, name, (), None, extra={"fields": fields})
        )


def warn(name: str, **what: Detail) -> None:
    """Write what the operator should know, although nothing failed."""
    LOGGER.warning(name, extra={"fields": what})


def failed(name: str, **what: Detail) -> None:
    """Write the error that is being handled, with its traceback."""
    LOGGER.error(name, extra={"fields": what}, exc_info=True)


class Lines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Detail] = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if "request" not in line and (request := REQUEST.get()) is not None:
            line["request"] = request
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()


def to_stderr(level: int = logging.INFO) -> None:
    """Send the server's log, and uvicorn's, to the error output as lines of JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    for name in ("workbench.server", "uvicorn", "uvicorn.error", "python_multipart"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(level)
