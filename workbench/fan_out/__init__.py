"""Work over many things that do not depend on each other: in this process, in others, or on a cluster of Dask."""

from .fan_out import Cancel, FanOut
from .own_tasks import own_task
from .setting import Given

__all__ = ["Cancel", "FanOut", "Given", "own_task"]
