"""Tuning: the same budget for all, the test part never seen, and a twin that shares no code."""

import copy
from itertools import product

import numpy as np
import pytest
import twins
from scipy.linalg import eigh
from scipy.spatial.distance import pdist
from scipy.stats import ttest_rel
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from test_independent import drawn, in_bases
from test_independent import slnp as slnp_by_definition

from slnp_study import paper, records
from slnp_study.packing import pack, unpack
from slnp_study.paper import COMMON_BASES
from slnp_study.statistics import Tally, difference
from slnp_study.studies import tuning
from slnp_study.studies.tuning import BUDGET, FOLDS, GRIDS, METHODS, Setting

SMALL = {"D_PCA": (12, 20, 32), "d": (2, 4), "K": (2, 4, 6)}


@pytest.fixture(scope="module")
def five():
    """Twelve images each of five digits, and some more for the test."""
    X, y = load_digits(return_X_y=True)
    X, y = X[y < 5], y[y < 5]
    train, test = drawn(y, 12, seed=3)
    return X[train], y[train], X[test[::7]], y[test[::7]]


# The budget


@pytest.mark.parametrize(("dataset", "N_i"), [(s, n) for s, grids in GRIDS.items() for n in grids])
def test_every_method_has_the_same_number_of_settings(dataset, N_i):
    grid, C = GRIDS[dataset][N_i], {"yale_b": 38, "coil100": 100}.get(dataset, 10)
    for method in METHODS:
        found = tuning.list_settings(method, grid, C)
        assert len(set(found)) == len(found) == BUDGET
        assert [s.d for s in found] == sorted(s.d for s in found)
        assert all(s.d <= s.D_PCA < N_i * C * (FOLDS - 1) / FOLDS for s in found)
        assert method != "LDA" or found[-1].d < C
    if dataset in paper.DIMENSIONS:
        theirs = {**paper.DIMENSIONS[dataset][N_i], "own": paper.DATASETS[dataset]["K"]}
        assert Setting(**theirs) in tuning.list_settings("SLNP", grid, C)


def test_a_setting_is_the_same_whether_fitted_alone_or_with_others(five):
    """Nested directions come from one fit; distances after it are those of a fit of their own."""
    X, y, *_ = five
    A, _ = tuning.after_pca(X, X, 32)
    for method in METHODS:
        seen = set()
        for setting, basis, W in tuning.projections(method, A, y, SMALL):
            seen.add((setting, basis))
            D = A[:, : setting.D_PCA]
            theirs = in_bases(METHODS[method].learn(D, y, setting.d, setting.own), D)[basis]
            np.testing.assert_allclose(pdist(D @ W), pdist(D @ theirs), rtol=1e-6, atol=1e-9)
        assert seen == set(product(tuning.list_settings(method, SMALL, 5), COMMON_BASES))


# The choice


def shrunk_lda(A, y, d, shrinkage):
    """Fisher's criterion with every covariance drawn towards a multiple of the identity."""

    def covariance(M):
        S = np.cov(M.T, bias=True)
        return (1 - shrinkage) * S + shrinkage * np.trace(S) / len(S) * np.eye(len(S))

    within = sum(np.mean(y == c) * covariance(A[y == c]) for c in np.unique(y))
    return eigh(covariance(A) - within, within)[1][:, ::-1][:, :d]


def fixed_graph(A, y, d, K):
    """SLNP whose neighbours are those of the samples as they came."""

    def choose(Y, j, others):
        return sorted((np.sum((Y[j] - Y[k]) ** 2), k) for _, k in twins.nearest(A, j, others, K))

    return twins.slnp(A, y, d, K, rounds=10, choose=choose)[0]


TWINS = {
    "PCA": lambda A, y, d, own: np.eye(A.shape[1])[:, :d],
    "LDA": shrunk_lda,
    "LFDA": lambda A, y, d, K: twins.lfda(A, y, d, K)[0],
    "SLNP": lambda A, y, d, K: slnp_by_definition(A, y, d, K)[-1],
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
        assert twins.angle(W, TWINS[method](A, y, d, own)) < 1e-6, (d, own)


def projected(method, X, y, Z, setting):
    """X and Z after PCA on X and the twin, in each basis."""
    mean = X.mean(axis=0)
    axes = np.linalg.svd(X - mean)[2][: setting.D_PCA].T
    A, B = (X - mean) @ axes, (Z - mean) @ axes
    bases = in_bases(TWINS[method](A, y, setting.d, setting.own), A)
    return {basis: (A @ bases[basis], B @ bases[basis]) for basis in COMMON_BASES}


@pytest.mark.parametrize("method", ["PCA", "LDA", "LFDA", "SLNP"])
def test_tuning_against_a_twin(five, method):
    """Cross-validation, the choice, and how the chosen are judged; by scikit-learn and loops."""
    X, y, X_test, y_test = five
    # With 32 dimensions SLNP may leave ties among directions, which the twin breaks otherwise.
    grid = SMALL | ({"D_PCA": (12, 16, 20)} if method == "SLNP" else {})
    settings = tuning.list_settings(method, grid, 5)
    counts = np.zeros((BUDGET, 2), dtype=int)
    for fit, left in StratifiedKFold(FOLDS, shuffle=True, random_state=9).split(X, y):
        for i, setting in enumerate(settings):
            pairs = projected(method, X[fit], y[fit], X[left], setting).values()
            for basis, (A, B) in enumerate(pairs):
                nearest = KNeighborsClassifier(1, algorithm="brute").fit(A, y[fit])
                counts[i, basis] += np.sum(nearest.predict(B) == y[left])
    np.testing.assert_array_equal(tuning.inner_counts(X, y, grid, 9, [method])[method], counts)

    found = tuning.tuned(X, y, X_test, y_test, grid, 9, [method])[method]
    assert found.inner == counts.max(axis=0).tolist()
    assert found.chosen == [each.index(max(each)) for each in counts.T.tolist()]  # of equals one
    better = min((0, 1), key=lambda b: (-found.inner[b], found.chosen[b], b))
    for i, place in enumerate(found.chosen):
        A, B = projected(method, X, y, X_test, settings[place])[COMMON_BASES[i]]
        nearest = KNeighborsClassifier(1, algorithm="brute").fit(A, y)
        np.testing.assert_array_equal(nearest.predict(B) == y_test, found.right[i])
        if i == better:
            by_angle = KNeighborsClassifier(1, metric="cosine").fit(A, y)
            np.testing.assert_array_equal(by_angle.predict(B) == y_test, found.cosine)
            means = [A[y == c].mean(axis=0) for c in range(5)]
            nearest_mean = [np.argmin([np.linalg.norm(b - m) for m in means]) for b in B]
            np.testing.assert_array_equal(nearest_mean == y_test, found.mean)


@pytest.mark.slow
def test_the_test_part_has_no_say_in_the_choice(five):
    """Other test images, other labels: other rates, but the same settings and inner counts."""
    X, y, X_test, y_test = five
    rng = np.random.default_rng(0)
    methods = ("PCA", "LDA", "SLNP")
    found = tuning.tuned(X, y, X_test, y_test, SMALL, 0, methods)
    spoiled = {
        "labels wrong": (X_test, (y_test + 1) % 5),
        "images of noise": (rng.normal(size=X_test.shape), y_test),
    }
    for what, test_part in spoiled.items():
        again = tuning.tuned(X, y, *test_part, SMALL, 0, methods)
        for method in methods:
            assert again[method][:2] == found[method][:2], what  # chosen and inner
            assert sum(again[method].right[0]) < sum(found[method].right[0]), what


# From a split to the words


def judged_at_random(X, y, X_test, y_test, grid, seed):
    """In place of `tuned`: random outcomes, in which MFA gets fewer right in every class."""
    rng = np.random.default_rng([seed, *X[:, 0].astype(int)])
    found = {}
    for method in METHODS:
        right = rng.random((4, len(y_test))) < (0.7 if method == "MFA, per sample" else 0.9)
        chosen, inner = rng.integers(0, BUDGET, 2).tolist(), rng.integers(20, 23, 2).tolist()
        found[method] = tuning.Judged(chosen, inner, list(right[:2]), right[2], right[3])
    return found


@pytest.fixture
def made_up(monkeypatch):
    """A record of ten splits whose outcomes are known, and the labels."""
    monkeypatch.setattr(tuning, "tuned", judged_at_random)
    y = np.repeat(np.arange(20), 30)
    X = np.arange(600.0)[:, None]  # so that an image tells its row
    units = {
        f"tuned/10/{seed:02}": tuning.split(X, y, N_i=10, grid=SMALL, seed=seed, by_class=True)
        for seed in range(10)
    }
    head = {"seeds": list(range(10)), "class_sizes": [30] * 20, "checksum": ""}
    return {**head, "settings": {"grids": {"10": SMALL}}, "units": units}, y


def test_words_are_those_of_students_t_and_of_holm(made_up):
    """From the outcomes, by SciPy; Holm's correction as what closed testing comes to."""
    record, y = made_up
    rates, gains = {}, {method: [] for method in METHODS}
    for seed in range(10):
        train, test = drawn(y, 10, seed)
        found = judged_at_random(train[:, None], y[train], None, y[test], None, seed)
        counts = {}
        for method, each in found.items():
            free = min((0, 1), key=lambda b, each=each: (-each.inner[b], each.chosen[b], b))
            for basis, right in zip(
                ("free", *COMMON_BASES), (each.right[free], *each.right), strict=True
            ):
                rates.setdefault((method, basis), []).append(100 * right.mean())
            counts[method] = np.bincount(y[test], each.right[free])
        unit = record["units"][f"tuned/10/{seed:02}"]
        for name in ("cosine", "mean"):
            assert unit[name] == [getattr(each, name).sum() for each in found.values()]
        for method in METHODS:
            gains[method].append(counts["SLNP"] - counts[method])

    read = tuning.TunedRecord(record)
    others = [method for method in METHODS if method != "SLNP"]
    assert list(read.these) == [(10, o, b) for o in others for b in ("free", *COMMON_BASES)]
    tests = [ttest_rel(rates["SLNP", b], rates[other, b]) for _, other, b in read.these]
    p = np.array([test.pvalue for test in tests])
    for finding, test in zip(read.these.values(), tests, strict=True):
        half = test.confidence_interval()
        low, high = finding.points - finding.interval, finding.points + finding.interval
        assert (low, high) == pytest.approx((half.low, half.high))
        holm = min(1, max(q * np.sum(p >= q) for q in p[p <= test.pvalue]))
        assert finding.p_zero == pytest.approx(holm)
    assert {each.word for each in read.of("MFA, per sample")} == {"ahead"}
    assert list(read.new) == [(10, other, "free") for other in others]
    for other in others:
        tested = np.full((10, 20), 20.0)
        expected = difference(Tally(np.array(gains[other]), tested, tested)).new
        new = read.new[10, other, "free"]
        assert (new.points, new.interval) == pytest.approx((expected.points, expected.interval))
        for basis in ("free", *COMMON_BASES):
            np.testing.assert_allclose(read.columns[10].rates(other, basis), rates[other, basis])
            lead = np.mean(rates["SLNP", basis]) - np.mean(rates[other, basis])
            assert read.mean(other, basis) == pytest.approx(lead)
    for unit in record["units"].values():
        del unit["by_class"]
    without = tuning.TunedRecord(record)
    assert (without.these, without.new) == (read.these, {})


# The records


def changed(name, *place, to):
    """Put another value at a place in an entry of a unit."""

    def change(unit):
        *way, last = (name, *place)
        for key in way:
            unit = unit[key]
        unit[last] = to(unit[last])

    return change


TESTED = 2034  # of 2,414 faces, 380 are for training
FAULTS = {
    "no inner counts": lambda u: u.pop("inner"),
    "an entry too many": lambda u: u.update(more=1),
    "a method less": lambda u: u["right"].pop(),
    "a basis less": lambda u: u["inner"][0].pop(),
    "a basis more": lambda u: u.update(cosine=u["right"]),
    "a setting too many": changed("chosen", to=lambda said: said + " 0/0"),
    "half a setting": changed("chosen", to=lambda said: said.rpartition("/")[0]),
    "words": changed("chosen", to=lambda said: said.replace("/", "/x")),
    "a setting beyond": changed("chosen", to=lambda said: "18/" + said.partition("/")[2]),
    "a setting below": changed("chosen", to=lambda said: "-1/" + said.partition("/")[2]),
    "more right than tested": changed("mean", 0, to=lambda count: 10**6),
    "fewer than none": changed("cosine", -1, to=lambda count: -1),
    "the other basis is better": changed("inner", to=lambda each: [pair[::-1] for pair in each]),
    "other outcomes": changed("by_class", to=lambda s: pack(~unpack(s, len(METHODS), TESTED))),
    "outcomes cut off": changed("by_class", to=lambda packed: packed[:20]),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_record_is_checked_without_the_data(what):
    record = records.load("yale_b-tuned")
    unit = record["units"]["tuned/10/00"]
    FAULTS[what](unit)
    found = records.check("yale_b-tuned", record)
    assert found
    assert all(fault.startswith("tuned/10/00: ") for fault in found)


@pytest.mark.parametrize("dataset", GRIDS)
def test_the_committed_records_hold_the_splits_of_the_tables(dataset):
    record = records.load(f"{dataset}-tuned")
    assert records.check(f"{dataset}-tuned", copy.deepcopy(record)) == []
    y = np.repeat(range(len(record["class_sizes"])), record["class_sizes"])
    for N_i, column in tuning.TunedRecord(record).columns.items():
        assert column.tested == len(drawn(y, N_i, 0)[1])
        assert column.right.shape == (10, len(METHODS), 2)
        for seed in record["seeds"] if dataset in tuning.BY_CLASS else ():
            right = tuning.outcomes_by_class(record, N_i, seed)
            rates = [column.rates(method)[seed] for method in METHODS]
            np.testing.assert_allclose(100 * right.mean(axis=1), rates)
