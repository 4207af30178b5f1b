"""The data sets of the book: real MNIST everywhere, real or rendered Yale B and COIL-100, a toy;
and scikit-learn's digits, which the paper does not use.

One module a set: what is known of it, how its official archive is read, how it is loaded, and what
is rendered in its place.
"""

from collections.abc import Callable
from typing import Any

from slnp_study.data import coil100, yale_b
from slnp_study.data.coil100 import load_coil100
from slnp_study.data.digits import load_digits
from slnp_study.data.files import ArchiveError, DatasetNotFoundError, RealSet
from slnp_study.data.mnist import load_mnist
from slnp_study.data.yale_b import load_yale_b

__all__ = [
    "LOADERS",
    "SETS",
    "ArchiveError",
    "DatasetNotFoundError",
    "load_coil100",
    "load_digits",
    "load_mnist",
    "load_yale_b",
]

#: The real sets that have to be brought here.
SETS: dict[str, RealSet] = {"yale_b": yale_b.SET, "coil100": coil100.SET}
#: The real sets of the comparisons, each with what loads it.
LOADERS: dict[str, Callable[[], Any]] = {
    **{name: spec.load for name, spec in SETS.items()},
    "mnist": load_mnist,
    "digits": load_digits,
}
