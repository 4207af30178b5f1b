"""Every method against its brute-force twin, on awkward data."""

import numpy as np
import pytest
import twins
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from slnp_edu import LFDA, LPP, LSDA, MFA, SLNP
from slnp_edu.base import in_basis
from slnp_edu.steps import uniform_similarity, w_step

TOLERANCE = 1e-8  # radians
pytestmark = pytest.mark.filterwarnings("ignore:n_neighbors=")

SIZES = {"a": 9, "bb": 12, "c": 7, "dd": 10}


def blobs(D, seed, sizes=SIZES):
    """Overlapping classes of unequal sizes with string labels, rows shuffled."""
    rng = np.random.default_rng(seed)
    y = np.repeat(list(sizes), list(sizes.values()))
    centre = {label: rng.normal(size=D) for label in sizes}
    mix = rng.normal(size=(D, D)) / np.sqrt(D)
    X = np.array([centre[label] for label in y]) + rng.normal(size=(len(y), D)) @ mix
    order = rng.permutation(len(y))
    return X[order], y[order]


def plain(seed):
    return blobs(6, seed)


def with_duplicates(seed):
    """Repeated rows, a class that is one point repeated, a class of two and one of a single row."""
    X, y = blobs(6, seed, SIZES | {"twice": 2, "one": 1, "same": 8})
    X[y == "same"] = X[y == "same"][0]
    first, second = np.flatnonzero(y == "bb")[:2]
    X[first] = X[second]
    return X, y


def wide(seed):
    """More features than samples."""
    return blobs(60, seed)


DATA = [plain, with_duplicates, wide]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("K", [2, 5, 20])
@pytest.mark.parametrize("make", DATA)
def test_slnp(make, K, seed):
    X, y = make(seed)
    # With D > N the best C - 1 directions shrink every class to a point; fewer are not unique.
    # With K = 2 the graph of a class may fall apart, and even those are not unique after round 1.
    d = 3
    rounds = 1 if make is wide and K == 2 else 4
    model = SLNP(d, K, max_iter=rounds, tol=0).fit(X, y)
    W, S, gamma, J = twins.slnp(X, y, d, K, rounds)
    assert twins.angle(model.components_.T, W) < TOLERANCE
    np.testing.assert_allclose(model.objective_, J[: model.n_iter_], rtol=1e-8, atol=1e-12)
    if make is not wide:
        np.testing.assert_allclose(model.similarity_.toarray(), S, atol=1e-8)
        np.testing.assert_allclose(model.gamma_, gamma, atol=1e-10)


@pytest.mark.parametrize("make", [plain, with_duplicates])
def test_first_round_of_slnp_is_scikit_learns_lda(make):
    X, y = make(0)
    d = len(set(y)) - 1
    lda = LinearDiscriminantAnalysis(solver="svd").fit(X, y)
    assert twins.angle(SLNP(d, max_iter=1).fit(X, y).components_.T, lda.scalings_) < TOLERANCE
    assert twins.angle(twins.lda(X, y, d), lda.scalings_) < TOLERANCE


def test_w_step_accepts_any_form_of_the_start():
    X, y = plain(0)
    S = uniform_similarity(y)
    dense = S @ np.eye(len(y))
    np.testing.assert_allclose(dense.sum(axis=1), 1)
    for form in (S, dense):
        W, values = w_step(X, form, 3)
        expected, expected_values = twins.solve(twins.pairwise(X, dense), twins.total_scatter(X), 3)
        assert twins.angle(W, expected) < TOLERANCE
        np.testing.assert_allclose(values, expected_values, atol=1e-12)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("make", DATA)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"K": 3},
        {"K": None},
        {"t": 20.0},
        {"kernel": "gaussian"},
        {"kernel": "gaussian", "t": 5.0},
    ],
)
def test_lpp(make, options, seed):
    X, _ = make(seed)
    named = {"n_neighbors" if name == "K" else name: value for name, value in options.items()}
    model = LPP(3, **named).fit(X)
    assert twins.angle(model.components_.T, twins.lpp(X, 3, **options)) < TOLERANCE


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("make", DATA)
@pytest.mark.parametrize("K", [7, 3])
def test_lfda(make, K, seed):
    X, y = make(seed)
    model = LFDA(3, K).fit(X, y)
    assert twins.angle(model.components_.T, twins.lfda(X, y, 3, K)) < TOLERANCE


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("make", DATA)
@pytest.mark.parametrize("pairs", ["class", "sample", "overall"])
def test_mfa(make, pairs, seed):
    X, y = make(seed)
    # With D > N the smallest eigenvalue is 0 many times over; what spans them must be linked whole.
    model = MFA(3, n_pairs=20, pairs=pairs).fit(X, y)
    assert twins.angle(model.components_.T, twins.mfa(X, y, 3, 5, 20, pairs)) < TOLERANCE


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("make", DATA)
@pytest.mark.parametrize("options", [{}, {"beta": 0.5, "self_loops": False}, {"n_neighbors": 8}])
def test_lsda(make, options, seed):
    X, y = make(seed)
    named = {"K" if name == "n_neighbors" else name: value for name, value in options.items()}
    model = LSDA(3, **options).fit(X, y)
    assert twins.angle(model.components_.T, twins.lsda(X, y, 3, **named)) < TOLERANCE


@pytest.mark.parametrize("method", [SLNP, LPP, LFDA, MFA, LSDA])
def test_both_bases_span_the_same_space(method):
    X, y = plain(1)
    white = method(3).fit(X, y).components_.T
    ortho = method(3, basis="orthonormal").fit(X, y).components_.T
    assert twins.angle(white, ortho) < TOLERANCE
    np.testing.assert_allclose(ortho.T @ ortho, np.eye(3), atol=1e-12)


def test_in_basis_serves_scikit_learns_lda():
    X, y = plain(2)
    lda = LinearDiscriminantAnalysis().fit(X, y)
    W = in_basis(lda.scalings_[:, :2], "orthonormal")
    np.testing.assert_allclose(W.T @ W, np.eye(2), atol=1e-12)
    assert twins.angle(W, lda.scalings_[:, :2]) < TOLERANCE
    assert in_basis(lda.scalings_, "whitened") is lda.scalings_
