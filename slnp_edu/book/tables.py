"""Tables II, IV and VI once more: our rates with their uncertainty, the paper's, and the words."""

from collections.abc import Mapping, Sequence

from IPython.display import Markdown

from slnp_edu.evidence import paper
from slnp_edu.evidence.statistics import (
    COMMON_BASES,
    Verdict,
    explained,
    summarise,
)

NB = "\N{NO-BREAK SPACE}"  # a line of a table breaks at other spaces only
#: N_i -> method -> basis -> rates in per cent, one per split
Columns = Mapping[int, Mapping[str, Mapping[str, Sequence[float]]]]


def rates_table(columns: Columns, basis: str) -> Markdown:
    """Every method's mean rate and the 95 % interval of that mean, per N_i."""
    rows = []
    for method in next(iter(columns.values())):
        if basis in next(iter(columns.values()))[method]:
            found = [summarise(columns[N_i][method][basis]) for N_i in columns]
            rows.append([method, *(f"{s.mean:.1f}{NB}±{NB}{s.interval:.1f}" for s in found)])
    return _markdown([f"{basis} basis, N_i =", *map(str, columns)], rows)


def against_paper(columns: Columns, dataset: str) -> Markdown:
    """Three rows per method: the paper's rate, then ours in each common basis, with its interval.

    Bold where the paper's figure could be one more split of ours (`explained`).
    """
    rows = []
    for method in paper.METHODS:
        printed = [paper.rate(dataset, method, N_i) for N_i in columns]
        rows.append([f"{method}, the paper", *(f"{rate:.2f}" for rate in printed)])
        for basis in COMMON_BASES:
            ours = [column[method][basis] for column in columns.values()]
            cells = [_ours(rate, rates) for rate, rates in zip(printed, ours, strict=True)]
            rows.append([f"ours, {basis}", *cells])
    return _markdown(["N_i =", *map(str, columns)], rows)


def _ours(printed: float, rates: Sequence[float]) -> str:
    found = summarise(rates)
    mark = "**" if explained(printed, rates) else ""
    return f"{mark}{found.mean:.1f}{NB}±{NB}{found.interval:.1f}{mark}"


def verdict_table(
    verdicts: Mapping[tuple[int, str, str], Verdict],
    basis: str,
    others: Sequence[str],
    scope: str = "such",
) -> Markdown:
    """SLNP minus each other method, in points with 95 % intervals, and the word for it.

    Parameters
    ----------
    verdicts : mapping
        What `slnp_edu.evidence.statistics.verdicts` returns.
    basis : str
    others : names of methods
        One row each.
    scope : {"these", "such"}
        For these images or for such images.
    """
    sizes = sorted({N_i for N_i, _, _ in verdicts})
    rows = []
    for other in others:
        found = [getattr(verdicts[N_i, other, basis], scope) for N_i in sizes]
        cells = [f"{f.points:+.2f} ±{NB}{f.interval:.2f} {_marked(f.word)}" for f in found]
        rows.append([other, *cells])
    return _markdown([f"SLNP - other, {basis}, {scope} images, N_i =", *map(str, sizes)], rows)


def _marked(word: str) -> str:
    """Bold if ahead, italic if behind."""
    mark = {"ahead": "**", "behind": "*"}.get(word, "")
    return mark + word + mark


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Markdown:
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return Markdown("\n".join("| " + " | ".join(line) + " |" for line in lines))
