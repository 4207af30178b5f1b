"""Draw the pictures of the landing page: book/figures/toy.svg and landing*.png.

The toy is the paper's Fig. 1. The finding comes from the records: SLNP's lead in
each of the 17 columns of Tables II, IV and VI, as printed, and measured over the same splits with
both methods in the same basis. Prints the sentences that the landing page quotes.
It is drawn twice: the panels side by side, and for a phone one above the other.
Usage: python tools/author_draw_landing.py [folder]
"""

import sys
from collections import Counter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from slnp_edu.show import CLASS_COLOURS, CLASS_MARKERS, COLOURS, use_style
from slnp_edu.toy import make_toy
from slnp_study import paper, records
from slnp_study.plots import light_png
from slnp_study.statistics import COMMON_BASES, MARGIN, verdicts

FIGURES = Path(__file__).parent.parent / "book" / "figures"
NAMES = {"yale_b": "Extended Yale B", "coil100": "COIL-100", "mnist": "MNIST"}
CLUSTERS = {"yale_b": "class", "coil100": "class", "mnist": "image"}
RIVALS = ("LDA", "LFDA")
MARKS = {"orthonormal": ("blue", "o"), "whitened": ("red", "^")}


def judged():
    """(rival, basis) -> the verdict on SLNP against the rival in every column."""
    found = {(rival, basis): [] for rival in RIVALS for basis in COMMON_BASES}
    for dataset, columns in paper.DIMENSIONS.items():
        record = records.load(dataset)
        outcomes = {N_i: records.all_outcomes(record, N_i) for N_i in columns}
        verdict = verdicts(outcomes, CLUSTERS[dataset])
        for (rival, basis), held in found.items():
            held += [verdict[N_i, rival, basis] for N_i in columns]
    return found


def printed(rival):
    return [
        paper.rate(dataset, "SLNP", N_i) - paper.rate(dataset, rival, N_i)
        for dataset, columns in paper.DIMENSIONS.items()
        for N_i in columns
    ]


def draw(found, rows, columns, size):
    use_style()
    figure, axes = plt.subplots(
        rows, columns, figsize=size, sharex=True, sharey=True, layout="constrained"
    )
    labels = [str(N_i) for sizes in paper.DIMENSIONS.values() for N_i in sizes]
    x = np.arange(len(labels))
    for ax, rival in zip(axes, RIVALS, strict=True):
        ax.axhspan(-MARGIN, MARGIN, color="0.92", lw=0)
        ax.axhline(0, color="0.4", lw=1)
        ax.plot(x, printed(rival), "_", color="black", ms=11, mew=2, label="as printed")
        for shift, (basis, (colour, marker)) in zip((-0.14, 0.14), MARKS.items(), strict=True):
            such = [verdict.such for verdict in found[rival, basis]]
            ax.errorbar(
                x + shift,
                [finding.points for finding in such],
                [finding.interval for finding in such],
                fmt=marker,
                color=COLOURS[colour],
                ms=4,
                lw=1.2,
                label=f"measured, both {basis}",
            )
        ax.set_xticks(x, labels, fontsize=9)
        ax.set(title=f"SLNP minus {rival}", ylim=(-5.5, 10))
        edge = 0
        for dataset, sizes in paper.DIMENSIONS.items():
            ax.text(edge + (len(sizes) - 1) / 2, -5.2, NAMES[dataset], ha="center", fontsize=9)
            edge += len(sizes)
            if edge < len(labels):
                ax.axvline(edge - 0.5, color="0.8", lw=1)
    figure.supxlabel("training images a class", fontsize="medium")
    figure.supylabel("lead in percentage points", fontsize="medium")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=columns + 1
    )
    return figure


def sentences(found):
    """What the landing page says of each rival, word for word."""
    for rival in RIVALS:
        leads = printed(rival)
        yield f"printed against {rival}: {min(leads):+.1f} to {max(leads):+.1f} points"
        for basis in MARKS:
            such = [verdict.such for verdict in found[rival, basis]]
            words = Counter(finding.word for finding in such)
            points = [finding.points for finding in such]
            yield (
                f"both {basis}, against {rival}: {min(points):+.1f} to {max(points):+.1f} points;"
                f" level in {words['level']}, ahead in {words['ahead']},"
                f" behind in {words['behind']}, undecided in {words['undecided']}"
            )


def draw_toy():
    """Three fish: in the plane b is nearest to a, on the length axis c is."""
    use_style()
    plt.rcParams["svg.hashsalt"] = "toy"  # the same names in the file at every run
    figure, ax = plt.subplots(figsize=(4.0, 2.3), layout="constrained")
    toy = make_toy("points")
    a, *others = toy.data
    for p, name, label in zip(toy.data, "abc", toy.target, strict=True):
        style = {"color": CLASS_COLOURS[label], "marker": CLASS_MARKERS[label], "ms": 9}
        ax.plot([0, p[0]], [p[1], p[1]], ":", color="grey")
        ax.plot(*p, **style)
        ax.plot(0, p[1], **style, clip_on=False)
        ax.annotate(name, p, (8, 5), textcoords="offset points", fontsize=13)
    for p in others:
        ax.annotate("", p, a, arrowprops={"arrowstyle": "->", "shrinkA": 8, "shrinkB": 8})
        ax.text(*(a + p) / 2 + [0.18, -0.32], f"{np.linalg.norm(p - a):.2f}")
    ax.set(xlim=(0, 6), ylim=(0.4, 3.5), xlabel="lightness", ylabel="length", yticks=[])
    ax.set_xticks([])
    ax.yaxis.labelpad = 10
    return figure


def main(folder=FIGURES):
    found = judged()
    wide, narrow = draw(found, 1, 2, (8.2, 3.2)), draw(found, 2, 1, (4.0, 6))
    (folder / "landing.png").write_bytes(light_png(wide, dpi=220))
    (folder / "landing-narrow.png").write_bytes(light_png(narrow, dpi=220))
    draw_toy().savefig(folder / "toy.svg", metadata={"Date": None})
    print(*sentences(found), sep="\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
