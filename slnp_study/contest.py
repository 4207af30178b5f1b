"""A contest: methods judged on the same splits, in the same three bases.

A study of this form says where methods are compared (its cells) and how each learns its W. A unit
is one split of one cell. What it keeps of the test images is what the intervals for new images of
the kind need: each image of a digit, the counts of each subject or object.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slnp_edu.steps import Array
from slnp_study import paper
from slnp_study.packing import pack, sort_within, unpack
from slnp_study.protocol import Part, Split, random_split
from slnp_study.statistics import Difference, Tally, difference, tally
from slnp_study.study import IMAGES, TEXT, Recorded, Study, Unit, entries, numbers, whole

BASES = (*paper.COMMON_BASES, "unit")


class Cell(NamedTuple):
    """Where methods are compared: training images a class, dimensions, neighbours."""

    N_i: int
    D_PCA: int
    d: int
    K: int


#: Yields the name of a method and its W, or a W for each basis.
Learn = Callable[[Part, Cell, int], Iterator[tuple[str, Array | Mapping[str, Array]]]]


@dataclass(frozen=True)
class Contest:
    """What a study of this form has to say."""

    name: str
    plan: str
    splits: int
    first_seed: int
    cells: Mapping[str, list[Cell]]  #: by data set
    learn: Learn
    methods: tuple[str, ...]
    by_image: tuple[str, ...]  #: of these every digit is kept, not the counts alone
    chaotic: tuple[str, ...] = ()  #: rounding changes where these end, so `verify` leaves them out
    folds: int = 0  #: of a cross-validation within the training part, if there is to be one

    def study(self) -> Study:
        """Return the study that `slnp_study.records` runs."""
        return Study(
            self.name,
            tuple(self.cells),
            self.splits,
            self.units,
            self.settings,
            self.check,
            partial(Results, self),
            first_seed=self.first_seed,
            plan=self.plan,
        )

    def units(self, dataset: str, splits: int) -> list[Unit]:
        """Return one unit for each split of each cell."""
        counts = entries(**dict.fromkeys(self.methods, numbers(len(BASES), most=1e9)))
        schema = entries(tested=whole(), right=counts, outcomes=TEXT)
        if self.folds:
            schema = entries(tested=whole(), right=counts, outcomes=TEXT, inner=counts)
        found = []
        for cell in self.cells[dataset]:
            for seed in range(self.first_seed, self.first_seed + splits):
                run = partial(compete, contest=self, dataset=dataset, cell=cell, seed=seed)
                unit = Unit(self.key(cell, seed), self.name, IMAGES, run, schema)
                found.append(replace(unit, comparable=partial(self.comparable, dataset)))
        return found

    def kept(self, dataset: str) -> tuple[str, ...]:
        """Methods whose outcomes are kept: where they're counts of a class, all of them."""
        return self.methods if is_by_class(dataset) else self.by_image

    def comparable(self, dataset: str, recorded: Recorded) -> Recorded:
        """Return a recorded unit without the methods that can't be repeated."""
        kept, tested = self.kept(dataset), recorded["tested"]
        bits = unpack(recorded["outcomes"], len(kept) * len(BASES), tested)
        repeatable = [name not in self.chaotic for name in kept for _ in BASES]
        right = {m: counts for m, counts in recorded["right"].items() if m not in self.chaotic}
        return recorded | {"right": right, "outcomes": pack(bits[np.array(repeatable, dtype=bool)])}

    def key(self, cell: Cell, seed: int) -> str:
        """Name a unit."""
        return f"{self.name}/{cell.N_i:02}/{cell.D_PCA}/{cell.K}/{seed}"

    def settings(self, dataset: str) -> dict[str, Any]:
        """Return what a record must have been made with."""
        return {
            "cells": [cell._asdict() for cell in self.cells[dataset]],
            "methods": self.methods,
            "kept": self.kept(dataset),
            "bases": BASES,
            "folds": self.folds,
        }

    def check(self, unit: Unit, recorded: Recorded) -> Iterator[str]:
        """Say what is wrong with a recorded unit: its counts must fit its outcomes."""
        tested = recorded["tested"]
        if max(map(max, recorded["right"].values())) > tested:
            yield f"{unit.key}: not every count is between 0 and the number of test images"
        kept = self.kept(unit.function.keywords["dataset"])  # type: ignore[attr-defined]
        expected = [count for name in kept for count in recorded["right"][name]]
        counts = unpack(recorded["outcomes"], len(expected), tested).sum(axis=1)
        if counts.tolist() != expected:
            yield f"{unit.key}: the counts do not match the outcomes"


def is_by_class(dataset: str) -> bool:
    """Say whether a whole class, a person or an object, is drawn at once."""
    return bool(paper.DATASETS[dataset]["cluster"] == "class")


def compete(
    X: Array, y: NDArray[Any], *, contest: Contest, dataset: str, cell: Cell, seed: int
) -> Recorded:
    """Judge every method on one split of one cell."""
    split = Split(X, y, N_i=cell.N_i, D_PCA=cell.D_PCA, seed=seed)
    right = judge(split, contest, cell, seed)
    kept = np.array([each for name in contest.kept(dataset) for each in right[name]], dtype=bool)
    kept = kept.reshape(-1, len(split.test))  # of no method where none is kept
    if is_by_class(dataset):
        kept = np.array([sort_within(each, split.y_test) for each in kept])
    found: Recorded = {"tested": len(split.test), "right": _count(right), "outcomes": pack(kept)}
    if contest.folds:
        parts = [judge(p, contest, cell, seed) for p in split.folds(contest.folds, seed)]
        joined = {name: np.hstack([part[name] for part in parts]) for name in contest.methods}
        found["inner"] = _count(joined)
    return found


def judge(part: Part, contest: Contest, cell: Cell, seed: int) -> dict[str, NDArray[np.bool_]]:
    """Which test samples are right: method -> array of shape (bases, samples)."""
    found = {}
    for name, W in contest.learn(part, cell, seed):
        by_basis = W if isinstance(W, Mapping) else dict.fromkeys(BASES, W)
        found[name] = np.array([part.right(by_basis[basis], basis) for basis in BASES])
    return found


def _count(right: Mapping[str, NDArray[np.bool_]]) -> dict[str, list[int]]:
    return {name: each.sum(axis=1).tolist() for name, each in right.items()}


class Results:
    """A record of a contest, as the chapters use it."""

    def __init__(self, contest: Contest, record: dict[str, Any]) -> None:
        self.contest = contest
        self.dataset: str = record["dataset"]
        self.seeds: list[int] = record["seeds"]
        self.units: dict[str, Recorded] = record["units"]
        self.cells = [Cell(**cell) for cell in record["settings"]["cells"]]
        self._sizes = record["class_sizes"]
        self._read: dict[Cell, tuple[NDArray[np.bool_], NDArray[Any]]] = {}

    def rates(self, cell: Cell, method: str, basis: str, of: str = "right") -> Array:
        """Rates in per cent, one for each split. ``of="inner"`` within the training part."""
        units = self._units(cell)
        counts = [unit[of][method][BASES.index(basis)] for unit in units]
        tested = units[0]["tested"] if of == "right" else cell.N_i * len(self._sizes)
        return 100 * np.array(counts) / tested

    def lead(
        self, first: str, other: str, basis: str, cells: list[Cell] | None = None
    ) -> Difference:
        """First method minus the other, the mean of the cells, or of all if none are named."""
        chosen = self.cells if cells is None else cells
        return difference(*(self.tally(cell, first, other, basis) for cell in chosen))

    def tally(self, cell: Cell, first: str, other: str, basis: str) -> Tally:
        """Count right images of two methods, for each split and cluster.

        Without clusters, where of one of them only the counts are kept.
        """
        kept = self.contest.kept(self.dataset)
        if first in kept and other in kept:
            right, clusters = self._outcomes(cell)
            ours, theirs = (
                right[:, kept.index(m) * len(BASES) + BASES.index(basis)] for m in (first, other)
            )
            return tally(ours, theirs, clusters)
        units = self._units(cell)
        ours, theirs = (
            np.array([[unit["right"][m][BASES.index(basis)]] for unit in units], dtype=float)
            for m in (first, other)
        )
        tested = np.full(ours.shape, float(units[0]["tested"]))
        return Tally(ours - theirs, tested, tested - theirs)

    def _units(self, cell: Cell) -> list[Recorded]:
        return [self.units[self.contest.key(cell, seed)] for seed in self.seeds]

    def _outcomes(self, cell: Cell) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Which test images were right, (splits, methods and bases, images), and their clusters."""
        if cell not in self._read:
            judges = len(self.contest.kept(self.dataset)) * len(BASES)
            y = np.repeat(np.arange(len(self._sizes)), self._sizes)
            rows = np.array([random_split(y, cell.N_i, seed)[1] for seed in self.seeds])
            units = self._units(cell)
            right = np.array([unpack(u["outcomes"], judges, u["tested"]) for u in units])
            self._read[cell] = right, y[rows] if is_by_class(self.dataset) else rows
        return self._read[cell]


def leads(
    results: Iterable[Results],
    first: str,
    others: Sequence[str],
    bases: Sequence[str] = BASES,
    labels: Callable[[Cell], Iterable[Hashable]] = lambda cell: (cell.N_i, "mean"),
) -> dict[tuple[Any, ...], Difference]:
    """One method minus others in every column, and in the mean of the columns of each set.

    Parameters
    ----------
    results : the records of all data sets
    first, others : methods
    bases : some of `BASES`
    labels : callable
        What a cell counts towards. Cells with the same label are averaged.

    Returns
    -------
    leads : ``(data set, label, other, basis) -> Difference``
        A family for `slnp_study.statistics.judge`, or part of one.

    Examples
    --------
    >>> from slnp_study import records, statistics
    >>> faces = records.read("yale_b-rivals")
    >>> found = statistics.judge(leads([faces], "SLNP", ["LDA", "LFDA"], ["whitened"]))
    >>> len(found), found["yale_b", "mean", "LFDA", "whitened"].new.word
    (14, 'behind by less than the margin')
    """
    found = {}
    for r in results:
        groups: dict[Hashable, list[Cell]] = {}
        for cell in r.cells:
            for label in labels(cell):
                groups.setdefault(label, []).append(cell)
        for (label, cells), other, basis in product(groups.items(), others, bases):
            found[r.dataset, label, other, basis] = r.lead(first, other, basis, cells)
    return found
