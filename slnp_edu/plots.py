"""Figures that the book draws more than once."""

from typing import Any

import numpy as np


def image_grid(
    images: np.ndarray,
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
    images = np.asarray(images, dtype=float)
    n_images, height, width = images.shape
    columns = min(columns, n_images)
    rows = -(-n_images // columns)
    down, across = height + gap, width + gap
    canvas = np.full((rows * down - gap, columns * across - gap), np.nan)
    for i, image in enumerate(images):
        top, left = down * (i // columns), across * (i % columns)
        canvas[top : top + height, left : left + width] = image
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(8, 8 * canvas.shape[0] / canvas.shape[1]))[1]
    ax.imshow(canvas, cmap="gray", vmin=0, vmax=max(images.max(), 1e-12), interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks(down * np.arange(rows) + height / 2 if row_labels else [], row_labels or [])
    ax.tick_params(length=0)
    ax.set_frame_on(False)
    return ax
