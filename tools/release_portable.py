"""Run the notebooks and a sample of the records as other processors would.

Usage: python tools/release_portable.py [--few]

OpenBLAS picks a kernel for the processor it finds, and kernels differ in rounding and in the signs
of eigenvectors. OPENBLAS_CORETYPE asks for another kernel, NPY_DISABLE_CPU_FEATURES cuts NumPy down
to the instructions it was built for. The exit code is 1 if a cell or a number differs anywhere.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ("Nehalem", "Haswell", "Sandybridge", "Prescott", "Zen", "SkylakeX")
CELLS = ("pytest", "-q", "-n", "2", "--dist", "loadscope", "-p", "no:cacheprovider", "book")
RECORDS = ("slnp_study", "verify")

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


def python(*arguments, env):
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=os.environ | env, capture_output=True, text=True)


def machines():
    """Yield the name of each machine that this one can compute like, and how to ask for it."""
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    yield "no SIMD", {"NPY_DISABLE_CPU_FEATURES": " ".join(found)}
    yield "two threads", {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    for kernel in KERNELS:
        env = {"OPENBLAS_CORETYPE": kernel}
        if python("-c", PROBE, env=env).stdout.strip() == kernel:
            yield kernel, env
        else:
            print(f"{kernel}: left out, this processor or this OpenBLAS doesn't have it")


def agrees(name, command, env):
    """Run ``python -m command`` like that machine and say how it went."""
    done = python("-m", *command, env=env)
    lines = done.stdout.strip().splitlines() or [done.stderr[-2000:]]
    print(f"{name}:", *(lines if done.returncode else lines[-1:]), sep="\n  ", flush=True)
    return done.returncode == 0


def main(few):
    settings = dict(machines())
    if few:  # one machine, and the one record whose data are always there
        settings = {"an old laptop": settings["no SIMD"] | settings.get("Nehalem", {})}
    records = (*RECORDS, "mnist") if few else RECORDS
    runs = [(name, command, env) for name, env in settings.items() for command in (CELLS, records)]
    return all([agrees(*run) for run in runs])


if __name__ == "__main__":
    sys.exit(0 if main("--few" in sys.argv) else 1)
