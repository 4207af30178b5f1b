"""How records are drawn from, rounded and written; nothing of an experiment is run."""

import json
import math
import os

import numpy as np
import pytest

from slnp_edu.evidence import experiments, random_split, records
from slnp_edu.evidence.experiments import EXACT, Unit


def test_verify_runs_the_units_that_its_seed_draws(monkeypatch):
    """The same seed the same ones, another seed others: else the same few are always checked."""
    record = records.load("mnist")
    ran = []

    def told(units, *_):
        ran.append([unit.key for unit in units])
        return ((unit, record["units"][unit.key]) for unit in units)

    monkeypatch.setattr(records, "_run_all", told)
    units = experiments.units("mnist", record["splits"])
    for seed in (3, 4, 3):
        report = records.verify("mnist", sample=6, n_jobs=1, seed=seed)
        assert ran[-1] == [unit.key for unit in records.draw(units, 6, seed)]
        assert report["differences"] == []
        assert report["units"] == 6
        assert report["numbers"] == report["equal"] > 6
    assert ran[0] == ran[2] != ran[1]


def test_verify_looks_at_the_record_and_the_data_and_not_only_at_what_it_runs(monkeypatch):
    def verified(**changed):
        record = records.load("mnist") | changed
        monkeypatch.setattr(records, "load", lambda *_: record)
        monkeypatch.setattr(records, "_run_all", lambda *_: iter(()))
        found = records.verify("mnist", sample=1, n_jobs=1, seed=0)["differences"]
        monkeypatch.undo()
        return found

    assert verified() == []
    for changed, said in (
        ({"dataset": "coil100"}, "that of another data set"),
        ({"checksum": "0" * 64}, "the data differ"),
        ({"class_sizes": [499, 501, *8 * [500]]}, "the classes are not"),
    ):
        (found,) = verified(**changed)
        assert said in found


@pytest.mark.parametrize(("name", "N_i", "seed"), [("mnist", 10, 0), ("coil100", 6, 3)])
def test_the_outcomes_of_a_split_are_counted_in_the_rates(name, N_i, seed):
    record = records.load(name)
    found, rates = records.outcomes(record, N_i, seed), records.rates(record, N_i)
    y = [label for label, size in enumerate(record["class_sizes"]) for _ in range(size)]
    train, test = random_split(np.array(y), N_i, seed)
    assert found.rows.tolist() == test.tolist()
    assert found.labels.tolist() == [y[row] for row in test]
    assert found.bases == ("whitened", "orthonormal")
    assert found.methods == experiments.BY_IMAGE
    assert found.right.shape == (len(found.methods), 2, len(y) - len(train))
    for method in found.methods:
        for basis in found.bases:
            right = found.of(method, basis)
            assert 100 * right.sum() / len(right) == rates[method][basis][seed]


def test_a_record_keeps_eight_digits():
    found = {"a": [math.pi * 1e6, 1 / 3], "b": {"c": -2 / 3e9}, "n": 123456789, "word": "outcomes"}
    _, kept = records._run(Unit("a", "a", EXACT, lambda: found, ()))
    assert kept == {
        "a": [3141592.7, 0.33333333],
        "b": {"c": -6.6666667e-10},
        "n": 123456789,
        "word": "outcomes",
    }


@pytest.mark.parametrize("name", records.load("mnist")["versions"])
def test_a_record_says_with_what_it_was_made(name):
    assert records.load("mnist")["versions"][name][0].isdigit()


def test_a_file_is_there_as_it_was_or_as_it_will_be(tmp_path, monkeypatch):
    """Whatever stops a write before its last step leaves the old file alone, to the last byte."""
    path = tmp_path / "folder" / "mnist.json"
    records._write(path, {"old": [1, 2]})
    before = path.read_bytes()
    assert json.loads(before) == {"old": [1, 2]}
    real = os.replace

    def stopped(source, target):
        assert target == path
        assert json.loads(source.read_text()) == {"new": 3}  # all of it is there already
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        records._write(path, {"new": 3})
    assert path.read_bytes() == before
    monkeypatch.setattr(os, "replace", real)
    records._write(path, {"new": 3})
    assert json.loads(path.read_text()) == {"new": 3}
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_never_written(tmp_path, value):
    path = tmp_path / "mnist.json"
    records._write(path, {"a": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        records._write(path, {"a": {"b": [value]}})
    assert json.loads(path.read_text()) == {"a": 1}
