"""Draw the main finding, book/figures/landing*.png, from the records in book/results.

SLNP's lead in each of the 17 columns of Tables II, IV and VI: as printed, and measured over the
same splits with both methods in the same basis. Prints the sentences that the landing page quotes.
Two pictures: the panels side by side, and for a phone one above the other.
Usage: python tools/landing.py [folder]
"""

import sys
from collections import Counter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from slnp_edu.book import COLOURS, light_png, use_style
from slnp_edu.evidence import paper, records
from slnp_edu.evidence.statistics import COMMON_BASES, MARGIN, verdicts

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
        outcomes = {
            N_i: [records.outcomes(record, N_i, seed) for seed in record["seeds"]]
            for N_i in columns
        }
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
        ax.set_xticks(x, labels, fontsize=8)
        ax.set(title=f"SLNP minus {rival}", ylim=(-5.5, 10))
        edge = 0
        for dataset, sizes in paper.DIMENSIONS.items():
            ax.text(edge + (len(sizes) - 1) / 2, -5.2, NAMES[dataset], ha="center", fontsize=8)
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


def main(folder=FIGURES):
    found = judged()
    wide, narrow = draw(found, 1, 2, (8.2, 3.2)), draw(found, 2, 1, (4.2, 6))
    (folder / "landing.png").write_bytes(light_png(wide, dpi=110))
    (folder / "landing-narrow.png").write_bytes(light_png(narrow, dpi=160))
    print(*sentences(found), sep="\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
