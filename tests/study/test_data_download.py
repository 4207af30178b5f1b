"""Downloads from a server on this machine that cuts off, sends something else, or nothing."""

import gc
import http.server
import threading
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from official import coil, listing, write_zip

from slnp_study.__main__ import ARCHIVES, main
from slnp_study.data.files import read_prepared

# pooch leaves the connection of a failed download to the garbage collector
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
ANSWERS = {  # path -> what is sent of the archive, and what length and status are announced
    "/good": lambda raw: (raw, len(raw), 200),
    "/without_length": lambda raw: (raw, None, 200),
    "/cut_off": lambda raw: (raw[: len(raw) // 2], len(raw), 200),
    "/cut_off_without_length": lambda raw: (raw[: len(raw) // 2], None, 200),
    "/nonsense": lambda raw: (raw, "banana", 200),
    "/web_page": lambda raw: (b"<html>We have moved</html>", None, 200),
    "/missing": lambda raw: (b"", 0, 404),
}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        sent, length, status = ANSWERS[self.path](self.server.archive)
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Clients that hang up are what these tests are about."""


@pytest.fixture
def server(tmp_path_factory, monkeypatch):
    """Serve an archive of random pixels, of five objects to save time; they pass for all."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    images, members = coil(5)
    five = replace(ARCHIVES["coil100"], shape=(360, 32, 32), n_classes=5)
    monkeypatch.setitem(ARCHIVES, "coil100", five)
    path = tmp_path_factory.mktemp("official") / "coil-100.zip"
    with Server(("127.0.0.1", 0), Handler) as server:
        server.archive = write_zip(path, members, zipfile.ZIP_STORED).read_bytes()
        server.images, server.url = images, f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
    gc.collect()


@pytest.mark.parametrize("answer", ["/good", "/without_length"])
def test_a_good_download_is_prepared_and_kept(server, tmp_path, monkeypatch, capsys, answer):
    monkeypatch.setenv("SLNP_EDU_DATA", str(tmp_path))
    assert main(["data", "fetch", "coil100", "--url", server.url + answer]) == 0
    out, progress = capsys.readouterr()
    assert "differs from the reference (coil-100.zip does: 102" in out
    assert "B/s" in progress
    archive = ARCHIVES["coil100"]
    assert list(listing(tmp_path)) == [archive.file]
    arrays, _ = read_prepared(tmp_path / archive.file, archive)
    np.testing.assert_array_equal(arrays["images"], server.images)


FAULTS = {
    "/cut_off": "failed (",
    "/cut_off_without_length": "damaged or not a zip",
    "/nonsense": "failed (",
    "/web_page": "damaged or not a zip",
    "/missing": "failed (HTTPError)",
}


@pytest.mark.parametrize("fault", [*FAULTS, "nobody listens"])
def test_a_bad_download_leaves_the_folder_as_it_was(server, tmp_path, monkeypatch, capsys, fault):
    monkeypatch.setenv("SLNP_EDU_DATA", str(tmp_path))
    file = ARCHIVES["coil100"].file
    (tmp_path / file).write_bytes(b"what was there")
    if fault == "nobody listens":
        server.server_close()
    path = fault if fault in FAULTS else ""
    assert main(["data", "fetch", "coil100", "--url", server.url + path]) == 2
    assert FAULTS.get(fault, "; try again.") in capsys.readouterr().err.splitlines()[-1]
    assert listing(tmp_path) == {file: b"what was there"}


def test_stopped_by_the_keyboard(server, tmp_path, monkeypatch, capsys):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setenv("SLNP_EDU_DATA", str(tmp_path))
    monkeypatch.setitem(ARCHIVES, "coil100", replace(ARCHIVES["coil100"], prepare=interrupt))
    assert main(["data", "fetch", "coil100", "--url", f"{server.url}/good"]) == 130
    assert "nothing is half-written" in capsys.readouterr().err
    assert listing(tmp_path) == {}


def test_yale_b_cannot_be_fetched(capsys):
    with pytest.raises(SystemExit):
        main(["data", "fetch", "yale_b"])
    assert "invalid choice: 'yale_b'" in capsys.readouterr().err
