"""The example that people copy gives what the module gives."""

from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA

from slnp_edu import SLNP

EXAMPLE = Path(__file__).parents[2] / "examples" / "slnp_in_40_lines.py"
slnp = run_path(str(EXAMPLE))["slnp"]


def few_digits():
    X, y = load_digits(n_class=6, return_X_y=True)
    X, y = X[:300], y[:300]
    return PCA(20, svd_solver="full").fit_transform(X), y, 5, 6


def duplicates():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2, 3], [9, 9, 3, 1])
    X = rng.normal(size=(22, 6)) + y[:, None] * rng.normal(size=6)
    X[1:9] = X[0]  # a class that is one point: gamma is 0
    return X, y, 2, 4


@pytest.mark.filterwarnings("ignore:n_neighbors=")
@pytest.mark.parametrize(
    "make", [lambda: (*load_iris(return_X_y=True), 2, 5), few_digits, duplicates]
)
def test_the_example_equals_slnp(make):
    X, y, d, K = make()
    W = SLNP(d, K, tol=0).fit(X, y).components_.T
    np.testing.assert_allclose(slnp(X, y, d, K), W, rtol=0, atol=1e-10)
