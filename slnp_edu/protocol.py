"""The paper's protocol: a random split, PCA on the training part, a method, 1-NN on the rest.

Every method of a split sees the same training images and the same PCA. Each is fitted once and
judged in both bases. Nothing is chosen on the test part: K, D_PCA and d are the paper's, and the
baselines' own parameters are those of `METHODS`, set beforehand to what their authors or their
usual codes use.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from slnp_edu.base import BASES, in_basis
from slnp_edu.baselines import LFDA, LPP, LSDA, MFA
from slnp_edu.slnp import SLNP
from slnp_edu.steps import Array

Rates = dict[str, dict[str, float]]  # method -> basis -> per cent


def _lda(A: Array, y: NDArray[Any], d: int, K: int) -> Array:
    """scikit-learn's LDA, its first d directions; it has at most C - 1."""
    return LinearDiscriminantAnalysis().fit(A, y).scalings_[:, :d]


def _directions(estimator: Callable[..., Any]) -> Callable[..., Array]:
    def learn(A: Array, y: NDArray[Any], d: int, K: int) -> Array:
        return estimator(d, K).fit(A, y).components_.T

    return learn


#: Method -> how it learns W (D_PCA, d) from the training part. PCA itself learns nothing more.
METHODS: dict[str, Callable[..., Array]] = {
    "PCA": lambda A, y, d, K: np.eye(A.shape[1]),
    "PCA, d only": lambda A, y, d, K: np.eye(A.shape[1])[:, :d],
    "LDA": _lda,
    "LDA, C - 1": lambda A, y, d, K: _lda(A, y, len(np.unique(y)) - 1, K),
    "LPP": _directions(lambda d, K: LPP(d, 5, kernel="heat")),
    "MFA": _directions(lambda d, K: MFA(d, 5, n_pairs=20, pairs="class")),
    "LSDA": _directions(lambda d, K: LSDA(d, 5, beta=0.1)),
    "LFDA": _directions(lambda d, K: LFDA(d, 7)),
    "SLNP": _directions(lambda d, K: SLNP(d, K, max_iter=10, tol=0)),
}


def random_split(y: NDArray[Any], N_i: int, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw N_i samples of each class for training; the rest is for the test.

    Returns
    -------
    train, test : arrays of row numbers, ascending
    """
    rng = np.random.default_rng(seed)
    chosen = [rng.permutation(np.flatnonzero(y == label))[:N_i] for label in np.unique(y)]
    train = np.sort(np.concatenate(chosen))
    return train, np.setdiff1d(np.arange(len(y)), train)


def pca_split(
    X: Array, y: NDArray[Any], N_i: int, D_PCA: int, seed: int
) -> tuple[Array, NDArray[Any], Array, NDArray[Any]]:
    """Split, then reduce to D_PCA dimensions by PCA fitted on the training part.

    Returns
    -------
    A, y_train, B, y_test : the training part and the test part
    """
    train, test = random_split(y, N_i, seed)
    pca = PCA(D_PCA, svd_solver="full").fit(X[train])
    return pca.transform(X[train]), y[train], pca.transform(X[test]), y[test]


def nearest_neighbour_rate(
    A: Array, y_train: NDArray[Any], B: Array, y_test: NDArray[Any]
) -> float:
    """Per cent of the rows of B whose nearest row of A has the right label."""
    blocks = np.array_split(np.arange(len(B)), max(1, len(A) * len(B) // 2**21))
    nearest = [cdist(B[rows], A, "sqeuclidean").argmin(axis=1) for rows in blocks]
    return 100 * float(np.mean(y_train[np.concatenate(nearest)] == y_test))


def evaluate(
    X: Array,
    y: NDArray[Any],
    *,
    N_i: int,
    D_PCA: int,
    d: int,
    K: int,
    seed: int,
    methods: Iterable[str] = tuple(METHODS),
) -> Rates:
    """Recognition rates of one split: method -> basis -> per cent.

    PCA's basis is orthonormal; it has no other here.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> rates = evaluate(X, y, N_i=20, D_PCA=4, d=2, K=5, seed=0, methods=["PCA", "SLNP"])
    >>> {basis: round(rate, 2) for basis, rate in rates["SLNP"].items()}
    {'whitened': 93.33, 'orthonormal': 96.67}
    """
    A, y_train, B, y_test = pca_split(X, y, N_i, D_PCA, seed)
    rates: Rates = {}
    for method in methods:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "n_neighbors=")  # K is cut to N_i - 1
            W = METHODS[method](A, y_train, d, K)
        bases = ("orthonormal",) if method.startswith("PCA") else BASES
        rates[method] = {}
        for basis in bases:
            V = in_basis(W, basis)
            rates[method][basis] = nearest_neighbour_rate(A @ V, y_train, B @ V, y_test)
    return rates


def compare(
    dataset: Any,
    settings: Mapping[int, Mapping[str, int]],
    K: int,
    *,
    methods: Iterable[str] = tuple(METHODS),
    splits: int = 20,
    n_jobs: int = 1,
) -> dict[int, dict[str, dict[str, list[float]]]]:
    """Run the protocol for several N_i and splits.

    Parameters
    ----------
    dataset : Bunch
        With ``data`` and ``target``.
    settings : mapping
        ``N_i -> {"D_PCA": ..., "d": ...}``, as in `slnp_edu.paper.DIMENSIONS`.
    K : int
    methods : names out of `METHODS`
    splits : int
        The seeds are 0 ... splits - 1, for every N_i and method alike.
    n_jobs : int
        Processes; the answer does not depend on it.

    Returns
    -------
    rates : ``N_i -> method -> basis -> [rate of each split]``
    """
    methods = list(methods)
    jobs = [(N_i, seed) for N_i in settings for seed in range(splits)]
    results = Parallel(n_jobs=n_jobs)(
        delayed(evaluate)(
            dataset.data, dataset.target, N_i=N_i, K=K, seed=seed, methods=methods, **settings[N_i]
        )
        for N_i, seed in jobs
    )
    collected: dict[int, dict[str, dict[str, list[float]]]] = {N_i: {} for N_i in settings}
    for (N_i, _), rates in zip(jobs, results, strict=True):
        for method, by_basis in rates.items():
            for basis, value in by_basis.items():
                collected[N_i].setdefault(method, {}).setdefault(basis, []).append(value)
    return collected
