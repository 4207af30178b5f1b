"""What the loaders share: where files lie, how a prepared file is checked, the shape of a set.

Every loader returns a scikit-learn ``Bunch`` or, with ``return_X_y=True``, ``(data, target)``.
Real sets are looked for in ``$SLNP_EDU_DATA``, then in the user's cache folder. The module
`slnp_study.data.archives` puts them there.
"""

import hashlib
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from platformdirs import user_cache_path
from sklearn.utils import Bunch

Arrays = dict[str, np.ndarray]
STANDIN_TERMS = "made by this module, free to use like the rest of it (MIT)."


class DatasetNotFoundError(FileNotFoundError):
    """The real data asked for isn't on this machine. The message says how to get it."""


class ArchiveError(ValueError):
    """An archive or a data file isn't what it should be. The message says why in one sentence."""


@dataclass(frozen=True)
class Archive:
    """A set that readers bring themselves: its official archive, and the file we make from it."""

    title: str
    file: str  # the prepared file
    sha256: str  # of the prepared file
    images_sha256: str  # of the bytes of its array `images`
    shape: tuple[int, int, int]
    arrays: tuple[str, ...]  # the images, their classes, and what else the file holds
    n_classes: int
    how: str  # two lines: where it comes from, what to run
    prepare: Callable[[Path], Arrays]  # reads the official archive
    url: str = ""  # if a program may download it
    remark: str = ""  # why a file made from the official archive may differ from the reference


class DataSet(NamedTuple):
    """A real set: what loads it and, if it doesn't come with a package, what brings it."""

    load: Callable[[], Any]
    archive: Archive | None = None
    fetch: Callable[[], None] | None = None


def data_folders() -> list[Path]:
    """Return the folders that are searched for real data, in order. The first is written to."""
    named = os.environ.get("SLNP_EDU_DATA")
    return ([Path(named).expanduser()] if named else []) + [user_cache_path("slnp_edu")]


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
    means: np.ndarray = blocks.mean(axis=(-3, -1), dtype=np.float64)
    return means


def load_prepared(archive: Archive) -> tuple[Arrays, dict[str, Any]]:
    """Read a set's prepared file from the data folders: its arrays, and the facts about them."""
    path = find(archive.file)
    if path is None:
        folders = " and ".join(map(str, data_folders()))
        where = f"The real {archive.title} is not on this machine (looked in {folders})."
        raise DatasetNotFoundError(f"{where}\n{archive.how}")
    arrays, sha256 = read_prepared(path, archive)
    return arrays, {"checksum": sha256, "checksum_of": f"the file {archive.file}"}


def read_prepared(path: Path, archive: Archive) -> tuple[Arrays, str]:
    """Read a prepared file and check its structure. Return its arrays and its checksum."""
    raw = path.read_bytes()
    try:
        with np.load(io.BytesIO(raw), allow_pickle=False) as file:
            arrays = {key: file[key] for key in archive.arrays}
    except Exception as error:  # numpy and zipfile raise many kinds on a damaged file
        raise ArchiveError(
            f"{path} is damaged ({error}); remove it and add the set again."
        ) from error
    check_arrays(arrays, archive, path)
    return arrays, hashlib.sha256(raw).hexdigest()


def check_arrays(arrays: Arrays, archive: Archive, path: Path) -> None:
    """Raise `ArchiveError` unless all images and all classes are there."""
    (n, height, width), (images, labels, *_) = archive.shape, arrays.values()
    complete = images.shape == archive.shape and all(len(array) == n for array in arrays.values())
    if not complete or images.dtype != np.uint8 or len(np.unique(labels)) != archive.n_classes:
        raise ArchiveError(
            f"{path} does not hold {archive.title}: expected {n:,} images of {height} x {width} in"
            f" {archive.n_classes} classes, found {len(images):,} in {len(np.unique(labels))}."
        )


def compare_with_reference(archive: Archive, path: Path) -> str:
    """Say in a few words how a prepared file compares with the reference file."""
    try:
        arrays, sha256 = read_prepared(path, archive)
    except ArchiveError as error:
        return str(error)
    if sha256 == archive.sha256:
        return "matches the reference"
    if sha256_of(arrays["images"]) == archive.images_sha256:
        return "same images as the reference, in another file"
    return "differs from the reference" + archive.remark


def bunch(
    images: np.ndarray,
    labels: np.ndarray,
    name: str,
    source: str,
    descr: str,
    return_X_y: bool,
    **facts: Any,
) -> Any:
    """Put one set into scikit-learn's shape.

    ``images`` is (n, height, width), and ``name`` makes the name of a class from its label.
    """
    stored = {"checksum": sha256_of(images), "checksum_of": f"the images as {images.dtype}"}
    images = np.array(images, dtype=np.float64)
    data = images.reshape(len(images), -1)
    classes, target = np.unique(labels, return_inverse=True)
    if return_X_y:
        return data, target
    names = np.array([name.format(label) for label in classes])
    fixed = {"data": data, "target": target, "images": images, "image_shape": images.shape[1:]}
    return Bunch(**fixed, target_names=names, source=source, DESCR=descr, **(stored | facts))


def check(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Refuse an argument that isn't among those allowed."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {allowed}, got {value!r}.")


def sha256_of(array: np.ndarray) -> str:
    """Return the checksum of an array's values, row after row."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
