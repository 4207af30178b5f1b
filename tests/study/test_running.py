"""Running a study, stopping it, going on, verifying it; the command line; a cluster."""

import json
import lzma
import math
import os
import random
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from functools import partial

import numpy as np
import pytest
import scipy
import sklearn
from sklearn.utils import Bunch

from slnp_study import records
from slnp_study.__main__ import main
from slnp_study.data import SETS, DataSet, DatasetNotFoundError
from slnp_study.study import EXACT, NUMBER, Study, Unit, entries, whole


def weigh(seed, data, light):
    return {"sum": float(data[seed] @ light), "seed": seed}


def check(unit, recorded):
    return [] if recorded["sum"] > 0 else [f"{unit.key}: not positive"]


@pytest.fixture
def tiny(monkeypatch):
    """A data set of five rows and a study of it; ``run`` is what the units run."""
    data = Bunch(
        data=np.arange(1.0, 11).reshape(5, 2),
        target=np.array([0, 0, 1, 1, 1]),
        light=np.array([1.0, 1 / 3]),
        source="made up",
        checksum="abc",
        run=weigh,
    )
    schema, arrays = entries(sum=NUMBER, seed=whole()), ("data", "light")

    def units(dataset, splits):
        runs = {f"sum/{seed:02}": partial(data.run, seed) for seed in range(splits)}
        return [Unit(key, "sum", EXACT, run, schema, arrays) for key, run in runs.items()]

    study = Study("study", ("tiny",), 3, units, lambda name: {"of": name}, check, dict, sample=2)
    monkeypatch.setattr(records, "STUDIES", {**records.STUDIES, "study": study})
    monkeypatch.setitem(SETS, "tiny", DataSet(lambda: data))
    return data


def made(folder, **options):
    return records.reproduce("tiny-study", **{"n_jobs": 1, "folder": folder, **options})


def verified(folder, sample=None, seed=0):
    return records.verify("tiny-study", sample=sample, n_jobs=1, seed=seed, folder=folder)


#: Row times light, (1, 2), (3, 4) and (5, 6) times (1, 1/3), to eight digits.
SUMS = {
    f"sum/{seed:02}": {"sum": total, "seed": seed}
    for seed, total in enumerate([1.6666667, 4.3333333, 7.0])
}


def test_a_record_says_what_it_was_made_from(tiny, tmp_path):
    path = made(tmp_path)
    libraries = {"numpy": np, "scipy": scipy, "scikit-learn": sklearn}
    assert json.loads(lzma.decompress(path.read_bytes())) == {
        "dataset": "tiny",
        "source": "made up",
        "checksum": "abc",
        "class_sizes": [2, 3],
        "splits": 3,
        "seeds": [0, 1, 2],
        "settings": {"of": "tiny"},
        "versions": {name: library.__version__ for name, library in libraries.items()},
        "units": SUMS,
    }
    assert list(tmp_path.iterdir()) == [path]  # nothing is left aside


def stopped(*_):
    raise KeyboardInterrupt


def stopping_after(done, result=weigh):
    """A unit's function that's stopped once so many have run, and the seeds that ran."""
    ran = []

    def run(seed, data, light):
        if len(ran) == done:
            raise KeyboardInterrupt
        ran.append(seed)
        return result(seed, data, light)

    return run, ran


def test_a_run_that_was_stopped_goes_on_where_it_was(tiny, tmp_path):
    tiny.run, before = stopping_after(2)
    with pytest.raises(KeyboardInterrupt):
        made(tmp_path)
    assert not records.path_of("tiny-study", tmp_path).exists()
    aside = len(list(tmp_path.rglob("sum-*.json")))
    assert aside >= 1  # the second may still have been on its way
    tiny.run, after = stopping_after(9)
    made(tmp_path)
    assert len(before) + len(after) == 2 + 3 - aside
    assert records.load("tiny-study", tmp_path)["units"] == SUMS


def test_what_a_run_on_other_data_put_aside_is_thrown_away(tiny, tmp_path):
    other = tmp_path / ".partial" / "mnist"  # another record that's still under way
    other.mkdir(parents=True)
    tiny.run, _ = stopping_after(2, lambda seed, *_: {"sum": 99.0, "seed": seed})
    tiny.checksum = "of other data"
    with pytest.raises(KeyboardInterrupt):
        made(tmp_path)
    assert list(tmp_path.rglob("sum-*.json"))
    tiny.run, tiny.checksum = weigh, "abc"
    made(tmp_path)
    assert records.load("tiny-study", tmp_path)["units"] == SUMS
    assert list(other.parent.iterdir()) == [other]


def test_a_write_that_fails_leaves_the_old_record_alone(tiny, tmp_path, monkeypatch):
    path = made(tmp_path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="not JSON compliant"):
        records._write(path, {"units": [math.nan]})
    monkeypatch.setattr(os, "replace", stopped)  # before its last step
    with pytest.raises(KeyboardInterrupt):
        records._write(path, {"units": [1]})
    assert path.read_bytes() == before


def test_verify_names_all_that_was_changed_and_runs_every_unit(tiny, tmp_path):
    path = made(tmp_path)
    assert verified(tmp_path) == {"units": 3, "numbers": 6, "equal": 6, "differences": []}
    record = records.load("tiny-study", tmp_path)
    record["units"]["sum/00"]["sum"] *= 1 + 5e-7  # another BLAS
    record["units"]["sum/01"]["sum"] *= 1 + 5e-6
    record["units"]["sum/02"]["sum"] = -7.0
    record |= {"checksum": "0", "class_sizes": [3, 2]}
    records._write(path, record)
    report = verified(tmp_path)
    assert [sentence.split(": ")[0] for sentence in report["differences"]] == [
        "sum/01 /sum",
        "sum/02",  # its check fails, so it isn't run again
        "tiny-study",
        "tiny-study",
    ]
    assert (report["units"], report["numbers"], report["equal"]) == (2, 4, 2)


def test_a_sample_holds_every_kind_and_in_time_every_unit():
    units = records.STUDIES[""].units("yale_b", 5)
    kinds, seen = {unit.kind for unit in units}, set()
    for seed in range(400):
        drawn = records.draw(units, 10, seed)
        assert {unit.kind for unit in drawn} == kinds
        assert len({unit.key for unit in drawn}) == len(drawn) == 10
        seen |= {unit.key for unit in drawn}
    assert seen == {unit.key for unit in units}
    assert len(records.draw(units, 3, 0)) == len(kinds) == 7


# The command line


def test_commands_do_as_they_are_told(tiny, tmp_path, capsys):
    command = ["tiny-study", "--jobs", "1", "--results", str(tmp_path)]
    assert main(["reproduce", *command, "--splits", "5"]) == 0
    assert len(records.load("tiny-study", tmp_path)["units"]) == 5
    capsys.readouterr()

    def units_run(*options):
        tiny.run, ran = stopping_after(99)
        assert main(["verify", *command, *options]) == 0
        return ran, capsys.readouterr().out

    assert len(units_run("--all")[0]) == 5
    assert len(units_run("--sample", "3")[0]) == 3
    drawn = [units_run() for _ in range(8)]  # as many as the study has it
    assert {len(ran) for ran, _ in drawn} == {2}
    assert len({tuple(ran) for ran, _ in drawn}) > 1
    ran, said = drawn[0]
    seed = said.split("--seed ")[1].split(")")[0]
    assert units_run("--seed", seed)[0] == ran


def test_without_names_what_cannot_be_run_is_checked_alone(tiny, tmp_path, monkeypatch, capsys):
    def missing():
        raise DatasetNotFoundError("These images are not here.\nFetch them.")

    made(tmp_path)
    record = records.load("tiny-study", tmp_path)
    study = records.STUDIES["study"]
    study = Study(**{**vars(study), "datasets": ("tiny", "far", "lost")})
    monkeypatch.setattr(records, "STUDIES", {"study": study})
    for name in ("far", "lost"):
        monkeypatch.setitem(SETS, name, DataSet(missing))
    record |= {"dataset": "far", "settings": {"of": "far"}}
    for weight, code in ((1.0, 0), (-1.0, 2)):
        record["units"]["sum/00"]["sum"] = weight
        records._write(records.path_of("far-study", tmp_path), record)
        assert main(["verify", "--jobs", "1", "--results", str(tmp_path)]) == code
        out = capsys.readouterr().out
        assert "tiny-study: 2 units run again" in out
        assert "far-study: skipped. These images are not here." in out
        assert "lost-study: no record either" in out
        assert ("sum/00: not positive" in out) is bool(code)


def spoil(path, old, new):
    text = lzma.decompress(path.read_bytes()).decode()
    path.write_bytes(lzma.compress(text.replace(old, new, 1).encode())[: None if old else -9])


def shuffle_classes(tiny, monkeypatch):
    tiny.target = tiny.target[::-1]


def no_dask(tiny, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)


def no_images(tiny, monkeypatch):
    monkeypatch.setattr("slnp_study.data.files.data_folders", list)


@pytest.mark.parametrize(
    ("command", "prepare", "said"),
    [
        ("verify mnist", None, "No such file or directory: "),
        ("verify tiny", None, "There is no record called tiny; "),
        ("reproduce cifar", None, "There is no record called cifar; "),
        ("reproduce yale_b", no_images, "yale_b"),
        ("reproduce tiny-study", shuffle_classes, "The images are not sorted by class"),
        ("reproduce tiny-study --scheduler tcp://a:1", no_dask, "slnp-edu[cluster]"),
    ],
)
def test_what_a_user_got_wrong_is_one_sentence_and_a_code(
    command, prepare, said, tiny, tmp_path, monkeypatch, capsys
):
    if prepare:
        prepare(tiny, monkeypatch)
    assert main([*command.split(), "--jobs", "1", "--results", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("7.0", "NaN", "holds NaN"),
        ("7.0", "-Infinity", "holds -Infinity"),
        ("7.0", "", "is not a record"),
        ("", "", "is not a record"),  # the file is cut off
        ('"source"', '"from"', "source"),
        ("7.0", "7.1", "1 numbers do not agree"),
    ],
)
def test_a_spoilt_record_is_one_sentence_and_a_code(old, new, said, tiny, tmp_path, capsys):
    spoil(made(tmp_path), old, new)
    assert main(["verify", "tiny-study", "--all", "--jobs", "1", "--results", str(tmp_path)]) == 2
    *_, sentence = capsys.readouterr().err.splitlines()
    assert said in sentence


def test_a_run_stopped_by_hand_says_so(tiny, tmp_path, capsys):
    tiny.run = stopped
    assert main(["reproduce", "tiny-study", "--jobs", "1", "--results", str(tmp_path)]) == 130
    assert capsys.readouterr().err.endswith("Stopped; nothing is half-written.\n")


def test_figures_are_drawn_with_the_record_of_the_paper_alone(tiny, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr("slnp_study.__main__.draw_real_figures", lambda *args: drawn.append(args))
    monkeypatch.setitem(SETS, "mnist", DataSet(lambda: tiny))
    folder = tmp_path / "results"
    made(folder)
    record = records.load("mnist") | {"seeds": [7]}  # not the committed one
    records._write(records.path_of("mnist", folder), record)
    monkeypatch.setattr(records, "reproduce", lambda name, **_: name)
    for name in ("tiny-study", "mnist"):
        assert main(["reproduce", name, "--results", str(folder)]) == 0
    assert drawn == [("mnist", tiny, record, tmp_path / "figures")]


# Runs of the paper's own study, as processes


@contextmanager
def started(*command):
    process = subprocess.Popen([sys.executable, "-m", *command], stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_for(condition, seconds=180):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.01)


def put_aside(folder):
    """What was put aside, and which writing of each file this is."""
    found = {path.name: path.stat() for path in folder.rglob("*-*.json")}
    return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in found.items()}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """MNIST's record with two splits, made at one go by two processes."""
    folder = tmp_path_factory.mktemp("alone")
    return records.reproduce("mnist", splits=2, n_jobs=2, folder=folder).read_bytes()


REPRODUCE = ("slnp_study", "reproduce", "mnist", "--splits", "2", "--jobs", "1", "--results")


@pytest.mark.slow
def test_a_run_killed_ten_times_ends_with_the_same_bytes(alone, tmp_path):
    """Killed at random moments; what was put aside before is never written again."""
    folder, before = tmp_path / "results", {}
    draw = random.Random(0)
    for _ in range(10):
        with started(*REPRODUCE, str(folder)) as run:
            while run.poll() is None and len(put_aside(folder)) <= len(before):
                time.sleep(0.01)
            time.sleep(draw.uniform(0, 0.1))
        if records.path_of("mnist", folder).exists():  # on a busy machine it may be done before
            break
        after = put_aside(folder)
        assert before.items() <= after.items(), "a finished unit was run again"
        before = after
    assert before
    subprocess.run([sys.executable, "-m", *REPRODUCE, str(folder)], check=True, capture_output=True)
    assert records.path_of("mnist", folder).read_bytes() == alone


@pytest.mark.slow
@pytest.mark.parametrize("name", ["yale_b", "coil100", "mnist"])
def test_a_sample_of_a_committed_record_can_be_computed_again(name):
    seed = random.randrange(10**6)
    try:
        report = records.verify(name, sample=1, n_jobs=1, seed=seed)
    except DatasetNotFoundError as error:
        pytest.skip(str(error).splitlines()[0])
    assert report["units"] >= 1, f"seed {seed}"
    assert report["numbers"] >= 2, f"seed {seed}"
    assert report["differences"] == [], f"seed {seed}"


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_makes_the_same_record(alone, tmp_path, monkeypatch, capsys):
    """One scheduler and two workers, each a process of its own."""
    distributed = pytest.importorskip("distributed", reason="the extra cluster brings Dask")
    where = ["--scheduler-file", str(tmp_path / "scheduler.json"), "--no-dashboard"]
    worker = ["dask", "worker", "--nthreads", "1", "--no-nanny", *where]
    worker += ["--local-directory", str(tmp_path)]
    with ExitStack() as stack:
        scheduler = started("dask", "scheduler", "--host", "127.0.0.1", "--port", "0", *where)
        stack.enter_context(scheduler)
        wait_for((tmp_path / "scheduler.json").exists)
        workers = [stack.enter_context(started(*worker)) for _ in range(2)]
        with distributed.Client(scheduler_file=where[1], set_as_default=False) as client:
            client.wait_for_workers(2, timeout=120)
            address = client.scheduler.address
        folder = tmp_path / "results"
        with started(*REPRODUCE, str(folder), "--scheduler", address) as run:
            wait_for(lambda: len(put_aside(folder)) > 2)
            workers[0].kill()
            assert run.wait(timeout=180) == 0
        assert records.path_of("mnist", folder).read_bytes() == alone
        command = ["mnist", "--results", str(folder), "--scheduler", address]
        assert main(["verify", *command, "--sample", "2"]) == 0
        monkeypatch.setattr(records, "version", lambda library: "0")  # here, not on the worker
        assert main(["reproduce", *command, "--splits", "1"]) == 2
    assert "other versions" in capsys.readouterr().err
