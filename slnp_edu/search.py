"""Exact nearest neighbours: screened in single precision, settled in double.

The squared distances of many rows to many others are one matrix product. In single precision it is
fast but inexact, so it only screens: what cannot be among the k nearest is dropped, and the few
pairs that are left are measured again, exactly. The book's page on speed tells the story.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
BLOCK = 2**20  # pairs screened at once: 4 MB
CACHED = 2**15  # numbers handled at once while pairs are measured: 256 kB
FAR = 1e30  # farther than any two samples


def nearest(A: Array, B: Array) -> Indices:
    """Find the row of B nearest to each row of A; ties go to the smaller row number.

    Parameters
    ----------
    A : array of shape (n, d)
    B : array of shape (m, d)

    Returns
    -------
    indices : array of shape (n,)

    Examples
    --------
    >>> nearest(np.array([[0.0], [10.0]]), np.array([[1.0], [-1.0], [7.0]]))
    array([0, 2])
    """
    found = [indices[0] for _, indices, _ in _search(A[None], B[None], 1)]
    return np.concatenate(found)


def nearest_in_class(
    Y: Array, y: NDArray[np.generic], k: int, near: Indices | None, rounding: float
) -> tuple[Indices, Array]:
    """Find the k nearest others of each sample's class: what `slnp_edu.steps.neighbours` returns.

    Squared distances below `rounding` count as 0.
    """
    indices, distances = np.empty((k, len(Y)), np.intp), np.full((k, len(Y)), np.inf)
    indices[:] = np.arange(len(Y))
    order = np.argsort(y, kind="stable")
    y = y.take(order)
    edges = np.concatenate([[0], 1 + np.flatnonzero(y[1:] != y[:-1]), [len(y)]])
    first, sizes = edges[:-1], np.diff(edges)  # of each class
    place = np.empty(len(y), np.intp)  # of each sample within its class
    place[order] = np.arange(len(y)) - np.repeat(first, sizes)
    for members, absent in _batches(order, first, sizes):
        Z = Y.take(members, axis=0)
        hint = None if near is None else place.take(near.T.take(members, axis=1))
        for rows, found, d in _search(Z, Z, k, absent, hint, rounding):
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
    A: Array,
    B: Array,
    k: int,
    absent: NDArray[np.bool_] | None = None,
    near: Indices | None = None,
    rounding: float = 0.0,
) -> Iterator[tuple[slice, Indices, Array]]:
    """Yield the k nearest of every row of A[c] among those of B[c], a block of rows at a time.

    Parameters
    ----------
    A, B : arrays of shape (C, n, d) and (C, m, d)
        If they are the same array, a row is not its own neighbour.
    absent : array of shape (C, m), optional
        Rows of B (and of A, if the same) that do not count.
    near : array of shape (k, C, n), optional
        Rows of B[c] that may be near: they bound the k-th distance.

    Yields
    ------
    rows : slice
        Which rows of every A[c].
    indices, distances : arrays of shape (k, C * len(rows))
        The nearest of all rows first, then the second nearest, and so on: NumPy is quicker along
        long lines. Numbered as the rows of ``B.reshape(-1, d)``; ``inf`` where there is none.
    """
    (C, n, d), m = A.shape, B.shape[1]
    left, right, q, slack, unit = _factors(A, B)
    if absent is not None:
        left[absent, d] = right[absent, d + 1] = FAR
    step = max(1, BLOCK // (C * m))
    space = np.empty(max(BLOCK, C * m), np.float32)  # one size for all, so that it is used again
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        r = np.arange(rows.stop - start)
        product = space[: C * len(r) * m].reshape(C, len(r), m)
        np.matmul(left[:, rows], right.transpose(0, 2, 1), out=product)
        if A is B:
            product[:, r, start + r] = FAR  # a sample is not its own neighbour
        low = product.reshape(-1, m)
        high = _not_below_kth(low, k, None if near is None else near[..., rows].reshape(k, -1))
        high = (1 + 8 * slack) * np.maximum(high + 6 * slack * q[:, rows].ravel(), rounding / unit)
        pairs = np.flatnonzero(low <= np.minimum(high, FAR / 2).astype(np.float32)[:, None])
        i = pairs // m
        c = i // len(r)
        j = pairs - i * m + c * m  # in the rows of all B[c]
        D = _measure(A.reshape(-1, d), B.reshape(-1, d), i + c * (n - len(r)) + start, j)
        D[rounding > D] = 0.0
        yield rows, *_sorted(i, j, D, len(low), k)


def _factors(A: Array, B: Array) -> tuple[Array, Array, Array, float, float]:
    """Factors whose products are the squared distances, never above the true ones.

    Their rows are ``[-2a, (1 - e) a'a, 1]`` and ``[b, 1, (1 - e) b'b]``, with a and b centred and
    scaled so that single precision can hold them. The slack e is twice what rounding can do,
    ``e/2 (a'a + b'b)``: so ``low <= D <= low + 3/2 e (a'a + b'b)``, and from ``b'b <= 2 a'a + 2 D``
    follows ``D <= (1 + 8e) (low + 6e a'a)``, the bound in `_search`.
    Also returned: a'a, e, and the unit in which the squared distances are measured.
    """
    centre = np.einsum("cij->cj", B)[:, None] / B.shape[1]
    centred = [Z - centre for Z in ([A] if A is B else [A, B])]  # no work twice
    scale = float(np.clip(max(np.abs(Z).max() for Z in centred), 1e-150, 1e150))
    scaled = [Z / scale for Z in centred]
    squares = [np.einsum("cij,cij->ci", Z, Z) for Z in scaled]
    d = A.shape[2]
    slack = 2 * (d + 5) * float(np.finfo(np.float32).eps)
    left, right = (np.ones((*Z.shape[:2], d + 2), np.float32) for Z in (A, B))
    left[..., :d], left[..., d] = -2 * scaled[0], (1 - slack) * squares[0]
    right[..., :d], right[..., d + 1] = scaled[-1], (1 - slack) * squares[-1]
    return left, right, squares[0], slack, scale**2


def _not_below_kth(low: Array, k: int, near: Indices | None) -> Array:
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


def _measure(A: Array, B: Array, i: Indices, j: Indices) -> Array:
    """Squared distances of row i of A to row j of B, for many pairs."""
    D = np.empty(len(i))
    step = max(1, CACHED // A.shape[1])
    for start in range(0, len(i), step):
        some = slice(start, start + step)
        difference = A.take(i[some], axis=0)
        difference -= B.take(j[some], axis=0)
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
