"""Records as they stand: read, checked, compared, drawn from and written. Nothing is run."""

import copy
import json
import math
import os
import re

import numpy as np
import pytest
from scipy.stats import sem

from slnp_study import paper, records
from slnp_study.__main__ import main
from slnp_study.outcomes import flips, pack, unpack
from slnp_study.protocol import random_split
from slnp_study.studies import ablation, experiments
from slnp_study.studies.experiments import EXACT, IMAGES, RATE, Unit


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


FIGURES_OF_FACES = ("fig4/5/00", "fig5-7/00", "fig6/00", "fig8/00", "fig9/00", "tie/20/00")
OF_A_FIGURE = [("yale_b", key) for key in FIGURES_OF_FACES] + [("mnist", "fig12/00")]


@pytest.mark.parametrize(("name", "key"), OF_A_FIGURE)
def test_a_unit_of_a_figure_is_checked_without_the_data(name, key):
    committed = records.load(name)
    assert records.check(name, committed) == []
    told = [f"{key}: entries are missing, or there are some too many"]
    for entry, values in committed["units"][key].items():
        tampered = copy.deepcopy(committed)
        del tampered["units"][key][entry]
        assert records.check(name, tampered) == told
        tampered["units"][key][entry] = values[:-1] if isinstance(values, list) else [values]
        assert records.check(name, tampered) == told
    tampered["units"][key] = committed["units"][key] | {"more": 0}
    assert records.check(name, tampered) == told


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
