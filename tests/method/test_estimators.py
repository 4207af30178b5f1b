"""The estimators as scikit-learn and its users meet them."""

import re
import warnings
from ast import literal_eval
from contextlib import nullcontext
from itertools import islice

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kurtosis
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

import slnp_edu
from slnp_edu import LFDA, LPP, SLNP
from slnp_edu.base import GraphEmbedding
from slnp_edu.slnp import _warn_of_collapse, rounds
from slnp_study.relatives import SOLDE

METHODS = [getattr(slnp_edu, name) for name in slnp_edu.__all__]
OTHERS = [method for method in METHODS if method is not SLNP]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:n_neighbors=", "ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "estimator",
    [
        *(method() for method in METHODS),
        LPP(within_classes=True),
        LFDA(metric="plain", basis="whitened"),
        SOLDE(directions="trace ratio", basis="whitened"),
    ],
    ids=repr,
)
def test_check_estimator_passes_in_full(estimator):
    results = check_estimator(estimator, on_fail="raise", on_skip=None)
    assert len(results) > 40
    assert {result["status"] for result in results} == {"passed"}


def iris():
    return load_iris(return_X_y=True)


def test_attributes_after_fit():
    X, y = iris()
    model = SLNP(2, 5, tol=0, max_iter=7).fit(X, y)
    assert model.components_.shape == (2, 4)
    assert model.similarity_.shape == (150, 150)
    assert model.similarity_.nnz <= 150 * 5
    np.testing.assert_allclose(model.similarity_.sum(axis=1), 1)
    assert model.gamma_.shape == (150,)
    assert model.eigenvalues_.shape == (2,)
    assert model.n_iter_ == len(model.objective_) == 7
    *_, last = islice(rounds(X, y, 2, 5), 7)
    np.testing.assert_allclose(last.W, model.components_.T, rtol=1e-9)
    np.testing.assert_allclose(last.S.toarray(), model.similarity_.toarray(), atol=1e-9)
    np.testing.assert_allclose(last.gamma, model.gamma_, rtol=1e-9)


@pytest.mark.parametrize("rule", ["paper", "can", "fixed"])
def test_every_round_has_the_j_that_its_w_s_and_gamma_give(rule):
    """J once more from W, S and gamma, with all pairs of a class written out."""
    X, y = iris()
    model = SLNP(2, 4, gamma=rule, tol=0, max_iter=4).fit(X, y)
    run = islice(rounds(X, y, 2, 4, rule=rule), 4)
    for J, (W, S, gamma, *_) in zip(model.objective_, run, strict=True):
        Y, S = X @ W, S.toarray()
        D = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)
        assert np.all(S[y[:, None] != y] == 0)
        assert np.sum(S * D) + np.sum(gamma[:, None] * S**2) == pytest.approx(J)


def test_verbose_prints_every_round_and_changes_nothing(capsys):
    X, y = iris()
    quiet = SLNP(2, max_iter=4, tol=0).fit(X, y)
    assert capsys.readouterr().out == ""
    loud = SLNP(2, max_iter=4, tol=0, verbose=True).fit(X, y)
    np.testing.assert_array_equal(loud.components_, quiet.components_)
    said = [f"round {n} of at most 4: J = {J:.6g}" for n, J in enumerate(quiet.objective_, 1)]
    assert capsys.readouterr().out.splitlines() == said


def test_an_interrupted_fit_leaves_nothing_behind(monkeypatch):
    def interrupted(*args, **options):
        yield next(rounds(*args, **options))
        raise KeyboardInterrupt

    monkeypatch.setattr("slnp_edu.slnp.rounds", interrupted)
    slnp = SLNP(2)
    with pytest.raises(KeyboardInterrupt):
        slnp.fit(*iris())
    assert [name for name in vars(slnp) if name.endswith("_")] == []


def test_stops_when_j_stands_still():
    X, y = iris()
    loose = SLNP(2, tol=0.5).fit(X, y)
    assert loose.n_iter_ == 2
    exact = SLNP(2, tol=0, max_iter=200, gamma="fixed").fit(X, y)
    settled = SLNP(2, tol=1e-3, max_iter=200, gamma="fixed").fit(X, y)
    change = np.abs(np.diff(exact.objective_)) / exact.objective_[1:]
    assert settled.n_iter_ == 2 + np.flatnonzero(change <= 1e-3)[0]


def test_a_change_is_a_fraction_of_the_j_it_leads_to():
    X, y = iris()
    J = SLNP(1, 3, tol=0, max_iter=4).fit(X, y).objective_
    assert np.all(np.diff(J) < 0)  # so it is a smaller fraction of the J before
    for after in (1, 2):
        before = J[after - 1]
        tol = (before - J[after]) * (1 / before + 1 / J[after]) / 2
        assert SLNP(1, 3, tol=tol).fit(X, y).n_iter_ > after + 1


def test_with_a_tolerance_of_0_it_stops_where_nothing_moves_any_more():
    X, y = iris()
    assert SLNP(1, tol=0).fit(X[:, :1], y).n_iter_ == 2  # there is one direction only


def test_default_number_of_components():
    X, y = iris()
    for method in METHODS:
        assert method().fit(X, y).components_.shape == ((4, 4) if method is LPP else (2, 4))
    assert SLNP().fit(X[:, :1], y).components_.shape == (1, 1)
    assert LPP(within_classes=True).fit(X, y).components_.shape == (2, 4)


def test_names_out_and_set_output():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = SLNP(2).set_output(transform="pandas").fit(X, y)
    Y = model.transform(X)
    assert isinstance(Y, pd.DataFrame)
    assert list(Y.columns) == ["slnp0", "slnp1"] == list(model.get_feature_names_out())
    assert list(model.feature_names_in_) == list(X.columns)


def test_pipeline_and_grid_search():
    X, y = iris()
    search = GridSearchCV(
        make_pipeline(SLNP(2), KNeighborsClassifier(1)), {"slnp__n_neighbors": [3, 6]}, cv=3
    )
    assert search.fit(X, y).best_params_["slnp__n_neighbors"] in (3, 6)


def test_small_classes_warn_once_and_work():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.repeat([0, 1, 2, 3], [10, 6, 3, 1])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = SLNP(2, n_neighbors=5).fit(X, y)
    assert [str(w.message) for w in caught] == [
        "n_neighbors=5 is more than the smallest class can offer (3 samples); "
        "K is cut to N_i - 1 in such classes."
    ]
    assert np.diff(model.similarity_.indptr).tolist() == [5] * 16 + [2] * 3 + [0]
    np.testing.assert_allclose(model.similarity_.sum(axis=1), [1] * 19 + [0])


@pytest.mark.parametrize("rule", ["paper", "can", "fixed"])
def test_a_class_of_duplicates_shares_alike(rule):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 4)), np.repeat([0, 1, 2], 10)
    X[y == 1] = X[y == 1][0]
    model = SLNP(2, 3, gamma=rule).fit(X, y)
    rows = model.similarity_[y == 1].toarray()
    share = 1 / 9 if rule == "fixed" else 1 / 3
    np.testing.assert_allclose(rows[rows > 0], share)
    assert np.all(model.gamma_[y == 1] == 0)


def test_constant_features_change_nothing():
    X, y = iris()
    model, padded = SLNP(2).fit(X, y), SLNP(2).fit(np.column_stack([X, np.full(150, 3.7)]), y)
    np.testing.assert_allclose(padded.components_[:, :4], model.components_, atol=1e-8)
    np.testing.assert_allclose(padded.components_[:, 4], 0, atol=1e-8)


def test_input_is_left_alone():
    X, y = iris()
    before = X.copy(), y.copy()
    for method in METHODS:
        method(2).fit(X, y).transform(X)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


@pytest.mark.parametrize("method", METHODS)
def test_the_defaults_are_the_documented_ones(method):
    """A docstring says "default" and the value, or "optional" for None."""
    for name, value in method().get_params().items():
        kind = re.search(rf"^ *{name} : (.+)$", method.__doc__, re.M).group(1)
        default = re.search(r", default (.+)|, (optional)", kind).group(1)
        assert value == (literal_eval(default) if default else None)


@pytest.mark.parametrize(("K", "warned"), [(49, 0), (50, 1), (51, 1)])
def test_k_may_be_all_others_of_the_smallest_class_but_no_more(K, warned):
    X, y = iris()  # 50 of each kind: 49 others
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SLNP(2, n_neighbors=K).fit(X, y)
    assert len(caught) == warned


@pytest.mark.parametrize("method", [m for m in METHODS if issubclass(m, GraphEmbedding)])
def test_eigenvalues_are_the_ratios_that_the_method_makes_small_or_large(method):
    """``w'Aw / w'Bw`` of each direction, first the best one."""
    X, y = iris()
    centred = X - X.mean(axis=0)
    model = method(3).fit(X, y)
    A, B = model._matrices(centred, y if model._uses_labels() else None)
    W = method(3, **({"metric": "plain"} if method is LFDA else {})).fit(X, y).components_.T
    ratios = np.diag(W.T @ A @ W) / np.diag(W.T @ B @ W)
    np.testing.assert_allclose(model.eigenvalues_, ratios, rtol=1e-6, atol=1e-12)
    steps = np.diff(model.eigenvalues_)
    assert np.all(steps <= 0 if model.maximises else steps >= 0)


@pytest.mark.parametrize("method", METHODS)
def test_samples_are_projected_from_the_mean_of_the_training_samples(method):
    X, y = iris()
    model = method(2).fit(X, y)
    expected = [[sum(w * (x - X.mean(axis=0))) for w in model.components_] for x in X[:3]]
    np.testing.assert_allclose(model.transform(X[:3]), expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:n_neighbors=")
@pytest.mark.parametrize("method", METHODS)
def test_two_classes_of_two_samples_are_enough_and_one_sample_can_be_projected(method):
    X, y = np.array([[0.0, 0.0], [1.0, 0.5], [4.0, 1.0], [6.0, 0.0]]), [0, 0, 1, 1]
    model = method(1).fit(X, y)
    np.testing.assert_allclose(model.transform(X[3:]), model.transform(X)[3:])


def test_two_samples_are_enough_without_labels():
    X = np.array([[1.0, 2.0], [4.0, 6.0]])
    W = LPP(basis="orthonormal").fit(X).components_
    np.testing.assert_allclose(W, [[0.6, 0.8]])  # along the line between them


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [np.float32, np.uint8])
def test_samples_of_any_kind_of_number_are_computed_with_in_double_precision(method, kind):
    X, y = iris()
    X = (30 * X).astype(kind)
    model, double = method(2).fit(X, y), method(2).fit(X.astype(float), y)
    np.testing.assert_array_equal(model.components_, double.components_)
    np.testing.assert_array_equal(model.transform(X), double.transform(X.astype(float)))


def test_labels_in_a_column_are_taken_with_scikit_learns_warning():
    X, y = iris()
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model = SLNP(2).fit(X, y[:, None])
    np.testing.assert_array_equal(model.components_, SLNP(2).fit(X, y).components_)


@pytest.mark.parametrize("method", [m for m in OTHERS if "n_neighbors" in m().get_params()])
def test_one_neighbour_is_enough_for_the_others(method):
    X, y = iris()
    assert method(2, n_neighbors=1).fit(X, y).components_.shape == (2, 4)


@pytest.mark.parametrize("method", METHODS)
def test_the_tag_says_whether_labels_are_needed(method):
    assert get_tags(method()).target_tags.required is (method is not LPP)
    assert get_tags(LPP(within_classes=True)).target_tags.required is True


@pytest.mark.parametrize("options", [{}, {"anchor": 0.3}])
@pytest.mark.parametrize("pca", [None, 32])
def test_a_fit_warns_where_learning_leaves_directions_to_a_handful_of_samples(pca, options):
    X, y = load_digits(return_X_y=True)
    X = PCA(pca, svd_solver="full").fit_transform(X) if pca else X
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SLNP(9, 6, **options).fit(X, y)
    assert len(caught) == (pca is None and not options)
    for warning in caught:
        assert re.search(
            r"kurtosis rose from 2\.8 to [56]\.\d\. Reduce .* PCA", str(warning.message)
        )


def test_a_warning_names_the_line_of_the_fit():
    X, y = load_digits(return_X_y=True)
    y[:3] = 10  # a small class
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SLNP(9, 6).fit(X, y)
    assert [str(w.message).split()[0] for w in caught] == ["n_neighbors=6", "Learning"]
    assert {w.filename for w in caught} == {__file__}


@pytest.mark.parametrize(("freedom", "N", "warns"), [(300, 100, True), (3, 500, False)])
def test_no_fit_warns_of_data_that_have_heavy_tails_before_learning(freedom, N, warns):
    before = np.random.default_rng(0).standard_t(freedom, (N, 3))
    after = before + 200 * np.eye(N, 3)  # a sample has a direction to itself
    before, after = (Y - Y.mean(axis=0) for Y in (before, after))  # as in a fit
    early, late = (kurtosis(Y, fisher=False).mean() for Y in (before, after))
    assert (early < 6) == warns
    assert late > 2 * early
    found = f"a handful .* rose from {early:.1f} to {late:.1f}. .*: anchor=0.3, say.$"
    with pytest.warns(UserWarning, match=found) if warns else nullcontext():
        _warn_of_collapse(before, after)
    _warn_of_collapse(before[:99], after[:99])  # fewer than a hundred say little
