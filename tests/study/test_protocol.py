"""The protocol against scikit-learn's own parts."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils import Bunch

from slnp_edu import LFDA, LPP, LSDA, MFA, SLNP
from slnp_study.protocol import (
    METHODS,
    Split,
    compare,
    evaluate,
    nearest_neighbour_is_right,
    nearest_neighbour_rate,
    random_split,
)
from slnp_study.relatives import LADA, SOLDE

DIGITS = load_digits()
FEW = Bunch(data=DIGITS.data[:400], target=DIGITS.target[:400])
SETTING = {"D_PCA": 20, "d": 6}
BASES = ("own", "whitened", "orthonormal")


def test_a_split_takes_n_of_each_class_and_leaves_the_rest():
    y = np.repeat(["a", "b", "c"], [30, 20, 10])
    train, test = random_split(y, 7, seed=3)
    assert np.unique(y[train], return_counts=True)[1].tolist() == [7, 7, 7]
    assert sorted([*train, *test]) == list(range(60))
    assert np.array_equal(train, random_split(y, 7, seed=3)[0])
    assert not np.array_equal(train, random_split(y, 7, seed=4)[0])


def test_every_member_of_a_class_is_drawn_equally_often():
    y = np.zeros(10)
    drawn = np.bincount(np.concatenate([random_split(y, 3, seed)[0] for seed in range(2000)]))
    assert np.all(np.abs(drawn - 600) < 5 * np.sqrt(2000 * 0.3 * 0.7))


@pytest.mark.parametrize(("few", "many"), [(5, 10), (10, 30), (25, 30)])
@pytest.mark.parametrize("later", [0, 1], ids=["same seed", "next seed"])
def test_the_columns_of_a_table_are_drawn_independently(few, many, later):
    """Of few and many drawn from 64 as many coincide as by chance; nested, all few would."""
    y = np.repeat(np.arange(38), 64)
    shared = [
        len(np.intersect1d(random_split(y, few, s)[0], random_split(y, many, s + later)[0])) / 38
        for s in range(40)
    ]
    expected = few * many / 64  # hypergeometric
    variance = expected * (64 - few) * (64 - many) / (64 * 63)
    assert abs(np.mean(shared) - expected) < 4 * np.sqrt(variance / (38 * 40))


def test_rate_equals_scikit_learns_nearest_neighbour():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(70, 3)), rng.normal(size=(90, 3))
    y, z = rng.integers(0, 4, 70), rng.integers(0, 4, 90)
    expected = KNeighborsClassifier(1).fit(A, y).predict(B) == z
    np.testing.assert_array_equal(nearest_neighbour_is_right(A, y, B, z), expected)
    assert nearest_neighbour_rate(A, y, B, z) == pytest.approx(100 * expected.mean())


def test_many_rows_are_searched_block_by_block():
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(1100, 2)), rng.normal(size=(6000, 2))
    y, z = rng.integers(0, 9, 1100), rng.integers(0, 9, 6000)
    assert len(A) * len(B) > 3 * 2**21
    expected = KNeighborsClassifier(1).fit(A, y).predict(B) == z
    np.testing.assert_array_equal(nearest_neighbour_is_right(A, y, B, z), expected)


@pytest.fixture(scope="module")
def split():
    return Split(DIGITS.data, DIGITS.target, N_i=12, D_PCA=20, seed=5)


def test_a_split_holds_what_scikit_learns_pca_makes_of_it(split):
    train, test = random_split(DIGITS.target, 12, 5)
    np.testing.assert_array_equal(split.train, train)
    np.testing.assert_array_equal(split.test, test)
    np.testing.assert_array_equal(split.y_train, DIGITS.target[train])
    np.testing.assert_array_equal(split.y_test, DIGITS.target[test])
    pca = PCA(20, svd_solver="full").fit(DIGITS.data[train])
    np.testing.assert_allclose(split.A, pca.transform(DIGITS.data[train]))
    np.testing.assert_allclose(split.B, pca.transform(DIGITS.data[test]))
    np.testing.assert_allclose(split.A.mean(axis=0), 0, atol=1e-10)


def test_pca_is_exact_where_scikit_learn_would_draw_at_random():
    """With 600 pixels and few dimensions it would; axes of nearly the same length show it."""
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(60, 600)), np.repeat([0, 1], 30)
    split = Split(X, y, N_i=20, D_PCA=5, seed=0)
    centred = X[split.train] - X[split.train].mean(axis=0)
    U, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(np.abs(split.A), np.abs(U * lengths)[:, :5], atol=1e-8)


@pytest.mark.parametrize("basis", BASES)
def test_a_split_knows_which_samples_are_right(split, basis):
    """Against a basis made here: by QR in A for whitened, in W for orthonormal."""
    W = np.random.default_rng(2).normal(size=(20, 4)) * [1, 5, 0.2, 9]
    V = {
        "own": W,
        "whitened": W @ np.linalg.inv(np.linalg.qr(split.A @ W)[1]),
        "orthonormal": np.linalg.qr(W)[0],
    }[basis]
    knn = KNeighborsClassifier(1).fit(split.A @ V, split.y_train)
    expected = knn.predict(split.B @ V) == split.y_test
    np.testing.assert_array_equal(split.right(W, basis), expected)
    assert split.rate(W, basis) == pytest.approx(100 * expected.mean())
    if basis == "own":  # unless another is named
        np.testing.assert_array_equal(split.right(W), expected)
        assert split.rate(W) == split.rate(W, basis)


def test_a_split_is_silent_of_a_k_that_is_cut_and_of_nothing_else(split, monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cut = split.learn("SLNP", 2, 30)
    np.testing.assert_array_equal(cut, split.learn("SLNP", 2, 11))

    def complain(A, y, d, K):
        warnings.warn("something else", stacklevel=1)

    monkeypatch.setitem(METHODS, "complains", complain)
    with pytest.warns(UserWarning, match="something else"):
        split.learn("complains", 2, 3)


ESTIMATORS = {
    "LPP": LPP(6, 5),
    "LPP, within classes": LPP(6, 5, within_classes=True),
    "MFA": MFA(6, 5),
    "MFA, per sample": MFA(6, 5, pairs="sample"),
    "LSDA": LSDA(6, 5),
    "LFDA": LFDA(6, 7, metric="plain"),
    "LFDA, weighted": LFDA(6, 7),
    "SOLDE": SOLDE(6, 5),
    "LADA": LADA(6),
    "SLNP": SLNP(6, 4, tol=0),
}


def test_every_method_equals_a_pipeline_of_public_parts():
    X, y = FEW.data, FEW.target
    rates = evaluate(X, y, N_i=12, K=4, seed=5, **SETTING)
    assert list(rates) == list(METHODS)
    assert {"PCA", "PCA, d only", "LDA", "LDA, C - 1", *ESTIMATORS} == set(METHODS)
    train, test = random_split(y, 12, 5)

    def pipeline(*parts):
        model = make_pipeline(PCA(20, svd_solver="full"), *parts, KNeighborsClassifier(1))
        return 100 * model.fit(X[train], y[train]).score(X[test], y[test])

    for name, estimator in ESTIMATORS.items():
        for basis in BASES:
            expected = pipeline(estimator.set_params(basis=basis))
            assert rates[name][basis] == pytest.approx(expected), (name, basis)
    assert rates["PCA"]["own"] == rates["PCA"]["orthonormal"] == pytest.approx(pipeline())
    expected = pipeline(LinearDiscriminantAnalysis(n_components=6))
    assert rates["LDA"]["own"] == pytest.approx(expected)
    expected = pipeline(LinearDiscriminantAnalysis())
    assert rates["LDA, C - 1"]["own"] == pytest.approx(expected)
    for name, n in (("PCA", 20), ("PCA, d only", 6)):
        white = make_pipeline(PCA(n, svd_solver="full", whiten=True), KNeighborsClassifier(1))
        expected = 100 * white.fit(X[train], y[train]).score(X[test], y[test])
        assert rates[name]["whitened"] == pytest.approx(expected)


@pytest.mark.slow
def test_the_answer_is_the_same_for_any_number_of_jobs():
    settings = {5: SETTING, 8: SETTING}
    options = {"methods": ["PCA", "SLNP"], "splits": 3}
    one = compare(DIGITS, settings, 4, n_jobs=1, **options)
    two = compare(DIGITS, settings, 4, n_jobs=2, **options)
    assert one == two
    assert list(one) == [5, 8]
    assert len(one[5]["SLNP"]["whitened"]) == 3
    again = evaluate(DIGITS.data, DIGITS.target, N_i=8, K=4, seed=2, methods=["PCA"], **SETTING)
    assert one[8]["PCA"]["orthonormal"][2] == again["PCA"]["orthonormal"]


def test_rates_are_collected_by_column_method_basis_and_split():
    settings = {5: {"D_PCA": 8, "d": 3}, 8: {"D_PCA": 12, "d": 5}}
    found = compare(FEW, settings, 3, methods=iter(["LDA", "SLNP"]), splits=2)
    by_hand = {
        N_i: [
            evaluate(*FEW.values(), N_i=N_i, K=3, seed=seed, methods=["LDA", "SLNP"], **setting)
            for seed in (0, 1)
        ]
        for N_i, setting in settings.items()
    }
    assert found == {
        N_i: {
            method: {basis: [rates[method][basis] for rates in splits] for basis in BASES}
            for method in ("LDA", "SLNP")
        }
        for N_i, splits in by_hand.items()
    }
    twenty = compare(FEW, {5: {"D_PCA": 3, "d": 2}}, 3, methods=["PCA"])  # as in the paper
    assert len(twenty[5]["PCA"]["own"]) == 20


def test_the_test_part_does_not_touch_what_is_learned():
    X, setting = DIGITS.data.copy(), {"N_i": 10, "D_PCA": 20, "seed": 0}
    train, test = random_split(DIGITS.target, 10, 0)
    expected = Split(X, DIGITS.target, **setting).A
    X[test] = np.random.default_rng(0).normal(size=X[test].shape)
    np.testing.assert_array_equal(Split(X, DIGITS.target, **setting).A, expected)
    X[train] = X[train][::-1]
    assert not np.allclose(Split(X, DIGITS.target, **setting).A, expected)
