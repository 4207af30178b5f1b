"""The protocol against scikit-learn's own parts."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from slnp_edu import LFDA, LPP, LSDA, MFA, SLNP
from slnp_edu.protocol import (
    METHODS,
    compare,
    evaluate,
    nearest_neighbour_rate,
    pca_split,
    random_split,
)

DIGITS = load_digits()
SETTING = {"D_PCA": 20, "d": 6}


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


def test_rate_equals_scikit_learns_nearest_neighbour():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(70, 3)), rng.normal(size=(90, 3))
    y, z = rng.integers(0, 4, 70), rng.integers(0, 4, 90)
    expected = 100 * KNeighborsClassifier(1).fit(A, y).score(B, z)
    assert nearest_neighbour_rate(A, y, B, z) == pytest.approx(expected)


ESTIMATORS = {
    "LPP": LPP(6, 5),
    "MFA": MFA(6, 5),
    "LSDA": LSDA(6, 5),
    "LFDA": LFDA(6, 7),
    "SLNP": SLNP(6, 4, tol=0),
}


def test_every_method_equals_a_pipeline_of_public_parts():
    X, y = DIGITS.data, DIGITS.target
    rates = evaluate(X, y, N_i=12, K=4, seed=5, **SETTING)
    assert list(rates) == list(METHODS)
    train, test = random_split(y, 12, 5)

    def pipeline(*parts):
        model = make_pipeline(PCA(20, svd_solver="full"), *parts, KNeighborsClassifier(1))
        return 100 * model.fit(X[train], y[train]).score(X[test], y[test])

    for name, estimator in ESTIMATORS.items():
        for basis in ("whitened", "orthonormal"):
            expected = pipeline(estimator.set_params(basis=basis))
            assert rates[name][basis] == pytest.approx(expected), (name, basis)
    assert rates["PCA"] == {"orthonormal": pytest.approx(pipeline())}
    expected = pipeline(LinearDiscriminantAnalysis(n_components=6))
    assert rates["LDA"]["whitened"] == pytest.approx(expected)
    expected = pipeline(LinearDiscriminantAnalysis())
    assert rates["LDA, C - 1"]["whitened"] == pytest.approx(expected)


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


def test_the_test_part_does_not_touch_what_is_learned():
    X = DIGITS.data.copy()
    train, test = random_split(DIGITS.target, 10, 0)
    expected = pca_split(X, DIGITS.target, 10, 20, 0)[0]
    X[test] = np.random.default_rng(0).normal(size=X[test].shape)
    np.testing.assert_array_equal(pca_split(X, DIGITS.target, 10, 20, 0)[0], expected)
    X[train] = X[train][::-1]
    assert not np.allclose(pca_split(X, DIGITS.target, 10, 20, 0)[0], expected)
