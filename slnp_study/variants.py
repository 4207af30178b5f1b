"""Variants of Algorithm 1, to see which of its parts does what.

A variant changes one thing: which neighbours a sample has (`NEIGHBOURS`) or from which similarities
the rounds start (`STARTS`). The number of rounds is how many one takes. All else is the paper's.
Distances are those in the projected space, gamma is (52), S is (38).
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from slnp_edu.search import Search
from slnp_edu.slnp import Round, rounds
from slnp_edu.steps import (
    Array,
    distances_to,
    gamma_step,
    neighbours,
    s_step,
    similarity_matrix,
    whitening,
)

Indices = NDArray[np.intp]
Choice = Callable[..., tuple[Indices, Array]]


def variant(
    X: Array,
    y: NDArray[Any],
    d: int,
    K: int,
    *,
    chosen: str = "learned",
    start: str = "uniform",
    seed: int = 0,
) -> Iterator[Round]:
    """Algorithm 1 with other neighbours or another start, round by round.

    Parameters
    ----------
    X : array of shape (N, D)
    y : array of shape (N,)
    d, K : int
    chosen : one of `NEIGHBOURS`
    start : one of `STARTS`
    seed : int
        Of the draw, where neighbours are drawn.

    Yields
    ------
    Round

    Examples
    --------
    >>> from itertools import islice
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tenth = list(islice(variant(X, y, 1, 5, chosen="random"), 10))[-1]
    >>> tenth.W.shape
    (4, 1)
    """
    choose, S = NEIGHBOURS[chosen](X, y, K, seed), STARTS[start](X, y, K)
    return rounds(X, y, d, K, start=S, find=choose)


def whitened(X: Array) -> Array:
    """Give the samples the scatter ``St = I``."""
    X = X - X.mean(axis=0)
    return X @ whitening(X.T @ X)


def always(indices: Indices) -> Choice:
    """Let the neighbours stay the same in every round. Only their distances change."""
    return lambda Y, y, K: (indices, distances_to(indices, Y))


def drawn(X: Array, y: NDArray[Any], K: int, seed: int) -> Indices:
    """K others of the class for every sample, drawn once.

    Each class is put in the order of its samples' features first, so that the draw doesn't depend
    on the order of the rows. A class of N_i <= K samples has N_i - 1 to offer, as in `neighbours`.
    """
    rng = np.random.default_rng(seed)
    indices = np.tile(np.arange(len(X))[:, None], K)
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        members = members[np.lexsort(X[members].T[::-1])]
        lots = rng.random((len(members), len(members)))
        np.fill_diagonal(lots, np.inf)  # a sample is not its own neighbour
        k = min(K, len(members) - 1)
        indices[members, :k] = members[np.argsort(lots, axis=1)[:, :k]]
    return indices


def farthest(Y: Array, y: NDArray[Any], K: int) -> tuple[Indices, Array]:
    """Find the K farthest of the class in the projected space, ties to the smaller row number."""
    indices = np.tile(np.arange(len(Y))[:, None], K)
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        D = cdist(Y[members], Y[members], "sqeuclidean")
        np.fill_diagonal(D, -1.0)  # last in its own row
        k = min(K, len(members) - 1)
        indices[members, :k] = members[np.argsort(-D, axis=1, kind="stable")[:, :k]]
    return indices, distances_to(indices, Y)


def whole_class(Y: Array, y: NDArray[Any], K: int = 0) -> tuple[Indices, Array]:
    """Let all others of the class be neighbours, however many there are."""
    return neighbours(Y, y, int(np.unique(y, return_counts=True)[1].max()) - 1)


def nearest_graph(X: Array, y: NDArray[Any], K: int) -> csr_array:
    """Similarities (52), (38) to the K nearest before any projection."""
    indices, distances = neighbours(X, y, K)
    return similarity_matrix(indices, s_step(distances, gamma_step(distances)))


#: Who a sample's neighbours are. Each entry takes X, y, K and a seed.
NEIGHBOURS: dict[str, Callable[[Array, NDArray[Any], int, int], Choice]] = {
    "learned": lambda X, y, K, seed: Search(),  # again in the projected space: the paper's
    "fixed": lambda X, y, K, seed: always(neighbours(X, y, K)[0]),  # nearest as the data came
    "fixed, whitened": lambda X, y, K, seed: always(neighbours(whitened(X), y, K)[0]),
    "random": lambda X, y, K, seed: always(drawn(X, y, K, seed)),
    "farthest": lambda X, y, K, seed: farthest,
    "whole class": lambda X, y, K, seed: whole_class,
}

#: The similarities of the first W-step. Each entry takes X, y and K. None is ``1/N_i``.
STARTS: dict[str, Callable[[Array, NDArray[Any], int], csr_array | None]] = {
    "uniform": lambda X, y, K: None,
    "nearest": nearest_graph,
}


def nearness(Y: Array, y: NDArray[Any], K: int) -> float:
    """Mean squared distance to the K nearest of the class, divided by that to all others of it."""
    near, every = neighbours(Y, y, K)[1], whole_class(Y, y)[1]
    return float(near[np.isfinite(near)].mean() / every[np.isfinite(every)].mean())


def overlap(Y: Array, Z: Array, y: NDArray[Any], K: int) -> float:
    """Share of the K nearest of the class in Y that are among the K nearest in Z, too."""
    indices, distances = neighbours(Y, y, K)
    in_both = (indices[:, :, None] == neighbours(Z, y, K)[0][:, None]).any(axis=2)
    return float(in_both[np.isfinite(distances)].mean())
