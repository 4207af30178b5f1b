"""The protocol against scikit-learn's own parts."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from slnp_edu import LFDA, LPP, LSDA, MFA, SLNP
from slnp_study.protocol import (
    METHODS,
    Split,
    evaluate,
    nearest_neighbour_is_right,
    random_split,
)
from slnp_study.relatives import LADA, SOLDE

DIGITS = load_digits()
BASES = ("own", "whitened", "orthonormal")


def test_a_split_takes_n_of_each_class_and_leaves_the_rest():
    y = np.repeat(["a", "b", "c"], [30, 20, 10])
    train, test = random_split(y, 7, seed=3)
    assert np.unique(y[train], return_counts=True)[1].tolist() == [7, 7, 7]
    assert sorted([*train, *test]) == list(range(60))
    assert np.array_equal(train, random_split(y, 7, seed=3)[0])
    assert not np.array_equal(train, random_split(y, 7, seed=4)[0])


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


@pytest.mark.parametrize("metric", ["Euclidean", "cosine"])
def test_one_nearest_neighbour_is_scikit_learns(metric):
    """With rows of very different lengths, and more of them than are compared at a time."""
    rng = np.random.default_rng(1)
    A = rng.normal(size=(300, 3)) * rng.uniform(1, 3, (300, 1))
    B, y, z = rng.normal(size=(700, 3)), rng.integers(0, 9, 300), rng.integers(0, 9, 700)
    model = KNeighborsClassifier(1, algorithm="brute", metric=metric.lower()).fit(A, y)
    expected = model.predict(B) == z
    np.testing.assert_array_equal(nearest_neighbour_is_right(A, y, B, z, metric), expected)


def test_pca_is_exact_where_scikit_learn_would_draw_at_random():
    """With 600 pixels and few dimensions it would; axes of nearly the same length show it."""
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(60, 600)), np.repeat([0, 1], 30)
    split = Split(X, y, N_i=20, D_PCA=5, seed=0)
    centred = X - X[split.train].mean(axis=0)
    axes = np.linalg.svd(centred[split.train], full_matrices=False)[2][:5]
    both = np.vstack([split.A, split.B])  # up to signs
    expected = np.vstack([centred[split.train], centred[split.test]]) @ axes.T
    np.testing.assert_allclose(both @ both.T, expected @ expected.T, atol=1e-8)


@pytest.mark.parametrize("basis", BASES)
def test_a_split_knows_which_samples_are_right(basis):
    """Against a basis made here: by QR in A for whitened, in W for orthonormal."""
    split = Split(DIGITS.data, DIGITS.target, N_i=12, D_PCA=20, seed=5)
    W = np.random.default_rng(2).normal(size=(20, 4)) * [1, 5, 0.2, 9]
    V = {
        "own": W,
        "whitened": W @ np.linalg.inv(np.linalg.qr(split.A @ W)[1]),
        "orthonormal": np.linalg.qr(W)[0],
    }[basis]
    knn = KNeighborsClassifier(1).fit(split.A @ V, DIGITS.target[split.train])
    expected = knn.predict(split.B @ V) == DIGITS.target[split.test]
    np.testing.assert_array_equal(split.right(W, basis), expected)
    assert split.rate(W, basis) == pytest.approx(100 * expected.mean())


def test_only_the_warning_of_a_k_that_is_cut_is_silenced(monkeypatch):
    split = Split(DIGITS.data, DIGITS.target, N_i=12, D_PCA=20, seed=5)
    np.testing.assert_array_equal(split.learn("SLNP", 2, 30), split.learn("SLNP", 2, 11))
    monkeypatch.setitem(METHODS, "complains", lambda *_: warnings.warn("other", stacklevel=1))
    with pytest.warns(UserWarning, match="other"):
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
    X, y = DIGITS.data[:400], DIGITS.target[:400]
    rates = evaluate(X, y, N_i=12, D_PCA=20, d=6, K=4, seed=5)
    assert {"PCA", "PCA, d only", "LDA", "LDA, C - 1", *ESTIMATORS} == set(METHODS) == set(rates)
    train, test = random_split(y, 12, 5)

    def pipeline(*parts, n=20, **options):
        model = make_pipeline(PCA(n, svd_solver="full", **options), *parts, KNeighborsClassifier(1))
        return pytest.approx(100 * model.fit(X[train], y[train]).score(X[test], y[test]))

    for name, estimator in ESTIMATORS.items():
        for basis in BASES:
            assert rates[name][basis] == pipeline(estimator.set_params(basis=basis)), (name, basis)
    assert rates["LDA"]["own"] == pipeline(LinearDiscriminantAnalysis(n_components=6))
    assert rates["LDA, C - 1"]["own"] == pipeline(LinearDiscriminantAnalysis())
    for name, n in (("PCA", 20), ("PCA, d only", 6)):
        assert rates[name]["orthonormal"] == pipeline(n=n)
        assert rates[name]["whitened"] == pipeline(n=n, whiten=True)


def test_the_test_part_does_not_touch_what_is_learned():
    X, setting = DIGITS.data.copy(), {"N_i": 10, "D_PCA": 20, "seed": 0}
    _, test = random_split(DIGITS.target, 10, 0)
    expected = Split(X, DIGITS.target, **setting).A
    X[test] = np.random.default_rng(0).normal(size=X[test].shape)
    np.testing.assert_array_equal(Split(X, DIGITS.target, **setting).A, expected)
