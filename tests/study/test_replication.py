"""The units of the experiments against brute-force twins and scikit-learn, on a few digits."""

import json
from itertools import product

import numpy as np
import pytest
import twins
from scipy.stats import spearmanr
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from slnp_edu.slnp import SLNP
from slnp_study import paper, records
from slnp_study.outcomes import unpack
from slnp_study.protocol import Split
from slnp_study.statistics import difference, tally
from slnp_study.studies import ablation, experiments
from slnp_study.studies.experiments import EXACT, IMAGES, RATE

X, Y = load_digits(return_X_y=True)
X, Y = X[Y < 4], Y[Y < 4]
SMALL = {"N_i": 7, "D_PCA": 9, "d": 2}  # not C - 1


@pytest.fixture(autouse=True)
def small_figures(monkeypatch):
    """Settings of the paper's figures that a twin can follow."""
    for number, K in {4: 2, 5: 4, 6: 3, 8: (2, 3), 9: 4, 12: 4}.items():
        monkeypatch.setitem(paper.FIGURES, number, {**SMALL, "K": K})
    monkeypatch.setattr(experiments, "FIG9_DIMENSIONS", (2, 3))
    monkeypatch.setattr(experiments, "FIG12_NEIGHBOURS", (2, 5))


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
    found = experiments.rate_against(X, Y, figure=figure, seed=1)
    assert found["x"] == list(points)
    for i, (d, K) in enumerate(points.values()):
        W = twins.slnp(split.A, split.y_train, d, K, rounds=10)[0]
        for basis in ("whitened", "orthonormal"):
            assert found[basis][i] == pytest.approx(rate(split, W, basis))
    assert found["whitened"] != found["orthonormal"]


@pytest.mark.parametrize("K", [2, 4])
def test_j_of_every_round_and_rule(K, monkeypatch):
    for other in set(paper.FIGURES) - {4}:  # their settings are not those of Fig. 4
        monkeypatch.setitem(paper.FIGURES, other, {"N_i": 5, "D_PCA": 6, "d": 1, "K": 3})
    monkeypatch.setattr(experiments, "FIG4_ROUNDS", 3)
    split = small_split(seed=2)
    found = experiments.convergence(X, Y, K=K, seed=2)
    assert list(found) == ["paper", "can", "fixed"]
    for rule, J in found.items():
        expected = twins.slnp(split.A, split.y_train, 2, K, 3, rule)[3]
        np.testing.assert_allclose(J, expected, rtol=1e-8)
    monkeypatch.setattr(experiments, "FIG4_ROUNDS", 26)
    longer = experiments.convergence(X, Y, K=K, seed=2)
    assert [len(J) for J in longer.values()] == 3 * [26]  # none stops when J hardly moves


def test_what_is_learned_round_by_round_and_class_by_class():
    split = small_split(seed=3)
    found = experiments.learned(X, Y, seed=3)
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


def test_similarities_are_there_for_ten_rounds_even_if_fewer_change_anything(monkeypatch):
    """Here J moves by less than a millionth after nine."""
    monkeypatch.setitem(paper.FIGURES, 5, {"N_i": 7, "D_PCA": 9, "d": 3, "K": 6})
    assert len(experiments.learned(X, Y, seed=3)["similarities"]) == 10


def test_similarities_are_ranked_against_the_light_as_scipy_ranks_them():
    rng = np.random.default_rng(5)
    azimuth, elevation = rng.uniform(-90, 90, len(X)), rng.uniform(-40, 90, len(X))
    found = experiments.illumination(X, Y, azimuth, elevation, seed=5)
    split = small_split(seed=5)
    S = twins.slnp(split.A, split.y_train, 2, 3, rounds=10)[1]
    a, e = np.radians(azimuth[split.train]), np.radians(elevation[split.train])
    for label in range(4):
        members = np.flatnonzero(split.y_train == label)
        by_image = {"learned": [], "lpp": []}
        for j in members:
            others = [k for k in members if k != j]
            near = [
                np.sin(e[j]) * np.sin(e[k]) + np.cos(e[j]) * np.cos(e[k]) * np.cos(a[j] - a[k])
                for k in others
            ]
            lpp = [-np.sum((X[split.train[j]] - X[split.train[k]]) ** 2) for k in others]
            angles = np.arccos(near)
            by_image["learned"].append(spearmanr(S[j, others], angles)[0])
            by_image["lpp"].append(spearmanr(lpp, angles)[0])
        for name, correlations in by_image.items():
            assert found[name][label] == pytest.approx(np.mean(correlations))


def test_the_test_for_light_finds_light_where_there_is_some():
    rng = np.random.default_rng(0)
    azimuth, elevation = rng.uniform(-90, 90, 10), rng.uniform(-40, 90, 10)
    angles = experiments.light_angles(azimuth, elevation)
    assert experiments.rank_correlation(np.exp(-angles / 30), angles) == pytest.approx(-1)
    noise = [experiments.rank_correlation(rng.random((10, 10)), angles) for _ in range(200)]
    assert abs(np.mean(noise)) < 0.05


def test_lights_that_face_each_other_are_180_degrees_apart():
    rng = np.random.default_rng(1)
    azimuth, elevation = rng.uniform(-90, 90, 50), rng.uniform(-90, 90, 50)
    opposite = (np.append(azimuth, azimuth + 180), np.append(elevation, -elevation))
    angles = experiments.light_angles(*opposite)
    np.testing.assert_allclose([angles[i, i + 50] for i in range(50)], 180, atol=1e-4)
    np.testing.assert_allclose(np.diag(angles), 0, atol=1e-4)


def test_every_variant_is_what_its_name_says():
    split = small_split(seed=4)
    A, y = split.A, split.y_train
    found = dict(ablation.variants(A, y, 3, 4, seed=4))
    assert set(ablation.VARIANTS) < set(found)
    by_round = {f"{start}, {n}" for start in ("uniform", "nearest") for n in range(1, 11)}
    assert set(found) == by_round | set(ablation.NEIGHBOURS) - {"learned"}

    def by_twin(rounds=10, **options):
        return twins.slnp(A, y, 3, 4, rounds, **options)[0]

    draw = ablation.drawn(A, y, 4, seed=4)

    def drawn(Y, j, others):
        return sorted((float(np.sum((Y[j] - Y[k]) ** 2)), k) for k in draw[j])

    expected = {f"uniform, {n}": by_twin(n) for n in (1, 2, 3, 10)}
    expected |= {f"nearest, {n}": by_twin(n, S=twins.nearest_graph(A, y, 4)) for n in (1, 10)}
    expected |= {"random": by_twin(choose=drawn)}
    for name, W in expected.items():
        assert twins.angle(found[name], W) < 1e-6, name


def test_neighbours_are_drawn_from_the_class_in_the_order_of_the_features():
    """Lot by lot; and it is the same draw however the rows stand."""
    A = np.random.default_rng(0).permutation([*product(range(3), range(2), range(2))])
    y = np.repeat([0, 1, 2], [6, 4, 2])
    rng, expected = np.random.default_rng(5), np.empty((12, 3), dtype=int)
    for label in range(3):
        members = sorted((i for i in range(12) if y[i] == label), key=lambda i: tuple(A[i]))
        lots = rng.random((len(members), len(members)))
        for j, row in zip(members, lots, strict=True):
            others = sorted((lot, k) for lot, k in zip(row, members, strict=True) if k != j)
            expected[j] = ([k for _, k in others] + 3 * [j])[:3]
    np.testing.assert_array_equal(ablation.drawn(A, y, 3, seed=5), expected)
    order = np.random.default_rng(1).permutation(12)
    np.testing.assert_array_equal(
        order[ablation.drawn(A[order], y[order], 3, seed=5)], expected[order]
    )


def test_the_whole_class_is_all_others_of_it():
    y = np.repeat([0, 1], [5, 3])
    indices, distances = ablation.whole_class(np.arange(8.0)[:, None] ** 2, y)
    assert indices.shape == distances.shape == (8, 4)
    assert sorted(indices[1]) == [0, 2, 3, 4]
    assert sorted(indices[6]) == [5, 6, 6, 7]


@pytest.mark.parametrize("cluster", ["class", "image"])
def test_an_ablation_is_that_of_its_splits(cluster):
    found = ablation.column(X, Y, **SMALL, K=4, splits=3, cluster=cluster)
    bases = ("whitened", "orthonormal")
    outcomes = {name: [] for name in ("uniform, 2", "uniform, 10", "random")}
    clusters, near, kept = [], [], []
    for seed in range(3):
        split = small_split(seed)
        A, y = split.A, split.y_train
        assert found["tested"] == len(split.test)
        clusters.append(split.y_test if cluster == "class" else split.test)
        projections = {f"uniform, {n}": twins.slnp(A, y, 2, 4, n)[0] for n in (2, 10)}
        projections["random"] = dict(ablation.variants(A, y, 2, 4, seed))["random"]
        for name, W in projections.items():
            outcomes[name].append([right(split, W, basis) for basis in bases])
        after, before = (
            [[k for _, k in twins.nearest(Z, j, np.flatnonzero(y == y[j]), 4)] for j in range(28)]
            for Z in (A @ projections["uniform, 10"], A)
        )
        kept.append(np.mean([len({*a} & {*b}) / 4 for a, b in zip(after, before, strict=True)]))
        Z = A @ projections["uniform, 10"]
        others = [[k for k in range(28) if y[k] == y[j] and k != j] for j in range(28)]
        to_near, to_all = (
            np.mean([np.sum((Z[j] - Z[k]) ** 2) for j in range(28) for k in of[j]])
            for of in (after, others)
        )
        near.append(to_near / to_all)
    assert found["nearness"] == pytest.approx(np.mean(near))
    assert found["overlap"] == pytest.approx(np.mean(kept))
    outcomes = {name: np.array(each) for name, each in outcomes.items()}
    for i, basis in enumerate(bases):
        ours = outcomes["uniform, 10"][:, i]
        assert found["rounds"]["uniform"][basis][9] == ours.sum()
        for name in ("uniform, 2", "random"):
            theirs = outcomes[name][:, i]
            lead = [int(a.sum()) - int(b.sum()) for a, b in zip(ours, theirs, strict=True)]
            assert json.dumps(found["lead"][name][basis]) == json.dumps(lead)
            such = difference(tally(ours, theirs, clusters)).such
            assert found["error"][name][i] == round(float(such.error), 4)
    unit = ablation.units("mnist", splits=3)[0]
    assert records.compare(found, found, unit.tolerance)[2] == []
    assert list(ablation.check(unit, found)) == []


def test_a_table_holds_the_counts_and_the_images_of_its_split():
    found = experiments.table(X, Y, **SMALL, K=4, seed=2)
    split = small_split(2)
    assert list(found) == ["tested", "right", "outcomes"]
    assert found["tested"] == len(split.test)
    assert list(found["right"]) == list(experiments.RECORDED_METHODS)
    expected = [
        right(split, split.learn(method, 2, 4), basis)
        for method in experiments.BY_IMAGE
        for basis in ("whitened", "orthonormal")
    ]
    np.testing.assert_array_equal(
        unpack(found["outcomes"], len(expected), found["tested"]), expected
    )
    counts = [count for m in experiments.BY_IMAGE for count in found["right"][m][1:]]
    assert counts == [int(each.sum()) for each in expected]
    W = twins.slnp(split.A, split.y_train, 2, 4, 10)[0]
    assert counts[-2:] == [right(split, W, basis).sum() for basis in ("whitened", "orthonormal")]


# The tie that the uniform start leaves open


def test_a_drawn_tie_does_not_hang_on_the_units_of_the_features():
    split = small_split(seed=0)
    A, y = split.A, split.y_train
    units = np.array([1, 1e3, 0.1, 5, 1, 1, 20, 1, 1e-2])
    for rounds in (1, 3):
        W, _ = experiments.with_drawn_tie(A, y, 6, 4, seed=0, max_iter=rounds)
        V, _ = experiments.with_drawn_tie(A * units, y, 6, 4, seed=0, max_iter=rounds)
        np.testing.assert_allclose(np.abs(A * units @ V), np.abs(A @ W), rtol=1e-6, atol=1e-8)


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
        W, gamma = experiments.with_drawn_tie(A + np.arange(9), y, 6, 4, seed, max_iter=1)
        np.testing.assert_allclose(W.T @ St @ W, np.eye(6), atol=1e-9)
        assert np.trace(W.T @ within @ W) == pytest.approx(ratios[:6].sum())
        assert twins.angle(W, rule) > 0.1
        assert gamma.shape == y.shape
        untied, _ = experiments.with_drawn_tie(A, y, 3, 4, seed)  # nothing is drawn
        assert twins.angle(untied, SLNP(3, 4, tol=0).fit(A, y).components_.T) < 1e-6


def test_another_seed_draws_another_tie_and_ten_rounds_are_ten():
    split = small_split(seed=0)
    A, y = split.A, split.y_train
    one, other = (experiments.with_drawn_tie(A, y, 6, 4, seed, max_iter=1)[0] for seed in (0, 1))
    assert twins.angle(one, other) > 0.1
    # The first W-step is drawn; what follows is Algorithm 1 from the similarities of that round.
    Y = A @ one
    S = twins.nearest_graph(Y, y, 4)
    for rounds in (2, 10):
        W, gamma = experiments.with_drawn_tie(A, y, 6, 4, seed=0, max_iter=rounds)
        expected, _, expected_gamma, _ = twins.slnp(A, y, 6, 4, rounds - 1, S=S)
        assert twins.angle(W, expected) < 1e-6
        np.testing.assert_allclose(gamma, expected_gamma, rtol=1e-6)


def test_the_unit_of_the_tie_uses_the_column_the_seed_and_the_orthonormal_basis(monkeypatch):
    monkeypatch.setitem(paper.DIMENSIONS["yale_b"], experiments.TIE_N_i, {"D_PCA": 9, "d": 6})
    found = experiments.tie(X, Y, seed=3)
    split = Split(X, Y, N_i=experiments.TIE_N_i, D_PCA=9, seed=3)
    K = paper.DATASETS["yale_b"]["K"]
    untied = twins.slnp(split.A, split.y_train, 3, K, 10)[0]
    drawn, _ = experiments.with_drawn_tie(split.A, split.y_train, 6, K, seed=3)
    assert found["d = C - 1"] == pytest.approx(rate(split, untied, "orthonormal"))
    assert found["tie drawn"] == pytest.approx(rate(split, drawn, "orthonormal"))
    for name, W in (("d = C - 1", untied), ("tie drawn", drawn)):
        assert found[name] != pytest.approx(rate(split, W, "whitened"))


# Which unit runs what


def test_a_unit_is_compared_as_exactly_as_it_can_be_repeated():
    """A test image may flip on another machine; J, similarities and gamma may not move."""
    found = {unit.kind: unit.tolerance for unit in experiments.units("yale_b")}
    assert found == {
        "table": IMAGES,
        **dict.fromkeys(("fig4", "fig5-7", "fig6"), EXACT),
        **dict.fromkeys(("fig8", "fig9", "tie"), RATE),
    }
    assert {unit.tolerance for unit in experiments.units("mnist") if unit.kind == "fig12"} == {RATE}
    assert (IMAGES, RATE, EXACT) == ((2, 0), (0.1, 0), (1e-9, 1e-6))
    columns = ablation.units("yale_b", splits=7)
    assert {unit.kind for unit in columns} == {"ablation"}
    for unit in columns:  # two images of each split, or of all seven together
        assert (unit.tolerance["lead"], unit.tolerance["rounds"]) == ((2, 0), (14, 0))
        assert unit.tolerance["tested"] == EXACT


def test_a_unit_runs_what_its_key_says():
    by_key = {unit.key: unit.function for unit in experiments.units("yale_b", splits=2)}
    assert by_key["fig8/01"].keywords == {"figure": 8, "seed": 1}
    assert by_key["fig9/00"].keywords == {"figure": 9, "seed": 0}
    for K in (2, 4):  # those of Figs. 4 and 5
        assert by_key[f"fig4/{K}/01"].keywords == {"K": K, "seed": 1}
    assert by_key["table/30/01"].keywords == {"N_i": 30, "D_PCA": 460, "d": 38, "K": 5, "seed": 1}
    assert by_key["table/15/00"].func is experiments.table
    for key, run in (("fig6/01", experiments.illumination), ("fig5-7/01", experiments.learned)):
        assert by_key[key].func is run
        assert by_key[key].keywords == {"seed": 1}
    assert by_key["tie/20/01"].keywords == {"seed": 1}
    arrays = {unit.kind: unit.arrays for unit in experiments.units("yale_b", splits=2)}
    assert arrays.pop("fig6") == ("data", "target", "azimuth", "elevation")
    assert set(arrays.values()) == {("data", "target")}
    digits = {unit.key: unit.function for unit in experiments.units("mnist", splits=2)}
    assert digits["fig12/01"].func is experiments.rate_against
    assert digits["fig12/01"].keywords == {"figure": 12, "seed": 1}
    assert {unit.kind for unit in experiments.units("coil100", splits=2)} == {"table"}
    column = next(u for u in ablation.units("yale_b", splits=2) if u.key == "ablation/15").function
    assert column.func is ablation.column
    setting = {"N_i": 15, "D_PCA": 220, "d": 40, "K": 5}
    assert column.keywords == {**setting, "splits": 2, "cluster": "class"}
