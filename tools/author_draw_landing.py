"""Draw the pictures of the landing page: book/figures/toy.svg and landing*.png.

The toy is the paper's Fig. 1. The finding comes from the records, through `author_numbers`: SLNP's
lead in each of the 17 columns of Tables II, IV and VI, as printed, and measured over the same
splits with both methods in the same basis. It's drawn twice: the panels side by side, and for a
phone one above the other.
Usage: python tools/author_draw_landing.py [folder]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from author_numbers import COLUMNS, ROOT, TITLES, judged, printed

from slnp_edu.show import CLASS_COLOURS, CLASS_MARKERS, COLOURS, use_style
from slnp_edu.toy import make_toy
from slnp_study.plots import light_png
from slnp_study.statistics import MARGIN

RIVALS = ("LDA", "LFDA")
MARKS = {"orthonormal": ("blue", "o", -0.14), "whitened": ("red", "^", 0.14)}


def draw(rows, columns, size):
    """SLNP's lead over each rival, a panel each."""
    use_style()
    figure, axes = plt.subplots(
        rows, columns, figsize=size, sharex=True, sharey=True, layout="constrained"
    )
    for ax, rival in zip(axes, RIVALS, strict=True):
        draw_leads(ax, rival)
        draw_sets(ax)
        ax.set(title=f"SLNP minus {rival}", ylim=(-5.5, 10))
    figure.supxlabel("training images a class", fontsize="medium")
    figure.supylabel("lead in percentage points", fontsize="medium")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=columns + 1
    )
    return figure


def draw_leads(ax, rival):
    x, leads = np.arange(len(COLUMNS)), printed("SLNP") - printed(rival)
    ax.axhspan(-MARGIN, MARGIN, color="0.92", lw=0)
    ax.axhline(0, color="0.4", lw=1)
    ax.plot(x, leads, "_", color="black", ms=11, mew=2, label="as printed")
    for basis, (colour, marker, shift) in MARKS.items():
        points, error = zip(
            *((f.points, f.interval) for f in judged()[0][rival, basis]), strict=True
        )
        style = {"fmt": marker, "color": COLOURS[colour], "ms": 4, "lw": 1.2}
        ax.errorbar(x + shift, points, error, **style, label=f"measured, both {basis}")


def draw_sets(ax):
    """The numbers of images below, the names of the data sets above them, lines between."""
    ax.set_xticks(range(len(COLUMNS)), [str(N_i) for _, N_i in COLUMNS], fontsize=9)
    names = [name for name, _ in COLUMNS]
    for name, title in TITLES.items():
        first, n = names.index(name), names.count(name)
        ax.text(first + (n - 1) / 2, -5.2, title, ha="center", fontsize=9)
        if first:
            ax.axvline(first - 0.5, color="0.8", lw=1)


def draw_toy():
    """Three fish: on the page b is nearest to a, by length alone c is."""
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


def main(folder=ROOT / "book" / "figures"):
    (folder / "landing.png").write_bytes(light_png(draw(1, 2, (8.2, 3.2)), dpi=220))
    (folder / "landing-narrow.png").write_bytes(light_png(draw(2, 1, (4.0, 6)), dpi=220))
    draw_toy().savefig(folder / "toy.svg", metadata={"Date": None})


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
