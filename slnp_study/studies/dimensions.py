"""Learning against flexibility: how the gain of ten rounds changes with the dimensions PCA keeps.

The plan is ``plans/verdict.md``.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from slnp_edu.baselines import LFDA
from slnp_edu.slnp import rounds
from slnp_edu.steps import Array
from slnp_study import paper
from slnp_study.contest import Cell, Contest
from slnp_study.protocol import METHODS, Part, directions
from slnp_study.variants import variant

#: The smallest, a middle and the largest column of each set.
COLUMNS = {"yale_b": (5, 15, 30), "coil100": (6, 18, 30), "mnist": (5, 15, 30)}
#: How many dimensions PCA can keep, and the classes. On digits it's fewer than there are pixels:
#: some 40 pixels at the edge are black in all images of a training part.
LARGEST = {"yale_b": (48 * 42, 38), "coil100": (16 * 16, 100), "mnist": (150, 10)}


def learn(part: Part, cell: Cell, seed: int) -> Iterator[tuple[str, Array]]:
    """Yield every method and its W."""
    A, y, (_, _, d, K) = part.A, part.y_train, cell
    first, *_, last = islice(rounds(A, y, d, K), paper.ROUNDS)
    yield "SLNP", last.W
    yield "SLNP, 1 round", first.W
    *_, last = islice(rounds(A, y, d, K, anchor=0.3), paper.ROUNDS)
    yield "anchored, 0.3", last.W
    *_, last = islice(variant(A, y, d, K, chosen="fixed"), paper.ROUNDS)
    yield "fixed graph", last.W
    yield "LDA", _lda(A, y, d)
    yield "LFDA", directions(LFDA(d, metric="plain"), A, y)


def _lda(A: Array, y: Any, d: int) -> Array:
    """scikit-learn's LDA, without the dimensions that only rounding has left some length."""
    spread = A.std(axis=0)
    varies = spread > 1e-9 * spread.max()
    found = METHODS["LDA"](A[:, varies], y, d, 0)
    W = np.zeros((A.shape[1], found.shape[1]))
    W[varies] = found
    return W


def cells(dataset: str) -> list[Cell]:
    """Return three columns, each with the paper's D_PCA and six from a fifth of it to all."""
    found = []
    largest, classes = LARGEST[dataset]
    for N_i in COLUMNS[dataset]:
        of, K = paper.DIMENSIONS[dataset][N_i], paper.DATASETS[dataset]["K"]
        most = min(N_i * classes - 1, largest)
        kept = {of["D_PCA"], *np.geomspace(of["D_PCA"] / 5, most, 6).round().astype(int).tolist()}
        found += [Cell(N_i, D_PCA, min(of["d"], D_PCA), K) for D_PCA in sorted(kept)]
    return found


NAMES = ("SLNP", "SLNP, 1 round", "anchored, 0.3", "fixed graph", "LDA", "LFDA")

STUDY = Contest(
    name="dimensions",
    plan="verdict.md",
    splits=10,
    first_seed=100,
    cells={dataset: cells(dataset) for dataset in COLUMNS},
    learn=learn,
    methods=NAMES,
    by_image=(),
    folds=3,
).study()
