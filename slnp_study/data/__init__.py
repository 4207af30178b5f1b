"""The data sets of the book: real MNIST everywhere, real or rendered Yale B and COIL-100,
scikit-learn's digits and a hundred tables, which the paper doesn't use.

One module a set: how it's loaded, how its official archive is read, and where it comes from.
"""

from functools import partial

from slnp_study.data import coil100, tables, yale_b
from slnp_study.data.coil100 import load_coil100
from slnp_study.data.digits import load_digits
from slnp_study.data.files import ArchiveError, DataSet, DatasetNotFoundError
from slnp_study.data.mnist import load_mnist
from slnp_study.data.tables import load_tables
from slnp_study.data.yale_b import load_yale_b

__all__ = [
    "SETS",
    "ArchiveError",
    "DataSet",
    "DatasetNotFoundError",
    "load_coil100",
    "load_digits",
    "load_mnist",
    "load_tables",
    "load_yale_b",
]

#: The real sets that the studies run on.
SETS = {
    "yale_b": DataSet(partial(load_yale_b, "real"), yale_b.ARCHIVE),
    "coil100": DataSet(partial(load_coil100, "real"), coil100.ARCHIVE),
    "mnist": DataSet(load_mnist),
    "digits": DataSet(load_digits),
    "tables": DataSet(load_tables, fetch=tables.fetch),
}
