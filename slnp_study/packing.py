"""Which test images were right, in few characters: a bit each, written in hexadecimal.

A split has thousands of test images, and some two dozen methods and bases judge each. Most images
are right everywhere or wrong everywhere: with the bits of one image side by side, equal rows
follow each other again and again, which is what the compression of a record lives on.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def pack(right: NDArray[np.bool_]) -> str:
    """Put outcomes into one string.

    Parameters
    ----------
    right : bool array of shape (judges, images)

    Returns
    -------
    str
        An image after the other. The bits of each are filled up to whole bytes.

    Examples
    --------
    >>> right = np.array([[True, False, True], [True, True, False]])
    >>> pack(right)
    'c04080'
    """
    return np.packbits(right.T, axis=1).tobytes().hex()


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


def sort_within(right: NDArray[np.bool_], y: NDArray[Any]) -> NDArray[np.bool_]:
    """Put the right outcomes of each class first.

    Which image was right is forgotten, how many of the class stays. Rows of equal bits pack well.

    Examples
    --------
    >>> sort_within(np.array([False, True, True, False]), np.array([5, 5, 5, 7])).tolist()
    [True, True, False, False]
    """
    kept = np.empty_like(right)
    for label in np.unique(y):
        kept[y == label] = np.sort(right[y == label])[::-1]
    return kept


def _bytes(packed: str, expected: int | None = None) -> NDArray[np.uint8]:
    raw = bytes.fromhex(packed)
    if expected is not None and len(raw) != expected:
        raise ValueError(f"{expected} bytes were packed there, {len(raw)} came out")
    return np.frombuffer(raw, np.uint8)
