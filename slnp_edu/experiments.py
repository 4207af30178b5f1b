"""Every run behind Figs. 4 to 9 and 12 and Tables II, IV and VI, as small independent units.

A unit is a key such as ``"table/10/03"`` (N_i = 10, split 3) and a function of the data. Units are
run, stored and checked one by one by `slnp_edu.records`. A unit returns rates in per cent and
whatever else its figure needs, as plain numbers and lists.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slnp_edu import paper
from slnp_edu.base import BASES, in_basis
from slnp_edu.datasets import load_coil100, load_mnist, load_yale_b
from slnp_edu.protocol import (
    METHODS,
    evaluate,
    nearest_neighbour_rate,
    pca_split,
    random_split,
)
from slnp_edu.slnp import SLNP
from slnp_edu.steps import (
    Array,
    gamma_step,
    neighbours,
    s_step,
    similarity_matrix,
    uniform_similarity,
    w_step,
    whitening,
)

Unit = Callable[[Array, NDArray[Any]], dict[str, Any]]

SPLITS = 20
FIG4_SPLITS = 5
FIG4_ROUNDS = 20
RULES = ("paper", "can", "fixed")
FIG9_DIMENSIONS = (2, 4, 6, 8, 10, 14, 18, 22, 26, 30, 34, 38, 42, 50, 60, 80, 100)
FIG12_NEIGHBOURS = (2, 3, 4, 5, 6, 7, 8, 9)
TIE_N_i = 20  # the column of Table II in which SLNP is farthest from the paper

LOADERS: dict[str, Callable[[], Any]] = {
    "yale_b": partial(load_yale_b, "real"),
    "coil100": partial(load_coil100, "real"),
    "mnist": load_mnist,
}


def units(dataset: str, splits: int = SPLITS) -> dict[str, Unit]:
    """Return all units of a data set, in the order in which they are run."""
    found: dict[str, Unit] = {}
    K = paper.DATASETS[dataset]["K"]
    for N_i, dimensions in paper.DIMENSIONS[dataset].items():
        for seed in range(splits):
            column = {"N_i": N_i, "D_PCA": dimensions["D_PCA"], "d": dimensions["d"], "K": K}
            found[f"table/{N_i:02}/{seed:02}"] = partial(table, column=column, seed=seed)
    if dataset == "yale_b":
        for K in (paper.FIGURES[4]["K"], paper.FIGURES[5]["K"]):
            for seed in range(min(splits, FIG4_SPLITS)):
                found[f"fig4/{K}/{seed:02}"] = partial(convergence, K=K, seed=seed)
        for seed in range(min(splits, FIG4_SPLITS)):
            found[f"fig5-7/{seed:02}"] = partial(learned, seed=seed)
        for seed in range(splits):
            found[f"fig8/{seed:02}"] = partial(rate_against, figure=8, seed=seed)
            found[f"fig9/{seed:02}"] = partial(rate_against, figure=9, seed=seed)
            found[f"tie/{TIE_N_i}/{seed:02}"] = partial(tie, seed=seed)
    if dataset == "mnist":
        for seed in range(splits):
            found[f"fig12/{seed:02}"] = partial(rate_against, figure=12, seed=seed)
    return found


def table(X: Array, y: NDArray[Any], column: dict[str, int], seed: int) -> dict[str, Any]:
    """One split of one column of Table II, IV or VI: the rate of every method in every basis."""
    N_i, D_PCA, d, K = (column[name] for name in ("N_i", "D_PCA", "d", "K"))
    return dict(evaluate(X, y, N_i=N_i, D_PCA=D_PCA, d=d, K=K, seed=seed))


def convergence(X: Array, y: NDArray[Any], K: int, seed: int) -> dict[str, Any]:
    """Fig. 4: J after each round, for the three gamma rules."""
    figure = paper.FIGURES[4]
    A, y_train, *_ = pca_split(X, y, figure["N_i"], figure["D_PCA"], seed)
    return {
        rule: SLNP(figure["d"], K, gamma=rule, max_iter=FIG4_ROUNDS, tol=0)
        .fit(A, y_train)
        .objective_.tolist()
        for rule in RULES
    }


def learned(X: Array, y: NDArray[Any], seed: int) -> dict[str, Any]:
    """Figs. 5 to 7: one face's similarities per round, LPP's for the same, gamma per class.

    The face is the first training image of the last class, as x_{38,1} in the paper. LPP's
    similarity is (13) in the original space with t the mean squared distance from that face.
    """
    figure = paper.FIGURES[5]
    train, _ = random_split(y, figure["N_i"], seed)
    A, y_train, *_ = pca_split(X, y, figure["N_i"], figure["D_PCA"], seed)
    model = SLNP(figure["d"], figure["K"], tol=0, keep_history=True).fit(A, y_train)
    class_38 = np.flatnonzero(y_train == y_train.max())
    first, others = class_38[0], class_38[1:]
    similarities = [r.S[[first]].toarray()[0, others].tolist() for r in model.history_]
    squared = np.sum((X[train[others]] - X[train[first]]) ** 2, axis=1)
    labels = np.unique(y_train)
    return {
        "rows": train[class_38].tolist(),  # in the data set, the reference first
        "similarities": similarities,
        "lpp": np.exp(-squared / squared.mean()).tolist(),
        "gamma": [model.gamma_[y_train == c].mean() for c in labels],  # (58)
        "spread_projected": [spread(model.transform(A)[y_train == c]) for c in labels],
        "spread_original": [spread(X[train][y_train == c]) for c in labels],
        "training_rows": [train[y_train == c].tolist() for c in labels],
    }


def spread(members: Array) -> float:
    """Mean squared distance of a class's samples from their mean."""
    return float(np.mean(np.sum((members - members.mean(axis=0)) ** 2, axis=1)))


def rate_against(X: Array, y: NDArray[Any], figure: int, seed: int) -> dict[str, Any]:
    """Figs. 8, 9 and 12: SLNP's rate in both bases against K or d; one curve point per value."""
    setting = paper.FIGURES[figure]
    A, y_train, B, y_test = pca_split(X, y, setting["N_i"], setting["D_PCA"], seed)
    if figure == 9:
        points = {d: (d, setting["K"]) for d in FIG9_DIMENSIONS}
    else:
        neighbours = setting["K"] if figure == 8 else FIG12_NEIGHBOURS
        points = {K: (setting["d"], K) for K in neighbours}
    rates: dict[str, list[float]] = {basis: [] for basis in BASES}
    for d, K in points.values():
        W = SLNP(d, K, tol=0).fit(A, y_train).components_.T
        for basis in BASES:
            V = in_basis(W, basis)
            rates[basis].append(nearest_neighbour_rate(A @ V, y_train, B @ V, y_test))
    return {"x": list(points), **rates}


def tie(X: Array, y: NDArray[Any], seed: int) -> dict[str, Any]:
    """One split of a column of Table II, with d = C - 1, where nothing is tied, and a drawn tie."""
    setting, K = paper.DIMENSIONS["yale_b"][TIE_N_i], paper.DATASETS["yale_b"]["K"]
    A, y_train, B, y_test = pca_split(X, y, TIE_N_i, setting["D_PCA"], seed)
    projections = {
        "d = C - 1": METHODS["SLNP"](A, y_train, len(np.unique(y)) - 1, K),
        "tie drawn": with_drawn_tie(A, y_train, setting["d"], K, seed)[0],
    }
    rates: dict[str, Any] = {}
    for choice, W in projections.items():
        V = in_basis(W, "orthonormal")
        rates[choice] = nearest_neighbour_rate(A @ V, y_train, B @ V, y_test)
    return rates


def with_drawn_tie(
    A: Array, y: NDArray[Any], d: int, K: int, seed: int, max_iter: int = 10
) -> tuple[Array, Array]:
    """SLNP with the tied directions of the first W-step drawn at random, not taken by a rule.

    From the uniform start every direction beyond the C - 1 of LDA has the same eigenvalue, so all
    draws are equally good answers of the first W-step. The rounds then go on as in Algorithm 1.

    Parameters
    ----------
    A : array of shape (N, D)
        The training part after PCA.
    y : array of shape (N,)
    d : int
        At least C - 1; with C - 1 nothing is tied, and the answer is that of `SLNP`.
    K, seed, max_iter : int

    Returns
    -------
    W, gamma : arrays of shape (D, d) and (N,), of the last round
    """
    A = A - A.mean(axis=0)
    St = A.T @ A
    P = whitening(St)
    fixed = len(np.unique(y)) - 1
    W, _ = w_step(A, uniform_similarity(y), fixed, P)
    V = P.T @ St @ W  # W = PV with V'V = I
    # Drawn in the coordinates of A: the signs of the columns of P are left to the library.
    drawn = np.random.default_rng(seed).normal(size=(len(St), d - fixed))
    drawn = P.T @ St @ (drawn / np.sqrt(np.diag(St))[:, None])
    W = np.hstack([W, P @ np.linalg.qr(drawn - V @ (V.T @ drawn))[0]])
    for _ in range(max_iter - 1):
        indices, distances = neighbours(A @ W, y, K)
        s = s_step(distances, gamma_step(distances))
        W, _ = w_step(A, similarity_matrix(indices, s), d, P)
    return W, gamma_step(neighbours(A @ W, y, K)[1])
