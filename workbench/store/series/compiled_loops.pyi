import numpy as np
from numpy.typing import NDArray

from ...table import Array

VERSION: int

def running(
    first: int, steps: Array, beside: bytes | memoryview, divisor: float, out: NDArray[np.float64], /
) -> None: ...
def joined(planes: bytes, stepped: bool, out: Array, /) -> None: ...
def candidates(columns: tuple[NDArray[np.float64], ...], size: int, kept: NDArray[np.bool_], /) -> bool: ...
def choose(
    x: NDArray[np.float64], columns: tuple[NDArray[np.float64], ...], most: int, kept: NDArray[np.bool_], /
) -> bool: ...
