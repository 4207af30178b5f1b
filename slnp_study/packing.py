"""Which test images were right, in few characters.

A split has thousands of test images, and some two dozen methods and bases judge each. Most images
are right everywhere or wrong everywhere: with the bits of one image side by side, equal rows
follow each other again and again, which is what compression lives on.
"""

import lzma
from base64 import b85decode, b85encode
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Raw: no header and no checksum. The three zeros say that no place in a row is special.
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 0, "lp": 0, "pb": 0}]


class Outcomes(NamedTuple):
    """Which test images of a split were right."""

    right: NDArray[np.bool_]  #: of shape (methods, bases, images), in the order of the next two
    methods: tuple[str, ...]
    bases: tuple[str, ...]
    rows: NDArray[np.intp]  #: of shape (images,), where the test images stand in the data set
    labels: NDArray[np.intp]  #: of shape (images,), their classes: 0 ... C - 1

    def of(self, method: str, basis: str) -> NDArray[np.bool_]:
        """Return the outcomes of one method in one basis, of shape (images,)."""
        right: NDArray[np.bool_] = self.right[self.methods.index(method), self.bases.index(basis)]
        return right


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
    rows = np.packbits(right.T, axis=1)  # an image a row, filled up to whole bytes
    packed = lzma.compress(rows.tobytes(), format=lzma.FORMAT_RAW, filters=_FILTERS)
    return b85encode(packed).decode()


def unpack(packed: str, judges: int, images: int) -> NDArray[np.bool_]:
    """Return the bool array of shape (judges, images) that `pack` was given.

    Raises
    ------
    ValueError
        If the string is damaged or holds another number of outcomes.
    """
    rows = _bytes(packed)
    width = -(-judges // 8)
    if len(rows) != images * width:
        raise ValueError(f"the packed outcomes are not those of {images} images")
    return np.unpackbits(rows.reshape(images, width), axis=1, count=judges).T.astype(bool)


def flips(one: str, other: str, images: int) -> int:
    """Count the images on which two packed strings differ, for the judge who changed most.

    Raises
    ------
    ValueError
        If they do not hold as many outcomes of as many images.

    Examples
    --------
    >>> right = np.array([[True, False, True], [True, True, False]])
    >>> flips(pack(right), pack(~right[:, ::-1]), images=3)
    3
    """
    here, there = _bytes(one), _bytes(other)
    if here.shape != there.shape or len(here) % images:
        raise ValueError(f"the packed outcomes are not both those of {images} images")
    changed = np.unpackbits((here ^ there).reshape(images, -1), axis=1)
    return int(changed.sum(axis=0).max())


def _bytes(packed: str) -> NDArray[np.uint8]:
    try:
        raw = lzma.decompress(b85decode(packed), format=lzma.FORMAT_RAW, filters=_FILTERS)
    except lzma.LZMAError as error:
        raise ValueError(f"the packed outcomes are damaged ({error})") from None
    return np.frombuffer(raw, np.uint8)
