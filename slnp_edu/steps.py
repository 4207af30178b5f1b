"""The steps of SLNP as pure functions: neighbours, gamma, S, W, and the objective J.

Rows of ``X`` are samples (N x D). Numbers in brackets are the paper's equations. Where the paper
slips, these functions compute what it must mean. The book's errata list says where and why.

A class with fewer than K + 1 samples has fewer than K neighbours to offer. A missing neighbour
enters the arrays at distance ``inf`` and gets similarity 0, so every array stays rectangular.
"""

from typing import Any

import numpy as np
from numpy.linalg import eigh
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from scipy.spatial.distance import cdist

__all__ = [
    "break_ties",
    "distances_to",
    "exact_s_step",
    "gamma_bounds",
    "gamma_step",
    "laplacian_scatter",
    "neighbours",
    "objective",
    "project_to_simplex",
    "s_step",
    "similarity_matrix",
    "smallest_eigenvectors",
    "uniform_similarity",
    "w_step",
    "whitening",
]

Array = NDArray[np.float64]


def neighbours(Y: ArrayLike, y: ArrayLike, n_neighbors: int) -> tuple[NDArray[np.intp], Array]:
    """Find the K nearest samples of the same class, the sample itself excluded.

    The distances are (28), ``d_ijk = ||W'x_ij - W'x_ik||^2``: squared throughout.
    This is the plain search: all pairs of a class, sorted. The estimators call
    `slnp_edu.search.Search`, which finds the same faster and in less memory.

    Parameters
    ----------
    Y : array of shape (N, d)
        The projected samples, ``Y = X @ W``.
    y : array of shape (N,)
        Their class labels.
    n_neighbors : int
        K, neighbours per sample.

    Returns
    -------
    indices : array of shape (N, K)
        Row numbers of the neighbours, nearest first. Ties go to the smaller number.
    distances : array of shape (N, K)
        Squared distances, ascending. Where a class has no K-th neighbour to offer, the distance
        is ``inf`` and the index is the sample's own.

    Examples
    --------
    >>> indices, distances = neighbours([[0.0], [1.0], [3.0], [3.5]], [0, 0, 0, 1], 2)
    >>> indices
    array([[1, 2],
           [0, 2],
           [1, 0],
           [3, 3]])
    >>> distances
    array([[ 1.,  9.],
           [ 1.,  4.],
           [ 4.,  9.],
           [inf, inf]])
    """
    Y, y = np.asarray(Y, dtype=float), np.asarray(y)
    indices = np.tile(np.arange(len(Y))[:, None], n_neighbors)
    distances = np.full(indices.shape, np.inf)
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        d = cdist(Y[members], Y[members], "sqeuclidean")  # (28)
        d[d < rounding(Y)] = 0.0
        np.fill_diagonal(d, np.inf)  # no sample is its own neighbour
        nearest = np.argsort(d, axis=1, kind="stable")[:, :n_neighbors]  # itself comes last
        k = nearest.shape[1]
        indices[members, :k] = members[nearest]
        distances[members, :k] = np.take_along_axis(d, nearest, axis=1)
    return indices, distances


def rounding(Y: Array) -> float:
    """Squared distances below this, ``1e-20`` times the largest squared norm, count as 0."""
    centred = Y - np.einsum("ij->j", Y) / len(Y)
    return 1e-20 * float(np.einsum("ij,ij->i", centred, centred).max())


def distances_to(indices: NDArray[np.intp], Y: ArrayLike) -> Array:
    """Squared distances (28) from each sample to the ones named.

    Parameters
    ----------
    indices : array of shape (N, K)
        Row numbers. A sample's own number marks a missing neighbour.
    Y : array of shape (N, d)

    Returns
    -------
    distances : array of shape (N, K)
        ``inf`` where a neighbour is missing. What's only rounding counts as 0, as in `neighbours`.

    Examples
    --------
    >>> distances_to(np.array([[1, 2], [0, 1], [1, 0]]), [[0.0], [1.0], [3.0]])
    array([[ 1.,  9.],
           [ 1., inf],
           [ 4.,  9.]])
    """
    Y = np.asarray(Y, dtype=float)
    distances = np.sum((Y[:, None] - Y[indices]) ** 2, axis=2)
    distances[distances < rounding(Y)] = 0.0
    return np.where(indices == np.arange(len(Y))[:, None], np.inf, distances)


def gamma_step(distances: ArrayLike) -> Array:
    """Regularisation of each sample, ``gamma_ij = (K-1)/2 * sqrt(sum_k d_ijk^2)`` (52).

    It's 0 when K = 1 or when all K distances are 0. It never falls below the lower bound of (45),
    so the similarities of `s_step` are never negative (the lemma of the gamma chapter).

    Parameters
    ----------
    distances : array of shape (N, K)
        Squared distances to the K neighbours, ``inf`` where there's none.

    Returns
    -------
    gamma : array of shape (N,)

    Examples
    --------
    >>> gamma_step([[3.0, 4.0]])
    array([2.5])
    """
    d, K = _present(distances)
    length: Array = np.linalg.norm(d, axis=1)
    return (K - 1) / 2 * length


def gamma_bounds(distances: ArrayLike) -> tuple[Array, Array]:
    """Bounds of (45): the gammas for which exactly K similarities of the exact S-step are positive.

    ``lower = K/2 d_K - 1/2 sum_{k<=K} d_k`` and ``upper = K/2 d_(K+1) - 1/2 sum_{k<=K} d_k``.

    Parameters
    ----------
    distances : array of shape (N, K + 1)
        Squared distances to the K + 1 nearest, ascending. Where there's no (K+1)-th (``inf``),
        the last one present takes its place, and the two bounds meet.

    Returns
    -------
    lower, upper : arrays of shape (N,)

    Examples
    --------
    >>> gamma_bounds([[1.0, 2.0, 4.0]])
    (array([0.5]), array([2.5]))
    """
    distances = np.asarray(distances, dtype=float)
    d, K = _present(distances[:, :-1])
    last, following = d.max(axis=1), distances[:, -1]
    following = np.where(np.isfinite(following), following, last)
    total = d.sum(axis=1)
    return (K * last - total) / 2, (K * following - total) / 2


def s_step(distances: ArrayLike, gamma: ArrayLike) -> Array:
    """Similarities to the K neighbours, ``s_ijk = eta - d_ijk / (2 gamma_ij)`` (38).

    With ``eta`` from (42) this is ``s_ijk = 1/K + (mean_k d_ijk - d_ijk) / (2 gamma_ij)``.
    A row sums to 1. It's non-negative if gamma meets the lower bound of (45).
    Where gamma is 0 the row is ``1/K``.

    Parameters
    ----------
    distances : array of shape (N, K)
        Squared distances to the K neighbours, ``inf`` where there's none.
    gamma : array of shape (N,)

    Returns
    -------
    S : array of shape (N, K)
        Similarities. 0 where there's no neighbour.

    Examples
    --------
    >>> s_step([[1.0, 3.0]], [2.0])
    array([[0.75, 0.25]])
    """
    d, K = _present(distances)
    K = np.maximum(K, 1)[:, None]  # a row without neighbours comes out as zeros below
    centred = d.sum(axis=1, keepdims=True) / K - d
    two_gamma = 2 * np.asarray(gamma, dtype=float)[:, None]
    S = 1 / K + centred / np.where(two_gamma > 0, two_gamma, np.inf)
    return np.where(np.isfinite(distances), S, 0.0)


def exact_s_step(distances: ArrayLike, gamma: ArrayLike) -> Array:
    """Exact minimiser of (26) for any gamma: the projection of ``-d / (2 gamma)`` onto the simplex.

    This is (37) with the multiplier b kept: ``s_ijk = max(eta - d_ijk / (2 gamma_ij), 0)``.
    As gamma falls to 0 the row approaches equal shares among the nearest. That is its value at 0.

    Parameters
    ----------
    distances : array of shape (N, M)
        Squared distances to all candidates, ``inf`` where there's none.
    gamma : array of shape (N,)

    Returns
    -------
    S : array of shape (N, M)

    Examples
    --------
    >>> exact_s_step([[1.0, 3.0]], [0.5])
    array([[1., 0.]])
    """
    d = np.asarray(distances, dtype=float)
    S = np.zeros_like(d)
    some = np.isfinite(d).any(axis=1)  # a row without candidates stays zero
    # Measuring d from its row minimum changes only eta, and keeps numbers near the support small.
    above = d[some] - d[some].min(axis=1, keepdims=True)
    two_gamma = 2 * np.asarray(gamma, dtype=float)[some, None]
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        v = np.where(above == 0, 0.0, -above / two_gamma)
    S[some] = project_to_simplex(v)
    return S


def project_to_simplex(v: ArrayLike) -> Array:
    """Nearest point of the simplex ``{s >= 0, sum s = 1}`` to each row of v.

    Sort the row, find the largest number of entries that can stay positive, shift them by one
    common ``eta`` so that they sum to 1, and cut the rest to 0: the solution of (34) with all
    Karush-Kuhn-Tucker conditions kept.

    Parameters
    ----------
    v : array of shape (N, M)
        Entries may be ``-inf`` (never on the support), but not all of a row.

    Returns
    -------
    S : array of shape (N, M)

    Examples
    --------
    >>> project_to_simplex([[0.5, 0.3, -1.0]])
    array([[0.6, 0.4, 0. ]])
    """
    shifted = np.asarray(v, dtype=float)
    shifted = shifted - shifted.max(axis=1, keepdims=True)  # changes only eta
    u = -np.sort(-shifted, axis=1)
    eta = (1 - np.cumsum(u, axis=1)) / np.arange(1, u.shape[1] + 1)
    with np.errstate(invalid="ignore"):  # -inf + inf: an entry that is never positive
        support = np.sum(u + eta > 0, axis=1)
    S: Array = np.maximum(shifted + eta[np.arange(len(u)), support - 1][:, None], 0.0)
    return S


def objective(distances: ArrayLike, S: ArrayLike, gamma: ArrayLike) -> float:
    """The objective ``J = sum_ijk (s_ijk d_ijk + gamma_ij s_ijk^2)`` (19).

    Parameters
    ----------
    distances, S : arrays of shape (N, K)
    gamma : array of shape (N,)

    Returns
    -------
    J : float

    Examples
    --------
    >>> objective([[1.0, 3.0]], [[0.75, 0.25]], [2.0])
    2.75
    """
    d, _ = _present(distances)
    S, gamma = np.asarray(S, dtype=float), np.asarray(gamma, dtype=float)
    return float(np.sum(S * d + gamma[:, None] * S**2))


def similarity_matrix(indices: NDArray[np.intp], S: Array) -> csr_array:
    """Put the similarities of each sample's neighbours into one sparse N x N matrix.

    Parameters
    ----------
    indices : array of shape (N, K)
        Row numbers of the neighbours, from `neighbours`.
    S : array of shape (N, K)
        Their similarities, from `s_step`.

    Returns
    -------
    S : sparse array of shape (N, N)
        ``S[j, k]`` is the similarity of sample j to its neighbour k. Not symmetric.
    """
    N, K = indices.shape
    starts = np.arange(0, N * K + 1, K)
    matrix = csr_array((S.flatten(), indices.flatten(), starts), shape=(N, N))
    matrix.eliminate_zeros()  # works in place, hence the copies
    return matrix


def uniform_similarity(y: ArrayLike) -> LinearOperator:
    """The start: ``s_ijk = 1/N_i`` for every pair in a class, as an operator.

    It's ``E E'`` with one column of E per class, ``1/sqrt(N_i)`` on its members, and is never
    written out. With it ``X'LX`` is the within-class scatter (5): the first W-step is LDA.

    Parameters
    ----------
    y : array of shape (N,)

    Returns
    -------
    S : LinearOperator of shape (N, N)
    """
    _, label, size = np.unique(np.asarray(y), return_inverse=True, return_counts=True)
    share = 1 / np.sqrt(size[label])
    E = csr_array((share, (np.arange(len(label)), label)), shape=(len(label), len(size)))
    return aslinearoperator(E) @ aslinearoperator(E.T)


def laplacian_scatter(X: Array, S: Any) -> Array:
    """``X'LX`` with ``L = D - (S + S')/2`` (54)-(56), where D holds the row sums.

    ``sum_jk s_jk ||W'x_j - W'x_k||^2 = 2 tr(W' X'LX W)`` for any W.

    Parameters
    ----------
    X : array of shape (N, D)
    S : array, sparse array or LinearOperator of shape (N, N)
        Only products with S and S' are used.

    Returns
    -------
    scatter : array of shape (D, D)
    """
    ones = np.ones(X.shape[0])
    degree: Array = (S @ ones + S.T @ ones) / 2
    LX = degree[:, None] * X
    LX -= S @ X
    half = X.T @ LX
    return (half + half.T) / 2  # X'S'X is the transpose of X'SX


def whitening(B: Array) -> Array:
    """Matrix P with ``P'BP = I`` whose columns span the range of B.

    Null directions of B are dropped, so a rank-deficient B needs no special case. Signs are fixed:
    what is drawn at random in the coordinates of P is then the same with every library.

    Parameters
    ----------
    B : array of shape (D, D)
        Symmetric, positive semi-definite.

    Returns
    -------
    P : array of shape (D, rank)
    """
    values, vectors = eigh(B)
    kept = values > 10 * len(B) * np.finfo(float).eps * max(values[-1], 0.0)
    return fix_signs(vectors[:, kept] / np.sqrt(values[kept]))


def smallest_eigenvectors(A: Array, P: Array, n_components: int) -> tuple[Array, Array]:
    """Solve ``A w = lambda B w`` for the smallest eigenvalues, given the whitening P of B.

    Returns W with ``W'BW = I``, each column's largest entry positive, and the eigenvalues.
    """
    values, vectors = eigh(P.T @ A @ P)
    vectors = break_ties(values, vectors, P, n_components)
    return fix_signs(P @ vectors[:, :n_components]), values[:n_components]


def break_ties(values: Array, vectors: Array, P: Array, n_components: int) -> Array:
    """Where the n-th eigenvalue is tied with the next, take directions of more variance first.

    The equations leave the choice open, and an eigenvalue routine would let rounding decide: from
    the uniform start all directions beyond the C - 1 of LDA are tied. With ``w'Bw = 1``, a short w
    is a direction in which B, the scatter of the data, is large.
    """
    last = values[n_components - 1]
    rounding = 1e-10 * np.abs(last) + 1e-13 * np.abs(values).max()
    tied = np.abs(values - last) < rounding
    if tied[n_components:].any():
        W = P @ vectors[:, tied]
        _, by_length = eigh(W.T @ W)
        vectors[:, tied] = fix_signs(vectors[:, tied] @ by_length)
    return vectors


def fix_signs(W: Array) -> Array:
    """Flip the columns of W whose entry of largest size is negative.

    Of entries that are equally large up to rounding, as in (1, -1), the first one counts.
    """
    size = np.abs(W)
    first = np.argmax(size >= (1 - 1e-8) * size.max(axis=0), axis=0)
    return W * np.where(W[first, np.arange(W.shape[1])] < 0, -1.0, 1.0)


def w_step(X: Array, S: Any, n_components: int, P: Array | None = None) -> tuple[Array, Array]:
    """Projection W that minimises ``tr(W'X'LXW)`` under ``W'StW = I`` (53)-(57), (22).

    The columns solve ``X'LX w = lambda St w`` for the smallest eigenvalues.

    Parameters
    ----------
    X : array of shape (N, D)
    S : array, sparse array or LinearOperator of shape (N, N)
        Similarities. Symmetrised here.
    n_components : int
        d, at most the rank of St.
    P : array of shape (D, rank), optional
        Whitening of St, if already known: it's the same in every round. X should then be centred.
        X'LX is the same wherever the origin is, up to rounding.

    Returns
    -------
    W : array of shape (D, d)
    eigenvalues : array of shape (d,), ascending
    """
    X = np.asarray(X, dtype=float)
    if P is None:
        X = X - X.mean(axis=0)
        P = whitening(X.T @ X)
    W, eigenvalues = smallest_eigenvectors(laplacian_scatter(X, S), P, n_components)
    return W, np.maximum(eigenvalues, 0.0)  # L has none below 0, up to rounding


def _present(distances: ArrayLike) -> tuple[Array, NDArray[np.intp]]:
    """Distances with 0 for the missing neighbours, and how many neighbours each row has."""
    distances = np.asarray(distances, dtype=float)
    present = np.isfinite(distances)
    if present.all():
        return distances, np.full(len(distances), distances.shape[1])
    return np.where(present, distances, 0.0), present.sum(axis=1)
