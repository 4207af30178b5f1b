"""Records of runs made here: verifiable, safe against a killed run; and the units they hold."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.neighbors import KNeighborsClassifier

from slnp_edu.base import in_basis
from slnp_edu.slnp import SLNP
from slnp_study import paper, records
from slnp_study.__main__ import main
from slnp_study.data import SETS, DatasetNotFoundError, load_mnist, load_yale_b
from slnp_study.data.files import find
from slnp_study.plots import draw_real_figures
from slnp_study.protocol import METHODS, Split, evaluate
from slnp_study.statistics import difference, tally
from slnp_study.studies import ablation, experiments

pytestmark = pytest.mark.slow  # it runs experiments

NAMES = list(records.STUDIES[""].datasets)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A record of MNIST with one split, made here."""
    folder = tmp_path_factory.mktemp("book") / "results"
    records.reproduce("mnist", splits=1, n_jobs=1, folder=folder)
    return folder


@pytest.fixture
def record(small):
    return records.load("mnist", small)


# What is committed


@pytest.mark.parametrize("name", NAMES)
def test_the_committed_records_are_complete(name):
    record = records.load(name)
    assert records.check(name, record) == []
    assert record["splits"] == 20
    assert list(record["units"]) == [unit.key for unit in experiments.units(name, 20)]
    for N_i in paper.DIMENSIONS[name]:
        rates = records.rates(record, N_i)
        assert set(paper.METHODS) < set(rates)
        for by_basis in rates.values():
            assert list(by_basis) == ["own", "whitened", "orthonormal"]
            assert all(values.shape == (20,) for values in by_basis.values())
        np.testing.assert_array_equal(*(rates["PCA"][basis] for basis in ("own", "orthonormal")))
        np.testing.assert_array_equal(*(rates["SLNP"][basis] for basis in ("own", "whitened")))
        np.testing.assert_array_equal(
            *(rates[method]["whitened"] for method in ("LFDA", "LFDA, weighted"))
        )
    if archive := SETS[name].archive:
        assert record["checksum"] == archive.sha256


def test_the_committed_records_stay_small():
    assert sum(path.stat().st_size for path in records.RESULTS.glob("*.json")) < 2e6


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_sample_of_the_record_can_be_computed_again(name):
    if (archive := SETS[name].archive) and find(archive.file) is None:
        pytest.skip(f"the real {archive.title} is not on this machine")
    seed = random.randrange(10**6)
    report = records.verify(name, sample=4, n_jobs=1, seed=seed)
    assert report["units"] >= 4, f"seed {seed}"
    assert report["numbers"] > 20, f"seed {seed}"
    assert report["differences"] == [], f"seed {seed}"


# Reading


def test_rates_and_outcomes_are_those_of_the_split(record):
    """Against `Split` on the data, image by image."""
    data = load_mnist()
    rates = records.rates(record, 10)
    found = records.outcomes(record, 10, seed=0)
    split = Split(data.data, data.target, N_i=10, D_PCA=32, seed=0)
    np.testing.assert_array_equal(found.rows, split.test)
    np.testing.assert_array_equal(found.labels, data.target[split.test])
    assert found.right.shape == (len(found.methods), 2, 4900)
    assert set(found.methods) < set(rates)
    for method in ("PCA", "LFDA", "SLNP"):
        W = split.learn(method, d=18, K=6)
        for basis in ("whitened", "orthonormal"):
            np.testing.assert_array_equal(found.of(method, basis), split.right(W, basis))
    for method in found.methods:
        for basis in found.bases:
            assert rates[method][basis] == 100 * found.of(method, basis).sum() / 4900


def test_verify_finds_what_was_changed(small, tmp_path, capsys):
    text = (small / "mnist.json").read_text()
    (tmp_path / "mnist.json").write_text(text)
    command = ["verify", "mnist", "--all", "--jobs", "1", "--results", str(tmp_path)]
    assert main(command) == 0
    record = json.loads(text)
    record["units"]["table/15/00"]["right"]["LFDA, weighted"][0] += 3
    record["units"]["fig12/00"]["whitened"][2] += 0.2
    record["checksum"] = "0" * 64
    record["class_sizes"][0] -= 1
    (tmp_path / "mnist.json").write_text(json.dumps(record))
    assert main(command) == 2
    report = records.verify("mnist", sample=None, n_jobs=1, seed=0, folder=tmp_path)
    for start, found in zip(
        (
            "fig12/00 /whitened/2: ",
            "mnist: the classes are not",
            "mnist: the data differ",
            "table/15/00 /right/LFDA, weighted/0: ",
        ),
        report["differences"],
        strict=True,
    ):
        assert found.startswith(start)
    assert report["numbers"] - report["equal"] == 2


# The ablation


@pytest.fixture(scope="module")
def small_ablation(tmp_path_factory):
    """A record of the ablation on MNIST with two splits, made here."""
    folder = tmp_path_factory.mktemp("book") / "results"
    records.reproduce("mnist-ablation", splits=2, n_jobs=1, folder=folder)
    return folder


@pytest.fixture
def column(small_ablation):
    return records.load("mnist-ablation", small_ablation)["units"]["ablation/10"]


@pytest.mark.parametrize(
    ("variant", "chosen", "start", "rounds"),
    [
        ("uniform, 1", "learned", "uniform", 1),
        ("uniform, 3", "learned", "uniform", 3),
        ("nearest, 1", "learned", "nearest", 1),
        ("nearest, 10", "learned", "nearest", 10),
        ("fixed", "fixed", "uniform", 10),
        ("fixed, whitened", "fixed, whitened", "uniform", 10),
        ("random", "random", "uniform", 10),
        ("farthest", "farthest", "uniform", 10),
        ("whole class", "whole class", "uniform", 10),
    ],
)
@pytest.mark.parametrize("basis", ["whitened", "orthonormal"])
def test_a_lead_of_the_ablation_is_a_count(
    column, small_ablation, variant, chosen, start, rounds, basis
):
    """By scikit-learn's nearest neighbour; its errors from those counts, image by image."""
    data = load_mnist()
    right = np.empty((2, 2, 4900), dtype=bool)
    test = []
    for seed in (0, 1):
        split = Split(data.data, data.target, N_i=10, D_PCA=32, seed=seed)
        test.append(split.test)
        run = ablation.variant(split.A, split.y_train, 18, 6, chosen=chosen, start=start, seed=seed)
        slnp = SLNP(18, 6, tol=0).fit(split.A, split.y_train).components_.T
        for i, W in enumerate((slnp, next(islice(run, rounds - 1, None)).W)):
            V = in_basis(W, basis, split.A)
            model = KNeighborsClassifier(1, algorithm="brute").fit(split.A @ V, split.y_train)
            right[i, seed] = model.predict(split.B @ V) == split.y_test
    lead = right[0].sum(axis=1) - right[1].sum(axis=1)
    recorded = column["lead"][variant][basis]
    np.testing.assert_allclose(recorded, lead, atol=2)
    if list(lead) == recorded:  # no image flipped
        found = difference(tally(*right, np.array(test)))
        record = records.load("mnist-ablation", small_ablation)
        read = ablation.differences(record)[10, variant, basis]
        np.testing.assert_allclose(read.these, found.these)
        np.testing.assert_allclose(read.such, found.such, atol=6e-5)
        assert (read.images, read.tested) == pytest.approx((found.images, found.tested))


def test_how_near_the_learned_neighbours_are(column):
    """Once more by loops over the samples."""
    data = load_mnist()
    near, kept = [], []
    for seed in (0, 1):
        split = Split(data.data, data.target, N_i=10, D_PCA=32, seed=seed)
        Y = SLNP(18, 6, tol=0).fit(split.A, split.y_train).transform(split.A)
        ratio = [[], []]
        for j in range(100):
            others = [k for k in range(100) if split.y_train[k] == split.y_train[j] and k != j]
            after, before = (
                sorted(others, key=lambda k: np.sum((Z[j] - Z[k]) ** 2))[:6] for Z in (Y, split.A)
            )
            ratio[0] += [np.sum((Y[j] - Y[k]) ** 2) for k in after]
            ratio[1] += [np.sum((Y[j] - Y[k]) ** 2) for k in others]
            kept.append(len({*after} & {*before}) / 6)
        near.append(np.mean(ratio[0]) / np.mean(ratio[1]))
    assert column["nearness"] == pytest.approx(np.mean(near), abs=1e-3)
    assert column["overlap"] == pytest.approx(np.mean(kept), abs=1e-3)


def test_verify_finds_what_was_changed_in_a_column(small_ablation, tmp_path):
    record = records.load("mnist-ablation", small_ablation)
    unit = record["units"]["ablation/10"]
    unit["lead"]["random"]["whitened"][0] += 3
    unit["error"]["random"][0] += 0.03
    unit["rounds"]["uniform"]["orthonormal"][6] += 5
    unit["nearness"] += 0.03
    unit["lead"]["random"]["orthonormal"][0] += 2  # what another BLAS may do
    (tmp_path / "mnist-ablation.json").write_text(json.dumps(record))
    report = records.verify("mnist-ablation", sample=None, n_jobs=1, seed=0, folder=tmp_path)
    found = [sentence.split(":")[0] for sentence in report["differences"]]
    assert [where for where in found if "/" in where.removeprefix("ablation/10")] == [
        "ablation/10 /error/random/0",
        "ablation/10 /lead/random/whitened/0",
        "ablation/10 /nearness",
        "ablation/10 /rounds/uniform/orthonormal/6",
    ]
    assert report["numbers"] - report["equal"] == 5


def test_a_method_more_in_the_registry_changes_no_record(monkeypatch, record):
    monkeypatch.setitem(METHODS, "another", METHODS["PCA"])
    assert records.check("mnist", record) == []
    unit = next(u for u in experiments.units("mnist", 1) if u.key == "table/05/00")
    again = unit.function(*load_mnist(return_X_y=True))
    assert records.compare(again, record["units"][unit.key], unit.tolerance)[2] == []


# Running, stopping, going on


def test_a_record_does_not_depend_on_the_number_of_jobs(small, tmp_path):
    folder = tmp_path / "results"
    records.reproduce("mnist", splits=1, n_jobs=2, folder=folder)
    assert (folder / "mnist.json").read_bytes() == (small / "mnist.json").read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == ["mnist.json"]


def test_finished_units_are_not_run_again(monkeypatch, small, tmp_path):
    """Stopped in the middle, a run leaves to the next only what it had not done."""
    ran, stop = [], 4

    def watched(dataset, splits):
        return [replace(unit, function=note(unit)) for unit in units(dataset, splits)]

    def note(unit):
        def run(X, y):
            if len(ran) == stop:
                raise KeyboardInterrupt
            ran.append(unit.key)
            return unit.function(X, y)

        return run

    units = experiments.units
    study = records.STUDIES[""]
    monkeypatch.setitem(records.STUDIES, "", study._replace(units=watched))
    folder = tmp_path / "results"
    with pytest.raises(KeyboardInterrupt):
        records.reproduce("mnist", splits=1, n_jobs=1, folder=folder)
    assert len(ran) == 4
    put_aside = len(list(folder.rglob("*-*.json")))
    assert put_aside >= 3  # the last one may still have been on its way
    stop = None
    records.reproduce("mnist", splits=1, n_jobs=1, folder=folder)
    assert len(ran) == 4 + 7 - put_aside
    assert set(ran) == {unit.key for unit in units("mnist", 1)}
    assert (folder / "mnist.json").read_bytes() == (small / "mnist.json").read_bytes()


def put_aside(folder):
    """What was put aside, and which writing of each file this is."""
    found = {path: path.stat() for path in folder.rglob("*-*.json")}
    return {path.name: (stat.st_ino, stat.st_mtime_ns) for path, stat in found.items()}


@pytest.mark.slow
def test_a_run_killed_ten_times_goes_on_and_ends_with_the_same_bytes(tmp_path):
    """Killed with SIGKILL at random moments, each a little after one more unit was put aside.

    What was put aside before is never written again: no run starts from the beginning.
    """
    alone = records.reproduce("mnist", splits=3, n_jobs=1, folder=tmp_path / "alone")
    folder = tmp_path / "results"
    command = [sys.executable, "-m", "slnp_study", "reproduce", "mnist", "--splits", "3"]
    command += ["--jobs", "1", "--results", str(folder)]
    draw = random.Random(0)
    before = {}
    for _ in range(10):
        run = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
        while run.poll() is None and len(put_aside(folder)) <= len(before):
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 0.3))
        if run.poll() is not None:  # on a busy machine it may be through before we come to kill it
            assert run.returncode == 0
            break
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        after = put_aside(folder)
        assert len(after) > len(before), "the run did not get on"
        assert before.items() <= after.items(), "a finished unit was run again"
        before = after
    assert before
    subprocess.run(command, check=True, capture_output=True)
    assert (folder / "mnist.json").read_bytes() == alone.read_bytes()


def test_what_another_run_left_behind_is_thrown_away(small, tmp_path):
    folder = tmp_path / "results"
    stale = folder / ".partial" / "mnist"
    stale.mkdir(parents=True)
    (stale / "head.json").write_text("{}")
    (stale / "fig12-00.json").write_text('{"x": [1]}')
    records.reproduce("mnist", splits=1, n_jobs=1, folder=folder)
    assert (folder / "mnist.json").read_bytes() == (small / "mnist.json").read_bytes()


def test_real_data_that_is_missing_is_said_in_a_sentence(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("slnp_study.data.files.data_folders", lambda: [tmp_path])
    assert main(["reproduce", "yale_b", "--results", str(tmp_path)]) == 2
    assert "yale_b" in capsys.readouterr().err
    with pytest.raises(DatasetNotFoundError):
        records.verify("yale_b", sample=1, n_jobs=1, seed=0)
    assert main(["reproduce", "cifar"]) == 2
    assert "no record called cifar" in capsys.readouterr().err


def test_without_names_the_sets_that_are_missing_are_named_and_their_records_checked(
    monkeypatch, small, tmp_path, capsys
):
    monkeypatch.setattr("slnp_study.data.files.data_folders", lambda: [tmp_path])
    monkeypatch.setattr(records, "STUDIES", {"": records.STUDIES[""]})
    results = tmp_path / "results"
    results.mkdir()
    (results / "mnist.json").write_text((small / "mnist.json").read_text())
    coil = json.loads((records.RESULTS / "coil100.json").read_text())
    command = ["verify", "--sample", "1", "--jobs", "1", "--results", str(results)]
    for K, code in ((3, 0), (4, 2)):
        coil["settings"]["K"] = K
        (results / "coil100.json").write_text(json.dumps(coil))
        assert main(command) == code
        said = capsys.readouterr().out
        assert "yale_b: skipped" in said
        assert "yale_b: no record either" in said
        assert "coil100: skipped" in said
        assert f"coil100: its record was checked for itself, {K - 3} faults" in said
        assert "mnist: 2 units run again" in said


# The units


@pytest.fixture(scope="module")
def faces():
    return load_yale_b()


def test_what_is_learned_on_the_stand_in_faces(faces):
    """The unit of Figs. 5 to 7 against SLNP's attributes and the definition (58)."""
    unit = experiments.learned(faces.data, faces.target, seed=0)
    similarities = np.array(unit["similarities"])
    assert similarities.shape == (10, 9)  # ten rounds, nine other faces
    np.testing.assert_allclose(similarities.sum(axis=1), 1)
    assert len(unit["gamma"]) == 38
    rows = np.array(unit["rows"])
    assert np.all(faces.target[rows] == 37)
    squared = [np.sum((faces.data[r] - faces.data[rows[0]]) ** 2) for r in rows[1:]]
    np.testing.assert_allclose(unit["lpp"], np.exp(-np.array(squared) / np.mean(squared)))
    one_class = faces.data[unit["training_rows"][3]]
    by_pairs = np.mean([np.sum((a - b) ** 2) for a in one_class for b in one_class]) / 2
    assert unit["spread_original"][3] == pytest.approx(by_pairs)


def test_convergence_of_the_stand_in_faces(faces):
    unit = experiments.convergence(faces.data, faces.target, K=5, seed=0)
    assert {rule: len(J) for rule, J in unit.items()} == dict.fromkeys(experiments.RULES, 20)
    assert np.all(np.diff(unit["fixed"]) <= 1e-10)


def test_the_test_for_light_against_scipy_and_another_formula(faces):
    """Spearman's correlation by SciPy, face by face; angles by the haversine formula."""
    found = experiments.illumination(
        faces.data, faces.target, faces.azimuth, faces.elevation, seed=1
    )
    split = Split(faces.data, faces.target, N_i=10, D_PCA=180, seed=1)
    S = SLNP(38, 9, tol=0).fit(split.A, split.y_train).similarity_.toarray()
    rad = np.pi / 180

    def angle(r, s):
        up, across = (faces.elevation[[r, s]] * rad), (faces.azimuth[[r, s]] * rad)
        h = np.sin((up[0] - up[1]) / 2) ** 2
        h += np.cos(up[0]) * np.cos(up[1]) * np.sin((across[0] - across[1]) / 2) ** 2
        return 2 * np.arcsin(np.sqrt(h))

    for label in (0, 21, 37):
        by_face = {"learned": [], "lpp": []}
        members = np.flatnonzero(split.y_train == label)
        for j in members:
            others = [k for k in members if k != j]
            angles = np.round([angle(split.train[j], split.train[k]) for k in others], 6)
            pixels = faces.data[split.train]
            lpp = [np.exp(-np.sum((pixels[j] - pixels[k]) ** 2) / 1e7) for k in others]
            by_face["learned"].append(spearmanr(S[j, others], angles)[0])
            by_face["lpp"].append(spearmanr(lpp, angles)[0])
        for name, values in by_face.items():
            assert found[name][label] == pytest.approx(np.mean(values), abs=1e-9)
    assert len(found["learned"]) == len(found["lpp"]) == 38


def test_figures_of_real_images_are_drawn_from_the_record(faces, tmp_path):
    record = {"units": {"fig5-7/00": experiments.learned(faces.data, faces.target, seed=0)}}
    paths = draw_real_figures("yale_b", faces, record, tmp_path)
    assert [path.name for path in paths] == ["fig03.png", "fig05.png", "fig06.png", "fig07.png"]
    assert all(path.stat().st_size > 10_000 for path in paths)


def test_curves_have_a_point_for_every_value(faces):
    X, y = faces.data[:640], faces.target[:640]  # ten people
    rates = experiments.rate_against(X, y, figure=12, seed=0)
    assert rates["x"] == list(experiments.FIG12_NEIGHBOURS)
    assert len(rates["whitened"]) == len(rates["orthonormal"]) == len(rates["x"])
    assert 0 < min(rates["whitened"]) <= 100


def test_a_column_without_the_open_choice(faces):
    unit = experiments.tie(faces.data, faces.target, seed=0)
    column = {**paper.DIMENSIONS["yale_b"][20], "d": 37}
    rates = evaluate(faces.data, faces.target, N_i=20, K=5, seed=0, methods=["SLNP"], **column)
    assert unit["d = C - 1"] == rates["SLNP"]["orthonormal"]
    assert unit["tie drawn"] != unit["d = C - 1"]
