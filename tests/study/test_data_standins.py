"""The stand-ins: geometry against analytic values, and the same bytes everywhere."""

import hashlib
import math
import os
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.ndimage import binary_fill_holes

from slnp_study.data import standins
from slnp_study.data.standins import LIGHTS, light_direction, shade, surface_normals, z_buffer


@pytest.fixture(scope="module")
def faces():
    return standins.render_faces()


@pytest.fixture(scope="module")
def objects():
    return standins.render_objects(16)


@pytest.fixture(scope="module")
def objects32():
    return standins.render_objects(32)


@pytest.fixture(scope="module")
def real_yale_b():
    """Images, azimuth and elevation of the real set, read without the package."""
    path = Path(os.environ.get("SLNP_EDU_DATA", "")) / "extended_yale_b_48x42.npz"
    if "SLNP_EDU_DATA" not in os.environ or not path.is_file():
        pytest.skip("needs the real Extended Yale B: SLNP_EDU_DATA does not lead to it")
    with np.load(path, allow_pickle=False) as data:
        names = [re.search(r"A([+-]\d+)E([+-]\d+)", str(name)) for name in data["filename"]]
        directions = np.array([(int(m[1]), int(m[2])) for m in names])
        return data["images"], directions


# Lights


def test_the_lights_are_64_with_mirror_images():
    assert len(set(LIGHTS)) == len(LIGHTS) == 64
    assert {(-az, el) for az, el in LIGHTS} == set(LIGHTS)
    assert max(az for az, _ in LIGHTS) == 130
    assert (min(el for _, el in LIGHTS), max(el for _, el in LIGHTS)) == (-40, 90)


def test_the_lights_are_those_of_the_real_file_names(real_yale_b):
    _, directions = real_yale_b
    assert set(LIGHTS) == {tuple(d) for d in directions.tolist()}


def test_light_moves_over_the_image_as_in_the_real_set(faces, real_yale_b):
    """A wrong sign of azimuth or elevation would turn one of the correlations round."""
    images, directions = real_yale_b
    drawn = np.column_stack([faces.azimuth, faces.elevation])

    def tilt(images, directions):
        mean = np.array([images[(directions == d).all(axis=1)].mean(axis=0) for d in LIGHTS])
        mean /= mean.mean(axis=(1, 2), keepdims=True)
        across = mean[:, :, :21].mean(axis=(1, 2)) - mean[:, :, 21:].mean(axis=(1, 2))
        down = mean[:, 12:24].mean(axis=(1, 2)) - mean[:, 36:].mean(axis=(1, 2))
        return across, down

    for real, standin in zip(tilt(images, directions), tilt(faces.images, drawn), strict=True):
        assert np.corrcoef(real, standin)[0, 1] > 0.7


@pytest.mark.parametrize(
    ("azimuth", "elevation", "expected"),
    [(0, 0, (0, 0, 1)), (90, 0, (-1, 0, 0)), (-90, 0, (1, 0, 0)), (0, 90, (0, -1, 0))],
)
def test_light_direction(azimuth, elevation, expected):
    np.testing.assert_allclose(light_direction(azimuth, elevation), expected, atol=1e-15)


# Shading


def test_shading_of_a_sphere_is_lamberts_law():
    """A cap of a sphere: its normal at (x, y, z) is (x, y, z) / radius, no derivative needed."""
    radius, step, ambient = 2.0, 0.01, 0.1
    axis = np.arange(-60, 61) * step
    z = np.sqrt(radius**2 - axis[:, None] ** 2 - axis**2)
    albedo = 0.5 + 0.3 * np.sin(5 * axis)[:, None] * np.cos(3 * axis)
    directions = [(0, 0), (70, -35), (-110, 40), (130, 20)]
    images = shade(
        albedo, surface_normals(z, step), light_direction(*zip(*directions, strict=True)), ambient
    )
    assert images.shape == (4, 121, 121)
    dark = 0
    for k, (azimuth, elevation) in enumerate(directions):
        az, el = math.radians(azimuth), math.radians(elevation)
        for i in range(1, 120, 7):  # np.gradient is one-sided on the border
            for j in range(1, 120, 7):
                right = -math.sin(az) * math.cos(el) * axis[j]
                below = -math.sin(el) * axis[i]
                front = math.cos(az) * math.cos(el) * z[i, j]
                cosine = (right + below + front) / radius
                dark += cosine < 0
                expected = albedo[i, j] * (ambient + max(cosine, 0))
                assert images[k, i, j] == pytest.approx(expected, abs=1e-4)
    assert 100 < dark < 1000  # the attached shadow was really in the test


# Faces


def test_faces_have_every_subject_under_every_light_once(faces):
    assert faces.images.shape == (2432, 48, 42)
    assert faces.images.dtype == np.uint8
    rows = set(zip(faces.subject, faces.azimuth, faces.elevation, strict=True))
    assert rows == {(s, az, el) for s in range(1, 39) for az, el in LIGHTS}
    for field in faces[1:]:
        assert field.shape == (2432,)
        assert field.dtype.kind == "i"


def test_noise_is_there(faces):
    """Behind the jaw, lit from behind, there is no light: half of the noise is clipped at 0.

    What is left of a triangle on (-18, 18) is 0 half of the time and has the mean 18 / 6.
    """
    corner = np.where(faces.azimuth > 0, -2, 0)[:, None, None] + [0, 1]  # away from the light
    far = np.take_along_axis(faces.images[:, -2:], corner % 42, axis=2)
    dark = far[np.abs(faces.azimuth) >= 110]
    assert 0.4 < (dark == 0).mean() < 0.6
    assert 2.5 < dark.mean() < 4
    assert 15 < dark.max() < 30


# Turntable


def test_z_buffer_is_a_plain_loop_done_at_once():
    rng = np.random.default_rng(3)
    column, row = rng.uniform(0, 5, (2, 3, 80))
    depth, grey = rng.uniform(0.1, 3.9, (3, 80)), rng.integers(0, 256, (3, 80))
    expected = np.zeros((3, 5, 5), int)
    for view in range(3):
        nearest = np.zeros((5, 5))
        for x, y, d, g in zip(column[view], row[view], depth[view], grey[view], strict=True):
            if d > nearest[int(y), int(x)]:
                nearest[int(y), int(x)], expected[view, int(y), int(x)] = d, g
    np.testing.assert_array_equal(z_buffer(column, row, depth, grey, 5) & 255, expected)


def test_a_ball_with_a_dark_half_turns_as_it_should(monkeypatch):
    """Ray casting by hand: the ray through each pixel meets the ball at a known point.

    The half that faces the camera at angle 0 is dark. A wrong sense of rotation, a wrong light
    or the far half showing through would each miss by far more than the tolerance.
    """
    radius, tilt, light = 0.9, math.radians(15), (-0.40, -0.50, 0.77)
    phi = (np.arange(240) + 0.5) * (2 * np.pi / 240)
    alpha = ((np.arange(120)[:, None] + 0.5) / 120 - 0.5) * np.pi
    ball = np.stack(
        np.broadcast_arrays(np.cos(alpha) * np.cos(phi), np.sin(alpha), np.cos(alpha) * np.sin(phi))
    ).reshape(1, 3, -1)
    paint = np.where(ball[:, 2] > 0, 0.3, 0.9)
    monkeypatch.setattr(standins, "_solids", lambda rng: (radius * ball, ball, paint))
    drawn = standins.render_objects(32)
    assert drawn.images.shape == (72, 32, 32)
    seen = {0.3: 0, 0.9: 0}
    miss = []
    for view in range(0, 72, 5):
        theta = math.radians(5 * view)
        for i in range(4, 28):
            for j in range(4, 28):
                u, v = (j + 0.5 - 16) / 14.5, (i + 0.5 - 16) / 14.5
                if math.hypot(u, v) > 0.65:  # towards the rim one pixel spans many normals
                    continue
                w = math.sqrt(radius**2 - u**2 - v**2)
                y = v * math.cos(tilt) - w * math.sin(tilt)
                z = v * math.sin(tilt) + w * math.cos(tilt)
                z_before = math.cos(theta) * z + math.sin(theta) * u
                if abs(z_before) < 0.2:  # the blur mixes the two paints here
                    continue
                tone = 0.3 if z_before > 0 else 0.9
                cosine = (light[0] * u + light[1] * y + light[2] * z) / radius
                expected = min((40 + 230 * max(cosine, 0)) * tone, 255)
                miss.append(abs(int(drawn.images[view, i, j]) - expected))
                seen[tone] += 1
    assert min(seen.values()) > 1000
    # The sample kept for a pixel may lie half a pixel from its centre, along both axes. Half a
    # pixel turns the normal by 0.038 rad: 0.9 * 230 * 0.038 * sqrt(2) is 11 grey levels.
    assert max(miss) < 12
    assert np.mean(miss) < 4


def test_normals_of_the_solids_point_outwards():
    points, normals, paint = standins._solids(np.random.default_rng(0))
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-12)
    outwards = (points * normals).sum(axis=1) > 0
    assert (outwards.mean(axis=1) > 0.9).all()
    assert 0 < paint.min() <= paint.max() <= 1


def test_normals_of_the_solids_are_perpendicular_to_their_surfaces():
    """To the chords between the neighbours of a sample, around the axis and along it."""
    points, normals, _ = standins._solids(np.random.default_rng(0), 5)
    points, normals = (a.reshape(5, 3, 64, 144) for a in (points, normals))
    turn = np.arange(144)
    around = points[..., (turn + 1) % 144] - points[..., turn - 1]
    np.testing.assert_allclose((normals * around).sum(axis=1), 0, atol=1e-12)
    along = points[:, :, 2:] - points[:, :, :-2]
    np.testing.assert_allclose((normals[:, :, 1:-1] * along).sum(axis=1), 0, atol=1e-12)


def test_no_solid_has_pinholes(monkeypatch):
    """With white paint and no blur, a pixel as dark as the background is background."""
    solids = standins._solids

    def white(rng):
        points, normals, paint = solids(rng)
        return points, normals, np.ones_like(paint)

    monkeypatch.setattr(standins, "_solids", white)
    monkeypatch.setattr(standins, "_soften", lambda images: images)
    solid = standins.render_objects(32).images != 20
    assert (solid.sum(axis=(1, 2)) > 40).all()
    holes = sum(int((binary_fill_holes(s) & ~s).sum()) for s in solid)
    assert holes == 0


def test_objects_have_every_view_once(objects, objects32):
    for size, drawn in ((16, objects), (32, objects32)):
        assert drawn.images.shape == (7200, size, size)
        assert drawn.images.dtype == np.uint8
        rows = set(zip(drawn.object, drawn.angle, strict=True))
        assert rows == {(o, a) for o in range(1, 101) for a in range(0, 360, 5)}


def test_16_is_the_mean_of_32(objects, objects32):
    big = objects32.images.astype(float)
    mean = (big[:, ::2, ::2] + big[:, 1::2, ::2] + big[:, ::2, 1::2] + big[:, 1::2, 1::2]) / 4
    np.testing.assert_array_equal(objects.images, np.floor(mean + 0.5))


# The same bytes

# sha256 of the bytes, the mean grey value of every fifth subject and every twelfth object, and the
# mean and standard deviation of all pixels.
FACES = (
    "a71bb8296b37f6bd7aef6871843656af99d2536584ffc83581809973448a59d1",
    [80.78, 68.57, 84.84, 97.3, 58.11, 64.27, 71.31, 50.93],
    [78.3681, 66.4978],
)
OBJECTS = (
    "ec4852b79037d442ded108a80473a6d61eb3ef75c83b4d5cf7eddc90349a27f0",
    [53.2, 52.71, 55.39, 83.9, 52.34, 43.59, 39.82, 50.59, 45.58],
    [53.1935, 52.8454],
)


def same(images, groups, step, stored):
    """The stored bytes, or on a platform with other last bits, means within 0.02 of a level.

    Of all pixels together 0.0005: a thousand pixels that move by one level.
    """
    digest, means, whole = stored
    if hashlib.sha256(images.tobytes()).hexdigest() == digest:
        return True
    now = [images[groups == g].mean() for g in np.unique(groups)[::step]]
    near = np.allclose([images.mean(), images.std()], whole, rtol=0, atol=0.0005)
    return near and np.allclose(now, means, rtol=0, atol=0.02)


def test_the_bytes_are_the_stored_ones():
    faces, objects = standins.render_faces(), standins.render_objects(16)
    assert same(faces.images, faces.subject, 5, FACES)
    assert same(objects.images, objects.object, 12, OBJECTS)


def test_a_second_run_gives_the_same_bytes_and_another_seed_does_not(faces, objects):
    assert standins.render_faces(0).images.tobytes() == faces.images.tobytes()
    assert standins.render_objects(seed=0).images.tobytes() == objects.images.tobytes()
    assert not np.array_equal(standins.render_faces(1).images, faces.images)
    assert not np.array_equal(standins.render_objects(16, 1).images, objects.images)


def whole_steps(values):
    """Are these multiples of 1/4096, of which a float holds sums and products exactly?"""
    return np.array_equal(np.asarray(values) * 4096, np.round(np.asarray(values) * 4096))


def test_what_other_platforms_may_round_otherwise_is_rounded_before_it_is_used(monkeypatch):
    """Shapes, paint and angles reach the drawing as multiples of 1/4096, and near what they were.

    `exp`, `cos` and `tanh` differ in their last bit between platforms: the bytes then do not.
    """
    seen = []

    def watched(albedo, normals, lights):
        seen.append((albedo, normals, lights))
        return shade(albedo, normals, lights)

    monkeypatch.setattr(standins, "shade", watched)
    standins.render_faces()
    assert all(whole_steps(values) for given in seen for values in given)
    albedo, normals, lights = seen[0]
    assert len(np.unique(albedo)) > 500  # and no coarser than that
    np.testing.assert_allclose(np.linalg.norm(normals, axis=-1), 1, rtol=0, atol=3 / 4096)
    expected = light_direction(*np.array(LIGHTS).T)
    assert 0 < np.abs(lights - expected).max() <= 0.5 / 4096


def test_the_surface_of_a_solid_is_rounded_before_it_turns(monkeypatch):
    points, normals, paint = standins._solids(np.random.default_rng(0))
    rounded = [np.round(values[:1] * 4096) / 4096 for values in (points, normals, paint)]
    nearly = [values[:1] + 1e-9 for values in rounded]  # what another platform might give
    drawn = []
    monkeypatch.setattr(standins, "z_buffer", lambda *a: drawn.append(a) or z_buffer(*a))
    for given in (rounded, nearly):
        monkeypatch.setattr(standins, "_solids", lambda rng, given=given: given)
        standins.render_objects(32)
    one, other = drawn
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
