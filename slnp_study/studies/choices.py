"""Every way to run SLNP and two rivals that a reader might try: a specification curve.

A *specification* settles every choice. Some touch all methods alike (`COMMON_CHOICES`), the others
belong to one method (`OWN_CHOICES`). The paper leaves some of them open (`OPEN`); on the others it
has words, and all ways but one contradict them. A unit runs all specifications of one split of one
column, `rates` reads them back. The plan is ``plans/choices.md``, an addendum.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from slnp_edu.base import in_basis
from slnp_edu.baselines import LFDA
from slnp_edu.slnp import rounds
from slnp_edu.steps import Array
from slnp_study import paper
from slnp_study.protocol import METHODS, RULES, directions, nearest_neighbour_is_right, random_split
from slnp_study.studies.rivals import WIDTHS
from slnp_study.study import IMAGES, Recorded, Study, Unit, entries, numbers, whole
from slnp_study.variants import STARTS

SPLITS, FIRST_SEED = 3, 100

#: What touches every method: the images, the number of directions, the distance of the 1-NN.
COMMON_CHOICES: dict[str, tuple[Any, ...]] = {
    "images": ("raw", "unit norm"),
    "PCA on": ("training part", "all images"),
    "d": ("half", "paper's", "three halves"),
    "basis": (*paper.COMMON_BASES, "unit"),
    "metric": ("Euclidean", "cosine"),
}

#: What is one method's alone: LFDA's kernel (Sugiyama's, or one width: c), LDA's directions.
OWN_CHOICES: dict[str, dict[str, tuple[Any, ...]]] = {
    "SLNP": {
        "start": tuple(STARTS),
        "gamma": RULES,
        "K": ("fewer", "paper's", "more"),
        "rounds": (2, paper.ROUNDS),
    },
    "LFDA": {"kernel": ("local scaling", *WIDTHS)},
    "LDA": {"directions": ("d", "C - 1")},
}

#: What a specification of each method settles.
AXES = {method: COMMON_CHOICES | own for method, own in OWN_CHOICES.items()}

#: The axes of all arrays below, in this order. An array has length 1 along another method's choice.
CHOICES = {choice: ways for axes in AXES.values() for choice, ways in axes.items()}

#: The choices on which the paper is silent. That COIL-100 was made grey is one more; ours is grey.
OPEN = ("images", "PCA on", "basis", "metric", "kernel", "directions")

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

#: The smallest, a middle and the largest column of each set.
COLUMNS = {"yale_b": (5, 15, 30), "coil100": (6, 18, 30), "mnist": (5, 15, 30)}

#: K for "fewer", "paper's" and "more".
NEIGHBOURS = {"yale_b": (3, 5, 8), "coil100": (2, 3, 5), "mnist": (3, 6, 8)}


def shape(choices: Mapping[str, tuple[Any, ...]]) -> tuple[int, ...]:
    """How many ways there are to make each choice."""
    return tuple(len(ways) for ways in choices.values())


def where(**made: Any) -> tuple[Any, ...]:
    """Index of all specifications in which these choices are made so.

    Examples
    --------
    >>> all_of_them = np.zeros(shape(CHOICES))
    >>> all_of_them[where(basis="orthonormal", rounds=2)].shape
    (2, 2, 3, 2, 2, 3, 3, 6, 2)
    >>> all_of_them[where(**AS_PRINTED)].shape  # LFDA's kernels, LDA's directions
    (6, 2)
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
    """Yield W of SLNP for every combination of its own choices, the last one changing fastest."""
    starts, rules, _, numbers = OWN_CHOICES["SLNP"].values()
    for start, rule, k in product(starts, rules, K):
        S = STARTS[start](A, y, k)
        run = [r.W for r in islice(rounds(A, y, d, k, rule=rule, start=S), max(numbers))]
        yield from (run[number - 1] for number in numbers)


def lfda(A: Array, y: NDArray[Any], d: int) -> Iterator[Array]:
    """Yield W of LFDA for every kernel."""
    for c in OWN_CHOICES["LFDA"]["kernel"]:
        own = {} if c == "local scaling" else {"kernel": "heat", "c": c}
        yield directions(LFDA(d, metric="plain", **own), A, y)


def run(
    X: Array, y: NDArray[Any], *, N_i: int, D_PCA: int, d: int, K: tuple[int, ...], seed: int
) -> dict[str, Any]:
    """Judge every specification on one split; K is for "fewer", "paper's" and "more".

    Returns
    -------
    dict
        ``tested``: how many test images there are. Each method of `AXES`: how many of them are
        right, a list for all its choices, the last of `AXES` changing fastest.
    """
    train, test = random_split(y, N_i, seed)
    right: dict[str, list[int]] = {method: [] for method in AXES}
    widths = (d // 2, d, min(3 * d // 2, D_PCA))
    for images, pca_on in product(CHOICES["images"], CHOICES["PCA on"]):
        Z = prepared(X, train, D_PCA, images, pca_on)
        A, labels = Z[train], y[train]
        judge = partial(judged, A=A, y_train=labels, B=Z[test], y_test=y[test])
        kernels = list(lfda(A, labels, widths[-1]))  # the first directions are those of a smaller d
        every = judge(METHODS["LDA, C - 1"](A, labels, d, 0))
        for width in widths:
            lda = judge(METHODS["LDA"](A, labels, width, 0))
            found = {
                "SLNP": [judge(W) for W in learned(A, labels, width, K)],
                "LFDA": [judge(W[:, :width]) for W in kernels],
                "LDA": [lda, every],
            }
            for method, counts in found.items():
                right[method] += np.array(counts).T.ravel().tolist()
    return {"tested": len(test), **right}


def judged(W: Array, A: Array, y_train: NDArray[Any], B: Array, y_test: NDArray[Any]) -> list[int]:
    """Right test images in each basis and metric, the metric changing fastest."""
    projections = [in_basis(W, basis, A) for basis in CHOICES["basis"]]
    return [
        int(nearest_neighbour_is_right(A @ V, y_train, B @ V, y_test, metric).sum())
        for V, metric in product(projections, CHOICES["metric"])
    ]


# The study


def units(dataset: str, splits: int) -> list[Unit]:
    """One unit for each split of each column."""
    counts = {m: numbers(int(np.prod(shape(axes))), most=1e9) for m, axes in AXES.items()}
    schema = entries(tested=whole(), **counts)
    runs = {
        f"choices/{N_i:02}/{seed}": partial(run, seed=seed, **_setting(dataset, N_i))
        for N_i in COLUMNS[dataset]
        for seed in range(FIRST_SEED, FIRST_SEED + splits)
    }
    return [Unit(key, "choices", IMAGES, run, schema) for key, run in runs.items()]


def settings(dataset: str) -> dict[str, Any]:
    """Return what a record must have been made with."""
    columns = [_setting(dataset, N_i) for N_i in COLUMNS[dataset]]
    axes = {m: {choice: list(ways) for choice, ways in of.items()} for m, of in AXES.items()}
    return {"columns": columns, "choices": axes, "open": list(OPEN)}


def _setting(dataset: str, N_i: int) -> dict[str, Any]:
    return {"N_i": N_i, **paper.DIMENSIONS[dataset][N_i], "K": NEIGHBOURS[dataset]}


def check(unit: Unit, recorded: Recorded) -> Iterator[str]:
    """Say what is wrong with a recorded unit: no count is above the number tested."""
    for method in AXES:
        if max(recorded[method]) > recorded["tested"]:
            yield f"{unit.key} {method}: not every count is between 0 and the number tested"


def rates(record: dict[str, Any]) -> dict[int, dict[str, Array]]:
    """Read the rates of a record in per cent.

    Returns
    -------
    dict
        N_i -> method -> array of shape (splits, ...). The further axes are those of `CHOICES`, with
        length 1 where the choice is another method's, so that ``of["SLNP"] - of["LFDA"]`` is
        SLNP's lead in every specification.
    """
    found = {}
    for column in record["settings"]["columns"]:
        keys = (f"choices/{column['N_i']:02}/{seed}" for seed in record["seeds"])
        units = [record["units"][key] for key in keys]
        found[column["N_i"]] = {
            method: np.array(
                [100 * _spread(unit[method], method) / unit["tested"] for unit in units]
            )
            for method in AXES
        }
    return found


def _spread(counts: list[int], method: str) -> NDArray[np.intp]:
    """Counts of a method along the axes of `CHOICES`."""
    axes = AXES[method]
    full = [len(ways) if choice in axes else 1 for choice, ways in CHOICES.items()]
    return np.reshape(counts, full)


def marginal(values: Array, choice: str) -> Array:
    """Mean over all other choices: (splits, ways), from rates or leads as `rates` shapes them."""
    axis = 1 + list(CHOICES).index(choice)
    by_way = np.moveaxis(values, axis, 1).reshape(len(values), values.shape[axis], -1)
    means: Array = by_way.mean(axis=2)
    return means


STUDY = Study(
    "choices",
    tuple(COLUMNS),
    SPLITS,
    units,
    settings,
    check,
    rates,
    sample=1,
    first_seed=FIRST_SEED,
    plan="choices.md",
)
