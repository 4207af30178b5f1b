"""What the live multiverse shows: SLNP's lead over LFDA in every specification on record.

A specification settles SLNP's own choices, LFDA's kernel, and what touches both. The small figure
and the picture for paper have those of the record `rivals`, in all columns. The whole one has those
of `choices`, in three. Rates are the means of the columns. `explorable` is written for the figure's
script when the book is built.
"""

from base64 import b64encode
from collections.abc import Callable, Iterable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from slnp_edu.show import COLOURS
from slnp_edu.steps import Array
from slnp_study import paper, records
from slnp_study.contest import BASES
from slnp_study.statistics import MARGIN
from slnp_study.studies import choices
from slnp_study.studies.rivals import ANCHORED, METHODS_OF_SLNP, ONE_WIDTH

KERNEL = "LFDA's kernel"
KERNELS = ("local scaling", *(f"width {name.rpartition(' ')[2]}" for name in ONE_WIDTH))
#: What a reader sees, where a name of the study is too short to be clear.
LABELS = {
    "metric": "distance",
    "unit": "unit length",
    "half": "half the paper's",
    "three halves": "1.5 × paper's",
    "nearest": "K nearest",
    "paper": "paper's rule",
    "can": "CAN's rule",
    "fixed": "held fixed",
}


def label(name: object) -> str:
    """Name a choice, or a way to make it, for the reader."""
    return LABELS.get(str(name), str(name))


CHOICES: dict[str, tuple[str, ...]] = {
    KERNEL: KERNELS,
    "basis": tuple(map(label, BASES)),
    "SLNP": ("10 rounds", "2 rounds", "rounds chosen", "anchor 0.1, ours", "anchor 0.3, ours"),
}
#: What the paper leaves open, apart from the kernel, and what it spells out.
LEFT_OPEN = tuple(name for name in choices.OPEN if name in choices.COMMON_CHOICES)
SETTLED = tuple(name for name in choices.AS_PRINTED if name not in choices.OPEN)
EVERY: dict[str, tuple[str, ...]] = {KERNEL: KERNELS} | {
    label(name): tuple(map(label, choices.CHOICES[name])) for name in LEFT_OPEN + SETTLED
}


def rates(name: str) -> tuple[Array, Array, float]:
    """Rates of SLNP and of LFDA along the axes of `CHOICES`, and the printed lead.

    An array has length 1 along a choice that isn't the method's.
    """
    found = records.read(f"{name}-rivals")

    def of(methods: tuple[str, ...]) -> Array:
        rows = [
            [[found.rates(cell, method, basis).mean() for cell in found.cells] for basis in BASES]
            for method in methods
        ]
        means: Array = np.mean(rows, axis=2)
        return means

    ours, theirs = of((*METHODS_OF_SLNP, *ANCHORED)).T, of(("LFDA", *ONE_WIDTH))
    return ours[None], theirs[:, :, None], _printed(name, (cell.N_i for cell in found.cells))


def every_rate(name: str) -> tuple[Array, Array, float]:
    """Like `rates`, along the axes of `EVERY`."""
    found, axes = records.read(f"{name}-choices"), list(choices.CHOICES)
    order = [axes.index(choice) for choice in ("kernel", *LEFT_OPEN, *SETTLED, "directions")]

    def of(method: str) -> Array:
        means: Array = np.mean([column[method].mean(axis=0) for column in found.values()], axis=0)
        return means.transpose(order)[..., 0]  # of LDA's directions there is one way

    return of("SLNP"), of("LFDA"), _printed(name, found)


def _printed(name: str, columns: Iterable[int]) -> float:
    """SLNP's printed lead over LFDA, the mean of these columns."""
    return float(
        np.mean([paper.rate(name, "SLNP", N) - paper.rate(name, "LFDA", N) for N in columns])
    )


def explorable() -> dict[str, Any]:
    """Return the margin, and for both figures the choices and every set's rates, packed."""

    def sets(read: Callable[[str], tuple[Array, Array, float]]) -> dict[str, Any]:
        found = {}
        for name, facts in paper.DATASETS.items():
            ours, theirs, printed = read(name)
            ends = [(ours - theirs).min(), (ours - theirs).max(), printed]
            of_set = {"printed": printed, "from": min(ends), "to": max(ends)}
            found[facts["name"]] = of_set | {"ours": _pack(ours), "theirs": _pack(theirs)}
        return found

    groups = {
        "Left open by the paper": [label(name) for name in LEFT_OPEN],
        "Settled by the paper, bent here": [label(name) for name in SETTLED],
    }
    made = {label(name): label(way) for name, way in choices.AS_PRINTED.items()}
    return {
        "margin": MARGIN,
        "small": {"choices": CHOICES, "groups": {}, "made": {}, "sets": sets(rates)},
        "whole": {"choices": EVERY, "groups": groups, "made": made, "sets": sets(every_rate)},
    }


def _pack(values: Array) -> dict[str, Any]:
    """Two bytes for each rate of 0 to 100 per cent."""
    whole = np.rint(values * 655.35).astype("<u2")
    return {"shape": values.shape, "rates": b64encode(whole.tobytes()).decode()}


def still() -> Figure:
    """Draw the picture for paper: the sorted leads on each set, a curve for each kernel."""
    figure, axes = plt.subplots(1, 3, figsize=(5.6, 2.9), sharey=True, layout="constrained")
    for ax, (name, facts) in zip(axes, paper.DATASETS.items(), strict=True):
        ours, theirs, printed = rates(name)
        ax.axhspan(-MARGIN, MARGIN, color="0.9", lw=0)
        for kernel, each in zip(KERNELS, ours - theirs, strict=True):
            leads, ends = np.sort(each, axis=None), kernel in (KERNELS[0], KERNELS[-1])
            colour, width = COLOURS["blue" if ends else "sky"], 2.4 if ends else 1.2
            ax.plot((np.arange(leads.size) + 0.5) / leads.size, leads, color=colour, lw=width)
            if ends and ax is axes[0]:
                ax.annotate(kernel, (0.05, leads[0]), (0, -13), textcoords="offset points")
        ax.axhline(printed, color="black", ls="--", lw=1.4)
        if ax is axes[0]:
            ax.annotate("printed", (0.05, printed), (0, 3), textcoords="offset points")
        ax.set(title=facts["name"], xticks=[])
    figure.supxlabel("specifications, sorted", fontsize="medium")
    axes[0].set_ylabel("SLNP minus LFDA, points")
    return figure
