"""Variants of Algorithm 1, to see which of its parts does what.

A variant changes one thing: which neighbours a sample has (`NEIGHBOURS`) or from which similarities
the rounds start (`STARTS`); the number of rounds is how many one takes. All else is the paper's.
Distances are those in the projected space, gamma is (52), S is (38).
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from slnp_edu.slnp import Round, rounds
from slnp_edu.steps import (
    Array,
    distances_to,
    gamma_step,
    neighbours,
    s_step,
    similarity_matrix,
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
    return rounds(X, y, d, K, start=S, choose=choose)


def always(indices: Indices) -> Choice:
    """Let the neighbours stay the same in every round; only their distances change."""
    return lambda Y, *_: (indices, distances_to(indices, Y))


def drawn(X: Array, y: NDArray[Any], K: int, seed: int) -> Indices:
    """K others of the class for every sample, drawn once.

    Each class is put in the order of its samples' features first, so that the draw does not depend
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


def farthest(Y: Array, y: NDArray[Any], K: int, *_: Any) -> tuple[Indices, Array]:
    """Find the K farthest of the class in the projected space, ties to the smaller row number."""
    indices = np.tile(np.arange(len(Y))[:, None], K)
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        D = cdist(Y[members], Y[members], "sqeuclidean")
        np.fill_diagonal(D, -1.0)  # last in its own row
        k = min(K, len(members) - 1)
        indices[members, :k] = members[np.argsort(-D, axis=1, kind="stable")[:, :k]]
    return indices, distances_to(indices, Y)


def whole_class(Y: Array, y: NDArray[Any], *_: Any) -> tuple[Indices, Array]:
    """Let all others of the class be neighbours, however many they are."""
    return neighbours(Y, y, int(np.unique(y, return_counts=True)[1].max()) - 1)


def nearest_graph(X: Array, y: NDArray[Any], K: int) -> csr_array:
    """Similarities (52), (38) to the K nearest before any projection."""
    indices, distances = neighbours(X, y, K)
    return similarity_matrix(indices, s_step(distances, gamma_step(distances)))


#: Who a sample's neighbours are. Each entry takes X, y, K and a seed.
NEIGHBOURS: dict[str, Callable[[Array, NDArray[Any], int, int], Choice]] = {
    "learned": lambda X, y, K, seed: neighbours,  # anew in the projected space: the paper's
    "fixed": lambda X, y, K, seed: always(neighbours(X, y, K)[0]),  # nearest as the data came
    "random": lambda X, y, K, seed: always(drawn(X, y, K, seed)),
    "farthest": lambda X, y, K, seed: farthest,
    "whole class": lambda X, y, K, seed: whole_class,
}

#: The similarities of the first W-step. Each entry takes X, y and K; None is ``1/N_i``.
STARTS: dict[str, Callable[[Array, NDArray[Any], int], csr_array | None]] = {
    "uniform": lambda X, y, K: None,
    "nearest": nearest_graph,
}
