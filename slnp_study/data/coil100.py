"""Objects on a turntable: COIL-100, prepared, loaded, or rendered in its place."""

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from slnp_study import paper
from slnp_study.data.archives import read_images
from slnp_study.data.files import (
    STANDIN_TERMS,
    Archive,
    Arrays,
    block_means,
    bunch,
    check,
    load_prepared,
)
from slnp_study.data.standins import render_objects

NAME = re.compile(r"obj\d+__\d+\.png")  # obj1__355.png: object 1, turned by 355 degrees

_DESCR = """\
Columbia Object Image Library, COIL-100: 100 objects on a turntable, 72 views each, 7,200 images.
Origin: {origin}
Terms of use: {terms}
Pixels: {pixels}
Reference: S. Nene, S. Nayar, H. Murase, Columbia Object Image Library (COIL-100), technical report
CUCS-006-96, Columbia University, 1996.
"""


def load_coil100(source: str = "standin", *, size: int = 16, return_X_y: bool = False) -> Any:
    """Load objects on a turntable: the real COIL-100, or rendered solids in its place.

    Parameters
    ----------
    source : {"standin", "real"}
    size : {16, 32}
        Height and width in pixels. The paper uses 16.
    return_X_y : bool
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch
        ``data`` (7200, size * size), ``target`` (7200,), ``images`` (7200, size, size),
        ``angle`` (7200,) of the turntable in degrees, and the facts.
    """
    check("source", source, ("standin", "real"))
    check("size", size, (16, 32))
    if source == "standin":
        images, number, angle = _rendered(size)
        name, facts = "rendered object {}", dict[str, Any]()
        descr = _DESCR.format(
            origin="stand-ins for it: 100 rendered solids x 72 views.",
            terms=STANDIN_TERMS,
            pixels=f"rendered at {size} x {size} with 256 grey values"
            " (see slnp_study.data.standins).",
        )
    else:
        arrays, facts = load_prepared(ARCHIVE)
        images, number, angle = (arrays[key] for key in ARCHIVE.arrays)
        images, name = block_means(images, 32 // size), "obj{}"
        descr = _DESCR.format(
            origin="coil-100.zip, Columbia University (CAVE laboratory).",
            terms="made available for research, non-commercial use.",
            pixels="128 x 128 colour to grey (ITU-R 601), means over 4 x 4 blocks, rounded"
            " (32 x 32);\nthen, for 16 x 16, means over 2 x 2 blocks, not rounded.",
        )
    facts["angle"] = angle.astype(int)
    return bunch(images, number, name, source, descr, return_X_y, **facts)


def prepare(path: Path) -> Arrays:
    """Read ``coil-100.zip`` into the arrays of the prepared file, sorted by object and angle."""
    found = read_images(path, NAME, "PNG", "RGB", (128, 128))
    views = {tuple(map(int, name[3:-4].split("__"))): view for name, view in found.items()}
    number, angle = np.array(sorted(views), np.int16).reshape(-1, 2).T
    images = np.array([views[view] for view in sorted(views)])
    return {"images": images, "object": number, "angle": angle}


_rendered = lru_cache(render_objects)  # takes two seconds, and a chapter loads a set more than once

ARCHIVE = Archive(
    title=paper.DATASETS["coil100"]["title"],
    file="coil100_gray_32x32.npz",
    sha256="5bcaf4636aa876d7dda8b92af928f0c2f652b73a73d68df6e267758153724d77",
    images_sha256="9a78cf3623bb34a08579cdc8cd119ba3a1a477a44ef79ed396403b6e2851ec94",
    shape=(7200, 32, 32),
    arrays=("images", "object", "angle"),
    n_classes=100,
    how="Run: python -m slnp_study data fetch coil100 (about 125 MB, from Columbia University),\n"
    "or, with coil-100.zip at hand: python -m slnp_study data add coil100 coil-100.zip",
    prepare=prepare,
    url="http://www.cs.columbia.edu/CAVE/databases/SLAM_coil-20_coil-100/coil-100/coil-100.zip",
    remark=" (coil-100.zip does: 102 reference images came from smaller copies)",
)
