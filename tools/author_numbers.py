"""Fill in the numbers of README, REPLICATION, paper.md, the landing page and the summary.

A number from the records is written between two comments, which readers don't see:

    The paper prints leads of <!--printed.LFDA-->+2.0 to +8.3<!--/--> points.

Edit the sentence around them as you like. To quote another number, write the two comments with its
name and run this tool: it prints every name and fills all pages. A new number is a line in `facts`.
A table goes between two such comments on lines of their own. A test fails if a page and the
records disagree.
Usage: python tools/author_numbers.py
"""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np

from slnp_study import paper, records
from slnp_study.contest import BASES, leads
from slnp_study.paper import COMMON_BASES
from slnp_study.statistics import WORDS, findings, judge, over_splits
from slnp_study.studies.learning import OTHERS
from slnp_study.studies.rivals import WIDTHS

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "REPLICATION.md", "paper.md")
PAGES += tuple(f"book/{name}.md" for name in ("index", "summary", "testing-a-paper"))
TITLES = {name: facts["title"] for name, facts in paper.DATASETS.items()}
TUNED = [name for name in records.names() if name.endswith("-tuned")]
COLUMNS = [(name, N_i) for name, sizes in paper.DIMENSIONS.items() for N_i in sizes]
RIVALS = ("LFDA", "LDA", "MFA", "LSDA")

# What the records say. A list over columns has the order of COLUMNS.


def printed(method):
    return np.array([paper.rate(name, method, N_i) for name, N_i in COLUMNS])


@cache
def read(name):
    return records.read(name)


@cache
def rates():
    """(method, basis) -> our mean rate in every column."""
    methods = read("mnist").columns[5]
    return {
        (method, basis): np.concatenate([read(name).mean(method, basis) for name in TITLES])
        for method in methods
        for basis in COMMON_BASES
    }


@cache
def judged():
    """What is found on SLNP against others, for new images of the kind, in two dictionaries.

    The first is by (other, basis) and lists all columns. The second is by (other, basis, data set)
    and has the mean over the columns of the set.
    """
    by_column, by_set = {}, {}
    for name in TITLES:
        table = read(name)
        for (_, *pair), each in table.verdicts.items():
            by_column.setdefault(tuple(pair), []).append(each.new)
        pairs = dict.fromkeys(key[1:] for key in table.verdicts)
        means = judge({(*pair, name): table.over_columns(*pair) for pair in pairs})
        by_set |= {key: each.new for key, each in means.items()}
    return by_column, by_set


@cache
def learned():
    """(data set, basis) -> learned minus fixed neighbours at the paper's K, mean of the columns.

    For new images of the kind. The family is the plan's: all others, K, bases and columns.
    """
    results = [read(f"{name}-learning") for name in TITLES]
    family = judge(leads(results, "learned", OTHERS, BASES, lambda cell: (cell, cell.K)))
    K = {name: paper.DATASETS[name]["K"] for name in TITLES}
    return {(n, b): family[n, K[n], "fixed", b].new for n in TITLES for b in BASES}


TUNED_OTHERS = ("LFDA", "SLNP, fixed graph", "LDA", "PCA")
TUNED_BASES = ("free", *COMMON_BASES)


@cache
def tuned():
    """(other, basis) -> SLNP minus it, both tuned: mean of four sets, taken as a sample of sets."""
    pairs = [(other, basis) for other in TUNED_OTHERS for basis in TUNED_BASES]
    means = [over_splits([read(name).mean(*pair) for name in TUNED], 0) for pair in pairs]
    return dict(zip(pairs, findings(means), strict=True))


KERNELS = {"LFDA": "local"} | {f"LFDA, c = {c}": f"{c}" for c in WIDTHS}


@cache
def against_kernels():
    """(data set, kernel, basis) -> SLNP's mean lead over LFDA. All columns are in the family."""
    found = judge(leads([read(f"{name}-rivals") for name in TITLES], "SLNP", tuple(KERNELS)))
    means = {key: each for key, each in found.items() if key[1] == "mean"}
    return {(name, KERNELS[of], basis): each for (name, _, of, basis), each in means.items()}


@cache
def rounds():
    """(data set, basis) -> SLNP with ten rounds minus two, mean of the columns, on these images."""
    results = [read(f"{name}-rivals") for name in TITLES]
    family = leads(results, "SLNP", ["SLNP, 2 rounds"])
    family |= leads(results, "SLNP, P chosen", ["SLNP", "LFDA"])
    found = judge(family)
    return {(n, b): found[n, "mean", "SLNP, 2 rounds", b].these for n in TITLES for b in BASES}


def faces(kind, field):
    """One field of the units of a figure on Extended Yale B: an array, the first axis splits."""
    units = read("yale_b").units.items()
    return np.array([unit[field] for key, unit in units if key.startswith(f"{kind}/")])


# How a page says it.


def span(values, form="+z.1f"):
    return f"{np.min(values):{form}} to {np.max(values):{form}}"


def points(findings):
    return span([each.points for each in findings])


def count(findings):
    """How often each word is said."""
    said = Counter(each.word for each in findings)
    first, *others = (f"{word} in {said[word]}" for word in WORDS if said[word])
    others = ", ".join(others[:-1]) + " and " * (len(others) > 1) + "".join(others[-1:])
    return f"{first} of {len(findings)} columns{', ' * bool(others)}{others}"


def table(head, rows):
    """A table in Markdown, with the empty lines that it needs around it."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n\n"


def mean_of(name, values):
    """Mean over the columns of one data set."""
    return np.mean([value for (of, _), value in zip(COLUMNS, values, strict=True) if of == name])


def table_of_rates(methods=("SLNP", "LFDA", "LDA")):
    head, columns = [""], []
    for method in methods:
        head += [f"{method}, printed", *COMMON_BASES]
        columns += [printed(method), *(rates()[method, basis] for basis in COMMON_BASES)]
    rows = {title: [mean_of(name, each) for each in columns] for name, title in TITLES.items()}
    return table(head, [[title, *(f"{mean:.1f}" for mean in row)] for title, row in rows.items()])


def table_of_leads():
    rows = []
    for rival in RIVALS:
        for name, title in TITLES.items():
            found = [judged()[1][rival, basis, name] for basis in COMMON_BASES]
            lead = mean_of(name, printed("SLNP") - printed(rival))
            rows.append([f"{rival}, {title}", f"{lead:+.1f}", *map(cell, found)])
    return table(["SLNP minus", "printed", *COMMON_BASES], rows)


def cell(finding, form=".1f"):
    return f"{finding.points:+z{form}} ± {finding.interval:{form}}, {finding.word}"


def table_of_kernels():
    of_set = {name: mean_of(name, printed("SLNP") - printed("LFDA")) for name in TITLES}
    rows = [["as printed", *(f"{lead:+.1f}" for lead in of_set.values())]]
    for kernel in KERNELS.values():
        found = [against_kernels()[name, kernel, "orthonormal"].these for name in TITLES]
        title = "local scaling" if kernel == "local" else f"one width, c = {kernel}"
        rows.append([title, *map(cell, found)])
    return table(["SLNP minus LFDA", *TITLES.values()], rows)


def table_of_bases(corner, found):
    rows = [[title, *(cell(found[name, b]) for b in BASES)] for name, title in TITLES.items()]
    return table([corner, *BASES], rows)


def table_of_tuned():
    found = {other: [tuned()[other, b] for b in TUNED_BASES] for other in TUNED_OTHERS}
    rows = [[other, *(cell(f, ".2f") for f in each)] for other, each in found.items()]
    return table(["SLNP minus", "each its own basis", *COMMON_BASES], rows)


def facts():
    """Name -> text: everything that the pages can quote."""
    found = {"rates": table_of_rates(), "leads": table_of_leads(), "kernels": table_of_kernels()}
    found |= {
        "learning": table_of_bases("learned minus fixed", learned()),
        "tuned": table_of_tuned(),
    }
    found["rounds"] = table_of_bases("ten rounds minus two", rounds())
    for (name, kernel, basis), verdict in against_kernels().items():
        if basis == "orthonormal":
            found[f"kernel.{kernel}.{name}"] = f"{verdict.these.points:+z.1f}"
    for name in TITLES:
        found[f"printed.LFDA.{name}"] = f"{mean_of(name, printed('SLNP') - printed('LFDA')):+.1f}"
    for rival in RIVALS:
        leads = {basis: judged()[0][rival, basis] for basis in COMMON_BASES}
        found[f"printed.{rival}"] = span(printed("SLNP") - printed(rival))
        found[f"lead.{rival}"] = points([each for of in leads.values() for each in of])
        for basis, each in leads.items():
            found[f"lead.{rival}.{basis}"] = points(each)
            found[f"count.{rival}.{basis}"] = count(each)
    for basis in COMMON_BASES:
        gaps = {method: rates()[method, basis] - printed(method) for method in paper.METHODS}
        found |= {f"gap.{method}.{basis}": span(gap) for method, gap in gaps.items()}
        best = np.max([rates()[rival, basis] for rival in RIVALS], axis=0)
        found[f"first.{basis}"] = f"{np.sum(rates()['SLNP', basis] > best)} of {len(COLUMNS)}"
    for K in (5, 9):
        J = faces(f"fig4/{K}", "paper")
        found[f"fig4.{K}"] = span(100 * (J[:, 9] / J[:, 0] - 1), "+.0f")
    for similarity in ("learned", "lpp"):
        found[f"fig6.{similarity}"] = f"{faces('fig6', similarity).mean():.2f}"
    found["fig7.gamma"] = span(faces("fig5-7", "gamma"), ".2f")
    return found


NAME, END = r"<!--([\w.]+)-->", "<!--/-->"


def filled(page, known):
    """The page with its numbers filled in."""
    names, marked = re.findall(NAME, page), f"(?s){NAME}.*?{END}"
    if not len(names) == len(re.findall(marked, page)) == page.count(END):
        raise ValueError(f"A number lacks its name or its end, {END}.")
    if unknown := set(names) - set(known):
        raise ValueError(f"No number is called {unknown.pop()}; run this tool to see the names.")
    page = re.sub(marked, lambda mark: f"<!--{mark[1]}-->{known[mark[1]]}{END}", page)
    if early := re.search(f"(?m)^{NAME}.", page):
        raise ValueError(f"Put a word before {early[1]}: Markdown takes the line for HTML.")
    return page


def main():
    known = facts()
    for name, text in known.items():
        print(f"{name:26} {'(a table)' if '|' in text else text}")
    for path in (ROOT / page for page in PAGES):
        path.write_text(filled(path.read_text("utf-8"), known), "utf-8")


if __name__ == "__main__":
    main()
