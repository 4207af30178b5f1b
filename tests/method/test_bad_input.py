"""Bad input: one clear sentence, and nothing changed."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

import slnp_edu
from slnp_edu import LFDA, LPP, LSDA, MFA, SLNP
from slnp_edu.base import in_basis
from slnp_study.relatives import LADA, SOLDE

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
Y = np.repeat([0, 1, 2], 10)


def with_entry(value):
    changed = X.copy()
    changed[3, 2] = value
    return changed


LABELS_WITH_NAN = np.where(Y == 1, np.nan, Y)

# what, method, its parameters, X, y, a part of the message
CASES = [
    ("NaN", SLNP, {}, with_entry(np.nan), Y, "Input X contains NaN"),
    ("inf", SLNP, {}, with_entry(np.inf), Y, "Input X contains infinity"),
    ("NaN, no labels", LPP, {}, with_entry(np.nan), None, "Input X contains NaN"),
    ("a single class", SLNP, {}, X, np.zeros(30), "SLNP needs at least two classes"),
    ("a single class, LFDA", LFDA, {}, X, np.zeros(30), "LFDA needs at least two classes"),
    ("classes of one sample", SLNP, {}, X[:9], np.arange(9), "SLNP needs a class of at least two"),
    ("K of 1", SLNP, {"n_neighbors": 1}, X, Y, "n_neighbors must be a whole number of at least 2"),
    ("K of 0", LFDA, {"n_neighbors": 0}, X, Y, "n_neighbors must be a whole number of at least 1"),
    ("K of 0, LPP", LPP, {"n_neighbors": 0}, X, None, "n_neighbors must be a whole number of at"),
    ("K negative", SLNP, {"n_neighbors": -3}, X, Y, "n_neighbors must be a whole number"),
    ("K a float", SLNP, {"n_neighbors": 5.0}, X, Y, "n_neighbors must be a whole number"),
    ("K a word", MFA, {"n_neighbors": "five"}, X, Y, "n_neighbors must be a whole number"),
    ("K None", SLNP, {"n_neighbors": None}, X, Y, "n_neighbors must be a whole number"),
    ("K True", LSDA, {"n_neighbors": True}, X, Y, "n_neighbors must be a whole number"),
    ("d above the rank", SLNP, {"n_components": 5}, X, Y, "n_components=5 is above the rank, 4"),
    ("d of 9, LPP without labels", LPP, {"n_components": 9}, X, None, "above the rank, 4"),
    ("d of 0", SLNP, {"n_components": 0}, X, Y, "n_components must be a whole number"),
    ("d a fraction", LFDA, {"n_components": 0.9}, X, Y, "n_components must be a whole number"),
    ("no rounds", SLNP, {"max_iter": 0}, X, Y, "max_iter must be a whole number of at least 1"),
    ("tol negative", SLNP, {"tol": -1e-3}, X, Y, "tol must be a finite number of at least 0"),
    ("tol NaN", SLNP, {"tol": np.nan}, X, Y, "tol must be a finite number"),
    ("tol infinite", SLNP, {"tol": np.inf}, X, Y, "tol must be a finite number"),
    ("tol a word", SLNP, {"tol": "small"}, X, Y, "tol must be a finite number"),
    ("unknown gamma", SLNP, {"gamma": "best"}, X, Y, "gamma must be one of paper, can, fixed"),
    ("gamma a number", SLNP, {"gamma": 1.0}, X, Y, "gamma must be one of paper, can, fixed"),
    ("unknown basis", SLNP, {"basis": "white"}, X, Y, "basis must be one of own, whitened"),
    ("unknown basis, MFA", MFA, {"basis": None}, X, Y, "basis must be one of"),
    ("unknown kernel", LPP, {"kernel": "rbf"}, X, None, "kernel must be one of heat, gaussian"),
    ("width 0", LPP, {"t": 0.0}, X, None, "t must be a finite number"),
    ("unknown kernel, LFDA", LFDA, {"kernel": "rbf"}, X, Y, "kernel must be one of local, heat"),
    ("width 0, LFDA", LFDA, {"kernel": "heat", "t": 0.0}, X, Y, "t must be a finite number of"),
    ("c of 0", LFDA, {"kernel": "heat", "c": 0}, X, Y, "c must be a finite number of at least"),
    ("anchor above 1", SLNP, {"anchor": 1.01}, X, Y, "anchor must be a finite number of at least"),
    ("anchor below 0", SLNP, {"anchor": -0.01}, X, Y, "of at least 0 and at most 1; got -0.01."),
    ("unknown pairs", MFA, {"pairs": "all"}, X, Y, "pairs must be one of class, sample, overall"),
    ("no pairs", MFA, {"n_pairs": 0}, X, Y, "n_pairs must be a whole number of at least 1"),
    ("beta of 1", LSDA, {"beta": 1.0}, X, Y, "beta must be a finite number of at least 0 and at"),
    ("unknown metric", LFDA, {"metric": "orthonormalized"}, X, Y, "metric must be one of weighted"),
    ("no labels, within classes", LPP, {"within_classes": True}, X, None, "requires y to be"),
    ("a below a half", SOLDE, {"a": 0.4}, X, Y, "a must be a finite number of at least 0.5"),
    ("a above 1", SOLDE, {"a": 1.01}, X, Y, "a must be a finite number of at least 0.5"),
    ("a too small for sigma", SOLDE, {"a": 0.6, "sigma": 0.1}, X, Y, "has negative eigenvalues"),
    ("sigma 0", SOLDE, {"sigma": 0}, X, Y, "sigma must be a finite number"),
    ("unknown directions", SOLDE, {"directions": "all"}, X, Y, "directions must be one of one by"),
    ("K of 0, SOLDE", SOLDE, {"n_neighbors": 0}, X, Y, "n_neighbors must be a whole number"),
    ("NaN, SOLDE", SOLDE, {}, with_entry(np.nan), Y, "Input X contains NaN"),
    ("no rounds, LADA", LADA, {"max_iter": 0}, X, Y, "max_iter must be a whole number"),
    ("tol negative, LADA", LADA, {"tol": -1}, X, Y, "tol must be a finite number"),
    ("a single class, LADA", LADA, {}, X, np.zeros(30), "LADA needs at least two classes"),
    ("fewer labels", SLNP, {}, X, Y[:-1], "X has 30 samples but y has 29 labels"),
    ("more labels", LSDA, {}, X[:-2], Y, "X has 28 samples but y has 30 labels"),
    ("no labels", SLNP, {}, X, None, "SLNP requires y to be passed"),
    ("labels in two columns", SLNP, {}, X, np.column_stack([Y, Y]), "1d array"),
    ("labels on a scale", SLNP, {}, X, np.linspace(0, 1, 30), "continuous"),
    ("NaN among labels", SLNP, {}, X, LABELS_WITH_NAN, "Input y contains NaN"),
    ("sparse X", SLNP, {}, csr_array(X), Y, "X is a sparse matrix"),
    ("sparse X, LPP", LPP, {}, csr_array(X), None, "X is a sparse matrix"),
    ("words as features", SLNP, {}, np.full((30, 4), "red"), Y, "could not convert string"),
    ("complex features", SLNP, {}, X + 1j, Y, "Complex data not supported"),
    ("one dimension", SLNP, {}, X[:, 0], Y, "X must be 2D, samples x features; it is 1D"),
    ("three dimensions", SLNP, {}, X[:, :, None], Y, "dim 3"),
    ("no features", SLNP, {}, X[:, :0], Y, "0 feature"),
    ("no samples", SLNP, {}, X[:0], Y[:0], "0 sample"),
    ("one sample", LPP, {}, X[:1], None, "1 sample"),
    ("all rows equal, LPP without labels", LPP, {}, np.ones((30, 4)), None, "do not vary"),
]
for name in slnp_edu.__all__:
    method = getattr(slnp_edu, name)
    CASES += [
        (f"all rows equal, {name}", method, {}, np.ones((30, 4)), Y, "do not vary"),
        (f"d above the rank, {name}", method, {"n_components": 5}, X, Y, "above the rank, 4"),
    ]


def fitted_state(model):
    return {name: repr(value) for name, value in vars(model).items() if name.endswith("_")}


@pytest.mark.parametrize(
    ("method", "parameters", "bad_X", "bad_y", "message"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_bad_input_gets_one_sentence_and_changes_nothing(method, parameters, bad_X, bad_y, message):
    model = method(2).fit(X, Y)
    before = fitted_state(model)
    inputs = repr(bad_X), repr(bad_y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((ValueError, TypeError)) as caught:
            model.set_params(**parameters).fit(bad_X, bad_y)
    text = str(caught.value)
    assert message in text
    assert "\n" not in text
    assert len(text) < 200
    assert fitted_state(model) == before
    assert inputs == (repr(bad_X), repr(bad_y))
    model.transform(X)  # still works


def test_there_are_enough_cases():
    assert len(CASES) >= 30
    assert len({case[0] for case in CASES}) == len(CASES)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (X[:, :3], "X has 3 features"),
        (with_entry(np.nan), "Input X contains NaN"),
        (X[0], "it is 1D"),
        (csr_array(X), "X is a sparse matrix"),
    ],
)
def test_bad_input_to_transform(bad, message):
    model = SLNP(2).fit(X, Y)
    with pytest.raises((ValueError, TypeError), match=message):
        model.transform(bad)


def test_in_basis_refuses_an_unknown_basis():
    with pytest.raises(ValueError, match="basis must be one of"):
        in_basis(np.eye(2), "polar")


def test_in_basis_asks_for_the_samples_where_it_needs_them():
    with pytest.raises(ValueError, match="pass X, the training samples"):
        in_basis(np.eye(4), "whitened")
    with pytest.raises(ValueError, match="do not vary in any direction of W"):
        in_basis(np.eye(4), "whitened", np.ones((30, 4)))
