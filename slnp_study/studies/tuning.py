"""A fair fight: every method tuned alike, within the training part, with the same budget.

The paper gives all methods the D_PCA and d that suit SLNP, and the baselines' own parameters one
value each. Here every method chooses among equally many settings, `BUDGET` in each of two bases:
3 numbers of PCA dimensions x 2 numbers of directions x 3 values of what is its own (neighbours,
pairs, a weight). PCA, which has but one number to choose, chooses among `BUDGET` of them.

The choice is made by `FOLDS`-fold stratified cross-validation *within the training part*: PCA and
method are fitted on two thirds of it, 1-NN is judged on the third that was left out. The test part
is used once, for the setting that was chosen.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import NearestCentroid

from slnp_edu.base import in_basis
from slnp_edu.baselines import LFDA, LPP, LSDA, MFA
from slnp_edu.slnp import SLNP
from slnp_edu.steps import Array
from slnp_study import paper
from slnp_study.packing import pack, sort_within, unpack
from slnp_study.paper import COMMON_BASES, ROUNDS
from slnp_study.protocol import directions, nearest_neighbour_is_right, random_split
from slnp_study.statistics import Estimate, Finding, difference, findings, over_splits, tally
from slnp_study.study import IMAGES, TEXT, Recorded, Study, Unit, entries, numbers, whole
from slnp_study.variants import variant

SPLITS = 10
FOLDS = 3
BUDGET = 18  # settings of each method in each basis
#: Sets in which a class, a person or an object, is a cluster.
BY_CLASS = tuple(name for name, facts in paper.DATASETS.items() if facts["cluster"] == "class")

#: What is chosen from: data set -> N_i -> PCA dimensions, directions, neighbours. In the paper's
#: columns its own D_PCA, d and K are among them.
GRIDS: dict[str, dict[int, dict[str, tuple[int, ...]]]] = {
    "yale_b": {
        5: {"D_PCA": (50, 80, 110), "d": (25, 38), "K": (2, 3, 5)},
        10: {"D_PCA": (90, 135, 180), "d": (38, 60), "K": (3, 5, 8)},
    },
    "coil100": {
        6: {"D_PCA": (22, 30, 60), "d": (13, 20), "K": (2, 3, 5)},
        18: {"D_PCA": (30, 45, 60), "d": (17, 25), "K": (3, 6, 12)},
    },
    "mnist": {
        10: {"D_PCA": (22, 32, 50), "d": (12, 18), "K": (3, 6, 9)},
        30: {"D_PCA": (26, 40, 60), "d": (15, 21), "K": (3, 6, 15)},
    },
    "digits": {20: {"D_PCA": (20, 30, 45), "d": (9, 18), "K": (3, 6, 12)}},
}
Grid = Mapping[str, Sequence[int]]
Comparison = tuple[int, str, str]  # N_i, the other method, the basis


class Setting(NamedTuple):
    """What is chosen, apart from the basis. `own` is whatever the method has of its own."""

    d: int
    D_PCA: int
    own: Any


class Method(NamedTuple):
    """How a method learns W (D_PCA, d) from ``A, y, d, own``, and what of its own it may choose."""

    learn: Callable[[Array, NDArray[Any], int, Any], Array]
    own: Callable[[Sequence[int]], list[Any]]  # three values, from the K of the grid
    nested: bool = True  # are the directions for a smaller d the first of those for a larger one?


def _shrunk_lda(A: Array, y: NDArray[Any], d: int, shrinkage: float) -> Array:
    options = {"solver": "eigen", "shrinkage": shrinkage} if shrinkage else {}
    W: Array = LinearDiscriminantAnalysis(**options).fit(A, y).scalings_[:, :d]
    return W


def _fixed_graph(A: Array, y: NDArray[Any], d: int, K: int) -> Array:
    *_, last = islice(variant(A, y, d, K, chosen="fixed"), ROUNDS)
    return last.W


METHODS: dict[str, Method] = {
    "PCA": Method(lambda A, y, d, own: np.eye(A.shape[1])[:, :d], lambda K: [None]),
    "LDA": Method(_shrunk_lda, lambda K: [0.0, 0.1, 0.5]),  # shrinkage
    "LPP, within classes": Method(
        lambda A, y, d, K: directions(LPP(d, K, within_classes=True), A, y), list
    ),
    "MFA, per sample": Method(  # neighbours of the class, and of other classes
        lambda A, y, d, own: directions(MFA(d, own[0], n_pairs=own[1], pairs="sample"), A, y),
        lambda K: list(zip(K, (10, 20, 40), strict=True)),
    ),
    "LSDA": Method(  # neighbours, and the weight of other classes
        lambda A, y, d, own: directions(LSDA(d, own[0], beta=own[1]), A, y),
        lambda K: [(K[0], 0.1), (K[1], 0.1), (K[1], 0.5)],
    ),
    "LFDA": Method(lambda A, y, d, K: directions(LFDA(d, K), A, y), list),
    "SLNP": Method(lambda A, y, d, K: directions(SLNP(d, K, tol=0), A, y), list, nested=False),
    "SLNP, fixed graph": Method(_fixed_graph, list, nested=False),
}


def list_settings(method: str, grid: Grid, n_classes: int) -> list[Setting]:
    """Return the `BUDGET` settings of a method, those with the fewest directions first.

    LDA has C - 1 directions at most. Where others may have more, it chooses between half of them
    and all.

    Examples
    --------
    >>> grid = GRIDS["mnist"][10]
    >>> found = {name: list_settings(name, grid, n_classes=10) for name in METHODS}
    >>> {len(each) for each in found.values()}
    {18}
    >>> found["SLNP"][0], found["LDA"][-1]
    (Setting(d=12, D_PCA=22, own=3), Setting(d=9, D_PCA=50, own=0.5))
    """
    dims, D_PCA, own = list(grid["d"]), list(grid["D_PCA"]), METHODS[method].own(grid["K"])
    if method == "PCA":
        dims, D_PCA = np.linspace(min(dims), max(D_PCA), BUDGET).astype(int).tolist(), [max(D_PCA)]
    elif method == "LDA" and max(dims) > n_classes - 1:
        dims = [(n_classes - 1) // 2, n_classes - 1]
    return [Setting(*each) for each in product(dims, D_PCA, own)]


def projections(
    method: str, A: Array, y: NDArray[Any], grid: Grid
) -> Iterator[tuple[Setting, str, Array]]:
    """Yield each setting of a method, each basis, and the W (D_PCA, d) learned from A, y.

    A holds as many PCA dimensions as any setting wants. A setting takes the first of them. Where
    directions are nested, all d of a setting come from one fit: Gram-Schmidt, too, goes column by
    column.
    """
    chosen_from = list_settings(method, grid, len(np.unique(y)))
    dims = sorted({setting.d for setting in chosen_from})
    together = [dims] if METHODS[method].nested else [[d] for d in dims]
    for (D_PCA, own), group in product(dict.fromkeys(s[1:] for s in chosen_from), together):
        W = _learn(method, A[:, :D_PCA], y, Setting(max(group), D_PCA, own))
        for basis in COMMON_BASES:
            V = in_basis(W, basis, A[:, :D_PCA])
            yield from ((Setting(d, D_PCA, own), basis, V[:, :d]) for d in group)


def _learn(method: str, A: Array, y: NDArray[Any], setting: Setting) -> Array:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "n_neighbors=")  # K is cut to N_i - 1
        return METHODS[method].learn(A, y, setting.d, setting.own)


def after_pca(X: Array, others: Array, n_components: int) -> tuple[Array, Array]:
    """PCA fitted on X, applied to both."""
    pca = PCA(n_components, svd_solver="full").fit(X)
    return pca.transform(X), pca.transform(others)


def inner_counts(
    X: Array, y: NDArray[Any], grid: Grid, seed: int, methods: Sequence[str] = tuple(METHODS)
) -> dict[str, NDArray[np.intp]]:
    """Cross-validate every setting of every method within a training part.

    Returns
    -------
    dict : method -> how many of the left-out samples of all folds are right, (`BUDGET`, bases)
    """
    labels = len(np.unique(y))
    counts = {method: np.zeros((BUDGET, len(COMMON_BASES)), dtype=int) for method in methods}
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    for fit, left in folds.split(X, y):
        A, B = after_pca(X[fit], X[left], max(grid["D_PCA"]))
        for method in methods:
            settings = list_settings(method, grid, labels)
            place = {setting: i for i, setting in enumerate(settings)}
            for setting, basis, W in projections(method, A, y[fit], grid):
                D = setting.D_PCA
                Y_fit, Y_left = A[:, :D] @ W, B[:, :D] @ W
                right = nearest_neighbour_is_right(Y_fit, y[fit], Y_left, y[left])
                counts[method][place[setting], COMMON_BASES.index(basis)] += right.sum()
    return counts


def choose(counts: NDArray[np.intp]) -> list[int]:
    """Return the best setting of each basis: most left-out samples right, of equals the first.

    Counts are whole numbers, so rounding can't break a tie. The first has the fewest directions.
    """
    return [int(best) for best in counts.argmax(axis=0)]


def free(chosen: Sequence[int], inner: Sequence[int]) -> int:
    """Return the better basis of the two settings chosen. The earlier setting wins a tie.

    Examples
    --------
    >>> free([7, 3], [80, 81]), free([7, 3], [81, 81]), free([3, 3], [81, 81])
    (1, 1, 0)
    """
    return min(range(len(inner)), key=lambda basis: (-inner[basis], chosen[basis]))


class Judged(NamedTuple):
    """A tuned method: what was chosen in each basis, and what came of it on the test part."""

    chosen: list[int]  #: places in `list_settings`
    inner: list[int]  #: how many left-out training samples were right
    right: list[NDArray[np.bool_]]  #: was the test sample right?
    cosine: NDArray[np.bool_]  #: by the angle in place of the distance, in the better basis
    mean: NDArray[np.bool_]  #: by the nearest class mean, in the better basis


def tuned(
    X: Array,
    y: NDArray[Any],
    X_test: Array,
    y_test: NDArray[Any],
    grid: Grid,
    seed: int,
    methods: Sequence[str] = tuple(METHODS),
) -> dict[str, Judged]:
    """Tune every method on a training part, then judge it once on the test part."""
    counts = inner_counts(X, y, grid, seed, methods)
    A, B = after_pca(X, X_test, max(grid["D_PCA"]))
    found = {}
    for method in methods:
        chosen = choose(counts[method])
        inner = [int(counts[method][i, basis]) for basis, i in enumerate(chosen)]
        projected = []
        for i, basis in zip(chosen, COMMON_BASES, strict=True):
            setting = list_settings(method, grid, len(np.unique(y)))[i]
            D = setting.D_PCA
            W = in_basis(_learn(method, A[:, :D], y, setting), basis, A[:, :D])
            projected.append((A[:, :D] @ W, y, B[:, :D] @ W, y_test))
        best = projected[free(chosen, inner)]
        right = [nearest_neighbour_is_right(*each) for each in projected]
        cosine = nearest_neighbour_is_right(*best, metric="cosine")
        found[method] = Judged(chosen, inner, right, cosine, mean_is_right(*best))
    return found


def mean_is_right(
    A: Array, y_train: NDArray[Any], B: Array, y_test: NDArray[Any]
) -> NDArray[np.bool_]:
    """Say for each row of B whether the nearest class mean of A has the right label."""
    right: NDArray[np.bool_] = NearestCentroid().fit(A, y_train).predict(B) == y_test
    return right


# The record

LISTS = ("inner", "right", "cosine", "mean")  # entries of a unit, a list for all methods each


def units(dataset: str, splits: int) -> list[Unit]:
    """Return the units of a data set: one outer split of one column each."""
    by_class = dataset in BY_CLASS
    found = []
    for N_i, grid in GRIDS[dataset].items():
        for seed in range(splits):
            run = partial(split, N_i=N_i, grid=grid, seed=seed, by_class=by_class)
            key = f"tuned/{N_i:02}/{seed:02}"
            found.append(Unit(key, "tuned", IMAGES, run, _schema(by_class)))
    return found


def _schema(by_class: bool) -> dict[str, Any]:
    """Schema of what `split` returns."""
    each = numbers(len(METHODS), most=1e9)
    pairs = {**each, "items": numbers(len(COMMON_BASES), most=1e9)}
    lists = {"inner": pairs, "right": pairs, "cosine": each, "mean": each}
    return entries(tested=whole(), chosen=TEXT, **lists, **({"by_class": TEXT} if by_class else {}))


def settings(dataset: str) -> dict[str, Any]:
    """Return what a record must have been made with."""
    return {
        "grids": GRIDS[dataset],
        "methods": tuple(METHODS),
        "bases": COMMON_BASES,
        "folds": FOLDS,
    }


def split(
    X: Array, y: NDArray[Any], *, N_i: int, grid: Grid, seed: int, by_class: bool
) -> Recorded:
    """Tune on the training part of a random split. The splits are the tables' own.

    Returns
    -------
    dict
        Of lists in the order of `METHODS`. ``chosen`` is a string, so that it's compared exactly:
        the places in `list_settings`, "whitened/orthonormal". ``inner`` and ``right`` are counts
        in both bases, ``cosine`` and ``mean`` in the better one, which `free` names. ``by_class``
        holds its outcomes, `sort_within` the classes and packed.
    """
    train, test = random_split(y, N_i, seed)
    found = tuned(X[train], y[train], X[test], y[test], grid, seed).values()
    unit: Recorded = {
        "tested": len(test),
        "chosen": " ".join("/".join(map(str, each.chosen)) for each in found),
        "inner": [each.inner for each in found],
        "right": [[int(right.sum()) for right in each.right] for each in found],
        "cosine": [int(each.cosine.sum()) for each in found],
        "mean": [int(each.mean.sum()) for each in found],
    }
    if by_class:
        better = [each.right[free(each.chosen, each.inner)] for each in found]
        unit["by_class"] = pack(np.array([sort_within(right, y[test]) for right in better]))
    return unit


class Tuned(NamedTuple):
    """A column of a record: arrays of shape (splits, ...), methods and bases in the usual order."""

    tested: int
    chosen: NDArray[np.intp]  #: (splits, methods, bases), places in `list_settings`
    free: NDArray[np.intp]  #: (splits, methods), the better basis by `inner`
    inner: NDArray[np.intp]  #: (splits, methods, bases)
    right: NDArray[np.intp]  #: (splits, methods, bases)
    cosine: NDArray[np.intp]  #: (splits, methods)
    mean: NDArray[np.intp]  #: (splits, methods)

    def rates(self, method: str, basis: str = "free") -> Array:
        """Per cent of the test images that are right in each split, of shape (splits,)."""
        m = list(METHODS).index(method)
        chosen = self.free[:, m] if basis == "free" else COMMON_BASES.index(basis)
        right: Array = self.right[np.arange(len(self.right)), m, chosen]
        return 100 * right / self.tested


def column(record: Mapping[str, Any], N_i: int) -> Tuned:
    """Read a column of a record."""
    found = [record["units"][f"tuned/{N_i:02}/{seed:02}"] for seed in record["seeds"]]
    better = [list(map(free, places(each["chosen"]), each["inner"])) for each in found]
    chosen = [places(each["chosen"]) for each in found]
    lists = [[each[name] for each in found] for name in LISTS]
    return Tuned(found[0]["tested"], *map(np.array, (chosen, better, *lists)))


def outcomes_by_class(record: Mapping[str, Any], N_i: int, seed: int) -> NDArray[np.bool_]:
    """Read the outcomes of a split, (methods, images), whose order within a class is forgotten."""
    unit = record["units"][f"tuned/{N_i:02}/{seed:02}"]
    return unpack(unit["by_class"], len(METHODS), unit["tested"])


class TunedRecord:
    """A record of this study, as the chapters use it.

    The basis of a finding is "free" where each method took the one that its own cross-validation
    preferred, or one of the two that all can share.

    Attributes
    ----------
    columns : ``N_i -> Tuned``
    these, new : ``(N_i, other, basis) -> Finding``
        SLNP against every other method, all of it one family for Holm's correction. New images
        are judged for the free choice only, where the record counts the classes apart.
    """

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.checksum: str = record["checksum"]
        self.n_classes = len(record["class_sizes"])
        self.columns = {N_i: column(record, N_i) for N_i in map(int, record["settings"]["grids"])}
        these: dict[Comparison, Estimate] = {}
        new: dict[Comparison, Estimate] = {}
        for N_i, tuned in self.columns.items():
            right, labels = _tuned_by_class(record, N_i)
            for other in (method for method in METHODS if method != "SLNP"):
                for basis in ("free", *COMMON_BASES):
                    rates = (tuned.rates(m, basis).tolist() for m in ("SLNP", other))
                    these[N_i, other, basis] = over_splits(*rates)
                counts = tally(right["SLNP"], right[other], labels) if right else None
                if counts and (found := difference(counts).new):
                    new[N_i, other, "free"] = found
        self.these, self.new = _by_key(these), _by_key(new)

    def of(self, other: str, basis: str = "free") -> list[Finding]:
        """Return SLNP against another method on these test images, one finding for each column."""
        return [found for (_, *pair), found in self.these.items() if pair == [other, basis]]

    def mean(self, other: str, basis: str = "free") -> float:
        """Mean difference of the columns, in points."""
        return float(np.mean([found.points for found in self.of(other, basis)]))


def _tuned_by_class(record: Mapping[str, Any], N_i: int) -> tuple[dict[str, Array], Array]:
    """Method -> outcomes (splits, images), and the class of each, if the record has them."""
    if "by_class" not in record["units"][f"tuned/{N_i:02}/00"]:
        return {}, np.array([])
    y = np.repeat(np.arange(len(record["class_sizes"])), record["class_sizes"])
    labels = np.array([y[random_split(y, N_i, seed)[1]] for seed in record["seeds"]])
    right = np.array([outcomes_by_class(record, N_i, seed) for seed in record["seeds"]])
    return dict(zip(METHODS, right.swapaxes(0, 1), strict=True)), labels


def _by_key(estimates: Mapping[Comparison, Estimate]) -> dict[Comparison, Finding]:
    found = findings(list(estimates.values()))
    return dict(zip(estimates, found, strict=True))


def places(chosen: str) -> list[list[int]]:
    """Read ``chosen`` of a unit.

    Examples
    --------
    >>> places("3/17 0/35")
    [[3, 17], [0, 35]]
    """
    return [[int(place) for place in pair.split("/")] for pair in chosen.split()]


def check(unit: Unit, recorded: Recorded) -> Iterator[str]:
    """Say what is wrong with a recorded unit: places or counts out of range, or at odds."""
    chosen, tested = np.array(places(recorded["chosen"])), recorded["tested"]
    known = np.isin(chosen, range(BUDGET)).all()
    if chosen.shape != (len(METHODS), len(COMMON_BASES)) or not known:
        yield f"{unit.key}: not every method has chosen one of its settings in each basis"
        return
    counts = np.concatenate([np.ravel(recorded[name]) for name in LISTS[1:]])
    if not np.all(counts <= tested):
        yield f"{unit.key}: not every count is between 0 and the number of test images"
    if "by_class" in recorded:
        pairs = zip(chosen.tolist(), recorded["inner"], recorded["right"], strict=True)
        expected = [right[free(places, inner)] for places, inner, right in pairs]
        found = unpack(recorded["by_class"], len(METHODS), tested).sum(axis=1).tolist()
        if found != expected:
            yield f"{unit.key}: the counts do not match the outcomes"


STUDY = Study("tuned", tuple(GRIDS), SPLITS, units, settings, check, TunedRecord, sample=2)
