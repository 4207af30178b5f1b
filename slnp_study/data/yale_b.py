"""Faces under 64 lights: Extended Yale B, prepared, loaded, or rendered in its place."""

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
from slnp_study.data.standins import render_faces

# yaleB01_P00A+035E-20.pgm: person 1, light at azimuth 35 and elevation -20 degrees
NAME = re.compile(r"yaleB(?P<subject>\d\d)_P00A(?P<azimuth>[+-]\d{3})E(?P<elevation>[+-]\d\d)\.pgm")

SUBJECTS = tuple(i for i in range(1, 40) if i != 14)  # the set has no person 14

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
        faces = _rendered_faces()
        names = [f"rendered face {subject}" for subject in np.unique(faces.subject)]
        descr = _DESCR.format(
            origin="stand-ins for it: 38 rendered faces x 64 lights, no real person.",
            terms=STANDIN_TERMS,
            pixels="rendered at 48 x 42 with 256 grey values (see slnp_study.data.standins).",
        )
        facts: dict[str, Any] = {"checksum": sha256_of(faces.images)}
        facts["checksum_of"] = "the images as uint8"
        facts |= {"azimuth": np.array(faces.azimuth), "elevation": np.array(faces.elevation)}
        return bunch(faces.images, faces.subject, names, source, descr, return_X_y, **facts)
    arrays, facts = load_prepared(SET)
    angles = np.array([_light(file) for file in arrays["filename"]])
    facts |= {"azimuth": angles[:, 0], "elevation": angles[:, 1], "filename": arrays["filename"]}
    names = [f"yaleB{subject:02d}" for subject in np.unique(arrays["subject"])]
    descr = _DESCR.format(
        origin="CroppedYale.zip, UCSD, without its 18 damaged images and its ambient-light images.",
        terms="free for research with acknowledgement of the database and the references; its"
        "\nimages may not be passed on as part of another public database without permission.",
        pixels="192 x 168 grey values reduced to 48 x 42 by means over 4 x 4 blocks, rounded.",
    )
    return bunch(arrays["images"], arrays["subject"], names, source, descr, return_X_y, **facts)


def prepare(path: Path, subjects: Iterable[int] = SUBJECTS, n_images: int = 2414) -> Arrays:
    """Read the cropped Extended Yale B into the arrays of the prepared file.

    Parameters
    ----------
    path : Path
        ``CroppedYale.zip`` or a folder. Files with other names (``_Ambient.pgm``, ``.pgm.bad``)
        are not used.
    subjects : iterable of int
        The people that have to be there.
    n_images : int
        The number of images that have to be there.

    Returns
    -------
    dict
        ``images`` (n, 48, 42) uint8, ``subject`` (n,) int16, ``filename`` (n,), sorted by name.
    """
    faces = {}
    for name, raw in members(path, NAME):
        faces[name] = block_means(decode(name, raw, "PPM", "L", (168, 192)), 4)
    names = sorted(faces)
    subject = np.array([int(name[5:7]) for name in names], dtype=np.int16)
    if missing := sorted(set(subjects) - set(subject.tolist())):
        raise ArchiveError(f"{path.name} has no images of subjects {str(missing)[1:-1]}.")
    if extra := sorted(set(subject.tolist()) - set(subjects)):
        raise ArchiveError(f"{path.name} has subjects that are not in the set: {str(extra)[1:-1]}.")
    if len(names) != n_images:
        raise ArchiveError(f"{path.name} has {len(names):,} images, the set has {n_images:,}.")
    images = np.rint([faces[name] for name in names]).astype(np.uint8)
    return {"images": images, "subject": subject, "filename": np.array(names, dtype="<U40")}


def _light(filename: str) -> tuple[int, int]:
    match = NAME.fullmatch(filename)
    if match is None:
        raise ArchiveError(
            f"The file name {str(filename)!r} does not tell the direction of the light."
        )
    return int(match["azimuth"]), int(match["elevation"])


@lru_cache(maxsize=1)  # takes a second, and a chapter loads a set more than once
def _rendered_faces() -> Any:
    return render_faces()


SET = RealSet(
    title="Extended Yale B",
    file="extended_yale_b_48x42.npz",
    sha256="d5fdd4ea45069ad0e42a59b08892a56ed5732e40f50c870733d0fe9d8e46e8c8",
    images_sha256="e9eb672036c2c6f3895d6066e411ab8a30c399f718ded5128b839303b35839b5",
    shape=(2414, 48, 42),
    label="subject",
    others=("filename",),
    n_classes=38,
    how="Get CroppedYale.zip: http://vision.ucsd.edu/content/extended-yale-face-database-b-b\n"
    "then run: python -m slnp_study data add yale_b CroppedYale.zip",
    prepare=prepare,
    load=partial(load_yale_b, "real"),
)
