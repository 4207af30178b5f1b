"""How fast SLNP is, as ratios within one run, and how its cost grows.

Times are CPU time on one thread; what is compared takes turns, and the median of its turns counts.
Memory is the peak of NumPy's allocations during a fit, so the data are not in it. The table goes to
the screen, the numbers to slnp_study/results/speed.json, which the book's page on speed draws.
metric-learn, hnswlib and pynndescent are measured where they are installed and run.
Run it with `make bench`, which holds the libraries to one thread.
"""

import importlib
import json
import sys
import time
import tracemalloc
from importlib.metadata import version
from itertools import islice
from pathlib import Path

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, make_blobs
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from slnp_edu import SLNP
from slnp_edu.search import Search
from slnp_edu.slnp import rounds
from slnp_edu.steps import uniform_similarity, w_step, whitening

OUT = Path(__file__).parents[1] / "slnp_study" / "results" / "speed.json"
K, ROUNDS = 6, 10
BLOCK = 2**20  # pairs handled at once, as the search does
LEFT_OUT = {}


def digits():
    X, y = load_digits(return_X_y=True)
    return PCA(32, svd_solver="full").fit_transform(X), y


def blobs(N, centers=10):
    return make_blobs(N, 32, centers=centers, cluster_std=8.0, random_state=0)


def slnp(X, y, d=9):
    return SLNP(d, K, max_iter=ROUNDS, tol=0).fit(X, y)


def take_turns(jobs, turns):
    """Median CPU time of each job; a job runs untimed before each of its turns.

    So all are timed with warm caches and memory at hand. Otherwise a short fit after a long one
    also pays for what the long one gave back to the system.
    """
    times = {name: [] for name in jobs}
    for _ in range(turns):
        for name, job in jobs.items():
            job()
            begun = time.process_time()
            job()
            times[name].append(time.process_time() - begun)
    return {name: float(np.median(taken)) for name, taken in times.items()}


def peak_mb(job):
    tracemalloc.start()
    job()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def optional(name, trial):
    """Import a module that need not be there, if it is and runs."""
    try:
        module = importlib.import_module(name)
        trial(module)
    except Exception as reason:
        LEFT_OUT[name] = f"{type(reason).__name__}: {reason}"
        return None
    return module


def against_others(turns):
    """Time of each method as a multiple of SLNP's."""
    ratios = {}
    for name, (X, y) in {"digits": digits(), "20,000 x 32": blobs(20_000)}.items():
        quick = {
            "SLNP": lambda X=X, y=y: slnp(X, y),
            "LDA": lambda X=X, y=y: LinearDiscriminantAnalysis(n_components=9).fit(X, y),
        }
        slow = {}  # N x N arrays or loops over triplets: not for 20,000 samples
        if name == "digits":
            slow["NCA"] = lambda X=X, y=y: NeighborhoodComponentsAnalysis(
                9, max_iter=50, random_state=0
            ).fit(X, y)
        if metric_learn := optional("metric_learn", lambda module: module.LFDA().fit(*digits())):
            quick["LFDA (metric-learn)"] = lambda X=X, y=y: metric_learn.LFDA(9, k=K).fit(X, y)
            if name == "digits":
                slow["LMNN (metric-learn)"] = lambda X=X, y=y: metric_learn.LMNN(
                    n_components=9, n_neighbors=3, max_iter=50, random_state=0
                ).fit(X, y)
        ratios[name] = {}
        for jobs, times in ((quick, 3 * turns if slow else turns), (slow, turns)):
            taken = take_turns({"SLNP": quick["SLNP"], **jobs}, times)
            ratios[name] |= {job: taken[job] / taken["SLNP"] for job in jobs if job != "SLNP"}
    return ratios


def bare(X, d, precision):
    """The products and eigenproblems of a fit and nothing else; 10 classes of N / 10 samples."""
    n = len(X) // 10
    factor = np.ones((n, d + 2), precision)
    step = max(1, BLOCK // n)
    space = np.empty((step, n), precision)
    St = X.T @ X
    eigh(St)
    for _ in range(ROUNDS):
        X @ X[:d].T
        eigh(X.T @ X)
        for _ in range(10):
            for start in range(0, n, step):
                rows = factor[start : start + step]
                np.matmul(rows, factor.T, out=space[: len(rows)])


def against_bare(turns):
    """Time on 60,000 x 32 to 18 as a multiple of the products and eigenproblems alone."""
    X, y = blobs(60_000)
    times = take_turns(
        {
            "SLNP": lambda: slnp(X, y, 18),
            "single": lambda: bare(X, 18, np.float32),
            "double": lambda: bare(X, 18, np.float64),
        },
        turns,
    )
    return {precision: times["SLNP"] / times[precision] for precision in ("single", "double")}


def by_partition(Y, y):
    """The plain way: all distances of a block in double precision, and a partition."""
    for label in np.unique(y):
        Z = Y[y == label]
        for block in np.array_split(Z, max(1, len(Z) ** 2 // BLOCK)):
            np.argpartition(cdist(block, Z, "sqeuclidean"), K, axis=1)


def one_search(turns):
    """One round's search on 20,000 x 32: the plain way, screened, screened with a hint."""
    X, y = blobs(20_000)
    W = [r.W for r in islice(rounds(X, y, 9, K), 3)]
    before, Y = X @ W[1], X @ W[2]
    S = uniform_similarity(y)
    P = whitening((X - X.mean(axis=0)).T @ (X - X.mean(axis=0)))
    knowing = Search()
    knowing(before, y, K)
    times = take_turns(
        {
            "plain": lambda: by_partition(Y, y),
            "screened": lambda: Search()(Y, y, K),
            "with last round's neighbours": lambda: knowing(Y, y, K),
            "product": lambda: only_product(2000, 9, 10),
            "W-step": lambda: w_step(X, S, 9, P),
        },
        turns,
    )
    return {job: taken / times["product"] for job, taken in times.items()}


def only_product(n, d, classes):
    factor = np.ones((n, d + 2), np.float32)
    step = max(1, BLOCK // n)
    space = np.empty((step, n), np.float32)
    for _ in range(classes):
        for start in range(0, n, step):
            rows = factor[start : start + step]
            np.matmul(rows, factor.T, out=space[: len(rows)])


def growth(turns):
    """Time and memory against N, ten classes throughout; exponents of the fitted powers."""
    sizes = [5_000, 10_000, 20_000, 40_000, 80_000]
    times, memory = [], []
    for N in sizes:
        X, y = blobs(N)
        times.append(take_turns({"SLNP": lambda X=X, y=y: slnp(X, y)}, min(turns, 3))["SLNP"])
        memory.append(peak_mb(lambda X=X, y=y: slnp(X, y)))
    return {
        "N": sizes,
        "time": [taken / times[0] for taken in times],
        "memory_mb": memory,
        "time_exponent": float(np.polyfit(np.log(sizes), np.log(times), 1)[0]),
        "memory_exponent": float(np.polyfit(np.log(sizes), np.log(memory), 1)[0]),
    }


def graph_hnswlib(hnswlib, Z):
    index = hnswlib.Index("l2", Z.shape[1])
    index.init_index(len(Z), M=16, ef_construction=100, random_seed=0)
    index.set_num_threads(1)
    index.add_items(Z)
    index.set_ef(50)
    return index.knn_query(Z, K + 1)[0]


def graph_pynndescent(pynndescent, Z):
    return pynndescent.NNDescent(Z, n_neighbors=K + 1, random_state=0, n_jobs=1).neighbor_graph[0]


def approximate(turns):
    """Approximate search in one class of 50,000: time beside the exact, and share found."""
    X, y = blobs(100_000, centers=2)
    W, _ = w_step(X, uniform_similarity(y), 9)
    Z = (X @ W)[y == 0]
    exact = Search()(Z, np.zeros(len(Z)), K)[0]
    found = {}
    for name, graph in {"hnswlib": graph_hnswlib, "pynndescent": graph_pynndescent}.items():
        if module := optional(name, lambda module, graph=graph: graph(module, Z[:500])):
            near = [
                set(row.tolist()) - {j} for j, row in enumerate(graph(module, Z.astype(np.float32)))
            ]
            hits = sum(len(near[j] & set(row.tolist())) for j, row in enumerate(exact))
            times = take_turns(
                {
                    "exact": lambda: Search()(Z, np.zeros(len(Z)), K),
                    name: lambda m=module, g=graph: g(m, Z.astype(np.float32)),
                },
                1,
            )
            found[name] = {
                "recall": hits / exact.size,
                "exact / approximate": times["exact"] / times[name],
            }
    return found


def main(turns=5):
    result = {
        "versions": {name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
        "turns": turns,
    }
    for part in (against_others, against_bare, one_search, growth, approximate):
        print(f"measuring: {part.__name__} ...", file=sys.stderr, flush=True)
        result[part.__name__] = part(turns)
    result["left_out"] = LEFT_OUT
    OUT.write_text(json.dumps(rounded(result), indent=1) + "\n")
    show(result)


def rounded(value):
    """Three digits: more would be noise."""
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return float(f"{value:.3g}") if isinstance(value, float) else value


def show(result):
    for data, ratios in result["against_others"].items():
        for method, ratio in ratios.items():
            print(f"{data:12} {method:20} time / SLNP {ratio:9.3f}   SLNP / time {1 / ratio:8.2f}")
    for precision, ratio in result["against_bare"].items():
        print(f"60,000 x 32  SLNP / bare products in {precision} precision {ratio:.2f}")
    for job, ratio in result["one_search"].items():
        print(f"20,000 x 32  one round, {job:30} time / product {ratio:6.2f}")
    g = result["growth"]
    print(f"growth with N: time to the power {g['time_exponent']:.2f}", end=", ")
    print(f"memory to the power {g['memory_exponent']:.2f}")
    for N, mb in zip(g["N"], g["memory_mb"], strict=True):
        print(f"  N = {N:6}: {mb:6.1f} MB above the data")
    for name, found in result["approximate"].items():
        speed = found["exact / approximate"]
        print(f"{name}: recall {found['recall']:.4f}, exact / approximate time {speed:.2f}")
    for name, reason in result["left_out"].items():
        print(f"{name} is left out: {reason}")


if __name__ == "__main__":
    main(*(int(turns) for turns in sys.argv[1:]))
