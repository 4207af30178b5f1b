"""Fill in the numbers of README, REPLICATION, paper.md, the landing page and two others.

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
from itertools import product
from pathlib import Path

import numpy as np

from slnp_study import paper, records
from slnp_study.contest import BASES, leads
from slnp_study.paper import COMMON_BASES
from slnp_study.statistics import SMALLER, WORDS, findings, judge, over_splits
from slnp_study.studies import learning, tuning
from slnp_study.studies.replication import BY_IMAGE
from slnp_study.studies.rivals import OTHERS, SHARES, WIDTHS

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "REPLICATION.md", "paper.md")
PAGES += tuple(f"book/{name}.md" for name in ("index", "summary", "testing-a-paper"))
SETS = {name: facts["name"] for name, facts in paper.DATASETS.items()}
TUNED = [name for name in records.names() if name.endswith("-tuned")]
COLUMNS = [(name, N_i) for name, sizes in paper.DIMENSIONS.items() for N_i in sizes]
KERNELS = {"LFDA": "local"} | {f"LFDA, c = {c}": f"{c}" for c in WIDTHS}
*UNPLANNED, _ = BY_IMAGE  # in the tables' records alone, in two bases
WIDE, NARROW = "LFDA, c = 0.25", "LFDA, c = 0.1"

# What the records say. A list over columns has the order of COLUMNS.


def printed(method):
    """The paper's rates in all columns. It has one MFA, and doesn't say how it takes pairs."""
    return np.array([paper.rate(name, method.split(",")[0], N_i) for name, N_i in COLUMNS])


@cache
def read(name):
    return records.read(name)


def contests(study):
    return [read(f"{name}-{study}") for name in SETS]


@cache
def rates(method, basis):
    """Our mean rate in every column."""
    cells = [(of, cell) for of in contests("rivals") for cell in of.cells]
    return np.array([of.rates(cell, method, basis).mean() for of, cell in cells])


@cache
def against():
    """(data set, N_i or "mean", other, basis) -> the verdict on SLNP against it.

    LFDA's kernels and `OTHERS` are the plan's families, as in chapters 10 and 13. Of `UNPLANNED`
    methods it's the means, from seeds 0 to 19, with Holm's correction within each data set.
    """
    found = {}
    for name in SETS:
        table = read(name)
        pairs = dict.fromkeys(key[1:] for key in table.verdicts)
        found |= judge({(name, "mean", *pair): table.over_columns(*pair) for pair in pairs})
    found |= judge(leads(contests("rivals"), "SLNP", tuple(KERNELS)))
    return found | judge(leads(contests("rivals"), "SLNP", OTHERS))


def of_columns(other, basis):
    return [against()[name, N_i, other, basis].new for name, N_i in COLUMNS]


def of_sets(other, basis, family=against):
    """Data set -> the verdict on the mean of its columns."""
    return {name: family()[name, "mean", other, basis] for name in SETS}


def ours_minus_printed(method, basis):
    return means(rates(method, basis) - printed(method))


@cache
def learned():
    """(other, data set, basis) -> learned minus other neighbours at the paper's K, as planned."""
    by_K = {"labels": lambda cell: (cell, cell.K)}
    family = judge(leads(contests("learning"), "learned", learning.OTHERS, **by_K))
    K = {name: paper.DATASETS[name]["K"] for name in SETS}
    return {(o, n, b): family[n, K[n], o, b] for o in learning.OTHERS for n in SETS for b in BASES}


@cache
def rounds():
    """The plan's question on rounds: ten minus two, P chosen minus ten and minus LFDA."""
    family = leads(contests("rivals"), "SLNP", ["SLNP, 2 rounds"])
    return judge(family | leads(contests("rivals"), "SLNP, P chosen", ["SLNP", "LFDA"]))


@cache
def anchored():
    """(share, data set, label, other, basis) -> the anchored SLNP minus SLNP, and minus LFDA."""
    family = {}
    for a in SHARES:
        found = leads(contests("rivals"), f"anchored, {a}", ["SLNP", "LFDA"])
        family |= {(a, *key): each for key, each in found.items()}
    return judge(family)


@cache
def by_tenths():
    """The plan's second margin, a tenth of the errors, on SLNP minus LFDA."""
    family = leads(contests("rivals"), "SLNP", tuple(KERNELS))
    return judge(family, {key: each.tenth for key, each in family.items()})


TUNED_OTHERS = [method for method in tuning.METHODS if method != "SLNP"][::-1]
TUNED_BASES = ("free", *COMMON_BASES)


@cache
def tuned():
    """(other, basis) -> SLNP minus it, both tuned: mean of four sets, taken as a sample of sets."""
    pairs = list(product(TUNED_OTHERS, TUNED_BASES))
    found = [over_splits([read(name).mean(*pair) for name in TUNED], 0) for pair in pairs]
    return dict(zip(pairs, findings(found), strict=True))


def at_own_dimensions(of, method, basis):
    """Rates of each split at the D_PCA that the training part prefers, mean of the columns."""
    found = []
    for N_i in dict.fromkeys(cell.N_i for cell in of.cells):
        cells = [cell for cell in of.cells if cell.N_i == N_i]
        inner = np.array([of.rates(cell, method, basis, "inner") for cell in cells])
        outer = np.array([of.rates(cell, method, basis) for cell in cells])
        found.append(outer[inner.argmax(axis=0), np.arange(outer.shape[1])])
    return np.mean(found, axis=0)


def faces(kind, field):
    """One field of the units of a figure on Extended Yale B: an array, the first axis splits."""
    units = read("yale_b").units.items()
    return np.array([unit[field] for key, unit in units if key.startswith(f"{kind}/")])


# How a page says it.


def span(values, form="+z.1f"):
    values = list(values)
    return f"{np.min(values):{form}} to {np.max(values):{form}}"


def points(findings):
    return span([each.points for each in findings])


def count(findings):
    """How often each word is said."""
    said = Counter(each.word for each in findings)
    return ", ".join(f"{word} in {said[word]} of {len(findings)}" for word in WORDS if said[word])


def table(head, rows):
    """A table in Markdown, with the empty lines that it needs around it."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n\n"


def means(values):
    """Data set -> mean over its columns."""
    each = list(zip(COLUMNS, values, strict=True))
    return {name: np.mean([value for (of, _), value in each if of == name]) for name in SETS}


def measured(estimate, form=".1f"):
    return f"{estimate.points:+z{form}} ± {estimate.interval:{form}}"


def cell(finding, form=".1f"):
    return f"{measured(finding, form)}, {finding.word.replace(SMALLER, ' (<1)')}"


def listed(of_set, say=cell):
    return "; ".join(f"{SETS[name]} {say(each)}" for name, each in of_set.items())


def table_of_rates(methods=("SLNP", "LFDA", "LDA")):
    head = ["", *(f"{name}, {m}" for name in SETS.values() for m in ("printed", "ours"))]
    rows = []
    for method in methods:
        in_print = means(printed(method))
        ours = {name: [means(rates(method, b))[name] for b in BASES] for name in SETS}
        each = ((f"{in_print[n]:.1f}", " / ".join(f"{x:.1f}" for x in ours[n])) for n in SETS)
        rows.append([method, *(text for pair in each for text in pair)])
    return table(head, rows)


def table_of_leads():
    rows = []
    for rival, name in product(("LFDA", "LDA", "PCA", *UNPLANNED), SETS):
        bases = COMMON_BASES if rival in UNPLANNED else BASES
        found = [cell(against()[name, "mean", rival, b].new) for b in bases]
        lead = "–" if rival == "PCA" else f"{means(printed('SLNP') - printed(rival))[name]:+.1f}"
        rows.append([f"{rival}, {SETS[name]}", lead, *found, *["–"] * (3 - len(found))])
    return table(["SLNP minus", "printed", *BASES], rows)


def table_of_counts():
    """How often each verdict occurs in the 17 columns, in `BASES`."""
    said = {
        rival: [Counter(each.word for each in of_columns(rival, b)) for b in BASES]
        for rival in ("LFDA", "LDA")
    }
    words = [word for word in WORDS if any(each[word] for of in said.values() for each in of)]
    rows = [
        [rival, *(" / ".join(str(each[word]) for each in of) for word in words)]
        for rival, of in said.items()
    ]
    return table(["SLNP minus", *words], rows)


def table_of_kernels(kernels, say=cell):
    in_print = means(printed("SLNP") - printed("LFDA")).values()
    rows = [["as printed", *(f"{lead:+.1f}" for lead in in_print)]]
    for kernel in kernels:
        c = KERNELS[kernel]
        title = "local scaling" if c == "local" else f"one width, c = {c}"
        rows.append([title, *(say(v.these) for v in of_sets(kernel, "orthonormal").values())])
    return table(["SLNP minus LFDA", *SETS.values()], rows)


def table_of_parts():
    """The printed lead: what is left of it, what SLNP is below print, what LFDA is above."""
    rows = []
    for name, in_print in means(printed("SLNP") - printed("LFDA")).items():
        row = []
        for basis in BASES:
            left = against()[name, "mean", "LFDA", basis].these.points
            ours, theirs = (ours_minus_printed(m, basis)[name] for m in ("SLNP", "LFDA"))
            row.append(" ".join(f"{part:+z.1f}" for part in (left, -ours, theirs)))
        rows.append([f"{SETS[name]}, {in_print:+.1f}", *row])
    return table(["printed lead", *BASES], rows)


def table_of_learning():
    titles = {f"learned minus {other}": other for other in ("fixed", "random")}
    ten = {("two", n, b): rounds()[n, "mean", "SLNP, 2 rounds", b] for n in SETS for b in BASES}
    found = learned() | ten
    rows = [
        [f"{title}, {SETS[name]}", *(cell(found[other, name, b].new) for b in BASES)]
        for (title, other), name in product(
            (titles | {"ten rounds minus two": "two"}).items(), SETS
        )
        if found[other, name, BASES[0]].new  # a random list's digits are counted alone
    ]
    return table(["", *BASES], rows)


def table_of_tuned():
    row = [measured(tuned()[other, "free"], ".2f") for other in TUNED_OTHERS]
    return table(["SLNP minus", *TUNED_OTHERS], [["", *row]])


def table_of_tables():
    """The study of tables from packages."""
    use = read("tables-use")
    new, every = use.new, np.ones_like(use.new)
    head = ["", f"{new.sum()} new to us", "the same, other folds", f"all {every.sum()}"]
    columns = [
        use.answers(*of) for of in (("primary", new), ("other folds", new), ("primary", every))
    ]
    rows = [[title, *(cell(of[title].finding, ".2f") for of in columns)] for title in columns[0]]
    return table(head, rows)


def facts():
    """Name -> text: everything that the pages can quote."""
    found = {
        "rates": table_of_rates(),
        "leads": table_of_leads(),
        "counts": table_of_counts(),
        "kernels": table_of_kernels(("LFDA", "LFDA, c = 1", WIDE, NARROW)),
        "kernels.three": table_of_kernels(("LFDA", WIDE, NARROW), measured),
        "parts": table_of_parts(),
        "learning": table_of_learning(),
        "tuned": table_of_tuned(),
        "tuned.words": count(tuned().values()),
        "tables": table_of_tables(),
    }
    return found | of_the_lead() | of_the_rates() | of_the_plan() | of_figures()


def of_the_lead():
    found = {}
    for rival in paper.METHODS[:-1]:
        found[f"printed.{rival}"] = span(printed("SLNP") - printed(rival))
    for rival in ("LFDA", "LDA"):
        found[f"lead.{rival}"] = points([one for b in BASES for one in of_columns(rival, b)])
    in_print = means(printed("SLNP") - printed("LFDA"))
    for kernel, name in product(("LFDA", WIDE, NARROW), SETS):
        left = [of_sets(kernel, basis)[name].these.points for basis in BASES]
        sizes = list(paper.DIMENSIONS[name])
        ends = (against()[name, N, kernel, "orthonormal"].these for N in (sizes[0], sizes[-1]))
        c = KERNELS[kernel]
        found[f"kernel.{c}.{name}"] = f"{left[BASES.index('orthonormal')]:+z.1f}"
        found[f"share.{c}.{name}"] = span(100 * np.array(left) / in_print[name], ".0f")
        found[f"few.{c}.{name}"] = " to ".join(f"{lead.points:+z.1f}" for lead in ends)
    return found


def of_the_rates():
    found = {}
    for basis in COMMON_BASES:
        for method in ("SLNP", "LFDA", "LDA"):
            found[f"gap.{method}.{basis}"] = span(rates(method, basis) - printed(method))
        below = [-gap for gap in ours_minus_printed("SLNP", basis).values()]
        found[f"short.{basis}"] = span(below, ".1f")
        of_five = [[read(n).mean(m, basis) for n in SETS] for m in paper.METHODS]
        best = sum(np.sum(np.argmax(of, axis=0) == 4) for of in zip(*of_five, strict=True))
        found[f"first.{basis}"] = f"{best} of {len(COLUMNS)}"
    for name in ("coil100", "mnist"):
        below = [-ours_minus_printed(NARROW, basis)[name] for basis in BASES]
        found[f"narrow.below.{name}"] = span(below, ".1f")
    in_print = means(printed("SLNP") - printed("LDA")).values()
    ours = [verdict.these.points for verdict in of_sets("LDA", "orthonormal").values()]
    for whose, leads_ in (("printed", in_print), ("ours", ours)):
        found[f"lda.{whose}"] = "{:+.1f}, {:+.1f} and {:+.1f}".format(*leads_)
    return found


def of_the_plan():
    """What the plans asked and no chapter answers at length, and the warning."""
    found = {"learned.coil100": points(learned()["fixed", "coil100", b].new for b in BASES)}
    for of_set in contests("rivals"):
        two = (of_set.lead("SLNP, 2 rounds", "LFDA", basis).these for basis in BASES)
        found[f"two.{of_set.dataset}"] = ", ".join(measured(each, ".2f") for each in two)
    found["nca"] = count([v.new for b in BASES for v in of_sets("NCA", b).values()])
    chosen = of_sets("LFDA", "orthonormal", rounds)
    found["chosen"] = listed({name: each.these for name, each in chosen.items()})
    anchor = {n: anchored()[0.1, n, "mean", "SLNP", "orthonormal"].new for n in SETS}
    found["anchor"] = listed(anchor)
    for kernel, scope in (("LFDA", "new"), (WIDE, "these")):
        changed = Counter(
            SETS[name]
            for basis in BASES
            for name, each in of_sets(kernel, basis, by_tenths).items()
            if getattr(each, scope).word != getattr(of_sets(kernel, basis)[name], scope).word
        )
        found[f"tenth.{scope}"] = ", ".join(f"{name} in {n} of 3" for name, n in changed.items())
    studies = contests("dimensions")
    cells = [cell for of in studies for cell in of.cells]
    found["whole"] = f"{sum(c.d == c.D_PCA for c in cells)} of {len(cells)}"
    pairs = {
        of.dataset: [at_own_dimensions(of, m, "orthonormal") for m in ("SLNP", "LFDA")]
        for of in studies
    }
    found["own"] = listed({name: over_splits(*pair) for name, pair in pairs.items()}, measured)
    few, *_, many = (c for c in studies[-1].cells if c.N_i == 30 and c.d < c.D_PCA)
    for basis in COMMON_BASES:
        ends = (studies[-1].lead("SLNP", "SLNP, 1 round", basis, [c]).these for c in (few, many))
        found[f"loop.{basis}"] = " to ".join(map(measured, ends))
    use = read("tables-use")
    lost = (use.rates("SLNP") - use.rates("without") > 5) & (use.of("rows") >= 100)
    warned = use.of("warned")[..., 1].astype(bool)
    found |= {"warning.lost": f"{lost.sum()}", "warning.caught": f"{(lost & warned).sum()}"}
    return found


def of_figures():
    found = {}
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
