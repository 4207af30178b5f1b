"""SLNP against its rivals in the paper's words and in their authors': all 17 columns.

The paper describes LFDA with one kernel width, its author with local scaling. NCA is what the field
would reach for. The anchored SLNP is ours, not the paper's. The plan is ``plans/verdict.md``.
"""

import warnings
from collections.abc import Iterator, Mapping
from itertools import islice

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from slnp_edu.baselines import LFDA
from slnp_edu.slnp import rounds
from slnp_edu.steps import Array
from slnp_study import paper
from slnp_study.contest import BASES, Cell, Contest
from slnp_study.protocol import METHODS, Part, directions
from slnp_study.relatives import LADA

WIDTHS = (2, 1, 0.5, 0.25, 0.1)  # c: multiples of the mean squared distance within classes
SHARES = (0.1, 0.3)  # of the anchor
ROUNDS = (1, 2, 3, 5, 10)  # what P is chosen from
FOLDS = 3


def learn(part: Part, cell: Cell, seed: int) -> Iterator[tuple[str, Array | Mapping[str, Array]]]:
    """Yield every method and its W."""
    A, y, (_, _, d, K) = part.A, part.y_train, cell
    run = _run(part, cell)
    yield "SLNP", run[10]
    yield "SLNP, 2 rounds", run[2]
    yield "SLNP, P chosen", {b: run[P] for b, P in choose_rounds(part, cell, seed).items()}
    for share in SHARES:
        *_, last = islice(rounds(A, y, d, K, anchor=share), paper.ROUNDS)
        yield f"anchored, {share}", last.W
    yield "LFDA", directions(LFDA(d, metric="plain"), A, y)
    for c in WIDTHS:
        yield f"LFDA, c = {c}", directions(LFDA(d, kernel="heat", c=c, metric="plain"), A, y)
    yield "LDA", METHODS["LDA"](A, y, d, K)
    yield "PCA", np.eye(A.shape[1])
    yield "NCA", _nca(A, y, d)
    yield "LADA", directions(LADA(d), A, y)


def _run(part: Part, cell: Cell) -> dict[int, Array]:
    """W of SLNP after each of `ROUNDS`."""
    run = islice(rounds(part.A, part.y_train, cell.d, cell.K), max(ROUNDS))
    return {P: r.W for P, r in enumerate(run, start=1) if P in ROUNDS}


def choose_rounds(part: Part, cell: Cell, seed: int) -> dict[str, int]:
    """Choose P for each basis by cross-validation within the training part, the least of equals."""
    right = np.zeros((len(BASES), len(ROUNDS)), dtype=int)
    for fold in part.folds(FOLDS, seed):
        for j, W in enumerate(_run(fold, cell).values()):
            right[:, j] += [fold.right(W, basis).sum() for basis in BASES]
    return {basis: ROUNDS[best] for basis, best in zip(BASES, right.argmax(axis=1), strict=True)}


def _nca(A: Array, y: Array, d: int) -> Array:
    """scikit-learn's NCA on standardised features."""
    scale = A.std(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 50 iterations, as planned
        model = NeighborhoodComponentsAnalysis(d, max_iter=50, random_state=0).fit(A / scale, y)
    W: Array = (model.components_ / scale).T
    return W


METHODS_OF_SLNP = ("SLNP", "SLNP, 2 rounds", "SLNP, P chosen")
ANCHORED = tuple(f"anchored, {share}" for share in SHARES)
ONE_WIDTH = tuple(f"LFDA, c = {c}" for c in WIDTHS)
OTHERS = ("LDA", "PCA", "NCA", "LADA")

STUDY = Contest(
    name="rivals",
    plan="verdict.md",
    splits=20,
    first_seed=100,
    cells={
        name: [Cell(N_i, **of, K=paper.DATASETS[name]["K"]) for N_i, of in columns.items()]
        for name, columns in paper.DIMENSIONS.items()
    },
    learn=learn,
    methods=(*METHODS_OF_SLNP, *ANCHORED, "LFDA", *ONE_WIDTH, *OTHERS),
    # NCA's 50 steps carry a rounding error to another answer, one flipped image to another P.
    chaotic=("NCA", "SLNP, P chosen"),
    by_image=("SLNP", "SLNP, 2 rounds", *ANCHORED, "LFDA", *ONE_WIDTH[-2:], *OTHERS[:3]),
).study()
