"""Bring the real sets onto this machine: download, read the official archive, keep the images.

An archive comes from elsewhere and isn't trusted: nothing is unpacked to disk, and only image
files of the expected names, format and size are read. The finished arrays are moved to their place
in one step, so that the data folder holds all of a set or what it held before.
"""

import io
import re
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image
from tqdm import tqdm

from slnp_study.data.files import Archive, ArchiveError, block_means, check_arrays, data_folders

MAX_BYTES = 2**20  # of one image file; the largest official one has 310 kB


def add(archive: Archive, path: Path) -> Path:
    """Prepare a set from its official archive, and keep it in the first data folder."""
    arrays = archive.prepare(path)
    check_arrays(arrays, archive, path)
    home = data_folders()[0]
    home.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".partial-", dir=home) as work:
        prepared = Path(work, archive.file)
        np.savez_compressed(prepared, **arrays)  # type: ignore[arg-type]
        return prepared.replace(home / archive.file)


def fetch(archive: Archive, url: str) -> Path:
    """Download the official archive and `add` it. Stopped at any moment, it can be run again.

    No checksum of the official file is known to us, so what arrives is checked as an archive is.
    """
    import pooch  # here, for in a notebook without ipywidgets it prints a warning when it's loaded

    with TemporaryDirectory() as work:
        path = Path(work, archive.url.rpartition("/")[2])
        try:
            # a bar with a total of 0 would count as none; pooch puts the true one in its place
            with tqdm(total=1, unit="B", unit_scale=True, ncols=79) as bar:
                get = pooch.HTTPDownloader(progressbar=bar, chunk_size=2**16, timeout=30)
                get(url, path, None)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise OSError(f"The download from {url} failed ({reason}); try again.") from error
        return add(archive, path)


def read_images(
    path: Path, pattern: re.Pattern[str], kind: str, mode: str, size: tuple[int, int]
) -> dict[str, np.ndarray]:
    """Read the images of an official archive whose file names match.

    Parameters
    ----------
    path : Path
    pattern : compiled regular expression
    kind, mode : str
        Pillow's names of the format and the colours that each image must have.
    size : (width, height)

    Returns
    -------
    dict : file name -> grey values, means over 4 x 4 blocks, rounded (uint8)
    """
    if not path.is_file():
        raise ArchiveError(f"There is no file {path}.")
    images = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                name = entry.filename.rpartition("/")[2]
                if pattern.fullmatch(name):
                    with archive.open(entry) as file:
                        grey = _grey(name, file.read(MAX_BYTES), kind, mode, size)
                    images[name] = np.rint(block_means(grey, 4)).astype(np.uint8)
    except ArchiveError:
        raise
    except Exception as error:  # zipfile and zlib raise many kinds on a damaged archive
        raise ArchiveError(f"{path} is damaged or not a zip archive ({error}).") from error
    return images


def _grey(name: str, raw: bytes, kind: str, mode: str, size: tuple[int, int]) -> np.ndarray:
    """Decode one image file to grey values.

    Pillow's mode "F" holds grey values that aren't rounded. It makes them from colours by
    ITU-R 601: 0.299 red + 0.587 green + 0.114 blue.
    """
    try:
        with Image.open(io.BytesIO(raw), formats=[kind]) as image:
            if (image.mode, image.size) != (mode, size):
                raise ValueError(f"{image.mode} {image.size}")
            return np.asarray(image.convert("F"))
    except Exception as error:  # Pillow raises many kinds on a broken file
        wide, high = size
        raise ArchiveError(f"{name} is not a {kind} image of {wide} x {high} ({mode}).") from error
