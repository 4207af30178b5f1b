"""nbval compares what the cells of a notebook print; here also what they draw."""

import base64
import io

import numpy as np
from nbval.plugin import IPyNbCell
from PIL import Image

# So many of 255 shades may a pixel be off, and this part of the pixels further.
FAR, FEW = 32, 1e-4
as_printed = IPyNbCell.compare_outputs


def pictures(outputs):
    for output in outputs:
        if png := output.get("data", {}).get("image/png"):
            with Image.open(io.BytesIO(base64.b64decode(png))) as image:
                yield np.asarray(image.convert("RGB"), dtype=int)


def alike(one, other):
    return (
        one.shape == other.shape and np.mean(np.ptp([one, other], axis=0) > FAR) <= FEW
    )


def as_printed_and_drawn(cell, outputs, stored, skip_compare=None):
    printed = as_printed(cell, outputs, stored, skip_compare)
    ours, theirs = list(pictures(outputs)), list(pictures(stored))
    drawn = len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if not drawn:
        cell.comparison_traceback.append("The cell draws another picture.")
    return printed and drawn


IPyNbCell.compare_outputs = as_printed_and_drawn
