"""What must hold for any data: invariances, constraints, descent."""

from functools import partial
from itertools import islice

import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

import slnp_edu
from slnp_edu import LFDA, LPP, SLNP
from slnp_edu.slnp import rounds
from slnp_study.relatives import LADA, SOLDE

SOLDE_TR = partial(SOLDE, directions="trace ratio")
SUPERVISED_LPP = partial(LPP, within_classes=True)
METHODS = [*(getattr(slnp_edu, name) for name in slnp_edu.__all__), SUPERVISED_LPP, SOLDE_TR]
METHODS += [partial(LFDA, kernel="heat"), partial(SLNP, anchor=0.3)]
seeds = st.integers(0, 2**32 - 1)
pytestmark = pytest.mark.filterwarnings("ignore:n_neighbors=")


def sample(seed, N=40, D=5):
    """Overlapping classes of unequal sizes, at least 6 samples each."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.repeat([0, 1, 2], 6), rng.integers(0, 3, N - 18)])
    X = rng.normal(size=(3, D))[y] + rng.normal(size=(N, D)) * rng.uniform(0.5, 2, size=D)
    return X, y, rng


def space(model):
    return model.components_.T


@pytest.mark.parametrize("method", METHODS)
@given(seed=seeds)
def test_shuffled_rows_permute_the_answer(method, seed):
    X, y, rng = sample(seed)
    order = rng.permutation(len(X))
    model, shuffled = method(2).fit(X, y), method(2).fit(X[order], y[order])
    assert twins.angle(space(model), space(shuffled)) < 1e-6
    if method is SLNP:
        np.testing.assert_allclose(
            shuffled.similarity_.toarray(), model.similarity_.toarray()[order][:, order], atol=1e-6
        )
        np.testing.assert_allclose(shuffled.gamma_, model.gamma_[order], rtol=1e-6)


@given(seed=seeds, d=st.integers(3, 7))
def test_more_directions_than_classes_are_still_determined(seed, d):
    """From the uniform start the directions beyond C - 1 are tied: a rule must choose."""
    X, y, rng = sample(seed, D=8)
    order = rng.permutation(len(X))
    Q = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    model = SLNP(d, 4).fit(X, y)
    for changed, back in ((X[order], np.eye(8)), (1e3 * X[order], np.eye(8)), (X[order] @ Q, Q)):
        again = SLNP(d, 4).fit(changed, y[order])
        assert twins.angle(space(model), back @ space(again)) < 1e-5
        np.testing.assert_allclose(again.objective_, model.objective_, rtol=1e-6)


def test_of_tied_directions_those_with_more_variance_come_first():
    """Round 1 with d > C - 1: LDA's directions, then the largest variance left, in St's metric."""
    X, y, _ = sample(1, N=60, D=6)
    X = X - X.mean(axis=0)
    W = space(SLNP(4, 4, max_iter=1).fit(X, y))
    lda = twins.lda(X, y, 2)
    St = X.T @ X
    left = np.linalg.svd(lda.T @ St)[2][2:].T  # all w with lda' St w = 0: the tied directions
    _, by_variance = twins.solve(left.T @ left, left.T @ St @ left, 2)
    expected = np.hstack([lda, left @ twins.solve(left.T @ left, left.T @ St @ left, 2)[0]])
    assert twins.angle(W, expected) < 1e-8
    assert by_variance[0] < by_variance[1]


@pytest.mark.parametrize("method", METHODS)
@given(seed=seeds)
def test_renamed_labels_change_nothing(method, seed):
    X, y, _ = sample(seed)
    names = np.array(["zebra", "ant", "mole"])
    model, renamed = method(2).fit(X, y), method(2).fit(X, names[y])
    assert twins.angle(space(model), space(renamed)) < 1e-6


@pytest.mark.parametrize("method", METHODS)
@given(seed=seeds)
def test_shifting_changes_only_the_mean(method, seed):
    X, y, rng = sample(seed)
    shift = rng.normal(size=X.shape[1]) * 10
    model, shifted = method(2).fit(X, y), method(2).fit(X + shift, y)
    assert twins.angle(space(model), space(shifted)) < 1e-6
    np.testing.assert_allclose(shifted.mean_, model.mean_ + shift)


@pytest.mark.parametrize("method", METHODS)
@given(seed=seeds)
def test_rotating_the_data_rotates_the_projection(method, seed):
    X, y, rng = sample(seed)
    Q = np.linalg.qr(rng.normal(size=(X.shape[1],) * 2))[0]
    model, rotated = method(2).fit(X, y), method(2).fit(X @ Q, y)
    assert twins.angle(Q.T @ space(model), space(rotated)) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@given(seed=seeds, scale=st.floats(1e-6, 1e6))
def test_scaling_the_data_keeps_the_space(method, seed, scale):
    X, y, _ = sample(seed)
    model, scaled = method(2).fit(X, y), method(2).fit(X * scale, y)
    assert twins.angle(space(model), space(scaled)) < 1e-6
    # A whitened projection undoes the scale; an orthonormal one lets it through.
    white, scaled = (method(2, basis="whitened").fit(Z, y) for Z in (X, X * scale))
    np.testing.assert_allclose(
        np.abs(scaled.transform(X * scale)), np.abs(white.transform(X)), atol=1e-5
    )
    ortho = method(2, basis="orthonormal").fit(X * scale, y)
    np.testing.assert_allclose(ortho.components_ @ ortho.components_.T, np.eye(2), atol=1e-10)


@given(seed=seeds)
def test_slnp_does_not_care_for_any_invertible_map(seed):
    """Whitening makes SLNP affine invariant, unlike LPP or MFA."""
    X, y, rng = sample(seed)
    A = rng.normal(size=(5, 5)) + 4 * np.eye(5)
    model, mapped = SLNP(2).fit(X, y), SLNP(2).fit(X @ A, y)
    np.testing.assert_allclose(mapped.objective_, model.objective_, rtol=1e-6)
    assert twins.angle(np.linalg.solve(A, space(model)), space(mapped)) < 1e-5


@given(seed=seeds, K=st.integers(2, 12), rule=st.sampled_from(["paper", "can", "fixed"]))
def test_constraints_hold_after_fit(seed, K, rule):
    X, y, _ = sample(seed)
    model = SLNP(3, K, gamma=rule).fit(X, y)
    S = model.similarity_
    assert S.data.min() >= -1e-12
    np.testing.assert_allclose(S.sum(axis=1), 1)
    assert np.all(S.diagonal() == 0)
    j, k = S.tocoo().coords
    assert np.all(y[j] == y[k])
    W = space(model)
    np.testing.assert_allclose(W.T @ twins.total_scatter(X) @ W, np.eye(3), atol=1e-8)
    assert np.all(np.diff(model.eigenvalues_) >= 0)


@given(seed=seeds, K=st.integers(2, 12), duplicates=st.booleans())
def test_fixed_gamma_never_lets_j_rise(seed, K, duplicates):
    X, y, rng = sample(seed)
    if duplicates:
        X = X[rng.integers(0, len(X), len(X))].round(1)
        y = (X[:, 0] > np.median(X[:, 0])).astype(int)
        y[:2] = 0, 1
    J = SLNP(1, K, gamma="fixed", max_iter=25, tol=0).fit(X, y).objective_
    assert np.all(np.diff(J) <= 1e-10 * J[0])


@given(seed=seeds, K=st.integers(2, 12), anchor=st.floats(0, 1))
def test_fixed_gamma_and_an_anchor_never_let_their_sum_rise(seed, K, anchor):
    """Of (1 - a) J and a times LDA's scatter, all pairs of a class with weight 1/N_i."""
    X, y, _ = sample(seed)
    sums = []
    for r in islice(rounds(X, y, 2, K, rule="fixed", anchor=anchor), 15):
        within = sum(2 * np.sum((X[y == c] @ r.W).var(axis=0)) * np.sum(y == c) for c in range(3))
        sums.append((1 - anchor) * r.J + anchor * within)
    assert np.all(np.diff(sums) <= 1e-10 * sums[0])


@given(seed=seeds, rule=st.sampled_from(["paper", "can", "fixed"]))
def test_an_anchor_of_1_is_lda_in_every_round(seed, rule):
    X, y, _ = sample(seed)
    for r in islice(rounds(X, y, 2, 4, rule=rule, anchor=1), 4):
        assert twins.angle(r.W, twins.lda(X, y, 2)) < 1e-6


@given(seed=seeds, d=st.integers(1, 4), duplicates=st.booleans())
def test_lada_never_lets_its_ratio_rise(seed, d, duplicates):
    X, y, _ = sample(seed)
    if duplicates:
        X = X.round()
    J = LADA(d, max_iter=25, tol=0).fit(X, y).objective_
    assert np.all(np.diff(J) <= 1e-10 * J[0])


def rises(rule, seed):
    X, y, _ = sample(seed)
    J = SLNP(2, 9, gamma=rule, tol=0).fit(X, y).objective_
    return bool(np.any(np.diff(J) > 1e-6 * J[0]))


def test_the_rule_of_the_paper_raises_j_on_the_same_data():
    """So the descent above is no accident of the data."""
    assert sum(rises("paper", seed) for seed in range(20)) >= 5
    assert sum(rises("fixed", seed) for seed in range(20)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_number_of_blas_threads_changes_nothing(method):
    X, y, _ = sample(3, N=600, D=80)
    fitted = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            fitted.append(method(2).fit(X, y))
    one, two = fitted
    assert twins.angle(space(one), space(two)) < 1e-10
    np.testing.assert_allclose(one.transform(X), two.transform(X), rtol=1e-8, atol=1e-10)
    if method is SLNP:
        assert np.array_equal(one.similarity_.indices, two.similarity_.indices)


def test_the_same_input_gives_the_same_bytes():
    X, y, _ = sample(4)
    for method in METHODS:
        assert np.array_equal(space(method(2).fit(X, y)), space(method(2).fit(X, y)))
