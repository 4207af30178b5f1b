"""Records as they stand: read, checked, compared, drawn from and written.

What is run is a tiny study of a made-up data set, never an experiment.
"""

import contextlib
import copy
import json
import math
import os
import re
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest
import scipy
import sklearn
from joblib import parallel_config
from scipy.stats import sem
from sklearn.utils import Bunch

from slnp_edu.__main__ import _parser, main
from slnp_edu.data import LOADERS, SETS, DatasetNotFoundError
from slnp_edu.evidence import ablation, experiments, paper, random_split, records
from slnp_edu.evidence.experiments import EXACT, IMAGES, RATE, Unit
from slnp_edu.evidence.outcomes import flips, pack, unpack


def cut(name):
    """The committed record of the paper's tables, as if there had been one split only."""
    record = records.load(name)
    units = {key: unit for key, unit in record["units"].items() if key.endswith("/00")}
    return record | {"splits": 1, "seeds": [0], "units": units}


@pytest.fixture
def record():
    return cut("mnist")


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


# Reading


@pytest.mark.parametrize(("judges", "images"), [(1, 1), (7, 20), (8, 20), (9, 20), (24, 3000)])
def test_outcomes_come_back_as_they_were(judges, images):
    right = np.random.default_rng(judges).random((judges, images)) < 0.8
    packed = pack(right)
    assert isinstance(packed, str)
    assert json.dumps(packed) == f'"{packed}"'
    back = unpack(packed, judges, images)
    np.testing.assert_array_equal(back, right)
    assert back.dtype == bool
    with pytest.raises(ValueError, match="packed outcomes"):
        unpack(packed, judges, images + 1)
    with pytest.raises(ValueError, match="packed outcomes"):
        unpack(packed[:5], judges, images)


@pytest.mark.parametrize(("judges", "images"), [(1, 5), (9, 40), (24, 300)])
def test_flips_are_counted_for_the_judge_who_changed_most(judges, images):
    rng = np.random.default_rng(images)
    one, other = rng.random((2, judges, images)) < 0.7
    changed = [
        sum(a != b for a, b in zip(*pair, strict=True)) for pair in zip(one, other, strict=True)
    ]
    here, there = pack(one), pack(other)
    assert flips(here, there, images) == max(changed)
    assert flips(here, here, images) == 0
    another_shape = pack(np.vstack(9 * [other]))
    for wrong, n in ((another_shape, images), (there, images + 1)):
        with pytest.raises(ValueError, match="the packed outcomes are not both"):
            flips(here, wrong, n)
    with pytest.raises(ValueError, match="the packed outcomes are damaged"):
        flips(here, "abc", images)


def test_the_outcomes_of_a_column_are_those_of_its_splits_in_order():
    record = records.load("mnist") | {"seeds": [0, 3, 1]}
    found = records.all_outcomes(record, 25)
    assert len(found) == 3
    for seed, split in zip((0, 3, 1), found, strict=True):
        expected = records.outcomes(record, 25, seed)
        np.testing.assert_array_equal(split.rows, expected.rows)
        np.testing.assert_array_equal(split.right, expected.right)


def test_a_name_is_that_of_a_data_set_and_of_a_study():
    for name in records.names():
        dataset, study = records.parts(name)
        assert name == dataset or records.STUDIES[name.removeprefix(f"{dataset}-")] is study
        assert dataset in study.datasets
    assert records.parts("mnist") == ("mnist", records.STUDIES[""])
    with pytest.raises(records.RecordError, match="no record called cifar; choose from yale_b, "):
        records.parts("cifar")


def test_a_record_that_holds_no_number_is_refused(tmp_path):
    text = (records.RESULTS / "mnist.json").read_text()
    for constant in ("NaN", "Infinity", "-Infinity"):
        broken = re.sub(r'"SLNP": \[\d+', f'"SLNP": [{constant}', text, count=1)
        assert broken != text
        (tmp_path / "mnist.json").write_text(broken)
        with pytest.raises(records.RecordError, match=constant):
            records.load("mnist", tmp_path)
    (tmp_path / "mnist.json").write_text(text[:1000])
    with pytest.raises(records.RecordError, match="is not a record"):
        records.load("mnist", tmp_path)
    (tmp_path / "mnist.json").write_text('{"dataset": "mnist", "units": {}}')
    with pytest.raises(records.RecordError, match="of this edition: it lacks source"):
        records.load("mnist", tmp_path)


# Comparing


@pytest.mark.parametrize(
    ("here", "there", "tolerance", "differences"),
    [
        # equal, and as far off as another BLAS may be
        ({"a": 80.0}, {"a": 80.0}, RATE, []),
        ({"a": 80.0}, {"a": 80.09}, RATE, []),
        ({"a": 80.0}, {"a": 79.91}, RATE, []),
        ({"a": [4000]}, {"a": [4002]}, IMAGES, []),
        ({"a": 100.0}, {"a": 100.00009}, EXACT, []),
        ({"a": 0.1307}, {"a": 0.1307 * (1 - 9e-7)}, EXACT, []),
        ({"a": 0.0}, {"a": 1e-10}, EXACT, []),
        # too far off
        ({"a": 80.0}, {"a": 80.11}, RATE, ["/a"]),
        ({"a": 80.0}, {"a": 79.89}, RATE, ["/a"]),
        ({"a": [4000]}, {"a": [4003]}, IMAGES, ["/a/0"]),
        ({"a": [4000]}, {"a": [3997]}, IMAGES, ["/a/0"]),
        ({"J": 100.0}, {"J": 100.0002}, EXACT, ["/J"]),
        ({"J": 0.0052}, {"J": 0.0052 * 1.1}, EXACT, ["/J"]),
        ({"s": [0.1307, 0.2]}, {"s": [0.1307, 0.2000005]}, EXACT, ["/s/1"]),
        ({"gamma": [40.45]}, {"gamma": [40.4501]}, EXACT, ["/gamma/0"]),
        ({"r": 1e-7}, {"r": 3e-7}, EXACT, ["/r"]),
        ({"a": 1.0}, {"a": -1.0}, EXACT, ["/a"]),
        # entries that one side lacks
        ({"a": 1.0, "b": 2.0}, {"a": 1.0}, RATE, ["/b"]),
        ({"a": 1.0}, {"a": 1.0, "b": 2.0}, RATE, ["/b"]),
        ({"a": {"x": 1.0, "y": 1.0}}, {"a": {"x": 1.0}}, RATE, ["/a/y"]),
        ({"a": [1.0, 2.0]}, {"a": [1.0]}, RATE, ["/a/1"]),
        ({"a": [1.0]}, {"a": [1.0, 2.0]}, RATE, ["/a/1"]),
        ({"a": [1.0]}, {"a": []}, RATE, ["/a", "/a/0"]),
        ({"a": 1.0}, {"b": 1.0}, RATE, ["/a", "/b"]),
        ({"a": [1.0]}, {}, RATE, ["", "/a/0"]),
        # what is no number
        ({"a": 1.0}, {"a": math.nan}, RATE, ["/a"]),
        ({"a": math.nan}, {"a": math.nan}, RATE, ["/a"]),
        ({"a": math.nan}, {"a": math.nan}, EXACT, ["/a"]),
        ({"a": math.inf}, {"a": math.inf}, EXACT, ["/a"]),
        ({"a": 1.0}, {"a": math.inf}, EXACT, ["/a"]),
        ({"a": 1.0}, {"a": "1.0"}, RATE, ["/a"]),
        ({"a": 1.0}, {"a": True}, RATE, ["/a"]),
        ({"a": 1.0}, {"a": None}, RATE, ["/a"]),
        # each entry of the first level as exactly as it can be
        ({"a": [4], "J": {"p": 1.0}}, {"a": [6], "J": {"p": 1.0}}, {"a": IMAGES, "J": EXACT}, []),
        (
            {"a": [4], "J": {"p": 1.0}},
            {"a": [4], "J": {"p": 3.0}},
            {"a": IMAGES, "J": EXACT},
            ["/J/p"],
        ),
    ],
)
def test_what_verify_accepts_and_what_it_refuses(here, there, tolerance, differences):
    numbers, equal, found = records.compare(here, there, tolerance)
    assert sorted(sentence.split(":")[0] for sentence in found) == differences
    assert 0 <= equal <= numbers


def test_a_difference_is_said_with_both_numbers_and_in_one_line():
    assert records.compare({"a": 80.0}, {"a": 80.5}, RATE)[2] == ["/a: 80.0 here, 80.5 there"]
    (found,) = records.compare({"a": "x" * 5000}, {"a": 3}, RATE)[2]
    assert found.startswith("/a: xxx")
    assert found.endswith("... here, 3 there")
    assert len(found) < 100


@pytest.mark.parametrize(("flipped", "accepted"), [(0, True), (1, True), (2, True), (3, False)])
def test_verify_counts_the_images_that_flipped(flipped, accepted):
    """In one method and basis; and so many more in another do not add up with them."""
    right = np.ones((2 * len(experiments.BY_IMAGE), 50), dtype=bool)
    other = right.copy()
    other[3, :flipped] = False
    other[5, 10:12] = False
    here, there = ({"tested": 50, "outcomes": pack(bits)} for bits in (right, other))
    numbers, equal, found = records.compare(here, there, IMAGES)
    assert (found == []) is accepted
    assert (numbers, equal) == (2, 1)
    there["outcomes"] = there["outcomes"][:-5]
    assert len(records.compare(here, there, IMAGES)[2]) == 1


def remove(mapping, key):
    del mapping[key]


TAMPERING = {
    "another data set": lambda r: r.update(dataset="coil100"),
    "another K": lambda r: r["settings"].update(K=7),
    "another D_PCA": lambda r: r["settings"]["dimensions"]["10"].update(D_PCA=33),
    "another method": lambda r: r["settings"]["methods"]["table"].append("NCA"),
    "other seeds": lambda r: r.update(seeds=[1]),
    "a unit is missing": lambda r: remove(r["units"], "fig12/00"),
    "a unit too many": lambda r: r["units"].update({"fig8/00": {}}),
    "a method is missing": lambda r: remove(r["units"]["table/10/00"]["right"], "LFDA"),
    "a method too many": lambda r: r["units"]["table/10/00"]["right"].update(NCA=[1, 1, 1]),
    "a basis is missing": lambda r: r["units"]["table/10/00"]["right"]["LFDA"].pop(),
    "a basis too many": lambda r: r["units"]["table/10/00"]["right"]["LFDA"].append(1),
    "no counts": lambda r: remove(r["units"]["table/10/00"], "right"),
    "no outcomes": lambda r: remove(r["units"]["table/10/00"], "outcomes"),
    "an entry too many": lambda r: r["units"]["table/10/00"].update(settings=""),
    "fewer images": lambda r: r["units"]["table/10/00"].update(tested=4899),
    "more right than there are": lambda r: r["units"]["table/10/00"]["right"].update(
        {"LFDA, weighted": [4901, 0, 0]}
    ),
    "a count is off by one": lambda r: r["units"]["table/10/00"]["right"]["SLNP"].__setitem__(
        1, r["units"]["table/10/00"]["right"]["SLNP"][1] + 1
    ),
    "other outcomes": lambda r: r["units"]["table/10/00"].update(
        outcomes=pack(np.ones((2 * len(experiments.BY_IMAGE), 4900), dtype=bool))
    ),
    "damaged outcomes": lambda r: r["units"]["table/10/00"].update(outcomes="abc"),
}


@pytest.mark.parametrize("what", TAMPERING)
def test_a_record_is_checked_without_the_data(record, what):
    assert records.check("mnist", record) == []
    tampered = copy.deepcopy(record)
    TAMPERING[what](tampered)
    (found,) = records.check("mnist", tampered)
    assert found.startswith(("mnist: the ", "table/10/00: "))


def test_none_right_and_all_right_are_counts_like_any_other(record):
    table = record["units"]["table/10/00"]
    table["right"]["LADA"] = [0, table["tested"], 0]
    assert records.check("mnist", record) == []
    table["right"]["LADA"][0] = -1
    assert len(records.check("mnist", record)) == 1


def shift(values, by, at=0):
    values[at] += by


TAMPERING_WITH_A_COLUMN = {
    "an entry is missing": lambda u: remove(u, "nearness"),
    "an entry too many": lambda u: u.update(outcomes=""),
    "a variant is missing": lambda u: remove(u["lead"], "fixed"),
    "a variant too many": lambda u: u["lead"].update(best=u["lead"]["fixed"]),
    "a basis is missing": lambda u: remove(u["lead"]["fixed"], "whitened"),
    "a split is missing": lambda u: u["lead"]["fixed"]["whitened"].pop(),
    "a round is missing": lambda u: u["rounds"]["nearest"]["whitened"].pop(),
    "a start is missing": lambda u: remove(u["rounds"], "nearest"),
    "an error is missing": lambda u: u["error"]["fixed"].pop(),
    "no errors": lambda u: u.update(error=None),
    "another round": lambda u: shift(u["rounds"]["uniform"]["whitened"], 1),
    "another lead": lambda u: shift(u["lead"]["nearest, 10"]["whitened"], 1),
    "too sure": lambda u: u["error"]["farthest"].__setitem__(0, 0.001),
}


@pytest.mark.parametrize("what", TAMPERING_WITH_A_COLUMN)
def test_a_column_of_the_ablation_is_checked_without_the_data(what):
    record = records.load("mnist-ablation")
    TAMPERING_WITH_A_COLUMN[what](record["units"]["ablation/10"])
    said = {
        "another round": "the lead over uniform, 1 is not",
        "another lead": "the lead over nearest, 10 is not",
        "too sure": "the error of farthest is smaller",
    }.get(what, "entries are missing")
    found = records.check("mnist-ablation", record)
    assert found[0].startswith(f"ablation/10: {said}")
    assert len(found) == 1 or what == "another lead"  # which its error no longer fits


def test_an_error_for_such_images_is_no_smaller_than_that_for_these():
    record = records.load("mnist-ablation")
    unit = record["units"]["ablation/10"]
    for variant in ("nearest, 1", "farthest"):
        lead = np.array(unit["lead"][variant]["orthonormal"])
        these = sem(100 * lead / unit["tested"])
        for error, faults in ((np.floor(1e4 * these) / 1e4, 0), (these - 2e-4, 1)):
            unit["error"][variant][1] = error
            assert len(records.check("mnist-ablation", record)) == faults
        unit["error"][variant][1] = these


@pytest.mark.parametrize("name", paper.DIMENSIONS)
def test_the_committed_ablation_is_complete_and_that_of_the_table(name):
    """Ten rounds with learned neighbours are SLNP, and one is LDA where it has d directions."""
    record, table = records.load(f"{name}-ablation"), records.load(name)
    assert records.check(f"{name}-ablation", record) == []
    for entry in ("dataset", "source", "checksum", "class_sizes", "splits"):
        assert record[entry] == table[entry]
    C = len(record["class_sizes"])
    found = ablation.differences(record)
    for N_i, dimensions in paper.DIMENSIONS[name].items():
        rates = records.rates(table, N_i)
        by_round = ablation.rates_by_round(record, N_i)["uniform"]
        for basis in ("whitened", "orthonormal"):
            assert by_round[basis][9] == pytest.approx(rates["SLNP"][basis].mean())
            if dimensions["d"] <= C - 1:
                assert by_round[basis][0] == pytest.approx(rates["LDA"][basis].mean(), abs=0.1)
            lead = found[N_i, "uniform, 3", basis].these.points
            assert lead == pytest.approx(by_round[basis][9] - by_round[basis][2])


def test_the_leads_of_the_ablation_are_read_as_a_paired_comparison():
    record = records.load("coil100-ablation")
    found = ablation.differences(record)
    assert set(found) == {
        (N_i, name, basis)
        for N_i in paper.DIMENSIONS["coil100"]
        for name in ablation.VARIANTS
        for basis in ("whitened", "orthonormal")
    }
    for (N_i, name, basis), (images, tested, these, such) in found.items():
        unit = record["units"][f"ablation/{N_i:02}"]
        lead = np.array(unit["lead"][name][basis])
        assert (images, tested) == (lead.mean(), unit["tested"])
        assert these == pytest.approx((100 * images / tested, 100 * sem(lead) / tested, 19))
        error = unit["error"][name][("whitened", "orthonormal").index(basis)]
        assert such == (these.points, error, 19)


def test_the_ablation_needs_two_splits(tmp_path, capsys):
    command = ["reproduce", "mnist-ablation", "--splits", "1", "--results", str(tmp_path)]
    assert main(command) == 2
    assert capsys.readouterr().err.startswith("The ablation needs two splits")


# The sample


def test_the_sample_holds_a_unit_of_each_kind():
    units = experiments.units("yale_b")
    kinds = {"table", "fig4", "fig5-7", "fig6", "fig8", "fig9", "tie"}
    assert {unit.kind for unit in units} == kinds
    for seed in range(20):
        drawn = records.draw(units, 10, seed)
        assert {unit.kind for unit in drawn} == kinds
        assert len({unit.key for unit in drawn}) == len(drawn) == 10
        assert drawn == records.draw(units, 10, seed)
        assert len(records.draw(units, 3, seed)) == len(kinds)


@pytest.mark.slow
def test_every_unit_has_its_turn():
    units = experiments.units("yale_b")
    seen = {unit.key for seed in range(4000) for unit in records.draw(units, 10, seed)}
    assert seen == {unit.key for unit in units}


def test_the_sample_is_drawn_anew_and_can_be_repeated(monkeypatch, tmp_path, capsys):
    seeds = []

    def watched(name, *, seed, **options):
        seeds.append(seed)
        return {"units": 1, "numbers": 1, "equal": 1, "differences": []}

    monkeypatch.setattr(records, "verify", watched)
    command = ["verify", "mnist", "--results", str(tmp_path)]
    for _ in range(4):
        assert main(command) == 0
        assert f"--seed {seeds[-1]}" in capsys.readouterr().out
    assert len(set(seeds)) > 1
    assert main([*command, "--seed", "12"]) == 0
    assert seeds[-1] == 12


@pytest.mark.parametrize("name", records.names())
def test_a_record_that_was_read_is_written_as_it_was_to_the_last_byte(name, tmp_path):
    records._write(tmp_path / "again.json", records.load(name))
    committed = (records.RESULTS / f"{name}.json").read_bytes()
    assert (tmp_path / "again.json").read_bytes() == committed


def test_a_record_has_a_line_for_each_innermost_entry(record):
    text = records._dumps(record)
    slnp = record["units"]["table/10/00"]["right"]["SLNP"]
    assert f'    "SLNP": {json.dumps(slnp, separators=(",", ":"))}' in text.splitlines()
    assert json.loads(text) == record


# A study of a made-up data set


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
        assert dataset in LOADERS
        seeds, arrays = range(splits), ("data", "light")
        return [Unit(f"sum/{s:02}", "sum", EXACT, partial(data.run, s), arrays) for s in seeds]

    def check(unit, recorded):
        return [] if recorded["sum"] > 0 else [f"{unit.key}: not positive"]

    study = records.Study(("tiny",), 3, units, lambda dataset: {"of": dataset}, check, sample=2)
    monkeypatch.setattr(records, "STUDIES", {"": records.STUDIES[""], "study": study})
    monkeypatch.setitem(LOADERS, "tiny", lambda: data)
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
    tiny, asked, record, tmp_path, monkeypatch
):
    drawn = []
    monkeypatch.setattr("slnp_edu.__main__.draw_real_figures", lambda *args: drawn.append(args))
    monkeypatch.setitem(LOADERS, "mnist", lambda: tiny)
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
        monkeypatch.setitem(LOADERS, name, missing)
    head = {"splits": 1, "seeds": [0], "settings": {}, "source": "", "checksum": ""}
    head |= {"class_sizes": [], "versions": {}}
    for name, weight, faults in (("far", 1.0, 0), ("far", -1.0, 1), ("gone", 1.0, 1)):
        units = {"sum/00": {"sum": weight, "seed": 0}}
        record = head | {"dataset": name, "settings": {"of": name}, "units": units}
        records._write(tmp_path / f"{name}-study.json", record)
        assert main(["verify", "--results", str(tmp_path)]) == (2 if faults else 0)
        out, error = capsys.readouterr()
        skipped = "These images are not here. python -m slnp_edu data says more."
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
    assert capsys.readouterr().err.startswith("usage: python -m slnp_edu")


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


def test_fetch_passes_on_the_address_and_the_folder(tmp_path, monkeypatch, capsys):
    asked = []

    def fetch(*args, **options):
        asked.append((args, options))
        path = tmp_path / "coil.npz"
        path.write_bytes(b"")
        return path

    monkeypatch.setattr("slnp_edu.data.install.fetch", fetch)
    command = ["data", "fetch", "coil100", "--into", str(tmp_path), "--url", "https://a/b.zip"]
    assert main(command) == 0
    assert asked == [((SETS["coil100"], str(tmp_path)), {"url": "https://a/b.zip"})]
    assert capsys.readouterr().out.startswith(f"coil100: {tmp_path / 'coil.npz'}, ")
