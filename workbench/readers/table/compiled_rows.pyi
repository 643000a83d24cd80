import numpy as np
from numpy.typing import NDArray

VERSION: int

def rows(
    data: bytes,
    ended: bool,
    first: int,
    most: int,
    form: bytes,
    powers: bytes,
    row_of: NDArray[np.int32],
    seen: NDArray[np.uint8],
    values: NDArray[np.float64],
    starts: NDArray[np.int64],
    lengths: NDArray[np.int32],
    /,
) -> tuple[int, int] | None: ...
def joined(
    data: bytes,
    starts: NDArray[np.int64],
    lengths: NDArray[np.int32],
    offsets: NDArray[np.int64],
    texts: NDArray[np.uint8],
    /,
) -> None: ...
