"""The specification curve against a twin: loops, an SVD for PCA, scikit-learn's 1-NN."""

import json
from itertools import product

import numpy as np
import pytest
import twins
from scipy.linalg import cholesky, solve_triangular
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from slnp_study import paper, records
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
    return {"tested": 90} | {method: choices.pack(each) for method, each in counts.items()}


def drawn(y):
    rng = np.random.default_rng([N_I, SEED])
    train = np.zeros(len(y), dtype=bool)
    for label in range(y.max() + 1):
        members = [i for i in range(len(y)) if y[i] == label]
        train[[members[k] for k in rng.permutation(len(members))[:N_I]]] = True
    return train


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


def in_basis(W, A, basis):
    A = A - A.mean(axis=0)
    G = W.T @ A.T @ A @ W if basis == "whitened" else W.T @ W
    return solve_triangular(cholesky(G, lower=True), W.T, lower=True).T


def by_hand(method, X, y, made):
    train = drawn(y)
    Z = prepared(X, train, made)
    V = in_basis(projection(method, Z[train], y[train], made), Z[train], made["basis"])
    metric = made["metric"].lower()
    nearest = KNeighborsClassifier(1, algorithm="brute", metric=metric)
    nearest.fit(Z[train] @ V, y[train])
    return int(np.sum(nearest.predict(Z[~train] @ V) == y[~train]))


# One step at a time


@pytest.mark.parametrize("pca_on", choices.CHOICES["PCA on"])
@pytest.mark.parametrize("normalised", choices.CHOICES["images"])
def test_images_are_prepared_as_by_the_twin(images, normalised, pca_on):
    """Up to the signs of the axes: all inner products are the same, so the origin is, too."""
    X, y = images
    train = np.flatnonzero(drawn(y))
    Z = choices.prepared(X, train, D_PCA, normalised, pca_on)
    expected = prepared(X, train, {"images": normalised, "PCA on": pca_on})
    assert np.allclose(Z @ Z.T, expected @ expected.T)


def test_pca_is_exact_where_scikit_learn_would_draw():
    X = np.random.default_rng(0).normal(size=(40, 600))
    Z = choices.prepared(X, np.arange(40), D_PCA, "raw", "all images")
    expected = prepared(X, slice(None), {"images": "raw", "PCA on": "all images"})
    assert np.allclose(Z @ Z.T, expected @ expected.T)


def test_slnp_is_learned_in_every_way_as_by_the_twin(images):
    """In the order of the choices, from samples that are not centred."""
    X, y = images
    X, y = X[y < 3][::4, 10:16], y[y < 3][::4]
    own = choices.OWN_CHOICES
    made = product(own["start"], own["gamma"], own["K"], own["rounds"])
    names = ("start", "gamma", "K", "rounds")
    found = choices.learned(X, y, 2, K)
    for ways, W in zip(made, found, strict=True):
        expected = projection("SLNP", X, y, {"d": "half"} | dict(zip(names, ways, strict=True)))
        assert twins.angle(W, expected) < 1e-6, ways


@pytest.mark.parametrize("metric", choices.CHOICES["metric"])
def test_the_right_are_counted_as_by_scikit_learn(metric):
    """With more rows than are compared at a time."""
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(60, 3)) * rng.uniform(1, 3, (60, 1)), rng.normal(size=(700, 3))
    y, z = rng.integers(0, 3, size=60), rng.integers(0, 3, size=700)
    judge = KNeighborsClassifier(1, algorithm="brute", metric=metric.lower()).fit(A, y)
    assert choices.count_right(A, y, B, z, metric) == np.sum(judge.predict(B) == z)


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


def test_every_way_is_tried_below():
    assert all({made[name] for made in MADE} == set(ways) for name, ways in choices.CHOICES.items())


def test_a_specification_counts_as_many_right_as_the_twin(images, monkeypatch):
    """With three rounds in place of ten: of those there is a test above."""
    X, y = images
    monkeypatch.setitem(choices.OWN_CHOICES, "rounds", (2, 3))
    unit = choices.run(X, y, N_i=N_I, D_PCA=D_PCA, d=D, K=K, seed=SEED)
    assert unit["tested"] == len(y) - 5 * N_I
    for method, axes in choices.AXES.items():
        counts = choices.unpack(unit[method], choices.shape(axes))
        assert counts.ndim == len(axes)
        assert counts.min() < counts.max()
        for made in MADE:
            place = tuple(ways.index(made[name]) for name, ways in axes.items())
            run = made | {"rounds": min(made["rounds"], 3)}
            assert counts[place] == by_hand(method, X, y, run), (method, made)


def test_rates_and_leads_stand_at_the_choices_they_belong_to(unit):
    rates = choices.rates({"units": {"one": unit, "two": unit}})
    made = dict(MADE[-1])
    place = tuple(ways.index(made[name]) for name, ways in choices.CHOICES.items())
    right = {
        method: choices.unpack(unit[method], choices.shape(axes))[place[: len(axes)]]
        for method, axes in choices.AXES.items()
    }
    lead = rates["SLNP"] - rates["LFDA"]
    assert lead.shape == (2, *choices.shape(choices.CHOICES))
    expected = 100 * (right["SLNP"] - right["LFDA"]) / unit["tested"]
    assert np.allclose(lead[(slice(None), *choices.where(**made))], expected)
    few = rates["SLNP"][(slice(None), *choices.where(rounds=2, basis="whitened"))]
    assert np.array_equal(few, rates["SLNP"][:, :, :, :, 0, :, :, :, :, 0])


def test_a_choice_with_a_space_in_its_name_is_written_with_a_dash_below():
    everywhere = slice(None)
    assert choices.where(PCA_on="all images", K="more") == (
        *(everywhere, 1, everywhere, everywhere, everywhere),
        *(everywhere, everywhere, 2, everywhere),
    )


def test_counts_come_back_from_the_string(unit):
    rng = np.random.default_rng(0)
    for counts in (rng.integers(0, 32768, size=(4, 5)), np.array([[32767, 0, 32767]])):
        assert np.array_equal(choices.unpack(choices.pack(counts), counts.shape), counts)
    with pytest.raises(ValueError, match="not as many"):
        choices.unpack(choices.pack([1, 2, 3]), (2, 2))
    with pytest.raises(ValueError, match="damaged"):
        choices.unpack("!" + unit["SLNP"][1:], choices.shape(choices.CHOICES))


# The records


@pytest.mark.parametrize("name", choices.COLUMN)
def test_the_committed_records_hold(name):
    record = records.load(f"{name}-choices")
    assert records.check(f"{name}-choices", record) == []
    assert record["splits"] == choices.SPLITS == 5
    assert choices.NEIGHBOURS[name][1] == paper.DATASETS[name]["K"]
    for method, rates in choices.rates(record).items():
        assert rates.min() > 0, method
        assert rates.max() < 100, method


@pytest.mark.parametrize("name", choices.COLUMN)
def test_what_both_records_hold_is_the_same_in_both(name):
    """The specification as printed, in both bases, was run for the tables too."""
    rates = choices.rates(records.load(f"{name}-choices"))
    N_i = choices.COLUMN[name]
    table = records.rates(records.load(name), N_i)
    ablation = records.load(f"{name}-ablation")["units"][f"ablation/{N_i:02}"]
    for basis in ("whitened", "orthonormal"):
        made = choices.AS_PRINTED | {"basis": basis}
        slnp = rates["SLNP"][(slice(None), *choices.where(**made))]
        assert np.abs(slnp - table["SLNP"][basis][:5]).max() <= 0.1
        for variant, change in {
            "uniform, 2": {"rounds": 2},
            "nearest, 10": {"start": "nearest"},
        }.items():
            other = rates["SLNP"][(slice(None), *choices.where(**(made | change)))]
            lead = 100 * np.array(ablation["lead"][variant][basis][:5]) / ablation["tested"]
            assert np.abs(slnp - other - lead).max() <= 0.2
        for rival in choices.RIVALS:
            common = [slice(None), *choices.where(**made)[:5], 0, 0, 0, 0]
            assert np.abs(rates[rival][tuple(common)] - table[rival][basis][:5]).max() <= 0.1


def damage(unit, key, change):
    return {**unit, key: change(unit[key])}


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (lambda u: {k: v for k, v in u.items() if k != "LDA"}, "entries are missing"),
        (lambda u: damage(u, "SLNP", lambda s: s[:-10]), "SLNP: "),
        (lambda u: damage(u, "SLNP", lambda s: None), "SLNP: "),
        (lambda u: damage(u, "LFDA", lambda s: choices.pack([1] * 47)), "not as many"),
        (lambda u: damage(u, "LDA", lambda s: choices.pack([5000] * 48)), "between 0 and"),
        (lambda u: damage(u, "LDA", lambda s: choices.pack([-1] * 48)), "between 0 and"),
    ],
)
def test_a_damaged_unit_is_found_without_running_it(unit, fault, said):
    (described,) = choices.units("mnist", 1)
    assert list(choices.check(described, unit)) == []
    (fault_found,) = choices.check(described, fault(unit))
    assert said in fault_found
    assert fault_found.startswith("choices/00")


def test_verify_compares_every_count_and_forgives_two_images(unit):
    def changed(by):
        counts = choices.unpack(unit["SLNP"], choices.shape(choices.CHOICES)).ravel()
        counts[100] += by
        return {**unit, "SLNP": choices.pack(counts)}

    (described,) = choices.units("mnist", 1)
    for by, faults in ((0, 0), (2, 0), (-2, 0), (3, 1)):
        both = (described.readable(each) for each in (unit, changed(by)))
        numbers, equal, differences = records.compare(*both, described.tolerance)
        assert numbers == 1 + 1728 + 2 * 48
        assert numbers - equal == (by != 0)
        assert len(differences) == faults
    broken = described.readable({**unit, "SLNP": "nothing"})
    assert records.compare(described.readable(unit), broken, described.tolerance)[2]


def test_none_right_and_all_right_are_possible(unit):
    (described,) = choices.units("mnist", 1)
    extreme = [0, unit["tested"]] * 24
    assert list(choices.check(described, {**unit, "LDA": choices.pack(extreme)})) == []


@pytest.mark.parametrize("dataset", choices.COLUMN)
def test_there_is_a_unit_for_each_split(dataset):
    N_i = choices.COLUMN[dataset]
    common = {**paper.DIMENSIONS[dataset][N_i], "N_i": N_i, "K": choices.NEIGHBOURS[dataset]}
    units = choices.units(dataset, 3)
    assert [unit.key for unit in units] == ["choices/00", "choices/01", "choices/02"]
    for seed, unit in enumerate(units):
        assert unit.function.func is choices.run
        assert unit.function.keywords == common | {"seed": seed}
        assert (unit.kind, unit.tolerance.absolute, unit.tolerance.relative) == ("choices", 2, 0)


def test_settings_say_what_was_run():
    said = json.loads(json.dumps(choices.settings("coil100")))
    assert said["choices"] == {name: list(ways) for name, ways in choices.CHOICES.items()}
    assert (said["N_i"], said["D_PCA"], said["d"], said["K"]) == (12, 32, 14, [2, 3, 5])


def test_the_mean_of_a_choice_is_over_all_the_others():
    values = np.random.default_rng(0).normal(size=(3, *choices.shape(choices.CHOICES)))
    for choice, options in choices.CHOICES.items():
        found = choices.marginal(values, choice)
        assert found.shape == (3, len(options))
        for i, option in enumerate(options):
            for row, of_split in zip(found, values, strict=True):
                assert row[i] == pytest.approx(of_split[choices.where(**{choice: option})].mean())
