"""Bring the real sets onto this machine: download, prepare, keep.

Only finished arrays are written, into a work folder beside their place first and then moved there
in one step. Whatever stops the work, the data folder holds either the finished file or what it
held before.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pooch
from tqdm import tqdm

from slnp_study.data import archives, files
from slnp_study.data.files import Arrays, RealSet, check_prepared

STALE = 3600  # seconds without a change after which a work folder is a killed run's


class DownloadError(OSError):
    """A download did not succeed; the message says why in one sentence."""


def add(spec: RealSet, path: str | Path, folder: str | Path | None = None) -> Path:
    """Prepare a real set from its official archive, or from the folder it was unpacked to.

    Parameters
    ----------
    spec : RealSet
        Out of `slnp_study.data.SETS`.
    path : path
        ``CroppedYale.zip`` or ``coil-100.zip``, or a folder.
    folder : path, optional
        Where the prepared file goes; the user's cache folder if not given.

    Returns
    -------
    Path
        The prepared file.
    """
    arrays = spec.prepare(Path(path))
    check_prepared(arrays, spec, str(path))
    return install(spec.file, arrays, folder)


def fetch(
    spec: RealSet, folder: str | Path | None = None, *, url: str | None = None, timeout: float = 30
) -> Path:
    """Download a set and prepare it. Stopped at any moment, it can simply be run again.

    No checksum of the official file is known to us, so what arrives is checked as an archive is:
    all classes, all images, each of the right size.

    Parameters
    ----------
    spec : RealSet
        Out of `slnp_study.data.SETS`; of the two only COIL-100 may be downloaded by program.
    folder : path, optional
        Where the prepared file goes; the user's cache folder if not given.
    url : str, optional
        A mirror of the official archive.
    timeout : float
        Seconds to wait for the server's next bytes.

    Returns
    -------
    Path
        The prepared file.
    """
    if spec.url is None:
        raise DownloadError(f"{spec.title} has no address to download it from by program.")
    url = url or spec.url
    with work_folder(folder) as work:
        archive = work / spec.url.rpartition("/")[2]
        try:
            _download(url, archive, timeout)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise DownloadError(
                f"The download from {url} failed ({reason}); nothing was changed, try again."
            ) from error
        return add(spec, archive, folder)


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
    home = Path(folder or files.cache_folder())
    home.mkdir(parents=True, exist_ok=True)
    for other in home.glob(".partial-*"):
        with suppress(OSError):  # its owner may be removing it right now
            changed = max(path.stat().st_mtime for path in (other, *other.iterdir()))
            if changed < time.time() - STALE:
                shutil.rmtree(other)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=home) as work:
        yield Path(work)


class _Limited:
    """A file to write to that refuses to grow past `archives.MAX_TOTAL` bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.left = file, archives.MAX_TOTAL

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
