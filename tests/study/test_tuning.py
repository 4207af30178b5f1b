"""Tuning: the same budget for all, the test part never seen, and a twin that shares no code."""

import copy
import json
import warnings
from itertools import product

import numpy as np
import pytest
import twins
from scipy.linalg import eigh
from scipy.spatial.distance import pdist, squareform
from scipy.stats import ttest_rel
from sklearn.datasets import load_digits as sklearn_digits
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from statsmodels.stats.multitest import multipletests
from test_independent import drawn, in_bases, laplacian
from test_independent import slnp as slnp_by_definition

from slnp_study import paper, records
from slnp_study.data import load_digits
from slnp_study.outcomes import pack, unpack
from slnp_study.protocol import random_split
from slnp_study.statistics import Tally, difference
from slnp_study.studies import tuning
from slnp_study.studies.experiments import COMMON
from slnp_study.studies.tuning import BUDGET, FOLDS, GRIDS, METHODS, Setting

SMALL = {"D_PCA": (12, 20, 32), "d": (2, 4), "K": (2, 4, 6)}
NAMES = [f"{dataset}-tuned" for dataset in GRIDS]


@pytest.fixture(scope="module")
def five():
    """Twelve images each of five digits, and twenty more each for the test."""
    X, y = sklearn_digits(return_X_y=True)
    X, y = X[y < 5], y[y < 5]
    train, test = random_split(y, 12, seed=3)
    return X[train], y[train], X[test[::7]], y[test[::7]]


# The budget


@pytest.mark.parametrize(("dataset", "N_i"), [(s, n) for s, grids in GRIDS.items() for n in grids])
def test_every_method_has_the_same_number_of_settings(dataset, N_i):
    grid, C = GRIDS[dataset][N_i], {"yale_b": 38, "coil100": 100}.get(dataset, 10)
    for method in METHODS:
        found = tuning.settings(method, grid, C)
        assert len(set(found)) == len(found) == BUDGET
        assert [s.d for s in found] == sorted(s.d for s in found)
        assert all(s.d <= s.D_PCA < N_i * C * (FOLDS - 1) / FOLDS for s in found)
    if dataset in paper.DIMENSIONS:
        theirs = {**paper.DIMENSIONS[dataset][N_i], "own": paper.DATASETS[dataset]["K"]}
        assert Setting(**theirs) in tuning.settings("SLNP", grid, C)


def test_lda_chooses_among_the_directions_it_has():
    """C - 1 of them: beyond that the grid's own numbers give way to half of them and all."""
    for C, largest, dims in ((9, 4, {3, 4}), (5, 4, {3, 4}), (4, 4, {1, 3}), (5, 5, {2, 4})):
        grid = SMALL | {"d": (3, largest)}
        assert {s.d for s in tuning.settings("LDA", grid, C)} == dims
        assert {s.d for s in tuning.settings("LFDA", grid, C)} == {3, largest}


def test_pca_chooses_among_numbers_of_dimensions_alone():
    found = tuning.settings("PCA", SMALL | {"d": (15, 20)}, 5)
    assert found == [Setting(d, 32, None) for d in range(15, 33)]


def test_a_setting_is_the_same_whether_fitted_alone_or_with_others(five):
    """Nested directions come from one fit; distances after it are those of a fit of their own."""
    X, y, *_ = five
    A, _ = tuning.after_pca(X, X, 32)
    for method in METHODS:
        seen = set()
        for setting, basis, W in tuning.projections(method, A, y, SMALL):
            seen.add((setting, basis))
            D = A[:, : setting.D_PCA]
            alone = METHODS[method].learn(D, y, setting.d, setting.own)
            theirs = in_bases(alone, D)[basis]
            np.testing.assert_allclose(pdist(D @ W), pdist(D @ theirs), rtol=1e-6, atol=1e-9)
        assert seen == set(product(tuning.settings(method, SMALL, 5), COMMON))


# The choice


def shrunk_lda(A, y, d, shrinkage):
    """Fisher's criterion with every covariance drawn towards a multiple of the identity."""

    def covariance(M):
        S = np.cov(M.T, bias=True)
        return (1 - shrinkage) * S + shrinkage * np.trace(S) / len(S) * np.eye(len(S))

    within = sum(np.mean(y == c) * covariance(A[y == c]) for c in np.unique(y))
    return eigh(covariance(A) - within, within)[1][:, ::-1][:, :d]


def lfda(A, y, d, K):
    squared, same = squareform(pdist(A)) ** 2, y[:, None] == y
    n = same.sum(axis=1)[:, None]
    own_class = [np.sort(row[who]) for row, who in zip(squared, same, strict=True)]
    sigma = [np.sqrt(row[min(K, len(row) - 1)]) for row in own_class]
    s = np.where(same, np.exp(-squared / np.outer(sigma, sigma)), 0)
    between = np.where(same, s * (1 / len(A) - 1 / n), 1 / len(A))
    return eigh(laplacian(A, between), laplacian(A, s / n))[1][:, ::-1][:, :d]


TWINS = {
    "PCA": lambda A, y, d, own: np.eye(A.shape[1])[:, :d],
    "LDA": shrunk_lda,
    "LFDA": lfda,
    "SLNP": lambda A, y, d, K: slnp_by_definition(A, y, d, K)[-1],
}


def fixed_graph(A, y, d, K):
    """SLNP whose neighbours are those of the samples as they came."""

    def choose(Y, j, others):
        return sorted((np.sum((Y[j] - Y[k]) ** 2), k) for _, k in twins.nearest(A, j, others, K))

    return twins.slnp(A, y, d, K, rounds=10, choose=choose)[0]


BY_LOOPS = {
    "LPP, within classes": lambda A, y, d, K: twins.lpp(A, d, K, y=y),
    "MFA, per sample": lambda A, y, d, own: twins.mfa(A, y, d, *own, pairs="sample"),
    "LSDA": lambda A, y, d, own: twins.lsda(A, y, d, *own),
    "SLNP, fixed graph": fixed_graph,
}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns_what_its_twin_learns(method):
    """With all that is its own, even with more neighbours than a class has, and no warning."""
    rng = np.random.default_rng(2)
    y = np.repeat(range(4), 7)
    A = rng.normal(size=(4, 6))[y] + rng.normal(size=(28, 6)) * (1, 2, 3, 1, 2, 3)
    A -= A.mean(axis=0)
    for d, own in product((1, 3), METHODS[method].own((3, 5, 8))):
        W = tuning._learn(method, A, y, Setting(d, 6, own))
        assert twins.angle(W, (TWINS | BY_LOOPS)[method](A, y, d, own)) < 1e-6, (d, own)


def test_lda_without_shrinkage_learns_from_few_samples():
    """Their scatter within classes has no inverse; scikit-learn scales the features before."""
    A, y = np.random.default_rng(0).normal(size=(9, 8)), np.repeat(range(3), 3)
    spread = np.sqrt(np.mean([A[y == c].var(axis=0) for c in range(3)], axis=0))
    expected = twins.lda(A / spread, y, 2) / spread[:, None]
    assert twins.angle(tuning._learn("LDA", A, y, Setting(2, 8, 0.0)), expected) < 1e-6


def test_no_warning_but_that_of_too_many_neighbours_is_kept_quiet(monkeypatch):
    def learn(A, y, d, own):
        warnings.warn("Singular, n_neighbors=3.", stacklevel=2)

    monkeypatch.setitem(METHODS, "LFDA", tuning.Method(learn, list))
    with pytest.warns(UserWarning, match="Singular"):
        tuning._learn("LFDA", np.eye(3), np.arange(3), Setting(1, 3, 2))


def test_pca_is_exact_where_scikit_learn_would_draw():
    X, others = np.random.default_rng(0).normal(size=(2, 40, 600))
    A, B = tuning.after_pca(X, others, 5)
    axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:5]
    np.testing.assert_allclose(
        A @ B.T, (X - X.mean(axis=0)) @ axes.T @ axes @ (others - X.mean(axis=0)).T
    )


@pytest.mark.parametrize("method", TWINS)
def test_cross_validation_against_a_twin(five, method):
    X, y, *_ = five
    settings = tuning.settings(method, SMALL, 5)
    # With 32 dimensions SLNP may leave ties among directions, which the twin breaks otherwise.
    asked = [i for i, s in enumerate(settings) if s.D_PCA < 32 or method == "PCA"]
    expected = {i: {"whitened": 0, "orthonormal": 0} for i in asked}
    for fit, left in StratifiedKFold(FOLDS, shuffle=True, random_state=9).split(X, y):
        mean = X[fit].mean(axis=0)
        axes = np.linalg.svd(X[fit] - mean)[2].T
        for i in asked:
            A, B = ((X[rows] - mean) @ axes[:, : settings[i].D_PCA] for rows in (fit, left))
            bases = in_bases(TWINS[method](A, y[fit], settings[i].d, settings[i].own), A)
            for basis in expected[i]:
                judge = KNeighborsClassifier(1, algorithm="brute").fit(A @ bases[basis], y[fit])
                expected[i][basis] += np.sum(judge.predict(B @ bases[basis]) == y[left])
    counts = tuning.inner_counts(X, y, SMALL, 9, [method])[method]
    assert len(asked) >= 12
    assert np.issubdtype(counts.dtype, np.integer)  # no rounding can break a tie
    assert {i: dict(zip(COMMON, counts[i], strict=True)) for i in asked} == expected


@pytest.mark.slow
def test_the_test_part_has_no_say_in_the_choice(five):
    """Other test images, other labels: other rates, but the same settings and inner counts."""
    X, y, X_test, y_test = five
    rng = np.random.default_rng(0)
    methods = ("PCA", "LDA", "SLNP")
    found = tuning.tuned(X, y, X_test, y_test, SMALL, 0, methods)
    spoiled = {
        "labels permuted": (X_test, rng.permutation(y_test)),
        "labels wrong": (X_test, (y_test + 1) % 5),
        "images of noise": (rng.normal(size=X_test.shape), y_test),
    }
    for what, test_part in spoiled.items():
        again = tuning.tuned(X, y, *test_part, SMALL, 0, methods)
        for method in methods:
            assert again[method].chosen == found[method].chosen, what
            assert again[method].inner == found[method].inner, what
            assert sum(again[method].right[0]) < sum(found[method].right[0]), what


def test_of_equals_the_first_is_chosen():
    counts = np.array([[3, 9], [7, 9], [7, 2], [1, 9]])
    assert tuning.choose(counts) == [1, 0]


def test_the_better_basis_is_that_of_more_right_then_of_the_earlier_setting():
    for chosen, inner in product(product(range(3), repeat=2), repeat=2):
        second = inner[1] > inner[0] or (inner[1] == inner[0] and chosen[1] < chosen[0])
        assert tuning.free(chosen, inner) == second


@pytest.mark.parametrize("method", ["LDA", "LFDA"])
def test_what_is_judged_is_what_was_chosen(five, method):
    """The outer step by scikit-learn's classifiers, on projections of the twins."""
    X, y, X_test, y_test = five
    found = tuning.tuned(X, y, X_test, y_test, SMALL, 7, [method])[method]
    counts = tuning.inner_counts(X, y, SMALL, 7, [method])[method].T.tolist()
    assert found.inner == [max(each) for each in counts]
    assert found.chosen == [each.index(max(each)) for each in counts]
    mean = X.mean(axis=0)
    axes = np.linalg.svd(X - mean)[2].T
    for i, basis, right in zip(found.chosen, COMMON, found.right, strict=True):
        setting = tuning.settings(method, SMALL, 5)[i]
        A, B = ((Z - mean) @ axes[:, : setting.D_PCA] for Z in (X, X_test))
        V = in_bases(TWINS[method](A, y, setting.d, setting.own), A)[basis]
        nearest = KNeighborsClassifier(1, algorithm="brute").fit(A @ V, y)
        np.testing.assert_array_equal(nearest.predict(B @ V) == y_test, right)
        if basis == COMMON[tuning.free(found.chosen, found.inner)]:
            by_angle = KNeighborsClassifier(1, metric="cosine").fit(A @ V, y)
            np.testing.assert_array_equal(by_angle.predict(B @ V) == y_test, found.cosine)
            means = np.array([(A @ V)[y == c].mean(axis=0) for c in range(5)])
            nearest_mean = [np.argmin([np.linalg.norm(b - m) for m in means]) for b in B @ V]
            np.testing.assert_array_equal(nearest_mean == y_test, found.mean)


def test_sorted_outcomes_keep_the_counts_of_the_classes():
    rng = np.random.default_rng(0)
    y, right = rng.permutation(np.repeat(range(6), 20)), rng.random(120) < 0.7
    kept = tuning.sorted_within(right, y)
    np.testing.assert_array_equal(np.bincount(y, kept), np.bincount(y, right))
    for c in range(6):
        assert np.all(np.diff(kept[y == c].astype(int)) <= 0)


# The record of a split


@pytest.mark.parametrize("by_class", [False, True])
def test_a_unit_holds_the_counts_of_its_split(monkeypatch, by_class):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.permutation(np.repeat(range(4), 10))
    train, test = drawn(y, 6, seed=5)
    judged = {}
    for method in METHODS:
        chosen, inner = rng.integers(0, 18, 2).tolist(), rng.integers(20, 23, 2).tolist()
        bits = rng.random((4, len(test))) < 0.6
        judged[method] = tuning.Judged(chosen, inner, list(bits[:2]), bits[2], bits[3])

    def tuned(*asked):
        expected = (X[train], y[train], X[test], y[test], SMALL, 5)
        for one, other in zip(asked, expected, strict=True):
            np.testing.assert_equal(one, other)
        return judged

    monkeypatch.setattr(tuning, "tuned", tuned)
    unit = tuning.split(X, y, N_i=6, grid=SMALL, seed=5, by_class=by_class)
    outcomes = unit.pop("by_class", None)
    assert (outcomes is not None) == by_class
    assert unit == json.loads(json.dumps(unit))
    assert unit.pop("tested") == 16
    assert tuning.places(unit.pop("chosen")) == [each.chosen for each in judged.values()]
    assert unit == {
        "inner": [each.inner for each in judged.values()],
        "right": [[sum(bits.tolist()) for bits in each.right] for each in judged.values()],
        "cosine": [sum(each.cosine.tolist()) for each in judged.values()],
        "mean": [sum(each.mean.tolist()) for each in judged.values()],
    }
    if by_class:
        for bits, each in zip(unpack(outcomes, len(METHODS), 16), judged.values(), strict=True):
            better = each.right[tuning.free(each.chosen, each.inner)]
            for c in range(4):
                assert sorted(better[y[test] == c])[::-1] == bits[y[test] == c].tolist()


@pytest.mark.parametrize("dataset", GRIDS)
def test_there_is_a_unit_for_each_split_of_each_column(dataset):
    by_class = dataset in ("yale_b", "coil100")
    asked = list(product(GRIDS[dataset], range(10)))
    for (N_i, seed), unit in zip(asked, tuning.units(dataset), strict=True):
        assert unit.key == f"tuned/{N_i:02}/{seed:02}"
        assert unit.kind == ("tuned by class" if by_class else "tuned")
        assert unit.function.func is tuning.split
        grid = GRIDS[dataset][N_i]
        expected = {"N_i": N_i, "grid": grid, "seed": seed, "by_class": by_class}
        assert unit.function.keywords == expected
        assert (unit.tolerance.absolute, unit.tolerance.relative) == (2, 0)  # images


def some_unit(rng, tested, by_class=False):
    """A unit of random counts, as a record holds it; the last method is better whitened."""
    places = rng.integers(0, BUDGET, size=(len(METHODS), 2)).tolist()
    inner = [*rng.integers(20, 22, size=(len(METHODS) - 1, 2)).tolist(), [21, 20]]
    right = rng.integers(0, tested + 1, size=(len(METHODS), 2)).tolist()
    unit = {
        "tested": tested,
        "chosen": " ".join(f"{one}/{two}" for one, two in places),
        "inner": inner,
        "right": right,
        "cosine": rng.integers(0, tested + 1, size=len(METHODS)).tolist(),
        "mean": rng.integers(0, tested + 1, size=len(METHODS)).tolist(),
    }
    if by_class:
        better = [r[tuning.free(*each)] for *each, r in zip(places, inner, right, strict=True)]
        unit["by_class"] = pack(np.arange(tested) < np.array(better)[:, None])
    return unit


@pytest.mark.parametrize("seeds", [[0], [0, 1, 2]])
def test_a_column_is_read_split_by_split(seeds):
    rng = np.random.default_rng(4)
    units = {f"tuned/{N_i}/{s:02}": some_unit(rng, 90 - N_i) for N_i in (20, 30) for s in seeds}
    column = tuning.column({"units": units, "seeds": seeds}, 30)
    assert column.tested == 60
    for seed, (m, method) in product(seeds, enumerate(METHODS)):
        unit = units[f"tuned/30/{seed:02}"]
        one, two = map(int, unit["chosen"].split()[m].split("/"))
        first, second = unit["inner"][m]
        better = 0 if (-first, one) <= (-second, two) else 1
        assert column.chosen[seed, m].tolist() == [one, two]
        assert column.free[seed, m] == better
        assert column.inner[seed, m].tolist() == [first, second]
        assert column.right[seed, m].tolist() == unit["right"][m]
        assert column.cosine[seed, m] == unit["cosine"][m]
        assert column.mean[seed, m] == unit["mean"][m]
        for basis, right in zip(("whitened", "orthonormal"), unit["right"][m], strict=True):
            assert column.rates(method, basis)[seed] == pytest.approx(right / 0.6)
        assert column.rates(method)[seed] == pytest.approx(unit["right"][m][better] / 0.6)


# From records to words


@pytest.fixture
def made_up():
    """A record whose truth is known, in which MFA gets fewer right in every split and class."""
    rng, C, per_class = np.random.default_rng(1), 20, 30
    y = np.repeat(np.arange(C), per_class)
    units = {}
    for seed in range(10):
        _, test = random_split(y, 10, seed)
        right = rng.random((len(METHODS), len(test))) < 0.9
        right[list(METHODS).index("MFA, per sample")] &= rng.random(len(test)) < 0.8
        counts = right.sum(axis=1)
        units[f"tuned/10/{seed:02}"] = {
            "tested": len(test),
            "chosen": " ".join(["4/2"] * len(METHODS)),
            "inner": [[80, 70]] * len(METHODS),  # so whitened is the better basis
            "right": [[int(count), int(count) - 7] for count in counts],
            "cosine": [0] * len(METHODS),
            "mean": [0] * len(METHODS),
            "by_class": pack(np.array([tuning.sorted_within(r, y[test]) for r in right])),
        }
    head = {"seeds": list(range(10)), "class_sizes": [per_class] * C}
    return {**head, "settings": {"grids": {"10": SMALL}}, "units": units}, y


def test_words_are_those_of_students_t_and_of_holm(made_up):
    """Against SciPy's paired test and statsmodels' correction, from the bare counts."""
    record, y = made_up
    these, such = tuning.tuned_findings(record)
    others = [method for method in METHODS if method != "SLNP"]
    assert list(these) == [(10, o, b) for o in others for b in ("free", *COMMON)]
    right = np.array([unit["right"] for unit in record["units"].values()])[:, :, 0] / 400 * 100
    right = dict(zip(METHODS, right.T, strict=True))
    p = [ttest_rel(right["SLNP"], right[other]).pvalue for other in others for _ in range(3)]
    holm = multipletests(p, method="holm")[1]
    for (_, other, _), finding, expected in zip(these, these.values(), holm, strict=True):
        lead = right["SLNP"] - right[other]
        half = ttest_rel(right["SLNP"], right[other]).confidence_interval()
        assert finding.points == pytest.approx(lead.mean())
        assert finding.points - finding.interval == pytest.approx(half.low)
        assert finding.p_zero == pytest.approx(expected)
    assert {these[10, "MFA, per sample", basis].word for basis in ("free", *COMMON)} == {"ahead"}
    assert list(such) == [(10, other, "free") for other in others]
    first, other = (list(METHODS).index(m) for m in ("SLNP", "MFA, per sample"))
    gain = np.empty((10, 20))  # by how many images SLNP leads in each split and class
    for seed in range(10):
        _, test = random_split(y, 10, seed)
        bits = tuning.outcomes_by_class(record, 10, seed)
        gain[seed] = [
            int(bits[first][y[test] == c].sum() - bits[other][y[test] == c].sum())
            for c in range(20)
        ]
    expected = difference(Tally(gain, np.full((10, 20), 20.0))).such
    assert such[10, "MFA, per sample", "free"].interval == pytest.approx(expected.interval)
    for unit in record["units"].values():
        del unit["by_class"]
    assert tuning.tuned_findings(record) == (these, {})


# The records


def spoiled(unit, name, value):
    """A unit in which the last number of a list is another."""
    changed = copy.deepcopy(unit)
    inner = changed[name] if name in ("cosine", "mean") else changed[name][-1]
    inner[-1] = value
    return changed


FAULTS = {
    "no inner counts": (lambda u: {k: v for k, v in u.items() if k != "inner"}, "entries"),
    "an entry too many": (lambda u: {**u, "more": 1}, "entries"),
    "a method less": (lambda u: {**u, "right": u["right"][1:]}, "entries"),
    "a list that is none": (lambda u: {**u, "mean": 3}, "entries"),
    "a basis less": (lambda u: {**u, "right": [each[:1] for each in u["right"]]}, "entries"),
    "an inner count less": (lambda u: {**u, "inner": [[20], *u["inner"][1:]]}, "entries"),
    "a basis more": (lambda u: {**u, "cosine": u["right"]}, "entries"),
    "words": (lambda u: {**u, "chosen": u["chosen"].replace("/", "/x")}, "settings"),
    "half a setting": (lambda u: {**u, "chosen": u["chosen"].rpartition("/")[0]}, "settings"),
    "a setting too many": (lambda u: {**u, "chosen": u["chosen"] + " 0/0"}, "settings"),
    "a setting less": (lambda u: {**u, "chosen": u["chosen"].partition(" ")[2]}, "settings"),
    "bases too many": (lambda u: {**u, "chosen": u["chosen"].replace("/", "/0/")}, "settings"),
    "a setting beyond": (
        lambda u: {**u, "chosen": "18/" + u["chosen"].partition("/")[2]},
        "settings",
    ),
    "a setting below": (
        lambda u: {**u, "chosen": "-1/" + u["chosen"].partition("/")[2]},
        "settings",
    ),
    "mean above": (lambda u: spoiled(u, "mean", u["tested"] + 1), "between 0 and"),
    "mean below": (lambda u: spoiled(u, "mean", -1), "between 0 and"),
    "cosine above": (lambda u: spoiled(u, "cosine", u["tested"] + 1), "between 0 and"),
    "right above": (lambda u: spoiled(u, "right", u["tested"] + 1), "between 0 and"),
}


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("what", FAULTS)
def test_a_unit_is_checked_as_it_stands(what, by_class):
    unit = some_unit(np.random.default_rng(0), 60, by_class)
    described = tuning.units("yale_b" if by_class else "mnist", 1)[0]
    assert list(tuning.check_unit(described, unit)) == []
    change, said = FAULTS[what]
    (fault,) = tuning.check_unit(described, change(unit))
    assert fault.startswith(f"{described.key}: ")
    assert said in fault


def test_the_first_setting_the_last_none_right_and_all_right_are_possible():
    unit = some_unit(np.random.default_rng(0), 60)
    unit["chosen"] = " ".join(["0/17"] * len(METHODS))
    for name, count in product(("right", "cosine", "mean"), (0, 60)):
        changed = spoiled(unit, name, count)
        assert list(tuning.check_unit(tuning.units("mnist", 1)[0], changed)) == []


def test_the_outcomes_of_a_unit_are_those_of_the_better_basis():
    unit = some_unit(np.random.default_rng(0), 60, by_class=True)
    described = tuning.units("yale_b", 1)[0]
    right = unpack(unit["by_class"], len(METHODS), 60)
    for changed in (
        spoiled(unit, "inner", 22),  # now the other basis is the better one
        {**unit, "by_class": pack(~right)},
        {**unit, "by_class": pack(right[:, 1:])},
        {**unit, "by_class": "abc"},
    ):
        (fault,) = tuning.check_unit(described, changed)
        assert fault.startswith(f"{described.key}: ")


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """A record of scikit-learn's digits with one split, made here."""
    folder = tmp_path_factory.mktemp("results")
    records.reproduce("digits-tuned", splits=1, n_jobs=1, folder=folder)
    assert records.verify("digits-tuned", sample=1, n_jobs=1, seed=0, folder=folder)["units"] == 1
    return records.load("digits-tuned", folder)


@pytest.mark.slow
def test_a_record_says_what_was_found(record):
    X, y = load_digits(return_X_y=True)
    train, test = random_split(y, 20, seed=0)
    found = tuning.tuned(X[train], y[train], X[test], y[test], GRIDS["digits"][20], seed=0)
    column = tuning.column(record, 20)
    for m, (method, judged) in enumerate(found.items()):
        best = tuning.free(judged.chosen, judged.inner)
        assert column.chosen[0, m].tolist() == judged.chosen
        assert column.inner[0, m].tolist() == judged.inner
        assert column.free[0, m] == best
        assert column.cosine[0, m] == judged.cosine.sum()
        assert column.mean[0, m] == judged.mean.sum()
        for basis, right in zip(COMMON, judged.right, strict=True):
            assert column.rates(method, basis)[0] == pytest.approx(100 * right.mean())
        assert column.rates(method)[0] == pytest.approx(100 * judged.right[best].mean())


TAMPERING = {
    "other grids": lambda r, u: r["settings"]["grids"]["20"].update(d=[1, 2, 3]),
    "a method less": lambda r, u: u["right"].pop(),
    "no inner counts": lambda r, u: u.pop("inner"),
    "an entry too many": lambda r, u: u.update(by_class=""),
    "a setting too many": lambda r, u: u.update(chosen=u["chosen"] + " 0/0"),
    "a setting that is none": lambda r, u: u.update(
        chosen="18" + u["chosen"][u["chosen"].index("/") :]
    ),
    "more right than there are": lambda r, u: u.update(mean=[10**6, *u["mean"][1:]]),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", TAMPERING)
def test_a_record_is_checked_without_the_data(record, what):
    assert records.check("digits-tuned", record) == []
    tampered = copy.deepcopy(record)
    TAMPERING[what](tampered, tampered["units"]["tuned/20/00"])
    assert len(records.check("digits-tuned", tampered)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_committed_records_are_complete(name):
    record = records.load(name)
    dataset, _ = records.parts(name)
    assert records.check(name, record) == []
    assert record["splits"] == 10
    for N_i in GRIDS[dataset]:
        column = tuning.column(record, N_i)
        assert column.right.shape == column.chosen.shape == (10, len(METHODS), 2)
        if dataset in paper.DIMENSIONS:  # the splits are those of the tables
            assert column.tested == records.load(dataset)["units"][f"table/{N_i:02}/00"]["tested"]
        if dataset in tuning.BY_CLASS:
            for seed in record["seeds"]:
                right = tuning.outcomes_by_class(record, N_i, seed)
                rates = [column.rates(method)[seed] for method in METHODS]
                np.testing.assert_allclose(100 * right.mean(axis=1), rates)


def test_outcomes_that_are_not_those_of_the_counts_are_found():
    record = records.load("yale_b-tuned")
    unit = record["units"]["tuned/10/00"]
    right = tuning.outcomes_by_class(record, 10, 0)
    for changed in (pack(~right), pack(right[:, 1:]), "abc"):
        unit["by_class"] = changed
        assert len(records.check("yale_b-tuned", record)) == 1


def test_the_chosen_settings_are_compared_exactly():
    """A place in the list is a name, not a count: the next one is another setting."""
    here = {"tested": 100, "chosen": "3/17 0/35", "right": [[90, 80], [70, 60]]}
    assert records.compare(here, json.loads(json.dumps(here)), tuning.IMAGES)[2] == []
    for chosen in ("3/17 0/34", "3/17", "4/17 0/35"):
        assert len(records.compare(here, {**here, "chosen": chosen}, tuning.IMAGES)[2]) == 1


# The sets beyond the paper's
