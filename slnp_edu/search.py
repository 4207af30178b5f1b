"""Exact nearest neighbours: screened in single precision, settled in double.

The squared distances of many rows to many others are one matrix product. In single precision it is
fast but inexact, so it only screens: what cannot be among the k nearest is dropped, and the few
pairs that are left are measured again, exactly. The book's page on speed tells the story.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slnp_edu.steps import rounding

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
BLOCK = 2**20  # pairs screened at once: 4 MB
CACHED = 2**15  # numbers handled at once while pairs are measured: 256 kB
FAR = 1e30  # farther than any two samples


class Search:
    """Find what `slnp_edu.steps.neighbours` finds, sooner; remember it for the next round.

    Between two rounds the samples move a little, so the neighbours of the round before bound the
    distance to the K-th. The answer is the same with and without them.
    """

    def __init__(self) -> None:
        self._last: Indices | None = None

    def __call__(self, Y: Array, y: NDArray[Any], n_neighbors: int) -> tuple[Indices, Array]:
        """Return indices and squared distances, both of shape (N, K), as `neighbours` does."""
        known = self._last is not None and self._last.shape == (len(Y), n_neighbors)
        near = self._last if known else None
        indices, distances = _nearest_in_class(Y, y, n_neighbors, near)
        self._last = indices
        return indices, distances


def _nearest_in_class(
    Y: Array, y: NDArray[Any], k: int, near: Indices | None
) -> tuple[Indices, Array]:
    """Find the k nearest others of each sample's class, some classes at a time."""
    indices, distances = np.empty((k, len(Y)), np.intp), np.full((k, len(Y)), np.inf)
    indices[:] = np.arange(len(Y))
    zero = rounding(Y)
    order = np.argsort(y, kind="stable")
    y = y.take(order)
    edges = np.concatenate([[0], 1 + np.flatnonzero(y[1:] != y[:-1]), [len(y)]])
    first, sizes = edges[:-1], np.diff(edges)  # of each class
    place = np.empty(len(y), np.intp)  # of each sample within its class
    place[order] = np.arange(len(y)) - np.repeat(first, sizes)
    for members, absent in _batches(order, first, sizes):
        Z = Y.take(members, axis=0)
        hint = None if near is None else place.take(near.T.take(members, axis=1))
        for rows, found, d in _search(Z, k, absent, hint, zero):
            there = np.flatnonzero(~absent[:, rows])
            sample = members[:, rows].ravel().take(there)
            found, d = members.take(found.take(there, axis=1)), d.take(there, axis=1)
            indices[:, sample], distances[:, sample] = np.where(d < np.inf, found, sample), d
    return indices.T, distances.T


def _batches(
    order: Indices, first: Indices, sizes: Indices
) -> Iterator[tuple[Indices, NDArray[np.bool_]]]:
    """Yield the row numbers of some classes at a time, one class a line, the largest classes first.

    Shorter lines are filled up with their first number; the second array says where.
    """
    classes = np.argsort(-sizes, kind="stable")
    while len(classes) and sizes[classes[0]] > 1:
        slot = np.arange(sizes[classes[0]])
        many = max(1, BLOCK // len(slot) ** 2)
        now, classes = classes[:many], classes[many:]
        absent = slot >= sizes[now][:, None]
        yield order[first[now][:, None] + np.where(absent, 0, slot)], absent


def _search(
    Z: Array, k: int, absent: NDArray[np.bool_], near: Indices | None, zero: float
) -> Iterator[tuple[slice, Indices, Array]]:
    """Yield the k nearest of every row of Z[c] among the others, a block of rows at a time.

    Parameters
    ----------
    Z : array of shape (C, n, d)
        The members of C classes.
    absent : array of shape (C, n)
        Rows that only fill up a smaller class.
    near : array of shape (k, C, n), optional
        Rows of Z[c] that may be near: they bound the k-th distance.
    zero : float
        Squared distances below this count as 0.

    Yields
    ------
    rows : slice
        Which rows of every Z[c].
    indices, distances : arrays of shape (k, C * len(rows))
        The nearest of all rows first, then the second nearest, and so on: NumPy is quicker along
        long lines. Numbered as the rows of ``Z.reshape(-1, d)``; ``inf`` where there is none.
    """
    C, n, d = Z.shape
    left, right, q, slack, unit = factors(Z)
    left[absent, d] = right[absent, d + 1] = FAR
    step = max(1, BLOCK // (C * n))
    space = np.empty(max(BLOCK, C * n), np.float32)  # one size for all, so that it is used again
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        r = np.arange(rows.stop - start)
        product = space[: C * len(r) * n].reshape(C, len(r), n)
        np.matmul(left[:, rows], right.transpose(0, 2, 1), out=product)
        product[:, r, start + r] = FAR  # a sample is not its own neighbour
        low = product.reshape(-1, n)
        high = bound_kth(low, k, None if near is None else near[..., rows].reshape(k, -1))
        high = (1 + 8 * slack) * np.maximum(high + 6 * slack * q[:, rows].ravel(), zero / unit)
        pairs = np.flatnonzero(low <= np.minimum(high, FAR / 2).astype(np.float32)[:, None])
        i = pairs // n
        c = i // len(r)
        j = pairs - i * n + c * n  # in the rows of all Z[c]
        D = _measure(Z.reshape(-1, d), i + c * (n - len(r)) + start, j)
        D[zero > D] = 0.0
        yield rows, *_sorted(i, j, D, len(low), k)


def factors(Z: Array) -> tuple[Array, Array, Array, float, float]:
    """Factors whose products are the squared distances, never above the true ones.

    Their rows are ``[-2a, (1 - e) a'a, 1]`` and ``[b, 1, (1 - e) b'b]``, with a and b centred and
    scaled so that single precision can hold them. The slack e is twice what rounding can do,
    ``e/2 (a'a + b'b)``: so ``low <= D <= low + 3/2 e (a'a + b'b)``, and from ``b'b <= 2 a'a + 2 D``
    follows ``D <= (1 + 8e) (low + 6e a'a)``, the bound in `_search`.
    Also returned: a'a, e, and the unit in which the squared distances are measured.
    """
    centred = Z - np.einsum("cij->cj", Z)[:, None] / Z.shape[1]
    scale = float(np.clip(np.abs(centred).max(), 1e-150, 1e150))
    scaled = centred / scale
    squares = np.einsum("cij,cij->ci", scaled, scaled)
    d = Z.shape[2]
    slack = 2 * (d + 5) * float(np.finfo(np.float32).eps)
    left, right = (np.ones((*Z.shape[:2], d + 2), np.float32) for _ in range(2))
    left[..., :d], left[..., d] = -2 * scaled, (1 - slack) * squares
    right[..., :d], right[..., d + 1] = scaled, (1 - slack) * squares
    return left, right, squares, slack, scale**2


def bound_kth(low: Array, k: int, near: Indices | None) -> Array:
    """For each row of low a number not below its k-th smallest entry: the largest of k entries."""
    if near is not None:
        places = near + low.shape[1] * np.arange(len(low))  # in low laid flat
        largest: Array = low.take(places).max(axis=0)
        return largest
    n, m = low.shape
    if k > m:
        return np.full(n, np.inf)
    size = int(np.sqrt(m / (2 * k))) or 1  # of a group: only its least is sorted
    least = low[:, : m // size * size].reshape(n, size, -1).min(axis=1)
    return np.partition(least, k - 1, axis=1)[:, k - 1]


def _measure(Z: Array, i: Indices, j: Indices) -> Array:
    """Squared distances of row i to row j, for many pairs."""
    D = np.empty(len(i))
    step = max(1, CACHED // Z.shape[1])
    for start in range(0, len(i), step):
        some = slice(start, start + step)
        difference = Z.take(i[some], axis=0)
        difference -= Z.take(j[some], axis=0)
        D[some] = np.einsum("ij,ij->i", difference, difference)
    return D


def _sorted(i: Indices, j: Indices, D: Array, n: int, k: int) -> tuple[Indices, Array]:
    """The k smallest D of each i = 0 ... n - 1 and their j; the pairs come sorted by i, then j."""
    pairs = np.empty(len(i), complex)  # which NumPy sorts by the real part, then the imaginary
    pairs.real, pairs.imag = i, D
    order = np.argsort(pairs, kind="stable")
    count = np.bincount(i, minlength=n)
    rank = np.arange(k)[:, None]
    chosen = order.take(np.cumsum(count) - count + rank, mode="clip")
    distances = D.take(chosen)
    if count.min() < k:
        distances[rank >= count] = np.inf
    return j.take(chosen), distances
