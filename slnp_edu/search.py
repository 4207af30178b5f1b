"""Exact nearest neighbours, faster: by a tree where that pays, else screened in single precision.

The squared distances of many rows to many others are one matrix product. In single precision it's
fast but inexact, so it only screens: what can't be among the K nearest is dropped. The few that the
tree or the product leaves are measured again, exactly. The book's page on speed tells the story.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from slnp_edu.steps import Array, rounding

_Indices = NDArray[np.intp]
_BLOCK = 2**20  # pairs screened at once: 4 MB
_FAR = 1e30  # farther apart than any two samples
_TREE = 24  # a tree pays in classes of this many samples, times K, times 2^d


class Search:
    """Find what `slnp_edu.steps.neighbours` finds, faster. Remember it for the next round.

    Between two rounds the samples move a little, so last round's neighbours bound the
    distance to the K-th. The answer is the same with and without them.
    """

    _last: tuple[Any, Any] = (None, ())  # labels and neighbours

    def __call__(self, Y: Array, y: NDArray[Any], n_neighbors: int) -> tuple[_Indices, Array]:
        """Return indices and squared distances, both of shape (N, K), as `neighbours` does."""
        before, near = self._last
        known = np.array_equal(before, y) and len(near) == n_neighbors
        # A row for each of the K, not for each sample: NumPy is quicker along long rows.
        indices = np.tile(np.arange(len(Y)), (n_neighbors, 1))
        distances = np.full(indices.shape, np.inf)
        place, zero = np.empty(len(Y), np.intp), rounding(Y)
        for members, slot in _batches(np.asarray(y)):
            Z = Y.take(members, axis=0)
            place[members] = slot
            hint = place.take(near.take(members, axis=1)) if known else None
            for rows, i, j in _candidates(Z, slot, n_neighbors, hint, zero):
                j, d = _nearest(Z.reshape(-1, Z.shape[2]), rows, i, j, n_neighbors, zero)
                own = members.take(rows)
                indices[:, own], distances[:, own] = np.where(d < np.inf, members.take(j), own), d
        self._last = y, indices
        return indices.T, distances.T


def _batches(y: Any) -> Iterator[tuple[_Indices, _Indices]]:
    """Yield the row numbers of some classes, one class per row, and their places in the class.

    The largest classes come first. A shorter row is padded with its last number.
    """
    order, (_, sizes) = np.argsort(y, kind="stable"), np.unique(y, return_counts=True)
    first, classes = np.cumsum(sizes) - sizes, np.argsort(-sizes, kind="stable")
    while len(classes) and (n := sizes[classes[0]]) > 1:
        now, classes = np.split(classes, [max(1, _BLOCK // n**2)])
        slot = np.minimum(np.arange(n), sizes[now][:, None] - 1)
        yield order[first[now][:, None] + slot], slot


def _candidates(Z: Array, slot: Any, k: int, near: Any, zero: float) -> Iterator[Any]:
    """Leave out what can't be near: by a tree or, where the K-th is tied, by screening all pairs.

    Parameters
    ----------
    Z : array of shape (C, n, d)
        The members of C classes.
    slot : array of shape (C, n)
        Their places in the class, from `_batches`.
    near : array of shape (k, C, n), optional
        Rows of Z[c] that may be near: they bound the k-th distance.
    zero : float
        Squared distances below this count as 0.

    Yields
    ------
    rows, i, j : arrays of int
        Rows of ``Z.reshape(-1, d)``, and pairs: row ``rows[i]`` and a row j that may be near it.
    """
    C, n, d = Z.shape
    rest = np.arange(n)
    if C == 1 and n >= (k + 2) * (1 + _TREE * 2.0**d):
        tree: Any = cKDTree(Z[0], leafsize=8 * d)
        far, j = tree.query(Z[0], k + 2, workers=-1 if n > 10_000 else 1)  # itself, k, one more
        tied = far[:, k + 1] ** 2 <= np.maximum((1 + 1e-9) * far[:, k] ** 2, zero)
        j = np.sort(j[:, : k + 1], axis=1)
        i, column = np.nonzero(j != rest[:, None])
        yield rest, i, j[i, column]
        rest = np.flatnonzero(tied)  # searched once more, below
    left, right, q, slack, unit = factors(Z)
    right[slot < np.arange(n), d + 1] = _FAR  # these only pad a smaller class
    step = max(1, _BLOCK // (C * n))
    space = np.empty(max(_BLOCK, C * n), np.float32)  # one size for all, so that it can be reused
    for start in range(0, len(rest), step):
        rows = rest[start : start + step]
        low: Any = space[: C * len(rows) * n].reshape(C, len(rows), n)
        np.matmul(left[:, rows], right.transpose(0, 2, 1), out=low)
        low[np.arange(C)[:, None], np.arange(len(rows)), slot[:, rows]] = _FAR  # itself
        low = low.reshape(-1, n)
        high = bound_kth(low, k, None if near is None else near[..., rows].reshape(k, -1))
        high = (1 + 8 * slack) * np.maximum(high + 6 * slack * q[:, rows].ravel(), zero / unit)
        pairs = np.flatnonzero(low <= np.minimum(high, _FAR / 2).astype(np.float32)[:, None])
        i = pairs // n
        yield (n * np.arange(C)[:, None] + rows).ravel(), i, pairs + (i // len(rows) - i) * n


def factors(Z: Array) -> tuple[Array, Array, Array, float, float]:
    """Factors whose products are lower bounds of the squared distances.

    Their rows are ``[-2a, (1 - e) a'a, 1]`` and ``[b, 1, (1 - e) b'b]``, with a and b centred and
    scaled so that single precision can hold them. The slack e is twice what rounding can do,
    ``e/2 (a'a + b'b)``: so ``low <= D <= low + 3/2 e (a'a + b'b)``, and ``b'b <= 2 a'a + 2 D``
    gives ``D <= (1 + 8e) (low + 6e a'a)``, the bound in `_candidates`.
    Also returned: a'a, e, and the unit in which the squared distances are measured.
    """
    d, slack = Z.shape[2], 2 * (Z.shape[2] + 5) * float(np.finfo(np.float32).eps)
    centred = Z - np.einsum("cij->cj", Z)[:, None] / Z.shape[1]
    scale = float(np.clip(np.abs(centred).max(), 1e-150, 1e150))
    scaled = centred / scale
    squares = np.einsum("cij,cij->ci", scaled, scaled)
    left, right = (np.ones((*Z.shape[:2], d + 2), np.float32) for _ in range(2))
    left[..., :d], left[..., d] = -2 * scaled, (1 - slack) * squares
    right[..., :d], right[..., d + 1] = scaled, (1 - slack) * squares
    return left, right, squares, slack, scale**2


def bound_kth(low: Array, k: int, near: Any) -> Array:
    """For each row of ``low``, the largest of k entries: not below its k-th smallest."""
    n, m = low.shape
    if near is not None:
        return np.asarray(low.take(near + m * np.arange(n)).max(axis=0))
    size = int(np.sqrt(m / (2 * k))) or 1  # of a group: only its minimum is sorted
    least = low[:, : m // size * size].reshape(n, size, -1).min(axis=1)
    return np.partition(least, k - 1, axis=1)[:, k - 1] if k <= m else np.full(n, np.inf)


def _nearest(Z: Array, rows: Any, i: Any, j: Any, k: int, zero: float) -> Any:
    """The k nearest of each row and their squared distances. The pairs come sorted by i, then j."""
    D, step = np.empty(len(i)), max(1, 2**15 // Z.shape[1])  # 256 kB at once
    for some in map(slice, range(0, len(i), step), range(step, len(i) + step, step)):
        difference = Z.take(rows.take(i[some]), axis=0)
        difference -= Z.take(j[some], axis=0)
        D[some] = np.einsum("ij,ij->i", difference, difference)
    D[zero > D] = 0.0
    pairs = np.column_stack([i, D]).view(complex)[:, 0]  # NumPy sorts by both parts in turn
    order = np.argsort(pairs, kind="stable")
    count, rank = np.bincount(i, minlength=len(rows)), np.arange(k)[:, None]
    chosen = order.take(np.cumsum(count) - count + rank, mode="clip")
    return j.take(chosen), np.where(rank < count, D.take(chosen), np.inf)
