"""Which test images were right, and counts, in few characters.

A split has thousands of test images, and some two dozen methods and bases judge each. Most images
are right everywhere or wrong everywhere: with the bits of one image side by side, equal rows
follow each other again and again, which is what compression lives on. Counts of neighbouring
specifications are alike, so their differences are kept.
"""

import lzma
from base64 import b85decode, b85encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Raw: no header and no checksum. The three zeros say that no place in a row is special.
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 0, "lp": 0, "pb": 0}]


def pack(right: NDArray[np.bool_]) -> str:
    """Put outcomes into one string of letters, digits and marks that JSON leaves as they are.

    Parameters
    ----------
    right : bool array of shape (judges, images)

    Returns
    -------
    str

    Examples
    --------
    >>> right = np.array([[True, False, True], [True, True, False]])
    >>> np.array_equal(unpack(pack(right), judges=2, images=3), right)
    True
    """
    return _compressed(np.packbits(right.T, axis=1))  # an image a row, filled up to whole bytes


def unpack(packed: str, judges: int, images: int) -> NDArray[np.bool_]:
    """Return the bool array of shape (judges, images) that `pack` was given.

    Raises
    ------
    ValueError
        If the string is damaged or holds another number of outcomes.
    """
    width = -(-judges // 8)
    rows = _bytes(packed, images * width).reshape(images, width)
    return np.unpackbits(rows, axis=1, count=judges).T.astype(bool)


def flips(one: str, other: str, images: int) -> int:
    """Count the images on which two packed strings differ, for the judge who changed most.

    Examples
    --------
    >>> right = np.array([[True, False, True], [True, True, False]])
    >>> flips(pack(right), pack(~right[:, ::-1]), images=3)
    3
    """
    here = _bytes(one)
    changed = (here ^ _bytes(other, len(here))).reshape(images, -1)
    return int(np.unpackbits(changed, axis=1).sum(axis=0).max())


def pack_counts(counts: Any) -> str:
    """Put whole numbers below 32,768 into one string.

    Examples
    --------
    >>> unpack_counts(pack_counts([3411, 3718, 3622, 3442]), (2, 2))
    array([[3411, 3718],
           [3622, 3442]])
    """
    steps = np.diff(np.ravel(counts), prepend=0).astype("<i2")
    return _compressed(steps.view(np.uint8).reshape(-1, 2).T)  # low bytes first, then the high ones


def unpack_counts(packed: str, shape: tuple[int, ...]) -> NDArray[np.intp]:
    """Return the counts that `pack_counts` was given. ValueError if they have another shape."""
    planes = _bytes(packed, 2 * int(np.prod(shape))).reshape(2, -1)
    steps = np.ascontiguousarray(planes.T).view("<i2").ravel()
    return np.cumsum(steps, dtype=np.intp).reshape(shape)


def _compressed(values: NDArray[np.uint8]) -> str:
    packed = lzma.compress(values.tobytes(), format=lzma.FORMAT_RAW, filters=_FILTERS)
    return b85encode(packed).decode()


def _bytes(packed: str, expected: int | None = None) -> NDArray[np.uint8]:
    try:
        raw = lzma.decompress(b85decode(packed), format=lzma.FORMAT_RAW, filters=_FILTERS)
    except lzma.LZMAError as error:
        raise ValueError(f"the packed numbers are damaged ({error})") from None
    if expected is not None and len(raw) != expected:
        raise ValueError(f"{expected} bytes were packed there, {len(raw)} came out")
    return np.frombuffer(raw, np.uint8)
