"""Bring the real sets onto this machine: read the official archives, download, keep.

Archives come from elsewhere, so they are not trusted. Nothing is ever unpacked to disk: members are
read into memory, with limits, and only finished arrays are written, into a work folder beside
their place first and then moved there in one step. Whatever stops the work, the data folder holds
either the finished file or what it held before.
"""

import io
import os
import re
import shutil
import stat
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pooch
from PIL import Image
from tqdm import tqdm

from slnp_edu import datasets
from slnp_edu.datasets import SETS, YALE_NAME, ArchiveError, Arrays, block_means, check_prepared

COIL_URL = "http://www.cs.columbia.edu/CAVE/databases/SLAM_coil-20_coil-100/coil-100/coil-100.zip"
COIL_NAME = re.compile(r"obj(?P<object>\d+)__(?P<angle>\d+)\.png")
YALE_SUBJECTS = tuple(i for i in range(1, 40) if i != 14)  # the set has no person 14

# Limits, several times what the official archives need (7,200 files, 125 MB, 310 kB a file).
MAX_ENTRIES = 20_000
MAX_MEMBER = 2**20  # bytes of one image file
MAX_TOTAL = 2**29  # bytes of an archive, packed or unpacked
STALE = 3600  # seconds without a change after which a work folder is a killed run's


class DownloadError(OSError):
    """A download did not succeed; the message says why in one sentence."""


def add(name: str, path: str | Path, folder: str | Path | None = None) -> Path:
    """Prepare a real set from its official archive, or from the folder it was unpacked to.

    Parameters
    ----------
    name : {"yale_b", "coil100"}
    path : path
        ``CroppedYale.zip`` or ``coil-100.zip``, or a folder.
    folder : path, optional
        Where the prepared file goes; the user's cache folder if not given.

    Returns
    -------
    Path
        The prepared file.
    """
    arrays = (prepare_yale_b if name == "yale_b" else prepare_coil100)(Path(path))
    check_prepared(arrays, SETS[name], str(path))
    return install(SETS[name].file, arrays, folder)


def fetch(
    name: str, folder: str | Path | None = None, *, url: str = COIL_URL, timeout: float = 30
) -> Path:
    """Download COIL-100 and prepare it. Stopped at any moment, it can simply be run again.

    No checksum of the official file is known to us, so what arrives is checked as an archive is:
    all objects, all angles, images of the right size.

    Parameters
    ----------
    name : {"coil100"}
    folder : path, optional
        Where the prepared file goes; the user's cache folder if not given.
    url : str
        The official address, or a mirror of the same archive.
    timeout : float
        Seconds to wait for the server's next bytes.

    Returns
    -------
    Path
        The prepared file.
    """
    if name != "coil100":
        raise DownloadError(f"{SETS[name].title} has no address to download it from by program.")
    with work_folder(folder) as work:
        archive = work / "coil-100.zip"
        try:
            _download(url, archive, timeout)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise DownloadError(
                f"The download from {url} failed ({reason}); nothing was changed, try again."
            ) from error
        return add(name, archive, folder)


def install(file: str, arrays: Arrays, folder: str | Path | None = None) -> Path:
    """Write the arrays to ``folder / file`` in one step: all of it, or nothing."""
    with work_folder(folder) as work:
        with open(work / file, "wb") as output:
            np.savez_compressed(output, **arrays)  # type: ignore[arg-type]
            output.flush()
            os.fsync(output.fileno())
        return (work / file).replace(work.parent / file)


@contextmanager
def work_folder(folder: str | Path | None = None) -> Iterator[Path]:
    """Give a private folder inside ``folder`` and remove it at the end, with what is in it.

    A killed process cannot remove its own, so those that nobody has written to for an hour are
    removed first. A running download is safe: it writes at least once in every timeout.
    """
    home = Path(folder or datasets.cache_folder())
    home.mkdir(parents=True, exist_ok=True)
    for other in home.glob(".partial-*"):
        with suppress(OSError):  # its owner may be removing it right now
            changed = max(path.stat().st_mtime for path in (other, *other.iterdir()))
            if changed < time.time() - STALE:
                shutil.rmtree(other)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=home) as work:
        yield Path(work)


def prepare_yale_b(
    path: Path, subjects: Iterable[int] = YALE_SUBJECTS, n_images: int = 2414
) -> Arrays:
    """Read the cropped Extended Yale B into the arrays of the prepared file.

    Parameters
    ----------
    path : Path
        ``CroppedYale.zip`` or a folder. Files with other names (``_Ambient.pgm``, ``.pgm.bad``)
        are not used.
    subjects : iterable of int
        The people that have to be there.
    n_images : int
        The number of images that have to be there.

    Returns
    -------
    dict
        ``images`` (n, 48, 42) uint8, ``subject`` (n,) int16, ``filename`` (n,), sorted by name.
    """
    faces = {}
    for name, raw in _members(path, YALE_NAME):
        faces[name] = block_means(_decode(name, raw, "PPM", "L", (168, 192)), 4)
    names = sorted(faces)
    subject = np.array([int(name[5:7]) for name in names], dtype=np.int16)
    if missing := sorted(set(subjects) - set(subject.tolist())):
        raise ArchiveError(f"{path.name} has no images of subjects {str(missing)[1:-1]}.")
    if extra := sorted(set(subject.tolist()) - set(subjects)):
        raise ArchiveError(f"{path.name} has subjects that are not in the set: {str(extra)[1:-1]}.")
    if len(names) != n_images:
        raise ArchiveError(f"{path.name} has {len(names):,} images, the set has {n_images:,}.")
    images = np.rint([faces[name] for name in names]).astype(np.uint8)
    return {"images": images, "subject": subject, "filename": np.array(names, dtype="<U40")}


def prepare_coil100(path: Path, objects: Iterable[int] = range(1, 101)) -> Arrays:
    """Read COIL-100 into the arrays of the prepared file.

    Parameters
    ----------
    path : Path
        ``coil-100.zip`` or a folder with files such as ``obj1__0.png``.
    objects : iterable of int
        The objects that have to be there, each at 72 angles.

    Returns
    -------
    dict
        ``images`` (n, 32, 32) uint8, ``object`` and ``angle`` (n,) int16, in that order.
    """
    views = {}
    for name, raw in _members(path, COIL_NAME):
        views[name] = block_means(_decode(name, raw, "PNG", "RGB", (128, 128)), 4)
    pairs = [(number, angle) for number in sorted(objects) for angle in range(0, 360, 5)]
    names = [f"obj{number}__{angle}.png" for number, angle in pairs]
    if missing := [name for name in names if name not in views]:
        raise ArchiveError(
            f"{path.name} lacks {len(missing):,} of {len(names):,} images, such as {missing[0]}."
        )
    if len(views) != len(names):
        raise ArchiveError(f"{path.name} has {len(views):,} images, the set has {len(names):,}.")
    images = np.rint([views[name] for name in names]).astype(np.uint8)
    number, angle = np.array(pairs, dtype=np.int16).T
    return {"images": images, "object": number, "angle": angle}


def _members(path: Path, pattern: re.Pattern[str]) -> Iterator[tuple[str, bytes]]:
    """Yield (file name, bytes) of the image files of an archive or a folder."""
    if not path.exists():
        raise ArchiveError(f"There is no file or folder {path}.")
    seen = set()
    for name, raw in (_folder_files if path.is_dir() else _zip_files)(path, pattern):
        if name in seen:
            raise ArchiveError(f"{path.name} has two files named {name}.")
        seen.add(name)
        if len(raw) > MAX_MEMBER:
            raise ArchiveError(f"{name} in {path.name} is far too large for an image of this set.")
        yield name, raw


def _folder_files(folder: Path, pattern: re.Pattern[str]) -> Iterator[tuple[str, bytes]]:
    for root, _, files in os.walk(folder):
        for name in filter(pattern.fullmatch, files):
            path = Path(root, name)
            if not stat.S_ISREG(path.lstat().st_mode):
                raise ArchiveError(f"{name} in {folder.name} is a link or a device, not a file.")
            with open(path, "rb") as file:
                yield name, file.read(MAX_MEMBER + 1)


def _zip_files(path: Path, pattern: re.Pattern[str]) -> Iterator[tuple[str, bytes]]:
    if path.stat().st_size > MAX_TOTAL:
        raise ArchiveError(f"{path.name} is far too large for the official archive.")
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            _check_entries(path.name, entries)
            for entry in entries:
                name = entry.filename.rpartition("/")[2]
                if pattern.fullmatch(name):
                    with archive.open(entry) as file:
                        yield name, file.read(MAX_MEMBER + 1)
    except ArchiveError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise ArchiveError(f"{path.name} is damaged or not a zip archive ({error}).") from error


def _check_entries(archive: str, entries: list[zipfile.ZipInfo]) -> None:
    """Refuse an archive that no honest packer would have made."""
    if len(entries) > MAX_ENTRIES or sum(entry.file_size for entry in entries) > MAX_TOTAL:
        raise ArchiveError(f"{archive} would unpack to far more than the official archive.")
    for entry in entries:
        name, fault = entry.filename.replace("\\", "/"), None
        if name.startswith("/") or re.match("[A-Za-z]:", name):
            fault = "an absolute path"
        elif ".." in name.split("/"):
            fault = "a path that leads out of its folder"
        elif stat.S_ISLNK(entry.external_attr >> 16):
            fault = "a symbolic link"
        elif entry.flag_bits & 1:
            fault = "an encrypted file"
        elif entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            fault = "an unusual compression"  # and one that cannot be read in bounded memory
        if fault:
            raise ArchiveError(f"{archive} is refused: it has {fault} ({name[:60]!r}).")


def _decode(name: str, raw: bytes, kind: str, mode: str, size: tuple[int, int]) -> np.ndarray:
    """Decode one image file of the given Pillow format, mode and (width, height) to grey values.

    Pillow's mode "F" holds grey values that are not rounded; it makes them from colours by
    ITU-R 601: 0.299 red + 0.587 green + 0.114 blue.
    """
    try:
        with Image.open(io.BytesIO(raw), formats=[kind]) as image:
            found = image.mode, image.size
            pixels = np.asarray(image.convert("F")) if found == (mode, size) else None
    except Exception as error:  # Pillow raises many kinds on a broken file
        raise ArchiveError(f"{name} is not a readable {kind} image.") from error
    if pixels is None:
        wide, high = found[1]
        raise ArchiveError(
            f"{name} is {wide} x {high} ({found[0]}) where {size[0]} x {size[1]} ({mode}) belongs."
        )
    return pixels


class _Limited:
    """A file to write to that refuses to grow past `MAX_TOTAL` bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.left = file, MAX_TOTAL

    def write(self, data: bytes) -> None:
        self.left -= len(data)
        if self.left < 0:
            raise OSError(0, "the file is far larger than the official archive")
        self.file.write(data)

    def flush(self) -> None:
        self.file.flush()


def _download(url: str, path: Path, timeout: float) -> None:
    # pooch replaces the total of 1, without which the bar would count as false
    with open(path, "wb") as file, tqdm(total=1, unit="B", unit_scale=True, ncols=79) as bar:
        get: Any = pooch.HTTPDownloader(progressbar=bar, chunk_size=2**16, timeout=timeout)
        get(url, _Limited(file), None)
