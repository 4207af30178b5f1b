"""Draw the logo and the favicon of the book into book/_static.

Two classes of three points each, and an axis on which each class falls together: the book in one
picture. Usage: python tools/author_draw_logo.py
"""

import io
import sys
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from PIL import Image

from slnp_edu.book import COLOURS

STATIC = Path(__file__).parent.parent / "book" / "_static"
ANGLE = np.radians(15)
AXIS = np.array([np.cos(ANGLE), np.sin(ANGLE)])
CLASSES = [
    ("blue", "o", [(-0.80, 0.28), (-0.62, 0.58), (-0.36, 0.74)]),
    ("red", "^", [(0.36, -0.74), (0.62, -0.56), (0.82, -0.20)]),
]


def draw(size):
    """The logo, ``size`` inches wide, on a white disc, so that it stands on any background."""
    figure = Figure(figsize=(size, size))
    axes = figure.add_axes((0, 0, 1, 1))
    disc = np.array([(np.cos(a), np.sin(a)) for a in np.linspace(0, 2 * np.pi, 181)])
    axes.fill(*disc.T, facecolor="white", edgecolor="0.35", lw=1.2 * size, zorder=0)
    axes.plot(*np.outer(AXIS, [-0.93, 0.93]), color=COLOURS["black"], lw=2.2 * size)
    for colour, marker, points in CLASSES:
        for point in np.array(points):
            foot = (point @ AXIS) * AXIS
            axes.plot(*np.array([point, foot]).T, color="0.55", lw=1.2 * size, zorder=0.5)
            axes.plot(*point, marker, color=COLOURS[colour], ms=7.5 * size)
            axes.plot(*foot, marker, mfc="white", mec=COLOURS[colour], ms=4.5 * size, mew=size)
    axes.set(xlim=(-1.03, 1.03), ylim=(-1.03, 1.03), aspect="equal")
    axes.axis("off")
    figure.patch.set_alpha(0)
    return figure


def main(folder=STATIC):
    with rc_context({"svg.hashsalt": "slnp"}):  # the same file from every run
        draw(2).savefig(folder / "logo.svg", metadata={"Date": None})
    raw = io.BytesIO()
    draw(2).savefig(raw, format="png", dpi=128)
    Image.open(raw).save(folder / "favicon.ico", sizes=[(16, 16), (32, 32), (48, 48)])


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
