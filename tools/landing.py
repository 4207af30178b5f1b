"""Draw the main finding, book/figures/landing*.png, from the records in book/results.

SLNP's lead in each of the 17 columns of Tables II, IV and VI: as printed, and measured over the
same splits with the same basis for both methods. Prints the numbers that the landing page quotes.
Two pictures: the panels side by side, and for a phone one above the other.
Usage: python tools/landing.py [folder]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from slnp_edu import paper, records
from slnp_edu.display import COLOURS, light_png, use_style
from slnp_edu.tables import summarise

FIGURES = Path(__file__).parent.parent / "book" / "figures"
NAMES = {"yale_b": "Extended Yale B", "coil100": "COIL-100", "mnist": "MNIST"}
RIVALS = ("LDA", "LFDA")
BASES = {"orthonormal": ("blue", "o"), "whitened": ("red", "^")}


def leads(rival, basis):
    """SLNP minus a rival in every column: one Summary each, paired over the splits."""
    found = []
    for dataset, columns in paper.DIMENSIONS.items():
        record = records.load(dataset)
        for N_i in columns:
            rates = records.rates(record, N_i)
            found.append(summarise(rates["SLNP"][basis] - rates[rival][basis]))
    return found


def printed(rival):
    return [
        paper.rate(dataset, "SLNP", N_i) - paper.rate(dataset, rival, N_i)
        for dataset, columns in paper.DIMENSIONS.items()
        for N_i in columns
    ]


def counts(found):
    """Columns in which SLNP is ahead, undecided, behind: by the 95 % interval."""
    ahead = sum(s.mean - s.interval > 0 for s in found)
    behind = sum(s.mean + s.interval < 0 for s in found)
    return ahead, len(found) - ahead - behind, behind


def draw(rows, columns, size):
    use_style()
    figure, axes = plt.subplots(
        rows, columns, figsize=size, sharex=True, sharey=True, layout="constrained"
    )
    labels = [str(N_i) for sizes in paper.DIMENSIONS.values() for N_i in sizes]
    x = np.arange(len(labels))
    for ax, rival in zip(axes, RIVALS, strict=True):
        ax.axhline(0, color="0.4", lw=1)
        ax.plot(x, printed(rival), "_", color="black", ms=11, mew=2, label="as printed")
        for shift, (basis, (colour, marker)) in zip((-0.14, 0.14), BASES.items(), strict=True):
            found = leads(rival, basis)
            ax.errorbar(
                x + shift,
                [s.mean for s in found],
                [s.interval for s in found],
                fmt=marker,
                color=COLOURS[colour],
                ms=4,
                lw=1.2,
                label=f"measured, both {basis}",
            )
        ax.set_xticks(x, labels, fontsize=8)
        ax.set(title=f"SLNP minus {rival}", ylim=(-8, 10))
        edge = 0
        for dataset, sizes in paper.DIMENSIONS.items():
            ax.text(edge + (len(sizes) - 1) / 2, -7.6, NAMES[dataset], ha="center", fontsize=8)
            edge += len(sizes)
            if edge < len(labels):
                ax.axvline(edge - 0.5, color="0.8", lw=1)
    figure.supxlabel("training images a class", fontsize="medium")
    figure.supylabel("lead in percentage points", fontsize="medium")
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=columns + 1
    )
    return figure


def main(folder=FIGURES):
    wide, narrow = draw(1, 2, (8.2, 3.2)), draw(2, 1, (4.2, 6))
    (folder / "landing.png").write_bytes(light_png(wide, dpi=110))
    (folder / "landing-narrow.png").write_bytes(light_png(narrow, dpi=160))
    for rival in RIVALS:
        print(f"{rival}: printed {min(printed(rival)):+.1f} to {max(printed(rival)):+.1f}")
        for basis in BASES:
            found = leads(rival, basis)
            low, high = min(s.mean for s in found), max(s.mean for s in found)
            ahead, even, behind = counts(found)
            print(
                f"  {basis}: {low:+.1f} to {high:+.1f};"
                f" ahead in {ahead}, undecided in {even}, behind in {behind}"
            )


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
