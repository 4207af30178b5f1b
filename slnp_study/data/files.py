"""What the loaders share: where files lie, how a prepared file is checked, the shape of a set.

Every loader returns a scikit-learn ``Bunch`` or, with ``return_X_y=True``, ``(data, target)``.
Real sets are looked for in ``$SLNP_EDU_DATA``, then in the user's cache folder; the module
`slnp_study.data.install` puts them there.
"""

import hashlib
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_cache_path
from sklearn.utils import Bunch

Arrays = dict[str, np.ndarray]
STANDIN_TERMS = "made by this module, free to use like the rest of it (MIT)."


class DatasetNotFoundError(FileNotFoundError):
    """The real data asked for is not on this machine; the message says how to get it."""


class ArchiveError(ValueError):
    """An archive or a data file is not what it should be; the message says why in one sentence."""


@dataclass(frozen=True)
class RealSet:
    """What is known of a real set that has to be brought here, and how it is made and loaded."""

    title: str
    file: str  # the prepared file
    sha256: str  # of the prepared file
    images_sha256: str  # of the bytes of its array `images`
    shape: tuple[int, int, int]
    label: str  # the array that holds the classes
    others: tuple[str, ...]
    n_classes: int
    how: str  # two lines: where it comes from, what to run
    prepare: Callable[[Path], Arrays]  # from the official archive, or the folder it unpacks to
    load: Callable[[], Any]
    url: str | None = None  # if a program may download it
    remark: str = ""  # why a file made from the official archive may differ from the reference


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
    means: np.ndarray = blocks.mean(axis=(-3, -1), dtype=np.float64)
    return means


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


def compare_with_reference(spec: RealSet, path: Path) -> str:
    """Say in a few words how a prepared file compares with the reference file."""
    try:
        arrays, sha256 = read_prepared(path, spec)
    except ArchiveError as error:
        return str(error)
    if sha256 == spec.sha256:
        return "matches the reference"
    if sha256_of(arrays["images"]) == spec.images_sha256:
        return "same images as the reference, in another file"
    return "differs from the reference" + spec.remark


def load_prepared(spec: RealSet) -> tuple[Arrays, dict[str, Any]]:
    """Read a set's prepared file from the data folders: its arrays, and the facts about them."""
    path = find(spec.file)
    if path is None:
        raise not_found(f"The real {spec.title}", spec.how)
    arrays, sha256 = read_prepared(path, spec)
    return arrays, {"checksum": sha256, "checksum_of": f"the file {spec.file}"}


def not_found(title: str, how: str) -> DatasetNotFoundError:
    """Return the error that says where a set was looked for and how to get it."""
    folders = " and ".join(str(folder) for folder in data_folders())
    return DatasetNotFoundError(f"{title} is not on this machine (looked in {folders}).\n{how}")


def bunch(
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


def check(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Refuse an argument that is not among those allowed."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {allowed}, got {value!r}.")


def sha256_of(array: np.ndarray) -> str:
    """Return the checksum of an array's values, row after row."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
