"""The experiments on a Dask cluster: one scheduler and two workers, each a process of its own."""

import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

import pytest

from slnp_study import records
from slnp_study.__main__ import main

pytestmark = pytest.mark.slow  # it runs experiments

pytest.importorskip("distributed", reason="Dask is not installed: the extra cluster brings it")


@contextmanager
def started(*command, **options):
    process = subprocess.Popen(
        [sys.executable, "-m", *command], stderr=subprocess.DEVNULL, text=True, **options
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def cluster(folder):
    """Yield the scheduler's address and the two workers."""
    file = folder / "scheduler.json"
    where = ["--scheduler-file", str(file), "--no-dashboard"]
    with ExitStack() as stack:
        scheduler = ["dask", "scheduler", "--host", "127.0.0.1", "--port", "0", *where]
        stack.enter_context(started(*scheduler))
        wait_for(file.exists)
        worker = ["dask", "worker", "--nthreads", "1", "--no-nanny", *where]
        worker += ["--local-directory", str(folder)]
        workers = [stack.enter_context(started(*worker)) for _ in range(2)]
        from distributed import Client

        with Client(scheduler_file=str(file), set_as_default=False) as client:
            client.wait_for_workers(2, timeout=120)
            address = client.scheduler.address
        yield address, workers


def wait_for(condition, seconds=180):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.01)


def test_killed_and_resumed_on_a_cluster_that_loses_a_worker(tmp_path):
    """The run is killed, then goes on, then a worker dies: the record has the same bytes."""
    alone = records.reproduce("mnist", splits=2, n_jobs=1, folder=tmp_path / "alone")
    folder = tmp_path / "results"

    def put_aside():
        return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*-*.json")}

    with cluster(tmp_path) as (address, workers):
        command = ["slnp_study", "reproduce", "mnist", "--splits", "2", "--results", str(folder)]
        command += ["--scheduler", address]
        with started(*command):
            wait_for(lambda: len(put_aside()) >= 3)
        before = put_aside()
        assert len(before) < 14
        with started(*command) as run:
            wait_for(lambda: len(put_aside()) > len(before))
            workers[0].kill()
            assert before.items() <= put_aside().items(), "a finished unit was run again"
            assert run.wait(timeout=180) == 0
        assert workers[0].wait(timeout=10) < 0, "this worker was to be killed"
        assert workers[1].poll() is None
        assert (folder / "mnist.json").read_bytes() == alone.read_bytes()
        options = ["--sample", "3", "--scheduler", address, "--results", str(folder)]
        assert main(["verify", "mnist", *options]) == 0


def test_a_scheduler_that_is_not_there_is_said_in_a_sentence(tmp_path, monkeypatch, capsys):
    import dask

    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        command = ["reproduce", "mnist", "--scheduler", "tcp://127.0.0.1:1"]
        assert main([*command, "--results", str(tmp_path)]) == 2
    assert "127.0.0.1:1" in capsys.readouterr().err


def test_workers_with_other_versions_are_refused(tmp_path, monkeypatch):
    with cluster(tmp_path) as (address, _):
        here = dict.fromkeys(records.LIBRARIES, "0")
        monkeypatch.setattr(records, "_head", lambda *args: {})
        monkeypatch.setattr(records, "LIBRARIES", tuple(here))
        monkeypatch.setattr(records, "version", lambda library: "0")
        with pytest.raises(records.RecordError, match="other versions"):
            records.reproduce(
                "mnist", splits=1, n_jobs=1, scheduler=address, folder=tmp_path / "results"
            )
