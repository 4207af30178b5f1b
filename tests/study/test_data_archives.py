"""Official archives: the right ones give the right arrays, the wrong ones are refused cleanly."""

import errno
import os
import tracemalloc
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from official import (
    LIGHTS,
    RIPPLE,
    coil_members,
    enlarge,
    full_yale,
    listing,
    pgm,
    png,
    random_images,
    write_zip,
    yale_members,
    yale_names,
)

from slnp_study.__main__ import main
from slnp_study.data import SETS, ArchiveError, archives, coil100, load_yale_b, yale_b
from slnp_study.data.files import compare_with_reference, find, read_prepared


@pytest.fixture
def faces():
    """Six faces of two people, {file name: (48, 42) image}."""
    return dict(zip(yale_names([2, 15], LIGHTS[:3]), random_images(6, 48, 42), strict=True))


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The data folder, still empty."""
    monkeypatch.setenv("SLNP_EDU_DATA", str(tmp_path / "home"))
    return tmp_path / "home"


def test_yale_b_is_read_in_the_order_of_its_file_names(tmp_path, faces):
    members = yale_members(faces) | {
        "CroppedYale/yaleB02/yaleB02_P00_Ambient.pgm": b"not used",
        "CroppedYale/yaleB02/yaleB02_P00A+050E-40.pgm.bad": b"not used",
        "__MACOSX/CroppedYale/yaleB02/._yaleB02_P00A-080E-35.pgm": b"not used",
        "CroppedYale/../../evil.pgm": b"not used",
    }
    backwards = dict(reversed(members.items()))
    arrays = yale_b.prepare(write_zip(tmp_path / "a.zip", backwards))
    assert arrays["filename"].tolist() == sorted(faces)
    assert arrays["subject"].tolist() == [2, 2, 2, 15, 15, 15]
    np.testing.assert_array_equal(arrays["images"], [faces[name] for name in sorted(faces)])
    assert [a.dtype.str for a in arrays.values()] == ["|u1", "<i2", "<U40"]


def test_yale_b_means_are_rounded_half_to_even(tmp_path, faces):
    rng, (name, *_) = np.random.default_rng(1), faces
    pixels = rng.integers(0, 256, (192, 168))
    pixels[:4, :8] = 10
    pixels[0, :8] += 2  # two blocks with mean 10.5, which becomes 10
    pixels[4:8, :4] = 11
    pixels[4, :4] += 2  # mean 11.5, which becomes 12
    members = yale_members(faces)
    members[f"CroppedYale/yaleB02/{name}"] = pgm(pixels)
    arrays = yale_b.prepare(write_zip(tmp_path / "a.zip", members))
    image = arrays["images"][arrays["filename"].tolist().index(name)]
    assert (image[0, 0], image[0, 1], image[1, 0]) == (10, 10, 12)
    for i, j in np.ndindex(48, 42):
        total = sum(int(pixels[4 * i + k, 4 * j + m]) for k in range(4) for m in range(4))
        assert image[i, j] == round(total / 16)


def test_coil100_is_read_by_object_and_angle(tmp_path):
    pairs = [(number, angle) for number in (3, 20) for angle in range(0, 360, 5)]
    views = dict(zip(pairs, random_images(144, 32, 32), strict=True))
    members = dict(sorted(coil_members(views).items())) | {"coil-100/convert.pl": b"not used"}
    arrays = coil100.prepare(write_zip(tmp_path / "coil-100.zip", members))
    assert list(zip(arrays["object"].tolist(), arrays["angle"].tolist(), strict=True)) == pairs
    np.testing.assert_array_equal(arrays["images"], list(views.values()))
    assert [a.dtype.str for a in arrays.values()] == ["|u1", "<i2", "<i2"]


def test_coil100_grey_is_itu_r_601(tmp_path):
    colours = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (200, 100, 50)]
    pixels = np.zeros((128, 128, 3), np.uint8)
    for i, colour in enumerate(colours):
        pixels[:, 32 * i : 32 * i + 32] = colour
    pixels[:2, :4], pixels[2:4, :4] = (0, 0, 4), (3, 0, 4)  # greys 0.456 and 1.353, mean 0.90
    path = write_zip(tmp_path / "a.zip", {"coil-100/obj1__0.png": png(pixels)})
    (image,) = coil100.prepare(path)["images"]
    assert image[7, ::8].tolist() == [76, 150, 29, 124]  # 76.2, 149.7, 29.1, 124.2
    assert image[0, 0] == 1  # and not 0, which means of rounded greys would give


def test_the_test_images_keep_their_means():
    """The helper is right: the ripple has mean zero, and no value leaves 0 to 255."""
    assert RIPPLE.sum() == 0
    image = np.array([[10, 245]], np.uint8)
    assert enlarge(image).reshape(4, 2, 4).mean(axis=(0, 2)).tolist() == [10, 245]


def test_a_complete_archive_is_added_on_the_command_line(tmp_path, home, capsys):
    images, members = full_yale()
    path = write_zip(tmp_path / "CroppedYale.zip", members)
    assert main(["data", "add", "yale_b", str(path)]) == 0
    assert "differs from the reference" in capsys.readouterr().out
    assert list(listing(home)) == ["extended_yale_b_48x42.npz"]
    bunch = load_yale_b("real")
    np.testing.assert_array_equal(bunch.images, images)
    assert bunch.filename[0] == "yaleB01_P00A+040E+65.pgm"
    assert (bunch.azimuth[0], bunch.elevation[0]) == (40, 65)


@pytest.mark.skipif(
    not os.environ.get("SLNP_EDU_DATA"), reason="needs SLNP_EDU_DATA with the real Yale B"
)
def test_the_real_faces_come_back_as_the_reference(tmp_path, monkeypatch):
    """The real images, enlarged and in the official layout."""
    archive = SETS["yale_b"].archive
    arrays, _ = read_prepared(find(archive.file), archive)
    flat = [np.kron(image, np.ones((4, 4), np.uint8)) for image in arrays["images"]]
    names = arrays["filename"].tolist()
    members = {f"CroppedYale/{n[:7]}/{n}": pgm(p) for n, p in zip(names, flat, strict=True)}
    monkeypatch.setenv("SLNP_EDU_DATA", str(tmp_path))
    path = archives.add(archive, write_zip(tmp_path / "a.zip", members, zipfile.ZIP_STORED))
    for key, array in read_prepared(path, archive)[0].items():
        np.testing.assert_array_equal(array, arrays[key])
        assert array.dtype == arrays[key].dtype
    verdict = compare_with_reference(archive, path)
    assert verdict in ("matches the reference", "same images as the reference, in another file")


def truncated(path, members):
    path.write_bytes(write_zip(path, members).read_bytes()[:-200])


def flipped(path, members):
    raw = bytearray(write_zip(path, members, zipfile.ZIP_STORED).read_bytes())
    raw[1000] ^= 255
    path.write_bytes(raw)


def changed(raw):
    """Return a writer of an archive with these bytes in place of one image."""

    def write(path, members):
        write_zip(path, members | {next(iter(members)): raw})

    return write


FACE = "yaleB02_P00A-080E-35.pgm"
HOSTILE = {
    "truncated": (truncated, "damaged or not a zip archive"),
    "wrong bytes": (flipped, "damaged or not a zip archive"),
    "web page": (lambda path, _: path.write_bytes(b"<html>"), "damaged or not a zip archive"),
    "bomb": (changed(bytes(2**21)), f"{FACE} is not a PPM image"),
    "huge image": (changed(b"P5\n99999 99999\n255\n"), f"{FACE} is not a PPM image"),
    "png as pgm": (changed(png(np.zeros((192, 168)))), f"{FACE} is not a PPM image"),
    "wrong size": (changed(pgm(np.zeros((192, 160)))), "not a PPM image of 168 x 192 (L)"),
    "incomplete": (write_zip, "expected 2,414 images of 48 x 42 in 38 classes, found 6 in 2"),
    "no images": (lambda path, _: write_zip(path, {"a.txt": b"x"}), "found 0 in 0"),
    "missing": (lambda path, _: None, "There is no file"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_bad_archive_is_refused_in_a_sentence(tmp_path, home, faces, case, capsys):
    write, expected = HOSTILE[case]
    write(tmp_path / "CroppedYale.zip", yale_members(faces))
    assert main(["data", "add", "yale_b", str(tmp_path / "CroppedYale.zip")]) == 2
    out, message = capsys.readouterr()
    assert expected in message
    assert message.index("\n") == len(message) - 1
    assert not out
    assert not home.exists()


def test_a_bomb_that_lies_about_its_size_is_not_unpacked(tmp_path):
    """50 MB of zeros declared as 32 kB: at most what is declared is read."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"CroppedYale/yaleB02/{FACE}", bytes(50_000_000))
        archive.filelist[0].file_size = 32_271
    tracemalloc.start()
    with pytest.raises(ArchiveError):
        yale_b.prepare(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000


def test_any_damage_is_an_archive_error_or_harmless(tmp_path, faces):
    """Flip, cut and overwrite bytes anywhere: no other exception, no other pixels."""
    members = yale_members({name: face // 64 + 30 for name, face in faces.items()})
    good = write_zip(tmp_path / "a.zip", members).read_bytes()
    expected = yale_b.prepare(tmp_path / "a.zip")
    expected = dict(zip(expected["filename"].tolist(), expected["images"], strict=True))
    rng, refused = np.random.default_rng(0), 0
    directory = good.index(b"PK\1\2")
    for trial in range(300):
        raw = bytearray(good)
        low = 0 if trial % 2 else directory  # every second time in the table of contents
        for at in rng.integers(low, len(raw), 3):
            raw[at] = rng.integers(256)
        cut = rng.integers(low, len(raw)) if trial % 5 == 0 else None
        (tmp_path / "b.zip").write_bytes(raw[:cut])
        try:
            found = yale_b.prepare(tmp_path / "b.zip")
        except ArchiveError:
            refused += 1
        else:
            for name, image in zip(found["filename"].tolist(), found["images"], strict=True):
                np.testing.assert_array_equal(image, expected[name])
    assert refused > 150


def test_a_full_disk_leaves_the_folder_as_it_was(home, monkeypatch, capsys):
    home.mkdir()
    archive = replace(SETS["yale_b"].archive, prepare=lambda path: arrays, shape=(38, 2, 2))
    arrays = {"images": np.zeros((38, 2, 2), np.uint8), "subject": np.arange(38)}
    monkeypatch.setitem(main.__globals__["ARCHIVES"], "yale_b", archive)
    (home / archive.file).write_bytes(b"what was there")

    def no_space(path, **arrays):
        path.write_bytes(b"half of it")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", no_space)
    assert main(["data", "add", "yale_b", "a.zip"]) == 2
    assert capsys.readouterr().err == "No space left on device\n"
    assert listing(home) == {archive.file: b"what was there"}
