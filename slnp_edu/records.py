"""What a run leaves behind, how it is read back, and how it is checked.

`reproduce` runs the units of `slnp_edu.experiments` and leaves one JSON file per data set in
``book/results``. Each finished unit is put aside at once, so a run that was stopped goes on where
it was. `verify` runs units again and compares every number with the record.
"""

import contextlib
import json
import os
import random
import shutil
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from tqdm import tqdm

from slnp_edu import experiments
from slnp_edu.plots import draw_real_figures

# In a clone the records lie with the book; an installed package carries a copy beside this file.
_PACKAGED = Path(__file__).parent / "results"
RESULTS = _PACKAGED if _PACKAGED.is_dir() else Path(__file__).parents[1] / "book" / "results"
LIBRARIES = ("numpy", "scipy", "scikit-learn")
RATE_TOLERANCE = 0.1  # per cent: the images that another BLAS may flip
OTHER_TOLERANCE = 1e-6  # relative, for J, similarities and gamma


class RecordError(ValueError):
    """A record does not hold; the message says so in one sentence."""


def load(dataset: str, folder: Path = RESULTS) -> dict[str, Any]:
    """Read the record of a data set: ``dataset``, ``checksum``, ``versions``, ``units``, ..."""
    return json.loads((folder / f"{dataset}.json").read_text())


def rates(record: dict[str, Any], N_i: int) -> dict[str, dict[str, np.ndarray]]:
    """Rates of one column of a table: method -> basis -> array of one rate per split."""
    found: dict[str, dict[str, list[float]]] = {}
    for key, unit in record["units"].items():
        if key.startswith(f"table/{N_i:02}/"):
            for method, by_basis in unit.items():
                for basis, rate in by_basis.items():
                    found.setdefault(method, {}).setdefault(basis, []).append(rate)
    return {
        method: {basis: np.array(values) for basis, values in by_basis.items()}
        for method, by_basis in found.items()
    }


def reproduce(dataset: str, *, splits: int, n_jobs: int, folder: Path = RESULTS) -> Path:
    """Run every unit that is not done yet, then write the record and the pictures of real images.

    Shows a progress bar and an estimate of what is left.
    """
    data = experiments.LOADERS[dataset]()
    head = _head(dataset, data, splits)
    partial = folder / ".partial" / dataset
    _keep_only_matching(partial, head)
    todo = {
        key: unit
        for key, unit in experiments.units(dataset, splits).items()
        if not _file(partial, key).exists()
    }
    jobs = (delayed(_run)(key, unit, data.data, data.target) for key, unit in todo.items())
    finished = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs)
    for key, result in tqdm(finished, total=len(todo), desc=dataset, unit="unit"):
        _write(_file(partial, key), result)
    done = {key: json.loads(_file(partial, key).read_text()) for key in _keys(dataset, splits)}
    record = folder / f"{dataset}.json"
    _write(record, {**head, "units": done})
    shutil.rmtree(partial)
    with contextlib.suppress(OSError):
        partial.parent.rmdir()  # unless another data set is still under way
    draw_real_figures(dataset, data, load(dataset, folder), folder.parent / "figures")
    return record


def verify(
    dataset: str, *, sample: int | None, n_jobs: int, seed: int = 0, folder: Path = RESULTS
) -> dict[str, Any]:
    """Recompute units and compare them with the record.

    Parameters
    ----------
    dataset : str
    sample : int or None
        How many units, drawn at random; None for all.
    n_jobs : int
    seed : int
        Of the draw.
    folder : Path

    Returns
    -------
    report : dict
        ``units`` and ``numbers`` compared, how many were ``equal`` to the last digit, and the
        ``differences``, one sentence each: empty if the record holds.
    """
    record = load(dataset, folder)
    data = experiments.LOADERS[dataset]()
    units = experiments.units(dataset, record["splits"])
    report: dict[str, Any] = {"units": 0, "numbers": 0, "equal": 0, "differences": []}
    if data.checksum != record["checksum"]:
        report["differences"].append(f"{dataset}: the data differ from those of the record")
    if list(units) != list(record["units"]):
        report["differences"].append(f"{dataset}: the record lacks units, or has some too many")
    keys = [key for key in units if key in record["units"]]
    if sample is not None:
        keys = sorted(random.Random(seed).sample(keys, min(sample, len(keys))))
    jobs = (delayed(_run)(key, units[key], data.data, data.target) for key in keys)
    finished = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs)
    for key, result in tqdm(finished, total=len(keys), desc=f"verify {dataset}", unit="unit"):
        _compare(key, result, record["units"][key], report)
    report["differences"].sort()
    return report


def _head(dataset: str, data: Any, splits: int) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "source": data.source,
        "checksum": data.checksum,
        "splits": splits,
        "seeds": list(range(splits)),
        "settings": {
            "dimensions": experiments.paper.DIMENSIONS[dataset],
            "K": experiments.paper.DATASETS[dataset]["K"],
        },
        "versions": {library: version(library) for library in LIBRARIES},
    }


def _keys(dataset: str, splits: int) -> list[str]:
    return list(experiments.units(dataset, splits))


def _file(partial: Path, key: str) -> Path:
    return partial / f"{key.replace('/', '-')}.json"


def _keep_only_matching(partial: Path, head: dict[str, Any]) -> None:
    """Throw away what an earlier run put aside if it was another run: other data, versions ..."""
    stamp = partial / "head.json"
    if stamp.exists() and json.loads(stamp.read_text()) == json.loads(json.dumps(head)):
        return
    shutil.rmtree(partial, ignore_errors=True)
    _write(stamp, head)


def _run(key: str, unit: experiments.Unit, X: Any, y: Any) -> tuple[str, Any]:
    return key, _rounded(unit(X, y))


def _rounded(value: Any) -> Any:
    """Plain numbers of 8 significant digits, so that records stay small and differ readably."""
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.8g}") if isinstance(value, float) else value


def _write(path: Path, value: Any) -> None:
    """Write JSON, one line per innermost list or dict, and put it in place in one move."""
    path.parent.mkdir(parents=True, exist_ok=True)
    working = path.with_suffix(f".{os.getpid()}.tmp")
    working.write_text(_dumps(value) + "\n")
    os.replace(working, path)


def _dumps(value: Any, indent: str = "") -> str:
    if isinstance(value, dict) and any(isinstance(item, dict | list) for item in value.values()):
        inner = indent + " "
        items = [f"{inner}{json.dumps(str(k))}: {_dumps(v, inner)}" for k, v in value.items()]
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    return json.dumps(value)


def _compare(key: str, ours: Any, recorded: Any, report: dict[str, Any]) -> None:
    report["units"] += 1
    is_rate = key.startswith(("table/", "fig8/", "fig9/", "fig12/", "tie/"))
    here, there = dict(_numbers(ours)), dict(_numbers(recorded))
    if here.keys() != there.keys():
        report["differences"].append(f"{key}: the record holds other entries")
    for name in sorted(here.keys() & there.keys()):
        report["numbers"] += 1
        report["equal"] += here[name] == there[name]
        gap = abs(here[name] - there[name])
        allowed = RATE_TOLERANCE if is_rate else OTHER_TOLERANCE * max(abs(there[name]), 1e-3)
        if not gap <= allowed:
            report["differences"].append(f"{key} {name}: {here[name]} here, {there[name]} there")


def _numbers(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from _numbers(item, f"{name}/{key}")
    else:
        yield name, value
