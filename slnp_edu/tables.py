"""Tables II, IV and VI once more: our rates with their uncertainty, beside the paper's."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from IPython.display import Markdown
from scipy.stats import t

from slnp_edu import paper

NB = "\N{NO-BREAK SPACE}"  # a line of a table breaks at other spaces only
#: N_i -> method -> basis -> rates in per cent, one per split
Columns = Mapping[int, Mapping[str, Mapping[str, Sequence[float]]]]


class Summary(NamedTuple):
    """Mean of the splits, with two half-widths at 95 %: of the mean, and of one more split."""

    mean: float
    interval: float
    one_split: float


def summarise(rates: Sequence[float]) -> Summary:
    """Mean, 95 % interval of the mean, and where 95 % of further splits would fall (Student's t).

    Examples
    --------
    >>> [round(float(value), 2) for value in summarise([80.0, 82.0, 84.0])]
    [82.0, 4.97, 9.94]
    """
    n = len(rates)
    quantile, spread = t.ppf(0.975, n - 1), np.std(rates, ddof=1)
    return Summary(
        float(np.mean(rates)),
        float(quantile * spread / np.sqrt(n)),
        float(quantile * spread * np.sqrt(1 + 1 / n)),
    )


def rates_table(columns: Columns, basis: str) -> Markdown:
    """Every method's mean rate and the 95 % interval of that mean, per N_i."""
    rows = []
    for method in next(iter(columns.values())):
        if basis in next(iter(columns.values()))[method]:
            found = [summarise(columns[N_i][method][basis]) for N_i in columns]
            rows.append([method, *(f"{s.mean:.1f}{NB}±{NB}{s.interval:.1f}" for s in found)])
    return _markdown([f"{basis} basis, N_i =", *map(str, columns)], rows)


def against_paper(columns: Columns, dataset: str, basis: str) -> Markdown:
    """Three rows per method: the paper's rate, ours with its 95 % interval, and the difference.

    "in" means that the paper's figure lies where 95 % of further single splits would fall.
    """
    rows = []
    for method in paper.METHODS:
        printed = [paper.rate(dataset, method, N_i) for N_i in columns]
        ours = [column[method][basis] for column in columns.values()]
        means = [summarise(rates) for rates in ours]
        gaps = [rate - s.mean for rate, s in zip(printed, means, strict=True)]
        verdicts = [
            "in" if explained(*pair) else "**out**" for pair in zip(printed, ours, strict=True)
        ]
        rows.append([f"**{method}**, paper", *(f"{rate:.2f}" for rate in printed)])
        rows.append(["ours", *(f"{s.mean:.1f}{NB}±{NB}{s.interval:.1f}" for s in means)])
        rows.append(
            ["paper - ours", *(f"{g:+.1f},{NB}{v}" for g, v in zip(gaps, verdicts, strict=True))]
        )
    return _markdown([f"{basis} basis, N_i =", *map(str, columns)], rows)


def explained(printed: float, ours: Sequence[float]) -> bool:
    """Does the paper's figure lie where 95 % of further single splits would fall?"""
    summary = summarise(ours)
    return abs(printed - summary.mean) <= summary.one_split


def paired(column: Mapping[str, Mapping[str, Sequence[float]]], other: str, basis: str) -> Summary:
    """SLNP minus another method, split by split, in the same basis; PCA has only one."""
    own = "orthonormal" if other.startswith("PCA") else basis
    return summarise(np.subtract(column["SLNP"][basis], column[other][own]).tolist())


def standing(difference: Summary) -> int:
    """Return 1 if SLNP is ahead beyond the 95 % interval, -1 if it is behind, 0 if level.

    Examples
    --------
    >>> standing(Summary(0.5, 0.3, 1.2)), standing(Summary(-0.2, 0.3, 1.2))
    (1, 0)
    """
    return int(np.sign(difference.mean)) * (abs(difference.mean) > difference.interval)


def paired_table(columns: Columns, basis: str, others: Sequence[str]) -> Markdown:
    """SLNP minus each other method, with 95 % intervals: bold if ahead, italic if behind."""
    marks = {1: "**", 0: "", -1: "*"}
    rows = []
    for other in others:
        found = [paired(column, other, basis) for column in columns.values()]
        cells = [(marks[standing(s)], f"{s.mean:+.2f} ±{NB}{s.interval:.2f}") for s in found]
        rows.append([other, *(mark + cell + mark for mark, cell in cells)])
    return _markdown([f"SLNP - other, {basis}, N_i =", *map(str, columns)], rows)


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Markdown:
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return Markdown("\n".join("| " + " | ".join(line) + " |" for line in lines))
