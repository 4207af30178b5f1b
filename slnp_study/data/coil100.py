"""Objects on a turntable: COIL-100, prepared, loaded, or rendered in its place."""

import re
from collections.abc import Iterable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from slnp_study.data.archives import decode, members
from slnp_study.data.files import (
    STANDIN_TERMS,
    ArchiveError,
    Arrays,
    RealSet,
    block_means,
    bunch,
    check,
    load_prepared,
    sha256_of,
)
from slnp_study.data.standins import render_objects

NAME = re.compile(r"obj(?P<object>\d+)__(?P<angle>\d+)\.png")

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
        solids = _rendered_objects(size)
        names = [f"rendered object {number}" for number in np.unique(solids.object)]
        descr = _DESCR.format(
            origin="stand-ins for it: 100 rendered solids x 72 views.",
            terms=STANDIN_TERMS,
            pixels=f"rendered at {size} x {size} with 256 grey values"
            " (see slnp_study.data.standins).",
        )
        facts = {"angle": np.array(solids.angle), "checksum": sha256_of(solids.images)}
        facts["checksum_of"] = "the images as uint8"
        return bunch(solids.images, solids.object, names, source, descr, return_X_y, **facts)
    arrays, facts = load_prepared(SET)
    images = block_means(arrays["images"], 32 // size)
    names = [f"obj{number}" for number in np.unique(arrays["object"])]
    descr = _DESCR.format(
        origin="coil-100.zip, Columbia University (CAVE laboratory).",
        terms="made available for research, non-commercial use.",
        pixels="128 x 128 colour to grey (ITU-R 601), means over 4 x 4 blocks, rounded (32 x 32);"
        "\nthen, for 16 x 16, means over 2 x 2 blocks, not rounded.",
    )
    facts["angle"] = arrays["angle"].astype(int)
    return bunch(images, arrays["object"], names, source, descr, return_X_y, **facts)


def prepare(path: Path, objects: Iterable[int] = range(1, 101)) -> Arrays:
    """Read COIL-100 into the arrays of the prepared file.

    Parameters
    ----------
    path : Path
        ``coil-100.zip`` or a folder with files such as ``obj1__0.png``.
    objects : iterable of int
        The objects that have to be there, each at 72 angles.

    Returns
    -------
    dict
        ``images`` (n, 32, 32) uint8, ``object`` and ``angle`` (n,) int16, in that order.
    """
    views = {}
    for name, raw in members(path, NAME):
        views[name] = block_means(decode(name, raw, "PNG", "RGB", (128, 128)), 4)
    pairs = [(number, angle) for number in sorted(objects) for angle in range(0, 360, 5)]
    names = [f"obj{number}__{angle}.png" for number, angle in pairs]
    if missing := [name for name in names if name not in views]:
        raise ArchiveError(
            f"{path.name} lacks {len(missing):,} of {len(names):,} images, such as {missing[0]}."
        )
    if len(views) != len(names):
        raise ArchiveError(f"{path.name} has {len(views):,} images, the set has {len(names):,}.")
    images = np.rint([views[name] for name in names]).astype(np.uint8)
    number, angle = np.array(pairs, dtype=np.int16).T
    return {"images": images, "object": number, "angle": angle}


@lru_cache(maxsize=2)  # takes two seconds, and a chapter loads a set more than once
def _rendered_objects(size: int) -> Any:
    return render_objects(size=size)


SET = RealSet(
    title="COIL-100",
    file="coil100_gray_32x32.npz",
    sha256="5bcaf4636aa876d7dda8b92af928f0c2f652b73a73d68df6e267758153724d77",
    images_sha256="9a78cf3623bb34a08579cdc8cd119ba3a1a477a44ef79ed396403b6e2851ec94",
    shape=(7200, 32, 32),
    label="object",
    others=("angle",),
    n_classes=100,
    how="Run: python -m slnp_study data fetch coil100 (about 125 MB, from Columbia University),\n"
    "or, with coil-100.zip at hand: python -m slnp_study data add coil100 coil-100.zip",
    prepare=prepare,
    load=partial(load_coil100, "real"),
    url="http://www.cs.columbia.edu/CAVE/databases/SLAM_coil-20_coil-100/coil-100/coil-100.zip",
    remark=" (coil-100.zip does: 102 reference images came from smaller copies)",
)
