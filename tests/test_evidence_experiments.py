"""The units of the experiments against brute-force twins and scikit-learn, on a few digits."""

import numpy as np
import pytest
import twins
from scipy.stats import spearmanr
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from slnp_edu.evidence import Split, ablation, experiments, paper
from slnp_edu.evidence.experiments import EXACT, IMAGES, RATE

X, Y = load_digits(return_X_y=True)
X, Y = X[Y < 4], Y[Y < 4]
SMALL = {"N_i": 7, "D_PCA": 9, "d": 3}


@pytest.fixture(autouse=True)
def small_figures(monkeypatch):
    """Settings of the paper's figures that a twin can follow."""
    for number in (4, 5, 6, 8, 9, 12):
        monkeypatch.setitem(paper.FIGURES, number, {**SMALL, "K": 4})
    monkeypatch.setitem(paper.FIGURES, 8, {**SMALL, "K": (2, 3)})
    monkeypatch.setattr(experiments, "FIG9_DIMENSIONS", (2, 3))
    monkeypatch.setattr(experiments, "FIG12_NEIGHBOURS", (2, 5))


def small_split(seed):
    return Split(X, Y, N_i=7, D_PCA=9, seed=seed)


def rate(split, W, basis):
    """By scikit-learn's 1-NN; the basis is made here, by QR."""
    _, R = np.linalg.qr(split.A @ W)
    V = W @ np.linalg.inv(R) if basis == "whitened" else np.linalg.qr(W)[0]
    knn = KNeighborsClassifier(1).fit(split.A @ V, split.y_train)
    return 100 * knn.score(split.B @ V, split.y_test)


@pytest.mark.parametrize(
    ("figure", "points"),
    [(8, {2: (3, 2), 3: (3, 3)}), (9, {2: (2, 4), 3: (3, 4)}), (12, {2: (3, 2), 5: (3, 5)})],
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
    monkeypatch.setattr(experiments, "FIG4_ROUNDS", 3)
    monkeypatch.setitem(paper.FIGURES, 4, {**SMALL, "d": 2})  # not C - 1
    split = small_split(seed=2)
    found = experiments.convergence(X, Y, K=K, seed=2)
    assert list(found) == ["paper", "can", "fixed"]
    for rule, J in found.items():
        expected = twins.slnp(split.A, split.y_train, 2, K, 3, rule)[3]
        np.testing.assert_allclose(J, expected, rtol=1e-8)


def test_what_is_learned_round_by_round_and_class_by_class():
    split = small_split(seed=3)
    found = experiments.learned(X, Y, seed=3)
    last = [row for row, label in enumerate(split.y_train) if label == 3]
    first, *others = last
    assert found["rows"] == split.train[last].tolist()
    for p in (1, 2, 10):
        W, S, gamma, _ = twins.slnp(split.A, split.y_train, 3, 4, p)
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
    found = experiments.illumination(X, Y, azimuth, elevation, seed=5)
    split = small_split(seed=5)
    S = twins.slnp(split.A, split.y_train, 3, 4, rounds=10)[1]
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


def test_a_table_and_an_ablation_are_those_of_their_splits():
    setting = {"N_i": 7, "D_PCA": 9, "d": 3, "K": 4}
    found = ablation.column(X, Y, **setting, splits=3, cluster="image")
    right = {n: [] for n in (2, 10)}
    for seed in range(3):
        split = small_split(seed)
        assert found["tested"] == len(split.test)
        for n in right:
            W = twins.slnp(split.A, split.y_train, 3, 4, n)[0]
            rates = [rate(split, W, basis) for basis in ("whitened", "orthonormal")]
            right[n].append([round(r * len(split.test) / 100) for r in rates])
    table = experiments.table(X, Y, **setting, seed=2)
    assert table["right"]["SLNP"][1:] == right[10][2]
    for i, basis in enumerate(("whitened", "orthonormal")):
        assert found["rounds"]["uniform"][basis][9] == sum(r[i] for r in right[10])
        lead = [a[i] - b[i] for a, b in zip(right[10], right[2], strict=True)]
        assert found["lead"]["uniform, 2"][basis] == lead


# The tie that the uniform start leaves open


def test_a_drawn_tie_does_not_hang_on_the_units_of_the_features():
    split = small_split(seed=0)
    A, y = split.A, split.y_train
    units = np.array([1, 1e3, 0.1, 5, 1, 1, 20, 1, 1e-2])
    for rounds in (1, 3):
        W, _ = experiments.with_drawn_tie(A, y, 6, 4, seed=0, max_iter=rounds)
        V, _ = experiments.with_drawn_tie(A * units, y, 6, 4, seed=0, max_iter=rounds)
        np.testing.assert_allclose(np.abs(A * units @ V), np.abs(A @ W), rtol=1e-6, atol=1e-8)


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
    found = experiments.tie(X, Y, seed=6)
    split = Split(X, Y, N_i=experiments.TIE_N_i, D_PCA=9, seed=6)
    K = paper.DATASETS["yale_b"]["K"]
    untied = twins.slnp(split.A, split.y_train, 3, K, 10)[0]
    drawn, _ = experiments.with_drawn_tie(split.A, split.y_train, 6, K, seed=6)
    assert found["d = C - 1"] == pytest.approx(rate(split, untied, "orthonormal"))
    assert found["tie drawn"] == pytest.approx(rate(split, drawn, "orthonormal"))
    assert found["tie drawn"] != pytest.approx(rate(split, drawn, "whitened"))


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
    assert by_key["fig4/4/01"].keywords == {"K": 4, "seed": 1}  # Figs. 4 and 5 share a K here
    assert by_key["table/30/01"].keywords == {"N_i": 30, "D_PCA": 460, "d": 38, "K": 5, "seed": 1}
    assert by_key["table/15/00"].func is experiments.table
    for key, run in (("fig6/01", experiments.illumination), ("fig5-7/01", experiments.learned)):
        assert by_key[key].func is run
        assert by_key[key].keywords == {"seed": 1}
    assert by_key["tie/20/01"].keywords == {"seed": 1}
    column = next(u for u in ablation.units("yale_b", splits=2) if u.key == "ablation/15").function
    assert column.func is ablation.column
    setting = {"N_i": 15, "D_PCA": 220, "d": 40, "K": 5}
    assert column.keywords == {**setting, "splits": 2, "cluster": "class"}
