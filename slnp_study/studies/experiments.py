"""Every run behind Figs. 4 to 9 and 12 and Tables II, IV and VI, as small units.

A unit, such as ``"table/10/03"`` (N_i = 10, split 3), is run, stored and checked on its own by
`slnp_study.records`. It returns plain numbers, lists and strings.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from slnp_edu.slnp import SLNP, rounds
from slnp_edu.steps import (
    Array,
    fix_signs,
    gamma_step,
    neighbours,
    s_step,
    similarity_matrix,
    uniform_similarity,
    w_step,
    whitening,
)
from slnp_study import paper
from slnp_study.outcomes import pack
from slnp_study.protocol import BASES, Split

SPLITS = 20
FIG4_SPLITS = 5
FIG4_ROUNDS = 20
RULES = ("paper", "can", "fixed")
FIG9_DIMENSIONS = (2, 4, 6, 8, 10, 14, 18, 22, 26, 30, 34, 38, 42, 50, 60, 80, 100)
FIG12_NEIGHBOURS = (2, 3, 4, 5, 6, 7, 8, 9)
TIE_N_i = 20  # the column of Table II in which SLNP is farthest from the paper
COMMON = ("whitened", "orthonormal")  # the bases in which methods may be compared

#: The methods that records hold, whatever else `METHODS` may offer.
RECORDED_METHODS = (
    "PCA",
    "PCA, d only",
    "LDA",
    "LDA, C - 1",
    "LPP",
    "LPP, within classes",
    "MFA",
    "MFA, per sample",
    "LSDA",
    "LFDA",
    "LFDA, weighted",
    "SOLDE",
    "LADA",
    "SLNP",
)

#: Those of which records hold every test image, in the common bases. With the others, one of which
#: has LFDA's subspace, the records would not stay under 2 MB.
BY_IMAGE = tuple(
    method for method in RECORDED_METHODS if method not in ("PCA, d only", "LFDA, weighted", "LADA")
)


_PEOPLE, _FACES = paper.FIGURES[5]["class"], paper.FIGURES[5]["N_i"]  # class 38 is the last one
#: What a unit of a figure leaves behind: each entry and how many values it has; 0 is a number.
FIGURE_ENTRIES: dict[str, dict[str, int]] = {
    "fig4": dict.fromkeys(RULES, FIG4_ROUNDS),
    "fig5-7": {"rows": _FACES, "similarities": 10, "lpp": paper.FIGURES[5]["K"]}
    | dict.fromkeys(("gamma", "spread_projected", "spread_original", "training_rows"), _PEOPLE),
    "fig6": dict.fromkeys(("learned", "lpp"), _PEOPLE),
    "fig8": dict.fromkeys(("x", *COMMON), len(paper.FIGURES[8]["K"])),
    "fig9": dict.fromkeys(("x", *COMMON), len(FIG9_DIMENSIONS)),
    "fig12": dict.fromkeys(("x", *COMMON), len(FIG12_NEIGHBOURS)),
    "tie": {"d = C - 1": 0, "tie drawn": 0},
}


class RecordError(ValueError):
    """A record does not hold, or cannot be made; the message says so in one sentence."""


class Tolerance(NamedTuple):
    """How far a number that is computed again may be from the record: either will do."""

    absolute: float
    relative: float


IMAGES = Tolerance(absolute=2, relative=0)  # test images that another BLAS may flip
RATE = Tolerance(absolute=0.1, relative=0)  # per cent: about as many
EXACT = Tolerance(absolute=1e-9, relative=1e-6)  # J, similarities, gamma, correlations


@dataclass(frozen=True)
class Unit:
    """One independent run: what it is called, what it needs and how exactly it can be repeated."""

    key: str
    kind: str
    tolerance: Tolerance | Mapping[str, Tolerance]  # one for all entries, or for each its own
    function: Callable[..., dict[str, Any]]
    arrays: tuple[str, ...] = ("data", "target")  # of the data set, in the order of the function
    readable: Callable[[dict[str, Any]], dict[str, Any]] = dict  # unpacks what cannot be compared


def units(dataset: str, splits: int = SPLITS) -> list[Unit]:
    """Return all units of a data set, in the order in which they are run."""
    found = []
    for N_i, dimensions in paper.DIMENSIONS[dataset].items():
        setting = {"N_i": N_i, **dimensions, "K": paper.DATASETS[dataset]["K"]}
        for seed in range(splits):
            run = partial(table, seed=seed, **setting)
            found.append(Unit(f"table/{N_i:02}/{seed:02}", "table", IMAGES, run))
    of_figures = {"yale_b": _units_of_faces, "mnist": _units_of_digits}
    return found + (of_figures[dataset](splits) if dataset in of_figures else [])


def _units_of_faces(splits: int) -> list[Unit]:
    found = []
    for seed in range(min(splits, FIG4_SPLITS)):
        for K in (paper.FIGURES[4]["K"], paper.FIGURES[5]["K"]):
            run = partial(convergence, K=K, seed=seed)
            found.append(Unit(f"fig4/{K}/{seed:02}", "fig4", EXACT, run))
        found.append(Unit(f"fig5-7/{seed:02}", "fig5-7", EXACT, partial(learned, seed=seed)))
        lights = ("data", "target", "azimuth", "elevation")
        run = partial(illumination, seed=seed)
        found.append(Unit(f"fig6/{seed:02}", "fig6", EXACT, run, lights))
    for seed in range(splits):
        for figure in (8, 9):
            run = partial(rate_against, figure=figure, seed=seed)
            found.append(Unit(f"fig{figure}/{seed:02}", f"fig{figure}", RATE, run))
        found.append(Unit(f"tie/{TIE_N_i}/{seed:02}", "tie", RATE, partial(tie, seed=seed)))
    return found


def _units_of_digits(splits: int) -> list[Unit]:
    runs = {seed: partial(rate_against, figure=12, seed=seed) for seed in range(splits)}
    return [Unit(f"fig12/{seed:02}", "fig12", RATE, run) for seed, run in runs.items()]


def table(
    X: Array, y: NDArray[Any], *, N_i: int, D_PCA: int, d: int, K: int, seed: int
) -> dict[str, Any]:
    """One split of one column of Table II, IV or VI.

    Returns
    -------
    dict
        ``tested``: how many test images there are. ``right``: method -> how many of them are
        right in each of `BASES`. ``outcomes``: which ones, packed; see
        `slnp_study.outcomes`.
    """
    split = Split(X, y, N_i=N_i, D_PCA=D_PCA, seed=seed)
    right: dict[str, list[int]] = {}
    outcomes = []
    for method in RECORDED_METHODS:
        W = split.learn(method, d, K)
        found = {basis: split.right(W, basis) for basis in BASES}
        right[method] = [int(found[basis].sum()) for basis in BASES]
        if method in BY_IMAGE:
            outcomes += [found[basis] for basis in COMMON]
    return {"tested": len(split.test), "right": right, "outcomes": pack(np.array(outcomes))}


def convergence(X: Array, y: NDArray[Any], K: int, seed: int) -> dict[str, Any]:
    """Fig. 4: J after each round, for the three gamma rules."""
    figure = paper.FIGURES[4]
    split = Split(X, y, N_i=figure["N_i"], D_PCA=figure["D_PCA"], seed=seed)
    return {
        rule: SLNP(figure["d"], K, gamma=rule, max_iter=FIG4_ROUNDS, tol=0)
        .fit(split.A, split.y_train)
        .objective_.tolist()
        for rule in RULES
    }


def learned(X: Array, y: NDArray[Any], seed: int) -> dict[str, Any]:
    """Figs. 5 to 7: one face's similarities per round, LPP's for the same, gamma per class.

    The face is the first training image of the last class, as x_{38,1} in the paper. LPP's
    similarity is (13) in the original space with t the mean squared distance from that face.
    """
    figure = paper.FIGURES[5]
    split = Split(X, y, N_i=figure["N_i"], D_PCA=figure["D_PCA"], seed=seed)
    A, train, y_train = split.A, split.train, split.y_train
    run = list(islice(rounds(A, y_train, figure["d"], figure["K"]), 10))
    class_38 = np.flatnonzero(y_train == y_train.max())
    first, others = class_38[0], class_38[1:]
    similarities = [r.S[[first]].toarray()[0, others].tolist() for r in run]
    squared = np.sum((X[train[others]] - X[train[first]]) ** 2, axis=1)
    projected = A @ run[-1].W
    labels = np.unique(y_train)
    return {
        "rows": train[class_38].tolist(),  # in the data set, the reference first
        "similarities": similarities,
        "lpp": np.exp(-squared / squared.mean()).tolist(),
        "gamma": [run[-1].gamma[y_train == c].mean() for c in labels],  # (58)
        "spread_projected": [spread(projected[y_train == c]) for c in labels],
        "spread_original": [spread(X[train][y_train == c]) for c in labels],
        "training_rows": [train[y_train == c].tolist() for c in labels],
    }


def spread(members: Array) -> float:
    """Mean squared distance of a class's samples from their mean."""
    return float(np.mean(np.sum((members - members.mean(axis=0)) ** 2, axis=1)))


def illumination(
    X: Array, y: NDArray[Any], azimuth: Array, elevation: Array, seed: int
) -> dict[str, Any]:
    """Fig. 6 put to the test: does a similarity follow the light?

    Every training image is a reference in turn. The similarities of the others of its class to it
    are ranked against the angles between their lights and its light (Spearman): -1 where the
    nearer the light, the larger the similarity.

    Returns
    -------
    dict
        ``learned``, ``lpp``: the mean correlation of each class, in the order of the labels.
    """
    figure = paper.FIGURES[6]
    split = Split(X, y, N_i=figure["N_i"], D_PCA=figure["D_PCA"], seed=seed)
    model = SLNP(figure["d"], figure["K"], tol=0).fit(split.A, split.y_train)
    found: dict[str, list[float]] = {"learned": [], "lpp": []}
    for label in np.unique(y):
        members = np.flatnonzero(split.y_train == label)
        rows = split.train[members]
        angles = light_angles(azimuth[rows], elevation[rows])
        squared = np.sum((X[rows][:, None] - X[rows]) ** 2, axis=2)
        learned = model.similarity_[members][:, members].toarray()
        found["learned"].append(rank_correlation(learned, angles))
        found["lpp"].append(rank_correlation(-squared, angles))  # (13) falls with it for every t
    return found


def light_angles(azimuth: Array, elevation: Array) -> Array:
    """Angles in degrees between the directions of all pairs of lights, given in degrees.

    Rounded, so that lights to the left and to the right of another are equally far from it.
    """
    azimuth, elevation = np.radians(azimuth), np.radians(elevation)
    across, up = np.cos(elevation) * np.sin(azimuth), np.sin(elevation)
    u = np.column_stack([across, up, np.cos(elevation) * np.cos(azimuth)])
    angles: Array = np.degrees(np.arccos(np.clip(u @ u.T, -1, 1))).round(4)
    return angles


def rank_correlation(P: Array, Q: Array) -> float:
    """Spearman's rank correlation of each row of P with the same row of Q, averaged.

    P and Q are n x n; the diagonals are left out.
    """
    others = ~np.eye(len(P), dtype=bool)
    P, Q = (rankdata(M[others].reshape(len(M), -1), axis=1) - len(M) / 2 for M in (P, Q))
    products = np.sum(P * Q, axis=1) / np.sqrt(np.sum(P**2, axis=1) * np.sum(Q**2, axis=1))
    return float(products.mean())


def rate_against(X: Array, y: NDArray[Any], figure: int, seed: int) -> dict[str, Any]:
    """Figs. 8, 9 and 12: SLNP's rate in both bases against K or d; one curve point per value."""
    setting = paper.FIGURES[figure]
    split = Split(X, y, N_i=setting["N_i"], D_PCA=setting["D_PCA"], seed=seed)
    if figure == 9:
        points = {d: (d, setting["K"]) for d in FIG9_DIMENSIONS}
    else:
        neighbours = setting["K"] if figure == 8 else FIG12_NEIGHBOURS
        points = {K: (setting["d"], K) for K in neighbours}
    projections = [split.learn("SLNP", d, K) for d, K in points.values()]
    rates = {basis: [split.rate(W, basis) for W in projections] for basis in COMMON}
    return {"x": list(points), **rates}


def tie(X: Array, y: NDArray[Any], seed: int) -> dict[str, Any]:
    """One split of a column of Table II, with d = C - 1, where nothing is tied, and a drawn tie."""
    setting, K = paper.DIMENSIONS["yale_b"][TIE_N_i], paper.DATASETS["yale_b"]["K"]
    split = Split(X, y, N_i=TIE_N_i, D_PCA=setting["D_PCA"], seed=seed)
    untied = split.learn("SLNP", len(np.unique(y)) - 1, K)
    drawn, _ = with_drawn_tie(split.A, split.y_train, setting["d"], K, seed)
    return {
        "d = C - 1": split.rate(untied, "orthonormal"),
        "tie drawn": split.rate(drawn, "orthonormal"),
    }


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
    # Drawn in the coordinates of A, which do not depend on how P was computed.
    drawn = np.random.default_rng(seed).normal(size=(len(St), d - fixed))
    drawn = P.T @ St @ (drawn / np.sqrt(np.diag(St))[:, None])
    W = np.hstack([W, fix_signs(P @ np.linalg.qr(drawn - V @ (V.T @ drawn))[0])])
    indices, distances = neighbours(A @ W, y, K)  # the rest of the first round
    gamma = gamma_step(distances)
    S = similarity_matrix(indices, s_step(distances, gamma))
    for last in islice(rounds(A, y, d, K, start=S), max_iter - 1):
        W, gamma = last.W, last.gamma
    return W, gamma
