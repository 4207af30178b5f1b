"""Faces under 64 lights: Extended Yale B, prepared, loaded, or rendered in its place."""

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from slnp_study import paper
from slnp_study.data.archives import read_images
from slnp_study.data.files import STANDIN_TERMS, Archive, Arrays, bunch, check, load_prepared
from slnp_study.data.standins import render_faces

# yaleB01_P00A+035E-20.pgm: person 1, light at azimuth 35 and elevation -20 degrees. Files with
# other names, such as _Ambient.pgm and .pgm.bad, are not used.
NAME = re.compile(r"yaleB\d\d_P00A[+-]\d{3}E[+-]\d\d\.pgm")

_DESCR = """\
Extended Yale Face Database B, cropped faces: 38 people under 64 lights, 2,414 images.
Origin: {origin}
Terms of use: {terms}
Pixels: {pixels}
Reference: A. Georghiades, P. Belhumeur, D. Kriegman, From few to many: illumination cone models
for face recognition under variable lighting and pose, IEEE PAMI 23(6), 2001; K. Lee, J. Ho,
D. Kriegman, Acquiring linear subspaces for face recognition under variable lighting, IEEE PAMI
27(5), 2005.
"""


def load_yale_b(source: str = "standin", *, return_X_y: bool = False) -> Any:
    """Load faces under 64 lights: the real Extended Yale B, or rendered faces in its place.

    Parameters
    ----------
    source : {"standin", "real"}
    return_X_y : bool
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch
        ``data`` (n, 2016), ``target`` (n,), ``images`` (n, 48, 42) with n = 2,414 (real) or 2,432,
        ``azimuth`` and ``elevation`` (n,) of the light in degrees, and the facts.
    """
    check("source", source, ("standin", "real"))
    if source == "standin":
        images, subject, azimuth, elevation = _rendered()
        name, facts = "rendered face {}", dict[str, Any]()
        descr = _DESCR.format(
            origin="stand-ins for it: 38 rendered faces x 64 lights, no real person.",
            terms=STANDIN_TERMS,
            pixels="rendered at 48 x 42 with 256 grey values (see slnp_study.data.standins).",
        )
    else:
        arrays, facts = load_prepared(ARCHIVE)
        images, subject, filename = (arrays[key] for key in ARCHIVE.arrays)
        azimuth, elevation = np.array([(file[12:16], file[17:20]) for file in filename], int).T
        name, facts = "yaleB{:02}", facts | {"filename": filename}
        descr = _DESCR.format(
            origin="CroppedYale.zip, UCSD, without its 18 damaged images and its ambient-light"
            " images.",
            terms="free for research with acknowledgement of the database and the references; its"
            "\nimages may not be passed on as part of another public database without permission.",
            pixels="192 x 168 grey values reduced to 48 x 42 by means over 4 x 4 blocks, rounded.",
        )
    facts |= {"azimuth": azimuth.copy(), "elevation": elevation.copy()}
    return bunch(images, subject, name, source, descr, return_X_y, **facts)


def prepare(path: Path) -> Arrays:
    """Read ``CroppedYale.zip`` into the arrays of the prepared file, sorted by file name."""
    faces = read_images(path, NAME, "PPM", "L", (168, 192))
    names = sorted(faces)
    return {
        "images": np.array([faces[name] for name in names]),
        "subject": np.array([int(name[5:7]) for name in names], np.int16),
        "filename": np.array(names, "<U40"),
    }


_rendered = lru_cache(render_faces)  # takes a second, and a chapter loads a set more than once

ARCHIVE = Archive(
    title=paper.DATASETS["yale_b"]["title"],
    file="extended_yale_b_48x42.npz",
    sha256="d5fdd4ea45069ad0e42a59b08892a56ed5732e40f50c870733d0fe9d8e46e8c8",
    images_sha256="e9eb672036c2c6f3895d6066e411ab8a30c399f718ded5128b839303b35839b5",
    shape=(2414, 48, 42),
    arrays=("images", "subject", "filename"),
    n_classes=38,
    how="Get CroppedYale.zip: http://vision.ucsd.edu/content/extended-yale-face-database-b-b\n"
    "then run: python -m slnp_study data add yale_b CroppedYale.zip",
    prepare=prepare,
)
