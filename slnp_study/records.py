"""What a run leaves behind, how it's read back, and how it's checked.

A record is one JSON file in ``slnp_study/results``, compressed: ``xz -dc FILE`` shows it, a unit a
line. The record of the paper's tables and figures has the name of its data set, such as
``mnist``, and a further study adds its own, ``mnist-tuned``. `slnp_study.studies` says what each
study runs. `reproduce` puts each finished unit aside at once, so a run that was stopped goes on
where it was. `check` looks at a record alone, `verify` runs units again and compares every number.
"""

import contextlib
import json
import lzma
import math
import os
import random
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config
from jsonschema import Draft202012Validator
from numpy.typing import NDArray
from tqdm import tqdm

from slnp_study.data import SETS
from slnp_study.packing import flips
from slnp_study.studies import STUDIES
from slnp_study.study import TEXT, Recorded, RecordError, Study, Tolerance, Unit, whole

RESULTS = Path(__file__).parent / "results"
LIBRARIES = ("numpy", "scipy", "scikit-learn")
#: What every record must hold, whatever the study.
HEAD: dict[str, dict[str, Any]] = {
    "dataset": TEXT,
    "source": TEXT,
    "checksum": TEXT,
    "class_sizes": {"type": "array", "items": whole()},
    "splits": whole(),
    "seeds": {"type": "array", "items": whole()},
    "settings": {"type": "object"},
    "versions": {"type": "object"},
    "units": {"type": "object"},
}


def names() -> list[str]:
    """Return the names of all records there can be."""
    return [
        "-".join(filter(None, (dataset, of)))
        for of, study in STUDIES.items()
        for dataset in study.datasets
    ]


def parts(name: str) -> tuple[str, Study]:
    """Return the data set and the study of a record.

    Examples
    --------
    >>> dataset, study = parts("mnist")
    >>> dataset, study.splits
    ('mnist', 20)
    """
    if name not in names():
        raise RecordError(f"There is no record called {name}; choose from {', '.join(names())}.")
    dataset, _, of = name.partition("-")
    return dataset, STUDIES[of]


def path_of(name: str, folder: Path = RESULTS) -> Path:
    """Return the file of a record."""
    return folder / f"{name}.json.xz"


def load(name: str, folder: Path = RESULTS) -> dict[str, Any]:
    """Read a record: ``dataset``, ``settings``, ``units``, ..."""
    path = path_of(name, folder)
    try:
        text = lzma.decompress(path.read_bytes())
        record: dict[str, Any] = json.loads(text, parse_constant=_refuse)
    except (lzma.LZMAError, json.JSONDecodeError) as error:
        raise RecordError(f"{path} is not a record: {error}.") from None
    for fault in _faults(record, {"type": "object", "properties": HEAD, "required": list(HEAD)}):
        raise RecordError(f"{path} is not a record of this edition: {fault}.")
    return record


def read(name: str, folder: Path = RESULTS) -> Any:
    """Load a record and let its study read it, as the chapters do.

    Examples
    --------
    >>> tables = read("mnist")
    >>> tables.columns[10]["SLNP"]["orthonormal"].shape
    (20,)
    """
    return parts(name)[1].read(load(name, folder))


def _faults(value: Any, schema: dict[str, Any]) -> list[str]:
    """Say where a value isn't as its schema asks, each in a few words."""
    found = Draft202012Validator(schema).iter_errors(value)
    return [f"{'/'.join(map(str, e.path))} {_short(e.message)}".strip() for e in found]


def _refuse(constant: str) -> None:
    raise RecordError(f"A record holds {constant}, which is no result.")


def reproduce(
    name: str,
    *,
    splits: int | None = None,
    n_jobs: int,
    scheduler: str | None = None,
    folder: Path = RESULTS,
) -> Path:
    """Run every unit that isn't done yet, then write the record.

    Shows a progress bar and an estimate of what is left.

    Parameters
    ----------
    name : str
        Of the record.
    splits : int, optional
        As many as the study has, if not given.
    n_jobs : int
        Processes on this machine. The record doesn't depend on it.
    scheduler : str, optional
        Address of a Dask scheduler, such as ``tcp://10.0.0.5:8786``: the units run on its workers
        instead. What is finished is put aside here all the same.
    folder : Path
    """
    dataset, study = parts(name)
    splits = study.splits if splits is None else splits
    data = SETS[dataset].load()
    head = _head(dataset, study, data, splits)
    partial = folder / ".partial" / name
    _keep_only_matching(partial, head)
    units = study.units(dataset, splits)
    todo = [unit for unit in units if not _file(partial, unit).exists()]
    for unit, result in _run_all(todo, data, n_jobs, scheduler, name):
        _write(_file(partial, unit), result)
    done = {unit.key: json.loads(_file(partial, unit).read_text()) for unit in units}
    record = path_of(name, folder)
    _write(record, {**head, "units": done})
    shutil.rmtree(partial)
    with contextlib.suppress(OSError):
        partial.parent.rmdir()  # unless another record is still under way
    return record


def verify(
    name: str,
    *,
    sample: int | None,
    n_jobs: int,
    seed: int,
    scheduler: str | None = None,
    folder: Path = RESULTS,
) -> dict[str, Any]:
    """Check the record, run units again and compare them with it.

    Parameters
    ----------
    name : str
        Of the record.
    sample : int or None
        How many units, one of each kind at least, drawn at random. None for all.
    n_jobs : int
    seed : int
        Of the draw.
    scheduler : str, optional
        As in `reproduce`.
    folder : Path

    Returns
    -------
    report : dict
        ``units`` and ``numbers`` compared, how many were ``equal`` to the last digit, and the
        ``differences``, one sentence each: empty if the record holds.
    """
    dataset, study = parts(name)
    record = load(name, folder)
    data = SETS[dataset].load()
    report: dict[str, Any] = {"units": 0, "numbers": 0, "equal": 0}
    report["differences"] = check(name, record)
    if data.checksum != record["checksum"]:
        report["differences"].append(f"{name}: the data differ from the record")
    if _class_sizes(data.target) != record["class_sizes"]:
        report["differences"].append(f"{name}: the classes are not the ones on record")
    known = record["units"]  # those that `check` has found fault with are not run
    units = [u for u in study.units(dataset, record["splits"]) if u.key in known]
    units = [u for u in units if not _check_unit(study, u, known[u.key])]
    if sample is not None:
        units = draw(units, sample, seed)
    for unit, result in _run_all(units, data, n_jobs, scheduler, f"verify {name}"):
        report["units"] += 1
        recorded = unit.comparable(known[unit.key])
        numbers, equal, differences = compare(unit.comparable(result), recorded, unit.tolerance)
        report["numbers"] += numbers
        report["equal"] += equal
        report["differences"] += [f"{unit.key} {difference}" for difference in differences]
    report["differences"].sort()
    return report


def draw(units: Sequence[Unit], sample: int, seed: int) -> list[Unit]:
    """Draw one unit of each kind, then others until there are as many as asked for."""
    rng = random.Random(seed)
    shuffled = rng.sample(units, len(units))
    first = {unit.kind: unit for unit in reversed(shuffled)}
    others = [unit for unit in shuffled if unit not in first.values()]
    return [*first.values(), *others[: max(0, sample - len(first))]]


def check(name: str, record: dict[str, Any]) -> list[str]:
    """Say what is wrong with a record. Nothing is run and no data are needed.

    The settings must be the study's, every unit must be there and no other, and each
    must hold what the study's own check asks for.
    """
    dataset, study = parts(name)
    units = study.units(dataset, record["splits"])
    found = []
    if record["dataset"] != dataset:
        found.append(f"{name}: the record is of another data set")
    if record["settings"] != json.loads(json.dumps(study.settings(dataset))):
        found.append(f"{name}: the settings are not the ones of the paper and the experiments")
    if record["seeds"] != study.seeds(record["splits"]):
        found.append(f"{name}: the seeds are not the ones of the study")
    if any(record.get(name) != value for name, value in study.stamp().items()):
        found.append(f"{name}: the record was made under another plan")
    if [unit.key for unit in units] != list(record["units"]):
        found.append(f"{name}: the record lacks units, or has some too many")
    for unit in units:
        if unit.key in record["units"]:
            found += _check_unit(study, unit, record["units"][unit.key])
    return found


def _check_unit(study: Study, unit: Unit, recorded: Recorded) -> list[str]:
    """Hold a unit to its schema first. Only what has passed can be looked into."""
    if faults := _faults(recorded, unit.schema):
        return [f"{unit.key}: {fault}" for fault in faults]
    try:
        return list(study.check(unit, recorded))
    except ValueError as error:  # what was packed is damaged
        return [f"{unit.key}: {error}"]


def compare(
    ours: Any, recorded: Any, tolerance: Tolerance | Mapping[str, Tolerance]
) -> tuple[int, int, list[str]]:
    """Compare what was computed with what is recorded, entry by entry.

    A tolerance is for all entries, or there's one for each of the first level.

    Returns
    -------
    numbers, equal : int
        How many numbers (packed outcomes count as one) were compared, and how many were equal.
    differences : list of str
        One sentence for each that is too far off, and for each entry that one side lacks.
    """
    here, there = dict(_leaves(ours)), dict(_leaves(recorded))
    differences = [f"{name}: not in the record" for name in here.keys() - there.keys()]
    differences += [f"{name}: should not be in the record" for name in there.keys() - here.keys()]
    both = here.keys() & there.keys()
    for name in both:
        own = tolerance[name.split("/")[1]] if isinstance(tolerance, Mapping) else tolerance
        if not _close(here[name], there[name], ours, own):
            differences.append(f"{name}: {_short(here[name])} here, {_short(there[name])} there")
    return len(both), sum(here[name] == there[name] for name in both), sorted(differences)


def _close(here: Any, there: Any, unit: Any, tolerance: Tolerance) -> bool:
    if isinstance(here, str):  # a name, or packed outcomes
        try:
            return here == there or flips(here, there, unit["tested"]) <= tolerance.absolute
        except (ValueError, TypeError, KeyError):
            return False
    numbers = [x for x in (here, there) if isinstance(x, int | float) and not isinstance(x, bool)]
    if len(numbers) < 2:
        return False
    # An infinite number is close to itself, and NaN to none: neither is a result.
    return math.isfinite(here) and math.isclose(
        here, there, rel_tol=tolerance.relative, abs_tol=tolerance.absolute
    )


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every number or string with the way to it. An empty list or dict is an entry, too."""
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from _leaves(item, f"{name}/{key}")
    else:
        yield name, value


def _head(dataset: str, study: Study, data: Any, splits: int) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "source": data.source,
        "checksum": data.checksum,
        "class_sizes": _class_sizes(data.target),
        "splits": splits,
        "seeds": study.seeds(splits),
        **study.stamp(),
        "settings": study.settings(dataset),
        "versions": _versions(),
    }


def _versions() -> dict[str, str]:
    return {library: version(library) for library in LIBRARIES}


def _class_sizes(y: NDArray[Any]) -> list[int]:
    """How many images each class has. They come class by class, so this is y in brief."""
    labels, sizes = np.unique(y, return_counts=True)
    if not np.array_equal(y, np.repeat(labels, sizes)):
        raise RecordError("The images are not sorted by class.")
    return [int(size) for size in sizes]


def _file(partial: Path, unit: Unit) -> Path:
    return partial / f"{unit.key.replace('/', '-')}.json"


def _keep_only_matching(partial: Path, head: dict[str, Any]) -> None:
    """Throw away what an earlier run put aside if it was another run: other data, versions ..."""
    stamp = partial / "head.json"
    if stamp.exists() and json.loads(stamp.read_text()) == json.loads(json.dumps(head)):
        return
    shutil.rmtree(partial, ignore_errors=True)
    _write(stamp, head)


def _run_all(
    units: Sequence[Unit], data: Any, n_jobs: int, scheduler: str | None, title: str
) -> Iterator[tuple[Unit, dict[str, Any]]]:
    """Run units in several processes, here or on a cluster. Yield each as it's done."""
    arrays = {name: data[name] for unit in units for name in unit.arrays}
    with _cluster(scheduler, list(arrays.values())):
        jobs = (delayed(_run)(unit, *(arrays[name] for name in unit.arrays)) for unit in units)
        # One unit at a time, so that each is put aside as soon as it is done.
        parallel = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")
        yield from tqdm(parallel(jobs), total=len(units), desc=title, unit="unit")


def _run(unit: Unit, *arrays: Any) -> tuple[Unit, dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Learning has left")  # what comes of it is recorded
        return unit, _rounded(unit.function(*arrays))


@contextlib.contextmanager
def _cluster(scheduler: str | None, arrays: list[Any]) -> Iterator[None]:
    """Let joblib use the workers of a Dask scheduler, if one is named. Send the arrays once."""
    if scheduler is None:
        yield
        return
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise RecordError(
            'A scheduler needs Dask: pip install "slnp-edu[cluster]" brings it.'
        ) from None
    with Client(scheduler, set_as_default=False) as client:
        if any(found != _versions() for found in client.run(_versions).values()):
            raise RecordError("The workers have other versions of NumPy, SciPy or scikit-learn.")
        with parallel_config("dask", client=client, scatter=arrays):
            yield


def _rounded(value: Any) -> Any:
    """Plain numbers of 8 significant digits, so that records stay small and differ readably."""
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.8g}") if isinstance(value, float) else value


def _write(path: Path, value: Any) -> None:
    """Write JSON, one line per unit, and put it in place in one move. ``.xz`` is compressed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    working = path.with_suffix(f".{os.getpid()}.tmp")
    text = (_dumps(value) + "\n").encode()
    working.write_bytes(lzma.compress(text) if path.suffix == ".xz" else text)
    os.replace(working, path)


def _dumps(value: Any, indent: str = "") -> str:
    nested = isinstance(value, dict) and any(isinstance(item, dict) for item in value.values())
    if nested and len(indent) < 2:
        inner = indent + " "
        items = [f"{inner}{json.dumps(str(k))}: {_dumps(v, inner)}" for k, v in value.items()]
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    return json.dumps(value, allow_nan=False, separators=(",", ":"))
