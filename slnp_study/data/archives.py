"""Read the official archives, which come from elsewhere and so are not trusted.

Nothing is ever unpacked to disk: members are read into memory, with limits.
"""

import io
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from slnp_study.data.files import ArchiveError

# Limits, several times what the official archives need (7,200 files, 125 MB, 310 kB a file).
MAX_ENTRIES = 20_000
MAX_MEMBER = 2**20  # bytes of one image file
MAX_TOTAL = 2**29  # bytes of an archive, packed or unpacked


def members(path: Path, pattern: re.Pattern[str]) -> Iterator[tuple[str, bytes]]:
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


def decode(name: str, raw: bytes, kind: str, mode: str, size: tuple[int, int]) -> np.ndarray:
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
