"""Figures that the book draws more than once: from real images and from stand-ins."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray
from PIL import Image

from slnp_edu.show import COLOURS, METHOD_COLOURS, use_style
from slnp_study import paper
from slnp_study.data import load_coil100
from slnp_study.statistics import MARGIN, WORDS, Finding, reach

#: How the words look: apart in grey print, too.
_LOOKS: tuple[dict[str, Any], ...] = (
    {"facecolor": "#9ecae9", "edgecolor": COLOURS["blue"], "lw": 1.5},
    {"facecolor": "#e6f1f9", "edgecolor": COLOURS["blue"], "lw": 0.8},
    {"facecolor": "0.93", "edgecolor": "0.93"},
    {"facecolor": "white", "edgecolor": "0.6", "ls": ":"},
    {"facecolor": "#fbe3d2", "edgecolor": "white", "hatch": "///", "lw": 0},
    {"facecolor": "#f5b58a", "edgecolor": "#fbe3d2", "hatch": "///", "lw": 0},
)
WORD = dict(zip(WORDS, _LOOKS, strict=True))
#: How the bases look.
BASIS: dict[str, dict[str, Any]] = {
    "whitened": {"marker": "s", "color": COLOURS["red"]},
    "orthonormal": {"marker": "o", "color": COLOURS["blue"]},
    "unit": {"marker": "^", "color": "0.35"},
}
#: How LFDA's kernels look, and what they're called.
KERNEL = {
    "LFDA": ("o", METHOD_COLOURS["LFDA"], "local scaling"),
    "LFDA, c = 0.25": ("D", COLOURS["sky"], "one width, c = 0.25"),
    "LFDA, c = 0.1": ("v", COLOURS["blue"], "one width, c = 0.1"),
}


def image_grid(
    images: NDArray[Any],
    *,
    columns: int = 10,
    gap: int = 2,
    row_labels: list[str] | None = None,
    ax: Any = None,
) -> Any:
    """Draw grey images side by side, row by row, into one Axes.

    Parameters
    ----------
    images : array of shape (n_images, height, width)
        Drawn from black (0) to white (the largest value of all the images).
    columns : int
        Images in a row.
    gap : int
        White pixels between two images.
    row_labels : list of str, optional
        One for each row, written on its left.
    ax : matplotlib Axes, optional
        A new figure if not given.

    Returns
    -------
    matplotlib Axes
    """
    images = np.asarray(images)
    n_images, height, width = images.shape
    columns = min(columns, n_images)
    rows = -(-n_images // columns)
    down, across = height + gap, width + gap
    canvas = np.full((rows * down - gap, columns * across - gap), np.nan)
    for i, image in enumerate(images):
        top, left = down * (i // columns), across * (i % columns)
        canvas[top : top + height, left : left + width] = image
    if ax is None:
        ax = plt.subplots(figsize=(8, 8 * canvas.shape[0] / canvas.shape[1]))[1]
    ax.imshow(canvas, cmap="gray", vmin=0, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks(down * np.arange(rows) + height / 2 if row_labels else [], row_labels or [])
    ax.tick_params(length=0)
    ax.set_frame_on(False)
    return ax


def contact_sheet(bunch: Any, classes: int = 6, columns: int = 12) -> Figure:
    """Figs. 3, 10 and 11: a few classes of a data set, one a row, evenly picked."""
    chosen = np.linspace(0, bunch.target.max(), classes).astype(int)
    members = [np.flatnonzero(bunch.target == c) for c in chosen]
    shown = np.concatenate([m[np.linspace(0, len(m) - 1, columns).astype(int)] for m in members])
    height, width = bunch.image_shape
    shape = (classes * (height + 2) - 2) / (columns * (width + 2) - 2)
    figure = plt.figure(figsize=(8, 8 * shape))
    image_grid(bunch.images[shown], columns=columns, ax=figure.add_axes((0, 0, 1, 1)))
    return figure


def similarities_per_round(
    images: NDArray[Any], similarities: NDArray[Any], start: float
) -> Figure:
    """Fig. 5: how the similarities of one face to the others of its class change.

    Parameters
    ----------
    images : array of shape (1 + n, height, width)
        The reference first, then the others.
    similarities : array of shape (rounds, n)
    start : float
        The similarity before the first round.
    """
    similarities = np.asarray(similarities)
    rounds, n = similarities.shape
    figure, (top, axis) = plt.subplots(2, 1, figsize=(7.5, 4.6), height_ratios=[1, 2.4])
    image_grid(images, columns=len(images), ax=top)
    top.set_title("the reference, then faces 2 to " + str(n + 1))
    curves = np.vstack([np.full(n, start), similarities])
    order = np.argsort(-curves[-1], kind="stable")
    column, above = 0, np.inf
    for rank, k in enumerate(order):
        shade = plt.get_cmap("viridis")(0.9 * rank / max(n - 1, 1))
        axis.plot(curves[:, k], "-o", ms=3, color=shade)
        column = column + 1 if above - curves[-1, k] < np.ptp(curves) / 25 else 0  # side by side
        above, aside = curves[-1, k], (4 + 18 * column, -3)
        axis.annotate(str(k + 2), (rounds, above), aside, textcoords="offset points")
    axis.set(xlabel="round", ylabel="similarity to the reference", xticks=range(0, rounds + 1, 2))
    figure.tight_layout()
    return figure


def similarity_order(
    images: NDArray[Any], learned: Sequence[float], lpp: Sequence[float]
) -> Figure:
    """Fig. 6: the faces of a class in descending similarity to the first, learned and LPP's.

    Parameters
    ----------
    images : array of shape (1 + n, height, width)
        The reference first.
    learned, lpp : n similarities each
    """
    images = np.asarray(images)
    n, _, width = images.shape
    figure, axes = plt.subplots(2, 1, figsize=(7.5, 3.6))
    for axis, title, values in (
        (axes[0], "SLNP, after the last round", learned),
        (axes[1], "LPP (13), in the original space", lpp),
    ):
        order = np.argsort(-np.asarray(values), kind="stable")
        image_grid(images[np.concatenate([[0], order + 1])], columns=n, ax=axis)
        labels = ["reference", *(f"{k + 2}: {values[k]:.3f}" for k in order)]
        axis.set_xticks(width / 2 + (width + 2) * np.arange(n), labels, fontsize=8)
        axis.set_title(title)
    figure.tight_layout()
    return figure


def gamma_of_classes(images: Sequence[NDArray[Any]], labels: list[str]) -> Figure:
    """Fig. 7: training images of a few classes, one class a row, with its average gamma (58)."""
    n, (height, width) = len(images[0]), images[0].shape[1:]
    shape = len(images) * (height + 2) / (n * (width + 2))
    figure, axis = plt.subplots(figsize=(7.5, 7.5 * shape))
    image_grid(np.concatenate(images), columns=n, row_labels=labels, ax=axis)
    figure.tight_layout()
    return figure


def beside_paper(columns: Any, dataset: str, methods: Sequence[str], m: int = 5) -> Figure:
    """Tables II, IV and VI as a picture: our mean minus the printed one, in every basis.

    Parameters
    ----------
    columns : mapping
        Such as those of `slnp_study.tables.columns`.
    dataset : str
    methods : sequence of str
        A panel each. What follows a comma is ours: "LFDA, c = 0.1" is held against LFDA.
    m : int
        A bar is as long as the means of ``m`` more splits would scatter. One that crosses zero
        explains the paper's figure (`slnp_study.statistics.explained`).
    """
    figure, axes = plt.subplots(1, len(methods), figsize=(7, 2.8), sharey=True)
    places = np.arange(len(columns))
    for ax, method in zip(axes, methods, strict=True):
        ax.axhspan(-MARGIN, MARGIN, color="0.93", lw=0)
        ax.axhline(0, color="0.5", lw=0.8)
        printed = [paper.rate(dataset, method.split(",")[0], N_i) for N_i in columns]
        for aside, (basis, look) in zip((-0.25, 0, 0.25), BASIS.items(), strict=True):
            ours = [column[method][basis] for column in columns.values()]
            gaps = np.mean(ours, axis=1) - printed
            bars = [reach(rates, m) for rates in ours]
            ax.errorbar(places + aside, gaps, bars, label=basis, ms=4, lw=1.2, ls="", **look)
        ax.set_xticks(places, list(map(str, columns)))
        ax.set(title=method, xlabel="N_i")
    axes[0].set_ylabel("ours - printed (points)")
    figure.tight_layout(rect=(0, 0, 1, 0.92))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="upper center", ncols=len(BASIS))
    return figure


def leads_by_column(found: Any, kernels: Sequence[str] = (), width: float = 7) -> Figure:
    """Draw the printed leads over LFDA in every column, and ours for some kernels, orthonormal.

    ``found`` is what `slnp_study.statistics.judge` says of `slnp_study.contest.leads`.
    """
    fig, axes = plt.subplots(1, 3, figsize=(width, 3.7), sharey=True)
    for ax, (name, of) in zip(axes, paper.RATES.items(), strict=True):
        labels = [*paper.DIMENSIONS[name], "mean"]
        place = np.append(np.arange(len(labels) - 1), len(labels) - 0.5)
        ax.axhspan(-MARGIN, MARGIN, color="0.93", lw=0)
        ax.axhline(0, color="0.5", lw=0.8)
        ax.axvline(len(labels) - 1.1, color="0.8", lw=0.8)
        crosses = np.subtract(of["SLNP"], of["LFDA"])
        ax.plot(place - 0.27, [*crosses, crosses.mean()], "kx", ms=6, mew=1.6, label="printed")
        for aside, kernel in zip((-0.09, 0.09, 0.27), kernels, strict=False):
            marker, colour, label = KERNEL[kernel]
            these = [found[name, at, kernel, "orthonormal"].these for at in labels]
            points, half = np.transpose([(f.points, f.interval) for f in these])
            style = {"fmt": marker, "ms": 4.5, "lw": 1.3, "color": colour}
            ax.errorbar(place + aside, points, half, label=label, **style)
        step = -1 if width > 5 else -3  # from the mean on
        ax.set_xticks(place[::step], list(map(str, labels[::step])))
        ax.set(title=paper.DATASETS[name]["name"], xlabel="N_i", xlim=(-0.6, len(labels)))
    axes[0].set(ylabel="SLNP - LFDA (points)", ylim=(-1.8, 9))
    fig.tight_layout(rect=(0, 0, 1, 0.92))
    style = {"loc": "upper center", "ncols": 4, "columnspacing": 0.8, "handletextpad": 0.1}
    fig.legend(*axes[0].get_legend_handles_labels(), **style)
    return fig


def word_grid(
    ax: Any, found: Mapping[tuple[str, str], Finding], rows: Sequence[str], columns: Sequence[str]
) -> None:
    """Draw findings as a grid, one a (row, column): points in the cell, its word as a colour."""
    for row, of_row in enumerate(rows):
        for column, of_column in enumerate(columns):
            finding = found[of_row, of_column]
            corner = (column - 0.48, row - 0.45)
            ax.add_patch(Rectangle(corner, 0.96, 0.9, **WORD[finding.word]))
            points = f"{finding.points:+z.1f}"
            ax.text(column, row, points, ha="center", va="center", fontsize=9)
    ax.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def word_legend(figure: Figure) -> None:
    """Say below a figure what the colours of `word_grid` mean."""
    handles = [Rectangle((0, 0), 1, 1, **look) for look in WORD.values()]
    labels = [f"SLNP {word}" if word[0] in "ab" else word for word in WORD]
    figure.tight_layout(rect=(0, 0.15, 1, 1))
    figure.legend(handles, labels, loc="lower center", ncols=2)


def draw_real_figures(dataset: str, data: Any, record: dict[str, Any], folder: Path) -> list[Path]:
    """Draw the figures that show real images, from the data and its record, as PNG files."""
    use_style()
    drawn = {
        "yale_b": lambda: {"fig03": contact_sheet(data), **_fig_5_to_7(data, record)},
        "coil100": lambda: {"fig10": contact_sheet(load_coil100("real", size=32))},
        "mnist": lambda: {"fig11": contact_sheet(data, classes=10)},
    }[dataset]()
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, figure in drawn.items():
        paths.append(folder / f"{name}.png")
        paths[-1].write_bytes(light_png(figure))
    return paths


def _fig_5_to_7(data: Any, record: dict[str, Any]) -> dict[str, Figure]:
    unit = record["units"]["fig5-7/00"]
    faces = data.images[unit["rows"]]
    gamma = np.array(unit["gamma"])
    chosen = np.argsort(gamma)[[-1, len(gamma) // 2, 0]]  # largest, middle, least
    return {
        "fig05": similarities_per_round(faces, unit["similarities"], 1 / len(faces)),
        "fig06": similarity_order(faces, unit["similarities"][-1], unit["lpp"]),
        "fig07": gamma_of_classes(
            [data.images[unit["training_rows"][c]] for c in chosen],
            [f"class {c + 1}\ngamma {gamma[c]:.2f}" for c in chosen],
        ),
    }


def light_png(figure: Any, **options: Any) -> bytes:
    """Close the figure and return it as a PNG file of 64 colours, which keeps a page light."""
    raw, small = io.BytesIO(), io.BytesIO()
    figure.savefig(raw, format="png", **options)
    plt.close(figure)
    image = Image.open(raw)
    few = image.convert("RGB").quantize(64)
    few.save(small, format="png", optimize=True, dpi=image.info["dpi"])
    return small.getvalue()
