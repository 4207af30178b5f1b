"""The study that compares the variants of Algorithm 1.

The study has a unit for each column of the paper's tables. Its splits are those of the tables. It
keeps no single images; what they say about such images is in the standard errors.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slnp_edu.steps import (
    Array,
)
from slnp_study import paper
from slnp_study.paper import COMMON_BASES, ROUNDS
from slnp_study.protocol import Split
from slnp_study.statistics import (
    Difference,
    Estimate,
    Verdicts,
    difference,
    judge,
    over_splits,
    tally,
)
from slnp_study.study import (
    EXACT,
    IMAGES,
    NUMBER,
    Recorded,
    RecordError,
    Study,
    Tolerance,
    Unit,
    entries,
    numbers,
    whole,
)
from slnp_study.variants import NEIGHBOURS, STARTS, nearness, overlap, variant

#: What the study compares with the paper's method, "uniform, 10". A start comes with its rounds;
#: where others than the learned neighbours are named, it is ten rounds from the uniform start.
VARIANTS = (
    "uniform, 1",
    "uniform, 2",
    "uniform, 3",
    "nearest, 1",
    "nearest, 10",
    *(name for name in NEIGHBOURS if name != "learned"),
)
SPLITS = 20
#: In points or as a share: what two flipped images in each split may do to it.
SLIGHT = Tolerance(absolute=0.02, relative=0)


def units(dataset: str, splits: int) -> list[Unit]:
    """Return the units of the study: one for each column."""
    if splits < 2:
        raise RecordError("The ablation needs two splits at least: one has no standard error.")
    of_all_splits = Tolerance(splits * IMAGES.absolute, relative=0)
    tolerance = {"tested": EXACT, "rounds": of_all_splits, "lead": IMAGES, "error": SLIGHT}
    tolerance |= {"nearness": SLIGHT, "overlap": SLIGHT}
    common: dict[str, Any] = {name: paper.DATASETS[dataset][name] for name in ("K", "cluster")}
    schema = _schema(splits)
    found = []
    for N_i, dimensions in paper.DIMENSIONS[dataset].items():
        run = partial(column, **(common | dimensions), N_i=N_i, splits=splits)
        found.append(Unit(f"ablation/{N_i:02}", "ablation", tolerance, run, schema))
    return found


def _schema(splits: int) -> dict[str, Any]:
    """Schema of what `column` returns."""
    rounds = entries(**dict.fromkeys(COMMON_BASES, numbers(ROUNDS, most=1e9)))
    leads = entries(**dict.fromkeys(COMMON_BASES, numbers(splits)))
    return entries(
        tested=whole(),
        rounds=entries(**dict.fromkeys(STARTS, rounds)),
        lead=entries(**dict.fromkeys(VARIANTS, leads)),
        error=entries(**dict.fromkeys(VARIANTS, numbers(len(COMMON_BASES)))),
        nearness=NUMBER,
        overlap=NUMBER,
    )


def settings(dataset: str) -> dict[str, Any]:
    """Return what the records of the study must have been made with."""
    return {
        "dimensions": paper.DIMENSIONS[dataset],
        "K": paper.DATASETS[dataset]["K"],
        "rounds": ROUNDS,
        "starts": list(STARTS),
        "variants": VARIANTS,
        "bases": COMMON_BASES,
        "cluster": paper.DATASETS[dataset]["cluster"],
    }


def column(
    X: Array,
    y: NDArray[Any],
    *,
    N_i: int,
    D_PCA: int,
    d: int,
    K: int,
    splits: int,
    cluster: str,
) -> dict[str, Any]:
    """Run all variants on all splits of one column.

    Returns
    -------
    dict
        ``tested``: test images of a split. ``rounds``: start -> basis -> right images of all splits
        together, after each round. ``lead``: variant -> basis -> by how many right images the
        paper's method leads, in each split. ``error``: variant -> standard error of that lead for
        such images, in points, in each of the common bases. ``nearness``: mean squared distance to
        the K learned neighbours, divided by that to all others of the class. ``overlap``: share of
        the learned neighbours that are among the K nearest before any projection.
    """
    right: dict[str, list[list[NDArray[np.bool_]]]] = {}
    clusters, near, kept = [], [], []
    for seed in range(splits):
        split = Split(X, y, N_i=N_i, D_PCA=D_PCA, seed=seed)
        clusters.append(split.y_test if cluster == "class" else split.test)
        for name, W in variants(split.A, split.y_train, d, K, seed):
            right.setdefault(name, []).append([split.right(W, basis) for basis in COMMON_BASES])
            if name == f"uniform, {ROUNDS}":
                near.append(nearness(split.A @ W, split.y_train, K))
                kept.append(overlap(split.A @ W, split.A, split.y_train, K))
    found = {name: np.array(each) for name, each in right.items()}  # (splits, bases, images)
    lead, error = compared(found, np.array(clusters))
    return {
        "tested": len(clusters[0]),
        "rounds": {start: of_rounds(found, start) for start in STARTS},
        "lead": lead,
        "error": error,
        "nearness": float(np.mean(near)),
        "overlap": float(np.mean(kept)),
    }


def of_rounds(found: dict[str, NDArray[np.bool_]], start: str) -> dict[str, list[int]]:
    """Count right images of all splits together: basis -> one number for each round."""
    after = [found[f"{start}, {number}"].sum(axis=(0, 2)) for number in range(1, ROUNDS + 1)]
    return dict(zip(COMMON_BASES, np.transpose(after).tolist(), strict=True))


def compared(
    found: dict[str, NDArray[np.bool_]], clusters: NDArray[Any]
) -> tuple[dict[str, dict[str, list[int]]], dict[str, list[float]]]:
    """Compare the paper's method with each of `VARIANTS`: ``lead`` and ``error`` of `column`."""
    lead: dict[str, dict[str, list[int]]] = {name: {} for name in VARIANTS}
    error: dict[str, list[float]] = {name: [] for name in VARIANTS}
    for name in VARIANTS:
        for i, basis in enumerate(COMMON_BASES):
            counts = tally(found[f"uniform, {ROUNDS}"][:, i], found[name][:, i], clusters)
            lead[name][basis] = counts.gain.sum(axis=1).astype(int).tolist()
            if new := difference(counts).new:
                error[name].append(round(float(new.error), 4))
    return lead, error


def variants(A: Array, y: NDArray[Any], d: int, K: int, seed: int) -> Iterator[tuple[str, Array]]:
    """Yield the name and the W of every round from both starts, and of the other neighbours."""
    for start in STARTS:
        for number, r in enumerate(islice(variant(A, y, d, K, start=start), ROUNDS), start=1):
            yield f"{start}, {number}", r.W
    for chosen in NEIGHBOURS:
        if chosen != "learned":
            *_, last = islice(variant(A, y, d, K, chosen=chosen, seed=seed), ROUNDS)
            yield chosen, last.W


def check(unit: Unit, recorded: Recorded) -> Iterator[str]:
    """Say what is wrong with a recorded column: what it holds twice must agree.

    The leads over fewer rounds or another start are those of the counts after each round; and an
    error for such images is no smaller than that for these images.
    """
    for i, basis in enumerate(COMMON_BASES):
        total = {start: by_basis[basis] for start, by_basis in recorded["rounds"].items()}
        for name, lead in recorded["lead"].items():
            start, _, number = name.partition(", ")
            if start in STARTS:
                gap = total["uniform"][-1] - total[start][int(number) - 1]
                if gap != sum(lead[basis]):
                    yield f"{unit.key}: the lead over {name} is not that of the rounds"
            these = _these(lead[basis], recorded["tested"])
            if not these.error <= recorded["error"][name][i] + 1e-4:  # rounded
                yield f"{unit.key}: the error of {name} is smaller than its splits allow"


def _these(lead: Sequence[int], tested: int) -> Estimate:
    points = [100 * images / tested for images in lead]
    return over_splits(points, [0.0] * len(points))


def differences(record: dict[str, Any]) -> dict[tuple[int, str, str], Difference]:
    """Read what `slnp_study.statistics.judge` needs: the paper's method minus each variant.

    Parameters
    ----------
    record : dict
        Of the study, such as ``records.load("mnist-ablation")``.

    Returns
    -------
    differences : ``(N_i, variant, basis) -> Difference``
    """
    found = {}
    for N_i, unit in _columns(record).items():
        for name, by_basis in unit["lead"].items():
            for (basis, lead), error in zip(by_basis.items(), unit["error"][name], strict=True):
                these = _these(lead, unit["tested"])
                # The degrees of freedom are the same: there are more clusters than splits.
                new = these._replace(error=error)
                size = np.mean(lead), unit["tested"], np.nan
                found[N_i, name, basis] = Difference(*size, these, new)
    return found


class Ablation:
    """A record of this study, as the chapters use it.

    Attributes
    ----------
    K : int
    units : ``N_i ->`` what `column` returned
    leads : ``(N_i, variant, basis) -> Difference``
        The paper's method minus each variant, in the columns that can tell them apart.
    sizes : list of int
        The columns in which K neighbours are fewer than the class has to offer. In the others
        every choice of neighbours is the same.
    verdicts : `slnp_study.statistics.Verdicts`
        Of `leads`, all of them one family.
    """

    def __init__(self, record: dict[str, Any]) -> None:
        self.K: int = record["settings"]["K"]
        self.images = {N_i: u["tested"] * record["splits"] for N_i, u in _columns(record).items()}
        self.units = _columns(record)
        self.sizes = [N_i for N_i in self.units if N_i - 1 > self.K]
        found = differences(record).items()
        self.leads = {k: d for k, d in found if k[0] in self.sizes or k[1] not in NEIGHBOURS}
        self.verdicts = Verdicts(judge(self.leads))

    def rates_by_round(self, N_i: int) -> dict[str, dict[str, Array]]:
        """Mean rates in per cent: start -> basis -> array of one rate per round."""
        return {
            start: {basis: 100 * np.array(right) / self.images[N_i] for basis, right in of.items()}
            for start, of in self.units[N_i]["rounds"].items()
        }


def _columns(record: dict[str, Any]) -> dict[int, Recorded]:
    return {int(key.split("/")[1]): unit for key, unit in record["units"].items()}


STUDY = Study("ablation", tuple(paper.DIMENSIONS), SPLITS, units, settings, check, Ablation)
