"""The records once more, by code that shares nothing with the protocol or the estimators.

Everything below is written out from the definitions: dense matrices, loops over samples, general
eigenvalue routines. Only the images come from the module's loaders, and the records as JSON.
"""

import json
import lzma
from base64 import b85decode
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import cholesky, eigh, solve_triangular
from sklearn.neighbors import KNeighborsClassifier

from slnp_study.data import SETS
from slnp_study.data.files import find

pytestmark = pytest.mark.slow  # it runs experiments

RESULTS = Path(__file__).parents[2] / "slnp_study" / "results"
COLUMNS = [  # data set, N_i, D_PCA, d, K, split
    ("yale_b", 5, 110, 38, 5, 11),
    ("yale_b", 10, 180, 38, 5, 3),
    ("yale_b", 15, 220, 40, 5, 17),
    ("coil100", 6, 30, 13, 3, 8),
    ("coil100", 12, 32, 14, 3, 0),
    ("mnist", 5, 34, 18, 6, 19),
    ("mnist", 15, 32, 26, 6, 5),
    ("mnist", 30, 26, 21, 6, 12),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: "-".join(map(str, column[:2])))
def test_recorded_cells(column):
    """Counts in every basis and, in the common ones, every image; two may flip by rounding."""
    name, N_i, D_PCA, d, K, seed = column
    if (archive := SETS[name].archive) and find(archive.file) is None:
        pytest.skip(f"the real {archive.title} is not on this machine")
    record = json.loads((RESULTS / f"{name}.json").read_text())
    table = record["units"][f"table/{N_i:02}/{seed:02}"]
    ablation = json.loads((RESULTS / f"{name}-ablation.json").read_text())
    ablation = ablation["units"][f"ablation/{N_i:02}"]
    by_image = read_outcomes(record, table)

    data = SETS[name].load()
    train, test = drawn(data.target, N_i, seed)
    mean = data.data[train].mean(axis=0)
    axes = np.linalg.svd(data.data[train] - mean, full_matrices=False)[2][:D_PCA].T
    A, B = ((data.data[rows] - mean) @ axes for rows in (train, test))
    y, z = data.target[train], data.target[test]
    assert table["tested"] == ablation["tested"] == len(test)

    cells = 0
    for method, W in methods(A, y, d, K).items():
        for basis, V in in_bases(W, A).items():
            right = KNeighborsClassifier(1, algorithm="brute").fit(A @ V, y).predict(B @ V) == z
            recorded = table["right"][method][("own", "whitened", "orthonormal").index(basis)]
            assert abs(right.sum() - recorded) <= 2, (method, basis)
            if (method, basis) in by_image:
                assert np.sum(right != by_image[method, basis]) <= 2, (method, basis)
            cells += 1
    for variant, W in variants(A, y, d, K).items():
        for i, basis in enumerate(("whitened", "orthonormal"), start=1):
            V = in_bases(W, A)[basis]
            right = KNeighborsClassifier(1, algorithm="brute").fit(A @ V, y).predict(B @ V) == z
            lead = table["right"]["SLNP"][i] - right.sum()
            assert abs(lead - ablation["lead"][variant][basis][seed]) <= 2, (variant, basis)
            cells += 1
    assert cells == 8 * 3 + 6 * 2


def read_outcomes(record, table):
    """(method, basis) -> which test images are right."""
    methods, bases = (record["settings"][name]["outcomes"] for name in ("methods", "bases"))
    filters = [{"id": lzma.FILTER_LZMA2, "lc": 0, "lp": 0, "pb": 0, "dict_size": 2**26}]
    raw = lzma.decompress(b85decode(table["outcomes"]), lzma.FORMAT_RAW, filters=filters)
    bits = np.unpackbits(np.frombuffer(raw, np.uint8)).reshape(table["tested"], -1)
    pairs = [(method, basis) for method in methods for basis in bases]
    return {pair: bits[:, i].astype(bool) for i, pair in enumerate(pairs)}


def drawn(y, N_i, seed):
    rng = np.random.default_rng([N_i, seed])
    train = np.zeros(len(y), dtype=bool)
    for label in range(y.max() + 1):
        members = [i for i in range(len(y)) if y[i] == label]
        train[[members[k] for k in rng.permutation(len(members))[:N_i]]] = True
    return np.flatnonzero(train), np.flatnonzero(~train)


def in_bases(W, A):
    """Through Cholesky's factor of W'StW for whitened, of W'W for orthonormal."""
    found = {"own": W}
    for basis, G in (("whitened", W.T @ A.T @ A @ W), ("orthonormal", W.T @ W)):
        found[basis] = solve_triangular(cholesky(G, lower=True), W.T, lower=True).T
    return found


def methods(A, y, d, K):
    N, D = A.shape
    squared = np.array([np.sum((A - a) ** 2, axis=1) for a in A])
    same = y[:, None] == y
    itself = np.eye(N, dtype=bool)
    sizes = np.array([np.sum(y == label) for label in y])

    Sw = laplacian(A, same / sizes[:, None])
    lda = eigh(A.T @ A - Sw, Sw)[1][:, ::-1]

    near = nearest(np.where(itself, np.inf, squared), 5)
    near = near | near.T
    heat = np.where(near, np.exp(-squared / squared[near].mean()), 0)
    lpp = eigh(laplacian(A, heat), A.T @ np.diag(heat.sum(axis=1)) @ A)[1]

    in_class = nearest(np.where(same & ~itself, squared, np.inf), 5)
    other_class = nearest(np.where(same, np.inf, squared), 20)
    mfa = eigh(laplacian(A, in_class | in_class.T), laplacian(A, other_class | other_class.T))[1]

    within = (near & same) | itself
    lsda = eigh(
        1 / 9 * laplacian(A, near & ~same) + A.T @ within @ A,
        A.T @ np.diag(within.sum(axis=1)) @ A,
    )[1][:, ::-1]

    sigma = [np.sort(squared[j][same[j]])[min(7, sizes[j] - 1)] ** 0.5 for j in range(N)]
    s = np.where(same, np.exp(-squared / np.outer(sigma, sigma)), 0)
    local_within = laplacian(A, s / sizes[:, None])
    local_between = laplacian(A, np.where(same, s * (1 / N - 1 / sizes[:, None]), 1 / N))
    values, lfda = eigh(local_between, local_within)
    weighted = lfda * np.sqrt(np.maximum(values, 0))

    return {
        "PCA": np.eye(D),
        "PCA, d only": np.eye(D)[:, :d],
        "LDA": lda[:, : min(d, y.max())],
        "LPP": lpp[:, :d],
        "MFA, per sample": mfa[:, :d],
        "LSDA": lsda[:, :d],
        "LFDA, weighted": weighted[:, ::-1][:, :d],
        "SLNP": slnp(A, y, d, K)[-1],
    }


def variants(A, y, d, K):
    squared = np.array([np.sum((A - a) ** 2, axis=1) for a in A])
    squared[(y[:, None] != y) | np.eye(len(A), dtype=bool)] = np.inf
    once = nearest(squared, K)
    Z = in_bases(np.eye(A.shape[1]), A)["whitened"]
    whitened = np.array([np.sum(((A - a) @ Z) ** 2, axis=1) for a in A])
    whitened[np.isinf(squared)] = np.inf
    learned = slnp(A, y, d, K)
    return {
        "uniform, 1": learned[0],
        "uniform, 2": learned[1],
        "fixed": slnp(A, y, d, K, once)[-1],
        "fixed, whitened": slnp(A, y, d, K, nearest(whitened, K))[-1],
        "whole class": slnp(A, y, d, len(A))[-1],
        "nearest, 10": slnp(A, y, d, K, start=similarities(squared, once))[-1],
    }


def laplacian(A, S):
    S = (S.astype(float) + S.T) / 2  # for two bools, + would mean or
    return A.T @ (np.diag(S.sum(axis=1)) - S) @ A


def nearest(squared, K):
    """Which are the K nearest of each sample; fewer where no more are at a finite distance."""
    chosen = np.zeros(squared.shape, dtype=bool)
    for j, row in enumerate(squared):
        for k in sorted(range(len(row)), key=lambda k: (row[k], k))[:K]:
            chosen[j, k] = np.isfinite(row[k])
    return chosen


def similarities(squared, chosen):
    """(52), then (38), sample by sample."""
    S = np.zeros(squared.shape)
    for j, who in enumerate(chosen):
        d = squared[j][who]
        gamma = (len(d) - 1) / 2 * np.sqrt(np.sum(d**2))
        S[j, who] = 1 / len(d) + (d.mean() - d) / (2 * gamma)
    return S


def slnp(A, y, d, K, always=None, start=None, rounds=10):
    """W of every round. From the uniform start ties go to the directions of more variance."""
    St = A.T @ A
    same = y[:, None] == y
    S = same / same.sum(axis=1) if start is None else start
    found = []
    for round_ in range(rounds):
        W = eigh(laplacian(A, S), St)[1]
        C = y.max() + 1
        if round_ == 0 and start is None and d > C - 1:
            tied = W[:, C - 1 :]
            W = np.hstack([W[:, : C - 1], tied @ eigh(tied.T @ tied)[1]])
        found.append(W[:, :d])
        Y = A @ found[-1]
        squared = np.array([np.sum((Y - row) ** 2, axis=1) for row in Y])
        squared[~same | np.eye(len(A), dtype=bool)] = np.inf
        S = similarities(squared, nearest(squared, K) if always is None else always)
    return found
