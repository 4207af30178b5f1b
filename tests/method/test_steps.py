"""The steps against general solvers, identities and the paper's own bounds."""

import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize
from sklearn.neighbors import NearestNeighbors

from slnp_edu import search, slnp
from slnp_edu.search import Search, factors
from slnp_edu.steps import (
    break_ties,
    distances_to,
    exact_s_step,
    fix_signs,
    gamma_bounds,
    gamma_step,
    laplacian_scatter,
    neighbours,
    objective,
    project_to_simplex,
    s_step,
    similarity_matrix,
    uniform_similarity,
    w_step,
    whitening,
)


def rows_of_distances(max_value=1e6):
    """Rows of K = 2 to 12 sorted squared distances, ties and zeros included."""
    return (
        st.integers(2, 12)
        .flatmap(
            lambda K: hnp.arrays(
                float, (4, K), elements=st.floats(0, max_value, allow_subnormal=False)
            )
        )
        .map(lambda d: np.sort(d, axis=1))
    )


# --- neighbours ---------------------------------------------------------------------------------


@given(
    st.integers(3, 30).flatmap(
        lambda n: st.tuples(
            hnp.arrays(int, (n, 2), elements=st.integers(-3, 3)),
            hnp.arrays(int, n, elements=st.integers(0, 2)),
        )
    ),
    st.integers(1, 6),
)
def test_neighbours_equal_a_double_loop_even_on_a_grid_full_of_ties(sample, K):
    Y, y = sample
    indices, distances = neighbours(Y, y, K)
    for j in range(len(Y)):
        near = twins.nearest(Y, j, [k for k in range(len(Y)) if y[k] == y[j]], K)
        missing = K - len(near)
        assert list(indices[j]) == [k for _, k in near] + [j] * missing
        assert list(distances[j]) == [d for d, _ in near] + [np.inf] * missing


@st.composite
def awkward_samples(draw):
    """Whole numbers full of ties and duplicates, shifted, scaled, in classes of 1 to 30 samples.

    Shifts and scales are powers of two, so that no squared distance is rounded.
    """
    n, d = draw(st.integers(2, 30)), draw(st.integers(1, 3))
    Y = draw(hnp.arrays(int, (n, d), elements=st.integers(-3, 3))).astype(float)
    Y = (Y + draw(st.sampled_from([0.0, 2.0**20]))) * 2.0 ** draw(st.sampled_from([-400, 0, 400]))
    y = draw(hnp.arrays(int, n, elements=st.integers(0, draw(st.integers(0, 10)))))
    order = draw(st.sampled_from("CF"))
    return np.asarray(Y, order=order), y


@pytest.mark.parametrize("tree", [0, 24])  # a tree wherever there can be one, or for few features
@given(awkward_samples(), st.integers(1, 6), st.integers(0, 5), st.sampled_from([1, 8, 2**20]))
def test_neighbours_and_search_equal_a_double_loop_whatever_the_search_remembers(
    tree, sample, K, seed, block
):
    Y, y = sample
    elsewhere = np.random.default_rng(seed).normal(size=Y.shape)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("slnp_edu.search._BLOCK", block)
        patch.setattr("slnp_edu.search._TREE", tree)
        find = Search()
        first = find(Y, y, K)
        find(elsewhere, y, K)
        hinted = find(Y, y, K)
    for indices, distances in (neighbours(Y, y, K), first, hinted):
        for j in range(len(Y)):
            near = twins.nearest(Y, j, [k for k in range(len(Y)) if y[k] == y[j]], K)
            missing = K - len(near)
            assert list(indices[j]) == [k for _, k in near] + [j] * missing
            assert list(distances[j]) == [d for d, _ in near] + [np.inf] * missing


@pytest.mark.parametrize("tree", [0, 24])
@pytest.mark.parametrize("seed", range(4))
def test_neighbours_of_clumps_far_apart_equal_scikit_learns(seed, tree, monkeypatch):
    """In single precision the samples of a clump are one point: screening drops none of them."""
    monkeypatch.setattr("slnp_edu.search._TREE", tree)
    monkeypatch.setattr("slnp_edu.search._BLOCK", 2**20 if tree else 2**14)  # a class at a time
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1, 2], [200, 90, 10]))
    Y = rng.integers(0, 2, size=(300, 1)) * 1e4 + rng.normal(size=(300, 5)) * 10.0 ** -(seed % 3)
    Y[y == 2] *= 1e-4
    find = Search()
    find(rng.normal(size=Y.shape), y, 7)
    indices, distances = find(Y, y, 7)
    for other in (find(Y, y, 7), Search()(Y, y, 7), neighbours(Y, y, 7)):
        assert np.array_equal(other[0], indices)
    for label in range(3):
        members = np.flatnonzero(y == label)
        tree = NearestNeighbors(n_neighbors=7, algorithm="kd_tree").fit(Y[members])
        expected, index = tree.kneighbors()
        np.testing.assert_allclose(distances[members], expected**2, rtol=1e-9)
        assert np.array_equal(indices[members], members[index])


def test_a_search_starts_afresh_when_the_samples_the_labels_or_K_change():
    rng = np.random.default_rng(0)
    find = Search()
    for n, K in ((30, 3), (40, 3), (40, 3), (40, 5)):
        Y, y = rng.normal(size=(n, 2)), rng.integers(3, size=n)
        np.testing.assert_array_equal(find(Y, y, K)[0], neighbours(Y, y, K)[0])


def test_a_search_measures_few_pairs(monkeypatch):
    """That's all it's for. A tree leaves K for each sample, last round's neighbours hardly more."""
    measured, nearest = [], search._nearest

    def counting(Z, rows, i, *others):
        measured.append(len(i))
        return nearest(Z, rows, i, *others)

    monkeypatch.setattr(search, "_nearest", counting)
    rng = np.random.default_rng(0)
    Y, y, K = rng.normal(size=(900, 5)), np.arange(900) % 3, 4
    find = Search()
    for at_most in (1.1, 1.01):  # first round, later rounds
        measured.clear()
        find(Y, y, K)
        assert len(Y) * K <= sum(measured) < at_most * len(Y) * K
        Y = Y + 1e-3 * rng.normal(size=Y.shape)
    monkeypatch.setattr(search, "_TREE", 0)
    monkeypatch.setattr(search, "_BLOCK", 300**2)  # a class at a time
    measured.clear()
    find(Y, y, K)
    assert sum(measured) == len(Y) * K


@pytest.mark.parametrize(
    ("rule", "N", "d", "expected"),
    [
        ("paper", 99, 2, "plain"),
        ("paper", 99, 3, "search"),
        ("paper", 100, 2, "search"),
        ("can", 100, 3, "search"),
        ("fixed", 100, 3, "plain"),
    ],
)
def test_the_plain_search_is_taken_where_there_is_little_to_leave_out(
    rule, N, d, expected, monkeypatch
):
    taken = set()

    def noting(name, find):
        def noted(*given):
            taken.add(name)
            return find(*given)

        return noted

    monkeypatch.setattr(slnp, "neighbours", noting("plain", neighbours))
    monkeypatch.setattr(slnp, "Search", lambda: noting("search", Search()))
    X = np.random.default_rng(0).normal(size=(N, 4))
    next(slnp.rounds(X, np.arange(N) % 2, d, 3, rule=rule))
    assert taken == {expected}


def test_distances_to_named_samples():
    Y = np.random.default_rng(0).normal(size=(40, 3))
    y = np.arange(40) % 3
    y[-1] = 3  # alone in its class
    indices, distances = neighbours(Y, y, 15)
    np.testing.assert_allclose(distances_to(indices, Y), distances, rtol=1e-12)


@pytest.mark.parametrize("tree", [0, 24])
def test_distances_at_the_level_of_rounding_count_as_zero(tree, monkeypatch):
    monkeypatch.setattr("slnp_edu.search._TREE", tree)
    Y = np.array([[1.0, 2.0], [1.0 + 1e-15, 2.0], [3.0, 5.0]])
    assert neighbours(Y, [0, 0, 0], 1)[1][:, 0].tolist() == [0.0, 0.0, pytest.approx(13)]
    # Nearer than rounding is as near as can be: the smaller row number decides.
    for unit in (1e-3, 1.0, 1e3):
        Y = unit * np.array([[0.0], [3e-10], [0.0], [10.0], [-10.0]])
        for find in (neighbours, Search()):
            indices, distances = find(Y, np.zeros(5), 1)
            assert (indices[0, 0], distances[0, 0]) == (1, 0.0)


# --- gamma and S --------------------------------------------------------------------------------


@given(rows_of_distances())
def test_lemma_similarities_are_on_the_simplex_for_any_distances(d):
    gamma = gamma_step(d)
    S = s_step(d, gamma)
    assert np.all(S >= -1e-12)
    assert np.all(gamma >= gamma_bounds(np.column_stack([d, d[:, -1]]))[0] * (1 - 1e-12))
    np.testing.assert_allclose(S.sum(axis=1), 1, rtol=1e-12)


def test_gamma_step_by_hand():
    assert gamma_step([[3.0, 4.0], [0.0, 0.0], [2.0, np.inf], [np.inf, np.inf]]).tolist() == [
        2.5,  # (2-1)/2 * 5
        0.0,
        0.0,  # one neighbour: K - 1 = 0
        0.0,
    ]


def test_s_step_where_gamma_is_zero_or_neighbours_are_missing():
    d = [[0.0, 0.0, 0.0], [2.0, np.inf, np.inf], [np.inf] * 3, [1.0, 3.0, np.inf]]
    S = s_step(d, gamma_step(d))
    expected = [
        [1 / 3] * 3,
        [1, 0, 0],
        [0, 0, 0],
        s_step([[1.0, 3.0]], gamma_step([[1.0, 3.0]]))[0],
    ]
    np.testing.assert_allclose(S[:3], expected[:3])
    np.testing.assert_allclose(S[3], [*expected[3], 0])


@given(rows_of_distances(100))
def test_at_the_bounds_the_kth_similarity_and_the_next_touch_zero(d):
    near, following = d[:, :-1], d[:, -1]
    lower, upper = gamma_bounds(d)
    assert np.all(lower <= upper)
    K = near.shape[1]
    for gamma, distance in ((lower, near[:, -1]), (upper, following)):
        positive = gamma > 1e-6
        eta = (near.sum(axis=1)[positive] / (2 * gamma[positive]) + 1) / K  # (42)
        np.testing.assert_allclose(eta, distance[positive] / (2 * gamma[positive]), rtol=1e-9)


def test_gamma_bounds_without_a_next_neighbour():
    lower, upper = gamma_bounds([[1.0, 2.0, np.inf], [3.0, np.inf, np.inf]])
    assert lower.tolist() == upper.tolist() == [0.5, 0.0]


def general_solver(d, gamma):
    """min sum(s d + gamma s^2) on the simplex, by sequential quadratic programming."""
    n = len(d)
    answer = minimize(
        lambda s: s @ d + gamma * s @ s,
        np.full(n, 1 / n),
        jac=lambda s: d + 2 * gamma * s,
        bounds=[(0, 1)] * n,
        constraints={"type": "eq", "fun": lambda s: s.sum() - 1, "jac": lambda s: np.ones(n)},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return answer.x


@pytest.mark.parametrize("seed", range(10))
def test_exact_s_step_equals_a_general_solver(seed):
    rng = np.random.default_rng(seed)
    d = rng.gamma(1.0, size=(5, 8))
    gamma = 10.0 ** rng.uniform(-2, 1, size=5)
    expected = [general_solver(row, g) for row, g in zip(d, gamma, strict=True)]
    np.testing.assert_allclose(exact_s_step(d, gamma), expected, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_s_step_is_exact_whenever_gamma_lies_within_the_bounds(seed):
    rng = np.random.default_rng(seed)
    d = np.sort(rng.gamma(1.0, size=(50, 9)), axis=1)
    lower, upper = gamma_bounds(d[:, :6])
    gamma = lower + rng.uniform(0.01, 0.99, size=50) * (upper - lower)
    exact = exact_s_step(d, gamma)
    np.testing.assert_allclose(exact[:, :5], s_step(d[:, :5], gamma), atol=1e-10)
    assert np.all(exact[:, 5:] == 0)


def kkt_residual(d, gamma, S):
    """Largest violation of the optimality conditions of (34)-(37), b kept, for each row."""
    gradient = d / (2 * gamma[:, None]) + S
    eta = gradient.min(axis=1, keepdims=True)
    b = gradient - eta  # must be >= 0 (it is), and 0 where s > 0
    return max(np.abs(b * S).max(), -S.min(), np.abs(S.sum(axis=1) - 1).max())


@given(rows_of_distances(1e3), st.integers(0, 2**32 - 1))
def test_kkt_residual(d, seed):
    gamma = 10.0 ** np.random.default_rng(seed).uniform(-3, 3, size=len(d))
    assert kkt_residual(d, gamma, exact_s_step(d, gamma)) < 1e-10


def test_exact_s_step_at_gamma_zero_shares_among_the_nearest():
    d = [[1.0, 1.0, 2.0], [0.0, np.inf, np.inf], [np.inf] * 3]
    expected = [[0.5, 0.5, 0], [1, 0, 0], [0, 0, 0]]
    np.testing.assert_array_equal(exact_s_step(d, [0.0, 0.0, 0.0]), expected)


def test_exact_s_step_takes_the_nearest_however_small_gamma_is():
    np.testing.assert_array_equal(exact_s_step([[0.0, 1e300]], [1e-300]), [[1.0, 0.0]])


@given(
    hnp.arrays(float, (3, 6), elements=st.floats(-1e3, 1e3)),
    hnp.arrays(float, (3, 6), elements=st.floats(0, 1)),
)
def test_projection_is_nearer_than_any_other_point_of_the_simplex(v, weights):
    S = project_to_simplex(v)
    np.testing.assert_allclose(S.sum(axis=1), 1)
    assert S.min() >= 0
    other = (weights + 1e-3) / (weights + 1e-3).sum(axis=1, keepdims=True)
    distance = np.sum((S - v) ** 2, axis=1)
    assert np.all(distance <= np.sum((other - v) ** 2, axis=1) * (1 + 1e-12))
    np.testing.assert_allclose(project_to_simplex(S), S, atol=1e-12)


def test_projection_of_a_row_far_from_the_simplex_keeps_its_precision():
    np.testing.assert_allclose(
        project_to_simplex([[1e9 + 0.25, 1e9, -np.inf]]), [[0.625, 0.375, 0]], atol=1e-15
    )
    # Whole numbers end at 2^53: a sum with such an entry has no room for eta.
    v = [[2.0**53 + 2, 2.0**53], [0.25, 0.0]]
    np.testing.assert_array_equal(project_to_simplex(v), [[1.0, 0.0], [0.625, 0.375]])


# --- J and W ------------------------------------------------------------------------------------


@given(rows_of_distances(100))
def test_objective_on_the_support_has_the_closed_form_of_the_gamma_chapter(d):
    """J(gamma) = m + gamma/K - V/(4 gamma) for each row."""
    K, m = d.shape[1], d.mean(axis=1)
    gamma = gamma_step(d) + 1.0
    V = ((d - m[:, None]) ** 2).sum(axis=1)
    expected = np.sum(m + gamma / K - V / (4 * gamma))
    assert objective(d, s_step(d, gamma), gamma) == pytest.approx(expected, rel=1e-10)


def test_objective_ignores_missing_neighbours():
    assert objective([[2.0, np.inf]], [[1.0, 0.0]], [3.0]) == 5.0


def test_laplacian_scatter_equals_the_pairwise_sum_for_an_asymmetric_s():
    rng = np.random.default_rng(0)
    X, S = rng.normal(size=(20, 4)), rng.random((20, 20))
    np.testing.assert_allclose(laplacian_scatter(X, S), twins.pairwise(X, S), rtol=1e-12)


def test_similarity_matrix_places_each_value_and_leaves_its_input_alone():
    indices = np.array([[1, 2], [0, 1], [0, 1]])
    S = np.array([[0.75, 0.25], [1.0, 0.0], [0.5, 0.5]])
    kept = indices.copy(), S.copy()
    matrix = similarity_matrix(indices, S)
    np.testing.assert_array_equal(matrix.toarray(), [[0, 0.75, 0.25], [1, 0, 0], [0.5, 0.5, 0]])
    assert matrix.nnz == 5
    np.testing.assert_array_equal(indices, kept[0])
    np.testing.assert_array_equal(S, kept[1])
    one_each = similarity_matrix(np.array([[1], [0]]), np.array([[1.0], [0.5]]))
    np.testing.assert_array_equal(one_each.toarray(), [[0, 1], [0.5, 0]])


def test_w_step_beats_random_feasible_projections():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6)) @ rng.normal(size=(6, 6))
    y = rng.integers(0, 3, 40)
    S = rng.random((40, 40)) * (y[:, None] == y)
    W, values = w_step(X, S, 2)
    A, St = twins.pairwise(X, S), twins.total_scatter(X)
    np.testing.assert_allclose(W.T @ St @ W, np.eye(2), atol=1e-10)
    assert np.trace(W.T @ A @ W) == pytest.approx(values.sum())
    for _ in range(200):
        V = np.linalg.qr(rng.normal(size=(6, 2)))[0]
        V = V @ np.linalg.inv(np.linalg.cholesky(V.T @ St @ V)).T
        np.testing.assert_allclose(V.T @ St @ V, np.eye(2), atol=1e-10)
        assert np.trace(V.T @ A @ V) > values.sum()


def test_w_step_drops_null_directions_and_stays_real():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 3)) @ rng.normal(size=(3, 8))  # rank 3
    X = np.column_stack([X, np.full(30, 7.0)])  # a constant feature
    assert whitening((X - X.mean(0)).T @ (X - X.mean(0))).shape == (9, 3)
    W, values = w_step(X, uniform_similarity(rng.integers(0, 2, 30)), 3)
    assert W.dtype == values.dtype == float
    np.testing.assert_allclose(W.T @ twins.total_scatter(X) @ W, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(W[-1], 0, atol=1e-8)


def test_largest_entry_of_each_column_is_positive():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 5)), rng.integers(0, 4, 30)
    W, _ = w_step(X, uniform_similarity(y), 3)
    assert np.all(W[np.abs(W).argmax(axis=0), range(3)] > 0)


# --- where rounding ends ------------------------------------------------------------------------


def test_of_rounding_and_small_distances_only_rounding_counts_as_zero():
    """The limit is 1e-20 of the largest squared norm, measured from the mean of the samples."""
    for gap, kept in ((2e-10, True), (1e-10, False)):  # the largest squared norm is (4/3)^2
        Y = np.array([[1.0], [1.0 + gap], [-1.0]])
        assert bool(neighbours(Y, [0, 0, 0], 1)[1][0, 0] > 0) is kept
        assert bool(distances_to(np.array([[1], [0], [0]]), Y)[0, 0] > 0) is kept


def test_samples_far_from_the_origin_keep_their_small_distances():
    Y = 2.0**20 + np.array([[0.0], [2.0**-20], [2.0**-18]])
    expected = [[2.0**-40], [2.0**-40], [(2.0**-18 - 2.0**-20) ** 2]]
    np.testing.assert_array_equal(neighbours(Y, [0, 0, 0], 1)[1], expected)
    np.testing.assert_array_equal(distances_to(np.array([[1], [0], [1]]), Y), expected)


@pytest.mark.parametrize(("least", "rank"), [(1e-12, 3), (1e-13, 3), (1e-15, 2), (0.0, 2)])
def test_whitening_drops_what_is_rounding_and_keeps_what_is_small(least, rank):
    """10 D eps of the largest eigenvalue is 7e-15 here."""
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    for scale in (1e-8, 1.0, 1e8):
        P = whitening(scale * np.diag([1.0, 0.5, least]))
        assert P.shape == (3, rank)
        np.testing.assert_allclose(P.T @ (scale * np.diag([1.0, 0.5, least])) @ P, np.eye(rank))
    assert whitening(Q @ np.diag([1.0, 0.5, 0.0]) @ Q.T).shape == (3, 2)
    assert whitening(np.zeros((3, 3))).shape == (3, 0)


@pytest.mark.parametrize(
    ("last", "following", "tied"),
    [
        (0.5, 0.5 * (1 + 1e-12), True),
        (0.5, 0.5 * (1 + 1e-8), False),
        (1e-16, 3e-15, True),  # both are 0, but for rounding of numbers of size 1
        (1e-16, 1e-11, False),
        (2e-4, 2e-4 * (1 + 4e-11), True),  # more than rounding of the largest, 1e-13
    ],
)
def test_eigenvalues_are_tied_if_only_rounding_parts_them(last, following, tied):
    lengths = np.array([1.0, 2.0, 0.5, 1.0])  # the third direction has more variance
    for unit in (1.0, 1e3):
        values = unit * np.array([-1.0, last, following, 1.0])
        vectors = break_ties(values, np.eye(4), np.diag(lengths), 2)
        np.testing.assert_allclose(np.abs(vectors[:, 1]), np.eye(4)[2 if tied else 1], atol=1e-12)
        np.testing.assert_allclose(np.abs(vectors[:, [0, 3]]), np.eye(4)[:, [0, 3]])


def test_a_tie_within_the_first_n_is_left_as_it_is():
    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    values = np.array([0.5, 0.5, 0.7, 0.9])
    kept = break_ties(values, vectors.copy(), np.diag([4.0, 3.0, 2.0, 1.0]), 2)
    np.testing.assert_array_equal(kept, vectors)


def test_only_entries_equal_but_for_rounding_share_the_say_on_the_sign():
    W = np.array([[0.95], [-1.0]])
    np.testing.assert_array_equal(fix_signs(W), -W)
    W = np.array([[1.0 - 1e-6], [-1.0]])
    np.testing.assert_array_equal(fix_signs(W), -W)


def test_no_eigenvalue_of_the_w_step_is_negative():
    """With D > N every class shrinks to a point: the eigenvalues are 0 but for rounding."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(30, 60)), np.arange(30) % 6
        _, values = w_step(X, uniform_similarity(y), 5)
        assert np.all(values >= 0)
        assert values.max() < 1e-12


def test_the_w_step_stays_within_the_whitening_it_is_given():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), rng.integers(0, 3, 40)
    P = whitening((X - X.mean(axis=0)).T @ (X - X.mean(axis=0)))[:, 2:]
    W, _ = w_step(X, uniform_similarity(y), 2, P)
    assert np.linalg.lstsq(P, W)[1].max() < 1e-20


def test_numbers_of_eight_bits_do_not_overflow():
    """As pixels have them: 2 * 200 and 3 - 7 are not to be 144 and 252."""
    Y, d = np.array([[3, 200], [7, 90], [250, 0]], dtype=np.uint8), np.array([[1, 250]], np.uint8)
    gamma, S = np.array([200], dtype=np.uint8), np.array([[20, 3]], dtype=np.uint8)
    indices = np.array([[1], [0], [1]])
    for step, arguments in (
        (distances_to, (indices, Y)),
        (gamma_step, (d,)),
        (gamma_bounds, (d,)),
        (s_step, (d, gamma)),
        (exact_s_step, (d, gamma)),
        (project_to_simplex, (Y,)),
        (objective, (d, S, gamma)),
    ):
        as_floats = [a if a is indices else a.astype(float) for a in arguments]
        np.testing.assert_array_equal(step(*arguments), step(*as_floats))
    for small, double in zip(
        neighbours(Y, [0] * 3, 2), neighbours(Y.astype(float), [0] * 3, 2), strict=True
    ):
        np.testing.assert_array_equal(small, double)


@pytest.mark.parametrize("scale", [1e-120, 1.0, 1e120])
def test_screened_distances_are_within_the_bounds_that_their_docstring_states(scale):
    A = scale * (5 + np.random.default_rng(0).normal(size=(2, 40, 6)))
    left, right, q, slack, unit = factors(A)
    low = (left @ right.transpose(0, 2, 1)).astype(float)
    D = np.sum((A[:, :, None] / scale - A[:, None] / scale) ** 2, axis=3) * (scale**2 / unit)
    other = ~np.eye(40, dtype=bool)
    assert np.all(low[:, other] < D[:, other])
    assert np.all((1 + 8 * slack) * (low + 6 * slack * q[:, :, None]) + 1e-12 >= D)
