"""Downloads from a server on this machine that stalls, cuts off, lies and sends wrong bytes."""

import gc
import http.server
import os
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from official import coil, listing, write_zip

from slnp_study.__main__ import main
from slnp_study.data import SETS, ArchiveError, archives
from slnp_study.data.coil100 import prepare
from slnp_study.data.files import read_prepared
from slnp_study.data.install import STALE, DownloadError, fetch

FILE = SETS["coil100"].file
# pooch leaves the connection of a failed download to the garbage collector
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


class Handler(http.server.BaseHTTPRequestHandler):
    """Serve the archive, or misbehave in the way that the path names."""

    def do_GET(self):
        getattr(self, self.path.strip("/"))(self.server.archive)

    def answer(self, length, *parts, status=200, **headers):
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        for part in parts:
            self.wfile.write(part)
        self.wfile.flush()

    def good(self, raw):
        self.answer(len(raw), raw)

    def no_length(self, raw):
        self.answer(None, raw)

    def silent(self, raw):
        self.server.reached.release()
        self.server.released.wait()

    def stalls(self, raw):
        self.answer(len(raw), raw[: len(raw) // 2])
        self.server.reached.release()
        self.server.released.wait()

    def cuts_off(self, raw):
        self.answer(len(raw), raw[: len(raw) // 2])

    def cuts_off_without_length(self, raw):
        self.answer(None, raw[: len(raw) // 2])

    def says_too_little(self, raw):
        self.answer(len(raw) // 2, raw)

    def says_too_much(self, raw):
        self.answer(2 * len(raw), raw)

    def says_nonsense(self, raw):
        self.answer("banana", raw)

    def says_two_lengths(self, raw):
        self.answer("5, 6", raw)

    def wrong_bytes(self, raw):
        self.answer(len(raw), bytes(len(raw)))

    def one_wrong_byte(self, raw):
        self.answer(len(raw), raw[:5000], bytes([raw[5000] ^ 1]), raw[5001:])

    def web_page(self, raw):
        self.answer(None, b"<html>We have moved</html>")

    def missing(self, raw):
        self.answer(0, status=404)

    def endless(self, raw):
        self.answer(None, *[bytes(2**16)] * 1000)  # 65 MB: endless enough, and kind to the disk

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Clients that hang up are what these tests are about."""


@pytest.fixture
def few(monkeypatch):
    """Let a set of five objects pass for COIL-100, to save time."""
    five = partial(prepare, objects=range(1, 6))
    spec = replace(SETS["coil100"], shape=(360, 32, 32), n_classes=5, prepare=five)
    monkeypatch.setitem(SETS, "coil100", spec)


@pytest.fixture
def server(request, tmp_path_factory, monkeypatch):
    """Serve an archive of random pixels, `server.images`: of a few objects if asked for."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    images, members = coil(5 if "few" in request.fixturenames else 100)
    path = tmp_path_factory.mktemp("official") / "coil-100.zip"
    with Server(("127.0.0.1", 0), Handler) as server:
        server.archive = write_zip(path, members, zipfile.ZIP_STORED).read_bytes()
        server.images, server.url = images, f"http://127.0.0.1:{server.server_port}"
        server.reached, server.released = threading.Semaphore(0), threading.Event()
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.released.set()
        server.shutdown()
        thread.join()
    gc.collect()


@pytest.mark.slow
def test_good_download(server, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SLNP_EDU_DATA", str(tmp_path))
    command = ["data", "fetch", "coil100", "--into", str(tmp_path), "--url"]
    assert main([*command, f"{server.url}/good"]) == 0
    out, progress = capsys.readouterr()
    assert "differs from the reference (coil-100.zip does: 102" in out
    assert "B/s" in progress
    assert list(listing(tmp_path)) == [FILE]
    arrays, _ = read_prepared(tmp_path / FILE, SETS["coil100"])
    np.testing.assert_array_equal(arrays["images"], server.images)


@pytest.mark.parametrize("answer", ["good", "no_length"])
def test_a_download_is_kept_where_it_is_asked_for(
    few, server, tmp_path, monkeypatch, capsys, answer
):
    monkeypatch.setattr("slnp_study.data.files.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(archives, "MAX_TOTAL", len(server.archive))  # it may be as large as that
    spec = replace(SETS["coil100"], url=f"{server.url}/{answer}")
    for folder, home in ((tmp_path / "asked", "asked"), (None, "cache")):
        assert fetch(spec, folder) == tmp_path / home / FILE
        assert ("100%" in capsys.readouterr().err) == (answer == "good")  # of a known length
        assert {path.name for path in tmp_path.iterdir()} <= {"asked", home}
        assert list(listing(tmp_path / home)) == [FILE]
        arrays, _ = read_prepared(tmp_path / home / FILE, spec)
        np.testing.assert_array_equal(arrays["images"], server.images)


FAULTS = {
    "silent": "failed",
    "stalls": "failed",
    "cuts_off": "failed",
    "cuts_off_without_length": "damaged or not a zip",
    "says_too_little": "damaged or not a zip",
    "says_too_much": "failed",
    "says_nonsense": "failed",
    "says_two_lengths": "failed",
    "wrong_bytes": "damaged or not a zip",
    "one_wrong_byte": "damaged or not a zip",
    "web_page": "damaged or not a zip",
    "missing": "HTTPError",
    "endless": "far larger than the official archive",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_bad_download_leaves_the_folder_as_it_was(few, server, tmp_path, monkeypatch, fault):
    monkeypatch.setattr(archives, "MAX_TOTAL", 5_000_000)
    (tmp_path / FILE).write_bytes(b"what was there")
    # These two servers wait for ever, so to come back at all is to have given up. The others answer
    # as soon as a busy machine lets them.
    timeout = 0.3 if fault in ("silent", "stalls") else 600
    with pytest.raises((DownloadError, ArchiveError), match=FAULTS[fault]) as caught:
        fetch(SETS["coil100"], tmp_path, url=f"{server.url}/{fault}", timeout=timeout)
    assert "\n" not in str(caught.value)
    assert listing(tmp_path) == {FILE: b"what was there"}


def test_nobody_listens(tmp_path, few, server, capsys):
    server.server_close()
    command = ["data", "fetch", "coil100", "--into", str(tmp_path), "--url", server.url]
    assert main(command) == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith("nothing was changed, try again.")
    assert listing(tmp_path) == {}


def test_yale_b_cannot_be_fetched(tmp_path, capsys):
    assert main(["data", "fetch", "yale_b", "--into", str(tmp_path)]) == 2
    assert "no address" in capsys.readouterr().err


def test_full_disk_during_the_download(few, server, tmp_path):
    """A real failing write: the system refuses to let the file grow past 200 kB."""
    resource = pytest.importorskip("resource", reason="file size limits need a Unix system")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        with pytest.raises(DownloadError, match="File too large"):
            fetch(SETS["coil100"], tmp_path, url=f"{server.url}/good")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert listing(tmp_path) == {}


def test_stopped_by_the_keyboard(few, server, tmp_path, monkeypatch, capsys):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setitem(SETS, "coil100", replace(SETS["coil100"], prepare=interrupt))
    command = ["data", "fetch", "coil100", "--into", str(tmp_path), "--url"]
    assert main([*command, f"{server.url}/good"]) == 130
    assert "nothing is half-written" in capsys.readouterr().err
    assert listing(tmp_path) == {}


# A child process that says when it has come to a certain function, and waits there to be killed.
CHILD = """
import dataclasses, functools, signal, sys
from slnp_study.data import coil100, install
folder, url, place = sys.argv[1:]
prepare = functools.partial(coil100.prepare, objects=range(1, 6))
few = {"shape": (360, 32, 32), "n_classes": 5, "prepare": prepare}
spec = dataclasses.replace(coil100.SET, **few)
def wait(*args):
    print("here", flush=True)
    signal.pause()
if place == "fsync":
    install.os.fsync = wait
elif place:
    setattr(install, place, wait)
install.fetch(spec, folder, url=url, timeout=3600)
"""
MOMENTS = {  # where to kill it: (what the server does, the function that waits)
    "before the first byte": ("silent", ""),
    "half way": ("stalls", ""),
    "downloaded, not read": ("good", "add"),
    "written, not in place": ("good", "fsync"),
}


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_killed_at_any_moment(few, server, tmp_path):
    children = []
    for path, place in MOMENTS.values():
        command = [sys.executable, "-c", CHILD, str(tmp_path), f"{server.url}/{path}", place]
        children.append(
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        )
    try:
        for child, (_, place) in zip(children, MOMENTS.values(), strict=True):
            if place:
                assert child.stdout.readline() == b"here\n"
            else:
                while not server.reached.acquire(timeout=0.1):  # as long as it takes
                    assert child.poll() is None
    finally:
        for child in children:
            child.kill()
            child.communicate()
    assert [child.returncode for child in children] == [-9] * len(MOMENTS)
    leftovers = {path.name[:9] for path in tmp_path.iterdir()}
    assert leftovers == {".partial-"}
    archive_sizes = {path.stat().st_size for path in tmp_path.rglob("coil-100.zip")}
    assert max(archive_sizes) == len(server.archive)  # two children had all of it
    assert [path.stat().st_size > 0 for path in tmp_path.rglob(FILE)] == [True]  # one had written

    fetch(SETS["coil100"], tmp_path, url=f"{server.url}/no_length")  # a new run is not disturbed
    arrays, _ = read_prepared(tmp_path / FILE, SETS["coil100"])
    np.testing.assert_array_equal(arrays["images"], server.images)
    long_ago = time.time() - 2 * STALE
    for path in tmp_path.rglob("*"):
        os.utime(path, (long_ago, long_ago))
    fetch(SETS["coil100"], tmp_path, url=f"{server.url}/good")  # an hour later, it tidies up
    assert list(listing(tmp_path)) == [FILE]
