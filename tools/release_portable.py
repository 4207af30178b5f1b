"""Run the notebooks and a sample of the records as other processors would; print a table.

Usage: python tools/release_portable.py [--few]

OpenBLAS picks a kernel for the processor it finds, and kernels differ in rounding and in the signs
of eigenvectors. OPENBLAS_CORETYPE asks for another kernel, NPY_DISABLE_CPU_FEATURES cuts NumPy down
to the instructions it was built for. Every row of the table is a run of all cells under nbval, and
of ``python -m slnp_study verify``. The exit code is 1 if a cell or a number differs in any row.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np

from slnp_study.data import SETS, DatasetNotFoundError

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ("Nehalem", "Haswell", "Sandybridge", "Prescott", "Zen", "SkylakeX")
TABLES = ("yale_b", "coil100", "mnist")  # the records of the paper's own tables and figures
ROW = "{:12} {:8} {:>7} {:>7} {:>6} {:>6} {:>8} {:>8}"

# Use both libraries' kernels, then say which were loaded. In a 64-bit OpenBLAS the kernel
# Prescott answers to the name of its 32-bit forerunner, Katmai.
PROBE = """
import numpy, scipy.linalg, threadpoolctl
A = numpy.random.default_rng(0).normal(size=(200, 200))
numpy.linalg.eigh(A @ A.T), scipy.linalg.eigh(A @ A.T)
loaded = {library.get("architecture", library["internal_api"])
          for library in threadpoolctl.threadpool_info() if library["user_api"] == "blas"}
print(*sorted("Prescott" if name == "Katmai" else name for name in loaded))
"""


def environment(kernel=None, threads=1, simd=True):
    """The environment in which Python computes like another machine."""
    env = os.environ | {
        name: str(threads)
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    }
    if kernel:
        env["OPENBLAS_CORETYPE"] = kernel
    if not simd:
        found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
        env["NPY_DISABLE_CPU_FEATURES"] = " ".join(found)
    return env


def loaded(kernel=None):
    """The kernel that OpenBLAS really loads when asked for this one; None if it cannot run here."""
    probe = subprocess.run(
        [sys.executable, "-c", PROBE], env=environment(kernel), capture_output=True, text=True
    )
    return probe.stdout.strip() if probe.returncode == 0 else None


def kernels():
    """This machine's own kernel, then every other that runs here; say why the rest does not."""
    found = [loaded()]
    for kernel in KERNELS:
        got = loaded(kernel)
        if got == kernel and kernel not in found:
            found.append(kernel)
        elif got is None:
            print(f"left out: {kernel}, which this processor cannot run")
        elif got != kernel:
            print(f"left out: {kernel}, for which this library loads {got}")
    return found


def run(*command, env):
    """Run ``python -m command``; show the end of what it says if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, env=env, capture_output=True, text=True
    )
    if done.returncode:
        print(done.stdout[-10_000:], done.stderr[-2_000:])
    return done


def compare_cells(env):
    """Run every cell of the book: how many were compared, how many equal, and did all go well."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "cells.xml"
        options = ["-q", "-n", "2", "--dist", "loadscope", "-p", "no:cacheprovider"]
        done = run("pytest", *options, f"--junitxml={report}", "book", env=env)
        cells = ET.parse(report).getroot().iter("testcase") if report.exists() else []
        equal = [len(cell) == 0 for cell in cells]  # a child says failure, error or skipped
    return len(equal), sum(equal), done.returncode == 0 and len(equal) > 0


def compare_records(env, names=()):
    """Run a sample of the experiments again: numbers compared, numbers that held, and all well?

    Without names, of every record; a column of the ablation takes minutes.
    """
    done = run("slnp_study", "verify", *names, env=env)
    for line in re.findall(".*skipped.*", done.stdout):  # a data set that is not on this machine
        print(line)
    numbers = re.findall(r"(\d+) numbers compared.* (\d+) too far off", done.stdout)
    compared, off = (sum(int(pair[i]) for pair in numbers) for i in (0, 1))
    return compared, compared - off, done.returncode == 0 and compared > 0


def is_here(name):
    """Whether the data of a record are on this machine; say so if not."""
    try:
        SETS[name].load()
    except DatasetNotFoundError:
        print(f"left out: the record {name}, whose data are not on this machine")
        return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--few",
        action="store_true",
        help="two kernels besides this machine's own, one thread, the records of the tables",
    )
    few = parser.parse_args().few
    own, *others = kernels()
    threads = (1,) if few else (1, 2)
    names = [name for name in TABLES if is_here(name)] if few else []
    settings = [(kernel, n, True) for kernel in others[: 2 if few else None] for n in threads]
    settings += [(own, n, False) for n in threads]
    if not few:  # make test has run the notebooks with one thread and the machine's own kernel
        settings += [(own, n, True) for n in threads]

    head = ("kernel", "SIMD", "threads", "Python", "cells", "equal", "records", "equal")
    table = [ROW.format(*head)]
    all_well = True
    for kernel, n, simd in settings:
        env = environment(None if kernel == own else kernel, n, simd)
        *cells, cells_well = compare_cells(env)
        *records, records_well = compare_records(env, names)
        all_well = all_well and cells_well and records_well
        table.append(
            ROW.format(
                kernel + (" (own)" if kernel == own else ""),
                "all" if simd else "baseline",
                n,
                platform.python_version(),
                *cells,
                *records,
            )
        )
        print(table[-1], flush=True)
    print("", *table, sep="\n")
    print("records: the numbers in a sample of them, equal within the tolerance of make verify")
    return 0 if all_well else 1


if __name__ == "__main__":
    sys.exit(main())
