"""Every method against its brute-force twin, on awkward data."""

from itertools import islice

import numpy as np
import pytest
import twins
from scipy.optimize import minimize
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import slnp_edu
from slnp_edu import LFDA, LPP, LSDA, MFA, SLNP
from slnp_edu.base import BASES, in_basis
from slnp_edu.slnp import rounds
from slnp_edu.steps import uniform_similarity, w_step
from slnp_study import variants
from slnp_study.relatives import LADA, SOLDE, inverse_shares, trace_ratio

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
METHODS = [getattr(slnp_edu, name) for name in slnp_edu.__all__]


def test_every_method_has_a_twin():
    assert {name.lower() for name in slnp_edu.__all__} <= set(vars(twins))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("K", [2, 5, 20])
@pytest.mark.parametrize("rule", ["paper", "can", "fixed"])
@pytest.mark.parametrize("make", DATA)
def test_slnp(make, rule, K, seed):
    X, y = make(seed)
    # With D > N the best C - 1 directions shrink every class to a point; fewer are not unique.
    # With K = 2 the graph of a class may fall apart, and even those are not unique after round 1.
    d = 3
    few = 1 if make is wide and K == 2 else 4
    model = SLNP(d, K, max_iter=few, tol=0, gamma=rule).fit(X, y)
    W, S, gamma, J = twins.slnp(X, y, d, K, few, rule)
    assert twins.angle(model.components_.T, W) < TOLERANCE
    np.testing.assert_allclose(model.objective_, J[: model.n_iter_], rtol=1e-8, atol=1e-12)
    if make is not wide:
        np.testing.assert_allclose(model.similarity_.toarray(), S, atol=1e-8)
        np.testing.assert_allclose(model.gamma_, gamma, atol=1e-10)


@pytest.mark.parametrize("make", [plain, with_duplicates])
@pytest.mark.parametrize("rule", ["paper", "fixed"])
def test_slnp_with_an_anchor_or_another_basis_inside_the_loop(make, rule):
    X, y = make(1)
    d, K = 3, 4
    for options, changed in (
        ({"anchor": 0.3}, {"anchor": 0.3}),
        ({"rescale": lambda W: in_basis(W, "unit")}, {"scale": np.linalg.norm}),
    ):
        *_, last = islice(rounds(X, y, d, K, rule=rule, **options), 4)
        W, S, _, J = twins.slnp(X, y, d, K, 4, rule, **changed)
        assert twins.angle(last.W, W) < TOLERANCE
        np.testing.assert_allclose(last.J, J[-1])
        np.testing.assert_allclose(last.S.toarray(), S, atol=1e-8)
    anchored = SLNP(d, K, gamma=rule, anchor=0.3, max_iter=4, tol=0).fit(X, y)
    *_, last = islice(rounds(X, y, d, K, rule=rule, anchor=0.3), 4)
    np.testing.assert_allclose(anchored.components_.T, last.W, rtol=1e-9, atol=1e-12)


def by_distance(Y, j, chosen):
    return sorted((float(np.sum((Y[j] - Y[k]) ** 2)), k) for k in chosen)


def twin_choice(name, X, y, K, seed):
    """The neighbours of a variant once more, one sample at a time."""
    if name == "farthest":
        return lambda Y, j, others: sorted(
            by_distance(Y, j, others), key=lambda found: (-found[0], found[1])
        )[:K]
    if name == "whole class":
        return by_distance
    if name in ("fixed", "fixed, whitened"):
        Z = X if name == "fixed" else X @ np.linalg.inv(np.linalg.cholesky(np.cov(X.T))).T
        return lambda Y, j, others: by_distance(
            Y, j, [k for _, k in twins.nearest(Z, j, others, K)]
        )
    draw = variants.drawn(X, y, K, seed)  # checked by itself below
    return lambda Y, j, others: by_distance(Y, j, [k for k in draw[j] if k != j])


@pytest.mark.parametrize("make", [plain, with_duplicates])
@pytest.mark.parametrize("start", variants.STARTS)
@pytest.mark.parametrize("chosen", variants.NEIGHBOURS)
def test_variants(make, start, chosen):
    X, y = make(0)
    d, K = 3, 4
    S = None
    if start == "nearest":
        S = np.zeros((len(X), len(X)))
        for j in range(len(X)):
            others = [k for k in range(len(X)) if y[k] == y[j]]
            found = twins.nearest(X, j, others, K)
            shares = twins.shares(found, K, "paper", None)[1] if found else []
            for (_, k), share in zip(found, shares, strict=True):
                S[j, k] = share
    choose = None if chosen == "learned" else twin_choice(chosen, X, y, K, seed=3)
    ours = list(islice(variants.variant(X, y, d, K, chosen=chosen, start=start, seed=3), 3))
    W, S, gamma, J = twins.slnp(X, y, d, K, 3, S=S, choose=choose)
    assert twins.angle(ours[-1].W, W) < TOLERANCE
    np.testing.assert_allclose([r.J for r in ours], J, rtol=1e-8)
    np.testing.assert_allclose(ours[-1].S.toarray(), S, atol=1e-8)
    np.testing.assert_allclose(ours[-1].gamma, gamma, atol=1e-10)


def test_drawn_neighbours_are_others_of_the_class_drawn_evenly():
    X, y = with_duplicates(0)
    draws = np.array([variants.drawn(X, y, 4, seed) for seed in range(400)])
    rows = np.arange(len(X))
    counts = np.zeros((len(X), len(X)))
    for draw in draws:
        for j in rows:
            found = [k for k in draw[j] if k != j]
            assert len(set(found)) == len(found) == min(4, np.sum(y == y[j]) - 1)
            assert all(y[k] == y[j] for k in found)
            counts[j, found] += 1
    for j in rows:
        n = np.sum(y == y[j]) - 1
        others = counts[j, (y == y[j]) & (rows != j)]
        share = min(4, n) / max(n, 1)
        spread = np.sqrt(400 * share * (1 - share))
        assert np.all(np.abs(others - 400 * share) <= 5 * spread)
    X, y = plain(0)
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = variants.drawn(X[order], y[order], 4, seed=7)
    assert np.array_equal(order[shuffled], variants.drawn(X, y, 4, seed=7)[order])


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
@pytest.mark.parametrize("K", [5, 3, None])
def test_lpp_within_classes(make, K, seed):
    X, y = make(seed)
    model = LPP(3, K, within_classes=True).fit(X, y)
    # With D > N and few links a class falls apart and the eigenvalue 0 is there more than 3 times.
    if make is not wide or K is None:
        assert twins.angle(model.components_.T, twins.lpp(X, 3, K, y=y)) < TOLERANCE


def test_lpp_of_all_others_and_of_a_sample_without_any():
    X, y = plain(0)
    everyone, all_others = LPP(3, None).fit(X), LPP(3, len(X) - 1).fit(X)
    np.testing.assert_array_equal(all_others.components_, everyone.components_)
    y[-1] = "alone"
    W = LPP(3, within_classes=True).fit(X, y).components_.T
    assert twins.angle(W, twins.lpp(X, 3, y=y)) < TOLERANCE


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("make", DATA)
@pytest.mark.parametrize(
    "options",
    [{}, {"K": 3}, {"kernel": "heat"}, {"kernel": "heat", "c": 0.2}, {"kernel": "heat", "t": 9.0}],
    ids=str,
)
def test_lfda(make, options, seed):
    X, y = make(seed)
    named = {"n_neighbors" if name == "K" else name: value for name, value in options.items()}
    plain, weighted = (
        LFDA(3, metric=metric, **named).fit(X, y) for metric in ("plain", "weighted")
    )
    W, values = twins.lfda(X, y, 3, **options)
    assert twins.angle(plain.components_.T, W) < TOLERANCE
    # The metric is what distances see: WW' of the plain, W diag(lambda) W' of the weighted.
    for model, expected in ((plain, W @ W.T), (weighted, W @ np.diag(values) @ W.T)):
        found = model.components_.T @ model.components_
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_a_direction_with_an_eigenvalue_below_1_counts_less_in_lfda():
    X, y = plain(0)
    W, values = twins.lfda(X, y, 6, 7)
    assert values.min() < 0.7
    found, expected = LFDA(6, 7).fit(X, y).components_.T, W @ np.diag(values) @ W.T
    np.testing.assert_allclose(
        found @ found.T, expected, rtol=0, atol=1e-6 * np.abs(expected).max()
    )


def test_the_metric_of_lfda_is_seen_in_its_own_basis_only():
    X, y = plain(0)
    for basis in ("whitened", "orthonormal"):
        weighted, other = (LFDA(3, metric=m, basis=basis).fit(X, y) for m in ("weighted", "plain"))
        np.testing.assert_array_equal(weighted.components_, other.components_)


def test_no_weight_of_lfda_is_the_root_of_a_negative_number():
    """Its between-class scatter is that of LDA and more: shares 1 - s >= 0 of pairs in a class."""
    for make, d in ((plain, 6), (with_duplicates, 6), (wide, 20)):
        X, y = make(0)
        assert LFDA(d, 1).fit(X, y).eigenvalues_.min() > -1e-12


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("make", DATA)
@pytest.mark.parametrize("directions", ["one by one", "trace ratio"])
@pytest.mark.parametrize("options", [{}, {"K": 8, "a": 1.0, "sigma": 50.0}, {"a": 0.9}])
def test_solde(make, directions, options, seed):
    X, y = make(seed)
    named = {"n_neighbors" if name == "K" else name: value for name, value in options.items()}
    model = SOLDE(3, directions=directions, **named).fit(X, y)
    W = twins.solde(X, y, 3, directions=directions, **options)
    assert twins.angle(model.components_.T, W) < TOLERANCE * 10
    if directions == "one by one":  # every one, not only all together
        for m in (1, 2):
            assert twins.angle(model.components_[:m].T, W[:, :m]) < TOLERANCE * 10


@pytest.mark.parametrize("make", DATA)
def test_the_trace_ratio_is_at_least_that_of_one_by_one_and_of_random_directions(make):
    X, y = make(2)
    best = SOLDE(3, directions="trace ratio").fit(X, y)
    assert best.ratio_ > SOLDE(3).fit(X, y).ratio_
    if make is not wide:  # there null directions of X'L_d X are dropped, and a random W has some
        margin, L_d = SOLDE()._matrices(X, np.unique(y, return_inverse=True)[1])
        rng = np.random.default_rng(0)
        for _ in range(200):
            W = np.linalg.qr(rng.normal(size=(6, 3)))[0]
            assert np.trace(W.T @ margin @ W) <= best.ratio_ * np.trace(W.T @ L_d @ W)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("make", DATA)
@pytest.mark.parametrize("d", [2, 3])
def test_lada(make, d, seed):
    X, y = make(seed)
    if make is wide and d == 2:
        return  # all of C - 1 = 3 directions shrink every class to a point; two are not unique
    model = LADA(d, max_iter=4, tol=0).fit(X, y)
    W, J = twins.lada(X, y, d, 4)
    assert twins.angle(model.components_.T, W) < TOLERANCE * 10
    np.testing.assert_allclose(model.objective_, J[: model.n_iter_], rtol=1e-7, atol=1e-12)


def test_lada_stops_when_its_ratio_stands_still():
    X, y = plain(0)
    J = LADA(2, tol=0, max_iter=5).fit(X, y).objective_
    change = -np.diff(J) / J[1:]
    assert np.all(np.diff(change) < 0)
    for few in (2, 3, 4):  # a fraction of the ratio it falls to, not of the one before
        last, before = J[few - 1], J[few - 2]
        for tol, found in ((change[few - 2] * (1 + 1e-9), few), ((before - last) / before, 5)):
            model = LADA(2, tol=tol, max_iter=few + (found == 5)).fit(X, y)
            assert model.n_iter_ == len(model.objective_) == few + (found == 5)
    one = LADA(1, tol=0).fit(X[:, :1], y)  # one direction only: nothing moves
    assert one.n_iter_ == 2


def test_the_shares_of_lada_are_the_minimum_that_a_general_solver_finds():
    rng = np.random.default_rng(0)
    d = np.sort(rng.gamma(1, size=(5, 6)), axis=1)
    for row, s in zip(d, inverse_shares(d), strict=True):
        found = minimize(
            lambda s, row=row: np.sum(s**2 * row),
            np.full(6, 1 / 6),
            bounds=[(0, 1)] * 6,
            constraints={"type": "eq", "fun": lambda s: s.sum() - 1},
            tol=1e-12,
        )
        np.testing.assert_allclose(s, found.x, atol=1e-5)


def test_the_first_round_of_lada_is_lda_as_a_trace_ratio():
    X, y = plain(3)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    within = lda.covariance_ * len(X)  # the mean of the class covariances, weighted by size
    total = twins.total_scatter(X)
    expected = twins.best_trace_ratio(-within, total, 2)
    assert twins.angle(LADA(2, max_iter=1).fit(X, y).components_.T, expected) < TOLERANCE


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("make", DATA)
@pytest.mark.parametrize("pairs", ["class", "sample", "overall"])
def test_mfa(make, pairs, seed):
    X, y = make(seed)
    # With D > N the smallest eigenvalue is 0 many times over; what spans them must be linked whole.
    model = MFA(3, n_pairs=20, pairs=pairs).fit(X, y)
    assert twins.angle(model.components_.T, twins.mfa(X, y, 3, 5, 20, pairs)) < TOLERANCE


@pytest.mark.parametrize("pairs", ["class", "sample"])
def test_of_pairs_as_near_as_each_other_mfa_links_those_of_smaller_numbers(pairs):
    grid = np.indices((5, 5, 5)).reshape(3, -1).T
    X = np.random.default_rng(0).permutation(grid)[:64].astype(float)  # the mean is exact
    y = np.arange(64) % 3
    W = MFA(2, n_pairs=9, pairs=pairs).fit(X, y).components_.T
    assert twins.angle(W, twins.mfa(X, y, 2, 5, 9, pairs)) < TOLERANCE


@pytest.mark.parametrize("K", [11, 12, 40])
def test_more_neighbours_than_others_are_all_others(K):
    X, y = plain(0)
    X, y = X[:12, :3], y[:12]
    ours = LSDA(2, K).fit(X, y), SOLDE(2, K).fit(X, y)
    expected = twins.lsda(X, y, 2, K), twins.solde(X, y, 2, K)
    for model, W in zip(ours, expected, strict=True):
        assert twins.angle(model.components_.T, W) < TOLERANCE * 10


def test_solde_refuses_where_a_single_eigenvalue_is_negative_even_a_little():
    X, y = plain(0)
    centred, labels = X - X.mean(axis=0), np.unique(y, return_inverse=True)[1]

    def eigenvalues(a):
        return np.linalg.eigvalsh(SOLDE(a=a, sigma=8.0)._matrices(centred, labels)[1])

    low, high = 0.5, 1.0  # the least eigenvalue is negative and positive there
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (middle, high) if eigenvalues(middle)[0] < 0 else (low, middle)
    found = eigenvalues(low)
    assert -1e-6 * found[-1] < found[0] < -1e-10 * found[-1]
    assert found[1] > 0
    with pytest.raises(ValueError, match="negative eigenvalues"):
        SOLDE(2, a=low, sigma=8.0).fit(X, y)
    SOLDE(2, a=high, sigma=8.0).fit(X, y)


def test_the_trace_ratio_does_not_hang_on_the_units_and_may_be_0():
    rng = np.random.default_rng(0)
    M, B = rng.normal(size=(6, 4)), np.diag([1.0, 2.0, 3.0, 4.0])
    A = M.T @ M
    expected = twins.best_trace_ratio(-A, B, 2)
    for of_A, of_B in ((1, 1), (1e-9, 1), (1e9, 1), (1e-4, 1e-4), (1e4, 1e4)):
        assert twins.angle(trace_ratio(of_A * A, of_B * B, 2), expected) < TOLERANCE * 10
    assert trace_ratio(np.zeros((4, 4)), B, 2).shape == (4, 2)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("make", DATA)
@pytest.mark.parametrize("options", [{}, {"beta": 0.5, "self_loops": False}, {"n_neighbors": 8}])
def test_lsda(make, options, seed):
    X, y = make(seed)
    named = {"K" if name == "n_neighbors" else name: value for name, value in options.items()}
    model = LSDA(3, **options).fit(X, y)
    assert twins.angle(model.components_.T, twins.lsda(X, y, 3, **named)) < TOLERANCE


def constraint(basis, X):
    """The matrix B of the promised ``W'BW = I``, or None."""
    return {"whitened": twins.total_scatter(X), "orthonormal": np.eye(X.shape[1])}.get(basis)


def directions(method, X, y, basis):
    """Three directions of one of our methods, or of scikit-learn's through `in_basis`."""
    if method == "PCA":
        return in_basis(PCA(3).fit(X).components_.T, basis, X)
    if method == "LDA":
        return in_basis(LinearDiscriminantAnalysis().fit(X, y).scalings_[:, :3], basis, X)
    return method(3, basis=basis).fit(X, y).components_.T


@pytest.mark.parametrize("make", DATA)
@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("method", ["PCA", "LDA", *METHODS])
def test_every_basis_keeps_its_promise_and_the_space(method, basis, make):
    X, y = make(1)
    W = directions(method, X, y, basis)
    assert twins.angle(W, directions(method, X, y, "own")) < TOLERANCE
    B = constraint(basis, X)
    if B is not None:
        np.testing.assert_allclose(W.T @ B @ W, np.eye(3), rtol=0, atol=1e-10)
    if basis == "unit":  # each column of the method's own, scaled
        own = directions(method, X, y, "own")
        for w, v in zip(W.T, own.T, strict=True):
            assert abs(w @ v) == pytest.approx(np.linalg.norm(v))
            assert w @ w == pytest.approx(1)
    if basis != "own":
        assert np.all(W[np.abs(W).argmax(axis=0), range(3)] > 0)


def test_a_basis_has_no_negative_zero():
    W = in_basis(np.array([[0.0], [-2.0]]), "orthonormal")
    assert W.tolist() == [[0.0], [1.0]]
    assert not np.signbit(W).any()
    assert in_basis(W, "own") is W


def test_a_basis_keeps_the_order_of_the_columns():
    """Gram-Schmidt: the first m columns span what the first m of W span."""
    X, _ = plain(3)
    W = np.random.default_rng(3).normal(size=(6, 4))
    for basis in ("whitened", "orthonormal", "unit"):
        V = in_basis(W, basis, X)
        for m in range(1, 5):
            assert twins.angle(V[:, :m], W[:, :m]) < TOLERANCE


def test_whitened_gives_the_distances_of_st_restricted_to_the_space():
    """``||V'a||^2 = a'W (W'StW)^-1 W'a``, whatever W the space came with."""
    X, _ = plain(4)
    rng = np.random.default_rng(4)
    W, a = rng.normal(size=(6, 3)) * [1e-3, 1.0, 1e4], rng.normal(size=6)
    expected = a @ W @ np.linalg.solve(W.T @ twins.total_scatter(X) @ W, W.T @ a)
    assert np.sum((in_basis(W, "whitened", X).T @ a) ** 2) == pytest.approx(expected, rel=1e-9)
    assert np.sum((in_basis(W, "whitened", X + 100).T @ a) ** 2) == pytest.approx(expected)


def test_directions_without_variance_cannot_be_whitened_and_are_dropped():
    X, y = wide(5)  # 38 samples of 60 features: rank 37
    St = twins.total_scatter(X)
    V = in_basis(np.eye(60), "whitened", X)
    assert V.shape == (60, 37)
    np.testing.assert_allclose(V.T @ St @ V, np.eye(37), rtol=0, atol=1e-9)
    everything = PCA(38).fit(X).components_.T  # the last one is a null direction
    V = in_basis(everything, "whitened", X)
    assert V.shape == (60, 37)
    assert twins.angle(V, everything[:, :37]) < TOLERANCE
    W = LFDA(3).fit(X, y).components_.T
    null = everything[:, [37]]
    V = in_basis(np.column_stack([null, W[:, 0], W[:, 0] + null[:, 0], W[:, 1:]]), "whitened", X)
    assert V.shape == (60, 3)
    assert twins.angle(X @ V, X @ W) < TOLERANCE


def test_nearly_parallel_columns_come_out_orthonormal_all_the_same():
    X, _ = plain(7)
    W = np.ones((6, 3)) + 1e-7 * np.random.default_rng(7).normal(size=(6, 3))
    for basis, B in (("orthonormal", np.eye(6)), ("whitened", twins.total_scatter(X))):
        V = in_basis(W, basis, X)
        np.testing.assert_allclose(V.T @ B @ V, np.eye(3), rtol=0, atol=1e-13)


def test_dependent_columns_are_dropped_from_an_orthonormal_basis():
    W = np.random.default_rng(6).normal(size=(5, 2)) * [1e-9, 1e9]
    assert in_basis(np.column_stack([W, np.zeros(5)]), "unit").shape == (5, 2)
    V = in_basis(np.column_stack([W[:, 0], 2 * W[:, 0], np.zeros(5), W[:, 1]]), "orthonormal")
    np.testing.assert_allclose(V.T @ V, np.eye(2), atol=1e-14)
    assert twins.angle(V, W) < TOLERANCE
