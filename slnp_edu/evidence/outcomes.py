"""Which test images were right, in few characters.

A split has thousands of test images, and some two dozen methods and bases judge each. Most images
are right everywhere or wrong everywhere: with the bits of one image side by side, equal rows
follow each other again and again, which is what compression lives on.
"""

import lzma
from base64 import b85decode, b85encode

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
    try:
        raw = lzma.decompress(b85decode(packed), format=lzma.FORMAT_RAW, filters=_FILTERS)
    except lzma.LZMAError as error:
        raise ValueError(f"the packed outcomes are damaged ({error})") from None
    rows = np.frombuffer(raw, np.uint8)
    width = -(-judges // 8)
    if len(rows) != images * width:
        raise ValueError(f"the packed outcomes are not those of {images} images")
    return np.unpackbits(rows.reshape(images, width), axis=1, count=judges).T.astype(bool)
