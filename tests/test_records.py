"""Records: complete, verifiable, sensitive to tampering, safe against a killed run."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from slnp_edu import experiments, paper, records
from slnp_edu.__main__ import main
from slnp_edu.datasets import SETS, DatasetNotFoundError, find, load_yale_b
from slnp_edu.plots import draw_real_figures
from slnp_edu.protocol import evaluate, pca_split
from slnp_edu.slnp import SLNP

NAMES = list(experiments.LOADERS)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A record of MNIST with one split, made here."""
    folder = tmp_path_factory.mktemp("book") / "results"
    records.reproduce("mnist", splits=1, n_jobs=1, folder=folder)
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_the_committed_records_are_complete(name):
    record = records.load(name)
    assert record["splits"] == 20
    assert record["seeds"] == list(range(20))
    assert list(record["units"]) == list(experiments.units(name, 20))
    for N_i in paper.DIMENSIONS[name]:
        rates = records.rates(record, N_i)
        assert {"PCA", "LDA", "LPP", "MFA", "LSDA", "LFDA", "SLNP"} <= set(rates)
        for method, by_basis in rates.items():
            assert all(len(values) == 20 for values in by_basis.values())
            assert "orthonormal" in by_basis
            assert method.startswith("PCA") or "whitened" in by_basis
    if name in SETS:
        assert record["checksum"] == SETS[name].sha256


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_of_the_record_can_be_computed_again(name):
    if name in SETS and find(SETS[name].file) is None:
        pytest.skip(f"the real {SETS[name].title} is not on this machine")
    report = records.verify(name, sample=4, n_jobs=1)
    assert report["units"] == 4
    assert report["numbers"] > 20
    assert report["differences"] == []


def test_verify_finds_a_rate_that_is_off_by_a_fifth_of_a_point(small, tmp_path):
    text = (small / "mnist.json").read_text()
    (tmp_path / "mnist.json").write_text(text)
    assert main(["verify", "mnist", "--all", "--jobs", "1", "--results", str(tmp_path)]) == 0
    record = json.loads(text)
    record["units"]["table/15/00"]["SLNP"]["whitened"] += 0.2
    (tmp_path / "mnist.json").write_text(json.dumps(record))
    assert main(["verify", "mnist", "--all", "--jobs", "1", "--results", str(tmp_path)]) == 2
    report = records.verify("mnist", sample=None, n_jobs=1, folder=tmp_path)
    assert len(report["differences"]) == 1
    assert "table/15/00 /SLNP/whitened" in report["differences"][0]
    assert report["numbers"] - report["equal"] == 1


def test_verify_says_if_the_data_or_the_units_are_others(small, tmp_path):
    record = json.loads((small / "mnist.json").read_text())
    record["checksum"] = "0" * 64
    del record["units"]["fig12/00"]
    (tmp_path / "mnist.json").write_text(json.dumps(record))
    report = records.verify("mnist", sample=1, n_jobs=1, folder=tmp_path)
    assert len(report["differences"]) == 2


def test_a_record_does_not_depend_on_the_number_of_jobs(small, tmp_path):
    folder = tmp_path / "results"
    records.reproduce("mnist", splits=1, n_jobs=2, folder=folder)
    assert (folder / "mnist.json").read_bytes() == (small / "mnist.json").read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == ["mnist.json"]


def test_a_run_killed_ten_times_goes_on_and_ends_with_the_same_bytes(tmp_path):
    """Killed with SIGKILL at random moments, each a little after one more unit was put aside."""
    alone = records.reproduce("mnist", splits=2, n_jobs=1, folder=tmp_path / "alone")
    folder = tmp_path / "results"
    command = [sys.executable, "-m", "slnp_edu", "reproduce", "mnist", "--splits", "2"]
    command += ["--jobs", "1", "--results", str(folder)]
    draw = random.Random(0)
    kept = []
    for _ in range(10):
        run = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
        deadline = time.monotonic() + 60
        before = len(list(folder.rglob("*.json")))
        while time.monotonic() < deadline and len(list(folder.rglob("*.json"))) <= before:
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 0.3))
        assert run.poll() is None, "the run was through before it was killed"
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        kept.append(len(list(folder.rglob("*.json"))))
    assert kept == sorted(kept)
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
    monkeypatch.setattr("slnp_edu.datasets.data_folders", lambda: [tmp_path])
    assert main(["reproduce", "yale_b", "--results", str(tmp_path)]) == 2
    assert "yale_b" in capsys.readouterr().err
    with pytest.raises(DatasetNotFoundError):
        records.verify("yale_b", sample=1, n_jobs=1)
    assert main(["reproduce", "cifar"]) == 2
    assert "no set called cifar" in capsys.readouterr().err


def test_without_names_the_sets_that_are_missing_are_skipped_and_named(
    monkeypatch, small, tmp_path, capsys
):
    monkeypatch.setattr("slnp_edu.datasets.data_folders", lambda: [tmp_path])
    assert main(["verify", "--sample", "1", "--jobs", "1", "--results", str(small)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in said[:2]] == ["yale_b: skipped", "coil100: skipped"]
    assert said[2].startswith("mnist: 1 units run again")


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


def test_a_drawn_tie_is_as_good_as_the_rule(faces):
    """Constraint (22) and the least trace, from dense matrices; and a draw is not the rule."""
    A, y, *_ = pca_split(faces.data[:640], faces.target[:640], 8, 30, 0)  # ten people
    St = A.T @ A
    means = np.array([A[y == label].mean(axis=0) for label in y])
    within = (A - means).T @ (A - means)
    ratios = np.sort(np.linalg.eigvals(np.linalg.solve(St, within)).real)
    rule = SLNP(12, 5, max_iter=1).fit(A, y).components_.T
    for seed in range(3):
        W, gamma = experiments.with_drawn_tie(A, y, 12, 5, seed, max_iter=1)
        np.testing.assert_allclose(W.T @ St @ W, np.eye(12), atol=1e-9)
        assert np.trace(W.T @ within @ W) == pytest.approx(ratios[:12].sum())
        assert subspace_angles(W, rule).max() > 0.1
        assert gamma.shape == y.shape


def test_without_a_tie_to_draw_the_rounds_are_those_of_slnp(faces):
    A, y, *_ = pca_split(faces.data[:640], faces.target[:640], 8, 30, 0)
    model = SLNP(9, 5, tol=0).fit(A, y)
    for seed in (0, 1):
        W, gamma = experiments.with_drawn_tie(A, y, 9, 5, seed)
        np.testing.assert_allclose(np.abs(W), np.abs(model.components_.T), atol=1e-8)
        np.testing.assert_allclose(gamma, model.gamma_)


def test_a_column_without_the_open_choice(faces):
    unit = experiments.tie(faces.data, faces.target, seed=0)
    column = {**paper.DIMENSIONS["yale_b"][20], "d": 37}
    rates = evaluate(faces.data, faces.target, N_i=20, K=5, seed=0, methods=["SLNP"], **column)
    assert unit["d = C - 1"] == rates["SLNP"]["orthonormal"]
    assert unit["tie drawn"] != unit["d = C - 1"]
