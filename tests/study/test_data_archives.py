"""Official archives: the right ones give the right arrays, the wrong ones are refused cleanly."""

import errno
import os
import re
import stat
import subprocess
import sys
import time
import tracemalloc
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from official import (
    LIGHTS,
    RIPPLE,
    SUBJECTS,
    coil_members,
    enlarge,
    full_yale,
    listing,
    pgm,
    png,
    random_images,
    write_folder,
    write_zip,
    yale_members,
    yale_names,
)

from slnp_study.__main__ import main
from slnp_study.data import SETS, ArchiveError, archives, load_yale_b
from slnp_study.data.coil100 import prepare as prepare_coil100
from slnp_study.data.files import compare_with_reference, find, read_prepared
from slnp_study.data.install import STALE, add, install
from slnp_study.data.yale_b import prepare as prepare_yale_b

SOME = dict(subjects=[2, 15], n_images=6)


@pytest.fixture
def faces():
    """Six faces of two people, {file name: (48, 42) image}."""
    return dict(zip(yale_names([2, 15], LIGHTS[:3]), random_images(6, 48, 42), strict=True))


@pytest.fixture(scope="module")
def cropped_yale(tmp_path_factory):
    """A complete archive of random pixels: (images, path)."""
    images, members = full_yale()
    return images, write_zip(tmp_path_factory.mktemp("official") / "CroppedYale.zip", members)


@pytest.mark.parametrize("write", [write_zip, write_folder])
def test_yale_b_from_archive_and_folder(tmp_path, faces, write):
    extra = {
        "CroppedYale/yaleB02/yaleB02_P00_Ambient.pgm": b"not used",
        "CroppedYale/yaleB02/yaleB02_P00A+050E-40.pgm.bad": b"not used",
        "CroppedYale/yaleB02/yaleB02_P00.info": b"not used",
        "__MACOSX/CroppedYale/yaleB02/._yaleB02_P00A-080E-35.pgm": b"not used",
    }
    members = dict(reversed((yale_members(faces) | extra).items()))
    arrays = prepare_yale_b(write(tmp_path / "CroppedYale", members), **SOME)
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
    arrays = prepare_yale_b(write_zip(tmp_path / "a.zip", members), **SOME)
    image = arrays["images"][arrays["filename"].tolist().index(name)]
    assert (image[0, 0], image[0, 1], image[1, 0]) == (10, 10, 12)
    for i, j in np.ndindex(48, 42):
        total = sum(int(pixels[4 * i + k, 4 * j + m]) for k in range(4) for m in range(4))
        assert image[i, j] == round(total / 16)


@pytest.mark.parametrize("write", [write_zip, write_folder])
def test_coil100_from_archive_and_folder(tmp_path, write):
    pairs = [(number, angle) for number in (3, 20) for angle in range(0, 360, 5)]
    views = dict(zip(pairs, random_images(144, 32, 32), strict=True))
    members = dict(sorted(coil_members(views).items())) | {"coil-100/convert.pl": b"not used"}
    arrays = prepare_coil100(write(tmp_path / "coil-100", members), objects=[20, 3])
    assert list(zip(arrays["object"].tolist(), arrays["angle"].tolist(), strict=True)) == pairs
    np.testing.assert_array_equal(arrays["images"], list(views.values()))
    assert [a.dtype.str for a in arrays.values()] == ["|u1", "<i2", "<i2"]


def test_coil100_grey_is_itu_r_601(tmp_path):
    colours = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (200, 100, 50)]
    pixels = np.zeros((128, 128, 3), np.uint8)
    for i, colour in enumerate(colours):
        pixels[:, 32 * i : 32 * i + 32] = colour
    views = {(1, angle): random_images(32, 32) for angle in range(0, 360, 5)}
    members = coil_members(views) | {"coil-100/obj1__0.png": png(pixels)}
    image = prepare_coil100(write_zip(tmp_path / "a.zip", members), objects=[1])["images"][0]
    assert image[7, ::8].tolist() == [76, 150, 29, 124]  # 76.2, 149.7, 29.1, 124.2


def test_public_import_of_a_complete_archive(tmp_path, cropped_yale, monkeypatch, capsys):
    images, path = cropped_yale
    monkeypatch.setenv("SLNP_EDU_DATA", str(tmp_path))
    assert main(["data", "add", "yale_b", str(path), "--into", str(tmp_path)]) == 0
    assert "differs from the reference" in capsys.readouterr().out
    assert [p.name for p in tmp_path.iterdir()] == ["extended_yale_b_48x42.npz"]
    bunch = load_yale_b("real")
    np.testing.assert_array_equal(bunch.images, images)
    assert (bunch.azimuth[0], bunch.elevation[0]) == (40, 65)
    assert bunch.filename[0] == "yaleB01_P00A+040E+65.pgm"


@pytest.mark.skipif(
    not os.environ.get("SLNP_EDU_DATA"), reason="needs SLNP_EDU_DATA with the real Yale B"
)
def test_import_of_the_real_faces_gives_the_reference_file(tmp_path):
    """The real images, enlarged and in the official layout, come back as the reference."""
    arrays, _ = read_prepared(find(SETS["yale_b"].file), SETS["yale_b"])
    flat = [np.kron(image, np.ones((4, 4), np.uint8)) for image in arrays["images"]]
    members = {
        f"CroppedYale/{name[:7]}/{name}": pgm(pixels)
        for name, pixels in zip(arrays["filename"].tolist(), flat, strict=True)
    }
    path = add(SETS["yale_b"], write_zip(tmp_path / "a.zip", members, zipfile.ZIP_STORED), tmp_path)
    for key, array in read_prepared(path, SETS["yale_b"])[0].items():
        np.testing.assert_array_equal(array, arrays[key])
        assert array.dtype == arrays[key].dtype
    verdict = compare_with_reference(SETS["yale_b"], path)
    assert verdict in ("matches the reference", "same images as the reference, in another file")


@pytest.fixture
def ready(monkeypatch):
    """Skip the reading of an archive: it would give these arrays."""
    names = sorted(yale_names(SUBJECTS))[18:]
    subject = np.array([int(name[5:7]) for name in names])
    arrays = {
        "images": random_images(2414, 48, 42),
        "subject": subject,
        "filename": np.array(names),
    }
    monkeypatch.setitem(SETS, "yale_b", replace(SETS["yale_b"], prepare=lambda path: arrays))


def test_a_file_that_no_loader_reads_is_pointed_out(tmp_path, ready, monkeypatch, capsys):
    monkeypatch.setattr("slnp_study.data.files.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.delenv("SLNP_EDU_DATA", raising=False)
    command = ["data", "add", "yale_b", "CroppedYale.zip"]
    assert main([*command, "--into", str(tmp_path / "other")]) == 0
    assert "Note: load_yale_b does not read this file: it finds none." in capsys.readouterr().out
    assert main(command) == 0
    assert "Note" not in capsys.readouterr().out
    assert list(listing(tmp_path / "cache")) == [SETS["yale_b"].file]


def test_what_an_archive_gave_is_checked_before_it_is_kept(tmp_path):
    spec = replace(SETS["yale_b"], prepare=lambda path: small() | {"subject": np.zeros(40, int)})
    expected = "a.zip does not hold Extended Yale B: expected 2,414 images of 48 x 42 in 38 classes"
    with pytest.raises(ArchiveError, match=expected):
        add(spec, "a.zip", tmp_path)
    assert listing(tmp_path) == {}


def link(name, target):
    entry = zipfile.ZipInfo(name)
    entry.create_system = 3
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry, target


def with_entry(entry, raw=b"x", **settings):
    """Return a writer of a good archive with one more entry."""

    def write(path, members):
        write_zip(path, members)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(entry, raw, **settings)

    return write


def declared_bomb(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("CroppedYale/notes.txt", b"x")
        archive.filelist[0].file_size = 2**30


def truncated(path, members):
    path.write_bytes(write_zip(path, members).read_bytes()[:-200])


def flipped(path, members):
    raw = bytearray(write_zip(path, members, zipfile.ZIP_STORED).read_bytes())
    raw[1000] ^= 255
    path.write_bytes(raw)


def changed(change):
    """Return a writer of an archive with the bytes of one image changed."""

    def write(path, members):
        name = next(iter(members))
        write_zip(path, members | {name: change(members[name])})

    return write


def encrypted(path, members):
    raw = write_zip(path, members).read_bytes()
    at = raw.index(b"PK\1\2")
    path.write_bytes(raw[: at + 8] + bytes([raw[at + 8] | 1]) + raw[at + 9 :])


FACE = "yaleB02_P00A-080E-35.pgm"
HOSTILE = {
    "path traversal": (with_entry("CroppedYale/../../evil.pgm"), "leads out of its folder"),
    "windows traversal": (with_entry("CroppedYale\\..\\..\\evil.pgm"), "leads out of its folder"),
    "absolute path": (with_entry("/etc/evil.pgm"), "an absolute path"),
    "drive letter": (with_entry("C:/evil.pgm"), "an absolute path"),
    "small drive letter": (with_entry("c:\\evil.pgm"), "an absolute path"),
    "symbolic link": (with_entry(*link(f"x/{FACE}", b"/etc/passwd")), "a symbolic link"),
    "encrypted": (encrypted, "an encrypted file"),
    "unusual packing": (with_entry("x.txt", compress_type=zipfile.ZIP_LZMA), "unusual compression"),
    "declared bomb": (declared_bomb, "far more than the official archive"),
    "bomb in one image": (changed(lambda raw: bytes(2**21)), "far too large"),
    "truncated archive": (truncated, "damaged or not a zip archive"),
    "wrong bytes": (flipped, "damaged or not a zip archive"),
    "not a zip": (
        lambda path, members: path.write_bytes(b"<html>"),
        "damaged or not a zip archive",
    ),
    "empty file": (lambda path, members: path.write_bytes(b""), "damaged or not a zip archive"),
    "truncated image": (changed(lambda raw: raw[:-1]), f"{FACE} is not a readable PPM image"),
    "text as image": (changed(lambda raw: b"a text\n" * 99), "is not a readable PPM image"),
    "png as pgm": (changed(lambda raw: png(np.zeros((192, 168)))), "is not a readable PPM image"),
    "wrong size": (
        changed(lambda raw: pgm(np.zeros((192, 160)))),
        f"{FACE} is 160 x 192 (L) where 168 x 192 (L) belongs",
    ),
    "huge header": (changed(lambda raw: b"P5\n99999 99999\n255\n"), "PPM image"),
    "colour": (changed(lambda raw: b"P6\n168 192\n255\n" + bytes(3 * 192 * 168)), "(RGB)"),
    "same name twice": (with_entry(f"other/{FACE}", pgm(np.zeros((192, 168)))), "two files named"),
    "missing subjects": (write_zip, "has no images of subjects 1, 3, 4"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_bad_archive_is_refused_and_nothing_is_written(tmp_path, faces, case, capsys):
    write, expected = HOSTILE[case]
    write(tmp_path / "CroppedYale.zip", yale_members(faces))
    before = listing(tmp_path)
    command = ["data", "add", "yale_b", str(tmp_path / "CroppedYale.zip")]
    assert main([*command, "--into", str(tmp_path / "cache")]) == 2
    out, message = capsys.readouterr()
    assert expected in message
    assert not out
    assert message.index("\n") == len(message) - 1
    assert listing(tmp_path) == before


def test_incomplete_sets_are_refused(tmp_path, faces):
    path = write_zip(tmp_path / "a.zip", yale_members(faces))
    with pytest.raises(ArchiveError, match=r"has 6 images, the set has 2,414"):
        prepare_yale_b(path, subjects=[2, 15])
    with pytest.raises(ArchiveError, match=r"not in the set: 15"):
        prepare_yale_b(path, subjects=[2], n_images=6)
    views = {(1, angle): random_images(32, 32) for angle in range(0, 360, 5)}
    path = write_zip(tmp_path / "b.zip", coil_members(views))
    with pytest.raises(ArchiveError, match=r"lacks 7,128 of 7,200 images, such as obj2__0.png"):
        add(SETS["coil100"], path, tmp_path)
    path = write_zip(tmp_path / "c.zip", coil_members(views | {(1, 7): views[1, 5]}))
    with pytest.raises(ArchiveError, match=r"has 73 images, the set has 72"):
        prepare_coil100(path, objects=[1])
    path = write_zip(tmp_path / "e.zip", coil_members(views) | {"coil-100/obj1__5.png": b"text"})
    with pytest.raises(ArchiveError, match=r"obj1__5.png is not a readable PNG image"):
        prepare_coil100(path, objects=[1])
    with pytest.raises(ArchiveError, match="There is no file or folder"):
        add(SETS["coil100"], tmp_path / "d.zip", tmp_path)


def test_links_in_a_folder_are_refused(tmp_path, faces):
    folder = write_folder(tmp_path / "CroppedYale", yale_members(faces))
    victim = next(folder.rglob("*.pgm"))
    victim.rename(tmp_path / "elsewhere.pgm")
    victim.symlink_to(tmp_path / "elsewhere.pgm")
    with pytest.raises(ArchiveError, match="is a link or a device"):
        prepare_yale_b(folder, **SOME)


def test_bomb_that_lies_about_its_size_is_not_unpacked(tmp_path, faces):
    """50 MB of zeros declared as 32 kB: at most what is declared is read."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"CroppedYale/yaleB02/{FACE}", bytes(50_000_000))
        archive.filelist[0].file_size = 32_271
    tracemalloc.start()
    with pytest.raises(ArchiveError):
        prepare_yale_b(path, **SOME)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000


def test_too_many_or_too_large(tmp_path, faces, monkeypatch):
    path = write_zip(tmp_path / "a.zip", yale_members(faces))
    monkeypatch.setattr(archives, "MAX_ENTRIES", 5)
    with pytest.raises(ArchiveError, match="far more than the official archive"):
        prepare_yale_b(path, **SOME)
    monkeypatch.setattr(archives, "MAX_TOTAL", 1000)
    with pytest.raises(ArchiveError, match="far too large for the official archive"):
        prepare_yale_b(path, **SOME)


BINARY = re.compile(r"\d+\.bin")


@pytest.mark.parametrize("write", [write_zip, write_folder])
def test_a_file_may_be_as_large_as_the_limit_and_no_larger(tmp_path, monkeypatch, write):
    monkeypatch.setattr(archives, "MAX_MEMBER", 10)
    path = write(tmp_path / "a", {"x/10.bin": b"0123456789"})
    assert list(archives.members(path, BINARY)) == [("10.bin", b"0123456789")]
    path = write(tmp_path / "b", {"x/11.bin": bytes(11)})
    with pytest.raises(ArchiveError, match=r"11.bin in b is far too large"):
        list(archives.members(path, BINARY))
    path = write(tmp_path / "c", {"x/5000000.bin": bytes(5_000_000)})
    tracemalloc.start()
    with pytest.raises(ArchiveError, match="far too large"):
        list(archives.members(path, BINARY))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000  # nor is more of it read


def test_an_archive_may_be_as_large_as_the_limits_and_no_larger(tmp_path, monkeypatch):
    members = {f"{i}.bin": bytes(1000) for i in range(10)}
    packed = write_zip(tmp_path / "packed.zip", members)
    stored = write_zip(tmp_path / "stored.zip", members, zipfile.ZIP_STORED)
    for path, name, limit, fault in (
        (packed, "MAX_ENTRIES", 10, "packed.zip would unpack to far more"),
        (packed, "MAX_TOTAL", 10_000, "packed.zip would unpack to far more"),
        (stored, "MAX_TOTAL", stored.stat().st_size, "stored.zip is far too large"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(archives, name, limit)
            assert len(list(archives.members(path, BINARY))) == 10
            patch.setattr(archives, name, limit - 1)
            with pytest.raises(ArchiveError, match=fault):
                list(archives.members(path, BINARY))


def test_any_damage_is_an_archive_error_or_harmless(tmp_path, faces):
    """Flip, cut and overwrite bytes anywhere: no other exception, no other pixels."""
    members = yale_members({name: face // 64 + 30 for name, face in faces.items()})
    good = write_zip(tmp_path / "a.zip", members).read_bytes()
    expected = prepare_yale_b(tmp_path / "a.zip", **SOME)["images"]
    rng, refused = np.random.default_rng(0), 0
    directory = good.index(b"PK\1\2")
    for trial in range(300):
        raw = bytearray(good)
        low = 0 if trial % 2 else directory  # every second time in the table of contents
        for at in rng.integers(low, len(raw), 3):
            raw[at] = rng.integers(256)
        (tmp_path / "b.zip").write_bytes(
            raw[: rng.integers(low, len(raw))] if trial % 5 == 0 else raw
        )
        try:
            images = prepare_yale_b(tmp_path / "b.zip", **SOME)["images"]
        except ArchiveError:
            refused += 1
        else:
            np.testing.assert_array_equal(images, expected)
    assert refused > 150


def small():
    return {"images": random_images(40, 48, 42)}


def test_full_disk_leaves_the_folder_as_it_was(tmp_path, monkeypatch):
    (tmp_path / "set.npz").write_bytes(b"what was there")

    def no_space(file, **arrays):
        file.write(b"half of it")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", no_space)
    with pytest.raises(OSError, match="No space left"):
        install("set.npz", small(), tmp_path)
    assert listing(tmp_path) == {"set.npz": b"what was there"}


# older NumPy leaves the half-written zip to the garbage collector
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_write_that_the_system_stops_half_way(tmp_path):
    """A real failing write: the system refuses to let the file grow past 20 kB."""
    resource = pytest.importorskip("resource", reason="file size limits need a Unix system")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            install("set.npz", small(), tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert listing(tmp_path) == {}


def test_full_disk_on_the_command_line(tmp_path, ready, monkeypatch, capsys):
    def no_space(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    assert main(["data", "add", "yale_b", "a.zip", "--into", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "No space left on device\n"
    assert listing(tmp_path) == {}


def test_leftovers_of_killed_runs_are_removed_when_old(tmp_path):
    long_ago = time.time() - 2 * STALE
    for name, old in [("old", True), ("running", False), ("slow", False)]:
        (tmp_path / f".partial-{name}").mkdir()
        (tmp_path / f".partial-{name}" / "a.zip").write_bytes(b"half")
        if old:
            os.utime(tmp_path / f".partial-{name}" / "a.zip", (long_ago, long_ago))
        if name != "running":
            os.utime(tmp_path / f".partial-{name}", (long_ago, long_ago))
    install("set.npz", small(), tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {".partial-running", ".partial-slow", "set.npz"}


def test_two_processes_at_once_both_end_well(tmp_path, cropped_yale):
    images, path = cropped_yale
    command = [sys.executable, "-m", "slnp_study", "data", "add", "yale_b", str(path)]
    runs = [
        subprocess.Popen([*command, "--into", str(tmp_path)], stderr=subprocess.PIPE, text=True,
                         stdout=subprocess.PIPE)
        for _ in range(2)
    ]  # fmt: skip
    prepared = tmp_path / SETS["yale_b"].file
    while any(run.poll() is None for run in runs):
        if prepared.exists():  # whoever looks finds a complete file at any moment
            read_prepared(prepared, SETS["yale_b"])
        time.sleep(0.05)
    for run in runs:
        _, errors = run.communicate()
        assert (run.returncode, errors) == (0, "")
    assert [p.name for p in tmp_path.iterdir()] == [prepared.name]
    np.testing.assert_array_equal(read_prepared(prepared, SETS["yale_b"])[0]["images"], images)


def test_the_test_images_keep_their_means():
    """The helper is right: the ripple has mean zero, and no value leaves 0 to 255."""
    assert RIPPLE.sum() == 0
    image = np.array([[10, 245]], np.uint8)
    assert enlarge(image).reshape(4, 2, 4).mean(axis=(0, 2)).tolist() == [10, 245]


def test_many_writers_do_not_disturb_each_other(tmp_path):
    """Work folders come and go all the time; nobody trips over another's."""
    arrays = {"images": random_images(2, 4, 4)}
    with ThreadPoolExecutor(8) as pool:
        runs = [pool.submit(install, f"{i % 3}.npz", arrays, tmp_path) for i in range(400)]
    assert {run.result().name for run in runs} == {"0.npz", "1.npz", "2.npz"}
    assert sorted(listing(tmp_path)) == ["0.npz", "1.npz", "2.npz"]
