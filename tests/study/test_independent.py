"""The records once more, by code that shares nothing with the protocol or the estimators.

Everything below is written out from the definitions: dense matrices, loops over samples, general
eigenvalue routines. Only the images come from the module's loaders, and the records as JSON.
"""

import json
import lzma
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import cholesky, eigh, solve_triangular
from sklearn.neighbors import KNeighborsClassifier

from slnp_study.data import SETS
from slnp_study.data.files import find

pytestmark = pytest.mark.slow  # it runs experiments

BASES = ("whitened", "orthonormal", "own")
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
    record = read_record(name)
    table = record["units"][f"table/{N_i:02}/{seed:02}"]
    by_image = read_outcomes(record, table)
    A, y, B, z = reduced(name, N_i, D_PCA, seed)
    assert table["tested"] == len(z)
    for method, W in methods(A, y, d, K).items():
        for basis, V in in_bases(W, A).items():
            right = recognised(A @ V, y, B @ V, z)
            recorded = table["right"][method][("own", "whitened", "orthonormal").index(basis)]
            assert abs(right.sum() - recorded) <= 2, (method, basis)
            if (method, basis) in by_image:
                assert np.sum(right != by_image[method, basis]) <= 2, (method, basis)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: "-".join(map(str, column[:2])))
def test_recorded_contests(column):
    """The rivals and the variants, counted in the three common bases, on a split of their own."""
    name, N_i, D_PCA, d, K, seed = column
    if (archive := SETS[name].archive) and find(archive.file) is None:
        pytest.skip(f"the real {archive.title} is not on this machine")
    seed = 100 + seed % 10
    A, y, B, z = reduced(name, N_i, D_PCA, seed)
    studies = {"rivals": rivals, "learning": variants} if N_i - 1 > K else {"rivals": rivals}
    for study, learn in studies.items():
        record = read_record(f"{name}-{study}")
        recorded = record["units"][f"{study}/{N_i:02}/{D_PCA}/{K}/{seed}"]
        assert recorded["tested"] == len(z)
        for method, W in learn(A, y, d, K).items():
            V = in_bases(W, A)
            V["own"] = W / np.linalg.norm(W, axis=0)  # as the third: columns of length one
            found = [recognised(A @ V[b], y, B @ V[b], z).sum() for b in BASES]
            assert np.abs(np.subtract(found, recorded["right"][method])).max() <= 2, method


def reduced(name, N_i, D_PCA, seed):
    """Training and test part of a split after PCA, each with its labels."""
    data = SETS[name].load()
    train, test = drawn(data.target, N_i, seed)
    mean = data.data[train].mean(axis=0)
    axes = np.linalg.svd(data.data[train] - mean, full_matrices=False)[2][:D_PCA].T
    A, B = ((data.data[rows] - mean) @ axes for rows in (train, test))
    return A, data.target[train], B, data.target[test]


def recognised(A, y, B, z):
    return KNeighborsClassifier(1, algorithm="brute").fit(A, y).predict(B) == z


def read_record(name):
    return json.loads(lzma.decompress((RESULTS / f"{name}.json.xz").read_bytes()))


def read_outcomes(record, table):
    """(method, basis) -> which test images are right."""
    methods, bases = (record["settings"][name]["outcomes"] for name in ("methods", "bases"))
    raw = np.frombuffer(bytes.fromhex(table["outcomes"]), np.uint8)
    bits = np.unpackbits(raw).reshape(table["tested"], -1)
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
        1 / 9 * laplacian(A, near & ~same) + A.T @ within @ A, A.T @ np.diag(within.sum(axis=1)) @ A
    )[1][:, ::-1]

    sigma = [np.sort(squared[j][same[j]])[min(7, sizes[j] - 1)] ** 0.5 for j in range(N)]
    values, local = lfda(A, y, np.exp(-squared / np.outer(sigma, sigma)))
    weighted = local * np.sqrt(np.maximum(values, 0))

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


def lfda(A, y, s):
    """Eigenvalues, ascending, and eigenvectors of Sugiyama's problem, from similarities s."""
    same, N = y[:, None] == y, len(y)
    s, sizes = np.where(same, s, 0), same.sum(axis=1)[:, None]
    between = np.where(same, s * (1 / N - 1 / sizes), 1 / N)
    return eigh(laplacian(A, between), laplacian(A, s / sizes))


def rivals(A, y, d, K):
    squared = np.array([np.sum((A - a) ** 2, axis=1) for a in A])
    same = y[:, None] == y
    mean = squared[same & ~np.eye(len(A), dtype=bool)].mean()
    run = slnp(A, y, d, K)
    found = {"SLNP": run[-1], "SLNP, 2 rounds": run[1], "PCA": np.eye(A.shape[1])}
    for c in (2, 1, 0.5, 0.25, 0.1):
        found[f"LFDA, c = {c}"] = lfda(A, y, np.exp(-squared / (c * mean)))[1][:, ::-1][:, :d]
    for share in (0.1, 0.3):
        found[f"anchored, {share}"] = slnp(A, y, d, K, share=share)[-1]
    return found


def variants(A, y, d, K):
    squared = np.array([np.sum((A - a) ** 2, axis=1) for a in A])
    squared[(y[:, None] != y) | np.eye(len(A), dtype=bool)] = np.inf
    once = nearest(squared, K)
    Z = in_bases(np.eye(A.shape[1]), A)["whitened"]
    whitened = np.array([np.sum(((A - a) @ Z) ** 2, axis=1) for a in A])
    whitened[np.isinf(squared)] = np.inf
    return {
        "learned": slnp(A, y, d, K)[-1],
        "fixed": slnp(A, y, d, K, once)[-1],
        "fixed, whitened": slnp(A, y, d, K, nearest(whitened, K))[-1],
        "whole class": slnp(A, y, d, len(A))[-1],
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


def slnp(A, y, d, K, always=None, share=0, rounds=10):
    """W of every round. From the uniform start ties go to the directions of more variance."""
    St = A.T @ A
    same = y[:, None] == y
    S = uniform = same / same.sum(axis=1)
    found = []
    for round_ in range(rounds):
        W = eigh(laplacian(A, (1 - share) * S + share * uniform), St)[1]
        C = y.max() + 1
        if round_ == 0 and d > C - 1:
            tied = W[:, C - 1 :]
            W = np.hstack([W[:, : C - 1], tied @ eigh(tied.T @ tied)[1]])
        found.append(W[:, :d])
        Y = A @ found[-1]
        squared = np.array([np.sum((Y - row) ** 2, axis=1) for row in Y])
        squared[~same | np.eye(len(A), dtype=bool)] = np.inf
        S = similarities(squared, nearest(squared, K) if always is None else always)
    return found
