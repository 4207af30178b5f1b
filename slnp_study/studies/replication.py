"""The paper's own runs: every split of Tables II, IV and VI, and of Figs. 4 to 9 and 12.

A unit, such as ``"table/10/03"`` (N_i = 10, split 3), is run, stored and checked on its own by
`slnp_study.records`. It returns plain numbers, lists and strings.
"""

from collections.abc import Iterator
from functools import cached_property, partial
from itertools import islice
from typing import Any

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
from slnp_study.packing import pack, unpack
from slnp_study.paper import COMMON_BASES
from slnp_study.protocol import BASES, METHODS, RULES, Split, random_split
from slnp_study.statistics import Difference, Outcomes, Tally, Verdict, difference, judge, tallies
from slnp_study.study import (
    EXACT,
    IMAGES,
    NUMBER,
    RATE,
    TEXT,
    Recorded,
    Study,
    Tolerance,
    Unit,
    entries,
    numbers,
    whole,
)

SPLITS = 20
FIG4_SPLITS = 5
FIG4_ROUNDS = 20
FIG9_DIMENSIONS = (2, 4, 6, 8, 10, 14, 18, 22, 26, 30, 34, 38, 42, 50, 60, 80, 100)
FIG12_NEIGHBOURS = (2, 3, 4, 5, 6, 7, 8, 9)
TIE_N_i = 20  # the column of Table II in which SLNP is farthest from the paper

#: The methods of which records hold every test image, in the common bases. The other rivals that
#: the book judges are in the records of `rivals`.
BY_IMAGE = ("MFA", "MFA, per sample", "LSDA", "SLNP")

_PEOPLE, _FACES = paper.FIGURES[5]["class"], paper.FIGURES[5]["N_i"]  # class 38 is the last one


def _curve(points: int) -> dict[str, Any]:
    return entries(x=numbers(points), **dict.fromkeys(COMMON_BASES, numbers(points)))


#: What a unit of each kind leaves behind.
SCHEMAS: dict[str, dict[str, Any]] = {
    "table": entries(
        tested=whole(),
        right=entries(**dict.fromkeys(METHODS, numbers(len(BASES), most=1e9))),
        outcomes=TEXT,
    ),
    "fig4": entries(**dict.fromkeys(RULES, numbers(FIG4_ROUNDS))),
    "fig5-7": entries(
        rows=numbers(_FACES),
        similarities={
            "type": "array",
            "items": numbers(_FACES - 1),
            "minItems": 10,
            "maxItems": 10,
        },
        lpp=numbers(_FACES - 1),
        gamma=numbers(_PEOPLE),
        spread_projected=numbers(_PEOPLE),
        spread_original=numbers(_PEOPLE),
        training_rows={**numbers(_PEOPLE), "items": numbers(_FACES)},
    ),
    "fig6": entries(learned=numbers(_PEOPLE), lpp=numbers(_PEOPLE)),
    "fig8": _curve(len(paper.FIGURES[8]["K"])),
    "fig9": _curve(len(FIG9_DIMENSIONS)),
    "fig12": _curve(len(FIG12_NEIGHBOURS)),
    "tie": entries(**{"d = C - 1": NUMBER, "tie drawn": NUMBER}),
}


def units(dataset: str, splits: int) -> list[Unit]:
    """Return all units of a data set, in the order in which they're run."""
    found = []
    for N_i, dimensions in paper.DIMENSIONS[dataset].items():
        setting = {"N_i": N_i, **dimensions, "K": paper.DATASETS[dataset]["K"]}
        for seed in range(splits):
            run = partial(table, seed=seed, **setting)
            found.append(_unit(f"table/{N_i:02}/{seed:02}", IMAGES, run))
    of_figures = {"yale_b": _units_of_faces, "mnist": _units_of_digits}
    return found + (of_figures[dataset](splits) if dataset in of_figures else [])


def _units_of_faces(splits: int) -> list[Unit]:
    found = []
    for seed in range(min(splits, FIG4_SPLITS)):
        for K in (paper.FIGURES[4]["K"], paper.FIGURES[5]["K"]):
            run = partial(convergence, K=K, seed=seed)
            found.append(_unit(f"fig4/{K}/{seed:02}", EXACT, run))
        found.append(_unit(f"fig5-7/{seed:02}", EXACT, partial(learned, seed=seed)))
        lights = ("data", "target", "azimuth", "elevation")
        run = partial(illumination, seed=seed)
        found.append(_unit(f"fig6/{seed:02}", EXACT, run, lights))
    for seed in range(splits):
        for figure in (8, 9):
            run = partial(rate_against, figure=figure, seed=seed)
            found.append(_unit(f"fig{figure}/{seed:02}", RATE, run))
        found.append(_unit(f"tie/{TIE_N_i}/{seed:02}", RATE, partial(tie, seed=seed)))
    return found


def _units_of_digits(splits: int) -> list[Unit]:
    runs = {seed: partial(rate_against, figure=12, seed=seed) for seed in range(splits)}
    return [_unit(f"fig12/{seed:02}", RATE, run) for seed, run in runs.items()]


def _unit(key: str, tolerance: Tolerance, run: Any, arrays: Any = ("data", "target")) -> Unit:
    kind = key.split("/")[0]
    return Unit(key, kind, tolerance, run, SCHEMAS[kind], arrays)


def table(
    X: Array, y: NDArray[Any], *, N_i: int, D_PCA: int, d: int, K: int, seed: int
) -> Recorded:
    """One split of one column of Table II, IV or VI.

    Returns
    -------
    dict
        ``tested``: how many test images there are. ``right``: method -> how many of them are
        right in each of `BASES`. ``outcomes``: which ones, packed. See
        `slnp_study.packing`.
    """
    split = Split(X, y, N_i=N_i, D_PCA=D_PCA, seed=seed)
    right: dict[str, list[int]] = {}
    outcomes = []
    for method in METHODS:
        W = split.learn(method, d, K)
        found = {basis: split.right(W, basis) for basis in BASES}
        right[method] = [int(found[basis].sum()) for basis in BASES]
        if method in BY_IMAGE:
            outcomes += [found[basis] for basis in COMMON_BASES]
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

    P and Q are n x n. The diagonals are left out.
    """
    others = ~np.eye(len(P), dtype=bool)
    P, Q = (rankdata(M[others].reshape(len(M), -1), axis=1) - len(M) / 2 for M in (P, Q))
    products = np.sum(P * Q, axis=1) / np.sqrt(np.sum(P**2, axis=1) * np.sum(Q**2, axis=1))
    return float(products.mean())


def rate_against(X: Array, y: NDArray[Any], figure: int, seed: int) -> dict[str, Any]:
    """Figs. 8, 9 and 12: SLNP's rate in both bases against K or d. One curve point per value."""
    setting = paper.FIGURES[figure]
    split = Split(X, y, N_i=setting["N_i"], D_PCA=setting["D_PCA"], seed=seed)
    if figure == 9:
        points = {d: (d, setting["K"]) for d in FIG9_DIMENSIONS}
    else:
        neighbours = setting["K"] if figure == 8 else FIG12_NEIGHBOURS
        points = {K: (setting["d"], K) for K in neighbours}
    projections = [split.learn("SLNP", d, K) for d, K in points.values()]
    rates = {basis: [split.rate(W, basis) for W in projections] for basis in COMMON_BASES}
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
        At least C - 1. With C - 1 nothing is tied, and the answer is `SLNP`'s.
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


def settings(dataset: str) -> dict[str, Any]:
    """Return what a record must have been made with."""
    return {
        "dimensions": paper.DIMENSIONS[dataset],
        "K": paper.DATASETS[dataset]["K"],
        "methods": {"table": tuple(METHODS), "outcomes": BY_IMAGE},
        "bases": {"table": BASES, "outcomes": COMMON_BASES},
    }


def check(unit: Unit, recorded: Recorded) -> Iterator[str]:
    """Say what is wrong with a recorded column: its counts must fit its outcomes."""
    if unit.kind != "table":
        return
    right, tested = recorded["right"], recorded["tested"]
    if max(map(max, right.values())) > tested:
        yield f"{unit.key}: not every count is between 0 and the number of test images"
    expected = [right[m][BASES.index(b)] for m in BY_IMAGE for b in COMMON_BASES]
    counts = unpack(recorded["outcomes"], len(expected), tested).sum(axis=1)
    if counts.tolist() != expected:
        yield f"{unit.key}: the counts do not match the outcomes"


class Tables:
    """A record of this study, as the chapters use it.

    Attributes
    ----------
    units : dict
        As recorded.
    columns : ``N_i -> method -> basis -> array of one rate per split``, in per cent
    """

    def __init__(self, record: dict[str, Any]) -> None:
        self.dataset: str = record["dataset"]
        self.source: str = record["source"]
        self.checksum: str = record["checksum"]
        self.class_sizes: list[int] = record["class_sizes"]
        self.seeds: list[int] = record["seeds"]
        self.units: dict[str, Any] = record["units"]
        self.sizes = [int(N_i) for N_i in record["settings"]["dimensions"]]
        self.columns = {N_i: self._rates(N_i) for N_i in self.sizes}

    def mean(self, method: str, basis: str) -> Array:
        """Mean rate of a method, one number for each column."""
        return np.array([column[method][basis].mean() for column in self.columns.values()])

    def curve(self, figure: int, basis: str) -> tuple[list[int], Array]:
        """Return x, and the rates of shape (splits, len(x)), of Fig. 8, 9 or 12."""
        rows = [self.units[f"fig{figure}/{seed:02}"] for seed in self.seeds]
        return rows[0]["x"], np.array([row[basis] for row in rows])

    @cached_property
    def outcomes(self) -> dict[int, list[Outcomes]]:
        """Read which test images were right, for every method in the common bases."""
        return {N_i: [self._outcomes(N_i, seed) for seed in self.seeds] for N_i in self.sizes}

    @cached_property
    def tallies(self) -> dict[tuple[int, str, str], Tally]:
        """Count SLNP against every other method: ``(N_i, other, basis) -> Tally``."""
        return tallies(self.outcomes, paper.DATASETS[self.dataset]["cluster"])

    def over_columns(self, other: str, basis: str) -> Difference:
        """SLNP minus another method, all columns of the data set together."""
        return difference(*(t for (_, *pair), t in self.tallies.items() if pair == [other, basis]))

    @cached_property
    def verdicts(self) -> dict[tuple[int, str, str], Verdict]:
        """Judge SLNP against every other method."""
        return judge({key: difference(each) for key, each in self.tallies.items()})

    def _rates(self, N_i: int) -> dict[str, dict[str, Array]]:
        splits = [self.units[f"table/{N_i:02}/{seed:02}"] for seed in self.seeds]
        counts = {m: np.array([each["right"][m] for each in splits]) for m in METHODS}
        rates = {m: (100 * count / splits[0]["tested"]).T for m, count in counts.items()}
        return {m: dict(zip(BASES, rate, strict=True)) for m, rate in rates.items()}

    def _outcomes(self, N_i: int, seed: int) -> Outcomes:
        unit = self.units[f"table/{N_i:02}/{seed:02}"]
        y = np.repeat(np.arange(len(self.class_sizes)), self.class_sizes)
        _, rows = random_split(y, N_i, seed)
        judges = len(BY_IMAGE) * len(COMMON_BASES)
        right = unpack(unit["outcomes"], judges, unit["tested"])
        right = right.reshape(len(BY_IMAGE), len(COMMON_BASES), -1)
        return Outcomes(right, BY_IMAGE, COMMON_BASES, rows, y[rows])


STUDY = Study("", tuple(paper.DIMENSIONS), SPLITS, units, settings, check, Tables)
