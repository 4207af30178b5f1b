"""What could have been run? Listed protocols, and how far each is from the printed tables.

A protocol settles what the paper leaves open: `COMMON` for all methods alike, `OWN` for each. The
plan is ``plans/choices.md``. It's a search, so a small distance proves little.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slnp_edu.base import in_basis
from slnp_edu.baselines import LSDA
from slnp_edu.slnp import rounds
from slnp_edu.steps import Array
from slnp_study import paper
from slnp_study.protocol import METHODS, directions, random_split
from slnp_study.studies import choices
from slnp_study.studies.rivals import WIDTHS
from slnp_study.study import IMAGES, Recorded, Study, Tolerance, Unit, entries, numbers, whole

COMMON = {name: choices.CHOICES[name] for name in ("images", "PCA on", "basis", "metric")}
LOOPS, NUMBERS = COMMON["basis"], (2, paper.ROUNDS)
#: Each method's own choices, as words; SLNP's are the basis inside the loop and the rounds.
OWN: dict[str, list[tuple[Any, ...]]] = {
    "LDA": [("d directions",), ("C - 1 directions",)],
    "MFA": [("pairs per class",), ("pairs per sample",)],
    "LSDA": [("weight 0.1",), ("weight 0.5",)],
    "LFDA": [("local scaling",), *((f"c = {c}",) for c in WIDTHS)],
    "SLNP": list(product(LOOPS, NUMBERS)),
}
#: In the order of `COMMON`; the last changes fastest.
WAYS = list(product(*COMMON.values()))
FIG_7 = {"N_i": 10, **paper.DIMENSIONS["yale_b"][10], "K": paper.FIGURES[7]["K"]}
SPLITS, FIRST_SEED = 3, 100


# One split


def slnp(A: Array, y: NDArray[Any], d: int, K: int) -> Iterator[tuple[Array, Array]]:
    """Yield W, whitened, and gamma for every basis inside the loop and number of rounds."""
    for loop in LOOPS:
        run = islice(rounds(A, y, d, K, rescale=partial(in_basis, basis=loop, X=A)), max(NUMBERS))
        found = [(in_basis(r.W, "whitened", A), r.gamma) for r in run]
        yield from (found[number - 1] for number in NUMBERS)


def projections(A: Array, y: NDArray[Any], d: int, K: int) -> dict[str, list[Array]]:
    """W of every method in each of its `OWN` ways."""
    named = {"LDA": ("LDA", "LDA, C - 1"), "MFA": ("MFA", "MFA, per sample"), "LSDA": ("LSDA",)}
    found = {method: [METHODS[name](A, y, d, K) for name in of] for method, of in named.items()}
    found["LSDA"].append(directions(LSDA(d, 5, beta=0.5, self_loops=False), A, y))
    return found | {"LFDA": list(choices.lfda(A, y, d)), "SLNP": [W for W, _ in slnp(A, y, d, K)]}


def run(X: Array, y: NDArray[Any], *, N_i: int, D_PCA: int, d: int, K: int, seed: int) -> Recorded:
    """Count the right test images of every method in every way."""
    train, test = random_split(y, N_i, seed)
    right: dict[str, list[Any]] = {method: [] for method in OWN}
    for images, pca_on in product(COMMON["images"], COMMON["PCA on"]):
        Z = choices.prepared(X, train, D_PCA, images, pca_on)
        A, labels = Z[train], y[train]
        judge = partial(choices.judged, A=A, y_train=labels, B=Z[test], y_test=y[test])
        for method, found in projections(A, labels, d, K).items():
            right[method] += np.array([judge(W) for W in found]).T.tolist()
    return {"tested": len(test), **right}


def gammas(
    X: Array, y: NDArray[Any], *, N_i: int, D_PCA: int, d: int, K: int, seed: int
) -> Recorded:
    """Mean gamma of each class (58), as Fig. 7 has them; pixels as they are, or of unit norm."""
    train, _ = random_split(y, N_i, seed)
    found = {}
    for images in COMMON["images"]:
        A = choices.prepared(X, train, D_PCA, images, "training part")[train]
        runs = zip(OWN["SLNP"], slnp(A, y[train], d, K), strict=True)
        found[images] = {
            f"{loop}, {number}": [float(gamma[y[train] == c].mean()) for c in np.unique(y)]
            for (loop, number), (_, gamma) in runs
        }
    return found


# The study


def units(dataset: str, splits: int) -> list[Unit]:
    """One unit for each split of each column; for faces those of Fig. 7, too."""
    right = {m: numbers(len(WAYS)) | {"items": numbers(len(OWN[m]), most=1e9)} for m in OWN}
    counts = entries(tested=whole(), **right)
    classes = numbers(38)
    of_ways = entries(**{f"{loop}, {number}": classes for loop, number in OWN["SLNP"]})
    means = entries(**dict.fromkeys(COMMON["images"], of_ways))
    kinds: list[tuple[Any, ...]] = [
        ("protocols", each, run, counts, IMAGES) for each in _columns(dataset)
    ]
    if dataset == "yale_b":
        kinds.append(("gamma", FIG_7, gammas, means, Tolerance(0, 0.01)))
    return [
        Unit(
            f"{kind}/{column['N_i']:02}/{seed}",
            kind,
            tolerance,
            partial(function, seed=seed, **column),
            schema,
        )
        for kind, column, function, schema, tolerance in kinds
        for seed in range(FIRST_SEED, FIRST_SEED + splits)
    ]


def _columns(dataset: str) -> list[dict[str, int]]:
    K = paper.DATASETS[dataset]["K"]
    return [{"N_i": N_i, **of, "K": K} for N_i, of in paper.DIMENSIONS[dataset].items()]


def settings(dataset: str) -> dict[str, Any]:
    """Return what a record must have been made with."""
    common = {choice: list(ways) for choice, ways in COMMON.items()}
    own = {m: [list(way) for way in ways] for m, ways in OWN.items()}
    return {"columns": _columns(dataset), "common": common, "own": own}


def check(unit: Unit, recorded: Recorded) -> Iterator[str]:
    """Say what is wrong with a recorded unit: no count is above the number tested."""
    if unit.kind == "protocols" and max(np.max(recorded[m]) for m in OWN) > recorded["tested"]:
        yield f"{unit.key}: not every count is between 0 and the number tested"


def read(record: dict[str, Any]) -> dict[str, Array]:
    """Rates in per cent: method -> array of shape (columns, splits, `WAYS`, `OWN` ways)."""
    columns = [
        [record["units"][f"protocols/{c['N_i']:02}/{seed}"] for seed in record["seeds"]]
        for c in record["settings"]["columns"]
    ]
    return {
        m: np.array([[100 * np.array(u[m]) / u["tested"] for u in of] for of in columns])
        for m in OWN
    }


# The search


def printed() -> dict[str, Array]:
    """The printed rates of each method, one set after the other: 17 each."""
    return {m: np.concatenate([of[m] for of in paper.RATES.values()]) for m in paper.METHODS}


def means(found: Mapping[str, Mapping[str, Array]]) -> dict[str, Array]:
    """Mean rates of each method, (columns, `WAYS`, `OWN` ways); columns as those of `printed`."""
    return {m: np.concatenate([found[d][m].mean(axis=1) for d in paper.RATES]) for m in OWN}


def nearest(ours: Mapping[str, Array], table: Mapping[str, Array]) -> tuple[Array, Array]:
    """Find the protocols that come nearest to a table: some methods and their rates, by column.

    Returns the root mean squared distance in points for each of `WAYS`, and the place in `OWN` that
    gives it for each method and way. They are chosen one by one, for squares add up.
    """
    squared = [np.mean((ours[m] - row[:, None, None]) ** 2, axis=0) for m, row in table.items()]
    least = np.mean([each.min(axis=1) for each in squared], axis=0)
    return np.sqrt(least), np.array([each.argmin(axis=1) for each in squared])


STUDY = Study(
    "forensics",
    tuple(paper.DIMENSIONS),
    SPLITS,
    units,
    settings,
    check,
    read,
    sample=2,
    first_seed=FIRST_SEED,
    plan="choices.md",
)
