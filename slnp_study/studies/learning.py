"""Does learning the neighbours help? The paper's loop against others that differ in one thing.

The neighbours are learned, fixed beforehand, drawn, or the whole class, at three values of K. The
loop measures in another basis, or the pieces into which a class falls are tied together. The plan
is ``plans/verdict.md``.
"""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist

from slnp_edu.base import in_basis
from slnp_edu.slnp import rounds
from slnp_edu.steps import Array, distances_to, neighbours, similarity_matrix
from slnp_study import paper
from slnp_study.contest import Cell, Contest
from slnp_study.protocol import Part
from slnp_study.variants import variant

#: The paper's K and two larger ones, as far as a class has so many others.
NEIGHBOURS = {"yale_b": (5, 9, 14), "coil100": (3, 6, 12), "mnist": (6, 9, 14)}
OTHERS = ("fixed", "fixed, whitened", "random", "whole class")
INSIDE = ("orthonormal", "unit")


def learn(part: Part, cell: Cell, seed: int) -> Iterator[tuple[str, Array]]:
    """Yield every way to run the loop and its W."""
    A, y, (_, _, d, K) = part.A, part.y_train, cell
    for chosen in ("learned", *OTHERS):
        yield chosen, _last(variant(A, y, d, K, chosen=chosen, seed=seed))
    for basis in INSIDE:
        yield f"{basis} inside", _last(rounds(A, y, d, K, rescale=partial(in_basis, basis=basis)))
    yield "linked", _last(rounds(A, y, d, K, find=find_linked))


def _last(run: Iterator[Any]) -> Array:
    *_, last = islice(run, paper.ROUNDS)
    W: Array = last.W
    return W


def find_linked(Y: Array, y: NDArray[Any], K: int) -> tuple[NDArray[np.intp], Array]:
    """Find the K nearest, and tie the pieces of every class together by their nearest pairs.

    The ends of such a pair become neighbours of one another, beyond the K.
    """
    indices, _ = neighbours(Y, y, K)
    more: list[list[int]] = [[] for _ in Y]
    graph = similarity_matrix(indices, np.ones(indices.shape))
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        _, piece = connected_components(graph[members][:, members], directed=False)
        D = cdist(Y[members], Y[members], "sqeuclidean")
        # Any way within a piece is shorter than any way out: the tree leaves as rarely as it can.
        # (SciPy takes lengths below 1e-8 for no way at all.)
        apart = np.where(piece[:, None] == piece, 1.0, 2.0 + D / D.max())
        for j, k in np.transpose(minimum_spanning_tree(apart).nonzero()):
            if piece[j] != piece[k]:
                more[members[j]].append(members[k])
                more[members[k]].append(members[j])
    own = np.arange(len(Y))[:, None]  # stands for a neighbour that's missing
    wider = np.tile(own, max(map(len, more)))
    for j, found in enumerate(more):
        wider[j, : len(found)] = found
    indices = np.hstack([indices, wider])
    return indices, distances_to(indices, Y)


def cells(dataset: str) -> list[Cell]:
    """Return every column at each K that is less than the others of a class."""
    return [
        Cell(N_i, **of, K=K)
        for N_i, of in paper.DIMENSIONS[dataset].items()
        for K in NEIGHBOURS[dataset]
        if N_i - 1 > K
    ]


STUDY = Contest(
    name="learning",
    plan="verdict.md",
    splits=10,
    first_seed=100,
    cells={dataset: cells(dataset) for dataset in paper.DIMENSIONS},
    learn=learn,
    methods=("learned", *OTHERS, *(f"{basis} inside" for basis in INSIDE), "linked"),
    by_image=("learned", "fixed"),
).study()
