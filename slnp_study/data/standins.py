"""Rendered stand-ins for Extended Yale B and COIL-100, for machines without the real sets.

Neither set may be shipped with this module, so its examples run on pictures drawn here: faces
under the 64 lights of Yale B, and solids on a turntable. Nothing in them is a copy of a real image.

The same seed gives the same bytes. Shapes and paint are built with `exp`, `cos` and `tanh`, whose
last bit may differ between platforms, and are then rounded to multiples of 1/4096 (`_snap`).
Behind that point there are only random draws from uniform streams, integer arithmetic and single
IEEE additions and multiplications, which are the same everywhere. A last-bit difference (1e-16)
therefore shows only where it tips a rounding in `_snap`, which is rare: with errors of 1e-9 put in
on purpose, no byte changed. Where it happens, a pixel of a face moves by one grey level, and a
surface sample of an object by 0.004 pixels, which can move a pixel by a few levels.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.floating]
Params = Mapping[str, Array]


class Faces(NamedTuple):
    """2,432 face images: 38 subjects, each under 64 lights."""

    images: NDArray[np.uint8]  # (2432, 48, 42)
    subject: NDArray[np.int64]  # (2432,), 1..38
    azimuth: NDArray[np.int64]  # (2432,), degrees
    elevation: NDArray[np.int64]  # (2432,), degrees


class Objects(NamedTuple):
    """7,200 object images: 100 solids, each seen from 72 angles."""

    images: NDArray[np.uint8]  # (7200, size, size)
    object: NDArray[np.int64]  # (7200,), 1..100
    angle: NDArray[np.int64]  # (7200,), degrees, 0..355


# Yale B's lights: azimuth -> elevations, in degrees. Each has a mirror image at minus the azimuth.
# fmt: off
_ELEVATIONS = {
    0: (-35, -20, 0, 20, 45, 90), 5: (-10, 10), 10: (-20, 0), 15: (20,), 20: (-40, -10, 10),
    25: (0,), 35: (-20, 15, 40, 65), 50: (-40, 0), 60: (-20, 20), 70: (-35, 0, 45),
    85: (-20, 20), 95: (0,), 110: (-20, 15, 40, 65), 120: (0,), 130: (20,),
}
# Each subject draws one value from each range. The face is 2 wide, x to the right and y down.
# A range that starts below 0 for beard and moustache means that some have none.
_FACE = {
    "depth": (0.75, 1.05), "jaw": (0.78, 1.05), "skin": (0.45, 0.95),
    "eye_x": (0.42, 0.52), "eye_y": (-0.68, -0.56), "eye_w": (0.16, 0.22), "eye_h": (0.055, 0.095),
    "iris": (0.06, 0.2), "socket": (0.08, 0.22), "brow_ridge": (0.02, 0.12),
    "brow_gap": (0.19, 0.30), "brow_tilt": (-0.25, 0.2), "brow_arch": (0.0, 1.2),
    "brow_thick": (0.03, 0.075), "brow_dark": (0.25, 0.85),
    "nose_tip": (0.0, 0.18), "nose_width": (0.09, 0.15), "nose_height": (0.24, 0.42),
    "wing_x": (0.13, 0.21), "wing_height": (0.04, 0.12), "fold": (0.0, 0.035),
    "cheek_x": (0.48, 0.68), "cheek_y": (0.0, 0.3), "cheek": (0.02, 0.16),
    "mouth_y": (0.48, 0.66), "mouth_width": (0.25, 0.40), "mouth_curve": (-0.5, 0.6),
    "lip": (0.055, 0.11), "lip_out": (0.03, 0.10), "lip_dark": (0.05, 0.45),
    "chin_y": (0.92, 1.10), "chin": (0.05, 0.18), "hair_y": (-1.55, -0.98),
    "hair_curve": (-0.25, 0.35), "beard": (-0.8, 0.5), "moustache": (-1.0, 0.6),
}
# The same for solids. Clipping makes some of them round (flat, plan, side), plain (lobes, fin).
_SOLID = {
    "width": (0.5, 1.0), "flat": (0.25, 1.1), "height": (0.4, 1.0), "plan": (-3.0, 9.0),
    "side": (1.0, 10.0), "taper": (-0.35, 0.35), "neck": (-0.3, 0.3), "neck_turns": (2.0, 5.0),
    "neck_at": (0.0, 6.3), "lobes": (-0.15, 0.1), "n_lobes": (2.0, 7.0), "fin": (-0.5, 0.8),
    "fin_at": (0.0, 6.3), "fin_h": (-0.4, 0.4), "tone": (0.35, 0.95), "label": (0.15, 1.05),
    "label_at": (0.0, 6.3), "label_w": (0.5, 1.6), "label_h": (0.2, 0.9),
    "band": (-0.6, 0.6), "band_h": (-0.6, 0.6),
}
# fmt: on
LIGHTS = tuple(
    sorted({(s * az, el) for az, els in _ELEVATIONS.items() for el in els for s in (-1, 1)})
)
"""The 64 light directions of Extended Yale B, (azimuth, elevation) in degrees."""


def _draw(
    rng: np.random.Generator, ranges: Mapping[str, tuple[float, float]], n: int
) -> dict[str, Array]:
    """One value for each name and each of n subjects, shaped (n, 1, 1) to meet an image."""
    return {name: rng.uniform(low, high, (n, 1, 1)) for name, (low, high) in ranges.items()}


def _snap(a: ArrayLike) -> Array:
    """Round to multiples of 1/4096, so that sums and products of a few values are exact."""
    whole: Array = np.round(np.multiply(a, 4096.0))
    return whole / 4096.0


def _bump(x: ArrayLike, y: ArrayLike, sx: ArrayLike, sy: ArrayLike) -> Array:
    """A hill of height 1 at the origin, with widths sx and sy."""
    height: Array = np.exp(-0.5 * (np.divide(x, sx) ** 2 + np.divide(y, sy) ** 2))
    return height


def _step(t: Array, width: float) -> Array:
    """From 0 (t far below 0) to 1 (t far above), smoothly over about 2 * width."""
    slope: Array = np.tanh(t / width)
    return 0.5 + 0.5 * slope


def _waves(rng: np.random.Generator, x: Array, y: Array, n: int, top: float) -> Array:
    """A smooth random field of unit variance for each row of x, y (subjects, height, width)."""
    kx, ky = rng.uniform(-top, top, (2, n, len(x), 1, 1))
    phase = rng.uniform(0, 2 * np.pi, (n, len(x), 1, 1))
    total = np.zeros_like(x)
    for i in range(n):
        total += np.cos(kx[i] * x + ky[i] * y + phase[i])
    return total / float(np.sqrt(n / 2))


def _head(x: Array, y: Array, p: Params) -> Array:
    """1 in the middle of the face, 0 on its outline, negative outside."""
    half_width = 1.16 + (p["jaw"] - 1.12) * np.maximum((y + 0.2) / 1.3, 0) ** 2
    height: Array = 1 - (x / half_width) ** 2 - np.abs(y / 1.75) ** 3
    return height


def _height(x: Array, y: Array, p: Params) -> Array:
    """Height of each face towards the camera, (subjects, rows, columns)."""
    side, tip, mouth = np.abs(x), p["nose_tip"], y - p["mouth_y"]
    eye_x, eye_y = side - p["eye_x"], y - p["eye_y"]
    z = p["depth"] * np.sqrt(np.maximum(_head(x, y, p), 0.02))
    z += p["brow_ridge"] * _bump(side - 0.38, eye_y + p["brow_gap"] - 0.03, 0.3, 0.09)
    z -= p["socket"] * _bump(eye_x + 0.06, eye_y + 0.02, 0.17, 0.13)
    z += 0.07 * _bump(eye_x, eye_y, 0.12, 0.085)  # the eyeball
    t = np.clip(
        (eye_y + 0.1) / (tip - p["eye_y"] + 0.1), 0, 1
    )  # 0 at the nose's root, 1 at its tip
    bridge = p["nose_height"] * t * (0.5 + 0.5 * t) * _step(tip + 0.05 - y, 0.07)
    z += bridge * _bump(x, 0, p["nose_width"] * (0.75 + 0.35 * t), 1)
    z += 0.3 * p["nose_height"] * _bump(x, y - tip + 0.04, 0.09, 0.08)
    z += p["wing_height"] * _bump(side - p["wing_x"], y - tip + 0.01, 0.055, 0.07)
    fold = side - p["wing_x"] - 0.06 - 0.45 * (y - tip)
    z -= p["fold"] * _bump(fold, 0, 0.06, 1) * _step(y - tip, 0.05) * _step(-mouth, 0.08)
    z += p["cheek"] * _bump(side - p["cheek_x"], y - p["cheek_y"], 0.2, 0.22)
    z += 0.08 * _bump(x, mouth, 0.35, 0.25)
    for lip in (-0.55, 0.55):
        width, height = 0.6 * p["mouth_width"], 0.4 * p["lip"]
        z += p["lip_out"] * _bump(x, mouth - lip * p["lip"], width, height)
    z -= 0.05 * _bump(x, mouth - 2.2 * p["lip"], 0.22, 0.05)
    return z + p["chin"] * _bump(x, y - p["chin_y"], 0.25, 0.14)


def _albedo(x: Array, y: Array, p: Params) -> Array:
    """How much light each point of each face gives back, (subjects, rows, columns)."""
    side = np.abs(x)
    eye_x, eye_y = side - p["eye_x"], y - p["eye_y"]
    mouth = y - p["mouth_y"] + p["mouth_curve"] * x**2
    brow = eye_y + p["brow_gap"] + p["brow_tilt"] * eye_x + p["brow_arch"] * eye_x**2
    brow_ends = _step(0.24 - np.abs(eye_x), 0.06)
    a = p["skin"] * (1 - p["brow_dark"] * brow_ends * _bump(brow, 0, p["brow_thick"], 1))
    outside_lips = _step((x / p["mouth_width"]) ** 2 + (mouth / p["lip"]) ** 2 - 1, 0.4)
    a *= 1 - p["lip_dark"] * (1 - outside_lips)
    a *= 1 - 0.6 * _bump(x, mouth, 0.55 * p["mouth_width"], 0.022)
    a *= 1 - 0.5 * _bump(side - 0.6 * p["wing_x"], y - p["nose_tip"] - 0.06, 0.04, 0.025)
    below = _step((side / 0.9) ** 2 + y - 0.8, 0.2)
    a *= 1 - np.maximum(p["beard"], 0) * outside_lips * below
    upper_lip = _bump(x, mouth + 0.14 - 0.5 * x**2, 0.2, 0.05)
    a *= 1 - np.maximum(p["moustache"], 0) * outside_lips * upper_lip
    eye = _step(1 - (eye_x / p["eye_w"]) ** 2 - (eye_y / p["eye_h"]) ** 2, 0.25)
    a += eye * (0.3 + 0.75 * p["skin"] - a)
    a *= 1 - (1 - p["iris"]) * eye * _step(0.07 - np.sqrt(eye_x**2 + eye_y**2), 0.015)
    a *= 1 - 0.6 * _bump(eye_x, eye_y + p["eye_h"] - 2 * eye_x**2, 0.12, 0.025)  # lashes
    hair_line = p["hair_y"] + p["hair_curve"] * x**2 + 0.03 * np.cos(25 * x)
    a *= 1 - 0.85 * _step(hair_line - y, 0.04)
    return a * (0.05 + 0.95 * _step(_head(x, y, p) - 0.06, 0.04))


def light_direction(azimuth: ArrayLike, elevation: ArrayLike) -> Array:
    """Unit vectors (..., 3) towards the lights: x right, y down, z to the camera.

    As in Yale B, a positive azimuth is on the left of the image, a positive elevation above.
    """
    az, el = np.deg2rad(azimuth), np.deg2rad(elevation)
    return np.stack([-np.sin(az) * np.cos(el), -np.sin(el), np.cos(az) * np.cos(el)], axis=-1)


def surface_normals(z: Array, step: float) -> Array:
    """Unit normals (..., rows, columns, 3) of a height map sampled every `step`."""
    dy, dx = np.gradient(z, step, axis=(-2, -1))
    n = np.stack([-dx, -dy, np.ones_like(z)], axis=-1)
    length: Array = np.sqrt((n**2).sum(axis=-1, keepdims=True))
    return n / length


def shade(albedo: Array, normals: Array, lights: Array, ambient: float = 0.03125) -> Array:
    """Lambert's law with attached shadows: albedo * (ambient + max(normal . light, 0)).

    Parameters
    ----------
    albedo : (rows, columns)
    normals : (rows, columns, 3)
    lights : (n_lights, 3)
    ambient : float

    Returns
    -------
    (n_lights, rows, columns) brightness.
    """
    facing = np.maximum(np.moveaxis(normals @ lights.T, -1, 0), 0)
    return albedo * (ambient + facing)


def render_faces(seed: int = 0) -> Faces:
    """Draw 38 faces under the 64 lights of Extended Yale B, 48 x 42 pixels.

    Every subject is a random height map with its own albedo. Under a distant light a point shows
    albedo * max(normal . light, 0): the images of one subject lie in its illumination cone, the
    model that Yale B was recorded to study [1]_. A little ambient light, a random exposure and
    sensor noise are added. Unlike the real set there are no cast shadows, no highlights and no
    missing images.

    Parameters
    ----------
    seed : int
        Another seed gives other people.

    References
    ----------
    .. [1] Georghiades, Belhumeur, Kriegman, "From few to many: illumination cone models for face
       recognition under variable lighting and pose", IEEE TPAMI 23(6), 2001.
    """
    rng = np.random.default_rng(seed)
    n, step = 38, 1 / 42  # drawn at 96 x 84, then averaged over 2 x 2
    p = _draw(rng, _FACE, n)
    x = np.broadcast_to((np.arange(84) - 41.5) * step, (n, 96, 84))
    y = np.broadcast_to((np.arange(96)[:, None] - 47.5) * step, (n, 96, 84))
    # No face is quite symmetric: bend the coordinates a little, then add relief and mottled skin.
    bent_x = x + 0.02 * _waves(rng, x, y, 4, 4)
    bent_y = y + 0.02 * _waves(rng, x, y, 4, 4)
    z = _height(bent_x, bent_y, p) + 0.015 * _waves(rng, x, y, 6, 8)
    albedo = _snap(_albedo(bent_x, bent_y, p) * (1 + 0.025 * _waves(rng, x, y, 8, 14)))
    normals = _snap(surface_normals(z, step))
    azimuth, elevation = np.array(LIGHTS).T
    lights = _snap(light_direction(azimuth, elevation))
    images = np.empty((n, len(lights), 48, 42), np.uint8)
    for i in range(n):
        grey = shade(albedo[i], normals[i], lights).reshape(-1, 48, 2, 42, 2).mean(axis=(2, 4))
        grey *= 235 * (0.75 + 0.5 * rng.random((len(lights), 1, 1)))  # exposure
        # Triangular noise of standard deviation 7: `normal` would call the platform's log and exp.
        grey += 18 * (rng.random(grey.shape) + rng.random(grey.shape) - 1)
        images[i] = np.clip(np.round(grey), 0, 255)
    subject = np.repeat(np.arange(1, n + 1), len(lights))
    return Faces(images.reshape(-1, 48, 42), subject, np.tile(azimuth, n), np.tile(elevation, n))


def _superellipse(t: Array, power: Array) -> Array:
    """Radius at the angle t: a circle for power 2, nearly a square for a large power."""
    power = np.maximum(power, 2)
    return (np.abs(np.cos(t)) ** power + np.abs(np.sin(t)) ** power) ** (-1 / power)


def _turn_from(phi: Array, start: Array) -> Array:
    """Angle between two directions, 0..pi."""
    return np.abs((phi - start + np.pi) % (2 * np.pi) - np.pi)


def _solids(rng: np.random.Generator, n: int = 100) -> tuple[Array, Array, Array]:
    """Sample the surfaces of n solids: points and unit normals (n, 3, m), albedo (n, m).

    A solid is a superellipse in plan and in profile, tapered, necked, with lobes and a fin. It's
    painted with a label, a band and a faint grain, and scaled to fill the frame as it turns.
    """
    p = _draw(rng, _SOLID, n)
    # Dense enough that no pixel inside an outline stays empty. The offsets keep samples off the
    # planes of symmetry, where pixel edges lie.
    phi = (np.arange(144) + 0.37) * (2 * np.pi / 144)
    alpha = ((np.arange(64)[:, None] + 0.5) / 64 - 0.5) * np.pi
    profile = _superellipse(alpha, p["side"])
    h, r = profile * np.sin(alpha), profile * np.cos(alpha)
    r = r * (1 + p["taper"] * h) * (1 + p["neck"] * np.cos(p["neck_turns"] * h + p["neck_at"]))
    lobes = np.maximum(p["lobes"], 0) * np.cos(np.floor(p["n_lobes"]) * phi)
    fin = np.maximum(p["fin"], 0) * _bump(_turn_from(phi, p["fin_at"]), h - p["fin_h"], 0.25, 0.35)
    r = r * _superellipse(phi, p["plan"]) * (1 + lobes) * (1 + fin) * p["width"]
    depth = np.minimum(p["flat"], 1) * r * np.sin(phi)
    xyz = np.stack(np.broadcast_arrays(r * np.cos(phi), -p["height"] * h, depth), axis=1)
    reach = np.sqrt(xyz[:, 0] ** 2 + xyz[:, 2] ** 2).max(axis=(1, 2))
    rise = np.abs(xyz[:, 1]).max(axis=(1, 2))
    xyz /= np.maximum(reach, 1.05 * rise + 0.25 * reach)[:, None, None, None]
    around = np.roll(xyz, -1, axis=3) - np.roll(xyz, 1, axis=3)
    normals = np.cross(around, np.gradient(xyz, axis=2), axis=1)
    normals /= np.sqrt((normals**2).sum(axis=1, keepdims=True))
    label = _step(p["label_w"] - _turn_from(phi, p["label_at"]), 0.05)
    label = label * _step(p["label_h"] - np.abs(h), 0.05)
    paint = p["tone"] + label * (p["label"] - p["tone"])
    paint = paint * (1 + p["band"] * _bump(h - p["band_h"], 0, 0.12, 1))
    paint *= 1 + 0.08 * _waves(rng, 3 * xyz[:, 0], 3 * xyz[:, 1] + 2 * xyz[:, 2], 5, 4)
    flat = np.clip(paint, 0.05, 1).reshape(n, -1)
    return xyz.reshape(n, 3, -1), normals.reshape(n, 3, -1), flat


def z_buffer(column: Array, row: Array, depth: Array, grey: Array, size: int) -> NDArray[np.int32]:
    """Keep, in each pixel, the sample nearest to the camera.

    Parameters
    ----------
    column, row : (views, m)
        Where the samples fall, in pixels, 0 <= . < size.
    depth : (views, m)
        Larger is nearer. 0 < depth < 8.
    grey : (views, m)
        0..255.

    Returns
    -------
    (views, size, size), depth in the high bits and grey in the low 8. 0 where nothing fell.
    """
    index = row.astype(np.int32) * size + column.astype(np.int32)
    index += np.arange(len(index), dtype=np.int32)[:, None] * size**2
    key = (depth * 2**14).astype(np.int32) * 256 + grey.astype(np.int32)
    buffer = np.zeros(len(index) * size**2, np.int32)
    np.maximum.at(buffer, index.ravel(), key.ravel())
    return buffer.reshape(-1, size, size)


def _soften(images: NDArray[np.int32]) -> NDArray[np.int32]:
    """Blur with (1, 4, 1) / 6 along rows and columns, in integers, against jagged outlines."""
    e = np.pad(images, ((0, 0), (1, 1), (1, 1)), mode="edge")
    e = e[:, :-2] + 4 * e[:, 1:-1] + e[:, 2:]
    return (e[:, :, :-2] + 4 * e[:, :, 1:-1] + e[:, :, 2:] + 18) // 36


def render_objects(size: int = 16, seed: int = 0) -> Objects:
    """Draw 100 painted solids on a turntable, 72 views each, 5 degrees apart, as in COIL-100.

    The camera looks down by 15 degrees, with parallel rays. One light, up on the left, stays
    where it is while the solid turns. Hidden surfaces are removed with a z-buffer. Unlike the
    real set the solids have no holes, no cast shadows and no lettering.

    Parameters
    ----------
    size : {16, 32}
        Pixels a side. An image of 16 is the 2 x 2 mean of the image of 32, rounded half up.
    seed : int
        Another seed gives other solids.
    """
    angle = np.arange(0, 360, 5)
    cos, sin = (_snap(f(np.deg2rad(angle)))[:, None].astype(np.float32) for f in (np.cos, np.sin))
    cos_tilt, sin_tilt = (np.float32(_snap(f(np.deg2rad(15)))) for f in (np.cos, np.sin))
    lx, ly, lz = (np.float32(v) for v in (-0.40, -0.50, 0.77))

    def turned(a: Array, b: Array, c: Array | int) -> Array:
        """a and b on the turntable, seen at all angles. c doesn't turn. (angles, m)"""
        return cos * a + (sin * b + c)

    # float32 halves the time. Sums are written out, so no library can reorder or fuse them.
    points, normals, paint = (
        _snap(a).astype(np.float32) for a in _solids(np.random.default_rng(seed))
    )
    buffer = np.empty((len(points), len(angle), 32, 32), np.int32)
    for i, ((x, y, z), (nx, ny, nz)) in enumerate(zip(points, normals, strict=True)):
        column = turned(14.5 * x, 14.5 * z, 16)  # 14.5 pixels a unit, centred in 32
        row = turned(14.5 * sin_tilt * z, -14.5 * sin_tilt * x, 16 + 14.5 * cos_tilt * y)
        depth = turned(cos_tilt * z, -cos_tilt * x, 2 - sin_tilt * y)
        facing = np.maximum(turned(lx * nx + lz * nz, lx * nz - lz * nx, ly * ny), 0)
        grey = np.minimum((40 + 230 * facing) * paint[i], 255)
        buffer[i] = z_buffer(column, row, depth, grey, 32)
    images = _soften(np.where(buffer > 0, buffer & 255, 20).reshape(-1, 32, 32))
    if size == 16:
        images = (images.reshape(-1, 16, 2, 16, 2).sum(axis=(2, 4)) + 2) // 4
    number = np.repeat(np.arange(1, len(points) + 1), len(angle))
    return Objects(images.astype(np.uint8), number, np.tile(angle, len(points)))
