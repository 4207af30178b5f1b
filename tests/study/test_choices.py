"""The specification curve against a twin: loops, an SVD for PCA, scikit-learn's 1-NN."""

from itertools import product

import numpy as np
import pytest
import twins
from scipy.linalg import cholesky, solve_triangular
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from test_independent import drawn

from slnp_study import records
from slnp_study.studies import choices

N_I, D_PCA, D, K, SEED = 6, 14, 4, (2, 3, 4), 3


@pytest.fixture(scope="module")
def images():
    """Five classes of 24 small digits."""
    X, y = load_digits(return_X_y=True)
    kept = np.concatenate([np.flatnonzero(y == label)[:24] for label in range(5)])
    return X[kept], y[kept]


@pytest.fixture
def unit():
    """A unit as a record holds it, of random counts."""
    rng = np.random.default_rng(0)
    sizes = {m: np.prod(choices.shape(axes)) for m, axes in choices.AXES.items()}
    return {"tested": 90} | {m: rng.integers(0, 91, size).tolist() for m, size in sizes.items()}


def prepared(X, train, made):
    if made["images"] == "unit norm":
        X = np.array([x / np.sqrt(sum(x**2)) for x in X])
    seen = X if made["PCA on"] == "all images" else X[train]
    axes = np.linalg.svd(seen - seen.mean(axis=0), full_matrices=False)[2][:D_PCA].T
    return (X - seen.mean(axis=0)) @ axes


def projection(method, A, y, made):
    d = {"half": 2, "paper's": 4, "three halves": 6}[made["d"]]
    A = A - A.mean(axis=0)
    if method == "LDA":
        return twins.lda(A, y, 4 if made["directions"] == "C - 1" else min(d, 4))
    if method == "LFDA":
        c = made["kernel"]
        own = {} if c == "local scaling" else {"kernel": "heat", "c": c}
        return twins.lfda(A, y, d, **own)[0]
    k = dict(zip(("fewer", "paper's", "more"), K, strict=True))[made["K"]]
    S = twins.nearest_graph(A, y, k) if made["start"] == "nearest" else None
    return twins.slnp(A, y, d, k, made["rounds"], made["gamma"], S)[0]


def by_hand(method, X, y, made):
    train, test = drawn(y, N_I, SEED)
    Z = prepared(X, train, made)
    A = Z[train] - Z[train].mean(axis=0)
    W = projection(method, Z[train], y[train], made)
    G = W.T @ A.T @ A @ W if made["basis"] == "whitened" else W.T @ W
    G = np.diag(np.diag(G)) if made["basis"] == "unit" else G
    V = solve_triangular(cholesky(G, lower=True), W.T, lower=True).T
    nearest = KNeighborsClassifier(1, algorithm="brute", metric=made["metric"].lower())
    nearest.fit(Z[train] @ V, y[train])
    return int(np.sum(nearest.predict(Z[test] @ V) == y[test]))


# One step at a time


def test_slnp_is_learned_in_every_way_as_by_the_twin(images):
    """In the order of the choices, from samples that are not centred."""
    X, y = images
    X, y = X[y < 3][::4, 10:16], y[y < 3][::4]
    names, ways = zip(*choices.OWN_CHOICES["SLNP"].items(), strict=True)
    for made, W in zip(product(*ways), choices.learned(X, y, 2, K), strict=True):
        expected = projection("SLNP", X, y, {"d": "half"} | dict(zip(names, made, strict=True)))
        assert twins.angle(W, expected) < 1e-6, made


FIRST = choices.AS_PRINTED | {"kernel": "local scaling", "directions": "d"}
#: Each way of each choice occurs, and those that the paper's words suggest.
MADE = [
    FIRST,
    FIRST | {"basis": "orthonormal", "rounds": 2, "kernel": 2},
    FIRST | {"metric": "cosine", "gamma": "can", "K": "more", "start": "nearest", "kernel": 1},
    FIRST | {"images": "unit norm", "d": "half", "K": "fewer", "gamma": "fixed", "kernel": 0.5},
    FIRST | {"PCA on": "all images", "basis": "unit", "start": "nearest", "kernel": 0.25},
    FIRST | {"metric": "cosine", "d": "three halves", "start": "nearest", "kernel": 0.1},
    FIRST
    | {"images": "unit norm", "d": "half", "gamma": "can", "rounds": 2, "directions": "C - 1"},
]


def test_a_specification_counts_as_many_right_as_the_twin(images, monkeypatch):
    """With three rounds in place of ten: of those there is a test above."""
    X, y = images
    assert all({made[name] for made in MADE} == set(w) for name, w in choices.CHOICES.items())
    monkeypatch.setitem(choices.OWN_CHOICES["SLNP"], "rounds", (2, 3))
    unit = choices.run(X, y, N_i=N_I, D_PCA=D_PCA, d=D, K=K, seed=SEED)
    assert unit["tested"] == len(y) - 5 * N_I
    for method, axes in choices.AXES.items():
        counts = np.reshape(unit[method], choices.shape(axes))
        assert counts.min() < counts.max()
        for made in MADE:
            place = tuple(ways.index(made[name]) for name, ways in axes.items())
            run = made | {"rounds": min(made["rounds"], 3)}
            assert counts[place] == by_hand(method, X, y, run), (method, made)


# Reading


def test_every_rate_and_mean_is_at_the_choices_it_belongs_to(unit):
    """Specification by specification, some of them."""
    settings = {"columns": [{"N_i": 7}]}
    units = {"choices/07/100": unit, "choices/07/101": unit}
    (rates,) = choices.rates({"settings": settings, "units": units, "seeds": [100, 101]}).values()
    counts = {m: np.reshape(unit[m], choices.shape(axes)) for m, axes in choices.AXES.items()}
    lead = rates["SLNP"] - rates["LFDA"]
    for made in MADE:
        ours, theirs = (
            counts[m][tuple(ways.index(made[name]) for name, ways in choices.AXES[m].items())]
            for m in ("SLNP", "LFDA")
        )
        at = choices.where(**{name: way for name, way in made.items() if name != "directions"})
        assert lead[(1, *at)] == pytest.approx(100 * (ours - theirs) / 90)
    for choice, means in (("kernel", lead), ("basis", rates["LDA"]), ("K", rates["SLNP"])):
        expected = [
            means[(1, *choices.where(**{choice: way}))].mean() for way in choices.CHOICES[choice]
        ]
        assert np.allclose(choices.marginal(means, choice), [expected, expected])


# The records


def damage(key, change):
    return lambda unit: {**unit, key: change(unit[key])}


FAULTS = {
    "a method less": lambda u: {k: v for k, v in u.items() if k != "LDA"},
    "no list": damage("SLNP", lambda s: None),
    "a count less": damage("LFDA", lambda s: [1] * 431),
    "more than tested": damage("LDA", lambda s: [91, *[90] * 143]),
    "less than none": damage("LDA", lambda s: [-1, *[90] * 143]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_damaged_unit_is_found_without_running_it(unit, fault):
    record = records.load("mnist-choices")
    first = next(iter(record["units"]))
    unit["LDA"] = [0, 90] * 72  # none right and all right are possible
    record["units"][first] = unit
    assert records.check("mnist-choices", record) == []
    record["units"][first] = FAULTS[fault](unit)
    (found,) = records.check("mnist-choices", record)
    assert found.startswith(first)


def test_verify_compares_every_count_and_forgives_two_images(unit):
    described = choices.units("mnist", 1)[0]
    for by, faults in ((0, 0), (2, 0), (-2, 0), (3, 1)):
        changed = unit["SLNP"].copy()
        changed[100] += by
        other = {**unit, "SLNP": changed}
        numbers, equal, differences = records.compare(unit, other, described.tolerance)
        assert (numbers, numbers - equal) == (1 + 2592 + 432 + 144, by != 0)
        assert len(differences) == faults


@pytest.mark.parametrize("name", choices.COLUMNS)
def test_what_several_records_hold_is_the_same_in_all(name):
    """The specification as printed was run on these splits for the rivals, too."""
    record = records.load(f"{name}-choices")
    assert records.check(f"{name}-choices", record) == []
    rivals = records.read(f"{name}-rivals")
    for N_i, rates in choices.rates(record).items():
        (cell,) = (cell for cell in rivals.cells if cell.N_i == N_i)
        for basis in choices.CHOICES["basis"]:
            at = (slice(None), *choices.where(**(choices.AS_PRINTED | {"basis": basis})))
            common = (*at[:6], 0, 0, 0, 0)
            theirs = {
                m: rivals.rates(cell, m, basis)[: record["splits"]] for m in rivals.contest.methods
            }
            assert np.abs(rates["SLNP"][at].squeeze() - theirs["SLNP"]).max() <= 0.2
            assert np.abs(rates["LDA"][common][..., 0].squeeze() - theirs["LDA"]).max() <= 0.2
            for i, c in enumerate(choices.CHOICES["kernel"]):
                lfda = theirs["LFDA" if c == "local scaling" else f"LFDA, c = {c}"]
                assert np.abs(rates["LFDA"][common][..., i, 0].squeeze() - lfda).max() <= 0.2
