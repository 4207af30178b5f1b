"""The specification curve against a twin: loops, an SVD for PCA, scikit-learn's 1-NN."""

from itertools import product

import numpy as np
import pytest
import twins
from scipy.linalg import cholesky, solve_triangular
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from test_independent import drawn

from slnp_study import paper, records
from slnp_study.packing import pack_counts, unpack_counts
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
    counts = {m: rng.integers(0, 91, size=choices.shape(axes)) for m, axes in choices.AXES.items()}
    return {"tested": 90} | {method: pack_counts(each) for method, each in counts.items()}


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
        return twins.lda(A, y, min(d, 4))
    if method == "LFDA":
        return twins.lfda(A, y, d)[0]
    k = dict(zip(("fewer", "paper's", "more"), K, strict=True))[made["K"]]
    S = twins.nearest_graph(A, y, k) if made["start"] == "nearest" else None
    return twins.slnp(A, y, d, k, made["rounds"], made["gamma"], S)[0]


def by_hand(method, X, y, made):
    train, test = drawn(y, N_I, SEED)
    Z = prepared(X, train, made)
    A = Z[train] - Z[train].mean(axis=0)
    W = projection(method, Z[train], y[train], made)
    G = W.T @ A.T @ A @ W if made["basis"] == "whitened" else W.T @ W
    V = solve_triangular(cholesky(G, lower=True), W.T, lower=True).T
    nearest = KNeighborsClassifier(1, algorithm="brute", metric=made["metric"].lower())
    nearest.fit(Z[train] @ V, y[train])
    return int(np.sum(nearest.predict(Z[test] @ V) == y[test]))


# One step at a time


def test_slnp_is_learned_in_every_way_as_by_the_twin(images):
    """In the order of the choices, from samples that are not centred."""
    X, y = images
    X, y = X[y < 3][::4, 10:16], y[y < 3][::4]
    names, ways = zip(*choices.OWN_CHOICES.items(), strict=True)
    for made, W in zip(product(*ways), choices.learned(X, y, 2, K), strict=True):
        expected = projection("SLNP", X, y, {"d": "half"} | dict(zip(names, made, strict=True)))
        assert twins.angle(W, expected) < 1e-6, made


#: Each way of each choice occurs, and those that the paper's words suggest.
MADE = [
    choices.AS_PRINTED,
    choices.AS_PRINTED | {"basis": "orthonormal", "rounds": 2},
    choices.AS_PRINTED | {"metric": "cosine", "gamma": "can", "K": "more", "start": "nearest"},
    choices.AS_PRINTED | {"images": "unit norm", "d": "half", "K": "fewer", "gamma": "fixed"},
    choices.AS_PRINTED | {"PCA on": "all images", "basis": "orthonormal", "start": "nearest"},
    choices.AS_PRINTED | {"metric": "cosine", "d": "three halves", "start": "nearest"},
    choices.AS_PRINTED
    | {"images": "unit norm", "PCA on": "all images", "d": "half", "gamma": "can", "rounds": 2},
]


def test_a_specification_counts_as_many_right_as_the_twin(images, monkeypatch):
    """With three rounds in place of ten: of those there is a test above."""
    X, y = images
    assert all({made[name] for made in MADE} == set(w) for name, w in choices.CHOICES.items())
    monkeypatch.setitem(choices.OWN_CHOICES, "rounds", (2, 3))
    unit = choices.run(X, y, N_i=N_I, D_PCA=D_PCA, d=D, K=K, seed=SEED)
    assert unit["tested"] == len(y) - 5 * N_I
    for method, axes in choices.AXES.items():
        counts = unpack_counts(unit[method], choices.shape(axes))
        assert counts.min() < counts.max()
        for made in MADE:
            place = tuple(ways.index(made[name]) for name, ways in axes.items())
            run = made | {"rounds": min(made["rounds"], 3)}
            assert counts[place] == by_hand(method, X, y, run), (method, made)


# Reading


def test_every_rate_and_mean_is_at_the_choices_it_belongs_to(unit):
    """Specification by specification, in the order in which they were run."""
    rates = choices.rates({"units": {"one": unit, "two": unit}})
    counts = {
        m: unpack_counts(unit[m], choices.shape(axes)).ravel() for m, axes in choices.AXES.items()
    }
    lead = rates["SLNP"] - rates["LFDA"]
    of_way = {(choice, way): [] for choice, ways in choices.CHOICES.items() for way in ways}
    for i, ways in enumerate(product(*choices.CHOICES.values())):
        made = dict(zip(choices.CHOICES, ways, strict=True))
        expected = 100 * (counts["SLNP"][i] - counts["LFDA"][i // 36]) / 90
        assert lead[(1, *choices.where(**made))] == pytest.approx(expected)
        for each in made.items():
            of_way[each].append(expected)
    for choice, ways in choices.CHOICES.items():
        expected = [np.mean(of_way[choice, way]) for way in ways]
        assert np.allclose(choices.marginal(lead, choice), [expected, expected])


def test_counts_come_back_from_the_string():
    rng = np.random.default_rng(0)
    for counts in (rng.integers(0, 32768, size=(4, 5)), np.array([[32767, 0, 32767]])):
        packed = pack_counts(counts)
        assert np.array_equal(unpack_counts(packed, counts.shape), counts)
        with pytest.raises(ValueError, match="came out"):
            unpack_counts(packed, (2, *counts.shape))


# The records


def damage(key, change):
    return lambda unit: {**unit, key: change(unit[key])}


FAULTS = {
    "a method less": lambda u: {k: v for k, v in u.items() if k != "LDA"},
    "an end cut off": damage("SLNP", lambda s: s[:-10]),
    "no string": damage("SLNP", lambda s: None),
    "a count less": damage("LFDA", lambda s: pack_counts([1] * 47)),
    "more than tested": damage("LDA", lambda s: pack_counts([91, *[90] * 47])),
    "less than none": damage("LDA", lambda s: pack_counts([-1] * 48)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_damaged_unit_is_found_without_running_it(unit, fault):
    record = records.load("mnist-choices")
    record |= {"units": {"choices/00": unit}, "splits": 1, "seeds": [0]}
    unit["LDA"] = pack_counts([0, 90] * 24)  # none right and all right are possible
    assert records.check("mnist-choices", record) == []
    record["units"]["choices/00"] = FAULTS[fault](unit)
    (found,) = records.check("mnist-choices", record)
    assert found.startswith("choices/00")


def test_verify_compares_every_count_and_forgives_two_images(unit):
    (described,) = choices.units("mnist", 1)
    counts = unpack_counts(unit["SLNP"], choices.shape(choices.CHOICES))
    for by, faults in ((0, 0), (2, 0), (-2, 0), (3, 1)):
        changed = counts.copy()
        changed.flat[100] += by
        other = {**unit, "SLNP": pack_counts(changed)}
        both = (described.readable(each) for each in (unit, other))
        numbers, equal, differences = records.compare(*both, described.tolerance)
        assert (numbers, numbers - equal) == (1 + 1728 + 2 * 48, by != 0)
        assert len(differences) == faults


@pytest.mark.parametrize("name", choices.COLUMN)
def test_what_several_records_hold_is_the_same_in_all(name):
    """The specification as printed, in both bases, was run for the tables too."""
    record = records.load(f"{name}-choices")
    assert records.check(f"{name}-choices", record) == []
    rates, N_i = choices.rates(record), choices.COLUMN[name]
    table = records.read(name).columns[N_i]
    for basis in paper.COMMON_BASES:
        made = choices.AS_PRINTED | {"basis": basis}
        slnp = rates["SLNP"][(slice(None), *choices.where(**made))]
        assert np.abs(slnp - table["SLNP"][basis][:5]).max() <= 0.1
        for rival in choices.RIVALS:
            common = (slice(None), *choices.where(**made)[:5], 0, 0, 0, 0)
            assert np.abs(rates[rival][common] - table[rival][basis][:5]).max() <= 0.1
