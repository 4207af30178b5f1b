"""What a record holds, how it is read and compared, and what is found without running anything."""

import json
import lzma
import math

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier

from slnp_edu.slnp import SLNP
from slnp_study import paper, records
from slnp_study.data import load_mnist
from slnp_study.packing import flips, pack, unpack
from slnp_study.protocol import random_split
from slnp_study.studies import STUDIES
from slnp_study.study import EXACT, IMAGES, RATE

BASES = ("whitened", "orthonormal")


# What is committed


@pytest.mark.parametrize("name", records.names())
def test_a_committed_record_is_complete_and_would_be_written_the_same(name, tmp_path):
    record = records.load(name)
    assert records.check(name, record) == []
    assert record["splits"] == records.parts(name)[1].splits
    dataset, _ = records.parts(name)
    table = records.load(dataset) if dataset in STUDIES[""].datasets else record
    for entry in ("source", "checksum", "class_sizes"):  # all studies ran on the same images
        assert record[entry] == table[entry]
    records._write(tmp_path / "again.json", record)  # without compression, which may change
    committed = lzma.decompress(records.path_of(name).read_bytes())
    assert (tmp_path / "again.json").read_bytes() == committed


def test_the_committed_records_stay_small():
    assert sum(path.stat().st_size for path in records.RESULTS.iterdir()) < 3e6


@pytest.mark.parametrize("name", paper.DIMENSIONS)
def test_what_the_mathematics_says_is_equal_is_equal_in_the_records(name):
    """Bases in which a method already is, LFDA's two metrics.

    Columns, methods, bases and splits that were read in a wrong order would not agree.
    """
    for rates in records.read(name).columns.values():
        np.testing.assert_array_equal(rates["PCA"]["own"], rates["PCA"]["orthonormal"])
        np.testing.assert_array_equal(rates["SLNP"]["own"], rates["SLNP"]["whitened"])
        weighted = rates["LFDA, weighted"]["whitened"]
        np.testing.assert_array_equal(rates["LFDA"]["whitened"], weighted)


@pytest.mark.parametrize(("name", "N_i", "seed"), [("mnist", 10, 0), ("coil100", 6, 3)])
def test_outcomes_are_those_of_the_split_and_are_counted_in_the_rates(name, N_i, seed):
    record, tables = records.load(name), records.read(name)
    y = np.repeat(range(len(record["class_sizes"])), record["class_sizes"])
    _, test = random_split(y, N_i, seed)
    found = tables.outcomes[N_i][seed]
    np.testing.assert_array_equal(found.rows, test)
    np.testing.assert_array_equal(found.labels, y[test])
    for method in found.methods:
        for basis in BASES:
            right = found.of(method, basis)
            assert len(right) == len(test)
            assert 100 * right.mean() == pytest.approx(tables.columns[N_i][method][basis][seed])


def after_pca(seed):
    """A split of MNIST's column of ten, after scikit-learn's PCA."""
    X, y = load_mnist(return_X_y=True)
    train, test = random_split(y, 10, seed)
    pca = PCA(32, svd_solver="full").fit(X[train])
    return pca.transform(X[train]), y[train], pca.transform(X[test]), y[test]


def by_scikit_learn(W, basis, A, y, B, y_test):
    """Which test images 1-NN recognises; the basis is made by QR."""
    _, R = np.linalg.qr(A @ W)
    V = W @ np.linalg.inv(R) if basis == "whitened" else np.linalg.qr(W)[0]
    knn = KNeighborsClassifier(1, algorithm="brute").fit(A @ V, y)
    return knn.predict(B @ V) == y_test


def test_recorded_outcomes_by_scikit_learns_nearest_neighbour():
    """The committed records of MNIST, image by image; two may flip on another BLAS."""
    tables = records.read("mnist")
    for seed in (0, 19):
        split = after_pca(seed)
        A, y = split[:2]
        slnp = SLNP(18, 6, tol=0).fit(A, y).components_.T
        for basis in BASES:
            ours = by_scikit_learn(slnp, basis, *split)
            assert np.sum(ours != tables.outcomes[10][seed].of("SLNP", basis)) <= 2


# Packing


@pytest.mark.parametrize(("judges", "images"), [(1, 1), (7, 20), (8, 20), (9, 20), (24, 3000)])
def test_packed_outcomes_come_back_and_flips_are_those_of_the_judge_who_changed_most(
    judges, images
):
    rng = np.random.default_rng(images)
    one, other = rng.random((2, judges, images)) < 0.8
    here, there = pack(one), pack(other)
    np.testing.assert_array_equal(unpack(here, judges, images), one)
    assert json.dumps(here) == f'"{here}"'
    changed = [
        sum(a != b for a, b in zip(*rows, strict=True)) for rows in zip(one, other, strict=True)
    ]
    assert flips(here, there, images) == max(changed)
    for wrong in (pack(np.hstack([other, other])), there[:-1], "abc", "not\tpacked"):
        with pytest.raises(ValueError, match=r"packed|hexadecimal"):
            flips(here, wrong, images)
        with pytest.raises(ValueError, match=r"packed|hexadecimal"):
            unpack(wrong, judges, images)


# Comparing


@pytest.mark.parametrize(
    ("here", "there", "tolerance", "differences"),
    [
        # as far off as another BLAS may be, and a little more
        ({"a": 80.0}, {"a": 80.09}, RATE, []),
        ({"a": 80.0}, {"a": 79.89}, RATE, ["/a"]),
        ({"a": [4000]}, {"a": [4002]}, IMAGES, []),
        ({"a": [4000]}, {"a": [3997]}, IMAGES, ["/a/0"]),
        ({"J": 100.0}, {"J": 100.00009}, EXACT, []),
        ({"J": 100.0}, {"J": 100.0002}, EXACT, ["/J"]),
        ({"r": 0.0}, {"r": 9e-10}, EXACT, []),
        ({"r": 1e-7}, {"r": 3e-7}, EXACT, ["/r"]),
        # entries that one side lacks
        ({"a": 1.0, "b": 2.0}, {"a": 1.0}, RATE, ["/b"]),
        ({"a": {"x": 1.0}}, {"a": {"x": 1.0, "y": 1.0}}, RATE, ["/a/y"]),
        ({"a": [1.0]}, {"a": []}, RATE, ["/a", "/a/0"]),
        # what isn't a number
        ({"a": math.nan}, {"a": math.nan}, RATE, ["/a"]),
        ({"a": math.inf}, {"a": math.inf}, EXACT, ["/a"]),
        ({"a": 1.0}, {"a": "1.0"}, RATE, ["/a"]),
        ({"a": 1.0}, {"a": True}, RATE, ["/a"]),
        ({"a": "3/17"}, {"a": "3/18"}, IMAGES, ["/a"]),
        # each entry of the first level as exactly as it can be
        ({"a": [4], "J": [1.0]}, {"a": [6], "J": [3.0]}, {"a": IMAGES, "J": EXACT}, ["/J/0"]),
    ],
)
def test_what_verify_accepts_and_what_it_refuses(here, there, tolerance, differences):
    found = records.compare(here, there, tolerance)[2]
    assert sorted(sentence.split(":")[0] for sentence in found) == differences


@pytest.mark.parametrize(("flipped", "accepted"), [(2, True), (3, False)])
def test_flips_of_two_methods_do_not_add_up(flipped, accepted):
    right = np.ones((9, 50), dtype=bool)
    other = right.copy()
    other[3, :flipped] = other[5, 10:12] = False
    here, there = ({"tested": 50, "outcomes": pack(bits)} for bits in (right, other))
    numbers, equal, found = records.compare(here, there, IMAGES)
    assert (numbers, equal, not found) == (2, 1, accepted)


# Damage


def cut(name):
    """A committed record, of the paper's own runs only the first split: quicker to check."""
    record = records.load(name)
    if "-" in name:
        return record
    units = {key: unit for key, unit in record["units"].items() if key.endswith("/00")}
    return record | {"splits": 1, "seeds": [0], "units": units}


def one_of_each_kind():
    last = {study: STUDIES[study].datasets[-1] for study in STUDIES}
    for study, dataset in (("", "yale_b"), ("", "mnist"), *last.items()):
        units = STUDIES[study].units(dataset, 2)
        kinds = {unit.kind: unit.key for unit in reversed(units)}
        name = "-".join(filter(None, (dataset, study)))
        yield from (pytest.param(name, key, id=f"{name} {kind}") for kind, key in kinds.items())


def damaged(value):
    """Yield a value with an entry missing, one too many, or something of another type in it."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield {other: value[other] for other in value if other != key}
            yield from (value | {key: wrong} for wrong in damaged(item))
        yield value | {"more": 0}
    elif isinstance(value, list):
        yield value[:-1]
        yield [*value, value[0]]
        yield from ([wrong, *value[1:]] for wrong in damaged(value[0]))
    else:
        yield from (None, True, [value], 1 if isinstance(value, str) else "1")


@pytest.mark.parametrize(("name", "key"), list(one_of_each_kind()))
def test_a_damaged_unit_of_every_kind_is_found_without_the_data(name, key):
    """Its schema sees it, wherever in the unit the damage is."""
    record = cut(name)
    for wrong in damaged(record["units"][key]):
        found = records.check(name, record | {"units": {key: wrong}})  # quicker than with all
        assert any(sentence.startswith(f"{key}: ") for sentence in found), wrong


def add(container, entry, number):
    container[entry] += number


TABLE, TUNED = "table/10/00", "tuned/10/00"
#: What a schema can't see: record, how it is damaged, and of what the sentence must speak.
AT_ODDS = {
    "another data set": ("mnist", lambda r: r.update(dataset="coil100"), "another data set"),
    "another K": ("mnist", lambda r: r["settings"].update(K=7), "settings"),
    "another D_PCA": (
        "mnist",
        lambda r: add(r["settings"]["dimensions"]["10"], "D_PCA", 1),
        "settings",
    ),
    "other seeds": ("mnist", lambda r: r.update(seeds=[1]), "seeds"),
    "a unit is missing": ("mnist", lambda r: r["units"].pop("fig12/00"), "units"),
    "a unit too many": ("mnist", lambda r: r["units"].update({"fig8/00": {}}), "units"),
    "fewer images": ("mnist", lambda r: add(r["units"][TABLE], "tested", -1), TABLE),
    "a count off by one": ("mnist", lambda r: add(r["units"][TABLE]["right"]["SLNP"], 1, 1), TABLE),
    "more right than tested": (
        "mnist",
        lambda r: r["units"][TABLE]["right"].update({"LFDA, weighted": [4901, 0, 0]}),
        TABLE,
    ),
    "fewer than none": (
        "mnist",
        lambda r: add(r["units"][TABLE]["right"]["LADA"], 0, -5000),
        TABLE,
    ),
    "other outcomes": (
        "mnist",
        lambda r: r["units"][TABLE].update(outcomes=pack(np.ones((22, 4900), dtype=bool))),
        TABLE,
    ),
    "damaged outcomes": ("mnist", lambda r: r["units"][TABLE].update(outcomes="abc"), TABLE),
    "a place below none": (
        "mnist-tuned",
        lambda r: r["units"][TUNED].update(chosen="-" + r["units"][TUNED]["chosen"]),
        TUNED,
    ),
    "a method chose nothing": (
        "mnist-tuned",
        lambda r: r["units"][TUNED].update(chosen=r["units"][TUNED]["chosen"].split(" ", 1)[1]),
        TUNED,
    ),
    "more tuned than tested": ("mnist-tuned", lambda r: r["units"][TUNED].update(tested=9), TUNED),
}


@pytest.mark.parametrize("what", AT_ODDS)
def test_what_is_at_odds_in_a_record_is_found_without_the_data(what):
    name, damage, said = AT_ODDS[what]
    record = cut(name)
    damage(record)
    found = records.check(name, record)
    assert found
    assert all(said in sentence for sentence in found if "error" not in sentence)


@pytest.mark.parametrize("name", ["mnist", "mnist-tuned"])
def test_none_right_and_all_right_are_counts_like_any_other(name):
    record = cut(name)
    for unit in (unit for key, unit in record["units"].items() if "/10/" in key):
        if name == "mnist":
            unit["right"]["LADA"] = [0, unit["tested"], 0]
        else:
            unit["mean"] = [0, unit["tested"], *unit["mean"][2:]]
    assert records.check(name, record) == []
