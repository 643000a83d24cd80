"""Files of a folder that are of no known kind, found by their beginnings; nothing is read of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import FileRefused, WorkbenchError
from ...readers import format_of
from ...readers.non_series.recognise import holding
from ..plan.paths import shown
from ..plan.read_options import ReadOptions
from ..processes.warm_workers import ask_locked
from ..processes.worker_process import as_path, as_text

Asked = tuple[Path, ReadOptions]


def unknown_files(asked: Sequence[Asked]) -> list[FileRefused | None]:
    """Of each file, why no format knows its beginning and it is not one of our own files; None if it is known.

    A locked process looks at them where this machine has the lock. A file that brings its process down, or that cannot
    be opened, counts as known: who reads it will say what is wrong with it.
    """
    if not asked:
        return []
    job = {"asked": [{"path": as_text(path), "options": options.as_json()} for path, options in asked]}
    answer = ask_locked("unknown", job, [path for path, _ in asked])
    if answer is None:
        return [_why(path, options) for path, options in asked]
    if not isinstance(answer, list) or len(answer) != len(asked):
        return [None] if len(asked) == 1 else [unknown_files([one])[0] for one in asked]
    said = [one if isinstance(one, dict) else None for one in answer]
    return [
        None if one is None else FileRefused(str(one.get("why")), unmapped=one.get("unmapped") is True)
        for one in said
    ]


def unknown_by(job: Mapping[str, Any]) -> list[Mapping[str, Any] | None]:
    """What a worker answers to a job of `unknown_files`."""
    why = (_why(as_path(one["path"]), ReadOptions.from_json(one["options"])) for one in job["asked"])
    return [None if one is None else {"why": shown(str(one)), "unmapped": one.unmapped} for one in why]


def _why(path: Path, options: ReadOptions) -> FileRefused | None:
    try:
        if not (options.format or options.column_map or options.parts) and holding(path) is not None:
            return None
        format_of(path, format=options.format, column_map=options.column_map)
    except FileRefused as refused:
        return None if refused.unopened else refused
    except (WorkbenchError, OSError) as error:
        return FileRefused(str(error))
    return None
