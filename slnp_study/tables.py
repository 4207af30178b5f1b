"""Tables of the book: our rates beside the paper's, differences with their words."""

from collections.abc import Mapping, Sequence

from IPython.display import Markdown

from slnp_study import paper, records
from slnp_study.contest import BASES
from slnp_study.statistics import Estimate, Finding, explained, summarise

NB = "\N{NO-BREAK SPACE}"  # a line of a table breaks at other spaces only
#: N_i -> method -> basis -> rates in per cent, one per split
Columns = Mapping[int, Mapping[str, Mapping[str, Sequence[float]]]]


def columns(dataset: str) -> Columns:
    """Read the rates of all methods: the rivals', and of the tables what they don't have."""
    rivals, tables = (records.read(name) for name in (f"{dataset}-rivals", dataset))
    methods = rivals.contest.methods
    return {
        cell.N_i: tables.columns[cell.N_i]
        | {m: {basis: rivals.rates(cell, m, basis) for basis in BASES} for m in methods}
        for cell in rivals.cells
    }


def against_paper(
    columns: Columns, dataset: str, methods: Sequence[str] = paper.METHODS, m: int = 5
) -> Markdown:
    """Rows for each method: the paper's rate, then ours in each common basis, with its interval.

    What follows a comma is ours: "LFDA, c = 0.1" is held against LFDA. Bold where the paper's
    figure could be the mean of ``m`` more splits (`explained`).
    """
    rows = []
    for method in methods:
        printed = [paper.rate(dataset, method.split(",")[0], N_i) for N_i in columns]
        if method in paper.METHODS:
            rows.append([f"{method}, the paper", *(f"{rate:.2f}" for rate in printed)])
        bases = next(iter(columns.values()))[method]
        for basis in (b for b in BASES if b in bases):
            ours = [column[method][basis] for column in columns.values()]
            cells = [_ours(rate, rates, m) for rate, rates in zip(printed, ours, strict=True)]
            rows.append([f"{method}, {basis}", *cells])
    return _markdown(["N_i =", *map(str, columns)], rows)


def _ours(printed: float, rates: Sequence[float], m: int) -> str:
    found = summarise(rates)
    mark = "**" if explained(printed, rates, m) else ""
    return f"{mark}{found.mean:.1f}{NB}±{NB}{found.interval:.1f}{mark}"


def differences_table(
    corner: str, rows: Mapping[str, Mapping[str, Finding | Estimate | None]]
) -> Markdown:
    """Differences in points with their 95 % intervals and, where there's one, the word for each.

    Bold is what is ahead, italic what is behind, by less than the margin or not. Without words,
    italic is an interval that holds zero.

    Parameters
    ----------
    corner : str
        What the rows are.
    rows : mapping
        From the label of a row to its cells, from the label of a column to what stands there.
        None for a dash.
    """
    columns = list(next(iter(rows.values())))
    lines = [[label, *(_difference(cells[c]) for c in columns)] for label, cells in rows.items()]
    return _markdown([corner, *columns], lines)


def _difference(found: Finding | Estimate | None) -> str:
    if found is None:
        return "–"
    points = f"{found.points:+z.2f}±{found.interval:.2f}".replace("-", "−")  # six to a line
    if isinstance(found, Estimate):
        return points if abs(found.points) > found.interval else f"*{points}*"
    mark = {"ahead": "**", "behind": "*"}.get(found.word.split()[0], "")
    return f"{points} {mark}{found.word}{mark}"


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Markdown:
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return Markdown("\n".join("| " + " | ".join(line) + " |" for line in lines))
