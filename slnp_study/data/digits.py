"""Small handwritten digits: the 8 x 8 images that come with scikit-learn."""

from typing import Any

import numpy as np
from sklearn import datasets

from slnp_study.data.files import bunch

_DESCR = """\
Handwritten digits of 43 people, 8 x 8 pixels: the test part of the UCI set.
Origin: scikit-learn's load_digits; here the images come class by class.
Terms of use: UCI Machine Learning Repository, CC BY 4.0.
Pixels: 0 to 16, how many of the 4 x 4 dots of a 32 x 32 scan are inked.
Reference: E. Alpaydin, C. Kaynak, Optical recognition of handwritten digits, UCI Machine Learning
Repository, 1998.
"""


def load_digits(*, return_X_y: bool = False) -> Any:
    """Load scikit-learn's digits, class by class. The paper doesn't use this set.

    Returns
    -------
    Bunch
        ``data`` (1797, 64), ``target`` (1797,), ``images`` (1797, 8, 8) and the facts.
    """
    found = datasets.load_digits()
    order = np.argsort(found.target, kind="stable")
    images, labels = found.images[order], found.target[order]
    return bunch(images, labels, "{}", "scikit-learn", _DESCR, return_X_y)
