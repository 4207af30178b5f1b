"""Running a study, stopping it, verifying it; the command line. The study is a made-up one."""

import contextlib
import json
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest
import scipy
import sklearn
from joblib import parallel_config
from sklearn.utils import Bunch

from slnp_study import records
from slnp_study.__main__ import _parser, main
from slnp_study.data import SETS, DataSet, DatasetNotFoundError
from slnp_study.studies.experiments import EXACT, Unit


def weigh(seed, data, light):
    return {"sum": float(data[seed] @ light), "seed": seed}


@pytest.fixture
def tiny(monkeypatch):
    """A data set of five rows, and a study of it whose check wants sums to be positive.

    Yields the data set; what the units run is its ``run``.
    """
    data = Bunch(
        data=np.arange(1.0, 11).reshape(5, 2),
        target=np.array([0, 0, 1, 1, 1]),
        light=np.array([1.0, 0.1]),
        source="made up",
        checksum="abc",
        run=weigh,
    )

    def units(dataset, splits):
        assert dataset in SETS
        seeds, arrays = range(splits), ("data", "light")
        return [Unit(f"sum/{s:02}", "sum", EXACT, partial(data.run, s), arrays) for s in seeds]

    def check(unit, recorded):
        return [] if recorded["sum"] > 0 else [f"{unit.key}: not positive"]

    study = records.Study(("tiny",), 3, units, lambda dataset: {"of": dataset}, check, sample=2)
    monkeypatch.setattr(records, "STUDIES", {"": records.STUDIES[""], "study": study})
    monkeypatch.setitem(SETS, "tiny", DataSet(lambda: data))
    return data


#: Row times light: (1, 2), (3, 4) and (5, 6) times (1, 0.1).
SUMS = {f"sum/{seed:02}": {"sum": s, "seed": seed} for seed, s in enumerate([1.2, 3.4, 5.6])}


def test_a_study_leaves_a_record_that_says_what_it_was_made_from(tiny, tmp_path, capsys):
    folder = tmp_path / "book" / "results"
    path = records.reproduce("tiny-study", n_jobs=1, folder=folder)
    assert path == folder / "tiny-study.json"
    assert list(folder.iterdir()) == [path]  # nothing is left aside
    expected = {
        "dataset": "tiny",
        "source": "made up",
        "checksum": "abc",
        "class_sizes": [2, 3],
        "splits": 3,
        "seeds": [0, 1, 2],
        "settings": {"of": "tiny"},
        "versions": {
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "units": SUMS,
    }
    assert json.loads(path.read_text()) == records.load("tiny-study", folder) == expected
    assert list(expected) == [*records.HEAD, "units"]
    progress = capsys.readouterr().err
    assert "tiny-study: 100%" in progress
    assert "3/3" in progress
    records.reproduce("tiny-study", splits=2, n_jobs=1, folder=folder)
    assert list(records.load("tiny-study", folder)["units"]) == ["sum/00", "sum/01"]


def test_a_run_that_was_stopped_goes_on_where_it_was(tiny, tmp_path):
    ran, stop = [], 2

    def run(seed, data, light):
        if len(ran) == stop:
            raise KeyboardInterrupt
        ran.append(seed)
        return weigh(seed, data, light)

    tiny.run = run
    with pytest.raises(KeyboardInterrupt):
        records.reproduce("tiny-study", n_jobs=1, folder=tmp_path)
    aside = tmp_path / ".partial" / "tiny-study"
    put_aside = {path.name for path in aside.iterdir()}
    assert {"head.json", "sum-00.json"} <= put_aside <= {"head.json", "sum-00.json", "sum-01.json"}
    assert not (tmp_path / "tiny-study.json").exists()
    stop = None
    path = records.reproduce("tiny-study", n_jobs=1, folder=tmp_path)
    assert len(ran) == 2 + 3 - (len(put_aside) - 1)
    assert records.load("tiny-study", tmp_path)["units"] == SUMS
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_run_on_other_data_put_aside_is_thrown_away(tiny, tmp_path):
    other = tmp_path / ".partial" / "mnist"  # of another record, still under way
    other.mkdir(parents=True)

    def stopped(seed, data, light):
        if seed == 2:
            raise KeyboardInterrupt
        return {"sum": -1.0, "seed": seed}

    tiny.run, tiny.checksum = stopped, "of other data"
    with pytest.raises(KeyboardInterrupt):
        records.reproduce("tiny-study", n_jobs=1, folder=tmp_path)
    assert len(list(other.parent.rglob("sum-*.json"))) > 0
    tiny.run, tiny.checksum = weigh, "abc"
    records.reproduce("tiny-study", n_jobs=1, folder=tmp_path)
    assert records.load("tiny-study", tmp_path)["units"] == SUMS
    assert list(other.parent.iterdir()) == [other]


def wait_for(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.002)


def test_units_run_side_by_side_and_each_is_put_aside_at_once(tiny, tmp_path):
    """The first two wait for each other; the third, unless there is a record, for their files."""
    both = threading.Barrier(2, timeout=20)
    aside = tmp_path / ".partial" / "tiny-study"

    def run(seed, data, light):
        if seed < 2:
            both.wait()
        elif not (tmp_path / "tiny-study.json").exists():
            wait_for(lambda: {"sum-00.json", "sum-01.json"} <= {p.name for p in aside.iterdir()})
        return weigh(seed, data, light)

    tiny.run = run
    with parallel_config("threading", n_jobs=1):
        records.reproduce("tiny-study", n_jobs=2, folder=tmp_path)
        report = records.verify("tiny-study", sample=None, n_jobs=2, seed=0, folder=tmp_path)
    assert report == {"units": 3, "numbers": 6, "equal": 6, "differences": []}


def test_a_cluster_is_sent_every_array_once(tiny, tmp_path, monkeypatch):
    seen = []

    @contextlib.contextmanager
    def cluster(scheduler, arrays):
        seen.append((scheduler, [id(array) for array in arrays]))
        yield

    monkeypatch.setattr(records, "_cluster", cluster)
    options = {"n_jobs": 1, "scheduler": "tcp://10.0.0.5:8786", "folder": tmp_path}
    records.reproduce("tiny-study", **options)
    records.verify("tiny-study", sample=1, seed=0, **options)
    assert seen == 2 * [("tcp://10.0.0.5:8786", [id(tiny.data), id(tiny.light)])]


def test_verify_names_every_unit_and_number_that_is_off(tiny, tmp_path, capsys):
    records.reproduce("tiny-study", n_jobs=1, folder=tmp_path)
    path = tmp_path / "tiny-study.json"
    record = json.loads(path.read_text())
    record["units"]["sum/00"]["sum"] = 1.3
    record["units"]["sum/02"]["sum"] = -5.6
    path.write_text(json.dumps(record))
    capsys.readouterr()
    report = records.verify("tiny-study", sample=None, n_jobs=1, seed=0, folder=tmp_path)
    assert report == {
        "units": 3,
        "numbers": 6,
        "equal": 4,
        "differences": [
            "sum/00 /sum: 1.2 here, 1.3 there",
            "sum/02 /sum: 5.6 here, -5.6 there",
            "sum/02: not positive",
        ],
    }
    assert "verify tiny-study: 100%" in capsys.readouterr().err


def test_images_that_do_not_stand_class_by_class_are_refused(tiny, tmp_path):
    tiny.target = tiny.target[::-1]
    with pytest.raises(records.RecordError, match=r"^The images do not stand class by class"):
        records.reproduce("tiny-study", n_jobs=1, folder=tmp_path)


# The command line


@pytest.fixture
def asked(monkeypatch):
    """What `reproduce` and `verify` are asked for; both are quick to answer."""
    seen = []

    def reproduce(name, **options):
        seen.append((name, options))
        return options["folder"] / f"{name}.json"

    def verify(name, **options):
        seen.append((name, options))
        return {"units": 1, "numbers": 5, "equal": 4, "differences": []}

    monkeypatch.setattr(records, "reproduce", reproduce)
    monkeypatch.setattr(records, "verify", verify)
    return seen


def test_commands_pass_on_what_they_are_asked_for(tiny, asked, tmp_path, capsys):
    unless_asked = {"n_jobs": 2, "scheduler": None, "folder": records.RESULTS}
    words = ["--jobs", "5", "--scheduler", "tcp://a:1", "--results", str(tmp_path)]
    options = {"n_jobs": 5, "scheduler": "tcp://a:1", "folder": tmp_path}
    assert main(["reproduce", "tiny-study"]) == 0
    assert capsys.readouterr().out == f"{records.RESULTS / 'tiny-study.json'}\n"
    assert main(["reproduce", "tiny-study", "--splits", "4", *words]) == 0
    assert main(["verify", "tiny-study", "--seed", "12"]) == 0
    assert main(["verify", "tiny-study", "--seed", "12", "--sample", "7", *words]) == 0
    assert "tiny-study: 1 units run again (--seed 12), 5 numbers" in capsys.readouterr().out
    assert main(["verify", "tiny-study", "--seed", "12", "--all"]) == 0
    assert capsys.readouterr().out == (
        "tiny-study: 1 units run again, 5 numbers compared, 4 equal to the last digit, "
        "0 too far off\n"
    )
    assert asked == [
        ("tiny-study", unless_asked | {"splits": None}),
        ("tiny-study", options | {"splits": 4}),
        ("tiny-study", unless_asked | {"seed": 12, "sample": 2}),
        ("tiny-study", options | {"seed": 12, "sample": 7}),
        ("tiny-study", unless_asked | {"seed": 12, "sample": None}),
    ]


def test_the_figures_are_drawn_anew_with_the_record_of_the_paper(
    tiny, asked, tmp_path, monkeypatch
):
    drawn, record = [], records.load("mnist") | {"seeds": [7]}  # not the committed one
    monkeypatch.setattr("slnp_study.__main__.draw_real_figures", lambda *args: drawn.append(args))
    monkeypatch.setitem(SETS, "mnist", DataSet(lambda: tiny))
    folder = tmp_path / "results"
    records._write(folder / "mnist.json", record)
    for name in ("tiny-study", "mnist"):
        assert main(["reproduce", name, "--results", str(folder)]) == 0
    ((name, data, read, figures),) = drawn
    assert (name, read, figures) == ("mnist", record, tmp_path / "figures")
    assert data is tiny


def test_what_differs_is_listed_up_to_a_score_and_counted_in_the_end(
    tiny, tmp_path, monkeypatch, capsys
):
    found = [f"difference {i}" for i in range(30)]
    report = {"units": 1, "numbers": 40, "equal": 10, "differences": found}
    monkeypatch.setattr(records, "verify", lambda *_, **__: report)
    assert main(["verify", "tiny-study", "--results", str(tmp_path)]) == 2
    out, error = capsys.readouterr()
    summary, *listed = out.splitlines()
    assert summary.endswith("10 equal to the last digit, 30 too far off")
    assert listed == found[:20]
    assert error == "30 numbers do not agree with the records.\n"


def test_without_names_all_have_their_turn_and_what_cannot_be_run_is_checked(
    tiny, asked, tmp_path, monkeypatch, capsys
):
    def missing():
        raise DatasetNotFoundError("These images are not here.\nFetch them.")

    study = records.STUDIES["study"]._replace(datasets=("tiny", "far", "gone", "lost"))
    monkeypatch.setattr(records, "STUDIES", {"study": study})
    for name in ("far", "gone", "lost"):
        monkeypatch.setitem(SETS, name, DataSet(missing))
    head = {"splits": 1, "seeds": [0], "settings": {}, "source": "", "checksum": ""}
    head |= {"class_sizes": [], "versions": {}}
    for name, weight, faults in (("far", 1.0, 0), ("far", -1.0, 1), ("gone", 1.0, 1)):
        units = {"sum/00": {"sum": weight, "seed": 0}}
        record = head | {"dataset": name, "settings": {"of": name}, "units": units}
        records._write(tmp_path / f"{name}-study.json", record)
        assert main(["verify", "--results", str(tmp_path)]) == (2 if faults else 0)
        out, error = capsys.readouterr()
        skipped = "These images are not here. python -m slnp_study data says more."
        assert f"far-study: skipped. {skipped}" in out.splitlines()
        assert f"far-study: its record was checked for itself, {faults} faults" in out
        assert "lost-study: no record either" in out
        assert ("sum/00: not positive" in out.splitlines()) is bool(faults)
        assert error == ("1 numbers do not agree with the records.\n" if faults else "")
    assert [name for name, _ in asked] == 3 * ["tiny-study"]
    assert main(["reproduce", "--results", str(tmp_path)]) == 0
    assert [name for name, _ in asked] == 4 * ["tiny-study"]


def test_a_scheduler_without_dask_is_said_in_a_sentence(tiny, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    command = ["reproduce", "tiny-study", "--scheduler", "tcp://127.0.0.1:1"]
    assert main([*command, "--results", str(tmp_path)]) == 2
    assert "slnp-edu[cluster]" in capsys.readouterr().err


def test_what_went_wrong_is_one_sentence_and_a_code(tiny, tmp_path, capsys):
    command = ["verify", "tiny-study", "--results", str(tmp_path)]
    assert main(command) == 2
    assert capsys.readouterr().err == f"No such file or directory: {tmp_path / 'tiny-study.json'}\n"

    def stopped(*_):
        raise KeyboardInterrupt

    tiny.run = stopped
    assert main(["reproduce", "tiny-study", "--jobs", "1", "--results", str(tmp_path)]) == 130
    assert capsys.readouterr().err.endswith("Stopped; nothing is half-written.\n")
    assert main(["verify", "tiny"]) == 2
    assert capsys.readouterr().err.startswith("There is no record called tiny; ")


@pytest.mark.parametrize("words", ["", "data add cifar a.zip", "data fetch cifar"])
def test_a_command_that_is_none_is_refused_with_the_usage(words, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(words.split())
    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith("usage: python -m slnp_study")


def test_every_command_and_every_option_says_what_it_is_for():
    parsers = [_parser()]
    for parser in parsers:
        for action in parser._actions:
            if isinstance(action.choices, dict) and action.dest != "name":
                parsers += action.choices.values()
                assert all(choice.help for choice in action._choices_actions)
                assert len(action._choices_actions) == len(action.choices)
            elif action.choices is None and action.dest != "results":
                assert action.help, action.dest
    assert parsers[0].description
    assert len(parsers) == 6
