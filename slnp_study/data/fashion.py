"""Clothes: Fashion-MNIST at 14 x 14 pixels, from the files that Debian packages."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from slnp_study.data.files import block_means, bunch, data_folders, not_found
from slnp_study.data.mnist import read_idx

FOLDER = "fashion-mnist"  # the files are named like MNIST's, so they lie in a folder of their own
DEBIAN = Path("/usr/share/datasets")
PARTS = ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")
NAMES = ["T-shirt", "trousers", "pullover", "dress", "coat"]
NAMES += ["sandal", "shirt", "sneaker", "bag", "ankle boot"]
HOW = f"""\
The Debian package dataset-fashion-mnist brings it,
or put {PARTS[0]} and {PARTS[1]} in a folder {FOLDER} of the folder that SLNP_EDU_DATA names."""

_DESCR = """\
Fashion-MNIST, the test part: 10,000 photographs of clothes in ten classes, 28 x 28 reduced to
14 x 14; here they stand class by class.
Origin: the files of the Debian package dataset-fashion-mnist.
Terms of use: made by Zalando SE, MIT licence.
Pixels: grey values 0 to 255, mean over 2 x 2 blocks, not rounded.
Reference: H. Xiao, K. Rasul, R. Vollgraf, Fashion-MNIST: a novel image dataset for benchmarking
machine learning algorithms, arXiv 1708.07747, 2017.
"""


def load_fashion(*, return_X_y: bool = False) -> Any:
    """Load the test part of Fashion-MNIST at 14 x 14 pixels; a set that the paper does not use.

    Returns
    -------
    Bunch
        ``data`` (10000, 196), ``target`` (10000,), ``images`` (10000, 14, 14) and the facts.
    """
    here = folder()
    if here is None:
        raise not_found("Fashion-MNIST", HOW)
    images, labels = (read_idx(here / part) for part in PARTS)
    order = np.argsort(labels, kind="stable")
    sha256 = hashlib.sha256((here / PARTS[0]).read_bytes()).hexdigest()
    facts = {"checksum": sha256, "checksum_of": f"the file {FOLDER}/{PARTS[0]}"}
    images = block_means(images[order], 2)
    return bunch(images, labels[order], NAMES, "Debian", _DESCR, return_X_y, **facts)


def folder() -> Path | None:
    """Return where the files are, or None."""
    within = [f / FOLDER for f in (*data_folders(), DEBIAN)]
    return next((f for f in within if all((f / part).is_file() for part in PARTS)), None)
