"""The replication, unit by unit, against brute-force twins on a few digits."""

from itertools import product

import numpy as np
import pytest
import twins
from scipy.stats import spearmanr, ttest_rel
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from slnp_edu.slnp import SLNP
from slnp_study import paper, records
from slnp_study.packing import unpack
from slnp_study.protocol import METHODS, Split
from slnp_study.studies import replication

X, Y = load_digits(return_X_y=True)
X, Y = X[Y < 4], Y[Y < 4]
BASES = ("whitened", "orthonormal")
SMALL = {"N_i": 7, "D_PCA": 9, "d": 2}  # not C - 1


@pytest.fixture(autouse=True)
def small_figures(monkeypatch):
    """Settings of the paper's figures that a twin can follow."""
    for number, K in {4: 2, 5: 4, 6: 3, 8: (2, 3), 9: 4, 12: 4}.items():
        monkeypatch.setitem(paper.FIGURES, number, {**SMALL, "K": K})
    monkeypatch.setattr(replication, "FIG9_DIMENSIONS", (2, 3))
    monkeypatch.setattr(replication, "FIG12_NEIGHBOURS", (2, 5))


def small_split(seed):
    return Split(X, Y, N_i=7, D_PCA=9, seed=seed)


def right(split, W, basis):
    """By scikit-learn's 1-NN; the basis is made here, by QR."""
    _, R = np.linalg.qr(split.A @ W)
    V = W @ np.linalg.inv(R) if basis == "whitened" else np.linalg.qr(W)[0]
    knn = KNeighborsClassifier(1).fit(split.A @ V, split.y_train)
    return knn.predict(split.B @ V) == split.y_test


def rate(split, W, basis):
    return 100 * right(split, W, basis).mean()


@pytest.mark.parametrize(
    ("figure", "points"),
    [(8, {2: (2, 2), 3: (2, 3)}), (9, {2: (2, 4), 3: (3, 4)}), (12, {2: (2, 2), 5: (2, 5)})],
)
def test_a_point_of_a_curve_is_the_rate_for_its_d_and_k_in_its_basis(figure, points):
    split = small_split(seed=1)
    found = replication.rate_against(X, Y, figure=figure, seed=1)
    assert found["x"] == list(points)
    for i, (d, K) in enumerate(points.values()):
        W = twins.slnp(split.A, split.y_train, d, K, rounds=10)[0]
        for basis in BASES:
            assert found[basis][i] == pytest.approx(rate(split, W, basis))
    assert found["whitened"] != found["orthonormal"]


@pytest.mark.parametrize("K", [2, 4])
def test_j_of_every_round_and_rule(K, monkeypatch):
    monkeypatch.setattr(replication, "FIG4_ROUNDS", 3)
    split = small_split(seed=2)
    found = replication.convergence(X, Y, K=K, seed=2)
    assert list(found) == ["paper", "can", "fixed"]
    for rule, J in found.items():
        expected = twins.slnp(split.A, split.y_train, 2, K, 3, rule)[3]
        np.testing.assert_allclose(J, expected, rtol=1e-8)


def test_what_is_learned_round_by_round_and_class_by_class():
    split = small_split(seed=3)
    found = replication.learned(X, Y, seed=3)
    last = [row for row, label in enumerate(split.y_train) if label == 3]
    first, *others = last
    assert found["rows"] == split.train[last].tolist()
    for p in (1, 2, 10):
        W, S, gamma, _ = twins.slnp(split.A, split.y_train, 2, 4, p)
        np.testing.assert_allclose(found["similarities"][p - 1], S[first, others], atol=1e-8)
    squared = [np.sum((X[split.train[k]] - X[split.train[first]]) ** 2) for k in others]
    np.testing.assert_allclose(found["lpp"], np.exp(-np.array(squared) * 6 / sum(squared)))  # (13)
    for label in range(4):
        members = [row for row, of in enumerate(split.y_train) if of == label]
        assert found["gamma"][label] == pytest.approx(sum(gamma[members]) / 7)  # (58)
        assert found["training_rows"][label] == split.train[members].tolist()
        for name, Z in (("projected", split.A @ W), ("original", X[split.train])):
            pairs = [np.sum((Z[j] - Z[k]) ** 2) for j in members for k in members]
            assert found[f"spread_{name}"][label] == pytest.approx(np.mean(pairs) / 2)


def test_similarities_are_ranked_against_the_light_as_scipy_ranks_them():
    rng = np.random.default_rng(5)
    azimuth, elevation = rng.uniform(-90, 90, len(X)), rng.uniform(-40, 90, len(X))
    found = replication.illumination(X, Y, azimuth, elevation, seed=5)
    split = small_split(seed=5)
    S = twins.slnp(split.A, split.y_train, 2, 3, rounds=10)[1]
    a, e = np.radians(azimuth[split.train]), np.radians(elevation[split.train])
    for label in range(4):
        members = np.flatnonzero(split.y_train == label)
        by_image = {"learned": [], "lpp": []}
        for j in members:
            others = [k for k in members if k != j]
            flat = np.cos(e[j]) * np.cos(e[others]) * np.cos(a[j] - a[others])
            angles = np.arccos(np.sin(e[j]) * np.sin(e[others]) + flat)
            lpp = [-np.sum((X[split.train[j]] - X[split.train[k]]) ** 2) for k in others]
            by_image["learned"].append(spearmanr(S[j, others], angles)[0])
            by_image["lpp"].append(spearmanr(lpp, angles)[0])
        for name, correlations in by_image.items():
            assert found[name][label] == pytest.approx(np.mean(correlations))


def test_a_table_holds_the_counts_and_the_images_of_its_split():
    found = replication.table(X, Y, **SMALL, K=4, seed=2)
    split = small_split(2)
    assert found["tested"] == len(split.test)
    own = {m: split.right(split.learn(m, 2, 4)).sum() for m in METHODS}
    assert {m: counts[0] for m, counts in found["right"].items()} == own
    pairs = list(product(replication.BY_IMAGE, BASES))
    expected = [right(split, split.learn(method, 2, 4), basis) for method, basis in pairs]
    outcomes = unpack(found["outcomes"], len(pairs), found["tested"])
    np.testing.assert_array_equal(outcomes, expected)
    counts = [count for m in replication.BY_IMAGE for count in found["right"][m][1:]]
    assert counts == np.sum(expected, axis=1).tolist()
    W = twins.slnp(split.A, split.y_train, 2, 4, 10)[0]
    assert counts[-2:] == [right(split, W, basis).sum() for basis in BASES]


# The tie that the uniform start leaves open


def test_a_drawn_tie_is_as_good_as_the_rule():
    """Constraint (22) and the least trace, from dense matrices; and a draw is not the rule."""
    split = small_split(seed=0)
    A, y = split.A, split.y_train
    St = A.T @ A
    means = np.array([A[y == label].mean(axis=0) for label in y])
    within = (A - means).T @ (A - means)
    ratios = np.sort(np.linalg.eigvals(np.linalg.solve(St, within)).real)
    rule = SLNP(6, 4, max_iter=1).fit(A, y).components_.T
    for seed in range(3):
        W, _ = replication.with_drawn_tie(A + np.arange(9), y, 6, 4, seed, max_iter=1)
        np.testing.assert_allclose(W.T @ St @ W, np.eye(6), atol=1e-9)
        assert np.trace(W.T @ within @ W) == pytest.approx(ratios[:6].sum())
        assert twins.angle(W, rule) > 0.1
        untied, _ = replication.with_drawn_tie(A, y, 3, 4, seed)  # nothing is drawn
        assert twins.angle(untied, SLNP(3, 4, tol=0).fit(A, y).components_.T) < 1e-6


def test_another_seed_draws_another_tie_and_ten_rounds_are_ten():
    split = small_split(seed=0)
    A, y = split.A, split.y_train
    one, other = (replication.with_drawn_tie(A, y, 6, 4, seed, max_iter=1)[0] for seed in (0, 1))
    assert twins.angle(one, other) > 0.1
    # The first W-step is drawn; what follows is Algorithm 1 from the similarities of that round.
    Y = A @ one
    S = twins.nearest_graph(Y, y, 4)
    for rounds in (2, 10):
        W, gamma = replication.with_drawn_tie(A, y, 6, 4, seed=0, max_iter=rounds)
        expected, _, expected_gamma, _ = twins.slnp(A, y, 6, 4, rounds - 1, S=S)
        assert twins.angle(W, expected) < 1e-6
        np.testing.assert_allclose(gamma, expected_gamma, rtol=1e-6)


def test_the_unit_of_the_tie_is_judged_in_the_orthonormal_basis(monkeypatch):
    monkeypatch.setitem(paper.DIMENSIONS["yale_b"], replication.TIE_N_i, {"D_PCA": 9, "d": 6})
    found = replication.tie(X, Y, seed=3)
    split = Split(X, Y, N_i=replication.TIE_N_i, D_PCA=9, seed=3)
    K = paper.DATASETS["yale_b"]["K"]
    untied = twins.slnp(split.A, split.y_train, 3, K, 10)[0]
    drawn, _ = replication.with_drawn_tie(split.A, split.y_train, 6, K, seed=3)
    for name, W in (("d = C - 1", untied), ("tie drawn", drawn)):
        assert found[name] == pytest.approx(rate(split, W, "orthonormal"))
        assert found[name] != pytest.approx(rate(split, W, "whitened"))


# Records


@pytest.mark.parametrize("dataset", paper.DIMENSIONS)
def test_a_unit_runs_what_its_key_says(dataset):
    found = {unit.key: unit.function for unit in replication.units(dataset, 2)}
    for N_i, dimensions in paper.DIMENSIONS[dataset].items():
        setting = {"N_i": N_i, **dimensions, "K": paper.DATASETS[dataset]["K"]}
        for seed in (0, 1):
            run = found.pop(f"table/{N_i:02}/{seed:02}")
            assert (run.func, run.keywords) == (replication.table, {**setting, "seed": seed})
    of_figures = {"fig4": "convergence", "fig5-7": "learned", "fig6": "illumination", "tie": "tie"}
    for key, run in found.items():
        figure, *K, seed = key.split("/")
        name = of_figures.get(figure, "rate_against")
        given = {"seed": int(seed)} | ({"K": int(K[0])} if figure == "fig4" else {})
        given |= {"figure": int(figure[3:])} if name == "rate_against" else {}
        assert (run.func, run.keywords) == (getattr(replication, name), given)


@pytest.mark.parametrize("dataset", ["coil100", "mnist"])
def test_a_record_is_read_as_paired_tests_of_its_counts(dataset):
    """SLNP minus the other, by SciPy, from the JSON."""
    units, tables = records.load(dataset)["units"], records.read(dataset)
    p = {}
    for N_i, (i, basis) in product(tables.sizes, enumerate(BASES, start=1)):
        splits = [units[f"table/{N_i:02}/{seed:02}"] for seed in range(20)]
        rates = {
            m: np.array([100 * each["right"][m][i] / each["tested"] for each in splits])
            for m in METHODS
        }
        np.testing.assert_allclose(
            list(tables.columns[N_i][m][basis] for m in METHODS), list(rates.values())
        )
        for other in set(replication.BY_IMAGE) - {"SLNP"}:
            test = ttest_rel(rates["SLNP"], rates[other])
            found = tables.verdicts[N_i, other, basis].these
            half = test.confidence_interval()
            assert np.allclose([found.points - found.interval, found.points + found.interval], half)
            p[N_i, other, basis] = test.pvalue
    assert p.keys() == tables.verdicts.keys()
    first = min(p, key=p.get)  # one family for Holm's correction
    assert tables.verdicts[first].these.p_zero == pytest.approx(len(p) * p[first])
