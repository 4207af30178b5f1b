"""Time SLNP beside scikit-learn's LDA and NCA; print ratios and peak memory.

Each fit runs in a process of its own, so that peak memory is its own. Timings are ratios within
one run: the best of several repeats, on one thread.
"""

import json
import resource
import subprocess
import sys
import time

import numpy as np
from sklearn.datasets import load_digits, make_blobs
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from slnp_edu import SLNP

METHODS = {
    "SLNP": (lambda: SLNP(9, 6, max_iter=10, tol=0), 5),
    "LDA": (lambda: LinearDiscriminantAnalysis(n_components=9), 5),
    "NCA": (lambda: NeighborhoodComponentsAnalysis(9, max_iter=50, random_state=0), 1),
}


def digits():
    X, y = load_digits(return_X_y=True)
    return PCA(32, svd_solver="full").fit_transform(X), y


def blobs():
    return make_blobs(20_000, 32, centers=10, cluster_std=8.0, random_state=0)


DATA = {"digits": digits, "blobs": blobs}
RUNS = {"digits": ["SLNP", "LDA", "NCA"], "blobs": ["SLNP", "LDA"]}


def peak_mb():
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def measure(data, method):
    """Fit once to warm up and note memory, then take the best of the repeats."""
    X, y = DATA[data]()
    make, repeats = METHODS[method]
    small = np.random.default_rng(0).permutation(len(X))[:300]
    make().fit(X[small], y[small])  # loads libraries, so that they do not count as the fit's memory
    before = peak_mb()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        make().fit(X, y)
        times.append(time.perf_counter() - start)
    return {"seconds": min(times), "mb": peak_mb() - before, "shape": X.shape}


def main():
    results = {}
    for data, methods in RUNS.items():
        for method in methods:
            print(f"measuring {method} on {data} ...", file=sys.stderr, flush=True)
            command = [sys.executable, __file__, data, method]
            answer = subprocess.run(command, check=True, capture_output=True, text=True)
            results[data, method] = json.loads(answer.stdout)
    print(f"{'data':28}{'method':8}{'seconds':>9}{'time / SLNP':>13}{'peak memory above data':>25}")
    for (data, method), result in results.items():
        ratio = result["seconds"] / results[data, "SLNP"]["seconds"]
        label = f"{data} ({result['shape'][0]} x {result['shape'][1]})"
        memory = f"{result['mb']:.0f} MB"
        print(f"{label:28}{method:8}{result['seconds']:9.3f}{ratio:13.2f}{memory:>25}")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(measure(*sys.argv[1:])))
    else:
        main()
