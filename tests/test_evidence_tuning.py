"""Tuning: the same budget for all, the test part never seen, and a twin that shares no code."""

import copy
import json
from itertools import product

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.spatial.distance import pdist, squareform
from scipy.stats import ttest_rel
from sklearn.datasets import load_digits as sklearn_digits
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from statsmodels.stats.multitest import multipletests
from test_evidence_independent import in_bases, laplacian
from test_evidence_independent import slnp as slnp_by_definition

from slnp_edu.data import LOADERS, DatasetNotFoundError, load_digits, load_fashion
from slnp_edu.evidence import paper, records, tuning
from slnp_edu.evidence.experiments import COMMON
from slnp_edu.evidence.outcomes import pack
from slnp_edu.evidence.protocol import random_split
from slnp_edu.evidence.statistics import Tally, difference
from slnp_edu.evidence.tuning import BUDGET, FOLDS, GRIDS, METHODS

SMALL = {"D_PCA": (12, 20, 32), "d": (2, 4), "K": (2, 4, 6)}
NAMES = [f"{dataset}-tuned" for dataset in GRIDS]


@pytest.fixture(scope="module")
def five():
    """Twelve images each of five digits, and twenty more each for the test."""
    X, y = sklearn_digits(return_X_y=True)
    X, y = X[y < 5], y[y < 5]
    train, test = random_split(y, 12, seed=3)
    return X[train], y[train], X[test[::7]], y[test[::7]]


# The budget


@pytest.mark.parametrize(("dataset", "N_i"), [(s, n) for s, grids in GRIDS.items() for n in grids])
def test_every_method_has_the_same_number_of_settings(dataset, N_i):
    grid, C = GRIDS[dataset][N_i], {"yale_b": 38, "coil100": 100}.get(dataset, 10)
    for method in METHODS:
        found = tuning.settings(method, grid, C)
        assert len(set(found)) == len(found) == BUDGET
        assert [s.d for s in found] == sorted(s.d for s in found)
        assert all(s.d <= s.D_PCA < N_i * C * (FOLDS - 1) / FOLDS for s in found)
    if dataset in paper.DIMENSIONS:
        theirs = {**paper.DIMENSIONS[dataset][N_i], "own": paper.DATASETS[dataset]["K"]}
        assert tuning.Setting(**theirs) in tuning.settings("SLNP", grid, C)


def test_a_setting_is_the_same_whether_fitted_alone_or_with_others(five):
    """Nested directions come from one fit; distances after it are those of a fit of their own."""
    X, y, *_ = five
    A, _ = tuning.after_pca(X, X, 32)
    for method in METHODS:
        seen = set()
        for setting, basis, W in tuning.projections(method, A, y, SMALL):
            seen.add((setting, basis))
            D = A[:, : setting.D_PCA]
            alone = METHODS[method].learn(D, y, setting.d, setting.own)
            theirs = in_bases(alone, D)[basis]
            np.testing.assert_allclose(pdist(D @ W), pdist(D @ theirs), rtol=1e-6, atol=1e-9)
        assert seen == set(product(tuning.settings(method, SMALL, 5), COMMON))


# The choice


def shrunk_lda(A, y, d, shrinkage):
    """Fisher's criterion with every covariance drawn towards a multiple of the identity."""

    def covariance(M):
        S = np.cov(M.T, bias=True)
        return (1 - shrinkage) * S + shrinkage * np.trace(S) / len(S) * np.eye(len(S))

    within = sum(np.mean(y == c) * covariance(A[y == c]) for c in np.unique(y))
    return eigh(covariance(A) - within, within)[1][:, ::-1][:, :d]


def lfda(A, y, d, K):
    squared, same = squareform(pdist(A)) ** 2, y[:, None] == y
    n = same.sum(axis=1)[:, None]
    own_class = [np.sort(row[who]) for row, who in zip(squared, same, strict=True)]
    sigma = [np.sqrt(row[min(K, len(row) - 1)]) for row in own_class]
    s = np.where(same, np.exp(-squared / np.outer(sigma, sigma)), 0)
    between = np.where(same, s * (1 / len(A) - 1 / n), 1 / len(A))
    return eigh(laplacian(A, between), laplacian(A, s / n))[1][:, ::-1][:, :d]


TWINS = {
    "PCA": lambda A, y, d, own: np.eye(A.shape[1])[:, :d],
    "LDA": shrunk_lda,
    "LFDA": lfda,
    "SLNP": lambda A, y, d, K: slnp_by_definition(A, y, d, K)[-1],
}


@pytest.mark.parametrize("method", TWINS)
def test_cross_validation_against_a_twin(five, method):
    X, y, *_ = five
    settings = tuning.settings(method, SMALL, 5)
    # With 32 dimensions SLNP may leave ties among directions, which the twin breaks otherwise.
    asked = [i for i, s in enumerate(settings) if s.D_PCA < 32 or method == "PCA"]
    expected = {i: {"whitened": 0, "orthonormal": 0} for i in asked}
    for fit, left in StratifiedKFold(FOLDS, shuffle=True, random_state=9).split(X, y):
        mean = X[fit].mean(axis=0)
        axes = np.linalg.svd(X[fit] - mean)[2].T
        for i in asked:
            A, B = ((X[rows] - mean) @ axes[:, : settings[i].D_PCA] for rows in (fit, left))
            bases = in_bases(TWINS[method](A, y[fit], settings[i].d, settings[i].own), A)
            for basis in expected[i]:
                judge = KNeighborsClassifier(1, algorithm="brute").fit(A @ bases[basis], y[fit])
                expected[i][basis] += np.sum(judge.predict(B @ bases[basis]) == y[left])
    counts = tuning.inner_counts(X, y, SMALL, 9, [method])[method]
    assert len(asked) >= 12
    assert {i: dict(zip(COMMON, counts[i], strict=True)) for i in asked} == expected


def test_the_test_part_has_no_say_in_the_choice(five):
    """Other test images, other labels: other rates, but the same settings and inner counts."""
    X, y, X_test, y_test = five
    rng = np.random.default_rng(0)
    methods = ("PCA", "LDA", "SLNP")
    found = tuning.tuned(X, y, X_test, y_test, SMALL, 0, methods)
    spoiled = {
        "labels permuted": (X_test, rng.permutation(y_test)),
        "labels wrong": (X_test, (y_test + 1) % 5),
        "images of noise": (rng.normal(size=X_test.shape), y_test),
    }
    for what, test_part in spoiled.items():
        again = tuning.tuned(X, y, *test_part, SMALL, 0, methods)
        for method in methods:
            assert again[method].chosen == found[method].chosen, what
            assert again[method].inner == found[method].inner, what
            assert sum(again[method].right[0]) < sum(found[method].right[0]), what


def test_of_equals_the_first_is_chosen():
    counts = np.array([[3, 9], [7, 9], [7, 2], [1, 9]])
    assert tuning.choose(counts) == [1, 0]


def test_what_is_judged_is_what_was_chosen(five):
    """The outer step by scikit-learn's classifiers, on projections of the twins."""
    X, y, X_test, y_test = five
    found = tuning.tuned(X, y, X_test, y_test, SMALL, 0, ["LFDA"])["LFDA"]
    mean = X.mean(axis=0)
    axes = np.linalg.svd(X - mean)[2].T
    for i, basis, right in zip(found.chosen, COMMON, found.right, strict=True):
        setting = tuning.settings("LFDA", SMALL, 5)[i]
        A, B = ((Z - mean) @ axes[:, : setting.D_PCA] for Z in (X, X_test))
        V = in_bases(lfda(A, y, setting.d, setting.own), A)[basis]
        nearest = KNeighborsClassifier(1, algorithm="brute").fit(A @ V, y)
        np.testing.assert_array_equal(nearest.predict(B @ V) == y_test, right)
        if basis == COMMON[tuning.free(found.chosen, found.inner)]:
            by_angle = KNeighborsClassifier(1, metric="cosine").fit(A @ V, y)
            np.testing.assert_array_equal(by_angle.predict(B @ V) == y_test, found.cosine)
            means = np.array([(A @ V)[y == c].mean(axis=0) for c in range(5)])
            nearest_mean = [np.argmin([np.linalg.norm(b - m) for m in means]) for b in B @ V]
            np.testing.assert_array_equal(nearest_mean == y_test, found.mean)


def test_sorted_outcomes_keep_the_counts_of_the_classes():
    rng = np.random.default_rng(0)
    y, right = rng.permutation(np.repeat(range(6), 20)), rng.random(120) < 0.7
    kept = tuning.sorted_within(right, y)
    np.testing.assert_array_equal(np.bincount(y, kept), np.bincount(y, right))
    for c in range(6):
        assert np.all(np.diff(kept[y == c].astype(int)) <= 0)


# From records to words


@pytest.fixture
def made_up():
    """A record whose truth is known, in which MFA gets fewer right in every split and class."""
    rng, C, per_class = np.random.default_rng(1), 20, 30
    y = np.repeat(np.arange(C), per_class)
    units = {}
    for seed in range(10):
        _, test = random_split(y, 10, seed)
        right = rng.random((len(METHODS), len(test))) < 0.9
        right[list(METHODS).index("MFA, per sample")] &= rng.random(len(test)) < 0.8
        counts = right.sum(axis=1)
        units[f"tuned/10/{seed:02}"] = {
            "tested": len(test),
            "chosen": " ".join(["4/2"] * len(METHODS)),
            "inner": [[80, 70]] * len(METHODS),  # so whitened is the better basis
            "right": [[int(count), int(count) - 7] for count in counts],
            "cosine": [0] * len(METHODS),
            "mean": [0] * len(METHODS),
            "by_class": pack(np.array([tuning.sorted_within(r, y[test]) for r in right])),
        }
    head = {"seeds": list(range(10)), "class_sizes": [per_class] * C}
    return {**head, "settings": {"grids": {"10": SMALL}}, "units": units}, y


def test_words_are_those_of_students_t_and_of_holm(made_up):
    """Against SciPy's paired test and statsmodels' correction, from the bare counts."""
    record, y = made_up
    these, such = tuning.tuned_findings(record)
    others = [method for method in METHODS if method != "SLNP"]
    assert list(these) == [(10, o, b) for o in others for b in ("free", *COMMON)]
    right = np.array([unit["right"] for unit in record["units"].values()])[:, :, 0] / 400 * 100
    right = dict(zip(METHODS, right.T, strict=True))
    p = [ttest_rel(right["SLNP"], right[other]).pvalue for other in others for _ in range(3)]
    holm = multipletests(p, method="holm")[1]
    for (_, other, _), finding, expected in zip(these, these.values(), holm, strict=True):
        lead = right["SLNP"] - right[other]
        half = ttest_rel(right["SLNP"], right[other]).confidence_interval()
        assert finding.points == pytest.approx(lead.mean())
        assert finding.points - finding.interval == pytest.approx(half.low)
        assert finding.p_zero == pytest.approx(expected)
    assert {these[10, "MFA, per sample", basis].word for basis in ("free", *COMMON)} == {"ahead"}
    assert list(such) == [(10, other, "free") for other in others]
    first, other = (list(METHODS).index(m) for m in ("SLNP", "MFA, per sample"))
    gain = np.empty((10, 20))  # by how many images SLNP leads in each split and class
    for seed in range(10):
        _, test = random_split(y, 10, seed)
        bits = tuning.outcomes_by_class(record, 10, seed)
        gain[seed] = [
            int(bits[first][y[test] == c].sum() - bits[other][y[test] == c].sum())
            for c in range(20)
        ]
    expected = difference(Tally(gain, np.full((10, 20), 20.0))).such
    assert such[10, "MFA, per sample", "free"].interval == pytest.approx(expected.interval)
    for unit in record["units"].values():
        del unit["by_class"]
    assert tuning.tuned_findings(record) == (these, {})


# The records


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """A record of scikit-learn's digits with one split, made here."""
    folder = tmp_path_factory.mktemp("results")
    records.reproduce("digits-tuned", splits=1, n_jobs=1, folder=folder)
    assert records.verify("digits-tuned", sample=1, n_jobs=1, seed=0, folder=folder)["units"] == 1
    return records.load("digits-tuned", folder)


def test_a_record_says_what_was_found(record):
    X, y = load_digits(return_X_y=True)
    train, test = random_split(y, 20, seed=0)
    found = tuning.tuned(X[train], y[train], X[test], y[test], GRIDS["digits"][20], seed=0)
    column = tuning.column(record, 20)
    for m, (method, judged) in enumerate(found.items()):
        best = tuning.free(judged.chosen, judged.inner)
        assert column.chosen[0, m].tolist() == judged.chosen
        assert column.inner[0, m].tolist() == judged.inner
        assert column.free[0, m] == best
        assert column.cosine[0, m] == judged.cosine.sum()
        assert column.mean[0, m] == judged.mean.sum()
        for basis, right in zip(COMMON, judged.right, strict=True):
            assert column.rates(method, basis)[0] == pytest.approx(100 * right.mean())
        assert column.rates(method)[0] == pytest.approx(100 * judged.right[best].mean())


TAMPERING = {
    "other grids": lambda r, u: r["settings"]["grids"]["20"].update(d=[1, 2, 3]),
    "a method less": lambda r, u: u["right"].pop(),
    "no inner counts": lambda r, u: u.pop("inner"),
    "an entry too many": lambda r, u: u.update(by_class=""),
    "a setting too many": lambda r, u: u.update(chosen=u["chosen"] + " 0/0"),
    "a setting that is none": lambda r, u: u.update(
        chosen="18" + u["chosen"][u["chosen"].index("/") :]
    ),
    "more right than there are": lambda r, u: u.update(mean=[10**6, *u["mean"][1:]]),
}


@pytest.mark.parametrize("what", TAMPERING)
def test_a_record_is_checked_without_the_data(record, what):
    assert records.check("digits-tuned", record) == []
    tampered = copy.deepcopy(record)
    TAMPERING[what](tampered, tampered["units"]["tuned/20/00"])
    assert len(records.check("digits-tuned", tampered)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_committed_records_are_complete(name):
    record = records.load(name)
    dataset, _ = records.parts(name)
    assert records.check(name, record) == []
    assert record["splits"] == 10
    for N_i in GRIDS[dataset]:
        column = tuning.column(record, N_i)
        assert column.right.shape == column.chosen.shape == (10, len(METHODS), 2)
        if dataset in paper.DIMENSIONS:  # the splits are those of the tables
            assert column.tested == records.load(dataset)["units"][f"table/{N_i:02}/00"]["tested"]
        if dataset in tuning.BY_CLASS:
            for seed in record["seeds"]:
                right = tuning.outcomes_by_class(record, N_i, seed)
                rates = [column.rates(method)[seed] for method in METHODS]
                np.testing.assert_allclose(100 * right.mean(axis=1), rates)


def test_outcomes_that_are_not_those_of_the_counts_are_found():
    record = records.load("yale_b-tuned")
    unit = record["units"]["tuned/10/00"]
    right = tuning.outcomes_by_class(record, 10, 0)
    for changed in (pack(~right), pack(right[:, 1:]), "abc"):
        unit["by_class"] = changed
        assert len(records.check("yale_b-tuned", record)) == 1


def test_the_chosen_settings_are_compared_exactly():
    """A place in the list is a name, not a count: the next one is another setting."""
    here = {"tested": 100, "chosen": "3/17 0/35", "right": [[90, 80], [70, 60]]}
    assert records.compare(here, json.loads(json.dumps(here)), tuning.IMAGES)[2] == []
    for chosen in ("3/17 0/34", "3/17", "4/17 0/35"):
        assert len(records.compare(here, {**here, "chosen": chosen}, tuning.IMAGES)[2]) == 1


# The sets beyond the paper's


def test_digits_stand_class_by_class():
    data, theirs = load_digits(), sklearn_digits()
    assert np.all(np.diff(data.target) >= 0)
    np.testing.assert_array_equal(data.data[data.target == 4], theirs.data[theirs.target == 4])
    assert data.images.shape == (1797, 8, 8)


def test_fashion_is_read_as_published(tmp_path, monkeypatch):
    try:
        data = LOADERS["fashion"]()
    except DatasetNotFoundError:
        pytest.skip("the Debian package dataset-fashion-mnist is not on this machine")
    assert data.data.shape == (10000, 196)
    assert np.bincount(data.target).tolist() == 10 * [1000]
    assert data.checksum == records.load("fashion-tuned")["checksum"]
    assert 0 <= data.data.min() < data.data.max() <= 255


def test_fashion_that_is_missing_is_said_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("SLNP_EDU_DATA", str(tmp_path))
    monkeypatch.setattr("slnp_edu.data.files.cache_folder", lambda: tmp_path)
    monkeypatch.setattr("slnp_edu.data.fashion.DEBIAN", tmp_path)
    with pytest.raises(DatasetNotFoundError, match="dataset-fashion-mnist"):
        load_fashion()
