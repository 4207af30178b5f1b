"""The paper's protocol: a random split, PCA on the training part, a method, 1-NN on the rest.

Every method of a split sees the same training images and the same PCA. Each is fitted once and
judged in every basis. Nothing is chosen on the test part: K, D_PCA and d are the paper's, and the
baselines' own parameters are in `METHODS`, set beforehand to what their authors or their
usual codes use.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold

from slnp_edu.base import in_basis
from slnp_edu.baselines import LFDA, LPP, LSDA, MFA
from slnp_edu.slnp import SLNP
from slnp_edu.steps import Array
from slnp_study.relatives import LADA, SOLDE

Rates = dict[str, dict[str, float]]  # method -> basis -> per cent
Rows = NDArray[np.intp]
RULES = ("paper", "can", "fixed")  # for gamma
BASES = ("own", "whitened", "orthonormal")  # in which the records of the tables hold rates


def _lda(A: Array, y: NDArray[Any], d: int, K: int) -> Array:
    """scikit-learn's LDA, its first d directions. It has at most C - 1."""
    W: Array = LinearDiscriminantAnalysis().fit(A, y).scalings_[:, :d]
    return W


def directions(estimator: Any, A: Array, y: NDArray[Any]) -> Array:
    """Fit one of our estimators and return its W (D_PCA, d)."""
    W: Array = estimator.fit(A, y).components_.T
    return W


#: Method -> how it learns W (D_PCA, d) from the training part. PCA itself learns nothing more.
METHODS: dict[str, Callable[..., Array]] = {
    "PCA": lambda A, y, d, K: np.eye(A.shape[1]),
    "PCA, d only": lambda A, y, d, K: np.eye(A.shape[1])[:, :d],
    "LDA": _lda,
    "LDA, C - 1": lambda A, y, d, K: _lda(A, y, len(np.unique(y)) - 1, K),
    "LPP": lambda A, y, d, K: directions(LPP(d, 5), A, y),
    "LPP, within classes": lambda A, y, d, K: directions(LPP(d, 5, within_classes=True), A, y),
    "MFA": lambda A, y, d, K: directions(MFA(d, 5, n_pairs=20, pairs="class"), A, y),
    "MFA, per sample": lambda A, y, d, K: directions(MFA(d, 5, n_pairs=20, pairs="sample"), A, y),
    "LSDA": lambda A, y, d, K: directions(LSDA(d, 5, beta=0.1), A, y),
    "LFDA": lambda A, y, d, K: directions(LFDA(d, 7, metric="plain"), A, y),
    "LFDA, weighted": lambda A, y, d, K: directions(LFDA(d, 7, metric="weighted"), A, y),
    "SOLDE": lambda A, y, d, K: directions(SOLDE(d, 5), A, y),
    "LADA": lambda A, y, d, K: directions(LADA(d), A, y),
    "SLNP": lambda A, y, d, K: directions(SLNP(d, K, max_iter=10, tol=0), A, y),
}


def random_split(y: NDArray[Any], N_i: int, seed: int) -> tuple[Rows, Rows]:
    """Draw N_i samples of each class for training. The rest is for the test.

    The draw depends on N_i as well as on the seed. Were it to depend on the seed alone, the
    training set of a small N_i would lie within a larger one's, and columns of a table that look
    like so many pieces of evidence would share their luck.

    Returns
    -------
    train, test : arrays of row numbers, ascending
    """
    rng = np.random.default_rng([N_i, seed])
    chosen = [rng.permutation(np.flatnonzero(y == label))[:N_i] for label in np.unique(y)]
    train = np.sort(np.concatenate(chosen))
    return train, np.setdiff1d(np.arange(len(y)), train)


def nearest_neighbour_is_right(
    A: Array, y_train: NDArray[Any], B: Array, y_test: NDArray[Any], metric: str = "Euclidean"
) -> NDArray[np.bool_]:
    """Say for each row of B whether its nearest row of A has the right label.

    Parameters
    ----------
    A, B : arrays of shape (n, d) and (m, d)
    y_train, y_test : arrays of shape (n,) and (m,)
    metric : {"Euclidean", "cosine"}
        The cosine measures its angles from the origin.
    """
    if metric == "cosine":
        A, B = (M / np.linalg.norm(M, axis=1, keepdims=True) for M in (A, B))
    # |b - a|^2 = |b|^2 - 2 (a'b - |a|^2 / 2), so the nearest has the largest bracket.
    half = np.einsum("ij,ij->i", A, A) / 2
    blocks = np.array_split(B, len(B) // 256 + 1)  # what fits into the processor's cache
    nearest = np.concatenate([(block @ A.T - half).argmax(axis=1) for block in blocks])
    right: NDArray[np.bool_] = y_train[nearest] == y_test
    return right


@dataclass
class Part:
    """A training part to learn W from and a test part to judge it on, both after PCA."""

    A: Array
    y_train: NDArray[Any]
    B: Array
    y_test: NDArray[Any]

    def right(self, W: Array, basis: str = "own") -> NDArray[np.bool_]:
        """Say for each test sample whether 1-NN finds its class after W in the basis given."""
        V = in_basis(W, basis, self.A)
        return nearest_neighbour_is_right(self.A @ V, self.y_train, self.B @ V, self.y_test)

    def rate(self, W: Array, basis: str = "own") -> float:
        """Per cent of the test samples that are right."""
        return 100 * float(np.mean(self.right(W, basis)))

    def folds(self, n_splits: int, seed: int) -> Iterator["Part"]:
        """Yield the training part split again, for cross-validation within it."""
        folds = StratifiedKFold(n_splits, shuffle=True, random_state=seed)
        for fit, left in folds.split(self.A, self.y_train):
            yield Part(self.A[fit], self.y_train[fit], self.A[left], self.y_train[left])


class Split(Part):
    """One random split after PCA: a training part to learn W from, a test part to judge it on.

    Parameters
    ----------
    X : array of shape (N, D)
    y : array of shape (N,)
    N_i : int
        Training samples of each class.
    D_PCA : int
        Dimensions kept by PCA, which is fitted on the training part.
    seed : int

    Attributes
    ----------
    train, test : arrays of row numbers in X
    A, y_train : the training part, of shape (n, D_PCA), and its labels. The columns have mean 0
    B, y_test : the test part and its labels

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> split = Split(*load_iris(return_X_y=True), N_i=20, D_PCA=4, seed=0)
    >>> W = SLNP(2, 5).fit(split.A, split.y_train).components_.T
    >>> round(split.rate(W, "orthonormal"), 2), int(split.right(W, "orthonormal").sum())
    (95.56, 86)
    """

    def __init__(self, X: Array, y: NDArray[Any], *, N_i: int, D_PCA: int, seed: int) -> None:
        self.train, self.test = random_split(y, N_i, seed)
        pca = PCA(D_PCA, svd_solver="full").fit(X[self.train])
        A, B = pca.transform(X[self.train]), pca.transform(X[self.test])
        super().__init__(A, y[self.train], B, y[self.test])

    def learn(self, method: str, d: int, K: int) -> Array:
        """W of one of `METHODS`, of shape (D_PCA, d), in the method's own basis."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "n_neighbors=")  # K is cut to N_i - 1
            return METHODS[method](self.A, self.y_train, d, K)


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

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> rates = evaluate(X, y, N_i=20, D_PCA=4, d=2, K=5, seed=0, methods=["PCA", "SLNP"])
    >>> {basis: round(rate, 2) for basis, rate in rates["SLNP"].items()}
    {'own': 92.22, 'whitened': 92.22, 'orthonormal': 95.56}
    """
    split = Split(X, y, N_i=N_i, D_PCA=D_PCA, seed=seed)
    projections = {method: split.learn(method, d, K) for method in methods}
    return {
        method: {basis: split.rate(W, basis) for basis in BASES}
        for method, W in projections.items()
    }
