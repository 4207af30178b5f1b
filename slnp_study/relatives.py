"""Two relatives of SLNP that are in no table of the paper: SOLDE and LADA.

Both are known to us second-hand only. SOLDE asks for orthogonal directions, LADA learns its graph
in rounds as SLNP does. ``basis="own"``, the default, is ``W'W = I`` for both.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array

from slnp_edu.base import (
    LinearProjection,
    check_choice,
    check_integer,
    check_number,
    count_directions,
)
from slnp_edu.baselines import nearest_neighbour_graph
from slnp_edu.search import Search
from slnp_edu.steps import (
    Array,
    fix_signs,
    laplacian_scatter,
    objective,
    similarity_matrix,
    smallest_eigenvectors,
    uniform_similarity,
    whitening,
)


@dataclass(eq=False, repr=False)
class SOLDE(LinearProjection):
    """Stable Orthogonal Local Discriminant Embedding. The paper cites it but doesn't define it.

    The definition is second-hand: it follows the account of Yang et al. (Pattern Recognition 71,
    2017). Two samples are neighbours if either is among the K nearest of the other. Neighbours of
    the same class get the similarity ``S = exp(-d^2 / sigma)`` and the diversity ``H = 1 - S``,
    neighbours of different classes the margin ``F = exp(-d^2 / sigma)``. With their Laplacians and
    ``L_d = a L_s - (1 - a) L_v``, W makes ``w'X'L_m Xw`` large against ``w'X'L_d Xw``, where the
    directions are orthogonal.

    Conventions. ``L_d`` is the Laplacian of ``a S - (1 - a) H = S - (1 - a)`` and has negative
    eigenvalues if a is small against the distances. Then the ratio has no largest value, and
    ``fit`` refuses. With the default sigma every S is at least 1/e, so any ``a > 1 - 1/e = 0.63``
    will do. Null directions of ``X'L_d X`` are dropped. Neither sigma nor a is known from the
    source: the defaults are ours.

    Parameters
    ----------
    n_components : int, optional
        Directions (d). By default C - 1 or the rank of ``X'L_d X``, whichever is less.
    n_neighbors : int, default 5
    a : float, default 0.75
        Weight of the similarity against the diversity, 0.5 <= a <= 1.
    sigma : float, optional
        Width of the kernel. By default the largest d^2 of two neighbours.
    directions : {"one by one", "trace ratio"}
        Each direction the best of those orthogonal to the ones before it (SOLDE), or all d at
        once, with the largest ratio of the traces (SOLDE-TR).
    basis : {"own", "whitened", "orthonormal"}
        "own" is orthonormal here.

    Attributes
    ----------
    components_ : array of shape (d, D)
    mean_ : array of shape (D,)
    ratio_ : float
        ``tr(W'X'L_m XW) / tr(W'X'L_d XW)`` for the orthonormal W.
    """

    own_basis = "orthonormal"

    n_components: int | None = None
    n_neighbors: int = 5
    _: KW_ONLY
    a: float = 0.75
    sigma: float | None = None
    directions: str = "one by one"
    basis: str = "own"

    def _check_parameters(self) -> None:
        check_integer("n_neighbors", self.n_neighbors, 1)
        check_number("a", self.a, 0.5, 1)
        if self.sigma is not None:
            check_number("sigma", self.sigma, np.finfo(float).tiny)
        check_choice("directions", self.directions, ("one by one", "trace ratio"))

    def _learn(self, X: Array, y: Any) -> Array:
        margin, L_d = self._matrices(X, y)
        lowest, highest = np.linalg.eigvalsh(L_d)[[0, -1]]
        if lowest < -1e-12 * abs(highest):
            raise ValueError(
                "X'L_d X has negative eigenvalues; a nearer 1 or a larger sigma helps."
            )
        U = range_basis(L_d)
        d = count_directions(self.n_components, U.shape[1], y)
        solve = one_by_one if self.directions == "one by one" else trace_ratio
        W = U @ solve(-U.T @ margin @ U, U.T @ L_d @ U, d)
        self.ratio_ = np.trace(W.T @ margin @ W) / np.trace(W.T @ L_d @ W)
        return fix_signs(W)

    def _matrices(self, X: Array, y: Any) -> tuple[Array, Array]:
        N = len(X)
        j, k = nearest_neighbour_graph(X, min(self.n_neighbors, N - 1)).tocoo().coords
        squared = np.sum((X[j] - X[k]) ** 2, axis=1)
        sigma = (squared.max() or 1.0) if self.sigma is None else self.sigma
        s, same = np.exp(-squared / sigma), y[j] == y[k]
        F = csr_array((s[~same], (j[~same], k[~same])), shape=(N, N))
        S_minus = csr_array((s[same] - (1 - self.a), (j[same], k[same])), shape=(N, N))
        return laplacian_scatter(X, F), laplacian_scatter(X, S_minus)


@dataclass(eq=False, repr=False)
class LADA(LinearProjection):
    """Locality Adaptive Discriminant Analysis (Li, Chen, Nie and Wang, IJCAI 2017).

    The closest relative of SLNP: it too learns the similarities within each class from the
    projected distances, in turns with W, from the start ``s_ijk = 1/N_i``. It needs neither K nor
    gamma, because s enters squared. With the distances d_ijk of (28) it minimises

    ``sum_i N_i sum_jk s_ijk^2 d_ijk / (1/N sum_jk ||W'x_j - W'x_k||^2)``

    under ``W'W = I``, ``s >= 0`` and ``sum_k s_ijk = 1``. For given s this is a trace ratio, for
    given W the best s_ijk is proportional to ``1 / d_ijk``. No step lets the ratio rise.

    The definition is second-hand: it follows a transcription of the article's equations (7) to
    (17), not the article. Public notes on the method (MaxDamson/ML on GitHub) have the same
    objective and the same constraints.

    Conventions. A sample isn't its own neighbour: printed with k = j in the sums, all of s would
    fall on the sample itself. Samples that coincide with others share s alike among these. Null
    directions of St are dropped. Distances of all pairs in a class are held at once.

    Parameters
    ----------
    n_components : int, optional
        Directions (d). By default C - 1 or the rank of the data, whichever is less.
    max_iter : int, default 10
        The most rounds to run.
    tol : float, default 1e-6
        Stop when the ratio falls by no more than this fraction of itself.
    basis : {"own", "whitened", "orthonormal"}
        "own" is orthonormal here.

    Attributes
    ----------
    components_ : array of shape (d, D)
    mean_ : array of shape (D,)
    objective_ : array of shape (rounds,)
        The ratio after each round, never rising.
    n_iter_ : int
    """

    own_basis = "orthonormal"

    n_components: int | None = None
    _: KW_ONLY
    max_iter: int = 10
    tol: float = 1e-6
    basis: str = "own"

    def _check_parameters(self) -> None:
        check_integer("max_iter", self.max_iter, 1)
        check_number("tol", self.tol, 0)

    def _learn(self, X: Array, y: Any) -> Array:
        U = range_basis(X.T @ X)
        d = count_directions(self.n_components, U.shape[1], y)
        Z = X @ U
        N_i = np.bincount(y)[y][:, None]
        S: Any = uniform_similarity(y)  # N_i s^2 for s = 1/N_i
        J: list[float] = []
        search = Search()
        for _ in range(self.max_iter):
            V = trace_ratio(laplacian_scatter(Z, S), Z.T @ Z, d)
            indices, distances = search(Z @ V, y, int(N_i.max()) - 1)
            weights = N_i * inverse_shares(distances) ** 2
            S = similarity_matrix(indices, weights)
            J.append(objective(distances, weights, np.zeros(len(y))) / (2 * np.sum((Z @ V) ** 2)))
            if len(J) > 1 and J[-2] - J[-1] <= self.tol * J[-1]:
                break
        self.objective_ = np.array(J)
        self.n_iter_ = len(J)
        return fix_signs(U @ V)


def inverse_shares(distances: Array) -> Array:
    """Rows proportional to ``1 / d`` that sum to 1. Those at distance 0 share alike among them.

    Distances ascend in each row and are ``inf`` where there's no neighbour, as `neighbours` has
    them.
    """
    nearest = distances[:, [0]]
    with np.errstate(invalid="ignore"):  # 0 / 0
        s = np.where(nearest > 0, nearest / distances, distances == 0)
    s = np.where(np.isfinite(distances), s, 0.0)
    total: Array = np.maximum(s.sum(axis=1, keepdims=True), 1.0)  # the nearest has 1 here
    return s / total


def range_basis(B: Array) -> Array:
    """Orthonormal basis of the range of B (D, rank). Null directions are dropped."""
    P = whitening(B)
    length: Array = np.linalg.norm(P, axis=0)
    return P / length


def trace_ratio(A: Array, B: Array, n_components: int) -> Array:
    """Make ``tr(W'AW) / tr(W'BW)`` as small as can be under ``W'W = I``, for a positive definite B.

    The best W for a guess r of the ratio minimises ``tr(W'(A - rB)W)``. Its own ratio is the next
    guess. The guesses fall until they rest at the smallest ratio there is.
    """
    ratio = np.trace(A) / np.trace(B)  # some W reaches the ratio of the whole space
    while True:
        W: Array = eigh(A - ratio * B)[1][:, :n_components]
        found = np.trace(W.T @ A @ W) / np.trace(W.T @ B @ W)
        if found >= ratio - 1e-14 * abs(ratio):
            return W
        ratio = found


def one_by_one(A: Array, B: Array, n_components: int) -> Array:
    """Columns of ``W'W = I``, each the smallest ``w'Aw / w'Bw`` orthogonal to those before it."""
    W = np.empty((len(A), 0))
    for k in range(n_components):
        Q = np.linalg.qr(W, mode="complete")[0][:, k:]  # all that is orthogonal to W
        w = Q @ smallest_eigenvectors(Q.T @ A @ Q, whitening(Q.T @ B @ Q), 1)[0]
        W = np.column_stack([W, w / np.linalg.norm(w)])
    return W
