"""Every way to run SLNP that the paper's words allow: a specification curve.

A *specification* settles all that the paper leaves open. Some choices touch every method alike
(`COMMON_CHOICES`), the others are SLNP's own (`OWN_CHOICES`). A unit runs all specifications of one
split, and LFDA and LDA wherever a choice applies to them. `rates` reads them back.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from slnp_edu.base import in_basis
from slnp_edu.slnp import rounds
from slnp_edu.steps import Array
from slnp_study import paper
from slnp_study.packing import pack_counts, unpack_counts
from slnp_study.protocol import METHODS, RULES, nearest_neighbour_is_right, random_split
from slnp_study.study import IMAGES, TEXT, Recorded, Study, Unit, entries, whole
from slnp_study.variants import STARTS

SPLITS = 5

#: What touches every method: the images, the number of directions, the distance of the 1-NN.
COMMON_CHOICES: dict[str, tuple[Any, ...]] = {
    "images": ("raw", "unit norm"),
    "PCA on": ("training part", "all images"),
    "d": ("half", "paper's", "three halves"),
    "basis": paper.COMMON_BASES,
    "metric": ("Euclidean", "cosine"),
}

#: What is SLNP's alone.
OWN_CHOICES: dict[str, tuple[Any, ...]] = {
    "start": tuple(STARTS),
    "gamma": RULES,
    "K": ("fewer", "paper's", "more"),
    "rounds": (2, paper.ROUNDS),
}

#: The axes of all arrays below, in this order: 1,728 specifications.
CHOICES = COMMON_CHOICES | OWN_CHOICES

#: What the paper says where it says it, and its silence read in the plainest way.
AS_PRINTED = {
    "images": "raw",
    "PCA on": "training part",
    "d": "paper's",
    "basis": "whitened",
    "metric": "Euclidean",
    "start": "uniform",
    "gamma": "paper",
    "K": "paper's",
    "rounds": paper.ROUNDS,
}

#: The column of each data set that is run, with about ten training images of a class.
COLUMN = {"yale_b": 10, "coil100": 12, "mnist": 10}

#: K for "fewer", "paper's" and "more".
NEIGHBOURS = {"yale_b": (3, 5, 8), "coil100": (2, 3, 5), "mnist": (3, 6, 8)}

#: Methods that make the common choices only.
RIVALS = ("LFDA", "LDA")
AXES = {"SLNP": CHOICES} | dict.fromkeys(RIVALS, COMMON_CHOICES)


def shape(choices: Mapping[str, tuple[Any, ...]]) -> tuple[int, ...]:
    """How many ways there are to make each choice."""
    return tuple(len(ways) for ways in choices.values())


def where(**made: Any) -> tuple[Any, ...]:
    """Index of all specifications in which these choices are made so.

    Examples
    --------
    >>> all_of_them = np.zeros(shape(CHOICES))
    >>> all_of_them[where(basis="orthonormal", rounds=2)].size
    432
    >>> all_of_them[where(**AS_PRINTED)].size
    1
    """
    made = {name.replace("_", " "): way for name, way in made.items()}
    return tuple(
        ways.index(made[name]) if name in made else slice(None) for name, ways in CHOICES.items()
    )


# One split


def prepared(X: Array, train: NDArray[np.intp], D_PCA: int, images: str, pca_on: str) -> Array:
    """All images as a method gets them: normalised or not, then reduced by PCA.

    The origin is the mean of what PCA was fitted on. From there the cosine measures its angles.
    """
    if images == "unit norm":
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
    pca = PCA(D_PCA, svd_solver="covariance_eigh")
    reduced: Array = pca.fit(X if pca_on == "all images" else X[train]).transform(X)
    return reduced


def learned(A: Array, y: NDArray[Any], d: int, K: tuple[int, ...]) -> Iterator[Array]:
    """Yield W of SLNP for every combination of `OWN_CHOICES`, the last choice changing fastest."""
    most = max(OWN_CHOICES["rounds"])
    for start, rule, k in product(OWN_CHOICES["start"], OWN_CHOICES["gamma"], K):
        S = STARTS[start](A, y, k)
        run = [r.W for r in islice(rounds(A, y, d, k, rule=rule, start=S), most)]
        yield from (run[number - 1] for number in OWN_CHOICES["rounds"])


def run(
    X: Array, y: NDArray[Any], *, N_i: int, D_PCA: int, d: int, K: tuple[int, ...], seed: int
) -> dict[str, Any]:
    """Judge every specification on one split.

    Parameters
    ----------
    X : array of shape (N, D)
    y : array of shape (N,)
    N_i, D_PCA, d : int
    K : tuple of int
        For "fewer", "paper's" and "more".
    seed : int

    Returns
    -------
    dict
        ``tested``: how many test images there are. Each method of `AXES`: how many of them are
        right, packed, with the axes of its choices.
    """
    train, test = random_split(y, N_i, seed)
    right: dict[str, list[int]] = {method: [] for method in AXES}
    for images, pca_on in product(CHOICES["images"], CHOICES["PCA on"]):
        Z = prepared(X, train, D_PCA, images, pca_on)
        judge = partial(_judge, A=Z[train], y_train=y[train], B=Z[test], y_test=y[test])
        for width in (d // 2, d, 3 * d // 2):
            found = [judge(W) for W in learned(Z[train], y[train], width, K)]
            right["SLNP"] += np.array(found).T.ravel().tolist()
            for rival in RIVALS:
                right[rival] += judge(METHODS[rival](Z[train], y[train], width, K[1]))
    return {"tested": len(test)} | {method: pack_counts(counts) for method, counts in right.items()}


def _judge(W: Array, A: Array, y_train: NDArray[Any], B: Array, y_test: NDArray[Any]) -> list[int]:
    """Right test images in each basis and metric, the metric changing fastest."""
    projections = [in_basis(W, basis, A) for basis in CHOICES["basis"]]
    return [
        int(nearest_neighbour_is_right(A @ V, y_train, B @ V, y_test, metric).sum())
        for V, metric in product(projections, CHOICES["metric"])
    ]


# The study


def units(dataset: str, splits: int) -> list[Unit]:
    """One unit for each split."""
    setting = _setting(dataset)
    schema = entries(tested=whole(), **dict.fromkeys(AXES, TEXT))
    runs = {f"choices/{seed:02}": partial(run, seed=seed, **setting) for seed in range(splits)}
    return [
        Unit(key, "choices", IMAGES, run, schema, readable=readable) for key, run in runs.items()
    ]


def settings(dataset: str) -> dict[str, Any]:
    """Return what a record must have been made with."""
    return {**_setting(dataset), "choices": CHOICES}


def _setting(dataset: str) -> dict[str, Any]:
    N_i = COLUMN[dataset]
    return {"N_i": N_i, **paper.DIMENSIONS[dataset][N_i], "K": NEIGHBOURS[dataset]}


def check(unit: Unit, recorded: Recorded) -> Iterator[str]:
    """Say what is wrong with a recorded unit: a count for each specification, none too large."""
    for method, counts in readable(recorded).items():
        if method != "tested" and not 0 <= min(counts) <= max(counts) <= recorded["tested"]:
            yield f"{unit.key} {method}: not every count is between 0 and the number tested"


def readable(recorded: Recorded) -> Recorded:
    """Return a recorded unit with its counts unpacked."""
    counts = {m: unpack_counts(recorded[m], shape(AXES[m])).ravel().tolist() for m in AXES}
    return {**recorded, **counts}


def rates(record: dict[str, Any]) -> dict[str, Array]:
    """Read the rates of a record in per cent.

    Returns
    -------
    dict
        Method -> array of shape (splits, ...). SLNP's further axes are `CHOICES`. The axes of
        a rival are too, but with length 1 where the choice isn't its own, so that
        ``rates["SLNP"] - rates["LFDA"]`` is SLNP's lead in every specification.
    """
    found = {}
    for method, choices in AXES.items():
        counts = np.array(
            [
                100 * unpack_counts(unit[method], shape(choices)) / unit["tested"]
                for unit in record["units"].values()
            ]
        )
        found[method] = counts.reshape(*counts.shape, *[1] * (len(CHOICES) - len(choices)))
    return found


def marginal(values: Array, choice: str) -> Array:
    """Mean over all other choices.

    Parameters
    ----------
    values : array of shape (splits, ...)
        With the axes of `CHOICES`, such as a rate of `rates`, or a lead.
    choice : str

    Returns
    -------
    means : array of shape (splits, ways)
        One column for each way to make the choice.
    """
    axis = 1 + list(CHOICES).index(choice)
    by_way = np.moveaxis(values, axis, 1).reshape(len(values), len(CHOICES[choice]), -1)
    means: Array = by_way.mean(axis=2)
    return means


STUDY = Study("choices", tuple(COLUMN), SPLITS, units, settings, check, rates, sample=1)
